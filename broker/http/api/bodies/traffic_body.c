/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/bodies/bodies.h"

#include "core/reservation/nodes.h"

#include <stdio.h>
#include <string.h>

const char *const traffic_words[TRAFFIC_KINDS] = {
    [TRAFFIC_TX_OCTETS] = "tx_octets",   [TRAFFIC_RX_OCTETS] = "rx_octets",
    [TRAFFIC_TX_PACKETS] = "tx_packets", [TRAFFIC_RX_PACKETS] = "rx_packets",
    [TRAFFIC_PAUSED] = "paused",
};

enum { DEVICE_MAX = 15 };

/* {"device":"cxi0","octets":7}, and with "node" where that is wanted; value NULL: there is none. */
static int read_nic(const json_t *value, const char *name, const char *amount_word,
                    const char **node, const char **device, uint64_t *amount,
                    struct problem *problem)
{
    char within[32], field[48];
    int64_t number = 0;
    const struct body_field fields[] = {{"device", .text = device},
                                        {amount_word, .number = &number, .max = INT64_MAX},
                                        {node ? "node" : NULL, .text = node},
                                        {0}};
    if (!value)
        return 0;
    snprintf(within, sizeof within, "traffic.%s", name);
    if (!json_is_object(value))
        return problem_set(problem, 422, "invalid", within, "%s must be an object", within);
    if (body_read_fields(value, within, fields, problem) < 0)
        return -1;
    snprintf(field, sizeof field, "%s.device", within);
    if (!*device || !node_name_valid(*device) || strlen(*device) > DEVICE_MAX)
        return problem_set(problem, 422, "invalid", field,
                           "%s must be the name of a NIC: 1 to %d of A-Z, a-z, 0-9 and ._-", field,
                           DEVICE_MAX);
    *amount = (uint64_t)number;
    snprintf(field, sizeof field, "%s.node", within);
    if (node && (!*node || !node_name_valid(*node)))
        return problem_set(problem, 422, "invalid", field, "%s must be the node of the NIC", field);
    return 0;
}

int traffic_body_parse(const json_t *json, struct traffic_report *traffic, struct problem *problem)
{
    int64_t amounts[TRAFFIC_KINDS] = {-1, -1, -1, -1, -1}, seconds = 0, unclear = 0;
    const json_t *shared = NULL, *slowest = NULL, *congested = NULL;
    struct body_field fields[TRAFFIC_KINDS + 6] = {
        {"seconds", .number = &seconds, .max = UINT32_MAX},
        {"unclear", .number = &unclear, .max = NODENICS_NICS_MAX},
        {"shared", .value = &shared},
        {"slowest", .value = &slowest},
        {"congested", .value = &congested}};
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
        fields[5 + kind] = (struct body_field){traffic_words[kind], .number = &amounts[kind],
                                               .min = 0, .max = INT64_MAX};
    *traffic = (struct traffic_report){0};
    if (!json_is_object(json))
        return problem_set(problem, 422, "invalid", "traffic", "traffic must be an object");
    if (body_read_fields(json, "traffic", fields, problem) < 0 ||
        read_nic(slowest, "slowest", "octets", NULL, &traffic->slowest, &traffic->slowest_octets,
                 problem) < 0 ||
        read_nic(congested, "congested", "paused", NULL, &traffic->congested,
                 &traffic->congested_paused, problem) < 0)
        return -1;
    if (shared && !json_is_boolean(shared))
        return problem_set(problem, 422, "invalid", "traffic.shared",
                           "traffic.shared must be true or false: whether another job was on the "
                           "node meanwhile");
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++) {
        if (amounts[kind] < 0)
            traffic->lacking = (uint8_t)(traffic->lacking | 1 << kind);
        else
            traffic->amounts[kind] = (uint64_t)amounts[kind];
    }
    traffic->seconds = (uint32_t)seconds;
    traffic->unclear = (uint32_t)unclear;
    traffic->shared = json_is_true(shared);
    return 0;
}

static int read_lacking(const json_t *words, uint8_t *lacking, struct problem *problem)
{
    const json_t *word;
    size_t i;
    if (words && !json_is_array(words))
        return problem_set(problem, 422, "invalid", "traffic.lacking",
                           "traffic.lacking must be an array");
    json_array_foreach(words, i, word)
    {
        const char *text = json_string_value(word);
        int kind = 0;
        while (kind < TRAFFIC_KINDS && (!text || strcmp(text, traffic_words[kind]) != 0))
            kind++;
        if (kind == TRAFFIC_KINDS)
            return problem_set(problem, 422, "invalid", "traffic.lacking",
                               "traffic.lacking must name what some nodes cannot count, as "
                               "\"paused\"");
        *lacking = (uint8_t)(*lacking | 1 << kind);
    }
    return 0;
}

int traffic_sum_parse(const json_t *json, struct traffic_sum_body *out, struct problem *problem)
{
    int64_t amounts[TRAFFIC_KINDS] = {0}, seconds = 0, unclear = 0, shared = 0, told = 0;
    const json_t *slowest = NULL, *congested = NULL, *lacking = NULL;
    const char *nodes[2] = {NULL, NULL}, *devices[2] = {NULL, NULL};
    struct traffic_record *sum = &out->sum;
    struct body_field fields[TRAFFIC_KINDS + 8] = {
        {"nodes", .number = &told, .min = 1, .max = NODELIST_COUNT_MAX},
        {"seconds", .number = &seconds, .max = UINT32_MAX},
        {"unclear", .number = &unclear, .max = UINT32_MAX},
        {"shared", .number = &shared, .max = NODELIST_COUNT_MAX},
        {"lacking", .value = &lacking},
        {"slowest", .value = &slowest},
        {"congested", .value = &congested}};
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
        fields[7 + kind] =
            (struct body_field){traffic_words[kind], .number = &amounts[kind], .max = INT64_MAX};
    *sum = (struct traffic_record){0};
    if (!json_is_object(json))
        return problem_set(problem, 422, "invalid", "traffic", "traffic must be an object");
    if (body_read_fields(json, "traffic", fields, problem) < 0 ||
        read_lacking(lacking, &sum->lacking, problem) < 0 ||
        read_nic(slowest, "slowest", "octets", &nodes[0], &devices[0], &sum->slowest_octets,
                 problem) < 0 ||
        read_nic(congested, "congested", "paused", &nodes[1], &devices[1], &sum->congested_paused,
                 problem) < 0)
        return -1;
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
        sum->amounts[kind] = (uint64_t)amounts[kind];
    snprintf(out->slowest, sizeof out->slowest, "%s/%s", nodes[0] ? nodes[0] : "",
             devices[0] ? devices[0] : "");
    snprintf(out->congested, sizeof out->congested, "%s/%s", nodes[1] ? nodes[1] : "",
             devices[1] ? devices[1] : "");
    sum->slowest = slowest ? out->slowest : NULL;
    sum->congested = congested ? out->congested : NULL;
    sum->told = (uint32_t)told;
    sum->seconds = (uint32_t)seconds;
    sum->unclear = (uint32_t)unclear;
    sum->shared = (uint32_t)shared;
    return 0;
}
