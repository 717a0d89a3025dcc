/* SPDX-License-Identifier: Apache-2.0 */
/* Reserve, release and show one job, by its name or by its token. */

#include "client/fault.h"
#include "client/handle.h"
#include "client/calls/names.h"

#include <string.h>

enum { VNI_COUNT_MAX = 4 };

static int check(const struct mcast_request *request, struct mcast_error *error)
{
    if (request->uid == UINT32_MAX)
        return fault_set(error, MCAST_USAGE, "the job's owner (uid) is not set");
    if (!request->nodes && request->node_count == 0)
        return fault_set(error, MCAST_USAGE,
                         "the job has no nodes: give a node list, or their number");
    if (request->vni_count < -1 || request->vni_count > VNI_COUNT_MAX)
        return fault_set(error, MCAST_USAGE, "%d VNIs cannot be had: 0 to %d", request->vni_count,
                         VNI_COUNT_MAX);
    return 0;
}

static json_t *encode(const struct mcast_request *request)
{
    json_t *body = json_pack("{s:I}", "uid", (json_int_t)request->uid);
    int rc = body ? 0 : -1;
    if (request->nodes)
        rc |= json_object_set_new(body, "nodes", json_string(request->nodes));
    if (request->node_count > 0)
        rc |= json_object_set_new(body, "node_count", json_integer(request->node_count));
    if (request->cores_per_node > 0)
        rc |= json_object_set_new(body, "cores_per_node", json_integer(request->cores_per_node));
    if (request->vni_count >= 0)
        rc |= json_object_set_new(body, "vni_count", json_integer(request->vni_count));
    if (request->hwcoll)
        rc |= json_object_set_new(body, "hwcoll", json_string(request->hwcoll));
    if (request->traffic_classes)
        rc |= json_object_set_new(body, "traffic_classes", call_words(request->traffic_classes));
    if (rc == 0)
        return body;
    json_decref(body);
    return NULL;
}

static int read_job(const struct answer *answer, struct result *result, struct mcast_error *error)
{
    return reservation_parse(text_string(&answer->body), answer->body.length, &result->reservation,
                             error);
}

/* 200: this very request had been granted before. */
static int read_reserve(const struct answer *answer, struct result *result,
                        struct mcast_error *error)
{
    int rc = read_job(answer, result, error);
    if (rc == 0 && answer->status == 200)
        result->reservation->repeated = true;
    return rc;
}

static int make_reserve(struct call *call, const struct mcast_request *request,
                        struct mcast_error *error)
{
    struct mcast_request mine = MCAST_REQUEST_INIT;
    int rc;
    if ((rc = call_adopt(&mine, request, "MCAST_REQUEST_INIT", error)) < 0 ||
        (rc = names_check(mine.cluster, mine.job, error)) < 0 || (rc = check(&mine, error)) < 0 ||
        (rc = call_set(call, "PUT", read_reserve, error, NAMES_JOB_PATH, mine.cluster, mine.job)) <
            0)
        return rc;
    return call_set_body(call, encode(&mine), "the request's words are", error);
}

/* A call about a job that says all by its method and path. */
static int make_bare(struct call *call, const char *method, const char *cluster, const char *job,
                     struct mcast_error *error)
{
    int rc = names_check(cluster, job, error);
    return rc < 0 ? rc : call_set(call, method, read_job, error, NAMES_JOB_PATH, cluster, job);
}

/* out NULL: what the answer holds is not wanted. */
static int run(struct mcast *handle, struct call *call, int made, struct mcast_reservation **out,
               struct mcast_error *error)
{
    struct result result = {0};
    if (!out)
        call->read = NULL;
    int rc = handle_run(handle, call, made, &result, error);
    if (rc == 0 && out)
        *out = result.reservation;
    return rc;
}

int mcast_reserve(struct mcast *handle, const struct mcast_request *request,
                  struct mcast_reservation **out, struct mcast_error *error)
{
    struct call call = {0};
    return run(handle, &call, make_reserve(&call, request, error), out, error);
}

int mcast_async_reserve(struct mcast_async *async, const struct mcast_request *what,
                        mcast_done_fn *done, void *arg, uint64_t *request,
                        struct mcast_error *error)
{
    struct call call = {0};
    int made = make_reserve(&call, what, error);
    return async_begin(async, &call, made, done, arg, request, error);
}

int mcast_release(struct mcast *handle, const char *cluster, const char *job,
                  struct mcast_reservation **out, struct mcast_error *error)
{
    struct call call = {0};
    return run(handle, &call, make_bare(&call, "DELETE", cluster, job, error), out, error);
}

int mcast_async_release(struct mcast_async *async, const char *cluster, const char *job,
                        mcast_done_fn *done, void *arg, uint64_t *request,
                        struct mcast_error *error)
{
    struct call call = {0};
    int made = make_bare(&call, "DELETE", cluster, job, error);
    return async_begin(async, &call, made, done, arg, request, error);
}

int mcast_show(struct mcast *handle, const char *cluster, const char *job,
               struct mcast_reservation **out, struct mcast_error *error)
{
    struct call call = {0};
    return run(handle, &call, make_bare(&call, "GET", cluster, job, error), out, error);
}

int mcast_async_show(struct mcast_async *async, const char *cluster, const char *job,
                     mcast_done_fn *done, void *arg, uint64_t *request, struct mcast_error *error)
{
    struct call call = {0};
    int made = make_bare(&call, "GET", cluster, job, error);
    return async_begin(async, &call, made, done, arg, request, error);
}

static int make_own(struct call *call, struct mcast_error *error)
{
    call->with_token = true;
    return call_set(call, "GET", read_job, error, "/v1/reservation");
}

int mcast_own(struct mcast *handle, struct mcast_reservation **out, struct mcast_error *error)
{
    struct call call = {0};
    return run(handle, &call, make_own(&call, error), out, error);
}

int mcast_async_own(struct mcast_async *async, mcast_done_fn *done, void *arg, uint64_t *request,
                    struct mcast_error *error)
{
    struct call call = {0};
    return async_begin(async, &call, make_own(&call, error), done, arg, request, error);
}
