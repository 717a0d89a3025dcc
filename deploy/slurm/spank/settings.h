#ifndef MCAST_DEPLOY_SLURM_SPANK_SETTINGS_H
#define MCAST_DEPLOY_SLURM_SPANK_SETTINGS_H

/* What stands behind the plugin in plugstack.conf: key=value words, each with a default.
 *
 *   run=DIR            where Prolog puts down what a job is given (/run/mcastd-slurm, MCAST_RUN of
 *                      the hooks); %n in it is the node's name
 *   cluster=NAME       as mcastd calls it; else SLURM_CLUSTER_NAME
 *   url=URL cacert=FILE munge_socket=PATH
 *                      how the broker is asked where no Prolog has left anything
 *   timeout=MS         how long tasks wait for that at most (2000)
 *   mcastctl=PATH mcast_node=PATH mcast_cleanup=PATH
 *                      where our programs are, when not where they were installed
 *   node_config=FILE   of mcast-node */

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct settings {
    const char *run, *cluster, *url, *cacert, *munge_socket; /* NULL: not said */
    const char *mcastctl, *mcast_node, *mcast_cleanup, *node_config;
    int64_t timeout_ms;
};

/* Borrows the words. ERROR_INVALID names one that is not understood; the others are taken, and it
 * keeps its default: a mistake of a site's must not keep its jobs from running. */
int settings_read(struct settings *settings, int count, char *const words[], struct error *err);

/* Writes DIR/JOB. False: it does not fit, or needs the node's name, which is "". */
bool settings_path(char *out, size_t size, const char *run, const char *node, uint32_t job);

#endif
