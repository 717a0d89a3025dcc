#include "fmapi/wire/words.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The bytes of the character at text, 0 when it is none (cut off, overlong, a surrogate, too big).
 */
static size_t character_length(const unsigned char *text, size_t length, uint32_t *point)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = text[0];
    size_t need = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

    if (need == 0 || need > length || first > 0xf4)
        return 0;
    *point = need == 1 ? first : first & (0x7fu >> need);
    for (size_t i = 1; i < need; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *point = *point << 6 | (text[i] & 0x3fu);
    }
    bool surrogate = *point >= 0xd800 && *point <= 0xdfff;
    return *point < smallest[need] || *point > 0x10ffff || surrogate ? 0 : need;
}

static bool harmless(uint32_t point)
{
    if (point < 0x20 || (point >= 0x7f && point <= 0x9f))
        return false;
    return !(point >= 0x2028 && point <= 0x202e) && !(point >= 0x2066 && point <= 0x2069) &&
           point != 0x200e && point != 0x200f && point != 0xfeff;
}

size_t words_clean(char *out, size_t size, const char *text, size_t length)
{
    assert(size >= 4);
    size_t written = 0;
    size_t cut = 0; /* the last character's end that leaves room for "..." */

    for (size_t i = 0; i < length;) {
        uint32_t point = 0;
        size_t bytes = character_length((const unsigned char *)text + i, length - i, &point);
        bool keep = bytes > 0 && harmless(point);
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
