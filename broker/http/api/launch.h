/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/auth/workqueue.h"
#include "broker/http/request/call.h"

/* Launch documents (launch/document.h): POST …/jobs/{job}/launch, and "launch" in a reserve. The
 * answer is the reservation without its secrets, and "launch", the document in its envelope: sealed
 * with the launch key where there is one, else a credential of munged; on a worker thread. */

struct workqueue *launch_queue_create(uv_loop_t *loop);

/* Whether this broker can make envelopes: 0, or -1 with a problem. */
int launch_possible(struct call *call);

/* For a call with a launch wish, which shows the reservation when that is durable; then its
 * document is put into its envelope, and the answer goes out. call->status: of that. warning: for
 * the answer, or NULL. What is in the way becomes the answer. */
void launch_render(struct call *call, const struct reservation *reservation, const char *warning);
