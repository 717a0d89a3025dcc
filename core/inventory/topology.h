/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/inventory/inventory.h"
#include "core/reservation/nodeset.h"

#include <stdint.h>

/* Where some nodes are in the fabric: what a job spans (P1, P7), or the whole machine. */

struct topology_switch {
    uint32_t nodes, nics, nics_down; /* nodes: that have a NIC there, by each node's first one */
    struct nodeset names;            /* of these nodes */
    uint16_t place;
};

struct topology {
    uint32_t nodes, nics, nics_down;
    uint32_t groups;                  /* that have any of their NICs */
    uint32_t unplaced_count;          /* nodes without an address */
    struct nodeset unplaced;          /* of these */
    struct nodeset nodes_down;        /* those with a NIC that is down */
    struct topology_switch *switches; /* that have any of their NICs; ordered when finished */
    size_t switch_count, switch_capacity;
    uint16_t at[FABRIC_PLACES]; /* 1 + index; 0: none */
};

/* Never NULL. */
struct topology *topology_create(void);
void topology_add(struct topology *topology, const struct inventory *inventory, const char *node);
/* All are added. */
void topology_finish(struct topology *topology);
void topology_destroy(struct topology *topology); /* NULL is allowed */
