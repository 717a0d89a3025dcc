/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/nodelist.h"

#include <stdbool.h>
#include <stdint.h>

/* Sets of nodes by name, as runs of numbers: "elcap[1-11136]" is five, one for each count of
 * digits. Time and memory follow the length of the lists, not the number of nodes; only names that
 * do not end in their number, as "n[1-9]-ib", take a run each. */

struct noderun {
    uint32_t first, last;
    unsigned width; /* digits; 0: the prefix is the whole name */
    char prefix[];
};

/* All zero is empty. */
struct nodeset {
    struct noderun **runs; /* ordered, as long as they can be */
    uint32_t count;
};

void nodeset_add(struct nodeset *set, const char *list); /* as nodelist_count takes it */
/* One name, of a set that is only folded then. In the order of their numbers it is fastest. */
void nodeset_put(struct nodeset *set, const char *name);
void nodeset_release(struct nodeset *set);

/* Whether the list names each node once. If not, a node that it names twice; or "": it takes more
 * runs than NODESET_RUNS_MAX, and to compare these would stop the loop too long. */
enum { NODESET_RUNS_MAX = 1 << 16 };
bool nodeset_once(const char *list, char twice[static NODELIST_NAME_MAX + 1]);

bool nodeset_has(const struct nodeset *set, const char *name);
uint32_t nodeset_size(const struct nodeset *set);

/* A name of the set that `within` has not, true; or false: it has all. */
bool nodeset_beyond(const struct nodeset *set, const struct nodeset *within,
                    char name[static NODELIST_NAME_MAX + 1]);

/* A set as a node list, "elcap[3-5,9],login1": its first names, as many as fit. */
struct nodefold {
    char text[512];
    uint32_t count;    /* names in the text */
    uint32_t left_out; /* names that did not fit */
};
void nodeset_fold(struct nodeset *set, struct nodefold *out); /* releases the set */
