/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_STATE_ROWS_H
#define MCAST_STATE_ROWS_H

#include "core/reservation/nodes.h"
#include "core/reservation/record.h"

#include <stddef.h>

/* Records in memory by ascending key. Keys mostly grow, so that this is an array: adding at the
 * end and dropping from the front cost O(1), finding O(log n). All zero: empty. */

struct row {
    uint64_t key;
    struct record *record;    /* owned; NULL: a hole that a dropped one left */
    struct nodes *nodes;      /* node reports for it, or NULL; owned */
    struct record **cleanups; /* requested ones; owned */
    size_t cleanup_count;
};

struct rows {
    struct row *all;
    size_t first, count, capacity; /* used: all[first] to all[count - 1] */
    size_t holes;                  /* among those */
};

/* Allocates, so that as many rows_put cannot fail. Returns 0 or ERROR_NOMEM. */
int rows_reserve(struct rows *rows, size_t more);

/* Adds, or replaces the one of this key; the record was made by packed_create and is now owned. */
void rows_put(struct rows *rows, uint64_t key, struct record *record);

/* Drops one; none of this key is no error. */
void rows_drop(struct rows *rows, uint64_t key);

/* Drops all up to and with this key. */
void rows_drop_through(struct rows *rows, uint64_t key);

/* What a node reports for the record of this key, which is there. */
void rows_put_node(struct rows *rows, uint64_t key, const struct node_record *node);

/* A cleanup for the record of this key, which is there: adds it, or replaces the one of the same
 * step; packed, and now owned. Dropping one that is not there is no error. */
void rows_put_cleanup(struct rows *rows, uint64_t key, struct record *record);
void rows_drop_cleanup(struct rows *rows, uint64_t key, const struct cleanup_record *cleanup);

/* The records, a RECORD_NODE of each node report, the cleanups: by ascending key. each returns 0,
 * or a negative code that ends it and is returned. */
typedef int rows_each_fn(void *arg, const struct record *record);
int rows_each(const struct rows *rows, rows_each_fn *each, void *arg);
int rows_each_node(const struct rows *rows, rows_each_fn *each, void *arg);
int rows_each_cleanup(const struct rows *rows, rows_each_fn *each, void *arg);

void rows_release(struct rows *rows);

#endif
