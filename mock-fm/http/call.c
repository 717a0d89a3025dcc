/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/http/call.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/memory.h"
#include "mock-fm/http/oauth.h"

#define BLOCK_SIZE 4096

enum phase {
    READING,           /* the body is coming in */
    WAITING_TO_ACT,    /* suspended */
    WAITING_TO_ANSWER, /* suspended; what was asked for is done */
    READY,             /* the answer can leave */
    WAITING_TO_GO_ON,  /* suspended between two bytes of the answer */
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
    json_t *fault;
    struct answer answer;
    struct body body;
    bool byte_due; /* when they go one by one: the next may go */
    bool dropped;
    uint64_t log_number; /* 0: not in the log */
    uv_timer_t timer;
    LIST_ENTRY(call) link; /* while suspended */
};

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
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
    uv_timer_init(calls->loop, &call->timer);
    call->timer.data = call;
    return call;
}

static void on_timer_closed(uv_handle_t *timer)
{
    struct call *call = timer->data;
    json_decref(call->fault);
    answer_release(&call->answer);
    free(call->body.bytes);
    memory_wipe(call->upload.bytes, call->upload.length); /* it may hold a client's secret */
    free(call);
}

/* Keeps the body up to the limit; the rest is read and ignored. */
static void append_body(struct call *call, const char *bytes, size_t size)
{
    size_t length = call->upload.length;
    if (call->upload.too_long || length + size > CALL_BODY_MAX) {
        call->upload.too_long = true;
        return;
    }
    call->upload.bytes =
        memory_room_wiped(call->upload.bytes, length, &call->upload.room, length + size);
    memcpy(call->upload.bytes + length, bytes, size);
    call->upload.length += size;
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
    } else if (!fault_lets_act(call->fault)) {
        /* Nothing is done; the fault says what is answered. */
    } else if (oauth_owns(call->request.path)) {
        oauth_answer(call->calls->control->fabric->auth, &call->request, &call->answer);
    } else {
        fabric_answer(call->calls->control->fabric, &call->request, &call->answer);
    }
    fault_bend_answer(call->fault, call->request.method, &call->answer);
    answer_render(&call->answer, &call->body);
    fault_bend_body(call->fault, &call->body);
    call->dropped = json_object_get(call->fault, "drop");
}

/* ---- waiting ---- */

static void resume(struct call *call)
{
    LIST_REMOVE(call, link);
    uv_timer_stop(&call->timer);
    call->byte_due = call->phase == WAITING_TO_GO_ON;
    call->phase = READY;
    MHD_resume_connection(call->connection);
}

static uint64_t answer_delay_ms(const struct call *call)
{
    return call->calls->latency_ms + (uint64_t)fault_number(call->fault, "delay_ms");
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
    call->calls->wake(call->calls);
}

static void suspend(struct call *call, enum phase phase, uint64_t delay_ms)
{
    struct calls *calls = call->calls;
    call->phase = phase;
    LIST_INSERT_HEAD(&calls->waiting, call, link);
    /* libuv counts from its idea of now, which is as old as this round of the loop. */
    uv_update_time(calls->loop);
    uv_timer_start(&call->timer, on_timer, delay_ms, 0);
    MHD_suspend_connection(call->connection);
}

/* ---- the answer: whole, or as a fault says: half of it, byte by byte, without a length ---- */

static ssize_t read_bent_body(void *cls, uint64_t position, char *buffer, size_t room)
{
    struct call *call = cls;
    const struct body *body = &call->body;
    size_t end = fault_flag(call->fault, "truncate") ? body->length / 2 : body->length;
    uint64_t every_ms = (uint64_t)fault_number(call->fault, "byte_every_ms");
    if (call->dropped || (position >= end && end < body->length))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (position >= end)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (every_ms > 0 && !call->byte_due) {
        suspend(call, WAITING_TO_GO_ON, every_ms);
        return 0;
    }
    call->byte_due = false;
    size_t size = every_ms > 0 ? 1 : end - (size_t)position;
    if (size > room)
        size = room;
    memcpy(buffer, body->bytes + position, size);
    return (ssize_t)size;
}

/* The body stays the call's. */
static struct MHD_Response *create_response(struct call *call)
{
    const struct body *body = &call->body;
    const json_t *fault = call->fault;
    bool chunked = fault_flag(fault, "chunked");
    bool bent =
        chunked || fault_flag(fault, "truncate") || fault_number(fault, "byte_every_ms") > 0;
    if (body->length > 0 && bent)
        return MHD_create_response_from_callback(chunked ? MHD_SIZE_UNKNOWN : body->length,
                                                 BLOCK_SIZE, read_bent_body, call, NULL);
    return MHD_create_response_from_buffer(body->length, body->bytes, MHD_RESPMEM_PERSISTENT);
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

static enum MHD_Result send_answer(struct call *call)
{
    const struct answer *answer = &call->answer;
    struct MHD_Response *response = create_response(call);
    if (!response)
        return MHD_NO;
    if (!add_headers(response, json_object_get(call->fault, "headers")) && call->body.length > 0)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    if (answer->allow)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, answer->allow);
    if (answer->challenge)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
                                call->calls->control->fabric->auth->words->challenge);
    if (answer->no_store)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    enum MHD_Result result =
        MHD_queue_response(call->connection, (unsigned)answer->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result finish(struct call *call)
{
    if (call->log_number)
        requestlog_finish(call->calls->control->log, call->log_number,
                          call->dropped ? REQUESTLOG_DROPPED : call->answer.status);
    /* MHD_NO closes the connection without an answer, which is what a drop is. */
    return call->dropped ? MHD_NO : send_answer(call);
}

/* ---- what libmicrohttpd calls ---- */

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
    fault_bend_request(call->fault, request);
    uint64_t act_after = (uint64_t)fault_number(call->fault, "act_after_ms");
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
    uv_close((uv_handle_t *)&call->timer, on_timer_closed);
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
}
