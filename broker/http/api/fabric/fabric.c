/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/routes.h"

/* GET /v1/fabric: what the fabric consists of, and how old that is (P1). */

enum { LISTED_MAX = 1000 /* switches, and cables, that are not up */ };

static void write_address(struct writer *out, const char *key, uint32_t dfa)
{
    char name[FABRIC_ADDRESS_SIZE];
    fabric_port_format(name, dfa);
    writer_string(out, key, name);
}

static void write_counts(struct writer *out, const struct fabric_counts *counts)
{
    writer_number(out, "groups", counts->groups);
    writer_number(out, "switches", counts->switches);
    writer_number(out, "switches_down", counts->switches_down);
    writer_number(out, "ports", counts->ports);
    writer_number(out, "edge_ports", counts->edge_ports);
    writer_number(out, "edge_ports_down", counts->edge_ports_down);
    writer_number(out, "cables", counts->cables);
    writer_number(out, "cables_down", counts->cables_down);
}

static void write_switches_down(struct writer *out, const struct fabricmap *map)
{
    size_t count, listed = 0;
    const struct fabric_switch *all = fabricmap_switches(map, &count);
    writer_begin_array(out, "down_switches");
    for (size_t i = 0; i < count && listed < LISTED_MAX; i++) {
        char name[FABRIC_ADDRESS_SIZE];
        if (all[i].state != FABRIC_DOWN)
            continue;
        listed++;
        fabric_switch_format(name, all[i].place);
        writer_begin_object(out, NULL);
        writer_string(out, "switch", name);
        writer_string(out, "name", all[i].name);
        writer_end_object(out);
    }
    writer_end_array(out);
}

static void write_cables_down(struct writer *out, const struct fabricmap *map)
{
    size_t count, listed = 0;
    const struct fabric_cable *all = fabricmap_cables(map, &count);
    writer_begin_array(out, "down_cables");
    for (size_t i = 0; i < count && listed < LISTED_MAX; i++) {
        if (all[i].state != FABRIC_DOWN)
            continue;
        listed++;
        writer_begin_object(out, NULL);
        write_address(out, "low", all[i].low);
        write_address(out, "high", all[i].high);
        writer_end_object(out);
    }
    writer_end_array(out);
}

int fabric_handle(struct call *call)
{
    static const struct fabric_counts nothing;
    struct writer *out = &call->out;
    struct inventory_facts facts;
    const struct inventory inventory = engine_inventory(call->http->engine, &facts);
    const int64_t now_ms = engine_now_ms(call->http->engine);
    writer_begin_object(out, NULL);
    writer_string(out, "source", facts.reads ? "fabric-manager" : inventory.file ? "file" : "none");
    writer_number(out, "version", facts.version);
    writer_time(out, "changed", facts.changed_ms > 0 ? facts.changed_ms : -1);
    writer_time(out, "checked", facts.checked_ms > 0 ? facts.checked_ms : -1);
    if (facts.checked_ms > 0)
        writer_number(out, "age_ms",
                      now_ms > facts.checked_ms ? (uint64_t)(now_ms - facts.checked_ms) : 0);
    writer_string(out, "error", facts.error[0] != '\0' ? facts.error : NULL);
    writer_number(out, "nodes_in_file", inventory.file ? nicbook_count(inventory.file) : 0);
    write_counts(out, inventory.map ? fabricmap_counts(inventory.map) : &nothing);
    if (inventory.map) {
        write_switches_down(out, inventory.map);
        write_cables_down(out, inventory.map);
    }
    writer_end_object(out);
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}
