/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 of RFC 4648, section 5: one text for each sequence of bytes, and nothing else is read. */

#include "tests/unit/unit.h"

#include "base/base64url.h"

enum { SIZE_MAX_TRIED = 300 };

/* RFC 4648, section 10, without padding; and the two letters that differ for URLs. */
UNIT(format__is_that_of_the_rfc)
{
    static const struct {
        const char *bytes, *text;
    } vectors[] = {
        {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},          {"foo", "Zm9v"},
        {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}, {"\xfb\xff\xbf", "-_-_"}};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        char text[32];
        unsigned char bytes[32];
        size_t size = strlen(vectors[i].bytes);
        base64url_encode((const unsigned char *)vectors[i].bytes, size, text);
        assert_string_equal(text, vectors[i].text);
        assert_int_equal(strlen(text), BASE64URL_LENGTH(size));
        assert_int_equal(base64url_decode(text, strlen(text), bytes, sizeof bytes), size);
        assert_memory_equal(bytes, vectors[i].bytes, size);
    }
}

UNIT(text__of_any_size_comes_back)
{
    unsigned char bytes[SIZE_MAX_TRIED], back[SIZE_MAX_TRIED];
    char text[BASE64URL_LENGTH(SIZE_MAX_TRIED) + 1];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 167 + 13);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        base64url_encode(bytes, size, text);
        assert_int_equal(base64url_decode(text, strlen(text), back, size), size);
        assert_memory_equal(back, bytes, size);
        if (size > 0) /* there is no room for the last byte */
            assert_int_equal(base64url_decode(text, strlen(text), back, size - 1), -1);
    }
}

/* Every byte in every place of a group: those of the alphabet, and no other. */
UNIT(text__has_no_other_letters)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (int byte = 0; byte < 256; byte++) {
        const char *at = byte ? strchr(alphabet, byte) : NULL;
        for (size_t place = 0; place < 4; place++) {
            char text[] = "AAAA";
            unsigned char bytes[3];
            text[place] = (char)byte;
            assert_int_equal(base64url_decode(text, 4, bytes, sizeof bytes), at ? 3 : -1);
            if (at) {
                uint32_t all = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
                assert_int_equal(all, (uint32_t)(at - alphabet) << (6 * (3 - place)));
            }
        }
    }
}

/* Of the texts that would decode to the same bytes, one is read: bits left over are zero, and there
 * is no padding, space or line's end. */
UNIT(text__that_is_not_canonical_is_refused)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    static const char *const bad[] = {"Zg==", "Zm8=",  "Zm9v\n", "Zm9v ", " Zm9v", "Zm9v====",
                                      "Z",    "Zm9vY", "=",      "====",  "Zm+v",  "Zm/v"};
    unsigned char bytes[16];
    for (unsigned i = 0; i < 64; i++) {
        const char two[] = {'Z', alphabet[i], '\0'}, three[] = {'Z', 'm', alphabet[i], '\0'};
        assert_int_equal(base64url_decode(two, 2, bytes, sizeof bytes), i % 16 == 0 ? 1 : -1);
        assert_int_equal(base64url_decode(three, 3, bytes, sizeof bytes), i % 4 == 0 ? 2 : -1);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(base64url_decode(bad[i], strlen(bad[i]), bytes, sizeof bytes), -1);
}

UNIT_RUN(NULL, NULL)
