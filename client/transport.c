#include "client/transport.h"
#include "client/fault.h"
#include "client/headers.h"
#include "client/problem.h"
#include "client/trouble.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct transport {
    struct endpoint endpoint;
    CURLM *multi; /* keeps the connection, and can be woken up, which a bare easy handle cannot */
    CURL *easy;
    int stop_fd;
    atomic_bool stopped;
    bool busy;
    unsigned timeout_ms;
    char words[CURL_ERROR_SIZE];
    struct credentials credentials;
    struct headers_note unproved;
    int64_t clock_ahead_ms;
    bool clock_known;
};

/* One request on its way. */
struct flight {
    struct transport *transport;
    struct answer *answer;
    transport_piece_fn *each; /* NULL: everything into the answer */
    const char *type;         /* of what may go to `each` */
    void *data;
    int64_t sent_ms;
    int ended; /* what `each` returned, once that was not 0 */
    int rc;    /* why the body was given up, 0 while it was not */
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static CURLcode curl_ready;

static void start_curl(void)
{
    curl_ready = curl_global_init(CURL_GLOBAL_DEFAULT);
}

int transport_create(struct transport **out, const struct endpoint *endpoint,
                     struct mcast_error *error)
{
    pthread_once(&curl_once, start_curl);
    struct transport *transport = calloc(1, sizeof(*transport));
    if (!transport)
        return fault_nomem(error);
    transport->endpoint = *endpoint;
    transport->timeout_ms = TRANSPORT_TIMEOUT_MS;
    transport->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (transport->stop_fd < 0) {
        fault_set(error, MCAST_NOMEM, "no descriptor to be had: %s", strerror(errno));
        free(transport);
        return MCAST_NOMEM;
    }
    if (curl_ready != CURLE_OK || !(transport->multi = curl_multi_init()) ||
        !(transport->easy = curl_easy_init())) {
        transport_destroy(transport);
        return fault_nomem(error);
    }
    *out = transport;
    return 0;
}

void transport_destroy(struct transport *transport)
{
    if (!transport)
        return;
    int saved = errno;
    curl_easy_cleanup(transport->easy);
    curl_multi_cleanup(transport->multi);
    close(transport->stop_fd);
    credentials_release(&transport->credentials);
    free(transport);
    errno = saved;
}

void transport_set_timeout(struct transport *transport, unsigned milliseconds)
{
    transport->timeout_ms = milliseconds;
}

const char *transport_peer(const struct transport *transport)
{
    return endpoint_name(&transport->endpoint);
}

struct credentials *transport_credentials(struct transport *transport)
{
    return &transport->credentials;
}

/* NULL where the kernel says who asks. */
static const struct credentials *credentials_of(const struct transport *transport)
{
    return transport->endpoint.socket[0] ? NULL : &transport->credentials;
}

const char *transport_unproved(const struct transport *transport)
{
    return transport->unproved.text;
}

bool transport_clock_ahead(const struct transport *transport, int64_t *ahead_ms)
{
    *ahead_ms = transport->clock_ahead_ms;
    return transport->clock_known;
}

void transport_stop(struct transport *transport)
{
    int saved = errno;
    atomic_store(&transport->stopped, true);
    uint64_t one = 1;
    /* Fails only when the counter is full, and then it is readable anyway. */
    ssize_t written = write(transport->stop_fd, &one, sizeof(one));
    (void)written;
    errno = saved;
}

static int stopped(struct mcast_error *error)
{
    return fault_set(error, MCAST_STOPPED, "the program asked libmcast to stop");
}

int transport_pause(struct transport *transport, unsigned milliseconds, struct mcast_error *error)
{
    struct pollfd stop = {.fd = transport->stop_fd, .events = POLLIN};
    poll(&stop, 1, (int)milliseconds); /* an interrupted pause is only a shorter one */
    return atomic_load(&transport->stopped) ? stopped(error) : 0;
}

static size_t on_body(char *bytes, size_t one, size_t length, void *data)
{
    (void)one;
    struct flight *flight = data;
    long status = 0;
    curl_easy_getinfo(flight->transport->easy, CURLINFO_RESPONSE_CODE, &status);
    if (flight->each && status == 200 && strcmp(flight->answer->type, flight->type) == 0) {
        flight->ended = flight->each(bytes, length, flight->data);
    } else if (flight->answer->body.length + length > TRANSPORT_ANSWER_MAX) {
        flight->rc = MCAST_UNCLEAR;
    } else if (!text_add(&flight->answer->body, bytes, length)) {
        flight->rc = MCAST_NOMEM;
    }
    return flight->rc == 0 && flight->ended == 0 ? length : 0;
}

/* The value of the header's line when it is the one named "name:", in lower case; else NULL. */
static const char *header_value(const char *line, size_t length, const char *name, size_t *rest)
{
    size_t from = strlen(name);
    if (length < from || strncasecmp(line, name, from) != 0)
        return NULL;
    while (from < length && (line[from] == ' ' || line[from] == '\t'))
        from++;
    *rest = length - from;
    return line + from;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The date was written some time between the request and now: half way is the best guess, and its
 * second was half over on average. */
static void take_date(struct flight *flight, const char *value, size_t length)
{
    char date[64];
    snprintf(date, sizeof(date), "%.*s", (int)length, value);
    time_t seconds = curl_getdate(date, NULL);
    if (seconds <= 0)
        return;
    int64_t half_way = flight->sent_ms + (now_ms() - flight->sent_ms) / 2;
    flight->transport->clock_ahead_ms = (int64_t)seconds * 1000 + 500 - half_way;
    flight->transport->clock_known = true;
}

/* The answer's type has to be known before the first piece of its body, hence not
 * CURLINFO_CONTENT_TYPE afterwards. */
static size_t on_header(char *bytes, size_t one, size_t length, void *data)
{
    (void)one;
    struct flight *flight = data;
    struct answer *answer = flight->answer;
    size_t rest = 0, used = 0;
    const char *value = header_value(bytes, length, "date:", &rest);
    if (value)
        take_date(flight, value, rest);
    value = header_value(bytes, length, "content-type:", &rest);
    if (!value)
        return length;
    while (rest > used && !strchr("; \t\r\n", value[used]) && used < sizeof(answer->type) - 1) {
        answer->type[used] = (char)tolower((unsigned char)value[used]);
        used++;
    }
    answer->type[used] = '\0';
    return length;
}

/* The server is verified whatever happens: there is no way to turn that off. */
static bool prepare_tls(struct transport *transport)
{
    CURL *easy = transport->easy;
    const struct credentials *own = &transport->credentials;
    struct stat status;
    bool ok = curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK;
    if (ok && own->cacert) {
        bool folder = stat(own->cacert, &status) == 0 && S_ISDIR(status.st_mode);
        ok = curl_easy_setopt(easy, CURLOPT_CAINFO, folder ? NULL : own->cacert) == CURLE_OK &&
             curl_easy_setopt(easy, CURLOPT_CAPATH, folder ? own->cacert : NULL) == CURLE_OK;
    }
    if (ok && own->cert)
        ok = curl_easy_setopt(easy, CURLOPT_SSLCERT, own->cert) == CURLE_OK &&
             curl_easy_setopt(easy, CURLOPT_SSLKEY, own->key) == CURLE_OK;
    return ok;
}

/* 0: none. */
static long time_limit(const struct flight *flight, const struct call *call)
{
    return flight->each ? 0L : (long)flight->transport->timeout_ms + (long)call->wait_ms;
}

static bool prepare(struct transport *transport, const struct call *call, const char *url,
                    struct curl_slist *headers, struct flight *flight, bool fresh)
{
    CURL *easy = transport->easy;
    curl_easy_reset(easy);
    bool ok = curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method) == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR,
                               transport->endpoint.tls ? "https" : "http") == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_USERAGENT, "libmcast/" MCAST_VERSION) == CURLE_OK;
    if (ok && transport->endpoint.socket[0])
        ok = curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, transport->endpoint.socket) ==
             CURLE_OK;
    if (ok && transport->endpoint.tls)
        ok = prepare_tls(transport);
    if (!ok)
        return false;
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L); /* ".." is a job id like any other */
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L); /* a stream may be silent for long */
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)TRANSPORT_CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, time_limit(flight, call));
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transport->words);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, flight);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, flight);
    if (call->body) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(call->body));
    }
    transport->words[0] = '\0';
    return true;
}

/* Runs the prepared request to its end. 0 with *result, or MCAST_STOPPED, MCAST_NOMEM. */
static int fly(struct transport *transport, CURLcode *result)
{
    struct curl_waitfd stop = {.fd = transport->stop_fd, .events = CURL_WAIT_POLLIN};
    int running = 1, left = 0, rc = 0;
    *result = CURLE_OK;
    if (curl_multi_add_handle(transport->multi, transport->easy) != CURLM_OK)
        return MCAST_NOMEM;
    for (;;) {
        if (curl_multi_perform(transport->multi, &running) != CURLM_OK)
            rc = MCAST_NOMEM;
        else if (atomic_load(&transport->stopped))
            rc = MCAST_STOPPED;
        if (rc != 0 || !running)
            break;
        curl_multi_poll(transport->multi, &stop, 1, 1000, NULL);
    }
    const CURLMsg *message;
    while ((message = curl_multi_info_read(transport->multi, &left))) {
        if (message->msg == CURLMSG_DONE)
            *result = message->data.result;
    }
    curl_multi_remove_handle(transport->multi, transport->easy);
    return rc;
}

static int conclude(struct flight *flight, int rc, CURLcode result, struct mcast_error *error)
{
    struct transport *transport = flight->transport;
    if (rc == MCAST_STOPPED)
        return stopped(error);
    if (rc == MCAST_NOMEM)
        return fault_nomem(error);
    if (flight->ended != 0)
        return flight->ended;
    if (flight->rc == MCAST_NOMEM)
        return fault_nomem(error);
    if (flight->rc != 0)
        return fault_set(error, MCAST_UNCLEAR, "the answer of mcastd at %s is longer than %d bytes",
                         transport_peer(transport), TRANSPORT_ANSWER_MAX);
    if (result != CURLE_OK) {
        struct trouble trouble = {&transport->endpoint, &transport->credentials,
                                  transport->easy,      result,
                                  transport->words,     transport->timeout_ms};
        return trouble_explain(&trouble, error);
    }
    long status = 0;
    curl_easy_getinfo(transport->easy, CURLINFO_RESPONSE_CODE, &status);
    flight->answer->status = (int)status;
    return 0;
}

/* One request with headers of its own, because a MUNGE credential is good for one. */
static int attempt(struct flight *flight, const struct call *call, const char *url, bool fresh,
                   CURLcode *result, struct mcast_error *error)
{
    struct transport *transport = flight->transport;
    struct curl_slist *headers = NULL;
    int rc = 0;
    *result = CURLE_OK;
    text_clear(&flight->answer->body);
    flight->answer->type[0] = '\0';
    if (transport->endpoint.tls)
        rc = credentials_check(&transport->credentials, error);
    if (rc == 0)
        rc = headers_make(&headers, call, credentials_of(transport), &transport->unproved, error);
    if (rc == 0 && !prepare(transport, call, url, headers, flight, fresh))
        rc = fault_nomem(error);
    if (rc == 0) {
        flight->sent_ms = now_ms();
        rc = fly(transport, result);
        rc = conclude(flight, rc, *result, error);
    }
    headers_free(headers);
    return rc;
}

/* The broker has seen the credential before: curl repeats a request by itself when a kept
 * connection turns out to be dead, and the broker may have read it all the same. Or it lay in a
 * queue for too long. A new one tells which. */
static bool stale(const struct answer *answer)
{
    return answer->status == 401 &&
           (problem_is(answer, "munge-replayed") || problem_is(answer, "munge-expired"));
}

/* Sends until there is an answer, or `attempts` connections broke. */
static int send_call(struct flight *flight, const struct call *call, int attempts,
                     struct mcast_error *error)
{
    struct transport *transport = flight->transport;
    struct text url = {0};
    const char *base = transport->endpoint.base;
    struct mcast_error why = {0};
    int rc = 0;
    CURLcode result = CURLE_OK;
    if (!text_add(&url, base, strlen(base)) || !text_add(&url, call->path, strlen(call->path)))
        rc = fault_nomem(&why);
    if (rc == 0 && !transport->endpoint.socket[0])
        rc = credentials_settle(&transport->credentials, &why);
    bool again = rc == 0;
    for (int sent = 1; again; sent++) {
        rc = attempt(flight, call, text_string(&url), trouble_broken(result), &result, &why);
        again = sent < attempts && trouble_broken(result);
        if (rc == 0 && sent == 1)
            again = stale(flight->answer);
    }
    if (rc < 0 && error)
        *error = why;
    text_release(&url);
    if (rc != 0)
        text_release(&flight->answer->body);
    return rc;
}

static int run(struct flight *flight, const struct call *call, int attempts,
               struct mcast_error *error)
{
    struct transport *transport = flight->transport;
    *flight->answer = (struct answer){0};
    if (transport->busy)
        return fault_set(error, MCAST_USAGE,
                         "a callback must not use the handle that calls it; open another one");
    if (atomic_load(&transport->stopped))
        return stopped(error);
    transport->busy = true;
    int rc = send_call(flight, call, attempts, error);
    transport->busy = false;
    return rc;
}

int transport_call(struct transport *transport, const struct call *call, struct answer *answer,
                   struct mcast_error *error)
{
    struct flight flight = {.transport = transport, .answer = answer};
    return run(&flight, call, 2, error);
}

int transport_stream(struct transport *transport, const struct call *call, transport_piece_fn *each,
                     void *data, struct answer *answer, struct mcast_error *error)
{
    struct flight flight = {
        .transport = transport, .answer = answer, .each = each, .type = call->accept, .data = data};
    return run(&flight, call, 1, error);
}
