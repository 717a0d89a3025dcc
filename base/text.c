/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

char *text_trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

void text_make_printable(char *text)
{
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

bool text_number(const char *text, int base, uint64_t max, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)text[0])) /* strtoull takes blanks and signs */
        return false;
    errno = 0;
    uint64_t value = strtoull(text, &end, base);
    if (*end || errno || value > max)
        return false;
    *out = value;
    return true;
}
