/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What a reservation entitles its job to on this node: a service for its owner and its VNIs. */

#include "client/mcast.h"
#include "base/error.h"
#include "base/idset.h"
#include "base/names.h"
#include "cxi/abi.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CLAIM_NAME_SIZE = CLUSTER_NAME_MAX + 1 + JOB_ID_MAX + 1,
    CLAIM_VNIS_TEXT_SIZE = 24,
    CLAIM_NODES_SIZE = 80
};

struct claim {
    char cluster[CLUSTER_NAME_MAX + 1];
    char job[JOB_ID_MAX + 1];
    char name[CLAIM_NAME_SIZE]; /* "cluster/job", for people */
    uint64_t number;            /* of the reservation: a job that is requeued gets another */
    uint32_t uid;
    uint32_t node_count;     /* 0: not given */
    uint32_t cores_per_node; /* 0: not given */
    uint16_t vnis[CXI_SVC_MAX_VNIS];
    unsigned int vni_count;
    unsigned int shared_count;    /* so many of them, the last ones, other jobs may have, too */
    unsigned int traffic_classes; /* bits of enum traffic_class; 0: not given */
    bool active;                  /* false: already released */
    int64_t launched_s;           /* when its launch document was made; 0: by the broker */
    int64_t launched_until_s;     /* until when launch documents of it may be good here; 0: it had
                                     none */
    bool elsewhere;               /* its node list has another node's names only */
    char nodes[CLAIM_NODES_SIZE]; /* that list for people, cut; "": the job named no nodes */
};

/* ERROR_INVALID: the document lacks what is needed, or names another job. cluster, job: what was
 * asked for; cluster may be NULL. node: this one; names are compared as the broker does, whole. */
int claim_from_reservation(struct claim *claim, const struct mcast_reservation *reservation,
                           const char *cluster, const char *job, const char *node,
                           struct error *err);

/* ERROR_FULL: a VNI is the system's (1, 10), or not of those that jobs may have on this node: it
 * comes from another site's broker, or node.conf and the broker's configuration differ. */
int claim_check_vnis(const struct claim *claim, const struct idset *allowed, struct error *err);

/* How many are shared, after the VNIs. What is impossible is none: each is its own then. */
void claim_set_shared(struct claim *claim, int64_t count);

/* Whose it is. */
void claim_set_name(struct claim *claim, const char *cluster, const char *job);

/* "1024,1025", as in SLINGSHOT_VNIS. Returns out. */
const char *claim_vnis(const uint16_t *vnis, unsigned int count, char out[CLAIM_VNIS_TEXT_SIZE]);
