#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/strays.h"

static void strays__keep_when_first_seen(void **state)
{
    (void)state;
    struct strays s;
    strays_init(&s);
    strays_seen(&s, "c-2", 1, 10);
    strays_seen(&s, "c-1", 1, 11);
    strays_seen(&s, "c-3", 1, 12);
    strays_seen(&s, "c-2", 2, 50);
    strays_seen(&s, "c-3", 2, 51);
    strays_keep(&s, 2);
    assert_int_equal(s.count, 2);
    assert_string_equal(s.items[0].name, "c-2");
    assert_int_equal(s.items[0].first_ms, 10);
    strays_forget(&s, 0);
    assert_string_equal(s.items[0].name, "c-3");
    strays_keep(&s, 3);
    assert_int_equal(s.count, 0);
    strays_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(strays__keep_when_first_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
