/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fmapi/fmapi.h"
#include "fmapi/login/login.h"
#include "fmapi/transport.h"
#include "fmapi/wire/decode.h"

#include <stdbool.h>

/* What calls and the list have in common; private to fmapi. */

struct fmapi {
    uv_loop_t *loop;
    struct fmapi_options options; /* its texts are owned; without the URLs */
    char *bases[FMAPI_URLS_MAX];  /* NULL: not used */
    const char *base;             /* the one in use */
    struct login *login;
    struct transport *transport;
    uint64_t no_renewal_until_ns; /* of uv_hrtime; a 403 renews no login until then */
    unsigned in_flight;           /* calls and lists */
    struct login_wait login_wait;
    fmapi_login_fn *login_done; /* NULL: no fmapi_login is in progress */
    void *login_arg;
    bool closing; /* done is not called any more */
    void (*closed)(void *arg);
    void *closed_arg;
};

/* Sends a request with the credential in force, which it gets when there is none; after 401 or 403
 * renews it once and, if it is another one then, sends again.
 *
 * Takes what request holds. timeout_ms covers both attempts and the login. done is
 * called once, from the loop, with an answer that is valid until it returns. Without a login the
 * answer is a 401 without a body and with the login's words.
 *
 * token: a job's session token, which replaces login and certificate, because those may allow more
 * (I6), and for which no login is requested or renewed; none: the login. */
void attempt_send(struct fmapi *api, struct request *request, struct secret token,
                  int64_t timeout_ms, transport_done_fn *done, void *arg);

/* The outcome and the text of an incomplete answer: not ANSWERED, not CANCELLED. */
enum fmcall_outcome call_describe_end(char words[static DECODE_WORDS_SIZE], const struct fmapi *api,
                                      const char *base, const struct transport_answer *answer);
