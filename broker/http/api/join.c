/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "broker/http/auth/tokenproof.h"
#include "broker/http/request/call.h"
#include "broker/http/routes.h"
#include "core/reservation/reservation.h"

#include <string.h>

/* POST and DELETE /fabric/collectives/multicasts: what libfabric asks the fabric manager for, of a
 * relayed job (B9). Requests and answers are the fabric manager's (docs/fabric-manager.md). */

enum { MACS_MAX = 65536, MAC_MAX = 17 };

/* ---- the body ---- */

static int refuse(struct call *call, const char *field, const char *words)
{
    return problem_set(&call->problem, MHD_HTTP_BAD_REQUEST, "invalid", field, "%s: %s", field,
                       words);
}

static bool is_mac(const json_t *value)
{
    const char *text = json_string_value(value);
    const size_t length = json_string_length(value);
    return text && length > 0 && length <= MAC_MAX &&
           strspn(text, "0123456789abcdefABCDEF:") == length;
}

static bool are_macs(const json_t *macs)
{
    const size_t count = json_array_size(macs);
    size_t good = 0;
    while (good < count && is_mac(json_array_get(macs, good)))
        good++;
    return count > 0 && count <= MACS_MAX && good == count;
}

/* Whether the job that the body names is the token's. */
static bool names_job(const struct bearer_scope *scope, const char *name)
{
    char own[FM_NAME_MAX + 1];
    fm_name_format(own, scope->cluster, scope->job);
    return name && strcmp(name, own) == 0;
}

/* Written anew: what is passed on has these members, and no others. */
static int read_join(struct call *call, struct core_event *event, char **body)
{
    json_t *macs = NULL;
    json_int_t vni = 0, timeout = 0;
    const char *job = NULL, *step = NULL;
    if (!call_json(call))
        return -1;
    (void)json_unpack(call->json, "{s?o, s?I, s?I, s?s, s?s}", "macs", &macs, "vni", &vni,
                      "timeout", &timeout, "jobID", &job, "jobStepID", &step);
    if (!are_macs(macs))
        return refuse(call, "macs", "an array of NIC addresses is wanted");
    if (vni < 1 || vni > UINT16_MAX)
        return refuse(call, "vni", "a number from 1 to 65535 is wanted");
    if (timeout < 0)
        return refuse(call, "timeout", "microseconds are wanted");
    if (!names_job(&call->identity.proof.token->scope, job))
        return refuse(call, "jobID", "the token is another job's");
    if (!step || !step_id_valid(step))
        return refuse(call, "jobStepID", "the step of the job is wanted");
    /* The step as it is: libfabric writes it unescaped, and without one "(null)". */
    json_t *own = memory_must(json_pack("{s:O, s:I, s:I, s:s, s:s}", "macs", macs, "vni", vni,
                                        "timeout", timeout, "jobID", job, "jobStepID", step));
    *body = memory_must(json_dumps(own, JSON_COMPACT));
    json_decref(own);
    event->u.join.vni = (uint16_t)vni;
    event->u.join.step = step;
    event->u.join.body = *body;
    return 0;
}

/* ---- the calls ---- */

int join_handle(struct call *call)
{
    const struct tokenproof *proof = call->identity.proof.token;
    const char *scope = proof->scope.steps;
    struct core_event event = {.kind = CORE_JOIN, .ticket = call_ticket(call)};
    char *body = NULL;
    if (read_join(call, &event, &body) < 0)
        return -1;
    int rc =
        tokenproof_allows(proof, BEARER_JOIN, *scope ? event.u.join.step : NULL, &call->problem);
    event.u.join.number = proof->scope.number;
    event.u.join.scopes = &scope;
    event.u.join.scope_count = *scope ? 1 : 0;
    if (rc == 0)
        engine_step(call->http->engine, &event);
    free(body);
    return rc;
}

void join_render(struct call *call, const struct answer *answer)
{
    char link[64];
    (void)snprintf(link, sizeof link, "%s/%u", call->route->pattern, answer->tree->id);
    writer_begin_object(&call->out, NULL);
    writer_number(&call->out, "mcastID", answer->tree->id);
    writer_string(&call->out, "hwRoot", answer->tree->root);
    writer_string(&call->out, "documentSelfLink", link);
    writer_end_object(&call->out);
}

int leave_handle(struct call *call)
{
    const struct tokenproof *proof = call->identity.proof.token;
    const char *scope = proof->scope.steps;
    uint64_t tree;
    if (!target_number(call->target.segments[3], FMCALL_TREES - 1, &tree))
        return problem_set(&call->problem, MHD_HTTP_NOT_FOUND, "not-found", NULL,
                           "there is no such tree");
    if (tokenproof_allows(proof, BEARER_JOIN, NULL, &call->problem) < 0)
        return -1;
    struct core_event event = {.kind = CORE_LEAVE,
                               .ticket = call_ticket(call),
                               .u.leave = {.number = proof->scope.number,
                                           .tree = (uint16_t)tree,
                                           .scopes = &scope,
                                           .scope_count = *scope ? 1 : 0}};
    engine_step(call->http->engine, &event);
    return 0;
}

void leave_render(struct call *call, const struct answer *answer)
{
    (void)answer;
    writer_text(&call->out, "{}");
}
