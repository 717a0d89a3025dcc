/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/jobs/listcommand.h"

#include "broker/jobs/listrun.h"
#include "trust/trustedpath.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct command {
    char cluster[CLUSTER_NAME_MAX + 1];
    char **argv;
    int64_t timeout_ms;
};

struct listcommand {
    listcommand_step_fn *step;
    void *arg;
    struct command *commands;
    uint32_t count;
    struct listruns *runs;
    bool closing;
    void (*closed)(void *arg);
    void *closed_arg;
};

/* ---- configuration ---- */

static void forget_commands(struct listcommand *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        for (char **word = all->commands[i].argv; *word != NULL; word++)
            free(*word);
        free(all->commands[i].argv);
    }
    free(all->commands);
    all->commands = NULL;
    all->count = 0;
}

static char **copy_words(const char *const *words)
{
    size_t count = 0;
    while (words[count] != NULL)
        count++;
    char **copy = memory_zeroed((count + 1) * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = memory_text(words[i]);
    return copy;
}

void listcommand_configure(struct listcommand *all, const struct listcommand_spec *specs,
                           uint32_t count)
{
    forget_commands(all);
    all->commands = memory_zeroed((count + 1) * sizeof *all->commands);
    all->count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct command *command = &all->commands[i];
        (void)snprintf(command->cluster, sizeof command->cluster, "%s", specs[i].cluster);
        command->argv = copy_words(specs[i].argv);
        command->timeout_ms = specs[i].timeout_ms;
    }
}

static const struct command *find_command(const struct listcommand *all, const char *cluster)
{
    for (uint32_t i = 0; i < all->count; i++) {
        if (strcmp(all->commands[i].cluster, cluster) == 0)
            return &all->commands[i];
    }
    return NULL;
}

/* ---- asking ---- */

void listcommand_ask(struct listcommand *all, uint64_t id, const char *cluster)
{
    const struct command *command = find_command(all, cluster);
    const pid_t unkilled = listruns_unkilled(all->runs, cluster);
    struct listrun *run = listrun_create(all->runs, id, cluster);
    struct error why = {0};
    char words[ERROR_TEXT_SIZE + 32];
    if (command == NULL) {
        listrun_fail(run, "it is no longer configured");
    } else if (unkilled != 0) {
        (void)snprintf(words, sizeof words,
                       "process %d, killed for an earlier one, has not ended yet: look what it "
                       "waits for",
                       (int)unkilled);
        listrun_fail(run, words);
    } else if (trustedcommand_check(command->argv, &why) == ERROR_REFUSED) {
        /* It has been changed since the start. */
        (void)snprintf(words, sizeof words, "it is not run: %s", why.text);
        listrun_fail(run, words);
    } else {
        listrun_start(run, command->argv, command->timeout_ms);
    }
}

/* ---- life ---- */

static void on_step(void *arg, struct core_event *event)
{
    struct listcommand *all = arg;
    all->step(all->arg, event);
}

static void finish_destroy(struct listcommand *all)
{
    void (*closed)(void *arg) = all->closed;
    void *arg = all->closed_arg;
    listruns_destroy(all->runs);
    forget_commands(all);
    free(all);
    closed(arg);
}

static void on_idle(void *arg)
{
    struct listcommand *all = arg;
    if (all->closing)
        finish_destroy(all);
}

struct listcommand *listcommand_create(uv_loop_t *loop, listcommand_step_fn *step, void *arg)
{
    struct listcommand *all = memory_zeroed(sizeof *all);
    const struct listruns_owner owner = {.arg = all, .step = on_step, .idle = on_idle};
    all->step = step;
    all->arg = arg;
    all->runs = listruns_create(loop, &owner);
    return all;
}

void listcommand_destroy(struct listcommand *all, void (*closed)(void *arg), void *arg)
{
    all->closing = true;
    all->closed = closed;
    all->closed_arg = arg;
    if (listruns_idle(all->runs))
        finish_destroy(all);
    else
        listruns_kill(all->runs);
}
