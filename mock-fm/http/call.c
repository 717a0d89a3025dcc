/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/http/call.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/memory.h"
#include "mock-fm/http/oauth.h"

/* ---- answers: whole, or as a fault says: half of it, byte by byte, without a length ---- */

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

static void resume_stream(struct response_stream *stream)
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
    resume_stream(stream);
    stream->responses->wake(stream->responses->server);
}

static void suspend_stream(struct response_stream *stream)
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
        suspend_stream(stream);
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

static void on_stream_timer_closed(uv_handle_t *handle)
{
    free_now(handle->data);
}

/* libmicrohttpd is done with it. */
static void free_stream(void *cls)
{
    struct response_stream *stream = cls;
    assert(!stream->waiting);
    if (stream->every_ms > 0)
        uv_close((uv_handle_t *)&stream->timer, on_stream_timer_closed);
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

static enum MHD_Result response_send(struct responses *responses, struct MHD_Connection *connection,
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

static void responses_abandon(struct responses *responses)
{
    struct response_stream *stream;
    while ((stream = LIST_FIRST(&responses->waiting))) {
        stream->abandoned = true;
        resume_stream(stream);
    }
}

/* ---- calls ---- */

enum phase {
    READING,           /* the body is coming in */
    WAITING_TO_ACT,    /* suspended */
    WAITING_TO_ANSWER, /* suspended; what was asked for is done */
    READY,             /* the answer can leave */
};

struct call {
    struct calls *calls;
    struct MHD_Connection *connection;
    enum phase phase;
    struct {
        char *bytes;
        size_t length, room;
        bool too_long;
    } upload;
    struct request request; /* its strings are the connection's */
    struct fault fault;
    struct answer answer;
    struct body body;
    bool logged;
    bool dropped;
    uint64_t log_number;
    uv_timer_t timer;
    bool timer_open;       /* libuv still holds the timer */
    bool completed;        /* libmicrohttpd is done with the call */
    LIST_ENTRY(call) link; /* while suspended */
};

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void call_destroy(struct call *call)
{
    fault_release(&call->fault);
    answer_release(&call->answer);
    free(call->body.bytes);
    if (call->upload.bytes) /* it may hold a client's secret */
        explicit_bzero(call->upload.bytes, call->upload.length);
    free(call->upload.bytes);
    free(call);
}

static uint64_t query_number(struct MHD_Connection *connection, const char *name)
{
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
    return text ? strtoull(text, NULL, 10) : 0;
}

static struct call *call_create(struct calls *calls, struct MHD_Connection *connection,
                                const char *method, const char *path)
{
    const char *since = control_owns(path) ? "since" : "after";
    struct call *call = memory_zeroed(sizeof *call);
    call->calls = calls;
    call->connection = connection;
    call->request =
        (struct request){.method = method,
                         .path = path,
                         .authorization = MHD_lookup_connection_value(
                             connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION),
                         .page_size = query_number(connection, "pageSize"),
                         .after = query_number(connection, since)};
    return call;
}

/* Keeps the body up to the limit; the rest is read and ignored. */
static void append_body(struct call *call, const char *bytes, size_t size)
{
    size_t needed = call->upload.length + size;
    if (call->upload.too_long || needed > CALL_BODY_MAX) {
        call->upload.too_long = true;
        return;
    }
    if (needed > call->upload.room) {
        size_t room = needed * 2;
        char *grown = memory_zeroed(room);
        if (call->upload.bytes) { /* not realloc, which may leave a secret behind */
            memcpy(grown, call->upload.bytes, call->upload.length);
            explicit_bzero(call->upload.bytes, call->upload.length);
        }
        free(call->upload.bytes);
        call->upload.bytes = grown;
        call->upload.room = room;
    }
    memcpy(call->upload.bytes + call->upload.length, bytes, size);
    call->upload.length = needed;
}

static void log_request(struct call *call)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(call->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    uint64_t *connection = info->socket_context;
    struct requestlog *log = call->calls->control->log;
    if (*connection == 0)
        *connection = requestlog_connection(log);
    call->log_number =
        requestlog_begin(log, *connection, call->request.method, call->request.path,
                         auth_shows_session(call->request.authorization), call->request.now_us);
    call->logged = true;
}

/* Does what is asked for, as far as the fault lets it, and prepares the answer. */
static void carry_out(struct call *call)
{
    call->request.now_us = now_us();
    if (call->upload.too_long) {
        struct problem problem;
        problem_set(&problem, 413, "the body is longer than %u bytes", CALL_BODY_MAX);
        answer_problem(&call->answer, &problem);
    } else if (control_owns(call->request.path)) {
        control_answer(call->calls->control, &call->request, &call->answer);
    } else if (!fault_lets_act(&call->fault)) {
        /* Nothing is done; the fault says what is answered. */
    } else if (oauth_owns(call->request.path)) {
        oauth_answer(call->calls->control->fabric->auth, &call->request, &call->answer);
    } else {
        fabric_answer(call->calls->control->fabric, &call->request, &call->answer);
    }
    fault_bend_answer(&call->fault, call->request.method, &call->answer);
    answer_render(&call->answer, &call->body);
    fault_bend_body(&call->fault, &call->body);
    call->dropped = call->fault.drop != FAULT_DROP_NONE;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct call *call = handle->data;
    call->timer_open = false;
    if (call->completed)
        call_destroy(call);
}

static void resume(struct call *call)
{
    LIST_REMOVE(call, link);
    call->phase = READY;
    uv_close((uv_handle_t *)&call->timer, on_timer_closed);
    MHD_resume_connection(call->connection);
}

static uint64_t answer_delay_ms(const struct call *call)
{
    return call->calls->latency_ms + (uint64_t)call->fault.delay_ms;
}

static void on_timer(uv_timer_t *timer)
{
    struct call *call = timer->data;
    if (call->phase == WAITING_TO_ACT) {
        carry_out(call);
        call->phase = WAITING_TO_ANSWER;
        if (answer_delay_ms(call) > 0) {
            uv_timer_start(timer, on_timer, answer_delay_ms(call), 0);
            return;
        }
    }
    resume(call);
    call->calls->responses.wake(call->calls->responses.server);
}

static void suspend(struct call *call, enum phase phase, uint64_t delay_ms)
{
    struct calls *calls = call->calls;
    call->phase = phase;
    LIST_INSERT_HEAD(&calls->waiting, call, link);
    uv_timer_init(calls->responses.loop, &call->timer);
    call->timer.data = call;
    call->timer_open = true;
    /* libuv counts from its idea of now, which is as old as this round of the loop. */
    uv_update_time(calls->responses.loop);
    uv_timer_start(&call->timer, on_timer, delay_ms, 0);
    MHD_suspend_connection(call->connection);
}

static enum MHD_Result finish(struct call *call)
{
    if (call->logged)
        requestlog_finish(call->calls->control->log, call->log_number,
                          call->dropped ? REQUESTLOG_DROPPED : call->answer.status);
    /* MHD_NO closes the connection without an answer, which is what a drop is. */
    if (call->dropped)
        return MHD_NO;
    return response_send(&call->calls->responses, call->connection, &call->answer, &call->body,
                         &call->fault, auth_words(call->calls->control->fabric->auth)->challenge);
}

/* The whole request is here. */
static enum MHD_Result start(struct call *call)
{
    const struct control *control = call->calls->control;
    struct request *request = &call->request;
    request->body = call->upload.bytes;
    request->body_length = call->upload.length;
    request->now_us = now_us();
    if (control_owns(request->path)) {
        carry_out(call);
        return finish(call);
    }
    log_request(call);
    call->fault = faults_pick(control->faults, request, auth_shows_session(request->authorization));
    fault_bend_request(&call->fault, request);
    uint64_t act_after = (uint64_t)call->fault.act_after_ms;
    if (act_after == 0)
        carry_out(call);
    if (act_after == 0 && answer_delay_ms(call) == 0)
        return finish(call);
    suspend(call, act_after ? WAITING_TO_ACT : WAITING_TO_ANSWER,
            act_after ? act_after : answer_delay_ms(call));
    return MHD_YES;
}

enum MHD_Result call_on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_size, void **context)
{
    struct call *call = *context;
    (void)version;
    if (!call) {
        *context = call_create(cls, connection, method, url);
        return MHD_YES;
    }
    if (*upload_size > 0) {
        append_body(call, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    if (call->phase == READING)
        return start(call);
    assert(call->phase == READY);
    return finish(call);
}

void call_on_completed(void *cls, struct MHD_Connection *connection, void **context,
                       enum MHD_RequestTerminationCode why)
{
    struct call *call = *context;
    (void)cls;
    (void)connection;
    (void)why;
    if (!call)
        return;
    *context = NULL;
    call->completed = true;
    if (!call->timer_open)
        call_destroy(call);
}

/* Each connection carries its number in the request log, once it has one. */
void call_on_connection(void *cls, struct MHD_Connection *connection, void **context,
                        enum MHD_ConnectionNotificationCode what)
{
    (void)cls;
    (void)connection;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *context = memory_zeroed(sizeof(uint64_t));
    } else {
        free(*context);
        *context = NULL;
    }
}

void calls_abandon(struct calls *calls)
{
    struct call *call;
    while ((call = LIST_FIRST(&calls->waiting))) {
        call->dropped = true;
        resume(call);
    }
    responses_abandon(&calls->responses);
}
