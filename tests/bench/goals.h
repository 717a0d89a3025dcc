#ifndef MCAST_TESTS_GOALS_H
#define MCAST_TESTS_GOALS_H

#include "tests/bench/report.h"

#include <stdbool.h>
#include <stddef.h>

/* The goals for speed, measured: ratios of two programs that take turns in one run, and counts. */

enum goals_part {
    GOALS_ALL,
    GOALS_RESERVES, /* G1–G5 */
    GOALS_JOBS,     /* G8 */
    GOALS_REPORTS   /* G13–G15 */
};

struct goals_options {
    const char *mcastd, *mock_fm, *echo; /* programs */
    enum goals_part only;
    size_t repetitions;       /* of G1–G5, G13 and G14; at most SAMPLE_MAX */
    size_t requests;          /* reserves in one turn at 64 connections */
    size_t jobs;              /* of G8 */
    size_t nodes;             /* of the job of G13 and G14 */
    size_t arrivals;          /* of that of G15, */
    unsigned connections_max; /* and what the broker takes then; 0: its default */
};

/* "reserves", "jobs", "reports"; false for any other word. */
bool goals_part(const char *word, enum goals_part *part);

/* Runs everything, or that part; the report is the callee's, good until the next call. NULL with a
 * word on stderr when something did not work. */
const struct report *goals_measure(const struct goals_options *options);

/* Whether the goals that are counts, and so hold on any machine at any load, are met. G4 is none of
 * them: how many of 64 requests meet in a commit depends on how fast the disk is. G14 is one: with
 * hundreds in line many meet on any disk. */
bool goals_counts_met(void);

#endif
