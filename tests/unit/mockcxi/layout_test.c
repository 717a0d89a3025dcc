/* SPDX-License-Identifier: Apache-2.0 */
/* Where everything lies that crosses libcxi's border, in numbers, for x86-64 and aarch64 (LP64).
 *
 * The tables name no type of ours, so they are asserted twice: of our own declarations, and of
 * HPE's headers when CMake found them. Slingshot Host Software 12.0 to 14.0 agree. Most of it is
 * asserted by the compiler; that this compiles is the test. */

#ifdef MOCKCXI_REAL_HEADERS
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <libcxi.h>

#include "cxi/calls.h"
#else
#define MOCKCXI_REAL_HEADERS 0
#include "cxi/abi.h"
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* X(type, size in bytes) */
#define LAYOUT_SIZES(X)                                                                            \
    X(struct cxil_devinfo, 152)                                                                    \
    X(struct cxil_dev, 152)                                                                        \
    X(struct cxil_device_list, 8)                                                                  \
    X(struct cxil_svc_list, 4)                                                                     \
    X(struct cxil_svc_rsrc_list, 4)                                                                \
    X(struct cxil_lni, 4)                                                                          \
    X(struct cxi_svc_desc, 68)                                                                     \
    X(struct cxi_limits, 4)                                                                        \
    X(struct cxi_rsrc_limits, 32)                                                                  \
    X(struct cxi_rsrc_use, 24)                                                                     \
    X(struct cxi_svc_fail_info, 20)                                                                \
    X(enum cxi_rsrc_type, 4)                                                                       \
    X(enum cxi_traffic_class, 4)                                                                   \
    X(enum cxi_svc_member_type, 4)

/* X(type, member, offset in bytes, size in bytes). The bits of a service descriptor's first byte
 * have no offset: LAYOUT_BITS. */
#define LAYOUT_MEMBERS(X)                                                                          \
    X(struct cxil_devinfo, dev_id, 0, 4)                                                           \
    X(struct cxil_devinfo, nid, 4, 4)                                                              \
    X(struct cxil_devinfo, pid_bits, 8, 4)                                                         \
    X(struct cxil_devinfo, pid_count, 12, 4)                                                       \
    X(struct cxil_devinfo, pid_granule, 16, 4)                                                     \
    X(struct cxil_devinfo, min_free_shift, 20, 4)                                                  \
    X(struct cxil_devinfo, rdzv_get_idx, 24, 4)                                                    \
    X(struct cxil_devinfo, device_name, 28, 14)                                                    \
    X(struct cxil_devinfo, driver_name, 42, 9)                                                     \
    X(struct cxil_devinfo, vendor_id, 52, 4)                                                       \
    X(struct cxil_devinfo, device_id, 56, 4)                                                       \
    X(struct cxil_devinfo, device_rev, 60, 4)                                                      \
    X(struct cxil_devinfo, device_proto, 64, 4)                                                    \
    X(struct cxil_devinfo, device_platform, 68, 4)                                                 \
    X(struct cxil_devinfo, num_ptes, 72, 2)                                                        \
    X(struct cxil_devinfo, num_txqs, 74, 2)                                                        \
    X(struct cxil_devinfo, num_tgqs, 76, 2)                                                        \
    X(struct cxil_devinfo, num_eqs, 78, 2)                                                         \
    X(struct cxil_devinfo, num_cts, 80, 2)                                                         \
    X(struct cxil_devinfo, num_acs, 82, 2)                                                         \
    X(struct cxil_devinfo, num_tles, 84, 2)                                                        \
    X(struct cxil_devinfo, num_les, 86, 2)                                                         \
    X(struct cxil_devinfo, pci_domain, 88, 2)                                                      \
    X(struct cxil_devinfo, pci_bus, 90, 1)                                                         \
    X(struct cxil_devinfo, pci_device, 91, 1)                                                      \
    X(struct cxil_devinfo, pci_function, 92, 1)                                                    \
    X(struct cxil_devinfo, link_mtu, 96, 8)                                                        \
    X(struct cxil_devinfo, link_speed, 104, 8)                                                     \
    X(struct cxil_devinfo, link_state, 112, 1)                                                     \
    X(struct cxil_devinfo, uc_nic, 116, 4)                                                         \
    X(struct cxil_devinfo, pct_eq, 120, 4)                                                         \
    X(struct cxil_devinfo, cassini_version, 124, 4)                                                \
    X(struct cxil_devinfo, fru_description, 128, 16)                                               \
    X(struct cxil_devinfo, is_vf, 144, 1)                                                          \
    X(struct cxil_devinfo, system_type_identifier, 148, 4)                                         \
    X(struct cxil_dev, info, 0, 152)                                                               \
    X(struct cxil_device_list, count, 0, 4)                                                        \
    X(struct cxil_device_list, info[0], 8, 152)                                                    \
    X(struct cxil_device_list, info[1], 160, 152)                                                  \
    X(struct cxil_svc_list, count, 0, 4)                                                           \
    X(struct cxil_svc_list, descs[0], 4, 68)                                                       \
    X(struct cxil_svc_list, descs[1], 72, 68)                                                      \
    X(struct cxil_svc_rsrc_list, count, 0, 4)                                                      \
    X(struct cxil_svc_rsrc_list, rsrcs[0], 4, 24)                                                  \
    X(struct cxil_svc_rsrc_list, rsrcs[1], 28, 24)                                                 \
    X(struct cxil_lni, id, 0, 4)                                                                   \
    X(struct cxi_svc_desc, num_vld_vnis, 1, 1)                                                     \
    X(struct cxi_svc_desc, vnis, 2, 8)                                                             \
    X(struct cxi_svc_desc, tcs, 10, 5)                                                             \
    X(struct cxi_svc_desc, members, 16, 16)                                                        \
    X(struct cxi_svc_desc, members[0].svc_member.uid, 16, 4)                                       \
    X(struct cxi_svc_desc, members[0].svc_member.gid, 16, 4)                                       \
    X(struct cxi_svc_desc, members[0].type, 20, 4)                                                 \
    X(struct cxi_svc_desc, members[1].svc_member.uid, 24, 4)                                       \
    X(struct cxi_svc_desc, members[1].type, 28, 4)                                                 \
    X(struct cxi_svc_desc, limits, 32, 32)                                                         \
    X(struct cxi_svc_desc, svc_id, 64, 4)                                                          \
    X(struct cxi_limits, max, 0, 2)                                                                \
    X(struct cxi_limits, res, 2, 2)                                                                \
    X(struct cxi_rsrc_limits, type, 0, 32)                                                         \
    X(struct cxi_rsrc_limits, ptes, 0, 4)                                                          \
    X(struct cxi_rsrc_limits, txqs, 4, 4)                                                          \
    X(struct cxi_rsrc_limits, tgqs, 8, 4)                                                          \
    X(struct cxi_rsrc_limits, eqs, 12, 4)                                                          \
    X(struct cxi_rsrc_limits, cts, 16, 4)                                                          \
    X(struct cxi_rsrc_limits, les, 20, 4)                                                          \
    X(struct cxi_rsrc_limits, tles, 24, 4)                                                         \
    X(struct cxi_rsrc_limits, acs, 28, 4)                                                          \
    X(struct cxi_rsrc_use, svc_id, 0, 4)                                                           \
    X(struct cxi_rsrc_use, tle_pool_id, 4, 4)                                                      \
    X(struct cxi_rsrc_use, in_use, 8, 16)                                                          \
    X(struct cxi_svc_fail_info, rsrc_avail, 0, 16)                                                 \
    X(struct cxi_svc_fail_info, no_le_pools, 16, 1)                                                \
    X(struct cxi_svc_fail_info, no_tle_pools, 17, 1)                                               \
    X(struct cxi_svc_fail_info, no_cntr_pools, 18, 1)

/* X(bit field of struct cxi_svc_desc, its mask in byte 0). No constant expression sees a bit
 * field's place: a test sets each and looks. */
#define LAYOUT_BITS(X)                                                                             \
    X(restricted_members, 0x01)                                                                    \
    X(restricted_vnis, 0x02)                                                                       \
    X(restricted_tcs, 0x04)                                                                        \
    X(resource_limits, 0x08)                                                                       \
    X(enable, 0x10)                                                                                \
    X(is_system_svc, 0x20)                                                                         \
    X(cntr_pool_id, 0xc0)

/* X(constant, value) */
#define LAYOUT_CONSTANTS(X)                                                                        \
    X(CXI_TC_DEDICATED_ACCESS, 0)                                                                  \
    X(CXI_TC_LOW_LATENCY, 1)                                                                       \
    X(CXI_TC_BULK_DATA, 2)                                                                         \
    X(CXI_TC_BEST_EFFORT, 3)                                                                       \
    X(CXI_TC_ETH, 4)                                                                               \
    X(CXI_TC_MAX, 5)                                                                               \
    X(CXI_RSRC_TYPE_PTE, 0)                                                                        \
    X(CXI_RSRC_TYPE_TXQ, 1)                                                                        \
    X(CXI_RSRC_TYPE_TGQ, 2)                                                                        \
    X(CXI_RSRC_TYPE_EQ, 3)                                                                         \
    X(CXI_RSRC_TYPE_CT, 4)                                                                         \
    X(CXI_RSRC_TYPE_LE, 5)                                                                         \
    X(CXI_RSRC_TYPE_TLE, 6)                                                                        \
    X(CXI_RSRC_TYPE_AC, 7)                                                                         \
    X(CXI_RSRC_TYPE_MAX, 8)                                                                        \
    X(CXI_SVC_MEMBER_IGNORE, 0)                                                                    \
    X(CXI_SVC_MEMBER_UID, 1)                                                                       \
    X(CXI_SVC_MEMBER_GID, 2)                                                                       \
    X(CXI_SVC_MAX_MEMBERS, 2)                                                                      \
    X(CXI_SVC_MAX_VNIS, 4)                                                                         \
    X(CXI_DEFAULT_SVC_ID, 1)

/* The same, since 14.0. */
#define LAYOUT_CONSTANTS_14(X)                                                                     \
    X(CXI_SVC_MEMBER_NET_NS, 3)                                                                    \
    X(CXI_SVC_MEMBER_MAX, 4)

#define ASSERT_SIZE(type, size) _Static_assert(sizeof(type) == (size), "size of " #type);
#define ASSERT_MEMBER(type, member, offset, size)                                                  \
    _Static_assert(offsetof(type, member) == (offset), "offset of " #member " in " #type);         \
    _Static_assert(sizeof(((type *)0)->member) == (size), "size of " #member " in " #type);
#define ASSERT_CONSTANT(name, value) _Static_assert((name) == (value), #name);
LAYOUT_SIZES(ASSERT_SIZE)
LAYOUT_MEMBERS(ASSERT_MEMBER)
LAYOUT_CONSTANTS(ASSERT_CONSTANT)

/* The functions' types, too. */
#if MOCKCXI_REAL_HEADERS
#define SAME_TYPE(name, returns, parameters, version)                                              \
    _Static_assert(__builtin_types_compatible_p(__typeof__(cxil_##name), returns parameters),      \
                   "type of cxil_" #name);
CXI_CALLS_NEEDED(SAME_TYPE)
#endif
#if MOCKCXI_REAL_HEADERS == 0 || MOCKCXI_REAL_HEADERS >= 14
LAYOUT_CONSTANTS_14(ASSERT_CONSTANT)
#endif
#if MOCKCXI_REAL_HEADERS >= 14
CXI_CALLS_OTHER(SAME_TYPE)
#endif

static void descriptor__bits(void **state)
{
#define CHECK(field, mask)                                                                         \
    {                                                                                              \
        struct cxi_svc_desc desc;                                                                  \
        unsigned char first;                                                                       \
        memset(&desc, 0, sizeof desc);                                                             \
        desc.field = (mask) == 0xc0 ? 3 : 1;                                                       \
        memcpy(&first, &desc, 1);                                                                  \
        assert_int_equal(first, mask);                                                             \
    }
    LAYOUT_BITS(CHECK)
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptor__bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
