/* SPDX-License-Identifier: Apache-2.0 */
#include "state/base64.h"

#include <assert.h>
#include <limits.h>
#include <openssl/evp.h>

size_t base64_encode(const void *bytes, size_t size, char *out)
{
    assert(size <= INT_MAX / 2);
    return (size_t)EVP_EncodeBlock((unsigned char *)out, bytes, (int)size);
}

int base64_decode(const char *text, size_t length, unsigned char *out)
{
    assert(text && out);
    if (length % 4 != 0 || length > INT_MAX)
        return -1;
    const int size = EVP_DecodeBlock(out, (const unsigned char *)text, (int)length);
    const int padding = length == 0 ? 0 : (text[length - 1] == '=') + (text[length - 2] == '=');
    return size == (int)(length / 4 * 3) ? size - padding : -1;
}
