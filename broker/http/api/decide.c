/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"
#include "broker/log/log.h"
#include "core/reservation/reservation.h"

#include <stdio.h>
#include <string.h>

/* What an admin decides when an alarm is on (F22, B4, B11). POST /v1/accept-loss: what the fabric
 * manager no longer has is lost. POST /v1/clusters/{cluster}/claim: no other broker and no Slurm
 * uses this cluster's name. */

/* No body, or {}. */
static int check_body(struct call *call)
{
    static const struct body_field none[] = {{0}};
    if (call->body_used == 0)
        return 0;
    return call_json(call) ? body_read_fields(call->json, "", none, &call->problem) : -1;
}

/* For those who decide, and the log. */
static void write_decided(struct call *call, const struct answer *answer, const char *decided)
{
    char who[IDENTITY_TEXT_SIZE];
    log_line(LOG_NOTICE, "%s by %s reservations=%u", decided,
             identity_format(&call->identity.proof, who, sizeof who), answer->count);
    writer_begin_object(&call->out, NULL);
    writer_number(&call->out, "reservations", answer->count);
    writer_end_object(&call->out);
}

int accept_loss_handle(struct call *call)
{
    if (check_body(call) < 0)
        return -1;
    struct core_event event = {.kind = CORE_ACCEPT_LOSS, .ticket = call_ticket(call)};
    engine_step(call->http->engine, &event);
    return 0;
}

void accept_loss_render(struct call *call, const struct answer *answer)
{
    write_decided(call, answer, "loss of missing reservations accepted");
}

int claim_handle(struct call *call)
{
    struct job_path path;
    if (job_path_read(call, &path) < 0 || check_body(call) < 0)
        return -1;
    struct core_event event = {
        .kind = CORE_CLAIM, .ticket = call_ticket(call), .u.claim = {.cluster = path.cluster}};
    engine_step(call->http->engine, &event);
    return 0;
}

void claim_render(struct call *call, const struct answer *answer)
{
    char decided[64];
    snprintf(decided, sizeof decided, "name of cluster %.32s claimed", call->target.segments[2]);
    write_decided(call, answer, decided);
}

/* No body, {}, or {"force": true}. */
static int read_force(struct call *call, bool *force)
{
    const json_t *value = NULL;
    const struct body_field fields[] = {{.name = "force", .value = &value}, {0}};
    if (call->body_used > 0 &&
        (!call_json(call) || body_read_fields(call->json, "", fields, &call->problem) < 0))
        return -1;
    *force = json_is_true(value);
    return !value || json_is_boolean(value) ? 0
                                            : problem_set(&call->problem, 422, "invalid", "force",
                                                          "force must be true or false");
}

/* POST /v1/step-down: another broker is to lead (B7). The answer leaves before this one stops. */
int step_down_handle(struct call *call)
{
    const struct http *http = call->http;
    char who[IDENTITY_TEXT_SIZE];
    bool force;
    if (read_force(call, &force) < 0)
        return -1;
    if (!http->step_down)
        return problem_set(&call->problem, 409, "alone", NULL,
                           "this broker is alone: only with [state] store = etcd can another take "
                           "over; to stop it, stop the service");
    if (!force && leadership_facts(engine_leadership(http->engine))->standbys.count == 0)
        return problem_set(&call->problem, 409, "no-standby", NULL,
                           "no standby is known, so none would take over: start another broker, "
                           "and see it in this one's status; or force it (mcastctl step-down "
                           "--force)");
    log_line(LOG_NOTICE, "step-down requested by %s",
             identity_format(&call->identity.proof, who, sizeof who));
    http->step_down(http->step_down_arg);
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "status", "stepping-down");
    writer_end_object(&call->out);
    return call_reply(call, MHD_HTTP_ACCEPTED, CALL_JSON);
}

/* PUT /v1/nodes/{node}/fence: an admin declares that nothing on this machine uses VNIs of jobs that
 * are over (F3). A machine is no cluster's: it may run jobs of several. */

enum { REASON_MAX = 200 };

/* It is shown in logs and on terminals, one line. */
static bool is_one_line(const char *text)
{
    while ((unsigned char)*text >= 0x20 && *text != 0x7f)
        text++;
    return *text == '\0';
}

/* Log and event begin with who declared it, as long texts are cut. */
static void step_fence(struct call *call, const char *node, const char *reason)
{
    char who[IDENTITY_TEXT_SIZE], words[IDENTITY_TEXT_SIZE + sizeof " says: " + REASON_MAX];
    snprintf(words, sizeof words, "%s says: %s",
             identity_format(&call->identity.proof, who, sizeof who), reason);
    struct core_event event = {.kind = CORE_FENCE,
                               .ticket = call_ticket(call),
                               .u.fence = {.node = node, .reason = words}};
    engine_step(call->http->engine, &event);
}

int fence_handle(struct call *call)
{
    const char *node = call->target.segments[2], *reason = NULL;
    const struct body_field fields[] = {{"reason", .text = &reason}, {0}};
    if (node_name_read(call, node) < 0 || !call_json(call) ||
        body_read_fields(call->json, "", fields, &call->problem) < 0)
        return -1;
    if (!reason)
        return problem_set(&call->problem, 422, "missing-field", "reason",
                           "reason is missing: why nothing on the node can use the VNIs of jobs "
                           "that are over");
    if (*reason == '\0' || strlen(reason) > REASON_MAX || !is_one_line(reason))
        return problem_set(&call->problem, 422, "invalid", "reason",
                           "reason must be one line of 1 to %d bytes", REASON_MAX);
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
        filter.after = core_page(core, &filter, count_reservation, census);
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
