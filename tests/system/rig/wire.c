/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/wire.h"

#include "tests/system/rig/await.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, BUFFER_FIRST = 4096, READY_MAX = 256 };

struct buffer {
    char *data;
    size_t length, size;
};

struct request {
    uint64_t tag;
    int64_t sent_ns;
};

struct connection {
    int fd; /* -1: none */
    bool wants_write, in_free_list;
    unsigned first, count; /* the ring of requests under way */
    struct request requests[DEPTH_MAX];
    struct buffer out, in;
};

struct wire {
    struct wire_options options;
    struct sockaddr_un address;
    int epoll;
    size_t in_flight, delivered;
    struct connection *connections;
    unsigned *free_list, free_count; /* connections with room, the last used on top */
};

static bool buffer_reserve(struct buffer *buffer, size_t more)
{
    size_t size = buffer->size ? buffer->size : BUFFER_FIRST;

    while (size < buffer->length + more)
        size *= 2;
    if (size == buffer->size)
        return true;
    char *data = realloc(buffer->data, size);
    if (!data)
        return false;
    buffer->data = data;
    buffer->size = size;
    return true;
}

static void buffer_drop_front(struct buffer *buffer, size_t length)
{
    buffer->length -= length;
    if (buffer->length)
        memmove(buffer->data, buffer->data + length, buffer->length);
}

static void offer(struct wire *wire, struct connection *connection)
{
    if (connection->in_free_list)
        return;
    connection->in_free_list = true;
    wire->free_list[wire->free_count++] = (unsigned)(connection - wire->connections);
}

struct wire *wire_create(const struct wire_options *options)
{
    struct wire *wire = calloc(1, sizeof *wire);

    if (!wire)
        return NULL;
    assert(options->depth >= 1 && options->depth <= DEPTH_MAX);
    wire->options = *options;
    wire->address.sun_family = AF_UNIX;
    assert(strlen(options->socket) < sizeof wire->address.sun_path);
    snprintf(wire->address.sun_path, sizeof wire->address.sun_path, "%s", options->socket);
    wire->epoll = epoll_create1(EPOLL_CLOEXEC);
    wire->connections = calloc(options->connections, sizeof *wire->connections);
    wire->free_list = calloc(options->connections, sizeof *wire->free_list);
    if (wire->epoll < 0 || !wire->connections || !wire->free_list) {
        wire_destroy(wire);
        return NULL;
    }
    for (unsigned i = options->connections; i-- > 0;) {
        wire->connections[i].fd = -1;
        offer(wire, &wire->connections[i]);
    }
    return wire;
}

void wire_destroy(struct wire *wire)
{
    if (!wire)
        return;
    for (unsigned i = 0; wire->connections && i < wire->options.connections; i++) {
        struct connection *connection = &wire->connections[i];

        if (connection->fd >= 0)
            close(connection->fd);
        free(connection->in.data);
        free(connection->out.data);
    }
    if (wire->epoll >= 0)
        close(wire->epoll);
    free(wire->connections);
    free(wire->free_list);
    free(wire);
}

bool wire_has_room(const struct wire *wire)
{
    return wire->free_count > 0;
}

size_t wire_under_way(const struct wire *wire)
{
    return wire->in_flight;
}

static void deliver(struct wire *wire, struct connection *connection, struct wire_reply *reply)
{
    const struct request request = connection->requests[connection->first];

    connection->first = (connection->first + 1) % DEPTH_MAX;
    connection->count--;
    wire->in_flight--;
    wire->delivered++;
    reply->latency_ns = await_now_ns() - request.sent_ns;
    wire->options.done(wire->options.arg, request.tag, reply);
}

static void lose(struct wire *wire, struct connection *connection)
{
    close(connection->fd);
    connection->fd = -1;
    connection->wants_write = false;
    connection->in.length = connection->out.length = 0;
    for (unsigned lost = connection->count; lost > 0; lost--) {
        struct wire_reply reply = {.body = ""};

        deliver(wire, connection, &reply);
    }
    offer(wire, connection);
}

/* 0, or -1 when the connection is lost. */
static int flush(struct wire *wire, struct connection *connection)
{
    const unsigned slot = (unsigned)(connection - wire->connections);

    while (connection->out.length > 0) {
        const ssize_t sent =
            send(connection->fd, connection->out.data, connection->out.length, MSG_NOSIGNAL);

        if (sent < 0 && errno == EAGAIN)
            break;
        if (sent < 0)
            return -1;
        buffer_drop_front(&connection->out, (size_t)sent);
    }
    const bool wants_write = connection->out.length > 0;
    if (wants_write != connection->wants_write) {
        struct epoll_event event = {.events = EPOLLIN | (wants_write ? EPOLLOUT : 0u),
                                    .data.u32 = slot};

        connection->wants_write = wants_write;
        epoll_ctl(wire->epoll, EPOLL_CTL_MOD, connection->fd, &event);
    }
    return 0;
}

static int open_connection(struct wire *wire, struct connection *connection)
{
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u32 = (unsigned)(connection - wire->connections)};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    /* EAGAIN here means that the backlog is full: as good as nobody listening just now. */
    if (fd < 0 || connect(fd, (struct sockaddr *)&wire->address, sizeof wire->address) < 0 ||
        epoll_ctl(wire->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
        const int error = errno;

        if (fd >= 0)
            close(fd);
        errno = error;
        return -1;
    }
    connection->fd = fd;
    return 0;
}

static bool put_request(struct buffer *out, const char *method, const char *path, const char *body)
{
    const size_t length = body ? strlen(body) : 0;

    if (!buffer_reserve(out, strlen(path) + length + 160))
        return false;
    char *end = out->data + out->length;
    const size_t room = out->size - out->length;
    const int written =
        body ? snprintf(end, room,
                        "%s %s HTTP/1.1\r\nHost: mcastd\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n%s",
                        method, path, length, body)
             : snprintf(end, room, "%s %s HTTP/1.1\r\nHost: mcastd\r\n\r\n", method, path);
    out->length += (size_t)written;
    return true;
}

int wire_send(struct wire *wire, uint64_t tag, const char *method, const char *path,
              const char *body)
{
    assert(wire->free_count > 0);
    struct connection *connection = &wire->connections[wire->free_list[wire->free_count - 1]];

    if (connection->fd < 0 && open_connection(wire, connection) < 0)
        return -1;
    if (!put_request(&connection->out, method, path, body)) {
        errno = ENOMEM;
        return -1;
    }
    const unsigned last = (connection->first + connection->count) % DEPTH_MAX;
    connection->requests[last] = (struct request){.tag = tag, .sent_ns = await_now_ns()};
    wire->in_flight++;
    if (++connection->count == wire->options.depth) {
        connection->in_free_list = false;
        wire->free_count--;
    }
    /* A loss is not told from inside the caller's call: the descriptor reports it in the next turn.
     */
    (void)flush(wire, connection);
    return 0;
}

/* Reads one answer at the front of the buffer: its whole length, 0 when it is not all there, -1
 * when it is none. The bytes after it may be the next answer's. */
static ssize_t read_answer(const struct buffer *in, struct wire_reply *reply, bool *closing)
{
    const char *end = memmem(in->data, in->length, "\r\n\r\n", 4);
    size_t length = 0;
    bool has_length = false;

    if (!end)
        return 0;
    if (in->length < 13 || memcmp(in->data, "HTTP/1.1 ", 9) != 0)
        return -1;
    reply->status = (int)strtol(in->data + 9, NULL, 10);
    for (const char *line = memchr(in->data, '\n', in->length); line < end;
         line = memchr(line, '\n', (size_t)(end + 2 - line))) {
        line++;
        if (strncasecmp(line, "content-length:", 15) == 0) {
            length = strtoul(line + 15, NULL, 10);
            has_length = true;
        } else if (strncasecmp(line, "connection: close", 17) == 0) {
            *closing = true;
        }
    }
    if (!has_length && reply->status != 204)
        return -1;
    if (in->length < (size_t)(end + 4 - in->data) + length)
        return 0;
    reply->body = end + 4;
    reply->length = length;
    return end + 4 - in->data + (ssize_t)length;
}

/* 0, or -1 when the connection is to be given up. */
static int take_answers(struct wire *wire, struct connection *connection)
{
    struct buffer *in = &connection->in;
    bool closing = false;
    size_t taken = 0;

    while (connection->count > 0) {
        struct buffer rest = {.data = in->data + taken, .length = in->length - taken};
        struct wire_reply reply = {0};
        const ssize_t length = rest.length ? read_answer(&rest, &reply, &closing) : 0;

        if (length < 0)
            return -1;
        if (length == 0)
            break;
        /* The body is lent with a NUL behind it, where the next answer may begin already. */
        char *behind = rest.data + length;
        const char kept = *behind;
        *behind = '\0';
        offer(wire, connection);
        deliver(wire, connection, &reply);
        *behind = kept;
        taken += (size_t)length;
        if (closing)
            return -1;
    }
    buffer_drop_front(in, taken);
    return in->length > 0 && connection->count == 0 ? -1 : 0; /* words nobody asked for */
}

static int receive(struct wire *wire, struct connection *connection)
{
    struct buffer *in = &connection->in;

    for (;;) {
        if (!buffer_reserve(in, BUFFER_FIRST / 2 + 1))
            return -1;
        const size_t room = in->size - in->length - 1; /* for the NUL behind it all */
        const ssize_t got = recv(connection->fd, in->data + in->length, room, 0);

        if (got < 0 && errno == EAGAIN)
            return 0;
        if (got <= 0)
            return -1;
        in->length += (size_t)got;
        in->data[in->length] = '\0';
        if (take_answers(wire, connection) < 0)
            return -1;
        if ((size_t)got < room)
            return 0;
    }
}

size_t wire_turn(struct wire *wire, int timeout_ms)
{
    struct epoll_event ready[READY_MAX];
    const int count = epoll_wait(wire->epoll, ready, READY_MAX, timeout_ms);

    wire->delivered = 0;
    for (int i = 0; i < count; i++) {
        struct connection *connection = &wire->connections[ready[i].data.u32];
        bool lost = false;

        if (connection->fd < 0)
            continue;
        if (ready[i].events & EPOLLOUT)
            lost = flush(wire, connection) < 0;
        if (!lost && (ready[i].events & ~(uint32_t)EPOLLOUT))
            lost = receive(wire, connection) < 0;
        if (lost)
            lose(wire, connection);
    }
    return wire->delivered;
}

void wire_hang_up(struct wire *wire)
{
    assert(wire->in_flight == 0);
    for (unsigned i = 0; i < wire->options.connections; i++)
        if (wire->connections[i].fd >= 0)
            lose(wire, &wire->connections[i]);
}

void wire_give_up(struct wire *wire, int64_t after_ms)
{
    const int64_t before = await_now_ns() - after_ms * 1000000;

    for (unsigned i = 0; i < wire->options.connections; i++) {
        struct connection *connection = &wire->connections[i];

        if (connection->fd >= 0 && connection->count > 0 &&
            connection->requests[connection->first].sent_ns < before)
            lose(wire, connection);
    }
}
