/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/printable.h"

#include "base/utf8.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static uint32_t code_point(const char *text, size_t length)
{
    uint32_t point = (unsigned char)text[0] & (length == 1 ? 0x7fu : 0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        point = point << 6 | ((unsigned char)text[i] & 0x3fu);
    return point;
}

static bool harmless(uint32_t point)
{
    if (point < 0x20 || (point >= 0x7f && point <= 0x9f))
        return false;
    return !(point >= 0x2028 && point <= 0x202e) && !(point >= 0x2066 && point <= 0x2069) &&
           point != 0x200e && point != 0x200f && point != 0xfeff;
}

size_t printable_copy(char *out, size_t size, const char *text, size_t length)
{
    assert(size >= 4);
    size_t written = 0;
    size_t cut = 0; /* the last character's end that leaves space for "..." */

    for (size_t i = 0; i < length;) {
        size_t bytes = utf8_length(text + i, length - i);
        bool keep = bytes > 0 && harmless(code_point(text + i, bytes));
        size_t adds = keep ? bytes : 1;

        if (written + adds > size - 1) {
            memcpy(out + cut, "...", 4);
            return cut + 3;
        }
        if (keep)
            memcpy(out + written, text + i, bytes);
        else
            out[written] = '?';
        written += adds;
        i += bytes > 0 ? bytes : 1;
        if (written + 3 <= size - 1)
            cut = written;
    }
    out[written] = '\0';
    return written;
}
