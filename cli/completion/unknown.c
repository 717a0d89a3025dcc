/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/unknown.h"
#include "base/suggest.h"

#include <stdbool.h>
#include <string.h>

struct habit {
    const char *typed; /* with blanks around each word */
    const char *means; /* NULL ends a list */
};

static const char *find_habit(const struct habit *habits, const char *typed)
{
    char word[SUGGEST_SIZE];
    (void)snprintf(word, sizeof word, " %.80s ", typed);
    while (habits->means && !strstr(habits->typed, word))
        habits++;
    return habits->means;
}

const char *unknown_option(const char *typed)
{
    static const struct habit habits[] = {
        {" -u --user --owner ", "uid"},
        {" --columns --fields ", "output"},
        {" -f ", "follow"},
        {" -d -n --interval --delay ", "every"},
        {0},
    };
    return find_habit(habits, typed);
}

/* What flux, Slurm, etcdctl and chronyc have people type. */
static const struct habit commands[] = {
    {" jobs job ls ps queue squeue ", "list"},
    /* Slurm and Flux end jobs */
    {" cancel scancel kill rm delete del free ", "release, for a job that is over"},
    {" info get cat describe jobinfo ", "show"},
    {" alloc add create put submit ", "reserve"},
    {" tracking sources health endpoint member members ping alarm alarms ", "status"},
    {" node sinfo resource ", "nodes"},
    {" watch log logs eventlog ", "events"},
    {" monitor activity ", "top"},
    {" move-leader ", "step-down"},
    {" version ", "--version"},
    {0},
};

/* They give away or end what is in use, of whatever runs. */
static bool is_harmful(const char *command)
{
    static const struct command *const harmful[] = {
        &command_release,     &command_fence, &command_claim,     &command_accept_loss,
        &command_nodes_clean, &command_sync,  &command_step_down, &command_cleanup};
    for (size_t i = 0; i < sizeof harmful / sizeof *harmful; i++) {
        if (harmful[i]->name == command)
            return true;
    }
    return false;
}

int unknown_command(struct call *call, const struct command_group groups[], const char *name)
{
    char words[SUGGEST_SIZE];
    struct suggestion suggestion;
    const char *habit = find_habit(commands, name);
    suggest_begin(&suggestion, name);
    for (const struct command_group *group = groups; !habit && group->title; group++) {
        for (size_t i = 0; group->commands[i]; i++)
            (is_harmful(group->commands[i]->name) ? suggest_try_misspelt : suggest_try)(
                &suggestion, group->commands[i]->name);
    }
    if (habit)
        suggestion.words[suggestion.count++] = habit;
    else
        suggest_try(&suggestion, "help");
    if (strcmp(name, "drain") == 0 || strcmp(name, "undrain") == 0)
        (void)command_misused(call,
                              "mcastctl drains no node: scontrol update NodeName=… State=DRAIN "
                              "Reason=…, or flux resource drain");
    else
        (void)command_misused(call, "'%.80s' is no command%s", name,
                              suggest_text(&suggestion, "", words));
    return MCAST_EXIT_USAGE;
}
