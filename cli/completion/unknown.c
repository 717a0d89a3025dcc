/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/unknown.h"
#include "base/suggest.h"

#include <string.h>

/* What flux, Slurm, etcdctl and chronyc have people type. */
static const char *find_habit(const char *name)
{
    static const struct {
        const char *typed; /* with blanks around each word */
        const char *means;
    } habits[] = {
        {" jobs job ls ps queue squeue ", "list"},
        {" cancel scancel kill ", "release, for a job that is over"}, /* Slurm and Flux end jobs */
        {" rm delete del free ", "release"},
        {" info get cat describe jobinfo ", "show"},
        {" alloc add create put submit ", "reserve"},
        {" tracking sources health endpoint member members ping ", "status"},
        {" node sinfo resource ", "nodes"},
        {" watch log logs eventlog ", "events"},
        {" monitor activity ", "top"},
        {" drain ", "fence"},
        {" move-leader ", "step-down"},
        {" version ", "--version"},
    };
    char word[SUGGEST_SIZE];
    (void)snprintf(word, sizeof word, " %.80s ", name);
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
        if (strstr(habits[i].typed, word))
            return habits[i].means;
    }
    return NULL;
}

int unknown_command(struct call *call, const struct command_group groups[], const char *name)
{
    char words[SUGGEST_SIZE];
    struct suggestion suggestion;
    const char *habit = find_habit(name);
    suggest_begin(&suggestion, name);
    for (const struct command_group *group = groups; !habit && group->title; group++) {
        for (size_t i = 0; group->commands[i]; i++)
            suggest_try(&suggestion, group->commands[i]->name);
    }
    if (habit)
        suggestion.words[suggestion.count++] = habit;
    else
        suggest_try(&suggestion, "help");
    (void)command_misused(call, "'%.80s' is no command%s", name,
                          suggest_text(&suggestion, "", words));
    return MCAST_EXIT_USAGE;
}
