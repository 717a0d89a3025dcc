/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/fabric/fmcall.h"
#include "core/reservation/record.h"

#include <stddef.h>
#include <stdint.h>

/* What the core wants done after one event. The edge carries them out in this order of kinds:
 *   1. every SAVE goes into the batch that is being gathered;
 *   2. all else is performed only when that batch, and all before it, are durable. A step without
 *      SAVE waits too when something is still unsaved: no answer overtakes what it was built on.
 * TRACE may be printed at once (docs/architecture.md).
 *
 * Pointers inside are valid until the next core_step: the edge copies or renders at once. */

enum effect_kind {
    EFFECT_SAVE,    /* u.record */
    EFFECT_ANSWER,  /* u.answer: to one request */
    EFFECT_CALL,    /* u.call: of the fabric manager; comes back as CORE_CALL_DONE */
    EFFECT_LOGIN,   /* u.login; comes back as CORE_LOGIN_DONE */
    EFFECT_LIST,    /* u.list; comes back as CORE_LIST_NAMES…, CORE_LIST_DONE */
    EFFECT_JOBPOLL, /* u.jobpoll: asks a cluster which of its jobs are active; comes back as
                        CORE_JOBPOLL_DONE */
    EFFECT_EVENT,   /* u.event: to subscribers (F24); its record is among the SAVEs */
    EFFECT_TRACE,   /* u.trace: "situation → decision", for the log */
};

/* code, HTTP status, stable word */
#define ANSWER_KINDS(X)                                                                            \
    X(CREATED, 201, "created")   /* a new reservation */                                           \
    X(SAME, 200, "same")         /* the same request again */                                      \
    X(ACCEPTED, 202, "accepted") /* release under way in the background */                         \
    X(ALREADY_GONE, 200, "gone") /* nothing left to release */                                     \
    X(SYNCED, 200, "synced")                                                                       \
    X(REPORTED, 200, "reported") /* what a node says, or a sum of them, is kept */                 \
    X(FENCED, 200, "fenced")                                                                       \
    X(FORGOTTEN, 200, "forgotten") /* what a node told of its NICs */                              \
    X(LOSS_ACCEPTED, 200, "loss-accepted")                                                         \
    X(CLAIMED, 200, "claimed")                                                                     \
    X(CLEANED, 200, "cleaned")   /* the steps have no trees any more */                            \
    X(STEPS, 200, "steps")       /* what the fabric manager says of a job's steps */               \
    X(PENDING, 504, "pending")   /* not done in the time that was given for the answer */          \
    X(GIVEN_UP, 504, "given-up") /* it will not be done */                                         \
    X(TOO_MANY_NODES, 429, "too-many-nodes")                                                       \
    X(TOO_OFTEN, 429, "changed-too-often") /* a node's NICs, a user's shared VNIs */               \
    X(OUTSIDE, 403, "outside-scope")                                                               \
    X(TOO_MANY, 429, "too-many-cleanups")                                                          \
    X(CONFLICT, 409, "conflict")                 /* another request under this id */               \
    X(OVERTAKEN, 409, "released-before-reserve") /* a release came first */                        \
    X(RELEASED, 409, "released-meanwhile")  /* released while its reserve was still waiting */     \
    X(OTHER_LIFE, 409, "other-reservation") /* what has the name now has another number */         \
    X(GIVEN_BACK, 409, "vnis-given-back")   /* services are there, their VNIs are no longer its */ \
    X(NOT_FOUND, 404, "not-found")                                                                 \
    X(NO_CLUSTER, 404, "no-such-cluster")                                                          \
    X(INVALID, 422, "invalid")                                                                     \
    X(NO_VNIS, 503, "vnis-exhausted")            /* F4: fatal for the job */                       \
    X(NO_HWCOLL, 503, "hwcoll-required")         /* asked for as required, cannot be had */        \
    X(NO_PKEYS, 503, "partition-keys-exhausted") /* as NO_VNIS */                                  \
    X(JOINED, 200, "joined")                     /* a relayed job has a tree more */               \
    X(LEFT, 200, "left")                         /* … one less */                                \
    X(JOIN_LATER, 409, "join-later")   /* under way: the same request is to come again */          \
    X(JOIN_DENIED, 503, "join-denied") /* for good; or as the fabric manager said it */            \
    X(CHANGED, 200, "changed")         /* a shared VNI: its lists, or its time */                  \
    X(REMOVED, 200, "removed")         /* a shared VNI: its name is free */                        \
    X(CLOSING, 202, "closing")         /* … when no job has it any more */                       \
    X(IN_USE, 409, "in-use")           /* a shared VNI, by jobs that run */                        \
    X(NO_SHARED, 422, "no-shared-vni") /* none of this name, or none that the user may know */     \
    X(SHARED_REFUSED, 403, "shared-vni-refused")                                                   \
    X(TOO_MANY_SHARED, 429, "too-many-shared-vnis")

enum answer_kind {
#define ANSWER_ENUM_(name, status, word) ANSWER_##name,
    ANSWER_KINDS(ANSWER_ENUM_)
#undef ANSWER_ENUM_
};
int answer_status(enum answer_kind kind);
const char *answer_word(enum answer_kind kind);

struct reservation;
struct nodefold;

/* What a sync found (F20, F22). Names are job ids; lists are cut at SYNC_NAMES_MAX, counts are not.
 */
enum { SYNC_NAMES_MAX = 1000 };
struct sync_found {
    uint32_t active;    /* ids in the request */
    uint32_t confirmed; /* of those, active here too */
    uint32_t suspect_count, released_count, unknown_count;
    const char **suspects, **released, **unknown;
};

struct answer {
    uint64_t ticket;
    enum answer_kind kind;
    const struct reservation *reservation; /* CREATED, SAME, ACCEPTED, REPORTED, CLEANED, STEPS,
                                              ALREADY_GONE (may be NULL) */
    const struct sync_found *sync;         /* SYNCED */
    const struct shared_vni *shared;       /* CREATED, SAME, CHANGED, REMOVED, CLOSING of one */
    const struct fmcall_steps *steps;      /* STEPS */
    const struct fmcall_tree *tree;        /* JOINED */
    int status;                            /* JOIN_DENIED: another one; 0: the kind's */
    const struct nodefold *lingering;      /* REPORTED of a sum: these of its nodes linger */
    uint32_t count;     /* FENCED, LOSS_ACCEPTED, CLAIMED: how many reservations it is about;
                           REPORTED of a sum: nodes of the job that count as clean now */
    const char *field;  /* the field at fault (INVALID, CONFLICT), or NULL */
    const char *detail; /* one sentence for errors; a warning with CREATED, SAME;
                           or NULL */
};

struct effect {
    enum effect_kind kind;
    union {
        struct record record;
        struct answer answer;
        struct {
            uint64_t id; /* never 0, never reused while the process lives */
            enum fmcall_kind kind;
            struct fmcall_about about; /* its name is set for every kind */
        } call;
        struct {
            uint32_t url; /* index of the base URL for this and all that follows until the next */
        } login;
        struct {
            uint64_t id; /* given back with names and end */
        } list;
        struct {
            uint64_t id;
            const char *cluster;
        } jobpoll;
        const struct event_record *event;
        struct {
            int level; /* as syslog: 3 error, 4 warning, 5 notice, 6 info, 7 debug */
            const char *text;
            const char *cluster, *job; /* what it is about; NULL: no job */
            uint16_t vni;              /* its first, 0: none */
            uint8_t event;             /* enum event_kind that it explains, 0: none */
        } trace;
    } u;
};
