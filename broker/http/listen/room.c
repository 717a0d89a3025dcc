/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/room.h"

#include "broker/http/listen/mhd.h"
#include "broker/http/listen/tls.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CONNECTION_MEMORY = 16384, /* request line, headers and a piece of the body; MHD wipes all
                                  of it for each request */
    RUNS_FOR_NOTHING = 4       /* of MHD without a callback, before it has to wait */
};

struct room {
    struct MHD_Daemon *daemon;
    const struct room_hooks *hooks;
    const struct room_owner *owner;
    uv_poll_t poll;
    unsigned connections, places;
    unsigned expected; /* of the connections: MHD has not reported their start */
    int for_nothing;   /* runs, one after another */
    bool stirred;      /* MHD made a callback in its last run */
    bool resumed;      /* a connection, since it last began */
    struct roomqueue_user *user;
    bool listed;
    struct room *next; /* there */
    void (*closed)(void *arg);
    void *closed_arg;
};

/* ---- what MHD calls ---- */

static void count(struct room *room, int by)
{
    room->connections += (unsigned)by;
    room->owner->changed(room->owner->arg, by);
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct room *room = arg;
    room->stirred = true;
    if (code == MHD_CONNECTION_NOTIFY_STARTED && room->expected > 0)
        room->expected--; /* counted when it was let in */
    else
        count(room, code == MHD_CONNECTION_NOTIFY_STARTED ? 1 : -1);
    room->hooks->connection(room->hooks->arg, room, connection, context, code);
}

static enum MHD_Result on_access(void *arg, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *data,
                                 size_t *size, void **context)
{
    struct room *room = arg;
    room->stirred = true;
    return room->hooks->access(room->hooks->arg, connection, url, method, version, data, size,
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

/* ---- its turn ---- */

static void has_work(struct room *room)
{
    room->owner->has_work(room->owner->arg, room);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct room *room = poll->data;
    (void)status;
    (void)events;
    has_work(room);
}

/* A connection with a chunk's header longer than its buffer is never read again, and makes MHD ask
 * for one more run until it times out. The only sign is that MHD makes no callback. */
enum room_rest room_run(struct room *room)
{
    MHD_UNSIGNED_LONG_LONG wait;
    room->resumed = room->stirred = false;
    MHD_run(room->daemon);
    count(room, -(int)room->expected); /* it could not start these, and has closed them */
    room->expected = 0;
    if (room->stirred || room->resumed)
        room->for_nothing = 0;
    if (!room->resumed && (MHD_get_timeout(room->daemon, &wait) != MHD_YES || wait > 0)) {
        room->for_nothing = 0;
        return ROOM_QUIET;
    }
    if (room->stirred || room->resumed)
        return ROOM_BUSY;
    if (room->for_nothing == RUNS_FOR_NOTHING)
        return ROOM_RESTLESS;
    room->for_nothing++;
    return ROOM_BUSY;
}

void room_resume(struct room *room, struct MHD_Connection *connection)
{
    MHD_resume_connection(connection);
    room->resumed = true;
    has_work(room);
}

void room_stir(struct room *room)
{
    room->stirred = true;
}

/* ---- who is in it ---- */

unsigned room_connections(const struct room *room)
{
    return room->connections;
}

bool room_is_full(const struct room *room)
{
    return room->connections >= room->places;
}

void room_let_in(struct room *room, int fd, const struct sockaddr *address, socklen_t length)
{
    const unsigned before = room->connections;
    /* If that fails, fd is closed there. 1.0 starts connections in its next run. */
    if (MHD_add_connection(room->daemon, fd, address, length) == MHD_YES &&
        room->connections == before) {
        room->expected++;
        count(room, 1);
    }
    has_work(room);
}

/* ---- whose it is, and the line ---- */

struct roomqueue_user *room_user(const struct room *room)
{
    return room->user;
}

void room_set_user(struct room *room, struct roomqueue_user *user)
{
    room->user = user;
}

void room_list_add(struct room_list *line, struct room *room)
{
    if (room->listed)
        return;
    room->listed = true;
    room->next = NULL;
    if (line->last)
        line->last->next = room;
    else
        line->first = room;
    line->last = room;
}

struct room *room_list_take(struct room_list *line)
{
    struct room *room = line->first;
    if (!room)
        return NULL;
    line->first = room->next;
    if (!line->first)
        line->last = NULL;
    room->listed = false;
    return room;
}

bool room_is_listed(const struct room *room)
{
    return room->listed;
}

/* ---- life ---- */

static struct MHD_Daemon *daemon_start(struct room *room, bool tls)
{
    const struct MHD_OptionItem plain[] = {{MHD_OPTION_STRICT_FOR_CLIENT, mhd_checks_lines(), NULL},
                                           {MHD_OPTION_END, 0, NULL}};
    const struct MHD_OptionItem encrypted[] = {
        {MHD_OPTION_STRICT_FOR_CLIENT, mhd_checks_lines(), NULL},
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)no_certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES},
        {MHD_OPTION_END, 0, NULL}};
    const unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
                           (tls ? MHD_USE_TLS : 0u);
    return MHD_start_daemon(flags, 0, NULL, NULL, on_access, room, MHD_OPTION_CONNECTION_LIMIT,
                            room->places, MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)ROOM_IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            (size_t)CONNECTION_MEMORY, MHD_OPTION_URI_LOG_CALLBACK,
                            room->hooks->target, room->hooks->arg, MHD_OPTION_NOTIFY_COMPLETED,
                            room->hooks->completed, room->hooks->arg, MHD_OPTION_NOTIFY_CONNECTION,
                            on_connection, room, MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,
                            MHD_OPTION_ARRAY, tls ? encrypted : plain, MHD_OPTION_END);
}

struct room *room_create(uv_loop_t *loop, bool tls, unsigned places, const struct room_hooks *hooks,
                         const struct room_owner *owner, struct error *err)
{
    struct room *room = calloc(1, sizeof *room);
    if (!room) {
        error_set(err, ERROR_NOMEM, "no memory for the HTTP server");
        return NULL;
    }
    room->hooks = hooks;
    room->owner = owner;
    room->places = places;
    room->daemon = daemon_start(room, tls);
    if (!room->daemon) {
        error_set(err, ERROR_IO, "libmicrohttpd does not start (its own words: none; errno: %s)",
                  strerror(errno));
        free(room);
        return NULL;
    }
    int epoll_fd = MHD_get_daemon_info(room->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    int rc = uv_poll_init(loop, &room->poll, epoll_fd);
    if (rc < 0) {
        error_set(err, ERROR_IO, "cannot watch the HTTP server's descriptors: %s", uv_strerror(rc));
        MHD_stop_daemon(room->daemon);
        free(room);
        return NULL;
    }
    room->poll.data = room;
    uv_poll_start(&room->poll, UV_READABLE, on_readable);
    return room;
}

static void on_closed(uv_handle_t *handle)
{
    struct room *room = handle->data;
    void (*closed)(void *arg) = room->closed;
    void *arg = room->closed_arg;
    free(room);
    closed(arg);
}

void room_destroy(struct room *room, void (*closed)(void *arg), void *arg)
{
    room->closed = closed;
    room->closed_arg = arg;
    uv_close((uv_handle_t *)&room->poll, on_closed); /* before its descriptor goes away */
    MHD_stop_daemon(room->daemon);
}
