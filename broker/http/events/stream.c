/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/events/stream.h"

#include "broker/http/auth/gate.h"
#include "broker/http/auth/identity.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    PIECE = 4096,      /* rendered ahead of the socket, at most this and one event */
    LOOKED_AT = 1024,  /* events passed over in one go, for those who may see few */
    UNREAD_MAX = 8192, /* events that may happen while it takes nothing; fewer than are kept unless
                          the site says so: a subscriber that reconnects at once misses none */
    PULSE_MS = 15000
};

struct stream {
    struct call *call;
    LIST_ENTRY(stream) link;
    uint64_t after;
    uint64_t seen_seq; /* the newest durable event when it last took something */
    bool tell_gap, follow, waiting, pulse, begun, dropped;
    struct writer out;
    size_t sent; /* of out */
};

static void on_pulse(uv_timer_t *timer)
{
    stream_wake_all(timer->data, true);
}

struct stream *stream_create(struct call *call, uint64_t after, bool tell_gap, bool follow)
{
    struct http *http = call->http;
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->call = call;
    stream->after = after;
    stream->tell_gap = tell_gap;
    stream->follow = follow;
    if (LIST_EMPTY(&http->streams))
        uv_timer_start(&http->pulse, on_pulse, PULSE_MS, PULSE_MS);
    LIST_INSERT_HEAD(&http->streams, stream, link);
    http->traffic.subscribers++;
    return stream;
}

void stream_destroy(struct stream *stream)
{
    if (!stream)
        return;
    struct http *http = stream->call->http;
    LIST_REMOVE(stream, link);
    http->traffic.subscribers--;
    if (LIST_EMPTY(&http->streams) && !http->quiescing)
        uv_timer_stop(&http->pulse);
    writer_release(&stream->out);
    free(stream);
}

/* A subscriber that does not read blocks a connection for others. */
static void drop_if_stuck(struct stream *stream)
{
    if (!stream->begun || stream->dropped ||
        stream->call->http->durable_seq - stream->seen_seq <= UNREAD_MAX)
        return;
    stream->dropped = true;
    shutdown(MHD_get_connection_info(stream->call->connection, MHD_CONNECTION_INFO_CONNECTION_FD)
                 ->connect_fd,
             SHUT_RDWR); /* MHD notices, and frees it */
}

void stream_wake_all(struct http *http, bool pulse)
{
    for (struct stream *stream = LIST_FIRST(&http->streams); stream;
         stream = LIST_NEXT(stream, link)) {
        if (!stream->waiting) {
            drop_if_stuck(stream);
            continue;
        }
        stream->waiting = false;
        stream->pulse = pulse;
        room_resume(stream->call->peer->room, stream->call->connection);
    }
    http_turn(http);
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
    if (event->number) {
        writer_number(writer, "number", event->number);
        if (event->uid != UID_UNKNOWN)
            writer_number(writer, "uid", event->uid);
    }
    if (event->detail)
        writer_string(writer, "detail", event->detail);
    writer_end_object(writer);
    writer_text(writer, "\n\n");
}

static void write_gap(struct writer *writer, uint64_t from, uint64_t to)
{
    writer_textf(writer, "event: gap\ndata: {\"from\":%" PRIu64 ",\"to\":%" PRIu64 "}\n\n", from,
                 to);
}

/* Steps over what was pruned; numbers that never were are refused before (events.c). */
static void skip_missing(struct stream *stream)
{
    const struct core *core = engine_core(stream->call->http->engine);
    const uint64_t first = core_first_seq(core);
    assert(stream->after <= core_last_seq(core));
    if (stream->after + 1 < first) {
        if (stream->tell_gap)
            write_gap(&stream->out, stream->after + 1, first - 1);
        stream->after = first - 1;
    }
    stream->tell_gap = true;
}

/* Renders the next events into out; false when there is nothing more to look at. */
static bool render_some(struct stream *stream)
{
    const struct http *http = stream->call->http;
    writer_reset(&stream->out);
    stream->sent = 0;
    skip_missing(stream);
    for (int i = 0; i < LOOKED_AT && stream->out.used < PIECE; i++) {
        if (stream->after >= http->durable_seq)
            return false;
        const struct event_record *event =
            core_event_at(engine_core(http->engine), stream->after + 1);
        if (!event)
            return false;
        if (permit_event(http->rights, &stream->call->identity, event))
            write_event(&stream->out, event);
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

/* MHD has room for more. 0 while suspended: called again after the resume; 0 otherwise: soon. */
static ssize_t on_room(void *arg, uint64_t position, char *buffer, size_t size)
{
    struct stream *stream = arg;
    (void)position;
    stream->begun = true;
    stream->seen_seq = stream->call->http->durable_seq;
    room_stir(stream->call->peer->room);
    if (stream->sent < stream->out.used)
        return copy_rest(stream, buffer, size);
    /* Not after a reload that took the right away, nor when the certificate has expired. */
    if (!identity_has_role(gate_refresh(stream->call)))
        return MHD_CONTENT_READER_END_OF_STREAM;
    bool more = render_some(stream);
    if (stream->out.failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (stream->out.used == 0 && !more) {
        if (!stream->follow || stream->call->http->quiescing)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (!stream->pulse) {
            writer_release(&stream->out);
            stream->waiting = true;
            MHD_suspend_connection(stream->call->connection);
            return 0;
        }
        writer_text(&stream->out, ": keep-alive\n\n");
    }
    stream->pulse = false;
    return stream->out.failed ? MHD_CONTENT_READER_END_WITH_ERROR : copy_rest(stream, buffer, size);
}

struct MHD_Response *stream_response(struct stream *stream)
{
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, on_room, stream, NULL);
}
