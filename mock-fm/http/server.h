/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server: libmicrohttpd on a libuv loop. */
#pragma once

#include <stdbool.h>
#include <uv.h>

#include "mock-fm/faults/control.h"
#include "mock-fm/http/message.h"
#include "mock-fm/http/tls.h"

struct server;
struct listener; /* options.h */

/* Listens and serves as long as the loop runs, with `tls` (NULL: plain HTTP), which outlives it;
 * every answer but the control's is `latency_ms` late. NULL with a problem. Close before destroy.
 */
struct server *server_create(uv_loop_t *loop, struct control *control,
                             const struct listener *listener, struct tls *tls, uint64_t latency_ms,
                             struct problem *problem);

/* The port it listens at, until it is closed. */
unsigned server_port(const struct server *server);

/* Stops serving; requests that are still delayed stay unanswered. The loop must run until it ends
 * by itself before server_destroy. */
void server_close(struct server *server);

/* Takes NULL. */
void server_destroy(struct server *server);
