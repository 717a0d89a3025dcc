/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/metric.h"
#include "tests/bench/parts.h"
#include "tests/bench/request.h"
#include "tests/system/rig/await.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* As much as a site can have at once: nearly as many reservations as there are VNIs, each with a
 * VNI, 128 nodes, an address and its token, and the reports of some nodes (G29). */

enum { REPORTS = 8 }; /* of as many nodes, each reservation, at last; and one at first */

static const struct levels {
    size_t reports;
    struct report_goal memory, start;
} levels[] = {
    {1,
     {.id = "G29",
      .what = "a reservation with all, one report: memory, B",
      .sense = REPORT_AT_MOST,
      .limit = 1500},
     {.id = "G29s", .what = "start with 60,000 of them, s", .sense = REPORT_AT_MOST, .limit = 0.5}},
    {REPORTS,
     {.id = "G29r",
      .what = "the same with eight reports: memory, B",
      .sense = REPORT_AT_MOST,
      .limit = 1500},
     {.id = "G29t", .what = "start with these, s", .sense = REPORT_AT_MOST, .limit = 0.5}},
};

static size_t reservations;
static uint64_t *numbers; /* of these, by index */

/* All reservations' first, then all their second. */
static void make_report(size_t index, struct load_request *out)
{
    char id[REQUEST_ID_SIZE];

    request_id(index % reservations, id);
    out->method = "PUT";
    snprintf(out->path, sizeof out->path, "/v1/clusters/elcap/jobs/%s/nodes/elcap%zu", id,
             index / reservations + 1);
    snprintf(out->body, sizeof out->body,
             "{\"state\":\"created\",\"number\":%" PRIu64 ",\"order\":1,\"services\":"
             "[{\"device\":\"cxi0\",\"id\":12},{\"device\":\"cxi1\",\"id\":12},"
             "{\"device\":\"cxi2\",\"id\":12},{\"device\":\"cxi3\",\"id\":12}]}",
             numbers[index % reservations]);
}

/* Page by page. */
static int read_numbers(const struct testbed *testbed, size_t count)
{
    char path[LOAD_PATH_SIZE] = "/v1/jobs?limit=1000";
    size_t found = 0;

    while (path[0]) {
        struct plainhttp_reply reply;
        const json_t *job;
        size_t i;

        plainhttp_call(testbed_http(testbed), "GET", path, NULL, &reply);
        json_array_foreach(json_object_get(reply.json, "jobs"), i, job)
        {
            const size_t index =
                strtoul(json_string_value(json_object_get(job, "job")) + 1, NULL, 16);

            if (index < count) {
                numbers[index] = (uint64_t)json_integer_value(json_object_get(job, "number"));
                found++;
            }
        }
        const char *next = json_string_value(json_object_get(reply.json, "next"));
        snprintf(path, sizeof path, "%s", next ? next : "");
        plainhttp_reply_release(&reply);
    }
    if (found == count)
        return 0;
    fprintf(stderr, "%zu of %zu reservations are listed\n", found, count);
    return -1;
}

static int fill(struct testbed *testbed, size_t count)
{
    struct load load = {.socket = testbed_socket(testbed),
                        .connections = 64,
                        .count = count,
                        .make = request_eligible,
                        .expected = 201};
    struct load_result result;

    if (load_run(&load, &result) < 0)
        return -1;
    if (metric_value(testbed, "mcastd_jobs_with_addresses") != (double)count) {
        fprintf(stderr, "not all reservations have addresses\n");
        return -1;
    }
    return read_numbers(testbed, count);
}

static double memory_of(const struct testbed *testbed)
{
    return metric_value(testbed, "process_resident_memory_bytes");
}

static int start_again(const struct bench *bench, struct testbed *testbed,
                       const struct report_goal *goal)
{
    for (size_t i = 0; i < bench->repetitions; i++) {
        if (testbed_stop_broker(testbed) < 0)
            return -1;
        const int64_t began = await_now_ns();
        if (testbed_start_broker(testbed) < 0)
            return -1;
        report_goal(bench->report, goal, (double)(await_now_ns() - began) / 1e9);
    }
    return 0;
}

static int measure(const struct bench *bench, struct testbed *testbed)
{
    const double count = (double)bench->site;

    if (testbed_start_fm(testbed) < 0 || testbed_start_broker(testbed) < 0 ||
        testbed_await_link(testbed) < 0)
        return -1;
    const double empty = memory_of(testbed);
    if (fill(testbed, bench->site) < 0)
        return -1;
    for (size_t i = 0, had = 0; i < sizeof levels / sizeof *levels; had = levels[i++].reports) {
        const struct load load = {.socket = testbed_socket(testbed),
                                  .connections = 64,
                                  .first = had * bench->site,
                                  .count = (levels[i].reports - had) * bench->site,
                                  .make = make_report,
                                  .expected = 200};
        struct load_result result;

        if (load_run(&load, &result) < 0)
            return -1;
        report_goal(bench->report, &levels[i].memory, (memory_of(testbed) - empty) / count);
        if (start_again(bench, testbed, &levels[i].start) < 0)
            return -1;
    }
    return testbed_stop_broker(testbed);
}

int part_site(const struct bench *bench)
{
    static const char *const mock_args[] = {"--addresses", "8192", "--overcommit", NULL};
    const struct testbed_options options = {.mcastd = bench->mcastd,
                                            .mock_fm = bench->fm,
                                            .mock_args = mock_args,
                                            .fm = "reserve_timeout = 1m\n",
                                            .hwcoll = request_hwcoll_for_many};
    struct testbed *testbed = NULL;
    int result = -1;

    printf("G29, %zu reservations with all they can have\n", bench->site);
    fflush(stdout);
    reservations = bench->site;
    numbers = calloc(bench->site, sizeof *numbers);
    if (numbers && (testbed = testbed_create(&options)))
        result = measure(bench, testbed);
    testbed_destroy(testbed);
    free(numbers);
    return result;
}
