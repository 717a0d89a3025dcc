#include "tests/sim/sweep.h"

#include "core/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
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
    sum->rollcalls += one->rollcalls;
    sum->virtual_ms += one->virtual_ms;
    for (size_t i = 0; i < sizeof sum->answers / sizeof *sum->answers; i++)
        sum->answers[i] += one->answers[i];
    for (size_t i = 0; i < sizeof sum->events / sizeof *sum->events; i++)
        sum->events[i] += one->events[i];
    for (size_t i = 0; i < sizeof sum->outcomes / sizeof *sum->outcomes; i++)
        sum->outcomes[i] += one->outcomes[i];
    for (size_t i = 0; i < FAULT_COUNT; i++)
        sum->faults[i] += one->faults[i];
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

static void work(const struct sweep *sweep, struct desk *desk)
{
    while (desk->next < sweep->seeds) {
        struct profile profile = sweep->profile;
        struct sim_result result;
        profile.seed = desk->seed = sweep->first + desk->next;
        desk->next += sweep->workers;
        sim_run(&profile, NULL, &result);
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

/* Until its seeds are done. A worker that died over one is followed by another for the rest. */
static void await_worker(const struct sweep *sweep, struct desk *desk, pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) == pid && status != 0) {
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
    for (uint32_t i = 0; i < sweep->workers; i++) {
        desks[i].next = i;
        pids[i] = start_worker(sweep, &desks[i]);
    }
    for (uint32_t i = 0; i < sweep->workers; i++) {
        const struct sweep_outcome *one = &desks[i].outcome;
        await_worker(sweep, &desks[i], pids[i]);
        out->runs += one->runs;
        add(&out->total, &one->total);
        if (one->failures == 0)
            continue;
        note_failure(out, one->failed_seed, &one->total);
        out->failures += one->failures - 1;
    }
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
