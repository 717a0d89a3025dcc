/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/nodelist.h"
#include "core/reservation/nodeset.h"
#include "core/reservation/record.h"

#include <stdbool.h>
#include <stdint.h>

/* What the nodes of one job have reported of their CXI services (F3): ordered by name as strverscmp
 * does, never taken out one by one; and what was reported of many at once. A long node list is kept
 * as a set, as ten thousand nodes of a job report at once, and a list of 60 KB cannot be read for
 * each of them. */

struct node_report {
    uint64_t order;         /* what is reported with a lower one is old; 0: not given */
    uint32_t sums;          /* these came before it */
    uint8_t state;          /* enum node_state */
    bool summed;            /* by a sum, and not by the node itself */
    uint16_t services_from; /* where in `name` they are; 0: none */
    char name[];            /* NUL-terminated, and what is behind it: in one block, as each node of
                               each job has one (G29) */
};

struct nodes {
    struct node_report **all; /* those that have reported, or of which a sum said "lingering" */
    uint32_t used;
    uint32_t count;        /* that have reported, or were reported of */
    uint32_t clean;        /* of these, destroyed or fenced */
    uint32_t lingering;    /* of these */
    uint32_t sums;         /* the last one */
    struct nodeset summed; /* of these a sum said that nothing is left: true of those not in all */
    struct nodeset named;  /* all of the job's nodes, once it was needed */
    struct traffic_record *traffic; /* what they counted (traffic.h); NULL: none has told it */
};

/* 1 to NODELIST_NAME_MAX of letters, digits, '.', '_' and '-'. */
bool node_name_valid(const char *name);

/* "device:id,…", device names of 1-15 letters, digits, '.', '_' and '-', ids above 0; at most
 * NODE_SERVICES_MAX bytes (record.h). */
bool node_services_valid(const char *services);

/* Whether the list, always the same for the same nodes, names this one. Who has reported is taken
 * to be named. A long list is made a set when it is asked for the second time. */
bool nodes_is_of_job(struct nodes *nodes, const char *list, uint32_t count, const char *name);

/* nodes may be NULL in those that only read: no node has reported. */
const struct node_report *nodes_find(const struct nodes *nodes, const char *name);
/* The next one at or after *at, which is moved on; NULL: no more. Without those of which only a sum
 * said that nothing is left. */
const struct node_report *nodes_next(const struct nodes *nodes, uint32_t *at);
uint32_t nodes_clean(const struct nodes *nodes);
const char *node_report_services(const struct node_report *report); /* "cxi0:12,cxi1:7", or NULL */

/* What a node reports now; *nodes is made when NULL. Copies; number is not read. */
void nodes_put(struct nodes **nodes, const struct node_record *record);

/* Whether the list names a node, which is put into name, that the job's list does not. */
bool nodes_beyond(const char *list, const char *job, char name[static NODELIST_NAME_MAX + 1]);

/* What is said of many nodes at once (CORE_NODE_SUM). It counts for a node that has itself reported
 * nothing after the sums before it. When it changes nothing, `sums` stays: it need not be kept. */
void nodes_sum(struct nodes **nodes, const struct sum_record *sum);

void nodes_destroy(struct nodes *nodes); /* NULL is allowed */
