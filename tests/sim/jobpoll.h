/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/jobview.h"

#include <stdbool.h>

/* Resource managers that are asked which of their jobs are active (list_command): they answer late,
 * from an old view, with half a list and an error, or not with all for a moment. */

struct sim;

struct jobpoll { /* under way, from one life of the broker */
    struct jobpoll *next;
    uint64_t id, process;
    struct jobview jobview;
    bool fails;
    bool stale; /* a reload came: the broker does not listen to the answer */
};

/* A reload: what is under way may be from the wrong command. */
void jobpoll_distrust(struct sim *sim);

void jobpoll_ask(struct sim *sim, uint64_t id, const char *cluster);
void jobpoll_release(struct sim *sim);
