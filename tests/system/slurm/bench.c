/* SPDX-License-Identifier: Apache-2.0 */
/* By hand: build/tests/slurm/slurm_bench [cost__*|thousand_jobs__*]; cost__on_one_node is what
 * `./dev bench` runs (G28), and reads.
 *
 * cost: what our hooks add to `srun true` against hooks that do nothing, in the same run, turn by
 * turn; and what each takes by itself, within jobs. The broker is asked as README.md of the hooks
 * says, by TLS and MUNGE. Figures depend on the machine, ratios and differences less.
 * thousand_jobs: half of them on two nodes, with multicast addresses; nothing may be left. Minutes.
 */
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/slurm/site.h"
#include "tests/unit/unit.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 6, RUNS = 10, TIMED = 50, JOBS = 500, PATH_SIZE = 192, LINES_SIZE = 2048 };

/* Whose hooks are ours; the others do nothing. through: [hwcoll]; all jobs have addresses. */
static const struct {
    const char *what, *controllers, *nodes, *settings, *through;
} kinds[] = {
    {"no-op hooks", "noop", "noop", "", "direct"},
    {"ours on the controller", "slurm", "noop", "", "direct"},
    {"ours, with documents", "slurm", "slurm", "", "direct"},
    {"the same, relayed", "slurm", "slurm", "", "relay"},
    {"nodes ask, relayed", "slurm", "slurm", "MCAST_LAUNCH=none\n", "relay"},
    {"ours, and nodes ask", "slurm", "slurm", "MCAST_LAUNCH=none\n", "direct"},
    {"ours, timed", "timed", "timed", "", "direct"}, /* the others only when hooks are timed */
    {"ours, nodes ask, timed", "timed", "timed", "MCAST_LAUNCH=none\n", "direct"},
};
enum { KINDS = 6, TIMED_WITH = KINDS, TIMED_ASKING };

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

static const char *const names[] = {"prologslurmctld", "epilogslurmctld", "prolog", "epilog",
                                    "taskprolog"};
enum { HOOKS = 4 };

static int front_port;

/* Hooks that do nothing, and ours with the time that they take. */
static void make_hooks(const struct site *site)
{
    char path[PATH_SIZE], name[64], script[1024];
    front_port = cluster_find_ports();
    assert_int_equal(mkdir(folder_path(path, sizeof path, site->folder, "conf.d"), 0755), 0);
    assert_int_equal(mkdir(folder_path(path, sizeof path, site->folder, "noop"), 0755), 0);
    assert_int_equal(mkdir(folder_path(path, sizeof path, site->folder, "timed"), 0755), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(name, sizeof name, "noop/%s", names[i]);
        assert_int_equal(folder_write(site->folder, name, 0755, "#!/bin/sh\nexit 0\n"), 0);
        snprintf(name, sizeof name, "timed/%s", names[i]);
        snprintf(script, sizeof script,
                 "#!/bin/bash\nt=${EPOCHREALTIME/./}\n%s/slurm/%s\ns=$?\n"
                 "t=$((${EPOCHREALTIME/./} - t)) f=%s/log/%s.times\ntimes >$f.$$\n"
                 "{ read -r; IFS='m.s ' read -r m u v n w x; } <$f.$$; rm $f.$$\n"
                 "echo $t $((1000 * (10#$u$v + 10#$w$x))) >>$f\nexit $s\n",
                 site->folder, names[i], site->folder, names[i]);
        assert_int_equal(folder_write(site->folder, name, 0755, i < HOOKS ? script : "#!/bin/sh\n"),
                         0);
    }
}

static void set_through(struct site *site, const char *through)
{
    static const char *now = "";
    char text[LINES_SIZE];
    if (strcmp(through, now) == 0)
        return;
    now = through;
    snprintf(text, sizeof text,
             "[hwcoll]\nthrough = %s\n[front]\nlisten = 127.0.0.1:%d\n"
             "url = https://127.0.0.1:%d\njob_ca = %s/tls.crt\n",
             through, front_port, front_port, site->folder);
    assert_int_equal(folder_write(site->folder, "conf.d/front.conf", 0644, text), 0);
    site_stop_broker(site);
    site_start_broker(site);
}

static void use(struct site *site, size_t kind)
{
    char lines[LINES_SIZE];
    cluster_await_idle(site->cluster);
    set_through(site, kinds[kind].through);
    site_set_settings(site, kinds[kind].settings);
    site_hook_lines(site, kinds[kind].controllers, kinds[kind].nodes, lines, sizeof lines);
    cluster_set_hooks(site->cluster, lines);
    cluster_await(site->cluster, "scontrol reconfigure");
    cluster_await(site->cluster, "scontrol show config | grep -q '^Prolog[^=]*= .*/%s/prolog$'",
                  kinds[kind].nodes);
    sleep(1); /* the nodes do not say when they have read it */
    cluster_await_idle(site->cluster);
    milliseconds(site, "srun -N2 true");
}

/* Each hook's own time within a job, ms. */
static void time_hooks(struct site *site, size_t kind)
{
    use(site, kind);
    cluster_expect(site->cluster, "rm -f $SITE/log/*.times");
    for (int run = 0; run < TIMED; run++) {
        milliseconds(site, "srun -N2 true");
        cluster_await_empty(site->cluster); /* this one's epilogs take no time of the next one */
    }
    cluster_await_idle(site->cluster);
    printf("%s: each hook's median\n", kinds[kind].what);
    for (size_t i = 0; i < HOOKS; i++) {
        printf("  %-24s", names[i]);
        for (int column = 1; column <= 2; column++) {
            cluster_expect(site->cluster,
                           "cut -d' ' -f%d $SITE/log/%s.times | sort -n | awk '{a[NR] = $1} END "
                           "{printf \"%%5.1f ms, the lowest %%5.1f (%%d)\", a[int((NR + 1) / 2)] / "
                           "1000, a[1] / 1000, NR}'",
                           column, names[i]);
            printf("  %s %s", column == 1 ? "takes" : "CPU", cluster_text(site->cluster));
        }
        printf("\n");
    }
    fflush(stdout);
}

static void cost__in_srun(void **state)
{
    struct site *site = *state;
    static double times[KINDS][ROUNDS * RUNS], middle[KINDS];
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
    /* Of what had no Epilog of ours; time does not end it, as there were launch documents. */
    cluster_expect(site->cluster,
                   "for n in n1 n2 n3 n4; do $MCASTCTL fence --reason bench $n || exit; done");
    site_end_holding(site);
}

/* One line a round, for a program. */
static void cost__on_one_node(void **state)
{
    static const size_t which[] = {0, 2}; /* of kinds */
    struct site *site = *state;
    double times[2][RUNS];
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < 2; i++) {
            use(site, which[i]);
            for (int run = 0; run < RUNS; run++)
                times[i][run] = milliseconds(site, "srun -N1 true");
        }
        printf("srun on one node: %.3f ms with no-op hooks, %.3f ms with ours\n",
               median(times[0], RUNS), median(times[1], RUNS));
        fflush(stdout);
    }
    site_end_holding(site);
}

static void cost__of_each_hook(void **state)
{
    struct site *site = *state;
    time_hooks(site, TIMED_WITH);
    time_hooks(site, TIMED_ASKING);
    cluster_run(site->cluster, "cat /proc/loadavg; slurmctld -V; sort $SITE/log/*.err | uniq -c");
    printf("load, and what hooks said: %s\n", cluster_text(site->cluster));
    site_expect_nothing_left(site);
}

/* The nodes' names have the address from which their MUNGE credentials are. For this process and
 * what it starts alone. */
static void name_nodes(void)
{
    char path[] = "/tmp/mcast-bench-hosts-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(dprintf(fd, "127.0.0.1 localhost\n192.0.2.1 n1 n2 n3 n4\n") > 0);
    assert_int_equal(fchmod(fd, 0644), 0);
    close(fd);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount(path, "/etc/hosts", NULL, MS_BIND, NULL) < 0)
        fprintf(stderr, "the nodes have no names, for which root is needed: they cannot ask\n");
    unlink(path);
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

static int create(void **state)
{
    const int rc = site_create_documented_large(state);
    make_hooks(*state);
    return rc;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cost[] = {cmocka_unit_test(cost__on_one_node),
                                      cmocka_unit_test(cost__in_srun),
                                      cmocka_unit_test(cost__of_each_hook)};
    const struct CMUnitTest many[] = {cmocka_unit_test(thousand_jobs__leave_nothing)};
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    name_nodes();
    const int failed = cmocka_run_group_tests(cost, create, site_destroy);
    if (argc > 1 && strncmp(argv[1], "cost", 4) == 0)
        return failed;
    return failed + cmocka_run_group_tests(many, site_create_documented_large, site_destroy);
}
