/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/job_path.h"

#include "broker/http/auth/gate.h"
#include "core/reservation/nodes.h"

int job_path_read(struct call *call, struct job_path *path)
{
    const struct target *target = &call->target;
    path->cluster = target->segments[2];
    path->job = target->segment_count > 4 ? target->segments[4] : NULL;
    if (!cluster_name_valid(path->cluster))
        return problem_set(&call->problem, 404, answer_word(ANSWER_NO_CLUSTER), "cluster",
                           "no cluster can have the name '%.64s'; names are 1 to %d of a-z, "
                           "0-9 and _",
                           path->cluster, CLUSTER_NAME_MAX);
    if (path->job && !job_id_valid(path->job))
        return problem_set(&call->problem, 422, "invalid", "job",
                           "'%.64s' cannot be a job id; ids are 1 to %d of A-Z, a-z, 0-9 and "
                           "._:@+-",
                           path->job, JOB_ID_MAX);
    return 0;
}

int node_name_read(struct call *call, const char *node)
{
    if (node_name_valid(node))
        return 0;
    return problem_set(&call->problem, 422, "invalid", "node",
                       "'%.64s' is no node's name; names are 1 to %d of A-Z, a-z, 0-9 and ._-",
                       node, NODELIST_NAME_MAX);
}

int job_path_no_cluster(struct call *call, const char *cluster)
{
    char text[NO_CLUSTER_SIZE];
    return problem_set(&call->problem, 404, answer_word(ANSWER_NO_CLUSTER), "cluster", "%s",
                       core_config_no_cluster(&call->http->config->core, cluster, text));
}

const struct reservation *job_path_find(struct call *call, enum job_sight needs,
                                        enum job_sight *sight)
{
    const struct http *http = call->http;
    struct job_path path;
    if (job_path_read(call, &path) < 0)
        return NULL;
    const struct reservation *found = core_find(engine_core(http->engine), path.cluster, path.job);
    *sight = found ? permit_job(http->rights, &call->identity, found) : JOB_HIDDEN;
    if (*sight >= needs)
        return found;
    const bool manages = rights_manages(http->rights, &call->identity, path.cluster);
    if (*sight != JOB_HIDDEN)
        gate_forbid(call, "a node may see the jobs that run on it, but not their environment, in "
                          "which the token is");
    else if (!rights_knows(http->rights, path.cluster))
        job_path_no_cluster(call, path.cluster);
    /* The same whether there is one: which jobs others have is not shown. */
    else if (call->identity.node && !manages)
        problem_set(&call->problem, 404, answer_word(ANSWER_NOT_FOUND), NULL,
                    "no job %s of cluster %s runs on node %s, which is who you are; a node "
                    "sees its own jobs only",
                    path.job, path.cluster, call->identity.node);
    else
        problem_set(&call->problem, 404, answer_word(ANSWER_NOT_FOUND), NULL,
                    manages
                        ? "there is no reservation of job %s on cluster %s"
                        : "you have no reservation of job %s on cluster %s; those of others are "
                          "shown to the cluster's resource manager and to admins only",
                    path.job, path.cluster);
    return NULL;
}
