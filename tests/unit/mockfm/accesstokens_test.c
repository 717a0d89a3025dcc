/* SPDX-License-Identifier: Apache-2.0 */
/* Access tokens: which open the door, and until when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "mock-fm/http/tokens.h"

#define LIFETIME 1000

static void token__opens_until_it_expires(void **state)
{
    struct accesstokens *tokens = accesstokens_create(LIFETIME);
    char text[ACCESSTOKENS_TEXT_SIZE];

    (void)state;
    assert_int_equal(accesstokens_issue(tokens, 5, text), 0);
    assert_int_equal(strlen(text), ACCESSTOKENS_TEXT_SIZE - 1);
    assert_true(accesstokens_opens(tokens, text, 5));
    assert_true(accesstokens_opens(tokens, text, 5 + LIFETIME - 1));
    assert_int_equal(accesstokens_totals(tokens, 5 + LIFETIME - 1).live, 1);
    assert_false(accesstokens_opens(tokens, text, 5 + LIFETIME));
    assert_int_equal(accesstokens_totals(tokens, 5 + LIFETIME).live, 0);
    assert_int_equal(accesstokens_totals(tokens, 5 + LIFETIME).issued, 1);
    accesstokens_destroy(tokens);
}

static void token__opens_only_as_a_whole(void **state)
{
    struct accesstokens *tokens = accesstokens_create(LIFETIME);
    char text[ACCESSTOKENS_TEXT_SIZE], other[ACCESSTOKENS_TEXT_SIZE + 1];

    (void)state;
    assert_false(accesstokens_opens(tokens, "", 0));
    assert_int_equal(accesstokens_issue(tokens, 0, text), 0);
    for (size_t i = 0; i < sizeof text - 1; i++) {
        memcpy(other, text, sizeof text);
        other[i] = other[i] == 'x' ? 'y' : 'x';
        assert_false(accesstokens_opens(tokens, other, 0));
        other[i] = '\0';
        assert_false(accesstokens_opens(tokens, other, 0));
    }
    memcpy(other, text, sizeof text);
    strcat(other, "0");
    assert_false(accesstokens_opens(tokens, other, 0));
    accesstokens_destroy(tokens);
}

static void token__is_like_no_other(void **state)
{
    struct accesstokens *tokens = accesstokens_create(LIFETIME);
    char first[ACCESSTOKENS_TEXT_SIZE], second[ACCESSTOKENS_TEXT_SIZE];

    (void)state;
    assert_int_equal(accesstokens_issue(tokens, 0, first), 0);
    assert_int_equal(accesstokens_issue(tokens, 0, second), 0);
    assert_string_not_equal(first, second);
    assert_false(session_is_token(first));
    assert_true(accesstokens_opens(tokens, first, 0));
    assert_true(accesstokens_opens(tokens, second, 0));
    accesstokens_destroy(tokens);
}

static void revoked__open_nothing(void **state)
{
    struct accesstokens *tokens = accesstokens_create(LIFETIME);
    char early[ACCESSTOKENS_TEXT_SIZE], late[ACCESSTOKENS_TEXT_SIZE];

    (void)state;
    assert_int_equal(accesstokens_issue(tokens, 0, early), 0);
    assert_int_equal(accesstokens_issue(tokens, 500, late), 0);
    assert_int_equal(accesstokens_revoke(tokens, LIFETIME), 1); /* the other had expired */
    assert_false(accesstokens_opens(tokens, late, 500));
    assert_int_equal(accesstokens_totals(tokens, 500).live, 0);
    assert_int_equal(accesstokens_totals(tokens, 500).issued, 2);
    accesstokens_destroy(tokens);
}

/* As many as there is room for; the oldest gives way. */
static void room__is_bounded(void **state)
{
    struct accesstokens *tokens = accesstokens_create(LIFETIME);
    char first[ACCESSTOKENS_TEXT_SIZE], text[ACCESSTOKENS_TEXT_SIZE];

    (void)state;
    assert_int_equal(accesstokens_issue(tokens, 0, first), 0);
    for (int i = 1; i < ACCESSTOKENS_MAX; i++)
        assert_int_equal(accesstokens_issue(tokens, 0, text), 0);
    assert_true(accesstokens_opens(tokens, first, 0));
    assert_int_equal(accesstokens_issue(tokens, 0, text), 0);
    assert_false(accesstokens_opens(tokens, first, 0));
    assert_true(accesstokens_opens(tokens, text, 0));
    assert_int_equal(accesstokens_totals(tokens, 0).live, ACCESSTOKENS_MAX);
    accesstokens_destroy(tokens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(token__opens_until_it_expires),
        cmocka_unit_test(token__opens_only_as_a_whole),
        cmocka_unit_test(token__is_like_no_other),
        cmocka_unit_test(revoked__open_nothing),
        cmocka_unit_test(room__is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
