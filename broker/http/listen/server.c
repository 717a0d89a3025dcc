/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/server.h"

#include "broker/http/listen/arrivals.h"
#include "base/memory.h"
#include "broker/log/log.h"

#include <errno.h>
#include <malloc.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TURN_NS = 1500000,     /* of a turn of the loop; then no further worker of a listener runs, */
    TURN_TLS_NS = 500000,  /* and none with TLS, whose next one may take a millisecond or two */
    REST_FACTOR = 9,       /* times as long as they ran, workers without progress have to wait */
    SWEEP_MS = 1000,       /* how often workers with connections run, for their timeouts */
    CROWD = 1024,          /* connections whose memory is worth giving back */
    ARRIVALS_AT_ONCE = 64, /* accepted before open connections get their turn; */
    GONE_AT_ONCE = 1024,   /* of those closed meanwhile, which cost little; */
    HANDSHAKES_AT_ONCE = 2 /* begun, each of which computes for one or two ms */
};

struct server {
    uv_loop_t *loop;
    struct server_hooks hooks;
    struct workerqueue queue;
    struct worker_list resting; /* without progress: not in the queue until rest is over */
    uint64_t resting_ns;        /* that these ran since the last rest */
    int listener;               /* -1: closed */
    bool tls;
    struct arrivals waiting; /* with TLS: accepted, and not served yet */
    uv_poll_t arrivals;      /* of the listener; stopped while nothing is accepted */
    uv_check_t check;        /* after all ready descriptors were handled */
    uv_prepare_t prepare;    /* before the loop waits: a turn is over */
    uv_timer_t sweep, rest;
    uv_idle_t idle;             /* active while workers have work: the loop does not wait */
    unsigned handles;           /* of these, until they are closed */
    unsigned connections, peak; /* since memory was last given back */
    bool fault_logged;          /* that no worker can be made */
    bool arrived;               /* connections, in this turn */
    bool swept;                 /* all workers were queued for their timeouts */
    void (*closed)(void *arg);
    void *closed_arg;
};

/* ---- workers ---- */

static struct httpworker *add_worker(struct server *server, uint64_t user, struct error *err)
{
    const unsigned capacity = server->tls                  ? WORKER_CONNECTIONS_TLS
                              : user == WORKERQUEUE_SHARED ? WORKER_CONNECTIONS
                                                           : WORKER_CONNECTIONS_USER;
    struct httpworker *worker =
        httpworker_create(server->loop, server->tls, capacity, &server->hooks, &server->queue, err);
    if (!worker)
        return NULL;
    TAILQ_INSERT_TAIL(&server->queue.all, worker, link);
    workerqueue_assign(&server->queue, worker, user);
    return worker;
}

static bool is_unused(const struct httpworker *worker)
{
    return worker->connections == 0 && !worker->queued;
}

/* The first with a free connection, so that others become empty after a peak; or one that another
 * user does not use any more. */
static struct httpworker *worker_for(struct server *server, uint64_t user, struct error *err)
{
    struct httpworker *worker = NULL, *unused = NULL;
    TAILQ_FOREACH(worker, &server->queue.all, link)
    {
        if (worker->user == user && worker->connections < worker->capacity)
            return worker;
        if (user != WORKERQUEUE_SHARED && worker->user != WORKERQUEUE_SHARED && is_unused(worker))
            unused = worker;
    }
    if (!unused)
        return add_worker(server, user, err);
    workerqueue_assign(&server->queue, unused, user);
    return unused;
}

/* But for the first. */
static void close_unused_workers(struct server *server)
{
    struct httpworker *worker = TAILQ_NEXT(TAILQ_FIRST(&server->queue.all), link), *next;
    for (; worker; worker = next) {
        next = TAILQ_NEXT(worker, link);
        if (!is_unused(worker))
            continue;
        TAILQ_REMOVE(&server->queue.all, worker, link);
        httpworker_destroy(worker);
    }
}

/* ---- accepting ---- */

/* MHD would serve all connections at once. Here they wait, where they cost little and none has to
 * be refused: without TLS in the kernel's listen queue. */
static bool may_serve(const struct server *server)
{
    return !server->hooks.may_accept ||
           server->hooks.may_accept(server->hooks.arg, server->connections);
}

/* Or the kernel keeps them. */
static bool may_accept(struct server *server)
{
    return server->tls ? arrivals_may_add(&server->waiting) : may_serve(server);
}

static void on_arrival(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    ((struct server *)poll->data)->arrived = true;
}

/* Without descriptors or memory for it, it is tried again later. */
static bool is_exhausted(int cause)
{
    return cause == EMFILE || cause == ENFILE || cause == ENOBUFS || cause == ENOMEM;
}

/* A client that waited too long has closed its connection, but its first message is still there: a
 * handshake with it takes as long as any other. And clients that connect and leave, over and over,
 * would delay those behind them in the queue (B8). */
static bool has_gone(const struct server *server, int fd, uint64_t user)
{
    struct pollfd end = {.fd = fd, .events = server->tls ? POLLRDHUP : 0};
    return (server->tls || user != WORKERQUEUE_SHARED) && poll(&end, 1, 0) > 0;
}

/* The shared worker takes a user's connection when he can have no worker of his own. False: the
 * client has gone. */
static bool add_connection(struct server *server, struct httpworker *shared, int fd,
                           const struct sockaddr_storage *address, socklen_t length)
{
    const uint64_t user =
        server->hooks.user ? server->hooks.user(server->hooks.arg, fd) : WORKERQUEUE_SHARED;
    if (has_gone(server, fd, user)) {
        close(fd);
        return false;
    }
    struct httpworker *own = user == WORKERQUEUE_SHARED ? NULL : worker_for(server, user, NULL);
    struct httpworker *worker = own ? own : shared;
    const unsigned before = worker->connections;
    httpworker_add_connection(worker, fd, (const struct sockaddr *)address, length);
    server->connections += worker->connections - before;
    if (server->connections > server->peak)
        server->peak = server->connections;
    return true;
}

/* A worker for the next connection; NULL: nothing is accepted now. */
static struct httpworker *accepting_worker(struct server *server)
{
    struct error err = {0};
    if (!may_serve(server))
        return NULL;
    struct httpworker *worker = worker_for(server, WORKERQUEUE_SHARED, &err);
    if (!worker && !server->fault_logged)
        log_line(LOG_WARNING, "no new connections are accepted: %s; retry every second", err.text);
    server->fault_logged = !worker;
    return worker;
}

/* A descriptor; -1: there is none now, and errno says why. */
static int accept_one(const struct server *server, struct sockaddr_storage *address,
                      socklen_t *length)
{
    int fd;
    do {
        *length = sizeof *address;
        fd = accept4(server->listener, (struct sockaddr *)address, length,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (fd < 0 && (errno == ECONNABORTED || errno == EINTR));
    return fd;
}

/* Until on_check starts it again. */
static void stop_accepting(struct server *server)
{
    uv_poll_stop(&server->arrivals);
}

/* A client whose connection is open waits; one that gets none gives up. */
static void accept_waiting(struct server *server)
{
    for (unsigned i = 0; i < ARRIVALS_AT_ONCE; i++) {
        struct sockaddr_storage address;
        socklen_t length;
        const bool room = arrivals_may_add(&server->waiting);
        const int fd = room ? accept_one(server, &address, &length) : -1;
        if (fd < 0) {
            if (!room || is_exhausted(errno))
                stop_accepting(server);
            return;
        }
        (void)arrivals_add(&server->waiting, fd, &address, length);
    }
}

/* From those that wait, or of a server without TLS from the kernel. */
static void serve_some(struct server *server)
{
    const unsigned at_once = server->tls ? HANDSHAKES_AT_ONCE : ARRIVALS_AT_ONCE;
    for (unsigned added = 0, gone = 0; added < at_once && gone < GONE_AT_ONCE;) {
        struct sockaddr_storage address;
        socklen_t length;
        struct httpworker *worker = accepting_worker(server);
        const int fd = !worker       ? -1
                       : server->tls ? arrivals_take(&server->waiting, &address, &length)
                                     : accept_one(server, &address, &length);
        if (!server->tls && (!worker || (fd < 0 && is_exhausted(errno))))
            stop_accepting(server);
        if (fd < 0)
            return;
        if (add_connection(server, worker, fd, &address, length))
            added++;
        else
            gone++;
    }
}

/* ---- turns ---- */

/* glibc would keep what many connections took until the broker ends. */
static void trim_memory(struct server *server)
{
    if (server->peak < CROWD || server->connections > server->peak / 4)
        return;
    server->peak = server->connections;
    const char *before = turn_enter(server->hooks.turn, "giving back memory of connections");
    (void)malloc_trim(0);
    turn_leave(server->hooks.turn, before);
}

static bool has_work(const struct server *server)
{
    return !TAILQ_EMPTY(&server->queue.shared) || !TAILQ_EMPTY(&server->queue.users);
}

static void on_rest_over(uv_timer_t *timer)
{
    struct server *server = timer->data;
    server->resting_ns = 0;
    for (struct httpworker *worker; (worker = TAILQ_FIRST(&server->resting));) {
        TAILQ_REMOVE(&server->resting, worker, turn);
        worker->queued = false;
        workerqueue_add(&server->queue, worker);
        httpworker_watch(worker);
    }
}

/* It claims to have more to do, and does nothing. All of those together have a tenth of the time;
 * until then they do not learn who is ready, either: they count as queued, and are not watched, or
 * a descriptor that is readable would not let the loop sleep. */
static void rest_worker(struct server *server, struct httpworker *worker, uint64_t took_ns)
{
    server->resting_ns += took_ns;
    const uint64_t rest_ms = server->resting_ns * REST_FACTOR / 1000000 + 1;
    worker->queued = true;
    uv_poll_stop(&worker->poll);
    TAILQ_INSERT_TAIL(&server->resting, worker, turn);
    if (uv_is_active((uv_handle_t *)&server->rest) && uv_timer_get_due_in(&server->rest) >= rest_ms)
        return;
    uv_update_time(server->loop);
    uv_timer_start(&server->rest, on_rest_over, rest_ms, 0);
}

static void run_worker(struct server *server, struct httpworker *worker)
{
    const uint64_t began = uv_hrtime();
    if (server->hooks.before_run && !server->hooks.before_run(server->hooks.arg))
        return;
    const unsigned connections = worker->connections;
    const enum httpworker_result result = httpworker_run(worker);
    const uint64_t took_ns = uv_hrtime() - began;
    server->connections += worker->connections - connections;
    *server->hooks.spent_ns += took_ns;
    if (result == WORKER_BUSY)
        workerqueue_add(&server->queue, worker);
    else if (result == WORKER_NO_PROGRESS)
        rest_worker(server, worker, took_ns);
}

/* One worker has its turn however long the other listener's took: many connections there do not
 * block this one. And one of a user's: busy managers block no user. */
static void run_workers(struct server *server)
{
    bool served = false, served_user = false;
    struct httpworker *worker;
    do {
        const bool has_time =
            !served || *server->hooks.spent_ns < (uint64_t)(server->tls ? TURN_TLS_NS : TURN_NS);
        worker = has_time ? workerqueue_take_shared(&server->queue) : NULL;
        if (!worker && (has_time || !served_user)) {
            worker = workerqueue_take_user(&server->queue);
            served_user = true;
        }
        if (worker)
            run_worker(server, worker);
        served = true;
    } while (worker);
}

/* Connections that workers close make room for those that have arrived. */
static void on_check(uv_check_t *check)
{
    struct server *server = check->data;
    if (has_work(server) || server->arrived || server->waiting.count > 0) {
        const char *before = turn_enter(server->hooks.turn, "clients' connections");
        run_workers(server);
        if (server->tls && server->arrived && server->listener >= 0)
            accept_waiting(server);
        if (server->tls ? server->waiting.count > 0 : server->arrived && server->listener >= 0)
            serve_some(server);
        turn_leave(server->hooks.turn, before);
    }
    if (!server->arrived && server->listener >= 0 &&
        !uv_is_active((uv_handle_t *)&server->arrivals) && may_accept(server))
        uv_poll_start(&server->arrivals, UV_READABLE, on_arrival);
    server->arrived = false;
    if (has_work(server))
        return;
    if (server->swept)
        close_unused_workers(server);
    server->swept = false;
    trim_memory(server);
}

/* That there is one is enough: the loop looks at who is ready, and does not wait. */
static void on_idle(uv_idle_t *idle)
{
    (void)idle;
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct server *server = prepare->data;
    *server->hooks.spent_ns = 0;
    /* Without a worker for them the loop does not turn for those that wait. */
    if (has_work(server) ||
        (server->waiting.count > 0 && !server->fault_logged && may_serve(server)))
        uv_idle_start(&server->idle, on_idle);
    else
        uv_idle_stop(&server->idle);
}

static void on_sweep(uv_timer_t *timer)
{
    struct server *server = timer->data;
    struct httpworker *worker;
    server->swept = true;
    TAILQ_FOREACH(worker, &server->queue.all, link)
    if (worker->connections > 0)
        workerqueue_add(&server->queue, worker);
}

/* ---- life ---- */

struct server *server_create(uv_loop_t *loop, int fd, bool tls, const struct server_hooks *hooks,
                             struct error *err)
{
    struct server *server = memory_zeroed(sizeof *server);
    server->loop = loop;
    server->hooks = *hooks;
    server->tls = tls;
    server->listener = fd;
    arrivals_init(&server->waiting, hooks->arrivals_max, (uint32_t)uv_hrtime());
    workerqueue_init(&server->queue);
    TAILQ_INIT(&server->resting);
    struct httpworker *first = add_worker(server, WORKERQUEUE_SHARED, err);
    int rc = first ? uv_poll_init(loop, &server->arrivals, fd) : 0;
    if (rc < 0) {
        error_set(err, ERROR_IO, "cannot watch the HTTP server's socket: %s", uv_strerror(rc));
        httpworker_destroy(first);
    }
    if (!first || rc < 0) {
        close(fd);
        free(server);
        return NULL;
    }
    uv_check_init(loop, &server->check);
    uv_prepare_init(loop, &server->prepare);
    uv_timer_init(loop, &server->sweep);
    uv_timer_init(loop, &server->rest);
    uv_idle_init(loop, &server->idle);
    server->check.data = server->prepare.data = server->sweep.data = server->rest.data =
        server->idle.data = server->arrivals.data = server;
    uv_prepare_start(&server->prepare, on_prepare);
    uv_check_start(&server->check, on_check);
    uv_timer_start(&server->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
    uv_poll_start(&server->arrivals, UV_READABLE, on_arrival);
    return server;
}

unsigned server_waiting(const struct server *server)
{
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (server->listener < 0 ||
        getsockopt(server->listener, IPPROTO_TCP, TCP_INFO, &info, &length) < 0)
        return server->waiting.count;
    return server->waiting.count + info.tcpi_unacked; /* of a listener: its queue */
}

void server_stop_accepting(struct server *server)
{
    if (server->listener < 0)
        return;
    uv_poll_stop(&server->arrivals);
    close(server->listener);
    server->listener = -1;
}

void server_quiesce(struct server *server)
{
    server_stop_accepting(server);
    arrivals_clear(&server->waiting);
}

static void on_closed(uv_handle_t *handle)
{
    struct server *server = handle->data;
    if (--server->handles > 0)
        return;
    server->closed(server->closed_arg);
    free(server);
}

void server_destroy(struct server *server, void (*closed)(void *arg), void *arg)
{
    void *const handles[] = {&server->arrivals, &server->check, &server->prepare,
                             &server->sweep,    &server->rest,  &server->idle};
    server->closed = closed;
    server->closed_arg = arg;
    server_quiesce(server);
    server->handles = sizeof handles / sizeof handles[0];
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++)
        uv_close(handles[i], on_closed);
    for (struct httpworker *worker; (worker = TAILQ_FIRST(&server->queue.all));) {
        TAILQ_REMOVE(&server->queue.all, worker, link);
        httpworker_destroy(worker);
    }
}
