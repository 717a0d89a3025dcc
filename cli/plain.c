/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void plain_colour(enum plain_colour colour)
{
    static const char *const codes[] = {"\033[m", "\033[32m", "\033[1;31m"};
    const char *terminal = getenv("TERM"), *none = getenv("NO_COLOR");
    if (isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0 && !(none && none[0]))
        fputs(codes[colour], stdout);
}
