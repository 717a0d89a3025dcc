/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/metrics/histogram.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

/* Turns of the event loop: how long each stalls everything else, and in which part of the program
 * (G11, B8). A turn is the time between two waits.
 *
 * A part of the program calls turn_enter before what can take long and turn_leave after it. Names
 * are static texts that fit after "mostly in"; the same name is the same address. A part entered
 * within another counts for itself only. The unnamed rest is small, but for libcurl's part of the
 * calls to the fabric manager. */

enum { TURN_NAMES = 8, TURN_LONG_US = 50 * 1000 };

struct turn_part {
    const char *what;
    uint64_t took_ns;
};

struct turn {
    uv_loop_t *loop;
    uint64_t (*now_ns)(void); /* uv_hrtime; for tests another */
    uint64_t began_ns;
    uint64_t idle_ns; /* waited until it began */
    int64_t cpu_ns;   /* of this thread until then */
    const char *what; /* entered now, and since when */
    uint64_t since_ns;
    struct turn_part parts[TURN_NAMES]; /* the first: the unnamed rest */
    unsigned part_count;
    /* To be set when a signal ended the wait of this turn: libuv forgets how long it was, so it is
     * not measured. */
    bool interrupted;
    struct histogram stall;     /* microseconds */
    struct peak peak, cpu_peak; /* by now_ns */
};

/* A turn of TURN_LONG_US or more. */
struct turn_stall {
    int64_t took_us;
    int64_t cpu_us;   /* computed meanwhile */
    const char *what; /* took longest */
    int64_t what_us;
};

void turn_init(struct turn *turn, uv_loop_t *loop);

/* Returns what was entered before, for turn_leave. */
const char *turn_enter(struct turn *turn, const char *what);
void turn_leave(struct turn *turn, const char *before);

/* Just before the loop waits: ends a turn and begins the next. true: it was a long one. */
bool turn_end(struct turn *turn, struct turn_stall *out);
/* The same, and logs a long turn. */
void turn_next(struct turn *turn);

/* Microseconds; the longest of the last five minutes. */
int64_t turn_peak_us(const struct turn *turn);
/* Of what it computed in one turn itself; the rest of a long one was its waiting for a processor.
 */
int64_t turn_cpu_peak_us(const struct turn *turn);
