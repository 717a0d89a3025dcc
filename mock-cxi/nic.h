/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* One pretended NIC: what libcxi reports of it, and how much of each resource it has. */

#include <stdbool.h>

#include "base/error.h"
#include "cxi/abi.h"

enum {
    NIC_MAX = 32,          /* NICs of one machine */
    NIC_LNIS_PER_RGID = 8, /* Cassini's C_NUM_LACS: set_svc_lpr's largest number */
    NIC_TLES_MIN = 8,      /* who gets TLEs gets at least so many */
    NIC_NOT_KNOWN = 65535, /* in cxi_rsrc_use: the hardware does not count this */
};

/* What the driver's files say of it (sysfs.h). */
enum nic_counter {
    NIC_TX_OCTETS,
    NIC_RX_OCTETS,
    NIC_TX_PACKETS,
    NIC_RX_PACKETS,
    NIC_PAUSED,
    NIC_COUNTERS,
    NIC_WORD_SIZE = 32,
};

struct nic {
    struct cxil_devinfo info;
    bool present; /* false: neither listed nor to be opened, and -EIO for who has it open */
    unsigned int le_pools;
    unsigned int tle_pools;
    uint64_t counters[NIC_COUNTERS];
    char serial[NIC_WORD_SIZE], firmware[NIC_WORD_SIZE]; /* "": there is no such file */
};

/* A Cassini 1 with everything that the chip has, link up, nid dev_id + 1. */
void nic_init(struct nic *nic, unsigned int dev_id);

/* Sets what docs/mock-cxi.md lists for a NIC's section. ERROR_INVALID: no such key, or not such a
 * value. */
int nic_set(struct nic *nic, const char *key, const char *value, struct error *err);

/* How many the chip has of one resource; the largest maximum a service may ask for. */
unsigned int nic_total(const struct nic *nic, enum cxi_rsrc_type type);
