/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/allocations.h"
#include "tests/bench/parts.h"
#include "tests/bench/request.h"
#include "tests/bench/wrapper.h"
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

struct cost {
    const struct bench *bench;
    unsigned connections;
    char folder[FOLDER_PATH_SIZE], mcastd[WRAPPER_PATH_SIZE], file[PATH_SIZE];
};

/* ---- asking ---- */

static int ask(const struct testbed *testbed, unsigned connections, size_t first, size_t count,
               bool reserve)
{
    const struct load load = {.socket = testbed_socket(testbed),
                              .connections = connections,
                              .first = first,
                              .count = count,
                              .make = reserve ? request_reserve : request_release,
                              .expected = reserve ? 201 : 202};
    struct load_result result;

    return count == 0 ? 0 : load_run(&load, &result);
}

static struct testbed *open_stage(const struct cost *cost)
{
    const struct testbed_options options = {.mcastd = cost->mcastd, .hwcoll = request_hwcoll};
    struct testbed *testbed = testbed_create(&options);

    if (testbed && testbed_start_broker(testbed) == 0 &&
        ask(testbed, cost->connections, WARM_UP_FIRST, WARM_UP, true) == 0)
        return testbed;
    testbed_destroy(testbed);
    return NULL;
}

/* ---- instructions ---- */

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

/* Of a whole life with so many reserves and releases; -1 with a word on stderr. */
static double instructions(const struct cost *cost, size_t reserves, size_t releases)
{
    struct testbed *testbed = open_stage(cost);
    const bool done = testbed && ask(testbed, cost->connections, 0, reserves, true) == 0 &&
                      ask(testbed, cost->connections, 0, releases, false) == 0 &&
                      testbed_stop_broker(testbed) == 0;

    testbed_destroy(testbed);
    return done ? read_total(cost->file) : -1;
}

/* The difference of two lives that differ in nothing but the requests. */
static int measure_instructions(struct cost *cost)
{
    const struct bench *bench = cost->bench;
    const double count = (double)bench->counted;
    char before[TEXT_SIZE];

    folder_path(cost->file, sizeof cost->file, cost->folder, "callgrind.out");
    snprintf(before, sizeof before, "%s -q --tool=callgrind --callgrind-out-file=%s",
             bench->valgrind, cost->file);
    if (wrapper_write(cost->mcastd, cost->folder, "mcastd", before, bench->mcastd) < 0)
        return -1;
    const double none = instructions(cost, 0, 0);
    const double reserved = none < 0 ? -1 : instructions(cost, bench->counted, 0);
    const double released = reserved < 0 ? -1 : instructions(cost, bench->counted, bench->counted);
    if (released < 0)
        return -1;
    const bool alone = cost->connections == 1;
    report_figure(bench->report,
                  alone ? "instructions of a reserve, 1 connection"
                        : "instructions of a reserve, 64 connections",
                  "", (reserved - none) / count);
    report_figure(bench->report,
                  alone ? "instructions of a release, 1 connection"
                        : "instructions of a release, 64 connections",
                  "", (released - reserved) / count);
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
    struct testbed *testbed = open_stage(cost);
    int result = -1;

    if (!testbed)
        return -1;
    const struct allocations first = since(counts, &(struct allocations){.made = 0});
    if (first.made == 0) {
        fprintf(stderr, "%s counts nothing: can it be loaded?\n", bench->counter);
    } else if (ask(testbed, cost->connections, 0, bench->counted, true) == 0) {
        const struct allocations reserves = since(counts, &first);
        const struct allocations second = since(counts, &(struct allocations){.made = 0});

        if (ask(testbed, cost->connections, 0, bench->counted, false) == 0) {
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
        printf("no instructions: valgrind is not installed\n");
    for (unsigned connections = 1; result == 0 && bench->valgrind && connections <= 64;
         connections += 63) {
        printf("instructions of %zu requests, %u at a time\n", bench->counted, connections);
        fflush(stdout);
        cost.connections = connections;
        result = measure_instructions(&cost);
    }
    folder_destroy(cost.folder);
    return result;
}
