/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FMAPI_LOGIN_LOGIN_H
#define MCAST_FMAPI_LOGIN_LOGIN_H

#include "base/error.h"
#include "fmapi/wire/credential.h"
#include "fmapi/login/loginfiles.h"
#include "fmapi/transport.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* The credential in force, and its renewal: one at a time for all callers (F13).
 *
 * Every renewal reads the files again, on a worker thread: they may be on a network file system.
 * With OAuth it then requests an access token, on its own connections; not for WANT_LOGIN when the
 * token in force was granted to the client in the files, is not due and was never refused.
 *
 * An access token is renewed well before its end (oauth.h). When that fails, or a login finds the
 * endpoint down, the token in force is used until its end. */

struct login_options {
    struct loginfiles files;
    struct transport_options transport; /* of the token endpoint; parallel is ignored */
    int64_t timeout_ms;                 /* of the token endpoint's answer */
};

struct login;

/* Copies the options. NULL when memory is exhausted. Holds no handle until the first renewal. */
struct login *login_create(uv_loop_t *loop, const struct login_options *options);

/* The credential in force, which the caller may hold; NULL when there is none or its time is over.
 */
struct credential *login_credential(const struct login *login);

/* Why a caller waits for a renewal. */
enum login_want {
    LOGIN_WANT_LOGIN,  /* fmapi_login: the files as they are now, and a valid token */
    LOGIN_WANT_ANY,    /* a call that found none */
    LOGIN_WANT_OTHER,  /* a call whose credential, the one in force, was refused (401) */
    LOGIN_WANT_RIGHTS, /* a call that the one in force does not permit (403); others may */
};

enum login_end { LOGIN_ENDED, LOGIN_LATE, LOGIN_CANCELLED };

/* A waiting caller, which embeds it; linked here until done. */
struct login_wait {
    /* ENDED: code is 0 or the renewal's error with words; LATE: the deadline passed, words name
     * what was late; CANCELLED: the login is being destroyed. */
    void (*done)(struct login_wait *wait, enum login_end end, int code, const char *words);
    uint64_t deadline_ns; /* of uv_hrtime; 0: as long as it takes */
    struct login_wait *next;
};

/* Begins a renewal, or joins the present one; wait->done is called once, from the loop. The
 * credential in force stays when the renewal fails. */
void login_renew(struct login *login, enum login_want want, struct login_wait *wait);

/* Ends those who wait with CANCELLED; closed is called when nothing is left, from here when that is
 * at once. NULL is allowed (closed is not called). */
void login_destroy(struct login *login, void (*closed)(void *arg), void *arg);

struct login_counters {
    uint64_t logins;             /* successful renewals with WANT_LOGIN */
    uint64_t renewals;           /* other successful ones */
    uint64_t failures;           /* of either */
    uint64_t tls_errors;         /* of the token endpoint's connections */
    int64_t since_ms;            /* Unix; when the credential in force came, 0: none is */
    int64_t expires_ms;          /* Unix; 0: not known */
    int64_t certificate_ends_ms; /* Unix; 0: we show none */
};
void login_counters(const struct login *login, struct login_counters *out);

#endif
