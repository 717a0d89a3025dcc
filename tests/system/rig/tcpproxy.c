/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/tcpproxy.h"

#include "tests/system/rig/await.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LINKS_MAX = 128,
    PIECE_SIZE = 65536,
    REQUEST_MAX = 4 << 20,
    ANSWER_TIMEOUT_S = 60,
    TEXT_SIZE = 128,
};

/* What one side has sent and the other has not got yet. */
struct piece {
    struct piece *next;
    int64_t due_ns;
    size_t length, done; /* length 0: the sender has closed */
    char bytes[];
};

struct flow {
    enum tcpproxy_direction direction;
    struct piece *first, **last;
    bool ended; /* the sender has closed; a piece says so */
};

struct link {
    int client, server;
    struct flow to_server, to_client;
    char *request; /* what may be the beginning of one that is to be kept; or NULL */
    size_t request_length;
};

struct tcpproxy {
    struct sockaddr_in server;
    int listener, port, wake;
    pthread_t thread;
    pthread_mutex_t mutex; /* of all below */
    bool stopping, refuse;
    unsigned cut;
    int64_t delay_ns;
    uint64_t passed[3], waiting[3]; /* by direction */
    char wanted[TEXT_SIZE];         /* "": none */
    char *kept;
    size_t kept_length;
    struct link links[LINKS_MAX];
    size_t count;
};

static struct sockaddr_in address_of(const char *address, int port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const int good = inet_pton(AF_INET, address, &in.sin_addr);

    assert(good == 1);
    (void)good;
    return in;
}

static int connect_to(const struct sockaddr_in *address)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- one connection ---- */

static void close_with_reset(int fd)
{
    const struct linger now = {.l_onoff = 1};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
}

static void take_piece(struct tcpproxy *proxy, struct flow *flow)
{
    struct piece *piece = flow->first;

    proxy->waiting[flow->direction] -= piece->length - piece->done;
    flow->first = piece->next;
    if (!flow->first)
        flow->last = &flow->first;
    free(piece);
}

static void link_close(struct tcpproxy *proxy, size_t i)
{
    struct link *link = &proxy->links[i];

    while (link->to_server.first)
        take_piece(proxy, &link->to_server);
    while (link->to_client.first)
        take_piece(proxy, &link->to_client);
    free(link->request);
    close_with_reset(link->client);
    close_with_reset(link->server);
    *link = proxy->links[--proxy->count];
    /* A list that was empty points into where it was. */
    if (!link->to_server.first)
        link->to_server.last = &link->to_server.first;
    if (!link->to_client.first)
        link->to_client.last = &link->to_client.first;
}

static void link_open(struct tcpproxy *proxy)
{
    const int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC);
    const int server =
        client < 0 || proxy->refuse || proxy->count == LINKS_MAX ? -1 : connect_to(&proxy->server);

    if (server < 0) {
        if (client >= 0)
            close_with_reset(client);
        return;
    }
    struct link *link = &proxy->links[proxy->count++];
    *link = (struct link){.client = client, .server = server};
    link->to_server = (struct flow){.direction = TCPPROXY_TO_SERVER};
    link->to_client = (struct flow){.direction = TCPPROXY_TO_CLIENT};
    link->to_server.last = &link->to_server.first;
    link->to_client.last = &link->to_client.first;
}

/* The length of the HTTP request that these bytes begin with; 0: it is not whole. */
static size_t request_length(const char *bytes, size_t length)
{
    const char *end = memmem(bytes, length, "\r\n\r\n", 4);
    const char *field = end ? strcasestr(bytes, "\r\nContent-Length:") : NULL;
    size_t body = 0;

    if (!end)
        return 0;
    if (field && field < end)
        body = strtoul(field + strlen("\r\nContent-Length:"), NULL, 10);
    const size_t whole = (size_t)(end - bytes) + 4 + body;
    return whole <= length ? whole : 0;
}

/* The client's bytes, request by request, until the wanted one has come. */
static void look_for_request(struct tcpproxy *proxy, struct link *link, const char *bytes,
                             size_t length)
{
    size_t whole;
    char *longer = realloc(link->request, link->request_length + length + 1);

    if (!longer || link->request_length + length > REQUEST_MAX)
        abort();
    link->request = longer;
    memcpy(link->request + link->request_length, bytes, length);
    link->request_length += length;
    link->request[link->request_length] = '\0';
    while ((whole = request_length(link->request, link->request_length)) > 0) {
        if (proxy->wanted[0] &&
            memmem(link->request, whole, proxy->wanted, strlen(proxy->wanted))) {
            free(proxy->kept);
            proxy->kept = malloc(whole);
            if (!proxy->kept)
                abort();
            memcpy(proxy->kept, link->request, whole);
            proxy->kept_length = whole;
            proxy->wanted[0] = '\0';
        }
        link->request_length -= whole;
        memmove(link->request, link->request + whole, link->request_length + 1);
    }
}

/* False: the connection is lost. */
static bool read_some(struct tcpproxy *proxy, struct link *link, int fd, struct flow *flow)
{
    struct piece *piece = malloc(sizeof *piece + PIECE_SIZE);
    const ssize_t got = piece ? recv(fd, piece->bytes, PIECE_SIZE, MSG_DONTWAIT) : -1;

    if (got < 0) {
        free(piece);
        return errno == EAGAIN || errno == EINTR;
    }
    if (flow->direction == TCPPROXY_TO_SERVER && got > 0)
        look_for_request(proxy, link, piece->bytes, (size_t)got);
    flow->ended = got == 0;
    piece->next = NULL;
    piece->length = (size_t)got;
    piece->done = 0;
    piece->due_ns = await_now_ns() + proxy->delay_ns;
    *flow->last = piece;
    flow->last = &piece->next;
    proxy->waiting[flow->direction] += piece->length;
    return true;
}

static bool is_due(const struct tcpproxy *proxy, const struct flow *flow, int64_t now_ns)
{
    return flow->first && !(proxy->cut & flow->direction) && flow->first->due_ns <= now_ns;
}

/* False: the connection is lost. */
static bool write_some(struct tcpproxy *proxy, int fd, struct flow *flow)
{
    const int64_t now = await_now_ns();

    while (is_due(proxy, flow, now)) {
        struct piece *piece = flow->first;
        if (piece->length == 0) {
            shutdown(fd, SHUT_WR);
        } else {
            const ssize_t sent = send(fd, piece->bytes + piece->done, piece->length - piece->done,
                                      MSG_DONTWAIT | MSG_NOSIGNAL);
            if (sent < 0)
                return errno == EAGAIN || errno == EINTR;
            piece->done += (size_t)sent;
            proxy->waiting[flow->direction] -= (size_t)sent;
            proxy->passed[flow->direction] += (size_t)sent;
            if (piece->done < piece->length)
                return true;
        }
        take_piece(proxy, flow);
    }
    return true;
}

/* ---- the thread ---- */

static short events_of(const struct tcpproxy *proxy, const struct flow *in, const struct flow *out,
                       int64_t now_ns)
{
    return (short)((in->ended ? 0 : POLLIN) | (is_due(proxy, out, now_ns) ? POLLOUT : 0));
}

/* Until the next piece is due, in ms. */
static int timeout_of(const struct tcpproxy *proxy, int64_t now_ns)
{
    int64_t wait = INT64_MAX;

    for (size_t i = 0; i < proxy->count; i++) {
        const struct flow *flows[] = {&proxy->links[i].to_server, &proxy->links[i].to_client};
        for (size_t j = 0; j < 2; j++)
            if (flows[j]->first && !(proxy->cut & flows[j]->direction) &&
                flows[j]->first->due_ns > now_ns && flows[j]->first->due_ns - now_ns < wait)
                wait = flows[j]->first->due_ns - now_ns;
    }
    return wait == INT64_MAX ? -1 : (int)(wait / 1000000) + 1;
}

static size_t fill_polls(const struct tcpproxy *proxy, struct pollfd *polls, int64_t now_ns)
{
    size_t count = 0;

    polls[count++] = (struct pollfd){.fd = proxy->wake, .events = POLLIN};
    polls[count++] = (struct pollfd){.fd = proxy->listener, .events = POLLIN};
    for (size_t i = 0; i < proxy->count; i++) {
        const struct link *link = &proxy->links[i];
        const short client = events_of(proxy, &link->to_server, &link->to_client, now_ns);
        const short server = events_of(proxy, &link->to_client, &link->to_server, now_ns);
        /* One of which nothing is wanted would only say, for ever, that it has closed. */
        polls[count++] = (struct pollfd){.fd = client ? link->client : -1, .events = client};
        polls[count++] = (struct pollfd){.fd = server ? link->server : -1, .events = server};
    }
    return count;
}

static bool link_ended(const struct link *link)
{
    return link->to_server.ended && !link->to_server.first && link->to_client.ended &&
           !link->to_client.first;
}

static void serve(struct tcpproxy *proxy, const struct pollfd *polls, size_t links)
{
    /* From the last one: closing one puts the last in its place. */
    for (size_t i = links; i-- > 0;) {
        struct link *link = &proxy->links[i];
        const short client = polls[2 + 2 * i].revents, server = polls[3 + 2 * i].revents;
        bool good = true;
        if (client & (POLLIN | POLLHUP | POLLERR))
            good = link->to_server.ended ? !(client & POLLERR)
                                         : read_some(proxy, link, link->client, &link->to_server);
        if (good && server & (POLLIN | POLLHUP | POLLERR))
            good = link->to_client.ended ? !(server & POLLERR)
                                         : read_some(proxy, link, link->server, &link->to_client);
        good = good && write_some(proxy, link->server, &link->to_server) &&
               write_some(proxy, link->client, &link->to_client);
        if (!good || link_ended(link))
            link_close(proxy, i);
    }
    if (polls[1].revents & POLLIN)
        link_open(proxy);
}

static void *run(void *arg)
{
    struct tcpproxy *proxy = arg;
    struct pollfd polls[2 + 2 * LINKS_MAX];
    eventfd_t times;

    pthread_mutex_lock(&proxy->mutex);
    while (!proxy->stopping) {
        const int64_t now = await_now_ns();
        const size_t links = proxy->count, count = fill_polls(proxy, polls, now);
        const int timeout = timeout_of(proxy, now);
        pthread_mutex_unlock(&proxy->mutex);
        poll(polls, (nfds_t)count, timeout);
        pthread_mutex_lock(&proxy->mutex);
        /* What is polled may have changed, also after poll() had returned (tcpproxy_reset). */
        if (polls[0].revents)
            eventfd_read(proxy->wake, &times);
        else if (proxy->count == links)
            serve(proxy, polls, links);
    }
    while (proxy->count > 0)
        link_close(proxy, proxy->count - 1);
    pthread_mutex_unlock(&proxy->mutex);
    return NULL;
}

/* ---- steering ---- */

static void locked(struct tcpproxy *proxy)
{
    pthread_mutex_lock(&proxy->mutex);
}

static void unlocked(struct tcpproxy *proxy)
{
    eventfd_write(proxy->wake, 1);
    pthread_mutex_unlock(&proxy->mutex);
}

struct tcpproxy *tcpproxy_create_to(const char *server, int server_port)
{
    struct tcpproxy *proxy = calloc(1, sizeof *proxy);
    struct sockaddr_in address = address_of("127.0.0.1", 0);
    socklen_t length = sizeof address;

    if (!proxy)
        return NULL;
    proxy->server = address_of(server, server_port);
    proxy->wake = eventfd(0, EFD_CLOEXEC);
    proxy->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pthread_mutex_init(&proxy->mutex, NULL);
    if (proxy->wake < 0 || proxy->listener < 0 ||
        bind(proxy->listener, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(proxy->listener, LINKS_MAX) < 0 ||
        getsockname(proxy->listener, (struct sockaddr *)&address, &length) < 0 ||
        pthread_create(&proxy->thread, NULL, run, proxy) != 0) {
        perror("tcpproxy");
        if (proxy->listener >= 0)
            close(proxy->listener);
        if (proxy->wake >= 0)
            close(proxy->wake);
        free(proxy);
        return NULL;
    }
    proxy->port = ntohs(address.sin_port);
    return proxy;
}

struct tcpproxy *tcpproxy_create(int server_port)
{
    return tcpproxy_create_to("127.0.0.1", server_port);
}

void tcpproxy_destroy(struct tcpproxy *proxy)
{
    if (!proxy)
        return;
    locked(proxy);
    proxy->stopping = true;
    unlocked(proxy);
    pthread_join(proxy->thread, NULL);
    close(proxy->listener);
    close(proxy->wake);
    pthread_mutex_destroy(&proxy->mutex);
    free(proxy->kept);
    free(proxy);
}

int tcpproxy_port(const struct tcpproxy *proxy)
{
    return proxy->port;
}

void tcpproxy_cut(struct tcpproxy *proxy, unsigned directions)
{
    locked(proxy);
    proxy->cut = directions;
    unlocked(proxy);
}

void tcpproxy_delay(struct tcpproxy *proxy, int64_t ms)
{
    locked(proxy);
    proxy->delay_ns = ms * 1000000;
    unlocked(proxy);
}

void tcpproxy_reset(struct tcpproxy *proxy, bool refuse)
{
    locked(proxy);
    proxy->refuse = refuse;
    while (proxy->count > 0)
        link_close(proxy, proxy->count - 1);
    unlocked(proxy);
}

uint64_t tcpproxy_passed(struct tcpproxy *proxy, enum tcpproxy_direction direction)
{
    locked(proxy);
    const uint64_t passed = proxy->passed[direction];
    unlocked(proxy);
    return passed;
}

uint64_t tcpproxy_waiting(struct tcpproxy *proxy, enum tcpproxy_direction direction)
{
    locked(proxy);
    const uint64_t waiting = proxy->waiting[direction];
    unlocked(proxy);
    return waiting;
}

void tcpproxy_keep(struct tcpproxy *proxy, const char *text)
{
    assert(strlen(text) < TEXT_SIZE);
    locked(proxy);
    snprintf(proxy->wanted, sizeof proxy->wanted, "%s", text);
    free(proxy->kept);
    proxy->kept = NULL;
    unlocked(proxy);
}

bool tcpproxy_kept(struct tcpproxy *proxy)
{
    locked(proxy);
    const bool kept = proxy->kept;
    unlocked(proxy);
    return kept;
}

int tcpproxy_replay(struct tcpproxy *proxy)
{
    const struct timeval limit = {.tv_sec = ANSWER_TIMEOUT_S};
    const int fd = connect_to(&proxy->server);
    char answer[PIECE_SIZE];
    size_t done = 0;
    ssize_t part = 0;
    int status = -1;

    assert(tcpproxy_kept(proxy)); /* only the thread of this call changes it now */
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    while (fd >= 0 && done < proxy->kept_length &&
           (part = send(fd, proxy->kept + done, proxy->kept_length - done, MSG_NOSIGNAL)) > 0)
        done += (size_t)part;
    if (done == proxy->kept_length && (part = recv(fd, answer, sizeof answer - 1, 0)) > 0) {
        answer[part] = '\0';
        sscanf(answer, "HTTP/1.1 %d", &status);
    }
    if (status < 0)
        fprintf(stderr, "tcpproxy: the copy of a request is not answered: %s\n", strerror(errno));
    if (fd >= 0)
        close(fd);
    return status;
}
