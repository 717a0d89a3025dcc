#include "tests/sim/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct desk {      /* what a worker and its parent share */
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

static void work(const struct sweep *sweep, uint32_t worker, struct desk *desk)
{
    for (uint64_t i = worker; i < sweep->seeds; i += sweep->workers) {
        struct profile profile = sweep->profile;
        struct sim_result result;
        profile.seed = desk->seed = sweep->first + i;
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

void sweep_run(const struct sweep *sweep, struct sweep_outcome *out)
{
    struct desk *desks = desks_create(sweep->workers);
    pid_t *pids = calloc(sweep->workers, sizeof *pids);
    memset(out, 0, sizeof *out);
    if (!pids)
        exit(2);
    for (uint32_t i = 0; i < sweep->workers; i++) {
        if ((pids[i] = fork_or_exit()) > 0)
            continue;
        work(sweep, i, &desks[i]);
        fflush(stdout);
        _exit(0);
    }
    for (uint32_t i = 0; i < sweep->workers; i++) {
        struct desk *desk = &desks[i];
        int status;
        waitpid(pids[i], &status, 0);
        if (status != 0) {
            struct sim_result result = {0};
            died_by_signal(&result, status);
            note_failure(&desk->outcome, desk->seed, &result);
            printf("seed %llu: %s\n", (unsigned long long)desk->seed, result.words);
        }
        out->runs += desk->outcome.runs;
        add(&out->total, &desk->outcome.total);
        if (desk->outcome.failures > 0)
            note_failure(out, desk->outcome.failed_seed, &desk->outcome.total);
        out->failures += desk->outcome.failures > 0 ? desk->outcome.failures - 1 : 0;
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
        fflush(stdout);
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    *out = desk->outcome.total;
    if (status != 0)
        died_by_signal(out, status);
    munmap(desk, sizeof *desk);
}
