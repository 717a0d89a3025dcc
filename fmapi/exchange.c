#include "fmapi/exchange.h"

#include "fmapi/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_FIRST = 4096 };

/* Grown by hand: realloc would leave a copy of the token behind. */
static bool grow(struct exchange *exchange, size_t need)
{
    size_t capacity = exchange->capacity > 0 ? exchange->capacity : BODY_FIRST;
    while (capacity < need)
        capacity *= 2;
    if (capacity == exchange->capacity)
        return true;
    char *body = malloc(capacity);
    if (body == NULL)
        return false;
    if (exchange->body != NULL) {
        memcpy(body, exchange->body, exchange->length);
        explicit_bzero(exchange->body, exchange->length);
        free(exchange->body);
    }
    exchange->body = body;
    exchange->capacity = capacity;
    return true;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
    struct exchange *exchange = arg;
    size_t length = size * count;

    if (length > exchange->max - exchange->length) {
        exchange->too_long = true;
        return 0;
    }
    if (length > 0 && !grow(exchange, exchange->length + length)) {
        exchange->no_memory = true;
        return 0;
    }
    if (length > 0)
        memcpy(exchange->body + exchange->length, bytes, length);
    exchange->length += length;
    return length;
}

/* Called when a connection stands, TLS included, right before the request is written; again for
 * each fresh connection. From here on nobody can say that the request did not leave. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's */
static int on_sending(void *arg, char *ip, char *local_ip, int port, int local_port)
{
    struct exchange *exchange = arg;
    (void)ip;
    (void)local_ip;
    (void)port;
    (void)local_port;
    exchange->sent = true;
    return CURL_PREREQFUNC_OK;
}

static bool add_header(struct exchange *exchange, const char *line)
{
    struct curl_slist *headers = curl_slist_append(exchange->headers, line);
    if (headers != NULL)
        exchange->headers = headers;
    return headers != NULL;
}

#define SET(option, value) (curl_easy_setopt(easy, (option), (value)) == CURLE_OK)

static bool set_request(struct exchange *exchange, const struct request *request)
{
    CURL *easy = exchange->easy;

    /* Without "Expect:" a body waits up to 1 s for a server's "100 Continue". */
    if (!add_header(exchange, "Accept: application/json") || !add_header(exchange, "Expect:"))
        return false;
    if (request->body != NULL && (!add_header(exchange, "Content-Type: application/json") ||
                                  !SET(CURLOPT_COPYPOSTFIELDS, request->body)))
        return false;
    return SET(CURLOPT_URL, request->url) && SET(CURLOPT_CUSTOMREQUEST, request->method) &&
           SET(CURLOPT_HTTPHEADER, exchange->headers) && SET(CURLOPT_PATH_AS_IS, 1L) &&
           SET(CURLOPT_USERAGENT, "mcastd/" MCAST_VERSION);
}

static bool set_confinement(CURL *easy)
{
    return SET(CURLOPT_PROTOCOLS_STR, "http,https") && SET(CURLOPT_FOLLOWLOCATION, 0L) &&
           SET(CURLOPT_PROXY, "") && SET(CURLOPT_NOPROXY, "*") && SET(CURLOPT_NOSIGNAL, 1L) &&
           SET(CURLOPT_QUICK_EXIT, 1L); /* a timeout does not wait for a resolver's thread */
}

static bool set_tls(CURL *easy, const struct transport_options *options)
{
    if (!SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) ||
        !SET(CURLOPT_SSL_VERIFYPEER, options->verify ? 1L : 0L) ||
        !SET(CURLOPT_SSL_VERIFYHOST, options->verify ? 2L : 0L))
        return false;
    if (options->ca == NULL)
        return true;
    /* One of the two and not the system's besides it: another authority's word must not count, and
     * walking the system's directory costs 25 ms of the loop's time (quality.md). */
    bool directory = options->ca_directory;
    return SET(CURLOPT_CAINFO, directory ? NULL : options->ca) &&
           SET(CURLOPT_CAPATH, directory ? options->ca : NULL);
}

static bool set_login(CURL *easy, const struct credential *credential)
{
    if (credential == NULL || credential->user == NULL)
        return true;
    /* Basic alone, so that it is sent at once and not after a 401. */
    return SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC) && SET(CURLOPT_USERNAME, credential->user) &&
           SET(CURLOPT_PASSWORD, credential->password);
}

static bool set_course(struct exchange *exchange, CURLSH *share)
{
    CURL *easy = exchange->easy;

    return SET(CURLOPT_PRIVATE, exchange) && SET(CURLOPT_SHARE, share) &&
           SET(CURLOPT_TIMEOUT_MS, (long)exchange->timeout_ms) &&
           SET(CURLOPT_CONNECTTIMEOUT_MS, (long)exchange->timeout_ms) &&
           SET(CURLOPT_TCP_KEEPALIVE, 1L) && SET(CURLOPT_WRITEFUNCTION, on_body) &&
           SET(CURLOPT_WRITEDATA, exchange) && SET(CURLOPT_PREREQFUNCTION, on_sending) &&
           SET(CURLOPT_PREREQDATA, exchange) && SET(CURLOPT_ERRORBUFFER, exchange->curl_words);
}

struct exchange *exchange_create(const struct transport_options *options, CURLSH *share,
                                 const struct request *request, const struct credential *credential,
                                 int64_t timeout_ms)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);

    if (exchange == NULL)
        return NULL;
    exchange->max = request->answer_max;
    exchange->timeout_ms = timeout_ms > 0 ? timeout_ms : 1; /* 0 would mean for ever */
    exchange->started_ns = uv_hrtime();
    exchange->easy = curl_easy_init();
    if (exchange->easy == NULL || !set_request(exchange, request) ||
        !set_confinement(exchange->easy) || !set_tls(exchange->easy, options) ||
        !set_login(exchange->easy, credential) || !set_course(exchange, share)) {
        exchange_destroy(exchange);
        return NULL;
    }
    return exchange;
}

#undef SET

void exchange_destroy(struct exchange *exchange)
{
    if (exchange == NULL)
        return;
    curl_easy_cleanup(exchange->easy);
    curl_slist_free_all(exchange->headers);
    if (exchange->body != NULL)
        explicit_bzero(exchange->body, exchange->length);
    free(exchange->body);
    free(exchange);
}

static enum transport_end end_of(const struct exchange *exchange, CURLcode code)
{
    if (code == CURLE_OK)
        return TRANSPORT_ANSWERED;
    if (exchange->too_long)
        return TRANSPORT_TOO_LONG;
    if (!exchange->sent)
        return TRANSPORT_UNREACHED;
    return code == CURLE_OPERATION_TIMEDOUT ? TRANSPORT_TIMEOUT : TRANSPORT_BROKEN;
}

static void say(struct exchange *exchange, enum transport_end end, CURLcode code)
{
    const char *curl =
        exchange->curl_words[0] != '\0' ? exchange->curl_words : curl_easy_strerror(code);
    const char *hint = code == CURLE_PEER_FAILED_VERIFICATION
                           ? "; if the server is the right one, name its authority's CA file"
                           : "";
    char cause[WORDS_MAX + 1];
    words_clean(cause, sizeof cause, exchange->no_memory ? "memory is exhausted" : curl,
                exchange->no_memory ? strlen("memory is exhausted") : strlen(curl));

    switch (end) {
    case TRANSPORT_TOO_LONG:
        (void)snprintf(exchange->words, sizeof exchange->words,
                       "the answer is longer than %zu bytes", exchange->max);
        break;
    case TRANSPORT_TIMEOUT:
        (void)snprintf(exchange->words, sizeof exchange->words, "no whole answer in time");
        break;
    case TRANSPORT_BROKEN:
        (void)snprintf(exchange->words, sizeof exchange->words, "the connection broke: %s", cause);
        break;
    case TRANSPORT_UNREACHED:
        (void)snprintf(exchange->words, sizeof exchange->words, "cannot be reached: %s%s", cause,
                       hint);
        break;
    case TRANSPORT_ANSWERED:
    case TRANSPORT_CANCELLED:
        exchange->words[0] = '\0';
    }
}

struct transport_answer exchange_answer(struct exchange *exchange, CURLcode code)
{
    enum transport_end end = end_of(exchange, code);
    long status = 0;

    (void)curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    say(exchange, end, code);
    return (struct transport_answer){
        .end = end,
        .status = (int)status,
        .body = end == TRANSPORT_ANSWERED ? exchange->body : NULL,
        .length = end == TRANSPORT_ANSWERED ? exchange->length : 0,
        .words = exchange->words,
        .took_us = (int64_t)((uv_hrtime() - exchange->started_ns) / 1000),
    };
}
