/* SPDX-License-Identifier: Apache-2.0 */
/* The life of one HTTP request: read it, let it misbehave as the fault rules say, act, answer.
 *
 * A delayed request is suspended, with a timer of its own, and so delays no other. It acts when its
 * time comes, also when its client has gone. */
#pragma once

#include <microhttpd.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

#include "mock-fm/faults/control.h"

#define CALL_BODY_MAX (16U << 20) /* bytes; the NICs of 11,136 nodes need less than 1 MB */

struct call;
struct response_stream;

/* What all responses of a server share. `wake` is called when a suspended connection may go on. */
struct responses {
    uv_loop_t *loop;
    void (*wake)(void *server);
    void *server;
    LIST_HEAD(response_stream_list, response_stream)
    waiting; /* suspended until their next byte is due */
};

/* What all calls share. When a suspended connection may go on, the server is woken and lets
 * libmicrohttpd run. */
struct calls {
    struct control *control;
    uint64_t latency_ms;
    struct responses responses;
    LIST_HEAD(call_list, call) waiting; /* the suspended ones */
};

/* libmicrohttpd's callbacks; their `cls` is the struct calls. */
enum MHD_Result call_on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_size, void **context);
void call_on_completed(void *cls, struct MHD_Connection *connection, void **context,
                       enum MHD_RequestTerminationCode why);
void call_on_connection(void *cls, struct MHD_Connection *connection, void **context,
                        enum MHD_ConnectionNotificationCode what);

/* Drops every suspended request, unanswered or half answered; libmicrohttpd can be stopped only
 * then. */
void calls_abandon(struct calls *calls);
