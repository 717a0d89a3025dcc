/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLI_TABLE_H
#define MCAST_CLI_TABLE_H

/* Tables for people, printed by libsmartcols as lsblk and findmnt print theirs. */

#include <stdbool.h>
#include <stddef.h>

struct table;

enum table_flags {
    TABLE_RIGHT = 1, /* numbers */
    TABLE_WRAP = 2,  /* long text, continued on further lines of a terminal */
};

/* NULL when memory is exhausted. headings: print the columns' names. */
struct table *table_create(bool headings);

/* In order, before the first row. */
void table_column(struct table *table, const char *name, unsigned flags);

/* A cell of the row at hand, from the left; NULL or "" leaves it empty. The first cell after
 * table_row begins the row. */
void table_row(struct table *table);
void table_cell(struct table *table, const char *text);
__attribute__((format(printf, 2, 3))) void table_cellf(struct table *table, const char *format,
                                                       ...);

/* Prints and destroys. 0, or an exit code after a message. */
int table_print(struct table *table);

#endif
