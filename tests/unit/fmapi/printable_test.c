/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fmapi/wire/printable.h"

static void clean_to(const char *text, size_t length, const char *expected)
{
    char out[64];
    size_t written = printable_copy(out, sizeof out, text, length);
    assert_string_equal(out, expected);
    assert_int_equal(written, strlen(expected));
}

#define CLEAN(text, expected) clean_to(text, sizeof(text) - 1, expected)

static void words_clean__keeps_text(void **state)
{
    (void)state;
    CLEAN("", "");
    CLEAN("02: no addresses left", "02: no addresses left");
    CLEAN("köln \xe2\x82\xac \xf0\x9f\x90\x8c", "köln \xe2\x82\xac \xf0\x9f\x90\x8c");
}

static void words_clean__makes_controls_harmless(void **state)
{
    (void)state;
    CLEAN("a\nb\r\tc\x1b[31m\x7f", "a?b??c?[31m?");
    CLEAN("a\0b", "a?b");
    CLEAN("\xc2\x9b"
          "31m",
          "?31m");                  /* C1 CSI */
    CLEAN("a\xe2\x80\xa8z", "a?z"); /* line separator */
    CLEAN("a\xe2\x80\xaez", "a?z"); /* right-to-left override */
    CLEAN("a\xe2\x81\xa6z", "a?z"); /* isolate */
    CLEAN("\xef\xbb\xbf{", "?{");   /* byte order mark */
}

static void words_clean__makes_invalid_utf8_harmless(void **state)
{
    (void)state;
    CLEAN("\xff\xfe", "??");
    CLEAN("\x80", "?");
    CLEAN("\xc0\xaf", "??");           /* overlong */
    CLEAN("\xe0\x80\xaf", "???");      /* overlong */
    CLEAN("\xed\xa0\x80", "???");      /* surrogate */
    CLEAN("\xf4\x90\x80\x80", "????"); /* beyond the last character */
    CLEAN("\xf5\x80\x80\x80", "????");
    CLEAN("ab\xe2\x82", "ab??"); /* cut off */
    CLEAN("\xe2\x82z", "??z");
}

static void words_clean__cuts_at_a_characters_end(void **state)
{
    (void)state;
    char out[10];
    printable_copy(out, sizeof out, "123456789", 9);
    assert_string_equal(out, "123456789");
    printable_copy(out, sizeof out, "1234567890", 10);
    assert_string_equal(out, "123456...");
    printable_copy(out, sizeof out, "12345\xe2\x82\xac 890", 12);
    assert_string_equal(out, "12345...");

    char least[4];
    printable_copy(least, sizeof least, "\xf0\x9f\x90\x8c", 4);
    assert_string_equal(least, "...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_clean__keeps_text),
        cmocka_unit_test(words_clean__makes_controls_harmless),
        cmocka_unit_test(words_clean__makes_invalid_utf8_harmless),
        cmocka_unit_test(words_clean__cuts_at_a_characters_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
