/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "core/reservation/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shared VNIs (B1): each is live in the pool, or quarantined there after it was removed, so that no
 * job gets it as its own. A reservation that has one names its VNI: while any does, the VNI is not
 * free, so no other shared VNI can have it. There are few; each operation looks at all. All zero is
 * none. */

struct shared_vni {
    struct shared_vni *next;
    struct shared_vni_record record; /* as on disk; its texts are the core's own */
    uint32_t active;                 /* reservations of running jobs that have it, */
    uint32_t quarantined;            /* and of released ones whose nodes are not clean */
};

enum { SHARED_PACES = 64, SHARED_CHANGES_AT_ONCE = 32, SHARED_CHANGE_EVERY_MS = 10000 };

struct shared_vnis {
    struct shared_vni *first; /* in the order in which they were made */
    uint32_t count;
    bool changed;                     /* since shared_settle */
    int64_t allowed_ms[SHARED_PACES]; /* of users, by uid: shared_allow */
};

struct shared_vni *shared_by_vni(const struct shared_vnis *shared, uint16_t vni); /* or NULL */
/* Not one that was removed. */
struct shared_vni *shared_by_name(const struct shared_vnis *shared, const char *name);
/* Whether a user may make or change one now, which is counted: each is an event for all who follow,
 * and takes the place of an older one. Few users may, so few have their uid's remainder in common.
 */
bool shared_allow(struct shared_vnis *shared, uint32_t uid, int64_t now_ms);
uint32_t shared_of(const struct shared_vnis *shared, uint32_t uid); /* quarantined ones count */

/* Whether the user is its owner or on its list. */
bool shared_has_user(const struct shared_vni *one, uint32_t uid);
/* Whether jobs of the cluster may have it; whether the list names it, and not just all. */
bool shared_has_cluster(const struct shared_vni *one, const char *cluster);
bool shared_names_cluster(const struct shared_vni *one, const char *cluster);

/* A reservation has the VNI, or no longer has it. False: it is no shared one, or a running job
 * cannot have it. */
bool shared_use(struct shared_vnis *shared, uint16_t vni, bool active, bool add);
