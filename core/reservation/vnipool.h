/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/idset.h"

#include <stdbool.h>
#include <stdint.h>

/* The pool of VNIs (F1–F5): each is free, live in one reservation or shared VNI, or quarantined
 * after a release. All zero is an empty one; every operation is constant time. A VNI that the
 * configuration no longer names, or that another partition of the fabric has (B2), stays with its
 * job and does not come back to the free ones (F5). */

struct vnipool {
    struct idset pool; /* may be given out: as configured, without 1 and 10 */
    struct idset free; /* in the pool, neither live, quarantined, suspect nor foreign */
    struct idset live;
    struct idset quarantined;
    struct idset suspect;  /* in the pool; jobs that the ledger does not know may use them */
    struct idset foreign;  /* of other partitions of the fabric; in the pool or not */
    struct idset doubtful; /* free, and perhaps foreign: given out when no others are left */
    bool suspicious;       /* what comes into the pool is suspect */
    uint32_t after; /* the search for a free one starts here; apply.c moves it on behind the newest
                       (round robin) */
};

/* Replaces the set that may be given out; what is live or quarantined stays so. */
void vnipool_configure(struct vnipool *p, const struct idset *set);

/* Replaces the set that other partitions have; what is live or quarantined stays so. */
void vnipool_set_foreign(struct vnipool *p, const struct idset *foreign);

/* Picks count free VNIs in round-robin order without taking them. False, and nothing picked, when
 * there are fewer. far: half the pool away from those whose turn it is. */
bool vnipool_pick(const struct vnipool *p, unsigned count, bool far, uint16_t *vnis);

/* free → live; also for VNIs outside the pool, when a record says so. False when it is live or
 * quarantined already: then nothing changed. */
bool vnipool_take(struct vnipool *p, uint16_t vni);

bool vnipool_quarantine(struct vnipool *p,
                        uint16_t vni); /* free → quarantined, when a record says so */
/* live or quarantined → free, if in the pool; while suspicious only when it is known to be free. */
void vnipool_drop(struct vnipool *p, uint16_t vni, bool known);

/* All that are free become suspect: only those that were picked since, and then given back, are
 * known to be free (B11). At its end the suspect ones are free again. */
void vnipool_begin_suspicion(struct vnipool *p);
void vnipool_end_suspicion(struct vnipool *p);

/* How many of a set can be given out: the default service's own, 1 and 10, never are (the
 * driver's own CXI service uses them). */
uint32_t vnipool_usable(const struct idset *set);

/* 1 or 10: the default service's, which no job has as its own. */
bool vnipool_is_systems(uint16_t vni);
