/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/broker.h"

#include "broker/engine.h"
#include "broker/http/http.h"
#include "broker/http/listen/kept.h"
#include "broker/keyring.h"
#include "broker/leadership.h"
#include "broker/service/heartbeat.h"
#include "broker/log/log.h"
#include "broker/service/notify.h"
#include "broker/service/process.h"
#include "broker/reload.h"
#include "broker/config/change.h"
#include "broker/config/settings.h"
#include "tokens/keybytes.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

enum {
    SIGNALS = 3,
    AGAIN_MS = 1000, /* the same SIGTERM can come twice, from a shell that means a whole group */
};

struct broker {
    uv_loop_t loop;
    struct reload reload; /* owns the configuration */
    struct bearers *bearers;
    struct keyring *keyring;
    struct etcd *etcd;             /* NULL: this broker is alone, */
    struct leadership *leadership; /* as this; closed before the loop ends */
    struct engine *engine;
    struct http *http;
    struct notify notify;
    struct kept kept;
    struct heartbeat heartbeat;
    uv_signal_t signals[SIGNALS];
    bool running; /* the heartbeat is in the loop */
    bool stopping;
    uint64_t stop_ms; /* of the first SIGTERM, by the loop */
    uint64_t began_ns;
    uv_timer_t step_down;
    int status;
};

/* ---- stopping ---- */

static void close_signals(struct broker *broker)
{
    for (int i = 0; i < SIGNALS; i++)
        uv_close((uv_handle_t *)&broker->signals[i], NULL);
    /* libuv has given these back: one more would end us by itself, and not with our exit status. */
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
}

static void on_resigned(void *arg)
{
    struct broker *broker = arg;
    leadership_destroy(broker->leadership);
    broker->leadership = NULL;
    uv_close((uv_handle_t *)&broker->step_down, NULL);
    close_signals(broker);
}

/* Everything that was accepted is answered, saved and sent. */
static void on_http_closed(void *arg)
{
    struct broker *broker = arg;
    broker->http = NULL;
    if (broker->leadership)
        leadership_resign(broker->leadership);
    else
        close_signals(broker);
}

static void on_engine_stopped(void *arg)
{
    struct broker *broker = arg;
    if (broker->running)
        heartbeat_stop(&broker->heartbeat);
    if (broker->http)
        http_destroy(broker->http, on_http_closed, broker);
    else
        on_http_closed(broker);
}

static void stop_parts(void *arg)
{
    struct broker *broker = arg;
    if (broker->http)
        http_quiesce(broker->http);
    if (broker->engine)
        engine_stop(broker->engine, on_engine_stopped, broker);
    else
        on_engine_stopped(broker);
}

/* The next start goes on with the listening sockets, if it comes soon: then no connection is
 * refused, and who was accepted before is served here. */
static bool keeps_sockets(const struct broker *broker)
{
    return broker->notify.fd >= 0 && !broker->leadership;
}

static void stop_broker(struct broker *broker)
{
    broker->stopping = true;
    broker->reload.stopped = true;
    (void)notify_send(&broker->notify, true,
                      "STOPPING=1\nSTATUS=Stopping: answering what was accepted.");
    if (broker->running && keeps_sockets(broker))
        http_drain(broker->http, stop_parts, broker);
    else
        stop_parts(broker);
}

/* ---- among several brokers (B7) ---- */

static void fail(struct broker *broker, const char *words)
{
    log_line(LOG_ERR, "cannot start: %s", words);
    broker->status = EXIT_FAILURE;
    if (!broker->stopping)
        stop_broker(broker);
}

/* Another broker may lead by now: whatever is still to be said or sent stays unsaid. */
static void on_lost(void *arg, const char *words)
{
    (void)arg;
    log_line(LOG_ERR, "this broker leads no longer, stopping at once: %s", words);
    log_settle();
    _exit(EX_TEMPFAIL);
}

static void on_refused(void *arg, const char *words)
{
    fail(arg, words);
}

static void log_ready(const struct broker *broker, const char *what);

static void on_started(void *arg, const struct error *err)
{
    struct broker *broker = arg;
    struct error own = {0};
    if (!err && http_open_front(broker->http, &own) < 0)
        err = &own;
    if (err) {
        fail(broker, err->text);
        return;
    }
    log_ready(broker, "READY");
    if (broker->running)
        heartbeat_ready(&broker->heartbeat);
}

static void on_won(void *arg)
{
    struct broker *broker = arg;
    struct error err = {0};
    if (broker->stopping)
        return;
    broker->began_ns = uv_hrtime();
    struct store *store = leadership_store(broker->leadership, &err);
    if (store)
        engine_use_store(broker->engine, store);
    int rc = store ? engine_start(broker->engine, &err) : err.code;
    if (rc != 1)
        on_started(broker, rc < 0 ? &err : NULL);
}

static void on_step_down(uv_timer_t *timer)
{
    struct broker *broker = timer->data;
    if (broker->stopping)
        return;
    log_line(LOG_NOTICE, "stepping down: answering what was accepted");
    broker->status = EX_TEMPFAIL;
    stop_broker(broker);
}

/* POST /v1/step-down: when its answer is under way. */
static void step_down(void *arg)
{
    struct broker *broker = arg;
    (void)uv_timer_start(&broker->step_down, on_step_down, 0, 0);
}

static int join_brokers(struct broker *broker, struct error *err)
{
    const struct config *config = broker->reload.config;
    const struct leadership_hooks hooks = {.arg = broker,
                                           .won = on_won,
                                           .lost = on_lost,
                                           .refused = on_refused,
                                           .resigned = on_resigned};
    const char *endpoints[ETCD_ENDPOINTS_MAX];
    char *shared = settings_shared(config);
    struct etcd_options options = settings_etcd(config, endpoints);
    options.configuration = shared;
    broker->etcd = etcd_open(&options, err);
    free(shared);
    if (!broker->etcd)
        return err->code;
    broker->leadership = leadership_create(&broker->loop, broker->etcd, config->etcd_lease_ms,
                                           config->advertise, &hooks);
    (void)uv_timer_init(&broker->loop, &broker->step_down);
    broker->step_down.data = broker;
    return 0;
}

/* ---- signals ---- */

static void on_reloaded(void *arg, bool applied)
{
    struct broker *broker = arg;
    broker->heartbeat.reload_refused = !applied;
    http_reloaded(broker->http, applied ? NULL : broker->reload.refusal);
    if (!broker->reload.again) /* else the service manager waits for the one that follows */
        heartbeat_ready(&broker->heartbeat);
}

static void on_signal(uv_signal_t *handle, int signum)
{
    struct broker *broker = handle->data;
    if (broker->engine)
        engine_turn(broker->engine)->interrupted = true;
    if (signum == SIGHUP && (broker->stopping || !broker->running)) {
        log_line(LOG_NOTICE, "stopping: reload skipped, the next start reads the configuration");
        return;
    }
    if (signum == SIGHUP) {
        notify_reloading(&broker->notify);
        reload_begin(&broker->reload);
        return;
    }
    if (broker->stopping && uv_now(&broker->loop) - broker->stop_ms < AGAIN_MS)
        return;
    if (broker->stopping) {
        log_line(LOG_WARNING, "second %s received, exiting immediately",
                 signum == SIGINT ? "SIGINT" : "SIGTERM");
        _Exit(EXIT_FAILURE);
    }
    log_line(LOG_NOTICE, "stopping: answering what was accepted");
    broker->stop_ms = uv_now(&broker->loop);
    stop_broker(broker);
}

static int start_signals(struct broker *broker, struct error *err)
{
    static const int signals[SIGNALS] = {SIGTERM, SIGINT, SIGHUP};
    sigset_t hangup;
    for (int i = 0; i < SIGNALS; i++) {
        (void)uv_signal_init(&broker->loop, &broker->signals[i]);
        broker->signals[i].data = broker;
    }
    for (int i = 0; i < SIGNALS; i++) {
        int rc = uv_signal_start(&broker->signals[i], on_signal, signals[i]);
        if (rc < 0)
            return error_set(err, ERROR_IO, "cannot wait for signals: %s", uv_strerror(rc));
    }
    (void)sigemptyset(&hangup);
    (void)sigaddset(&hangup, SIGHUP);
    (void)pthread_sigmask(SIG_UNBLOCK, &hangup, NULL);
    return 0;
}

/* ---- starting ---- */

static int create_bearers(struct broker *broker, struct error *err)
{
    const struct config *config = broker->reload.config;
    struct chain key = {0};
    int rc = keybytes_draw(key.mac, sizeof key.mac, err);
    if (rc < 0)
        return rc;
    broker->bearers = bearers_create(&key);
    chain_wipe(&key);
    broker->keyring = keyring_open(config->root_key_file[0] != '\0' ? config->root_key_file : NULL,
                                   (int64_t)time(NULL), err);
    return broker->keyring ? 0 : err->code;
}

static int create_engine(struct broker *broker, struct error *err)
{
    const struct config *config = broker->reload.config;
    struct engine_options options = {
        .loop = &broker->loop,
        .config = config,
        .loading = heartbeat_loading,
        .loading_arg = &broker->notify,
    };
    if (config->store == CONFIG_STORE_MEMORY) {
        options.store = store_memory_open(err);
    } else if (config->store == CONFIG_STORE_SQLITE) {
        heartbeat_opening(&broker->notify, config->state_path);
        options.store = store_sqlite_open(config->state_path, config->state_key_file, err);
    } else if (join_brokers(broker, err) < 0) {
        return err->code;
    }
    if (!options.store && !broker->leadership)
        return err->code;
    options.leadership = broker->leadership;
    options.started = on_started;
    options.started_arg = broker;
    if (create_bearers(broker, err) < 0) {
        store_close(options.store);
        return err->code;
    }
    options.bearers = broker->bearers;
    if (broker->leadership) {
        keyring_share(broker->keyring);
        options.keyring = broker->keyring;
    }
    config_files_stat(broker->reload.config);
    broker->engine = engine_create(&options);
    return 0;
}

static int start_http(struct broker *broker, struct error *err)
{
    const struct http_options options = {.loop = &broker->loop,
                                         .engine = broker->engine,
                                         .bearers = broker->bearers,
                                         .keyring = broker->keyring,
                                         .config = broker->reload.config,
                                         .kept = keeps_sockets(broker) ? &broker->kept : NULL,
                                         .step_down = broker->leadership ? step_down : NULL,
                                         .step_down_arg = broker};
    if (!options.kept) { /* of several brokers, one that is away must refuse */
        kept_drop(&broker->kept, "listen", "");
        kept_drop(&broker->kept, "front", "");
    }
    broker->http = http_create(&options, err);
    return broker->http ? 0 : err->code;
}

/* A ledger that is lost takes the numbers along which tokens name. Asked at each start until the
 * first number is given, so that no crash on the way leaves the old keys. */
static int renew_keys(struct broker *broker, struct error *err)
{
    struct core_status status;
    core_status(engine_core(broker->engine), &status);
    if (status.last_number > 0)
        return 0;
    int rc = keyring_renew(broker->keyring, (int64_t)time(NULL), err);
    if (rc > 0)
        log_line(LOG_NOTICE,
                 "the ledger is new, %s was there before it: its root keys were replaced, and "
                 "tokens that they made are refused",
                 broker->reload.config->root_key_file);
    return rc;
}

/* host is the configured HOST:PORT; the port may have been 0. */
static void print_address(char *out, size_t size, const char *listen, int port)
{
    const char *colon = strrchr(listen, ':');
    (void)snprintf(out, size, "%.*s:%d", colon ? (int)(colon - listen) : 0, listen, port);
}

static void log_ready(const struct broker *broker, const char *what)
{
    const struct config *config = broker->reload.config;
    char clusters[CLUSTERS_MAX * (CLUSTER_NAME_MAX + 1) + 1] = "";
    char listen[sizeof config->listen + 16] = "none";
    struct core_status status;
    size_t length = 0;
    for (uint32_t i = 0; i < config->core.cluster_count; i++)
        length += (size_t)snprintf(clusters + length, sizeof clusters - length, "%s%s",
                                   i > 0 ? "," : "", config->clusters[i].name);
    if (config->listen[0] != '\0')
        print_address(listen, sizeof listen, config->listen, http_port(broker->http));
    core_status(engine_core(broker->engine), &status);
    log_line(LOG_NOTICE,
             "%s socket=%s listen=%s clusters=%s fm=%s reservations=%" PRIu64 " took_ms=%" PRIu64
             " version=%s",
             what, config->socket, listen, clusters,
             config->core.fm_present ? config->core.fm_urls[0] : "none",
             status.use.jobs_active + status.use.jobs_releasing,
             (uv_hrtime() - broker->began_ns) / 1000000, MCAST_VERSION);
    if (http_front_port(broker->http) == 0)
        return;
    print_address(listen, sizeof listen, config->front_listen, http_front_port(broker->http));
    log_line(LOG_NOTICE, "in front of the fabric manager front=%s url=%s", listen,
             config->core.relay_url);
}

static void start_running(struct broker *broker)
{
    broker->reload.loop = &broker->loop;
    broker->reload.ended = on_reloaded;
    broker->reload.arg = broker;
    broker->reload.engine = broker->engine;
    broker->reload.http = broker->http;
    broker->reload.keyring = broker->keyring;
    broker->reload.etcd = broker->etcd;
    heartbeat_start(&broker->heartbeat, &broker->loop, &broker->notify, broker->engine);
    broker->running = true;
    heartbeat_ready(&broker->heartbeat);
}

static void start_all(struct broker *broker)
{
    struct error err = {0};
    broker->began_ns = uv_hrtime();
    /* The socket is there before the ledger is read, so that after a restart clients wait a moment
     * instead of being refused. */
    if (start_signals(broker, &err) < 0 || create_engine(broker, &err) < 0 ||
        start_http(broker, &err) < 0 ||
        (!broker->leadership &&
         (engine_start(broker->engine, &err) < 0 || renew_keys(broker, &err) < 0 ||
          http_open_front(broker->http, &err) < 0))) {
        fail(broker, err.text);
        return;
    }
    log_ready(broker, broker->leadership ? "STANDBY" : "READY");
    start_running(broker);
}

int broker_run(struct config *config, const char *path, int log_level)
{
    struct broker broker = {.status = 0};
    struct error err = {0};
    reload_init(&broker.reload, config, path, log_level);
    log_set_level(config->core.trace_level);
    process_prepare(config);
    if (notify_init(&broker.notify, &err) < 0)
        log_line(LOG_WARNING, "the service manager gets no notifications: %s", err.text);
    kept_receive(&broker.kept, &broker.notify);
    if (uv_loop_init(&broker.loop) < 0) {
        log_line(LOG_ERR, "cannot make an event loop: %s", strerror(errno));
        broker.status = EXIT_FAILURE;
    } else {
        start_all(&broker);
        (void)uv_run(&broker.loop, UV_RUN_DEFAULT);
        engine_destroy(broker.engine);
        etcd_close(broker.etcd);
        bearers_destroy(broker.bearers);
        keyring_close(broker.keyring);
        (void)uv_loop_close(&broker.loop);
    }
    log_line(LOG_NOTICE, "stopped status=%d", broker.status);
    notify_release(&broker.notify);
    reload_release(&broker.reload);
    return broker.status;
}
