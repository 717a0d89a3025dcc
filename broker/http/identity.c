#include "broker/http/identity.h"

#include "broker/http/http.h"
#include "broker/http/target.h"

#include <assert.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One line of the lists: this uid, in this role. */
struct grant {
    uint32_t uid;
    bool admin;
    size_t cluster; /* index; when not admin */
};

struct rights {
    size_t cluster_count, grant_count;
    char clusters[CLUSTERS_MAX][CLUSTER_NAME_MAX + 1];
    struct grant grants[];
};

static_assert(CLUSTERS_MAX <= 64, "struct identity has one bit a cluster");

static size_t list_length(const char *const *list)
{
    size_t length = 0;
    while (list && list[length])
        length++;
    return length;
}

static int user_resolve(const char *name, uint32_t *uid, struct error *err)
{
    uint64_t number;
    if (target_number(name, UINT32_MAX - 1, &number)) {
        *uid = (uint32_t)number;
        return 0;
    }
    errno = 0;
    const struct passwd *user = getpwnam(name);
    if (user) {
        *uid = user->pw_uid;
        return 0;
    }
    return error_set(err, ERROR_INVALID,
                     "the user '%s' is not known on this host%s%s; create it or give its number",
                     name, errno ? ": " : "", errno ? strerror(errno) : "");
}

static int grants_add(struct rights *rights, const char *const *users, bool admin, size_t cluster,
                      struct error *err)
{
    for (; users && *users; users++) {
        struct grant *grant = &rights->grants[rights->grant_count++];
        grant->admin = admin;
        grant->cluster = cluster;
        if (user_resolve(*users, &grant->uid, err) < 0)
            return err ? err->code : ERROR_INVALID;
    }
    return 0;
}

struct rights *rights_create(const char *const *admins, const struct http_cluster *clusters,
                             size_t cluster_count, struct error *err)
{
    if (cluster_count > CLUSTERS_MAX) {
        error_set(err, ERROR_FULL, "there can be %d clusters at most", CLUSTERS_MAX);
        return NULL;
    }
    size_t grants = list_length(admins);
    for (size_t i = 0; i < cluster_count; i++)
        grants += list_length(clusters[i].users);
    struct rights *rights = calloc(1, sizeof *rights + grants * sizeof rights->grants[0]);
    if (!rights) {
        error_set(err, ERROR_NOMEM, "no memory for the lists of users");
        return NULL;
    }
    if (grants_add(rights, admins, true, 0, err) < 0) {
        error_prefix(err, "admins");
        goto fail;
    }
    for (size_t i = 0; i < cluster_count; i++) {
        snprintf(rights->clusters[i], sizeof rights->clusters[i], "%s", clusters[i].name);
        if (grants_add(rights, clusters[i].users, false, i, err) < 0) {
            error_prefix(err, "users of cluster '%s'", clusters[i].name);
            goto fail;
        }
    }
    rights->cluster_count = cluster_count;
    return rights;
fail:
    rights_destroy(rights);
    return NULL;
}

void rights_destroy(struct rights *rights)
{
    free(rights);
}

struct identity rights_of_uid(const struct rights *rights, uint32_t uid)
{
    struct identity identity = {.known = true, .uid = uid};
    for (size_t i = 0; i < rights->grant_count; i++) {
        const struct grant *grant = &rights->grants[i];
        if (grant->uid != uid)
            continue;
        if (grant->admin)
            identity.admin = true;
        else
            identity.clusters |= UINT64_C(1) << grant->cluster;
    }
    return identity;
}

bool rights_manages(const struct rights *rights, const struct identity *identity,
                    const char *cluster)
{
    if (identity->admin)
        return true;
    for (size_t i = 0; i < rights->cluster_count; i++)
        if (!strcmp(rights->clusters[i], cluster))
            return identity->clusters >> i & 1;
    return false;
}

const char *rights_only_cluster(const struct rights *rights, const struct identity *identity)
{
    uint64_t bits = identity->clusters;
    if (!bits || bits & (bits - 1))
        return NULL;
    return rights->clusters[__builtin_ctzll(bits)];
}
