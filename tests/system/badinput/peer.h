/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/http/answer.h"

#include <sys/types.h>

/* One raw connection to the broker, with a deadline, for a client that misbehaves: unlike the http
 * tests' line it can stop half way, stop reading, and be closed under its hands. */

struct peer;

/* To a Unix socket, or with path NULL to 127.0.0.1:port. Asserts that it is made. */
struct peer *peer_open(const char *path, int port);
void peer_close(struct peer *peer); /* NULL is allowed */

/* All of it; false when the other side has closed before. */
bool peer_send(struct peer *peer, const char *bytes, size_t length);
/* Nothing more will be sent; what comes is still read. */
void peer_end_sending(struct peer *peer);

/* The next answer; false when the connection ended, or the deadline passed, before it was whole.
 * bodiless as answer_take. */
bool peer_answer(struct peer *peer, bool bodiless, struct answer *answer);

/* Reads to the end: whether the other side closed in time. Then peer_rest is what came after the
 * last answer, NUL-terminated. */
bool peer_read_out(struct peer *peer);
const char *peer_rest(const struct peer *peer);

/* Reads until `text` has come and drops it with all before it; false when the connection ended, or
 * when `never` came first. */
bool peer_skip_past(struct peer *peer, const char *text, const char *never);

/* Bytes that have arrived and are not read, without reading them. */
size_t peer_waiting(const struct peer *peer);

/* Of a Unix socket: the process at its other end. */
pid_t peer_process(const struct peer *peer);
