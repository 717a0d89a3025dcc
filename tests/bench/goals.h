#ifndef MCAST_TESTS_GOALS_H
#define MCAST_TESTS_GOALS_H

#include "tests/bench/report.h"

#include <stdbool.h>
#include <stddef.h>

/* The goals for speed, measured: ratios of two programs that take turns in one run, and counts. */

struct goals_options {
    const char *mcastd, *mock_fm, *echo; /* programs */
    size_t repetitions;                  /* of G1–G5; at most SAMPLE_MAX */
    size_t requests;                     /* reserves in one turn at 64 connections */
    size_t jobs;                         /* of G8 */
};

/* Runs everything; the report is the callee's, good until the next call. NULL with a word on stderr
 * when something did not work. */
const struct report *goals_measure(const struct goals_options *options);

/* Whether the goals that are counts, and so hold on any machine at any load, are met. G4 is none of
 * them: how many requests meet in a commit depends on how fast the disk is. */
bool goals_counts_met(void);

#endif
