/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/auth/identity.h"
#include "broker/http/request/call.h"

/* /v1/clusters/{cluster}/jobs/{job}…: the names in it. */

struct job_path {
    const char *cluster, *job;
};

/* 0, or -1 with call->problem: no cluster can have this name (404), no job can have this id (422).
 * For a path without a job, job is NULL. */
int job_path_read(struct call *call, struct job_path *path);

/* 0, or -1 with a 422 in call->problem: no node can have this name. */
int node_name_read(struct call *call, const char *node);

/* 404 for a cluster that is not in the configuration. Returns -1. */
int job_path_no_cluster(struct call *call, const char *cluster);

/* Finds the reservation for a call that only looks, and says how much may be shown; needs tells how
 * much the call is about to show at least. NULL with call->problem set: 422, 403 for a node that
 * asks for what it may not see, or 404, which is the same for a job that is not there and one that
 * is hidden, but that it says so when the cluster is not configured (any more) either. */
const struct reservation *job_path_find(struct call *call, enum job_sight needs,
                                        enum job_sight *sight);
