/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets (base/secret.h): a type that cannot be printed. That the compiler refuses it is shown by
 * base_secret_unprintable in base.cmake. */

#include "tests/unit/unit.h"

#include "base/secret.h"

UNIT(secret__equal_only_when_the_same)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {
        {"sess-1", "sess-1", true},
        {"sess-1", "sess-2", false},
        {"sess-1", "sess-", false},
        {"sess-", "sess-1", false},
        {"", "", true},
        {"", "a", false},
        {"a", "", false},
        {"ab", "abab", false},
        {"a", "\xe1", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(secret_equal(secret_of(rows[i].a), secret_of(rows[i].b)), rows[i].equal);
}

UNIT(secret__none_equals_nothing)
{
    struct secret none = {0};
    assert_true(secret_none(none));
    assert_false(secret_none(secret_of("")));
    assert_false(secret_equal(none, none));
    assert_false(secret_equal(none, secret_of("")));
    assert_false(secret_equal(secret_of(""), none));
}

UNIT(secret__copy_is_its_own)
{
    char text[] = "sess-1";
    struct secret copy = secret_copy(secret_of(text));
    memset(text, 'x', sizeof text - 1);
    assert_string_equal(secret_expose(copy), "sess-1");
    secret_wipe(&copy);
    assert_true(secret_none(copy));
    secret_wipe(&copy); /* again is harmless */
    assert_true(secret_none(secret_copy(copy)));
}

/* What is wiped, and how much of it (the linker's --wrap). */
static char wiped[64];

/* NOLINTBEGIN(readability-identifier-naming): the linker chose the names. */
void __real_explicit_bzero(void *memory, size_t size);
void __wrap_explicit_bzero(void *memory, size_t size);

void __wrap_explicit_bzero(void *memory, size_t size)
{
    (void)snprintf(wiped, sizeof wiped, "%.*s", (int)size, (const char *)memory);
    __real_explicit_bzero(memory, size);
}
/* NOLINTEND(readability-identifier-naming) */

/* B8: no copy of a token stays in memory that was given back. */
UNIT(secret__is_wiped_before_it_is_freed)
{
    struct secret copy = secret_copy(secret_of("sess-1"));
    wiped[0] = '\0';
    secret_wipe(&copy);
    assert_string_equal(wiped, "sess-1");
    wiped[0] = '\0';
    secret_wipe(&copy);
    assert_string_equal(wiped, "");
}

UNIT_RUN(NULL, NULL)
