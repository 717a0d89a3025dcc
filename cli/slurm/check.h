#ifndef MCAST_CLI_SLURM_CHECK_H
#define MCAST_CLI_SLURM_CHECK_H

/* What `mcastctl check slurm` thinks of a Slurm: which lines are right, which are missing, and the
 * exact line to add. Judges what others have read; of files only those that the lines name. */

#include "cli/doctor/findings.h"
#include "cli/slurm/conf.h"

/* Of plugstack.conf, with what it includes. */
struct slurmcheck_plugin {
    char file[512];      /* where the line is, or would be */
    bool named;          /* it loads mcast_spank.so */
    char path[512];      /* ... from there; "": not found, it is not on this host */
    char release[32];    /* of mcastd; "": not known */
    bool required;       /* ... as that: a host without it starts nothing */
    bool known, offered; /* whether srun could be asked; it offers --mcast */
    char grants[512];    /* where it looks for what Prolog puts down */
    char own[512];       /* as the line is to name it: by its path, where it was installed */
};

struct slurmcheck {
    const struct slurmconf *conf;
    const char *hooks;        /* the folder of ours */
    const char *cluster;      /* as mcastd calls it */
    const char *grants;       /* where the hooks' Prolog puts down what a job is given */
    bool controller, node;    /* what runs on this host */
    bool stale;               /* slurm.conf is newer than the controller's start */
    unsigned long patience_s; /* the longest that a hook waits for somebody */
    bool sees_all_jobs;       /* squeue shows mcastd all jobs whatever PrivateData says */
    struct slurmcheck_plugin plugin;
};

/* PrologSlurmctld and its like: ours, or a script that calls ours. */
void slurmcheck_hooks(struct findings *findings, const struct slurmcheck *check);

/* What else slurm.conf says that the hooks depend on. */
void slurmcheck_settings(struct findings *findings, const struct slurmcheck *check);

/* By what the tasks get their environment: the plugin, or TaskProlog. */
void slurmcheck_tasks(struct findings *findings, const struct slurmcheck *check);

/* Whether the broker knows the cluster, and lets whoever asks act for it. whoami, status: its
 * answers; NULL: none. */
void slurmcheck_broker(struct findings *findings, const struct slurmcheck *check,
                       const json_t *whoami, const json_t *status);

#endif
