/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"

#include "broker/http/auth/gate.h"
#include "broker/http/request/head.h"
#include "broker/http/metrics/metrics.h"
#include "broker/http/listen/httpworker.h"
#include "base/memory.h"
#include "core/reservation/reservation.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SPARE_CALLS = 256,        /* kept for reuse, with their small buffers (G5) */
    SMALL_BYTES = 16384,      /* larger buffers are not kept, and those of bodies are counted */
    BODY_FIRST = 1024,        /* first size of a body's buffer */
    BODIES_MAX = 64 << 20,    /* of all large ones together */
    UNREAD_MAX = 1 << 20,     /* of a body that is not used: read to keep the connection */
    UNREAD_ENDLESS = 64 << 20 /* of one that came without its length: after that, cut off */
};

const char CALL_JSON[] = "application/json";
static const char problem_json[] = "application/problem+json";

uint64_t call_ticket(const struct call *call)
{
    return (uint64_t)(uintptr_t)call;
}

/* ---- its body and head ---- */

/* What a buffer of this size counts for among the large ones: small ones come to no more than
 * their connections do. */
static size_t body_weight(size_t size)
{
    return size > SMALL_BYTES ? size : 0;
}

static int body_append(struct call *call, const char *data, size_t length)
{
    struct http *http = call->http;
    const size_t others = http->body_bytes - body_weight(call->body_size);
    size_t size = call->body_size ? call->body_size : BODY_FIRST;
    while (size < call->body_used + length)
        size *= 2;
    if (body_weight(size) > BODIES_MAX - others)
        return problem_set(&call->problem, 503, "busy", NULL,
                           "too many long bodies are being received; try again");
    char *grown = size > call->body_size ? realloc(call->body, size) : call->body;
    if (!grown)
        return problem_set(&call->problem, 503, "out-of-memory", NULL,
                           "there is no memory for a body of this length; try again");
    call->body = grown;
    call->body_size = size;
    http->body_bytes = others + body_weight(size);
    memcpy(call->body + call->body_used, data, length);
    call->body_used += length;
    return 0;
}

/* A large body is freed as soon as it is not needed any more. */
static void body_drop(struct call *call)
{
    if (!body_weight(call->body_size))
        return;
    call->http->body_bytes -= call->body_size;
    free(call->body);
    call->body = NULL;
    call->body_size = 0;
}

const char *call_header(struct call *call, const char *name)
{
    return head_value(call->connection, name, &call->trimmed);
}

const json_t *call_json(struct call *call)
{
    assert(!call->json && call->phase == CALL_DECIDING);
    return call->json = body_read(call->body, call->body_used, &call->problem);
}

/* ---- life ---- */

static struct call *call_create(struct http *http)
{
    struct call *call = LIST_FIRST(&http->spare_calls);
    if (!call)
        return memory_zeroed(sizeof *call);
    LIST_REMOVE(call, link);
    http->spare_count--;
    *call = (struct call){.body = call->body, .body_size = call->body_size, .out = call->out};
    return call;
}

void call_destroy(struct call *call)
{
    writer_release(&call->out);
    free(call->body);
    free(call);
}

void *call_target(void *arg, const char *uri, struct MHD_Connection *connection)
{
    struct listener *listener = arg;
    struct http *http = listener->http;
    struct peer *peer =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    if (!peer)
        return NULL;
    struct call *call = call_create(http);
    uri = uri ? uri : ""; /* a request line without a target */
    call->uri = memory_text(uri);
    call->http = http;
    call->connection = connection;
    call->peer = peer;
    /* 0.9.75 would take the query apart, too, and hang when its memory does not hold all
     * parameters; what it is about to cut there is cut shorter: it finds none. */
    char *query = strchr(uri, '?');
    if (query && query[1] && !mhd_checks_lines(MHD_get_version()))
        query[1] = '\0';
    LIST_INSERT_HEAD(&http->calls, call, link);
    return call;
}

void call_completed(void *arg, struct MHD_Connection *connection, void **context,
                    enum MHD_RequestTerminationCode code)
{
    struct http *http = ((struct listener *)arg)->http;
    struct call *call = *context;
    (void)connection;
    (void)code;
    *context = NULL;
    if (!call)
        return;
    /* A suspended connection is never closed by MHD, so the engine knows no ticket of this call. */
    assert(call->phase != CALL_DECIDING && call->phase != CALL_PROVING);
    LIST_REMOVE(call, link);
    stream_destroy(call->stream);
    metrics_text_drop(call->metrics_text);
    free(call->origin);
    free(call->token);
    head_value_drop(&call->trimmed);
    body_drop(call);
    peer_request(call->peer, PEER_OVER);
    if (call->owed && --http->owed == 0 && http->quiescing)
        http_settled(http);
    free(call->uri);
    writer_wipe(&call->out); /* it may hold a token */
    if (http->spare_count == SPARE_CALLS || call->out.size > SMALL_BYTES) {
        call_destroy(call);
        return;
    }
    LIST_INSERT_HEAD(&http->spare_calls, call, link);
    http->spare_count++;
}

/* ---- answering ---- */

static struct MHD_Response *response_create(struct call *call)
{
    if (call->stream && !call->head) /* MHD would send a HEAD the end of its chunks */
        return stream_response(call->stream);
    const char *text = call->document ? call->document : call->out.data;
    return MHD_create_response_from_buffer(call->document ? call->document_length : call->out.used,
                                           (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
}

/* How a refused client can authenticate (RFC 9110, 11.6.1). */
static const char *challenge(const struct call *call)
{
    if (call->route && call->route->need == NEED_PLUGIN)
        return "Basic realm=\"mcastd\"";
    if (call->route && call->route->need == NEED_BEARER)
        return "Bearer realm=\"mcastd\"";
    return call->http->config->munge_socket[0] != '\0' ? "Munge realm=\"mcastd\""
                                                       : "UnixPeer realm=\"mcastd\"";
}

static void headers_add(const struct call *call, struct MHD_Response *response)
{
    char seconds[16];
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, call->type);
    if (call->secret || call->stream)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    bool shed = call->status >= 400 && (call->peer->surplus || call->http->quiescing);
    if (call->last || shed)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (call->status < 400)
        return;
    if (call->allow[0])
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, call->allow);
    if (call->status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, challenge(call));
    if (call->problem.retry_after) {
        snprintf(seconds, sizeof seconds, "%u", call->problem.retry_after);
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
    }
}

void call_render_problem(struct call *call)
{
    call->secret = false;
    call->document = NULL;
    stream_destroy(call->stream);
    call->stream = NULL;
    writer_wipe(&call->out);
    call->status = call->problem.status;
    call->type = problem_json;
    if (call->peer->listener->front && !(call->route && call->route->both))
        problem_write_fm(&call->problem, &call->out);
    else
        problem_write(&call->problem, &call->out);
}

/* libfabric writes beyond its buffer when a body ends where that does. */
static void avoid_length(struct writer *out)
{
    enum { BUFFER = 4096 };
    if (out->used > 0 && out->used % BUFFER == 0)
        writer_text(out, " ");
}

/* Queues what is in out. If that fails, MHD closes the connection when it goes on. */
static void send_answer(struct call *call)
{
    assert(call->phase == CALL_DECIDING);
    call->phase = CALL_SENT;
    peer_request(call->peer, PEER_ANSWERING);
    body_drop(call);
    int64_t took_us = call->stream ? -1 : (int64_t)((uv_hrtime() - call->begun_ns) / 1000);
    if (call->out.failed) {
        problem_set(&call->problem, 503, "out-of-memory", NULL,
                    "out of memory for the answer; try again");
        call_render_problem(call);
    }
    if (call->peer->listener->front)
        avoid_length(&call->out);
    struct MHD_Response *response = memory_must(response_create(call));
    traffic_answered(&call->http->traffic, call->route, call->status, took_us);
    headers_add(call, response);
    (void)MHD_queue_response(call->connection, (unsigned)call->status, response);
    MHD_destroy_response(response);
    if (call->suspended)
        httpworker_resume(call->peer->worker, call->connection);
}

int call_reply(struct call *call, int status, const char *type)
{
    call->status = status;
    call->type = type;
    send_answer(call);
    return 0;
}

int call_reply_saved(struct call *call, int status, const char *type)
{
    call->status = status;
    call->type = type;
    engine_after_saved(call->http->engine, call_ticket(call));
    return 0;
}

void call_show(struct call *call, const struct reservation *reservation)
{
    call->unsaved |= engine_unsaved(call->http->engine, reservation->number);
}

int call_reply_shown(struct call *call, int status, const char *type)
{
    return call->unsaved ? call_reply_saved(call, status, type) : call_reply(call, status, type);
}

void call_refuse(struct call *call)
{
    call_render_problem(call);
    send_answer(call);
}

void call_render(void *http, const struct answer *answer)
{
    struct call *call = (struct call *)(uintptr_t)answer->ticket;
    (void)http;
    call->status = answer->status ? answer->status : answer_status(answer->kind);
    call->type = CALL_JSON;
    if (call->status < 400) {
        call->route->render(call, answer);
        return;
    }
    problem_set(&call->problem, call->status, answer_word(answer->kind), answer->field, "%s",
                answer->detail ? answer->detail : answer_word(answer->kind));
    call_render_problem(call);
}

static void render_unsaved(struct call *call, int code, const char *words)
{
    if (!words)
        words = error_word(code);
    if (code == ERROR_REFUSED)
        problem_set(&call->problem, call->peer->listener->front ? 409 : 503, "stopping", NULL, "%s",
                    words);
    else if (code == ERROR_NOT_LEADER)
        (void)gate_refuse_role(call);
    else if (call->route->changes)
        problem_set(&call->problem, 503, "storage", NULL,
                    "it could not be saved: %s; it may be saved later, so repeat the request",
                    words);
    else
        problem_set(&call->problem, 503, "storage", NULL,
                    "what is to be shown is not saved yet: %s; try again", words);
    if (code != ERROR_NOT_LEADER)
        call->problem.retry_after = GATE_RETRY_STORAGE;
    call_render_problem(call);
}

void call_answered(void *http, uint64_t ticket, int code, const char *words)
{
    struct call *call = (struct call *)(uintptr_t)ticket;
    (void)http;
    if (code != 0)
        render_unsaved(call, code, words);
    else if (call->durable_seq > call->http->durable_seq)
        call->http->durable_seq = call->durable_seq;
    if (call->durable)
        call->durable(call, code);
    else
        send_answer(call);
}

/* ---- reading ---- */

static uint64_t announced(struct call *call)
{
    const char *text = call_header(call, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t length = 0;
    return !text ? 0 : target_number(text, UINT64_MAX, &length) ? length : UINT64_MAX;
}

static int too_large(struct call *call)
{
    size_t max = call->route ? call->route->body_max : 0;
    return problem_set(&call->problem, 413, "too-large", NULL,
                       "the body is longer than the %zu bytes that this call takes", max);
}

static size_t body_limit(const struct call *call)
{
    return call->refused || !call->route->body_max ? UNREAD_MAX : call->route->body_max;
}

/* The broker works for it: its answer is owed. */
static void begin_phase(struct call *call, enum call_phase phase)
{
    call->phase = phase;
    peer_request(call->peer, PEER_DECIDING);
    call->http->owed += !call->owed;
    call->owed = true;
}

/* It has been judged. Whether to answer now, without the body; MHD then closes the connection, so a
 * short body is rather read over. */
static bool need_no_body(struct call *call)
{
    if (announced(call) > body_limit(call)) {
        call->refused = call->refused || too_large(call) < 0;
        return true;
    }
    return call->refused && call_header(call, MHD_HTTP_HEADER_EXPECT);
}

/* The headers are here. As need_no_body. */
static bool judge_head(struct call *call, const struct head *head)
{
    call->phase = CALL_READING;
    peer_request(call->peer, PEER_RECEIVING);
    call->begun_ns = uv_hrtime();
    call->head = !strcmp(head->method, "HEAD");
    if (head_check(call->connection, head, &call->problem) < 0) {
        call->last = call->refused = true;
        return true;
    }
    /* libmicrohttpd takes a bare LF for the end of a chunk: others may see it end elsewhere. */
    call->last = call_header(call, MHD_HTTP_HEADER_TRANSFER_ENCODING);
    int judged = gate_judge(call, head->method);
    if (judged == GATE_LATER) {
        begin_phase(call, CALL_PROVING);
        MHD_suspend_connection(call->connection);
        return false;
    }
    call->refused = judged < 0;
    return need_no_body(call);
}

/* The credential is decoded: as judge_head, for MHD comes to the request again. */
static bool continue_proved(struct call *call)
{
    call->phase = CALL_READING;
    peer_request(call->peer, PEER_RECEIVING);
    call->refused = gate_admit(call) < 0;
    return need_no_body(call);
}

void call_proved(struct call *call)
{
    call->phase = CALL_PROVED; /* from now on the server may close it */
    httpworker_resume(call->peer->worker, call->connection);
}

static enum MHD_Result take_body(struct call *call, const char *data, size_t *taken)
{
    const size_t size = *taken;
    *taken = 0;
    if (!call->refused && size > body_limit(call) - call->body_used)
        call->refused = too_large(call) < 0;
    if (call->refused || !call->route->body_max) {
        call->body_dropped += size;
        body_drop(call);
        /* Without a length nothing else ends it, and MHD cannot answer in the middle. */
        return call->body_dropped > UNREAD_ENDLESS ? MHD_NO : MHD_YES;
    }
    call->refused = body_append(call, data, size) < 0;
    if (call->refused)
        body_drop(call);
    return MHD_YES;
}

static void call_handler(struct call *call)
{
    const char *before = turn_enter(engine_turn(call->http->engine), call->route->pattern);
    const int rc = call->route->handle(call);
    turn_leave(engine_turn(call->http->engine), before);
    json_decref(call->json);
    call->json = NULL;
    if (rc < 0)
        call_refuse(call);
}

/* Suspended until its answer is sent, unless that is now. */
static void decide(struct call *call)
{
    begin_phase(call, CALL_DECIDING);
    if (call->refused || gate_judge_again(call) < 0)
        call_refuse(call);
    else
        call_handler(call);
    if (call->phase == CALL_SENT)
        return;
    call->suspended = true;
    MHD_suspend_connection(call->connection);
}

enum MHD_Result call_access(void *arg, struct MHD_Connection *connection, const char *url,
                            const char *method, const char *version, const char *data, size_t *size,
                            void **context)
{
    struct call *call = *context;
    (void)arg;
    (void)connection;
    if (!call || call->peer->closing)
        return MHD_NO; /* its connection was refused, or is being closed */
    const struct head head = {
        .method = method, .target = url, .version = version, .uri = call->uri};
    bool ready = call->phase == CALL_READING;
    if (call->phase == CALL_NEW)
        ready = judge_head(call, &head);
    else if (call->phase == CALL_PROVED)
        ready = continue_proved(call);
    else if (*size)
        return take_body(call, data, size);
    if (ready)
        decide(call);
    return MHD_YES;
}
