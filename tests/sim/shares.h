/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "tests/sim/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* VNIs that are of no one job: users make and remove shared ones while jobs run (B1), and the
 * fabric manager gives some of the pool to other partitions and takes them back; now and then one
 * of its answers is wrong (B2). What of this the broker was told, and has promised, is kept here;
 * the invariants of I1 are checked against it. */

struct sim;
struct entry;
struct request;
struct reservation_record;

enum { SHARES = 3, SHARES_PER_JOB = 2, FOREIGN_MAX = 8 };

struct share_wish { /* of a request to make one */
    uint8_t name;   /* index */
    uint32_t uid;
    const char *users;
    bool one_cluster; /* only the first one's jobs */
    int64_t lifetime_ms;
    bool when_unused; /* of a request to remove it */
    uint32_t asked;   /* of this name so far, when it reached the broker */
};

struct shares {
    struct rng rng;
    bool on; /* in this run */
    struct { /* that the fabric manager has really given to others */
        uint16_t vni;
        bool told;      /* the broker knows it, */
        uint64_t batch; /* … by what is saved in this one */
    } foreign[FOREIGN_MAX];
    size_t foreign_count;
    bool lied;          /* the last answer was wrong */
    struct idset known; /* as was saved last */
    struct idset there; /* shared ones, as saved */
    struct {            /* a user was told that he has it; vni 0: not */
        uint16_t vni;
        bool ends; /* by its time */
    } told[SHARES];
    uint32_t asked[SHARES]; /* requests about it that reached the broker */
    int64_t gone_ms;        /* when one was free again last */
    unsigned gone;          /* how many were then */
    uint64_t joined, made, doubts;
};

void shares_init(struct sim *sim);
void shares_storm(struct sim *sim);
void shares_drain(struct sim *sim); /* all are to go */

/* What the next life of a job wants. */
const char *shares_name(uint8_t index);
unsigned shares_draw(struct sim *sim, uint32_t cluster, const char *job, uint32_t life,
                     uint8_t names[SHARES_PER_JOB]);

void shares_event(struct sim *sim, struct request *request, struct core_event *event);
void shares_given(struct sim *sim, const struct request *request, enum answer_kind kind);
void shares_told(struct sim *sim, const struct request *request, enum answer_kind kind,
                 uint16_t vni, int64_t expires_ms);

/* For the model. */
void shares_saved(struct sim *sim, const struct record *record);
void shares_joined(struct sim *sim, const struct entry *e, const struct reservation_record *r);
bool shares_has(const struct sim *sim, uint16_t vni); /* a shared VNI is, or is quarantined */
unsigned shares_gone_now(const struct sim *sim);      /* free again since this step began */
bool shares_foreign(const struct sim *sim,
                    uint16_t vni); /* the broker knows that it is another's */
void shares_died(struct sim *sim, uint64_t durable);
void shares_restarted(struct sim *sim);
void shares_rewound(struct sim *sim);
void shares_check_empty(struct sim *sim);
