/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_AUTH_HOST_H
#define MCAST_BROKER_HTTP_AUTH_HOST_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* What hosts' names resolved to, for a while, so that the nodes of a whole machine that report
 * within a second cost one lookup each at most, and none when they have just been here. Pure: times
 * are milliseconds of any clock that never goes back. */

enum {
    /* Only names that stand in 'nodes' of a cluster are looked up. The largest machine has 11,136
     * nodes; a front end's and a test system's fit beside it. About 3 MB when full; beyond, the
     * oldest is forgotten, which costs a lookup. */
    HOSTCACHE_NAMES = 16384,
    /* What says yes. Addresses of nodes change by an administrator, and then the node restarts,
     * which takes this long. A prolog's two requests and a short job's epilog fall into it. */
    HOSTCACHE_YES_MS = 10 * 60 * 1000,
    /* What says no: no such name, or another address. A correction of the names takes effect within
       this time; and a node that is refused costs two lookups a minute, however often it asks. */
    HOSTCACHE_NO_MS = 30 * 1000
};

struct hostcache;

struct hostcache *hostcache_create(size_t names_max); /* NULL: no memory */
void hostcache_destroy(struct hostcache *cache);      /* NULL is allowed */

/* Takes the place of what was known. Not for HOST_UNANSWERED, which says nothing of the name.
 * Without memory it is not remembered. */
void hostcache_put(struct hostcache *cache, const char *name, const struct host *host,
                   int64_t now_ms);

/* What is known of the name, if it is young enough to tell whether it has this address; else NULL.
 * Valid until the next put or clear. */
const struct host *hostcache_get(const struct hostcache *cache, const char *name,
                                 struct in_addr address, int64_t now_ms);

/* Forgets all: the configuration has changed. */
void hostcache_clear(struct hostcache *cache);

#endif
