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

/* A call to its end; releases it. Asks again until the retry timeout. out: receives the address of
 * the document that call.read made, which is the caller's then (struct mcast_reservation **, …);
 * untouched after a failure. NULL: it is not wanted, and the answer is not read. */
int handle_run(struct mcast *handle, struct call call, void *out, struct mcast_error *error);

/* The same for calls whose answer is read by call_read_root: it as JSON text in one line; a number
 * in it, 0 when it is missing; whether a word in it is this one. NULL: not wanted. */
int handle_run_json(struct mcast *handle, struct call call, char **json, struct mcast_error *error);
int handle_run_number(struct mcast *handle, struct call call, const char *name, uint64_t *number,
                      struct mcast_error *error);
int handle_run_word(struct mcast *handle, struct call call, const char *name, const char *word,
                    bool *is, struct mcast_error *error);

/* The same for the form that does not wait, until it is begun (async.c). */
int async_begin(struct mcast_async *async, struct call call, mcast_done_fn *done, void *arg,
                uint64_t *request, struct mcast_error *error);

/* As handle_run without releasing the call; retry: until the retry timeout, unless a stream has
 * begun. 0: there was an answer of success. Else what call->each returned, or a code: MCAST_USAGE
 * also when called from a callback of the same handle. *error is as it was when call->each set it.
 */
int handle_ask(struct mcast *handle, const struct call *call, bool retry, void **document,
               struct mcast_error *error);

/* Waits, but not when stopped. MCAST_OK or MCAST_STOPPED. */
int handle_pause(struct mcast *handle, unsigned milliseconds, struct mcast_error *error);

/* MCAST_USAGE: it is none. */
int handle_set_timeout(unsigned *place, unsigned milliseconds, struct mcast_error *error);
