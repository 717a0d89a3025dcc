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

/* ---- names ---- */

/* A request that waits for a lookup. */
struct asker {
    STAILQ_ENTRY(asker) link;
    resolver_done_fn *done;
    void *arg;
};
STAILQ_HEAD(asker_list, asker);

/* One name: known, or being looked up, with a deadline that is that of all askers. */
struct name {
    struct work work; /* first */
    TAILQ_ENTRY(name) link;
    struct asker_list askers;
    bool known;
    uint64_t known_ms; /* since when; of uv_now */
    struct host host;  /* until it is known its thread's */
    char text[];
};

struct resolver {
    struct workqueue queue; /* first */
    resolver_look_fn *look;
    void *tree;                        /* of all names' texts (tsearch) */
    TAILQ_HEAD(name_list, name) known; /* the oldest first */
    unsigned known_count, waiting;
};

static int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

static struct name *find_name(const struct resolver *resolver, const char *text)
{
    char *const *found = tfind(text, &resolver->tree, compare_texts);
    return found ? (struct name *)(void *)(*found - offsetof(struct name, text)) : NULL;
}

static struct name *add_name(struct resolver *resolver, const char *text)
{
    const size_t size = strlen(text) + 1;
    struct name *name = memory_zeroed(sizeof *name + size);
    STAILQ_INIT(&name->askers);
    memcpy(name->text, text, size);
    memory_must(tsearch(name->text, &resolver->tree, compare_texts));
    return name;
}

static void set_known(struct resolver *resolver, struct name *name, bool known)
{
    if (known)
        TAILQ_INSERT_TAIL(&resolver->known, name, link);
    else if (name->known)
        TAILQ_REMOVE(&resolver->known, name, link);
    resolver->known_count += (unsigned)known - (unsigned)name->known;
    name->known = known;
    name->known_ms = uv_now(resolver->queue.loop);
}

static void forget_name(struct resolver *resolver, struct name *name)
{
    set_known(resolver, name, false);
    tdelete(name->text, &resolver->tree, compare_texts);
    free(name);
}

static bool is_fresh(const struct resolver *resolver, const struct name *name,
                     struct in_addr address)
{
    const uint64_t life_ms = host_has(&name->host, address) ? RESOLVER_YES_MS : RESOLVER_NO_MS;
    return name->known && uv_now(resolver->queue.loop) - name->known_ms < life_ms;
}

/* ---- lookups ---- */

static void report_host(struct resolver *resolver, struct asker_list *askers,
                        const struct host *host)
{
    for (struct asker *asker; (asker = STAILQ_FIRST(askers));) {
        STAILQ_REMOVE_HEAD(askers, link);
        resolver->waiting--;
        asker->done(asker->arg, host);
        free(asker);
    }
}

static void look_up(struct work *work)
{
    struct name *name = (struct name *)work;
    ((const struct resolver *)work->queue)->look(name->text, &name->host);
}

static void report_overdue(struct work *work)
{
    static const struct host overdue = {.state = HOST_UNANSWERED,
                                        .words = "no answer within 5 seconds"};
    static_assert(WORKQUEUE_DEADLINE_MS == 5000, "as the words say");
    report_host((struct resolver *)work->queue, &((struct name *)work)->askers, &overdue);
}

/* A lookup without an answer says nothing about the name. The caller may ask again at once. */
static void finish_lookup(struct work *work)
{
    struct name *name = (struct name *)work;
    struct resolver *resolver = (struct resolver *)work->queue;
    struct asker_list askers = STAILQ_HEAD_INITIALIZER(askers);
    const struct host host = name->host;
    STAILQ_CONCAT(&askers, &name->askers);
    set_known(resolver, name, true);
    if (host.state == HOST_UNANSWERED || resolver->queue.closed)
        forget_name(resolver, name);
    else if (resolver->known_count > RESOLVER_NAMES_MAX)
        forget_name(resolver, TAILQ_FIRST(&resolver->known));
    report_host(resolver, &askers, &host);
}

static void start_lookup(struct resolver *resolver, struct name *name)
{
    set_known(resolver, name, false);
    name->host = (struct host){.state = HOST_UNANSWERED};
    workqueue_add(&resolver->queue, &name->work);
}

/* ---- resolver.h ---- */

struct resolver *resolver_create(uv_loop_t *loop, resolver_look_fn *look)
{
    static const struct workqueue_kind kind = {
        .ask = look_up, .overdue = report_overdue, .done = finish_lookup};
    struct resolver *resolver = memory_zeroed(sizeof *resolver);
    resolver->look = look;
    TAILQ_INIT(&resolver->known);
    workqueue_init(&resolver->queue, loop, &kind);
    return resolver;
}

int resolver_ask(struct resolver *resolver, const char *text, struct in_addr address,
                 struct host *known, resolver_done_fn *done, void *arg)
{
    static const struct host stuck = {.state = HOST_UNANSWERED, .words = "no answer for long"};
    struct name *name = find_name(resolver, text);
    const bool fresh = name && is_fresh(resolver, name, address);
    if (fresh || (name && !name->known && name->work.overdue)) {
        *known = fresh ? name->host : stuck;
        return RESOLVER_KNOWN;
    }
    if (resolver->waiting >= RESOLVER_QUEUE_MAX)
        return ERROR_FULL;
    const bool starts = !name || name->known;
    if (!name)
        name = add_name(resolver, text);
    if (starts)
        start_lookup(resolver, name);
    struct asker *asker = memory_zeroed(sizeof *asker);
    asker->done = done;
    asker->arg = arg;
    STAILQ_INSERT_TAIL(&name->askers, asker, link);
    resolver->waiting++;
    return 0;
}

unsigned resolver_waiting(const struct resolver *resolver)
{
    return resolver->waiting;
}

void resolver_forget(struct resolver *resolver)
{
    while (!TAILQ_EMPTY(&resolver->known))
        forget_name(resolver, TAILQ_FIRST(&resolver->known));
}

void resolver_destroy(struct resolver *resolver, void (*closed)(void *arg), void *arg)
{
    assert(resolver->waiting == 0);
    resolver_forget(resolver);
    workqueue_close(&resolver->queue, closed, arg);
}
