/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a Slingshot fabric consists of, as the fabric manager tells it (P1): switches, their ports,
 * and the cables between them. Immutable once it is made; looked up by address.
 *
 * The address of a port (DFA) is (group << 23) | (switch << 18) | (port << 12); that of the NIC at
 * an edge port is the port's, and libcxi and multicast trees write it without the lowest 12 bits.
 */

enum {
    FABRIC_GROUPS = 512,
    FABRIC_SWITCHES = 32, /* of a group */
    FABRIC_PORTS = 64,    /* of a switch */
    FABRIC_PLACES = FABRIC_GROUPS * FABRIC_SWITCHES,
    FABRIC_CABLES_MAX = FABRIC_PLACES * FABRIC_PORTS / 2,
    FABRIC_NAME_SIZE = 40,
    FABRIC_ADDRESS_SIZE = 24, /* of "g511s31p63" and the like, with room */
};

static inline uint32_t dfa_of(uint32_t group, uint32_t number, uint32_t port)
{
    return group << 23 | number << 18 | port << 12;
}

/* Of a switch among all: its group, then its number there. */
static inline uint16_t dfa_place(uint32_t dfa)
{
    return (uint16_t)(dfa >> 18);
}

static inline unsigned dfa_port(uint32_t dfa)
{
    return dfa >> 12 & (FABRIC_PORTS - 1);
}

enum fabric_state { FABRIC_UNKNOWN, FABRIC_UP, FABRIC_DOWN };
const char *fabric_state_word(int state); /* "unknown", "up", "down" */

/* "g3s12", "g3s12p7": what we call it, whatever the fabric manager's own name is. */
void fabric_switch_format(char out[static FABRIC_ADDRESS_SIZE], uint16_t place);
void fabric_port_format(char out[static FABRIC_ADDRESS_SIZE], uint32_t dfa);

struct fabric_switch {
    uint64_t ports, edge, up, down; /* bit i: there is a port i; at it is a NIC's place; its state
                                       is known and it is up, down */
    uint16_t place;
    uint8_t state;               /* enum fabric_state */
    char name[FABRIC_NAME_SIZE]; /* the fabric manager's, printable */
};

struct fabric_cable {
    uint32_t low, high; /* the ports at its ends; low < high */
    uint8_t state;      /* enum fabric_state */
};

/* ---- making one ---- */

struct fabric_port {
    uint64_t name; /* hash_text of the fabric manager's name, by which cables name their ends */
    uint32_t dfa;
    uint8_t state;
    bool edge;
};

struct fabric_end_names {
    uint64_t names[2];
    uint8_t state;
};

/* As read, in any order. All zero is empty. */
struct fabric_switches_read {
    struct fabric_switch *all; /* their masks of ports are 0 */
    size_t count, capacity;
};
struct fabric_ports_read {
    struct fabric_port *all;
    size_t count, capacity;
};
struct fabric_cables_read {
    struct fabric_end_names *all;
    size_t count, capacity;
};
struct fabric_read {
    struct fabric_switches_read switches;
    struct fabric_ports_read ports;
    struct fabric_cables_read cables;
};
void fabric_read_release(struct fabric_read *read);

struct fabricmap;

/* NULL with a sentence when what was read does not fit together: two switches or ports at one
 * address, a port of no switch, a cable whose end is no port, or none at all. So half a topology,
 * and one that changed while it was read, are no map. Sorts what was read; may take long. */
struct fabricmap *fabricmap_create(struct fabric_read *read, struct error *err);
void fabricmap_destroy(struct fabricmap *map); /* NULL is allowed */

/* ---- looking ---- */

/* All, ordered by place. */
const struct fabric_switch *fabricmap_switches(const struct fabricmap *map, size_t *count);
/* All, ordered by their lower end. */
const struct fabric_cable *fabricmap_cables(const struct fabricmap *map, size_t *count);
/* NULL: there is none. */
const struct fabric_switch *fabricmap_switch(const struct fabricmap *map, uint16_t place);
/* Those of a group. */
const struct fabric_switch *fabricmap_group(const struct fabricmap *map, unsigned group,
                                            size_t *count);
/* The state of the edge port at the address: enum fabric_state, or -1: there is no edge port. That
 * of a switch that is down is down. */
int fabricmap_edge(const struct fabricmap *map, uint32_t dfa);

struct fabric_counts {
    uint32_t groups, switches, switches_down;
    uint32_t ports, edge_ports, edge_ports_down;
    uint32_t cables, cables_down;
};
const struct fabric_counts *fabricmap_counts(const struct fabricmap *map);
size_t fabricmap_bytes(const struct fabricmap *map);

/* ---- what has changed (P5) ---- */

enum fabric_change_kind {
    FABRIC_SWITCH_DOWN,
    FABRIC_SWITCH_UP,
    FABRIC_CABLE_DOWN,
    FABRIC_CABLE_UP,
    FABRIC_PORT_CHANGED, /* an edge port's state */
    FABRIC_CHANGE_KINDS
};

struct fabric_change {
    uint8_t kind, state; /* enum fabric_change_kind; enum fabric_state now */
    uint32_t low, high;  /* addresses: of a port, or a switch; of both ends of a cable */
};

/* What came or went, and what did not fit into a list. */
struct fabric_sum {
    uint32_t unlisted[FABRIC_CHANGE_KINDS];
    uint32_t switches_new, switches_gone, ports_new, ports_gone, cables_new, cables_gone;
};
bool fabric_sum_empty(const struct fabric_sum *sum);

/* Lists at most max changes, switches first; the rest is summed. Ports and
 * cables of a switch that has come or gone, or went down or came up with them, are not listed.
 * Returns how many are listed. */
size_t fabricmap_diff(const struct fabricmap *old, const struct fabricmap *now,
                      struct fabric_change *out, size_t max, struct fabric_sum *sum);
