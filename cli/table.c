/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"
#include "base/memory.h"
#include "cli/command.h"

#include <libsmartcols.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
    struct libscols_table *columns;
    struct libscols_line *line;
    size_t cell;
};

struct table *table_create(const char *columns)
{
    char *names = memory_text(columns), *rest = names;
    struct table *table = memory_zeroed(sizeof *table);
    scols_init_debug(0);
    table->columns = memory_must(scols_new_table());
    for (const char *name; (name = strsep(&rest, ","));) {
        const int flags = name[0] == '>' ? SCOLS_FL_RIGHT : name[0] == '~' ? SCOLS_FL_WRAP : 0;
        memory_must(scols_table_new_column(table->columns, name + (flags != 0), 0, flags));
    }
    free(names);
    return table;
}

struct table *table_create_pairs(void)
{
    struct table *table = table_create("NAME,~VALUE");
    scols_table_enable_noheadings(table->columns, 1);
    return table;
}

void table_row(struct table *table)
{
    table->cell = 0;
    table->line = memory_must(scols_table_new_line(table->columns, NULL));
}

void table_cell(struct table *table, const char *text)
{
    size_t cell = table->cell++;
    if (text && text[0])
        memory_must(scols_line_set_data(table->line, cell, text) == 0 ? table : NULL);
}

static void add_formatted(struct table *table, const char *format, va_list args)
{
    char *text = NULL;
    memory_must(vasprintf(&text, format, args) >= 0 ? text : NULL);
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
    memory_must(scols_print_table(table->columns) == 0 ? table : NULL);
    scols_unref_table(table->columns);
    free(table);
    return command_finish();
}
