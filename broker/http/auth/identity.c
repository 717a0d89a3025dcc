/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/identity.h"

#include "broker/http/request/target.h"
#include "broker/http/auth/tokenproof.h"
#include "base/memory.h"
#include "base/nodelist.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum grant_role { GRANT_ADMIN, GRANT_METRICS, GRANT_SHARES, GRANT_MANAGER };

/* One line of the lists: this user, in this role. */
struct grant {
    const char *certificate; /* name in it; NULL: uid counts */
    uint32_t uid;
    enum grant_role role;
    size_t cluster; /* index; of a MANAGER */
};

struct rights {
    const struct config *config;
    size_t grant_count;
    struct grant *grants;
};

static_assert(CLUSTERS_MAX <= 64, "struct identity has one bit a cluster");

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

static int grants_add(struct rights *rights, char *const *users, enum grant_role role,
                      size_t cluster, struct error *err)
{
    static const char prefix[] = "cert:";
    for (; users && *users; users++) {
        rights->grants =
            memory_resized(rights->grants, rights->grant_count + 1, sizeof *rights->grants);
        struct grant *grant = &rights->grants[rights->grant_count++];
        *grant = (struct grant){.role = role, .cluster = cluster};
        if (!strncmp(*users, prefix, strlen(prefix)))
            grant->certificate = *users + strlen(prefix);
        else if (user_resolve(*users, &grant->uid, err) < 0)
            return err->code;
    }
    return 0;
}

static int grants_add_all(struct rights *rights, struct error *err)
{
    const struct config *config = rights->config;
    int rc = grants_add(rights, config->admins, GRANT_ADMIN, 0, err);
    if (rc < 0)
        return error_prefix(err, "admins");
    rc = grants_add(rights, config->metrics_users, GRANT_METRICS, 0, err);
    if (rc < 0)
        return error_prefix(err, "metrics_users");
    rc = grants_add(rights, config->shared_users, GRANT_SHARES, 0, err);
    if (rc < 0)
        return error_prefix(err, "shared_users");
    for (size_t i = 0; i < config->core.cluster_count; i++) {
        rc = grants_add(rights, config->clusters[i].users, GRANT_MANAGER, i, err);
        if (rc < 0)
            return error_prefix(err, "users of cluster '%s'", config->clusters[i].name);
    }
    return 0;
}

struct rights *rights_create(const struct config *config, struct error *err)
{
    struct rights *rights = memory_zeroed(sizeof *rights);
    rights->config = config;
    if (grants_add_all(rights, err) == 0)
        return rights;
    rights_destroy(rights);
    return NULL;
}

void rights_destroy(struct rights *rights)
{
    if (rights)
        free(rights->grants);
    free(rights);
}

/* ---- judging ---- */

static bool has_name(const struct proof *proof, const char *name)
{
    for (const char *const *own = proof->names; own && *own; own++)
        if (!strcmp(*own, name))
            return true;
    return false;
}

/* A token gives its job's rights, and no role. */
bool proof_is_user(const struct proof *proof, uint32_t uid)
{
    return (proof->kind == PROOF_SOCKET || (proof->kind == PROOF_MUNGE && proof->uid != 0)) &&
           proof->uid == uid;
}

static bool grant_is_for(const struct grant *grant, const struct proof *proof)
{
    return grant->certificate
               ? proof->kind == PROOF_CERTIFICATE && has_name(proof, grant->certificate)
               : proof_is_user(proof, grant->uid);
}

/* Bits of the clusters whose 'nodes' has the name: of all, or of this one only. */
static uint64_t clusters_with(const struct rights *rights, const char *cluster, const char *node)
{
    const struct config_cluster *clusters = rights->config->clusters;
    uint64_t bits = 0;
    for (size_t i = 0; rights_cluster(rights, i); i++)
        if ((!cluster || !strcmp(clusters[i].name, cluster)) && clusters[i].nodes[0] != '\0' &&
            nodelist_contains(clusters[i].nodes, node))
            bits |= UINT64_C(1) << i;
    return bits;
}

static void judge_nodes(const struct rights *rights, struct identity *identity)
{
    for (const char *const *name = identity->proof.names; name && *name; name++) {
        const uint64_t bits = clusters_with(rights, NULL, *name);
        identity->node_of |= bits;
        if (bits && !identity->node)
            identity->node = *name;
    }
}

struct identity rights_judge(const struct rights *rights, const struct proof *proof)
{
    struct identity identity = {.proof = *proof};
    for (size_t i = 0; i < rights->grant_count; i++) {
        const struct grant *grant = &rights->grants[i];
        if (!grant_is_for(grant, proof))
            continue;
        if (grant->role == GRANT_ADMIN)
            identity.admin = true;
        else if (grant->role == GRANT_METRICS)
            identity.metrics = true;
        else if (grant->role == GRANT_SHARES)
            identity.shares = true;
        else
            identity.clusters |= UINT64_C(1) << grant->cluster;
    }
    for (size_t i = 0; proof->kind == PROOF_PLUGIN && rights_cluster(rights, i); i++)
        if (!strcmp(rights_cluster(rights, i), proof->cluster))
            identity.clusters |= UINT64_C(1) << i;
    if (proof->kind == PROOF_CERTIFICATE || (proof->kind == PROOF_MUNGE && proof->uid == 0))
        judge_nodes(rights, &identity);
    return identity;
}

/* Whether one of the clusters with these bits has this name. */
static bool has_cluster(const struct rights *rights, uint64_t bits, const char *cluster)
{
    const char *name;
    for (size_t i = 0; (name = rights_cluster(rights, i)); i++)
        if (bits >> i & 1 && !strcmp(name, cluster))
            return true;
    return false;
}

bool rights_knows(const struct rights *rights, const char *cluster)
{
    return has_cluster(rights, UINT64_MAX, cluster);
}

bool rights_list_node(const struct rights *rights, const char *cluster, const char *node)
{
    return clusters_with(rights, cluster, node) != 0;
}

bool rights_manages(const struct rights *rights, const struct identity *identity,
                    const char *cluster)
{
    return identity->admin || has_cluster(rights, identity->clusters, cluster);
}

bool rights_is_node(const struct rights *rights, const struct identity *identity,
                    const char *cluster, const char *node)
{
    return has_name(&identity->proof, node) &&
           (identity->node_of & clusters_with(rights, cluster, node)) != 0;
}

const char *rights_only_cluster(const struct rights *rights, const struct identity *identity)
{
    uint64_t bits = identity->clusters;
    if (!bits || bits & (bits - 1))
        return NULL;
    return rights_cluster(rights, (size_t)__builtin_ctzll(bits));
}

const char *rights_cluster(const struct rights *rights, size_t index)
{
    const struct config *config = rights->config;
    return index < config->core.cluster_count ? config->clusters[index].name : NULL;
}

bool identity_has_role(const struct identity *identity)
{
    return identity->admin || identity->clusters != 0;
}

/* ---- what a peer may do ---- */

bool permit_looks(enum need need, bool anonymous)
{
    return need != NEED_NOTHING && !(need == NEED_METRICS && anonymous);
}

const char PERMIT_NO_IDENTITY[] = "authentication required";
const char PERMIT_NO_TOKEN[] = "a token of a job is required";
const char PERMIT_NO_LOGIN[] = "the login of a cluster's Slurm is required";

const char *permit_lacks(const struct rights *rights, const struct identity *identity,
                         enum need need, const char *cluster, const char *node, bool anonymous)
{
    const enum proof_kind proof = identity->proof.kind;
    const bool role = identity_has_role(identity), of_site = role || identity->node_of != 0;
    if (!permit_looks(need, anonymous) || need == NEED_LOOK)
        return NULL;
    if (need == NEED_BEARER)
        return proof == PROOF_BEARER ? NULL : PERMIT_NO_TOKEN;
    if (need == NEED_PLUGIN && rights_only_cluster(rights, identity))
        return NULL;
    if (need == NEED_PLUGIN)
        return proof == PROOF_NONE
                   ? PERMIT_NO_LOGIN
                   : "only the Slurm of one cluster may, by its login (plugin_login) "
                     "or by a certificate of its 'users'";
    if (proof == PROOF_NONE || proof == PROOF_BEARER || proof == PROOF_PLUGIN)
        return PERMIT_NO_IDENTITY;
    if (need == NEED_METRICS && identity->metrics)
        return NULL;
    if (proof == PROOF_CERTIFICATE && !of_site)
        return "none of its names is listed in 'admins', or in 'users' or 'nodes' of a cluster, in "
               "the configuration";
    if (need == NEED_METRICS && !of_site)
        return "only admins, resource managers, nodes and 'metrics_users' may read the metrics; "
               "see these in the configuration ('metrics_anonymous' allows everyone)";
    if (need == NEED_MANAGER && !role)
        return "only an admin or the resource manager of a cluster may; see 'admins' and 'users' "
               "in the configuration";
    if (need == NEED_ADMIN && !identity->admin)
        return "only an admin may; see 'admins' in the configuration";
    const bool manages = rights_manages(rights, identity, cluster);
    if (need == NEED_CLUSTER && !manages)
        return "only an admin or this cluster's resource manager may; see 'admins' and 'users' in "
               "the configuration";
    if (need == NEED_NODE && !manages && !rights_is_node(rights, identity, cluster, node))
        return "only an admin, this cluster's resource manager, or the node may, by a certificate "
               "with its name or as root by MUNGE; the name must be listed in 'nodes' of the "
               "cluster";
    if (need == NEED_HOST && !identity->admin && !rights_is_node(rights, identity, NULL, node))
        return "only an admin or the node may, by a certificate with its name or as root by MUNGE; "
               "the name must be listed in 'nodes' of a cluster";
    return NULL;
}

/* Whether the peer is a node of the cluster that the host list names; NULL names them all, as a job
 * does that only said how many it has. */
static bool is_among(const struct rights *rights, const struct identity *identity,
                     const char *cluster, const char *nodes)
{
    for (const char *const *name = identity->proof.names; name && *name; name++)
        if (rights_is_node(rights, identity, cluster, *name) &&
            (!nodes || nodelist_contains(nodes, *name)))
            return true;
    return false;
}

enum job_sight permit_job(const struct rights *rights, const struct identity *identity,
                          const struct reservation *reservation)
{
    if (rights_manages(rights, identity, reservation->cluster) ||
        proof_is_user(&identity->proof, reservation->uid))
        return JOB_WHOLE;
    return is_among(rights, identity, reservation->cluster, reservation->nodes) ? JOB_OPEN
                                                                                : JOB_HIDDEN;
}

bool permit_node(const struct rights *rights, const struct identity *identity, const char *node)
{
    return identity->admin || rights_is_node(rights, identity, NULL, node) ||
           (identity->clusters & clusters_with(rights, NULL, node)) != 0;
}

enum share_sight permit_share(const struct rights *rights, const struct identity *identity,
                              const struct shared_vni *one)
{
    const struct proof *proof = &identity->proof;
    const char *cluster;
    if (identity->admin || proof_is_user(proof, one->record.uid))
        return SHARE_OWNER;
    for (size_t i = 0; (cluster = rights_cluster(rights, i)); i++)
        if (identity->clusters >> i & 1 && shared_names_cluster(one, cluster))
            return SHARE_MANAGER;
    return proof_is_user(proof, proof->uid) && shared_has_user(one, proof->uid) ? SHARE_USER
                                                                                : SHARE_HIDDEN;
}

/* Of a shared VNI: that its list names, not when it is for all. */
static bool manages_one_of(const struct rights *rights, const struct identity *identity,
                           const char *clusters)
{
    const char *cluster;
    for (size_t i = 0; clusters && (cluster = rights_cluster(rights, i)); i++)
        if (identity->clusters >> i & 1 && shared_list_has(clusters, cluster))
            return true;
    return false;
}

bool permit_event(const struct rights *rights, const struct identity *identity,
                  const struct event_record *event)
{
    const struct proof *proof = &identity->proof;
    if (event_is_of_shared(event))
        return identity->admin || proof_is_user(proof, event->uid) ||
               manages_one_of(rights, identity, event->clusters);
    if (event_is_of_node(event))
        return identity->admin || (event->node && permit_node(rights, identity, event->node));
    if (identity_has_role(identity) &&
        (!event->cluster || rights_manages(rights, identity, event->cluster)))
        return true;
    if (!event->cluster || !event->job || event->number == 0)
        return false;
    if (proof->kind != PROOF_BEARER)
        return proof_is_user(proof, event->uid);
    const struct bearer_scope *scope = &proof->token->scope;
    return event->number == scope->number && strcmp(event->cluster, scope->cluster) == 0 &&
           strcmp(event->job, scope->job) == 0;
}

const char *identity_format(const struct proof *proof, char *out, size_t size)
{
    char address[INET_ADDRSTRLEN];
    switch (proof->kind) {
    case PROOF_SOCKET:
        snprintf(out, size, "uid %u through the Unix socket", (unsigned)proof->uid);
        break;
    case PROOF_MUNGE:
        inet_ntop(AF_INET, &proof->origin, address, sizeof address);
        snprintf(out, size, "MUNGE credential of uid %u from %s", (unsigned)proof->uid, address);
        break;
    case PROOF_CERTIFICATE:
        snprintf(out, size, "certificate \"%s\"",
                 proof->names && proof->names[0] ? proof->names[0] : "");
        break;
    case PROOF_BEARER:
        tokenproof_format(proof->token, out, size);
        break;
    case PROOF_PLUGIN:
        snprintf(out, size, "the Slurm of cluster %s by its login", proof->cluster);
        break;
    case PROOF_NONE:
        snprintf(out, size, "nobody");
        break;
    }
    return out;
}

int tokenproof_allows(const struct tokenproof *proof, enum bearer_operation operation,
                      const char *step, struct problem *problem)
{
    struct error err = {0};
    if (bearer_allows(&proof->scope, operation, step, &err) == 0)
        return 0;
    return problem_set(problem, 403, "outside-scope", NULL, "%s", err.text);
}

const char *tokenproof_format(const struct tokenproof *proof, char *out, size_t size)
{
    snprintf(out, size, "%s%s of %s/%s", proof->session ? "session token" : "token ", proof->id,
             proof->scope.cluster, proof->scope.job);
    return out;
}
