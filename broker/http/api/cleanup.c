#include "broker/http/request/call.h"
#include "broker/http/routes.h"
#include "broker/http/auth/tokenproof.h"
#include "broker/http/request/wait_query.h"
#include "core/reservation/reservation.h"
#include "base/steppath.h"

#include <string.h>

/* DELETE /v1/reservation/steps/{step}: whoever holds a token of the job has the trees of a step
 * removed (F19, I6). */

/* The step was percent-decoded once, and is not made simpler: what is no step after that is none.
 */
static int check_step(struct call *call)
{
    struct error err = {0};
    if (steppath_check(call->target.segments[3], &err) == 0)
        return 0;
    return problem_set(&call->problem, MHD_HTTP_UNPROCESSABLE_CONTENT, "invalid", "step", "%s",
                       err.text);
}

static int read_below(struct call *call, bool *below)
{
    const char *text = target_query(&call->target, "below");
    *below = text && !strcmp(text, "yes");
    if (!text || *below || !strcmp(text, "no"))
        return 0;
    return problem_set(&call->problem, MHD_HTTP_UNPROCESSABLE_CONTENT, "invalid", "below",
                       "below is yes or no");
}

/* Who waits keeps a place, however slow the fabric manager is: not when few are left (B8). */
static int64_t bounded_wait(const struct call *call, int64_t wait_ms)
{
    return wait_ms > 0 && places_crowded(&call->http->places, &call->peer->place) ? 1 : wait_ms;
}

int cleanup_handle(struct call *call)
{
    const struct tokenproof *proof = call->identity.proof.token;
    struct core_event event = {.kind = CORE_CLEANUP};
    const char *step = call->target.segments[3], *scope = proof->scope.steps;
    if (check_step(call) < 0 || read_below(call, &event.u.cleanup.below) < 0 ||
        wait_query_read(&call->target, 0, &event.u.cleanup.wait_ms, &call->problem) < 0 ||
        tokenproof_allows(proof, BEARER_CLEANUP, step, &call->problem) < 0)
        return -1;
    event.u.cleanup.wait_ms = bounded_wait(call, event.u.cleanup.wait_ms);
    event.u.cleanup.ticket = call_ticket(call);
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
