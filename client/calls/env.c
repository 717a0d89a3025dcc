/* SPDX-License-Identifier: Apache-2.0 */
/* The environment for the tasks of one step. */

#include "client/fault.h"
#include "client/calls/field.h"
#include "client/handle.h"
#include "client/calls/names.h"
#include "client/calls/variable.h"

static int read_env(const struct answer *answer, struct result *result, struct mcast_error *error)
{
    int rc = field_parse(text_string(&answer->body), answer->body.length, &result->root, error);
    return rc < 0 ? rc : variable_decode(result->root, &result->env, &result->env_count, error);
}

/* The step is escaped: one of Flux is a job id path such as /fA/fB. */
static int make_env(struct call *call, const char *cluster, const char *job, const char *step,
                    struct mcast_error *error)
{
    struct text escaped = {0};
    int rc = names_check(cluster, job, error);
    if (rc < 0 || (step && (rc = names_check_step(step, error)) < 0))
        return rc;
    if (step && !text_add_escaped(&escaped, step))
        rc = fault_nomem(error);
    else
        rc = call_set(call, "GET", read_env, error, NAMES_JOB_PATH "/env%s%s", cluster, job,
                      step ? "?step=" : "", text_string(&escaped));
    text_release(&escaped);
    return rc;
}

int mcast_env(struct mcast *handle, const char *cluster, const char *job, const char *step,
              mcast_variable_fn *each, void *data, struct mcast_error *error)
{
    struct call call = {0};
    struct result result = {0};
    int rc = handle_run(handle, &call, make_env(&call, cluster, job, step, error), &result, error);
    for (size_t i = 0; rc == 0 && i < result.env_count; i++)
        rc = each(&result.env[i], data);
    result_release(&result);
    return rc;
}

int mcast_async_env(struct mcast_async *async, const char *cluster, const char *job,
                    const char *step, mcast_done_fn *done, void *arg, uint64_t *request,
                    struct mcast_error *error)
{
    struct call call = {0};
    int made = make_env(&call, cluster, job, step, error);
    return async_begin(async, &call, made, done, arg, request, error);
}
