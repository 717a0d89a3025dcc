/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What whole lists of the fabric manager showed under our clusters' names although the ledger has
 * nothing there. Seen once it is a suspicion; seen again a grace period later it is judged (F20,
 * B11). A list of n names costs n log n, whatever their order. */

struct stray {
    char *name;       /* "<cluster>-<job>" */
    int64_t first_ms; /* when it was first seen */
    uint64_t named;   /* the last job list that named its job; 0: none */
    bool over;        /* by the ledger's events its job had a reservation, and was released */
    bool late;    /* by them, a RESERVE for its job was never answered: it may have come of that */
    bool claimed; /* by an administrator, as a leftover of ours */
};

struct stray_names {
    struct stray *items;
    size_t count, capacity;
};

struct strays {
    struct stray_names known; /* from whole lists; ascending name */
    struct stray_names fresh; /* from the list that is being read; in its order */
};

void strays_release(struct strays *strays);

/* A list begins: what an unfinished one showed is forgotten. */
void strays_begin(struct strays *strays);

/* The list that is being read shows it. */
void strays_seen(struct strays *strays, const char *name, int64_t now_ms);

/* The list was whole: what it showed is what is known, each with what was known of it. */
void strays_keep(struct strays *strays);

/* The known one of this name, or NULL. Valid until strays_keep or strays_judge. */
struct stray *strays_find(const struct strays *strays, const char *name);

/* Gives each known one to judge, which must not change strays; those for which it returns false are
 * taken out. */
void strays_judge(struct strays *strays, bool (*judge)(void *arg, const struct stray *stray),
                  void *arg);
