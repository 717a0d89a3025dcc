/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/auth/resolver.h"

#include "broker/http/auth/workqueue.h"
#include "base/error.h"
#include "base/memory.h"

#include <assert.h>
#include <netdb.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void add_name(const char *name, void **names)
{
    if (!tsearch(name, names, compare_names))
        abort(); /* without memory, as base/memory.h */
}

/* ---- the cache ---- */

struct known {
    TAILQ_ENTRY(known) link;
    int64_t put_ms;
    struct host host;
    char name[];
};

void hostcache_init(struct hostcache *cache, size_t names_max)
{
    assert(names_max > 0);
    *cache = (struct hostcache){.max = names_max};
    TAILQ_INIT(&cache->entries);
}

static struct known *find_known(const struct hostcache *cache, const char *name)
{
    char *const *found = tfind(name, &cache->names, compare_names);
    return found ? (struct known *)(void *)(*found - offsetof(struct known, name)) : NULL;
}

static void forget_known(struct hostcache *cache, struct known *known)
{
    tdelete(known->name, &cache->names, compare_names);
    TAILQ_REMOVE(&cache->entries, known, link);
    cache->count--;
    free(known);
}

void hostcache_put(struct hostcache *cache, const char *name, const struct host *host,
                   int64_t now_ms)
{
    struct known *old = find_known(cache, name);
    const size_t size = strlen(name) + 1;
    assert(host->state != HOST_UNANSWERED);
    if (old || cache->count == cache->max)
        forget_known(cache, old ? old : TAILQ_FIRST(&cache->entries));
    struct known *known = memory_zeroed(sizeof *known + size);
    known->put_ms = now_ms;
    known->host = *host;
    memcpy(known->name, name, size);
    add_name(known->name, &cache->names);
    TAILQ_INSERT_TAIL(&cache->entries, known, link);
    cache->count++;
}

const struct host *hostcache_get(const struct hostcache *cache, const char *name,
                                 struct in_addr address, int64_t now_ms)
{
    const struct known *known = find_known(cache, name);
    if (!known)
        return NULL;
    int64_t life = host_has(&known->host, address) ? HOSTCACHE_YES_MS : HOSTCACHE_NO_MS;
    return now_ms - known->put_ms < life ? &known->host : NULL;
}

void hostcache_clear(struct hostcache *cache)
{
    while (!TAILQ_EMPTY(&cache->entries))
        forget_known(cache, TAILQ_FIRST(&cache->entries));
}

/* An answer that asking again in a moment would not change. */
static bool is_definite(int code)
{
    return code == EAI_NONAME || code == EAI_NODATA || code == EAI_ADDRFAMILY;
}

void host_resolve(const char *name, struct host *out)
{
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    *out = (struct host){.state = HOST_FOUND};
    int code = getaddrinfo(name, NULL, &hints, &found);
    if (code != 0) {
        out->state = is_definite(code) ? HOST_UNKNOWN : HOST_UNANSWERED;
        out->words = gai_strerror(code);
        return;
    }
    for (const struct addrinfo *at = found; at && out->count < HOST_ADDRESSES_MAX;
         at = at->ai_next) {
        struct sockaddr_in address;
        memcpy(&address, at->ai_addr, sizeof address);
        out->addresses[out->count++] = address.sin_addr;
    }
    freeaddrinfo(found);
}

bool host_has(const struct host *host, struct in_addr address)
{
    for (unsigned i = 0; i < host->count; i++)
        if (host->addresses[i].s_addr == address.s_addr)
            return true;
    return false;
}

/* ---- lookups ---- */

/* A request that waits for a lookup. */
struct asker {
    STAILQ_ENTRY(asker) link;
    resolver_done_fn *done;
    void *arg;
};

/* One name. Its deadline is that of all askers: those who come later wait shorter. */
struct lookup {
    struct work work; /* first */
    STAILQ_HEAD(asker_list, asker) askers;
    struct host host; /* UNANSWERED until its thread knows better */
    char name[];
};

struct resolver {
    struct workqueue queue; /* first */
    resolver_look_fn *look;
    struct hostcache cache;
    void *names; /* tree of the lookups' names (tsearch) */
    unsigned waiting;
};

static struct lookup *find_lookup(const struct resolver *resolver, const char *name)
{
    char *const *found = tfind(name, &resolver->names, compare_names);
    return found ? (struct lookup *)(void *)(*found - offsetof(struct lookup, name)) : NULL;
}

static void report_host(struct lookup *lookup, const struct host *host)
{
    struct resolver *resolver = (struct resolver *)lookup->work.queue;
    for (struct asker *asker; (asker = STAILQ_FIRST(&lookup->askers)) != NULL;) {
        STAILQ_REMOVE_HEAD(&lookup->askers, link);
        resolver->waiting--;
        asker->done(asker->arg, host);
        free(asker);
    }
}

static void look_up(struct work *work)
{
    struct lookup *lookup = (struct lookup *)work;
    ((const struct resolver *)work->queue)->look(lookup->name, &lookup->host);
}

static void report_overdue(struct work *work)
{
    static const struct host overdue = {.state = HOST_UNANSWERED,
                                        .words = "no answer within 5 seconds"};
    static_assert(RESOLVER_DEADLINE_MS == 5000, "as the words say");
    report_host((struct lookup *)work, &overdue);
}

static void finish_lookup(struct work *work)
{
    struct lookup *lookup = (struct lookup *)work;
    struct resolver *resolver = (struct resolver *)work->queue;
    tdelete(lookup->name, &resolver->names, compare_names);
    if (lookup->host.state != HOST_UNANSWERED)
        hostcache_put(&resolver->cache, lookup->name, &lookup->host,
                      (int64_t)uv_now(resolver->queue.loop));
    report_host(lookup, &lookup->host);
    free(lookup);
}

static void release_resolver(struct workqueue *queue)
{
    hostcache_clear(&((struct resolver *)queue)->cache);
    free(queue);
}

struct resolver *resolver_create(uv_loop_t *loop, resolver_look_fn *look)
{
    static const struct workqueue_kind kind = {.threads = RESOLVER_THREADS,
                                               .deadline_ms = RESOLVER_DEADLINE_MS,
                                               .ask = look_up,
                                               .overdue = report_overdue,
                                               .done = finish_lookup,
                                               .release = release_resolver};
    struct resolver *resolver = memory_zeroed(sizeof *resolver);
    resolver->look = look;
    hostcache_init(&resolver->cache, HOSTCACHE_NAMES);
    workqueue_init(&resolver->queue, loop, &kind);
    return resolver;
}

static struct lookup *add_lookup(struct resolver *resolver, const char *name)
{
    const size_t size = strlen(name) + 1;
    struct lookup *lookup = memory_zeroed(sizeof *lookup + size);
    lookup->host.state = HOST_UNANSWERED;
    STAILQ_INIT(&lookup->askers);
    memcpy(lookup->name, name, size);
    add_name(lookup->name, &resolver->names);
    workqueue_add(&resolver->queue, &lookup->work);
    return lookup;
}

int resolver_ask(struct resolver *resolver, const char *name, struct in_addr address,
                 struct host *known, resolver_done_fn *done, void *arg)
{
    static const struct host stuck = {.state = HOST_UNANSWERED, .words = "no answer for long"};
    const struct host *cached =
        hostcache_get(&resolver->cache, name, address, (int64_t)uv_now(resolver->queue.loop));
    struct lookup *lookup = cached ? NULL : find_lookup(resolver, name);
    if (cached || (lookup && lookup->work.overdue)) {
        *known = cached ? *cached : stuck;
        return RESOLVER_KNOWN;
    }
    if (resolver->waiting >= RESOLVER_QUEUE_MAX)
        return ERROR_FULL;
    struct asker *asker = memory_zeroed(sizeof *asker);
    asker->done = done;
    asker->arg = arg;
    if (!lookup)
        lookup = add_lookup(resolver, name);
    STAILQ_INSERT_TAIL(&lookup->askers, asker, link);
    resolver->waiting++;
    return 0;
}

unsigned resolver_waiting(const struct resolver *resolver)
{
    return resolver->waiting;
}

void resolver_forget(struct resolver *resolver)
{
    hostcache_clear(&resolver->cache);
}

void resolver_destroy(struct resolver *resolver, void (*closed)(void *arg), void *arg)
{
    assert(resolver->waiting == 0);
    workqueue_close(&resolver->queue, closed, arg);
}
