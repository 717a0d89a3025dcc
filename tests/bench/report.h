/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/bench/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What was measured: goals with what is wanted, the figures they were made of, and curves. Each is
 * there once somebody measured it, goals by their ids, all else in the order of the first time. */

enum report_sense {
    REPORT_AT_LEAST, /* of the median */
    REPORT_AT_MOST,  /* of the median */
    REPORT_NEVER_ABOVE
};

struct report_goal {
    const char *id, *what;
    enum report_sense sense;
    double limit;
    bool is_count; /* holds on any machine at any load, and so decides */
    struct sample sample;
};

struct report_figure {
    const char *key, *unit;
    struct sample sample;
};

enum { REPORT_POINTS_MAX = 16 };

/* A measure over how many reservations live. */
struct report_curve {
    const char *key, *unit;
    struct {
        double x;
        struct sample sample;
    } points[REPORT_POINTS_MAX];
    size_t count;
};

enum {
    REPORT_GOALS_MAX = 64,
    REPORT_FIGURES_MAX = 192,
    REPORT_CURVES_MAX = 16,
    REPORT_SKIPPED_MAX = 16
};

struct report {
    struct report_goal goals[REPORT_GOALS_MAX];
    struct report_figure figures[REPORT_FIGURES_MAX];
    struct report_curve curves[REPORT_CURVES_MAX];
    struct {
        const char *what, *why;
    } skipped[REPORT_SKIPPED_MAX];
    size_t goal_count, figure_count, curve_count, skipped_count;
    bool counts_only; /* too short for ratios: they are printed, but not judged */
};

/* Texts are borrowed for good; goals are the same when their ids are, the others by their keys. */
void report_goal(struct report *report, const struct report_goal *goal, double value);
/* What was not measured here, and what is missing for it. */
void report_skipped(struct report *report, const char *what, const char *why);
void report_figure(struct report *report, const char *key, const char *unit, double value);
void report_point(struct report *report, const char *key, const char *unit, double x, double value);

bool report_met(const struct report_goal *goal);
/* Whether all goals that are counts are met. */
bool report_counts_met(const struct report *report);

void report_print(const struct report *report);
int report_write_json(const struct report *report, const char *path); /* 0, or -1 */
