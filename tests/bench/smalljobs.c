/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/smalljobs.h"

#include "tests/bench/sample.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/wire.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EACH_NS = 10000000, KEPT = 16384, PATH_SIZE = 64, STALLED_MS = 60000 };

enum phase { PHASE_QUIET, PHASE_BUSY, PHASE_END };

struct smalljobs {
    pid_t child;
    _Atomic int phase; /* of the process that asks */
    bool failed;
    size_t count[PHASE_END];
    int64_t reserve_ns[PHASE_END][KEPT];
};

static void on_reply(void *arg, uint64_t tag, const struct wire_reply *reply)
{
    struct smalljobs *jobs = arg;
    const int phase = jobs->phase;

    if (reply->status != (tag == 0 ? 201 : 202)) {
        fprintf(stderr, "a small job was answered %d: %.300s\n", reply->status, reply->body);
        jobs->failed = true;
    }
    if (tag == 0 && phase < PHASE_END && jobs->count[phase] < KEPT)
        jobs->reserve_ns[phase][jobs->count[phase]++] = reply->latency_ns;
}

static void ask(struct smalljobs *jobs, struct wire *wire, uint64_t tag, const char *path)
{
    static const char job[] = "{\"uid\":5588,\"nodes\":\"elcap[1-2]\"}";

    if (wire_send(wire, tag, tag == 0 ? "PUT" : "DELETE", path, tag == 0 ? job : NULL) < 0 ||
        wire_turn(wire, STALLED_MS) == 0)
        jobs->failed = true;
}

static void run(struct smalljobs *jobs, const char *socket)
{
    const struct wire_options options = {
        .socket = socket, .connections = 1, .depth = 1, .done = on_reply, .arg = jobs};
    struct wire *wire = wire_create(&options);
    int64_t next_ns = await_now_ns();

    jobs->failed = !wire;
    for (unsigned i = 0; jobs->phase != PHASE_END && !jobs->failed; i++) {
        char path[PATH_SIZE];
        struct timespec next;

        snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/small%u", i);
        ask(jobs, wire, 0, path);
        ask(jobs, wire, 1, path);
        next_ns += EACH_NS;
        next = (struct timespec){.tv_sec = next_ns / 1000000000, .tv_nsec = next_ns % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    wire_destroy(wire);
}

struct smalljobs *smalljobs_start(const char *socket, unsigned quiet_ms)
{
    struct smalljobs *jobs =
        mmap(NULL, sizeof *jobs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (jobs == MAP_FAILED || (jobs->child = fork()) < 0) {
        perror("small jobs");
        return NULL;
    }
    if (jobs->child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run(jobs, socket);
        _exit(0);
    }
    const struct timespec quiet = {.tv_sec = quiet_ms / 1000,
                                   .tv_nsec = quiet_ms % 1000 * 1000000L};
    nanosleep(&quiet, NULL);
    jobs->phase = PHASE_BUSY;
    return jobs;
}

static double part_us(struct smalljobs *jobs, enum phase phase, double part)
{
    const size_t count = jobs->count[phase];

    sample_sort(jobs->reserve_ns[phase], count);
    return count > 0 ? (double)jobs->reserve_ns[phase][(size_t)(part * (double)(count - 1))] / 1e3
                     : -1;
}

int smalljobs_end(struct smalljobs *jobs, double *quiet_us, double *median_us, double *p99_us)
{
    jobs->phase = PHASE_END;
    waitpid(jobs->child, NULL, 0);
    *quiet_us = part_us(jobs, PHASE_QUIET, 0.5);
    *median_us = part_us(jobs, PHASE_BUSY, 0.5);
    *p99_us = part_us(jobs, PHASE_BUSY, 0.99);
    const bool failed = jobs->failed || *quiet_us < 0 || *median_us < 0;
    if (failed)
        fprintf(stderr, "small jobs were not reserved\n");
    munmap(jobs, sizeof *jobs);
    return failed ? -1 : 0;
}
