/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/inventory/fabricmap.h"
#include "core/inventory/nicbook.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of nodes and their NICs, from all sources together (P1, P2, S2). What a node
 * reports is believed before a file; of what is at the other end of its cable the fabric manager
 * speaks. Where they contradict each other, that is kept and shown. */

/* What nodes have reported of themselves: where it is kept does not matter. */
struct inventory_reports {
    const void *arg;
    /* Fills in the node's NICs, ordered by device; returns how many, 0: it has not reported. */
    size_t (*nics)(const void *arg, const char *node, struct nic out[static NICS_PER_NODE]);
    /* The first node behind this name, in the order of strcmp; NULL: there are no more. */
    const char *(*after)(const void *arg, const char *name);
};

/* Of a core, as long as it is there (inventory/nodenics.h). */
struct core;
struct inventory_reports inventory_reports_of(const struct core *core);

struct inventory {
    const struct fabricmap *map;           /* NULL: the fabric manager tells nothing */
    const struct nicbook *file;            /* NULL: there is no file */
    const struct inventory_reports *nodes; /* NULL: no node tells anything */
};

enum inventory_source { SOURCE_FILE, SOURCE_NODE };
const char *inventory_source_word(int source); /* "file", "node" */

/* Contradictions, as bits. */
enum {
    NIC_ADDRESS_DIFFERS = 1, /* file and node name different addresses */
    NIC_NOT_IN_FILE = 2,     /* the file has the node, but not this NIC */
    NIC_NOT_REPORTED = 4,    /* the node has reported, but not this NIC, which the file has */
    NIC_NO_PORT = 8,         /* the fabric manager has no edge port of this address */
    NIC_STATE_DIFFERS = 16,  /* the node sees its link up and the fabric manager down, or so */
    NIC_SHARED = 32,         /* the file has the same address for another NIC */
    NIC_CONTRADICTIONS = 6
};
const char *inventory_contradiction_word(unsigned bit); /* by the number of the bit */

struct inventory_nic {
    struct nic nic;        /* as the source that is believed has it */
    uint32_t file_address; /* with NIC_ADDRESS_DIFFERS */
    int port;              /* enum fabric_state, as the fabric manager has it; -1: not known */
    uint8_t source;        /* enum inventory_source */
    uint8_t state;         /* enum fabric_state: what counts. Down when one says so */
    uint8_t contradictions;
};

struct inventory_node {
    size_t count;
    bool reported, in_file;
    struct inventory_nic nics[NICS_PER_NODE]; /* ordered by device */
};

/* False: no source knows the node. */
bool inventory_node(const struct inventory *inventory, const char *name,
                    struct inventory_node *out);

/* The first node behind this name that any source knows, in the order of strcmp; NULL: there are no
 * more. */
const char *inventory_after(const struct inventory *inventory, const char *name);
