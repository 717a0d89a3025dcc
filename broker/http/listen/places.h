/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_LISTEN_PLACES_H
#define MCAST_BROKER_HTTP_LISTEN_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/socket.h>

/* Who may hold how many connections, so that no user can lock the resource managers out. Pure.
 *
 * Who has no role belongs to one of four classes, each with places of its own, which no other class
 * can take (places.c). A peer on TCP is unauthenticated until it shows a certificate or a
 * credential. One user can have many uids (user namespaces) and one host many addresses: so a class
 * has a limit. When it is reached, a new connection takes the place of the one that has been idle
 * for longest, of the holder with the most connections. Managers and admins have all that is left,
 * an eighth at least. */

enum {
    PLACES_SHARE = 64, /* connections of one user, of users of one address, of nodes of one
                          address, or of all bearers of one reservation */
    PLACES_UNAUTHENTICATED_SHARE = 16 /* of unauthenticated peers of one address */
};

enum places_class {
    CLASS_USERS,           /* of the Unix socket, and other authenticated users */
    CLASS_NODES,           /* authenticated nodes */
    CLASS_BEARERS,         /* of tokens: one job's token is on all of its nodes */
    CLASS_UNAUTHENTICATED, /* not authenticated yet */
    CLASSES
};

/* Whose share a connection counts for. */
enum holder_kind {
    HOLDER_USER,
    HOLDER_ADDRESS,
    HOLDER_NODE,
    HOLDER_BEARER,
    HOLDER_UNAUTHENTICATED
};

struct holder {
    enum holder_kind kind;
    uint8_t who[16]; /* uid, reservation, or an IPv6 address; an IPv4 one is mapped */
};

struct holder holder_of_user(uint32_t uid);
/* Clients with a token of the reservation with this number, from any address. */
struct holder holder_of_bearer(uint64_t number);
/* kind: ADDRESS, NODE or UNAUTHENTICATED. Of IPv6 the first 64 bits count: one host can have all
 * others.
 */
struct holder holder_of_address(enum holder_kind kind, const struct sockaddr *address);

bool holder_equal(const struct holder *a, const struct holder *b);

/* One holder, as long as it has a place. */
struct share;

/* One connection's place; all zero: a manager's, or none. */
struct place {
    struct share *share;     /* NULL: a manager's */
    TAILQ_ENTRY(place) link; /* of the same share, while it keeps the broker waiting */
    bool waiting;            /* it does: between two requests, or in the middle of one */
    uint64_t since_ms;       /* and since when */
};

struct places {
    unsigned max;            /* for all together */
    unsigned taken;          /* of them */
    unsigned count[CLASSES]; /* of those taken, by those without a role */
    LIST_HEAD(share_list, share) shares;
};

/* How many the class may have. */
unsigned places_class_max(const struct places *places, enum places_class which);

/* Takes one, waiting since now. False: the holder has its share, or its class has theirs together,
 * or every place is taken, or there is no memory. The place stays where it is until given back. */
bool places_take_share(struct places *places, struct place *place, const struct holder *holder,
                       uint64_t now_ms);

/* The place that has to be given up so that this newcomer finds one: of its own, if it has its
 * share; else of the holder in its class that has most, the newcomer counted. NULL: none is idle.
 */
struct place *places_displaced(const struct places *places, const struct holder *newcomer);

/* Takes a place for an admin or resource manager. False: it is one above the limit. It counts all
 * the same, and is given back. */
bool places_take(struct places *places);

/* The place may be taken again for another. */
void places_give_back(struct places *places, struct place *place);

/* Whether more than half of the places of its class are worked for: a request that would stay long
 * is to be answered at once. A manager's never is. */
bool places_crowded(const struct places *places, const struct place *place);

/* The broker works for it now; it waits for its client again. Nothing for a manager's. */
void place_works(struct place *place);
void place_waits(struct place *place, uint64_t now_ms);

#endif
