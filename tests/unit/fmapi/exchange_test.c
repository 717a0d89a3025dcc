/* SPDX-License-Identifier: Apache-2.0 */
/* What is set on libcurl's handle where no server can see it: curl_easy_setopt of fmapi/ is the one
 * here (the linker's --wrap). */

#include <openssl/x509_vfy.h>

#include "fmapi/wire/exchange.h"
#include "tests/unit/unit.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

/* NOLINTBEGIN(readability-identifier-naming): the linker chose the names. */

CURLcode __real_curl_easy_setopt(CURL *easy, CURLoption option, ...);
CURLcode __wrap_curl_easy_setopt(CURL *easy, CURLoption option, ...);

struct place {
    unsigned times;
    char path[32]; /* "" when cleared */
};

static const void *trusted;          /* the authorities that were given */
static struct place file, directory; /* where authorities are looked for, set last */
static long ca_kept_s;               /* how long they count */
static const void *posted;           /* body that stays ours */
static struct curl_blob cert, key;
static struct curl_slist *head;
/* What else matters; a number or a pointer, as it was set last, and how often. */
enum { OPTIONS = 16 };
static const CURLoption watched[OPTIONS] = {CURLOPT_FOLLOWLOCATION,
                                            CURLOPT_NOSIGNAL,
                                            CURLOPT_SSLVERSION,
                                            CURLOPT_SSL_VERIFYPEER,
                                            CURLOPT_SSL_VERIFYHOST,
                                            CURLOPT_PATH_AS_IS,
                                            CURLOPT_HTTP_VERSION,
                                            CURLOPT_TIMEOUT_MS,
                                            CURLOPT_PROTOCOLS_STR,
                                            CURLOPT_PROXY,
                                            CURLOPT_NOPROXY,
                                            CURLOPT_CUSTOMREQUEST,
                                            CURLOPT_URL,
                                            CURLOPT_WRITEFUNCTION,
                                            CURLOPT_PREREQFUNCTION,
                                            CURLOPT_CONNECTTIMEOUT_MS};
static struct {
    unsigned times;
    void *value;
} seen[OPTIONS];
static bool copies_a_secret; /* into memory of libcurl's, which does not wipe it */

static void note(struct place *place, const char *path)
{
    place->times++;
    (void)snprintf(place->path, sizeof place->path, "%s", path ? path : "");
}

/* Integers, pointers and functions all come as one word on the machines that we run on. */
CURLcode __wrap_curl_easy_setopt(CURL *easy, CURLoption option, ...)
{
    va_list args;
    va_start(args, option);
    void *value = va_arg(args, void *);
    va_end(args);
    for (int i = 0; i < OPTIONS; i++) {
        if (watched[i] == option) {
            seen[i].times++;
            seen[i].value = value;
        }
    }
    if (option == CURLOPT_CAINFO)
        note(&file, value);
    if (option == CURLOPT_CAPATH)
        note(&directory, value);
    if (option == CURLOPT_CA_CACHE_TIMEOUT)
        ca_kept_s = (long)(intptr_t)value;
    if (option == CURLOPT_POSTFIELDS)
        posted = value;
    if (option == CURLOPT_SSLCERT_BLOB)
        cert = *(struct curl_blob *)value;
    if (option == CURLOPT_SSLKEY_BLOB)
        key = *(struct curl_blob *)value;
    if (option == CURLOPT_HTTPHEADER)
        head = value;
    if (option == CURLOPT_SSL_CTX_DATA)
        trusted = value;
    copies_a_secret |= option == CURLOPT_COPYPOSTFIELDS || option == CURLOPT_PASSWORD ||
                       option == CURLOPT_USERPWD || option == CURLOPT_XOAUTH2_BEARER;
    return __real_curl_easy_setopt(easy, option, value);
}

/* NOLINTEND(readability-identifier-naming) */

static void create_trusting(X509_STORE *authorities, const char *ca, bool ca_directory)
{
    struct transport_options options = {.ca = ca,
                                        .ca_directory = ca_directory,
                                        .authorities = authorities,
                                        .verify = true,
                                        .parallel = 1};
    struct request request = {.method = "GET", .url = (char[]){"https://fmn/"}, .answer_max = 1};

    file = directory = (struct place){0};
    struct exchange *exchange = exchange_create(&options, NULL, &request, NULL, 1000);
    assert_non_null(exchange);
    exchange_destroy(exchange);
}

static void create(const char *ca, bool ca_directory)
{
    create_trusting(NULL, ca, ca_directory);
}

/* F13: who named an authority trusts that one, not the system's besides it. */
UNIT(exchange__trusts_the_named_authority_alone)
{
    create("/ca.pem", false);
    assert_string_equal(file.path, "/ca.pem");
    assert_int_equal(directory.times, 1);
    assert_string_equal(directory.path, "");

    create("/ca.d", true);
    assert_string_equal(directory.path, "/ca.d");
    assert_int_equal(file.times, 1);
    assert_string_equal(file.path, "");
}

UNIT(exchange__trusts_the_systems_when_none_is_named)
{
    create(NULL, false);
    assert_int_equal(file.times, 0);
    assert_int_equal(directory.times, 0);
}

/* G11: those that were read are not read again, by the loop. */
UNIT(exchange__trusts_what_was_read)
{
    X509_STORE *store = X509_STORE_new();
    create_trusting(store, "/ca.pem", false);
    assert_ptr_equal(trusted, store);
    assert_int_equal(file.times, 1);
    assert_string_equal(file.path, "");
    assert_string_equal(directory.path, "");
    X509_STORE_free(store);
}

/* A file that was changed counts soon, not after a day. */
UNIT(exchange__reads_authorities_again)
{
    ca_kept_s = -1;
    create("/ca.pem", false);
    assert_int_equal(ca_kept_s, 1);
}

/* F13: what libcurl is given stays ours, to be wiped. */
UNIT(exchange__gives_secrets_that_can_be_wiped)
{
    struct clientcert own = {.cert = secret_copy(secret_of("CERT")),
                             .key = secret_copy(secret_of("PRIVATE KEY"))};
    struct credential *credential = credential_bearer(secret_of("t0ken"), &own);
    struct transport_options options = {.verify = true, .parallel = 1};
    char body[] = "client_secret=s3cret";
    struct request request = {.method = "POST",
                              .url = (char[]){"https://fmn/"},
                              .body = body,
                              .body_type = "application/x-www-form-urlencoded",
                              .answer_max = 1};

    copies_a_secret = false;
    struct exchange *exchange = exchange_create(&options, NULL, &request, credential, 1000);
    assert_non_null(exchange);
    assert_ptr_equal(posted, body);
    assert_ptr_equal(cert.data, secret_expose(credential->cert.cert));
    assert_ptr_equal(key.data, secret_expose(credential->cert.key));
    assert_int_equal(key.len, strlen("PRIVATE KEY"));
    assert_true(cert.flags == CURL_BLOB_NOCOPY && key.flags == CURL_BLOB_NOCOPY);
    assert_false(copies_a_secret);

    bool bearer = false, type = false;
    for (const struct curl_slist *line = head; line; line = line->next) {
        bearer |= strcmp(line->data, "Authorization: Bearer t0ken") == 0;
        type |= strcmp(line->data, "Content-Type: application/x-www-form-urlencoded") == 0;
    }
    assert_true(bearer && type);
    credential_drop(credential); /* the exchange holds it */
    assert_memory_equal(key.data, "PRIVATE KEY", key.len);
    exchange_destroy(exchange);
}

/* ---- whether it may be sent ---- */

struct asked {
    in_port_t port;
    unsigned times;
    int unacknowledged_ms; /* of the socket that is connected to the port; 0: there is none */
};

static bool refuse_to_send(void *arg)
{
    enum { DESCRIPTORS = 64 };
    struct asked *asked = arg;
    asked->times++;
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        struct sockaddr_in peer;
        socklen_t size = sizeof peer;
        if (getpeername(fd, (struct sockaddr *)&peer, &size) < 0 || peer.sin_port != asked->port)
            continue;
        size = sizeof asked->unacknowledged_ms;
        (void)getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &asked->unacknowledged_ms, &size);
    }
    return false;
}

/* I10: it is asked when all but the request has happened, and then nothing is written. */
UNIT(exchange__that_may_not_be_sent_sends_nothing)
{
    struct asked asked = {0};
    const struct transport_options options = {.parallel = 1,
                                              .may_send = refuse_to_send,
                                              .may_send_arg = &asked,
                                              .unacknowledged_ms = 1234};
    char url[64], byte;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(address.sin_port));
    const struct request request = {.method = "GET", .url = url, .answer_max = 1};
    asked.port = address.sin_port;
    struct exchange *exchange = exchange_create(&options, NULL, &request, NULL, 20000);
    assert_int_equal(exchange_perform(exchange).end, TRANSPORT_UNREACHED);
    exchange_destroy(exchange);
    assert_int_equal(asked.times, 1);
    assert_int_equal(asked.unacknowledged_ms, 1234);
    const int fd = accept(listener, NULL, NULL);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, &byte, 1), 0);
    close(fd);
    close(listener);
}

/* ---- what is set ---- */

static void *value_of(CURLoption option)
{
    for (int i = 0; i < OPTIONS; i++) {
        if (watched[i] == option) {
            assert_true(seen[i].times > 0);
            return seen[i].value;
        }
    }
    fail_msg("option %d is not watched", (int)option);
    return NULL;
}

static long number_of(CURLoption option)
{
    return (long)(intptr_t)value_of(option);
}

static struct exchange *begin(bool verify, bool repeatable, size_t answer_max, int64_t timeout_ms)
{
    static char url[] = "https://fmn/a/../b";
    struct transport_options options = {.verify = verify, .parallel = 1};
    struct request request = {
        .method = "DELETE", .url = url, .repeatable = repeatable, .answer_max = answer_max};
    memset(seen, 0, sizeof seen);
    struct exchange *exchange = exchange_create(&options, NULL, &request, NULL, timeout_ms);
    assert_non_null(exchange);
    return exchange;
}

/* F13: to the fabric manager that was named, by HTTP over TLS 1.2 at least, and nowhere else. */
UNIT(exchange__goes_where_it_is_sent)
{
    for (int verify = 0; verify < 2; verify++) {
        struct exchange *exchange = begin(verify, false, 1, 1000);
        assert_int_equal(number_of(CURLOPT_SSL_VERIFYPEER), verify);
        assert_int_equal(number_of(CURLOPT_SSL_VERIFYHOST), verify ? 2 : 0);
        assert_int_equal(number_of(CURLOPT_SSLVERSION), CURL_SSLVERSION_TLSv1_2);
        assert_int_equal(number_of(CURLOPT_FOLLOWLOCATION), 0);
        assert_int_equal(number_of(CURLOPT_PATH_AS_IS), 1);
        assert_int_equal(number_of(CURLOPT_NOSIGNAL), 1);
        assert_int_equal(number_of(CURLOPT_HTTP_VERSION), CURL_HTTP_VERSION_1_1);
        assert_string_equal(value_of(CURLOPT_PROTOCOLS_STR), "http,https");
        assert_string_equal(value_of(CURLOPT_PROXY), "");
        assert_string_equal(value_of(CURLOPT_NOPROXY), "*");
        assert_string_equal(value_of(CURLOPT_CUSTOMREQUEST), "DELETE");
        assert_string_equal(value_of(CURLOPT_URL), "https://fmn/a/../b");
        exchange_destroy(exchange);
    }
}

/* F21: never for ever. */
UNIT(exchange__has_an_end)
{
    static const struct {
        int64_t asked;
        long set;
    } cases[] = {{1000000, 1000000}, {1, 1}, {0, 1}, {-5, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct exchange *exchange = begin(true, false, 1, cases[i].asked);
        assert_int_equal(number_of(CURLOPT_TIMEOUT_MS), cases[i].set);
        assert_int_equal(number_of(CURLOPT_CONNECTTIMEOUT_MS), cases[i].set);
        exchange_destroy(exchange);
    }
}

/* ---- what comes of it, as libcurl says ---- */

typedef size_t write_fn(char *bytes, size_t size, size_t count, void *arg);
typedef int sending_fn(void *arg, char *ip, char *local_ip, int port, int local_port);

static size_t answer_comes(struct exchange *exchange, const char *bytes, size_t size)
{
    write_fn *write = (write_fn *)(uintptr_t)value_of(CURLOPT_WRITEFUNCTION);
    return write((char *)(uintptr_t)bytes, 1, size, exchange);
}

static int is_sent(struct exchange *exchange)
{
    sending_fn *sending = (sending_fn *)(uintptr_t)value_of(CURLOPT_PREREQFUNCTION);
    return sending(exchange, NULL, NULL, 0, 0);
}

/* Up to the byte that is allowed, however it is cut in pieces. */
UNIT(answer__of_any_length)
{
    enum { MAX = 20000 };
    static char text[MAX + 1];
    static const size_t pieces[] = {1, 7, 4095, 4096, 4097, MAX};
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 26);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct exchange *exchange = begin(true, false, MAX, 1000);
        assert_int_equal(is_sent(exchange), CURL_PREREQFUNC_OK);
        assert_int_equal(answer_comes(exchange, text, 0), 0);
        for (size_t at = 0; at < MAX; at += pieces[i]) {
            size_t size = MAX - at < pieces[i] ? MAX - at : pieces[i];
            assert_int_equal(answer_comes(exchange, text + at, size), size);
        }
        struct transport_answer answer = exchange_answer(exchange, CURLE_OK);
        assert_int_equal(answer.end, TRANSPORT_ANSWERED);
        assert_int_equal(answer.length, MAX);
        assert_memory_equal(answer.body, text, MAX);
        assert_string_equal(answer.words, "");
        assert_false(answer.tls_fault);
        assert_int_equal(answer_comes(exchange, text, 1), 0); /* one too many ends it */
        answer = exchange_answer(exchange, CURLE_WRITE_ERROR);
        assert_int_equal(answer.end, TRANSPORT_TOO_LONG);
        assert_string_equal(answer.words, "the answer is longer than 20000 bytes");
        assert_null(answer.body);
        assert_int_equal(answer.length, 0);
        exchange_destroy(exchange);
    }
}

/* F21: what may have left is distinguished from what never did; what must not be repeated is not
 * sent again on a new connection. */
UNIT(answer__tells_what_may_have_left)
{
    static const struct {
        CURLcode code;
        int times; /* on_sending */
        bool repeatable;
        enum transport_end end;
        const char *words;
    } cases[] = {
        {CURLE_COULDNT_CONNECT, 0, false, TRANSPORT_UNREACHED, "cannot be reached: "},
        {CURLE_OPERATION_TIMEDOUT, 0, false, TRANSPORT_UNREACHED, "cannot be reached: "},
        {CURLE_OPERATION_TIMEDOUT, 1, false, TRANSPORT_TIMEOUT, "no whole answer in time"},
        {CURLE_RECV_ERROR, 1, false, TRANSPORT_BROKEN, "the connection broke: "},
        {CURLE_ABORTED_BY_CALLBACK, 2, false, TRANSPORT_BROKEN,
         "the connection broke: it ended without an answer"},
        {CURLE_RECV_ERROR, 2, true, TRANSPORT_BROKEN, "the connection broke: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct exchange *exchange = begin(true, cases[i].repeatable, 10, 1000);
        if (cases[i].times > 0)
            assert_int_equal(is_sent(exchange), CURL_PREREQFUNC_OK);
        if (cases[i].times > 1)
            assert_int_equal(is_sent(exchange),
                             cases[i].repeatable ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT);
        assert_int_equal(answer_comes(exchange, "half", 4), 4);
        struct transport_answer answer = exchange_answer(exchange, cases[i].code);
        assert_int_equal(answer.end, cases[i].end);
        assert_int_equal(strncmp(answer.words, cases[i].words, strlen(cases[i].words)), 0);
        assert_int_equal(strstr(answer.words, "without an answer") != NULL,
                         cases[i].times > 1 && !cases[i].repeatable);
        assert_int_equal(answer.status, 0);
        assert_null(answer.body); /* half an answer is none */
        assert_int_equal(answer.length, 0);
        exchange_destroy(exchange);
    }
}

/* Without a Date nothing is known of the other side's clock. */
UNIT(skew__is_unknown_without_a_date)
{
    struct exchange *exchange = begin(true, false, 10, 1000);
    assert_true(exchange_skew_ms(exchange) == INT64_MIN);
    exchange_destroy(exchange);
}

UNIT_RUN(NULL, NULL)
