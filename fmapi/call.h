/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FMAPI_CALL_H
#define MCAST_FMAPI_CALL_H

#include "fmapi/wire/decode.h"
#include "fmapi/fmapi.h"
#include "fmapi/login/session.h"

#include <stdbool.h>

/* What calls and the list have in common; private to fmapi. */

struct fmapi {
    uv_loop_t *loop;
    char *bases[FMAPI_URLS_MAX]; /* NULL: not used */
    const char *base;            /* the one in use */
    int64_t timeout_ms;
    bool unverified;
    struct login *login;
    struct session *session;
    unsigned in_flight;
    struct login_wait login_wait;
    fmapi_login_fn *login_done; /* NULL: no fmapi_login is in progress */
    void *login_arg;
    bool closing; /* done is not called any more */
    void (*closed)(void *arg);
    void *closed_arg;
};

/* The outcome and the text of an incomplete answer: not ANSWERED, not CANCELLED. */
enum fmcall_outcome call_outcome_of_end(enum transport_end end);
void call_describe_end(char words[static DECODE_WORDS_SIZE], const struct fmapi *api,
                       const char *base, const struct transport_answer *answer);

#endif
