/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "tests/sim/deferred.h"
#include "tests/sim/steps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tasks of relayed jobs, as libfabric makes them behave: they ask the broker for a multicast
 * tree (join), repeat that while they are told to, give up when no answer comes, and later delete
 * the tree, or do not. And what must hold of each answer, and of each call that is made for it
 * (B9, I6, I8), kept from requests, records and what the fabric manager acts on. */

struct sim;
struct job;
struct object;
struct request;
struct wire_call;

struct task { /* one communicator's wish for a tree */
    struct task *next;
    struct job *job;
    uint32_t life;
    uint64_t number;
    int step;
    char body[32]; /* what it sends; others may send the same */
    bool shared;   /* … and do */
    bool wrong_vni;
    int scope;        /* of its token; -1: the whole job */
    uint64_t ticket;  /* whose answer it waits for, or repeats; 0: it has ended */
    uint64_t process; /* that first heard of it, */
    int64_t since_ms; /* … then */
};

struct join_wish { /* what a JOIN or LEAVE asks for */
    struct task *task;
    uint16_t tree;    /* of LEAVE */
    int64_t later_ms; /* … when it was first told to ask again, */
    uint64_t process; /* … by this life of the broker; 0: it was not */
    bool anothers;    /* of JOIN: another job had its VNI when it arrived */
    const char *scope_name;
};

struct joins {
    struct task *tasks;
    uint64_t begun;
    const struct request *arriving; /* in the step being looked at; NULL: none */
};

void joins_release(struct sim *sim);

/* A step of a relayed job wants a tree. */
void joins_begin(struct sim *sim, struct job *job, uint64_t number, int step);
void joins_event(const struct sim *sim, const struct request *request, struct core_event *event);
void joins_arrive(struct sim *sim, const struct request *request); /* NULL: something else */

/* The core answers; and the task hears it. */
void joins_given(struct sim *sim, const struct request *request, const struct told *told);
void joins_answered(struct sim *sim, const struct request *request);
/* The core shows the steps of a job in the step in which it was asked: from memory. */
void joins_shown(struct sim *sim, const struct request *request, const struct told *told);

/* A call leaves the broker; the fabric manager acts on it; and the core is told what came of it. */
void joins_leaves(struct sim *sim, const struct word *word);
enum fmcall_outcome joins_act(struct sim *sim, struct wire_call *call, struct object *object);
const char *joins_root(const struct wire_call *call); /* of the tree that it made */
void joins_done(struct sim *sim, const struct wire_call *call, enum fmcall_outcome outcome);

void joins_check_quiet(struct sim *sim);
