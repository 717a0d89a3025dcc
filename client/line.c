#include "client/line.h"
#include "client/serveruser.h"

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

struct line *line_create(void)
{
    struct line *line = calloc(1, sizeof(*line));
    if (!line)
        return NULL;
    line->fd = -1;
    line->alarm.owner = line;
    return line;
}

/* A token may be in it. */
static void forget_request(struct line *line)
{
    if (line->request)
        explicit_bzero(line->request, line->length);
    free(line->request);
    line->request = NULL;
}

void line_destroy(struct line *line)
{
    if (!line)
        return;
    int saved = errno;
    forget_request(line);
    if (line->fd >= 0)
        close(line->fd);
    free(line);
    errno = saved;
}

/* Written where it is to be, or only measured when `at` has no room: the length as of snprintf. */
static size_t write_head(char *at, size_t room, const struct flight *flight)
{
    const struct call *call = flight->call;
    size_t length = 0;
#define PUT(...)                                                                                   \
    length += (size_t)snprintf(at ? at + length : NULL, at ? room - length : 0, __VA_ARGS__)
    PUT("%s %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: libmcast/" MCAST_VERSION "\r\n",
        call->method, call->path);
    for (size_t i = 0; i < flight->headers.count; i++)
        PUT("%s\r\n", flight->headers.line[i]);
    if (call->body)
        PUT("Content-Length: %zu\r\n", strlen(call->body));
    PUT("\r\n");
#undef PUT
    return length;
}

/* In one piece, measured before, so that no copy of a token is left behind as it grows. */
static bool write_request(struct line *line, const struct flight *flight)
{
    const char *body = flight->call->body ? flight->call->body : "";
    size_t head = write_head(NULL, 0, flight), length = strlen(body);
    line->request = malloc(head + length + 1);
    if (!line->request)
        return false;
    write_head(line->request, head + 1, flight);
    memcpy(line->request + head, body, length);
    line->length = head + length;
    line->sent = 0;
    return true;
}

bool line_take(struct line *line, struct flight *flight)
{
    if (!write_request(line, flight))
        return false;
    line->flight = flight;
    line->state = LINE_WAITING;
    reply_begin(&line->reply, flight);
    return true;
}

/* Before anything is sent: a token may be in it. */
static enum line_state judge_server(struct line *line)
{
    const struct flight_peer *peer = line->flight->peer;
    char words[TROUBLE_WORDS_SIZE] = "";
    if (serveruser_trusted(line->fd, peer->endpoint.socket,
                           credentials_server_user(&peer->credentials), words, sizeof(words)))
        return line->state = LINE_BUSY;
    flight_set_trouble(line->flight, TROUBLE_UNTRUSTED, words);
    return line->state = LINE_FAILED;
}

enum line_state line_connect(struct line *line)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (line->used)
        return line->state = LINE_BUSY;
    if (line->fd < 0)
        line->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    strcpy(address.sun_path, line->flight->peer->endpoint.socket);
    if (line->fd >= 0 && connect(line->fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
        return judge_server(line);
    if (line->fd >= 0 && errno == EAGAIN)
        return line->state; /* waiting still */
    line->flight->trouble.os_error = errno;
    flight_set_trouble(line->flight, TROUBLE_ABSENT, "");
    return line->state = LINE_FAILED;
}

/* A broker that refuses a request before it has read all of it closes the connection, and its
 * answer is there to be read. */
enum line_state line_write(struct line *line)
{
    while (line->state == LINE_BUSY && line->request) {
        ssize_t sent =
            send(line->fd, line->request + line->sent, line->length - line->sent, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        line->sent += sent > 0 ? (size_t)sent : 0;
        if (sent < 0 || line->sent == line->length)
            forget_request(line);
    }
    return line->state;
}

/* What came of the answer so far is what came of the line. */
static enum line_state take(struct line *line, enum reply_state reply)
{
    if (reply != REPLY_MORE)
        line->state = reply == REPLY_WHOLE ? LINE_WHOLE : LINE_FAILED;
    return line->state;
}

enum line_state line_read(struct line *line)
{
    char piece[PIECE_SIZE];
    for (int i = 0; i < PIECES_MAX && line->state == LINE_BUSY; i++) {
        ssize_t got = recv(line->fd, piece, sizeof(piece), 0);
        if (got > 0)
            take(line, reply_feed(&line->reply, piece, (size_t)got));
        else if (got == 0)
            take(line, reply_end(&line->reply, NULL));
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            break;
        else if (errno != EINTR)
            take(line, reply_end(&line->reply, strerror(errno)));
        if (got > 0 && (size_t)got < sizeof(piece))
            break; /* that was all, most likely; if not, the descriptor says so */
    }
    return line->state;
}

bool line_writes(const struct line *line)
{
    return line->request;
}

bool line_was_dead(const struct line *line)
{
    return line->used && !reply_begun(&line->reply) && trouble_broken(&line->flight->trouble);
}

bool line_free(struct line *line)
{
    bool kept =
        line->state == LINE_WHOLE && line->sent == line->length && reply_keeps(&line->reply);
    forget_request(line);
    line->flight = NULL;
    line->used = true;
    return kept;
}

bool line_alive(const struct line *line)
{
    char byte;
    return recv(line->fd, &byte, 1, MSG_PEEK) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}
