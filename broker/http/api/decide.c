/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"
#include "broker/log/log.h"

/* What an admin decides when an alarm is on (F22, B4, B11). POST /v1/accept-loss: what the fabric
 * manager no longer has is lost. POST /v1/clusters/{cluster}/claim: no other broker and no Slurm
 * uses this cluster's name. */

/* No body, or {}. */
static int check_body(struct call *call)
{
    static const char *const names[] = {NULL};
    const json_t *body = call->body_used > 0 ? call_json(call) : NULL;
    if (call->body_used == 0)
        return 0;
    return body ? body_check_names(body, names, &call->problem) : -1;
}

static void write_reservations(struct call *call, const struct answer *answer)
{
    writer_begin_object(&call->out, NULL);
    writer_number(&call->out, "reservations", answer->count);
    writer_end_object(&call->out);
}

int accept_loss_handle(struct call *call)
{
    if (check_body(call) < 0)
        return -1;
    struct core_event event = {.kind = CORE_ACCEPT_LOSS};
    event.u.accept_loss.ticket = call_ticket(call);
    engine_step(call->http->engine, &event);
    return 0;
}

void accept_loss_render(struct call *call, const struct answer *answer)
{
    char who[IDENTITY_TEXT_SIZE];
    log_line(LOG_NOTICE, "loss of missing reservations accepted by %s reservations=%u",
             identity_format(&call->identity.proof, who, sizeof who), answer->count);
    write_reservations(call, answer);
}

int claim_handle(struct call *call)
{
    struct job_path path;
    if (job_path_read(call, &path) < 0 || check_body(call) < 0)
        return -1;
    struct core_event event = {.kind = CORE_CLAIM};
    event.u.claim.ticket = call_ticket(call);
    event.u.claim.cluster = path.cluster;
    engine_step(call->http->engine, &event);
    return 0;
}

void claim_render(struct call *call, const struct answer *answer)
{
    char who[IDENTITY_TEXT_SIZE];
    log_line(LOG_NOTICE, "name of cluster %s claimed by %s reservations=%u",
             call->target.segments[2], identity_format(&call->identity.proof, who, sizeof who),
             answer->count);
    write_reservations(call, answer);
}
