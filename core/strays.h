#ifndef MCAST_CORE_STRAYS_H
#define MCAST_CORE_STRAYS_H

#include <stddef.h>
#include <stdint.h>

/* What whole lists of the fabric manager showed under our clusters' names although the ledger knows
 * nothing of it. Seen once it is a suspicion; seen again after a grace period it is deleted (F20).
 * A list of n names costs n log n, whatever their order. */

struct stray {
    char *name;       /* "<cluster>-<job>" */
    int64_t first_ms; /* when it was first seen */
};

struct stray_names {
    struct stray *items;
    size_t count, room;
};

struct strays {
    struct stray_names known; /* from whole lists; ascending name */
    struct stray_names fresh; /* from the list that is being read; in its order */
};

void strays_init(struct strays *strays);
void strays_release(struct strays *strays);

/* A list begins: what an unfinished one showed is forgotten. */
void strays_begin(struct strays *strays);

/* The list that is being read shows it. */
void strays_seen(struct strays *strays, const char *name, int64_t now_ms);

/* The list was whole: what it showed is what is known, each with the time it was first seen. */
void strays_keep(struct strays *strays);

/* Takes out those first seen at or before then, and gives each to take, which must not use strays.
 * The name dies after the call. */
void strays_take(struct strays *strays, int64_t seen_by_ms,
                 void (*take)(void *arg, const char *name), void *arg);

#endif
