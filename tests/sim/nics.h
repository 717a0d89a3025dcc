/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "tests/sim/rng.h"

/* Nodes that tell their NICs (P2), whatever happens to the broker: now and then a NIC is replaced
 * in one, which tells it until it is heard, one report after the other; what it has given up may
 * arrive all the same. What was confirmed is on disk (I2), and each change on disk is one event. Of
 * the last node an administrator has that forgotten now and then: of it only what it has told may
 * be known. */

struct sim;
struct request;
struct told;

enum { NIC_NODES = 3 };

struct nicnode {
    char name[16];
    uint32_t serial; /* of its NIC: grows */
    uint32_t heard;  /* the broker has confirmed this one, or a later one */
    uint32_t order;  /* of the last report */
    uint32_t attempt;
    bool telling;   /* until it is heard */
    bool forgotten; /* once, or more often */
    struct rng rng;
};

struct nics {
    bool told; /* in one run of four */
    struct nicnode nodes[NIC_NODES];
};

struct nics_wish {
    struct nicnode *node;
    char text[64];
    uint32_t serial, order, attempt;
    bool forget; /* an administrator's, instead */
};

void nics_init(struct sim *sim);
void nics_storm(struct sim *sim);
void nics_event(const struct request *request, struct core_event *event);
/* The core has answered; the answer has arrived. */
void nics_given(struct sim *sim, const struct request *request, const struct told *told);
void nics_answered(struct sim *sim, const struct request *request);
/* Its disk holds an older state. */
void nics_rewound(struct sim *sim);
/* When all is calm. */
void nics_check(struct sim *sim);
