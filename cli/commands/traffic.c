/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/commands/live.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>

enum { LIVE, EVERY, THROUGH };
enum { EVERY_MIN_MS = 500, EVERY_DEFAULT_MS = 2000, EVERY_MAX_MS = 60 * 60 * 1000 };

static const struct command_option options[] = {[LIVE] = {"live", NULL},
                                                [EVERY] = {"every", "TIME"},
                                                [THROUGH] = {"through", "slurm,flux"},
                                                {0}};

static long long number_of(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static bool is_lacking(const json_t *traffic, const char *name)
{
    size_t i;
    const json_t *word;
    json_array_foreach(json_object_get(traffic, "lacking"), i, word)
    {
        if (strcmp(json_string_value(word) ? json_string_value(word) : "", name) == 0)
            return true;
    }
    return false;
}

static void add_amount(struct table *table, const json_t *traffic, const char *name,
                       const char *words)
{
    table_pair(table, words, "%lld%s", number_of(traffic, name),
               is_lacking(traffic, name) ? ", without nodes that cannot count it" : "");
}

static void add_nic(struct table *table, const json_t *traffic, const char *name,
                    const char *heading, const char *amount, const char *unit)
{
    const json_t *nic = json_object_get(traffic, name);
    const char *node = command_text(nic, "node"), *device = command_text(nic, "device");
    if (node && device && number_of(nic, amount) == 0 && strcmp(amount, "paused") == 0)
        table_pair(table, heading, "none: no NIC was paused");
    else if (node && device)
        table_pair(table, heading, "%s %s, %lld %s", node, device, number_of(nic, amount), unit);
}

static int print_traffic(const struct call *call, json_t *traffic)
{
    struct table *table = table_create_pairs();
    const char *state = command_text(traffic, "state"), *ended = command_text(traffic, "ended");
    const long long shared = number_of(traffic, "shared"), unclear = number_of(traffic, "unclear");
    table_pair(table, "Job", "%s/%s", call->cluster, call->job);
    table_pair(table, "State", "%s%s%s", state ? state : "-", ended ? " since " : "",
               ended ? ended : "");
    table_pair(table, "Nodes that reported counters", "%lld of %lld", number_of(traffic, "nodes"),
               number_of(traffic, "node_count"));
    if (shared > 0)
        table_pair(table, "With other jobs", "on %lld of these, whose traffic is in it", shared);
    if (unclear > 0)
        table_pair(table, "Not known", "of %lld NICs, whose counters were reset", unclear);
    table_pair(table, "Longest on a node", "%lld s", number_of(traffic, "seconds"));
    add_amount(table, traffic, "tx_octets", "Octets sent");
    add_amount(table, traffic, "rx_octets", "Octets received");
    add_amount(table, traffic, "tx_packets", "Packets sent");
    add_amount(table, traffic, "rx_packets", "Packets received");
    add_amount(table, traffic, "paused", "Cycles paused");
    add_nic(table, traffic, "slowest", "Fewest octets", "octets", "sent and received");
    add_nic(table, traffic, "congested", "Most congested", "paused", "cycles paused");
    return table_print(table);
}

static int run_traffic(struct call *call)
{
    char *json = NULL;
    struct live live = {.through = call->given[THROUGH], .every_ms = EVERY_DEFAULT_MS};
    unsigned word = 0;
    if (command_word(call, THROUGH, &word) < 0 ||
        command_duration(call, EVERY, EVERY_MAX_MS, &live.every_ms) < 0)
        return MCAST_USAGE;
    if (command_least(call, EVERY, live.every_ms, EVERY_MIN_MS) < 0)
        return MCAST_USAGE;
    if (call->given[LIVE])
        return live_run(call, &live);
    int rc = mcast_job_traffic(call->handle, call->cluster, call->job, &json, &call->error);
    return rc < 0 ? rc : command_print_answer(call, json, print_traffic);
}

const struct command command_traffic = {"traffic",         "show what a job's NICs have counted",
                                        COMMAND_KNOWN_JOB, COMMAND_CONNECTED,
                                        options,           .run = run_traffic};
