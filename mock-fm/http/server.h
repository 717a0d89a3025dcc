/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server: libmicrohttpd on a libuv loop. */
#pragma once

#include <stdbool.h>
#include <uv.h>

#include "mock-fm/faults/control.h"
#include "mock-fm/http/message.h"
#include "mock-fm/http/tls.h"

struct server;

struct server_address {
    const char *host; /* a name or an address */
    const char *port; /* "0": any */
    struct tls *tls;  /* HTTPS; NULL: plain HTTP. Outlives the server */
    bool for_jobs;    /* no client is asked for a certificate, even if tls has a client CA */
};

/* Listens at the address and serves as long as the loop runs; every answer but the control's is
 * `latency_ms` late. NULL with a problem. Close before destroy. */
struct server *server_create(uv_loop_t *loop, struct control *control,
                             const struct server_address *address, uint64_t latency_ms,
                             struct problem *problem);

/* The port it listens at, until it is closed. */
unsigned server_port(const struct server *server);

/* Stops serving; requests that are still delayed stay unanswered. The loop must run until it ends
 * by itself before server_destroy. */
void server_close(struct server *server);

/* Takes NULL. */
void server_destroy(struct server *server);
