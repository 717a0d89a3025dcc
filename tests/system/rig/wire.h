/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Many kept HTTP/1.1 connections driven by one thread: the load generator. Understands answers with
 * a Content-Length, which is all the broker sends but for its event stream. */

struct wire_reply {
    int status; /* 0: the connection was lost; whether the request was acted on is not known */
    const char *body; /* NUL-terminated, valid during the callback */
    size_t length;
    int64_t latency_ns; /* from wire_send */
};
/* May call wire_send. */
typedef void wire_done_fn(void *arg, uint64_t tag, const struct wire_reply *reply);

struct wire_options {
    const char *socket;   /* path of a Unix socket; copied */
    unsigned connections; /* made when first needed, and again after a loss */
    unsigned depth; /* requests under way on one connection, at most 64; more than 1 pipelines */
    wire_done_fn *done;
    void *arg;
};

struct wire;
struct wire *
wire_create(const struct wire_options *options); /* NULL: out of memory or descriptors */
void wire_destroy(
    struct wire *wire); /* done is not called for what is under way; NULL is allowed */

bool wire_has_room(const struct wire *wire);
size_t wire_under_way(const struct wire *wire);

/* Sends one request; done is called for its tag exactly once, from wire_turn. body: NULL for none.
 * 0; -1 with errno when no connection can be made (nothing listens). Only while there is room. */
int wire_send(struct wire *wire, uint64_t tag, const char *method, const char *path,
              const char *body);

/* Waits for answers up to timeout_ms (-1: for ever) and delivers them. Their number. */
size_t wire_turn(struct wire *wire, int timeout_ms);

/* Closes all connections; nothing may be under way. After the other side was killed: its end of an
 * idle connection is gone, which the next request on it would be the first to notice. */
void wire_hang_up(struct wire *wire);
/* Closes the connections of which the first request waits for this long: they are lost, and what
 * they carried may still be acted on. */
void wire_give_up(struct wire *wire, int64_t after_ms);
