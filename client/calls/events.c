/* SPDX-License-Identifier: Apache-2.0 */
/* Replays and follows the broker's events, over as many connections as that takes (F24). */

#include "client/calls/events.h"
#include "client/calls/field.h"
#include "client/handle.h"

#include <string.h>

/* ---- the stream's lines ---- */

/* NULL: the line is not of this field. */
static const char *value_of(const char *line, const char *field)
{
    size_t length = strlen(field);
    if (strncmp(line, field, length) != 0)
        return NULL;
    return line + length + (line[length] == ' ');
}

/* All lines of an event are there. */
static int end_event(struct sse *stream, sse_event_fn *each, void *data)
{
    const char *name = "message", *found = NULL;
    char *line = stream->event.bytes, *end = line + stream->event.length;
    while (line < end) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        *stop = '\0';
        const char *of_name = value_of(line, "event:"), *of_data = value_of(line, "data:");
        name = of_name ? of_name : name;
        found = of_data ? of_data : found;
        line = stop + 1;
    }
    int rc = found ? each(name, found, data) : 0;
    text_clear(&stream->event);
    return rc;
}

int sse_feed(struct sse *stream, const char *bytes, size_t length, sse_event_fn *each, void *data,
             struct mcast_error *error)
{
    const struct text *event = &stream->event;
    int rc = 0;
    for (const char *end = bytes + length; rc == 0 && bytes < end;) {
        const char *stop = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t piece = (size_t)((stop ? stop + 1 : end) - bytes);
        if (event->length + piece > SSE_EVENT_MAX)
            return fault_set(error, MCAST_UNCLEAR,
                             "the broker's stream has an event longer than %d bytes; is it mcastd?",
                             SSE_EVENT_MAX);
        if (!text_add(&stream->event, bytes, piece))
            return fault_nomem(error);
        bytes += piece;
        if (stop && (event->length == 1 || event->bytes[event->length - 2] == '\n'))
            rc = end_event(stream, each, data);
    }
    return rc;
}

void sse_release(struct sse *stream)
{
    text_release(&stream->event);
}

/* ---- one event ---- */

enum { VNIS_MAX = 4 };

#define AT(member) offsetof(struct mcast_event, member)

static const struct field of_event[] = {
    {"seq", FIELD_UINT64, FIELD_REQUIRED, AT(seq)},
    {"event", FIELD_STRING, FIELD_REQUIRED, AT(event)},
    {"time", FIELD_STRING, FIELD_OPTIONAL, AT(time)},
    {"fatal", FIELD_BOOL, FIELD_OPTIONAL, AT(fatal)},
    {"cluster", FIELD_STRING, FIELD_OPTIONAL, AT(cluster)},
    {"job", FIELD_STRING, FIELD_OPTIONAL, AT(job)},
    {"number", FIELD_UINT64, FIELD_OPTIONAL, AT(number)},
    {"uid", FIELD_UINT32, FIELD_OPTIONAL, AT(uid)},
    {"detail", FIELD_STRING, FIELD_OPTIONAL, AT(detail)},
    {"state", FIELD_STRING, FIELD_OPTIONAL, AT(state)},
    {"node_count", FIELD_UINT32, FIELD_OPTIONAL, AT(node_count)},
    {"addresses", FIELD_UINT32, FIELD_OPTIONAL, AT(addresses)},
};

static const struct field of_gap[] = {
    {"from", FIELD_UINT64, FIELD_REQUIRED, AT(gap_from)},
    {"to", FIELD_UINT64, FIELD_REQUIRED, AT(gap_to)},
};

int event_decode(struct mcast_event **out, const char *name, const char *line,
                 struct mcast_error *error)
{
    json_t *root = NULL;
    int rc = field_parse(line, strlen(line), &root, error);
    if (rc < 0)
        return rc;
    struct mcast_event *seen = document_create(sizeof *seen, root);
    if (!seen)
        return fault_nomem(error);
    seen->json = line;
    seen->uid = UINT32_MAX;
    if (strcmp(name, "gap") == 0) {
        seen->event = "gap";
        rc = FIELDS_READ(root, of_gap, seen, error);
    } else if ((rc = FIELDS_READ(root, of_event, seen, error)) == 0) {
        rc = document_numbers(seen, root, "vnis", VNIS_MAX, &seen->vnis, &seen->vni_count, error);
    }
    if (rc < 0)
        document_free(seen);
    else
        *out = seen;
    return rc;
}

/* ---- the subscription ---- */

struct subscription {
    const char *path; /* with its query, escaped; another parameter may follow */
    bool own;
    mcast_event_fn *each;
    void *data;
    struct mcast_error *error;
    struct sse stream;
    uint64_t after; /* the last event that the callback has had */
    int ended;      /* positive: what the callback returned; negative: what we cannot read */
    bool progress;  /* something came over this connection */
};

static int on_event(const char *name, const char *line, void *data)
{
    struct subscription *sub = data;
    struct mcast_event *event = NULL;
    int rc = event_decode(&event, name, line, sub->error);
    if (rc < 0)
        return rc;
    rc = sub->each(event, sub->data);
    /* What a gap covers needs not be asked for again. */
    uint64_t reached = event->seq > 0 ? event->seq : event->gap_to;
    if (reached > sub->after)
        sub->after = reached;
    document_free(event);
    return rc;
}

static int on_piece(const char *bytes, size_t length, void *data)
{
    struct subscription *sub = data;
    sub->progress = true;
    sub->ended = sse_feed(&sub->stream, bytes, length, on_event, sub, sub->error);
    return sub->ended;
}

/* An answer of success that is no stream. */
static int read_no_stream(const struct answer *answer, void **document, struct mcast_error *error)
{
    (void)document;
    if (strcmp(answer->type, "text/event-stream") == 0)
        return 0;
    return fault_set(error, MCAST_UNCLEAR, "what answers sends no events (%s); is it mcastd?",
                     answer->type);
}

/* One connection, from its request to its end. 0: it ended well; else a code. retry: until it is
 * made, as long as the handle's retry timeout allows. */
static int connect_once(struct mcast *handle, struct subscription *sub, bool follow, bool retry)
{
    struct call call = {
        .accept = "text/event-stream", .with_token = sub->own, .each = on_piece, .data = sub};
    void *document = NULL;     /* stays so */
    sse_release(&sub->stream); /* an event that was cut off comes again, whole */
    sub->progress = false;
    call_set(&call, "GET", read_no_stream, sub->error, "%safter=%llu%s", sub->path,
             (unsigned long long)sub->after, follow ? "" : "&follow=0");
    int rc = call.rc < 0 ? call.rc : handle_ask(handle, &call, retry, &document, sub->error);
    call_release(&call);
    return rc;
}

/* Until something ends it for good: after the first connection neither "not now" does, nor whatever
 * else is wrong with the connection to a broker that has been reached before. */
static int follow_events(struct mcast *handle, struct subscription *sub)
{
    struct later later = {0};
    for (bool connected = false;; connected = true) {
        unsigned after_ms = 0;
        int rc = connect_once(handle, sub, true, !connected);
        if (sub->ended != 0)
            return sub->ended;
        bool absent = rc == MCAST_UNREACHABLE || (rc < 0 && mcast_later(sub->error, &after_ms));
        if (rc < 0 && (!absent || !(connected || sub->progress)))
            return rc;
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
    int rc = connect_once(handle, sub, false, true);
    if (sub->ended == 0 && rc == MCAST_UNREACHABLE && strcmp(sub->error->word, "broken") == 0)
        rc = connect_once(handle, sub, false, false);
    return sub->ended != 0 ? sub->ended : rc;
}

/* Words of the interface need no escaping, and what is none is no kind of event. */
static int add_kinds(struct text *path, const char *const *kinds, struct mcast_error *error)
{
    for (size_t i = 0; kinds[i]; i++) {
        const size_t length = strlen(kinds[i]);
        if (length == 0 || strspn(kinds[i], "abcdefghijklmnopqrstuvwxyz-") != length)
            return fault_set(error, MCAST_USAGE, "'%.40s' is no kind of event", kinds[i]);
        if (!text_add(path, i == 0 ? "kind=" : ",", i == 0 ? 5 : 1) ||
            !text_add(path, kinds[i], length))
            return fault_nomem(error);
    }
    return kinds[0] && !text_add(path, "&", 1) ? fault_nomem(error) : 0;
}

static int add_name(struct text *path, const char *parameter, const char *name,
                    struct mcast_error *error)
{
    if (!name || (text_add(path, parameter, strlen(parameter)) && text_add_escaped(path, name) &&
                  text_add(path, "&", 1)))
        return 0;
    return fault_nomem(error);
}

static int write_path(struct text *path, bool own, const struct mcast_event_filter *filter,
                      struct mcast_error *error)
{
    const char *beginning = own ? "/v1/reservation/events?" : "/v1/events?";
    int rc = 0;
    if (own && (filter->cluster || filter->job))
        return fault_set(error, MCAST_USAGE, "the token says of which job: name none");
    if (filter->cluster && (rc = names_check_cluster(filter->cluster, error)) < 0)
        return rc;
    if (filter->job && (rc = names_check_job(filter->job, error)) < 0)
        return rc;
    if (!text_add(path, beginning, strlen(beginning)))
        return fault_nomem(error);
    if ((rc = add_name(path, "cluster=", filter->cluster, error)) < 0 ||
        (rc = add_name(path, "job=", filter->job, error)) < 0)
        return rc;
    return filter->kinds ? add_kinds(path, filter->kinds, error) : 0;
}

int mcast_events_filtered(struct mcast *handle, uint64_t after, unsigned flags,
                          const struct mcast_event_filter *filter, mcast_event_fn *each, void *data,
                          struct mcast_error *error)
{
    struct mcast_event_filter mine = MCAST_EVENT_FILTER_INIT;
    struct mcast_error own = {0}; /* what it says decides about trying again */
    struct text path = {0};
    struct subscription sub = {.own = flags & MCAST_OWN_EVENTS,
                               .each = each,
                               .data = data,
                               .error = error ? error : &own,
                               .after = after};
    int rc = filter ? struct_adopt(&mine, filter, "MCAST_EVENT_FILTER_INIT", sub.error) : 0;
    if (rc == 0)
        rc = write_path(&path, sub.own, &mine, sub.error);
    sub.path = text_string(&path);
    if (rc == 0)
        rc = flags & MCAST_FOLLOW ? follow_events(handle, &sub) : replay_events(handle, &sub);
    sse_release(&sub.stream);
    text_release(&path);
    return rc;
}

int mcast_events(struct mcast *handle, uint64_t after, unsigned flags, mcast_event_fn *each,
                 void *data, struct mcast_error *error)
{
    return mcast_events_filtered(handle, after, flags, NULL, each, data, error);
}
