/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/leader/commit.h"
#include "state/batch.h"
#include "state/committer.h"
#include "state/etcd/shared.h"
#include "state/recordjson.h"

/* The store of the broker that leads. */

enum { PAGE_RECORDS = 2000 };

/* What is read at once. The thread fetches one while the owner takes in the one before. */
struct page {
    json_t *body; /* NULL: none, or code says why */
    int code;
    struct error error;
    bool more; /* of the kind */
};

struct leading {
    struct committer committer;
    struct etcd *etcd;
    struct gateway gateway;
    struct recordjson json;
    struct commit_guard guard; /* commit: the number of the last one */
    struct record counters;    /* as they are kept */
    _Atomic int64_t deadline_ms;
    int64_t try_ms;
    char cluster[24];  /* whose members are asked, as etcd names it; "": none has answered yet */
    size_t part_bytes; /* of operations' text in a transaction: less after etcd refused one */
    bool deposed;
    bool marked; /* the last batch is in whole parts, which are not all carried out */

    char *amended;      /* what its key is to say instead; or NULL */
    bool accepted, old; /* the amended text is put; and the time of its founding deleted */

    /* Loading: of the thread while it fetches, else the owner's. */
    bool loading;
    size_t at;         /* of the kinds, in the order of store.h; 0: the first look */
    struct key from;   /* where the next page begins, */
    struct key until;  /* and ends at the latest, */
    bool bounded;      /* before the end of its kind */
    uint64_t revision; /* that is read */
    unsigned limit;    /* records of a page */
    struct page page;
};

/* On the thread. Sends the same until it is answered or the deadline is over: then, and when this
 * store is deposed, ERROR_NOT_LEADER with a sentence. Takes the request. */
int leading_retry(struct leading *leading, const char *path, json_t *request, size_t answer_max,
                  struct gateway_reply *reply, struct error *err);

/* Carries out a list of operations, which it takes, under the guards of a commit. Every transaction
 * has a number of its own, each step of a large commit too: a copy that comes late does nothing. 0;
 * ERROR_NOT_LEADER, after which the store is deposed; ERROR_FULL, ERROR_INVALID (too large for a
 * transaction), ERROR_IO: it was not carried out, or may be later: the same is to be sent again
 * before anything else. */
int leading_carry_out(struct leading *leading, json_t *operations, struct error *err);

/* Puts the counters, too, when they change. */
void leading_put_counters(const struct leading *leading, json_t *operations,
                          const struct record *counters);

/* Reads. 0 with the answer, to be released; 1: it is too long for that many records; or as
 * leading_retry, and ERROR_IO. What is read has no guard, so all of it must be of one cluster. */
int leading_read(struct leading *leading, const char *path, json_t *request, json_t **body,
                 struct error *err);

/* ---- changes.c ---- */

/* What a batch changes below the prefix, as a list of operations. etcd refuses a transaction that
 * puts a key twice, or puts and deletes it: of each key the last change is left, so their order
 * does not matter, and doing them twice neither. In a batch no record of a reservation comes after
 * its RECORD_GONE. */
json_t *changes_of(const char *prefix, const struct recordjson *json, const struct batch *batch);
json_t *changes_put(const char *prefix, const struct recordjson *json, const struct record *record);

enum {
    CHANGES_GROUP = 64, /* operations of one transaction within another */
    CHANGES_MAX = 60 * CHANGES_GROUP,
};

/* How many from this one on fit into a transaction, and into so many bytes; at least one. */
size_t changes_fitting(const json_t *changes, size_t from, size_t bytes);

/* A list of these, at most CHANGES_MAX; in groups when they are more than one. */
json_t *changes_grouped(const json_t *changes, size_t from, size_t count);

/* ---- redo.c ---- */

/* A commit that is too large for one transaction (docs/high-availability.md, "Keys"). */
int redo_commit(struct leading *leading, const json_t *changes, const struct record *counters,
                struct error *err);
/* What an earlier leader left: whole parts are carried out, others deleted. */
int redo_finish(struct leading *leading, struct error *err);

/* Of a ledger that is only read, by a process that does not lead: its guard is empty. The first
 * look is made when it is opened; *live: a broker leads. */
static inline bool leading_is_copy(const struct leading *leading)
{
    return leading->guard.revision == 0;
}
int leading_look_at_copy(struct leading *leading, bool *live, struct error *err);

/* The operations of store.h (load.c). */
int leading_load(struct store *store, store_each_fn *each, void *arg, struct error *err);
void leading_refuse(struct store *store, struct error *err);
