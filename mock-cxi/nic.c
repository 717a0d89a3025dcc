/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-cxi/nic.h"

#include <stdio.h>
#include <string.h>

#include "mock-cxi/value.h"

enum {
    PID_BITS = 9,
    ENDPOINT_BITS = 17, /* of an address: process id and portal index together */
    MTU = 2112,
    LINK_SPEED = 200000,
    CASSINI_1_1 = 0x12,
    ONLY_CASSINI_1 = 1,
    VENDOR_CRAY = 0x17db,
    DEVICE_CASSINI_1 = 0x0501,
    DEVICE_REVISION = 1,
};

void nic_init(struct nic *nic, unsigned int dev_id)
{
    *nic = (struct nic){
        .present = true,
        .le_pools = 16,
        .tle_pools = 4,
        .info =
            {
                .dev_id = dev_id,
                .nid = dev_id + 1,
                .pid_bits = PID_BITS,
                .pid_count = (1 << PID_BITS) - 1, /* the last one means any */
                .pid_granule = 1 << (ENDPOINT_BITS - PID_BITS),
                .rdzv_get_idx = (1 << (ENDPOINT_BITS - PID_BITS)) - 1,
                .driver_name = "cxi_ss1",
                .vendor_id = VENDOR_CRAY,
                .device_id = DEVICE_CASSINI_1,
                .device_rev = DEVICE_REVISION,
                /* Number 0 of event queues and counters, 0 and the last of addressing contexts,
                 * mean something else. */
                .num_ptes = 2048,
                .num_txqs = 1024,
                .num_tgqs = 512,
                .num_eqs = 2047,
                .num_cts = 2047,
                .num_acs = 1022,
                .num_tles = 2048,
                .num_les = 16384,
                .pci_bus = (uint8_t)(0x21 + dev_id),
                .link_mtu = MTU,
                .link_speed = LINK_SPEED,
                .link_state = 1,
                .pct_eq = 1,
                .cassini_version = CASSINI_1_1,
                .fru_description = "mock-cxi",
                .system_type_identifier = ONLY_CASSINI_1,
            },
    };
    snprintf(nic->info.device_name, sizeof nic->info.device_name, "cxi%u", dev_id);
}

static int read_link(const struct value_key *key, const char *text, void *field, struct error *err)
{
    struct cxil_devinfo *info = field;
    bool up = false;
    int r = value_read_bool(key, text, &up, err);
    info->link_state = up;
    info->link_speed = up ? LINK_SPEED : 0;
    return r;
}

static int read_description(const struct value_key *key, const char *text, void *field,
                            struct error *err)
{
    struct cxil_devinfo *info = field;
    (void)key;
    if (strlen(text) >= sizeof info->fru_description)
        return error_set(err, ERROR_INVALID, "'%s' has more than %zu characters", text,
                         sizeof info->fru_description - 1);
    strncpy(info->fru_description, text, sizeof info->fru_description);
    return 0;
}

static int read_word(const struct value_key *key, const char *text, void *field, struct error *err)
{
    (void)key;
    if (strlen(text) >= NIC_WORD_SIZE)
        return error_set(err, ERROR_INVALID, "'%s' has more than %d characters", text,
                         NIC_WORD_SIZE - 1);
    memcpy(field, text, strlen(text) + 1);
    return 0;
}

#define COUNTER(name, which) VALUE_NUMBER(name, struct nic, counters[which], 0, UINT64_MAX)
#define RESOURCE(type, name, member)                                                               \
    [CXI_RSRC_TYPE_##type] = VALUE_NUMBER(name, struct nic, info.member, 0, UINT16_MAX - 1)

/* The resources come first, by enum cxi_rsrc_type, which is not the order in cxil_devinfo. */
static const struct value_key keys[] = {
    RESOURCE(PTE, "ptes", num_ptes),
    RESOURCE(TXQ, "txqs", num_txqs),
    RESOURCE(TGQ, "tgqs", num_tgqs),
    RESOURCE(EQ, "eqs", num_eqs),
    RESOURCE(CT, "cts", num_cts),
    RESOURCE(LE, "les", num_les),
    RESOURCE(TLE, "tles", num_tles),
    RESOURCE(AC, "acs", num_acs),
    [CXI_RSRC_TYPE_MAX] = VALUE_NUMBER("nid", struct nic, info.nid, 0, 0xfffff),
    VALUE_NUMBER("le_pools", struct nic, le_pools, 1, 256),
    VALUE_NUMBER("tle_pools", struct nic, tle_pools, 1, 256),
    VALUE_BOOL("present", struct nic, present, "yes", "no"),
    {.key = "link",
     .read = read_link,
     .offset = offsetof(struct nic, info),
     .yes = "up",
     .no = "down"},
    VALUE_KEY("description", read_description, struct nic, info),
    VALUE_KEY("serial", read_word, struct nic, serial),
    VALUE_KEY("firmware", read_word, struct nic, firmware),
    COUNTER("tx_octets", NIC_TX_OCTETS),
    COUNTER("rx_octets", NIC_RX_OCTETS),
    COUNTER("tx_packets", NIC_TX_PACKETS),
    COUNTER("rx_packets", NIC_RX_PACKETS),
    COUNTER("paused", NIC_PAUSED),
};

unsigned int nic_total(const struct nic *nic, enum cxi_rsrc_type type)
{
    const void *total = (const char *)nic + keys[type].offset;
    return *(const uint16_t *)total;
}

int nic_set(struct nic *nic, const char *key, const char *value, struct error *err)
{
    return value_set(keys, sizeof keys / sizeof *keys, "a NIC", nic, key, value, err);
}
