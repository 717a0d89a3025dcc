#ifndef MCAST_CLI_SLURM_HOOK_H
#define MCAST_CLI_SLURM_HOOK_H

/* One of Slurm's hooks as slurm.conf names it: whether it is ours, or a script that calls ours, and
 * whether ours can be run on this host. */

#include "cli/slurm/conf.h"

#include <stdbool.h>

enum { SLURMHOOK_PATH_SIZE = 1024 };

struct slurmhook {
    bool named;                          /* slurm.conf has a value for it */
    bool ours;                           /* one of them is, or calls, ours */
    char path[SLURMHOOK_PATH_SIZE];      /* ours, by its whole path; "": in none that is known */
    bool there;                          /* all can be run here, ours too */
    char not_there[SLURMHOOK_PATH_SIZE]; /* else: which one cannot, and why */
};

/* key: of slurm.conf. file: what ours is called. hooks: the folder of ours on this host. */
void slurmhook_look(struct slurmhook *hook, const struct slurmconf *conf, const char *key,
                    const char *file, const char *hooks);

#endif
