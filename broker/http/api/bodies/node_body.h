/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_API_BODIES_NODE_BODY_H
#define MCAST_BROKER_HTTP_API_BODIES_NODE_BODY_H

#include "broker/http/request/body.h"
#include "core/reservation/record.h"

/* The body of a node's report (F3):
 * {"state":"created","number":4711,"order":2,"services":[{"device":"cxi0","id":12}],"vnis":[1024]}.
 * Pure. */

enum { NODE_BODY_SERVICES_MAX = 16 };

struct node_body {
    enum node_state state;
    uint64_t number; /* of the reservation, ≥ 1 */
    uint64_t order;  /* of this report among the node's, ≥ 1; 0: not given */
    /* "cxi0:12,cxi1:7" (core/reservation/nodes.h); "": none are named */
    char services[NODE_SERVICES_MAX + 1];
    uint16_t vnis[VNI_PER_JOB_MAX]; /* of the services, as the node knows them */
    unsigned vni_count;             /* 0: not given */
};

/* 0, or -1 with a 422. A service that is named twice is refused; so are services of a node that
 * says that none is left. */
int node_body_parse(const json_t *json, struct node_body *body, struct problem *problem);

#endif
