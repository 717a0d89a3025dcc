/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/resolver.h"

#include "broker/http/auth/host.h"
#include "base/error.h"
#include "base/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024 };

/* Who waits for a lookup. */
struct asker {
    struct asker *next;
    resolver_done_fn *done;
    void *arg;
};

/* One name, from the first question to the answer of its thread. */
struct lookup {
    struct resolver *resolver;
    struct lookup *next;    /* younger */
    struct lookup *sibling; /* of the same bucket */
    struct asker *askers, **last;
    uv_work_t work;
    uint64_t deadline; /* of uv_now, for all askers: those who come later wait shorter */
    bool running;
    bool overdue; /* its askers have their answer; only its thread is waited for */
    struct host host;
    char name[];
};

struct resolver {
    uv_loop_t *loop;
    uv_timer_t timer; /* at the oldest one's deadline */
    resolver_look_fn *look;
    struct hostcache *cache;
    struct lookup *oldest, **youngest, *buckets[BUCKETS];
    unsigned waiting, running;
    bool closing, timer_closed;
    void (*closed)(void *arg);
    void *closed_arg;
};

/* Where the pointer to the lookup of this name is, or would be. */
static struct lookup **place_of(struct resolver *resolver, const char *name)
{
    struct lookup **place = &resolver->buckets[name_hash("", name) % BUCKETS];
    while (*place && strcmp((*place)->name, name) != 0)
        place = &(*place)->sibling;
    return place;
}

static void dequeue(struct lookup *lookup)
{
    struct resolver *resolver = lookup->resolver;
    struct lookup **at = &resolver->oldest;
    while (*at != lookup)
        at = &(*at)->next;
    *at = lookup->next;
    if (resolver->youngest == &lookup->next)
        resolver->youngest = at;
    *place_of(resolver, lookup->name) = lookup->sibling;
}

static void report_host(struct lookup *lookup, const struct host *host)
{
    struct asker *asker = lookup->askers;
    lookup->askers = NULL;
    lookup->last = &lookup->askers;
    for (struct asker *next; asker; asker = next) {
        next = asker->next;
        lookup->resolver->waiting--;
        asker->done(asker->arg, host);
        free(asker);
    }
}

static void finish_if_empty(struct resolver *resolver)
{
    if (!resolver->closing || resolver->running > 0 || !resolver->timer_closed)
        return;
    void (*closed)(void *arg) = resolver->closed;
    void *arg = resolver->closed_arg;
    hostcache_destroy(resolver->cache);
    free(resolver);
    closed(arg);
}

/* ---- threads ---- */

static void on_thread(uv_work_t *work)
{
    struct lookup *lookup = work->data;
    lookup->resolver->look(lookup->name, &lookup->host);
}

static void start_next(struct resolver *resolver);

static void on_looked(uv_work_t *work, int status)
{
    struct lookup *lookup = work->data;
    struct resolver *resolver = lookup->resolver;
    (void)status; /* is never cancelled */
    dequeue(lookup);
    resolver->running--;
    if (lookup->host.state != HOST_UNANSWERED)
        hostcache_put(resolver->cache, lookup->name, &lookup->host,
                      (int64_t)uv_now(resolver->loop));
    report_host(lookup, &lookup->host);
    free(lookup);
    start_next(resolver);
    finish_if_empty(resolver);
}

static void start_next(struct resolver *resolver)
{
    struct lookup *lookup = resolver->oldest;
    for (; lookup && resolver->running < RESOLVER_THREADS; lookup = lookup->next) {
        if (lookup->running)
            continue;
        /* Fails only without a work function. */
        (void)uv_queue_work(resolver->loop, &lookup->work, on_thread, on_looked);
        lookup->running = true;
        resolver->running++;
    }
}

/* ---- deadlines ---- */

static void on_timer(uv_timer_t *timer);

static void set_timer(struct resolver *resolver)
{
    const struct lookup *lookup = resolver->oldest;
    uint64_t now = uv_now(resolver->loop);
    while (lookup && lookup->overdue)
        lookup = lookup->next;
    if (lookup)
        uv_timer_start(&resolver->timer, on_timer,
                       lookup->deadline > now ? lookup->deadline - now : 0, 0);
    else
        uv_timer_stop(&resolver->timer);
}

/* What a thread works on stays in the queue, already answered, until the thread returns. */
static void on_timer(uv_timer_t *timer)
{
    static const struct host late = {.state = HOST_UNANSWERED,
                                     .words = "no answer within 5 seconds"};
    static_assert(RESOLVER_DEADLINE_MS == 5000, "as the words say");
    struct resolver *resolver = timer->data;
    uint64_t now = uv_now(resolver->loop);
    for (struct lookup *lookup = resolver->oldest, *next; lookup; lookup = next) {
        next = lookup->next;
        if (lookup->deadline > now)
            break;
        if (lookup->overdue)
            continue;
        const bool ends = !lookup->running;
        lookup->overdue = true;
        if (ends)
            dequeue(lookup);
        report_host(lookup, &late);
        if (ends)
            free(lookup);
    }
    set_timer(resolver);
}

/* ---- resolver.h ---- */

struct resolver *resolver_create(uv_loop_t *loop, resolver_look_fn *look)
{
    struct resolver *resolver = calloc(1, sizeof *resolver);
    if (!resolver || !(resolver->cache = hostcache_create(HOSTCACHE_NAMES))) {
        free(resolver);
        return NULL;
    }
    resolver->loop = loop;
    resolver->look = look;
    resolver->youngest = &resolver->oldest;
    uv_timer_init(loop, &resolver->timer);
    resolver->timer.data = resolver;
    return resolver;
}

/* The lookup of this name that is under way, or a new one; NULL: no memory. */
static struct lookup *join(struct resolver *resolver, const char *name)
{
    struct lookup **place = place_of(resolver, name), *lookup = *place;
    size_t size = strlen(name) + 1;
    if (lookup || !(lookup = calloc(1, sizeof *lookup + size)))
        return lookup;
    lookup->resolver = resolver;
    lookup->last = &lookup->askers;
    lookup->work.data = lookup;
    lookup->deadline = uv_now(resolver->loop) + RESOLVER_DEADLINE_MS;
    memcpy(lookup->name, name, size);
    *place = lookup;
    *resolver->youngest = lookup;
    resolver->youngest = &lookup->next;
    if (!uv_is_active((uv_handle_t *)&resolver->timer))
        set_timer(resolver);
    return lookup;
}

int resolver_ask(struct resolver *resolver, const char *name, struct in_addr address,
                 struct host *known, resolver_done_fn *done, void *arg)
{
    static const struct host stuck = {.state = HOST_UNANSWERED, .words = "no answer for long"};
    const struct host *cached =
        hostcache_get(resolver->cache, name, address, (int64_t)uv_now(resolver->loop));
    const struct lookup *in_flight = cached ? NULL : *place_of(resolver, name);
    if (cached || (in_flight && in_flight->overdue)) {
        *known = cached ? *cached : stuck;
        return RESOLVER_KNOWN;
    }
    if (resolver->waiting >= RESOLVER_QUEUE_MAX)
        return ERROR_FULL;
    struct asker *asker = calloc(1, sizeof *asker);
    struct lookup *lookup = asker ? join(resolver, name) : NULL;
    if (!lookup) {
        free(asker);
        return ERROR_NOMEM;
    }
    *asker = (struct asker){.done = done, .arg = arg};
    *lookup->last = asker;
    lookup->last = &asker->next;
    resolver->waiting++;
    start_next(resolver);
    return 0;
}

unsigned resolver_waiting(const struct resolver *resolver)
{
    return resolver->waiting;
}

void resolver_forget(struct resolver *resolver)
{
    hostcache_clear(resolver->cache);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct resolver *resolver = handle->data;
    resolver->timer_closed = true;
    finish_if_empty(resolver);
}

void resolver_destroy(struct resolver *resolver, void (*closed)(void *arg), void *arg)
{
    assert(resolver->waiting == 0);
    resolver->closing = true;
    resolver->closed = closed;
    resolver->closed_arg = arg;
    uv_close((uv_handle_t *)&resolver->timer, on_timer_closed);
}
