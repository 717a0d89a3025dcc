#include "mock-cxi/rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void *rows_at(const struct rows *rows, uint32_t index)
{
    assert(index < rows->count);
    return (char *)rows->at + (size_t)index * rows->size;
}

void *rows_insert(struct rows *rows, uint32_t index)
{
    assert(index <= rows->count);
    char *at = reallocarray(rows->at, (size_t)rows->count + 1, rows->size);
    if (!at)
        return NULL;
    char *row = at + (size_t)index * rows->size;
    memmove(row + rows->size, row, (size_t)(rows->count - index) * rows->size);
    memset(row, 0, rows->size);
    rows->at = at;
    rows->count++;
    return row;
}

void rows_remove(struct rows *rows, uint32_t index)
{
    char *row = rows_at(rows, index);
    rows->count--;
    memmove(row, row + rows->size, (size_t)(rows->count - index) * rows->size);
}

void rows_release(struct rows *rows)
{
    free(rows->at);
    rows->at = NULL;
    rows->count = 0;
}
