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
    struct nodes *nodes;      /* reports that belong to it, or NULL; owned */
    struct record **cleanups; /* that are asked for; owned */
    size_t cleanup_count;
};

struct rows {
    struct row *all;
    size_t first, count, capacity; /* used: all[first] to all[count - 1] */
    size_t holes;                  /* among those */
};

/* Makes room, so that as many rows_put cannot fail. Returns 0 or ERROR_NOMEM. */
int rows_reserve(struct rows *rows, size_t more);

/* Adds, or replaces the one of this key; the record was made by packed_create and is now owned. */
void rows_put(struct rows *rows, uint64_t key, struct record *record);

/* Drops one; none of this key is no error. */
void rows_drop(struct rows *rows, uint64_t key);

/* Drops all up to and with this key. */
void rows_drop_through(struct rows *rows, uint64_t key);

/* What a node reports for the record of this key, which is there. */
void rows_put_node(struct rows *rows, uint64_t key, const struct node_record *node);

/* RECORD_NODE of each report, in ascending order of their records; as rows_each. */
int rows_each_node(const struct rows *rows, int (*each)(void *arg, const struct record *record),
                   void *arg);

/* A cleanup for the record of this key, which is there: adds it, or replaces the one of the same
 * step; packed, and now owned. Drops it; none is no error. Those that there are, as rows_each_node.
 */
void rows_put_cleanup(struct rows *rows, uint64_t key, struct record *record);
void rows_drop_cleanup(struct rows *rows, uint64_t key, const struct cleanup_record *cleanup);
int rows_each_cleanup(const struct rows *rows, int (*each)(void *arg, const struct record *record),
                      void *arg);

/* In ascending order; each returns 0, or a negative code that ends it and is returned. */
int rows_each(const struct rows *rows, int (*each)(void *arg, const struct record *record),
              void *arg);

void rows_release(struct rows *rows);

#endif
