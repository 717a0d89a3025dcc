/* SPDX-License-Identifier: Apache-2.0 */
#include "base/duration.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/doctor/doctor.h"
#include "cli/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIST_MAX = 16, GRID_MAX = 256, NODES_TIMES_MAX = 100, VALUE_SIZE = 256 };
#define HOLD_MAX_MS (7 * DURATION_DAY_MS)

/* What the site decides: said here, else by the broker's configuration, else as usual. */
enum { MIN_NODES, ADDRESSES, HOLD, TOTAL, SYSTEM, SHARING, VNIS, POOL, VALUE_COUNT };
/* What else can be said. */
enum { CALL_TIME = VALUE_COUNT, WHAT_IF, PLOTS, CONFIG };

static const struct {
    const char *section, *key, *usual; /* NULL: the log tells */
} values[VALUE_COUNT] = {[MIN_NODES] = {"hwcoll", "min_nodes", NULL},
                         [ADDRESSES] = {"hwcoll", "addresses_per_job", "auto"},
                         [HOLD] = {"vni", "hold", "1m"},
                         [TOTAL] = {"hwcoll", "total_addresses", "4086"},
                         [SYSTEM] = {"hwcoll", "system_nodes", NULL},
                         [SHARING] = {"hwcoll", "sharing", "1"},
                         [VNIS] = {"vni", "per_job", "1"},
                         [POOL] = {"vni", "pool", "1024-65535"}};

static const struct command_option options[] = {[MIN_NODES] = {"min-nodes", ""},
                                                [ADDRESSES] = {"addresses", ""},
                                                [HOLD] = {"hold", ""},
                                                [TOTAL] = {"total-addresses", ""},
                                                [SYSTEM] = {"system-nodes", ""},
                                                [SHARING] = {"sharing", ""},
                                                [VNIS] = {"vnis", "N"},
                                                [POOL] = {"pool", ""},
                                                [CALL_TIME] = {"call-time", ""},
                                                [WHAT_IF] = {"what-if", ""},
                                                [PLOTS] = {"plots", "DIR"},
                                                [CONFIG] = {"config", "FILE"},
                                                {0}};

/* ---- what the configuration says ---- */

struct texts {
    char configured[VALUE_COUNT][VALUE_SIZE];
};

static int store_value(void *data, const char *section, const char *name, const char *value)
{
    struct texts *texts = data;
    for (size_t i = 0; i < VALUE_COUNT; i++) {
        if (strcmp(section, values[i].section) == 0 && strcmp(name, values[i].key) == 0)
            snprintf(texts->configured[i], VALUE_SIZE, "%s", value);
    }
    return 1;
}

static int read_config(struct call *call, struct texts *texts)
{
    const char *path = call->given[CONFIG] ? call->given[CONFIG] : LOCALFILES_CONFIG;
    if (access(path, R_OK) == 0)
        localfiles_read(path, store_value, texts);
    else if (call->given[CONFIG])
        return command_misused(call, "--config %s: it cannot be read", path);
    if (strcmp(texts->configured[HOLD], "reports") == 0) /* by when they come is not in a log */
        texts->configured[HOLD][0] = '\0';
    return 0;
}

/* NULL: it is not given */
static const char *text_of(const struct call *call, const struct texts *texts, size_t value)
{
    if (call->given[value])
        return call->given[value];
    return texts->configured[value][0] != '\0' ? texts->configured[value] : values[value].usual;
}

/* ---- what the values mean ---- */

static int misread(struct call *call, size_t value, const char *text, const char *wanted)
{
    if (call->given[value])
        return command_misused(call, "--%s %.80s: %s", options[value].name, text, wanted);
    return command_misused(call, "[%s] %s = %.80s: %s", values[value].section, values[value].key,
                           text, wanted);
}

static bool read_one(size_t value, const char *word, int64_t *out)
{
    uint64_t number = 0;
    const bool is_auto = value == ADDRESSES && strcmp(word, "auto") == 0;
    if (value == HOLD)
        return (*out = duration_parse(word, DURATION_DAYS | DURATION_BARE_SECONDS, HOLD_MAX_MS)) >=
               0;
    if (!is_auto && (!text_number(word, 10, JOBLOG_NODES_MAX, &number) || number == 0))
        return false;
    *out = (int64_t)number;
    return true;
}

/* One value, or several with commas between them. */
static int read_list(struct call *call, const struct texts *texts, size_t value,
                     int64_t list[LIST_MAX], size_t *count)
{
    const char *text = text_of(call, texts, value), *words[LIST_MAX + 1];
    char *copy = memory_text(text);
    bool good = command_split(copy, words, LIST_MAX);
    for (*count = 0; good && words[*count]; ++*count)
        good = read_one(value, words[*count], &list[*count]);
    free(copy);
    if (good)
        return 0;
    return misread(call, value, text,
                   value == HOLD
                       ? "up to 16 times such as 1m,10m,1h (a plain number: seconds), up to 7d"
                   : value == ADDRESSES ? "up to 16 numbers, or auto, such as auto,8,16"
                                        : "up to 16 numbers such as 32,64,128");
}

static int read_number(struct call *call, const struct texts *texts, size_t value, uint32_t max,
                       uint32_t *out)
{
    const char *text = text_of(call, texts, value);
    uint64_t number;
    if (!text)
        return 0;
    if (!text_number(text, 10, max, &number) || (number == 0 && value != VNIS))
        return misread(call, value, text, "not a number that is possible here");
    *out = (uint32_t)number;
    return 0;
}

static int read_machine(struct call *call, const struct texts *texts, struct plan_machine *machine)
{
    struct error err;
    int64_t call_ms = 1000;
    idset_init(&machine->pool);
    if (read_number(call, texts, TOTAL, 65536, &machine->total_addresses) < 0 ||
        read_number(call, texts, SYSTEM, JOBLOG_NODES_MAX, &machine->system_nodes) < 0 ||
        read_number(call, texts, SHARING, 1024, &machine->sharing) < 0 ||
        read_number(call, texts, VNIS, 4, &machine->vnis_per_job) < 0)
        return MCAST_USAGE;
    if (idset_parse(&machine->pool, text_of(call, texts, POOL), &err) < 0)
        return misread(call, POOL, text_of(call, texts, POOL), err.text);
    const uint32_t named = machine->pool.count;
    idset_remove(&machine->pool, 1); /* never given out (F1) */
    idset_remove(&machine->pool, 10);
    if (machine->pool.count < named)
        fputs("mcastctl: the pool is without VNIs 1 and 10: they are never given out\n", stderr);
    if (call->given[CALL_TIME]) {
        call_ms = duration_parse(call->given[CALL_TIME], DURATION_BARE_SECONDS, 10 * 1000);
        if (call_ms < 0)
            return command_misused(call,
                                   "--call-time %.40s: a time such as 0, 200ms or 1s, up to "
                                   "10s",
                                   call->given[CALL_TIME]);
    }
    machine->call_ms = call_ms;
    return 0;
}

/* ---- the machine and the log ---- */

static void find_nodes(struct planned *planned, const struct call *call)
{
    struct plan_machine *machine = &planned->machine;
    planned->nodes_from = call->given[SYSTEM] ? "--system-nodes" : "the broker's configuration";
    if (machine->system_nodes == 0) {
        machine->system_nodes = planned->log.machine_nodes;
        planned->nodes_from = "the log's header";
    }
    for (size_t i = 0; planned->log.machine_nodes == 0 && i < planned->log.job_count; i++) {
        if (machine->system_nodes >= planned->log.jobs[i].nodes)
            continue;
        machine->system_nodes = planned->log.jobs[i].nodes;
        planned->nodes_from = "the largest job";
    }
    planned->log_nodes = machine->system_nodes;
}

static int ask_what_if(struct call *call, struct planned *planned)
{
    static const char name[] = "nodes=";
    const char *text = call->given[WHAT_IF];
    uint64_t nodes;
    if (!text)
        return 0;
    if (strncmp(text, name, strlen(name)) != 0 ||
        !text_number(text + strlen(name), 10, JOBLOG_NODES_MAX, &nodes) || nodes == 0 ||
        nodes > (uint64_t)NODES_TIMES_MAX * planned->log_nodes)
        return command_misused(call, "--what-if %.40s: nodes=N, up to %d times the %u of the log",
                               text, NODES_TIMES_MAX, planned->log_nodes);
    joblog_resize(&planned->log, planned->log_nodes, (uint32_t)nodes);
    planned->machine.system_nodes = (uint32_t)nodes;
    planned->nodes_from = "--what-if";
    return 0;
}

/* Powers of two, unless a list is given */
static size_t usual_sizes(uint32_t nodes, int64_t list[LIST_MAX])
{
    size_t count = 0;
    for (int64_t size = 16; count < LIST_MAX && (size <= nodes / 4 || count == 0); size *= 2)
        list[count++] = size <= nodes ? size : 1;
    return count;
}

static int make_grid(struct call *call, const struct texts *texts, struct planned *planned)
{
    int64_t sizes[LIST_MAX], addresses[LIST_MAX], holds[LIST_MAX];
    size_t counts[3];
    struct plan_grid *grid = &planned->grid;
    if (!text_of(call, texts, MIN_NODES))
        counts[0] = usual_sizes(planned->machine.system_nodes, sizes);
    else if (read_list(call, texts, MIN_NODES, sizes, &counts[0]) < 0)
        return MCAST_USAGE;
    if (read_list(call, texts, ADDRESSES, addresses, &counts[1]) < 0 ||
        read_list(call, texts, HOLD, holds, &counts[2]) < 0)
        return MCAST_USAGE;
    grid->count = counts[0] * counts[1] * counts[2];
    if (grid->count > GRID_MAX)
        return command_misused(call, "%zu settings, %d are the most: leave some out", grid->count,
                               GRID_MAX);
    grid->outcomes = memory_zeroed(grid->count * sizeof *grid->outcomes);
    for (size_t i = 0; i < grid->count; i++)
        grid->outcomes[i].setting =
            (struct plan_setting){.min_nodes = (uint32_t)sizes[i / (counts[1] * counts[2])],
                                  .addresses = (uint32_t)addresses[i / counts[2] % counts[1]],
                                  .hold_ms = holds[i % counts[2]]};
    return 0;
}

static int make_plan(struct call *call, struct planned *planned)
{
    struct texts texts = {0};
    struct error err;
    if (call->argument_count != 1)
        return command_misused(call, call->argument_count == 0 ? "which log? - is standard input"
                                                               : "one log at a time");
    planned->path = call->arguments[0];
    if (read_config(call, &texts) < 0 || read_machine(call, &texts, &planned->machine) < 0)
        return MCAST_USAGE;
    if (joblog_read(&planned->log, planned->path, SIZE_MAX, &err) < 0) {
        fprintf(stderr, "mcastctl: %s\n", err.text);
        return MCAST_EXIT_REFUSED;
    }
    planned_print_faults(planned);
    if (planned->log.job_count == 0) {
        fprintf(stderr, "mcastctl: %s: no job in it ran; it was read as %s\n", planned->path,
                joblog_format_word(planned->log.format));
        return MCAST_EXIT_REFUSED;
    }
    find_nodes(planned, call);
    if (ask_what_if(call, planned) < 0 || make_grid(call, &texts, planned) < 0)
        return MCAST_USAGE;
    plan_run(&planned->log, &planned->machine, &planned->grid);
    planned->chosen =
        plan_choose(&planned->grid, &planned->machine, planned->why, sizeof planned->why);
    return 0;
}

static int run_plan(struct call *call)
{
    struct planned *planned = memory_zeroed(sizeof *planned);
    int rc = make_plan(call, planned);
    if (rc == 0)
        rc = call->json ? planned_print_json(planned) : planned_print(planned);
    if (rc == 0 && call->given[PLOTS])
        rc = planned_plot(planned, call->given[PLOTS]);
    for (size_t i = 0; i < planned->grid.count; i++)
        plan_outcome_release(&planned->grid.outcomes[i]);
    free(planned->grid.outcomes);
    joblog_release(&planned->log);
    free(planned);
    return rc;
}

const struct command command_plan = {"plan",
                                     "which minimum size, how many addresses, by a log of jobs",
                                     COMMAND_OWN_ARGUMENTS,
                                     COMMAND_ALONE,
                                     options,
                                     .run = run_plan,
                                     .argument = "FILE"};
