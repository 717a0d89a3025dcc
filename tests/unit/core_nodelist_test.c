#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/names.h"
#include "core/nodelist.h"

static void nodelist_count__counts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t count;
    } good[] = {
        {"n1", 1},
        {"elcap[1-128]", 128},
        {"elcap[1-11136]", 11136},
        {"a[01-10,20]b,c3", 12},
        {"x[1-2]y[3-4]", 4},
        {"n1,n2,n3", 3},
        {"n1,n1", 2},
        {"node-a.site.gov", 1},
        {"[1-3]", 3},
        {"n[1-1000000]", 1000000},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint32_t count = 0;
        struct error err;
        assert_int_equal(nodelist_count(good[i].text, &count, &err), 0);
        assert_int_equal(count, good[i].count);
    }
}

static void nodelist_count__refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      ",",
                                      "n1,",
                                      ",n1",
                                      "n[1-",
                                      "n[1",
                                      "n[]",
                                      "n[2-1]",
                                      "n[1-2",
                                      "n1 n2",
                                      "n[a]",
                                      "n]1",
                                      "n[1,]",
                                      "n\xc3\xa9",
                                      "n\n",
                                      "n[1-1000001]",
                                      "n[1-1000][1-1001]",
                                      "n[1-9999999999]",
                                      "n[1-2]x[",
                                      "n[1-1000000],m"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint32_t count;
        struct error err = {0};
        assert_int_equal(nodelist_count(bad[i], &count, &err), ERROR_INVALID);
        assert_true(strlen(err.text) > 0);
    }
}

static void nodelist_count__many_brackets_do_not_overflow(void **state)
{
    (void)state;
    char text[20 * 16 + 1] = "";
    for (int i = 0; i < 20; i++)
        strcat(text, "[1-999999999]");
    uint32_t count;
    assert_int_equal(nodelist_count(text, &count, NULL), ERROR_INVALID);
}

static char longest[NODES_TEXT_MAX + 2];

static void nodelist_count__text_is_bounded(void **state)
{
    (void)state;
    uint32_t count;
    memset(longest, 'a', NODES_TEXT_MAX + 1);
    assert_int_equal(nodelist_count(longest, &count, NULL), ERROR_INVALID);
    longest[NODES_TEXT_MAX] = '\0';
    assert_int_equal(nodelist_count(longest, &count, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodelist_count__counts),
        cmocka_unit_test(nodelist_count__refuses),
        cmocka_unit_test(nodelist_count__many_brackets_do_not_overflow),
        cmocka_unit_test(nodelist_count__text_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
