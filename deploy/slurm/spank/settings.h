/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_DEPLOY_SLURM_SPANK_SETTINGS_H
#define MCAST_DEPLOY_SLURM_SPANK_SETTINGS_H

/* What stands behind the plugin in plugstack.conf: key=value words, each with a default.
 *
 *   grants=DIR         where Prolog puts down what a job is given, as NODE.JOB (/run/mcast-slurm,
 *                      MCAST_GRANTS of the hooks)
 *   cluster=NAME       as mcastd calls it; else SLURM_CLUSTER_NAME
 *   url=URL cacert=FILE munge_socket=PATH
 *                      how the broker is asked where no Prolog has left anything
 *   timeout=MS         how long tasks wait for that at most (2000)
 *   mcastctl=PATH mcast_node=PATH mcast_cleanup=PATH
 *                      where our programs are, when not where they were installed
 *   node_config=FILE   of mcast-node */

#include "base/error.h"
#include "deploy/slurm/spank/place.h"

#include <stdint.h>

struct settings {
    const char *grants, *cluster, *url, *cacert, *munge_socket; /* NULL: not said */
    const char *mcastctl, *mcast_node, *mcast_cleanup, *node_config;
    int64_t timeout_ms;
};

/* Borrows the words, and place. ERROR_INVALID names one that is not understood; the others are
 * taken, and it keeps its default: a mistake of a site's must not keep its jobs from running. */
int settings_read(struct settings *settings, const struct place *place, int count,
                  char *const words[], struct error *err);

#endif
