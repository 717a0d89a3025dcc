/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* libcxi's functions that we know, by name, type and version node.
 *
 * X(name without "cxil_", what it returns, parameters, version node). All int are 0 or -errno
 * unless said otherwise; the structs are those of cxi/abi.h, or HPE's own.
 *
 *   get_device_list  *list is one malloc'd block, for free_device_list; count may be 0
 *   open_device      -ENOENT when there is no such NIC (it may have gone since it was listed);
 *                    *device is one malloc'd block, for close_device (which takes NULL)
 *   get_svc_list     every service of the NIC, the system's too; for free_svc_list (takes NULL)
 *   alloc_svc        needs CAP_SYS_ADMIN (-EPERM). The service's id, >= 1; -EINVAL for a maximum
 *                    above the device's or a descriptor that makes no sense; -ENOSPC when a
 *                    reservation exceeds what is free, or no pool is left: *fail_info (may be
 *                    NULL) then says what was free. The driver sets `enable` and `svc_id`.
 *   destroy_svc      needs CAP_SYS_ADMIN. -EBUSY while a process uses the service, -EINVAL for an
 *                    id that does not exist and for the default service
 *   get_svc_rsrc_use what the service's users hold now; 65535: not known of this resource
 *   set_svc_lpr      needs CAP_SYS_ADMIN: how many processes share one resource group, at most 8
 *   get_svc_lpr      that number
 *   svc_set_…, svc_enable, update_svc   need CAP_SYS_ADMIN
 *   alloc_lni        makes the caller a user of the service: -EPERM unless it is a member,
 *                    -EKEYREVOKED when the service is disabled */

/* Every libcxi has these. */
#define CXI_CALLS_NEEDED(X)                                                                        \
    X(get_device_list, int, (struct cxil_device_list **), "LIBCXI_1.0")                            \
    X(free_device_list, void, (struct cxil_device_list *), "LIBCXI_1.0")                           \
    X(open_device, int, (uint32_t, struct cxil_dev **), "LIBCXI_1.0")                              \
    X(close_device, void, (struct cxil_dev *), "LIBCXI_1.0")                                       \
    X(get_svc_list, int, (struct cxil_dev *, struct cxil_svc_list **), "LIBCXI_1.0")               \
    X(free_svc_list, void, (struct cxil_svc_list *), "LIBCXI_1.0")                                 \
    X(alloc_svc, int,                                                                              \
      (struct cxil_dev *, const struct cxi_svc_desc *, struct cxi_svc_fail_info *), "LIBCXI_1.0")  \
    X(destroy_svc, int, (struct cxil_dev *, unsigned int), "LIBCXI_1.0")

/* What mcast-node does not call, and others do. */
#define CXI_CALLS_OTHER(X)                                                                         \
    X(alloc_lni, int, (struct cxil_dev *, struct cxil_lni **, unsigned int), "LIBCXI_1.0")         \
    X(destroy_lni, int, (struct cxil_lni *), "LIBCXI_1.0")                                         \
    X(read_cntr, int, (struct cxil_dev *, unsigned int, uint64_t *, struct timespec *),            \
      "LIBCXI_1.0")                                                                                \
    X(get_svc, int, (struct cxil_dev *, unsigned int, struct cxi_svc_desc *), "LIBCXI_1.2")        \
    X(update_svc, int,                                                                             \
      (struct cxil_dev *, const struct cxi_svc_desc *, struct cxi_svc_fail_info *), "LIBCXI_1.2")  \
    X(get_svc_rsrc_list, int, (struct cxil_dev *, struct cxil_svc_rsrc_list **), "LIBCXI_1.5")     \
    X(get_svc_rsrc_use, int, (struct cxil_dev *, unsigned int, struct cxi_rsrc_use *),             \
      "LIBCXI_1.5")                                                                                \
    X(free_svc_rsrc_list, void, (struct cxil_svc_rsrc_list *), "LIBCXI_1.5")                       \
    X(set_svc_lpr, int, (struct cxil_dev *, unsigned int, unsigned int), "LIBCXI_1.8")             \
    X(get_svc_lpr, int, (struct cxil_dev *, unsigned int), "LIBCXI_1.8")                           \
    X(svc_enable, int, (struct cxil_dev *, unsigned int, bool), "LIBCXI_1.9")                      \
    X(svc_set_exclusive_cp, int, (struct cxil_dev *, unsigned int, bool), "LIBCXI_1.9")            \
    X(svc_get_exclusive_cp, int, (struct cxil_dev *, unsigned int, bool *), "LIBCXI_1.9")          \
    X(svc_set_vni_range, int, (struct cxil_dev *, unsigned int, uint16_t, uint16_t), "LIBCXI_1.9") \
    X(svc_get_vni_range, int, (struct cxil_dev *, unsigned int, uint16_t *, uint16_t *),           \
      "LIBCXI_1.9")                                                                                \
    X(svc_set_netns, int, (struct cxil_dev *, unsigned int, unsigned int), "LIBCXI_1.10")          \
    X(svc_get_netns, int, (struct cxil_dev *, unsigned int, unsigned int *), "LIBCXI_1.10")

/* What a program loads from libcxi: struct cxi_calls { int (*get_device_list)(…); … }. */
#define CXI_CALLS_POINTER_(name, returns, parameters, version) returns(*name) parameters;
struct cxi_calls {
    CXI_CALLS_NEEDED(CXI_CALLS_POINTER_)
};
#undef CXI_CALLS_POINTER_
