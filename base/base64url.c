/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64url.h"

#include <limits.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void base64url_encode(const unsigned char *bytes, size_t size, char *out)
{
    unsigned held = 0, bits = 0;
    for (size_t i = 0; i < size; i++) {
        held = held << 8 | bytes[i];
        for (bits += 8; bits >= 6; bits -= 6)
            *out++ = letters[held >> (bits - 6) & 63];
    }
    if (bits > 0)
        *out++ = letters[held << (6 - bits) & 63];
    *out = '\0';
}

/* All ones when low <= c <= high, else 0: what is decoded can be a secret, so no branch and no
 * table's cache line depends on it. */
static unsigned between(unsigned c, unsigned low, unsigned high)
{
    return ((low - 1 - c) & (c - (high + 1))) >> (sizeof(unsigned) * CHAR_BIT - 1) ? UINT_MAX : 0;
}

/* 0 to 63; 64: it is no letter. */
static unsigned value(char letter)
{
    unsigned c = (unsigned char)letter;
    unsigned upper = between(c, 'A', 'Z'), lower = between(c, 'a', 'z');
    unsigned digit = between(c, '0', '9'), dash = between(c, '-', '-'), line = between(c, '_', '_');
    unsigned known = upper | lower | digit | dash | line;
    return (upper & (c - 'A')) | (lower & (c - 'a' + 26)) | (digit & (c - '0' + 52)) | (dash & 62) |
           (line & 63) | (~known & 64);
}

int base64url_decode(const char *text, size_t length, unsigned char *out, size_t room)
{
    size_t size = length / 4 * 3 + length % 4 * 6 / 8;
    if (length % 4 == 1 || size > room || size > INT_MAX)
        return -1;
    unsigned held = 0, bits = 0, wrong = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned next = value(text[i]);
        wrong |= next & 64;
        held = held << 6 | (next & 63);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            *out++ = (unsigned char)(held >> bits & 0xff);
        }
    }
    wrong |= held & ((1U << bits) - 1);
    return wrong ? -1 : (int)size;
}
