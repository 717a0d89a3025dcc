#ifndef MCAST_CLIENT_NAMES_H
#define MCAST_CLIENT_NAMES_H

/* Names that may be put into a request (api.md): what passes needs no escaping in a path. */

#include "client/mcast.h"

enum {
    NAMES_CLUSTER_MAX = 32,
    NAMES_JOB_MAX = 128,
    NAMES_STEP_MAX = 512,
    NAMES_NODE_MAX = 255,
    NAMES_WAIT_MAX_MS = 60000,
    NAMES_PATH_MAX = 256, /* "/v1/clusters/<cluster>/jobs/<job>" and a short tail */
};

/* 0, or MCAST_USAGE with what is allowed. NULL counts as missing. */
int names_check_cluster(const char *cluster, struct mcast_error *error);
int names_check_job(const char *job, struct mcast_error *error);
int names_check_step(const char *step, struct mcast_error *error);
int names_check_node(const char *node, struct mcast_error *error);

/* How long the broker may wait for the fabric manager: MCAST_USAGE above NAMES_WAIT_MAX_MS. */
int names_check_wait(unsigned wait_ms, struct mcast_error *error);

/* Checks both names and writes "/v1/clusters/<cluster>/jobs/<job><tail>"; tail is short. */
int names_job_path(char path[NAMES_PATH_MAX], const char *cluster, const char *job,
                   const char *tail, struct mcast_error *error);

#endif
