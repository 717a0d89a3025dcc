/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/wholejobs.h"

#include "tests/bench/request.h"
#include "tests/system/rig/await.h"

#include <stdio.h>

/* Asks for the status: a scrape of the metrics is so much longer that it would be seen in what is
 * measured. */
static bool gave_all_back(void *arg)
{
    struct plainhttp_reply reply;

    plainhttp_call(testbed_http(arg), "GET", "/v1/status", NULL, &reply);
    const json_t *reserved = json_object_get(json_object_get(reply.json, "addresses"), "reserved");
    const bool all = json_is_integer(reserved) && json_integer_value(reserved) == 0;
    plainhttp_reply_release(&reply);
    return all;
}

int wholejobs_await_end(struct testbed *testbed)
{
    if (await(gave_all_back, testbed, AWAIT_DEADLINE_MS))
        return 0;
    fprintf(stderr, "addresses of released jobs are not given back\n");
    return -1;
}

int wholejobs_fm_totals(struct testbed *testbed, double *requests, double *connections)
{
    struct plainhttp_reply reply;

    plainhttp_call(testbed_fm_http(testbed), "GET", "/mock/log", NULL, &reply);
    const json_t *seen = json_object_get(reply.json, "requests");
    const json_t *over = json_object_get(reply.json, "connections");
    const int result = json_is_integer(seen) && json_is_integer(over) ? 0 : -1;
    *requests = json_number_value(seen);
    *connections = json_number_value(over);
    plainhttp_reply_release(&reply);
    if (result < 0)
        fprintf(stderr, "GET /mock/log has no totals\n");
    return result;
}

double wholejobs_fm_holds(struct testbed *testbed)
{
    struct plainhttp_reply reply;

    plainhttp_call(testbed_fm_http(testbed), "GET", "/mock/state", NULL, &reply);
    const json_t *held = json_object_get(reply.json, "jobs");
    const double count = json_is_array(held) ? (double)json_array_size(held) : -1;
    plainhttp_reply_release(&reply);
    if (count < 0)
        fprintf(stderr, "GET /mock/state has no jobs\n");
    return count;
}

static int ask_all(const struct wholejobs *jobs, size_t first, size_t count, bool reserve)
{
    const struct load load = {.socket = testbed_socket(jobs->testbed),
                              .connections = jobs->connections,
                              .first = first,
                              .count = count,
                              .make = reserve ? request_eligible : request_release,
                              .expected = reserve ? 201 : 202};
    struct load_result result;

    return count == 0 ? 0 : load_run(&load, &result);
}

static int one_lot(const struct wholejobs *jobs, size_t done, size_t count)
{
    const size_t first = jobs->first + done, half = count / 2;

    if (ask_all(jobs, first, half, true) < 0 ||
        (jobs->meanwhile && jobs->meanwhile(jobs->arg, done) < 0))
        return -1;
    return ask_all(jobs, first + half, count - half, true) < 0 ||
                   ask_all(jobs, first, count, false) < 0
               ? -1
               : 0;
}

int wholejobs_run(const struct wholejobs *jobs, double *seconds)
{
    const size_t lot = jobs->lot ? jobs->lot : WHOLEJOBS_AT_ONCE;
    const int64_t began = await_now_ns();

    for (size_t done = 0, count; done < jobs->count; done += count) {
        count = jobs->count - done < lot ? jobs->count - done : lot;
        /* A hook may have taken the fabric manager away: then nothing can be given back. */
        if (one_lot(jobs, done, count) < 0 ||
            (testbed_fm_runs(jobs->testbed) && wholejobs_await_end(jobs->testbed) < 0))
            return -1;
    }
    *seconds = (double)(await_now_ns() - began) / 1e9;
    return 0;
}
