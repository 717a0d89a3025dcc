/* SPDX-License-Identifier: Apache-2.0 */
/* Access tokens: which open the door, and until when. */

#include "mock-fm/http/tokens.h"
#include "tests/unit/unit.h"

#define LIFETIME 1000

static void token__opens_until_it_expires(void **state)
{
    struct accesstokens *tokens = accesstokens_create(LIFETIME);
    const char *text = accesstokens_issue(tokens, 5);

    assert_int_equal(strlen(text), ACCESSTOKENS_TEXT_SIZE - 1);
    assert_true(accesstokens_opens(tokens, text, 5));
    assert_true(accesstokens_opens(tokens, text, 5 + LIFETIME - 1));
    assert_int_equal(accesstokens_live(tokens, 5 + LIFETIME - 1), 1);
    assert_false(accesstokens_opens(tokens, text, 5 + LIFETIME));
    assert_int_equal(accesstokens_live(tokens, 5 + LIFETIME), 0);
    assert_int_equal(tokens->issued, 1);
    accesstokens_destroy(tokens);
}

static void token__opens_only_as_a_whole(void **state)
{
    struct accesstokens *tokens = accesstokens_create(LIFETIME);
    char other[ACCESSTOKENS_TEXT_SIZE + 1];

    assert_false(accesstokens_opens(tokens, "", 0));
    const char *text = accesstokens_issue(tokens, 0);
    for (size_t i = 0; i < ACCESSTOKENS_TEXT_SIZE - 1; i++) {
        strcpy(other, text);
        other[i] = other[i] == 'x' ? 'y' : 'x';
        assert_false(accesstokens_opens(tokens, other, 0));
        other[i] = '\0';
        assert_false(accesstokens_opens(tokens, other, 0));
    }
    strcpy(other, text);
    strcat(other, "0");
    assert_false(accesstokens_opens(tokens, other, 0));
    accesstokens_destroy(tokens);
}

static void token__is_like_no_other(void **state)
{
    struct accesstokens *tokens = accesstokens_create(LIFETIME);
    const char *first = accesstokens_issue(tokens, 0), *second = accesstokens_issue(tokens, 0);

    assert_string_not_equal(first, second);
    assert_false(session_is_token(first));
    assert_true(accesstokens_opens(tokens, first, 0));
    assert_true(accesstokens_opens(tokens, second, 0));
    accesstokens_destroy(tokens);
}

static void revoked__open_nothing(void **state)
{
    struct accesstokens *tokens = accesstokens_create(LIFETIME);
    char late[ACCESSTOKENS_TEXT_SIZE];

    assert_non_null(accesstokens_issue(tokens, 0));
    strcpy(late, accesstokens_issue(tokens, 500));
    assert_int_equal(accesstokens_live(tokens, LIFETIME), 1); /* the other has expired */
    accesstokens_revoke(tokens);
    assert_false(accesstokens_opens(tokens, late, 500));
    assert_int_equal(accesstokens_live(tokens, 500), 0);
    assert_int_equal(tokens->issued, 2);
    accesstokens_destroy(tokens);
}

/* As many as there is room for; the oldest gives way. */
static void room__is_bounded(void **state)
{
    struct accesstokens *tokens = accesstokens_create(LIFETIME);
    char first[ACCESSTOKENS_TEXT_SIZE];

    strcpy(first, accesstokens_issue(tokens, 0));
    for (int i = 1; i < ACCESSTOKENS_MAX; i++)
        assert_non_null(accesstokens_issue(tokens, 0));
    assert_true(accesstokens_opens(tokens, first, 0));
    const char *text = accesstokens_issue(tokens, 0);
    assert_false(accesstokens_opens(tokens, first, 0));
    assert_true(accesstokens_opens(tokens, text, 0));
    assert_int_equal(accesstokens_live(tokens, 0), ACCESSTOKENS_MAX);
    accesstokens_destroy(tokens);
}

UNIT_MAIN(cmocka_unit_test(token__opens_until_it_expires),
          cmocka_unit_test(token__opens_only_as_a_whole), cmocka_unit_test(token__is_like_no_other),
          cmocka_unit_test(revoked__open_nothing), cmocka_unit_test(room__is_bounded))
