/* SPDX-License-Identifier: Apache-2.0 */
/* What the fabric consists of: its switches, ports, links, VNI partitions and the like, to be read.
 *
 * A synthetic dragonfly (docs/mock-fm.md), computed from its size at each request and never stored.
 * What of it is inferred and what is invented is said there, too. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "mock-fm/http/message.h"

/* What the DFA has bits for: (group << 23) | (switch << 18) | (port << 12) in 32 bits. */
#define INVENTORY_GROUPS_MAX 512
#define INVENTORY_SWITCHES_MAX 32
#define INVENTORY_PORTS_MAX 64

struct inventory {
    unsigned groups;
    unsigned switches; /* of each group */
    unsigned ports;    /* of each switch, of all three sorts */
};

/* Reads GROUPSxSWITCHESxPORTS. 0, or -1 with a sentence that says what is allowed: at least one of
 * each, at most what is above, and a port for each link with an edge port left on each switch. */
int inventory_parse(struct inventory *inventory, const char *text, struct problem *problem);

/* Is this path (without the gateway's prefix) a list such as /fabric/switches, or below one? */
bool inventory_owns(const char *path);

/* The list of links, a page of it if the request says so; or the document of a member: a new
 * reference, or NULL with a 404. */
json_t *inventory_read(const struct inventory *inventory, const char *path,
                       const struct request *request, struct problem *problem);
