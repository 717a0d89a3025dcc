/* SPDX-License-Identifier: Apache-2.0 */
/* What one job wants of the NICs, in srun's words (F7). */

#include "node/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct settings settings;
static char warned[4096];

static int set_up(void **state)
{
    (void)state;
    settings_init(&settings);
    warned[0] = '\0';
    return 0;
}

static void warn(void *arg, const char *sentence)
{
    assert_ptr_equal(arg, warned);
    size_t used = strlen(warned);
    snprintf(warned + used, sizeof warned - used, "%s\n", sentence);
}

/* Whether all is understood and given. */
static bool apply(const char *text)
{
    warned[0] = '\0';
    settings_apply_job_limits(&settings, text, warn, warned);
    return warned[0] == '\0';
}

static void joblimits__are_of_every_kind_and_resource(void **state)
{
    (void)state;
    for (int i = 0; i < LIMITS_COUNT; i++) {
        const struct limits_resource *resource = &limits_resources[i];
        const struct limits_rule *rule = &settings.limits.of[resource->type];
        char text[128];
        snprintf(text, sizeof text, "def_%s=%d,res_%s=%d max_%s=%d", resource->key, i,
                 resource->key, 20 + i, resource->key, 40 + i);
        assert_true(apply(text));
        assert_int_equal(rule->def, i);
        assert_int_equal(rule->res, 20 + i);
        assert_int_equal(rule->max, 40 + i);
    }
    assert_string_equal(warned, "");
    assert_true(settings.adjust_limits);
}

static void joblimits__none_change_nothing(void **state)
{
    (void)state;
    struct limits_rules before = settings.limits;
    assert_true(apply(""));
    assert_true(apply(" ,\t,"));
    assert_memory_equal(&settings.limits, &before, sizeof before);
    assert_true(settings.adjust_limits);
}

static void joblimits__all_or_nothing(void **state)
{
    (void)state;
    assert_true(apply("no_adjust_limits"));
    assert_false(settings.adjust_limits);
    assert_true(apply("res_txqs=3,adjust_limits"));
    assert_true(settings.adjust_limits);
    assert_string_equal(warned, "");
}

/* The site's maximum, also when the job's own stands before it. */
static void joblimits__go_no_further_than_the_site(void **state)
{
    (void)state;
    settings.limits.of[CXI_RSRC_TYPE_TXQ].max = 100;
    assert_false(apply("max_txqs=50,res_txqs=101,max_txqs=100,def_txqs=65535"));
    assert_int_equal(settings.limits.of[CXI_RSRC_TYPE_TXQ].max, 100);
    assert_int_equal(settings.limits.of[CXI_RSRC_TYPE_TXQ].res, 100);
    assert_int_equal(settings.limits.of[CXI_RSRC_TYPE_TXQ].def, 100);
    assert_string_equal(warned,
                        "res_txqs=101 is too much, the job gets 100 (node.conf: max_txqs)\n"
                        "def_txqs=65535 is too much, the job gets 100 (node.conf: max_txqs)\n");
}

/* Users write them: what cannot be must not stop their jobs, nor drain a node. */
static void joblimits__that_are_none_are_left_out(void **state)
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
        struct limits_rules expected = settings.limits;
        expected.of[CXI_RSRC_TYPE_LE].res = 7;
        expected.of[CXI_RSRC_TYPE_CT].res = 9;
        if (apply(text))
            fail_msg("'%s' was taken", bad[i]);
        assert_memory_equal(&settings.limits, &expected, sizeof expected);
        assert_non_null(strstr(warned, "is not understood, the job goes without"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(joblimits__are_of_every_kind_and_resource, set_up),
        cmocka_unit_test_setup(joblimits__none_change_nothing, set_up),
        cmocka_unit_test_setup(joblimits__all_or_nothing, set_up),
        cmocka_unit_test_setup(joblimits__go_no_further_than_the_site, set_up),
        cmocka_unit_test_setup(joblimits__that_are_none_are_left_out, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
