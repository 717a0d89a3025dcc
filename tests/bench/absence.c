#include "tests/bench/absence.h"

#include "tests/bench/metric.h"

int absence_note(struct report *report, const struct stage *stage, const char *key)
{
    static const struct report_goal g11 = {.id = "G11",
                                           .what = "longest time the loop was away, ms",
                                           .sense = REPORT_NEVER_ABOVE,
                                           .limit = 5};
    const double seconds = metric_value(stage, "mcastd_loop_absence_max_seconds");

    if (seconds < 0)
        return -1;
    report_goal(report, &g11, seconds * 1e3);
    report_figure(report, key, "ms", seconds * 1e3);
    return 0;
}
