#ifndef MCAST_CORE_STRAYS_H
#define MCAST_CORE_STRAYS_H

#include <stddef.h>
#include <stdint.h>

/* What whole lists of the fabric manager showed under our clusters' names although the ledger knows
 * nothing of it. Seen once it is a suspicion; seen again after a grace period it is deleted (F20).
 */

struct stray {
    char *name;       /* "<cluster>-<job>" */
    int64_t first_ms; /* when it was first seen */
    uint64_t list;    /* the list that showed it last */
};

struct strays {
    struct stray *items; /* ascending name */
    size_t count, room;
};

void strays_init(struct strays *strays);
void strays_release(struct strays *strays);

/* The list showed it. */
void strays_seen(struct strays *strays, const char *name, uint64_t list, int64_t now_ms);

/* Forgets those that this list, which was whole, did not show. */
void strays_keep(struct strays *strays, uint64_t list);
void strays_forget(struct strays *strays, size_t index);

#endif
