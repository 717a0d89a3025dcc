/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/server.h"

#include "broker/log/log.h"

#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TURN_NS =
        1500000, /* no second room of a listener begins when so much of a turn went to rooms */
    RESTLESS_PAUSE = 9,     /* times as long as they ran for nothing restless rooms have to wait */
    IDLE_LOOK_MS = 1000,    /* how often rooms run for timeouts while there are connections */
    CROWD = 1024,           /* connections whose memory is worth giving back */
    ARRIVALS_AT_ONCE = 64,  /* accepted, before those who are here get their turn; */
    GONE_AT_ONCE = 1024,    /* of those who have left meanwhile, who cost little; */
    HANDSHAKES_AT_ONCE = 2, /* of those with TLS, each of which computes for one or two */
    HANDLES = 6
};

static const char clients[] = "clients' connections";

struct server {
    uv_loop_t *loop;
    struct server_hooks hooks;
    struct room_owner owner;
    struct room **rooms;
    unsigned room_count;
    struct roomqueue queue;    /* of those that have work */
    struct room_list restless; /* of those that have to wait */
    uint64_t restless_ns;      /* that these ran since they last had their turn */
    int listener;              /* -1: closed */
    bool tls;
    uv_poll_t arrivals;   /* of the listener; stopped while nothing is accepted */
    uv_check_t check;     /* after all ready descriptors were handled */
    uv_prepare_t prepare; /* before it waits: a turn is over */
    uv_timer_t timer, pause;
    uv_idle_t idle; /* active while rooms have work: the loop does not wait */
    unsigned connections, limit;
    unsigned handles; /* of the loop, those of rooms included, until they are closed */
    unsigned peak;    /* of connections, since memory was last given back */
    bool shut;        /* nothing is accepted for a while */
    uint64_t own_spent_ns, *spent_ns; /* on rooms, in this turn of the loop */
    bool mute;                        /* that no room can be made was said */
    bool running;                     /* a room */
    bool served;                      /* one, in this turn */
    bool served_users;                /* one that is a user's own, in this turn */
    bool looked;                      /* at all rooms, for timeouts */
    void (*closed)(void *arg);
    void *closed_arg;
};

static void on_arrival(uv_poll_t *poll, int status, int events);
static void on_timer(uv_timer_t *timer);
static void run_rooms(struct server *server);
static void on_room_closed(void *arg);

/* ---- what the watchdog calls it ---- */

static const char *account_enter(const struct server *server, const char *what)
{
    return server->hooks.turn ? turn_enter(server->hooks.turn, what) : NULL;
}

static void account_leave(const struct server *server, const char *before)
{
    if (server->hooks.turn)
        turn_leave(server->hooks.turn, before);
}

/* ---- rooms ---- */

static void has_work(void *arg, struct room *room)
{
    struct server *server = arg;
    roomqueue_add(&server->queue, room);
}

static void count_connections(void *arg, int by)
{
    struct server *server = arg;
    server->connections += (unsigned)by;
    if (server->connections > server->peak)
        server->peak = server->connections;
}

static unsigned places_in_room(const struct server *server, uint64_t user)
{
    return server->tls                ? ROOM_PLACES_TLS
           : user == ROOMQUEUE_SHARED ? ROOM_PLACES
                                      : ROOM_PLACES_USER;
}

static struct room *add_room(struct server *server, uint64_t user, struct error *err)
{
    struct room **rooms =
        reallocarray(server->rooms, server->room_count + 1u, sizeof(struct room *));
    if (!rooms) {
        error_set(err, ERROR_NOMEM, "no memory for the HTTP server");
        return NULL;
    }
    server->rooms = rooms;
    struct room *room = room_create(server->loop, server->tls, places_in_room(server, user),
                                    &server->hooks.room, &server->owner, err);
    if (!room)
        return NULL;
    rooms[server->room_count++] = room;
    server->handles++;
    if (roomqueue_assign(&server->queue, room, user))
        return room;
    error_set(err, ERROR_NOMEM,
              "no memory for the HTTP server"); /* it goes as all that are empty */
    return NULL;
}

static bool is_unused(const struct room *room)
{
    return room_connections(room) == 0 && !room_is_listed(room);
}

/* The first that has a place, so that others become empty when a crowd has gone; or one that
 * another user has left. */
static struct room *room_with_place(struct server *server, uint64_t user, struct error *err)
{
    struct room *room, *left = NULL;
    for (unsigned i = 0; i < server->room_count; i++) {
        room = server->rooms[i];
        const uint64_t whose = roomqueue_user_of(room);
        if (whose == user && !room_is_full(room))
            return room;
        if (user != ROOMQUEUE_SHARED && whose != ROOMQUEUE_SHARED && is_unused(room))
            left = room;
    }
    if (left && roomqueue_assign(&server->queue, left, user))
        return left;
    return add_room(server, user, err);
}

/* A user without a room of his own gets a place in a shared one. */
static struct room *room_for(struct server *server, uint64_t user, struct room *shared)
{
    struct error err = {0};
    struct room *own = user == ROOMQUEUE_SHARED ? NULL : room_with_place(server, user, &err);
    return own ? own : shared;
}

/* But for the first. */
static void close_empty_rooms(struct server *server)
{
    for (unsigned i = server->room_count - 1; i > 0; i--) {
        if (!is_unused(server->rooms[i]))
            continue;
        (void)roomqueue_assign(&server->queue, server->rooms[i], ROOMQUEUE_SHARED);
        room_destroy(server->rooms[i], on_room_closed, server);
        server->rooms[i] = server->rooms[--server->room_count];
    }
}

/* Rooms that have nothing to do are looked at later: their connections may time out, or others can
 * be accepted. */
static void look_again(struct server *server)
{
    if (!uv_is_active((uv_handle_t *)&server->timer))
        uv_timer_start(&server->timer, on_timer, IDLE_LOOK_MS, IDLE_LOOK_MS);
}

/* ---- letting in ---- */

/* MHD would accept all connections at once. Here they wait in the kernel's listen queue, where they
 * cost nothing and none has to be refused. */
static bool has_room(const struct server *server)
{
    return server->connections < server->limit &&
           (!server->hooks.has_room || server->hooks.has_room(server->hooks.room.arg));
}

static void pause_accepting(struct server *server)
{
    server->shut = true;
    uv_poll_stop(&server->arrivals);
    look_again(server);
}

static void resume_accepting(struct server *server)
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

/* A client that waited too long has closed its connection, but its first message is still there: a
 * handshake with it takes as long as any other. And clients that connect and leave, over and over,
 * would delay those behind them in the queue (B8). */
static bool has_gone(const struct server *server, int fd, uint64_t user)
{
    struct pollfd end = {.fd = fd, .events = server->tls ? POLLRDHUP : 0};
    return (server->tls || user != ROOMQUEUE_SHARED) && poll(&end, 1, 0) > 0;
}

enum arrival { ARRIVAL_NONE, ARRIVAL_GONE, ARRIVAL_IN };

/* NONE: the queue is empty, or nothing is accepted now. */
static enum arrival let_in(struct server *server)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    struct error err = {0};
    struct room *room = has_room(server) ? room_with_place(server, ROOMQUEUE_SHARED, &err) : NULL;
    if (err.code != 0 && !server->mute)
        log_line(LOG_WARNING, "no new connections are accepted: %s; retry every second", err.text);
    if (room || err.code != 0)
        server->mute = !room;
    if (!room) {
        pause_accepting(server);
        return ARRIVAL_NONE;
    }
    int fd = accept4(server->listener, (struct sockaddr *)&address, &length,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && is_exhausted(errno))
        pause_accepting(server);
    if (fd < 0)
        return errno == ECONNABORTED || errno == EINTR ? ARRIVAL_GONE : ARRIVAL_NONE;
    const uint64_t user =
        server->hooks.user ? server->hooks.user(server->hooks.room.arg, fd) : ROOMQUEUE_SHARED;
    if (has_gone(server, fd, user)) {
        close(fd);
        return ARRIVAL_GONE;
    }
    room_let_in(room_for(server, user, room), fd, (struct sockaddr *)&address, length);
    return ARRIVAL_IN;
}

/* ---- its turn ---- */

/* glibc would keep what a crowd took until the broker ends. */
static void trim_memory(struct server *server)
{
    if (server->peak < CROWD || server->connections > server->peak / 4)
        return;
    server->peak = server->connections;
    const char *before = account_enter(server, "giving back a crowd's memory");
    (void)malloc_trim(0);
    account_leave(server, before);
}

static void become_idle(struct server *server)
{
    uv_idle_stop(&server->idle);
    if (server->looked)
        close_empty_rooms(server);
    server->looked = false;
    trim_memory(server);
    if (server->connections == 0 && server->room_count == 1 && !server->shut)
        uv_timer_stop(&server->timer);
    else
        look_again(server);
}

static void on_pause_over(uv_timer_t *timer)
{
    struct server *server = timer->data;
    server->restless_ns = 0;
    for (struct room *room; (room = room_list_take(&server->restless));)
        roomqueue_add(&server->queue, room);
    run_rooms(server);
}

/* It says that it has more to do, and does nothing. All of those together have a tenth of the time;
 * until then they do not hear of who is ready, either. */
static void delay_room(struct server *server, struct room *room, uint64_t took_ns)
{
    server->restless_ns += took_ns;
    const uint64_t pause_ms = server->restless_ns * RESTLESS_PAUSE / 1000000 + 1;
    room_list_add(&server->restless, room);
    if (uv_is_active((uv_handle_t *)&server->pause) &&
        uv_timer_get_due_in(&server->pause) >= pause_ms)
        return;
    uv_update_time(server->loop);
    uv_timer_start(&server->pause, on_pause_over, pause_ms, 0);
}

/* That there is one is enough: the loop looks at who is ready, and does not wait. */
static void on_idle(uv_idle_t *idle)
{
    (void)idle;
}

/* One room has its turn whatever the other listener's took: many connections there do not block
 * this one. And one of a user's: busy managers block no user. */
static struct room *next_room(struct server *server)
{
    const bool has_time = !server->served || *server->spent_ns < TURN_NS;
    struct room *room = has_time ? roomqueue_take_first(&server->queue) : NULL;
    server->served = server->served || room;
    if (room || (!has_time && server->served_users))
        return room;
    room = roomqueue_take_users(&server->queue);
    server->served = server->served || room;
    server->served_users = server->served_users || room;
    return room;
}

static void run_rooms(struct server *server)
{
    const char *before = account_enter(server, clients);
    uint64_t began = uv_hrtime();
    server->running = true;
    for (struct room *room; (room = next_room(server));) {
        if (server->hooks.look)
            server->hooks.look(server->hooks.room.arg);
        const enum room_rest left = room_run(room);
        const uint64_t now = uv_hrtime(), took_ns = now - began;
        began = now;
        *server->spent_ns += took_ns;
        if (left == ROOM_BUSY)
            roomqueue_add(&server->queue, room);
        if (left == ROOM_RESTLESS)
            delay_room(server, room, took_ns);
    }
    server->running = false;
    account_leave(server, before);
    resume_accepting(server);
    if (roomqueue_is_empty(&server->queue))
        become_idle(server);
    else
        uv_idle_start(&server->idle, on_idle);
}

static void on_arrival(uv_poll_t *poll, int status, int events)
{
    struct server *server = poll->data;
    const unsigned at_once = server->tls ? HANDSHAKES_AT_ONCE : ARRIVALS_AT_ONCE;
    (void)status;
    (void)events;
    server_turn(server); /* closed connections free their places */
    const char *before = account_enter(server, clients);
    enum arrival arrival = ARRIVAL_GONE;
    for (unsigned in = 0, gone = 0;
         arrival != ARRIVAL_NONE && in < at_once && gone < GONE_AT_ONCE;) {
        arrival = let_in(server);
        in += arrival == ARRIVAL_IN;
        gone += arrival == ARRIVAL_GONE;
    }
    account_leave(server, before);
}

static void on_check(uv_check_t *check)
{
    server_turn(check->data);
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct server *server = prepare->data;
    *server->spent_ns = 0;
    server->served = server->served_users = false;
}

static void on_timer(uv_timer_t *timer)
{
    struct server *server = timer->data;
    server->looked = true;
    for (unsigned i = 0; i < server->room_count; i++)
        if (room_connections(server->rooms[i]) > 0)
            roomqueue_add(&server->queue, server->rooms[i]);
    run_rooms(server);
}

/* ---- life ---- */

struct server *server_create(uv_loop_t *loop, int fd, bool tls, unsigned connections,
                             const struct server_hooks *hooks, struct error *err)
{
    struct server *server = calloc(1, sizeof *server);
    if (!server) {
        close(fd);
        error_set(err, ERROR_NOMEM, "no memory for the HTTP server");
        return NULL;
    }
    server->loop = loop;
    server->hooks = *hooks;
    server->spent_ns = hooks->spent_ns ? hooks->spent_ns : &server->own_spent_ns;
    server->owner =
        (struct room_owner){.arg = server, .has_work = has_work, .changed = count_connections};
    server->limit = connections;
    server->tls = tls;
    server->listener = fd;
    if (!add_room(server, ROOMQUEUE_SHARED, err)) {
        close(fd);
        free(server->rooms);
        free(server);
        return NULL;
    }
    int rc = uv_poll_init(loop, &server->arrivals, fd);
    if (rc < 0) {
        error_set(err, ERROR_IO, "cannot watch the HTTP server's socket: %s", uv_strerror(rc));
        close(fd);
        room_destroy(server->rooms[0], on_room_closed, server);
        return NULL;
    }
    uv_check_init(loop, &server->check);
    uv_prepare_init(loop, &server->prepare);
    uv_timer_init(loop, &server->timer);
    uv_timer_init(loop, &server->pause);
    uv_idle_init(loop, &server->idle);
    server->handles += HANDLES;
    server->check.data = server->prepare.data = server->timer.data = server->pause.data =
        server->idle.data = server->arrivals.data = server;
    uv_prepare_start(&server->prepare, on_prepare);
    uv_check_start(&server->check, on_check);
    uv_poll_start(&server->arrivals, UV_READABLE, on_arrival);
    return server;
}

void server_turn(struct server *server)
{
    if (!roomqueue_is_empty(&server->queue) && !server->running)
        run_rooms(server);
}

unsigned server_waiting(const struct server *server)
{
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (server->listener < 0 ||
        getsockopt(server->listener, IPPROTO_TCP, TCP_INFO, &info, &length) < 0)
        return 0;
    return info.tcpi_unacked; /* of a listener: its queue */
}

void server_quiesce(struct server *server)
{
    if (server->listener < 0)
        return;
    uv_poll_stop(&server->arrivals);
    close(server->listener);
    server->listener = -1;
}

static void on_closed(struct server *server)
{
    if (--server->handles > 0)
        return;
    void (*closed)(void *arg) = server->closed;
    void *arg = server->closed_arg;
    free(server->rooms);
    free(server);
    if (closed)
        closed(arg);
}

static void on_handle_closed(uv_handle_t *handle)
{
    on_closed(handle->data);
}

static void on_room_closed(void *arg)
{
    on_closed(arg);
}

void server_destroy(struct server *server, void (*closed)(void *arg), void *arg)
{
    assert(!server->running);
    server->closed = closed;
    server->closed_arg = arg;
    server_quiesce(server);
    uv_close((uv_handle_t *)&server->arrivals, on_handle_closed);
    uv_close((uv_handle_t *)&server->check, on_handle_closed);
    uv_close((uv_handle_t *)&server->prepare, on_handle_closed);
    uv_close((uv_handle_t *)&server->timer, on_handle_closed);
    uv_close((uv_handle_t *)&server->pause, on_handle_closed);
    uv_close((uv_handle_t *)&server->idle, on_handle_closed);
    for (unsigned i = 0; i < server->room_count; i++)
        room_destroy(server->rooms[i], on_room_closed, server);
    roomqueue_release(&server->queue);
    server->room_count = 0;
}
