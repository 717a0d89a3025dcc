/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What this node tells the broker of its NICs (P2): all of them, when they differ from what the
 * broker has confirmed. The file "inventory" of the spool keeps what that was. */

#include "node/node.h"

#include <jansson.h>

/* The node's NICs as a list, for a report: address, speed, link, serial number and firmware. NULL:
 * they cannot be listed. A node without libcxi has none. */
json_t *inventory_make(struct node *node, struct error *err);

/* Tells them. 0, or a code of the broker's (client/mcast.h). */
int inventory_report(struct node *node, json_t *nics, struct mcast_error *error);

/* The same for tend: only what the broker has not confirmed, or a day ago; and after a boot at a
 * time that depends on the node's name, within inventory_spread, as all nodes of a machine boot
 * together. */
void inventory_tend(struct node *node);
