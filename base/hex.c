/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hex.h"

#include <ctype.h>
#include <string.h>

static const char digits_of[] = "0123456789abcdef";

void hex_write(const unsigned char *bytes, size_t size, char *out)
{
    for (size_t i = 0; i < size; i++) {
        out[2 * i] = digits_of[bytes[i] >> 4];
        out[2 * i + 1] = digits_of[bytes[i] & 15];
    }
}

static int digit_value(char digit)
{
    const char *at = digit ? strchr(digits_of, tolower((unsigned char)digit)) : NULL;
    return at ? (int)(at - digits_of) : -1;
}

int hex_read(const char *digits, unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        int high = digit_value(digits[2 * i]);
        int low = high < 0 ? -1 : digit_value(digits[2 * i + 1]);
        if (low < 0)
            return -1;
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    return 0;
}
