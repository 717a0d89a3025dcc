/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How long a job's start waits for the fabric manager when the site leaves that to the broker
 * ([fm] reserve_timeout = auto, F21): by how long reserves took lately, so that a fabric manager
 * that is slow but well costs no job its addresses, and one that hangs holds none for longer.
 * All zero: none has been answered yet. */

enum { RESERVEWAIT_MIN_MS = 2000, RESERVEWAIT_MAX_MS = 20000 };

struct reservewait {
    struct reservewait_span {
        int64_t shortest_ms, longest_ms;
        uint32_t count;
    } now, before;    /* each of five minutes at least, and of 32 reserves */
    int64_t since_ms; /* when the present one began */
};

/* A reserve was answered, also one that was given up meanwhile. */
void reservewait_note(struct reservewait *wait, int64_t now_ms, int64_t took_ms);

/* How long one took at most lately, cut at RESERVEWAIT_MAX_MS + 1; -1: not known. */
int64_t reservewait_longest(const struct reservewait *wait);

/* For how long to wait for what takes so many calls one after the other: those, and one more, as
 * long as the longest were lately; as long as a call may take while nothing is known. Only the
 * least when even the shortest could not be done within the most: waiting longer would not help. */
int64_t reservewait_time(const struct reservewait *wait, int64_t call_timeout_ms, uint32_t calls);

/* ---- of one reservation ---- */

struct core;
struct reservation;

/* Until when a reserve is tried, of a job that begins to wait now, perhaps not as the first: no
 * answer waits longer than the timeout that is in force when its request comes (F21); a reserve
 * behind a job that runs already has more time. */
void core_give_up_in_time(const struct core *core, struct reservation *reservation);
/* A try of it came to nothing: it waits no longer than what is known by now allows. */
void core_give_up_sooner(const struct core *core, struct reservation *reservation);
/* Its time is over. Whether it waits on all the same: answers that came meanwhile took longer than
 * was thought, and its own will, too. */
bool core_put_off_giving_up(const struct core *core, struct reservation *reservation);
