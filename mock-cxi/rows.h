#ifndef MCAST_MOCK_CXI_ROWS_H
#define MCAST_MOCK_CXI_ROWS_H

/* An array that grows, of plain structs without pointers: what a state file can hold. */

#include <stdint.h>

struct rows {
    void *at; /* of whatever type `size` is the size of; NULL when empty */
    uint32_t count;
    uint32_t size;
};

/* Makes room before row `index` (<= count), zeroed, and returns it; NULL without memory, and then
 * nothing has changed. Pointers to rows are valid until the next insertion. */
void *rows_insert(struct rows *rows, uint32_t index);

void rows_remove(struct rows *rows, uint32_t index);

void *rows_at(const struct rows *rows, uint32_t index);

/* Empties it. */
void rows_release(struct rows *rows);

#endif
