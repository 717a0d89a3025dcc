/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "core/inventory/nicbook.h"
#include "tests/sim/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Switches of the fabric go down and come up while jobs run, and the broker reads it (P5): each
 * running job that has a NIC there is told, once, and no other. Where nodes are says a file. */

struct sim;

enum { SWITCHES = 4, SWITCHES_JOBS = 64 };

struct switches {
    struct rng rng;
    bool on; /* in one run of four */
    struct nicbook *file;
    bool down[SWITCHES];
    uint64_t process; /* the one that was told of the last change; 0: it was looked after */
    uint64_t before;  /* the last event until then, and the last number */
    uint64_t numbers;
    uint64_t jobs[SWITCHES_JOBS]; /* numbers of those that it concerns */
    size_t job_count;
};

void switches_init(struct sim *sim);
void switches_release(struct sim *sim);
void switches_storm(struct sim *sim);
