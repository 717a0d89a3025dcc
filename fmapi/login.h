#ifndef MCAST_FMAPI_LOGIN_H
#define MCAST_FMAPI_LOGIN_H

#include "core/error.h"
#include "fmapi/basic.h"
#include "fmapi/fmapi.h"
#include "fmapi/passwd.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* The credential in force, and its renewal: one at a time however many wait for it. */

enum { LOGIN_USER_MAX = 8 };

struct credential {
    const char *user;                                    /* NULL: requests carry no login */
    char password[PASSWD_MAX + 1];                       /* secret */
    char basic[BASIC_SIZE(LOGIN_USER_MAX + PASSWD_MAX)]; /* secret: both, as basic_encode has it */
};

struct login;

/* NULL when memory is exhausted. Holds no handle until the first renewal. */
struct login *login_create(uv_loop_t *loop, enum fmapi_auth auth, const char *authdir);

/* NULL before the first successful renewal. *generation changes whenever the credential does, so
 * that a caller whose request was refused knows whether another attempt can fare better. */
const struct credential *login_credential(const struct login *login, uint64_t *generation);

/* What a renewal calls; embedded by who waits, linked here until then. code is 0 or the renewal's
 * error with its words; cancelled: the login is being destroyed. */
struct login_wait {
    void (*done)(struct login_wait *wait, int code, const char *words, bool cancelled);
    struct login_wait *next;
};

/* Reads the credential again, or joins the renewal that is under way; wait->done is called once,
 * from the loop. Files are read on a worker thread: the directory may be a network's. The
 * credential in force stays when the renewal fails. */
void login_renew(struct login *login, struct login_wait *wait);

/* Cancels those who wait; closed is called when the worker thread has finished, at once (from here)
 * when none is busy. NULL is allowed (closed is not called). */
void login_destroy(struct login *login, void (*closed)(void *arg), void *arg);

#endif
