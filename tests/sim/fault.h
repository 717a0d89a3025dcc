/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/rng.h"

#include <stdbool.h>
#include <stdint.h>

/* Every kind of trouble that the simulator can make, whether a run may make it, how often, and how
 * often it really did: an empty campaign shows. */

/* name, word for the command line, chance in a thousand when a run has it */
#define FAULT_KINDS(X)                                                                             \
    X(CRASH, "crash", 0)                     /* the broker dies; when is drawn by edge.c */        \
    X(CRASH_IN_COMMIT, "crash-in-commit", 0) /* … while a commit is under way */                 \
    X(COMMIT_FAILS, "commit-fails", 20)      /* nothing written, tried again */                    \
    X(SLOW_DISK, "slow-disk", 40)                                                                  \
    X(LATE_TIMER, "late-timer", 100)                                                               \
    X(CALL_UNREACHED, "call-unreached", 15) /* not acted */                                        \
    X(CALL_LOST, "call-lost", 30)           /* never acted, the client times out */                \
    X(REPLY_LOST, "reply-lost", 40)         /* acted, the client times out */                      \
    X(ACTS_LATE, "acts-late", 60)           /* the client times out, then it is acted on */        \
    X(CALL_BROKEN, "call-broken", 30)       /* acted before, after the break, or never */          \
    X(CALL_BUSY, "call-busy", 50)           /* 5xx: acted before, after, or never */               \
    X(CALL_DENIED, "call-denied", 30)       /* 4xx: not acted */                                   \
    X(CALL_UNAUTHORIZED, "call-unauthorized", 10)                                                  \
    X(CALL_SLOW, "call-slow", 80) /* answered, but only just in time */                            \
    X(LOGIN_FAILS, "login-fails", 200)                                                             \
    X(LIST_FAILS, "list-fails", 100)     /* before the first name */                               \
    X(LIST_HALF, "list-half", 150)       /* after some names */                                    \
    X(LIST_SHIFTS, "list-shifts", 100)   /* pages by offset: a deletion hides an entry */          \
    X(FM_DOWN, "fm-down", 0)             /* when is drawn by fabric.c */                           \
    X(FM_FORGETS, "fm-forgets", 0)       /* some or all objects */                                 \
    X(FM_RESTORES, "fm-restores", 0)     /* an old state of it comes back */                       \
    X(STRAY, "stray", 0)                 /* an object under our prefix, not ours */                \
    X(REQUEST_LOST, "request-lost", 50)  /* a resource manager's request never arrives */          \
    X(ANSWER_LOST, "answer-lost", 50)    /* … or its answer */                                   \
    X(DUPLICATE, "duplicate", 60)        /* a request arrives twice */                             \
    X(STRAGGLER, "straggler", 30)        /* … seconds later, perhaps after the release */        \
    X(CANCEL_EARLY, "cancel-early", 120) /* released before its answer is out */                   \
    X(OVERTAKE, "overtake", 300)         /* … and the release arrives first */                   \
    X(EPILOG_LOST, "epilog-lost", 80)    /* never released; only syncs tell */                     \
    X(DOUBLE_RELEASE, "double-release", 150)                                                       \
    X(REQUEUE, "requeue", 250)  /* the same id again at once */                                    \
    X(CONFLICT, "conflict", 60) /* another request under a live id */                              \
    X(NONSENSE, "nonsense", 20) /* a request that cannot be granted */                             \
    X(SYNC_LOST, "sync-lost", 150)                                                                 \
    X(SYNC_LAGS, "sync-lags", 300)   /* the list is older, by less than the grace */               \
    X(RECONFIGURE, "reconfigure", 0) /* the VNI pool shrinks, grows, moves; limits change */       \
    X(DOOR_CLOSES, "door-closes", 0) /* one of several URLs; when is drawn by fmurls.c */          \
    X(CLOCK_SET, "clock-set", 300)   /* while the broker is away, forward or back */               \
    X(SYNC_LIES, "sync-lies", 200)   /* for a moment, some of the jobs are not named */            \
    X(ROLL_FAILS, "roll-fails", 200) /* asked which jobs are active: half a list and an error */   \
    X(ROLL_SLOW, "roll-slow", 300)   /* … an answer that takes longer than the grace */          \
    X(ROLL_OLD, "roll-old", 200)     /* … the one of the time before, if that is not too old */  \
    X(ROLL_LIES, "roll-lies", 200)   /* … for a moment, some of them */                          \
    X(NODE_DIES, "node-dies", 10)    /* with the services on it */                                 \
    X(NODE_MUTE, "node-mute", 50)    /* its prolog dies before it reports */                       \
    X(NODE_LATE, "node-late", 100)   /* its epilog runs up to a minute later */                    \
    X(NODE_LINGERS, "node-lingers", 60)                                                            \
    X(NODE_UNDOES, "node-undoes", 60)    /* its prolog undoes what it made, and is run again */    \
    X(WORD_LATE, "word-late", 200)       /* a node's report arrives when it has given it up */     \
    X(CALL_REFUSED, "call-refused", 30)  /* a job's token is not accepted this time */             \
    X(CLEANUP_SLOW, "cleanup-slow", 200) /* answered, but only just in time */                     \
    X(CLEANUP_LATE, "cleanup-late", 100) /* the client times out, then it is acted on */           \
    X(ASK_OUTSIDE, "ask-outside", 200) /* a cleanup is asked for by a token that is for others */  \
    X(ASK_LATE, "ask-late", 100)       /* … up to a minute and a half later */                   \
    X(ASK_TWICE, "ask-twice", 150)                                                                 \
    X(STEP_LIVES, "step-lives", 800) /* a step makes trees after its cleanup was asked for */      \
    X(GATEWAY, "gateway", 0) /* 404s that the fabric manager did not write; when: gateway.c */     \
    X(FM_LIES, "fm-lies", 0) /* it does not find what it has, or says what it had */               \
    X(RIVAL, "rival", 0)     /* a second broker under our names; when: secondbroker.c */           \
    X(LEDGER_BACK, "ledger-back", 0)    /* an old state of the disk comes back; when: rewind.c */  \
    X(NODE_CUT_OFF, "node-cut-off", 60) /* for longer than its VNIs are held, with its services */ \
    X(NODE_BOOTS, "node-boots", 300)    /* … or a dead one: all services of before are gone */   \
    X(CROWD, "crowd", 0) /* thousands of releases of jobs without a reservation: epilogstorm.c */  \
    X(PROLOG_LATE, "prolog-late", 100) /* with a launch document, up to two minutes */

enum fault_kind {
#define FAULT_ENUM_(name, word, chance) FAULT_##name,
    FAULT_KINDS(FAULT_ENUM_)
#undef FAULT_ENUM_
        FAULT_COUNT
};
_Static_assert(FAULT_COUNT <= 64, "fault masks are 64 bits wide");

struct faults {
    uint64_t mask;      /* bit k: this run may have faults of kind k */
    bool calm;          /* a quiet spell: none at all */
    uint32_t eagerness; /* in percent of the chances above */
    uint64_t happened[FAULT_COUNT];
};

/* Which kinds a run has is drawn from the seed, then cut by allowed. */
void fault_init(struct faults *faults, uint64_t seed, uint64_t allowed);

/* Throws the caller's dice, also when the kind is not allowed: what follows stays the same without
 * it (shrinking). Counts when they say yes. */
bool fault_happens(struct faults *faults, enum fault_kind kind, struct rng *rng);

/* For kinds whose moment is drawn elsewhere. */
bool fault_possible(const struct faults *faults, enum fault_kind kind);
void fault_count(struct faults *faults, enum fault_kind kind);

const char *fault_word(enum fault_kind kind);
int fault_from_word(const char *word); /* -1: no such kind */
