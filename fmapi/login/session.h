#ifndef MCAST_FMAPI_LOGIN_SESSION_H
#define MCAST_FMAPI_LOGIN_SESSION_H

#include "base/secret.h"
#include "fmapi/login/login.h"
#include "fmapi/wire/request.h"
#include "fmapi/transport.h"

/* Requests under a login: sends with the credential in force, gets one when there is none yet, and
 * when an answer is 401 or 403 renews it once and, if that brought another one, sends again. */

struct session;

/* Takes login. NULL with a sentence in err, then login is still the caller's. */
struct session *session_create(uv_loop_t *loop, struct login *login,
                               const struct transport_options *options, struct error *err);

/* Ends what is under way with CANCELLED, then calls closed, from the loop. NULL is allowed (closed
 * is not called). */
void session_destroy(struct session *session, void (*closed)(void *arg), void *arg);

/* Takes what request holds, also on failure. timeout_ms covers both attempts
 * and what a login takes before or between them. done is called once,
 * from the loop, with an answer that is valid until it returns. When no login could be had the
 * answer is a 401 without a body whose words are the login's. 0 or ERROR_NOMEM. */
int session_send(struct session *session, struct request *request, int64_t timeout_ms,
                 transport_done_fn *done, void *arg);

/* The same with a job's session token in place of the login: what the answer is, it is. No login is
 * got or renewed for it, none is shown besides, and neither is our certificate, since whom that
 * stands for may do more than the token (I6). */
int session_send_token(struct session *session, struct request *request, struct secret token,
                       int64_t timeout_ms, transport_done_fn *done, void *arg);

const struct transport *session_transport(const struct session *session);

#endif
