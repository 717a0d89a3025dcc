/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Tables for people, printed by libsmartcols as lsblk and findmnt print theirs. */

#include "cli/plain.h"

#include <stdbool.h>
#include <stddef.h>

struct table;

/* columns: their names, with commas between. ">" before one: numbers, at the right; "~": long text,
 * continued on further lines of a terminal; "<": text that is cut where the terminal is too narrow,
 * with "…" at its end; "1", "2": the same, cut before others; "!": not shown, for table_sort. */
struct table *table_create(const char *columns);

/* Two columns without headings: names and values. */
struct table *table_create_pairs(void);

/* Without the line of the columns' names. */
void table_hide_names(struct table *table);

/* Begins a row; its cells come from the left. NULL or "" leaves a cell empty. */
void table_row(struct table *table);
void table_cell(struct table *table, const char *text);
__attribute__((format(printf, 2, 3))) void table_cellf(struct table *table, const char *format,
                                                       ...);

/* The colour of the last cell, where there are colours. */
void table_colour(struct table *table, enum plain_colour colour);

/* A row of a name and its value. */
__attribute__((format(printf, 3, 4))) void table_pair(struct table *table, const char *name,
                                                      const char *format, ...);

/* By the cells of the last column: as numbers, or as texts; backwards when reversed. Rows that are
 * alike stay in their order. */
void table_sort(struct table *table, bool numbers, bool reversed);

/* The first rows stay. */
void table_limit(struct table *table, size_t rows);

/* The first cells, from the top. */
void table_each(struct table *table, void (*each)(const char *text, void *data), void *data);

/* Prints and destroys. 0, or an exit code after a message. */
int table_print(struct table *table);
void table_destroy(struct table *table);
