/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reservation/reservation.h"

/* All reservations in memory: found by job in constant time, by number in logarithmic time, walked
 * in ascending number. Does not own them. A job may have several, one life after another: the
 * newest is found, the others hang on its `older`. */

struct ledger_row {
    uint64_t number;
    struct reservation *reservation; /* NULL: gone */
};

struct ledger {
    struct reservation **buckets;
    size_t bucket_count, bucket_mask; /* the mask: one less than a power of two, and no smaller
                                         than the last bucket */
    size_t names;
    struct ledger_row *rows; /* ascending number */
    size_t row_count, row_capacity;
    size_t count; /* reservations */
    bool indexed; /* their names are in buckets */
};

void ledger_init(struct ledger *ledger);
void ledger_release(struct ledger *ledger); /* frees the tables, not the reservations */

/* What is inserted before ledger_index is not yet looked up by name: the table of names is made
 * when all is loaded, of the right size at once and without waiting for memory a million times.
 * Until then ledger_newest and ledger_remove may not be called. */
void ledger_index(struct ledger *ledger); /* no harm when it was called before */

/* Its number must be higher than any before. */
void ledger_insert(struct ledger *ledger, struct reservation *reservation);
void ledger_remove(struct ledger *ledger, struct reservation *reservation);

struct reservation *ledger_newest(const struct ledger *ledger, const char *cluster,
                                  const char *job);
/* Of the lives of this job the one with the number; or NULL. */
struct reservation *ledger_life(const struct ledger *ledger, const char *cluster, const char *job,
                                uint64_t number);
struct reservation *ledger_by_number(const struct ledger *ledger, uint64_t number);

/* One after another in ascending number, from the one above `after` on. Those that come or go
 * meanwhile do no harm: each that is there all the while is seen once. All zero: from the first on.
 */
struct ledger_walk {
    uint64_t after; /* number of the last one */
    size_t row;     /* behind that one, when it was read */
};
struct reservation *ledger_walk(const struct ledger *ledger,
                                struct ledger_walk *walk); /* or NULL */
