/* SPDX-License-Identifier: Apache-2.0 */
/* One service on a NIC, whatever the driver answers (F7, F10). */

#include "core/reservation/record.h"
#include "node/services/service.h"
#include "node/services/limits.h"
#include "tests/unit/node/driver.h"
#include "tests/unit/unit.h"

static struct nics nics;
static struct claim claim;
static struct service_order order;

static bool is_there(void *arg, const struct nic *nic, const struct cxi_svc_desc *service)
{
    return service_is_of(service, claim.uid, claim.vnis, claim.vni_count);
}

static int set_up(void **state)
{
    struct error err;
    const struct limits_rules rules = chip_rules();
    driver_reset(state);
    claim = (struct claim){.uid = 5588, .vni_count = 2, .vnis = {1024, 1025}};
    order = (struct service_order){
        .claim = &claim, .traffic_classes = TC_BEST_EFFORT | TC_LOW_LATENCY, .is_there = is_there};
    limits_want(&rules, 96, &order.want);
    return nics_open(&nics, &driver_calls, &err);
}

static int tear_down(void **state)
{
    nics_close(&nics);
    return 0;
}

static int create(struct fit *fit, struct error *err)
{
    *err = (struct error){0};
    return service_create(&nics, &nics.at[0], &order, fit, err);
}

#define TEST(name) UNIT_WITH(name, set_up, tear_down)

TEST(create__asks_for_the_owner_the_vnis_and_the_classes_only)
{
    struct fit fit;
    struct error err;
    assert_int_equal(create(&fit, &err), 2);
    const struct cxi_svc_desc *asked = &driver.asked[0];
    assert_true(asked->restricted_members && asked->restricted_vnis && asked->restricted_tcs);
    assert_true(asked->resource_limits);
    assert_false(asked->is_system_svc);
    assert_int_equal(asked->num_vld_vnis, 2);
    assert_int_equal(asked->vnis[0], 1024);
    assert_int_equal(asked->vnis[1], 1025);
    assert_int_equal(asked->members[0].type, CXI_SVC_MEMBER_UID);
    assert_int_equal(asked->members[0].svc_member.uid, 5588);
    assert_int_equal(asked->members[1].type, CXI_SVC_MEMBER_IGNORE);
    assert_false(asked->tcs[CXI_TC_DEDICATED_ACCESS] || asked->tcs[CXI_TC_BULK_DATA] ||
                 asked->tcs[CXI_TC_ETH]);
    assert_true(asked->tcs[CXI_TC_LOW_LATENCY] && asked->tcs[CXI_TC_BEST_EFFORT]);
    assert_int_equal(asked->limits.txqs.res, 192);
    assert_false(fit_lacks_any(&fit));
}

TEST(create__keeps_what_is_there)
{
    struct fit fit;
    struct error err;
    assert_int_equal(create(&fit, &err), 2);
    assert_int_equal(nic_refresh(&nics, &nics.at[0]), 0);
    assert_int_equal(create(&fit, &err), 2);
    assert_int_equal(driver.allocs, 1);
}

/* A call that was cut short after its effect. */
TEST(create__finds_what_an_interrupted_call_made)
{
    struct fit fit;
    struct error err;
    struct cxi_svc_desc made = chip_service(6, 5588, 1025);
    made.num_vld_vnis = 2;
    made.vnis[1] = 1024;
    driver_add(0, made);
    driver.alloc_results[0] = -EINTR;
    assert_int_equal(create(&fit, &err), 6);
    driver_reset(state);
    driver.alloc_results[0] = -EINTR;
    assert_int_equal(nic_refresh(&nics, &nics.at[0]), 0);
    assert_int_equal(create(&fit, &err), ERROR_IO);
}

TEST(create__takes_less_of_what_the_driver_lacks)
{
    for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++) {
        struct fit fit;
        struct error err;
        driver_reset(state);
        assert_int_equal(nic_refresh(&nics, &nics.at[0]), 0);
        driver.alloc_results[0] = -ENOSPC;
        for (int i = 0; i < CXI_RSRC_TYPE_MAX; i++)
            driver.fail_infos[0].rsrc_avail[i] = i == type ? 20 : 10000;
        assert_int_equal(create(&fit, &err), 2);
        assert_int_equal(driver.allocs, 2);
        assert_int_equal(chip_lacking(&fit), 1 << type);
        /* Of TLEs the driver tells no number. */
        uint16_t granted = type == CXI_RSRC_TYPE_TLE ? 0 : 20;
        assert_int_equal(driver.asked[1].limits.type[type].res, granted);
    }
}

TEST(create__does_without_a_pool)
{
    struct fit fit;
    struct error err;
    driver.alloc_results[0] = driver.alloc_results[1] = -ENOSPC;
    driver.fail_infos[0].no_tle_pools = true;
    driver.fail_infos[1].no_le_pools = true;
    assert_int_equal(create(&fit, &err), 2);
    assert_int_equal(driver.asked[2].limits.tles.max, 0);
    assert_int_equal(driver.asked[2].limits.les.res, 0);
    assert_int_equal(driver.asked[2].limits.les.max, 16384);
    assert_int_equal(chip_lacking(&fit), 1 << CXI_RSRC_TYPE_TLE | 1 << CXI_RSRC_TYPE_LE);
}

/* Somebody allocates between the look and the call: the second look tells. */
TEST(create__looks_again_when_somebody_was_faster)
{
    struct fit fit;
    struct error err;
    struct cxi_svc_desc other = chip_service(7, 4000, 2000);
    other.limits.acs = (struct cxi_limits){.max = 1022, .res = 1000};
    driver_add(0, other);
    driver.alloc_results[0] = -ENOSPC;
    assert_int_equal(create(&fit, &err), 2);
    assert_int_equal(driver.allocs, 2);
    assert_int_equal(driver.asked[1].limits.acs.res, 22);
    assert_int_equal(driver.asked[1].limits.ptes.res, 576);
    assert_int_equal(chip_lacking(&fit), 1 << CXI_RSRC_TYPE_AC);
    assert_int_equal(fit.want.acs.res, 192);
}

/* adjust_limits = no: all that is wanted, or nothing. */
TEST(create__exact_takes_no_less)
{
    struct fit fit;
    struct error err;
    struct cxi_svc_desc other = chip_service(7, 4000, 2000);
    order.exact = true;
    assert_int_equal(create(&fit, &err), 2);
    other.limits.acs = (struct cxi_limits){.max = 1022, .res = 1000};
    driver_reset(state);
    driver_add(0, other);
    assert_int_equal(nic_refresh(&nics, &nics.at[0]), 0);
    assert_int_equal(create(&fit, &err), ERROR_FULL);
    assert_int_equal(driver.allocs, 0);
    assert_int_equal(chip_lacking(&fit), 1 << CXI_RSRC_TYPE_AC);
    assert_int_equal(fit.limits.acs.res, 22);
    assert_non_null(strstr(err.text, "cxi0: no service: less is free"));
}

TEST(create__exact_takes_no_less_when_the_driver_says_so)
{
    struct fit fit;
    struct error err;
    order.exact = true;
    driver.alloc_results[0] = -ENOSPC;
    driver.fail_infos[0].no_tle_pools = true;
    assert_int_equal(create(&fit, &err), ERROR_FULL);
    assert_int_equal(driver.allocs, 1);
    assert_int_equal(chip_lacking(&fit), 1 << CXI_RSRC_TYPE_TLE);
    assert_true(fit.pools.none[CXI_RSRC_TYPE_TLE]);
}

TEST(create__gives_up_when_nothing_is_left_to_take_back)
{
    struct fit fit;
    struct error err;
    for (int i = 0; i < 16; i++)
        driver.alloc_results[i] = -ENOSPC;
    assert_int_equal(create(&fit, &err), ERROR_REFUSED); /* no job could have one */
    assert_true(driver.allocs <= 1 + CXI_RSRC_TYPE_MAX);
    assert_non_null(strstr(err.text, "cxi0: no service"));
}

TEST(create__says_why_not)
{
    static const struct {
        int failure, code;
        const char *why;
    } cases[] = {
        {-EPERM, ERROR_REFUSED, "CAP_SYS_ADMIN"},
        {-EINVAL, ERROR_REFUSED, "max_"},
        {-EIO, ERROR_IO, "dmesg"},
        {-EEXIST, ERROR_REFUSED, "no service has it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fit fit;
        struct error err;
        driver_reset(state);
        driver.alloc_results[0] = cases[i].failure;
        assert_int_equal(create(&fit, &err), cases[i].code);
        assert_int_equal(driver.allocs, 1);
        assert_non_null(strstr(err.text, "cxi0"));
        assert_non_null(strstr(err.text, cases[i].why));
    }
}

TEST(create__names_who_has_the_vni)
{
    struct fit fit;
    struct error err;
    driver_add(0, chip_service(7, 4000, 1025));
    assert_int_equal(nic_refresh(&nics, &nics.at[0]), 0);
    driver.alloc_results[0] = -EEXIST;
    assert_int_equal(create(&fit, &err), ERROR_REFUSED);
    assert_non_null(strstr(err.text, "VNI 1025 is still in use by service 7 (uid 4000, VNI 1025)"));
}

UNIT_RUN(NULL, NULL)
