/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/login/loginfiles.h"

#include "fmapi/wire/baseurl.h"
#include "trust/keyfile.h"

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
