/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CORE_RESERVATION_NODESET_H
#define MCAST_CORE_RESERVATION_NODESET_H

#include <stdbool.h>
#include <stdint.h>

/* The nodes of one node list, each found in constant time: for a list that is asked for each of its
 * nodes, and is too long to be read that often (F3: ten thousand nodes of a job report at once, and
 * where every second node of a machine belongs to another job, their list is 60 KB). */

struct nodeset;

/* list: one that nodelist_count takes, not longer than NODES_TEXT_MAX. It is expanded: some 30
 * bytes a node. */
struct nodeset *nodeset_create(const char *list);
/* As nodelist_contains would say of the list. */
bool nodeset_contains(const struct nodeset *set, const char *node);
void nodeset_destroy(struct nodeset *set); /* NULL is allowed */

#endif
