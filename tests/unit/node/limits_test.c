/* SPDX-License-Identifier: Apache-2.0 */
/* What N cores want (F7): the table of the Flux Slingshot design. */

#include "node/services/limits.h"
#include "tests/unit/node/chip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

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

static void limits__defaults_are_the_design_s_table(void **state)
{
    (void)state;
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

static void limits__a_fixed_reservation_takes_the_place_of_that_by_cores(void **state)
{
    (void)state;
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

static void limits__nothing_per_core_reserves_nothing(void **state)
{
    (void)state;
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

static void limits__a_site_s_maximum_bounds_the_reservation(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits__defaults_are_the_design_s_table),
        cmocka_unit_test(limits__a_fixed_reservation_takes_the_place_of_that_by_cores),
        cmocka_unit_test(limits__nothing_per_core_reserves_nothing),
        cmocka_unit_test(limits__a_site_s_maximum_bounds_the_reservation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
