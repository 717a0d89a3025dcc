#ifndef MCAST_BROKER_HTTP_PLACES_H
#define MCAST_BROKER_HTTP_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Who may hold how many connections, so that nobody locks the resource managers out. Pure.
 *
 * Who comes over TCP is a stranger until a certificate or a credential proves more: strangers have
 * little, but always a little, for the oldest of them make room for the next (peer.c). Users and
 * nodes, each for themselves, who have proved themselves but have no role, have half of the places.
 * Bearers of tokens have an eighth of their own: one job's token is on all of its nodes, and must
 * not take the places of everybody's nodes. Managers and admins have all that is left. */

enum {
    PLACES_SHARE = 64,         /* connections of one user, of users of one address, of nodes of one
                                  address, or of all bearers of one reservation */
    PLACES_STRANGER_SHARE = 16 /* of strangers of one address */
};

/* Whose share a connection counts for. */
enum holder_kind { HOLDER_USER, HOLDER_ADDRESS, HOLDER_NODE, HOLDER_BEARER, HOLDER_STRANGER };

struct holder {
    enum holder_kind kind;
    uint8_t who[16]; /* uid, reservation, or an IPv6 address; an IPv4 one is mapped */
};

struct holder holder_of_user(uint32_t uid);
/* Whoever bears a token of the reservation with this number, wherever it comes from. */
struct holder holder_of_bearer(uint64_t number);
/* kind: ADDRESS, NODE or STRANGER. Of IPv6 the first 64 bits count: one host can have all others.
 */
struct holder holder_of_address(enum holder_kind kind, const struct sockaddr *address);

bool holder_equal(const struct holder *a, const struct holder *b);

/* One holder, as long as it has a place. */
struct share;
const struct holder *share_holder(const struct share *share);

struct places {
    unsigned max;       /* for all together */
    unsigned taken;     /* of them */
    unsigned common;    /* of those taken: users, addresses and nodes */
    unsigned bearers;   /* of those taken */
    unsigned strangers; /* of those taken */
    struct share *shares;
};

/* NULL: it has its share, or its kind has theirs together (USER, ADDRESS and NODE half of the
 * places, BEARER an eighth, STRANGER a quarter), or every place is taken, or there is no memory. */
struct share *places_take_share(struct places *places, const struct holder *holder);

/* Whether places_take_share would fail because of this holder's share, not of everybody's. */
bool places_share_full(const struct places *places, const struct holder *holder);

/* Takes a place for an admin or resource manager. False: it is one above the limit. It counts all
 * the same, and is given back. */
bool places_take(struct places *places);

/* share: NULL for a place of places_take. */
void places_give_back(struct places *places, struct share *share);

#endif
