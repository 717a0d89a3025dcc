/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/bench/load.h"
#include "tests/system/rig/process.h"

/* One turn of one program under load. */

struct turn {
    double rate;   /* requests a second */
    double cpu_us; /* of the program, a request */
    double median_us, p99_us, most_us;
};

/* 0, or -1 with a word on stderr. */
int turn_measure(const struct process *process, const struct load *load, struct turn *out);
