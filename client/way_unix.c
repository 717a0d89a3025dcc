/* Over the broker's Unix socket: nothing but libc and a parser of HTTP, because most programs that
 * ask make one request and end. */

#include "client/fault.h"
#include "client/line.h"
#include "client/reactor.h"
#include "client/way.h"

#include <stdlib.h>
#include <string.h>

enum { CROWD_PAUSE_MS = 10 }; /* until a connection is tried for again that found no room */

struct way_unix {
    struct way way;
    struct alarms alarms; /* of all lines that are somebody's: when something is to be done */
    size_t busy;          /* how many these are */
    struct line *idle;
};

static struct way_unix *own(struct way *way)
{
    return (struct way_unix *)way; /* its first member */
}

/* ---- lines that are nobody's ---- */

static struct line *take_idle(struct way_unix *self)
{
    struct line *line;
    while ((line = self->idle)) {
        self->idle = line->next;
        if (line_alive(line))
            return line;
        line_destroy(line);
    }
    return NULL;
}

/* The flight has no line any more. */
static void give_back(struct way_unix *self, struct line *line)
{
    alarms_unset(&self->alarms, &line->alarm);
    self->busy--;
    line->flight->carried = NULL;
    way_unwatch(&self->way, line->fd);
    if (line_free(line)) {
        line->next = self->idle;
        self->idle = line;
    } else {
        line_destroy(line);
    }
}

/* ---- the course of a flight ---- */

/* With a line, which is due to begin. False: memory is exhausted. */
static bool board(struct way_unix *self, struct flight *flight, bool fresh, int64_t answer_by_ms)
{
    struct line *line = fresh ? NULL : take_idle(self);
    if (!line)
        line = line_create();
    if (!line || !alarms_reserve(&self->alarms, self->busy + 2) || !line_take(line, flight)) {
        line_destroy(line);
        return false;
    }
    line->connect_by_ms = reactor_now_ms() + CALL_CONNECT_MS;
    line->answer_by_ms = answer_by_ms;
    alarms_set(&self->alarms, &line->alarm, 0);
    self->busy++;
    flight->carried = line;
    return true;
}

static void land(struct way_unix *self, struct line *line)
{
    struct flight *flight = line->flight;
    give_back(self, line);
    way_land(&self->way, flight);
}

static void give_up(struct way_unix *self, struct line *line, enum trouble_kind kind,
                    const char *words)
{
    flight_set_trouble(line->flight, kind, words);
    land(self, line);
}

/* The broker closed the kept connection as the request was on its way: over a new one. */
static void change(struct way_unix *self, struct line *line)
{
    struct flight *flight = line->flight;
    int64_t answer_by_ms = line->answer_by_ms;
    give_back(self, line);
    flight->trouble = (struct trouble){0};
    if (!board(self, flight, true, answer_by_ms)) {
        flight_set_trouble(flight, TROUBLE_NOMEM, "");
        way_land(&self->way, flight);
    }
}

/* Whatever came of the last step. */
static void go_on(struct way_unix *self, struct line *line)
{
    uint32_t events = line_writes(line) ? EPOLLIN | EPOLLOUT : EPOLLIN;
    if (line->state == LINE_FAILED && line_was_dead(line))
        change(self, line);
    else if (line->state != LINE_BUSY)
        land(self, line);
    else if (!way_watch(&self->way, line->fd, (uintptr_t)line, events))
        give_up(self, line, TROUBLE_NOMEM, "");
}

static void begin(struct way_unix *self, struct line *line)
{
    if (line->state == LINE_BUSY) {
        alarms_set(&self->alarms, &line->alarm, line->answer_by_ms);
        flight_reach(line->flight);
        line_write(line);
    }
    go_on(self, line);
}

/* There is a queue before the broker, and it is full. */
static void wait_for_room(struct way_unix *self, struct line *line)
{
    int64_t now = reactor_now_ms(), again = now + CROWD_PAUSE_MS;
    int64_t by =
        line->connect_by_ms < line->answer_by_ms ? line->connect_by_ms : line->answer_by_ms;
    if (now >= by)
        give_up(self, line, TROUBLE_ABSENT, "it has had no room for another connection");
    else
        alarms_set(&self->alarms, &line->alarm, again < by ? again : by);
}

static void be_due(struct way_unix *self, struct line *line)
{
    if (line->state == LINE_BUSY)
        give_up(self, line, TROUBLE_LATE, "");
    else if (line_connect(line) == LINE_WAITING)
        wait_for_room(self, line);
    else
        begin(self, line);
}

/* ---- driven by the reactor ---- */

static bool add(struct way *way, struct flight *flight)
{
    int64_t limit_ms = flight->limit_ms;
    return board(own(way), flight, flight->fresh,
                 limit_ms > 0 ? reactor_now_ms() + limit_ms : INT64_MAX);
}

static void remove_flight(struct way *way, struct flight *flight)
{
    give_back(own(way), flight->carried);
}

static void serve(struct way *way, uint64_t tag, uint32_t events)
{
    struct line *line = (struct line *)(uintptr_t)tag; /* as go_on has it */
    line_write(line);
    if (events & ~(uint32_t)EPOLLOUT)
        line_read(line);
    go_on(own(way), line);
}

static int64_t due_ms(const struct way *way)
{
    const struct alarm *first = alarms_first(&((const struct way_unix *)way)->alarms);
    return first ? first->due_ms : INT64_MAX;
}

static void expire(struct way *way)
{
    struct way_unix *self = own(way);
    int64_t now = reactor_now_ms();
    struct alarm *first;
    while ((first = alarms_first(&self->alarms)) && first->due_ms <= now)
        be_due(self, first->owner);
}

static void destroy(struct way *way)
{
    struct way_unix *self = own(way);
    for (struct line *line; (line = self->idle);) {
        self->idle = line->next;
        line_destroy(line);
    }
    alarms_release(&self->alarms);
    free(self);
}

static const struct way_kind kind = {
    .destroy = destroy,
    .add = add,
    .remove = remove_flight,
    .serve = serve,
    .due_ms = due_ms,
    .expire = expire,
};

int way_unix_create(struct way **out, int epoll, struct mcast_error *error)
{
    struct way_unix *self = calloc(1, sizeof(*self));
    if (!self)
        return fault_nomem(error);
    self->way = (struct way){.kind = &kind, .epoll = epoll};
    *out = &self->way;
    return 0;
}
