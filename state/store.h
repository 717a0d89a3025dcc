/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "core/reservation/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keeps records: one small interface, several keepers (docs/architecture.md, "The store").
 *
 * A store has one owner and is used from one thread. Other threads and the network stay behind
 * store_fd and store_dispatch, so that it fits any event loop. */

struct store;

/* In-memory keeper: for tests, demonstrations, and sites that want nothing on disk. */
struct store *store_memory_open(struct error *err);

/* SQLite (WAL, synchronous=FULL) at path; created with mode 0600 when missing. Refuses a file that
 * is damaged, of a newer schema, or open in another broker, each with one sentence in err. Secrets
 * are sealed with the key of key_file (tokens/seal_key.h). A missing key is created while nothing
 * is sealed, else refused; so is another key than the one used (at the latest by store_load).
 * docs/state.md has the format. */
struct store *store_sqlite_open(const char *path, const char *key_file, struct error *err);

/* The ledger at path as it is in one moment, for store_load alone: nothing is changed in it. *live:
 * a broker has it open, and goes on meanwhile; otherwise none can start before store_close.
 * Refuses what store_sqlite_open refuses, a missing one, and one of an older schema. The key is
 * there. */
struct store *store_sqlite_open_copy(const char *path, const char *key_file, bool *live,
                                     struct error *err);

/* Whether the ledger at path may hold secrets that only its key opens: false when there is no
 * ledger or no secret in it. Writes nothing: any user may call it while a broker runs. */
bool store_sqlite_sealed(const char *path);

/* Calls each once for every record: first RECORD_COUNTERS, then RECORD_FOUNDED, RECORD_FACTS,
 * RECORD_ROOT_KEYS and RECORD_PARTITIONS if there, then shared VNIs by ascending VNI, then
 * reservations by ascending number, then what nodes reported for
 * them, then sums of nodes by ascending number and sum, then cleanups, then events by ascending
 * seq, then NICs of nodes by name, then traffic by ascending seq. Strings are valid during the
 * call. each returns 0, or a negative code that ends the load and is returned. Only before the
 * first commit.
 *
 * 0: all was loaded. 1: a keeper that is far away has more to fetch; call it again, with the
 * same each, when store_fd is readable. */
typedef int store_each_fn(void *arg, const struct record *record);
int store_load(struct store *store, store_each_fn *each, void *arg, struct error *err);

/* The caller found what was loaded inconsistent, as err says: adds the path and the next step to
 * err. Closing will change nothing. Returns err's code. Only before the first commit. */
int store_refuse(struct store *store, struct error *err);

/* A batch: the records of one or more steps of the core, in order, committed all or nothing. */
struct batch;
struct batch *batch_create(void);
void batch_destroy(struct batch *batch); /* one that was not handed to store_commit */
void batch_add(struct batch *batch, const struct record *record); /* copies what it needs */
size_t batch_size(const struct batch *batch);                     /* records in it */

/* The result of a commit. */
struct commit_result {
    int code; /* 0; ERROR_IO, ERROR_FULL (disk): nothing of it was written, try again;
                 ERROR_NOT_LEADER: nothing more will be written; whether this was is not known */
    struct error error;
    int64_t took_us;
};

/* Starts committing the batch, which must not be empty; returns at once. done is called from
 * store_dispatch, never from here. On failure the batch is given back through done and may be
 * committed again; on success it is destroyed. Calling again before done is a bug. */
typedef void store_done_fn(void *arg, const struct commit_result *result, struct batch *failed);
void store_commit(struct store *store, struct batch *batch, store_done_fn *done, void *arg);

/* While one commit is in progress, offers the next batch: a keeper with its own thread begins it as
 * soon as that commit has succeeded, without waiting for the owner's loop. False: this keeper takes
 * none, the batch stays the owner's. Until store_withdraw the batch must not be touched, and only
 * one can be offered. */
bool store_offer(struct store *store, struct batch *batch, store_done_fn *done, void *arg);

/* Takes the offered batch back. NULL: its commit has begun, and done will be called as that of
 * store_commit, after the one before it; two are in progress then, and no other may be offered. To
 * be called when the commit before it is done, or earlier. */
struct batch *store_withdraw(struct store *store);

/* A descriptor, owned by the store: readable when store_dispatch has something to do. */
int store_fd(const struct store *store);
void store_dispatch(struct store *store);

/* Waits for a commit in progress (its done is not called), closes, frees. NULL is allowed. */
void store_close(struct store *store);

/* What a keeper implements, as state/sqlite/sqlite.c does, in a file or in memory. It embeds struct
 * store as its first member. */
struct store_ops {
    int (*load)(struct store *, store_each_fn *, void *arg, struct error *err);
    void (*refuse)(struct store *, struct error *err); /* may be NULL */
    void (*commit)(struct store *, struct batch *, store_done_fn *, void *arg);
    bool (*offer)(struct store *, struct batch *, store_done_fn *, void *arg); /* may be NULL */
    struct batch *(*withdraw)(struct store *);                                 /* with offer */
    int (*fd)(const struct store *);
    void (*dispatch)(struct store *);
    void (*close)(struct store *);
};

struct store {
    const struct store_ops *ops;
};
