/* SPDX-License-Identifier: Apache-2.0 */
/* inventory: the node's NICs, for people and for the broker (P2). */

#include "base/memory.h"
#include "node/commands/command.h"
#include "node/record/inventory.h"

#include <stdio.h>
#include <string.h>

static const char *word_of(const json_t *nic, const char *name)
{
    const char *word = json_string_value(json_object_get(nic, name));
    return word ? word : "-";
}

static void print_table(const json_t *nics)
{
    printf("%-8s %-10s %-5s %8s %-20s %s\n", "NIC", "ADDRESS", "LINK", "MBIT/S", "SERIAL",
           "FIRMWARE");
    for (size_t i = 0; i < json_array_size(nics); i++) {
        const json_t *nic = json_array_get(nics, i);
        char address[16];
        snprintf(address, sizeof address, "0x%llx",
                 (unsigned long long)json_integer_value(json_object_get(nic, "address")));
        printf("%-8s %-10s %-5s %8lld %-20s %s\n", word_of(nic, "device"), address,
               word_of(nic, "link"), (long long)json_integer_value(json_object_get(nic, "speed")),
               word_of(nic, "serial"), word_of(nic, "firmware"));
    }
}

static int run_inventory(struct node *node, const struct command_options *options)
{
    struct error err;
    struct mcast_error error;
    int rc = COMMAND_DONE;
    json_t *nics = inventory_make(node, &err);
    if (!nics)
        return command_failed(&err);
    if (options->json) {
        json_t *root = memory_must(json_pack("{s:s,s:O}", "node", node->name, "nics", nics));
        (void)json_dumpf(root, stdout, JSON_INDENT(2)); /* command_finish sees what fails */
        putchar('\n');
        json_decref(root);
    } else {
        print_table(nics);
        if (json_array_size(nics) == 0)
            say("this node has no Slingshot NIC, or no libcxi.so.1 (node.conf: libcxi)");
    }
    if (options->report && node_remember(node, true, &err) < 0)
        rc = command_failed(&err);
    else if (options->report && inventory_report(node, nics, &error) < 0) {
        say("the NICs are not reported: %s", error.text);
        rc = command_exit(&error);
    }
    json_decref(nics);
    return rc;
}

const struct command command_inventory = {"inventory", "the node's NICs; and reports them", "JO",
                                          SPOOL_IGNORED, run_inventory};
