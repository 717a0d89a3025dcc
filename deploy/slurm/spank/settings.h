/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

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

#include <stdint.h>

enum { SETTINGS_PROGRAMS = 3, SETTINGS_PATH_SIZE = 1024 };

struct settings {
    const char *grants, *cluster, *url, *cacert, *munge_socket; /* NULL: not said */
    const char *mcastctl, *mcast_node, *mcast_cleanup, *node_config;
    int64_t timeout_ms;
    char installed[SETTINGS_PROGRAMS][SETTINGS_PATH_SIZE];
};

/* Borrows the words, and is not moved. ERROR_INVALID names a word that is not understood; the
 * others are taken, and it keeps its default: a mistake of a site's must not keep its jobs from
 * running.
 *
 * plugin: its file; links are followed. Our programs lie at the prefix at which the plugin itself
 * was installed, not the configured one; no variable of a user's environment has a say. One that
 * is not where it should be from there, as with a plugin that was copied elsewhere, is looked for
 * where it was configured to be. */
int settings_read(struct settings *settings, const char *plugin, int count, char *const words[],
                  struct error *err);
