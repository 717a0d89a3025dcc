#include "client/reactor.h"
#include "client/fault.h"
#include "client/flight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { READY_MAX = 64 /* sockets served in one turn; the others keep the descriptor readable */ };

struct reactor {
    CURLM *multi;
    int epoll, timer;
    int64_t curl_ms, alarm_ms; /* when curl wants a turn, and when the caller does */
    int64_t armed_ms;          /* what the timer is set to; INT64_MAX: nothing */
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
    int64_t due = reactor->curl_ms < reactor->alarm_ms ? reactor->curl_ms : reactor->alarm_ms;
    struct itimerspec spec = {0};
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

/* Asked for rather than told by curl's callback, which stays silent when a time that it has named
 * before was not quite over (whole milliseconds are too coarse for it). */
static void look(struct reactor *reactor)
{
    long timeout_ms = -1;
    curl_multi_timeout(reactor->multi, &timeout_ms);
    reactor->curl_ms = timeout_ms < 0 ? INT64_MAX : reactor_now_ms() + timeout_ms;
}

/* A socket that curl has closed is out of the set already: ENOENT and EBADF say nothing new. One
 * that finds no room in the set is a request that ends with its time limit. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *known)
{
    (void)easy;
    struct reactor *reactor = data;
    struct epoll_event event = {.data.fd = fd};
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(reactor->epoll, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN)
        event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT)
        event.events |= EPOLLOUT;
    if (epoll_ctl(reactor->epoll, EPOLL_CTL_MOD, fd, &event) < 0 && errno == ENOENT)
        epoll_ctl(reactor->epoll, EPOLL_CTL_ADD, fd, &event);
    (void)known;
    return 0;
}

static bool set_up(struct reactor *reactor)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = reactor->timer};
    return epoll_ctl(reactor->epoll, EPOLL_CTL_ADD, reactor->timer, &event) == 0 &&
           curl_multi_setopt(reactor->multi, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
           curl_multi_setopt(reactor->multi, CURLMOPT_SOCKETDATA, reactor) == CURLM_OK;
}

int reactor_create(struct reactor **out, struct mcast_error *error)
{
    struct reactor *reactor = calloc(1, sizeof(*reactor));
    if (!reactor)
        return fault_nomem(error);
    reactor->curl_ms = reactor->alarm_ms = reactor->armed_ms = INT64_MAX;
    reactor->epoll = epoll_create1(EPOLL_CLOEXEC);
    reactor->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    int rc = 0;
    if (reactor->epoll < 0 || reactor->timer < 0)
        rc = fault_set(error, MCAST_NOMEM, "no descriptor to be had: %s (ulimit -n)",
                       strerror(errno));
    else if (!flight_ready() || !(reactor->multi = curl_multi_init()) || !set_up(reactor))
        rc = fault_nomem(error);
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
    curl_multi_cleanup(reactor->multi);
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

bool reactor_add(struct reactor *reactor, CURL *easy)
{
    bool added = curl_multi_add_handle(reactor->multi, easy) == CURLM_OK;
    look(reactor);
    return added;
}

void reactor_remove(struct reactor *reactor, CURL *easy)
{
    curl_multi_remove_handle(reactor->multi, easy);
}

static int directions(uint32_t events)
{
    int mask = 0;
    if (events & (EPOLLIN | EPOLLHUP))
        mask |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        mask |= CURL_CSELECT_OUT;
    if (events & EPOLLERR)
        mask |= CURL_CSELECT_ERR;
    return mask;
}

void reactor_turn(struct reactor *reactor)
{
    struct epoll_event ready[READY_MAX];
    uint64_t expirations;
    int running;
    int count = epoll_wait(reactor->epoll, ready, READY_MAX, 0);
    for (int i = 0; i < count; i++) {
        if (ready[i].data.fd != reactor->timer)
            curl_multi_socket_action(reactor->multi, ready[i].data.fd, directions(ready[i].events),
                                     &running);
        else if (read(reactor->timer, &expirations, sizeof(expirations)) > 0)
            reactor->armed_ms = INT64_MAX;
    }
    if (reactor->curl_ms <= reactor_now_ms())
        curl_multi_socket_action(reactor->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    look(reactor);
}

CURL *reactor_landed(struct reactor *reactor, CURLcode *result)
{
    int left;
    const CURLMsg *message = curl_multi_info_read(reactor->multi, &left);
    if (!message || message->msg != CURLMSG_DONE)
        return NULL;
    CURL *easy = message->easy_handle;
    *result = message->data.result;
    curl_multi_remove_handle(reactor->multi, easy);
    return easy;
}
