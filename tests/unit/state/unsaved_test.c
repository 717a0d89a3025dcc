/* SPDX-License-Identifier: Apache-2.0 */
/* Which reservations a batch is about. */

#include "broker/unsaved.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void unsaved__has_what_was_added(void **state)
{
    (void)state;
    struct unsaved unsaved = {0};
    assert_false(unsaved_has(&unsaved, 7));
    unsaved_add(&unsaved, 7);
    unsaved_add(&unsaved, 7 + 256); /* the same slot */
    unsaved_add(&unsaved, 7);
    unsaved_add(&unsaved, INT64_MAX);
    assert_int_equal(unsaved.count, 3);
    assert_true(unsaved_has(&unsaved, 7));
    assert_true(unsaved_has(&unsaved, 7 + 256));
    assert_true(unsaved_has(&unsaved, INT64_MAX));
    assert_false(unsaved_has(&unsaved, 8));
    assert_false(unsaved_has(&unsaved, 7 + 512));
    unsaved_clear(&unsaved);
    assert_false(unsaved_has(&unsaved, 7));
    unsaved_add(&unsaved, 8);
    assert_true(unsaved_has(&unsaved, 8));
    unsaved_release(&unsaved);
}

/* A sync that releases a whole machine's jobs; its memory is not kept. */
static void unsaved__takes_a_large_batch(void **state)
{
    enum { JOBS = 100000 };
    (void)state;
    struct unsaved unsaved = {0};
    for (uint64_t number = 1; number <= JOBS; number++)
        unsaved_add(&unsaved, number * 3);
    assert_int_equal(unsaved.count, JOBS);
    for (uint64_t number = 1; number <= JOBS * 3; number++)
        assert_int_equal(unsaved_has(&unsaved, number), number % 3 == 0);
    unsaved_clear(&unsaved);
    assert_int_equal(unsaved.room, 0);
    assert_false(unsaved_has(&unsaved, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unsaved__has_what_was_added),
        cmocka_unit_test(unsaved__takes_a_large_batch),
    };
    return cmocka_run_group_tests_name("state_unsaved", tests, NULL, NULL);
}
