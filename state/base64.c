/* SPDX-License-Identifier: Apache-2.0 */
#include "state/base64.h"

#include "base/memory.h"

#include <assert.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>

json_t *base64_json(const void *bytes, size_t size)
{
    assert(bytes || size == 0);
    assert(size <= INT_MAX / 2);
    char *text = memory_zeroed((size + 2) / 3 * 4 + 1);
    const int length = EVP_EncodeBlock((unsigned char *)text, bytes, (int)size);
    json_t *string = memory_must(json_stringn_nocheck(text, (size_t)length));
    free(text);
    return string;
}

char *base64_bytes(const json_t *string, size_t *size)
{
    assert(size);
    const char *text = json_string_value(string);
    const size_t length = json_string_length(string), most = length / 4 * 3;
    if (!text || length % 4 != 0 || length > INT_MAX)
        return NULL;
    char *bytes = memory_zeroed(most + 1);
    if (length == 0 || EVP_DecodeBlock((unsigned char *)bytes, (const unsigned char *)text,
                                       (int)length) == (int)most) {
        *size = length == 0 ? 0 : most - (text[length - 1] == '=') - (text[length - 2] == '=');
        return bytes;
    }
    free(bytes);
    return NULL;
}
