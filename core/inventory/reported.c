/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inventory/inventory.h"

#include "core/core.h"
#include "core/inventory/nodenics.h"

#include <assert.h>
#include <string.h>

/* What nodes have told of their NICs, for the inventory. */

/* "cxi3" is 3; -1: it is no NIC of Slingshot. */
static int device_number(const char *device)
{
    const char *digits = device + 3;
    assert(device);
    if (strncmp(device, "cxi", 3) != 0 || digits[0] < '0' || digits[0] > '9')
        return -1;
    if (digits[1] == '\0')
        return digits[0] - '0';
    const int number = 10 * (digits[0] - '0') + (digits[1] - '0');
    return digits[0] == '1' && digits[1] >= '0' && digits[1] <= '9' && digits[2] == '\0' &&
                   number < NICS_PER_NODE
               ? number
               : -1;
}

/* They are ordered by the names of their devices, of which "cxi10" comes before "cxi2". */
static size_t insert(struct nic *out, size_t count, const struct nic *nic)
{
    size_t at = count;
    assert(count < NICS_PER_NODE);
    while (at > 0 && out[at - 1].device > nic->device)
        at--;
    memmove(&out[at + 1], &out[at], (count - at) * sizeof *out);
    out[at] = *nic;
    return count + 1;
}

/* libcxi's is of 20 bits; a longer one is the port's (fabricmap.h). */
static uint32_t dfa_told(uint32_t address)
{
    return address <= NIC_ADDRESS_MAX ? address << 12 : address & ~UINT32_C(0xfff);
}

static size_t reported_nics(const void *core, const char *node,
                            struct nic out[static NICS_PER_NODE])
{
    const struct nodenics *row = core_node_nics(core, node);
    const char *at = row ? row->nics : "";
    struct nodenic told;
    size_t count = 0;
    assert(core);
    while (count < NICS_PER_NODE && nodenics_next(&at, &told)) {
        const int number = device_number(told.device);
        const struct nic nic = {.address = dfa_told(told.address),
                                .device = (uint8_t)number,
                                .link = told.up ? FABRIC_UP : FABRIC_DOWN};
        if (number >= 0)
            count = insert(out, count, &nic);
    }
    return count;
}

static const char *reported_after(const void *core, const char *name)
{
    const struct nodenics *row = core_node_nics_after(core, name);
    assert(core);
    return row ? row->node : NULL;
}

struct inventory_reports inventory_reports_of(const struct core *core)
{
    assert(core);
    return (struct inventory_reports){core, reported_nics, reported_after};
}
