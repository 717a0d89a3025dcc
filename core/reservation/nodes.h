/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/nodelist.h"
#include "core/reservation/record.h"

#include <stdbool.h>
#include <stdint.h>

/* What the nodes of one job have reported of their CXI services (F3): ordered by name as strverscmp
 * does, never taken out one by one. The names of a long node list are kept among them, as ten
 * thousand nodes of a job report at once, and a list of 60 KB cannot be read for each of them. */

struct node_report {
    char *services; /* "cxi0:12,cxi1:7", or NULL */
    uint64_t order; /* what is reported with a lower one is old; 0: not given */
    uint8_t state;  /* enum node_state; 0: the job has the node, which has not reported */
    char name[];
};

struct nodes {
    struct node_report **all; /* those that have reported, and other names */
    uint32_t used;
    size_t capacity;
    uint32_t count;     /* that have reported */
    uint32_t clean;     /* of these, destroyed or fenced */
    uint32_t lingering; /* of these */
    bool expanded;      /* all of the job's nodes are there */
};

/* 1 to NODELIST_NAME_MAX of letters, digits, '.', '_' and '-'. */
bool node_name_valid(const char *name);

/* "device:id,…", device names of 1-15 letters, digits, '.', '_' and '-', ids above 0; at most
 * NODE_SERVICES_MAX bytes (record.h). */
bool node_services_valid(const char *services);

/* Whether the list, always the same for the same nodes, names this one. Who has reported is taken
 * to be named. A long list is expanded when it is asked for the second time. */
bool nodes_is_of_job(struct nodes *nodes, const char *list, uint32_t count, const char *name);

/* nodes may be NULL in those that only read: no node has reported. */
const struct node_report *nodes_find(const struct nodes *nodes, const char *name);
/* The next one at or after *at, which is moved on; NULL: no more. */
const struct node_report *nodes_next(const struct nodes *nodes, uint32_t *at);
uint32_t nodes_clean(const struct nodes *nodes);

/* What a node reports now; *nodes is made when NULL. Copies; number is not read. */
void nodes_put(struct nodes **nodes, const struct node_record *record);
void nodes_destroy(struct nodes *nodes); /* NULL is allowed */
