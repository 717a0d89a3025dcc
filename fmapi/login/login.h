/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fmapi/fmapi.h"
#include "fmapi/wire/credential.h"

#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

/* The credential in force, and its renewal: one at a time for all callers (F13).
 *
 * Every renewal reads the files again, on a worker thread: they may be on a network file system.
 * So are the trusted authorities, when their file has changed (G11).
 * With OAuth it then requests an access token, on its own connections; not for WANT_LOGIN when the
 * token in force was granted to the client in the files, is not due and was never refused.
 *
 * An access token is renewed well before its end (oauth.h). When that fails, or a login finds the
 * endpoint down, the token in force is used until its end. */

struct login;
struct transport;

/* The options outlive it, and so does the transport of the calls, which is told whom to trust.
 * verifies: whether there may be a server's certificate to verify. */
struct login *login_create(uv_loop_t *loop, const struct fmapi_options *options,
                           struct transport *calls, bool verifies);

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
    uint64_t deadline_ns; /* of uv_hrtime; late by at most 0.1 s */
    TAILQ_ENTRY(login_wait) entry;
};

TAILQ_HEAD(login_waiting, login_wait);

/* Begins a renewal, or joins the present one; wait->done is called once, from the loop. The
 * credential in force stays when the renewal fails. */
void login_renew(struct login *login, enum login_want want, struct login_wait *wait);

/* For a caller that is about to send: a renewal begins when the authorities' file is another one
 * than was read; it looks once a second, after the first login. */
void login_watch(struct login *login);

/* Ends those who wait with CANCELLED; closed is called from the loop when nothing is left. */
void login_destroy(struct login *login, void (*closed)(void *arg), void *arg);

/* Those of logins; TLS errors are of the token endpoint's connections. */
struct fmapi_counters login_counters(const struct login *login);
