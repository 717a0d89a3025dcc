/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/pluginlogin.h"

#include "base/memory.h"
#include "broker/log/log.h"
#include "tokens/keybytes.h"
#include "trust/keyfile.h"

#include <assert.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECRET_MIN = 16, SECRET_MAX = 1024, TOKEN_LENGTH = 64 };

enum { NOW, FORMER, AGES };

struct login {
    const char *cluster;
    struct secret password[AGES];   /* none: there is no file passwd, or passwd.old */
    struct secret id, client[AGES]; /* none: no OAuth2 client */
    char access[TOKEN_LENGTH + 1];  /* "": none was asked for */
    int64_t drawn_ms;
    struct plugin_use use;
};

struct pluginlogins {
    size_t count;
    struct login logins[CLUSTERS_MAX];
};

static void login_wipe(struct login *login)
{
    for (int age = NOW; age < AGES; age++) {
        secret_wipe(&login->password[age]);
        secret_wipe(&login->client[age]);
    }
    secret_wipe(&login->id);
    explicit_bzero(login->access, sizeof login->access);
}

void pluginlogins_destroy(struct pluginlogins *logins)
{
    for (size_t i = 0; logins && i < logins->count; i++)
        login_wipe(&logins->logins[i]);
    free(logins);
}

/* ---- reading ---- */

/* Slurm sends what stands in its files as it is, without percent-encoding. */
static bool is_plain(const char *text)
{
    return text[strspn(
               text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")] == '\0';
}

static int read_file(const struct config_cluster *cluster, const char *name, size_t least,
                     struct secret *out, struct error *err)
{
    const struct keyfile kind = {.holds = "the login of the cluster's Slurm",
                                 .guard = KEYFILE_SECRET,
                                 .max = SECRET_MAX,
                                 .line = true};
    char path[CONFIG_PATH_SIZE + 32];
    (void)snprintf(path, sizeof path, "%s/%s", cluster->plugin_login, name);
    int rc = keyfile_text(path, &kind, out, err);
    if (rc < 0)
        return rc;
    if (strlen(secret_expose(*out)) < least)
        return error_set(err, ERROR_REFUSED,
                         "%s: %zu characters at least are wanted, which cannot be guessed: openssl "
                         "rand -hex 32",
                         path, least);
    if (!is_plain(secret_expose(*out)))
        return error_set(err, ERROR_REFUSED,
                         "%s: letters, digits and -._~ only: Slurm sends it as it is: openssl rand "
                         "-hex 32",
                         path);
    return 0;
}

/* The one that counts, and the former one, "NAME.old", which may be there beside it. */
static int read_secrets(const struct config_cluster *cluster, const char *name, struct secret *out,
                        struct error *err)
{
    char former[32];
    (void)snprintf(former, sizeof former, "%s.old", name);
    int rc = read_file(cluster, name, SECRET_MIN, &out[NOW], err);
    int old = rc < 0 && rc != ERROR_NOT_FOUND
                  ? rc
                  : read_file(cluster, former, SECRET_MIN, &out[FORMER], err);
    if (old == 0 && rc == ERROR_NOT_FOUND)
        return error_set(err, ERROR_INVALID, "%s/%s is there without %s, which follows it",
                         cluster->plugin_login, former, name);
    return old < 0 && old != ERROR_NOT_FOUND ? old : rc;
}

static int read_login(const struct config_cluster *cluster, struct login *login, struct error *err)
{
    login->cluster = cluster->name;
    int basic = read_secrets(cluster, "passwd", login->password, err);
    if (basic < 0 && basic != ERROR_NOT_FOUND)
        return basic;
    int oauth = read_file(cluster, "client-id", 1, &login->id, err);
    if (oauth == 0)
        oauth = read_secrets(cluster, "client-secret", login->client, err);
    else if (oauth == ERROR_NOT_FOUND && basic == 0)
        return 0;
    else if (oauth == ERROR_NOT_FOUND)
        return error_set(err, ERROR_NOT_FOUND,
                         "%s has neither passwd nor client-id: put the files there that the "
                         "cluster's Slurm has in its fm_authdir",
                         cluster->plugin_login);
    return oauth;
}

static bool shares_secret(const struct login *a, const struct login *b)
{
    bool shares = false;
    for (int i = NOW; i < AGES; i++)
        for (int j = NOW; j < AGES; j++)
            shares = shares || secret_equal(a->password[i], b->password[j]) ||
                     secret_equal(a->client[i], b->client[j]);
    return shares;
}

/* The login says which cluster it is. */
static int check_differs(const struct pluginlogins *logins, const struct login *login,
                         struct error *err)
{
    for (size_t i = 0; i < logins->count; i++)
        if (shares_secret(&logins->logins[i], login))
            return error_set(err, ERROR_REFUSED,
                             "the clusters %s and %s have the same login, or one has the other's "
                             "former one: give each its own",
                             logins->logins[i].cluster, login->cluster);
    return 0;
}

struct pluginlogins *pluginlogins_read(const struct config *config, struct error *err)
{
    struct pluginlogins *logins = memory_zeroed(sizeof *logins);
    for (size_t i = 0; i < config->core.cluster_count; i++) {
        const struct config_cluster *cluster = &config->clusters[i];
        struct login login = {0};
        if (cluster->plugin_login[0] == '\0')
            continue;
        if (read_login(cluster, &login, err) < 0 || check_differs(logins, &login, err) < 0) {
            (void)error_prefix(err, "plugin_login of cluster '%s'", cluster->name);
            login_wipe(&login);
            pluginlogins_destroy(logins);
            return NULL;
        }
        login.use.former_accepted =
            !secret_none(login.password[FORMER]) || !secret_none(login.client[FORMER]);
        logins->logins[logins->count++] = login;
    }
    return logins;
}

/* ---- judging ---- */

/* The cluster that has it; former: it is the one before the one that counts. */
static const char *find_secret(const struct pluginlogins *logins, struct secret id,
                               struct secret shown, bool *former)
{
    const char *cluster = NULL;
    for (size_t i = 0; i < logins->count; i++) {
        const struct login *login = &logins->logins[i];
        if (!secret_none(id) && !secret_equal(login->id, id))
            continue;
        for (int age = FORMER; age >= NOW; age--) { /* both may be the same: the last one counts */
            if (!secret_equal(secret_none(id) ? login->password[age] : login->client[age], shown))
                continue;
            *former = age == FORMER;
            cluster = login->cluster;
        }
    }
    return cluster;
}

const char *pluginlogins_basic(const struct pluginlogins *logins, const char *encoded, bool *former)
{
    static const char user[] = "cxi:";
    const size_t length = strlen(encoded);
    unsigned char text[4 * SECRET_MAX];
    const char *cluster = NULL;
    if (length == 0 || length % 4 != 0 || length > SECRET_MAX)
        return NULL;
    int used = EVP_DecodeBlock(text, (const unsigned char *)encoded, (int)length);
    if (used < 0)
        return NULL;
    text[used] = '\0'; /* the padding became NULs */
    const char *shown = (const char *)text;
    if (strncmp(shown, user, sizeof user - 1) == 0)
        cluster = find_secret(logins, secret_of(NULL), secret_of(shown + sizeof user - 1), former);
    explicit_bzero(text, sizeof text);
    return cluster;
}

const char *pluginlogins_client(const struct pluginlogins *logins, struct secret id,
                                struct secret secret, bool *former)
{
    return secret_none(id) ? NULL : find_secret(logins, id, secret, former);
}

static struct login *login_of(struct pluginlogins *logins, const char *cluster)
{
    for (size_t i = 0; i < logins->count; i++)
        if (strcmp(logins->logins[i].cluster, cluster) == 0)
            return &logins->logins[i];
    return NULL;
}

void pluginlogins_used(struct pluginlogins *logins, const char *cluster, bool former,
                       int64_t now_ms)
{
    struct login *login = login_of(logins, cluster);
    assert(login);
    login->use.asked_ms = now_ms;
    if (!former)
        return;
    if (login->use.former_count++ == 0)
        log_line(LOG_NOTICE,
                 "the Slurm of cluster %s shows its former login; jobs that began before the "
                 "change do so until they are over",
                 cluster);
    login->use.former_ms = now_ms;
}

void pluginlogins_follow(struct pluginlogins *logins, const struct pluginlogins *old)
{
    for (size_t i = 0; old && i < logins->count; i++) {
        const struct plugin_use *use = pluginlogins_use(old, logins->logins[i].cluster);
        if (use)
            logins->logins[i].use.asked_ms = use->asked_ms;
    }
}

const struct plugin_use *pluginlogins_use(const struct pluginlogins *logins, const char *cluster)
{
    const struct login *login = login_of((struct pluginlogins *)(uintptr_t)logins, cluster);
    return login ? &login->use : NULL;
}

static bool is_fresh(const struct login *login, int64_t now_ms)
{
    return login->access[0] != '\0' && now_ms - login->drawn_ms < PLUGIN_TOKEN_MS;
}

const char *pluginlogins_token(const struct pluginlogins *logins, struct secret token,
                               int64_t now_ms)
{
    const char *cluster = NULL;
    for (size_t i = 0; i < logins->count; i++)
        if (is_fresh(&logins->logins[i], now_ms) &&
            secret_equal(secret_of(logins->logins[i].access), token))
            cluster = logins->logins[i].cluster;
    return cluster;
}

struct secret pluginlogins_issue(struct pluginlogins *logins, const char *cluster, int64_t now_ms,
                                 struct error *err)
{
    struct login *login = login_of(logins, cluster);
    assert(login);
    if (!is_fresh(login, now_ms)) {
        if (keybytes_draw_digits(login->access, TOKEN_LENGTH, err) < 0)
            return (struct secret){0};
        login->drawn_ms = now_ms;
    }
    return secret_of(login->access);
}
