/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"
#include "cli/command.h"

#include <libsmartcols.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct table {
    struct libscols_table *columns;
    struct libscols_line *line;
    size_t cell;
    bool failed; /* memory was exhausted somewhere: said once, at the end */
};

static struct table *create_table(const struct table_column *columns, bool headings)
{
    static const int flags[] = {[TABLE_RIGHT] = SCOLS_FL_RIGHT, [TABLE_WRAP] = SCOLS_FL_WRAP};
    scols_init_debug(0);
    struct table *table = calloc(1, sizeof *table);
    if (!table || !(table->columns = scols_new_table())) {
        free(table);
        return NULL;
    }
    scols_table_enable_noheadings(table->columns, !headings);
    for (; columns->name; columns++) {
        if (!scols_table_new_column(table->columns, columns->name, 0, flags[columns->kind]))
            table->failed = true;
    }
    return table;
}

struct table *table_create(const struct table_column *columns)
{
    return create_table(columns, true);
}

struct table *table_create_pairs(void)
{
    static const struct table_column columns[] = {{"NAME", TABLE_LEFT}, {"VALUE", TABLE_WRAP}, {0}};
    return create_table(columns, false);
}

void table_row(struct table *table)
{
    if (!table)
        return;
    table->cell = 0;
    table->line = scols_table_new_line(table->columns, NULL);
    table->failed |= !table->line;
}

void table_cell(struct table *table, const char *text)
{
    if (!table)
        return;
    size_t cell = table->cell++;
    if (text && text[0] && (!table->line || scols_line_set_data(table->line, cell, text) < 0))
        table->failed = true;
}

static void add_formatted(struct table *table, const char *format, va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    if (table && !text)
        table->failed = true;
    table_cell(table, text);
    free(text);
}

void table_cellf(struct table *table, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_formatted(table, format, args);
    va_end(args);
}

void table_pair(struct table *table, const char *name, const char *format, ...)
{
    va_list args;
    table_row(table);
    table_cell(table, name);
    va_start(args, format);
    add_formatted(table, format, args);
    va_end(args);
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
