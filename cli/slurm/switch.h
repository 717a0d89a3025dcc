#ifndef MCAST_CLI_SLURM_SWITCH_H
#define MCAST_CLI_SLURM_SWITCH_H

/* Slurm's own plugin for Slingshot, switch/hpe_slingshot: whether it is there, and what it would do
 * beside mcastd. */

#include "cli/doctor/findings.h"
#include "cli/slurm/conf.h"

/* Whether the plugin lies where this Slurm looks for its plugins (PluginDir, folders with ':'
 * between them); conf NULL, or without: in one of the usual places. */
bool slurmswitch_installed(const struct slurmconf *conf);

/* Whether it is in use, and asks the fabric manager. cluster: as mcastd calls this Slurm. */
void slurmswitch_judge(struct findings *findings, const struct slurmconf *conf,
                       const char *cluster);

#endif
