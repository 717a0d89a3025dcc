/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "cli/command.h"
#include "cli/plain.h"
#include "cli/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* mcastctl nodes: what is known of nodes' NICs. */

static const char opening[] = "{\"nodes\":[";

struct output {
    struct table *table; /* NULL: JSON */
    uint64_t count;
};

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

static void add_nic(struct table *table, const char *node, const json_t *nic)
{
    static const char *const members[] = {"device", "address", "port", "state", "source", NULL};
    char *faults = faults_of(nic);
    table_row(table);
    table_cell(table, node);
    for (const char *const *member = members; *member; member++)
        table_cell(table, command_text(nic, *member));
    table_cell(table, faults);
    free(faults);
}

static void add_node(struct table *table, const char *name, const json_t *node)
{
    const json_t *nics = json_object_get(node, "nics"), *nic;
    size_t i;
    json_array_foreach(nics, i, nic)
    {
        add_nic(table, name, nic);
    }
    if (json_array_size(nics) > 0)
        return;
    table_row(table);
    table_cell(table, name);
    table_cell(table, "-");
}

static int print_node(const char *name, const char *json, void *data)
{
    struct output *output = data;
    if (output->table) {
        json_t *node = json_loads(json, 0, NULL);
        add_node(output->table, name, node);
        json_decref(node);
    } else {
        printf("%s\n  %s", output->count == 0 ? opening : ",", json);
    }
    output->count++;
    return 0;
}

enum { FORGET };

static const struct command_option nodes_options[] = {[FORGET] = {"forget", true}, {0}};

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

static int run_nodes(struct call *call)
{
    struct output output = {0};
    int rc;
    if (call->given[FORGET])
        return forget(call);
    if (call->argument_count > 1)
        return command_misused(call, "one node, or none for all");
    if (!call->json)
        output.table = table_create("NODE,NIC,ADDRESS,PORT,STATE,FROM,~CONTRADICTIONS");
    if (call->argument_count == 1) {
        char *json = NULL;
        rc = mcast_node(call->handle, call->arguments[0], &json, &call->error);
        if (rc == 0 && call->json)
            return command_print_json(json);
        if (rc == 0)
            (void)print_node(call->arguments[0], json, &output);
        free(json);
    } else {
        rc = mcast_nodes(call->handle, call->cluster, print_node, &output, &call->error);
        if (rc == 0 && call->json)
            printf("%s]}\n", output.count == 0 ? opening : "");
        else if (rc == 0 && output.count == 0)
            fputs("mcastctl: no nodes are known: nodes in [cluster], or file in [inventory], "
                  "names them\n",
                  stderr);
    }
    const int printed = output.table ? table_print(output.table) : command_finish();
    return rc < 0 ? rc : printed;
}

const struct command command_nodes = {"nodes",
                                      "show nodes, their NICs and addresses",
                                      COMMAND_OWN_ARGUMENTS,
                                      COMMAND_CONNECTED,
                                      nodes_options,
                                      run_nodes};
