/* SPDX-License-Identifier: Apache-2.0 */
#include "state/etcd/gateway.h"

#include "base/memory.h"
#include "base/text.h"
#include "state/plainjson.h"
#include "state/worker.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOGIN_ANSWER_MAX = 64 * 1024,
    WORDS_MAX = ERROR_TEXT_SIZE / 2, /* from outside, in a sentence */
    HTTP_OK = 200,
    HTTP_UNAUTHORIZED = 401,
    RPC_UNAUTHENTICATED = 16, /* grpc's number, as those in refusals */
};

/* ---- one request ---- */

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
    struct gateway *gateway = arg;
    const size_t length = size * count;
    assert(gateway->length <= gateway->max);
    if (length > gateway->max - gateway->length)
        return CURL_WRITEFUNC_ERROR;
    gateway->answer = memory_room_wiped(gateway->answer, gateway->length, &gateway->capacity,
                                        gateway->length + length);
    memcpy(gateway->answer + gateway->length, bytes, length);
    gateway->length += length;
    return length;
}

/* What may fail is the memory for it, or a libcurl that was built without it. */
#define SET(option, value)                                                                         \
    (curl_easy_setopt(gateway->easy, (option), (value)) == CURLE_OK ? (void)0 : abort())

static void set_up(struct gateway *gateway)
{
    assert(!gateway->easy);
    const struct gateway_access *access = gateway->access;
    gateway->easy = memory_must(curl_easy_init());
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_QUICK_EXIT, 1L);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NOPROXY, "*");
    SET(CURLOPT_USERAGENT, "mcastd/" MCAST_VERSION);
    SET(CURLOPT_ERRORBUFFER, gateway->words);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, gateway);
    if (access->ca) { /* and not the system's authorities besides */
        SET(CURLOPT_CAINFO, access->ca);
        SET(CURLOPT_CAPATH, NULL);
    }
    if (access->cert) {
        SET(CURLOPT_SSLCERT, access->cert);
        SET(CURLOPT_SSLKEY, access->key);
    }
}

static struct curl_slist *headers_of(const struct gateway *gateway, bool login)
{
    struct curl_slist *headers = NULL;
    static const char *const fixed[] = {"Content-Type: application/json", "Expect:"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        headers = memory_must(curl_slist_append(headers, fixed[i]));
    if (login || secret_none(gateway->token))
        return headers;
    char *line = memory_format("Authorization: %s", secret_expose(gateway->token));
    headers = memory_must(curl_slist_append(headers, line));
    memory_wipe_text(line);
    return headers;
}

static void free_headers(struct curl_slist *headers)
{
    for (struct curl_slist *line = headers; line; line = line->next)
        explicit_bzero(line->data, strlen(line->data));
    curl_slist_free_all(headers);
}

static CURLcode perform(struct gateway *gateway, const struct gateway_request *request, bool login)
{
    assert(request->timeout_ms > 0 && request->answer_max > 0);
    char *url = memory_format("%s%s", gateway->access->endpoints[gateway->at], request->path);
    struct curl_slist *headers = headers_of(gateway, login);
    gateway->length = 0;
    gateway->max = request->answer_max;
    gateway->words[0] = '\0';
    SET(CURLOPT_URL, url);
    SET(CURLOPT_HTTPHEADER, headers);
    SET(CURLOPT_POSTFIELDS, request->body);
    SET(CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)request->timeout_ms);
    const CURLcode code = curl_easy_perform(gateway->easy);
    SET(CURLOPT_HTTPHEADER, NULL);
    SET(CURLOPT_POSTFIELDS, NULL);
    free_headers(headers);
    free(url);
    return code;
}

/* ---- its answer ---- */

/* What etcd says when it has not done it. Other errors do not tell: a member that lost its leader,
 * a deadline that passed on the way. */
static const struct refusal {
    int rpc;
    const char *words; /* NULL: any */
    enum gateway_end end;
} refusals[] = {
    {3, "too large", GATEWAY_TOO_LARGE},
    {3, "too many operations", GATEWAY_TOO_LARGE},
    {3, "auth store is old", GATEWAY_UNKNOWN}, /* of a JWT, for good: another login is needed */
    {3, NULL, GATEWAY_REFUSED},                /* an argument */
    {5, NULL, GATEWAY_NOT_FOUND},
    {7, NULL, GATEWAY_REFUSED}, /* no permission */
    {8, "space exceeded", GATEWAY_NO_SPACE},
    {8, "larger than max", GATEWAY_TOO_LARGE},
    {9, "already exists", GATEWAY_EXISTS},
    {9, NULL, GATEWAY_REFUSED},
    {11, "compacted", GATEWAY_COMPACTED},
    {11, NULL, GATEWAY_REFUSED},
    {RPC_UNAUTHENTICATED, NULL, GATEWAY_REFUSED},
};

static enum gateway_end end_of(json_int_t rpc, const char *words)
{
    assert(words);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].rpc == rpc && (!refusals[i].words || strstr(words, refusals[i].words)))
            return refusals[i].end;
    return GATEWAY_UNKNOWN;
}

/* {"error":"words","code":N}, or as a stream's {"error":{"message":"words","grpc_code":N}}; of etcd
 * 3.6 {"message":"words","code":N}, or that as "error". */
static bool read_error(json_t *body, json_int_t *rpc, const char **words)
{
    assert(json_is_object(body));
    const json_t *error = json_object_get(body, "error"), *code;
    const json_t *told = json_is_object(error) ? error : body;
    if (!error && !json_object_get(body, "message"))
        return false;
    code = json_object_get(told, "grpc_code");
    *rpc = json_integer_value(code ? code : json_object_get(told, "code"));
    *words = json_string_value(json_is_string(error) ? error : json_object_get(told, "message"));
    if (!*words)
        *words = "an error without words";
    return true;
}

static void read_answer(struct gateway *gateway, long status, struct gateway_reply *reply)
{
    assert(!reply->body);
    assert(reply->asked);
    const char *words;
    json_int_t rpc;
    json_t *body = plainjson_load(gateway->length > 0 ? gateway->answer : "", gateway->length);
    if (!body) {
        (void)error_set(&reply->error, ERROR_IO,
                        "%s answers with HTTP status %ld and no JSON object: check that it is the "
                        "client URL of an etcd of version 3.4 or newer",
                        reply->asked, status);
    } else if (read_error(body, &rpc, &words)) {
        reply->end = end_of(rpc, words);
        (void)error_set(&reply->error, ERROR_IO, "%s answers: %.*s", reply->asked, WORDS_MAX,
                        words);
    } else if (status != HTTP_OK) {
        (void)error_set(&reply->error, ERROR_IO, "%s answers with HTTP status %ld", reply->asked,
                        status);
    } else {
        reply->end = GATEWAY_ANSWERED;
        reply->body = json_incref(body);
    }
    json_decref(body);
}

/* True: etcd does not know the login. */
static bool ask(struct gateway *gateway, const struct gateway_request *request, bool login,
                struct gateway_reply *reply)
{
    assert(gateway->at < gateway->access->count);
    long status = 0;
    *reply = (struct gateway_reply){.end = GATEWAY_UNKNOWN, .sent_ms = worker_now_us() / 1000};
    reply->asked = gateway->access->endpoints[gateway->at];
    const CURLcode code = perform(gateway, request, login);
    (void)curl_easy_getinfo(gateway->easy, CURLINFO_RESPONSE_CODE, &status);
    reply->too_long = code == CURLE_WRITE_ERROR;
    if (code == CURLE_OK)
        read_answer(gateway, status, reply);
    else
        (void)error_set(&reply->error, ERROR_IO, "no answer from %s: %.*s", reply->asked, WORDS_MAX,
                        reply->too_long             ? "its answer is too long"
                        : gateway->words[0] != '\0' ? gateway->words
                                                    : curl_easy_strerror(code));
    text_make_printable(reply->error.text);
    if (login && gateway->length > 0)
        explicit_bzero(gateway->answer, gateway->length);
    return code == CURLE_OK && status == HTTP_UNAUTHORIZED;
}

/* ---- logging in ---- */

/* jansson frees without wiping. */
static void wipe_member(json_t *object, const char *name)
{
    assert(name);
    const json_t *text = json_object_get(object, name);
    if (json_is_string(text))
        explicit_bzero((char *)(uintptr_t)json_string_value(text), json_string_length(text));
}

/* False: reply says why not. */
static bool log_in(struct gateway *gateway, int64_t timeout_ms, struct gateway_reply *reply)
{
    assert(timeout_ms > 0);
    const struct gateway_access *access = gateway->access;
    if (!access->user || !secret_none(gateway->token))
        return true;
    json_t *login = memory_must(
        json_pack("{s:s,s:s}", "name", access->user, "password", secret_expose(access->password)));
    char *body = memory_must(json_dumps(login, JSON_COMPACT));
    wipe_member(login, "password");
    json_decref(login);
    const struct gateway_request request = {.path = "/v3/auth/authenticate",
                                            .body = body,
                                            .answer_max = LOGIN_ANSWER_MAX,
                                            .timeout_ms = timeout_ms};
    (void)ask(gateway, &request, true, reply);
    memory_wipe_text(body);
    if (reply->end == GATEWAY_ANSWERED) {
        const char *token = json_string_value(json_object_get(reply->body, "token"));
        if (token && token[0] != '\0' && !strpbrk(token, "\r\n"))
            gateway->token = secret_copy(secret_of(token));
        else
            (void)error_set(&reply->error, ERROR_IO, "%s gives no token", reply->asked);
        wipe_member(reply->body, "token");
        json_decref(reply->body);
        reply->body = NULL;
    }
    /* Of the question itself nothing was sent. Which member refused is no reason not to ask another
     * one: they may disagree while the password is being changed. */
    reply->end = GATEWAY_UNKNOWN;
    if (secret_none(gateway->token))
        (void)error_prefix(&reply->error, "cannot log in to etcd as %s", access->user);
    return !secret_none(gateway->token);
}

struct gateway_reply gateway_post(struct gateway *gateway, const struct gateway_request *request)
{
    struct gateway_reply reply;
    assert(gateway->access && gateway->at < gateway->access->count);
    const bool had_token = !secret_none(gateway->token);
    if (log_in(gateway, request->timeout_ms, &reply) && ask(gateway, request, false, &reply) &&
        had_token) {
        secret_wipe(&gateway->token); /* tokens end with the member that gave them, or by time */
        if (log_in(gateway, request->timeout_ms, &reply))
            (void)ask(gateway, request, false, &reply);
    }
    if (reply.end == GATEWAY_UNKNOWN) {
        /* A token that the member cannot verify yet makes it wait. */
        secret_wipe(&gateway->token);
        gateway->at = (gateway->at + 1) % gateway->access->count;
    }
    assert((reply.end == GATEWAY_ANSWERED) == (reply.body != NULL));
    return reply;
}

/* ---- its life ---- */

void gateway_release(struct gateway *gateway)
{
    curl_easy_cleanup(gateway->easy);
    secret_wipe(&gateway->token);
    memory_wipe(gateway->answer, gateway->capacity);
    *gateway = (struct gateway){0};
}

void gateway_use(struct gateway *gateway, struct gateway_access *access)
{
    assert(access->count > 0);
    if (gateway->access == access)
        return;
    gateway_release(gateway);
    gateway->access = access;
    set_up(gateway);
}
