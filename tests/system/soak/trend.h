/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether a figure grows with the jobs. The median of the first third of its readings is compared
 * with that of the last third: a few odd readings decide nothing, and what swings is told from what
 * climbs, because the thirds must also lie apart (the last one's lower quartile above the first
 * one's upper one). */

struct trend_rule {
    double slack;    /* what may be added, in the figure's unit */
    double relative; /* and in parts of the first third */
};

struct trend {
    double first, last; /* medians of the thirds */
    double jobs;        /* between their middles */
    double per_job;     /* what each of these has added */
    bool grows;
};

enum { TREND_READINGS_MIN = 9 };

/* values, jobs: count readings in the order of time, and how many jobs there had been. Fewer than
 * TREND_READINGS_MIN judge nothing: false. */
bool trend_judge(const double *values, const double *jobs, size_t count,
                 const struct trend_rule *rule, struct trend *out);

/* The value that so many percent of the readings are below. Sorts them. */
double trend_percentile(double *values, size_t count, unsigned percent);
