/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_AUTH_DECODER_H
#define MCAST_BROKER_HTTP_AUTH_DECODER_H

#include "broker/http/auth/mungecred.h"

#include <uv.h>

/* Decodes MUNGE credentials without keeping the loop waiting: munged is asked by worker threads of
 * the loop, few at once, the rest queued; a request that has waited too long is answered that
 * munged does not answer, whatever its thread waits for. */

enum {
    DECODER_THREADS = 2,      /* of the loop's four: others need them, too */
    DECODER_QUEUE_MAX = 1024, /* waiting or being decoded */
    DECODER_DEADLINE_MS = 5000
};

struct decoder;
/* Blocks; on worker threads. */
typedef void decoder_decode_fn(const char *socket, const char *credential, const char *payload,
                               struct mungecred *out);
typedef void decoder_done_fn(void *arg, const struct mungecred *mungecred);

/* decode: mungecred_decode, but in tests. NULL: out of memory. */
struct decoder *decoder_create(uv_loop_t *loop, decoder_decode_fn *decode);

/* Calls done exactly once, from the loop, never from in here. Copies the credential; takes the
 * payload (mungecred_payload) over, in any case. 0, or ERROR_FULL or ERROR_NOMEM and done is not
 * called. */
int decoder_ask(struct decoder *decoder, const char *socket, const char *credential, char *payload,
                decoder_done_fn *done, void *arg);

/* How many are queued now: waiting, or being decoded. */
unsigned decoder_waiting(const struct decoder *decoder);

/* When nothing waits any more. closed is called from the loop, after the last thread has come back.
 */
void decoder_destroy(struct decoder *decoder, void (*closed)(void *arg), void *arg);

#endif
