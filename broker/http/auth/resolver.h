/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_AUTH_RESOLVER_H
#define MCAST_BROKER_HTTP_AUTH_RESOLVER_H

#include "broker/http/auth/host.h"

#include <uv.h>

/* Looks hosts' names up without keeping the loop waiting, and remembers them (hostcache.h).
 *
 * Worker threads of the loop ask, few at once and none but for names, so that name servers that do
 * not answer delay no other authentication. One lookup answers all who wait for its name. */

enum {
    RESOLVER_THREADS = 2,      /* of the loop's four: the decoder has two, whose work is short */
    RESOLVER_QUEUE_MAX = 4096, /* waiting: as many as there are connections by default, because the
                                 nodes of a whole machine come at once */
    RESOLVER_DEADLINE_MS = 5000
};

struct resolver;

/* Blocks; on worker threads. */
typedef void resolver_look_fn(const char *name, struct host *out);
/* host is valid during the call. */
typedef void resolver_done_fn(void *arg, const struct host *host);

/* look: host_resolve, but in tests. NULL: out of memory. */
struct resolver *resolver_create(uv_loop_t *loop, resolver_look_fn *look);

/* What the name resolves to, young enough to tell whether it has the address. RESOLVER_KNOWN: it
 * is in *known, and done is not called. 0: done is called exactly once, from the loop, never from
 * in here; with HOST_UNANSWERED when that takes too long. Or ERROR_FULL or ERROR_NOMEM. */
enum { RESOLVER_KNOWN = 1 };
int resolver_ask(struct resolver *resolver, const char *name, struct in_addr address,
                 struct host *known, resolver_done_fn *done, void *arg);

/* How many wait for an answer now. */
unsigned resolver_waiting(const struct resolver *resolver);

/* Forgets what it has learnt. */
void resolver_forget(struct resolver *resolver);

/* When no request waits any more. closed is called from the loop, after the last thread has come
 * back: the C library's resolver cannot be interrupted. */
void resolver_destroy(struct resolver *resolver, void (*closed)(void *arg), void *arg);

#endif
