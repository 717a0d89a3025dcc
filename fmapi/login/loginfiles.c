#include "fmapi/login/loginfiles.h"

#include "fmapi/login/passwd.h"

#include <string.h>

static const char basic_user[] = "cxi"; /* fabric-manager.md, "Login" */

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
