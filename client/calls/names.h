/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLIENT_CALLS_NAMES_H
#define MCAST_CLIENT_CALLS_NAMES_H

/* Names that may be put into a request: what passes needs no escaping in a path. */

#include "client/mcast.h"

enum {
    NAMES_CLUSTER_MAX = 32,
    NAMES_JOB_MAX = 128,
    NAMES_STEP_MAX = 512,
    NAMES_NODE_MAX = 255,
    NAMES_WAIT_MAX_MS = 60000,
};

/* 0, or MCAST_USAGE with what is allowed. NULL counts as missing. */
int names_check_cluster(const char *cluster, struct mcast_error *error);
int names_check_job(const char *job, struct mcast_error *error);
int names_check_step(const char *step, struct mcast_error *error);
int names_check_node(const char *node, struct mcast_error *error);

/* How long the broker may wait for the fabric manager: MCAST_USAGE above NAMES_WAIT_MAX_MS. */
int names_check_wait(unsigned wait_ms, struct mcast_error *error);

/* Both names, of which this path is made. */
int names_check(const char *cluster, const char *job, struct mcast_error *error);
#define NAMES_JOB_PATH "/v1/clusters/%s/jobs/%s"

#endif
