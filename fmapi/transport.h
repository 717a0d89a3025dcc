/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "fmapi/wire/exchange.h"

#include <stdint.h>
#include <uv.h>

/* HTTP requests on the loop: one libcurl multi handle whose sockets the loop polls as one set;
 * connections are kept and reused (G8). Knows nothing of the contents. */

struct transport_counters {
    uint64_t requests, connections, bytes_in, bytes_out, tls_errors;
    int64_t skew_ms; /* server's clock less ours, updated once a second; INT64_MIN: unknown */
};

struct transport;

/* NULL with a sentence in err. options->ca outlives it. */
struct transport *transport_create(uv_loop_t *loop, const struct transport_options *options,
                                   struct error *err);

/* Ends requests with CANCELLED, then calls closed, all from the loop. NULL is allowed (closed is
 * not called). */
void transport_destroy(struct transport *transport, void (*closed)(void *arg), void *arg);

/* Sends request with the credential (NULL: none), which is held. The request's body must stay until
 * done is called: once, from the loop, with an answer that is valid until it returns. */
void transport_send(struct transport *transport, const struct request *request,
                    struct credential *credential, int64_t timeout_ms, transport_done_fn *done,
                    void *arg);

/* Connections from now on trust these authorities (transport_options), also NULL. */
void transport_trust(struct transport *transport, struct x509_store_st *authorities);

const struct transport_counters *transport_counters(const struct transport *transport);
