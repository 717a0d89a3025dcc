/* SPDX-License-Identifier: Apache-2.0 */
#include "node/say.h"

#include <stdarg.h>
#include <stdio.h>

void say(const char *format, ...)
{
    char line[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* Users' words may be in it: a line stays one, in root's log and for a terminal. */
    for (char *at = line; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    }
    fprintf(stderr, "mcast-node: %s\n", line); /* one write, however many hooks run at once */
}
