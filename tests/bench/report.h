#ifndef MCAST_TESTS_REPORT_H
#define MCAST_TESTS_REPORT_H

#include "tests/bench/sample.h"

#include <stdbool.h>
#include <stddef.h>

/* What is printed and written: each goal with its measure, and the figures it was made of. */

enum report_sense { REPORT_AT_LEAST, REPORT_AT_MOST };

struct report_goal {
    const char *id, *what;
    enum report_sense sense;
    double limit;
    struct sample sample;
};

struct report_figure {
    const char *key, *unit;
    struct sample sample;
};

struct report {
    struct report_goal *goals;
    size_t goal_count;
    struct report_figure *figures;
    size_t figure_count;
    size_t repetitions;
};

bool report_met(const struct report_goal *goal);
void report_print(const struct report *report);
int report_write_json(const struct report *report, const char *path); /* 0, or -1 */

#endif
