/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/columns.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct row {
    int count;
    char *cells[COLUMNS_MAX]; /* NULL: empty */
};

struct columns {
    size_t count;
    struct row *rows;
};

struct columns *columns_create(void)
{
    return calloc(1, sizeof(struct columns));
}

void columns_destroy(struct columns *columns)
{
    for (size_t r = 0; columns && r < columns->count; r++) {
        for (int c = 0; c < columns->rows[r].count; c++)
            free(columns->rows[r].cells[c]);
    }
    if (columns)
        free(columns->rows);
    free(columns);
}

bool columns_row(struct columns *columns)
{
    struct row *grown = reallocarray(columns->rows, columns->count + 1, sizeof *grown);
    if (!grown)
        return false;
    columns->rows = grown;
    columns->rows[columns->count++] = (struct row){0};
    return true;
}

void columns_cell(struct columns *columns, const char *format, ...)
{
    char text[COLUMNS_CELL_SIZE];
    struct row *row = &columns->rows[columns->count - 1];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (row->count < COLUMNS_MAX)
        row->cells[row->count++] = strdup(text);
}

static const char *cell_text(const struct row *row, int c)
{
    return c < row->count && row->cells[c] ? row->cells[c] : "";
}

void columns_print(const struct columns *columns, int left, FILE *out)
{
    int widths[COLUMNS_MAX] = {0}, last = 0;
    for (size_t r = 0; r < columns->count; r++) {
        for (int c = 0; c < columns->rows[r].count; c++) {
            int length = (int)strlen(cell_text(&columns->rows[r], c));
            widths[c] = length > widths[c] ? length : widths[c];
            last = c > last ? c : last;
        }
    }
    for (size_t r = 0; r < columns->count; r++) {
        for (int c = 0; c <= last; c++) {
            const char *text = cell_text(&columns->rows[r], c);
            if (c >= left)
                fprintf(out, "%*s", widths[c], text);
            else
                fprintf(out, "%-*s", c == last ? 0 : widths[c], text);
            fputs(c == last ? "\n" : " ", out);
        }
    }
}
