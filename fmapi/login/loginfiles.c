/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/login/loginfiles.h"

#include "fmapi/wire/baseurl.h"
#include "trust/keyfile.h"

#include <curl/curl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char basic_user[] = "cxi"; /* docs/fabric-manager.md, "Login" */

static int read_line(const char *authdir, const char *name, const struct keyfile *kind,
                     struct secret *out, struct error *err)
{
    char path[PATH_MAX];
    *out = (struct secret){0};
    if (snprintf(path, sizeof path, "%s/%s", authdir, name) >= (int)sizeof path)
        return error_set(err, ERROR_INVALID, "the name of the login's directory is too long");
    return keyfile_text(path, kind, out, err);
}

static int oauthclient_read(const char *authdir, struct oauthclient *out, struct error *err)
{
    static const struct keyfile endpoint = {.holds = "the URL of the OAuth2 token endpoint",
                                            .guard = KEYFILE_TRUSTED,
                                            .max = 2048,
                                            .line = true};
    static const struct keyfile id = {
        .holds = "the OAuth2 client's id", .guard = KEYFILE_TRUSTED, .max = 1024, .line = true};
    static const struct keyfile secret = {
        .holds = "the OAuth2 client's secret", .guard = KEYFILE_SECRET, .max = 4096, .line = true};

    *out = (struct oauthclient){0};
    int code = read_line(authdir, "endpoint", &endpoint, &out->endpoint, err);
    if (code == 0 && (code = baseurl_check(secret_expose(out->endpoint), "the URL", err)) != 0)
        (void)error_prefix(err, "%s/endpoint", authdir);
    if (code == 0 && !baseurl_private(secret_expose(out->endpoint)))
        code = error_set(err, ERROR_REFUSED,
                         "%s/endpoint: over http others on the network could read the client's "
                         "secret: write the https URL of the token endpoint into it",
                         authdir);
    if (code == 0)
        code = read_line(authdir, "client-id", &id, &out->id, err);
    if (code == 0)
        code = read_line(authdir, "client-secret", &secret, &out->secret, err);
    if (code != 0)
        oauthclient_wipe(out);
    return code;
}

int loginfiles_read(const struct fmapi_options *options, struct loginfiles_found *out,
                    struct error *err)
{
    static const struct keyfile kind = {.holds = "the fabric manager's password",
                                        .guard = KEYFILE_SECRET,
                                        .max = 1024,
                                        .line = true};
    struct clientcert cert;
    struct secret password;
    *out = (struct loginfiles_found){0};
    int code = clientcert_read(options->mtls_cert, options->mtls_key, &cert, err);
    if (code != 0)
        return code;
    switch (options->auth) {
    case FMAPI_AUTH_BASIC:
        code = read_line(options->authdir, "passwd", &kind, &password, err);
        if (code == 0)
            out->credential = credential_basic(basic_user, password, &cert);
        secret_wipe(&password);
        break;
    case FMAPI_AUTH_OAUTH:
        code = oauthclient_read(options->authdir, &out->client, err);
        break;
    case FMAPI_AUTH_NONE:
        break;
    }
    if (code == 0 && !out->credential)
        out->credential = credential_plain(&cert);
    clientcert_wipe(&cert);
    return code;
}

void loginfiles_wipe(struct loginfiles_found *found)
{
    credential_drop(found->credential);
    oauthclient_wipe(&found->client);
    *found = (struct loginfiles_found){0};
}

/* -- the trusted authorities -- */

struct place {
    const char *file, *directory; /* the second only of the system's */
};

static struct place place_of(const char *ca)
{
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    if (ca)
        return (struct place){.file = ca};
    return (struct place){.file = curl->cainfo ? curl->cainfo : "", .directory = curl->capath};
}

static struct stat stat_or_zero(const char *path)
{
    struct stat status;
    return path && stat(path, &status) == 0 ? status : (struct stat){0};
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

bool authorities_changed(const struct authorities *authorities, const char *ca)
{
    const struct place place = place_of(ca);
    const struct stat file = stat_or_zero(place.file), directory = stat_or_zero(place.directory);
    return !same_file(&file, &authorities->file) || !same_file(&directory, &authorities->directory);
}

/* The flags are those that libcurl sets. */
static X509_STORE *read_store(struct place place)
{
    const char *tls = curl_version_info(CURLVERSION_NOW)->ssl_version;
    X509_STORE *store = tls && strstr(tls, "OpenSSL/") ? X509_STORE_new() : NULL;
    if (store && X509_STORE_load_locations(store, place.file, place.directory) == 1 &&
        X509_STORE_set_flags(store, X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN) == 1)
        return store;
    X509_STORE_free(store);
    return NULL;
}

struct authorities authorities_read(const char *ca)
{
    const struct place place = place_of(ca);
    struct authorities authorities = {.file = stat_or_zero(place.file),
                                      .directory = stat_or_zero(place.directory)};
    authorities.store = read_store(place); /* later: a change meanwhile is noticed */
    return authorities;
}

void authorities_release(struct authorities *authorities)
{
    X509_STORE_free(authorities->store);
    *authorities = (struct authorities){0};
}
