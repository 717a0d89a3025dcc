/* SPDX-License-Identifier: Apache-2.0 */
/* Replays and follows the broker's events, over as many connections as that takes (F24). */

#include "client/calls/sse.h"
#include "client/fault.h"
#include "client/calls/field.h"
#include "client/handle.h"

#include <stdlib.h>
#include <string.h>

/* ---- one event ---- */

static int decode_gap(struct event *event, struct mcast_error *error)
{
    struct mcast_event *seen = &event->seen;
    int rc = field_uint64(event->root, "from", FIELD_REQUIRED, UINT64_MAX, &seen->gap_from, error);
    if (rc < 0)
        return rc;
    return field_uint64(event->root, "to", FIELD_REQUIRED, UINT64_MAX, &seen->gap_to, error);
}

static int decode_fields(struct event *event, struct mcast_error *error)
{
    struct mcast_event *seen = &event->seen;
    const json_t *root = event->root;
    int rc;
    if ((rc = field_uint64(root, "seq", FIELD_REQUIRED, UINT64_MAX, &seen->seq, error)) < 0 ||
        (rc = field_string(root, "event", FIELD_REQUIRED, &seen->event, error)) < 0 ||
        (rc = field_string(root, "time", FIELD_OPTIONAL, &seen->time, error)) < 0 ||
        (rc = field_bool(root, "fatal", &seen->fatal, error)) < 0 ||
        (rc = field_string(root, "cluster", FIELD_OPTIONAL, &seen->cluster, error)) < 0 ||
        (rc = field_string(root, "job", FIELD_OPTIONAL, &seen->job, error)) < 0 ||
        (rc = field_uint64(root, "number", FIELD_OPTIONAL, UINT64_MAX, &seen->number, error)) < 0 ||
        (rc = field_uint32(root, "uid", FIELD_OPTIONAL, &seen->uid, error)) < 0)
        return rc;
    return field_string(root, "detail", FIELD_OPTIONAL, &seen->detail, error);
}

int event_decode(struct event *event, const struct sse_event *sent, struct mcast_error *error)
{
    *event = (struct event){0};
    int rc = field_parse(sent->data, strlen(sent->data), &event->root, error);
    if (rc == 0 && strcmp(sent->name, "gap") == 0) {
        event->seen.event = "gap";
        rc = decode_gap(event, error);
    } else if (rc == 0) {
        rc = decode_fields(event, error);
    }
    if (rc == 0) {
        event->line = json_dumps(event->root, JSON_COMPACT);
        event->seen.json = event->line;
        if (!event->line)
            rc = fault_nomem(error);
    }
    if (rc < 0)
        event_release(event);
    return rc;
}

void event_release(struct event *event)
{
    free(event->line);
    json_decref(event->root);
    *event = (struct event){0};
}

/* ---- the stream ---- */

/* One subscription. */
struct subscription {
    mcast_event_fn *each;
    void *data;
    struct mcast_error *error;
    struct sse stream;
    uint64_t after; /* the last event that the callback has had */
    int ended;      /* positive: what the callback returned; negative: what we cannot read */
    bool progress;  /* something came over this connection */
};

static int on_event(const struct sse_event *sent, void *data)
{
    struct subscription *sub = data;
    struct event event;
    int rc = event_decode(&event, sent, sub->error);
    if (rc < 0)
        return sub->ended = rc;
    rc = sub->each(&event.seen, sub->data);
    /* What a gap covers needs not be asked for again. */
    uint64_t reached = event.seen.seq > 0 ? event.seen.seq : event.seen.gap_to;
    if (reached > sub->after)
        sub->after = reached;
    event_release(&event);
    return sub->ended = rc;
}

static int on_piece(const char *bytes, size_t length, void *data)
{
    struct subscription *sub = data;
    sub->progress = true;
    int rc = sse_feed(&sub->stream, bytes, length, on_event, sub);
    if (rc != 0 && sub->ended == 0)
        sub->ended = rc == SSE_NOMEM
                         ? fault_nomem(sub->error)
                         : fault_set(sub->error, MCAST_UNCLEAR,
                                     "the broker's stream has an event longer than %d bytes; is "
                                     "it mcastd?",
                                     SSE_DATA_MAX);
    return sub->ended;
}

/* An answer of success that is no stream. */
static int read_no_stream(const struct answer *answer, struct result *result,
                          struct mcast_error *error)
{
    (void)result;
    if (strcmp(answer->type, "text/event-stream") == 0)
        return 0;
    return fault_set(error, MCAST_UNCLEAR, "what answers sends no events (%s); is it mcastd?",
                     answer->type);
}

/* One connection, from its request to its end. 0: it ended well; else a code. */
static int connect_once(struct mcast *handle, struct subscription *sub, bool follow)
{
    struct call call = {
        .accept = "text/event-stream", .last_event_id = sub->after, .each = on_piece, .data = sub};
    struct result result;
    sse_release(&sub->stream); /* an event that was cut off comes again, whole */
    sub->progress = false;
    int rc = call_set(&call, "GET", read_no_stream, sub->error, "/v1/events?after=%llu%s",
                      (unsigned long long)sub->after, follow ? "" : "&follow=0");
    if (rc == 0)
        rc = handle_ask(handle, &call, &result, sub->error);
    call_release(&call);
    return rc;
}

/* Whether it is worth trying again: "not now", or whatever else is wrong with the way to a broker
 * that has been reached before. */
static bool passing(int rc, const struct mcast_error *error)
{
    return rc == 0 || rc == MCAST_UNREACHABLE || mcast_later(error, NULL);
}

static int follow_events(struct mcast *handle, struct subscription *sub)
{
    struct patience patience;
    struct later later = {0};
    bool connected = false;
    handle_be_patient(&patience, handle);
    for (;;) {
        unsigned after_ms = 0;
        int rc = connect_once(handle, sub, true);
        if (sub->ended != 0)
            return sub->ended;
        connected = connected || rc == 0 || sub->progress;
        if (!connected) {
            if (!handle_again(&patience, sub->error))
                return sub->error->code;
            continue;
        }
        if (!passing(rc, sub->error))
            return rc;
        if (rc < 0)
            mcast_later(sub->error, &after_ms);
        if (sub->progress)
            later.last_ms = 0;
        rc = handle_pause(handle, later_pause(&later, after_ms), sub->error);
        if (rc < 0)
            return rc;
    }
}

/* The replay ends with the answer's own end; one that broke goes on where it was, once. */
static int replay_events(struct mcast *handle, struct subscription *sub)
{
    struct patience patience;
    int rc;
    handle_be_patient(&patience, handle);
    do
        rc = connect_once(handle, sub, false);
    while (rc < 0 && sub->ended == 0 && !sub->progress && handle_again(&patience, sub->error));
    if (rc < 0)
        rc = sub->error->code;
    bool broken = rc == MCAST_UNREACHABLE && strcmp(sub->error->word, "broken") == 0;
    if (sub->ended == 0 && broken)
        rc = connect_once(handle, sub, false);
    return sub->ended != 0 ? sub->ended : rc;
}

int mcast_events(struct mcast *handle, uint64_t after, unsigned flags, mcast_event_fn *each,
                 void *data, struct mcast_error *error)
{
    struct mcast_error own = {0}; /* what it says decides about trying again */
    struct subscription sub = {
        .each = each, .data = data, .error = error ? error : &own, .after = after};
    int rc = flags & MCAST_FOLLOW ? follow_events(handle, &sub) : replay_events(handle, &sub);
    sse_release(&sub.stream);
    return rc;
}
