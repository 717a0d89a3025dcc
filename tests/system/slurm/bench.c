/* SPDX-License-Identifier: Apache-2.0 */
/* By hand: build/tests/slurm/slurm_bench [cost__*|thousand_jobs__*]
 *
 * cost: what our hooks add to `srun true` against hooks that do nothing, in the same run, turn by
 * turn; and what each takes by itself. Figures depend on the machine, ratios and differences less.
 * thousand_jobs: half of them on two nodes, with multicast addresses; nothing may be left. Minutes.
 */
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/slurm/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 6, RUNS = 10, ALONE = 40, JOBS = 500, PATH_SIZE = 192, LINES_SIZE = 2048 };

/* Whose hooks are ours; the others do nothing. */
static const struct {
    const char *what, *controllers, *nodes, *settings;
} kinds[] = {
    {"no-op hooks", "noop", "noop", ""},
    {"ours on the controller", "slurm", "noop", ""},
    {"ours everywhere", "slurm", "slurm", ""},
    {"ours, and nodes ask", "slurm", "slurm", "MCAST_LAUNCH=none\n"},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return (values[count / 2] + values[(count - 1) / 2]) / 2;
}

static double milliseconds(struct site *site, const char *command)
{
    const int64_t begun = await_now_ns();
    cluster_expect(site->cluster, "%s", command);
    return (double)(await_now_ns() - begun) / 1e6;
}

static void make_noops(const struct site *site)
{
    static const char *const names[] = {"prologslurmctld", "epilogslurmctld", "prolog", "epilog",
                                        "taskprolog"};
    char path[PATH_SIZE], name[64];
    assert_int_equal(mkdir(folder_path(path, sizeof path, site->folder, "noop"), 0755), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(name, sizeof name, "noop/%s", names[i]);
        assert_int_equal(folder_write(site->folder, name, 0755, "#!/bin/sh\nexit 0\n"), 0);
    }
}

static void use(struct site *site, size_t kind)
{
    char lines[LINES_SIZE];
    cluster_await_idle(site->cluster);
    site_set_settings(site, kinds[kind].settings);
    site_hook_lines(site, kinds[kind].controllers, kinds[kind].nodes, lines, sizeof lines);
    cluster_set_hooks(site->cluster, lines);
    cluster_await(site->cluster, "scontrol reconfigure");
    cluster_await(site->cluster, "scontrol show config | grep -q '^Prolog .*/%s/'",
                  kinds[kind].nodes);
    sleep(1); /* the nodes do not say when they have read it */
    cluster_await_idle(site->cluster);
    milliseconds(site, "srun -N2 true");
}

static void time_alone(struct site *site, const char *folder, const char *hook, double *out)
{
    char command[1024];
    for (int i = 0; i < ALONE; i++) {
        snprintf(command, sizeof command,
                 "exec env -i SLURM_CLUSTER_NAME=elcap SLURM_JOB_ID=%d SLURM_JOB_UID=%u "
                 "SLURM_JOB_NODELIST=n1 SLURM_JOB_NUM_NODES=1 %s/%s/%s",
                 900000 + i, site->uid, site->folder, folder, hook);
        out[i] = milliseconds(site, command);
    }
}

static void cost__of_our_hooks(void **state)
{
    struct site *site = *state;
    static double times[KINDS][ROUNDS * RUNS], middle[KINDS];
    double alone[2][2][ALONE];
    make_noops(site);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t kind = 0; kind < KINDS; kind++) {
            use(site, kind);
            for (int run = 0; run < RUNS; run++)
                times[kind][round * RUNS + run] = milliseconds(site, "srun -N2 true");
        }
    }
    printf("srun -N2 true: median of %d, more than with no-op hooks, the lowest\n", ROUNDS * RUNS);
    for (size_t kind = 0; kind < KINDS; kind++) {
        middle[kind] = median(times[kind], ROUNDS * RUNS);
        printf("  %-24s %7.1f ms  %+7.1f ms  %7.1f ms\n", kinds[kind].what, middle[kind],
               middle[kind] - middle[0], times[kind][0]); /* median() has sorted them */
    }
    time_alone(site, "noop", "prologslurmctld", alone[0][0]);
    time_alone(site, "slurm", "prologslurmctld", alone[1][0]);
    time_alone(site, "noop", "epilogslurmctld", alone[0][1]);
    time_alone(site, "slurm", "epilogslurmctld", alone[1][1]);
    printf("a hook alone: median of %d, more than a no-op, the lowest\n", ALONE);
    for (int i = 0; i < 2; i++) {
        const double noop = median(alone[0][i], ALONE), ours = median(alone[1][i], ALONE);
        printf("  %-24s %7.1f ms  %+7.1f ms  %7.1f ms\n",
               i == 0 ? "prologslurmctld" : "epilogslurmctld", ours, ours - noop, alone[1][i][0]);
    }
    site_end_holding(site); /* of what the hooks reserved with no job behind them */
}

static void thousand_jobs__leave_nothing(void **state)
{
    struct site *site = *state;
    char lines[LINES_SIZE];
    site_hook_lines(site, "hooks", "slurm", lines, sizeof lines); /* which record, for I1 */
    cluster_set_hooks(site->cluster, lines);
    cluster_await(site->cluster, "scontrol reconfigure");
    const int64_t begun = await_now_ns();
    cluster_submit(site->cluster, "%s --array=1-%d -N1 -n1 --wrap true", site->as_user, JOBS);
    cluster_submit(site->cluster, "%s --array=1-%d -N2 -n2 --wrap true", site->as_user, JOBS);
    cluster_run(site->cluster, "while squeue -h -a | grep -q .; do sleep 1; done");
    const double seconds = (double)(await_now_ns() - begun) / 1e9;
    printf("%d jobs in %.0f s, %.1f a second\n", 2 * JOBS, seconds, 2 * JOBS / seconds);
    site_expect_nothing_left(site);
    cluster_run(site->cluster,
                "wc -l <%s/reservations; cut -d' ' -f2 %s/reservations | sort -u | wc -l; "
                "sinfo -h -o '%%T %%D'; wc -l %s/log/*.err",
                site->folder, site->folder, site->folder);
    printf("reservations, jobs, nodes, what hooks said:\n%s\n", cluster_text(site->cluster));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cost[] = {cmocka_unit_test(cost__of_our_hooks)};
    const struct CMUnitTest many[] = {cmocka_unit_test(thousand_jobs__leave_nothing)};
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const int failed = cmocka_run_group_tests(cost, site_create_launching_large, site_destroy);
    return failed + cmocka_run_group_tests(many, site_create_large, site_destroy);
}
