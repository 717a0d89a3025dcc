#ifndef MCAST_FMAPI_LOGIN_LOGIN_H
#define MCAST_FMAPI_LOGIN_LOGIN_H

#include "base/error.h"
#include "fmapi/wire/credential.h"
#include "fmapi/login/loginfiles.h"
#include "fmapi/transport.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* The credential in force, and its renewal: one at a time however many wait for it (F13).
 *
 * Every renewal reads the files again, on a worker thread: the directory may be a network's. With
 * OAuth an access token is then asked for, on connections of its own, so that busy calls do not
 * hold it up; unless who asks only wants to be logged in and the token in force was granted to the
 * very client in the files, is not yet due and was never refused.
 *
 * An access token is renewed well before its end (lifetime.h) without anybody asking. When that
 * fails, or a login finds the endpoint down, the token in force serves on until its end. */

struct login_options {
    struct loginfiles files;
    struct transport_options transport; /* of the token endpoint; parallel is not looked at */
    int64_t timeout_ms;                 /* of the token endpoint's answer */
};

struct login;

/* Copies the options. NULL when memory is exhausted. Holds no handle until the first renewal. */
struct login *login_create(uv_loop_t *loop, const struct login_options *options);

/* The credential in force, which the caller may hold; NULL when there is none or its time is over.
 */
struct credential *login_credential(const struct login *login);

/* Why somebody waits for a renewal. */
enum login_want {
    LOGIN_WANT_LOGIN,  /* fmapi_login: the files as they are now, and a token that lives */
    LOGIN_WANT_ANY,    /* a call that found none */
    LOGIN_WANT_OTHER,  /* a call whose credential, the one in force, is not taken any more (401) */
    LOGIN_WANT_RIGHTS, /* a call that the one in force has no right to (403); others may go on */
};

enum login_end { LOGIN_ENDED, LOGIN_LATE, LOGIN_CANCELLED };

/* What a renewal calls; embedded by who waits, linked here until then. */
struct login_wait {
    /* ENDED: code is 0 or the renewal's error with its words; LATE: the deadline passed, words say
     * what was waited for; CANCELLED: the login is being destroyed. */
    void (*done)(struct login_wait *wait, enum login_end end, int code, const char *words);
    uint64_t deadline_ns; /* of uv_hrtime; 0: as long as it takes */
    struct login_wait *next;
};

/* Begins a renewal, or joins the one that is under way; wait->done is called once, from the loop,
 * never from here. The credential in force stays when the renewal fails. */
void login_renew(struct login *login, enum login_want want, struct login_wait *wait);

/* Ends those who wait with CANCELLED; closed is called when nothing is left, from here when that is
 * at once. NULL is allowed (closed is not called). */
void login_destroy(struct login *login, void (*closed)(void *arg), void *arg);

struct login_counters {
    uint64_t logins;     /* renewals that somebody waited for with WANT_LOGIN and that ended well */
    uint64_t renewals;   /* others that ended well */
    uint64_t failures;   /* of either */
    uint64_t tls_errors; /* of the token endpoint's connections */
    int64_t since_ms;    /* Unix; when the credential in force came, 0: none is */
    int64_t expires_ms;  /* Unix; 0: not known */
    int64_t certificate_ends_ms; /* Unix; 0: we show none */
};
void login_counters(const struct login *login, struct login_counters *out);

#endif
