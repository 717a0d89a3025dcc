/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/config.h"
#include "core/fabric/fmcall.h"
#include "base/names.h"
#include "tests/sim/rng.h"
#include "tests/sim/steps.h"
#include "tests/sim/deferred.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The modelled fabric manager: what it holds, and what a call does to it when it is acted on
 * (fabric-manager.md, "Jobs"). How calls travel is wire.h's business.
 *
 * What a job's token opens differs between fabric managers: all that a job may wish for, only
 * its trees one by one, or not even these. No id of a tree is given out twice: against one that is,
 * while a call that removes the former tree may still be acted on, nobody could do anything. */

struct job;
struct sim;
struct wire_call;

enum token_power {
    TOKEN_ENDS_STEPS,
    TOKEN_SHOWS_STEPS, /* and removes trees */
    TOKEN_ENDS_TREES,
    TOKEN_MAKES_TREES, /* and nothing else */
};

struct object {
    char name[FM_NAME_MAX + 1];
    char token[TOLD_TOKEN_MAX + 1];
    uint32_t limit;
    uint64_t made;   /* grows by one an object */
    uint64_t number; /* of the reservation that asked for it; 0: none of ours did */
    bool foreign;    /* not ours to touch */
    bool unknown;    /* not made by us, and nobody has said that it is ours to remove */
    bool returned;   /* it came back with an old state, or its release was answered as if it were
                        not there: nobody asked for it */
    const struct job *forgotten_by;    /* … our ledger, which went back: of this job */
    uint16_t trees[STEPS][STEP_TREES]; /* 0: none */
    int64_t busy_ms;                   /* until then it makes no trees: 409 */
};

struct fabric {
    struct object *objects; /* in the order in which they were made */
    struct object *backup;  /* what may be restored; NULL: none was taken */
    size_t backup_count;
    size_t count, room;
    uint64_t last_made;
    uint32_t addresses;
    uint32_t foreign;
    bool up;
    bool alien[CLUSTERS_MAX]; /* there has been something under its name that we had not made, or
                                 that we were told was not there */
    bool restored;            /* an old state of it has come back */
    struct {
        uint64_t number; /* of the reservation */
        int step;
        /* Of one that a relayed job asked for (joins.h): the core has been told that it is there,
         * or that it has ended; in which process; a request has got it; its job wants it deleted;
         * a call for that has left. late: of a broker that led no longer. */
        bool known, ended, given, asked, leaving, late;
        bool unfit;       /* for libfabric */
        int64_t known_ms; /* since when it was known */
        int64_t left_ms;  /* when its end was asked for first; 0: never */
        uint64_t process;
    } owners[FMCALL_TREES]; /* of the trees ever made */
    uint16_t last_tree;
    struct rng rng;
};

void fabric_init(struct sim *sim);
void fabric_release(struct sim *sim);

/* What an earlier installation left behind; after rm_init. */
void fabric_begin(struct sim *sim);
/* Draws the outages, losses and strays of a storm that begins now. */
void fabric_storm(struct sim *sim);
/* Healthy from now on. */
void fabric_calm(struct sim *sim);

/* Somebody else makes an object; NULL: the name is taken, or there is no room. */
struct object *fabric_add(struct sim *sim, const char *name, uint32_t limit);
/* It is not there any more, for whatever reason. */
void fabric_drop(struct sim *sim, const char *name);
/* There is something that we cannot know of. */
void fabric_is_alien(struct sim *sim, const char *name);
void fabric_is_alien_of(struct sim *sim, const struct job *job); /* NULL is allowed */
void fabric_rewound(struct sim *sim);                            /* our ledger went back */
/* Slurm says that what is there under the name is of no job that runs. */
void fabric_claim(struct sim *sim, const char *name);
/* We are told that what is there under the cluster's name is ours, or nobody's. */
void fabric_claimed(struct sim *sim, const char *cluster);
/* Another request under the id of a job that our ledger has forgotten was granted. */
void fabric_reserved_anew(struct sim *sim, const struct job *job);
/* We are told that it is not there. */
void fabric_disown(struct sim *sim, const char *name);

const struct object *fabric_find(const struct fabric *fabric, const char *name);

const struct object *fabric_opened_by(const struct fabric *fabric, const char *token);

/* A step makes a tree, if the token still opens its job. */
void fabric_make_tree(struct sim *sim, const char *token, int step);

/* Acts on a call. It receives the sessionToken with FM_OK of RESERVE and CHECK, the trees with
 * FM_OK of STEPS. */
enum fmcall_outcome fabric_act(struct sim *sim, struct wire_call *call);
