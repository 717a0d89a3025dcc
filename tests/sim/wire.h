/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/fabric/fmcall.h"
#include "tests/sim/fabric.h"
#include "tests/sim/gateway.h"
#include "tests/sim/rng.h"
#include "tests/sim/deferred.h"

#include <stdbool.h>
#include <stdint.h>

/* The way between broker and fabric manager: every call may be lost, delayed, answered with any
 * status, acted on although its client gave up.
 *
 * What the core may rely on, and this keeps: a call is acted on no later than call_timeout after
 * its client gave up (config.h), whether that was the timeout, a broken connection, an answer that
 * told nothing, or the client's death. But for one in five RESERVEs of
 * FAULT_ACTS_LATE: the object that comes of it then is no number's, and must not stay (F21, I3). */

struct sim;

struct wire_call {
    struct wire_call *prev, *next;
    uint64_t id;
    uint64_t process; /* the life of the broker that made it */
    uint32_t door;    /* where it went */
    enum fmcall_kind kind;
    char name[FM_NAME_MAX + 1];
    char token[TOLD_TOKEN_MAX + 1];
    uint32_t addresses;
    uint64_t number;
    bool unwanted;                     /* when it left, no reserve of that name waited */
    char step[STEP_NAME_MAX + 1];      /* END_STEP, END_TREE, JOIN */
    unsigned tree;                     /* END_TREE, LEAVE; JOIN: that was made, */
    bool unfit;                        /* … and libfabric would not take it */
    char shown[TOLD_TOKEN_MAX + 1];    /* of what cleans up, or is relayed: the token; "": the
                                          login */
    uint16_t trees[STEPS][STEP_TREES]; /* STEPS: what there was when it was acted on */
    int64_t begun_ms;                  /* when the core decided on it */
    int64_t act_ms;                    /* INT64_MAX: never */
    enum fmcall_outcome forced;        /* 0: what came of acting */
    enum fmcall_outcome came;          /* of acting; 0: not acted */
    bool ended;                        /* the client knows, or is dead */
    bool in_hand;                      /* sent by a broker that was stopped after its look */
    bool too_late;                     /* acted on when the core takes that for impossible */
    bool late;                         /* the answer comes when nobody waits for it any more */
    int references;                    /* occurrences to come */
};

struct wire_list { /* being read; the core may have forgotten it and asked for another one */
    struct wire_list *prev, *next;
    uint64_t id, process;
    uint32_t door;
    enum list_view view; /* when it began */
    bool skipped;        /* … and what is there, at least once */
    bool shifting;       /* pages by offset instead of by the last entry seen */
    uint64_t last_made;  /* … of the page before */
    size_t offset;
    uint32_t pages_left; /* until it fails; UINT32_MAX: it does not */
};

struct wire {
    struct wire_call *calls; /* not yet over on both sides */
    struct wire_list *lists;
    bool too_late; /* a RESERVE was acted on so late, ever */
    bool login;    /* one is under way */
    bool lacked;   /* the last whole list has left out what is there; */
    bool lacks;    /* … and in this step the next one ends, which has, too */
    struct rng rng;
};

void wire_init(struct sim *sim);
void wire_release(struct sim *sim);

void wire_send(struct sim *sim, const struct word *word); /* of kind CALL */
/* The same, by a broker that leads no longer: it was stopped between look and send. */
void wire_late(struct sim *sim, const struct word *word, int64_t pause_ms);
void wire_login(struct sim *sim, uint32_t url);
void wire_list(struct sim *sim, uint64_t id);

/* The broker died: nobody listens any more, and what it asked for settles within call_timeout. */
void wire_cut(struct sim *sim);

/* The ledger went back: what is acted on after that is for numbers that it has never given, or not
 * asked for, or to be released. */
void wire_rewound(struct sim *sim);
