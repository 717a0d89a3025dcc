/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "core/inventory/nodeaddresses.h"
#include "core/inventory/topology.h"

#include <stdlib.h>

/* What is known of nodes, from all sources: whom is believed, and that contradictions stay (S2, P1,
 * P2); and where a job is. */

/* Two switches, g0s0 and g0s1, with NICs' places at ports 2 to 5 each; g0s1p5 is down. */
static struct fabricmap *make_map(void)
{
    struct fabric_read read = {0};
    struct error err = {0};
    read.switches.all = calloc(2, sizeof *read.switches.all);
    read.ports.all = calloc(8, sizeof *read.ports.all);
    read.switches.count = 2;
    read.switches.all[1].place = 1;
    for (unsigned i = 0; i < 8; i++)
        read.ports.all[read.ports.count++] =
            (struct fabric_port){.dfa = dfa_of(0, i / 4, 2 + i % 4),
                                 .edge = true,
                                 .state = i == 7 ? FABRIC_DOWN : FABRIC_UP};
    struct fabricmap *map = fabricmap_create(&read, &err);
    fabric_read_release(&read);
    assert_non_null(map);
    return map;
}

static void add(struct nicbook *book, const char *node, unsigned device, uint32_t address, int link)
{
    struct error err = {0};
    const struct nic nic = {.address = address, .device = (uint8_t)device, .link = (uint8_t)link};
    assert_int_equal(nicbook_add(book, node, &nic, &err), 0);
}

/* What nodes report, kept in such a book, too. */
static size_t reported_nics(const void *arg, const char *node, struct nic out[static NICS_PER_NODE])
{
    const struct nicbook_node *found = nicbook_find(arg, node);
    if (found)
        memcpy(out, found->nics, found->count * sizeof *out);
    return found ? found->count : 0;
}

static const char *reported_after(const void *arg, const char *name)
{
    const struct nicbook_node *node = nicbook_at(arg, nicbook_after(arg, name));
    return node ? node->name : NULL;
}

UNIT(book__finds_nodes_and_owners)
{
    struct nicbook *book = nicbook_create();
    struct error err = {0};
    char name[16];
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "n%u", (i * 7) % 1000);
        add(book, name, 1, i << 12, 0);
        add(book, name, 0, (5000 + i) << 12, 0);
    }
    assert_int_equal(nicbook_add(book, "n7", &(struct nic){.device = 1}, &err), ERROR_INVALID);
    assert_words(err.text, "nic1 of n7 is there twice");
    nicbook_finish(book);
    assert_int_equal(nicbook_count(book), 1000);
    const struct nicbook_node *node = nicbook_find(book, "n7");
    assert_int_equal(node->count, 2);
    assert_int_equal(node->nics[0].device, 0);
    assert_int_equal(node->nics[0].address, 5001 << 12);
    assert_null(nicbook_find(book, "n1000"));
    assert_string_equal(nicbook_at(book, 0)->name, "n0");
    assert_string_equal(nicbook_at(book, nicbook_after(book, "n0"))->name, "n1");
    assert_null(nicbook_at(book, nicbook_after(book, "n999")));
    assert_false(node->nics[0].shared);
    nicbook_destroy(book);
}

UNIT(node__is_believed_before_the_file)
{
    struct nicbook *file = nicbook_create(), *told = nicbook_create();
    struct fabricmap *map = make_map();
    struct inventory_node node;
    (void)state;
    add(file, "n1", 0, dfa_of(0, 0, 2), FABRIC_UNKNOWN);
    add(file, "n1", 1, dfa_of(0, 0, 3), FABRIC_UNKNOWN);
    add(file, "n2", 0, dfa_of(0, 1, 5), FABRIC_UNKNOWN);
    add(told, "n1", 0, dfa_of(0, 1, 2), FABRIC_DOWN);
    add(told, "n1", 2, dfa_of(3, 0, 0), FABRIC_UP);
    add(told, "n3", 0, dfa_of(0, 1, 5), FABRIC_UP);
    nicbook_finish(file);
    nicbook_finish(told);
    const struct inventory_reports reports = {told, reported_nics, reported_after};
    const struct inventory inventory = {.map = map, .file = file, .nodes = &reports};

    assert_true(inventory_node(&inventory, "n1", &node));
    assert_true(node.reported && node.in_file);
    assert_int_equal(node.count, 3);
    assert_int_equal(node.nics[0].nic.address, dfa_of(0, 1, 2));
    assert_int_equal(node.nics[0].file_address, dfa_of(0, 0, 2));
    assert_int_equal(node.nics[0].source, SOURCE_NODE);
    assert_int_equal(node.nics[0].state, FABRIC_DOWN);
    assert_int_equal(node.nics[0].contradictions, NIC_ADDRESS_DIFFERS | NIC_STATE_DIFFERS);
    assert_int_equal(node.nics[1].source, SOURCE_FILE);
    assert_int_equal(node.nics[1].state, FABRIC_UP); /* as the fabric manager says */
    assert_int_equal(node.nics[1].contradictions, NIC_NOT_REPORTED);
    assert_int_equal(node.nics[2].nic.device, 2);
    assert_int_equal(node.nics[2].contradictions, NIC_NOT_IN_FILE | NIC_NO_PORT);
    assert_int_equal(node.nics[2].state, FABRIC_UP);

    assert_true(inventory_node(&inventory, "n2", &node));
    assert_int_equal(node.nics[0].state, FABRIC_DOWN);
    assert_true(inventory_node(&inventory, "n3", &node));
    assert_int_equal(node.nics[0].state, FABRIC_DOWN); /* one of the two says so */
    assert_int_equal(node.nics[0].contradictions, NIC_STATE_DIFFERS);
    assert_false(inventory_node(&inventory, "n4", &node));
    assert_string_equal(inventory_after(&inventory, ""), "n1");
    assert_string_equal(inventory_after(&inventory, "n1"), "n2");
    assert_string_equal(inventory_after(&inventory, "n2"), "n3");
    assert_null(inventory_after(&inventory, "n3"));
    nicbook_destroy(file);
    nicbook_destroy(told);
    fabricmap_destroy(map);
}

UNIT(address__of_two_nodes_is_shown)
{
    struct nicbook *file = nicbook_create();
    struct inventory_node node;
    (void)state;
    add(file, "n1", 0, dfa_of(0, 0, 2), FABRIC_UNKNOWN);
    add(file, "n2", 0, dfa_of(0, 0, 2), FABRIC_UNKNOWN);
    nicbook_finish(file);
    const struct inventory inventory = {.file = file};
    assert_true(inventory_node(&inventory, "n1", &node));
    assert_int_equal(node.nics[0].contradictions, NIC_SHARED);
    assert_int_equal(node.nics[0].port, -1);
    assert_int_equal(node.nics[0].state, FABRIC_UNKNOWN);
    nicbook_destroy(file);
}

UNIT(topology__tells_what_nodes_span)
{
    struct nicbook *file = nicbook_create();
    struct fabricmap *map = make_map();
    struct nodefold fold;
    (void)state;
    add(file, "n1", 0, dfa_of(0, 0, 2), FABRIC_UNKNOWN);
    add(file, "n1", 1, dfa_of(0, 1, 5), FABRIC_UNKNOWN); /* down */
    add(file, "n2", 0, dfa_of(0, 0, 3), FABRIC_UNKNOWN);
    add(file, "n3", 0, dfa_of(9, 1, 3), FABRIC_UNKNOWN);
    nicbook_finish(file);
    const struct inventory inventory = {.map = map, .file = file};
    struct topology *topology = topology_create();
    static const char *const nodes[] = {"n3", "n1", "n2", "n4"};
    for (unsigned i = 0; i < 4; i++)
        topology_add(topology, &inventory, nodes[i]);
    topology_finish(topology);
    assert_int_equal(topology->nodes, 4);
    assert_int_equal(topology->unplaced_count, 1);
    assert_int_equal(topology->nics, 4);
    assert_int_equal(topology->nics_down, 1);
    assert_int_equal(topology->groups, 2);
    assert_int_equal(topology->switch_count, 3);
    assert_int_equal(topology->switches[0].place, 0);
    assert_int_equal(topology->switches[0].nodes, 2);
    assert_int_equal(topology->switches[1].nodes, 0); /* n1's second NIC */
    assert_int_equal(topology->switches[1].nics_down, 1);
    assert_int_equal(topology->switches[2].place, dfa_place(dfa_of(9, 1, 0)));
    nodeset_fold(&topology->switches[0].names, &fold);
    assert_string_equal(fold.text, "n[1-2]");
    nodeset_fold(&topology->nodes_down, &fold);
    assert_string_equal(fold.text, "n1");
    nodeset_fold(&topology->unplaced, &fold);
    assert_string_equal(fold.text, "n4");
    topology_destroy(topology);
    nicbook_destroy(file);
    fabricmap_destroy(map);
}

static void expect_addresses(const struct inventory *inventory, const char *nodes, const char *text)
{
    enum nodeaddresses_lack lack;
    char *written = nodeaddresses_write(inventory, nodes, &lack);
    assert_int_equal(lack, NODEADDRESSES_COMPLETE);
    assert_string_equal(written, text);
    free(written);
}

UNIT(addresses__in_a_row_are_one_entry)
{
    struct nicbook *file = nicbook_create();
    enum nodeaddresses_lack lack;
    char name[16];
    (void)state;
    for (unsigned i = 1; i <= 20; i++) {
        snprintf(name, sizeof name, "n%u", i);
        add(file, name, 0, (0x1000 + i) << 12, 0);
        add(file, name, 1, (0x2000 - 4 * i) << 12, 0);
    }
    add(file, "n21", 2, 0x3000 << 12, 0);
    add(file, "n23", 0, 0x1017 << 12, 0);
    add(file, "a09", 0, 1 << 12, 0);
    add(file, "a10", 0, 2 << 12, 0);
    add(file, "login", 0, 0xfffffU << 12, 0);
    nicbook_finish(file);
    const struct inventory inventory = {.file = file};
    expect_addresses(&inventory, "n[1-20]", "n[1-20]=0x01001+1,0x01ffc-4");
    /* Only nodes of the list, in its order; what has no address is left out. */
    expect_addresses(&inventory, "n[3,19-24],a[08-10],login",
                     "n3=0x01003,0x01ff4;n[19-20]=0x01013+1,0x01fb4-4;n21=-,-,0x03000;"
                     "n23=0x01017;a[09-10]=0x00001+1;login=0xfffff");
    assert_null(nodeaddresses_write(&inventory, "b[1-9]", &lack));
    assert_int_equal(lack, NODEADDRESSES_UNKNOWN);
    assert_null(nodeaddresses_write(&inventory, NULL, &lack));
    assert_int_equal(lack, NODEADDRESSES_UNKNOWN);
    nicbook_destroy(file);
}

UNIT(addresses__that_are_irregular_are_bounded)
{
    struct nicbook *file = nicbook_create();
    enum nodeaddresses_lack lack;
    char name[16];
    (void)state;
    for (unsigned i = 1; i <= 11136; i++) {
        snprintf(name, sizeof name, "n%u", i);
        for (unsigned device = 0; device < 4; device++)
            add(file, name, device, ((i * 7919 + device * i * i) & NIC_ADDRESS_MAX) << 12, 0);
    }
    nicbook_finish(file);
    const struct inventory inventory = {.file = file};
    assert_null(nodeaddresses_write(&inventory, "n[1-11136]", &lack));
    assert_int_equal(lack, NODEADDRESSES_TOO_LONG);
    char *few = nodeaddresses_write(&inventory, "n[1-1000]", &lack);
    assert_non_null(few);
    free(few);
    nicbook_destroy(file);
}

UNIT_RUN(NULL, NULL)
