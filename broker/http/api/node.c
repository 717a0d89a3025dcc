/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/request/job_path.h"
#include "broker/http/api/bodies/node_body.h"
#include "broker/http/routes.h"
#include "broker/http/shared.h"
#include "core/reservation/reservation.h"

#include <stdio.h>
#include <string.h>

/* PUT /v1/clusters/{cluster}/jobs/{job}/nodes/{node}: what became of a job's services there (F3).
 */

int node_handle(struct call *call)
{
    struct node_body body;
    struct job_path path;
    const char *node = call->target.segments[6];
    if (job_path_read(call, &path) < 0 || node_name_read(call, node) < 0 || !call_json(call) ||
        node_body_parse(call->json, &body, &call->problem) < 0)
        return -1;
    call->node_state = (int)body.state;
    struct core_event event = {.kind = CORE_NODE_REPORT};
    event.u.report.ticket = call_ticket(call);
    event.u.report.cluster = path.cluster;
    event.u.report.job = path.job;
    event.u.report.number = body.number;
    event.u.report.order = body.order;
    event.u.report.node = node;
    event.u.report.state = body.state;
    event.u.report.services = body.services[0] != '\0' ? body.services : NULL;
    event.u.report.vnis = body.vni_count > 0 ? body.vnis : NULL;
    event.u.report.vni_count = body.vni_count;
    engine_step(call->http->engine, &event);
    return 0;
}

/* The reservation may be over by now, and its reports gone: the last node's report ends it. */
void node_render(struct call *call, const struct answer *answer)
{
    const struct reservation *reservation = answer->reservation;
    struct writer *out = &call->out;
    writer_begin_object(out, NULL);
    writer_string(out, "cluster", reservation->cluster);
    writer_string(out, "job", reservation->job);
    writer_number(out, "number", reservation->number);
    writer_string(out, "node", call->target.segments[6]);
    writer_string(out, "state", node_state_word(call->node_state));
    writer_string(out, "reservation", job_state_word(reservation->state));
    writer_end_object(out);
}

/* PUT /v1/nodes/{node}/boot: no CXI service outlives a boot of its node, so all that it said before
 * is over (F3). A machine may run jobs of several clusters: of those whose `nodes` has it. An admin
 * speaks of all. */

static int read_order(struct call *call, const char *node, int64_t *order)
{
    static const char *const names[] = {"order", NULL};
    const json_t *body;
    if (node_name_read(call, node) < 0 || !(body = call_json(call)) ||
        body_check_names(body, names, &call->problem) < 0 ||
        body_number(json_object_get(body, "order"), "order", 1, INT64_MAX, order, &call->problem) <
            0)
        return -1;
    if (*order > 0)
        return 0;
    return problem_set(&call->problem, 422, "missing-field", "order",
                       "order is missing: higher than those of the node's reports before the "
                       "boot, and lower than those after it");
}

/* The clusters that it is a node of: of others a node may have the same name, and be another. */
static void list_clusters(const struct call *call, const char *node,
                          const char *clusters[static CLUSTERS_MAX + 1])
{
    const struct rights *rights = call->http->rights;
    const char *cluster;
    for (size_t i = 0; (cluster = rights_cluster(rights, i)) != NULL; i++)
        if (rights_is_node(rights, &call->identity, cluster, node))
            *clusters++ = cluster;
    *clusters = NULL;
}

int boot_handle(struct call *call)
{
    const char *node = call->target.segments[2];
    int64_t order = 0;
    if (read_order(call, node, &order) < 0)
        return -1;
    const char *clusters[CLUSTERS_MAX + 1];
    list_clusters(call, node, clusters);
    struct core_event event = {.kind = CORE_NODE_BOOT};
    event.u.boot.ticket = call_ticket(call);
    event.u.boot.node = node;
    event.u.boot.order = (uint64_t)order;
    event.u.boot.clusters = call->identity.admin ? NULL : clusters;
    engine_step(call->http->engine, &event);
    return 0;
}

void boot_render(struct call *call, const struct answer *answer)
{
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "node", call->target.segments[2]);
    writer_number(&call->out, "reservations", answer->count);
    writer_end_object(&call->out);
}

/* PUT /v1/nodes/{node}/fence: an admin declares that nothing on this machine uses VNIs of jobs that
 * are over (F3). A machine is no cluster's: it may run jobs of several. */

enum { REASON_MAX = 200 };

/* It is shown in logs and on terminals, one line. */
static bool is_one_line(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

/* It belongs to the body. */
static int read_reason(struct call *call, const char **reason)
{
    static const char *const names[] = {"reason", NULL};
    struct problem *problem = &call->problem;
    const json_t *body = call_json(call);
    *reason = NULL;
    if (!body || body_check_names(body, names, problem) < 0 ||
        body_text(json_object_get(body, "reason"), "reason", reason, problem) < 0)
        return -1;
    if (!*reason)
        return problem_set(problem, 422, "missing-field", "reason",
                           "reason is missing: why nothing on the node can use the VNIs of jobs "
                           "that are over");
    if (**reason == '\0' || strlen(*reason) > REASON_MAX || !is_one_line(*reason))
        return problem_set(problem, 422, "invalid", "reason",
                           "reason must be one line of 1 to %d bytes", REASON_MAX);
    return 0;
}

/* Log and event begin with who declared it, as long texts are cut. */
static void step_fence(struct call *call, const char *node, const char *reason)
{
    char who[IDENTITY_TEXT_SIZE], words[IDENTITY_TEXT_SIZE + sizeof " says: " + REASON_MAX];
    snprintf(words, sizeof words, "%s says: %s",
             identity_format(&call->identity.proof, who, sizeof who), reason);
    struct core_event event = {.kind = CORE_FENCE};
    event.u.fence.ticket = call_ticket(call);
    event.u.fence.node = node;
    event.u.fence.reason = words;
    engine_step(call->http->engine, &event);
}

int fence_handle(struct call *call)
{
    const char *node = call->target.segments[2], *reason;
    if (node_name_read(call, node) < 0 || read_reason(call, &reason) < 0)
        return -1;
    step_fence(call, node, reason);
    return 0;
}

/* What else is on the machine. */
struct census {
    const char *node;
    uint64_t found, active;
};

static void count_reservation(void *arg, const struct reservation *reservation)
{
    struct census *census = arg;
    if (core_presence(reservation, census->node) == PRESENCE_POSSIBLE)
        return; /* a job that named no nodes may run anywhere */
    census->found++;
    census->active += reservation->state == JOB_ACTIVE;
}

/* Reads some pages: no other request is served meanwhile. True when these were all there are. */
static bool count_pages(const struct core *core, struct census *census)
{
    enum { PAGES_MAX = 8, PAGE = 1000 };
    struct core_filter filter = {.node = census->node, .uid = -1, .limit = PAGE};
    for (int page = 0; page < PAGES_MAX; page++) {
        filter.after = core_list(core, &filter, count_reservation, census);
        if (filter.after == 0)
            return true;
    }
    return false;
}

void fence_render(struct call *call, const struct answer *answer)
{
    struct census census = {.node = call->target.segments[2]};
    const bool all = count_pages(engine_core(call->http->engine), &census);
    /* A misspelt name must not look like a node without jobs. */
    const bool known = !all || answer->count > 0 || census.found > 0 ||
                       rights_list_node(call->http->rights, NULL, census.node);
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "node", census.node);
    writer_number(&call->out, "reservations", answer->count);
    writer_number(&call->out, "active", census.active);
    writer_bool(&call->out, "known", known);
    writer_end_object(&call->out);
}
