/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reservation/record.h"
#include "tests/sim/rm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The model of what must hold: who was told what, which VNI may be in whose hands, what the fabric
 * manager lost. Kept from what leaves the broker, not from what the core thinks; the invariants of
 * docs/promises.md are checked against them after every step. */

struct sim;

struct entry { /* one reservation number that was ever durable, or is about to be */
    uint64_t number;
    uint32_t epoch;  /* of the ledger that gave it */
    struct job *job; /* NULL: of no job that a resource manager knows */
    uint16_t vnis[VNI_PER_JOB_MAX];
    uint8_t vni_count, shared_count; /* the last ones are shared */
    uint32_t node_count;
    uint32_t uid;
    uint64_t born_batch;
    uint16_t pkey;                /* partition key; 0: none */
    uint64_t unkeyed_batch;       /* it was given back; 0: it was not */
    char key[JOB_KEY_LENGTH + 1]; /* that its job was told; "": none */

    bool launched;           /* as it was saved */
    bool document;           /* a launch document is out: time frees none of its VNIs */
    uint64_t reported_batch; /* a node's report of it was taken; 0: none was */

    bool regranted; /* more than once: which life a node speaks of cannot be told */

    bool by_plugin;    /* Slurm's own plugin has reserved it */
    bool relayed;      /* its tasks join through the broker, with its key */
    int64_t wanted_ms; /* … since then its reserve is tried, in this process of the broker */
    uint64_t process;  /* that it was made in: all of its trees are known there, */
    bool trees_unsure; /* … but for a join or leave of which nothing is known, or after a cleanup */
    int64_t refused_ms;     /* when the fabric manager last said no to a join or leave of it */
    int64_t later_ms;       /* when a leave under a narrowed token was first told to ask again, */
    uint64_t later_process; /* … in this process; 0: never */

    bool told;                      /* a client was told of it: its VNIs are in somebody's hands */
    char token[TOLD_TOKEN_MAX + 1]; /* … and this token of its multicast addresses; "": none */
    uint8_t told_hwcoll;            /* as it was last told */
    uint8_t saved_hwcoll;           /* as it was last saved */
    uint8_t event_hwcoll;           /* as it was saved when an event last spoke of it */

    int64_t freed_ms;         /* when its release was accepted */
    int64_t rested_ms;        /* the last restart that found its VNIs quarantined, */
    int64_t rested_before_ms; /* … and the one before: a broker that ended before it saved that
                                 it began their time anew has not done so */
    uint64_t freed_batch;     /* 0: it was not */
    bool free_told;           /* … and the client was told */
    uint64_t gone_batch;      /* 0: it is there */
    uint64_t back_batch;      /* its VNIs were given back; 0: they were not */
    uint64_t given_batch;     /* its VNIs were given back before their time; 0: they were not */

    bool forgotten;      /* the fabric manager lost what it held for it, once at least */
    uint64_t lost_batch; /* of the event that told so; 0: none yet */
};

struct model {
    struct entry **entries; /* ascending number */
    size_t count, room;
    uint64_t last_seq_told;
    uint32_t epoch; /* grows by one when the ledger goes back: numbers are given out again */
};

void model_init(struct sim *sim);
void model_release(struct sim *sim);

/* What the core does, in this order within a step. */
void model_saved(struct sim *sim, const struct record *record, uint64_t batch);
void model_check(struct sim *sim);

/* What leaves the broker. */
void model_event_told(struct sim *sim, uint64_t seq, uint64_t number, uint8_t kind);

/* The broker died, having made durable all batches up to this one; and lives again. */
void model_died(struct sim *sim, uint64_t durable);
void model_restarted(struct sim *sim);

/* The disk holds an older state (rewind.h), and the broker is dead. */
void model_rewound(struct sim *sim);

/* The fabric manager lost the object of a reservation; number 0 is allowed. */
void model_forgotten(struct sim *sim, uint64_t number);

/* I1: nothing has the VNI that a new shared one gets. */
void model_is_free(struct sim *sim, uint16_t vni, const char *name);

/* Whether the VNI is in no reservation but this one, and in the pool. */
bool model_nobody_has(const struct sim *sim, uint16_t vni, uint64_t but);

/* The fabric manager is asked to reserve for it; and what came of that is not known. */
void model_asked_fm(struct sim *sim, uint64_t number);
void model_unsure(struct sim *sim, uint64_t number);

/* Whether a job was told of its reservation and relies on it now. */
static inline bool model_protects(const struct job *job)
{
    return job && job->active && job->told;
}
const struct entry *model_entry(const struct model *model, uint64_t number); /* or NULL */
struct entry *model_at(struct sim *sim, uint64_t number);                    /* or NULL */

/* How many VNIs of the pool no job has and that are not quarantined, at least. */
unsigned model_vnis_available(const struct sim *sim);

/* F4: whether what released jobs of a user hold of a pool is too much. */
bool model_holds_too_much(uint32_t held, uint32_t available, uint32_t pool);
/* How many VNIs they hold, at most. */
uint32_t model_vnis_held(const struct sim *sim, uint32_t uid);
