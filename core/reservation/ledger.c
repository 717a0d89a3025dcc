/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/ledger.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS_AT_FIRST = 256,
    ROWS_AT_FIRST = 256,
    FETCH_AHEAD = 16, /* rows: their buckets come from memory while others are worked on */
};

static void make_buckets(struct ledger *l, size_t count)
{
    assert(count > 0 && (count & (count - 1)) == 0);
    free(l->buckets);
    l->buckets = memory_zeroed(count * sizeof *l->buckets);
    l->bucket_count = count;
    l->bucket_mask = count - 1;
}

void ledger_init(struct ledger *l)
{
    memset(l, 0, sizeof *l);
    l->row_capacity = ROWS_AT_FIRST;
    l->rows = memory_zeroed(l->row_capacity * sizeof *l->rows);
}

void ledger_release(struct ledger *l)
{
    free(l->buckets);
    free(l->rows);
    memset(l, 0, sizeof *l);
}

static bool same_name(const struct reservation *r, const char *cluster, const char *job)
{
    return strcmp(r->job, job) == 0 && strcmp(r->cluster, cluster) == 0;
}

/* Linear hashing (Litwin, 1980): there are at least as many buckets as names, and a new name splits
 * the next one in turn where there would be fewer. None is the one for which all others move (G11).
 */
static struct reservation **bucket_of(const struct ledger *l, uint32_t hash)
{
    assert(l->bucket_mask >= l->bucket_count - 1);
    size_t at = hash & l->bucket_mask;
    return &l->buckets[at < l->bucket_count ? at : at & l->bucket_mask >> 1];
}

/* Where the pointer to the newest reservation of a job is, or would be. */
static struct reservation **find_name(const struct ledger *l, uint32_t hash, const char *cluster,
                                      const char *job)
{
    assert(l->indexed);
    struct reservation **at = bucket_of(l, hash);
    while (*at && ((*at)->name_hash != hash || !same_name(*at, cluster, job)))
        at = &(*at)->name_next;
    return at;
}

static void split_bucket(struct ledger *l)
{
    assert(l->indexed);
    size_t added = l->bucket_count++;
    if (added > l->bucket_mask) {
        l->bucket_mask = l->bucket_mask * 2 + 1;
        l->buckets = memory_resized(l->buckets, l->bucket_mask + 1, sizeof *l->buckets);
    }
    struct reservation **at = &l->buckets[added & l->bucket_mask >> 1], **to = &l->buckets[added];
    for (struct reservation *r; (r = *at);) {
        if ((r->name_hash & l->bucket_mask) == added) {
            *at = r->name_next;
            *to = r;
            to = &r->name_next;
        } else {
            at = &r->name_next;
        }
    }
    *to = NULL;
}

static void compact_rows(struct ledger *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->row_count; i++) {
        if (l->rows[i].reservation)
            l->rows[kept++] = l->rows[i];
    }
    assert(kept == l->count);
    l->row_count = kept;
}

static void append_row(struct ledger *l, struct reservation *r)
{
    assert(l->row_count == 0 || l->rows[l->row_count - 1].number < r->number);
    if (l->row_count == l->row_capacity) {
        /* At least a quarter given up by those that are gone is as good as growing. */
        if (l->count < l->row_capacity - l->row_capacity / 4)
            compact_rows(l);
        else
            l->rows = memory_resized(l->rows, l->row_capacity *= 2, sizeof *l->rows);
    }
    l->rows[l->row_count++] = (struct ledger_row){.number = r->number, .reservation = r};
}

static void enter_name(struct ledger *l, struct reservation *r)
{
    assert(l->indexed);
    struct reservation **at = find_name(l, r->name_hash, r->cluster, r->job);
    r->older = *at;
    r->name_next = r->older ? r->older->name_next : NULL;
    l->names += !r->older;
    *at = r;
}

void ledger_insert(struct ledger *l, struct reservation *r)
{
    assert(l->names <= l->count);
    assert(r->number > 0);
    r->name_hash = name_hash(r->cluster, r->job);
    if (l->indexed) {
        if (l->names >= l->bucket_count)
            split_bucket(l);
        enter_name(l, r);
    }
    append_row(l, r);
    l->count++;
}

void ledger_index(struct ledger *l)
{
    if (l->indexed)
        return;
    assert(l->count == l->row_count);
    l->indexed = true;
    size_t count = BUCKETS_AT_FIRST;
    while (count <= l->count)
        count *= 2;
    make_buckets(l, count);
    for (size_t row = 0; row < l->row_count; row++) { /* there are no gaps: none was removed */
        if (row + FETCH_AHEAD < l->row_count)
            __builtin_prefetch(bucket_of(l, l->rows[row + FETCH_AHEAD].reservation->name_hash));
        if (row + FETCH_AHEAD / 2 < l->row_count)
            __builtin_prefetch(
                *bucket_of(l, l->rows[row + FETCH_AHEAD / 2].reservation->name_hash));
        enter_name(l, l->rows[row].reservation);
    }
}

/* The first row whose number is at least number. Mostly it is asked for the newest, or for one
 * newer than all: that costs no search through memory that no cache holds. */
static size_t row_from(const struct ledger *l, uint64_t number)
{
    assert(l->row_count <= l->row_capacity);
    size_t low = 0, high = l->row_count;
    if (high > 0 && l->rows[high - 1].number <= number)
        return l->rows[high - 1].number == number ? high - 1 : high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->rows[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void ledger_remove(struct ledger *l, struct reservation *r)
{
    assert(l->count > 0);
    assert(l->indexed);
    struct reservation **at = find_name(l, r->name_hash, r->cluster, r->job);
    if (*at == r) {
        if (r->older) {
            r->older->name_next = r->name_next;
            *at = r->older;
        } else {
            *at = r->name_next;
            l->names--;
        }
    } else {
        struct reservation *newer = *at;
        while (newer->older != r)
            newer = newer->older;
        newer->older = r->older;
    }

    size_t row = row_from(l, r->number);
    assert(row < l->row_count && l->rows[row].reservation == r);
    l->rows[row].reservation = NULL;
    l->count--;
    /* Not later: of a million it takes 3 ms, and with as many gaps 5 (G11). */
    if (l->row_count > ROWS_AT_FIRST && l->count < l->row_count - l->row_count / 4)
        compact_rows(l);
}

struct reservation *ledger_newest(const struct ledger *l, const char *cluster, const char *job)
{
    assert(l->indexed);
    return *find_name(l, name_hash(cluster, job), cluster, job);
}

struct reservation *ledger_life(const struct ledger *l, const char *cluster, const char *job,
                                uint64_t number)
{
    struct reservation *r = ledger_newest(l, cluster, job);
    while (r && r->number != number)
        r = r->older;
    return r;
}

struct reservation *ledger_by_number(const struct ledger *l, uint64_t number)
{
    size_t row = row_from(l, number);
    return row < l->row_count && l->rows[row].number == number ? l->rows[row].reservation : NULL;
}

struct reservation *ledger_walk(const struct ledger *l, struct ledger_walk *walk)
{
    if (walk->after == UINT64_MAX)
        return NULL;
    assert(l->row_count <= l->row_capacity);
    /* Rows move up when many are gone. */
    size_t row = walk->row;
    if (row == 0 || row > l->row_count || l->rows[row - 1].number != walk->after)
        row = row_from(l, walk->after + 1);
    while (row < l->row_count && !l->rows[row].reservation)
        row++;
    if (row == l->row_count)
        return NULL;
    *walk = (struct ledger_walk){.after = l->rows[row].number, .row = row + 1};
    return l->rows[row].reservation;
}
