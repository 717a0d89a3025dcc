/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "tests/sim/steps.h"

#include <stdint.h>

/* A word of the core, copied out of its effect, that waits until the batch it was built on is
 * durable (effect.h, "save before speaking"). */

enum { TOLD_TOKEN_MAX = JOB_KEY_LENGTH }; /* the tokens of the modelled fabric manager are short */

struct told { /* what an answer says */
    uint64_t ticket;
    enum answer_kind kind;
    uint64_t number; /* 0: it named no reservation */
    uint32_t epoch;  /* of the ledger that gave it (model.h); filled in when it leaves */
    uint16_t vnis[VNI_PER_JOB_MAX];
    uint8_t vni_count, hwcoll, state;
    bool launch; /* a launch document comes with it, if one was wanted; filled in by the edge */
    uint32_t addresses;
    uint16_t pkey;
    char key[JOB_KEY_LENGTH + 1];      /* "": none */
    char token[TOLD_TOKEN_MAX + 1];    /* "": none */
    uint16_t trees[STEPS][STEP_TREES]; /* STEPS; 0: none */
    bool more_trees;                   /* … than there is room for */
    uint16_t tree;                     /* JOINED */
    uint16_t shared;                   /* of a shared VNI: which, */
    int64_t expires_ms;                /* … and until when; 0: no end */
};

struct word {
    enum effect_kind kind; /* never SAVE or TRACE */
    uint64_t batch;        /* it may leave when this batch is durable */
    union {
        struct told told;
        struct {
            uint64_t id;
            enum fmcall_kind kind;
            char name[FM_NAME_MAX + 1];
            uint32_t addresses;
            uint64_t number; /* of the reservation it is made for, as the simulator sees it */
            char step[STEP_NAME_MAX + 1];
            unsigned tree;
            char shown[TOLD_TOKEN_MAX + 1]; /* "": the login */
        } call;
        uint32_t url; /* LOGIN */
        uint64_t list;
        struct {
            uint64_t id;
            char cluster[CLUSTER_NAME_MAX + 1];
        } jobpoll;
        struct {
            uint64_t seq, number;
            uint8_t kind;
        } event;
    } u;
};

/* effect is not SAVE or TRACE. */
void word_copy(struct word *word, const struct core *core, const struct effect *effect,
               uint64_t batch);
