/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"
#include "cli/command.h"

#include <libsmartcols.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELL_MAX = 512 };

struct table {
    struct libscols_table *columns;
    struct libscols_line *line;
    size_t cell;
    bool failed; /* memory was exhausted somewhere: said once, at the end */
};

struct table *table_create(bool headings)
{
    scols_init_debug(0);
    struct table *table = calloc(1, sizeof(*table));
    if (table)
        table->columns = scols_new_table();
    if (!table || !table->columns) {
        free(table);
        return NULL;
    }
    scols_table_enable_noheadings(table->columns, !headings);
    return table;
}

void table_column(struct table *table, const char *name, unsigned flags)
{
    int scols =
        (flags & TABLE_RIGHT ? SCOLS_FL_RIGHT : 0) | (flags & TABLE_WRAP ? SCOLS_FL_WRAP : 0);
    if (!scols_table_new_column(table->columns, name, 0, scols))
        table->failed = true;
}

void table_row(struct table *table)
{
    table->cell = 0;
    table->line = scols_table_new_line(table->columns, NULL);
    if (!table->line)
        table->failed = true;
}

void table_cell(struct table *table, const char *text)
{
    size_t cell = table->cell++;
    if (text && text[0] && (!table->line || scols_line_set_data(table->line, cell, text) < 0))
        table->failed = true;
}

void table_cellf(struct table *table, const char *format, ...)
{
    char text[CELL_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    table_cell(table, text);
}

int table_print(struct table *table)
{
    bool ok = table && !table->failed && scols_print_table(table->columns) == 0;
    if (table)
        scols_unref_table(table->columns);
    free(table);
    if (!ok) {
        fputs("mcastctl: the table could not be made: memory is exhausted\n", stderr);
        return EXIT_REFUSED;
    }
    return command_finish();
}
