/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a service is (F11): exactly a job's, or untouchable. */

#include "node/services/service.h"
#include "tests/unit/node/chip.h"
#include "tests/unit/unit.h"

static const uint16_t vnis[] = {1024, 1025};

static struct cxi_svc_desc two_vnis(void)
{
    struct cxi_svc_desc service = chip_service(12, 5588, 1025);
    service.num_vld_vnis = 2;
    service.vnis[1] = 1024;
    return service;
}

UNIT(service__is_exact)
{
    struct cxi_svc_desc service = two_vnis();
    assert_true(service_is_of(&service, 5588, vnis, 2)); /* in any order */
    assert_false(service_is_of(&service, 5589, vnis, 2));
    assert_false(service_is_of(&service, 5588, vnis, 1));
    const uint16_t others[] = {1024, 1026};
    assert_false(service_is_of(&service, 5588, others, 2));
    assert_false(service_is_of(&service, 5588, vnis, 0));
}

/* Each thing that makes it somebody else's, alone. */
UNIT(service__whatever_is_less_restricted_is_not_a_job_s)
{
    struct cxi_svc_desc others[8];
    enum { COUNT = sizeof others / sizeof others[0] };
    for (int i = 0; i < COUNT; i++)
        others[i] = two_vnis();
    others[0].restricted_members = 0;
    others[1].restricted_vnis = 0;
    others[2].restricted_tcs = 0;
    others[3].is_system_svc = 1;
    others[4].svc_id = CXI_DEFAULT_SVC_ID;
    others[5].members[0].type = CXI_SVC_MEMBER_GID;
    others[6].members[1].type = CXI_SVC_MEMBER_UID;
    others[6].members[1].svc_member.uid = 4000;
    others[7].members[1].type = CXI_SVC_MEMBER_GID;
    for (int i = 0; i < COUNT; i++)
        assert_false(service_is_of(&others[i], 5588, vnis, 2));
}

UNIT(service__the_default_service_is_the_system_s)
{
    struct cxi_svc_desc service = chip_default_service();
    assert_true(service_is_system(&service));
    service.svc_id = 2;
    assert_false(service_is_system(&service));
    service.is_system_svc = 1;
    assert_true(service_is_system(&service));
}

UNIT(service__finds_by_id)
{
    struct cxi_svc_desc services[] = {chip_default_service(), chip_service(4, 5588, 1024),
                                      two_vnis()};
    struct cxil_svc_list *list = chip_list(services, 3);
    assert_int_equal(service_by_id(list, 4)->vnis[0], 1024);
    assert_null(service_by_id(list, 5));
    free(list);
}

UNIT(service__traffic_classes_are_the_bits_of_f12)
{
    struct cxi_svc_desc service = two_vnis();
    assert_int_equal(service_traffic_classes(&service), 0x0a);
    service.tcs[CXI_TC_DEDICATED_ACCESS] = service.tcs[CXI_TC_BULK_DATA] = true;
    assert_int_equal(service_traffic_classes(&service), 0x0f);
    service.tcs[CXI_TC_ETH] = true;
    assert_int_equal(service_traffic_classes(&service), 0x0f);
}

UNIT(service__describes_for_people)
{
    char text[SERVICE_TEXT_SIZE];
    struct cxi_svc_desc service = two_vnis();
    assert_string_equal(service_describe(&service, text), "uid 5588, VNIs 1025,1024");
    service.restricted_members = 0;
    assert_string_equal(service_describe(&service, text), "everybody, VNIs 1025,1024");
    service.restricted_vnis = 0;
    assert_string_equal(service_describe(&service, text), "everybody, any VNI");
    service = chip_default_service();
    assert_string_equal(service_describe(&service, text), "system, VNIs 1,10");
}

UNIT_RUN(NULL, NULL)
