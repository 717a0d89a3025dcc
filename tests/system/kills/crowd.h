/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/fleet.h"
#include "tests/system/kills/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The resource managers of several clusters, at work all at once over many connections: they
 * reserve, repeat, look, release, cancel, forsake and sync, and repeat what got no definite answer.
 * What they are told goes into the notes of each job. */

enum { CROWD_CLUSTERS = 3, CROWD_PLACES = 20, CROWD_JOBS = CROWD_CLUSTERS * CROWD_PLACES };
enum { CROWD_WATCHED = 64, CROWD_NAME_SIZE = 64 };

struct crowd_counts {
    uint64_t answers, reserves, repeats, releases, looks, syncs;
    uint64_t reserved, denied, timeout, unavailable, without; /* what became of the addresses */
    uint64_t unanswered, refused, exhausted, required, overtaken, forsaken;
    uint64_t strange_syncs; /* refused: none of what they named was reserved yet */
};

struct crowd_options {
    struct verdict *verdict;
    struct vnis *vnis;
    struct history *history;
    const char *const *clusters; /* CROWD_CLUSTERS names */
    struct fleet *fleet;         /* the brokers; borrowed */
    bool impatient; /* gives requests up: no job has the id of one that may still be asked for */
    uint64_t seed;
};

struct crowd;
struct crowd *crowd_create(const struct crowd_options *options); /* NULL: out of memory */
void crowd_destroy(struct crowd *crowd);                         /* NULL is allowed */

/* Connections may break, and nobody may listen: no fault. */
void crowd_expect_trouble(struct crowd *crowd, bool trouble);
/* No new jobs; those that live stay, and are left alone. */
void crowd_calm(struct crowd *crowd, bool calm);
/* Nothing is under way, in doubt, or forsaken. */
bool crowd_is_quiet(const struct crowd *crowd);

/* Sends what comes to its mind and takes the answers of a few milliseconds. */
void crowd_turn(struct crowd *crowd);
/* From now on, notes the first CROWD_WATCHED jobs with addresses whose release was sent and
 * answered since; false: no longer, and forgets them. */
void crowd_watch(struct crowd *crowd, bool watch);
/* The name of each at the fabric manager; NULL behind the last. */
const char *crowd_released(const struct crowd *crowd, size_t index);
/* A release that was sent since is not answered. */
bool crowd_awaits_release(const struct crowd *crowd);

/* After a kill: what was under way is broken off. */
void crowd_hang_up(struct crowd *crowd);

struct job *crowd_job(struct crowd *crowd, size_t index); /* 0 … CROWD_JOBS - 1 */
const struct crowd_counts *crowd_counts(const struct crowd *crowd);
