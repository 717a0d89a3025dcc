/* SPDX-License-Identifier: Apache-2.0 */
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

/* HTTP requests on the loop: one libcurl multi handle whose sockets the loop polls as one set;
 * connections are kept and reused (G8). Knows nothing of the contents.
 *
 * Requests go to the URL and nowhere else: no redirects, no proxies, http and https only.
 *
 * libcurl itself repeats a request on a new connection when a kept one was closed before any byte
 * of the answer came (RFC 9110 9.2.2 permits that for idempotent methods only). The server may have
 * acted on the first copy: so only a request that is repeatable is repeated, others are BROKEN. */

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
    const char *words; /* the cause, printable; "" for ANSWERED */
    int64_t took_us;
    bool tls_fault;         /* it failed because of TLS */
    struct secrets secrets; /* of the request, which the answer may quote; set by session.c */
};

struct transport_options {
    const char *ca;    /* file or directory; NULL: the system's store */
    bool ca_directory; /* which of the two; set by transport_create or exchange_ca */
    bool verify;
    bool bare;         /* words without next steps, which are about mcastd.conf */
    unsigned parallel; /* connections at once, at most; at least 1 */
};

struct transport_counters {
    uint64_t requests, connections, bytes_in, bytes_out, tls_errors;
    int64_t skew_ms; /* server's clock less ours, updated once a second; INT64_MIN: unknown */
};

struct transport;

/* NULL with a sentence in err. Copies the options. */
struct transport *transport_create(struct uv_loop_s *loop, const struct transport_options *options,
                                   struct error *err);

/* Ends requests with CANCELLED, then calls closed, all from the loop. NULL is allowed (closed is
 * not called). */
void transport_destroy(struct transport *transport, void (*closed)(void *arg), void *arg);

/* Sends request with the credential (NULL: none), which is held. The request's body must stay until
 * done is called: once, from the loop, with an answer that is valid until it returns. 0, or
 * ERROR_NOMEM (done is not called then). */
typedef void transport_done_fn(void *arg, const struct transport_answer *answer);
int transport_send(struct transport *transport, const struct request *request,
                   struct credential *credential, int64_t timeout_ms, transport_done_fn *done,
                   void *arg);

void transport_counters(const struct transport *transport, struct transport_counters *out);

#endif
