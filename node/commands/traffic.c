/* SPDX-License-Identifier: Apache-2.0 */
/* traffic: what the node's NICs count now (P6). */

#include "base/memory.h"
#include "node/commands/command.h"
#include "node/services/counters.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { OVER_DEFAULT_MS = 1000, REPEAT_MIN_MS = 100 };

static void read_all(const struct node *node, struct counters counters[NIC_MAX])
{
    for (unsigned int i = 0; i < node->nics.count; i++)
        counters_read(&node->settings, node->nics.at[i].name, &counters[i]);
}

static void wait_for(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

static bool counted(const struct counters *from, const struct counters *to, int kind,
                    uint64_t *amount)
{
    const bool known = from->known & to->known & 1 << kind && to->of[kind] >= from->of[kind];
    *amount = known ? to->of[kind] - from->of[kind] : 0;
    return known;
}

static void print_table(const struct node *node, const struct counters *from,
                        const struct counters *to)
{
    printf("%-16s %-8s", "NODE", "NIC");
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
        printf(" %16s", counters_words[kind]);
    putchar('\n');
    for (unsigned int i = 0; i < node->nics.count; i++) {
        printf("%-16s %-8s", node->name, node->nics.at[i].name);
        for (int kind = 0; kind < TRAFFIC_KINDS; kind++) {
            uint64_t amount;
            if (counted(&from[i], &to[i], kind, &amount))
                printf(" %16llu", (unsigned long long)amount);
            else
                printf(" %16s", "-");
        }
        putchar('\n');
    }
}

static void print_json(const struct node *node, const struct counters *from,
                       const struct counters *to, int64_t over_ms)
{
    json_t *nics = memory_must(json_array());
    for (unsigned int i = 0; i < node->nics.count; i++) {
        json_t *nic = memory_must(json_pack("{s:s}", "device", node->nics.at[i].name));
        uint64_t amount;
        for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
            if (counted(&from[i], &to[i], kind, &amount))
                json_object_set_new(nic, counters_words[kind], json_integer((json_int_t)amount));
        json_array_append_new(nics, nic);
    }
    json_t *root = memory_must(json_pack("{s:s,s:I,s:o}", "node", node->name, "over_ms",
                                         (json_int_t)over_ms, "nics", nics));
    (void)json_dumpf(root, stdout,
                     JSON_COMPACT); /* a node a line; command_finish sees what fails */
    putchar('\n');
    json_decref(root);
}

static int run_traffic(struct node *node, const struct command_options *options)
{
    const int64_t over_ms = options->over_ms >= 0 ? options->over_ms : OVER_DEFAULT_MS;
    struct counters from[NIC_MAX], to[NIC_MAX];
    struct error err;
    uint8_t known = 0;
    if (node_find_nics(node, &err) < 0)
        return command_failed(&err);
    if (options->repeat && over_ms < REPEAT_MIN_MS)
        return command_misused(options->command, "--repeat: --over of %d ms at least",
                               REPEAT_MIN_MS);
    read_all(node, to);
    for (unsigned int i = 0; i < node->nics.count; i++)
        known |= to[i].known;
    if (known == 0 && node->nics.count > 0)
        say("warning: none of the counters that node.conf names is in %s/%s/device/telemetry",
            node->settings.sysfs, node->nics.at[0].name);
    do {
        memcpy(from, to, sizeof from);
        wait_for(over_ms);
        read_all(node, to);
        if (options->json)
            print_json(node, from, to, over_ms);
        else
            print_table(node, from, to);
    } while (options->repeat && fflush(stdout) == 0); /* until it is ended, or nobody reads */
    return COMMAND_DONE;
}

const struct command command_traffic = {"traffic", "what its NICs count now", "JVE", SPOOL_IGNORED,
                                        run_traffic};
