/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/leader/commit.h"
#include "state/committer.h"
#include "state/etcd/changes.h"
#include "state/etcd/shared.h"

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
    struct key from;   /* where the next page begins */
    uint64_t revision; /* that is read */
    unsigned limit;    /* records of a page */
    struct page page;
};

/* On the thread. Sends the same until it is answered or the deadline is over: then, and when this
 * store is deposed, ERROR_NOT_LEADER with a sentence. */
int leading_retry(struct leading *leading, const char *path, struct wire *wire, size_t answer_max,
                  struct gateway_reply *reply, struct error *err);

/* The guards of a commit and its number, from "compare" to the beginning of what else is done, and
 * its end, with what is read when a guard failed. Every transaction has a number of its own, each
 * step of a large commit too: a copy that comes late does nothing. */
void leading_begin(const struct leading *leading, struct wire *wire);
void leading_end(const struct leading *leading, struct wire *wire);

/* Puts the counters when they change. */
void leading_put_counters(const struct leading *leading, struct wire *wire,
                          const struct record *counters);

/* Carries out what was written so, and releases the wire. 0;
 * ERROR_NOT_LEADER, after which the store is deposed; ERROR_FULL, ERROR_INVALID (too large for a
 * transaction), ERROR_IO: it was not carried out, or may be later: the same is to be sent again
 * before anything else. */
int leading_carry_out(struct leading *leading, struct wire *wire, struct error *err);

/* Sends what was written to be read, and releases the wire. 0 with the answer, to be released; 1:
 * it is too long for that many records; or as leading_retry, and ERROR_IO. What is read has no
 * guard, so all of it must be of one cluster. */
int leading_read(struct leading *leading, const char *path, struct wire *wire, json_t **body,
                 struct error *err);

/* A commit that is too large for one transaction (docs/high-availability.md, "Keys"). */
int redo_commit(struct leading *leading, const struct changes *changes,
                const struct record *counters, struct error *err);
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
