#ifndef MCAST_BROKER_HTTP_PLACES_H
#define MCAST_BROKER_HTTP_PLACES_H

#include <stdbool.h>
#include <stdint.h>

/* Who may hold how many connections, so that no user of the host can lock the resource managers
 * out: whoever has no role has a small share, and all of them together half of the places. Pure. */

enum {
    PLACES_SHARE = 64,         /* connections of one uid without a role */
    PLACES_NOBODY = UINT32_MAX /* the uid of those who prove none: all of TCP shares one share */
};

/* One uid without a role, as long as it holds a place. */
struct share;

struct places {
    unsigned max;    /* for all together */
    unsigned taken;  /* of them */
    unsigned common; /* of those taken: without a role */
    struct share *shares;
};

/* Takes a place for a uid without a role. NULL: it has its share, or all of them have theirs, or
 * every place is taken, or there is no memory: close the connection. */
struct share *places_take_share(struct places *places, uint32_t uid);

/* Takes a place for an admin or resource manager. False: it is one above the limit. It counts all
 * the same, and is given back. */
bool places_take(struct places *places);

/* share: NULL for a place of places_take. */
void places_give_back(struct places *places, struct share *share);

#endif
