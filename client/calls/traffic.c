/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/traffic.h"

#include "client/text.h"

#include <stdlib.h>
#include <string.h>

static json_t *encode_nic(const char *device, const char *word, uint64_t amount)
{
    return json_pack("{s:s,s:I}", "device", device, word, (json_int_t)amount);
}

json_t *traffic_encode(const struct mcast_node_traffic *of)
{
    const struct {
        const char *name;
        uint64_t amount;
    } amounts[] = {{"tx_octets", of->tx_octets},
                   {"rx_octets", of->rx_octets},
                   {"tx_packets", of->tx_packets},
                   {"rx_packets", of->rx_packets},
                   {"paused", of->paused}};
    json_t *body = json_pack("{s:I,s:I,s:b}", "seconds", (json_int_t)of->seconds, "unclear",
                             (json_int_t)of->unclear, "shared", (int)of->shared);
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++)
        body = call_add(body, amounts[i].name, amounts[i].amount <= INT64_MAX,
                        json_integer((json_int_t)amounts[i].amount));
    body = call_add(body, "slowest", of->slowest,
                    of->slowest ? encode_nic(of->slowest, "octets", of->slowest_octets) : NULL);
    return call_add(body, "congested", of->congested,
                    of->congested ? encode_nic(of->congested, "paused", of->congested_paused)
                                  : NULL);
}

char *mcast_node_traffic_json(const struct mcast_node_traffic *traffic)
{
    struct mcast_node_traffic mine = MCAST_NODE_TRAFFIC_INIT;
    struct mcast_error error;
    if (struct_adopt(&mine, traffic, "MCAST_NODE_TRAFFIC_INIT", &error) < 0)
        return NULL;
    json_t *json = traffic_encode(&mine);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return text;
}

/* ---- the sum of many nodes ---- */

enum { AMOUNTS = 5, SLOWEST = 0, CONGESTED = 1, NICS = 2 };

static const char *const amount_words[AMOUNTS] = {"tx_octets", "rx_octets", "tx_packets",
                                                  "rx_packets", "paused"};
static const char *const nic_words[NICS] = {"slowest", "congested"};
static const char *const nic_amounts[NICS] = {"octets", "paused"};

struct nic {
    char *node, *device; /* NULL: none is known */
    json_int_t amount;
};

struct mcast_traffic_sum {
    json_int_t amounts[AMOUNTS];
    bool lacking[AMOUNTS];
    json_int_t nodes, seconds, unclear, shared;
    struct nic nics[NICS];
};

struct mcast_traffic_sum *mcast_traffic_sum_create(void)
{
    return calloc(1, sizeof(struct mcast_traffic_sum));
}

void mcast_traffic_sum_free(struct mcast_traffic_sum *sum)
{
    for (int i = 0; sum && i < NICS; i++) {
        free(sum->nics[i].node);
        free(sum->nics[i].device);
    }
    free(sum);
}

static json_int_t number_of(const json_t *object, const char *name)
{
    const json_int_t number = json_integer_value(json_object_get(object, name));
    return number > 0 ? number : 0;
}

static void add_bounded(json_int_t *sum, json_int_t more)
{
    *sum = more > INT64_MAX - *sum ? INT64_MAX : *sum + more;
}

/* Of NICs that are alike the first by name counts: no matter what comes first. */
static void name_nic(struct nic *known, const char *node, const json_t *nic, int which)
{
    const char *device = json_string_value(json_object_get(nic, "device"));
    const json_int_t amount = number_of(nic, nic_amounts[which]);
    const json_int_t better = which == SLOWEST ? known->amount - amount : amount - known->amount;
    if (!device ||
        (known->node && (better < 0 || (better == 0 && strverscmp(node, known->node) >= 0))))
        return;
    char *node_copy = strdup(node), *device_copy = strdup(device);
    if (!node_copy || !device_copy) { /* the sum is of all numbers, without this name */
        free(node_copy);
        free(device_copy);
        return;
    }
    free(known->node);
    free(known->device);
    known->node = node_copy;
    known->device = device_copy;
    known->amount = amount;
}

int mcast_traffic_sum_add(struct mcast_traffic_sum *sum, const char *node, const char *traffic,
                          struct mcast_error *error)
{
    const int rc = names_check_node(node, error);
    json_t *of = rc == 0 && traffic ? json_loads(traffic, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (!json_is_object(of)) {
        json_decref(of);
        return rc < 0 ? rc
                      : fault_set(error, MCAST_USAGE, "the traffic of a node is no JSON object");
    }
    for (int i = 0; i < AMOUNTS; i++) {
        const json_t *amount = json_object_get(of, amount_words[i]);
        sum->lacking[i] |= !json_is_integer(amount);
        add_bounded(&sum->amounts[i], number_of(of, amount_words[i]));
    }
    const json_int_t seconds = number_of(of, "seconds");
    sum->seconds = seconds > sum->seconds ? seconds : sum->seconds;
    add_bounded(&sum->unclear, number_of(of, "unclear"));
    sum->shared += json_is_true(json_object_get(of, "shared"));
    sum->nodes++;
    for (int i = 0; i < NICS; i++)
        name_nic(&sum->nics[i], node, json_object_get(of, nic_words[i]), i);
    json_decref(of);
    return 0;
}

json_t *traffic_sum_encode(const struct mcast_traffic_sum *sum)
{
    json_t *lacking = json_array();
    json_t *body = json_pack(
        "{s:I,s:I,s:I,s:I}", "nodes", sum->nodes, "seconds",
        sum->seconds < UINT32_MAX ? sum->seconds : (json_int_t)UINT32_MAX, "unclear",
        sum->unclear < UINT32_MAX ? sum->unclear : (json_int_t)UINT32_MAX, "shared", sum->shared);
    for (int i = 0; i < AMOUNTS; i++) {
        body = call_add(body, amount_words[i], true, json_integer(sum->amounts[i]));
        if (sum->lacking[i])
            (void)json_array_append_new(lacking, json_string(amount_words[i]));
    }
    body = call_add(body, "lacking", json_array_size(lacking) > 0, lacking);
    for (int i = 0; i < NICS; i++) {
        const struct nic *nic = &sum->nics[i];
        body = call_add(body, nic_words[i], nic->node,
                        nic->node ? json_pack("{s:s,s:s,s:I}", "node", nic->node, "device",
                                              nic->device, nic_amounts[i], nic->amount)
                                  : NULL);
    }
    return body;
}
