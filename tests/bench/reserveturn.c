#include "tests/bench/reserveturn.h"

#include "tests/bench/absence.h"
#include "tests/bench/metric.h"
#include "tests/bench/request.h"

/* The warm-up's jobs have other ids. */
enum { WARM_UP_FIRST = 1 << 30 };

int reserveturn_run(const struct bench *bench, unsigned connections, size_t count, struct turn *out,
                    double *commits)
{
    const struct stage_options options = {.mcastd = bench->mcastd, .hwcoll = request_hwcoll};
    struct stage *stage = stage_create(&options);
    struct load load = {.connections = 64,
                        .first = WARM_UP_FIRST,
                        .count = bench->warm_up,
                        .expected = 201,
                        .make = request_reserve};
    int result = -1;

    if (!stage || stage_start_broker(stage) < 0)
        goto done;
    load.socket = stage_socket(stage);
    if (turn_measure(stage_broker(stage), &load, out) < 0)
        goto done;
    load.connections = connections;
    load.first = 0;
    load.count = count;
    const double before = metric_value(stage, "mcastd_commits_total");
    if (before < 0 || turn_measure(stage_broker(stage), &load, out) < 0)
        goto done;
    *commits = (metric_value(stage, "mcastd_commits_total") - before) / (double)count;
    if (absence_note(bench->report, stage, "loop away, reserves") == 0)
        result = stage_stop_broker(stage);
done:
    stage_destroy(stage);
    return result;
}
