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

size_t utf8_length(const char *text, size_t size)
{
    const unsigned char *at = (const unsigned char *)text;
    unsigned char first = size > 0 ? at[0] : 0xff;
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    /* Of the second byte: what would be overlong, a surrogate, or too large is left out. */
    unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (length > size)
        return 0;
    for (size_t i = 1; i < length; i++, least = 0x80, most = 0xbf)
        if (at[i] < least || at[i] > most)
            return 0;
    return length;
}
