/* SPDX-License-Identifier: Apache-2.0 */
/* What resource managers and nodes report, and what administrators ask and decide. */

#include "client/calls/field.h"
#include "client/calls/traffic.h"
#include "client/text.h"
#include "client/handle.h"

#include <stdlib.h>
#include <string.h>

/* ---- the broker's answer as it is ---- */

static int get_json(struct mcast *handle, const char *path, char **json, struct mcast_error *error)
{
    struct call call = {0};
    call_set(&call, "GET", call_read_root, error, "%s", path);
    return handle_run_json(handle, call, json, error);
}

int mcast_status(struct mcast *handle, char **json, struct mcast_error *error)
{
    return get_json(handle, "/v1/status", json, error);
}

int mcast_async_status(struct mcast_async *async, mcast_done_fn *done, void *arg, uint64_t *request,
                       struct mcast_error *error)
{
    struct call call = {0};
    call_set(&call, "GET", call_read_root, error, "/v1/status");
    return async_begin(async, call, done, arg, request, error);
}

int mcast_options(struct mcast *handle, const char *cluster, char **json, struct mcast_error *error)
{
    struct call call = {.rc = cluster ? names_check_cluster(cluster, error) : 0};
    call_set(&call, "GET", call_read_root, error, "/v1/options%s%s", cluster ? "?cluster=" : "",
             cluster ? cluster : "");
    return handle_run_json(handle, call, json, error);
}

int mcast_doctor(struct mcast *handle, char **json, struct mcast_error *error)
{
    return get_json(handle, "/v1/doctor?ask=yes", json, error);
}

int mcast_whoami(struct mcast *handle, char **json, struct mcast_error *error)
{
    return get_json(handle, "/v1/whoami", json, error);
}

int mcast_get(struct mcast *handle, const char *path, const char *type, mcast_piece_fn *each,
              void *data, struct mcast_error *error)
{
    struct call call = {.accept = type, .each = each, .data = data};
    void *document = NULL; /* stays so */
    const char *c = path;
    while (*c > ' ' && *c < '\x7f' && *c != '#')
        c++;
    if (path[0] != '/' || *c)
        return fault_set(error, MCAST_USAGE, "a path begins with '/', and is escaped");
    call_set(&call, "GET", NULL, error, "%s", path);
    int rc = call.rc < 0 ? call.rc : handle_ask(handle, &call, false, &document, error);
    call_release(&call);
    return rc;
}

/* ---- resource managers: which jobs of a cluster are active ---- */

#define AT(member) offsetof(struct mcast_sync_result, member)

static const struct field of_sync[] = {
    {"active", FIELD_UINT64, FIELD_REQUIRED, AT(active)},
    {"confirmed", FIELD_UINT64, FIELD_REQUIRED, AT(confirmed)},
    {"suspect_count", FIELD_UINT64, FIELD_OPTIONAL, AT(suspect_count)},
    {"released_count", FIELD_UINT64, FIELD_OPTIONAL, AT(released_count)},
    {"unknown_count", FIELD_UINT64, FIELD_OPTIONAL, AT(unknown_count)},
    {"suspect", FIELD_WORDS, FIELD_OPTIONAL, AT(suspect)},
    {"released", FIELD_WORDS, FIELD_OPTIONAL, AT(released)},
    {"unknown", FIELD_WORDS, FIELD_OPTIONAL, AT(unknown)},
};

static int read_sync(const struct answer *answer, void **document, struct mcast_error *error)
{
    struct mcast_sync_result *seen = call_document(answer, sizeof *seen, error);
    *document = seen;
    return seen ? FIELDS_READ(document_root(seen), of_sync, seen, error) : error->code;
}

int mcast_sync(struct mcast *handle, const char *cluster, const char *const *jobs, size_t job_count,
               struct mcast_sync_result **out, struct mcast_error *error)
{
    struct call call = {.rc = names_check_cluster(cluster, error)};
    json_t *list = json_array();
    for (size_t i = 0; call.rc == 0 && i < job_count; i++) {
        call.rc = names_check_job(jobs[i], error);
        if (call.rc == 0 && json_array_append_new(list, json_string(jobs[i])) < 0)
            call.rc = fault_nomem(error);
    }
    call_set(&call, "POST", read_sync, error, "/v1/clusters/%s/sync", cluster);
    call_set_body(&call, json_pack("{s:o}", "active", list), "the jobs' names are", error);
    return handle_run(handle, call, out, error);
}

void mcast_sync_result_free(struct mcast_sync_result *result)
{
    document_free(result);
}

char *mcast_sync_result_json(const struct mcast_sync_result *result, unsigned flags)
{
    return field_json(document_root(result), flags);
}

/* ---- nodes ---- */

enum { SERVICES_MAX = 16, VNIS_MAX = 4 };

static json_t *encode_report(const struct mcast_node_report *report)
{
    json_t *services = json_array(), *vnis = json_array();
    json_t *body =
        json_pack("{s:s,s:I}", "state", report->state, "number", (json_int_t)report->number);
    int rc = 0;
    for (size_t i = 0; i < report->service_count; i++)
        rc |= json_array_append_new(services,
                                    json_pack("{s:s,s:I}", "device", report->services[i].device,
                                              "id", (json_int_t)report->services[i].id));
    for (size_t i = 0; i < report->vni_count; i++)
        rc |= json_array_append_new(vnis, json_integer(report->vnis[i]));
    body = call_add(body, "services", report->service_count > 0, services);
    body = call_add(body, "order", report->order > 0, json_integer((json_int_t)report->order));
    body = call_add(body, "vnis", report->vni_count > 0, vnis);
    body = call_add(body, "traffic", report->traffic,
                    report->traffic ? traffic_encode(report->traffic) : NULL);
    if (rc == 0)
        return body;
    json_decref(body);
    return NULL;
}

static int check_report(const struct mcast_node_report *report, struct mcast_error *error)
{
    int rc = names_check(report->cluster, report->job, error);
    if (rc < 0 || (rc = names_check_node(report->node, error)) < 0)
        return rc;
    if (!report->state || report->service_count > SERVICES_MAX || report->vni_count > VNIS_MAX ||
        report->number == 0 || report->number > INT64_MAX || report->order > INT64_MAX)
        return fault_set(error, MCAST_USAGE,
                         "a report needs a state and the reservation's number, and has at most %d "
                         "services and %d VNIs",
                         SERVICES_MAX, VNIS_MAX);
    return 0;
}

int mcast_report_node(struct mcast *handle, const struct mcast_node_report *report, bool *releasing,
                      struct mcast_error *error)
{
    struct mcast_node_report mine = MCAST_NODE_REPORT_INIT;
    struct mcast_node_traffic traffic = MCAST_NODE_TRAFFIC_INIT;
    int rc = struct_adopt(&mine, report, "MCAST_NODE_REPORT_INIT", error);
    if (rc == 0 && mine.traffic) {
        rc = struct_adopt(&traffic, mine.traffic, "MCAST_NODE_TRAFFIC_INIT", error);
        mine.traffic = &traffic;
    }
    if (rc < 0 || (rc = check_report(&mine, error)) < 0)
        return rc;
    struct call call = {0};
    call_set(&call, "PUT", call_read_root, error, NAMES_JOB_PATH "/nodes/%s", mine.cluster,
             mine.job, mine.node);
    call_set_body(&call, encode_report(&mine), "the report's words are", error);
    return handle_run_word(handle, call, "reservation", "releasing", releasing, error);
}

int mcast_report_inventory(struct mcast *handle, const char *node, const char *inventory,
                           char **json, struct mcast_error *error)
{
    struct call call = {.rc = names_check_node(node, error)};
    json_t *body = inventory ? json_loads(inventory, JSON_REJECT_DUPLICATES, NULL) : NULL;
    char *answer = NULL;
    if (call.rc == 0 && !json_is_object(body))
        call.rc = fault_set(error, MCAST_USAGE, "the inventory is no JSON object");
    call_set(&call, "PUT", call_read_root, error, "/v1/nodes/%s/inventory", node);
    call_set_body(&call, body, "the inventory's words are", error);
    const int rc = handle_run_json(handle, call, &answer, error);
    if (rc == 0 && json)
        *json = answer;
    else
        free(answer);
    return rc;
}

int mcast_job_traffic(struct mcast *handle, const char *cluster, const char *job, char **json,
                      struct mcast_error *error)
{
    struct call call = {.with_token = !cluster && !job};
    if (call.with_token) {
        call_set(&call, "GET", call_read_root, error, "/v1/reservation/traffic");
    } else {
        call.rc = names_check(cluster, job, error);
        call_set(&call, "GET", call_read_root, error, NAMES_JOB_PATH "/traffic", cluster, job);
    }
    return handle_run_json(handle, call, json, error);
}

int mcast_node_inventory(struct mcast *handle, const char *node, char **json,
                         struct mcast_error *error)
{
    struct call call = {.rc = names_check_node(node, error)};
    call_set(&call, "GET", call_read_root, error, "/v1/nodes/%s/inventory", node);
    return handle_run_json(handle, call, json, error);
}

/* ---- decisions: about how many reservations each is ---- */

static const char affected[] = "reservations";

int mcast_accept_loss(struct mcast *handle, uint64_t *reservations, struct mcast_error *error)
{
    struct call call = {0};
    call_set(&call, "POST", call_read_root, error, "/v1/accept-loss");
    return handle_run_number(handle, call, affected, reservations, error);
}

int mcast_claim(struct mcast *handle, const char *cluster, uint64_t *reservations,
                struct mcast_error *error)
{
    struct call call = {.rc = names_check_cluster(cluster, error)};
    call_set(&call, "POST", call_read_root, error, "/v1/clusters/%s/claim", cluster);
    return handle_run_number(handle, call, affected, reservations, error);
}

static int step_down(struct mcast *handle, json_t *body, struct mcast_error *error)
{
    struct call call = {.once = true};
    char *json = NULL;
    call_set(&call, "POST", call_read_root, error, "/v1/step-down");
    if (body)
        call_set_body(&call, body, "the order is", error);
    int rc = handle_run_json(handle, call, &json, error);
    free(json);
    return rc;
}

int mcast_step_down(struct mcast *handle, struct mcast_error *error)
{
    return step_down(handle, NULL, error);
}

int mcast_step_down_forced(struct mcast *handle, struct mcast_error *error)
{
    return step_down(handle, json_pack("{s:b}", "force", 1), error);
}

static struct call make_fence(const char *node, const char *reason, struct mcast_error *error)
{
    struct call call = {.rc = names_check_node(node, error)};
    if (call.rc == 0 && (!reason || !reason[0]))
        call.rc = fault_set(error, MCAST_USAGE,
                            "a reason is needed: why nothing on %s can use VNIs", node);
    call_set(&call, "PUT", call_read_root, error, "/v1/nodes/%s/fence", node);
    call_set_body(&call, json_pack("{s:s}", "reason", reason), "the reason is", error);
    return call;
}

int mcast_fence(struct mcast *handle, const char *node, const char *reason, uint64_t *reservations,
                struct mcast_error *error)
{
    return handle_run_number(handle, make_fence(node, reason, error), affected, reservations,
                             error);
}

int mcast_fence_json(struct mcast *handle, const char *node, const char *reason, char **json,
                     struct mcast_error *error)
{
    return handle_run_json(handle, make_fence(node, reason, error), json, error);
}

int mcast_report_boot_time(struct mcast *handle, const char *node, uint64_t order, int64_t uptime_s,
                           int64_t booted_s, uint64_t *reservations, struct mcast_error *error)
{
    struct call call = {.rc = names_check_node(node, error)};
    if (call.rc == 0 && (order == 0 || order > INT64_MAX))
        call.rc = fault_set(error, MCAST_USAGE, "a boot needs an order, from 1");
    json_t *body = json_pack("{s:I}", "order", (json_int_t)order);
    body = call_add(body, "uptime", uptime_s > 0, json_integer(uptime_s));
    body = call_add(body, "booted", booted_s > 0, json_integer(booted_s));
    call_set(&call, "PUT", call_read_root, error, "/v1/nodes/%s/boot", node);
    call_set_body(&call, body, "the order is", error);
    return handle_run_number(handle, call, affected, reservations, error);
}

int mcast_report_boot(struct mcast *handle, const char *node, uint64_t order,
                      uint64_t *reservations, struct mcast_error *error)
{
    return mcast_report_boot_time(handle, node, order, 0, 0, reservations, error);
}
