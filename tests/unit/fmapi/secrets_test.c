/* SPDX-License-Identifier: Apache-2.0 */

#include "fmapi/wire/secrets.h"
#include "tests/unit/unit.h"

static const struct secrets ours = {.values = {"fm-passw0rd", "Y3hpOmZtLXBhc3N3MHJk"}, .count = 2};

static void blanks(const struct secrets *secrets, const char *text, const char *expected)
{
    char out[256];
    assert_true(secrets_blank(secrets, text, out, sizeof out));
    assert_string_equal(out, expected);
}

UNIT(secrets_blank__keeps_other_text)
{
    blanks(&ours, "", "");
    blanks(&ours, "02: no addresses left", "02: no addresses left");
    blanks(&ours, "basics, bearers; no sessionToken given",
           "basics, bearers; no sessionToken given");
    blanks(&ours, "ends in Basic", "ends in Basic");
    blanks(&(struct secrets){0}, "fm-passw0rd", "fm-passw0rd");
}

UNIT(secrets_blank__hides_what_it_is_given)
{
    blanks(&ours, "cxi:fm-passw0rd@fmn", "cxi:***@fmn");
    blanks(&ours, "fm-passw0rdfm-passw0rd", "***");
    blanks(&ours, "got Y3hpOmZtLXBhc3N3MHJk==, twice Y3hpOmZtLXBhc3N3MHJk", "got ***, twice ***");

    /* Overlapping in either order: nothing of either is left. */
    struct secrets overlap = {.values = {"abcd", "cdef", "aa"}, .count = 3};
    blanks(&overlap, "-abcdef-aaa-", "-***-***-");
    struct secrets inside = {.values = {"cd", "abcdef"}, .count = 2};
    blanks(&inside, "-abcdef-", "-***-");
}

UNIT(secrets_blank__hides_what_a_scheme_announces)
{
    blanks(&ours, "Authorization: Basic abc= refused", "Authorization: Basic *** refused");
    blanks(&ours, "aUTHORIZATION: bEARER\t x.y-z~\r\nHost: f",
           "aUTHORIZATION: bEARER\t ***\r\nHost: f");
    blanks(&ours, "{\"a\":\"BASIC abc\",\"b\":1}", "{\"a\":\"BASIC ***\",\"b\":1}");
    blanks(&ours, "Basic \"abc\"", "Basic \"***\"");
    blanks(&ours, "Basic Basic abc", "Basic *** ***");
    blanks(&ours, "Basic ", "Basic ");
}

UNIT(secrets_blank__hides_quoted_session_tokens)
{
    blanks(&ours, "{\"sessionToken\":\"tok,1\"}", "{\"sessionToken\":\"***\"}");
    blanks(&ours, "{\\\"sessionToken\\\": \\\"tok-1\\\"}", "{\\\"sessionToken\\\": \\\"***\\\"}");
    blanks(&ours, "SESSIONTOKEN=tok-1 is old", "SESSIONTOKEN=*** is old");
    blanks(&ours, "sessionToken: sessionToken: tok-1", "sessionToken: *** ***");
    blanks(&ours, "{\"access_token\":\"a\",\"id_token\":\"b\",\"refresh_token\":\"c\"}",
           "{\"access_token\":\"***\",\"id_token\":\"***\",\"refresh_token\":\"***\"}");
    blanks(&ours, "bad client_secret=abc", "bad client_secret=***");
}

UNIT(secrets_blank__blanks_before_it_cuts)
{
    char out[16];
    assert_true(secrets_blank(&ours, "1234567890 fm-passw0rd", out, sizeof out));
    assert_string_equal(out, "1234567890 ***");
    assert_true(secrets_blank(&ours, "123456789012 fm-passw0rd", out, sizeof out));
    assert_string_equal(out, "123456789012 ");
}

UNIT(secrets_blank__passes_on_no_long_text)
{
    static char text[SECRETS_TEXT_MAX + 2];
    static char out[SECRETS_TEXT_MAX + 1];
    memset(text, 'a', SECRETS_TEXT_MAX);
    memcpy(text + SECRETS_TEXT_MAX - 11, "fm-passw0rd", 11);
    assert_true(secrets_blank(&ours, text, out, sizeof out));
    assert_int_equal(strlen(out), SECRETS_TEXT_MAX - 11 + 3);
    text[SECRETS_TEXT_MAX] = 'a';
    assert_false(secrets_blank(&ours, text, out, sizeof out));
    assert_string_equal(out, "");
}

UNIT(secrets_add__bounds_them)
{
    struct secrets secrets = {0};
    static const char *const values[SECRETS_MAX] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < SECRETS_MAX; i++)
        assert_true(secrets_add(&secrets, values[i]));
    assert_true(secrets_add(&secrets, "b"));
    assert_true(secrets_add(&secrets, ""));
    assert_false(secrets_add(&secrets, "e"));
    assert_int_equal(secrets.count, SECRETS_MAX);
}

static void clean_to(const char *text, size_t length, const char *expected)
{
    char out[64];
    size_t written = printable_copy(out, sizeof out, text, length);
    assert_string_equal(out, expected);
    assert_int_equal(written, strlen(expected));
}

#define CLEAN(text, expected) clean_to(text, sizeof text - 1, expected)

UNIT(printable_copy__keeps_text)
{
    CLEAN("", "");
    CLEAN("02: no addresses left", "02: no addresses left");
    CLEAN("köln \xe2\x82\xac \xf0\x9f\x90\x8c", "köln \xe2\x82\xac \xf0\x9f\x90\x8c");
}

UNIT(printable_copy__makes_controls_harmless)
{
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

UNIT(printable_copy__makes_invalid_utf8_harmless)
{
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

UNIT(printable_copy__cuts_at_a_characters_end)
{
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

UNIT_RUN(NULL, NULL)
