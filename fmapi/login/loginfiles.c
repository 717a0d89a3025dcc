/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/login/loginfiles.h"

#include "trust/keyfile.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char basic_user[] = "cxi"; /* docs/fabric-manager.md, "Login" */

int passwd_read(const char *authdir, char password[static PASSWD_MAX + 1], struct error *err)
{
    static const struct keyfile kind = {
        .holds = "the fabric manager's password", .guard = KEYFILE_SECRET, .max = PASSWD_MAX};
    char path[PATH_MAX];
    struct secret line;

    if (snprintf(path, sizeof path, "%s/passwd", authdir) >= (int)sizeof path)
        return error_set(err, ERROR_INVALID, "the name of the login's directory is too long");
    int code = keyfile_line(path, &kind, &line, err);
    if (code == 0)
        memcpy(password, secret_expose(line), strlen(secret_expose(line)) + 1);
    secret_wipe(&line);
    return code;
}

/* Takes cert when it succeeds. */
static int read_password(const char *authdir, struct clientcert *cert, struct credential **out,
                         struct error *err)
{
    char password[PASSWD_MAX + 1];
    int code = passwd_read(authdir, password, err);
    if (code == 0)
        *out = credential_basic(basic_user, secret_of(password), cert);
    explicit_bzero(password, sizeof password);
    return code;
}

int loginfiles_read(const struct loginfiles *files, struct loginfiles_found *out, struct error *err)
{
    struct clientcert cert;
    *out = (struct loginfiles_found){0};
    int code = clientcert_read(files->mtls_cert, files->mtls_key, &cert, err);
    if (code != 0)
        return code;
    switch (files->auth) {
    case FMAPI_AUTH_BASIC:
        code = read_password(files->authdir, &cert, &out->credential, err);
        break;
    case FMAPI_AUTH_OAUTH:
        code = oauthclient_read(files->authdir, &out->client, err);
        break;
    case FMAPI_AUTH_NONE:
        break;
    }
    if (code == 0 && out->credential == NULL)
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
