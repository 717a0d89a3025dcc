/* SPDX-License-Identifier: Apache-2.0 */
/* What N cores want (F7): the table of the Flux Slingshot design; and what one job wants, in srun's
 * words. */

#include "tests/unit/node/chip.h"
#include "tests/unit/unit.h"

/* reserved, maximum; the order of enum cxi_rsrc_type: PTE, TXQ, TGQ, EQ, CT, LE, TLE, AC */
struct golden {
    uint32_t cores;
    struct cxi_limits of[CXI_RSRC_TYPE_MAX];
};

#define L(reserved, maximum)                                                                       \
    {                                                                                              \
        .res = (reserved), .max = (maximum)                                                        \
    }

static const struct golden golden[] = {
    {1,
     {L(6, 2048), L(2, 2048), L(1, 1024), L(2, 2047), L(1, 2047), L(16, 16384), L(8, 8),
      L(2, 1022)}},
    {8,
     {L(48, 2048), L(16, 2048), L(8, 1024), L(16, 2047), L(8, 2047), L(128, 16384), L(8, 8),
      L(16, 1022)}},
    {96,
     {L(576, 2048), L(192, 2048), L(96, 1024), L(192, 2047), L(96, 2047), L(1536, 16384), L(96, 96),
      L(192, 1022)}},
    {192,
     {L(1152, 2048), L(384, 2048), L(192, 1024), L(384, 2047), L(192, 2047), L(3072, 16384),
      L(192, 192), L(384, 1022)}},
    /* No reservation above its maximum. */
    {65535,
     {L(2048, 2048), L(2048, 2048), L(1024, 1024), L(2047, 2047), L(2047, 2047), L(16384, 16384),
      L(2048, 2048), L(1022, 1022)}},
};

UNIT(limits__defaults_are_the_design_s_table)
{
    struct limits_rules rules = chip_rules();
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        struct cxi_rsrc_limits want;
        limits_want(&rules, golden[i].cores, &want);
        for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++) {
            assert_int_equal(want.type[type].res, golden[i].of[type].res);
            assert_int_equal(want.type[type].max, golden[i].of[type].max);
        }
    }
}

UNIT(limits__a_fixed_reservation_takes_the_place_of_that_by_cores)
{
    struct limits_rules rules = chip_rules();
    struct cxi_rsrc_limits want;
    rules.of[CXI_RSRC_TYPE_TXQ].res = 100;
    rules.of[CXI_RSRC_TYPE_TLE].res = 64;
    limits_want(&rules, 4, &want);
    assert_int_equal(want.txqs.res, 100);
    assert_int_equal(want.txqs.max, 2048);
    assert_int_equal(want.tles.res, 64);
    assert_int_equal(want.tles.max, 64);
    assert_int_equal(want.eqs.res, 8);
}

UNIT(limits__nothing_per_core_reserves_nothing)
{
    struct limits_rules rules = chip_rules();
    struct cxi_rsrc_limits want;
    rules.of[CXI_RSRC_TYPE_TLE].def = 0;
    rules.of[CXI_RSRC_TYPE_LE].def = 0;
    limits_want(&rules, 96, &want);
    assert_int_equal(want.tles.res, 0);
    assert_int_equal(want.tles.max, 0);
    assert_int_equal(want.les.res, 0);
    assert_int_equal(want.les.max, 16384);
}

UNIT(limits__a_site_s_maximum_bounds_the_reservation)
{
    struct limits_rules rules = chip_rules();
    struct cxi_rsrc_limits want;
    rules.of[CXI_RSRC_TYPE_AC].max = 100;
    rules.of[CXI_RSRC_TYPE_TLE].max = 50;
    limits_want(&rules, 96, &want);
    assert_int_equal(want.acs.res, 100);
    assert_int_equal(want.acs.max, 100);
    assert_int_equal(want.tles.res, 50);
    assert_int_equal(want.tles.max, 50);
}

/* ---- What one job wants ---- */

static struct settings settings;
static char warned[4096];

static int set_up(void **state)
{
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

UNIT_WITH(joblimits__are_of_every_kind_and_resource, set_up, NULL)
{
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

UNIT_WITH(joblimits__none_change_nothing, set_up, NULL)
{
    struct limits_rules before = settings.limits;
    assert_true(apply(""));
    assert_true(apply(" ,\t,"));
    assert_memory_equal(&settings.limits, &before, sizeof before);
    assert_true(settings.adjust_limits);
}

UNIT_WITH(joblimits__all_or_nothing, set_up, NULL)
{
    assert_true(apply("no_adjust_limits"));
    assert_false(settings.adjust_limits);
    assert_true(apply("res_txqs=3,adjust_limits"));
    assert_true(settings.adjust_limits);
    assert_string_equal(warned, "");
}

/* The site's maximum, also when the job's own stands before it. */
UNIT_WITH(joblimits__go_no_further_than_the_site, set_up, NULL)
{
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
UNIT_WITH(joblimits__that_are_none_are_left_out, set_up, NULL)
{
    static const char *const bad[] = {
        "txqs=3",        "res_=3",
        "res_txq=3",     "res_txqs",
        "res_txqs=",     "res_txqs=-1",
        "res_txqs=1x",   "res_txqs=65536",
        "res_txqs= 3",   "RES_txqs=3",
        "foo_txqs=3",    "adjust_limits=1",
        "def_txqs==3",   "=",
        "res_txqs=+3",   "res_txqs=99999999999999999999",
        "max_txqs=0x10", "res_\xff\xfe=3",
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

UNIT_RUN(NULL, NULL)
