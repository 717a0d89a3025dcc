/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Tables for people, printed by libsmartcols as lsblk and findmnt print theirs. */

#include <stdbool.h>
#include <stddef.h>

struct table;

/* columns: their names, with commas between. ">" before one: numbers, at the right; "~": long text,
 * continued on further lines of a terminal. */
struct table *table_create(const char *columns);

/* Two columns without headings: names and values. */
struct table *table_create_pairs(void);

/* Begins a row; its cells come from the left. NULL or "" leaves a cell empty. */
void table_row(struct table *table);
void table_cell(struct table *table, const char *text);
__attribute__((format(printf, 2, 3))) void table_cellf(struct table *table, const char *format,
                                                       ...);

/* A row of a name and its value. */
__attribute__((format(printf, 3, 4))) void table_pair(struct table *table, const char *name,
                                                      const char *format, ...);

/* By what its row is sorted, which it copies; of all rows or none. */
void table_key(struct table *table, const char *key);

/* By the keys: as numbers, or as texts; backwards when reversed. */
void table_sort(struct table *table, bool numbers, bool reversed);

/* Prints and destroys. 0, or an exit code after a message. */
int table_print(struct table *table);
