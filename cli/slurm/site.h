#ifndef MCAST_CLI_SLURM_SITE_H
#define MCAST_CLI_SLURM_SITE_H

/* Reads what `mcastctl check slurm` judges: from scontrol, srun and the files of this host. */

#include "cli/slurm/check.h"

struct slurmsite_options {
    const char *conf;     /* slurm.conf to read; NULL: scontrol is asked */
    const char *hooks;    /* NULL: where this program's own are installed */
    const char *settings; /* of the hooks; NULL: /etc/mcastd/slurm-hooks, which may be missing */
    bool node;            /* slurmd runs here, whatever it looks like */
};

struct slurmsite {
    struct slurmcheck check;
    struct slurmconf *conf, *settings;
    char hooks[1024], cluster[128];
};

/* 0; or -1 after a finding: without a configuration there is nothing to judge. To be released
 * either way. cluster: NULL: as the hooks' settings or Slurm say. */
int slurmsite_read(struct slurmsite *site, const struct slurmsite_options *options,
                   const char *cluster, struct findings *findings);
void slurmsite_release(struct slurmsite *site);

/* What the hooks' settings say of this; NULL: nothing. */
const char *slurmsite_setting(const struct slurmsite *site, const char *name);

/* Whether mcast-node works on this host, and the broker takes it for a node of the cluster. */
void slurmsite_judge_node(struct findings *findings, const struct slurmsite *site);

#endif
