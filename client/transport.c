#include "client/transport.h"
#include "client/fault.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
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
};

/* One request on its way. */
struct flight {
    struct transport *transport;
    struct answer *answer;
    transport_piece_fn *each; /* NULL: everything into the answer */
    const char *type;         /* of what may go to `each` */
    void *data;
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

bool transport_broken(CURLcode code)
{
    return code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
           code == CURLE_PARTIAL_FILE;
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

/* The answer's type has to be known before the first piece of its body, hence not
 * CURLINFO_CONTENT_TYPE afterwards. */
static size_t on_header(char *bytes, size_t one, size_t length, void *data)
{
    (void)one;
    static const char name[] = "content-type:";
    struct answer *answer = ((struct flight *)data)->answer;
    if (length < sizeof(name) - 1 || strncasecmp(bytes, name, sizeof(name) - 1) != 0)
        return length;
    size_t from = sizeof(name) - 1;
    while (from < length && (bytes[from] == ' ' || bytes[from] == '\t'))
        from++;
    size_t used = 0;
    while (from < length && !strchr("; \t\r\n", bytes[from]) && used < sizeof(answer->type) - 1)
        answer->type[used++] = (char)tolower((unsigned char)bytes[from++]);
    answer->type[used] = '\0';
    return length;
}

static struct curl_slist *headers_of(const struct call *call)
{
    char accept[96], last[64];
    struct curl_slist *list = NULL, *longer = NULL;
    snprintf(accept, sizeof(accept), "Accept: %s",
             call->accept ? call->accept : "application/json");
    snprintf(last, sizeof(last), "Last-Event-ID: %llu", (unsigned long long)call->last_event_id);
    /* "Expect:" keeps curl from asking for leave before it sends a large body. */
    const char *wanted[] = {accept, "Expect:", call->body ? "Content-Type: application/json" : NULL,
                            call->last_event_id > 0 ? last : NULL};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (!wanted[i])
            continue;
        if (!(longer = curl_slist_append(list, wanted[i]))) {
            curl_slist_free_all(list);
            return NULL;
        }
        list = longer;
    }
    return list;
}

static bool prepare(struct transport *transport, const struct call *call, const char *url,
                    struct curl_slist *headers, struct flight *flight, bool fresh)
{
    CURL *easy = transport->easy;
    curl_easy_reset(easy);
    bool ok = curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method) == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http") == CURLE_OK &&
              curl_easy_setopt(easy, CURLOPT_USERAGENT, "libmcast/" MCAST_VERSION) == CURLE_OK;
    if (ok && transport->endpoint.socket[0])
        ok = curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, transport->endpoint.socket) ==
             CURLE_OK;
    if (!ok)
        return false;
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L); /* ".." is a job id like any other */
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L); /* a stream may be silent for long */
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)TRANSPORT_CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, flight->each ? 0L : (long)transport->timeout_ms);
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

/* What a failed request comes to, in the system's own words where it has some. */
static int explain(struct transport *transport, CURLcode result, struct mcast_error *error)
{
    const char *peer = transport_peer(transport);
    long os_error = 0;
    curl_easy_getinfo(transport->easy, CURLINFO_OS_ERRNO, &os_error);
    const char *words = transport->words[0] ? transport->words : curl_easy_strerror(result);
    double connect = 0;
    curl_easy_getinfo(transport->easy, CURLINFO_PRETRANSFER_TIME, &connect);
    if (result == CURLE_OUT_OF_MEMORY)
        return fault_nomem(error);
    if (result == CURLE_OPERATION_TIMEDOUT && connect > 0)
        return fault_set_word(error, MCAST_UNREACHABLE, "timeout",
                              "mcastd at %s did not answer within %u ms; what was asked may still "
                              "be done, and asking again does no harm",
                              peer, transport->timeout_ms);
    if (transport_broken(result))
        return fault_set_word(
            error, MCAST_UNREACHABLE, "broken",
            "the connection to mcastd at %s broke before the answer was "
            "whole (%s); what was asked may have been done, and asking again does "
            "no harm",
            peer, words);
    if (result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST ||
        result == CURLE_OPERATION_TIMEDOUT)
        return fault_set_word(error, MCAST_UNREACHABLE, "no-connection",
                              "cannot reach mcastd at %s: %s; is it running? (systemctl status "
                              "mcastd)",
                              peer, os_error ? strerror((int)os_error) : words);
    return fault_set(error, MCAST_UNCLEAR, "what answers at %s does not speak as mcastd does (%s)",
                     peer, words);
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
    if (result != CURLE_OK)
        return explain(transport, result, error);
    long status = 0;
    curl_easy_getinfo(transport->easy, CURLINFO_RESPONSE_CODE, &status);
    flight->answer->status = (int)status;
    return 0;
}

/* Sends until there is an answer, or `attempts` connections broke. */
static int send_call(struct flight *flight, const struct call *call, int attempts,
                     struct mcast_error *error)
{
    struct transport *transport = flight->transport;
    struct text url = {0};
    struct curl_slist *headers = headers_of(call);
    const char *base = transport->endpoint.base;
    int rc = 0;
    CURLcode result = CURLE_OK;
    if (!headers || !text_add(&url, base, strlen(base)) ||
        !text_add(&url, call->path, strlen(call->path))) {
        rc = MCAST_NOMEM;
        goto out;
    }
    for (int attempt = 1; attempt <= attempts; attempt++) {
        text_clear(&flight->answer->body);
        flight->answer->type[0] = '\0';
        if (!prepare(transport, call, text_string(&url), headers, flight, attempt > 1)) {
            rc = MCAST_NOMEM;
            goto out;
        }
        rc = fly(transport, &result);
        if (rc != 0 || !transport_broken(result))
            break;
    }
out:
    rc = conclude(flight, rc, result, error);
    curl_slist_free_all(headers);
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
