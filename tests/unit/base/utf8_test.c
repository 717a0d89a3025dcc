/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "base/text.h"

UNIT(utf8__is_what_rfc_3629_says)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"", 1},
        {"a", 1},
        {"\x7f", 1},
        {"\xc2\x80", 2},
        {"\xdf\xbf", 2},
        {"\xe0\xa0\x80", 3},
        {"\xed\x9f\xbf", 3},
        {"\xef\xbf\xbf", 3},
        {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\x80", 0},             /* goes on with nothing */
        {"\xc1\xbf", 0},         /* overlong */
        {"\xe0\x9f\xbf", 0},     /* overlong */
        {"\xf0\x8f\xbf\xbf", 0}, /* overlong */
        {"\xed\xa0\x80", 0},     /* half a character of UTF-16 */
        {"\xf4\x90\x80\x80", 0}, /* beyond U+10FFFF */
        {"\xf5\x80\x80\x80", 0},
        {"\xff", 0},
        {"\xc3", 0}, /* the text ends within */
        {"\xe2\x82", 0},
        {"\xf0\x90\x80", 0},
        {"\xc3(", 0},
        {"\xe2\x82(", 0},
        {"\xf0\x90\x80(", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(utf8_length(cases[i].text, SIZE_MAX), cases[i].length);
}

/* Exactly so many bytes are there: none behind them is looked at (ASan would say so). */
UNIT(utf8__stays_within_its_size)
{
    static const char euro[] = "\xe2\x82\xac";
    for (size_t size = 0; size <= 3; size++) {
        char *text = malloc(size > 0 ? size : 1);
        assert_non_null(text);
        memcpy(text, euro, size);
        assert_int_equal(utf8_length(text, size), size == 3 ? 3 : 0);
        free(text);
    }
}

UNIT_RUN(NULL, NULL)
