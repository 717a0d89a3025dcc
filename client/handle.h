/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The form of the library that waits: one request at a time of the form that does not (broker.h),
 * until it is done. */

#include "client/transport/broker.h"

#include <stdatomic.h>

struct mcast {
    struct broker broker;
    int stop_fd;
    atomic_bool stopped;
    bool busy;
    unsigned timeout_ms;
    unsigned retry_ms; /* the retry timeout (mcast_set_patience); 0: calls ask once */
    mcast_wait_fn *on_wait;
    void *wait_data;
};

/* A call to its result, which is empty before; what is in it is then the caller's. After a failure
 * nothing is in it. Asks again until the retry timeout. Releases the call. */
int handle_run(struct mcast *handle, struct call call, struct result *result,
               struct mcast_error *error);

/* The same, for one member of the outcome, which *out (of its size) receives. NULL: it is not
 * wanted, and the answer is not read. */
int handle_run_for(struct mcast *handle, struct call call, size_t member, void *out, size_t size,
                   struct mcast_error *error);
#define RUN_FOR(handle, call, member, out, error)                                                  \
    handle_run_for(handle, call, offsetof(struct mcast_outcome, member), out, sizeof(*(out)), error)

/* The same for the form that does not wait, until it is begun (async.c). */
int async_begin(struct mcast_async *async, struct call call, mcast_done_fn *done, void *arg,
                uint64_t *request, struct mcast_error *error);

/* The same without releasing the call; retry: until the retry timeout, unless a stream has begun.
 * 0: there was an answer of success. Else what call->each returned, or a code: MCAST_USAGE also
 * when called from a callback of the same handle. *error is as it was when call->each set it. */
int handle_ask(struct mcast *handle, const struct call *call, bool retry, struct result *result,
               struct mcast_error *error);

/* Waits, but not when stopped. MCAST_OK or MCAST_STOPPED. */
int handle_pause(struct mcast *handle, unsigned milliseconds, struct mcast_error *error);

/* MCAST_USAGE: it is none. */
int handle_set_timeout(unsigned *place, unsigned milliseconds, struct mcast_error *error);

/* A copy of the token; NULL: none. MCAST_USAGE: it is no token; MCAST_NOMEM. */
int handle_set_token(struct peer *peer, const char *token, struct mcast_error *error);

/* Reads MCAST_TOKEN, once, where no token was set. MCAST_USAGE, MCAST_NOMEM. */
int handle_settle_token(struct mcast *handle, struct mcast_error *error);

/* MCAST_USAGE where the call needs a token and there is none. */
int handle_check_token(const struct peer *peer, const struct call *call, struct mcast_error *error);
