#include "broker/http/server.h"

#include "broker/http/tls.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/abstract.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    RUNS_AT_ONCE = 16,         /* of MHD, before the rest of the loop gets its turn, */
    RUNS_NS = 3000000,         /* and none is begun later than that */
    RUNS_FOR_NOTHING = 4,      /* of MHD, in which it called nobody, before it has to wait */
    IDLE_LOOK_MS = 1000,       /* how often that is looked at while there are connections */
    CONNECTION_MEMORY = 16384, /* request line, headers and a piece of the body; MHD wipes all
                                  of it for each request */
    CROWD = 1024,              /* connections whose memory is worth giving back */
    ARRIVALS_AT_ONCE = 64,     /* accepted, before those who are here get their turn; */
    HANDSHAKES_AT_ONCE = 2,    /* of those with TLS, each of which takes a millisecond of work */
    HANDLES = 4
};

struct server {
    struct MHD_Daemon *daemon;
    struct server_hooks hooks;
    int listener;       /* -1: closed */
    uv_poll_t arrivals; /* of the listener; stopped while nobody is let in */
    uv_poll_t poll;
    uv_timer_t timer;
    uv_idle_t idle; /* active while MHD has more to do than one turn allows */
    unsigned connections, limit, handles;
    unsigned at_once; /* arrivals */
    unsigned peak;    /* of connections, since memory was last given back */
    bool shut;        /* nobody is let in for a while */
    bool running;     /* inside MHD_run */
    bool resumed;     /* something waits for the next MHD_run */
    bool stirred;     /* MHD called somebody in its last run */
    void (*closed)(void *arg);
    void *closed_arg;
};

static void on_arrival(uv_poll_t *poll, int status, int events);
static void on_timer(uv_timer_t *timer);
static void on_idle(uv_idle_t *idle);

/* ---- letting in ---- */

/* MHD would let everybody in, at once: here a crowd waits in the kernel's line, where it costs
 * nothing and nobody has to be sent away. */
static bool has_room(const struct server *server)
{
    return server->connections < server->limit &&
           (!server->hooks.has_room || server->hooks.has_room(server->hooks.arg));
}

static void shut(struct server *server)
{
    server->shut = true;
    uv_poll_stop(&server->arrivals);
}

static void open_again(struct server *server)
{
    if (!server->shut || server->listener < 0 || !has_room(server))
        return;
    server->shut = false;
    uv_poll_start(&server->arrivals, UV_READABLE, on_arrival);
}

/* Without descriptors or memory for it, it is tried again later. */
static bool is_exhausted(int cause)
{
    return cause == EMFILE || cause == ENFILE || cause == ENOBUFS || cause == ENOMEM;
}

/* False: nobody else is there, or is let in. */
static bool let_in(struct server *server)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (!has_room(server)) {
        shut(server);
        return false;
    }
    int fd = accept4(server->listener, (struct sockaddr *)&address, &length,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && is_exhausted(errno))
        shut(server);
    if (fd >= 0) /* closed by MHD if that fails */
        (void)MHD_add_connection(server->daemon, fd, (struct sockaddr *)&address, length);
    return fd >= 0 || errno == ECONNABORTED || errno == EINTR;
}

/* ---- its turn ---- */

/* MHD says that it has more to do than one turn allows. That can be for nothing: a connection with
 * a chunk's header longer than its buffer is never read again, and makes MHD ask for one more run
 * until it times out. Nothing tells but that nobody is called: then it gets a tenth of the time. */
static void go_on(struct server *server, bool for_nothing, uint64_t took_ns)
{
    if (!for_nothing) {
        uv_idle_start(&server->idle, on_idle);
        return;
    }
    uint64_t breath_ms = took_ns * 9 / 1000000 + 1;
    uv_idle_stop(&server->idle);
    uv_update_time(server->timer.loop);
    uv_timer_start(&server->timer, on_timer, breath_ms, IDLE_LOOK_MS);
}

/* glibc would keep what a crowd took until the broker ends. */
static void give_back(struct server *server)
{
    if (server->peak < CROWD || server->connections > server->peak / 4)
        return;
    server->peak = server->connections;
    (void)malloc_trim(0);
}

static void run(struct server *server)
{
    bool more = true;
    int for_nothing = 0; /* runs, one after another */
    uint64_t began = uv_hrtime();
    const char *before =
        server->hooks.turn ? turn_enter(server->hooks.turn, "clients' connections") : NULL;
    server->running = true;
    for (int i = 0; more && i < RUNS_AT_ONCE && for_nothing < RUNS_FOR_NOTHING; i++) {
        if (i > 0 && uv_hrtime() - began >= RUNS_NS)
            break;
        MHD_UNSIGNED_LONG_LONG wait;
        server->resumed = server->stirred = false;
        MHD_run(server->daemon);
        for_nothing = server->stirred || server->resumed ? 0 : for_nothing + 1;
        more = server->resumed || (MHD_get_timeout(server->daemon, &wait) == MHD_YES && wait == 0);
    }
    server->running = false;
    if (server->hooks.turn)
        turn_leave(server->hooks.turn, before);
    open_again(server);
    if (more) {
        go_on(server, for_nothing == RUNS_FOR_NOTHING, uv_hrtime() - began);
        return;
    }
    uv_idle_stop(&server->idle);
    give_back(server);
    if (server->connections == 0 && !server->shut)
        uv_timer_stop(&server->timer);
    else if (!uv_is_active((uv_handle_t *)&server->timer))
        uv_timer_start(&server->timer, on_timer, IDLE_LOOK_MS, IDLE_LOOK_MS);
}

static void on_arrival(uv_poll_t *poll, int status, int events)
{
    struct server *server = poll->data;
    (void)status;
    (void)events;
    for (unsigned i = 0; i < server->at_once && let_in(server); i++)
        ;
    run(server);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    run(poll->data);
}

static void on_timer(uv_timer_t *timer)
{
    run(timer->data);
}

static void on_idle(uv_idle_t *idle)
{
    run(idle->data);
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct server *server = arg;
    server->stirred = true;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        server->connections++;
    else
        server->connections--;
    if (server->connections > server->peak)
        server->peak = server->connections;
    server->hooks.connection(server->hooks.arg, connection, context, code);
}

static enum MHD_Result on_access(void *arg, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *data,
                                 size_t *size, void **context)
{
    struct server *server = arg;
    server->stirred = true;
    return server->hooks.access(server->hooks.arg, connection, url, method, version, data, size,
                                context);
}

/* Segments and parameters are decoded by target.h, after splitting. */
static size_t leave_escaped(void *arg, struct MHD_Connection *connection, char *text)
{
    (void)arg;
    (void)connection;
    return strlen(text);
}

/* MHD does not start TLS without a certificate of its own; sessions have theirs from elsewhere. */
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *authorities, int count,
                          const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                          gnutls_pcert_st **certificate, unsigned *length, gnutls_privkey_t *key)
{
    (void)session;
    (void)authorities;
    (void)count;
    (void)algorithms;
    (void)algorithm_count;
    (void)certificate;
    (void)length;
    (void)key;
    return -1;
}

static struct MHD_Daemon *daemon_start(struct server *server, bool tls)
{
    const struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    const struct MHD_OptionItem encrypted[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)no_certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES},
        {MHD_OPTION_END, 0, NULL}};
    const unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
                           (tls ? MHD_USE_TLS : 0u);
    return MHD_start_daemon(
        flags, 0, NULL, NULL, on_access, server, MHD_OPTION_CONNECTION_LIMIT, server->limit,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SERVER_IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_URI_LOG_CALLBACK,
        server->hooks.target, server->hooks.arg, MHD_OPTION_NOTIFY_COMPLETED,
        server->hooks.completed, server->hooks.arg, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
        server, MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL, MHD_OPTION_ARRAY,
        tls ? encrypted : plain, MHD_OPTION_END);
}

struct server *server_create(uv_loop_t *loop, int fd, bool tls, unsigned connections,
                             const struct server_hooks *hooks, struct error *err)
{
    struct server *server = calloc(1, sizeof *server);
    if (!server) {
        close(fd);
        error_set(err, ERROR_NOMEM, "no memory for the HTTP server");
        return NULL;
    }
    server->hooks = *hooks;
    server->limit = connections;
    server->at_once = tls ? HANDSHAKES_AT_ONCE : ARRIVALS_AT_ONCE;
    server->listener = fd;
    server->daemon = daemon_start(server, tls);
    if (!server->daemon) {
        error_set(err, ERROR_IO, "libmicrohttpd does not start (its own words: none; errno: %s)",
                  strerror(errno));
        close(fd);
        free(server);
        return NULL;
    }
    int epoll_fd = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    int rc = uv_poll_init(loop, &server->poll, epoll_fd);
    if (rc == 0)
        rc = uv_poll_init(loop, &server->arrivals, fd);
    if (rc < 0) {
        error_set(err, ERROR_IO, "cannot watch the HTTP server's descriptors: %s", uv_strerror(rc));
        MHD_stop_daemon(server->daemon);
        close(fd);
        free(server);
        return NULL;
    }
    uv_timer_init(loop, &server->timer);
    uv_idle_init(loop, &server->idle);
    server->poll.data = server->timer.data = server->idle.data = server->arrivals.data = server;
    uv_poll_start(&server->arrivals, UV_READABLE, on_arrival);
    uv_poll_start(&server->poll, UV_READABLE, on_readable);
    return server;
}

void server_resume(struct server *server, struct MHD_Connection *connection)
{
    MHD_resume_connection(connection);
    server->resumed = true;
}

void server_stir(struct server *server)
{
    server->stirred = true;
}

void server_turn(struct server *server)
{
    if (server->resumed && !server->running)
        run(server);
}

unsigned server_waiting(const struct server *server)
{
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (server->listener < 0 ||
        getsockopt(server->listener, IPPROTO_TCP, TCP_INFO, &info, &length) < 0)
        return 0;
    return info.tcpi_unacked; /* of a listener: its line */
}

void server_quiesce(struct server *server)
{
    if (server->listener < 0)
        return;
    uv_poll_stop(&server->arrivals);
    close(server->listener);
    server->listener = -1;
}

static void on_closed(uv_handle_t *handle)
{
    struct server *server = handle->data;
    if (--server->handles > 0)
        return;
    void (*closed)(void *arg) = server->closed;
    void *arg = server->closed_arg;
    free(server);
    closed(arg);
}

void server_destroy(struct server *server, void (*closed)(void *arg), void *arg)
{
    assert(!server->running);
    server->closed = closed;
    server->closed_arg = arg;
    server_quiesce(server);
    server->handles = HANDLES;
    uv_close((uv_handle_t *)&server->arrivals, on_closed);
    uv_close((uv_handle_t *)&server->poll, on_closed); /* before its descriptor goes away */
    uv_close((uv_handle_t *)&server->timer, on_closed);
    uv_close((uv_handle_t *)&server->idle, on_closed);
    MHD_stop_daemon(server->daemon);
    server->daemon = NULL;
}
