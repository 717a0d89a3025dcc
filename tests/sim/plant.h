/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* Deliberate mistakes, made at the edge and not in the core, which the simulator must find: it has
 * to be able to fail. */

/* name, word, what is done wrong */
#define PLANTS(X)                                                                                  \
    X(SKIP_INTENT, "skip-intent", "the record of an intent is not saved before the call")          \
    X(ANSWER_EARLY, "answer-early", "words leave before the commit")                               \
    X(REUSE_HELD, "reuse-held", "released VNIs are not quarantined")                               \
    X(FORGET_LATE, "forget-late", "a late success is taken for a failure that never acted")        \
    X(PARTIAL_LIST, "partial-list", "a list that failed half way is taken for the whole truth")    \
    X(LOSE_RELEASE, "lose-release", "the record of a release is not saved")                        \
    X(SWALLOW_LOST, "swallow-lost", "the event that a reservation was lost is not told")           \
    X(TORN_COMMIT, "torn-commit", "a crash in a commit leaves half of it")                         \
    X(NO_FSYNC, "no-fsync", "a crash takes the last acknowledged commit with it")                  \
    X(FORGET_NUMBER, "forget-number", "the counters are not loaded at start")                      \
    X(PREFIX_DELETE, "prefix-delete", "a release deletes whatever begins with the name")           \
    X(DOUBLE_ANSWER, "double-answer", "an answer is given twice")                                  \
    X(GATEWAY_IS_FM, "gateway-is-fm", "a gateway's 404 is taken for the fabric manager's")         \
    X(ACCEPT_ENDED, "accept-ended", "a node accepts the launch document of an ended start")        \
    X(DOCUMENT_BY_TIME, "document-by-time", "a launch document leaves while hold is a time")       \
    X(REUSE_DOCUMENT, "reuse-document", "a launch document is used for the job's next start")      \
    X(TELL_UNNOTED, "tell-unnoted", "a node says it never heard of a job, and does not note it")   \
    X(GUARD_WITHOUT_SEQ, "guard-without-seq", "a commit is guarded by the leader key alone")       \
    X(GUARD_WITHOUT_LEADER, "guard-without-leader", "… by its number alone, whose ever it is")     \
    X(READ_LATE, "read-late", "a read is served without a look at the lease")                      \
    X(LEASE_FROM_ANSWER, "lease-from-answer",                                                      \
      "a lease is counted from the answer, not the question")                                      \
    X(LATE_WIN, "late-win", "a campaign that won and was not answered is taken for lost")          \
    X(REPEAT_EVENTS, "repeat-events", "who takes over knows only the events of before its start")  \
    X(SUM_OF_DEAD, "sum-of-dead", "a sum speaks for ranks whose epilogs did not end")              \
    X(LIST_OF_ALL, "list-of-all", "Slurm is shown reservations of other clusters, too")            \
    X(LIST_WITHOUT_FOUND, "list-without-found", "… and none that was found")                       \
    X(STEP_OF_BEFORE, "step-of-before", "Slurm's PATCH ends a step of the job's former start")     \
    X(DELETE_AS_HOOKS, "delete-as-hooks", "Slurm's DELETE is taken for one of hooks")              \
    X(KEY_BY_NAME, "key-by-name", "the next start of a job gets the token of the one before")

struct record;

enum plant {
    PLANT_NONE = 0,
#define PLANT_ENUM_(name, word, what) PLANT_##name,
    PLANTS(PLANT_ENUM_)
#undef PLANT_ENUM_
        PLANT_END
};

const char *plant_word(enum plant plant);
const char *plant_what(enum plant plant);
int plant_from_word(const char *word); /* -1: no such plant */

/* Changes a record on its way to the disk, or drops it: then false. */
bool plant_record(enum plant plant, struct record *record);
