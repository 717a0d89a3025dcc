/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/live.h"

#include "base/memory.h"
#include "cli/commands/rates.h"
#include "cli/plain.h"
#include "cli/program.h"
#include "cli/screen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SIZE = 16 * 1024, WORDS_SIZE = 200, RANKS_SIZE = 64 * 1024 };

/* ---- the program on the nodes ---- */

static bool is_in_path(const char *name)
{
    const char *const argv[] = {name, "--version", NULL};
    char out[8];
    return program_run(argv, NULL, out, sizeof out) != PROGRAM_NOT_FOUND;
}

static int cannot(struct call *call, long long nodes)
{
    fprintf(
        stderr,
        "mcastctl: the broker does not reach nodes, the resource manager does, and neither "
        "srun nor flux is here. Where it is, under Slurm:\n"
        "  srun --jobid %s --overlap --nodes %lld --ntasks-per-node 1 mcast-node traffic --repeat\n"
        "Under Flux, as the owner of the instance:\n"
        "  flux exec -r $(flux jobs -no {ranks} %s) mcast-node traffic --repeat\n",
        call->job, nodes, call->job);
    return MCAST_EXIT_REFUSED;
}

/* Starts it on the job's nodes; its output's descriptor. nodes: how many the job has. Negative: an
 * exit code, in *code. */
static int start(struct call *call, const struct live *live, long long nodes,
                 struct program *program, int *code)
{
    char over[32], all[32], jobid[COMMAND_JOB_SIZE + 16], *ranks = memory_zeroed(RANKS_SIZE);
    const bool flux = live->through ? strcmp(live->through, "flux") == 0
                                    : getenv("FLUX_URI") || !is_in_path("srun");
    snprintf(over, sizeof over, "%lldms", (long long)live->every_ms);
    snprintf(all, sizeof all, "--nodes=%lld", nodes); /* else Slurm takes one */
    snprintf(jobid, sizeof jobid, "--jobid=%s", call->job);
    const char *const find[] = {"flux", "jobs", "-no", "{ranks}", call->job, NULL};
    const char *const by_flux[] = {"flux",   "exec",   "-r", ranks,      "mcast-node", "traffic",
                                   "--json", "--over", over, "--repeat", NULL};
    const char *const by_slurm[] = {
        "srun",   jobid, "--overlap", all, "--ntasks-per-node=1", "mcast-node", "traffic", "--json",
        "--over", over,  "--repeat",  NULL};
    int rc = flux ? program_run(find, NULL, ranks, RANKS_SIZE) : 0;
    ranks[strcspn(ranks, rc == 0 ? " \n" : "\n")] = '\0';
    if (rc == 0 && flux && (!ranks[0] || ranks[strspn(ranks, "0123456789-,[]")]))
        rc = PROGRAM_FAILED;
    if (rc == 0)
        rc = program_start(flux ? by_flux : by_slurm, program);
    if (rc == PROGRAM_NOT_FOUND)
        *code = cannot(call, nodes);
    else if (rc != 0)
        *code = command_misused(call, "%s does not run on the nodes of job %s: %.150s",
                                flux ? "flux" : "srun", call->job, flux ? ranks : "");
    free(ranks);
    return rc == 0 ? 0 : -1;
}

/* ---- the loop ---- */

struct loop {
    struct call *call;
    struct rates *rates;
    char line[LINE_SIZE];
    size_t used;
    char words[WORDS_SIZE]; /* what the resource manager said last */
    bool heard, over;
};

static void take_line(struct loop *loop)
{
    const char *text = loop->line;
    if (rates_take(loop->rates, text)) {
        loop->heard = true;
        if (loop->call->json)
            puts(text);
    } else if (text[0] != '\0') {
        snprintf(loop->words, sizeof loop->words, "%.*s", WORDS_SIZE - 1, text);
        plain_make(loop->words);
    }
}

/* False: it has ended. */
static bool take_output(struct loop *loop, int descriptor)
{
    const ssize_t got =
        read(descriptor, loop->line + loop->used, sizeof loop->line - 1 - loop->used);
    if (got <= 0)
        return got < 0 && errno == EINTR;
    loop->used += (size_t)got;
    for (;;) {
        char *end = memchr(loop->line, '\n', loop->used);
        if (!end && loop->used < sizeof loop->line - 1)
            return true;
        const size_t whole = end ? (size_t)(end - loop->line) : loop->used;
        loop->line[whole] = '\0';
        take_line(loop);
        loop->used -= whole + (end != NULL);
        memmove(loop->line, end ? end + 1 : loop->line, loop->used);
    }
}

/* *active: the broker says that the job runs, or does not answer now. */
static int ask(struct call *call, bool *active, long long *nodes, struct mcast_error *error)
{
    char *json = NULL;
    const int rc = mcast_job_traffic(call->handle, call->cluster, call->job, &json, error);
    json_t *traffic = rc == 0 ? json_loads(json, 0, NULL) : NULL;
    const char *state = command_text(traffic, "state");
    *active = rc != MCAST_NOT_FOUND && (!state || strcmp(state, "active") == 0);
    *nodes = json_integer_value(json_object_get(traffic, "node_count"));
    json_decref(traffic);
    free(json);
    return rc;
}

static void show(struct loop *loop)
{
    struct mcast_error error;
    long long nodes;
    bool active;
    if (loop->call->json)
        fflush(stdout);
    else
        rates_show(loop->rates, loop->call->cluster, loop->call->job, loop->words);
    (void)ask(loop->call, &active, &nodes, &error);
    loop->over = !active || ferror(stdout);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void follow(struct loop *loop, const struct program *program, int64_t every_ms)
{
    int64_t next_ms = now_ms() + every_ms;
    while (!screen_ended() && !loop->over) {
        const int64_t left_ms = next_ms - now_ms();
        if (left_ms <= 0) {
            show(loop);
            next_ms = now_ms() + every_ms;
            continue;
        }
        if (screen_wait(program->output, left_ms) == SCREEN_INPUT &&
            !take_output(loop, program->output))
            return;
    }
}

int live_run(struct call *call, const struct live *live)
{
    struct loop loop = {.call = call};
    struct program program;
    long long nodes;
    bool active;
    int code = 0;
    const int rc = ask(call, &active, &nodes, &call->error);
    if (rc < 0)
        return rc; /* there is no such job, or it is another's */
    if (!active) {
        fprintf(stderr, "mcastctl: job %s/%s does not run any more: see mcastctl traffic %s\n",
                call->cluster, call->job, call->job);
        return MCAST_EXIT_REFUSED;
    }
    if (start(call, live, nodes, &program, &code) < 0)
        return code;
    screen_open(call->handle, !call->json, false);
    loop.rates = rates_create();
    follow(&loop, &program, live->every_ms);
    screen_close();
    const bool asked = screen_ended() || loop.over;
    const int status = program_end(&program);
    rates_destroy(loop.rates);
    if (loop.over && !ferror(stdout))
        fprintf(stderr, "mcastctl: job %s/%s is over\n", call->cluster, call->job);
    if (!asked && (status != 0 || loop.words[0])) {
        /* The end of a job ends its step, before the broker hears of it. */
        fprintf(stderr, "mcastctl: the nodes tell nothing any more%s%s\n",
                loop.words[0] ? ": " : "", loop.words);
        if (!loop.heard)
            return MCAST_EXIT_REFUSED;
    }
    return command_finish();
}
