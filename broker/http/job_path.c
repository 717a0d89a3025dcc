#include "broker/http/job_path.h"

int job_path_read(struct call *call, struct job_path *path)
{
    const struct target *target = &call->target;
    path->cluster = target->segments[2];
    path->job = target->segment_count > 4 ? target->segments[4] : NULL;
    if (!cluster_name_valid(path->cluster))
        return problem_set(&call->problem, MHD_HTTP_NOT_FOUND, answer_word(ANSWER_NO_CLUSTER),
                           "cluster",
                           "no cluster can be called '%.64s'; names are 1 to %d of a-z, "
                           "0-9 and _",
                           path->cluster, CLUSTER_NAME_MAX);
    if (path->job && !job_id_valid(path->job))
        return problem_set(&call->problem, MHD_HTTP_UNPROCESSABLE_CONTENT, "invalid", "job",
                           "'%.64s' cannot be a job id; ids are 1 to %d of A-Z, a-z, 0-9 and "
                           "._:@+-",
                           path->job, JOB_ID_MAX);
    return 0;
}

const struct reservation *job_path_find(struct call *call)
{
    const struct http *http = call->http;
    const struct identity *identity = &call->identity;
    struct job_path path;
    if (job_path_read(call, &path) < 0)
        return NULL;
    const struct reservation *found = core_find(engine_core(http->engine), path.cluster, path.job);
    bool manages = rights_manages(http->rights, identity, path.cluster);
    if (found && (identity_is_user(identity, found->uid) || manages))
        return found;
    /* The same whether there is one: nobody learns from it which jobs others have. */
    problem_set(&call->problem, MHD_HTTP_NOT_FOUND, answer_word(ANSWER_NOT_FOUND), NULL,
                manages ? "there is no reservation of job %s on cluster %s"
                        : "you have no reservation of job %s on cluster %s; those of others are "
                          "shown to the cluster's resource manager and to admins only",
                path.job, path.cluster);
    return NULL;
}
