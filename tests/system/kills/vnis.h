/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/verdict.h"

#include <stdint.h>

/* Which job has which VNI, by what the broker acknowledged (I1): none in two live jobs, none given
 * again while it is quarantined. */

struct vnis {
    struct verdict *verdict;
    int64_t hold_ns; /* [vni] hold */
    struct {
        uint32_t owner;    /* job's index + 1; 0: none */
        int64_t let_go_ns; /* when its release was sent, at the earliest; 0: never */
    } of[65536];
    uint64_t given_again; /* how many were had by another job before */
};

struct vnis *vnis_create(struct verdict *verdict, int64_t hold_ns); /* NULL: out of memory */
void vnis_destroy(struct vnis *vnis);

/* An answer that came at heard_ns says that the job has it. */
void vnis_given(struct vnis *vnis, uint32_t job, uint16_t vni, int64_t heard_ns);
/* The job's release is about to be sent: from now on the broker may hold it back. */
void vnis_let_go(struct vnis *vnis, uint32_t job, uint16_t vni, int64_t now_ns);
