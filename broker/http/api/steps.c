/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"
#include "core/relay/relay.h"
#include "base/steppath.h"
#include "broker/http/auth/tokenproof.h"
#include "core/reservation/reservation.h"

#include <string.h>

/* GET …/steps: the steps of a job that have multicast trees, as the fabric manager lists them
 * (F19). */

enum { STEPS_WAIT_MS = 5000 };

int steps_handle(struct call *call)
{
    enum job_sight sight;
    struct core_event event = {.kind = CORE_STEPS};
    int rc = target_wait(&call->target, STEPS_WAIT_MS, &event.u.steps.wait_ms, &call->problem);
    const struct reservation *found = rc < 0 ? NULL : job_path_find(call, JOB_WHOLE, &sight);
    if (!found)
        return -1;
    event.ticket = call_ticket(call);
    event.u.steps.cluster = found->cluster;
    event.u.steps.job = found->job;
    engine_step(call->http->engine, &event);
    return 0;
}

void steps_render(struct call *call, const struct answer *answer)
{
    const struct fmcall_steps *steps = answer->steps;
    struct writer *out = &call->out;
    uint64_t unreachable = 0;
    writer_begin_object(out, NULL);
    writer_begin_array(out, "steps");
    for (size_t i = 0; i < steps->count; i++) {
        const struct fmcall_step *step = &steps->steps[i];
        unreachable += !steppath_valid(step->step);
        writer_begin_object(out, NULL);
        writer_string(out, "step", step->step);
        writer_begin_array(out, "trees");
        for (size_t j = 0; j < step->tree_count; j++)
            writer_number(out, NULL, step->trees[j]);
        writer_end_array(out);
        writer_end_object(out);
    }
    writer_end_array(out);
    writer_number(out, "unreachable", unreachable);
    writer_number(out, "skipped", steps->skipped);
    writer_end_object(out);
}

/* DELETE /v1/reservation/steps/{step}: a client with a token of the job has the trees of a step
 * removed (F19, I6). */

static int read_below(struct call *call, bool *below)
{
    const char *text = target_query(&call->target, "below");
    *below = text && !strcmp(text, "yes");
    if (!text || *below || !strcmp(text, "no"))
        return 0;
    return problem_set(&call->problem, 422, "invalid", "below", "below is yes or no");
}

int cleanup_handle(struct call *call)
{
    const struct tokenproof *proof = call->identity.proof.token;
    struct core_event event = {.kind = CORE_CLEANUP};
    const char *step = call->target.segments[3], *scope = proof->scope.steps;
    struct error err = {0};
    /* Percent-decoded once, and not made simpler: what is no step after that is none. */
    if (steppath_check(step, &err) < 0)
        return problem_set(&call->problem, 422, "invalid", "step", "%s", err.text);
    if (read_below(call, &event.u.cleanup.below) < 0 ||
        target_wait(&call->target, 0, &event.u.cleanup.wait_ms, &call->problem) < 0 ||
        tokenproof_allows(proof, BEARER_CLEANUP, step, &call->problem) < 0)
        return -1;
    /* A waiting request keeps its place, however slow the fabric manager is: not when few are left
     * (B8). */
    if (event.u.cleanup.wait_ms > 0 && quota_crowded(&call->http->quota, &call->peer->slot))
        event.u.cleanup.wait_ms = 1;
    event.ticket = call_ticket(call);
    event.u.cleanup.number = proof->scope.number;
    event.u.cleanup.step = step;
    event.u.cleanup.scopes = &scope; /* what all of the token's restrictions leave */
    event.u.cleanup.scope_count = *scope ? 1 : 0;
    engine_step(call->http->engine, &event);
    return 0;
}

void cleanup_render(struct call *call, const struct answer *answer)
{
    const struct reservation *reservation = answer->reservation;
    const char *below = target_query(&call->target, "below");
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "cluster", reservation->cluster);
    writer_string(&call->out, "job", reservation->job);
    writer_number(&call->out, "number", reservation->number);
    writer_string(&call->out, "step", call->target.segments[3]);
    writer_bool(&call->out, "below", below && !strcmp(below, "yes"));
    writer_string(&call->out, "state", answer_word(answer->kind));
    writer_end_object(&call->out);
}

/* GET /v1/reservation/trees: what the broker knows of them itself (P7): those of relayed jobs. */

struct own_trees {
    struct writer *out;
    const char *scope; /* "": all steps */
};

static void write_step(void *arg, const char *step, uint32_t trees)
{
    const struct own_trees *own = arg;
    if (own->scope[0] && !steppath_within(step, own->scope) && strcmp(step, own->scope) != 0)
        return;
    writer_begin_object(own->out, NULL);
    writer_string(own->out, "step", step);
    writer_number(own->out, "trees", trees);
    writer_end_object(own->out);
}

int owntrees_handle(struct call *call)
{
    const struct tokenproof *proof = call->identity.proof.token;
    const struct reservation *own = tokencheck_reservation(call->http, proof);
    const struct own_trees trees = {&call->out, proof->scope.steps};
    struct relay_view view;
    if (tokenproof_allows(proof, BEARER_SHOW, NULL, &call->problem) < 0)
        return -1;
    call_show(call, own);
    relay_view(own, &view);
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "known",
                  !reservation_relayed(own) ? "none"
                  : view.all                ? "all"
                                            : "some");
    writer_begin_array(&call->out, "steps");
    relay_each_step(own, write_step, (void *)(uintptr_t)&trees);
    writer_end_array(&call->out);
    writer_end_object(&call->out);
    return call_reply_shown(call, MHD_HTTP_OK, CALL_JSON);
}
