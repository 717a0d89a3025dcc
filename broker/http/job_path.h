#ifndef MCAST_BROKER_HTTP_JOB_PATH_H
#define MCAST_BROKER_HTTP_JOB_PATH_H

#include "broker/http/call.h"
#include "core/reservation.h"

/* /v1/clusters/{cluster}/jobs/{job}…: the names in it. */

struct job_path {
    const char *cluster, *job;
};

/* 0, or -1 with call->problem: no cluster can have this name (404), no job can have this id (422).
 * For a path without a job, job is NULL. */
int job_path_read(struct call *call, struct job_path *path);

/* Finds the reservation for a call that only looks, if the peer may see it: its owner, the
 * cluster's resource manager, an admin. NULL with call->problem set: 422, or 404, which is the same
 * for a job that is not there and one that the peer may not see. */
const struct reservation *job_path_find(struct call *call);

#endif
