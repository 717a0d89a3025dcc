/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver allows, through the library's functions (F7, F10, F12). */

#include "tests/unit/mockcxi/machine.h"

static struct cxil_dev *dev; /* of the first NIC, in every test */

static int open_first(void **state)
{
    int r = machine_start(state);
    dev = r == 0 ? machine_open(*state, 0) : NULL;
    return r;
}

static int close_first(void **state)
{
    ((struct machine *)*state)->close_device(dev);
    return machine_stop(state);
}

#define TEST(name) UNIT_WITH(name, open_first, close_first)

TEST(default_service__is_the_drivers)
{
    struct machine *machine = *state;
    struct cxil_svc_list *list = NULL;
    assert_int_equal(machine->get_svc_list(dev, &list), 0);
    assert_int_equal(list->count, 1);
    const struct cxi_svc_desc *desc = &list->descs[0];
    assert_int_equal(desc->svc_id, CXI_DEFAULT_SVC_ID);
    assert_int_equal(desc->num_vld_vnis, 2);
    assert_int_equal(desc->vnis[0], 1);
    assert_int_equal(desc->vnis[1], 10);
    assert_int_equal(desc->enable, 0);
    assert_int_equal(desc->limits.tles.res, 512);
    assert_int_equal(desc->limits.les.res, 0);
    assert_int_equal(desc->limits.les.max, 16384);
    machine->free_svc_list(list);
    assert_int_equal(machine->destroy_svc(dev, CXI_DEFAULT_SVC_ID), -EINVAL);
}

TEST(alloc__grants_and_lists)
{
    struct machine *machine = *state;
    struct cxil_dev *other = machine_open(machine, 2);
    struct cxi_svc_desc desc = machine_service(100);
    desc.limits.les = (struct cxi_limits){.max = 16384, .res = 160};
    desc.limits.tles = (struct cxi_limits){.max = 64, .res = 64};
    desc.svc_id = 77; /* the driver says which */
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    desc.vnis[0] = 101;
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 3);
    struct cxil_svc_list *list = NULL;
    assert_int_equal(machine->get_svc_list(dev, &list), 0);
    assert_int_equal(list->count, 3);
    struct cxi_svc_desc expected = machine_service(100);
    expected.limits = desc.limits;
    expected.svc_id = 2;
    expected.enable = 1;
    assert_memory_equal(&list->descs[1], &expected, sizeof expected);
    machine->free_svc_list(list);
    assert_int_equal(machine_count(machine, other), 1);
    /* The lowest id that is free: an id that was another's is soon somebody else's. */
    assert_int_equal(machine->destroy_svc(dev, 2), 0);
    assert_int_equal(machine->destroy_svc(dev, 2), -EINVAL);
    desc.vnis[0] = 102;
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    machine->close_device(other);
}

TEST(alloc__refuses_nonsense)
{
    struct machine *machine = *state;
    struct cxi_svc_fail_info fail;
    struct cxi_svc_desc desc = machine_service(0);
    memset(&fail, 0xff, sizeof fail);
    assert_int_equal(machine->alloc_svc(dev, &desc, &fail), -EINVAL);
    assert_int_equal(fail.rsrc_avail[CXI_RSRC_TYPE_LE], 0);
    assert_false(fail.no_le_pools);
    desc = machine_service(100);
    desc.num_vld_vnis = 5;
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), -EINVAL);
    desc = machine_service(100);
    desc.members[1].type = CXI_SVC_MEMBER_MAX;
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), -EINVAL);
    desc.restricted_members = 0;
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
}

/* A maximum above what the device has is EINVAL, for each resource. */
TEST(alloc__maximum_above_the_device)
{
    struct machine *machine = *state;
    static const uint16_t totals[CXI_RSRC_TYPE_MAX] = {2048, 1024,  512,  2047,
                                                       2047, 16384, 2048, 1022};
    for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++) {
        struct cxi_svc_desc desc = machine_service(100);
        desc.limits.type[type].max = (uint16_t)(totals[type] + 1);
        assert_int_equal(machine->alloc_svc(dev, &desc, NULL), -EINVAL);
        desc.limits.type[type].max = totals[type];
        int id = machine->alloc_svc(dev, &desc, NULL);
        assert_int_equal(id, 2);
        assert_int_equal(machine->destroy_svc(dev, (unsigned int)id), 0);
        desc.limits.type[type] = (struct cxi_limits){.max = 9, .res = 10};
        assert_int_equal(machine->alloc_svc(dev, &desc, NULL), -EINVAL);
    }
}

/* A reservation above what is free is ENOSPC, for each resource; the driver says how much
 * is free of all but trigger list entries. */
TEST(alloc__reservation_above_what_is_free)
{
    struct machine *machine = *state;
    static const uint16_t totals[CXI_RSRC_TYPE_MAX] = {2048, 1024,  512,  2047,
                                                       2047, 16384, 2048, 1022};
    for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++) {
        bool tles = type == CXI_RSRC_TYPE_TLE;
        uint16_t unreserved = (uint16_t)(totals[type] - (tles ? 512 : 0));
        struct cxi_svc_fail_info fail;
        struct cxi_svc_desc holder = machine_service(100);
        holder.limits.type[type] = (struct cxi_limits){.max = 300, .res = 300};
        assert_int_equal(machine->alloc_svc(dev, &holder, NULL), 2);
        unreserved = (uint16_t)(unreserved - 300);
        struct cxi_svc_desc desc = machine_service(101);
        desc.limits.type[type].max = totals[type];
        desc.limits.type[type].res = (uint16_t)(unreserved + 1);
        assert_int_equal(machine->alloc_svc(dev, &desc, &fail), -ENOSPC);
        assert_int_equal(fail.rsrc_avail[type], tles ? 0 : unreserved);
        assert_false(fail.no_le_pools || fail.no_tle_pools || fail.no_cntr_pools);
        assert_int_equal(machine->alloc_svc(dev, &desc, NULL), -ENOSPC);
        assert_int_equal(machine_count(machine, dev), 2);
        desc.limits.type[type].res = unreserved;
        assert_int_equal(machine->alloc_svc(dev, &desc, &fail), 3);
        assert_int_equal(machine->destroy_svc(dev, 3), 0);
        assert_int_equal(machine->destroy_svc(dev, 2), 0);
    }
}

/* fail_info goes as far as the first resource that did not suffice, in the order of the types. */
TEST(alloc__fail_info_ends_at_the_first)
{
    struct machine *machine = *state;
    machine_configure(machine, MACHINE_FOUR_NICS "[nic]\neqs = 10\n");
    struct cxi_svc_desc first = machine_service(100);
    first.limits.eqs = (struct cxi_limits){.max = 8, .res = 8};
    assert_int_equal(machine->alloc_svc(dev, &first, NULL), 2);
    struct cxi_svc_fail_info fail;
    struct cxi_svc_desc desc = machine_service(101);
    desc.limits.ptes = (struct cxi_limits){.max = 5, .res = 5};
    desc.limits.eqs = (struct cxi_limits){.max = 5, .res = 5};
    desc.limits.cts = (struct cxi_limits){.max = 5, .res = 5};
    assert_int_equal(machine->alloc_svc(dev, &desc, &fail), -ENOSPC);
    assert_int_equal(fail.rsrc_avail[CXI_RSRC_TYPE_PTE], 2048);
    assert_int_equal(fail.rsrc_avail[CXI_RSRC_TYPE_EQ], 2);
    assert_int_equal(fail.rsrc_avail[CXI_RSRC_TYPE_TXQ], 0); /* not asked for */
    assert_int_equal(fail.rsrc_avail[CXI_RSRC_TYPE_CT], 0);  /* not reached */
}

/* 16 pools of list entries, the default service's among them; sharing that one costs none. */
TEST(alloc__le_pools)
{
    struct machine *machine = *state;
    struct cxi_svc_fail_info fail;
    struct cxi_svc_desc desc = machine_service(100);
    desc.limits.les = (struct cxi_limits){.max = 16384, .res = 8};
    for (int i = 0; i < 15; i++) {
        desc.vnis[0] = (uint16_t)(100 + i);
        assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2 + i);
    }
    assert_int_equal(machine->alloc_svc(dev, &desc, &fail), -ENOSPC);
    assert_true(fail.no_le_pools);
    assert_false(fail.no_tle_pools);
    assert_int_equal(fail.rsrc_avail[CXI_RSRC_TYPE_LE], 16384 - 15 * 8);
    desc.limits.les.res = 0;
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 17);
    desc.limits.les.res = 8;
    assert_int_equal(machine->destroy_svc(dev, 5), 0);
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 5);
}

/* 4 pools of trigger list entries, of which the default service has one (F12: at least 8, and the
 * maximum is the reservation). */
TEST(alloc__tle_pools)
{
    struct machine *machine = *state;
    struct cxi_svc_fail_info fail;
    struct cxi_rsrc_use use;
    struct cxi_svc_desc got;
    struct cxi_svc_desc desc = machine_service(100);
    desc.limits.tles = (struct cxi_limits){.max = 100, .res = 1};
    for (int i = 0; i < 3; i++)
        assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2 + i);
    assert_int_equal(machine->get_svc(dev, 2, &got), 0);
    assert_int_equal(got.limits.tles.res, 8);
    assert_int_equal(got.limits.tles.max, 8);
    assert_int_equal(machine->alloc_svc(dev, &desc, &fail), -ENOSPC);
    assert_true(fail.no_tle_pools);
    assert_false(fail.no_le_pools);
    /* A pool that comes back is the next one's. */
    assert_int_equal(machine->destroy_svc(dev, 3), 0);
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 3);
    assert_int_equal(machine->get_svc_rsrc_use(dev, 3, &use), 0);
    assert_int_equal(use.tle_pool_id, 2);
}

/* Unlimited is not nothing: it takes a pool of 8 trigger list entries too. */
TEST(alloc__without_limits)
{
    struct machine *machine = *state;
    struct cxi_svc_desc got;
    struct cxi_svc_desc desc = machine_service(100);
    desc.resource_limits = 0;
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    assert_int_equal(machine->get_svc(dev, 2, &got), 0);
    assert_int_equal(got.limits.txqs.max, 1024);
    assert_int_equal(got.limits.tles.max, 8);
}

/* Slingshot Host Software 13.1 and 14.0.0 refuse a VNI that another service of the NIC has; earlier
 * and later ones do not. */
TEST(alloc__shared_vnis)
{
    struct machine *machine = *state;
    struct cxi_svc_desc desc = machine_service(10);
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 3);
    machine_configure(machine, MACHINE_FOUR_NICS "[mock]\nshared_vnis = no\n");
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), -EEXIST);
    desc.vnis[0] = 11;
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 4);
    desc = machine_service(12);
    desc.num_vld_vnis = 2;
    desc.vnis[1] = 12;
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), -EEXIST);
}

TEST(vni_range__aligned_and_alone)
{
    struct machine *machine = *state;
    struct cxi_svc_desc desc = machine_service(0);
    uint16_t min = 0;
    uint16_t max = 0;
    bool exclusive = false;
    desc.restricted_vnis = 0;
    desc.num_vld_vnis = 0;
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    assert_int_equal(machine->svc_get_vni_range(dev, 2, &min, &max), -EINVAL);
    assert_int_equal(machine->svc_set_vni_range(dev, 2, 32, 95), -EINVAL);
    assert_int_equal(machine->svc_set_vni_range(dev, 2, 64, 126), -EINVAL);
    assert_int_equal(machine->svc_set_vni_range(dev, 2, 127, 64), -EINVAL);
    assert_int_equal(machine->svc_set_vni_range(dev, 2, 8, 15), -EEXIST); /* 10: the default's */
    assert_int_equal(machine->svc_set_vni_range(dev, 2, 64, 127), 0);
    assert_int_equal(machine->svc_get_vni_range(dev, 2, &min, &max), 0);
    assert_int_equal(min, 64);
    assert_int_equal(max, 127);
    assert_int_equal(machine->svc_set_exclusive_cp(dev, 2, true), 0);
    assert_int_equal(machine->svc_get_exclusive_cp(dev, 2, &exclusive), 0);
    assert_true(exclusive);
    /* It was not enabled before it had VNIs. */
    assert_int_equal(machine->get_svc(dev, 2, &desc), 0);
    assert_int_equal(desc.enable, 0);
    assert_int_equal(machine->svc_enable(dev, 2, true), 0);
    assert_int_equal(machine->svc_set_exclusive_cp(dev, 2, false), -EBUSY);
    desc = machine_service(100);
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), -EEXIST);
    desc = machine_service(128);
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 3);
    assert_int_equal(machine->svc_set_vni_range(dev, 3, 256, 511), -EINVAL);
}

TEST(update__all_but_limits)
{
    struct machine *machine = *state;
    struct cxi_svc_desc got;
    struct cxi_svc_desc desc = machine_service(100);
    desc.limits.txqs = (struct cxi_limits){.max = 10, .res = 2};
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    desc.svc_id = 2;
    desc.vnis[0] = 200;
    desc.tcs[CXI_TC_BULK_DATA] = true;
    desc.limits.txqs.max = 20;
    assert_int_equal(machine->update_svc(dev, &desc, NULL), 0);
    assert_int_equal(machine->get_svc(dev, 2, &got), 0);
    assert_int_equal(got.vnis[0], 200);
    assert_true(got.tcs[CXI_TC_BULK_DATA]);
    assert_int_equal(got.limits.txqs.max, 10);
    assert_int_equal(got.enable, 0);
    desc.resource_limits = 0;
    assert_int_equal(machine->update_svc(dev, &desc, NULL), -EINVAL);
    desc = machine_service(100);
    desc.svc_id = 9;
    assert_int_equal(machine->update_svc(dev, &desc, NULL), -EINVAL);
}

TEST(lpr__and_use)
{
    struct machine *machine = *state;
    struct cxi_rsrc_use use;
    struct cxi_svc_desc desc = machine_service(100);
    desc.limits.les = (struct cxi_limits){.max = 16, .res = 16};
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    assert_int_equal(machine->get_svc_lpr(dev, 2), 1);
    assert_int_equal(machine->set_svc_lpr(dev, 2, 9), -EINVAL);
    assert_int_equal(machine->set_svc_lpr(dev, 3, 8), -EINVAL);
    assert_int_equal(machine->set_svc_lpr(dev, 2, 8), 0);
    assert_int_equal(machine->get_svc_lpr(dev, 2), 8);
    assert_int_equal(machine->get_svc_lpr(dev, 3), -EINVAL);
    assert_int_equal(machine->get_svc_rsrc_use(dev, 3, &use), -EINVAL);
    assert_int_equal(machine->get_svc_rsrc_use(dev, 2, &use), 0);
    assert_int_equal(use.svc_id, 2);
    assert_int_equal(use.in_use[CXI_RSRC_TYPE_LE], 0);
    assert_int_equal(use.in_use[CXI_RSRC_TYPE_TLE], 65535); /* it has no pool: not counted */
    struct cxil_svc_rsrc_list *list = NULL;
    assert_int_equal(machine->get_svc_rsrc_list(dev, &list), 0);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->rsrcs[0].svc_id, 1);
    assert_int_equal(list->rsrcs[0].in_use[CXI_RSRC_TYPE_LE], 65535);
    assert_memory_equal(&list->rsrcs[1], &use, sizeof use);
    machine->free_svc_rsrc_list(list);
}

TEST(netns__without_other_members)
{
    struct machine *machine = *state;
    struct cxil_lni *lni = NULL;
    struct stat mine;
    unsigned int netns = 0;
    struct cxi_svc_desc desc = machine_service(100);
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    assert_int_equal(machine->svc_set_netns(dev, 2, 5), -EEXIST);
    desc.members[0].type = CXI_SVC_MEMBER_IGNORE;
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 3);
    assert_int_equal(machine->svc_get_netns(dev, 3, &netns), -EINVAL);
    assert_int_equal(machine->alloc_lni(dev, &lni, 3), -EPERM);
    assert_int_equal(stat("/proc/self/ns/net", &mine), 0);
    assert_int_equal(machine->svc_set_netns(dev, 3, (unsigned int)mine.st_ino), 0);
    assert_int_equal(machine->svc_get_netns(dev, 3, &netns), 0);
    assert_int_equal(netns, mine.st_ino);
    assert_int_equal(machine->alloc_lni(dev, &lni, 3), 0);
    assert_int_equal(machine->destroy_lni(lni), 0);
}

UNIT_RUN(NULL, NULL)
