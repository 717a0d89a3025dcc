/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/http/response.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

#define BLOCK_SIZE 4096

struct response_stream {
    struct responses *responses;
    struct MHD_Connection *connection;
    struct body body;
    size_t end;       /* as far as it goes; before the body's: then the connection breaks off */
    int64_t every_ms; /* between one byte and the next; 0: as fast as they go */
    bool due;         /* the next byte may go */
    bool abandoned;
    bool waiting;
    uv_timer_t timer; /* only with every_ms */
    LIST_ENTRY(response_stream) link;
};

static void resume(struct response_stream *stream)
{
    LIST_REMOVE(stream, link);
    stream->waiting = false;
    uv_timer_stop(&stream->timer);
    MHD_resume_connection(stream->connection);
}

static void on_due(uv_timer_t *timer)
{
    struct response_stream *stream = timer->data;
    stream->due = true;
    resume(stream);
    stream->responses->wake(stream->responses->server);
}

static void suspend(struct response_stream *stream)
{
    struct responses *responses = stream->responses;
    LIST_INSERT_HEAD(&responses->waiting, stream, link);
    stream->waiting = true;
    uv_update_time(responses->loop);
    uv_timer_start(&stream->timer, on_due, (uint64_t)stream->every_ms, 0);
    MHD_suspend_connection(stream->connection);
}

static ssize_t read_stream(void *cls, uint64_t position, char *buffer, size_t room)
{
    struct response_stream *stream = cls;
    size_t size;
    if (stream->abandoned || (position >= stream->end && stream->end < stream->body.length))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (position >= stream->body.length)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (stream->every_ms > 0 && !stream->due) {
        suspend(stream);
        return 0;
    }
    stream->due = false;
    size = stream->every_ms > 0 ? 1 : stream->end - (size_t)position;
    if (size > room)
        size = room;
    memcpy(buffer, stream->body.bytes + position, size);
    return (ssize_t)size;
}

static void free_now(struct response_stream *stream)
{
    free(stream->body.bytes);
    free(stream);
}

static void on_timer_closed(uv_handle_t *handle)
{
    free_now(handle->data);
}

/* libmicrohttpd is done with it. */
static void free_stream(void *cls)
{
    struct response_stream *stream = cls;
    assert(!stream->waiting);
    if (stream->every_ms > 0)
        uv_close((uv_handle_t *)&stream->timer, on_timer_closed);
    else
        free_now(stream);
}

static struct MHD_Response *create_stream(struct responses *responses,
                                          struct MHD_Connection *connection,
                                          const struct body *body, const struct fault *fault)
{
    struct response_stream *stream = memory_zeroed(sizeof *stream);
    uint64_t announced = fault->chunked ? MHD_SIZE_UNKNOWN : body->length;
    *stream = (struct response_stream){.responses = responses,
                                       .connection = connection,
                                       .body = *body,
                                       .end = fault->truncate ? body->length / 2 : body->length,
                                       .every_ms = fault->byte_every_ms};
    if (stream->every_ms > 0) {
        uv_timer_init(responses->loop, &stream->timer);
        stream->timer.data = stream;
    }
    struct MHD_Response *response =
        MHD_create_response_from_callback(announced, BLOCK_SIZE, read_stream, stream, free_stream);
    if (!response) {
        stream->body = (struct body){0}; /* still the caller's */
        free_stream(stream);
    }
    return response;
}

/* The fault's headers; true when Content-Type is among them. */
static bool add_headers(struct MHD_Response *response, json_t *headers)
{
    bool typed = false;
    const char *name;
    json_t *value;
    json_object_foreach(headers, name, value)
    {
        MHD_add_response_header(response, name, json_string_value(value));
        typed = typed || strcasecmp(name, MHD_HTTP_HEADER_CONTENT_TYPE) == 0;
    }
    return typed;
}

enum MHD_Result response_send(struct responses *responses, struct MHD_Connection *connection,
                              const struct answer *answer, struct body *body,
                              const struct fault *fault, const char *challenge)
{
    bool has_body = body->length > 0;
    bool bent = has_body && (fault->truncate || fault->chunked || fault->byte_every_ms > 0);
    struct MHD_Response *response =
        bent ? create_stream(responses, connection, body, fault)
             : MHD_create_response_from_buffer(body->length, body->bytes, MHD_RESPMEM_MUST_FREE);
    enum MHD_Result result;
    if (!response)
        return MHD_NO;
    *body = (struct body){0};
    if (!add_headers(response, fault->headers) && has_body)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    if (answer->allow)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, answer->allow);
    if (answer->challenge)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, challenge);
    if (answer->no_store)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    result = MHD_queue_response(connection, (unsigned)answer->status, response);
    MHD_destroy_response(response);
    return result;
}

void responses_abandon(struct responses *responses)
{
    struct response_stream *stream;
    while ((stream = LIST_FIRST(&responses->waiting))) {
        stream->abandoned = true;
        resume(stream);
    }
}
