/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/plain.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_MIN = 60, HEIGHT_MIN = 10 };

/* How many bytes of a control character begin the text; 0: none. */
static size_t control(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
        return 2;
    return c[0] < 0x20 || c[0] == 0x7f;
}

void plain_make(char *text)
{
    while (*text) {
        size_t bytes = control(text);
        if (bytes == 0)
            text++;
        for (; bytes > 0; bytes--)
            *text++ = '?';
    }
}

size_t plain_cut(const char *text, size_t most)
{
    while (most > 0 && ((unsigned char)text[most] & 0xC0) == 0x80)
        most--;
    return most;
}

void plain_printf(const char *format, ...)
{
    char *line = NULL;
    va_list args;
    va_start(args, format);
    const int length = vasprintf(&line, format, args);
    va_end(args);
    if (length < 1)
        return;
    line[length - 1] = '\0';
    plain_make(line);
    puts(line);
    free(line);
}

static enum { AUTO, ALWAYS, NEVER } colours;

bool plain_set_colour(const char *when)
{
    if (!when || strcmp(when, "auto") == 0)
        colours = AUTO;
    else if (strcmp(when, "always") == 0)
        colours = ALWAYS;
    else if (strcmp(when, "never") == 0)
        colours = NEVER;
    else
        return false;
    return true;
}

bool plain_is_terminal(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

bool plain_has_colours(void)
{
    const char *none = getenv("NO_COLOR");
    return colours == ALWAYS || (colours == AUTO && plain_is_terminal() && !(none && none[0]));
}

const char *plain_sequence(enum plain_colour colour)
{
    static const char *const codes[] = {"\033[m", "\033[32m", "\033[1;31m"};
    return codes[colour];
}

void plain_colour(enum plain_colour colour)
{
    if (plain_has_colours())
        fputs(plain_sequence(colour), stdout);
}

static struct winsize terminal(void)
{
    struct winsize size = {0};
    (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    return size;
}

size_t plain_width(size_t otherwise)
{
    const size_t width = terminal().ws_col;
    return width >= WIDTH_MIN ? width : otherwise;
}

size_t plain_height(size_t otherwise)
{
    const size_t height = terminal().ws_row;
    return height >= HEIGHT_MIN ? height : otherwise;
}

/* Characters, not bytes of UTF-8. */
static size_t columns(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

size_t plain_wrapped(size_t width, size_t indent, const char *lead, const char *text)
{
    size_t inner = indent + columns(lead, strlen(lead)), column = inner, lines = 1;
    bool first = true;
    printf("%*s%s", (int)indent, "", lead);
    while (*text) {
        size_t word = strcspn(text, " ");
        size_t width_of_word = columns(text, word);
        if (!first && column + 1 + width_of_word > width) {
            printf("\n%*s", (int)inner, "");
            column = inner;
            first = true;
            lines++;
        }
        printf("%s%.*s", first ? "" : " ", (int)word, text);
        column += width_of_word + (first ? 0 : 1);
        first = false;
        text += word;
        text += strspn(text, " ");
    }
    putchar('\n');
    return lines;
}
