/* SPDX-License-Identifier: Apache-2.0 */
/* The life of one HTTP request: read it, let it misbehave as the fault rules say, act, answer.
 *
 * A delayed request or answer is suspended, with a timer of its own, and so delays no other. It
 * acts when its time comes, also when its client has gone. */
#pragma once

#include <microhttpd.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uv.h>

#include "mock-fm/faults/control.h"

#define CALL_BODY_MAX (16U << 20) /* bytes; the NICs of 11,136 nodes need less than 1 MB */

/* What all calls share. */
struct calls {
    struct control *control;
    uint64_t latency_ms;
    uv_loop_t *loop;
    void (*wake)(struct calls *calls);  /* a suspended connection may go on: run libmicrohttpd */
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
