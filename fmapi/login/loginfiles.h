#ifndef MCAST_FMAPI_LOGIN_LOGINFILES_H
#define MCAST_FMAPI_LOGIN_LOGINFILES_H

#include "base/error.h"
#include "fmapi/wire/credential.h"
#include "fmapi/fmapi.h"
#include "fmapi/login/oauthclient.h"

/* Everything that a login reads from files, at one look (fabric-manager.md, "Login"). */

struct loginfiles {
    enum fmapi_auth auth;
    const char *authdir;              /* not NULL unless auth is NONE */
    const char *mtls_cert, *mtls_key; /* both or neither */
};

struct loginfiles_found {
    struct credential *credential; /* to send with; with OAuth to the token endpoint */
    struct oauthclient client;     /* OAuth */
};

/* 0, or an error code with a sentence that names the file and what to do; nothing is found then.
 * May be called on any thread. */
int loginfiles_read(const struct loginfiles *files, struct loginfiles_found *out,
                    struct error *err);

void loginfiles_wipe(struct loginfiles_found *found);

#endif
