/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/fabric/fmcall.h"
#include "base/names.h"
#include "core/reservation/nodes.h"
#include "core/reservation/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One reservation of one job: what is on disk, and beside it what only lives in memory.
 *
 * Read by the edges (rendering an answer), changed only inside core: by core_apply, from a
 * record, and by the operation that runs for it at the fabric manager. */

struct waiter {
    struct waiter *next;
    uint64_t ticket;
    int64_t due_ms; /* of a cleanup: answered by then, done or not */
    bool repeat;    /* a repeated request: answered SAME instead of CREATED */
};

/* What lists and answers of the fabric manager show of a reservation; one of them alone proves
 * nothing (reconcile/missing.c, B11). */
struct evidence {
    /* Of one that should be there: */
    uint64_t listed;      /* the last list that named it */
    uint64_t listed_from; /* lists from this one on began when it was there already */
    int64_t gone_ms;   /* when an answer first said that there is none, or another; 0: none did */
    int64_t absent_ms; /* when the last whole list began, if that did not name it; else 0 */
    /* Of one that should not be there any more: */
    int64_t not_routed_ms; /* when the last RELEASE was sent, if all that came was another's */
    int64_t unlisted_ms;   /* … and when a list began that did not name it; 0: none did */
    bool not_ours;         /* what was found has not the session token of a job that is over here */
    /* Of one that should be there, again: */
    bool other_token;   /* of gone_ms: there is one with another token */
    bool loss_accepted; /* by an administrator: of gone_ms */
};

/* What runs at the fabric manager for a reservation; only those that it may have been called for
 * have one.
 * Nothing here is on disk: after a restart it is rebuilt, assuming the worst. */
struct operation {
    struct reservation *owner;                 /* NULL: it is over */
    struct operation *prev, *next;             /* all operations, in no order */
    struct operation *queue_prev, *queue_next; /* in its lane of the call queue, or in flight */
    struct waiter *waiters;                    /* requests that wait for the answer */
    uint64_t call;                             /* id of the call under way, 0: none */
    enum fmcall_kind in_flight, queued;        /* FMCALL_NONE when not */
    int lane;                                  /* of the call queue, while queued or in flight */
    uint32_t tries;                            /* failures in a row */
    int64_t sent_ms;                           /* when the call under way was handed out */
    int64_t asked_ms, give_up_ms; /* of one that is wanted: since when; the answer is due */
    uint32_t calls_needed;        /* … one after the other; 0: give_up_ms is not put off */
    int64_t retry_ms;             /* not before then */
    int64_t reserve_settles_ms;   /* until then a RESERVE given up may still be acted on */
    int64_t release_settles_ms;   /* the same for a RELEASE: the name must rest */
    char *words;                  /* why the last try brought nothing; or NULL */
    uint64_t list; /* that was under way when it was released, which may name it; 0: none */
    bool asked;    /* a RESERVE has left, in this life or a former one */
    bool unsure;   /* a RESERVE was given up, or a crash hid what came of it: it may have been, or
                      may yet be, acted on; until a RELEASE sent after it settled is answered */
    bool doubted;  /* to be asked for by name */
    bool released_none; /* the last RELEASE was told that there is nothing */
    bool retried; /* an unanswered RESERVE came before the one that was answered: what is there with
                     another token is that one's */
    struct evidence evidence;
};

struct reservation {
    union {
        struct {
            RESERVATION_MEMBERS
        };
        struct reservation_numbers numbers;
    };
    struct reservation *name_next; /* next in its bucket of the name table */
    uint32_t name_hash;            /* of cluster and job: beside it, as both are read together */
    uint32_t agenda_slot;          /* 0: no deadline */
    struct reservation *older;     /* same cluster and job, an earlier life, still releasing */
    struct operation *op;          /* NULL: nothing at the fabric manager */
    struct nodes *reported;        /* NULL: no node has reported */
    struct cleaner *cleaner;       /* NULL: no cleanup of a step was asked for */
    struct relay *relay;           /* NULL: it is not relayed, or was loaded and has not joined */
    const char *cluster;           /* the core's own copy, shared */
    char *nodes, *reason;          /* NULL when not there */
    struct secret token, key;      /* none when not there */
    uint64_t named_by;             /* last job list that named it */
    int64_t unnamed_ms;            /* when a job list first lacked it; 0: none did */
    int64_t alive_ms;  /* when it was last reserved, or asked for again; 0: not since the start */
    bool repeated : 1; /* granted more than once, or that cannot be told: saved as `regranted` when
                          it counts: as soon as a node reports, or a launch document may be out */
    bool overdue : 1;  /* its VNIs would be free by time, but services linger */
    bool profiled : 1; /* behind the job's name is that of the profile: most have none (G6) */
    char job[];        /* NUL-terminated */
};

/* Which profile its request named, or NULL. */
static inline const char *reservation_profile(const struct reservation *r)
{
    return r->profiled ? r->job + strlen(r->job) + 1 : NULL;
}

/* What would be on disk: pointers into the reservation, valid while it is unchanged. */
static inline struct reservation_record reservation_record(const struct reservation *r)
{
    return (struct reservation_record){.numbers = r->numbers,
                                       .cluster = r->cluster,
                                       .job = r->job,
                                       .nodes = r->nodes,
                                       .token = r->token,
                                       .key = r->key,
                                       .reason = r->reason,
                                       .profile = reservation_profile(r)};
}

/* How many VNIs no other job has: the first ones. */
static inline unsigned reservation_own_vnis(const struct reservation *r)
{
    return (unsigned)r->vni_count - r->shared_count;
}

/* Whether the fabric manager should hold an object for it. */
static inline bool reservation_wants_hwcoll(const struct reservation *r)
{
    return r->state == JOB_ACTIVE && (r->hwcoll == HWCOLL_WANTED || r->hwcoll == HWCOLL_RESERVED);
}

/* Whether what may be there of it is to be released now. What is left of one that was lost stays
 * until its job is over: under its name may be what the job uses, reserved by a later life that a
 * restored ledger does not know (B11, I11). */
static inline bool reservation_leaves(const struct reservation *r)
{
    return r->fm_side != FM_SIDE_NOTHING && !reservation_wants_hwcoll(r) &&
           !(r->state == JOB_ACTIVE && r->hwcoll == HWCOLL_LOST);
}

/* What holds for every operation: it waits in a lane, or its call is in flight, or neither. */
static inline bool operation_valid(const struct operation *op)
{
    return (op->call != 0) == (op->in_flight != FMCALL_NONE) &&
           (op->call == 0 || op->queued == FMCALL_NONE);
}

/* What holds for every reservation of the ledger between two records. */
static inline bool reservation_valid(const struct reservation *r)
{
    bool wants = r->hwcoll == HWCOLL_WANTED || r->hwcoll == HWCOLL_RESERVED;
    return r->vni_count <= VNI_PER_JOB_MAX && r->shared_count <= r->vni_count &&
           (!wants || r->state == JOB_ACTIVE) &&
           (r->hwcoll != HWCOLL_RESERVED || r->fm_side != FM_SIDE_NOTHING) &&
           (r->op ? r->op->owner == r : !wants && r->fm_side == FM_SIDE_NOTHING);
}

static inline bool reservation_relayed(const struct reservation *r)
{
    return key_relays(r->interconnect, r->key);
}

/* Whether requests wait for what comes of its reserve. */
static inline bool reservation_waits(const struct reservation *r)
{
    return r->hwcoll == HWCOLL_WANTED && (!reservation_relayed(r) || r->wish == WISH_REQUIRED);
}

/* Found at the fabric manager by a new ledger, taken for active until a sync says otherwise; lost
 * there since, it still knows nothing of its job. */
static inline bool reservation_adopted(const struct reservation *r)
{
    const bool lost = r->hwcoll == HWCOLL_LOST && r->origin == ORIGIN_CLAIMED;
    return (r->hwcoll == HWCOLL_RESERVED || lost) && secret_none(r->token);
}
