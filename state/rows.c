/* SPDX-License-Identifier: Apache-2.0 */
#include "state/rows.h"

#include "base/error.h"
#include "base/memory.h"
#include "state/packed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_MIN = 64 };

static void remove_holes(struct rows *rows)
{
    assert(rows->first <= rows->count && rows->count <= rows->capacity);
    size_t kept = 0;
    for (size_t i = rows->first; i < rows->count; i++)
        if (rows->all[i].record)
            rows->all[kept++] = rows->all[i];
    assert(kept == rows->count - rows->first - rows->holes);
    rows->first = 0;
    rows->count = kept;
    rows->holes = 0;
}

int rows_reserve(struct rows *rows, size_t more)
{
    assert(rows->first <= rows->count && rows->holes <= rows->count);
    if (rows->count + more <= rows->capacity)
        return 0;
    /* Only when at least half is unused: amortised over as many drops. */
    if (rows->first + rows->holes >= rows->count / 2)
        remove_holes(rows);
    if (rows->count + more <= rows->capacity)
        return 0;
    size_t capacity = rows->capacity ? rows->capacity * 2 : CAPACITY_MIN;
    if (capacity < rows->count + more)
        capacity = rows->count + more;
    struct row *all = realloc(rows->all, capacity * sizeof *all);
    if (!all)
        return ERROR_NOMEM;
    assert(capacity >= rows->count + more);
    rows->all = all;
    rows->capacity = capacity;
    return 0;
}

/* The index of the first row whose key is not below this one. */
static size_t index_of_key(const struct rows *rows, uint64_t key)
{
    assert(rows->first <= rows->count);
    size_t low = rows->first, high = rows->count;
    if (low == high || rows->all[high - 1].key < key)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows->all[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void rows_put(struct rows *rows, uint64_t key, struct record *record)
{
    assert(record);
    size_t at = index_of_key(rows, key);
    if (at < rows->count && rows->all[at].key == key) {
        if (!rows->all[at].record)
            rows->holes--;
        packed_destroy(rows->all[at].record);
        rows->all[at].record = record;
        return;
    }
    assert(rows->count < rows->capacity);
    assert(at == rows->first || rows->all[at - 1].key < key);
    memmove(&rows->all[at + 1], &rows->all[at], (rows->count - at) * sizeof *rows->all);
    rows->all[at] = (struct row){.key = key, .record = record};
    rows->count++;
}

static void free_reports_and_cleanups(struct row *row)
{
    assert(row->cleanup_count == 0 || row->cleanups);
    nodes_destroy(row->nodes);
    row->nodes = NULL;
    while (row->cleanup_count > 0)
        packed_destroy(row->cleanups[--row->cleanup_count]);
    free(row->cleanups);
    row->cleanups = NULL;
}

static void drop_at(struct rows *rows, size_t at)
{
    assert(at >= rows->first && at < rows->count);
    if (!rows->all[at].record)
        return;
    packed_destroy(rows->all[at].record);
    rows->all[at].record = NULL;
    free_reports_and_cleanups(&rows->all[at]);
    rows->holes++;
    while (rows->first < rows->count && !rows->all[rows->first].record) {
        assert(rows->holes > 0);
        rows->first++;
        rows->holes--;
    }
}

void rows_drop(struct rows *rows, uint64_t key)
{
    assert(key > 0);
    size_t at = index_of_key(rows, key);
    if (at < rows->count && rows->all[at].key == key)
        drop_at(rows, at);
}

void rows_drop_through(struct rows *rows, uint64_t key)
{
    assert(rows->first <= rows->count);
    while (rows->first < rows->count && rows->all[rows->first].key <= key)
        drop_at(rows, rows->first);
}

static struct row *row_at(struct rows *rows, uint64_t key)
{
    struct row *row = &rows->all[index_of_key(rows, key)];
    assert(row < rows->all + rows->count && row->key == key && row->record);
    return row;
}

void rows_put_node(struct rows *rows, uint64_t key, const struct node_record *node)
{
    assert(node->number == key);
    nodes_put(&row_at(rows, key)->nodes, node);
}

static size_t index_of_cleanup(const struct row *row, const struct cleanup_record *cleanup)
{
    assert(cleanup->step);
    size_t at = 0;
    for (; at < row->cleanup_count; at++) {
        const struct cleanup_record *other = &row->cleanups[at]->u.cleanup;
        if (other->below == cleanup->below && strcmp(other->step, cleanup->step) == 0)
            break;
    }
    return at;
}

void rows_put_cleanup(struct rows *rows, uint64_t key, struct record *record)
{
    assert(record->kind == RECORD_CLEANUP);
    struct row *row = row_at(rows, key);
    size_t at = index_of_cleanup(row, &record->u.cleanup);
    if (at < row->cleanup_count) {
        packed_destroy(row->cleanups[at]);
    } else {
        row->cleanups = memory_resized(row->cleanups, at + 1, sizeof(struct record *));
        row->cleanup_count++;
    }
    row->cleanups[at] = record;
}

void rows_drop_cleanup(struct rows *rows, uint64_t key, const struct cleanup_record *cleanup)
{
    struct row *row = row_at(rows, key);
    size_t at = index_of_cleanup(row, cleanup);
    if (at == row->cleanup_count)
        return;
    assert(row->cleanup_count > 0);
    packed_destroy(row->cleanups[at]);
    row->cleanups[at] = row->cleanups[--row->cleanup_count];
}

static int each_node_of_row(const struct row *row, rows_each_fn *each, void *arg)
{
    assert(row->record || !row->nodes);
    const struct node_report *report;
    uint32_t at = 0;
    int code = 0;
    while (code == 0 && (report = nodes_next(row->nodes, &at))) {
        const struct record record = {.kind = RECORD_NODE,
                                      .u.node = {.number = row->key,
                                                 .node = report->name,
                                                 .services = report->services,
                                                 .order = report->order,
                                                 .state = report->state}};
        code = each(arg, &record);
    }
    return code;
}

int rows_each_node(const struct rows *rows, rows_each_fn *each, void *arg)
{
    assert(each);
    int code = 0;
    for (size_t i = rows->first; i < rows->count && code == 0; i++)
        code = each_node_of_row(&rows->all[i], each, arg);
    return code;
}

int rows_each_cleanup(const struct rows *rows, rows_each_fn *each, void *arg)
{
    assert(each);
    int code = 0;
    for (size_t i = rows->first; i < rows->count && code == 0; i++)
        for (size_t c = 0; c < rows->all[i].cleanup_count && code == 0; c++)
            code = each(arg, rows->all[i].cleanups[c]);
    return code;
}

int rows_each(const struct rows *rows, rows_each_fn *each, void *arg)
{
    assert(each);
    int code = 0;
    for (size_t i = rows->first; i < rows->count && code == 0; i++)
        if (rows->all[i].record)
            code = each(arg, rows->all[i].record);
    return code;
}

void rows_release(struct rows *rows)
{
    assert(rows->count <= rows->capacity);
    for (size_t i = rows->first; i < rows->count; i++) {
        packed_destroy(rows->all[i].record);
        free_reports_and_cleanups(&rows->all[i]);
    }
    free(rows->all);
    *rows = (struct rows){0};
}
