/* SPDX-License-Identifier: Apache-2.0 */
/* What administrators ask and decide: of the broker's state, of losses and clusters, and that a
 * machine is clean. */

#include "client/fault.h"
#include "client/calls/field.h"
#include "client/handle.h"
#include "client/calls/names.h"

/* ---- the broker's answer as it is ---- */

static int get_json(struct mcast *handle, const char *path, char **json, struct mcast_error *error)
{
    struct call call = {0};
    return handle_run_json(handle, &call, call_set(&call, "GET", NULL, error, "%s", path), json,
                           error);
}

int mcast_status(struct mcast *handle, char **json, struct mcast_error *error)
{
    return get_json(handle, "/v1/status", json, error);
}

int mcast_async_status(struct mcast_async *async, mcast_done_fn *done, void *arg, uint64_t *request,
                       struct mcast_error *error)
{
    struct call call = {0};
    int made = call_set(&call, "GET", call_read_json, error, "/v1/status");
    return async_begin(async, &call, made, done, arg, request, error);
}

int mcast_doctor(struct mcast *handle, char **json, struct mcast_error *error)
{
    return get_json(handle, "/v1/doctor", json, error);
}

int mcast_whoami(struct mcast *handle, char **json, struct mcast_error *error)
{
    return get_json(handle, "/v1/whoami", json, error);
}

/* ---- decisions ---- */

/* How many reservations it is about. */
static int run_count(struct mcast *handle, struct call *call, int made, uint64_t *reservations,
                     struct mcast_error *error)
{
    struct result result = {0};
    uint64_t count = 0;
    call->read = call_read_root;
    int rc = handle_run(handle, call, made, &result, error);
    if (rc == 0)
        rc = field_uint64(result.root, "reservations", FIELD_OPTIONAL, UINT64_MAX, &count, error);
    if (rc == 0 && reservations)
        *reservations = count;
    result_release(&result);
    return rc;
}

int mcast_accept_loss(struct mcast *handle, uint64_t *reservations, struct mcast_error *error)
{
    struct call call = {0};
    int made = call_set(&call, "POST", NULL, error, "/v1/accept-loss");
    return run_count(handle, &call, made, reservations, error);
}

int mcast_claim(struct mcast *handle, const char *cluster, uint64_t *reservations,
                struct mcast_error *error)
{
    struct call call = {0};
    int made = names_check_cluster(cluster, error);
    if (made == 0)
        made = call_set(&call, "POST", NULL, error, "/v1/clusters/%s/claim", cluster);
    return run_count(handle, &call, made, reservations, error);
}

static int make_fence(struct call *call, const char *node, const char *reason,
                      struct mcast_error *error)
{
    int rc = names_check_node(node, error);
    if (rc < 0)
        return rc;
    if (!reason || !reason[0])
        return fault_set(error, MCAST_USAGE, "a reason is needed: why nothing on %s can use VNIs",
                         node);
    rc = call_set(call, "PUT", NULL, error, "/v1/nodes/%s/fence", node);
    return rc < 0
               ? rc
               : call_set_body(call, json_pack("{s:s}", "reason", reason), "the reason is", error);
}

int mcast_fence(struct mcast *handle, const char *node, const char *reason, uint64_t *reservations,
                struct mcast_error *error)
{
    struct call call = {0};
    return run_count(handle, &call, make_fence(&call, node, reason, error), reservations, error);
}

int mcast_fence_json(struct mcast *handle, const char *node, const char *reason, char **json,
                     struct mcast_error *error)
{
    struct call call = {0};
    return handle_run_json(handle, &call, make_fence(&call, node, reason, error), json, error);
}

int mcast_report_boot(struct mcast *handle, const char *node, uint64_t order,
                      uint64_t *reservations, struct mcast_error *error)
{
    struct call call = {0};
    int made = names_check_node(node, error);
    if (made == 0 && (order == 0 || order > INT64_MAX))
        made = fault_set(error, MCAST_USAGE, "a boot needs an order, from 1");
    if (made == 0)
        made = call_set(&call, "PUT", NULL, error, "/v1/nodes/%s/boot", node);
    if (made == 0)
        made = call_set_body(&call, json_pack("{s:I}", "order", (json_int_t)order), "the order is",
                             error);
    return run_count(handle, &call, made, reservations, error);
}
