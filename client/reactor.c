#include "client/reactor.h"
#include "client/fault.h"
#include "client/way.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { READY_MAX = 64 /* sockets served in one turn; the others keep the descriptor readable */ };

struct reactor {
    struct way *way;
    int epoll, timer;
    int64_t alarm_ms; /* when the caller wants a turn */
    int64_t armed_ms; /* what the timer is set to; INT64_MAX: nothing */
};

int64_t reactor_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A time that is past is set all the same: the timer then runs out at once. */
static void arm(struct reactor *reactor)
{
    struct itimerspec spec = {0};
    int64_t due = reactor->way->kind->due_ms(reactor->way);
    if (reactor->alarm_ms < due)
        due = reactor->alarm_ms;
    if (due == reactor->armed_ms)
        return;
    if (due < 1)
        due = 1; /* 0 would disarm it */
    if (due < INT64_MAX) {
        spec.it_value.tv_sec = (time_t)(due / 1000);
        spec.it_value.tv_nsec = (long)(due % 1000) * 1000000;
    }
    timerfd_settime(reactor->timer, TFD_TIMER_ABSTIME, &spec, NULL);
    reactor->armed_ms = due;
}

static int set_up(struct reactor *reactor, const struct endpoint *endpoint,
                  struct mcast_error *error)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = WAY_TAG_TAKEN};
    if (reactor->epoll < 0 || reactor->timer < 0 ||
        epoll_ctl(reactor->epoll, EPOLL_CTL_ADD, reactor->timer, &event) < 0)
        return fault_set(error, MCAST_NOMEM, "no descriptor to be had: %s (ulimit -n)",
                         strerror(errno));
    return endpoint->socket[0] ? way_unix_create(&reactor->way, reactor->epoll, error)
                               : way_curl_create(&reactor->way, reactor->epoll, error);
}

int reactor_create(struct reactor **out, const struct endpoint *endpoint, struct mcast_error *error)
{
    struct reactor *reactor = calloc(1, sizeof(*reactor));
    if (!reactor)
        return fault_nomem(error);
    reactor->alarm_ms = reactor->armed_ms = INT64_MAX;
    reactor->timer = -1;
    reactor->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (reactor->epoll >= 0)
        reactor->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    int rc = set_up(reactor, endpoint, error);
    if (rc < 0)
        reactor_destroy(reactor);
    else
        *out = reactor;
    return rc;
}

void reactor_destroy(struct reactor *reactor)
{
    if (!reactor)
        return;
    int saved = errno;
    if (reactor->way)
        reactor->way->kind->destroy(reactor->way);
    if (reactor->epoll >= 0)
        close(reactor->epoll);
    if (reactor->timer >= 0)
        close(reactor->timer);
    free(reactor);
    errno = saved;
}

int reactor_fd(const struct reactor *reactor)
{
    return reactor->epoll;
}

void reactor_set_alarm(struct reactor *reactor, int64_t due_ms)
{
    reactor->alarm_ms = due_ms;
    arm(reactor);
}

bool reactor_add(struct reactor *reactor, struct flight *flight)
{
    flight->aloft = reactor->way->kind->add(reactor->way, flight);
    return flight->aloft;
}

void reactor_remove(struct reactor *reactor, struct flight *flight)
{
    if (flight->landed)
        way_forget(reactor->way, flight);
    else
        reactor->way->kind->remove(reactor->way, flight);
    flight->aloft = false;
}

void reactor_turn(struct reactor *reactor)
{
    struct way *way = reactor->way;
    struct epoll_event ready[READY_MAX];
    uint64_t expirations;
    int count = epoll_wait(reactor->epoll, ready, READY_MAX, 0);
    for (int i = 0; i < count; i++) {
        if (ready[i].data.u64 != WAY_TAG_TAKEN)
            way->kind->serve(way, ready[i].data.u64, ready[i].events);
        else if (read(reactor->timer, &expirations, sizeof(expirations)) > 0)
            reactor->armed_ms = INT64_MAX;
    }
    if (way->kind->due_ms(way) <= reactor_now_ms())
        way->kind->expire(way);
}

struct flight *reactor_landed(struct reactor *reactor)
{
    return way_landed(reactor->way);
}
