/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/sweep.h"

#include "base/memory.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct desk {      /* what a worker and its parent share */
    uint64_t next; /* of its seeds, counted from the first */
    uint64_t seed; /* being run */
    struct sweep_outcome outcome;
};

static struct desk *desks_create(size_t count)
{
    void *desks = mmap(NULL, count * sizeof(struct desk), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (desks == MAP_FAILED) {
        perror("mcast-sim: mmap");
        exit(2);
    }
    return desks;
}

/* There when built for coverage: _exit does not write the counts. */
extern void __gcov_dump(void) /* NOLINT(readability-identifier-naming): not ours */
    __attribute__((weak));

static _Noreturn void leave(int status)
{
    fflush(stdout);
    if (__gcov_dump)
        __gcov_dump();
    _exit(status);
}

static pid_t fork_or_exit(void)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) {
        perror("mcast-sim: fork");
        exit(2);
    }
    return pid;
}

static void add(struct sim_result *sum, const struct sim_result *one)
{
    sum->lives += one->lives;
    sum->steps += one->steps;
    sum->ticks += one->ticks;
    sum->commits += one->commits;
    sum->calls += one->calls;
    sum->jobpolls += one->jobpolls;
    sum->early += one->early;
    sum->over_share += one->over_share;
    sum->slow_starts += one->slow_starts;
    sum->trees += one->trees;
    sum->documents += one->documents;
    sum->joined += one->joined;
    sum->join_laters += one->join_laters;
    sum->join_denials += one->join_denials;
    sum->shown_from_memory += one->shown_from_memory;
    sum->learned += one->learned;
    sum->sums += one->sums;
    sum->virtual_ms += one->virtual_ms;
    for (size_t i = 0; i < sizeof sum->answers / sizeof *sum->answers; i++)
        sum->answers[i] += one->answers[i];
    for (size_t i = 0; i < sizeof sum->events / sizeof *sum->events; i++)
        sum->events[i] += one->events[i];
    for (size_t i = 0; i < sizeof sum->outcomes / sizeof *sum->outcomes; i++)
        sum->outcomes[i] += one->outcomes[i];
    for (size_t i = 0; i < FAULT_COUNT; i++)
        sum->faults[i] += one->faults[i];
    for (size_t i = 0; i < BROKER_FAULT_COUNT; i++)
        sum->broker_faults[i] += one->broker_faults[i];
}

static void note_failure(struct sweep_outcome *out, uint64_t seed, const struct sim_result *one)
{
    if (out->failures++ > 0 && out->failed_seed <= seed)
        return;
    out->failed_seed = seed;
    out->total.failed = true;
    memcpy(out->total.invariant, one->invariant, sizeof one->invariant);
    memcpy(out->total.words, one->words, sizeof one->words);
}

enum { LONGEST_RUN_S = 20 };

/* A core that does not come back from a step has no other way to be noticed: the signal ends the
 * process. Time of the processor, so that a busy machine does not count. 0: no longer. */
static void watch(time_t seconds)
{
    struct itimerval most = {.it_value = {.tv_sec = seconds}};
    (void)setitimer(ITIMER_VIRTUAL, &most, NULL);
}

static void work(const struct sweep *sweep, struct desk *desk)
{
    while (desk->next < sweep->seeds) {
        struct profile profile = sweep->profile;
        struct sim_result result;
        profile.seed = desk->seed = sweep->first + desk->next;
        desk->next += sweep->workers;
        watch(LONGEST_RUN_S);
        sim_run(&profile, NULL, &result);
        watch(0);
        desk->outcome.runs++;
        add(&desk->outcome.total, &result);
        if (!result.failed)
            continue;
        note_failure(&desk->outcome, profile.seed, &result);
        if (!sweep->keep_going)
            return;
        printf("seed %llu breaks %s: %s\n", (unsigned long long)profile.seed, result.invariant,
               result.words);
        fflush(stdout);
    }
}

static void died_by_signal(struct sim_result *result, int status)
{
    result->failed = true;
    snprintf(result->invariant, sizeof result->invariant, "assert");
    if (WIFSIGNALED(status))
        snprintf(result->words, sizeof result->words, "died by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(result->words, sizeof result->words, "exited with %d", WEXITSTATUS(status));
}

static pid_t start_worker(const struct sweep *sweep, struct desk *desk)
{
    pid_t pid = fork_or_exit();
    if (pid > 0)
        return pid;
    work(sweep, desk);
    leave(0);
}

/* ---- progress ---- */

static int64_t seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

enum { TELL_EVERY_S = 30 };

static void on_alarm(int signum)
{
    (void)signum; /* only ends the wait */
}

static void tell_from_now_on(bool on)
{
    struct sigaction action = {.sa_handler = on_alarm}; /* without SA_RESTART */
    struct itimerval every = {{.tv_sec = on ? TELL_EVERY_S : 0}, {.tv_sec = on ? TELL_EVERY_S : 0}};
    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &every, NULL);
}

/* The workers count in shared memory; a number that is just being raised does no harm. */
static void tell_progress(const struct sweep *sweep, const struct desk *desks, int64_t began_s)
{
    uint64_t runs = 0, lives = 0, failures = 0;
    int64_t took_s = seconds() - began_s;
    for (uint32_t i = 0; i < sweep->workers; i++) {
        runs += desks[i].outcome.runs;
        lives += desks[i].outcome.total.lives;
        failures += desks[i].outcome.failures;
    }
    fprintf(stderr, "%llu of %llu seeds, %llu failing; %llu lives, %llu a second\n",
            (unsigned long long)runs, (unsigned long long)sweep->seeds,
            (unsigned long long)failures, (unsigned long long)lives,
            (unsigned long long)(took_s > 0 ? lives / (uint64_t)took_s : 0));
}

/* Until its seeds are done. A worker that died over one is followed by another for the rest. */
static void await_worker(const struct sweep *sweep, struct desk *desks, uint32_t which, pid_t pid,
                         int64_t began_s)
{
    struct desk *desk = &desks[which];
    int status;
    for (;;) {
        pid_t ended = waitpid(pid, &status, 0);
        if (ended < 0 && errno == EINTR) {
            tell_progress(sweep, desks, began_s);
            continue;
        }
        if (ended != pid || status == 0)
            return;
        struct sim_result result = {0};
        died_by_signal(&result, status);
        note_failure(&desk->outcome, desk->seed, &result);
        printf("seed %llu: %s\n", (unsigned long long)desk->seed, result.words);
        if (!sweep->keep_going)
            return;
        pid = start_worker(sweep, desk);
    }
}

void sweep_run(const struct sweep *sweep, struct sweep_outcome *out)
{
    struct desk *desks = desks_create(sweep->workers);
    pid_t *pids = memory_zeroed(sweep->workers * sizeof *pids);
    memset(out, 0, sizeof *out);
    int64_t began_s = seconds();
    for (uint32_t i = 0; i < sweep->workers; i++) {
        desks[i].next = i;
        pids[i] = start_worker(sweep, &desks[i]);
    }
    tell_from_now_on(true);
    for (uint32_t i = 0; i < sweep->workers; i++) {
        const struct sweep_outcome *one = &desks[i].outcome;
        await_worker(sweep, desks, i, pids[i], began_s);
        out->runs += one->runs;
        add(&out->total, &one->total);
        if (one->failures == 0)
            continue;
        note_failure(out, one->failed_seed, &one->total);
        out->failures += one->failures - 1;
    }
    tell_from_now_on(false);
    munmap(desks, sweep->workers * sizeof *desks);
    free(pids);
}

void sweep_once(const struct profile *profile, bool trace, struct sim_result *out)
{
    struct desk *desk = desks_create(1);
    pid_t pid = fork_or_exit();
    if (pid == 0) {
        /* A shrinking attempt that aborts has nothing new to say. */
        if (!trace && !freopen("/dev/null", "w", stderr))
            _exit(2);
        setvbuf(stdout, NULL, _IOLBF, 0);
        sim_run(profile, trace ? stdout : NULL, &desk->outcome.total);
        leave(0);
    }
    int status;
    waitpid(pid, &status, 0);
    *out = desk->outcome.total;
    if (status != 0)
        died_by_signal(out, status);
    munmap(desk, sizeof *desk);
}
