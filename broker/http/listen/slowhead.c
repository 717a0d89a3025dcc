/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/listen/slowhead.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LOOK_MS = 1000, AT_ONCE = 64 };

/* In the order of since_ms. */
TAILQ_HEAD(slowhead_list, slowhead);

struct slowheads {
    int epoll_fd;
    uv_timer_t timer; /* active while a list is not empty */
    struct slowhead_list quiet, begun;
    unsigned watched;
    void (*late)(void *arg, struct slowhead *head);
    void *arg;
    void (*closed)(void *arg);
    void *closed_arg;
};

static void on_timer(uv_timer_t *timer);

/* ---- the lists ---- */

static struct slowhead_list *list_of(struct slowheads *heads, enum slowhead_state state)
{
    return state == SLOWHEAD_QUIET ? &heads->quiet : state == SLOWHEAD_BEGUN ? &heads->begun : NULL;
}

static void set_state(struct slowheads *heads, struct slowhead *head, enum slowhead_state state)
{
    struct slowhead_list *before = list_of(heads, head->state), *after = list_of(heads, state);
    if (before)
        TAILQ_REMOVE(before, head, link);
    heads->watched -= head->state == SLOWHEAD_WATCHED;
    heads->watched += state == SLOWHEAD_WATCHED;
    head->state = state;
    if (!after)
        return;
    head->since_ms = uv_now(heads->timer.loop);
    TAILQ_INSERT_TAIL(after, head, link);
    if (!uv_is_active((uv_handle_t *)&heads->timer))
        uv_timer_start(&heads->timer, on_timer, LOOK_MS, LOOK_MS);
}

/* ---- watching ---- */

/* Without memory for it, the connection is as one that says nothing. */
static void watch_for_first_byte(struct slowheads *heads, struct slowhead *head)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = head};
    const int how = head->known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    const bool watched = epoll_ctl(heads->epoll_fd, how, head->fd, &event) == 0;
    head->known = head->known || watched;
    set_state(heads, head, watched ? SLOWHEAD_WATCHED : SLOWHEAD_WHOLE);
}

void slowheads_check(struct slowheads *heads)
{
    struct epoll_event ready[AT_ONCE];
    int count = heads->watched > 0 ? AT_ONCE : 0;
    while (count == AT_ONCE) {
        count = epoll_wait(heads->epoll_fd, ready, AT_ONCE, 0);
        for (int i = 0; i < count; i++) {
            struct slowhead *head = ready[i].data.ptr;
            if (head->state == SLOWHEAD_WATCHED)
                set_state(heads, head, SLOWHEAD_BEGUN);
        }
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct slowheads *heads = timer->data;
    const uint64_t now_ms = uv_now(timer->loop);
    struct slowhead *head;
    slowheads_check(heads);
    while ((head = TAILQ_FIRST(&heads->quiet)) && now_ms - head->since_ms >= SLOWHEAD_QUIET_MS)
        watch_for_first_byte(heads, head);
    while ((head = TAILQ_FIRST(&heads->begun)) && now_ms - head->since_ms >= SLOWHEAD_MS) {
        slowhead_forget(heads, head);
        heads->late(heads->arg, head);
    }
    if (!TAILQ_FIRST(&heads->quiet) && !TAILQ_FIRST(&heads->begun))
        uv_timer_stop(timer);
}

/* Most who connect have sent their request by then: they need no watching. */
void slowhead_expect(struct slowheads *heads, struct slowhead *head, int fd)
{
    char byte;
    assert(head->state == SLOWHEAD_WHOLE && !head->known);
    head->fd = fd;
    if (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
        set_state(heads, head, SLOWHEAD_BEGUN);
    else
        watch_for_first_byte(heads, head);
}

void slowhead_whole(struct slowheads *heads, struct slowhead *head)
{
    set_state(heads, head, SLOWHEAD_WHOLE);
}

void slowhead_over(struct slowheads *heads, struct slowhead *head)
{
    set_state(heads, head, SLOWHEAD_QUIET);
}

void slowhead_forget(struct slowheads *heads, struct slowhead *head)
{
    set_state(heads, head, SLOWHEAD_WHOLE);
    if (head->known)
        (void)epoll_ctl(heads->epoll_fd, EPOLL_CTL_DEL, head->fd, NULL);
    head->known = false;
}

/* ---- life ---- */

struct slowheads *slowheads_create(uv_loop_t *loop, void (*late)(void *arg, struct slowhead *head),
                                   void *arg, struct error *err)
{
    struct slowheads *heads = calloc(1, sizeof *heads);
    if (!heads) {
        error_set(err, ERROR_NOMEM, "no memory for the HTTP interface");
        return NULL;
    }
    TAILQ_INIT(&heads->quiet);
    TAILQ_INIT(&heads->begun);
    heads->late = late;
    heads->arg = arg;
    heads->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (heads->epoll_fd < 0) {
        error_set(err, ERROR_IO, "cannot watch connections: %s", strerror(errno));
        free(heads);
        return NULL;
    }
    uv_timer_init(loop, &heads->timer);
    heads->timer.data = heads;
    return heads;
}

static void on_closed(uv_handle_t *handle)
{
    struct slowheads *heads = handle->data;
    void (*closed)(void *arg) = heads->closed;
    void *arg = heads->closed_arg;
    close(heads->epoll_fd);
    free(heads);
    closed(arg);
}

void slowheads_destroy(struct slowheads *heads, void (*closed)(void *arg), void *arg)
{
    assert(!TAILQ_FIRST(&heads->begun) && !TAILQ_FIRST(&heads->quiet));
    heads->closed = closed;
    heads->closed_arg = arg;
    uv_close((uv_handle_t *)&heads->timer, on_closed);
}
