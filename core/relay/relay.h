/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/fabric/fmcall.h"
#include "core/reservation/reservation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Relayed jobs make their multicast trees through this broker (B9). Such a job gets a token of the
 * broker's, its key, and starts at once; its reserve goes on behind it. What its tasks ask for, to
 * make a tree (join) or to delete one (leave), is passed on with the job's session token as soon as
 * there is one.
 *
 * libfabric waits 5 s for an answer, and asks again when that is 409: so a join is answered before,
 * and when the same comes again, it is not made twice. Each ends, for libfabric asks for ever.
 *
 * Which trees the job has is known here as long as the process lives and no answer was lost; the
 * fabric manager knows it always. Nothing of it is on disk. What is not known is learned: after a
 * lost answer, and after a start when the job asks for something, all its trees are listed, once
 * no call is under way that may change them. That has the last place in the call queue: nothing
 * depends on it but a leave under a narrowed token, whose sender is told to ask again.
 *
 * The declarations of join.c, which decides, of relayed.c, which keeps the requests, and of
 * trees.c, which remembers the trees. */

struct relay_tree {
    uint16_t id;
    char *step;
    uint32_t before; /* so many cleanup calls of the job had begun when it was known */
};

/* One request of the job. */
struct relayed {
    struct operation op; /* of the call queue; first: it stands for all */
    struct relayed *next;
    struct waiter *waiters; /* of JOIN at most one */
    int64_t give_up_ms;     /* or, of one that has ended and is not asked for again: forgotten */
    int64_t retry_ms;       /* not before then */
    enum fmcall_kind kind;  /* JOIN or LEAVE */
    bool made;              /* of JOIN: there is the tree, */
    bool unfit;             /* … there is one that libfabric does not take, and it is to go, */
    bool unused;            /* of LEAVE: no task was given the tree, it goes in any case, */
    bool begins_anew;       /* … also when it was given up for a task that asked */
    uint16_t tree;          /* this one; of LEAVE: the one that is to go, */
    bool refused;           /* it will not be done, and op.words say why */
    int status;             /* … with this status; 0: the answer's own */
    char root[FMCALL_ROOT_SIZE];
    uint32_t tries; /* that brought nothing, */
    bool unsure;    /* … and one of them may have been, or may yet be, acted on */
    char *step, *body;
};

struct relay {
    struct relayed *requests; /* in the order in which they came */
    uint32_t count;
    struct relay_tree *trees;
    uint32_t tree_count;
    size_t tree_capacity;
    uint32_t cleanup_calls; /* begun */
    int64_t settles_ms;     /* what is listed until then may change by what was asked for */
    bool complete;          /* there are no trees but these, and what is under way */
    uint32_t lists;         /* since it is not: so many were asked for, */
    int64_t list_ms;        /* the next one not before then, */
    int64_t awaited_ms;     /* and a leave waits for it since then; 0: none does */
};

struct core;

/* ---- join.c ---- */

struct core_event;
struct effect;

void relay_join(struct core *core, const struct core_event *event);
void relay_leave(struct core *core, const struct core_event *event);

/* Looks at what has become due or possible, and queues calls. */
void relay_act(struct core *core, struct reservation *reservation);
int64_t relay_deadline(const struct core *core, const struct reservation *reservation);
/* Fills in which call it is. */
void relay_begin(struct core *core, struct operation *op, struct effect *effect);
void relay_done(struct core *core, struct operation *op, const struct core_event *event);

/* ---- relayed.c ---- */

enum { RELAYED_MAX = 64 }; /* requests of one job */

/* At the end of the job's; the body is of JOIN only. */
struct relayed *relayed_add(struct core *core, struct reservation *reservation,
                            enum fmcall_kind kind, const char *step, const char *body);
/* No call of it is under way, and no request waits for it. */
void relayed_end(struct core *core, struct reservation *reservation, struct relayed *one);
/* The same join, whose sender was told to ask again and has not yet; or NULL. One that waits is
 * another's: two communicators of the same nodes ask for the same. */
struct relayed *relayed_find_again(const struct relay *relay, const char *step, const char *body);
struct relayed *relayed_find_leave(const struct relay *relay, uint16_t tree);
/* How many will have a tree besides those that are known. */
uint32_t relayed_joins(const struct relay *relay);
/* For one more, with a body of so many bytes. Whatever others ask for, a job has room for a join of
 * some thousand NICs (B8). */
bool relayed_has_room(const struct core *core, const struct relay *relay, size_t bytes);
/* Whether its job may make a tree under the VNI: its own, or one that is given elsewhere. */
bool relayed_has_vni(const struct core *core, const struct reservation *reservation, uint16_t vni);
/* Whether the root of a tree is one of the NICs that the body of a JOIN names ("macs", its first
 * member). */
bool relayed_names_nic(const char *body, const char *root);

/* ---- trees.c ---- */

/* Of a new reservation: all of its trees are known. */
void relay_create(const struct core *core, struct reservation *reservation);
/* Makes one, of which nothing is known: it was there before this process. */
struct relay *relay_of(const struct core *core, struct reservation *reservation);
void relay_destroy(struct relay *relay); /* NULL is allowed; no waiter is answered */

bool relay_in_flight(const struct reservation *reservation);

void relay_add_tree(struct relay *relay, uint16_t id, const char *step);
/* NULL: not known. */
const struct relay_tree *relay_find_tree(const struct relay *relay, uint16_t id);
void relay_drop_tree(struct relay *relay, uint16_t id);

/* Whether a join of the step, or of what is below it too, is under way. */
bool relay_is_joining(const struct reservation *reservation, const char *step, bool below);
/* Whether the step, or what is below it too, surely has no tree, and none is under way. */
bool relay_step_is_empty(const struct reservation *reservation, const char *step, bool below);
/* A cleanup call begins; the last one has ended the step, a tree of it, or has listed all steps. */
void relay_note_cleanup(struct reservation *reservation);
void relay_end_step(struct reservation *reservation, const char *step);
void relay_end_tree(struct reservation *reservation, const char *step, uint16_t id);
void relay_learn(struct reservation *reservation, const struct fmcall_steps *steps,
                 int64_t sent_ms);
/* It is not known any more whether trees have gone. */
void relay_doubt(struct reservation *reservation);
/* A call that may have been acted on, or may yet be. */
void relay_unsettle(const struct core *core, struct reservation *reservation);

/* When a list is to be asked for, to learn from; INT64_MAX: none, or when calls have ended. */
int64_t relay_list_due(const struct reservation *reservation);
void relay_note_list(const struct core *core, struct reservation *reservation);

/* What is known, for a view. */
enum { RELAY_STEPS_SHOWN = 8 };
struct relay_view {
    uint32_t trees;
    bool all;                             /* there are no others */
    const char *steps[RELAY_STEPS_SHOWN]; /* that have them, */
    uint32_t step_count;                  /* so many; 0: more than find room */
};
void relay_view(const struct reservation *reservation, struct relay_view *out);

/* What is known: each step with trees, and how many, in the order of their names. */
void relay_each_step(const struct reservation *reservation,
                     void (*each)(void *arg, const char *step, uint32_t trees), void *arg);

/* What is known, as the fabric manager would list it; false: not all is. To be released. */
bool relay_list(const struct reservation *reservation, struct fmcall_steps *out);
void relay_list_release(struct fmcall_steps *steps);
