/* SPDX-License-Identifier: Apache-2.0 */
/* What one job wants of the NICs, in srun's words (F7). */

#include "node/services/wishes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct limits_rules rules;
static bool adjust_limits;
static char told[4096];

static int set_up(void **state)
{
    (void)state;
    limits_init(&rules);
    adjust_limits = true;
    told[0] = '\0';
    return 0;
}

static void tell(void *arg, const char *sentence)
{
    assert_ptr_equal(arg, told);
    size_t used = strlen(told);
    snprintf(told + used, sizeof told - used, "%s\n", sentence);
}

static unsigned int take(const char *text)
{
    return wishes_take(&rules, &adjust_limits, text, tell, told);
}

static void wishes__are_of_every_kind_and_resource(void **state)
{
    (void)state;
    for (int i = 0; i < LIMITS_COUNT; i++) {
        enum cxi_rsrc_type type = limits_order[i];
        char text[128];
        snprintf(text, sizeof text, "def_%s=%d,res_%s=%d max_%s=%d", limits_key(type), i,
                 limits_key(type), 20 + i, limits_key(type), 40 + i);
        assert_int_equal(take(text), 0);
        assert_int_equal(rules.of[type].def, i);
        assert_int_equal(rules.of[type].res, 20 + i);
        assert_int_equal(rules.of[type].max, 40 + i);
    }
    assert_string_equal(told, "");
    assert_true(adjust_limits);
}

static void wishes__none_change_nothing(void **state)
{
    (void)state;
    struct limits_rules before = rules;
    assert_int_equal(take(""), 0);
    assert_int_equal(take(" ,\t,"), 0);
    assert_memory_equal(&rules, &before, sizeof rules);
    assert_true(adjust_limits);
}

static void wishes__all_or_nothing(void **state)
{
    (void)state;
    assert_int_equal(take("no_adjust_limits"), 0);
    assert_false(adjust_limits);
    assert_int_equal(take("res_txqs=3,adjust_limits"), 0);
    assert_true(adjust_limits);
    assert_string_equal(told, "");
}

/* The site's maximum, also when the job's own stands before it. */
static void wishes__go_no_further_than_the_site(void **state)
{
    (void)state;
    rules.of[CXI_RSRC_TYPE_TXQ].max = 100;
    assert_int_equal(take("max_txqs=50,res_txqs=101,max_txqs=100,def_txqs=65535"), 0);
    assert_int_equal(rules.of[CXI_RSRC_TYPE_TXQ].max, 100);
    assert_int_equal(rules.of[CXI_RSRC_TYPE_TXQ].res, 100);
    assert_int_equal(rules.of[CXI_RSRC_TYPE_TXQ].def, 100);
    assert_string_equal(told,
                        "res_txqs=101 is too much, the job gets 100 (node.conf: max_txqs)\n"
                        "def_txqs=65535 is too much, the job gets 100 (node.conf: max_txqs)\n");
}

/* Users write them: what cannot be must not stop their jobs, nor drain a node. */
static void wishes__that_are_none_are_left_out(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "txqs=3",
        "res_=3",
        "res_txq=3",
        "res_txqs",
        "res_txqs=",
        "res_txqs=-1",
        "res_txqs=1x",
        "res_txqs=65536",
        "res_txqs= 3",
        "RES_txqs=3",
        "foo_txqs=3",
        "adjust_limits=1",
        "def_txqs==3",
        "=",
        "res_txqs=+3",
        "res_txqs=99999999999999999999",
        "max_txqs=0x10",
        "res_\xff\xfe=3",
        "res_txqs=00000000000000000000000000000000000000000000000000000000000001",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[256];
        set_up(state);
        snprintf(text, sizeof text, "res_les=7,%s,res_cts=9", bad[i]);
        struct limits_rules expected = rules;
        expected.of[CXI_RSRC_TYPE_LE].res = 7;
        expected.of[CXI_RSRC_TYPE_CT].res = 9;
        if (take(text) == 0)
            fail_msg("'%s' was taken", bad[i]);
        assert_memory_equal(&rules, &expected, sizeof rules);
        assert_non_null(strstr(told, "is not understood, the job goes without"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(wishes__are_of_every_kind_and_resource, set_up),
        cmocka_unit_test_setup(wishes__none_change_nothing, set_up),
        cmocka_unit_test_setup(wishes__all_or_nothing, set_up),
        cmocka_unit_test_setup(wishes__go_no_further_than_the_site, set_up),
        cmocka_unit_test_setup(wishes__that_are_none_are_left_out, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
