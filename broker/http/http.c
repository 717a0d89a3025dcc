/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/http.h"

#include "broker/http/api/launch.h"
#include "broker/http/request/call.h"
#include "broker/http/auth/gate.h"
#include "broker/http/auth/mungecred.h"
#include "broker/http/auth/pluginlogin.h"
#include "broker/http/metrics/history.h"
#include "broker/http/metrics/metrics.h"
#include "broker/http/listen/arrivals.h"
#include "broker/http/listen/httpworker.h"
#include "broker/http/listen/kept.h"
#include "broker/http/listen/peer.h"
#include "broker/http/auth/resolver.h"
#include "broker/http/shared.h"
#include "broker/http/listen/socket.h"
#include "broker/http/listen/tls.h"
#include "broker/log/log.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static_assert((int)HTTP_THREADS == 3 * (int)WORKQUEUE_THREADS,
              "the decoder, the resolver, launch documents");

enum {
    LEAVE_MS = 2000,        /* at the end, for answers on their way to slow readers */
    DRAIN_MS = 2000,        /* for requests of those who have connected; */
    DRAIN_LOOK_MS = 5,      /* how often it is looked whether they have come */
    ARRIVALS_MIN = 64,      /* that wait for their handshake, where descriptors are few */
    OTHER_DESCRIPTORS = 256 /* the ledger, the fabric manager, timers, sockets to listen at */
};

static void on_events(void *arg, uint64_t last_seq)
{
    struct http *http = arg;
    if (last_seq > http->durable_seq)
        http->durable_seq = last_seq;
    stream_events(http);
}

/* ---- what a reload can change ---- */

/* The start is a change like any other. */
struct http_change {
    const struct config *config;
    struct rights *rights;
    struct pluginlogins *plugin_logins;
    struct tls *tls; /* NULL: none */
    struct launch_keys launch_keys;
};

void http_change_discard(struct http_change *change)
{
    if (!change)
        return;
    rights_destroy(change->rights);
    pluginlogins_destroy(change->plugin_logins);
    tls_drop(change->tls);
    launch_keys_wipe(&change->launch_keys);
    free(change);
}

struct http_change *http_change_read(const struct config *config, struct error *err)
{
    struct http_change *change = memory_zeroed(sizeof *change);
    change->config = config;
    change->rights = rights_create(config, err);
    if (change->rights)
        change->plugin_logins = pluginlogins_read(config, err);
    if (change->plugin_logins && config->tls_cert[0] != '\0')
        change->tls = tls_load(config, err);
    if (change->plugin_logins && (change->tls || config->tls_cert[0] == '\0') &&
        (config->launch_key_file[0] == '\0' ||
         launch_keys_read(&change->launch_keys, config->launch_key_file, false, err) == 0))
        return change;
    http_change_discard(change);
    return NULL;
}

/* Ends the change, with what it replaces. */
static void change_apply(struct http *http, struct http_change *change)
{
    struct http_change old = {.rights = http->rights,
                              .plugin_logins = http->plugin_logins,
                              .tls = http->tls,
                              .launch_keys = http->launch_keys};
    pluginlogins_follow(change->plugin_logins, http->plugin_logins);
    http->config = change->config;
    http->rights = change->rights;
    http->plugin_logins = change->plugin_logins;
    http->tls = change->tls;
    http->certificate_over = false;
    http->launch_keys = change->launch_keys;
    http->generation++;
    *change = old;
    launch_keys_wipe(&old.launch_keys);
    http_change_discard(change);
}

/* A listening socket speaks TLS or it does not. */
int http_change_check(const struct http *http, const struct http_change *change, struct error *err)
{
    const bool tcp = http->listeners[LISTENER_TCP].server || http->listeners[LISTENER_FRONT].server;
    if (!tcp || !http->tls == !change->tls)
        return 0;
    return error_set(err, ERROR_INVALID, "tls_cert: TLS is turned %s by a restart only",
                     change->tls ? "on" : "off");
}

void http_adopt(struct http *http, struct http_change *change)
{
    change_apply(http, change);
    resolver_forget(http->resolver); /* corrected names take effect at once */
    for (struct call *call = LIST_FIRST(&http->calls); call; call = LIST_NEXT(call, link))
        if (call->identity.proof.kind != PROOF_NONE)
            gate_refresh(call);
    stream_wake_all(http); /* those whose right has ended */
}

/* ---- life ---- */

static void http_free(struct http *http)
{
    for (struct call *call; (call = LIST_FIRST(&http->spare_calls));) {
        LIST_REMOVE(call, link);
        call_destroy(call);
    }
    metrics_text_drop(http->metrics_text);
    free(http->history);
    rights_destroy(http->rights);
    pluginlogins_destroy(http->plugin_logins);
    tls_drop(http->tls);
    launch_keys_wipe(&http->launch_keys);
    if (http->heads_epoll > 0)
        close(http->heads_epoll);
    free(http);
}

static void on_closed(void *arg)
{
    struct http *http = arg;
    if (--http->handles > 0)
        return;
    void (*closed)(void *arg) = http->closed;
    void *closed_arg = http->closed_arg;
    http_free(http);
    if (closed)
        closed(closed_arg);
}

static void on_timer_closed(uv_handle_t *handle)
{
    on_closed(handle->data);
}

/* Everything that lives on the loop; the rest follows when it is gone. */
static void close_all(struct http *http)
{
    http->handles = 4; /* the timer, the decoder, the resolver, launch documents */
    for (int i = 0; i < LISTENERS; i++)
        http->handles += http->listeners[i].server != NULL;
    uv_close((uv_handle_t *)&http->timer, on_timer_closed);
    workqueue_close(&http->decoder->queue, on_closed, http);
    resolver_destroy(http->resolver, on_closed, http);
    workqueue_close(http->launches, on_closed, http);
    for (int i = 0; i < LISTENERS; i++) {
        struct server *server = http->listeners[i].server;
        http->listeners[i].server = NULL;
        if (server)
            server_destroy(server, on_closed, http);
    }
}

/* That it is over; a new one is read by a reload. */
static void watch_certificate(struct http *http)
{
    if (!http->tls || http->certificate_over ||
        tls_expires(http->tls) * 1000 > engine_now_ms(http->engine))
        return;
    http->certificate_over = true;
    log_line(LOG_ERR, "the broker's certificate has ended: no client can connect over TCP -> "
                      "renew [broker] tls_cert and tls_key, then: systemctl reload mcastd");
}

static void sample(struct http *http)
{
    const int64_t now_ms = engine_now_ms(http->engine);
    struct core_status status;
    if (!history_due(http->history, now_ms))
        return;
    size_t row = 0;
    while (routes[row].handle != reserve_handle)
        row++;
    core_status(engine_core(http->engine), &status);
    history_take(http->history, now_ms, &http->traffic.times[row], &status);
}

static void on_second(uv_timer_t *timer)
{
    struct http *http = timer->data;
    sample(http);
    watch_certificate(http);
    peer_close_slow(http);
    stream_pulse(http);
}

/* As many as the descriptors that are left allow. */
static unsigned arrivals_max(const struct http *http)
{
    struct rlimit files;
    const uint64_t needed = http_descriptors(http->quota.max);
    if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur < needed + ARRIVALS_MIN)
        return ARRIVALS_MIN;
    return files.rlim_cur - needed < ARRIVALS_MAX ? (unsigned)(files.rlim_cur - needed)
                                                  : ARRIVALS_MAX;
}

/* What runs may read requests and send answers: a leader that was paused says nothing more (B7). */
static bool before_run(void *arg)
{
    if (!leadership_holds(engine_leadership(((struct listener *)arg)->http->engine)))
        return false;
    peer_check_heads(arg);
    return true;
}

static int listener_open(struct http *http, int which, int fd, struct error *err)
{
    struct listener *listener = &http->listeners[which];
    const struct server_hooks hooks = {.arg = listener,
                                       .access = call_access,
                                       .target = call_target,
                                       .completed = call_completed,
                                       .connection = peer_connection,
                                       .may_accept = peer_may_accept,
                                       .user = peer_user,
                                       .arrivals_max = arrivals_max(http),
                                       .before_run = before_run,
                                       .turn = engine_turn(http->engine),
                                       .spent_ns = &http->spent_ns};
    *listener = (struct listener){
        .http = http, .local = which == LISTENER_UNIX, .front = which == LISTENER_FRONT};
    listener->server = server_create(http->loop, fd, !listener->local && http->tls, &hooks, err);
    return listener->server ? 0 : ERROR_IO;
}

static int listener_open_tcp(struct http *http, int which, const char *address, int *port,
                             struct error *err)
{
    const char *key = which == LISTENER_FRONT ? "front" : "listen";
    const int fd = kept_listen(http->kept, key, address, port, err);
    return fd < 0 ? fd : listener_open(http, which, fd, err);
}

static int listeners_open(struct http *http, struct error *err)
{
    const struct config *config = http->config;
    struct stat made;
    if (http->kept) { /* what the configuration no longer names refuses at once */
        kept_drop(http->kept, "listen", config->listen);
        kept_drop(http->kept, "front", config->front_listen);
    }
    int fd = socket_listen_unix(config->socket, config->socket_mode,
                                config->socket_group[0] != '\0' ? config->socket_group : NULL, err);
    if (fd < 0)
        return fd;
    if (stat(config->socket, &made) == 0) {
        http->socket_device = made.st_dev;
        http->socket_inode = made.st_ino;
    }
    int rc = listener_open(http, LISTENER_UNIX, fd, err);
    if (rc == 0 && config->listen[0] != '\0')
        rc = listener_open_tcp(http, LISTENER_TCP, config->listen, &http->port, err);
    return rc;
}

int http_open_front(struct http *http, struct error *err)
{
    const char *address = http->config->front_listen;
    assert(!http->listeners[LISTENER_FRONT].server);
    return address[0] == '\0'
               ? 0
               : listener_open_tcp(http, LISTENER_FRONT, address, &http->front_port, err);
}

static int parts_create(struct http *http, const struct http_options *options, struct error *err)
{
    http->engine = options->engine;
    http->bearers = options->bearers;
    http->keyring = options->keyring;
    http->kept = options->kept;
    http->step_down = options->step_down;
    http->step_down_arg = options->step_down_arg;
    quota_init(&http->quota, options->config->connections_max);
    http->decoder = decoder_create(http->loop, mungecred_decode);
    http->resolver = resolver_create(http->loop, host_resolve);
    http->launches = launch_queue_create(http->loop);
    http->heads_epoll = epoll_create1(EPOLL_CLOEXEC);
    if (http->heads_epoll < 0)
        return error_set(err, ERROR_IO, "cannot watch connections: %s", strerror(errno));
    struct http_change *change = http_change_read(options->config, err);
    if (!change)
        return ERROR_INVALID;
    change_apply(http, change);
    return 0;
}

/* A worker takes one for itself; users without a role have few connections, and at worst a worker
 * for each. */
uint64_t http_descriptors(unsigned connections_max)
{
    return (uint64_t)connections_max + connections_max / WORKER_CONNECTIONS_TLS +
           connections_max / 8 + OTHER_DESCRIPTORS;
}

uint64_t http_descriptors_wanted(unsigned connections_max)
{
    return http_descriptors(connections_max) + ARRIVALS_MAX;
}

struct http *http_create(const struct http_options *options, struct error *err)
{
    char remark[128];
    struct http *http = memory_zeroed(sizeof *http);
    http->history = memory_zeroed(sizeof *http->history);
    if (mhd_remark(MHD_get_version(), remark, sizeof remark))
        log_line(LOG_NOTICE, "%s", remark);
    http->loop = options->loop;
    uv_timer_init(http->loop, &http->timer);
    http->timer.data = http;
    uv_timer_start(&http->timer, on_second, 1000, 1000);
    if (parts_create(http, options, err) == 0 && listeners_open(http, err) == 0) {
        const struct engine_listener listener = {
            .arg = http, .render = call_render, .send = call_answered, .events = on_events};
        engine_listen(http->engine, &listener);
        return http;
    }
    http_destroy(http, NULL, NULL);
    return NULL;
}

int http_port(const struct http *http)
{
    return http->port;
}

int http_front_port(const struct http *http)
{
    return http->front_port;
}

void http_reloaded(struct http *http, const char *refusal)
{
    http->reloads += !refusal;
    http->reloads_refused += refusal ? 1 : 0;
    http->reload_refused = refusal;
    http->reloaded_ms = engine_now_ms(http->engine);
    (void)snprintf(http->reload_refusal, sizeof http->reload_refusal, "%s", refusal ? refusal : "");
}

/* No client is in its handshake or has just connected, and no request's head or body is on its way.
 */
static bool has_drained(const struct http *http)
{
    for (int i = 0; i < LISTENERS; i++)
        if (http->listeners[i].server && server_waiting(http->listeners[i].server) > 0)
            return false;
    for (const struct call *call = LIST_FIRST(&http->calls); call; call = LIST_NEXT(call, link))
        if (call->phase < CALL_DECIDING)
            return false;
    return http->young == 0;
}

static void on_drain(uv_timer_t *timer)
{
    struct http *http = timer->data;
    void (*drained)(void *arg) = http->drained;
    if (!has_drained(http) && uv_now(http->loop) - http->drain_ms < DRAIN_MS)
        return;
    http->drained = NULL;
    uv_timer_start(&http->timer, on_second, 1000, 1000);
    drained(http->drained_arg);
}

void http_drain(struct http *http, void (*done)(void *arg), void *arg)
{
    for (int i = 0; i < LISTENERS; i++)
        if (http->listeners[i].server && !http->listeners[i].local)
            server_stop_accepting(http->listeners[i].server);
    http->drained = done;
    http->drained_arg = arg;
    http->drain_ms = uv_now(http->loop);
    uv_timer_start(&http->timer, on_drain, 0, DRAIN_LOOK_MS);
}

void http_quiesce(struct http *http)
{
    if (http->quiescing)
        return;
    http->quiescing = true;
    if (http->socket_inode != 0)
        socket_unlink_unix(http->config->socket, http->socket_device, http->socket_inode);
    for (int i = 0; i < LISTENERS; i++)
        if (http->listeners[i].server)
            server_quiesce(http->listeners[i].server);
    stream_wake_all(http);
}

/* Whether another thread still has a call's body: that must be waited for. */
static bool any_waiting(const struct http *http)
{
    for (const struct call *call = LIST_FIRST(&http->calls); call; call = LIST_NEXT(call, link))
        if (call->phase == CALL_DECIDING || call->phase == CALL_PROVING)
            return true;
    return false;
}

static void on_deadline(uv_timer_t *timer)
{
    struct http *http = timer->data;
    if (any_waiting(http))
        return; /* the timer repeats */
    close_all(http);
}

/* Called from inside of MHD: what comes next must wait for the loop. */
void http_settled(struct http *http)
{
    if (http->closing)
        uv_timer_start(&http->timer, on_deadline, 0, 100);
}

void http_destroy(struct http *http, void (*closed)(void *arg), void *arg)
{
    if (!http)
        return;
    http_quiesce(http);
    http->closing = true;
    http->closed = closed;
    http->closed_arg = arg;
    if (http->owed == 0)
        close_all(http);
    else
        uv_timer_start(&http->timer, on_deadline, LEAVE_MS, 100);
}
