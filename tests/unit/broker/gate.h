/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "state/store.h"

#include <stdbool.h>
#include <uv.h>

/* A store whose commits end when and how the test says. Keeps nothing but counts. */

struct gate {
    struct store store;
    int fd;
    unsigned commits;    /* begun */
    size_t records;      /* durable */
    struct batch *batch; /* being committed, or NULL */
    struct batch *ready; /* offered, or NULL */
    struct batch *taken; /* of what was offered, and not heard of: to be committed next, or NULL */
    bool takes;          /* what is offered */
    store_done_fn *done;
    void *arg;
    int code; /* how it ends, once open */
    bool open, automatic;
    bool closed;
    int pages;    /* that come before the records */
    bool damaged; /* instead of the records */
};

/* automatic: each commit succeeds by itself, at the next dispatch. */
void gate_init(struct gate *gate, bool automatic);
void gate_release(struct gate *gate);

/* The commit under way has succeeded and the next one is taken, and nobody has heard of it. */
void gate_take(struct gate *gate);

/* Ends the commit under way with 0 or an error code, by way of the loop. */
void gate_finish(struct gate *gate, uv_loop_t *loop, int code);

/* Turns the loop until *condition is at least `least`, or fails the test after a minute. */
void gate_await(uv_loop_t *loop, const unsigned *condition, unsigned least);
