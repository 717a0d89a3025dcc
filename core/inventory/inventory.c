/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inventory/inventory.h"

#include <assert.h>
#include <string.h>

const char *inventory_source_word(int source)
{
    assert(source == SOURCE_FILE || source == SOURCE_NODE);
    return source == SOURCE_FILE ? "file" : "node";
}

const char *inventory_contradiction_word(unsigned bit)
{
    static const char *const words[] = {"address-differs", "not-in-file",   "not-reported",
                                        "no-port",         "state-differs", "address-shared"};
    assert(bit < NIC_CONTRADICTIONS);
    return words[bit];
}

/* What the fabric manager says of it, and what counts then. */
static void judge(const struct inventory *inventory, struct inventory_nic *nic)
{
    const int told = nic->nic.link;
    assert(told <= FABRIC_DOWN);
    nic->port = inventory->map ? fabricmap_edge(inventory->map, nic->nic.address) : -1;
    nic->state = (uint8_t)told;
    if (nic->port > FABRIC_UNKNOWN && (told == FABRIC_UNKNOWN || nic->port == FABRIC_DOWN))
        nic->state = (uint8_t)nic->port;
    if (inventory->map && nic->port < 0)
        nic->contradictions |= NIC_NO_PORT;
    if (nic->port > FABRIC_UNKNOWN && told != FABRIC_UNKNOWN && told != nic->port)
        nic->contradictions |= NIC_STATE_DIFFERS;
    if (nic->source == SOURCE_FILE && nic->nic.shared)
        nic->contradictions |= NIC_SHARED;
}

static struct inventory_nic merged(const struct nic *reported, const struct nic *filed,
                                   const struct inventory_node *node)
{
    const struct nic *believed = reported ? reported : filed;
    assert(believed);
    struct inventory_nic nic = {.nic = *believed, .source = reported ? SOURCE_NODE : SOURCE_FILE};
    if (reported && filed && reported->address != filed->address) {
        nic.contradictions |= NIC_ADDRESS_DIFFERS;
        nic.file_address = filed->address;
    }
    if (!filed && node->in_file)
        nic.contradictions |= NIC_NOT_IN_FILE;
    if (!reported && node->reported)
        nic.contradictions |= NIC_NOT_REPORTED;
    return nic;
}

bool inventory_node(const struct inventory *inventory, const char *name, struct inventory_node *out)
{
    struct nic reported[NICS_PER_NODE];
    const struct nicbook_node *file = inventory->file ? nicbook_find(inventory->file, name) : NULL;
    const size_t reports =
        inventory->nodes ? inventory->nodes->nics(inventory->nodes->arg, name, reported) : 0;
    const size_t files = file ? file->count : 0;
    assert(reports <= NICS_PER_NODE && files <= NICS_PER_NODE);
    out->count = 0;
    out->reported = reports > 0;
    out->in_file = file;
    for (size_t i = 0, j = 0; (i < reports || j < files) && out->count < NICS_PER_NODE;) {
        const unsigned left = i < reports ? reported[i].device : UINT32_MAX;
        const unsigned right = j < files ? file->nics[j].device : UINT32_MAX;
        out->nics[out->count] =
            merged(left <= right ? &reported[i] : NULL, right <= left ? &file->nics[j] : NULL, out);
        judge(inventory, &out->nics[out->count++]);
        i += left <= right;
        j += right <= left;
    }
    return reports > 0 || file;
}

const char *inventory_after(const struct inventory *inventory, const char *name)
{
    const struct nicbook_node *node =
        inventory->file ? nicbook_at(inventory->file, nicbook_after(inventory->file, name)) : NULL;
    const char *filed = node ? node->name : NULL;
    const char *reported =
        inventory->nodes ? inventory->nodes->after(inventory->nodes->arg, name) : NULL;
    assert(!filed || strcmp(filed, name) > 0);
    if (!filed || !reported)
        return filed ? filed : reported;
    return strcmp(filed, reported) < 0 ? filed : reported;
}
