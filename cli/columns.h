/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"
#include "cli/table.h"

/* The columns of a list: which are shown, and by which it is sorted, as --output and --sort say. */

struct column {
    const char *name;    /* for users; NULL ends an array of them */
    const char *heading; /* as cli/table.h has them */
    const char *what;    /* for --output help */
    void (*cell)(struct table *table, const void *item);
    void (*key)(struct table *table, const void *item); /* it is sorted by this text; NULL: by its
                                                           cell, at the right as numbers */
    bool backwards;                                     /* the key is the other way round */
};

enum { COLUMNS_MAX = 24 };

struct columns {
    const struct column *shown[COLUMNS_MAX];
    size_t count;
    const struct column *sort; /* NULL: as the items come */
    bool reversed;
};

/* output: NULL, "job,user", "+user" (beside the usual ones), or "help"; sort: NULL, "age", or
 * "-age", the other way round. 0; MCAST_USAGE after a message; 1: help has been printed. */
int columns_read(struct call *call, const char *output, const char *sort, const char *usual,
                 struct columns *columns);

/* The table; a row of it; and the order of all rows. */
struct table *columns_table(const struct columns *columns);
void columns_row(const struct columns *columns, struct table *table, const void *item);
void columns_sort(const struct columns *columns, struct table *table);

/* The same of texts that are not shown as a table, each the first cell of its row. */
struct table *columns_texts(void);
void columns_text(const struct columns *columns, struct table *table, const char *text,
                  const void *item);
