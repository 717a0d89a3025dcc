#include "client/alarms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MANY = 300 };

/* Numbers without an order, the same in each run. */
static unsigned next(unsigned *seed)
{
    *seed = *seed * 1103515245U + 12345U;
    return *seed >> 16;
}

static void alarms__come_in_order(void **state)
{
    (void)state;
    struct alarms alarms = {0};
    struct alarm many[MANY] = {0};
    unsigned seed = 1;
    assert_null(alarms_first(&alarms));
    assert_true(alarms_reserve(&alarms, MANY));
    for (int i = 0; i < MANY; i++)
        alarms_set(&alarms, &many[i], next(&seed) % 100);
    for (int i = 0; i < MANY; i += 3) /* some are set anew, some not at all any more */
        alarms_set(&alarms, &many[i], next(&seed) % 200);
    for (int i = 1; i < MANY; i += 3)
        alarms_unset(&alarms, &many[i]);
    alarms_unset(&alarms, &many[1]); /* again: nothing */
    int64_t last = -1;
    size_t count = 0;
    for (struct alarm *first; (first = alarms_first(&alarms)); count++) {
        assert_true(first->due_ms >= last);
        assert_true((first - many) % 3 != 1);
        last = first->due_ms;
        alarms_unset(&alarms, first);
        assert_int_equal(first->place, 0);
    }
    assert_int_equal(count, MANY - MANY / 3);
    alarms_release(&alarms);
}

static void alarms__have_the_room_that_was_reserved(void **state)
{
    (void)state;
    struct alarms alarms = {0};
    struct alarm one = {0}, other = {0};
    assert_true(alarms_reserve(&alarms, 1));
    alarms_set(&alarms, &one, 5);
    assert_true(alarms_reserve(&alarms, 2)); /* what is set stays */
    alarms_set(&alarms, &other, 4);
    assert_ptr_equal(alarms_first(&alarms), &other);
    alarms_set(&alarms, &other, 6);
    assert_ptr_equal(alarms_first(&alarms), &one);
    alarms_release(&alarms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alarms__come_in_order),
        cmocka_unit_test(alarms__have_the_room_that_was_reserved),
    };
    return cmocka_run_group_tests_name("client_alarms", tests, NULL, NULL);
}
