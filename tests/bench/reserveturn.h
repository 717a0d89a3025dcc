/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/bench/parts.h"
#include "tests/bench/turn.h"

struct reserveturn {
    struct turn turn;
    double commits;   /* a reserve */
    double commit_us; /* on average, from the loop and back to it */
};

/* Durable reserves of a new broker with an empty ledger, warmed up, so that all turns are alike.
 * 0, or -1 with a word on stderr. */
int reserveturn_run(const struct bench *bench, unsigned connections, size_t count,
                    struct reserveturn *out);
