/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/headwatch.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { READY_MAX = 64 };

int headwatch_open(struct error *err)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    return fd >= 0 ? fd : error_set(err, ERROR_IO, "cannot watch connections: %s", strerror(errno));
}

void headwatch_set(struct head_entry *entry, enum head_state state, uint64_t now_ms)
{
    entry->state = state;
    entry->since_ms = now_ms;
}

/* Without memory for it, the connection counts as quiet for ever. */
static void watch_first_byte(int epoll_fd, struct head_entry *entry)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = entry};
    const int how = entry->in_epoll ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    const bool watched = epoll_ctl(epoll_fd, how, entry->fd, &event) == 0;
    entry->in_epoll = entry->in_epoll || watched;
    entry->state = watched ? HEAD_WATCHED : HEAD_COMPLETE;
}

void headwatch_check(int epoll_fd, uint64_t now_ms)
{
    struct epoll_event ready[READY_MAX];
    int count;
    do {
        count = epoll_wait(epoll_fd, ready, READY_MAX, 0);
        for (int i = 0; i < count; i++) {
            struct head_entry *entry = ready[i].data.ptr;
            if (entry->state == HEAD_WATCHED)
                headwatch_set(entry, HEAD_BEGUN, now_ms);
        }
    } while (count == READY_MAX);
}

/* Most who connect have sent their request by then: they need no watching. */
void headwatch_expect(int epoll_fd, struct head_entry *entry, int fd, uint64_t now_ms)
{
    char byte;
    if (entry->fd != 0)
        return;
    entry->fd = fd;
    if (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
        headwatch_set(entry, HEAD_BEGUN, now_ms);
    else
        watch_first_byte(epoll_fd, entry);
}

bool headwatch_is_late(int epoll_fd, struct head_entry *entry, uint64_t now_ms)
{
    if (entry->state == HEAD_QUIET && now_ms - entry->since_ms >= HEADWATCH_QUIET_MS)
        watch_first_byte(epoll_fd, entry);
    return entry->state == HEAD_BEGUN && now_ms - entry->since_ms >= HEADWATCH_MS;
}

void headwatch_forget(int epoll_fd, struct head_entry *entry)
{
    if (entry->in_epoll)
        (void)epoll_ctl(epoll_fd, EPOLL_CTL_DEL, entry->fd, NULL);
    *entry = (struct head_entry){0};
}
