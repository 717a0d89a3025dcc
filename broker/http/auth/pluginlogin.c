/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/pluginlogin.h"

#include "base/memory.h"
#include "tokens/keybytes.h"
#include "trust/keyfile.h"

#include <assert.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECRET_MIN = 16, SECRET_MAX = 1024, TOKEN_LENGTH = 64 };

struct login {
    const char *cluster;
    struct secret password;        /* none: there is no file passwd */
    struct secret id, client;      /* none: no OAuth2 client */
    char access[TOKEN_LENGTH + 1]; /* "": none was asked for */
    int64_t drawn_ms;
};

struct pluginlogins {
    size_t count;
    struct login logins[CLUSTERS_MAX];
};

static void login_wipe(struct login *login)
{
    secret_wipe(&login->password);
    secret_wipe(&login->id);
    secret_wipe(&login->client);
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
                         "%s: %zu characters at least are wanted, which nobody can guess: openssl "
                         "rand -hex 32",
                         path, least);
    if (!is_plain(secret_expose(*out)))
        return error_set(err, ERROR_REFUSED,
                         "%s: letters, digits and -._~ only: Slurm sends it as it is: openssl rand "
                         "-hex 32",
                         path);
    return 0;
}

static int read_login(const struct config_cluster *cluster, struct login *login, struct error *err)
{
    login->cluster = cluster->name;
    int basic = read_file(cluster, "passwd", SECRET_MIN, &login->password, err);
    if (basic < 0 && basic != ERROR_NOT_FOUND)
        return basic;
    int oauth = read_file(cluster, "client-id", 1, &login->id, err);
    if (oauth == 0)
        return read_file(cluster, "client-secret", SECRET_MIN, &login->client, err);
    if (oauth != ERROR_NOT_FOUND)
        return oauth;
    return basic == 0 ? 0
                      : error_set(err, ERROR_NOT_FOUND,
                                  "%s has neither passwd nor client-id: put the files there that "
                                  "the cluster's Slurm has in its fm_authdir",
                                  cluster->plugin_login);
}

/* The login says which cluster it is. */
static int check_differs(const struct pluginlogins *logins, const struct login *login,
                         struct error *err)
{
    for (size_t i = 0; i < logins->count; i++) {
        const struct login *other = &logins->logins[i];
        if (secret_equal(other->password, login->password) ||
            secret_equal(other->client, login->client))
            return error_set(err, ERROR_REFUSED,
                             "the clusters %s and %s have the same login: give each its own",
                             other->cluster, login->cluster);
    }
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
        logins->logins[logins->count++] = login;
    }
    return logins;
}

/* ---- judging ---- */

const char *pluginlogins_basic(const struct pluginlogins *logins, const char *encoded)
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
    bool known = strncmp(shown, user, sizeof user - 1) == 0;
    for (size_t i = 0; known && i < logins->count; i++)
        if (secret_equal(logins->logins[i].password, secret_of(shown + sizeof user - 1)))
            cluster = logins->logins[i].cluster;
    explicit_bzero(text, sizeof text);
    return cluster;
}

const char *pluginlogins_client(const struct pluginlogins *logins, struct secret id,
                                struct secret secret)
{
    const char *cluster = NULL;
    for (size_t i = 0; i < logins->count; i++)
        if (secret_equal(logins->logins[i].id, id) &&
            secret_equal(logins->logins[i].client, secret))
            cluster = logins->logins[i].cluster;
    return cluster;
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
    size_t i = 0;
    while (i < logins->count && strcmp(logins->logins[i].cluster, cluster) != 0)
        i++;
    assert(i < logins->count);
    struct login *login = &logins->logins[i];
    if (!is_fresh(login, now_ms)) {
        if (keybytes_draw_digits(login->access, TOKEN_LENGTH, err) < 0)
            return (struct secret){0};
        login->drawn_ms = now_ms;
    }
    return secret_of(login->access);
}
