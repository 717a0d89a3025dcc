/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_NODE_SERVICES_COLUMNS_H
#define MCAST_NODE_SERVICES_COLUMNS_H

/* A table of short texts in aligned columns, without a library for it. */

#include <stdbool.h>
#include <stdio.h>

enum { COLUMNS_MAX = 20, COLUMNS_CELL_SIZE = 300 };

struct columns;

/* NULL: memory is exhausted. */
struct columns *columns_create(void);
void columns_destroy(struct columns *columns);

/* Begins a row; then its cells from the left. False: memory is exhausted. */
bool columns_row(struct columns *columns);
__attribute__((format(printf, 2, 3))) void columns_cell(struct columns *columns, const char *format,
                                                        ...);

/* Columns after the first `left` are numbers and stand at the right. */
void columns_print(const struct columns *columns, int left, FILE *out);

#endif
