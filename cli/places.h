/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Switches and the nodes at them, of a job or of the whole machine, and the forms in which other
 * programs read that. */

/* A node list, to which names are added: "elcap[1-3],tuo7". */
struct places_nodes {
    char *text; /* NULL: none */
    size_t length, capacity;
    size_t start, prefix; /* where its last name or range is, how much stands before the number */
    unsigned long first, last; /* of that */
    int width;                 /* digits of the first; 0: it is no number */
};

struct place {
    char *name;                /* "g3s12" */
    struct places_nodes nodes; /* whose first NIC is there */
    unsigned group, number;
    unsigned node_count, nics, nics_down;
    bool down; /* the switch is */
};

/* All zero is empty. */
struct places {
    struct place *all;
    size_t count, capacity;
    struct places_nodes unplaced; /* nodes without an address */
    unsigned unplaced_count;
};
void places_release(struct places *places);

/* A node as GET /v1/nodes/{node} has it. */
void places_add_node(struct places *places, const char *name, const json_t *node);
/* "g3s12" is down. */
void places_mark_down(struct places *places, const char *name);
/* Of a job, as GET …/topology has it. */
void places_read(struct places *places, const json_t *topology);
/* In the order of their groups and numbers; before one of these: */
void places_sort(struct places *places);

void places_print_slurm(const struct places *places);      /* topology.conf, of topology/tree */
void places_print_slurm_yaml(const struct places *places); /* topology.yaml */
void places_print_graphviz(const struct places *places);   /* for dot */
