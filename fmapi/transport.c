/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/transport.h"

#include "base/memory.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <openssl/x509_vfy.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    READY_MAX = 32,
    TURN_NS = 1000000, /* after it, sockets wait for the next turn; a handshake takes one or two */
    SKEW_EVERY_MS = 1000,
};

/* Events that the kernel reported, and which of them are not handled yet. */
struct ready {
    struct epoll_event events[READY_MAX];
    int count, next;
};

struct transport {
    uv_loop_t *loop;
    struct transport_options options;
    CURLM *multi;
    CURLSH *share; /* TLS sessions, for resumption */
    int epoll;     /* libcurl's sockets */
    uv_poll_t poll;
    struct ready ready;
    uv_timer_t timer;
    uv_idle_t rearm;  /* starts the timer in the next turn */
    bool expiring;    /* libcurl is handling its timeout */
    unsigned handles; /* of the loop's that are ours and not yet closed */
    TAILQ_HEAD(exchange_list, exchange) in_flight;
    struct transport_counters counters;
    uint64_t skew_seen_ms; /* the loop's time */
    bool closing;
    void (*closed)(void *arg);
    void *closed_arg;
};

static void count_exchange(struct transport_counters *counters, CURL *easy,
                           const struct transport_answer *answer)
{
    long connections = 0, request = 0, headers = 0;
    curl_off_t down = 0, up = 0;
    (void)curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connections);
    (void)curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &request);
    (void)curl_easy_getinfo(easy, CURLINFO_HEADER_SIZE, &headers);
    (void)curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, &down);
    (void)curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &up);
    counters->requests++;
    counters->connections += (uint64_t)connections;
    counters->bytes_in += (uint64_t)headers + (uint64_t)down;
    counters->bytes_out += (uint64_t)request + (uint64_t)up;
    counters->tls_errors += answer->tls_fault ? 1 : 0;
}

static void compare_clocks(struct transport *transport, const struct exchange *exchange)
{
    const uint64_t now_ms = uv_now(transport->loop);
    int64_t skew_ms;
    if ((transport->counters.skew_ms == INT64_MIN ||
         now_ms - transport->skew_seen_ms >= SKEW_EVERY_MS) &&
        (skew_ms = exchange_skew_ms(exchange)) != INT64_MIN) {
        transport->counters.skew_ms = skew_ms;
        transport->skew_seen_ms = now_ms;
    }
}

static void finish_exchange(struct transport *transport, struct exchange *exchange, CURLcode code)
{
    struct transport_answer answer = exchange_answer(exchange, code);
    count_exchange(&transport->counters, exchange->easy, &answer);
    compare_clocks(transport, exchange);
    (void)curl_multi_remove_handle(transport->multi, exchange->easy);
    TAILQ_REMOVE(&transport->in_flight, exchange, entry);
    exchange->done(exchange->done_arg, &answer);
    exchange_destroy(exchange);
}

/* Calls done of what has ended, which may send more, or destroy the transport. */
static void finish_done_exchanges(struct transport *transport)
{
    CURLMsg *message;
    int left;
    while (!transport->closing && (message = curl_multi_info_read(transport->multi, &left))) {
        struct exchange *exchange = NULL;
        CURLcode code = message->data.result;
        if (message->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&exchange);
        finish_exchange(transport, exchange, code);
    }
}

static void drive_libcurl(struct transport *transport, curl_socket_t socket, int events)
{
    int running;
    if (transport->closing)
        return;
    CURLMcode code = curl_multi_socket_action(transport->multi, socket, events, &running);
    assert(code == CURLM_OK || code == CURLM_OUT_OF_MEMORY);
    (void)code;
    finish_done_exchanges(transport);
}

static void on_timer(uv_timer_t *timer)
{
    struct transport *transport = timer->data;
    transport->expiring = true;
    drive_libcurl(transport, CURL_SOCKET_TIMEOUT, 0);
    transport->expiring = false;
}

/* libcurl reads an error from the socket when it reads or writes; given the error alone it fails
 * without a text. */
static int ready_of(uint32_t events)
{
    const bool over = (events & (EPOLLERR | EPOLLHUP)) != 0;
    return (over || (events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
           (over || (events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0);
}

/* Sockets that a turn has no time for keep the epoll set readable and come first in the next turn:
 * the kernel would report them in the same order again (G11). libcurl ignores a socket that it has
 * closed meanwhile, and reads in vain from another one with the same number. */
static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct transport *transport = poll->data;
    struct ready *ready = &transport->ready;
    (void)status;
    (void)events;

    const uint64_t began_ns = uv_hrtime();
    if (ready->next >= ready->count) {
        ready->count = epoll_wait(transport->epoll, ready->events, READY_MAX, 0);
        ready->next = 0;
    }
    while (ready->next < ready->count && uv_hrtime() - began_ns < TURN_NS) {
        const struct epoll_event event = ready->events[ready->next++];
        drive_libcurl(transport, event.data.fd, ready_of(event.events));
    }
}

static void on_rearm(uv_idle_t *rearm)
{
    struct transport *transport = rearm->data;
    (void)uv_idle_stop(rearm);
    (void)uv_timer_start(&transport->timer, on_timer, 0, 0); /* cannot fail */
}

/* libcurl reads part of a fast answer and asks for a timeout of 0. Started from its own callback,
 * libuv's timer would run in the same turn, until the answer ends (G11). */
static int on_timeout_change(CURLM *multi, long timeout_ms, void *arg)
{
    struct transport *transport = arg;
    (void)multi;

    (void)uv_idle_stop(&transport->rearm);
    (void)uv_timer_stop(&transport->timer);
    if (transport->closing || timeout_ms < 0)
        return 0;
    if (timeout_ms == 0 && transport->expiring)
        return uv_idle_start(&transport->rearm, on_rearm) == 0 ? 0 : -1;
    return uv_timer_start(&transport->timer, on_timer, (uint64_t)timeout_ms, 0) == 0 ? 0 : -1;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct transport *transport = handle->data;
    assert(transport->handles > 0);
    if (--transport->handles > 0)
        return;
    void (*closed)(void *closed_arg) = transport->closed;
    void *closed_arg = transport->closed_arg;
    (void)close(transport->epoll);
    X509_STORE_free(transport->options.authorities);
    free(transport);
    closed(closed_arg);
}

/* Only the kernel keeps the set. libcurl 7.88 closes a socket that never got connected before this
 * call; the kernel drops it then, unless another process has it: broker/jobs/child.c closes all
 * descriptors of a child before this thread continues. */
static int on_socket_change(CURL *easy, curl_socket_t socket, int what, void *arg, void *socket_arg)
{
    struct transport *transport = arg;
    struct epoll_event event = {.data.fd = socket};
    (void)easy;
    (void)socket_arg;

    if (what == CURL_POLL_REMOVE) {
        (void)epoll_ctl(transport->epoll, EPOLL_CTL_DEL, socket, NULL); /* may be closed already */
        return 0;
    }
    event.events =
        ((what & CURL_POLL_IN) != 0 ? EPOLLIN : 0) | ((what & CURL_POLL_OUT) != 0 ? EPOLLOUT : 0);
    /* A socket that cannot be added, for want of memory or by fs.epoll.max_user_watches, times out.
     * With an error from here, libcurl would end all requests for good. */
    if (epoll_ctl(transport->epoll, EPOLL_CTL_ADD, socket, &event) < 0 && errno == EEXIST)
        (void)epoll_ctl(transport->epoll, EPOLL_CTL_MOD, socket, &event);
    return 0;
}

static bool set_up_libcurl(struct transport *transport)
{
    long parallel = (long)transport->options.parallel;
    CURLM *multi = transport->multi = curl_multi_init();
    CURLSH *share = transport->share = curl_share_init();
    return multi && share &&
           curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) == CURLSHE_OK &&
           curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket_change) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, transport) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timeout_change) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_TIMERDATA, transport) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, parallel) == CURLM_OK &&
           curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, parallel) == CURLM_OK;
}

static void open_handles(struct transport *transport)
{
    (void)uv_poll_start(&transport->poll, UV_READABLE, on_ready); /* these cannot fail */
    (void)uv_timer_init(transport->loop, &transport->timer);
    (void)uv_idle_init(transport->loop, &transport->rearm);
    transport->poll.data = transport->timer.data = transport->rearm.data = transport;
    transport->handles = 3;
}

struct transport *transport_create(uv_loop_t *loop, const struct transport_options *options,
                                   struct error *err)
{
    assert(options->parallel > 0);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        error_set(err, ERROR_IO, "libcurl or its TLS library cannot be set up");
        return NULL;
    }
    struct transport *transport = memory_zeroed(sizeof *transport);
    transport->loop = loop;
    transport->counters.skew_ms = INT64_MIN;
    transport->options = *options;
    exchange_ca(&transport->options, options->ca);
    TAILQ_INIT(&transport->in_flight);
    transport->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (transport->epoll >= 0 && set_up_libcurl(transport) &&
        uv_poll_init(loop, &transport->poll, transport->epoll) == 0) {
        open_handles(transport);
        return transport;
    }
    (void)curl_multi_cleanup(transport->multi);
    (void)curl_share_cleanup(transport->share);
    (void)close(transport->epoll);
    free(transport);
    curl_global_cleanup();
    error_set(err, ERROR_NOMEM, "memory or descriptors are exhausted (LimitNOFILE=, ulimit -n)");
    return NULL;
}

/* From the loop and never from inside libcurl or reap: here everything of libcurl's can go. */
static void on_timer_closed(uv_handle_t *handle)
{
    struct transport *transport = handle->data;
    struct exchange *exchange;
    while ((exchange = TAILQ_FIRST(&transport->in_flight))) {
        (void)curl_multi_remove_handle(transport->multi, exchange->easy);
        TAILQ_REMOVE(&transport->in_flight, exchange, entry);
        exchange->done(exchange->done_arg,
                       &(struct transport_answer){.end = TRANSPORT_CANCELLED, .words = ""});
        exchange_destroy(exchange);
    }
    (void)curl_multi_cleanup(transport->multi); /* calls on_socket_change */
    (void)curl_share_cleanup(transport->share);
    curl_global_cleanup();
    on_handle_closed(handle);
}

void transport_destroy(struct transport *transport, void (*closed)(void *arg), void *arg)
{
    if (!transport)
        return;
    assert(!transport->closing);
    transport->closing = true;
    transport->closed = closed;
    transport->closed_arg = arg;
    uv_close((uv_handle_t *)&transport->poll, on_handle_closed);
    uv_close((uv_handle_t *)&transport->rearm, on_handle_closed);
    uv_close((uv_handle_t *)&transport->timer, on_timer_closed);
}

void transport_send(struct transport *transport, const struct request *request,
                    struct credential *credential, int64_t timeout_ms, transport_done_fn *done,
                    void *arg)
{
    assert(!transport->closing);
    struct exchange *exchange =
        exchange_create(&transport->options, transport->share, request, credential, timeout_ms);
    exchange->done = done;
    exchange->done_arg = arg;
    if (curl_multi_add_handle(transport->multi, exchange->easy) != CURLM_OK)
        (void)memory_must(NULL);
    TAILQ_INSERT_TAIL(&transport->in_flight, exchange, entry);
}

void transport_trust(struct transport *transport, X509_STORE *authorities)
{
    if (authorities)
        (void)X509_STORE_up_ref(authorities);
    X509_STORE_free(transport->options.authorities);
    transport->options.authorities = authorities;
}

const struct transport_counters *transport_counters(const struct transport *transport)
{
    return &transport->counters;
}
