/* SPDX-License-Identifier: Apache-2.0 */
/* What a node tells of jobs' services. */

#include "client/fault.h"
#include "client/calls/field.h"
#include "client/handle.h"
#include "client/calls/names.h"

#include <string.h>

enum { SERVICES_MAX = 16, VNIS_MAX = 4 };

static int encode_vnis(json_t *body, const struct mcast_node_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->vni_count; i++)
        json_array_append_new(list, json_integer(report->vnis[i]));
    if (json_array_size(list) == report->vni_count)
        return json_object_set_new(body, "vnis", list);
    json_decref(list);
    return -1;
}

static json_t *encode(const struct mcast_node_report *report)
{
    json_t *body =
        json_pack("{s:s,s:I}", "state", report->state, "number", (json_int_t)report->number);
    json_t *list = json_array();
    int rc = body && list ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < report->service_count; i++)
        rc =
            json_array_append_new(list, json_pack("{s:s,s:I}", "device", report->services[i].device,
                                                  "id", (json_int_t)report->services[i].id));
    if (rc == 0 && report->service_count > 0)
        rc = json_object_set(body, "services", list);
    if (rc == 0 && report->order > 0)
        rc = json_object_set_new(body, "order", json_integer((json_int_t)report->order));
    json_decref(list);
    if (rc == 0 && report->vni_count > 0)
        rc = encode_vnis(body, report);
    if (rc == 0)
        return body;
    json_decref(body);
    return NULL;
}

static int read_report(const struct answer *answer, struct result *result,
                       struct mcast_error *error)
{
    const char *state = "";
    json_t *root = NULL;
    int rc = field_parse(text_string(&answer->body), answer->body.length, &root, error);
    if (rc == 0)
        rc = field_string(root, "reservation", FIELD_OPTIONAL, &state, error);
    if (rc == 0)
        result->releasing = strcmp(state, "releasing") == 0;
    json_decref(root);
    return rc;
}

static int make_report(struct call *call, const struct mcast_node_report *report,
                       struct mcast_error *error)
{
    struct mcast_node_report mine = MCAST_NODE_REPORT_INIT;
    int rc;
    if ((rc = call_adopt(&mine, report, "MCAST_NODE_REPORT_INIT", error)) < 0 ||
        (rc = names_check(mine.cluster, mine.job, error)) < 0 ||
        (rc = names_check_node(mine.node, error)) < 0)
        return rc;
    if (!mine.state || mine.service_count > SERVICES_MAX || mine.vni_count > VNIS_MAX ||
        mine.number == 0 || mine.number > INT64_MAX || mine.order > INT64_MAX)
        return fault_set(error, MCAST_USAGE,
                         "a report needs a state and the reservation's number, and has at most %d "
                         "services and %d VNIs",
                         SERVICES_MAX, VNIS_MAX);
    rc = call_set(call, "PUT", read_report, error, NAMES_JOB_PATH "/nodes/%s", mine.cluster,
                  mine.job, mine.node);
    return rc < 0 ? rc : call_set_body(call, encode(&mine), "the report's words are", error);
}

int mcast_report_node(struct mcast *handle, const struct mcast_node_report *report, bool *releasing,
                      struct mcast_error *error)
{
    struct call call = {0};
    struct result result = {0};
    int made = make_report(&call, report, error);
    int rc = handle_run(handle, &call, made, &result, error);
    if (rc == 0 && releasing)
        *releasing = result.releasing;
    return rc;
}

int mcast_async_report_node(struct mcast_async *async, const struct mcast_node_report *report,
                            mcast_done_fn *done, void *arg, uint64_t *request,
                            struct mcast_error *error)
{
    struct call call = {0};
    int made = make_report(&call, report, error);
    return async_begin(async, &call, made, done, arg, request, error);
}
