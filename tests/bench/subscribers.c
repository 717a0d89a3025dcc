/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/subscribers.h"

#include "tests/system/rig/await.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { HEAD_SIZE = 1024, READY_MAX = 256, READ_SIZE = 65536 };

static const char mark[] = "\nid: ";

struct subscriber {
    int fd; /* -1: none */
    size_t events;
    size_t matched; /* of the mark, at the end of what was read */
};

struct subscribers {
    struct subscriber *each;
    size_t count;
    int epoll;
};

/* ---- one ---- */

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int ask(int fd, uint64_t after)
{
    char text[128];
    const int length = snprintf(
        text, sizeof text, "GET /v1/events?after=%" PRIu64 " HTTP/1.1\r\nHost: b\r\n\r\n", after);

    return send(fd, text, (size_t)length, MSG_NOSIGNAL) == length ? 0 : -1;
}

/* Up to the empty line, or what there is before the end. */
static int read_head(int fd, char head[HEAD_SIZE])
{
    size_t length = 0;

    while (length < HEAD_SIZE - 1) {
        const ssize_t got = recv(fd, head + length, 1, 0);

        if (got <= 0)
            break;
        length++;
        if (length >= 4 && memcmp(head + length - 4, "\r\n\r\n", 4) == 0)
            break;
    }
    head[length] = '\0';
    return length > 12 ? (int)strtol(head + 9, NULL, 10) : 0;
}

/* The mark may be cut anywhere between two reads. It begins like nothing within it. */
static void count_events(struct subscriber *subscriber, const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (data[i] == mark[subscriber->matched])
            subscriber->matched++;
        else
            subscriber->matched = data[i] == mark[0];
        if (mark[subscriber->matched] == '\0') {
            subscriber->events++;
            subscriber->matched = 0;
        }
    }
}

/* ---- all ---- */

static int open_one(struct subscribers *subscribers, struct subscriber *subscriber,
                    const char *socket, uint64_t after)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = subscriber};
    char head[HEAD_SIZE];
    int status = 0;

    subscriber->fd = connect_to(socket);
    if (subscriber->fd >= 0 && ask(subscriber->fd, after) == 0)
        status = read_head(subscriber->fd, head);
    if (status == 200 && epoll_ctl(subscribers->epoll, EPOLL_CTL_ADD, subscriber->fd, &event) == 0)
        return 0;
    fprintf(stderr, "a subscriber was answered %d (%s)\n", status, strerror(errno));
    return -1;
}

struct subscribers *subscribers_open(const char *socket, size_t count, uint64_t after)
{
    struct subscribers *subscribers = calloc(1, sizeof *subscribers);

    if (!subscribers)
        return NULL;
    subscribers->epoll = epoll_create1(EPOLL_CLOEXEC);
    subscribers->each = calloc(count, sizeof *subscribers->each);
    if (!subscribers->each || subscribers->epoll < 0) {
        subscribers_close(subscribers);
        return NULL;
    }
    for (; subscribers->count < count; subscribers->count++) {
        if (open_one(subscribers, &subscribers->each[subscribers->count], socket, after) < 0) {
            subscribers->count++;
            subscribers_close(subscribers);
            return NULL;
        }
    }
    return subscribers;
}

void subscribers_close(struct subscribers *subscribers)
{
    if (!subscribers)
        return;
    for (size_t i = 0; i < subscribers->count; i++)
        if (subscribers->each[i].fd >= 0)
            close(subscribers->each[i].fd);
    if (subscribers->epoll >= 0)
        close(subscribers->epoll);
    free(subscribers->each);
    free(subscribers);
}

static size_t missing(const struct subscribers *subscribers, size_t events)
{
    size_t sum = 0;

    for (size_t i = 0; i < subscribers->count; i++)
        if (subscribers->each[i].events < events)
            sum += events - subscribers->each[i].events;
    return sum;
}

size_t subscribers_read(struct subscribers *subscribers, size_t events, int timeout_ms)
{
    static char data[READ_SIZE];
    struct epoll_event ready[READY_MAX];
    int64_t heard_ns = await_now_ns();
    size_t left;

    while ((left = missing(subscribers, events)) > 0 &&
           await_now_ns() - heard_ns < timeout_ms * 1000000LL) {
        const int count = epoll_wait(subscribers->epoll, ready, READY_MAX, 100);

        for (int i = 0; i < count; i++) {
            struct subscriber *subscriber = ready[i].data.ptr;
            const ssize_t got = recv(subscriber->fd, data, sizeof data, MSG_DONTWAIT);

            if (got > 0) {
                heard_ns = await_now_ns();
                count_events(subscriber, data, (size_t)got);
            } else if (got == 0) {
                epoll_ctl(subscribers->epoll, EPOLL_CTL_DEL, subscriber->fd, NULL);
            }
        }
    }
    return left;
}

bool subscribers_turned_away(const char *socket)
{
    const int fd = connect_to(socket);
    char head[HEAD_SIZE];
    bool told = false;

    if (fd >= 0 && ask(fd, 0) == 0)
        told = read_head(fd, head) == 503 && strstr(head, "\nRetry-After: ");
    if (fd >= 0)
        close(fd);
    return told;
}
