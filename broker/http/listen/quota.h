/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

/* Connection quotas, so that no user can lock the resource managers out. Pure.
 *
 * Peers without a role belong to one of four classes, each with connections of its own, which no
 * other class can take (quota.c). A peer on TCP is unauthenticated until it shows a certificate or
 * a credential. One user can have many uids (user namespaces) and one host many addresses: so a
 * class has a limit. When it is reached, a new connection replaces the one that has been idle for
 * longest, of the holder with the most connections. Managers and admins have all that is left, an
 * eighth at least. */

enum {
    QUOTA_SHARE = 64, /* connections of one user, of users of one address, of nodes of one address,
                         or of all bearers of one reservation */
    QUOTA_UNAUTHENTICATED_SHARE = 16, /* of unauthenticated peers of one address */
    QUOTA_LISTS = 512
};

enum quota_class {
    CLASS_USERS,           /* of the Unix socket, and other authenticated users */
    CLASS_NODES,           /* authenticated nodes */
    CLASS_BEARERS,         /* of tokens: one job's token is on all of its nodes */
    CLASS_UNAUTHENTICATED, /* not authenticated yet */
    CLASSES
};

/* Whose connections count together. */
struct quota_holder {
    enum quota_class which;
    uint8_t id[17]; /* uid, reservation, or an IPv6 address; an IPv4 one is mapped */
};

struct quota_holder quota_user(uint32_t uid);
/* Clients with a token of the reservation with this number, from any address. */
struct quota_holder quota_bearer(uint64_t number);
/* Of IPv6 the first 64 bits count: one host can have all others. */
struct quota_holder quota_address(enum quota_class which, const struct sockaddr *address);

/* FNV-1a; with a secret seed no client can choose which others have the same. */
uint32_t quota_hash(const struct quota_holder *holder, uint32_t seed);

/* The connections of one holder, as long as it has any. */
struct quota_share;

/* One connection; all zero: a manager's, or not counted. */
struct quota_slot {
    struct quota_share *share;    /* NULL: a manager's */
    TAILQ_ENTRY(quota_slot) link; /* while it is idle: the others of its class */
    bool idle; /* the broker waits for its client: between two requests, or in the middle of one */
};

struct quota {
    unsigned max;   /* of all together */
    unsigned taken; /* of them */
    struct quota_count {
        unsigned taken, idle;
        TAILQ_HEAD(quota_slots, quota_slot) slots;            /* that are idle, the oldest first */
    } classes[CLASSES];                                       /* of peers without a role */
    LIST_HEAD(quota_shares, quota_share) shares[QUOTA_LISTS]; /* by quota_hash */
};

void quota_init(struct quota *quota, unsigned max);

/* Counts a connection, idle since now. False: its holder has its share, or the class has theirs
 * together, or all are taken. The slot stays where it is until released. */
bool quota_take_share(struct quota *quota, struct quota_slot *slot,
                      const struct quota_holder *holder);

/* Counts one of an admin or resource manager. False: it is one above the limit; it counts all the
 * same, and is released. */
bool quota_take(struct quota *quota);

void quota_release(struct quota *quota, struct quota_slot *slot);

/* The connection to be closed for this newcomer: of its own, if it has its share; else of the
 * holder in its class that has most, the newcomer counted. NULL: none is idle. */
struct quota_slot *quota_displaced(const struct quota *quota, const struct quota_holder *newcomer);

/* Whether more than half of the connections of its class are being served: a request that would
 * stay long is to be answered at once. A manager's never is. */
bool quota_crowded(const struct quota *quota, const struct quota_slot *slot);

/* It is served now; it waits for its client again. Nothing for a manager's. */
void quota_serve(struct quota *quota, struct quota_slot *slot);
void quota_wait(struct quota *quota, struct quota_slot *slot);
