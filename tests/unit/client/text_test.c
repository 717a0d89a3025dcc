/* SPDX-License-Identifier: Apache-2.0 */
/* Text in URLs (RFC 3986, 2.1), and in errors. */

#include "client/text.h"
#include "tests/unit/unit.h"

#include <jansson.h>
#include <string.h>

static void becomes(const char *plain, const char *expected)
{
    struct text text = {0};
    assert_true(text_add(&text, "?", 1));
    assert_true(text_add_escaped(&text, plain));
    assert_string_equal(text_string(&text) + 1, expected);
    text_release(&text);
}

UNIT(text__what_means_something_in_a_url)
{
    becomes("", "");
    becomes("AZaz09-._~", "AZaz09-._~");
    becomes("/f2Rs8/fA", "%2Ff2Rs8%2FfA");
    becomes("%2F", "%252F");
    becomes("a b&c=d?#+;:@!", "a%20b%26c%3Dd%3F%23%2B%3B%3A%40%21");
    becomes("\x01\x7f", "%01%7F");
    becomes("\xc6\x92x", "%C6%92x");
}

UNIT(text__an_error_drives_no_terminal)
{
    struct mcast_error error;
    fault_set(&error, MCAST_REFUSED, "%s",
              "a\x1b[2J\x7f\n \xc2\x9b"
              "2J \xc3\xa9\xc2\xa0 \xc2");
    assert_string_equal(error.text, "a [2J     2J \xc3\xa9\xc2\xa0 \xc2");
}

/* Else what passes it on as JSON cannot. */
UNIT(text__an_error_that_is_cut_ends_with_a_whole_character)
{
    struct mcast_error error;
    char text[sizeof error.text + 8];
    for (size_t shift = 0; shift < 3; shift++) {
        memset(text, 'a', shift);
        for (size_t i = shift; i < sizeof text; i++)
            text[i] = "\xe2\x82\xac"[(i - shift) % 3];
        text[sizeof text - 1] = '\0';
        fault_set(&error, MCAST_REFUSED, "%s", text);
        json_t *json = json_string(error.text);
        assert_non_null(json);
        assert_true(strlen(error.text) >= sizeof error.text - 4);
        json_decref(json);
    }
    fault_set(&error, MCAST_REFUSED, "whole \xe2\x82\xac");
    assert_string_equal(error.text, "whole \xe2\x82\xac");
}

UNIT_RUN(NULL, NULL)
