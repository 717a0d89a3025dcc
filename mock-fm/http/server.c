/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/http/server.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "mock-fm/http/call.h"
#include "mock-fm/options.h"

#define RUNS_AT_ONCE 64 /* rounds of libmicrohttpd before others on the loop have their turn */
#define CONNECTIONS_MAX 16384
#define DESCRIPTORS_SPARE 32U /* for the state file, the loop and the like */
#define IDLE_SECONDS 300      /* then a kept connection is closed */
#define BACKLOG 4096

struct server {
    struct calls calls; /* first */
    struct tls *tls;    /* NULL: plain HTTP */
    bool for_jobs;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    uv_timer_t timer;
    uv_idle_t idle;
};

static void on_idle(uv_idle_t *idle);

static void on_timeout(uv_timer_t *timer)
{
    on_idle(&((struct server *)timer->data)->idle);
}

/* libmicrohttpd may have more to do than its descriptor tells (pipelined requests): after every run
 * it has to be asked. */
static void run_daemon(struct server *server)
{
    MHD_UNSIGNED_LONG_LONG timeout;
    for (int i = 0; i < RUNS_AT_ONCE; i++) {
        MHD_run(server->daemon);
        if (MHD_get_timeout(server->daemon, &timeout) != MHD_YES) {
            uv_timer_stop(&server->timer);
            uv_idle_stop(&server->idle);
            return;
        }
        if (timeout > 0) {
            uv_timer_start(&server->timer, on_timeout, timeout, 0);
            uv_idle_stop(&server->idle);
            return;
        }
    }
    uv_idle_start(&server->idle, on_idle);
}

static void on_idle(uv_idle_t *idle)
{
    run_daemon(idle->data);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    run_daemon(poll->data);
}

/* In the loop's next round, once for all the connections resumed in this one. */
static void wake(struct calls *calls)
{
    struct server *server = (struct server *)(void *)calls; /* its first member */
    uv_idle_start(&server->idle, on_idle);
}

static int listen_at(const struct addrinfo *address)
{
    int one = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int cause = errno;
    close(fd);
    return -cause;
}

static int open_socket(const char *host, const char *port, struct problem *problem)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *addresses;
    int fd = -EADDRNOTAVAIL, result = getaddrinfo(host, port, &hints, &addresses);
    if (result != 0)
        return problem_set(problem, 500, "cannot listen at %s:%s: %s", host, port,
                           gai_strerror(result));
    for (const struct addrinfo *address = addresses; address && fd < 0; address = address->ai_next)
        fd = listen_at(address);
    freeaddrinfo(addresses);
    if (fd < 0)
        return problem_set(problem, 500, "cannot listen at %s:%s: %s", host, port, strerror(-fd));
    return fd;
}

/* As many as the system lets us have descriptors for, raising the soft limit as far as it goes. */
static unsigned connection_limit(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit); /* cannot fail */
    limit.rlim_cur = CONNECTIONS_MAX + DESCRIPTORS_SPARE;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur > 2 * DESCRIPTORS_SPARE ? (unsigned)limit.rlim_cur - DESCRIPTORS_SPARE
                                                  : DESCRIPTORS_SPARE;
}

static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct server *server = cls;
    if (server->tls && what == MHD_CONNECTION_NOTIFY_STARTED)
        tls_attach(
            server->tls,
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session,
            server->for_jobs);
    call_on_connection(cls, connection, context, what);
}

/* libmicrohttpd wants a source of certificates, and never calls it: on_connection gives each
 * connection credentials of its own. */
static int no_certificate(void)
{
    return -1;
}

static struct MHD_Daemon *start_daemon(struct server *server, int fd)
{
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)no_certificate},
        {MHD_OPTION_END, 0, NULL},
    };
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (server->tls ? MHD_USE_TLS : 0);
    return MHD_start_daemon(flags, 0, NULL, NULL, call_on_request, &server->calls,
                            MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
                            connection_limit(), MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)IDLE_SECONDS, MHD_OPTION_NOTIFY_COMPLETED, call_on_completed,
                            &server->calls, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
                            MHD_OPTION_ARRAY, server->tls ? tls : tls + 1, MHD_OPTION_END);
}

struct server *server_create(uv_loop_t *loop, struct control *control,
                             const struct listener *listener, struct tls *tls, uint64_t latency_ms,
                             struct problem *problem)
{
    int fd = open_socket(listener->host, listener->port, problem);
    if (fd < 0)
        return NULL;
    struct server *server = memory_zeroed(sizeof *server);
    server->calls =
        (struct calls){.control = control, .latency_ms = latency_ms, .loop = loop, .wake = wake};
    server->tls = tls;
    server->for_jobs = listener->for_jobs;
    if (!(server->daemon = start_daemon(server, fd))) {
        problem_set(problem, 500, "cannot start the HTTP server at %s:%s", listener->host,
                    listener->port);
        close(fd);
        free(server);
        return NULL;
    }
    uv_timer_init(loop, &server->timer);
    uv_idle_init(loop, &server->idle);
    uv_poll_init(loop, &server->poll,
                 MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd);
    server->timer.data = server->idle.data = server->poll.data = server;
    uv_poll_start(&server->poll, UV_READABLE, on_readable);
    return server;
}

unsigned server_port(const struct server *server)
{
    return MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
}

void server_close(struct server *server)
{
    uv_close((uv_handle_t *)&server->poll, NULL);
    uv_close((uv_handle_t *)&server->timer, NULL);
    uv_close((uv_handle_t *)&server->idle, NULL);
    calls_abandon(&server->calls);
    MHD_run(server->daemon); /* resumed connections must have gone on before the stop */
    MHD_stop_daemon(server->daemon);
    server->daemon = NULL;
}

void server_destroy(struct server *server)
{
    free(server);
}
