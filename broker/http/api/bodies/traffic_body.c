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

/* {"device":"cxi0","octets":7}; value NULL: there is none. */
static int read_nic(const json_t *value, const char *name, const char *amount_word,
                    const char **device, uint64_t *amount, struct problem *problem)
{
    char within[32], field[48];
    int64_t number = 0;
    const struct body_field fields[] = {
        {"device", .text = device}, {amount_word, .number = &number, .max = INT64_MAX}, {0}};
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
        read_nic(slowest, "slowest", "octets", &traffic->slowest, &traffic->slowest_octets,
                 problem) < 0 ||
        read_nic(congested, "congested", "paused", &traffic->congested, &traffic->congested_paused,
                 problem) < 0)
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
