/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/inventory/inventory.h"

/* The addresses of the NICs of a job's nodes as one word, short where nodes follow each other:
 *
 *   elcap[1-16]=0x01200+1,0x01240+1;elcap17=0x01300,-
 *
 * Entries with ";" between them, in the order of the node list; nodes without an address are left
 * out. Behind "=" are cxi0, cxi1, … ("-": the node has no such NIC, or it has no address): the
 * address of the first node's in 20 bits, and what each next node has more (+) or less (-). */

enum { NODEADDRESSES_MAX = 64 * 1024 }; /* bytes: Linux bounds a variable by 128 KiB */

enum nodeaddresses_lack {
    NODEADDRESSES_COMPLETE,
    NODEADDRESSES_UNKNOWN,  /* no node has one */
    NODEADDRESSES_TOO_LONG, /* they are too many, and too irregular */
};

/* For free(); nodes: a list, or NULL. NULL: *lack says why. */
char *nodeaddresses_write(const struct inventory *inventory, const char *nodes,
                          enum nodeaddresses_lack *lack);
