/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "base/error.h"

UNIT(error_set__returns_code_and_cuts_text)
{
    struct error err;
    char longer[2 * ERROR_TEXT_SIZE];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(error_set(&err, ERROR_IO, "%s", longer), ERROR_IO);
    assert_int_equal(err.code, ERROR_IO);
    assert_int_equal(strlen(err.text), ERROR_TEXT_SIZE - 1);
    assert_int_equal(error_set(NULL, ERROR_FULL, "nobody reads this"), ERROR_FULL);
}

UNIT(error_prefix__keeps_code_and_cause)
{
    struct error err;
    error_set(&err, ERROR_INVALID, "7 is too many");
    assert_int_equal(error_prefix(&err, "%s line %d", "a.conf", 3), ERROR_INVALID);
    assert_string_equal(err.text, "a.conf line 3: 7 is too many");
}

/* However long both are, the text is full and no longer. */
UNIT(error_prefix__cuts_what_does_not_fit)
{
    struct error err;
    char longer[2 * ERROR_TEXT_SIZE];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    error_set(&err, ERROR_INVALID, "%s", longer);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(error_prefix(&err, "%s", i == 0 ? "a.conf" : longer), ERROR_INVALID);
        assert_int_equal(strlen(err.text), ERROR_TEXT_SIZE - 1);
        if (i == 0)
            assert_memory_equal(err.text, "a.conf: xx", strlen("a.conf: xx"));
    }
    assert_int_equal(error_prefix(NULL, "a.conf"), ERROR_INVALID);
}

UNIT(error_word__knows_every_code)
{
#define KNOWN(name, word, when) assert_string_not_equal(error_word(ERROR_##name), "unknown");
    ERROR_CODES(KNOWN)
    assert_string_equal(error_word(1), "unknown");
}

UNIT_RUN(NULL, NULL)
