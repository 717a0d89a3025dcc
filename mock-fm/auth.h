/* The login of the fabric manager: who may see and change jobs.
 *
 * Basic authentication with user `cxi` and the password of `<authdir>/passwd`, where Slurm's plugin
 * keeps it too; or none at all. */
#ifndef MCAST_MOCK_FM_AUTH_H
#define MCAST_MOCK_FM_AUTH_H

#include "mock-fm/problem.h"

enum auth_mode { AUTH_NONE, AUTH_BASIC };

enum auth_login {
    AUTH_ADMITTED, /* logged in, or no login is needed */
    AUTH_BEARER,   /* shows a bearer token instead: perhaps a job's session token */
    AUTH_MISSING,  /* shows nothing */
    AUTH_WRONG,    /* shows something that does not open this door */
};

struct auth;

/* Reads the password when there is one to read. NULL with a problem that names the file. */
struct auth *auth_open(enum auth_mode mode, const char *authdir, struct problem *problem);
void auth_close(struct auth *auth);

/* Judges the Authorization header of a request (NULL: it has none). A bearer token is never judged
 * here: also where no login is needed, who shows one wants to be what it stands for. */
enum auth_login auth_judge(const struct auth *auth, const char *header);

/* The bearer token within such a header, or NULL. */
const char *auth_bearer(const char *header);

#endif
