/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/exchange.h"

#include "base/memory.h"
#include "fmapi/wire/tlsfault.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

enum {
    READ_SIZE = 4096, /* libcurl reads some hundred of these at a time (G11) */
    CA_KEPT_S = 1,    /* connections opened at once read the authorities once; a changed file counts
                         for the next one; libcurl's default is a day */
};

void exchange_ca(struct transport_options *options, const char *ca)
{
    struct stat status;
    options->ca = ca;
    options->ca_directory = ca && stat(ca, &status) == 0 && S_ISDIR(status.st_mode);
}

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
    struct exchange *exchange = arg;
    size_t length = size * count;
    exchange->too_long = length > exchange->max - exchange->length;
    if (exchange->too_long || length == 0)
        return 0;
    exchange->body = memory_room_wiped(exchange->body, exchange->length, &exchange->capacity,
                                       exchange->length + length);
    memcpy(exchange->body + exchange->length, bytes, length);
    exchange->length += length;
    return length;
}

/* Called when a connection is ready, TLS included, before the request is written. From here on the
 * request may have left. Called again when a kept connection ended without an answer and libcurl
 * would repeat the request, which only the caller may do: the effect of the first one is unknown
 * (F21). */
/* NOLINTNEXTLINE(readability-non-const-parameter): the type is libcurl's */
static int on_sending(void *arg, char *ip, char *local_ip, int port, int local_port)
{
    struct exchange *exchange = arg;
    (void)ip;
    (void)local_ip;
    (void)port;
    (void)local_port;
    if (exchange->may_send && !exchange->may_send(exchange->may_send_arg))
        return CURL_PREREQFUNC_ABORT;
    exchange->unanswered = exchange->sent && !exchange->repeatable;
    exchange->sent = true;
    return exchange->unanswered ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* What a broker that is cut off has written must not arrive after its lease (B7). */
static int on_socket(void *arg, curl_socket_t socket, curlsocktype purpose)
{
    const struct exchange *exchange = arg;
    (void)purpose;
    (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &exchange->unacknowledged_ms,
                     sizeof exchange->unacknowledged_ms);
    return CURL_SOCKOPT_OK;
}

static void add_header(struct exchange *exchange, const char *line)
{
    exchange->headers = memory_must(curl_slist_append(exchange->headers, line));
}

/* What may fail is the memory for it (base/memory.h), or a libcurl that was built without it. */
static void require(CURLcode code)
{
    if (code != CURLE_OK) {
        (void)fprintf(stderr,
                      "libcurl cannot be used: %s: stopping; unless memory is short, install "
                      "libcurl " LIBCURL_VERSION " or later, built with OpenSSL\n",
                      curl_easy_strerror(code));
        abort();
    }
}

#define SET(option, value) require(curl_easy_setopt(easy, (option), (value)))

static void set_request(struct exchange *exchange, const struct request *request)
{
    CURL *easy = exchange->easy;
    char type[80];
    add_header(exchange, "Accept: application/json");
    /* Without this a body waits up to 1 s for a server's "100 Continue". */
    add_header(exchange, "Expect:");
    if (request->body) {
        (void)snprintf(type, sizeof type, "Content-Type: %s", request->body_type);
        add_header(exchange, type);
        SET(CURLOPT_POSTFIELDS, request->body);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(request->body));
    }
    SET(CURLOPT_URL, request->url);
    SET(CURLOPT_CUSTOMREQUEST, request->method);
    SET(CURLOPT_USERAGENT, "mcastd/" MCAST_VERSION);
}

static void set_confinement(CURL *easy)
{
    static const struct {
        CURLoption option;
        long value;
    } numbers[] = {
        {CURLOPT_PATH_AS_IS, 1},
        /* Over HTTP/2 all calls would share one connection, and end with it. */
        {CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1},
        {CURLOPT_FOLLOWLOCATION, 0},
        {CURLOPT_NOSIGNAL, 1},
        {CURLOPT_QUICK_EXIT, 1}, /* a timeout does not wait for a resolver's thread */
        {CURLOPT_TCP_KEEPALIVE, 1},
        {CURLOPT_BUFFERSIZE, READ_SIZE},
        {CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
        {CURLOPT_CA_CACHE_TIMEOUT, CA_KEPT_S},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        SET(numbers[i].option, numbers[i].value);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NOPROXY, "*");
}

static CURLcode on_tls(CURL *easy, void *context, void *authorities)
{
    (void)easy;
    SSL_CTX_set1_cert_store(context, authorities);
    return CURLE_OK;
}

static void set_tls(struct exchange *exchange, const struct transport_options *options)
{
    CURL *easy = exchange->easy;
    const bool directory = options->ca_directory;
    SET(CURLOPT_SSL_VERIFYPEER, options->verify ? 1L : 0L);
    SET(CURLOPT_SSL_VERIFYHOST, options->verify ? 2L : 0L);
    if (options->authorities) {
        (void)X509_STORE_up_ref(options->authorities);
        exchange->authorities = options->authorities;
        /* Without a file: else it would be read all the same. */
        SET(CURLOPT_SSL_CTX_DATA, exchange->authorities);
        SET(CURLOPT_SSL_CTX_FUNCTION, on_tls);
    }
    /* One of the two and not the system's besides: other authorities must not be trusted, and
     * reading the system's directory takes 25 ms of the loop's time (G11). */
    if (options->authorities || options->ca) {
        SET(CURLOPT_CAINFO, options->authorities || directory ? NULL : options->ca);
        SET(CURLOPT_CAPATH, !options->authorities && directory ? options->ca : NULL);
    }
}

static void set_blob(CURL *easy, CURLoption option, struct secret text)
{
    /* libcurl's interface has no const; the blob is not copied, and not written to. */
    struct curl_blob blob = {.data = (void *)(uintptr_t)secret_expose(text),
                             .len = strlen(secret_expose(text)),
                             .flags = CURL_BLOB_NOCOPY};
    SET(option, &blob);
}

/* Not by CURLOPT_PASSWORD, whose copies cannot be wiped, and which is sent only after a 401. */
static void set_login(struct exchange *exchange, struct credential *credential)
{
    CURL *easy = exchange->easy;
    if (!credential)
        return;
    exchange->credential = credential_hold(credential);
    const struct secret header = credential->header;
    const struct clientcert *own = &credential->cert;
    if (!secret_none(header))
        add_header(exchange, secret_expose(header));
    if (secret_none(own->cert))
        return;
    set_blob(easy, CURLOPT_SSLCERT_BLOB, own->cert);
    SET(CURLOPT_SSLCERTTYPE, "PEM");
    set_blob(easy, CURLOPT_SSLKEY_BLOB, own->key);
    SET(CURLOPT_SSLKEYTYPE, "PEM");
}

static void set_course(struct exchange *exchange, CURLSH *share, int64_t timeout_ms)
{
    CURL *easy = exchange->easy;
    const long limit_ms = timeout_ms > 0 ? (long)timeout_ms : 1; /* 0 would mean for ever */
    SET(CURLOPT_HTTPHEADER, exchange->headers);
    SET(CURLOPT_PRIVATE, exchange);
    SET(CURLOPT_SHARE, share);
    SET(CURLOPT_TIMEOUT_MS, limit_ms);
    SET(CURLOPT_CONNECTTIMEOUT_MS, limit_ms);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, exchange);
    SET(CURLOPT_PREREQFUNCTION, on_sending);
    SET(CURLOPT_PREREQDATA, exchange);
    if (exchange->unacknowledged_ms > 0) {
        SET(CURLOPT_SOCKOPTFUNCTION, on_socket);
        SET(CURLOPT_SOCKOPTDATA, exchange);
    }
    SET(CURLOPT_ERRORBUFFER, exchange->curl_words);
}

struct exchange *exchange_create(const struct transport_options *options, CURLSH *share,
                                 const struct request *request, struct credential *credential,
                                 int64_t timeout_ms)
{
    struct exchange *exchange = memory_zeroed(sizeof *exchange);
    exchange->max = request->answer_max;
    exchange->repeatable = request->repeatable;
    exchange->bare = options->bare;
    exchange->may_send = options->may_send;
    exchange->may_send_arg = options->may_send_arg;
    exchange->unacknowledged_ms = (int)options->unacknowledged_ms;
    exchange->easy = memory_must(curl_easy_init());
    set_request(exchange, request);
    set_confinement(exchange->easy);
    set_tls(exchange, options);
    set_login(exchange, credential);
    set_course(exchange, share, timeout_ms);
    return exchange;
}

#undef SET

struct transport_answer exchange_perform(struct exchange *exchange)
{
    return exchange_answer(exchange, curl_easy_perform(exchange->easy));
}

void exchange_destroy(struct exchange *exchange)
{
    curl_easy_cleanup(exchange->easy);
    X509_STORE_free(exchange->authorities);
    for (struct curl_slist *line = exchange->headers; line; line = line->next)
        explicit_bzero(line->data, strlen(line->data));
    curl_slist_free_all(exchange->headers);
    credential_drop(exchange->credential);
    memory_wipe(exchange->body, exchange->length);
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

/* libcurl's text, and the next step when it is a fault of TLS. */
static void describe_cause(struct exchange *exchange, CURLcode code, char *out, size_t size)
{
    struct tlsfault fault = {.code = code, .words = exchange->curl_words};
    char cause[WORDS_MAX + 1];
    if (exchange->curl_words[0] == '\0')
        fault.words = curl_easy_strerror(code);
    if (exchange->unanswered)
        fault.words = "it ended without an answer";
    (void)curl_easy_getinfo(exchange->easy, CURLINFO_SSL_VERIFYRESULT, &fault.verdict);
    const struct credential *credential = exchange->credential;
    fault.shown = credential && !secret_none(credential->cert.cert);
    fault.session = credential && credential->session;
    const char *advice = tlsfault_advice(&fault);

    exchange->tls_fault = advice;
    printable_copy(cause, sizeof cause, fault.words, strlen(fault.words));
    bool advised = advice && advice[0] != '\0' && !exchange->bare;
    (void)snprintf(out, size, "%s%s%s", cause, advised ? "; " : "", advised ? advice : "");
}

static void describe_end(struct exchange *exchange, enum transport_end end, CURLcode code)
{
    char cause[ERROR_TEXT_SIZE], *words = exchange->words;
    const size_t size = sizeof exchange->words;
    describe_cause(exchange, code, cause, sizeof cause);
    if (end == TRANSPORT_TOO_LONG)
        (void)snprintf(words, size, "the answer is longer than %zu bytes", exchange->max);
    else if (end == TRANSPORT_TIMEOUT)
        (void)snprintf(words, size, "no whole answer in time");
    else
        (void)snprintf(words, size, "%s: %.280s",
                       end == TRANSPORT_BROKEN ? "the connection broke" : "cannot be reached",
                       cause);
}

/* Its seconds are whole: half of one is the best guess for the rest. */
int64_t exchange_skew_ms(const struct exchange *exchange)
{
    struct curl_header *date;
    struct timespec now;
    if (curl_easy_header(exchange->easy, "Date", 0, CURLH_HEADER, -1, &date) != CURLHE_OK)
        return INT64_MIN;
    time_t theirs = curl_getdate(date->value, NULL);
    if (theirs < 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
        return INT64_MIN;
    return ((int64_t)theirs - now.tv_sec) * 1000 + 500 - now.tv_nsec / 1000000;
}

struct transport_answer exchange_answer(struct exchange *exchange, CURLcode code)
{
    enum transport_end end = end_of(exchange, code);
    long status = 0;
    (void)curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    exchange->tls_fault = false;
    if (code != CURLE_OK)
        describe_end(exchange, end, code);
    return (struct transport_answer){
        .end = end,
        .status = (int)status,
        .body = end == TRANSPORT_ANSWERED ? exchange->body : NULL,
        .length = end == TRANSPORT_ANSWERED ? exchange->length : 0,
        .words = exchange->words,
        .tls_fault = exchange->tls_fault,
    };
}
