/* SPDX-License-Identifier: Apache-2.0 */
/* Over the broker's Unix socket: nothing but libc, because most programs that ask make one request
 * and end. */

#include "client/text.h"
#include "client/transport/reply.h"
#include "client/transport/broker.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PIECE_SIZE = 16384, /* read at a time */
    PIECES_MAX = 16,    /* in one turn: others are served as well */
};

/* One connection to the socket, and the request that has it at the moment. */
struct connection {
    const struct endpoint *endpoint;
    struct request *request; /* NULL: idle */
    int fd;
    bool used;  /* it has had another request before */
    char *text; /* the request as it is sent; NULL: it is written */
    size_t length, sent;
    struct reply reply;
    struct connection *next; /* of the idle ones */
};

struct unix_transport {
    struct transport transport; /* first, so that the two have one address */
    struct connection *idle;
};

/* ---- connections ---- */

/* A token may be in it. */
static void forget_text(struct connection *connection)
{
    if (connection->text)
        explicit_bzero(connection->text, connection->length);
    free(connection->text);
    connection->text = NULL;
}

static void close_connection(struct connection *connection)
{
    int saved = errno;
    forget_text(connection);
    if (connection->fd >= 0)
        close(connection->fd);
    free(connection);
    errno = saved;
}

/* Of one that is idle: whether the broker still has it. */
static bool is_alive(const struct connection *connection)
{
    char byte;
    return recv(connection->fd, &byte, 1, MSG_PEEK) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK);
}

static struct connection *take_idle(struct unix_transport *self, const struct endpoint *endpoint)
{
    struct connection **place = &self->idle;
    for (struct connection *connection; (connection = *place);) {
        if (connection->endpoint != endpoint) {
            place = &connection->next;
            continue;
        }
        *place = connection->next;
        if (is_alive(connection))
            return connection;
        close_connection(connection);
    }
    return NULL;
}

/* NULL: the request knows why. Nothing is sent to a server that is not trusted: a token may be in
 * it. */
static struct connection *open_connection(struct request *request)
{
    const struct endpoint *endpoint = request->endpoint;
    struct trouble *trouble = &request->trouble;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) {
        trouble->kind = TROUBLE_NOMEM;
        return NULL;
    }
    strcpy(address.sun_path, endpoint->socket);
    connection->endpoint = endpoint;
    connection->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connection->fd < 0 ||
        connect(connection->fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        trouble->os_error = errno;
        trouble->kind = errno == ENOMEM ? TROUBLE_NOMEM : TROUBLE_ABSENT;
    } else if (!serveruser_trusted(connection->fd, endpoint->socket,
                                   credentials_server_user(&request->peer->credentials),
                                   trouble->words, sizeof trouble->words)) {
        trouble->kind = TROUBLE_UNTRUSTED;
    } else {
        return connection;
    }
    close_connection(connection);
    return NULL;
}

/* The request has no connection any more. */
static void give_back(struct unix_transport *self, struct connection *connection)
{
    connection->request->connection = NULL;
    transport_unwatch(&self->transport, connection->fd);
    if (reply_keeps(&connection->reply) && connection->sent == connection->length) {
        connection->request = NULL;
        connection->used = true;
        connection->next = self->idle;
        self->idle = connection;
    } else {
        close_connection(connection);
    }
}

/* ---- writing and reading ---- */

/* In memory of its whole size, so that no copy of a token is left behind as it grows. */
static bool make_text(struct connection *connection, const struct request *request)
{
    static const char same[] = "Host: localhost\r\nUser-Agent: libmcast/" MCAST_VERSION "\r\n";
    const struct call *call = &request->call;
    const char *body = call->body ? call->body : "";
    char framing[48] = "";
    if (call->body)
        snprintf(framing, sizeof framing, "Content-Length: %zu\r\n", strlen(body));
    size_t size = sizeof same + sizeof framing + strlen(call->method) + strlen(call->path) +
                  strlen(request->head) + strlen(body) + 16;
    connection->text = malloc(size);
    if (!connection->text)
        return false;
    connection->length =
        (size_t)snprintf(connection->text, size, "%s %s HTTP/1.1\r\n%s%s%s\r\n%s", call->method,
                         call->path, same, request->head, framing, body);
    connection->sent = 0;
    assert(connection->length < size);
    return true;
}

/* What can be written now. A broker that refuses a request before it has read all of it closes the
 * connection, and its answer is there to be read. */
static void write_text(struct connection *connection)
{
    while (connection->text) {
        ssize_t sent = send(connection->fd, connection->text + connection->sent,
                            connection->length - connection->sent, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        connection->sent += sent > 0 ? (size_t)sent : 0;
        if (sent < 0 || connection->sent == connection->length)
            forget_text(connection);
    }
}

/* What can be read now. */
static void read_reply(struct connection *connection)
{
    struct reply *reply = &connection->reply;
    char piece[PIECE_SIZE];
    for (int i = 0; i < PIECES_MAX && reply->state == REPLY_MORE; i++) {
        ssize_t got = recv(connection->fd, piece, sizeof piece, 0);
        if (got > 0)
            reply_feed(reply, piece, (size_t)got);
        else if (got == 0)
            reply_end(reply, NULL);
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            break;
        else if (errno != EINTR)
            reply_end(reply, strerror(errno));
        if (got > 0 && (size_t)got < sizeof piece)
            break; /* that was all, most likely; if not, the descriptor says so */
    }
}

/* ---- requests ---- */

/* After what could be written and read now was. */
static void go_on(struct unix_transport *self, struct connection *connection)
{
    struct request *request = connection->request;
    const struct reply *reply = &connection->reply;
    if (reply->state == REPLY_MORE) {
        if (transport_watch(&self->transport, connection->fd, (uintptr_t)connection,
                            connection->text ? EPOLLIN | EPOLLOUT : EPOLLIN))
            return;
        request_set_trouble(request, TROUBLE_NOMEM, "");
    }
    request->unread = connection->used && !reply->begun && trouble_broken(&request->trouble);
    give_back(self, connection);
    transport_end(&self->transport, request);
}

static enum transport_start unix_start(struct transport *transport, struct request *request)
{
    struct unix_transport *self = (struct unix_transport *)transport;
    struct connection *connection = request->fresh ? NULL : take_idle(self, request->endpoint);
    if (!connection && !(connection = open_connection(request))) {
        if (request->trouble.os_error == EAGAIN)
            return TRANSPORT_QUEUE_FULL;
        transport_end(transport, request);
        return TRANSPORT_STARTED;
    }
    if (!make_text(connection, request)) {
        close_connection(connection);
        return TRANSPORT_NO_MEMORY;
    }
    connection->request = request;
    request->connection = connection;
    reply_begin(&connection->reply, request);
    transport_connected(transport, request);
    write_text(connection);
    go_on(self, connection);
    return TRANSPORT_STARTED;
}

static void unix_abandon(struct transport *transport, struct request *request)
{
    give_back((struct unix_transport *)transport, request->connection);
}

static void unix_serve(struct transport *transport, uint64_t tag, uint32_t events)
{
    struct connection *connection = (struct connection *)(uintptr_t)tag; /* as go_on has it */
    write_text(connection);
    if (events & ~(uint32_t)EPOLLOUT)
        read_reply(connection);
    go_on((struct unix_transport *)transport, connection);
}

static void unix_destroy(struct transport *transport)
{
    struct unix_transport *self = (struct unix_transport *)transport;
    for (struct connection *connection; (connection = self->idle);) {
        self->idle = connection->next;
        close_connection(connection);
    }
    free(self);
}

static const struct transport_kind kind = {unix_destroy, unix_start, unix_abandon, unix_serve};

int unix_create(struct transport **out, struct transports *all, struct mcast_error *error)
{
    struct unix_transport *self = calloc(1, sizeof *self);
    if (!self)
        return fault_nomem(error);
    transport_init(&self->transport, &kind, all);
    *out = &self->transport;
    return 0;
}
