/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

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
