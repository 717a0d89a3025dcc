#ifndef MCAST_FMAPI_LOGIN_PASSWD_H
#define MCAST_FMAPI_LOGIN_PASSWD_H

#include "base/error.h"

/* The password file of the basic login, `<authdir>/passwd`: one line, as Slurm's sites have it. */

enum { PASSWD_MAX = 1024 }; /* bytes of a password, without the NUL */

/* 0, or an error code with a sentence that names the file and what to do. ERROR_REFUSED when others
 * than the owner may read or change the file (F13). The password is a secret: the caller wipes it.
 */
int passwd_read(const char *authdir, char password[static PASSWD_MAX + 1], struct error *err);

#endif
