/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/columns.h"
#include "base/memory.h"
#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HEADINGS_SIZE = 512 };

/* NULL: there is none, after a message. */
static const struct column *find_column(struct call *call, const char *option, const char *name)
{
    char words[SUGGEST_SIZE];
    struct suggestion suggestion;
    const struct column *column = call->command->columns;
    suggest_begin(&suggestion, name);
    for (; column->name && strcasecmp(column->name, name) != 0; column++)
        suggest_try(&suggestion, column->name);
    if (column->name)
        return column;
    (void)command_misused(call, "--%s: there is no column '%.80s'%s (--output help lists them)",
                          option, name, suggest_text(&suggestion, "", words));
    return NULL;
}

static int print_columns(const struct call *call, const char *usual)
{
    struct table *table = table_create("COLUMN,~WHAT");
    for (const struct column *column = call->command->columns; column->name; column++) {
        table_row(table);
        table_cell(table, column->name);
        table_cell(table, column->what);
    }
    const int rc = table_print(table);
    printf("Usual: %s\n", usual);
    return rc < 0 ? rc : 1;
}

static int read_shown(struct call *call, char *list, struct columns *columns)
{
    const char *names[COLUMNS_MAX + 1] = {0};
    if (!command_split(list, names, COLUMNS_MAX))
        return command_misused(
            call, "--output: give names of columns with commas between, at most %d", COLUMNS_MAX);
    for (; names[columns->count]; columns->count++) {
        columns->shown[columns->count] = find_column(call, "output", names[columns->count]);
        if (!columns->shown[columns->count])
            return MCAST_USAGE;
    }
    return 0;
}

int columns_read(struct call *call, const char *output, const char *sort, const char *usual,
                 struct columns *columns)
{
    *columns = (struct columns){.reversed = sort && sort[0] == '-'};
    if (output && strcmp(output, "help") == 0)
        return print_columns(call, usual);
    char *list = output && output[0] == '+' ? memory_format("%s,%s", usual, output + 1)
                                            : memory_text(output ? output : usual);
    const int rc = read_shown(call, list, columns);
    free(list);
    if (rc < 0 || !sort)
        return rc;
    columns->sort = find_column(call, "sort", sort + (sort[0] == '-' || sort[0] == '+'));
    return columns->sort ? 0 : MCAST_USAGE;
}

struct table *columns_table(const struct columns *columns)
{
    char headings[HEADINGS_SIZE] = "";
    size_t used = 0;
    for (size_t i = 0; i < columns->count && used < sizeof headings; i++)
        used += (size_t)snprintf(headings + used, sizeof headings - used, "%s%s", i > 0 ? "," : "",
                                 columns->shown[i]->heading);
    if (columns->sort && used < sizeof headings)
        (void)snprintf(headings + used, sizeof headings - used, ",!KEY");
    return table_create(headings);
}

static void add_key(const struct columns *columns, struct table *table, const void *item)
{
    const struct column *sort = columns->sort;
    if (sort)
        (sort->key ? sort->key : sort->cell)(table, item);
}

void columns_row(const struct columns *columns, struct table *table, const void *item)
{
    table_row(table);
    for (size_t i = 0; i < columns->count; i++)
        columns->shown[i]->cell(table, item);
    add_key(columns, table, item);
}

struct table *columns_texts(void)
{
    return table_create("TEXT,!KEY");
}

void columns_text(const struct columns *columns, struct table *table, const char *text,
                  const void *item)
{
    table_row(table);
    table_cell(table, text);
    add_key(columns, table, item);
}

void columns_sort(const struct columns *columns, struct table *table)
{
    const struct column *sort = columns->sort;
    if (sort)
        table_sort(table, sort->heading[0] == '>' && !sort->key,
                   columns->reversed != sort->backwards);
}
