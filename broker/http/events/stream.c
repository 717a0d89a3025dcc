/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "core/reservation/record.h"

#include "broker/http/auth/gate.h"
#include "broker/http/auth/identity.h"
#include "broker/http/events/filter.h"
#include "broker/http/routes.h"
#include "base/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    PIECE = 4096,           /* rendered ahead of the socket, at most this and one event */
    LOOKED_AT = 1024,       /* events passed over in one go, for those who may see few, */
    LOOKED_AT_FOR_ALL = 64, /* … and for each of those that wait, when something is new */
    LOOKS_OF_NODE = 16, /* so many of these is one about a node, as lists of nodes are searched */
    UNREAD_MAX = 8192,  /* events that may happen while it takes nothing; fewer than are kept unless
                           the site says so: a subscriber that reconnects at once misses none */
    PULSE_MS = 15000
};

/* One subscriber of events (F24): server-sent events pulled from what the core keeps. A subscriber
 * is a number, the last event it has had; however slowly it reads, nothing gathers for it. If what
 * it has yet to read is no longer kept, it gets the range of numbers that it missed. One that reads
 * nothing while thousands happen is dropped, and so is one that reads nothing for the idle time of
 * the server. */
struct stream {
    struct call *call;
    LIST_ENTRY(stream) link;
    uint64_t after;
    struct event_filter filter;
    bool role;         /* of an admin or resource manager when it began */
    uint64_t seen_seq; /* the newest durable event when it last took something */
    bool tell_gap, follow, waiting;
    struct writer out;
    size_t sent; /* of out */
};

/* After the event `after`, up to what is durable; then the end, or with follow whatever comes.
 * tell_gap: whether to tell a gap before the first event, too. */
static struct stream *stream_create(struct call *call, const struct event_filter *filter,
                                    uint64_t after, bool tell_gap, bool follow)
{
    struct stream *stream = memory_zeroed(sizeof *stream);
    *stream = (struct stream){.call = call,
                              .after = after,
                              .filter = *filter,
                              .role = identity_has_role(&call->identity),
                              .seen_seq = call->http->durable_seq,
                              .tell_gap = tell_gap,
                              .follow = follow};
    if (LIST_EMPTY(&call->http->streams))
        call->http->pulse_ms = uv_now(call->http->loop);
    LIST_INSERT_HEAD(&call->http->streams, stream, link);
    call->http->traffic.subscribers++;
    return stream;
}

void stream_destroy(struct stream *stream)
{
    if (!stream)
        return;
    LIST_REMOVE(stream, link);
    stream->call->http->traffic.subscribers--;
    writer_release(&stream->out);
    free(stream);
}

/* A subscriber that does not read blocks a connection for others. */
static void drop_if_stuck(struct stream *stream)
{
    if (stream->call->http->durable_seq - stream->seen_seq > UNREAD_MAX)
        shutdown(
            MHD_get_connection_info(stream->call->connection, MHD_CONNECTION_INFO_CONNECTION_FD)
                ->connect_fd,
            SHUT_RDWR); /* MHD notices, and frees it */
}

static int looks(const struct event_record *event)
{
    return event->node ? LOOKS_OF_NODE : 1;
}

static bool shows(const struct stream *stream, const struct event_record *event)
{
    const struct call *call = stream->call;
    return event_filter_takes(&stream->filter, event) &&
           permit_event(call->http->rights, &call->identity, event);
}

/* Whether one that waits has nothing to write: who sees few events costs no turn of a connection
 * for those of others. */
static bool pass_over(struct stream *stream)
{
    const struct http *http = stream->call->http;
    const struct core *core = engine_core(http->engine);
    for (int i = 0; i < LOOKED_AT_FOR_ALL && stream->after < http->durable_seq;) {
        const struct event_record *event = core_event_at(core, stream->after + 1);
        if (!event || shows(stream, event))
            return false;
        i += looks(event);
        stream->after++;
    }
    return stream->after >= http->durable_seq;
}

/* text: what it gets first; or NULL. */
static void wake(struct stream *stream, const char *text)
{
    stream->waiting = false;
    stream->seen_seq = stream->call->http->durable_seq;
    if (text)
        writer_text(&stream->out, text);
    httpworker_resume(stream->call->peer->worker, stream->call->connection);
}

void stream_events(struct http *http)
{
    struct stream *stream = NULL;
    LIST_FOREACH(stream, &http->streams, link)
    {
        if (!stream->waiting)
            drop_if_stuck(stream);
        else if (!pass_over(stream))
            wake(stream, NULL);
    }
}

static void wake_all(struct http *http, const char *text)
{
    struct stream *stream = NULL;
    LIST_FOREACH(stream, &http->streams, link)
    if (stream->waiting)
        wake(stream, text);
}

void stream_wake_all(struct http *http)
{
    wake_all(http, NULL);
}

void stream_end(struct http *http, const struct peer *peer)
{
    struct stream *stream = NULL;
    LIST_FOREACH(stream, &http->streams, link)
    if (stream->waiting && stream->call->peer == peer)
        wake(stream, NULL);
}

void stream_pulse(struct http *http)
{
    const uint64_t now_ms = uv_now(http->loop);
    if (now_ms - http->pulse_ms < PULSE_MS)
        return;
    http->pulse_ms = now_ms;
    wake_all(http, ": keep-alive\n\n");
}

/* What the reservation has: as much as lists show of it. */
static void write_holdings(struct writer *writer, const struct event_record *event)
{
    writer_string(writer, "state", job_state_word(event->state));
    if (event->node_count)
        writer_number(writer, "node_count", event->node_count);
    writer_begin_array(writer, "vnis");
    for (unsigned i = 0; i < event->vni_count; i++)
        writer_number(writer, NULL, event->vnis[i]);
    writer_end_array(writer);
    writer_number(writer, "addresses", event->addresses);
}

static void write_clusters(struct writer *writer, const char *clusters)
{
    char name[CLUSTER_NAME_MAX + 1];
    writer_begin_array(writer, "clusters");
    for (const char *at = clusters; *at != '\0'; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        assert(length < sizeof name);
        memcpy(name, at, length);
        name[length] = '\0';
        writer_string(writer, NULL, name);
        at += length;
    }
    writer_end_array(writer);
}

static void write_event(struct writer *writer, const struct event_record *event)
{
    writer_textf(writer, "id: %" PRIu64 "\nevent: %s\ndata: ", event->seq,
                 event_kind_word(event->kind));
    writer->comma = false;
    writer_begin_object(writer, NULL);
    writer_number(writer, "seq", event->seq);
    writer_time(writer, "time", event->time_ms);
    writer_string(writer, "event", event_kind_word(event->kind));
    writer_bool(writer, "fatal", event_kind_fatal(event->kind));
    if (event->cluster)
        writer_string(writer, "cluster", event->cluster);
    if (event->job)
        writer_string(writer, "job", event->job);
    if (event->node)
        writer_string(writer, "node", event->node);
    if (event->clusters)
        write_clusters(writer, event->clusters);
    if (event->number) {
        writer_number(writer, "number", event->number);
        if (event->uid != UID_UNKNOWN)
            writer_number(writer, "uid", event->uid);
    }
    if (event->state)
        write_holdings(writer, event);
    if (event->detail)
        writer_string(writer, "detail", event->detail);
    writer_end_object(writer);
    writer_text(writer, "\n\n");
}

/* Steps over what was pruned; numbers that never were are refused before. */
static void skip_missing(struct stream *stream)
{
    const struct core *core = engine_core(stream->call->http->engine);
    const uint64_t first = core_first_seq(core);
    assert(stream->after <= core_last_seq(core));
    if (stream->after + 1 < first) {
        if (stream->tell_gap)
            writer_textf(&stream->out,
                         "event: gap\ndata: {\"from\":%" PRIu64 ",\"to\":%" PRIu64 "}\n\n",
                         stream->after + 1, first - 1);
        stream->after = first - 1;
    }
    stream->tell_gap = true;
}

/* Renders the next events into out; false when there is nothing more to look at. */
static bool render_some(struct stream *stream)
{
    const struct http *http = stream->call->http;
    writer_wipe(&stream->out);
    stream->sent = 0;
    skip_missing(stream);
    for (int i = 0; i < LOOKED_AT && stream->out.used < PIECE;) {
        if (stream->after >= http->durable_seq)
            return false;
        const struct event_record *event =
            core_event_at(engine_core(http->engine), stream->after + 1);
        if (!event)
            return false;
        if (shows(stream, event))
            write_event(&stream->out, event);
        i += looks(event);
        stream->after++;
    }
    return true;
}

static ssize_t copy_rest(struct stream *stream, char *buffer, size_t size)
{
    size_t length = stream->out.used - stream->sent;
    if (length > size)
        length = size;
    memcpy(buffer, stream->out.data + stream->sent, length);
    stream->sent += length;
    return (ssize_t)length;
}

/* Not after a reload that took a right away, nor when a certificate or token has expired, or the
 * token's job is over: what has happened until then was written. */
static bool may_go_on(struct stream *stream)
{
    struct call *call = stream->call;
    return gate_judge_still(call) == 0 && (!stream->role || identity_has_role(&call->identity));
}

/* MHD can take more. 0 while suspended: called again after the resume; 0 otherwise: soon. */
static ssize_t on_writable(void *arg, uint64_t position, char *buffer, size_t size)
{
    struct stream *stream = arg;
    (void)position;
    stream->seen_seq = stream->call->http->durable_seq;
    stream->call->peer->worker->progress = true; /* it makes no other callback */
    if (stream->sent < stream->out.used)
        return copy_rest(stream, buffer, size);
    if (stream->call->peer->closing || !may_go_on(stream))
        return MHD_CONTENT_READER_END_OF_STREAM;
    bool more = render_some(stream);
    if (stream->out.failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (stream->out.used == 0 && !more) {
        if (!stream->follow || stream->call->http->quiescing)
            return MHD_CONTENT_READER_END_OF_STREAM;
        writer_release(&stream->out);
        stream->waiting = true;
        MHD_suspend_connection(stream->call->connection);
        return 0;
    }
    return copy_rest(stream, buffer, size);
}

struct MHD_Response *stream_response(struct stream *stream)
{
    stream->seen_seq = stream->call->http->durable_seq;
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, on_writable, stream, NULL);
}

/* ---- the call ---- */

/* GET /v1/events, /v1/reservation/events. Last-Event-ID, which a browser or library sends when it
 * connects again, counts for more than the address it connects to. */
static int read_position(struct call *call, uint64_t *after, bool *given)
{
    const uint64_t last = core_last_seq(engine_core(call->http->engine));
    const char *field = "after", *text = target_query(&call->target, field);
    const char *id = call_header(call, "Last-Event-ID");
    if (id && *id) {
        field = "Last-Event-ID";
        text = id;
    }
    *after = 0;
    *given = text;
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

/* Who has events of his own names the job: a service that lacks its role must not take a stream
 * with these alone for its cluster's. */
static int check_sight(struct call *call)
{
    const struct proof *proof = &call->identity.proof;
    if (proof->kind == PROOF_BEARER)
        return tokenproof_allows(proof->token, BEARER_SHOW, NULL, &call->problem);
    if (identity_has_role(&call->identity) ||
        (proof_is_user(proof, proof->uid) && target_query(&call->target, "job")))
        return 0;
    return gate_forbid(call, "only an admin or the resource manager of a cluster may, see 'admins' "
                             "and 'users' in the configuration; or the owner of a job, who names "
                             "it: job=ID (mcastctl events --job ID)");
}

int events_handle(struct call *call)
{
    static const char type[] = "text/event-stream";
    uint64_t after;
    bool given;
    struct event_filter filter;
    const char *follow = target_query(&call->target, "follow");
    if (check_sight(call) < 0 || read_position(call, &after, &given) < 0 ||
        event_filter_read(&filter, &call->target, &call->problem) < 0)
        return -1;
    if (follow && strcmp(follow, "0") != 0 && strcmp(follow, "1") != 0)
        return problem_set(
            &call->problem, 422, "invalid", "follow",
            "follow must be 1 (go on with what comes) or 0 (end after what is kept)");
    call->stream = stream_create(call, &filter, after, given, !follow || *follow == '1');
    /* While nothing can be saved, what has been is shown all the same; 0: unknown since the start.
     */
    if (engine_storage_fault(call->http->engine) && call->http->durable_seq > 0)
        return call_reply(call, MHD_HTTP_OK, type);
    /* What is known now may be shown once it is saved. */
    call->durable_seq = core_last_seq(engine_core(call->http->engine));
    return call_reply_saved(call, MHD_HTTP_OK, type);
}
