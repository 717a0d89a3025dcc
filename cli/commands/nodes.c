/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/command.h"
#include "cli/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* mcastctl nodes: what is known of nodes' NICs. */

static const char opening[] = "{\"nodes\":[";

/* "address-differs (file: 0x00042), no-port"; to be freed. */
static char *faults_of(const json_t *nic)
{
    char *text = memory_text("");
    const char *file = command_text(nic, "file_address");
    const json_t *word;
    size_t i;
    json_array_foreach(json_object_get(nic, "contradictions"), i, word)
    {
        const char *name = json_string_value(word);
        const bool differs = name && file && strcmp(name, "address-differs") == 0;
        char *more =
            memory_format("%s%s%s%s%s%s", text, i > 0 ? ", " : "", name ? name : "",
                          differs ? " (file: " : "", differs ? file : "", differs ? ")" : "");
        free(text);
        text = more;
    }
    return text;
}

/* A NIC of a node; or a node without. */
struct nic {
    const char *node;
    const json_t *json; /* or NULL */
};

#define CELL(name) static void name##_cell(struct table *table, const void *item)
#define TEXT_CELL(name)                                                                            \
    CELL(name)                                                                                     \
    {                                                                                              \
        const struct nic *nic = item;                                                              \
        table_cell(table, command_text(nic->json, #name));                                         \
    }

TEXT_CELL(address)
TEXT_CELL(port)
TEXT_CELL(switch)
TEXT_CELL(source)

CELL(node)
{
    const struct nic *nic = item;
    table_cell(table, nic->node);
}

CELL(device)
{
    const struct nic *nic = item;
    table_cell(table, nic->json ? command_text(nic->json, "device") : "none known");
}

CELL(state)
{
    const struct nic *nic = item;
    const char *state = command_text(nic->json, "state");
    table_cell(table, state);
    table_colour(table, state && strcmp(state, "down") == 0 ? PLAIN_BAD : PLAIN_NORMAL);
}

CELL(contradictions)
{
    const struct nic *nic = item;
    char *faults = faults_of(nic->json);
    table_cell(table, faults);
    table_colour(table, faults[0] ? PLAIN_BAD : PLAIN_NORMAL);
    free(faults);
}

static const struct column all_columns[] = {
    {"node", "<NODE", "its name", node_cell, NULL, false},
    {"nic", "NIC", "its device there", device_cell, NULL, false},
    {"address", "ADDRESS", "of the NIC on the fabric", address_cell, NULL, false},
    {"port", "PORT", "of the switch that it is at", port_cell, NULL, false},
    {"switch", "SWITCH", "which switch that is", switch_cell, NULL, false},
    {"state", "STATE", "of the link: up or down", state_cell, NULL, false},
    {"from", "FROM", "who told the address: node or file", source_cell, NULL, false},
    {"contradictions", "~CONTRADICTIONS", "between node, file and fabric manager",
     contradictions_cell, NULL, false},
    {0},
};
static const char usual[] = "node,nic,address,port,state,from,contradictions";

struct output {
    struct columns columns;
    struct table *table; /* NULL: JSON */
    uint64_t count, limit;
    uint64_t unknown; /* nodes without a NIC */
};

static void add_node(struct output *output, const char *name, const json_t *node)
{
    const json_t *nics = json_object_get(node, "nics");
    struct nic nic = {.node = name};
    size_t i = 0;
    output->unknown += json_array_size(nics) == 0;
    do {
        nic.json = json_array_get(nics, i++);
        columns_row(&output->columns, output->table, &nic);
    } while (i < json_array_size(nics));
}

static int print_node(const char *name, const char *json, void *data)
{
    struct output *output = data;
    if (output->table) {
        json_t *node = json_loads(json, 0, NULL);
        add_node(output, name, node);
        json_decref(node);
    } else {
        printf("%s\n  %s", output->count == 0 ? opening : ",", json);
    }
    output->count++;
    return output->count == output->limit ? 1 : 0;
}

enum { FORGET, LIMIT, OUTPUT, SORT, NO_HEADER };

static const struct command_option nodes_options[] = {
    [FORGET] = {"forget", "NODE"},     [LIMIT] = {"limit", "N"},
    [OUTPUT] = {"output", "COLUMNS"},  [SORT] = {"sort", "COLUMN"},
    [NO_HEADER] = {"no-header", NULL}, {0}};

static int forget(struct call *call)
{
    const char *node = call->given[FORGET];
    if (call->argument_count > 0)
        return command_misused(call, "one node to forget, and no other");
    const int rc = mcast_forget_node(call->handle, node, &call->error);
    if (rc < 0)
        return rc;
    printf("%s: what it told of its NICs is forgotten\n", node);
    return command_finish();
}

static int list_nodes(struct call *call, struct output *output)
{
    const int rc = mcast_nodes(call->handle, call->cluster, print_node, output, &call->error);
    if (rc >= 0 && call->json)
        printf("%s]}\n", output->count == 0 ? opening : "");
    else if (rc >= 0 && output->count == 0)
        fputs("mcastctl: no nodes are known: nodes in [cluster], or file in [inventory], names "
              "them\n",
              stderr);
    return rc;
}

static int show_node(struct call *call, struct output *output)
{
    char *json = NULL;
    const int rc = mcast_node(call->handle, call->arguments[0], &json, &call->error);
    if (rc == 0 && call->json)
        puts(json);
    else if (rc == 0)
        (void)print_node(call->arguments[0], json, output);
    free(json);
    return rc;
}

static int run_nodes(struct call *call)
{
    struct output output = {0};
    if (call->given[FORGET])
        return forget(call);
    if (call->argument_count > 1)
        return command_misused(call, "one node, or none for all");
    if (call->json && call->given[SORT])
        return command_misused(call, "--sort: sorts the NICs of the table; --json has the nodes in "
                                     "the broker's order");
    if (command_number(call, LIMIT, 1, INT64_MAX, &output.limit) < 0)
        return MCAST_USAGE;
    int rc = columns_read(call, call->given[OUTPUT], call->given[SORT], usual, &output.columns);
    if (rc != 0)
        return rc < 0 ? rc : MCAST_EXIT_OK;
    const uint64_t lines = call->given[SORT] && output.limit > 0 ? output.limit : UINT64_MAX;
    if (call->given[SORT])
        output.limit = 0;
    if (!call->json)
        output.table = columns_table(&output.columns);
    rc = call->argument_count == 1 ? show_node(call, &output) : list_nodes(call, &output);
    if (!output.table)
        return rc < 0 ? rc : command_finish();
    if (call->given[NO_HEADER])
        table_hide_names(output.table);
    columns_sort(&output.columns, output.table);
    table_limit(output.table, lines);
    const int printed = table_print(output.table);
    if (output.unknown > 0)
        fprintf(stderr,
                "mcastctl: no NIC is known of %llu node%s: mcast-node tend tells them, see "
                "mcast-node.timer there; or name them in file of [inventory]\n",
                (unsigned long long)output.unknown, output.unknown == 1 ? "" : "s");
    return rc < 0 ? rc : printed;
}

const struct command command_nodes = {"nodes",
                                      "show nodes, their NICs and addresses",
                                      COMMAND_OWN_ARGUMENTS,
                                      COMMAND_CONNECTED,
                                      nodes_options,
                                      .run = run_nodes,
                                      .argument = "NODE",
                                      .columns = all_columns};
