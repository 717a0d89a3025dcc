/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "state/batch.h"
#include "state/etcd/wire.h"
#include "state/recordjson.h"

/* What a batch changes below the prefix, as operations of a transaction. etcd refuses one that puts
 * a key twice, or puts and deletes it: of each key the last change is left, so their order does not
 * matter, and doing them twice neither. */
struct changes {
    size_t count;
    size_t *ends;     /* of each operation in the text, which begins where the one before ends */
    struct wire wire; /* finished */
};

/* In a batch no record of a reservation comes after its RECORD_GONE. */
void changes_init(struct changes *changes, const char *prefix, const struct recordjson *json,
                  const struct batch *batch);
void changes_release(struct changes *changes);

/* Writes one record that is put. */
void changes_put(struct wire *out, const char *prefix, const struct recordjson *json,
                 const struct record *record);

enum {
    CHANGES_GROUP = 64, /* operations of one transaction within another */
    CHANGES_MAX = 60 * CHANGES_GROUP,
};

/* How many from this one on fit into a transaction, and into so many bytes; at least one. */
size_t changes_fitting(const struct changes *changes, size_t from, size_t bytes);

/* Writes operations, at most CHANGES_MAX, in groups when they are more than one. */
void changes_write(const struct changes *changes, size_t from, size_t count, struct wire *out);
