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
    bool numbers, reversed; /* how keys are compared */
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

void table_key(struct table *table, const char *key)
{
    memory_must(scols_line_set_userdata(table->line, memory_text(key)) == 0 ? table : NULL);
}

/* libsmartcols compares the cells of a column; the key is their line's. */
static int compare(struct libscols_cell *left, struct libscols_cell *right, void *arg)
{
    const struct table *table = arg;
    const char *a = scols_cell_get_userdata(left), *b = scols_cell_get_userdata(right);
    const long long x = strtoll(a, NULL, 10), y = strtoll(b, NULL, 10);
    const int order = table->numbers ? (x > y) - (x < y) : strcmp(a, b);
    return table->reversed ? -order : order;
}

void table_sort(struct table *table, bool numbers, bool reversed)
{
    struct libscols_column *first = scols_table_get_column(table->columns, 0);
    const size_t count = scols_table_get_nlines(table->columns);
    table->numbers = numbers;
    table->reversed = reversed;
    for (size_t i = 0; i < count; i++) {
        struct libscols_line *line = scols_table_get_line(table->columns, i);
        struct libscols_cell *cell = scols_line_get_cell(line, 0);
        (void)scols_cell_set_userdata(cell, scols_line_get_userdata(line));
    }
    (void)scols_column_set_cmpfunc(first, compare, table);
    memory_must(scols_sort_table(table->columns, first) == 0 ? table : NULL);
}

static void drop_keys(struct table *table)
{
    for (size_t i = scols_table_get_nlines(table->columns); i > 0; i--)
        free(scols_line_get_userdata(scols_table_get_line(table->columns, i - 1)));
}

int table_print(struct table *table)
{
    memory_must(scols_print_table(table->columns) == 0 ? table : NULL);
    drop_keys(table);
    scols_unref_table(table->columns);
    free(table);
    return command_finish();
}
