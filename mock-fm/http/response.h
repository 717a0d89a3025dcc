/* SPDX-License-Identifier: Apache-2.0 */
/* Sends an answer: whole, or as a fault says: half of it, byte by byte, without a length, with
 * further headers. */
#ifndef MCAST_MOCK_FM_HTTP_RESPONSE_H
#define MCAST_MOCK_FM_HTTP_RESPONSE_H

#include <microhttpd.h>
#include <sys/queue.h>
#include <uv.h>

#include "mock-fm/http/message.h"
#include "mock-fm/faults/faults.h"

struct response_stream;

/* What all responses of a server share. `wake` is called when a suspended connection may go on. */
struct responses {
    uv_loop_t *loop;
    void (*wake)(void *server);
    void *server;
    LIST_HEAD(response_stream_list, response_stream)
    waiting; /* suspended until their next byte is due */
};

/* Queues the answer, with the body rendered from it, which is taken. `challenge` is the value of
 * WWW-Authenticate, if the answer needs one. MHD_NO: nothing could be queued. */
enum MHD_Result response_send(struct responses *responses, struct MHD_Connection *connection,
                              const struct answer *answer, struct body *body,
                              const struct fault *fault, const char *challenge);

/* Breaks off those that are still sent byte by byte; libmicrohttpd can be stopped only then. */
void responses_abandon(struct responses *responses);

#endif
