#include "mock-cxi/nic.h"

#include <stdio.h>
#include <string.h>

#include "mock-cxi/value.h"

enum {
    PID_BITS = 9,
    ENDPOINT_BITS = 17, /* of an address: process id and portal index together */
    MTU = 2112,
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
                .link_speed = 200000,
                .link_state = 1,
                .pct_eq = 1,
                .cassini_version = CASSINI_1_1,
                .fru_description = "mock-cxi",
                .system_type_identifier = ONLY_CASSINI_1,
            },
    };
    snprintf(nic->info.device_name, sizeof nic->info.device_name, "cxi%u", dev_id);
}

/* By enum cxi_rsrc_type, which is not the order in cxil_devinfo. */
static const struct {
    const char *key;
    size_t offset;
} totals[CXI_RSRC_TYPE_MAX] = {
    [CXI_RSRC_TYPE_PTE] = {"ptes", offsetof(struct cxil_devinfo, num_ptes)},
    [CXI_RSRC_TYPE_TXQ] = {"txqs", offsetof(struct cxil_devinfo, num_txqs)},
    [CXI_RSRC_TYPE_TGQ] = {"tgqs", offsetof(struct cxil_devinfo, num_tgqs)},
    [CXI_RSRC_TYPE_EQ] = {"eqs", offsetof(struct cxil_devinfo, num_eqs)},
    [CXI_RSRC_TYPE_CT] = {"cts", offsetof(struct cxil_devinfo, num_cts)},
    [CXI_RSRC_TYPE_LE] = {"les", offsetof(struct cxil_devinfo, num_les)},
    [CXI_RSRC_TYPE_TLE] = {"tles", offsetof(struct cxil_devinfo, num_tles)},
    [CXI_RSRC_TYPE_AC] = {"acs", offsetof(struct cxil_devinfo, num_acs)},
};

static uint16_t *total(struct cxil_devinfo *info, enum cxi_rsrc_type type)
{
    return (uint16_t *)(void *)((char *)info + totals[type].offset);
}

unsigned int nic_total(const struct nic *nic, enum cxi_rsrc_type type)
{
    struct cxil_devinfo info = nic->info;
    return *total(&info, type);
}

static int set_number(unsigned int *to, const char *value, uint64_t min, uint64_t max,
                      struct error *err)
{
    uint64_t number;
    int r = value_number(value, min, max, &number, err);
    if (!r)
        *to = (unsigned int)number;
    return r;
}

static int set_link(struct cxil_devinfo *info, const char *value, struct error *err)
{
    bool up = !strcmp(value, "up");
    if (!up && strcmp(value, "down") != 0)
        return error_set(err, ERROR_INVALID, "'%s' is neither up nor down", value);
    info->link_state = up;
    info->link_speed = up ? 200000 : 0;
    return 0;
}

static int set_description(struct cxil_devinfo *info, const char *value, struct error *err)
{
    size_t length = strlen(value);
    if (length >= sizeof info->fru_description)
        return error_set(err, ERROR_INVALID, "'%s' has more than %zu characters", value,
                         sizeof info->fru_description - 1);
    memset(info->fru_description, 0, sizeof info->fru_description);
    memcpy(info->fru_description, value, length);
    return 0;
}

int nic_set(struct nic *nic, const char *key, const char *value, struct error *err)
{
    struct cxil_devinfo *info = &nic->info;
    for (int type = 0; type < CXI_RSRC_TYPE_MAX; type++)
        if (!strcmp(key, totals[type].key)) {
            unsigned int number;
            int r = set_number(&number, value, 0, UINT16_MAX - 1, err);
            if (!r)
                *total(info, (enum cxi_rsrc_type)type) = (uint16_t)number;
            return r;
        }
    if (!strcmp(key, "nid"))
        return set_number(&info->nid, value, 0, 0xfffff, err);
    if (!strcmp(key, "le_pools"))
        return set_number(&nic->le_pools, value, 1, 256, err);
    if (!strcmp(key, "tle_pools"))
        return set_number(&nic->tle_pools, value, 1, 256, err);
    if (!strcmp(key, "present"))
        return value_bool(value, &nic->present, err);
    if (!strcmp(key, "link"))
        return set_link(info, value, err);
    if (!strcmp(key, "description"))
        return set_description(info, value, err);
    return error_set(err, ERROR_INVALID, "a NIC has no '%s'", key);
}
