/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What libcxi.so.1 and its users agree on, declared once for mcast-node, which opens the library
 * at run time, and for mock-cxi, which takes its place: no HPE header is needed to build.
 *
 * The names are libcxi's, so that its documentation applies. cxi/calls.h has the functions. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cxi_traffic_class {
    CXI_TC_DEDICATED_ACCESS,
    CXI_TC_LOW_LATENCY,
    CXI_TC_BULK_DATA,
    CXI_TC_BEST_EFFORT,
    CXI_TC_ETH,
    CXI_TC_MAX,
};

enum cxi_rsrc_type {
    CXI_RSRC_TYPE_PTE, /* portal table entries */
    CXI_RSRC_TYPE_TXQ, /* transmit command queues */
    CXI_RSRC_TYPE_TGQ, /* target command queues */
    CXI_RSRC_TYPE_EQ,  /* event queues */
    CXI_RSRC_TYPE_CT,  /* counting events */
    CXI_RSRC_TYPE_LE,  /* list entries; who reserves some needs one of 16 pools */
    CXI_RSRC_TYPE_TLE, /* trigger list entries; likewise one of 4 */
    CXI_RSRC_TYPE_AC,  /* addressing contexts */
    CXI_RSRC_TYPE_MAX,
};

enum cxi_svc_member_type {
    CXI_SVC_MEMBER_IGNORE,
    CXI_SVC_MEMBER_UID,
    CXI_SVC_MEMBER_GID,
    CXI_SVC_MEMBER_NET_NS,
    CXI_SVC_MEMBER_MAX,
};

enum {
    CXI_SVC_MAX_MEMBERS = 2,
    CXI_SVC_MAX_VNIS = 4,
    CXI_DEFAULT_SVC_ID = 1, /* the system's; cannot be destroyed */
};

struct cxi_limits {
    uint16_t max; /* the most its users may have together */
    uint16_t res; /* set aside for them */
};

struct cxi_rsrc_limits {
    union {
        struct {
            struct cxi_limits ptes, txqs, tgqs, eqs, cts, les, tles, acs;
        };
        struct cxi_limits type[CXI_RSRC_TYPE_MAX]; /* by enum cxi_rsrc_type */
    };
};

struct cxi_rsrc_use {
    unsigned int svc_id;
    unsigned int tle_pool_id;
    uint16_t in_use[CXI_RSRC_TYPE_MAX]; /* 65535: not known */
};

struct cxi_svc_fail_info {
    uint16_t rsrc_avail[CXI_RSRC_TYPE_MAX]; /* free to be reserved, of what was asked for */
    bool no_le_pools, no_tle_pools, no_cntr_pools;
};

struct cxi_svc_desc {
    uint8_t restricted_members : 1; /* only `members` may use it */
    uint8_t restricted_vnis : 1;    /* only with the first num_vld_vnis of `vnis` */
    uint8_t restricted_tcs : 1;     /* only with the traffic classes that are true in `tcs` */
    uint8_t resource_limits : 1;    /* `limits` apply */
    uint8_t enable : 1;
    uint8_t is_system_svc : 1;
    uint8_t cntr_pool_id : 2;
    uint8_t num_vld_vnis;
    uint16_t vnis[CXI_SVC_MAX_VNIS];
    bool tcs[CXI_TC_MAX]; /* by enum cxi_traffic_class */
    struct {
        union {
            uint32_t uid;
            uint32_t gid;
        } svc_member;
        enum cxi_svc_member_type type;
    } members[CXI_SVC_MAX_MEMBERS];
    struct cxi_rsrc_limits limits;
    unsigned int svc_id;
};

struct cxil_devinfo {
    unsigned int dev_id;
    unsigned int nid;
    unsigned int pid_bits;
    unsigned int pid_count;
    unsigned int pid_granule;
    unsigned int min_free_shift;
    unsigned int rdzv_get_idx;
    char device_name[14]; /* "cxi0" */
    char driver_name[9];
    unsigned int vendor_id;
    unsigned int device_id;
    unsigned int device_rev;
    unsigned int device_proto;
    unsigned int device_platform;
    uint16_t num_ptes;
    uint16_t num_txqs;
    uint16_t num_tgqs;
    uint16_t num_eqs;
    uint16_t num_cts;
    uint16_t num_acs; /* this order is not that of enum cxi_rsrc_type */
    uint16_t num_tles;
    uint16_t num_les;
    uint16_t pci_domain;
    uint8_t pci_bus;
    uint8_t pci_device;
    uint8_t pci_function;
    size_t link_mtu;
    size_t link_speed;  /* Mbit/s */
    uint8_t link_state; /* 1: up */
    int uc_nic;
    unsigned int pct_eq; /* 0: no retry handler runs */
    unsigned int cassini_version;
    char fru_description[16]; /* not always terminated */
    bool is_vf;
    unsigned int system_type_identifier;
};

struct cxil_dev {
    struct cxil_devinfo info;
};

/* A process's hold on a service. */
struct cxil_lni {
    unsigned int id;
};

struct timespec;

struct cxil_device_list {
    unsigned int count;
    struct cxil_devinfo info[];
};

struct cxil_svc_list {
    unsigned int count;
    struct cxi_svc_desc descs[];
};

struct cxil_svc_rsrc_list {
    unsigned int count;
    struct cxi_rsrc_use rsrcs[];
};

#include "cxi/calls.h"

/* On every LP64 machine; the test unit/mockcxi_layout has each offset. */
_Static_assert(sizeof(struct cxil_devinfo) == 152 && sizeof(struct cxi_svc_desc) == 68 &&
                   sizeof(struct cxi_rsrc_use) == 24 && sizeof(struct cxi_svc_fail_info) == 20,
               "libcxi's layout");
