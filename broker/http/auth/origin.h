/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/auth/resolver.h"
#include "base/nodelist.h"

#include <stddef.h>

/* Whether root, by a MUNGE credential, is the root of the node that it says it speaks for: the
 * credential's origin has to be an address of that name (S5). What munged stamps there can be set
 * by any host that has the key: this keeps honest hosts apart (docs/security.md). Pure. */

struct origin {
    bool listed;            /* its name stands in 'nodes' of a cluster */
    bool looked_up;         /* host is what the name resolves to */
    struct in_addr address; /* from the credential */
    struct host host;
    const char *names[2]; /* the name, as a proof has names */
    char name[NODELIST_NAME_MAX + 1];
};

/* node: who it says it is. For free(). */
struct origin *origin_create(const char *node, bool listed, struct in_addr address);

/* Whether the name has to be looked up: neither an address that tells nothing is nor a name that is
 * no node's. */
bool origin_is_open(const struct origin *origin);

void origin_look(struct origin *origin, const struct host *host);

/* Whether the address is one of the name. */
bool origin_holds(const struct origin *origin);

/* Why it does not hold, and what to do about it: a clause without its subject's name, cut to fit.
 * Returns out. */
const char *origin_explain(const struct origin *origin, char *out, size_t size);
