/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/httpworker.h"

#include "broker/http/listen/server.h"
#include "broker/http/listen/tls.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/abstract.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONNECTION_MEMORY = 16384, /* request line, headers and a piece of the body; MHD wipes all
                                  of it for each request */
    IDLE_RUNS_MAX = 4,         /* of MHD without progress, before it has to wait; */
    IDLE_RUNS_HANDSHAKE = 1    /* where a handshake that waits explains it */
};

/* ---- what MHD calls ---- */

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct httpworker *worker = arg;
    worker->progress = true;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED)
        worker->connections--;
    else if (worker->unreported > 0)
        worker->unreported--; /* counted when it was added */
    else
        worker->connections++;
    worker->hooks->connection(worker->hooks->arg, worker, connection, context, code);
}

static enum MHD_Result on_access(void *arg, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *data,
                                 size_t *size, void **context)
{
    struct httpworker *worker = arg;
    worker->progress = true;
    return worker->hooks->access(worker->hooks->arg, connection, url, method, version, data, size,
                                 context);
}

/* Segments and parameters are decoded by target.h, after splitting. */
static size_t leave_escaped(void *arg, struct MHD_Connection *connection, char *text)
{
    (void)arg;
    (void)connection;
    return strlen(text);
}

/* MHD does not start TLS without a certificate of its own; sessions have theirs from tls.c. */
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int count,
                          const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                          gnutls_pcert_st **certificate, unsigned *length, gnutls_privkey_t *key)
{
    (void)session, (void)authorities, (void)count, (void)algorithms, (void)algorithm_count;
    (void)certificate, (void)length, (void)key;
    return -1;
}

/* ---- running ---- */

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct httpworker *worker = poll->data;
    (void)status;
    (void)events;
    workerqueue_add(worker->queue, worker);
}

void httpworker_watch(struct httpworker *worker)
{
    uv_poll_start(&worker->poll, UV_READABLE, on_readable);
}

/* A connection with a chunk's header longer than its buffer is never read again, and makes MHD ask
 * for one more run until it times out. The only sign is that there is no progress.
 *
 * A handshake that waits for its client makes MHD ask for more runs, too. Its next bytes make the
 * descriptor readable, and nothing is lost if the worker waits for them, unless it is sending an
 * answer: MHD sends one piece in a run, without telling. */
enum httpworker_result httpworker_run(struct httpworker *worker)
{
    MHD_UNSIGNED_LONG_LONG wait;
    worker->resumed = worker->progress = false;
    MHD_run(worker->daemon);
    worker->connections -= worker->unreported; /* it could not start these, and has closed them */
    worker->unreported = 0;
    const bool more =
        worker->resumed || (MHD_get_timeout(worker->daemon, &wait) == MHD_YES && wait == 0);
    if (!more || worker->progress || worker->resumed) {
        worker->idle_runs = 0;
        return more ? WORKER_BUSY : WORKER_QUIET;
    }
    const bool handshake = worker->handshakes > 0 && worker->answering == 0;
    if (handshake && worker->idle_runs >= IDLE_RUNS_HANDSHAKE)
        return WORKER_QUIET;
    if (worker->idle_runs == IDLE_RUNS_MAX)
        return WORKER_NO_PROGRESS;
    worker->idle_runs++;
    return WORKER_BUSY;
}

void httpworker_resume(struct httpworker *worker, struct MHD_Connection *connection)
{
    MHD_resume_connection(connection);
    worker->resumed = true;
    workerqueue_add(worker->queue, worker);
}

void httpworker_add_connection(struct httpworker *worker, int fd, const struct sockaddr *address,
                               socklen_t length)
{
    const unsigned before = worker->connections;
    /* If that fails, fd is closed there. 1.0 starts connections in its next run. */
    if (MHD_add_connection(worker->daemon, fd, address, length) == MHD_YES &&
        worker->connections == before) {
        worker->unreported++;
        worker->connections++;
    }
    workerqueue_add(worker->queue, worker);
}

/* ---- life ---- */

static struct MHD_Daemon *daemon_start(struct httpworker *worker, bool tls)
{
    const struct server_hooks *hooks = worker->hooks;
    const struct MHD_OptionItem encrypted[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)no_certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES},
        {MHD_OPTION_END, 0, NULL}};
    const struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    const unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
                           (tls ? MHD_USE_TLS : 0u);
    return MHD_start_daemon(
        flags, 0, NULL, NULL, on_access, worker, MHD_OPTION_CONNECTION_LIMIT, worker->capacity,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)WORKER_IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_URI_LOG_CALLBACK,
        hooks->target, hooks->arg, MHD_OPTION_NOTIFY_COMPLETED, hooks->completed, hooks->arg,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, worker, MHD_OPTION_UNESCAPE_CALLBACK,
        leave_escaped, NULL, MHD_OPTION_STRICT_FOR_CLIENT, (int)mhd_checks_lines(MHD_get_version()),
        MHD_OPTION_ARRAY, tls ? encrypted : none, MHD_OPTION_END);
}

struct httpworker *httpworker_create(uv_loop_t *loop, bool tls, unsigned capacity,
                                     const struct server_hooks *hooks, struct workerqueue *queue,
                                     struct error *err)
{
    struct httpworker *worker = memory_zeroed(sizeof *worker);
    int rc;
    worker->hooks = hooks;
    worker->queue = queue;
    worker->capacity = capacity;
    worker->poll.data = worker;
    worker->daemon = daemon_start(worker, tls);
    if (!worker->daemon) {
        error_set(err, ERROR_IO, "libmicrohttpd does not start (it gives no reason; errno: %s)",
                  strerror(errno));
    } else if ((rc = uv_poll_init(
                    loop, &worker->poll,
                    MHD_get_daemon_info(worker->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd)) < 0) {
        error_set(err, ERROR_IO, "cannot watch the HTTP server's descriptors: %s", uv_strerror(rc));
        MHD_stop_daemon(worker->daemon);
    } else {
        httpworker_watch(worker);
        return worker;
    }
    free(worker);
    return NULL;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void httpworker_destroy(struct httpworker *worker)
{
    uv_close((uv_handle_t *)&worker->poll, on_closed); /* before its descriptor goes away */
    MHD_stop_daemon(worker->daemon);
}

/* ---- the queue ---- */

void workerqueue_init(struct workerqueue *queue)
{
    *queue = (struct workerqueue){0};
    TAILQ_INIT(&queue->all);
    TAILQ_INIT(&queue->shared);
    TAILQ_INIT(&queue->users);
}

/* A user without another worker counts as served just now: he waits for those who came before. */
void workerqueue_assign(struct workerqueue *queue, struct httpworker *worker, uint64_t user)
{
    const struct httpworker *other;
    assert(!worker->queued);
    worker->served = queue->turns;
    TAILQ_FOREACH(other, &queue->all, link)
    if (other != worker && other->user == user)
        worker->served = other->served;
    worker->user = user;
}

static struct worker_list *list_of(struct workerqueue *queue, const struct httpworker *worker)
{
    return worker->user == WORKERQUEUE_SHARED ? &queue->shared : &queue->users;
}

void workerqueue_add(struct workerqueue *queue, struct httpworker *worker)
{
    if (worker->queued)
        return;
    worker->queued = true;
    TAILQ_INSERT_TAIL(list_of(queue, worker), worker, turn);
}

static struct httpworker *take(struct workerqueue *queue, struct httpworker *worker)
{
    if (worker) {
        TAILQ_REMOVE(list_of(queue, worker), worker, turn);
        worker->queued = false;
    }
    return worker;
}

struct httpworker *workerqueue_take_shared(struct workerqueue *queue)
{
    return take(queue, TAILQ_FIRST(&queue->shared));
}

struct httpworker *workerqueue_take_user(struct workerqueue *queue)
{
    struct httpworker *next = TAILQ_FIRST(&queue->users), *other;
    if (!next)
        return NULL;
    TAILQ_FOREACH(other, &queue->users, turn)
    if (other->served < next->served)
        next = other;
    queue->turns++;
    TAILQ_FOREACH(other, &queue->all, link)
    if (other->user == next->user)
        other->served = queue->turns;
    return take(queue, next);
}

/* ---- libmicrohttpd ---- */

bool mhd_checks_lines(const char *version)
{
    return strtoul(version, NULL, 10) >= 1;
}

bool mhd_remark(const char *version, char *line, size_t size)
{
    if (strcmp(version, "0.9.75") == 0 || strcmp(version, "1.0.1") == 0)
        return false;
    snprintf(line, size,
             "libmicrohttpd %s was not tried with mcastd (0.9.75 and 1.0.1 were): try it on a test "
             "system first",
             version);
    return true;
}
