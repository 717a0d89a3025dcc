/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FMAPI_LOGIN_SESSION_H
#define MCAST_FMAPI_LOGIN_SESSION_H

#include "base/secret.h"
#include "fmapi/login/login.h"
#include "fmapi/wire/request.h"
#include "fmapi/transport.h"

/* Requests under a login: sends with the credential in force, which it gets when there is none;
 * after 401 or 403 renews it once and, if it is another one then, sends again. */

struct session;

/* Takes login. NULL with a sentence in err, then login is still the caller's. */
struct session *session_create(uv_loop_t *loop, struct login *login,
                               const struct transport_options *options, struct error *err);

/* Ends requests with CANCELLED, then calls closed, from the loop. NULL is allowed (closed
 * is not called). */
void session_destroy(struct session *session, void (*closed)(void *arg), void *arg);

/* Takes what request holds, also on failure. timeout_ms covers both attempts and the login. done is
 * called once, from the loop, with an answer that is valid until it returns. Without a login the
 * answer is a 401 without a body and with the login's words. 0 or ERROR_NOMEM.
 *
 * token: a job's session token, which replaces login and certificate, because those may allow more
 * (I6), and for which no login is requested or renewed; none: the login. */
int session_send(struct session *session, struct request *request, struct secret token,
                 int64_t timeout_ms, transport_done_fn *done, void *arg);

const struct transport *session_transport(const struct session *session);

#endif
