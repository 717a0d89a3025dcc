/* SPDX-License-Identifier: Apache-2.0 */
#include "client/transport/broker.h"
#include "client/calls/field.h"
#include "client/text.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    ATTEMPTS = 2,
    READY_MAX = 64,      /* sockets served in one turn; the others keep the descriptor readable */
    QUEUE_PAUSE_MS = 10, /* until a connection is tried again for which the queue was full */
};

/* ---- for the transports ---- */

void transport_init(struct transport *transport, const struct transport_kind *kind,
                    struct transports *all)
{
    *transport = (struct transport){.kind = kind, .all = all, .due_ms = INT64_MAX};
}

bool transport_watch(const struct transport *transport, int fd, uint64_t tag, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.u64 = tag};
    assert(tag != TRANSPORT_TIME);
    return epoll_ctl(transport->all->epoll, EPOLL_CTL_MOD, fd, &event) == 0 ||
           (errno == ENOENT && epoll_ctl(transport->all->epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

/* One that is closed already is out of the set: ENOENT and EBADF say nothing new. */
void transport_unwatch(const struct transport *transport, int fd)
{
    epoll_ctl(transport->all->epoll, EPOLL_CTL_DEL, fd, NULL);
}

void transport_connected(struct transport *transport, struct request *request)
{
    request->connected = true;
    transport->all->connected++;
}

void transport_end(struct transport *transport, struct request *request)
{
    request->state = REQUEST_ENDED;
    transport->all->ended++;
}

static struct request *find_in_state(const struct broker *broker, enum request_state state)
{
    struct request *request = TAILQ_FIRST(&broker->requests);
    while (request && request->state != state)
        request = TAILQ_NEXT(request, link);
    return request;
}

/* ---- the descriptor ---- */

/* A time that is past is set all the same: the timer then runs out at once. */
static void arm_timer(struct broker *broker)
{
    struct itimerspec spec = {0};
    int64_t due = broker->due_ms;
    for (size_t i = 0; i < TRANSPORT_KINDS; i++) {
        const struct transport *transport = broker->transports.of[i];
        if (transport && transport->due_ms < due)
            due = transport->due_ms;
    }
    if (broker->count > broker->sent && broker->sent < broker->width && broker->resume_ms < due)
        due = broker->resume_ms;
    if (due < 1 || broker->transports.ended > 0)
        due = 1; /* 0 would disarm it */
    if (due == broker->armed_ms)
        return;
    if (due < INT64_MAX) {
        spec.it_value.tv_sec = (time_t)(due / 1000);
        spec.it_value.tv_nsec = (long)(due % 1000) * 1000000;
    }
    timerfd_settime(broker->timer, TFD_TIMER_ABSTIME, &spec, NULL);
    broker->armed_ms = due;
}

static void serve_transport(struct broker *broker)
{
    struct epoll_event ready[READY_MAX];
    uint64_t expirations;
    int count = epoll_wait(broker->transports.epoll, ready, READY_MAX, 0);
    for (int i = 0; i < count; i++) {
        const uint64_t tag = ready[i].data.u64;
        struct transport *transport = broker->transports.of[tag % TRANSPORT_KINDS];
        if (tag != TRANSPORT_TIME)
            transport->kind->serve(transport, tag, ready[i].events);
        else if (read(broker->timer, &expirations, sizeof expirations) > 0)
            broker->armed_ms = INT64_MAX;
    }
    for (size_t i = 0; i < TRANSPORT_KINDS; i++) {
        struct transport *transport = broker->transports.of[i];
        if (transport && transport->due_ms <= later_now_ms())
            transport->kind->serve(transport, TRANSPORT_TIME, 0);
    }
}

/* The transport to an endpoint, made when it is first needed. */
static struct transport **transport_to(struct broker *broker, const struct endpoint *endpoint)
{
    return &broker->transports.of[endpoint->socket[0] ? TRANSPORT_LOCAL : TRANSPORT_REMOTE];
}

static int make_transport(struct broker *broker, const struct endpoint *endpoint,
                          struct mcast_error *error)
{
    struct transport **place = transport_to(broker, endpoint);
    if (*place)
        return 0;
    return (endpoint->socket[0] ? unix_create : curl_create)(place, &broker->transports, error);
}

int broker_init(struct broker *broker, struct mcast_error *error)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = TRANSPORT_TIME};
    TAILQ_INIT(&broker->requests);
    broker->width = 1;
    broker->armed_ms = broker->due_ms = INT64_MAX;
    broker->transports.epoll = epoll_create1(EPOLL_CLOEXEC);
    broker->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (broker->transports.epoll < 0 || broker->timer < 0 ||
        epoll_ctl(broker->transports.epoll, EPOLL_CTL_ADD, broker->timer, &event) < 0)
        return fault_set(error, MCAST_NOMEM, "no descriptor to be had: %s (ulimit -n)",
                         strerror(errno));
    return make_transport(broker, &broker->peer.endpoints.list[0], error);
}

int broker_fd(const struct broker *broker)
{
    return broker->transports.epoll;
}

/* ---- the end of a request ---- */

/* It is in no transport any more; request->rc and what belongs to it are set. */
static void finish_request(struct broker *broker, struct request *request)
{
    TAILQ_REMOVE(&broker->requests, request, link);
    broker->count--;
    request_release(request);
    request->done(request);
}

static void abandon(struct broker *broker, struct request *request)
{
    struct transport *transport = *transport_to(broker, request->endpoint);
    transport->kind->abandon(transport, request);
}

static void set_deadline(struct request *request, int64_t now)
{
    request->deadline_ms = request->limit_ms > 0 ? now + request->limit_ms : INT64_MAX;
}

/* When its time is over, be it only that with this broker. */
static int64_t due_of(const struct request *request)
{
    return request->give_up_ms < request->deadline_ms ? request->give_up_ms : request->deadline_ms;
}

/* Lowers due_ms, before which no request is due. */
static void note_due(struct broker *broker, const struct request *request)
{
    if (due_of(request) < broker->due_ms)
        broker->due_ms = due_of(request);
}

static void wait_to_be_sent(struct broker *broker, struct request *request)
{
    request->state = REQUEST_WAITING;
    request->give_up_ms = INT64_MAX;
    note_due(broker, request);
}

/* One round of attempts has failed: the next one is later, and a single one. */
static void pause_before_retry(struct broker *broker, struct request *request, unsigned after_ms,
                               int64_t now)
{
    if (request->on_retry && !request->retried)
        request->on_retry(request);
    request->retried = true;
    broker->width = 1;
    if (now >= broker->resume_ms) /* else it is another of the same round */
        broker->resume_ms = now + later_pause(&broker->later, after_ms);
    if (broker->resume_ms > request->retry_until_ms)
        broker->resume_ms = request->retry_until_ms;
    if (broker->limits_attempts)
        set_deadline(request, broker->resume_ms);
}

/* Of one that came to no good end: whether its broker may have done it, or is about to. */
static bool may_be_done(const struct request *request)
{
    return trouble_broken(&request->trouble) || request->trouble.kind == TROUBLE_LATE ||
           strcmp(request->error.word, "stopping") == 0;
}

/* Whether it is to be sent again. A connection that broke is opened again at once, because the
 * broker may have closed a kept one, or been restarted; a stream goes on by itself (events.c). */
static bool is_retried(struct broker *broker, struct request *request, int64_t now)
{
    bool broken = trouble_broken(&request->trouble);
    int64_t left = request->retry_until_ms - now;
    unsigned after_ms;
    bool one = broker->peer.endpoints.count == 1;
    request->fresh = broken;
    if (broker->ending || (now >= request->deadline_ms && !broker->limits_attempts))
        return false;
    if (request->unread)
        return true;
    if (request->call.once && may_be_done(request))
        return false;
    if (((broken && !request->call.each) || request_stale(request)) &&
        ++request->attempts < ATTEMPTS) {
        if (broker->limits_attempts && one)
            set_deadline(request, now);
        return true;
    }
    bool elsewhere = !one && round_is_elsewhere(&request->error);
    if (elsewhere && round_goes_on(broker, request, now))
        return true;
    if (left <= 0 || request->streamed || !mcast_later(&request->error, &after_ms))
        return false;
    if (elsewhere) { /* what each asked for is for those who know no other */
        after_ms = 0;
        if (broker->later.last_ms > ROUND_PAUSE_MS / 2)
            broker->later.last_ms = ROUND_PAUSE_MS / 2;
    }
    if (left < later_after(after_ms))
        return false;
    pause_before_retry(broker, request, after_ms, now);
    return true;
}

/* Of an answer that has come: 0 for a success (2xx); else the problem, and with a 401 why the
 * request proved nothing. */
static int judge_answer(const struct broker *broker, struct request *request)
{
    const struct peer *peer = &broker->peer;
    const struct endpoint *endpoint = request->endpoint;
    struct mcast_error *error = &request->error;
    int status = request->answer.status;
    const char *unproved = peer->unproved;
    if (status >= 200 && status <= 299)
        return 0;
    if (broker->unproved && !endpoint->socket[0] && !peer->credentials.is[CERT] &&
        !request->call.with_token)
        unproved = broker->unproved;
    int rc = problem_read(&request->answer, endpoint_name(endpoint), error);
    size_t used = strlen(error->text);
    if (status == 401 && unproved[0])
        snprintf(error->text + used, sizeof error->text - used, "; %s", unproved);
    return rc;
}

/* A request has ended, well or not. */
static void conclude(struct broker *broker, struct request *request)
{
    int64_t now = later_now_ms();
    int rc = request_conclude(request);
    bool answered = rc >= 0;
    broker->transports.ended -= request->state == REQUEST_ENDED;
    broker->sent--;
    if (rc == 0)
        rc = judge_answer(broker, request);
    bool again = rc < 0 && is_retried(broker, request, now);
    /* All others would get the same answer; a timeout concerns only itself. */
    bool refused =
        rc < 0 && mcast_later(&request->error, NULL) && strcmp(request->error.word, "timeout") != 0;
    if (refused)
        broker->refusal = request->error;
    if (again) {
        request->connect_by_ms = 0;
        wait_to_be_sent(broker, request);
        return;
    }
    if (refused) {
        broker->width = 1;
    } else if (answered) {
        round_found(broker, request);
        broker->refusal.code = 0;
        broker->width = broker->connections;
        broker->later.last_ms = 0;
    }
    if (rc == 0 && request->call.read)
        rc = request->call.read(&request->answer, &request->document, &request->error);
    if (rc < 0) {
        document_free(request->document);
        request->document = NULL;
    }
    request->rc = rc;
    finish_request(broker, request);
}

/* ---- times ---- */

/* It was not sent in time, or not again. */
static void expire_waiting(struct broker *broker, struct request *request)
{
    request->error = broker->refusal;
    if (request->error.code == 0)
        fault_set_word(&request->error, MCAST_UNREACHABLE, "timeout",
                       "mcastd at %s was not asked within %u ms, because others that were sent "
                       "before have no answer yet; asking again does no harm",
                       endpoint_name(endpoints_current(&broker->peer.endpoints)),
                       (unsigned)request->limit_ms);
    request->rc = request->error.code;
    finish_request(broker, request);
}

static void expire_in_flight(struct broker *broker, struct request *request)
{
    const int64_t now = later_now_ms();
    if (request->heard && now < request->deadline_ms) {
        request->heard = false;
        request->give_up_ms = request->call.each ? now + SILENCE_MS : INT64_MAX;
        note_due(broker, request);
        return;
    }
    abandon(broker, request);
    request_set_trouble(request, request->connected ? TROUBLE_LATE : TROUBLE_ABSENT,
                        strerror(ETIMEDOUT));
    conclude(broker, request);
}

/* The first that is due, or NULL; notes when the others are. */
static struct request *find_due(struct broker *broker, int64_t now, int64_t *due_ms)
{
    struct request *request = NULL;
    TAILQ_FOREACH(request, &broker->requests, link)
    {
        if (request->state != REQUEST_ENDED && due_of(request) <= now)
            break;
        if (request->state != REQUEST_ENDED && due_of(request) < *due_ms)
            *due_ms = due_of(request);
    }
    return request;
}

/* due_ms is a lower bound: a request that is over in time leaves it where it is. */
static void expire_all(struct broker *broker)
{
    int64_t now = later_now_ms(), due_ms = INT64_MAX;
    struct request *request = NULL;
    if (now < broker->due_ms)
        return;
    broker->due_ms = INT64_MAX; /* what a callback begins may lower it */
    while (!broker->ending && (request = find_due(broker, now, &due_ms)))
        (request->state == REQUEST_WAITING ? expire_waiting : expire_in_flight)(broker, request);
    if (due_ms < broker->due_ms)
        broker->due_ms = due_ms;
}

/* ---- sending ---- */

/* The queue of connections that the broker has not accepted yet is full. */
static void wait_for_queue(struct broker *broker, struct request *request, int64_t now)
{
    request_set_trouble(request, TROUBLE_ABSENT, "its queue of new connections is full");
    if (now >= request->connect_by_ms) {
        conclude(broker, request);
        return;
    }
    request_conclude(request);
    broker->refusal = request->error;
    broker->sent--;
    broker->resume_ms = now + QUEUE_PAUSE_MS;
    wait_to_be_sent(broker, request);
}

static void send_request(struct broker *broker, struct request *request, int64_t now)
{
    round_choose(broker, request, now);
    if (request->connect_by_ms == 0)
        request->connect_by_ms = now + request->connect_ms;
    if ((request->rc = make_transport(broker, request->endpoint, &request->error)) < 0 ||
        (request->rc = request_prepare(request)) < 0) {
        finish_request(broker, request);
        return;
    }
    request->state = REQUEST_IN_FLIGHT;
    broker->sent++;
    note_due(broker, request);
    struct transport *transport = *transport_to(broker, request->endpoint);
    enum transport_start start = transport->kind->start(transport, request);
    if (start == TRANSPORT_QUEUE_FULL) {
        wait_for_queue(broker, request, now);
    } else if (start == TRANSPORT_NO_MEMORY) {
        request_set_trouble(request, TROUBLE_NOMEM, "");
        conclude(broker, request);
    }
}

/* Those that cannot be sent are answered at once, and the caller may ask again then: no more of
 * them at a time than there are connections. */
static void send_waiting(struct broker *broker)
{
    int64_t now = later_now_ms();
    for (unsigned i = 0;
         i < broker->connections && !broker->ending && broker->count > broker->sent &&
         broker->sent < broker->width && broker->resume_ms <= now;
         i++)
        send_request(broker, find_in_state(broker, REQUEST_WAITING), now);
}

/* There is a connection again. Whether that broker serves requests, its next answer shows; one that
 * could not before is asked by one request alone until then. */
static void note_connections(struct broker *broker)
{
    bool more = broker->connected != broker->transports.connected;
    broker->connected = broker->transports.connected;
    if (!more || broker->refusal.code == MCAST_REFUSED)
        return;
    broker->refusal.code = 0;
    broker->width = broker->connections;
}

/* What waits is sent first, so that the same turn can bring its answer: each turn is one of the
 * program's loop, which may have others to serve in between. */
void broker_turn(struct broker *broker)
{
    expire_all(broker);
    send_waiting(broker);
    serve_transport(broker);
    note_connections(broker);
    while (!broker->ending && broker->transports.ended > 0)
        conclude(broker, find_in_state(broker, REQUEST_ENDED));
    send_waiting(broker);
    arm_timer(broker);
}

/* ---- from outside ---- */

int broker_begin(struct broker *broker, struct request *request, struct mcast_error *error)
{
    if (broker->ending)
        return fault_set(error, MCAST_STOPPED, "the handle is being closed");
    request->peer = &broker->peer;
    request->number = ++broker->last_number;
    broker->count++;
    TAILQ_INSERT_TAIL(&broker->requests, request, link);
    set_deadline(request, later_now_ms());
    wait_to_be_sent(broker, request);
    arm_timer(broker);
    return 0;
}

struct request *broker_find(const struct broker *broker, uint64_t number)
{
    struct request *request = TAILQ_FIRST(&broker->requests);
    while (request && request->number != number)
        request = TAILQ_NEXT(request, link);
    return request;
}

void broker_cancel(struct broker *broker, struct request *request)
{
    request->rc = fault_set(&request->error, MCAST_STOPPED, "the program asked libmcast to stop");
    broker->sent -= request->state != REQUEST_WAITING;
    broker->transports.ended -= request->state == REQUEST_ENDED;
    if (request->connection)
        abandon(broker, request);
    finish_request(broker, request);
    arm_timer(broker);
}

void broker_release(struct broker *broker)
{
    struct request *request = NULL;
    int saved = errno;
    broker->ending = true;
    while ((request = TAILQ_FIRST(&broker->requests)))
        broker_cancel(broker, request);
    for (size_t i = 0; i < TRANSPORT_KINDS; i++) {
        struct transport *transport = broker->transports.of[i];
        if (transport)
            transport->kind->destroy(transport);
    }
    if (broker->transports.epoll >= 0)
        close(broker->transports.epoll);
    if (broker->timer >= 0)
        close(broker->timer);
    credentials_release(&broker->peer.credentials);
    secret_wipe(&broker->peer.token);
    errno = saved;
}
