/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/headwatch.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READY_MAX = 64 };

int headwatch_init(struct headwatch *watch, struct error *err)
{
    TAILQ_INIT(&watch->entries);
    watch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    return watch->epoll_fd >= 0
               ? 0
               : error_set(err, ERROR_IO, "cannot watch connections: %s", strerror(errno));
}

void headwatch_release(struct headwatch *watch)
{
    assert(TAILQ_EMPTY(&watch->entries));
    if (watch->epoll_fd >= 0)
        close(watch->epoll_fd);
}

void headwatch_set(struct head_entry *entry, enum head_state state, uint64_t now_ms)
{
    entry->state = state;
    entry->since_ms = now_ms;
}

/* Without memory for it, the connection counts as quiet for ever. */
static void watch_first_byte(struct headwatch *watch, struct head_entry *entry)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = entry};
    const int how = entry->in_epoll ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    const bool watched = epoll_ctl(watch->epoll_fd, how, entry->fd, &event) == 0;
    entry->in_epoll = entry->in_epoll || watched;
    entry->state = watched ? HEAD_WATCHED : HEAD_COMPLETE;
}

void headwatch_check(struct headwatch *watch, uint64_t now_ms)
{
    struct epoll_event ready[READY_MAX];
    int count;
    do {
        count = epoll_wait(watch->epoll_fd, ready, READY_MAX, 0);
        for (int i = 0; i < count; i++) {
            struct head_entry *entry = ready[i].data.ptr;
            if (entry->state == HEAD_WATCHED)
                headwatch_set(entry, HEAD_BEGUN, now_ms);
        }
    } while (count == READY_MAX);
}

void headwatch_sweep(struct headwatch *watch, uint64_t now_ms,
                     void (*late)(struct head_entry *entry))
{
    headwatch_check(watch, now_ms);
    for (struct head_entry *entry = TAILQ_FIRST(&watch->entries), *next; entry; entry = next) {
        next = TAILQ_NEXT(entry, link);
        if (entry->state == HEAD_QUIET && now_ms - entry->since_ms >= HEADWATCH_QUIET_MS)
            watch_first_byte(watch, entry);
        else if (entry->state == HEAD_BEGUN && now_ms - entry->since_ms >= HEADWATCH_MS)
            late(entry);
    }
}

/* Most who connect have sent their request by then: they need no watching. */
void headwatch_expect(struct headwatch *watch, struct head_entry *entry, int fd, uint64_t now_ms)
{
    char byte;
    if (entry->expected)
        return;
    entry->expected = true;
    entry->fd = fd;
    TAILQ_INSERT_TAIL(&watch->entries, entry, link);
    if (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
        headwatch_set(entry, HEAD_BEGUN, now_ms);
    else
        watch_first_byte(watch, entry);
}

void headwatch_forget(struct headwatch *watch, struct head_entry *entry)
{
    if (!entry->expected)
        return;
    TAILQ_REMOVE(&watch->entries, entry, link);
    if (entry->in_epoll)
        (void)epoll_ctl(watch->epoll_fd, EPOLL_CTL_DEL, entry->fd, NULL);
    *entry = (struct head_entry){0};
}
