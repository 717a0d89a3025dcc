/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/routes.h"
#include "broker/http/events/stream.h"

#include <inttypes.h>
#include <string.h>

/* GET /v1/events. Last-Event-ID, which a browser or library sends when it connects again, counts
 * for more than the address it connects to. */
static int position(struct call *call, uint64_t *after, bool *given)
{
    const uint64_t last = core_last_seq(engine_core(call->http->engine));
    const char *field = "after", *text = target_query(&call->target, field);
    const char *id = call_header(call, "Last-Event-ID");
    if (id && *id) {
        field = "Last-Event-ID";
        text = id;
    }
    *after = 0;
    *given = text != NULL;
    if (text && !target_number(text, UINT64_MAX - 1, after))
        return problem_set(&call->problem, 422, "invalid", field,
                           "%s must be the sequence number of an event, or 0", field);
    if (*after <= last)
        return 0;
    /* Who waited for the next number would miss all events up to there (F24). */
    return problem_set(&call->problem, 422, "no-such-event", field,
                       "%s: there is no event %" PRIu64 ", the last one is %" PRIu64
                       "; the ledger may have been restored from an older copy; start from %" PRIu64
                       ", or from 0 for all that are kept",
                       field, *after, last, last);
}

int events_handle(struct call *call)
{
    static const char type[] = "text/event-stream";
    uint64_t after;
    bool given;
    const char *follow = target_query(&call->target, "follow");
    if (position(call, &after, &given) < 0)
        return -1;
    if (follow && strcmp(follow, "0") != 0 && strcmp(follow, "1") != 0)
        return problem_set(
            &call->problem, 422, "invalid", "follow",
            "follow must be 1 (go on with what comes) or 0 (end after what is kept)");
    call->stream = stream_create(call, after, given, !follow || *follow == '1');
    if (!call->stream)
        return problem_set(&call->problem, 503, "out-of-memory", NULL,
                           "there is no memory for one more subscriber; try again");
    /* While nothing can be saved, what has been is shown all the same; 0: unknown since the start.
     */
    if (engine_storage_fault(call->http->engine) && call->http->durable_seq > 0)
        return call_reply(call, MHD_HTTP_OK, type);
    /* What is known now may be shown once it is saved. */
    call->durable_seq = core_last_seq(engine_core(call->http->engine));
    return call_reply_saved(call, MHD_HTTP_OK, type);
}
