/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"
#include "base/memory.h"
#include "cli/command.h"

#include <libsmartcols.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

enum { WIDE_MAX = 32, WIDTH_MIN = 8 };

struct table {
    struct libscols_table *columns;
    struct libscols_line *line;
    size_t cell;
    char cut[WIDE_MAX];     /* of columns that are cut on a narrow terminal, their marks */
    bool numbers, reversed; /* how cells are compared */
};

/* First the columns with the first of these marks, then those with the next. */
static const char cut_order[] = "12<";

static int flags_of(char mark)
{
    return mark == '>'   ? SCOLS_FL_RIGHT
           : mark == '~' ? SCOLS_FL_WRAP
           : mark == '!' ? SCOLS_FL_HIDDEN
                         : 0;
}

struct table *table_create(const char *columns)
{
    char *names = memory_text(columns), *rest = names;
    struct table *table = memory_zeroed(sizeof *table);
    scols_init_debug(0);
    table->columns = memory_must(scols_new_table());
    (void)scols_table_enable_colors(table->columns, plain_has_colours());
    for (const char *name; (name = strsep(&rest, ","));) {
        const int flags = flags_of(name[0]);
        const bool cut = strchr(cut_order, name[0]) != NULL;
        const size_t index = scols_table_get_ncols(table->columns);
        if (cut && index < WIDE_MAX)
            table->cut[index] = name[0];
        memory_must(scols_table_new_column(table->columns, name + (flags != 0 || cut), 0, flags));
    }
    free(names);
    return table;
}

void table_hide_names(struct table *table)
{
    (void)scols_table_enable_noheadings(table->columns, 1);
}

struct table *table_create_pairs(void)
{
    struct table *table = table_create("NAME,~VALUE");
    table_hide_names(table);
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

void table_colour(struct table *table, enum plain_colour colour)
{
    struct libscols_cell *cell = scols_line_get_cell(table->line, table->cell - 1);
    if (colour != PLAIN_NORMAL && plain_has_colours())
        memory_must(scols_cell_set_color(cell, plain_sequence(colour)) == 0 ? table : NULL);
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

static int compare(struct libscols_cell *left, struct libscols_cell *right, void *arg)
{
    const struct table *table = arg;
    const char *a = scols_cell_get_data(left), *b = scols_cell_get_data(right);
    const long long x = a ? strtoll(a, NULL, 10) : 0, y = b ? strtoll(b, NULL, 10) : 0;
    const int order = table->numbers ? (x > y) - (x < y) : strcmp(a ? a : "", b ? b : "");
    return table->reversed ? -order : order;
}

void table_sort(struct table *table, bool numbers, bool reversed)
{
    struct libscols_column *by =
        scols_table_get_column(table->columns, scols_table_get_ncols(table->columns) - 1);
    table->numbers = numbers;
    table->reversed = reversed;
    (void)scols_column_set_cmpfunc(by, compare, table);
    memory_must(scols_sort_table(table->columns, by) == 0 ? table : NULL);
}

/* Row by row: to find one by its number takes as long as there are rows before it. */

void table_limit(struct table *table, size_t rows)
{
    struct libscols_iter *at = memory_must(scols_new_iter(SCOLS_ITER_FORWARD));
    struct libscols_line *line;
    for (size_t i = 0; scols_table_next_line(table->columns, at, &line) == 0; i++) {
        if (i >= rows)
            (void)scols_table_remove_line(table->columns, line);
    }
    scols_free_iter(at);
}

void table_each(struct table *table, void (*each)(const char *text, void *data), void *data)
{
    struct libscols_iter *at = memory_must(scols_new_iter(SCOLS_ITER_FORWARD));
    struct libscols_line *line;
    while (scols_table_next_line(table->columns, at, &line) == 0)
        each(scols_cell_get_data(scols_line_get_cell(line, 0)), data);
    scols_free_iter(at);
}

/* ---- what is cut ---- */

/* Of a text, at most so many columns of a terminal, the last of which is "…", or "+" where that is
 * not known. NULL: all of it fits. To be freed. */
static char *cut(const char *text, size_t width)
{
    mbstate_t state = {0};
    size_t used = 0, end = 0;
    const size_t length = strlen(text);
    if (width == 0 || length <= width)
        return NULL;
    for (size_t at = 0; at < length;) {
        wchar_t letter = 0;
        const size_t bytes = mbrtowc(&letter, text + at, length - at, &state);
        if (bytes == 0 || bytes > length - at)
            return NULL; /* no text of this locale: libsmartcols makes it readable */
        const int columns = wcwidth(letter);
        if (used + 1 + (size_t)(columns > 0 ? columns : 0) <= width)
            end = at + bytes;
        used += (size_t)(columns > 0 ? columns : 0);
        at += bytes;
    }
    return used <= width ? NULL
                         : memory_format("%.*s%s", (int)end, text, MB_CUR_MAX > 1 ? "…" : "+");
}

static void cut_cell(struct libscols_line *line, size_t index, size_t width)
{
    const char *text = scols_cell_get_data(scols_line_get_cell(line, index));
    char *shorter = text ? cut(text, width) : NULL;
    if (shorter)
        memory_must(scols_line_set_data(line, index, shorter) == 0 ? line : NULL);
    free(shorter);
}

static void cut_column(struct table *table, size_t index, size_t width)
{
    struct libscols_iter *at = memory_must(scols_new_iter(SCOLS_ITER_FORWARD));
    struct libscols_line *line;
    while (scols_table_next_line(table->columns, at, &line) == 0)
        cut_cell(line, index, width);
    scols_free_iter(at);
}

/* The widest column of those that are cut next; WIDE_MAX: none is wider than its least. */
static size_t widest(const struct table *table, const size_t *widths, size_t count)
{
    size_t found = WIDE_MAX;
    for (const char *mark = cut_order; *mark && found == WIDE_MAX; mark++) {
        size_t width = WIDTH_MIN;
        for (size_t i = 0; i < count; i++) {
            if (table->cut[i] == *mark && widths[i] > width) {
                found = i;
                width = widths[i];
            }
        }
    }
    return found;
}

/* Before it is printed: libsmartcols itself would cut without a sign of it, and all columns
 * alike. Its widths are known when a row has been printed. */
static void cut_columns(struct table *table)
{
    size_t widths[WIDE_MAX] = {0}, natural[WIDE_MAX], total = 0;
    const size_t count = scols_table_get_ncols(table->columns);
    struct libscols_line *first = scols_table_get_line(table->columns, 0);
    char *row = NULL;
    if (!first || count > WIDE_MAX || !isatty(STDOUT_FILENO) ||
        scols_table_print_range_to_string(table->columns, first, first, &row) != 0)
        return;
    free(row);
    for (size_t i = 0; i < count; i++) {
        struct libscols_column *column = scols_table_get_column(table->columns, i);
        widths[i] = scols_column_is_hidden(column) ? 0 : scols_column_get_width(column);
        total += widths[i] + (widths[i] > 0);
    }
    memcpy(natural, widths, sizeof natural);
    for (size_t i; total > scols_table_get_termwidth(table->columns) + 1 &&
                   (i = widest(table, widths, count)) < WIDE_MAX;
         total--)
        widths[i]--;
    for (size_t i = 0; i < count; i++) {
        if (widths[i] < natural[i])
            cut_column(table, i, widths[i]);
    }
}

void table_destroy(struct table *table)
{
    scols_unref_table(table->columns);
    free(table);
}

int table_print(struct table *table)
{
    cut_columns(table);
    (void)scols_table_set_stream(table->columns, stdout); /* it may have changed since: screen.h */
    memory_must(scols_print_table(table->columns) == 0 ? table : NULL);
    table_destroy(table);
    return command_finish();
}
