/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/allocations.h"
#include "tests/bench/parts.h"
#include "tests/bench/request.h"
#include "tests/bench/wholejobs.h"
#include "tests/bench/wrapper.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/testbed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a request costs, counted: figures that do not depend on how busy the machine is. Requests
 * come one at a time, so each is a commit of its own, and over 64 connections. */

enum { WARM_UP = 200, WARM_UP_FIRST = 1 << 30, PATH_SIZE = 128, TEXT_SIZE = 512 };

/* Callgrind counts each byte that one repeated instruction of the C library writes or copies as an
 * instruction, so 16,400 of a wipe of 16 KiB that takes as long as some 1,000. */
#define UNREPEATED                                                                                 \
    "GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=1000000000:"                                 \
    "glibc.cpu.x86_rep_movsb_threshold=1000000000"

#define MORE 1.1 /* instructions than the fewest so far are allowed */

struct cost {
    const struct bench *bench;
    unsigned connections;
    char folder[FOLDER_PATH_SIZE], mcastd[WRAPPER_PATH_SIZE], file[PATH_SIZE];
};

/* ---- asking ---- */

static int ask(const struct testbed *testbed, unsigned connections, size_t first, size_t count,
               void (*make)(size_t index, struct load_request *out))
{
    const struct load load = {.socket = testbed_socket(testbed),
                              .connections = connections,
                              .first = first,
                              .count = count,
                              .make = make};
    struct load_result result;

    return count == 0 ? 0 : load_run(&load, &result);
}

/* eligible: with the fabric manager, and the job whose nodes report. */
static struct testbed *open_stage(const struct cost *cost, bool eligible)
{
    static const char *const mock_args[] = {"--addresses", "8192", "--overcommit", NULL};
    const struct testbed_options options = {.mcastd = cost->mcastd,
                                            .mock_fm = eligible ? cost->bench->fm : NULL,
                                            .mock_args = mock_args,
                                            .hwcoll = eligible ? request_hwcoll_for_many
                                                               : request_hwcoll};
    struct testbed *testbed = testbed_create(&options);

    if (testbed && (!eligible || testbed_start_fm(testbed) == 0) &&
        testbed_start_broker(testbed) == 0 && (!eligible || testbed_await_link(testbed) == 0) &&
        (!eligible || request_reserve_reported(testbed, cost->bench->counted) == 0) &&
        ask(testbed, cost->connections, WARM_UP_FIRST, WARM_UP,
            eligible ? request_eligible : request_reserve) == 0)
        return testbed;
    testbed_destroy(testbed);
    return NULL;
}

/* ---- instructions ---- */

/* What is counted, in the order in which it is asked in one life of the broker, and the fewest
 * instructions so far. */
static const struct counted {
    const char *id, *what;
    bool eligible;
    unsigned connections;
    void (*make)(size_t index, struct load_request *out);
    double fewest;
} all_counted[] = {
#define COUNTED(id, what, eligible, connections, make, fewest)                                     \
    {id, "instructions of " what, eligible, connections, make, fewest},
#include "tests/bench/instructions.inc"
};

enum { ALL_COUNTED = sizeof all_counted / sizeof *all_counted };

/* Callgrind writes them when the program ends: its line "totals:". */
static double read_total(const char *path)
{
    char line[TEXT_SIZE];
    double total = -1;
    FILE *file = fopen(path, "re");

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "totals: %lf", &total) == 1)
            break;
    if (file)
        fclose(file);
    if (total < 0)
        fprintf(stderr, "%s: callgrind wrote no totals\n", path);
    return total;
}

/* The fabric manager tells, so that the broker is not asked meanwhile. */
static bool is_given_back(void *arg)
{
    return wholejobs_fm_holds(arg) == WARM_UP + 1;
}

/* Of a whole life with the requests from one kind to before another; -1 with a word on stderr. */
static double instructions(const struct cost *cost, const struct counted *from,
                           const struct counted *to)
{
    struct testbed *testbed = open_stage(cost, from->eligible);
    bool done = testbed;

    for (; done && from < to; from++)
        done = ask(testbed, cost->connections, 0, cost->bench->counted, from->make) == 0 &&
               (from->make != request_release || !from->eligible ||
                await(is_given_back, testbed, AWAIT_DEADLINE_MS));
    done = done && testbed_stop_broker(testbed) == 0;
    testbed_destroy(testbed);
    return done ? read_total(cost->file) : -1;
}

/* They depend on the compiler and the libraries a little, on the processor's kind altogether. */
static void judge_instructions(const struct cost *cost, const struct counted *counted, double value)
{
    struct report_goal goal = {.id = counted->id,
                               .what = counted->what,
                               .sense = REPORT_NEVER_ABOVE,
                               .limit = counted->fewest * MORE,
                               .is_count = !cost->bench->report->counts_only};

    report_figure(cost->bench->report, counted->what, "", value);
#if defined __x86_64__ && defined __OPTIMIZE__
    report_goal(cost->bench->report, &goal, value);
    if (goal.is_count && value > goal.limit)
        fprintf(stderr,
                "%s: %.0f, more than the limit of %.0f, 10 %% above the fewest so far "
                "(tests/bench/instructions.inc; docs/performance.md, Cost)\n",
                counted->what, value, goal.limit);
#else
    (void)goal;
    report_skipped(cost->bench->report, "limits of instructions",
                   "those that are written down are of optimised x86-64 programs");
#endif
}

/* The differences of lives that differ in nothing but the requests. */
static int measure_instructions(struct cost *cost, const struct counted *from,
                                const struct counted *to)
{
    const struct bench *bench = cost->bench;
    char before[TEXT_SIZE];

    printf("instructions of %zu requests%s, %u at a time\n", bench->counted,
           from->eligible ? " with the fabric manager" : "", from->connections);
    fflush(stdout);
    cost->connections = from->connections;
    folder_path(cost->file, sizeof cost->file, cost->folder, "callgrind.out");
    snprintf(before, sizeof before,
             "env " UNREPEATED " %s -q --tool=callgrind --callgrind-out-file=%s", bench->valgrind,
             cost->file);
    if (wrapper_write(cost->mcastd, cost->folder, "mcastd", before, bench->mcastd) < 0)
        return -1;
    double so_far = instructions(cost, from, from);
    for (const struct counted *next = from; so_far >= 0 && next < to; next++) {
        const double total = instructions(cost, from, next + 1);

        if (total < 0)
            return -1;
        judge_instructions(cost, next, (total - so_far) / (double)bench->counted);
        so_far = total;
    }
    return so_far < 0 ? -1 : 0;
}

/* Those with the same circumstances, which stand together, share a life. */
static int measure_all_instructions(struct cost *cost)
{
    const struct counted *const end = all_counted + ALL_COUNTED;

    for (const struct counted *from = all_counted, *to; from < end; from = to) {
        for (to = from;
             to < end && to->eligible == from->eligible && to->connections == from->connections;)
            to++;
        if (measure_instructions(cost, from, to) < 0)
            return -1;
    }
    return 0;
}

/* ---- allocations ---- */

static const struct allocations *share_counts(const struct cost *cost)
{
    const int fd = open(cost->file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *shared = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, sizeof(struct allocations)) == 0)
        shared = mmap(NULL, sizeof(struct allocations), PROT_READ, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (shared != MAP_FAILED)
        return shared;
    perror(cost->file);
    return NULL;
}

static struct allocations since(const volatile struct allocations *now,
                                const struct allocations *before)
{
    return (struct allocations){.made = now->made - before->made,
                                .bytes = now->bytes - before->bytes,
                                .freed = now->freed - before->freed};
}

static int count_allocations(struct cost *cost, const struct allocations *counts)
{
    const struct bench *bench = cost->bench;
    const double count = (double)bench->counted;
    struct testbed *testbed = open_stage(cost, false);
    int result = -1;

    if (!testbed)
        return -1;
    const struct allocations first = since(counts, &(struct allocations){.made = 0});
    if (first.made == 0) {
        fprintf(stderr, "%s counts nothing: can it be loaded?\n", bench->counter);
    } else if (ask(testbed, cost->connections, 0, bench->counted, request_reserve) == 0) {
        const struct allocations reserves = since(counts, &first);
        const struct allocations second = since(counts, &(struct allocations){.made = 0});

        if (ask(testbed, cost->connections, 0, bench->counted, request_release) == 0) {
            const struct allocations releases = since(counts, &second);

            report_figure(bench->report, "allocations of a reserve", "",
                          (double)reserves.made / count);
            report_figure(bench->report, "bytes of these", "B", (double)reserves.bytes / count);
            report_figure(bench->report, "of these freed again", "",
                          (double)reserves.freed / count);
            report_figure(bench->report, "allocations of a release", "",
                          (double)releases.made / count);
            result = testbed_stop_broker(testbed);
        }
    }
    testbed_destroy(testbed);
    return result;
}

static int measure_allocations(struct cost *cost)
{
    char before[TEXT_SIZE];

    folder_path(cost->file, sizeof cost->file, cost->folder, "allocations");
    const struct allocations *counts = share_counts(cost);
    if (!counts)
        return -1;
    snprintf(before, sizeof before, "env LD_PRELOAD=%s " ALLOCATIONS_VARIABLE "=%s",
             cost->bench->counter, cost->file);
    const int result =
        wrapper_write(cost->mcastd, cost->folder, "mcastd", before, cost->bench->mcastd) == 0
            ? count_allocations(cost, counts)
            : -1;
    munmap((void *)(uintptr_t)counts, sizeof *counts);
    return result;
}

/* ---- all of it ---- */

int part_cost(const struct bench *bench)
{
    struct cost cost = {.bench = bench, .connections = 1};
    int result;

    if (folder_create(cost.folder) < 0)
        return -1;
    printf("allocations of %zu requests\n", bench->counted);
    fflush(stdout);
    result = measure_allocations(&cost);
    if (!bench->valgrind)
        report_skipped(bench->report, "instructions of requests", "valgrind is not installed");
    else if (result == 0)
        result = measure_all_instructions(&cost);
    folder_destroy(cost.folder);
    return result;
}
