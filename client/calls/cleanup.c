/* SPDX-License-Identifier: Apache-2.0 */
/* What who has a job's token may ask for: the trees of a step to go. */

#include "client/fault.h"
#include "client/handle.h"
#include "client/calls/names.h"
#include "base/steppath.h"
#include "client/text.h"

static int check(const char *step, unsigned wait_ms, struct mcast_error *error)
{
    struct error err = {0};
    if (!step || !step[0])
        return fault_set(error, MCAST_USAGE, "no step is named");
    if (steppath_check(step, &err) < 0)
        return fault_set(error, MCAST_USAGE, "%s", err.text);
    return names_check_wait(wait_ms, error);
}

/* 202: it is being done. */
static int read_cleanup(const struct answer *answer, struct result *result,
                        struct mcast_error *error)
{
    (void)error;
    result->gone = answer->status == 200;
    return 0;
}

/* A path of job ids is one segment here, so its slashes are escaped. */
static int make_cleanup(struct call *call, const char *step, unsigned flags, unsigned wait_ms,
                        struct mcast_error *error)
{
    struct text escaped = {0};
    int rc = check(step, wait_ms, error);
    call->with_token = true;
    call->wait_ms = wait_ms;
    if (rc == 0 && !text_add_escaped(&escaped, step))
        rc = fault_nomem(error);
    if (rc == 0)
        rc = call_set(call, "DELETE", read_cleanup, error, "/v1/reservation/steps/%s?wait=%ums%s",
                      text_string(&escaped), wait_ms, flags & MCAST_BELOW ? "&below=yes" : "");
    text_release(&escaped);
    return rc;
}

int mcast_cleanup(struct mcast *handle, const char *step, unsigned flags, unsigned wait_ms,
                  bool *gone, struct mcast_error *error)
{
    struct call call = {0};
    struct result result = {0};
    int made = make_cleanup(&call, step, flags, wait_ms, error);
    int rc = handle_run(handle, &call, made, &result, error);
    if (rc == 0 && gone)
        *gone = result.gone;
    return rc;
}

int mcast_async_cleanup(struct mcast_async *async, const char *step, unsigned flags,
                        unsigned wait_ms, mcast_done_fn *done, void *arg, uint64_t *request,
                        struct mcast_error *error)
{
    struct call call = {0};
    int made = make_cleanup(&call, step, flags, wait_ms, error);
    return async_begin(async, &call, made, done, arg, request, error);
}

int mcast_cleanup_json(struct mcast *handle, const char *step, unsigned flags, unsigned wait_ms,
                       char **json, struct mcast_error *error)
{
    struct call call = {0};
    int made = make_cleanup(&call, step, flags, wait_ms, error);
    return handle_run_json(handle, &call, made, json, error);
}
