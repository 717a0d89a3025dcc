#include "client/way.h"

#include <assert.h>
#include <errno.h>

bool way_watch(const struct way *way, int fd, uint64_t tag, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.u64 = tag};
    assert(tag != WAY_TAG_TAKEN);
    return epoll_ctl(way->epoll, EPOLL_CTL_MOD, fd, &event) == 0 ||
           (errno == ENOENT && epoll_ctl(way->epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

/* One that is closed already is out of the set: ENOENT and EBADF say nothing new. */
void way_unwatch(const struct way *way, int fd)
{
    epoll_ctl(way->epoll, EPOLL_CTL_DEL, fd, NULL);
}

void way_land(struct way *way, struct flight *flight)
{
    flight->landed = true;
    flight->before = way->last;
    flight->after = NULL;
    *(way->last ? &way->last->after : &way->first) = flight;
    way->last = flight;
}

void way_forget(struct way *way, struct flight *flight)
{
    *(flight->before ? &flight->before->after : &way->first) = flight->after;
    *(flight->after ? &flight->after->before : &way->last) = flight->before;
    flight->landed = flight->aloft = false;
}

struct flight *way_landed(struct way *way)
{
    struct flight *flight = way->first;
    if (flight)
        way_forget(way, flight);
    return flight;
}
