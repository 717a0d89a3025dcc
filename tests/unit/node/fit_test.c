/* SPDX-License-Identifier: Apache-2.0 */
/* What is free of what is wanted, and who holds the rest (F7, F11). */

#include "node/services/fit.h"
#include "node/services/limits.h"
#include "tests/unit/node/chip.h"
#include "tests/unit/unit.h"

static struct nic nic_of(struct cxil_devinfo info, struct cxil_svc_list *services)
{
    struct nic nic = {.info = info, .services = services};
    memcpy(nic.name, info.device_name, sizeof info.device_name);
    return nic;
}
#define NIC_OF(info, services) &(struct nic[]){nic_of(info, services)}[0]

static struct cxi_rsrc_limits want_of(uint32_t cores)
{
    const struct limits_rules rules = chip_rules();
    struct cxi_rsrc_limits want;
    limits_want(&rules, cores, &want);
    return want;
}

UNIT(fit__an_empty_nic_gives_all_and_no_maximum_above_its_own)
{
    struct cxil_devinfo info = chip_info(0);
    struct cxi_svc_desc services[] = {chip_default_service()};
    struct cxil_svc_list *list = chip_list(services, 1);
    struct cxi_rsrc_limits want = want_of(96);
    struct fit fit;
    fit_compute(&fit, &want, NIC_OF(info, list), (struct fit_pools){0});
    assert_false(fit_lacks_any(&fit));
    assert_int_equal(fit.limits.txqs.res, 192);
    assert_int_equal(fit.limits.txqs.max, 1024); /* 2048 would be -EINVAL */
    assert_int_equal(fit.limits.tgqs.max, 512);
    assert_int_equal(fit.limits.tles.res, 96);
    assert_int_equal(fit.limits.tles.max, 96);
    free(list);
}

/* Each resource in turn is held by another service but for a few. */
UNIT(fit__each_resource_is_scaled_back_to_what_is_free)
{
    const struct cxi_rsrc_limits want = want_of(96);
    for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++) {
        struct cxil_devinfo info = chip_info(0);
        uint32_t total = limits_total(&info, (enum cxi_rsrc_type)type);
        struct cxi_svc_desc other = chip_service(7, 4000, 2000);
        other.limits.type[type] =
            (struct cxi_limits){.max = (uint16_t)total, .res = (uint16_t)(total - 40)};
        struct cxil_svc_list *list = chip_list(&other, 1);
        struct fit fit;
        fit_compute(&fit, &want, NIC_OF(info, list), (struct fit_pools){0});
        assert_int_equal(chip_lacking(&fit), 1 << type);
        assert_int_equal(fit.limits.type[type].res, 40);
        if (type == CXI_RSRC_TYPE_TLE)
            assert_int_equal(fit.limits.type[type].max, 40);
        else
            assert_true(fit.limits.type[type].max > 40);
        free(list);
    }
}

UNIT(fit__fewer_tles_than_the_driver_gives_are_none)
{
    struct cxil_devinfo info = chip_info(0);
    struct cxi_svc_desc other = chip_service(7, 4000, 2000);
    struct cxi_rsrc_limits want = want_of(96);
    other.limits.tles = (struct cxi_limits){.max = 2041, .res = 2041};
    struct cxil_svc_list *list = chip_list(&other, 1);
    struct fit fit;
    fit_compute(&fit, &want, NIC_OF(info, list), (struct fit_pools){0});
    assert_int_equal(fit.limits.tles.res, 0);
    assert_int_equal(fit.limits.tles.max, 0);
    free(list);
}

UNIT(fit__services_without_limits_reserve_nothing)
{
    struct cxil_devinfo info = chip_info(0);
    struct cxi_svc_desc other = chip_service(7, 4000, 2000);
    struct cxi_rsrc_limits want = want_of(96);
    other.resource_limits = 0;
    other.limits.txqs = (struct cxi_limits){.max = 1024, .res = 1024};
    struct cxil_svc_list *list = chip_list(&other, 1);
    struct fit fit;
    fit_compute(&fit, &want, NIC_OF(info, list), (struct fit_pools){0});
    assert_false(fit_lacks_any(&fit));
    free(list);
}

UNIT(fit__more_reserved_than_there_is_leaves_nothing)
{
    struct cxil_devinfo info = chip_info(0);
    struct cxi_svc_desc services[] = {chip_service(7, 4000, 2000), chip_service(8, 4000, 2001)};
    struct cxi_rsrc_limits want = want_of(96);
    services[0].limits.txqs.res = services[1].limits.txqs.res = 1000;
    struct cxil_svc_list *list = chip_list(services, 2);
    struct fit fit;
    fit_compute(&fit, &want, NIC_OF(info, list), (struct fit_pools){0});
    assert_int_equal(fit.limits.txqs.res, 0);
    assert_int_equal(fit.limits.txqs.max, 1024); /* it may still use what is idle */
    free(list);
}

UNIT(fit__four_services_with_tles_leave_no_pool)
{
    struct cxil_devinfo info = chip_info(0);
    struct cxi_svc_desc services[4];
    struct cxi_rsrc_limits want = want_of(8);
    for (unsigned int i = 0; i < 4; i++) {
        services[i] = chip_service(2 + i, 4000, (uint16_t)(2000 + i));
        services[i].limits.tles = (struct cxi_limits){.max = 8, .res = 8};
    }
    struct cxil_svc_list *list = chip_list(services, 4);
    struct fit_pools pools = fit_count_pools(NIC_OF(info, list));
    struct fit fit;
    assert_true(pools.none[CXI_RSRC_TYPE_TLE]);
    assert_false(pools.none[CXI_RSRC_TYPE_LE]);
    fit_compute(&fit, &want, NIC_OF(info, list), pools);
    assert_int_equal(chip_lacking(&fit), 1 << CXI_RSRC_TYPE_TLE);
    assert_int_equal(fit.limits.tles.res, 0);
    list->count = 3;
    assert_false(fit_count_pools(NIC_OF(info, list)).none[CXI_RSRC_TYPE_TLE]);
    free(list);
}

UNIT(fit__shrink_takes_less_of_the_first_that_does_not_suffice)
{
    struct cxil_devinfo info = chip_info(0);
    struct cxi_rsrc_limits want = want_of(96);
    struct cxi_svc_fail_info fail = {0};
    struct fit fit;
    fit_compute(&fit, &want, NIC_OF(info, NULL), (struct fit_pools){0});
    fail.rsrc_avail[CXI_RSRC_TYPE_PTE] = 2048; /* enough */
    fail.rsrc_avail[CXI_RSRC_TYPE_TXQ] = 10;   /* and so it stopped here */
    assert_true(fit_shrink(&fit, &fail));
    assert_int_equal(fit.limits.ptes.res, 576);
    assert_int_equal(fit.limits.txqs.res, 10);
    assert_int_equal(fit.limits.tgqs.res, 96);
    assert_int_equal(chip_lacking(&fit), 1 << CXI_RSRC_TYPE_TXQ);
}

UNIT(fit__shrink_heeds_pools_and_comes_to_an_end)
{
    struct cxil_devinfo info = chip_info(0);
    struct cxi_rsrc_limits want = want_of(96);
    struct cxi_svc_fail_info fail = {.no_le_pools = true};
    struct fit fit;
    fit_compute(&fit, &want, NIC_OF(info, NULL), (struct fit_pools){0});
    assert_true(fit_shrink(&fit, &fail));
    assert_int_equal(fit.limits.les.res, 0);
    assert_int_equal(fit.limits.ptes.res, 576);
    assert_true(fit.pools.none[CXI_RSRC_TYPE_LE]);
    /* A driver that never has enough: less and less, down to nothing, and then no more. */
    fail = (struct cxi_svc_fail_info){0};
    int steps = 0;
    while (fit_shrink(&fit, &fail))
        assert_true(++steps <= CXI_RSRC_TYPE_MAX);
    for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++)
        assert_int_equal(fit.limits.type[type].res, 0);
}

static const char *job_of(void *arg, const char *device, unsigned int service)
{
    assert_string_equal(device, "cxi0");
    return service == 12 ? "elcap/17" : NULL;
}

static const char *explain(const struct fit *fit, enum cxi_rsrc_type type, const struct nic *nic,
                           fit_job_fn *jobs, char out[FIT_TEXT_SIZE])
{
    int i = 0;
    while (limits_resources[i].type != type)
        i++;
    return fit_explain(fit, &limits_resources[i], false, nic, jobs, NULL, out);
}

UNIT(fit__explain_names_the_holders_largest_first)
{
    struct cxil_devinfo info = chip_info(0);
    struct cxi_svc_desc services[] = {chip_default_service(), chip_service(12, 5588, 1024)};
    struct cxi_rsrc_limits want = want_of(96);
    services[1].limits.tles = (struct cxi_limits){.max = 1504, .res = 1504};
    struct cxil_svc_list *list = chip_list(services, 2);
    struct fit fit;
    char text[FIT_TEXT_SIZE];
    fit_compute(&fit, &want, NIC_OF(info, list), (struct fit_pools){0});
    assert_int_equal(chip_lacking(&fit), 1 << CXI_RSRC_TYPE_TLE);
    assert_string_equal(
        explain(&fit, CXI_RSRC_TYPE_TLE, NIC_OF(info, list), job_of, text),
        "cxi0: 32 of 96 wanted trigger list entries granted, the NIC has 2048: service 12 (job "
        "elcap/17, uid 5588, VNI 1024) holds 1504, service 1 (system, VNIs 1,10) holds 512");
    free(list);
}

UNIT(fit__explain_names_four_of_many)
{
    struct cxil_devinfo info = chip_info(3);
    struct cxi_svc_desc services[6];
    struct cxi_rsrc_limits want = want_of(96);
    for (unsigned int i = 0; i < 6; i++) {
        services[i] = chip_service(2 + i, 4000, (uint16_t)(2000 + i));
        services[i].limits.tgqs = (struct cxi_limits){.max = 80, .res = 80};
    }
    struct cxil_svc_list *list = chip_list(services, 6);
    struct fit fit;
    char text[FIT_TEXT_SIZE];
    fit_compute(&fit, &want, NIC_OF(info, list), (struct fit_pools){0});
    assert_string_equal(
        explain(&fit, CXI_RSRC_TYPE_TGQ, NIC_OF(info, list), NULL, text),
        "cxi3: 32 of 96 wanted target command queues granted, the NIC has 512: service 2 (uid "
        "4000, VNI 2000) holds 80, service 3 (uid 4000, VNI 2001) holds 80, service 4 (uid 4000, "
        "VNI 2002) holds 80, service 5 (uid 4000, VNI 2003) holds 80, and others more");
    free(list);
}

UNIT_RUN(NULL, NULL)
