/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_AUTH_ORIGIN_H
#define MCAST_BROKER_HTTP_AUTH_ORIGIN_H

#include "broker/http/auth/resolver.h"
#include "base/nodelist.h"

#include <stddef.h>

/* Whether root, by a MUNGE credential, is the root of the node that it says it speaks for: the
 * credential's origin has to be an address of that name (S5). What munged stamps there can be set
 * by any host that has the key: this keeps honest hosts apart (docs/security.md). Pure. */

enum origin_verdict {
    ORIGIN_OPEN,      /* the name has to be looked up */
    ORIGIN_HOLDS,     /* it is an address of the name */
    ORIGIN_UNLISTED,  /* the name is no node's */
    ORIGIN_LOOPBACK,  /* every host has it */
    ORIGIN_NULL,      /* its munged did not find out */
    ORIGIN_UNKNOWN,   /* the name has no address */
    ORIGIN_ELSEWHERE, /* the name has others */
    ORIGIN_UNANSWERED /* the name cannot be looked up now */
};

struct origin {
    enum origin_verdict verdict;
    struct in_addr address; /* from the credential */
    struct host host;       /* what the name resolves to, when it has been looked up */
    const char *names[2];   /* the name, as a proof has names */
    char name[NODELIST_NAME_MAX + 1];
};

/* node: who it says it is. listed: whether that stands in 'nodes' of a cluster. Neither an address
 * that tells nothing nor a name that is no node's is looked up. For free(). */
struct origin *origin_create(const char *node, bool listed, struct in_addr address);

/* The name has been looked up. */
void origin_judge(struct origin *origin, const struct host *host);

/* Why it does not hold, and what to do about it: a clause without its subject's name, cut to fit.
 * Returns out. */
const char *origin_explain(const struct origin *origin, char *out, size_t size);

#endif
