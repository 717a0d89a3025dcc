/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/load.h"

#include "tests/bench/sample.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STALLED_MS = 60000 };

struct run {
    const struct load *load;
    size_t answered, failed;
    int64_t *latencies_ns;
};

static void on_reply(void *arg, uint64_t tag, const struct wire_reply *reply)
{
    struct run *run = arg;

    const int expected = run->load->expected;

    run->latencies_ns[run->answered++] = reply->latency_ns;
    if ((expected ? reply->status != expected : reply->status / 100 != 2) && run->failed++ == 0)
        fprintf(stderr, "answered %d instead of %d: %.300s\n", reply->status,
                expected ? expected : 200, reply->body);
}

static int drive(struct run *run, struct wire *wire)
{
    const struct load *load = run->load;
    struct load_request request;
    size_t sent = 0;

    while (run->answered < load->count) {
        while (sent < load->count && wire_has_room(wire)) {
            load->make(load->first + sent, &request);
            if (wire_send(wire, sent++, request.method, request.path,
                          request.body[0] ? request.body : NULL) < 0) {
                perror(load->socket);
                return -1;
            }
        }
        if (wire_turn(wire, STALLED_MS) == 0) {
            fprintf(stderr, "no answer for %d s\n", STALLED_MS / 1000);
            return -1;
        }
        if (run->failed > 0)
            return -1;
    }
    return 0;
}

int load_run(const struct load *load, struct load_result *result)
{
    struct run run = {.load = load, .latencies_ns = calloc(load->count, sizeof(int64_t))};
    const struct wire_options options = {.socket = load->socket,
                                         .connections = load->connections,
                                         .depth = load->depth ? load->depth : 1,
                                         .done = on_reply,
                                         .arg = &run};
    struct wire *wire = wire_create(&options);
    int code = -1;

    if (run.latencies_ns && wire) {
        const int64_t began = await_now_ns();

        code = load->count > 0 ? drive(&run, wire) : -1;
        result->seconds = (double)(await_now_ns() - began) / 1e9;
    }
    if (code == 0) {
        sample_sort(run.latencies_ns, load->count);
        result->median_ns = run.latencies_ns[load->count / 2];
        result->p99_ns = run.latencies_ns[load->count - load->count / 100 - 1];
        result->most_ns = run.latencies_ns[load->count - 1];
    }
    wire_destroy(wire);
    free(run.latencies_ns);
    return code;
}
