/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Load in a closed loop: each of N connections asks, waits for its answer, and asks again. */

enum { LOAD_PATH_SIZE = 128, LOAD_BODY_SIZE = 768 };

struct load_request {
    const char *method;
    char path[LOAD_PATH_SIZE];
    char body[LOAD_BODY_SIZE]; /* "": none */
};

struct load {
    const char *socket;
    unsigned connections, depth; /* depth above 1 pipelines */
    size_t first, count;         /* requests first … first + count - 1 */
    void (*make)(size_t index, struct load_request *out);
    int expected; /* status, 0: any of success; any other answer is a failure */
};

struct load_result {
    double seconds;
    int64_t median_ns, p99_ns, most_ns; /* latency of one request */
};

/* 0, or -1 with a word on stderr when any request failed. */
int load_run(const struct load *load, struct load_result *result);
