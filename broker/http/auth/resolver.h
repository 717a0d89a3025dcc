/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <uv.h>

/* What a host's name resolves to on the broker's host. IPv4 only, for that is what a MUNGE
 * credential carries. */

/* A node has a few networks, each with a NIC or four; what goes beyond is not looked at. */
enum { HOST_ADDRESSES_MAX = 16 };

enum host_state {
    HOST_FOUND,
    HOST_UNKNOWN,   /* the resolver is sure: no such name, or it has no IPv4 address */
    HOST_UNANSWERED /* it cannot tell now: a name server is away, no memory */
};

struct host {
    enum host_state state;
    const char *words; /* why there are no addresses: a literal; NULL when there are */
    unsigned count;
    struct in_addr addresses[HOST_ADDRESSES_MAX];
};

/* Asks the system's resolver (getaddrinfo). Blocks, when name servers are away for half a minute:
 * for worker threads. */
void host_resolve(const char *name, struct host *out);

bool host_has(const struct host *host, struct in_addr address);

/* Looks hosts' names up without keeping the loop waiting (workqueue.h), and remembers them. Its
 * threads ask for names only, so that name servers that do not answer delay no other
 * authentication. One lookup answers all who wait for its name. */

enum {
    RESOLVER_QUEUE_MAX = 4096, /* waiting: as many as there are connections by default, because the
                                 nodes of a whole machine come at once */
    /* Only names in 'nodes' of a cluster are looked up, and the largest machine has 11,136. About
     * 5 MB when full; beyond, the oldest is forgotten. */
    RESOLVER_NAMES_MAX = 16384,
    /* How long a yes counts: a node whose address changes restarts, which takes this long. A
     * prolog's two requests and a short job's epilog fall into it. */
    RESOLVER_YES_MS = 10 * 60 * 1000,
    /* How long a no counts (no such name, or another address): a correction takes effect within it,
     * and a node that is refused costs two lookups a minute. */
    RESOLVER_NO_MS = 30 * 1000
};

struct resolver;

/* Blocks; on worker threads. */
typedef void resolver_look_fn(const char *name, struct host *out);
/* host is valid during the call. */
typedef void resolver_done_fn(void *arg, const struct host *host);

/* look: host_resolve, but in tests. */
struct resolver *resolver_create(uv_loop_t *loop, resolver_look_fn *look);

/* What the name resolves to, young enough to tell whether it has the address. RESOLVER_KNOWN: it
 * is in *known, and done is not called. 0: done is called exactly once, from the loop, never from
 * in here; with HOST_UNANSWERED when that takes too long. Or ERROR_FULL. */
enum { RESOLVER_KNOWN = 1 };
int resolver_ask(struct resolver *resolver, const char *name, struct in_addr address,
                 struct host *known, resolver_done_fn *done, void *arg);

/* How many wait for an answer now. */
unsigned resolver_waiting(const struct resolver *resolver);

/* Forgets what it has learnt. */
void resolver_forget(struct resolver *resolver);

/* When no request waits any more. closed is called from the loop. */
void resolver_destroy(struct resolver *resolver, void (*closed)(void *arg), void *arg);
