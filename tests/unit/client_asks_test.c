#include "client/asks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MANY = 100 };

/* Only their addresses matter here. */
static char things[MANY];

static struct ask *ask(int i)
{
    return (struct ask *)&things[i];
}

static void asks__are_found_by_their_numbers_and_by_no_others(void **state)
{
    (void)state;
    struct asks asks = {0};
    uint64_t numbers[MANY], again;
    assert_null(asks_find(&asks, 0));
    for (int i = 0; i < MANY; i++)
        assert_true((numbers[i] = asks_add(&asks, ask(i))) != 0);
    assert_int_equal(asks.count, MANY);
    for (int i = 0; i < MANY; i++)
        assert_ptr_equal(asks_find(&asks, numbers[i]), ask(i));
    asks_remove(&asks, numbers[7]);
    asks_remove(&asks, numbers[7]);
    assert_int_equal(asks.count, MANY - 1);
    assert_null(asks_find(&asks, numbers[7]));
    again = asks_add(&asks, ask(7)); /* takes the place, and has another number */
    assert_true(again != numbers[7] && (uint32_t)again == (uint32_t)numbers[7]);
    assert_null(asks_find(&asks, numbers[7]));
    assert_ptr_equal(asks_find(&asks, again), ask(7));
    assert_null(asks_find(&asks, UINT64_MAX));
    asks_release(&asks);
}

static void asks__are_walked_while_they_go(void **state)
{
    (void)state;
    struct asks asks = {0};
    uint64_t numbers[MANY];
    size_t from = 0, count = 0;
    for (int i = 0; i < MANY; i++)
        numbers[i] = asks_add(&asks, ask(i));
    asks_remove(&asks, numbers[0]);
    asks_remove(&asks, numbers[50]);
    for (struct ask *one; (one = asks_next(&asks, &from)); count++)
        asks_remove(&asks, numbers[(char *)one - things]);
    assert_int_equal(count, MANY - 2);
    assert_int_equal(asks.count, 0);
    asks_release(&asks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks__are_found_by_their_numbers_and_by_no_others),
        cmocka_unit_test(asks__are_walked_while_they_go),
    };
    return cmocka_run_group_tests_name("client_asks", tests, NULL, NULL);
}
