#ifndef MCAST_FMAPI_TRANSPORT_H
#define MCAST_FMAPI_TRANSPORT_H

#include "base/error.h"
#include "fmapi/wire/credential.h"
#include "fmapi/wire/request.h"
#include "fmapi/wire/secrets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uv_loop_s; /* uv_loop_t; without <uv.h>, for one exchange alone needs no loop */

/* HTTP requests on the loop: one libcurl multi handle whose sockets the loop polls as one set, and
 * whose timer is libuv's; connections kept and reused (G8). Knows nothing of what is said.
 *
 * Requests go to the URL and nowhere else: no redirects, no proxies, http and https only.
 *
 * libcurl sends a request a second time by itself, on a fresh connection, when a kept connection
 * turns out to have been closed before one byte of the answer came (RFC 9110 9.2.2 leaves that to
 * clients only for idempotent methods; libcurl does it for all). The server may have acted on the
 * first copy, and the answer to the second says nothing of that: so it is done only where a request
 * says that it is repeatable, all else is BROKEN. */

enum transport_end {
    TRANSPORT_ANSWERED = 1, /* a whole answer */
    TRANSPORT_TOO_LONG,     /* an answer longer than the request allows; status is known */
    TRANSPORT_TIMEOUT,      /* the request may have left, no whole answer in time */
    TRANSPORT_BROKEN,       /* the request may have left, then the connection broke */
    TRANSPORT_UNREACHED,    /* the request never left: no name, connection, TLS, or time for it */
    TRANSPORT_CANCELLED,    /* the transport is being destroyed */
};

struct transport_answer {
    enum transport_end end;
    int status;       /* HTTP status, 0 when none came */
    const char *body; /* ANSWERED: length bytes, NULL when length is 0 */
    size_t length;
    const char *words; /* what went wrong, in words fit for a log; "" for ANSWERED */
    int64_t took_us;
    bool tls_fault;         /* it ended so because of TLS */
    struct secrets secrets; /* what the request carried and the answer may quote; the session's */
};

struct transport_options {
    const char *ca;    /* file or directory; NULL: the system's store */
    bool ca_directory; /* which of the two; set by transport_create or exchange_ca */
    bool verify;
    bool bare;         /* words name the cause only: the next steps are those of mcastd.conf */
    unsigned parallel; /* connections at once, at most; at least 1 */
};

struct transport_counters {
    uint64_t requests, connections, bytes_in, bytes_out, tls_errors;
    int64_t skew_ms; /* the other side's clock less ours, looked at once a second; INT64_MIN: no
                        answer said */
};

struct transport;

/* NULL with a sentence in err. Copies the options. */
struct transport *transport_create(struct uv_loop_s *loop, const struct transport_options *options,
                                   struct error *err);

/* Ends what is under way with CANCELLED, then calls closed, all from the loop. No request may be
 * sent any more. NULL is allowed (closed is not called). */
void transport_destroy(struct transport *transport, void (*closed)(void *arg), void *arg);

/* Sends request under the credential (NULL: none) from the start. The credential is held; the
 * request's body must stay until done is called. done is called once, from the loop; the answer is
 * valid until it returns. 0 or ERROR_NOMEM (done is not called then). */
typedef void transport_done_fn(void *arg, const struct transport_answer *answer);
int transport_send(struct transport *transport, const struct request *request,
                   struct credential *credential, int64_t timeout_ms, transport_done_fn *done,
                   void *arg);

void transport_counters(const struct transport *transport, struct transport_counters *out);

#endif
