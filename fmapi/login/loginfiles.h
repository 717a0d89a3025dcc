/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FMAPI_LOGIN_LOGINFILES_H
#define MCAST_FMAPI_LOGIN_LOGINFILES_H

#include "base/error.h"
#include "fmapi/wire/credential.h"
#include "fmapi/fmapi.h"
#include "fmapi/login/oauth.h"

/* All that a login reads from files (docs/fabric-manager.md, "Login"). */

enum { PASSWD_MAX = 1024 }; /* bytes of a password, without the NUL */

struct loginfiles {
    enum fmapi_auth auth;
    const char *authdir;              /* not NULL unless auth is NONE */
    const char *mtls_cert, *mtls_key; /* both or neither */
};

struct loginfiles_found {
    struct credential *credential; /* to send with; with OAuth to the token endpoint */
    struct oauthclient client;     /* OAuth */
};

/* 0, or an error code with a sentence that names the file and the next step. Thread-safe. */
int loginfiles_read(const struct loginfiles *files, struct loginfiles_found *out,
                    struct error *err);

void loginfiles_wipe(struct loginfiles_found *found);

/* The password file of the basic login, <authdir>/passwd: one line, as Slurm's sites have it. As
 * loginfiles_read; ERROR_REFUSED when others may read or change the file (F13). Wipe the password.
 */
int passwd_read(const char *authdir, char password[static PASSWD_MAX + 1], struct error *err);

#endif
