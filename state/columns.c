/* SPDX-License-Identifier: Apache-2.0 */
#include "state/columns.h"

#include "base/names.h"
#include "base/steppath.h"
#include "core/inventory/nodenics.h"
#include "core/reservation/nodes.h"
#include "core/reservation/partitions.h"
#include "core/inventory/traffic.h"

#include <assert.h>
#include <string.h>

/* Leaves room for all that the broker will count: it must not overflow later. At a million a second
 * it takes 146,000 years to get here. */
#define COUNTER_MAX (INT64_MAX / 2)

/* The last moment of the year 9999. No clock shows a later one, and sums of times fit. */
#define TIME_MAX_MS INT64_C(253402300799999)

#define SIZE_OF(member) sizeof(((const struct record *)0)->u.member)
#define NUMBER(column, member, low, high)                                                          \
    {                                                                                              \
        .name = (column), .offset = offsetof(struct record, u.member), .type = COLUMN_NUMBER,      \
        .fault = column " is out of range", .size = SIZE_OF(member), .min = (low), .max = (high)   \
    }
#define TIME(column, member) NUMBER(column, member, 0, TIME_MAX_MS)
#define TEXT(column, member, never_null, check, sentence)                                          \
    {                                                                                              \
        .name = (column), .offset = offsetof(struct record, u.member), .type = COLUMN_TEXT,        \
        .fault = column " is " sentence, .required = (never_null), .possible = (check)             \
    }
#define TOKEN(column, member, never_null, check, sentence, place)                                  \
    {                                                                                              \
        .name = (column), .offset = offsetof(struct record, u.member), .type = COLUMN_TOKEN,       \
        .fault = column " " sentence, .required = (never_null), .possible = (check),               \
        .sealed = (place)                                                                          \
    }
#define COLUMNS(word, columns)                                                                     \
    {                                                                                              \
        (word), (columns), sizeof columns / sizeof columns[0]                                      \
    }

/* What a job has. */
#define HOLDINGS(of)                                                                               \
    NUMBER("node_count", of.node_count, 0, UINT32_MAX),                                            \
        NUMBER("addresses", of.addresses, 0, UINT32_MAX),                                          \
        NUMBER("vni0", of.vnis[0], 0, UINT16_MAX), NUMBER("vni1", of.vnis[1], 0, UINT16_MAX),      \
        NUMBER("vni2", of.vnis[2], 0, UINT16_MAX), NUMBER("vni3", of.vnis[3], 0, UINT16_MAX),      \
        NUMBER("vni_count", of.vni_count, 0, VNI_PER_JOB_MAX)

#define EVENT_COUNT_(name, word, fatal) +1
enum { EVENT_KIND_LAST = 0 EVENT_KINDS(EVENT_COUNT_) };
#undef EVENT_COUNT_

static bool is_token(const char *text)
{
    assert(text);
    return strlen(text) <= TOKEN_MAX;
}

static bool is_node_list(const char *text)
{
    uint32_t count;
    return nodelist_count(text, &count, NULL) == 0;
}

static bool is_key(const char *text)
{
    assert(text);
    return strlen(text) == JOB_KEY_LENGTH;
}

static bool is_boot(const char *text)
{
    assert(text);
    return strlen(text) <= BOOT_ID_MAX;
}

static const struct column reservation[] = {
    NUMBER("number", reservation.number, 1, INT64_MAX),
    NUMBER("uid", reservation.uid, 0, UINT32_MAX),
    HOLDINGS(reservation),
    NUMBER("cores_per_node", reservation.cores_per_node, 0, UINT32_MAX),
    NUMBER("min_nodes", reservation.min_nodes, 0, UINT32_MAX),
    NUMBER("vni_asked", reservation.vni_asked, 0, VNI_PER_JOB_MAX),
    NUMBER("traffic_classes", reservation.traffic_classes, 0, TC_ALL),
    NUMBER("wish", reservation.wish, WISH_AUTO, WISH_REQUIRED),
    NUMBER("state", reservation.state, JOB_ACTIVE, JOB_RELEASING),
    NUMBER("hwcoll", reservation.hwcoll, HWCOLL_OFF, HWCOLL_RELEASED),
    NUMBER("fm_side", reservation.fm_side, FM_SIDE_NOTHING, FM_SIDE_THERE),
    TIME("created_ms", reservation.created_ms),
    TIME("released_ms", reservation.released_ms),
    TIME("hold_until_ms", reservation.hold_until_ms),
    NUMBER("regranted", reservation.regranted, 0, 1),
    NUMBER("node_number", reservation.node_number, 0, INT64_MAX),
    NUMBER("origin", reservation.origin, ORIGIN_JOB, ORIGIN_PLUGIN),
    NUMBER("launched", reservation.launched, 0, 1),
    NUMBER("interconnect", reservation.interconnect, 0, INTERCONNECT_COUNT - 1),
    NUMBER("tasks_per_node", reservation.tasks_per_node, 0, UINT32_MAX),
    NUMBER("cpus_per_task", reservation.cpus_per_task, 0, UINT32_MAX),
    NUMBER("pkey", reservation.pkey, 0, 0x7ffe),
    NUMBER("shared_count", reservation.shared_count, 0, VNI_PER_JOB_MAX),
    TEXT("cluster", reservation.cluster, true, cluster_name_valid, "not a cluster's name"),
    TEXT("job", reservation.job, true, job_id_valid, "not a job id"),
    TEXT("reason", reservation.reason, false, NULL, "wrong"),
    TOKEN("token", reservation.token, false, is_token, "is too long", SEALED_TOKEN),
    TOKEN("job_key", reservation.key, false, is_key, "is not of 32 bytes", SEALED_KEY),
    TEXT("profile", reservation.profile, false, profile_name_valid, "not a profile's name"),
    TEXT("nodes", reservation.nodes, false, NULL, "wrong"),
};

static const struct column event[] = {
    NUMBER("seq", event.seq, 1, INT64_MAX),
    TIME("time_ms", event.time_ms),
    NUMBER("number", event.number, 0, INT64_MAX),
    NUMBER("uid", event.uid, 0, UINT32_MAX),
    NUMBER("kind", event.kind, EVENT_NONE + 1, EVENT_KIND_LAST),
    NUMBER("proof", event.proof, 0, INT64_MAX),
    HOLDINGS(event),
    NUMBER("state", event.state, 0, JOB_RELEASING),
    TEXT("cluster", event.cluster, false, cluster_name_valid, "not a cluster's name"),
    TEXT("job", event.job, false, job_id_valid, "not a job id"),
    TEXT("detail", event.detail, false, NULL, "wrong"),
    TEXT("node", event.node, false, node_name_valid, "not a node's name"),
    TEXT("clusters", event.clusters, false, shared_clusters_valid, "not a list of clusters"),
};

static const struct column node[] = {
    NUMBER("number", node.number, 1, INT64_MAX),
    TEXT("node", node.node, true, node_name_valid, "not a node's name"),
    NUMBER("state", node.state, NODE_CREATED, NODE_FENCED),
    TEXT("services", node.services, false, node_services_valid, "not a list of services"),
    NUMBER("order", node.order, 0, INT64_MAX),
    NUMBER("sums", node.sums, 0, UINT32_MAX),
};

static const struct column sum[] = {
    NUMBER("number", sum.number, 1, INT64_MAX),
    NUMBER("sum", sum.sum, 1, UINT32_MAX),
    NUMBER("state", sum.state, NODE_DESTROYED, NODE_LINGERING),
    TEXT("nodes", sum.nodes, true, is_node_list, "not a node list"),
};

static const struct column cleanup[] = {
    NUMBER("number", cleanup.number, 1, INT64_MAX),
    TEXT("step", cleanup.step, true, steppath_valid, "not a step's name"),
    NUMBER("below", cleanup.below, 0, 1),
    TIME("give_up_ms", cleanup.give_up_ms),
};

static const struct column facts[] = {
    NUMBER("round_number", facts.round_number, 0, INT64_MAX),
    NUMBER("next_vni", facts.next_vni, 0, UINT16_MAX + 1),
    NUMBER("suspect", facts.suspect, 0, 1),
    NUMBER("shared", facts.shared, 0, 1),
    TEXT("boot", facts.boot, true, is_boot, "missing or too long"),
    TIME("clock_ms", facts.clock_ms),
    TIME("holds_from_ms", facts.holds_from_ms),
};

static const struct column counters[] = {
    NUMBER("last_number", counters.last_number, 0, COUNTER_MAX),
    NUMBER("last_seq", counters.last_seq, 0, COUNTER_MAX),
};

static const struct column root_keys[] = {
    TOKEN("keys", root_keys, true, is_token, "are missing or too long", SEALED_ROOT_KEYS),
};

static const struct column node_nics[] = {
    TEXT("node", nics.node, true, node_name_valid, "not a node's name"),
    NUMBER("order", nics.order, 1, INT64_MAX),
    TIME("changed_ms", nics.changed_ms),
    TEXT("nics", nics.nics, true, nodenics_valid, "not a list of NICs"),
};

#define AMOUNT(column, kind) NUMBER(column, traffic.amounts[kind], 0, INT64_MAX)

static const struct column traffic[] = {
    NUMBER("seq", traffic.seq, 1, INT64_MAX),
    NUMBER("number", traffic.number, 1, INT64_MAX),
    TIME("ended_ms", traffic.ended_ms),
    AMOUNT("tx_octets", TRAFFIC_TX_OCTETS),
    AMOUNT("rx_octets", TRAFFIC_RX_OCTETS),
    AMOUNT("tx_packets", TRAFFIC_TX_PACKETS),
    AMOUNT("rx_packets", TRAFFIC_RX_PACKETS),
    AMOUNT("paused", TRAFFIC_PAUSED),
    NUMBER("slowest_octets", traffic.slowest_octets, 0, INT64_MAX),
    NUMBER("congested_paused", traffic.congested_paused, 0, INT64_MAX),
    NUMBER("uid", traffic.uid, 0, UINT32_MAX),
    NUMBER("node_count", traffic.node_count, 0, UINT32_MAX),
    NUMBER("told", traffic.told, 0, UINT32_MAX),
    NUMBER("shared", traffic.shared, 0, UINT32_MAX),
    NUMBER("unclear", traffic.unclear, 0, UINT32_MAX),
    NUMBER("seconds", traffic.seconds, 0, UINT32_MAX),
    NUMBER("lacking", traffic.lacking, 0, (1 << TRAFFIC_KINDS) - 1),
    TEXT("cluster", traffic.cluster, true, cluster_name_valid, "not a cluster's name"),
    TEXT("job", traffic.job, true, job_id_valid, "not a job id"),
    TEXT("slowest", traffic.slowest, false, traffic_nic_valid, "not a node's NIC"),
    TEXT("congested", traffic.congested, false, traffic_nic_valid, "not a node's NIC"),
};

static const struct column traffic_gone[] = {NUMBER("seq", traffic_gone, 1, INT64_MAX)};
static const struct column shared_vni[] = {
    NUMBER("vni", shared_vni.vni, 0, UINT16_MAX),
    NUMBER("uid", shared_vni.uid, 0, UID_UNKNOWN - 1),
    NUMBER("state", shared_vni.state, SHARED_OPEN, SHARED_QUARANTINED),
    TIME("created_ms", shared_vni.created_ms),
    TIME("expires_ms", shared_vni.expires_ms),
    TEXT("name", shared_vni.name, true, shared_name_valid, "not a shared VNI's name"),
    TEXT("users", shared_vni.users, true, shared_users_valid, "not a list of uids"),
    TEXT("clusters", shared_vni.clusters, true, shared_clusters_valid, "not a list of clusters"),
};

static const struct column partitions[] = {
    TEXT("others", partitions, true, partitions_text_valid, "not a list of partitions"),
};

static const struct column shared_gone[] = {NUMBER("vni", shared_gone, 0, UINT16_MAX)};
static const struct column gone[] = {NUMBER("number", gone, 1, INT64_MAX)};
static const struct column prune[] = {NUMBER("seq", prune, 0, INT64_MAX)};

const struct columns record_columns[RECORD_KINDS] = {
    [RECORD_RESERVATION] = COLUMNS("reservation", reservation),
    [RECORD_GONE] = COLUMNS(NULL, gone),
    [RECORD_EVENT] = COLUMNS("event", event),
    [RECORD_PRUNE] = COLUMNS(NULL, prune),
    [RECORD_COUNTERS] = COLUMNS("counters", counters),
    [RECORD_FOUNDED] = {"founded", NULL, 0},
    [RECORD_NODE] = COLUMNS("node", node),
    [RECORD_CLEANUP] = COLUMNS("cleanup", cleanup),
    [RECORD_CLEANED] = {NULL, cleanup, 3}, /* without give_up_ms */
    [RECORD_FACTS] = COLUMNS("facts", facts),
    [RECORD_SUM] = COLUMNS("sum", sum),
    [RECORD_ROOT_KEYS] = COLUMNS("root_keys", root_keys),
    [RECORD_NODE_NICS] = COLUMNS("node_nics", node_nics),
    [RECORD_NODE_NICS_GONE] = {NULL, node_nics, 1}, /* the node */
    [RECORD_TRAFFIC] = COLUMNS("traffic", traffic),
    [RECORD_TRAFFIC_GONE] = COLUMNS(NULL, traffic_gone),
    [RECORD_SHARED_VNI] = COLUMNS("shared_vni", shared_vni),
    [RECORD_SHARED_GONE] = COLUMNS(NULL, shared_gone),
    [RECORD_PARTITIONS] = COLUMNS("partitions", partitions),
};

int64_t column_number(const struct column *column, const struct record *record)
{
    assert(column->type == COLUMN_NUMBER);
    const void *at = (const char *)record + column->offset;
    switch (column->size) {
    case sizeof(uint8_t):
        return *(const uint8_t *)at;
    case sizeof(uint16_t):
        return *(const uint16_t *)at;
    case sizeof(uint32_t):
        return *(const uint32_t *)at;
    default:
        assert(column->size == sizeof(int64_t));
        return *(const int64_t *)at;
    }
}

void column_set_number(const struct column *column, struct record *record, int64_t value)
{
    assert(column->type == COLUMN_NUMBER && value >= column->min && value <= column->max);
    void *at = (char *)record + column->offset;
    switch (column->size) {
    case sizeof(uint8_t):
        *(uint8_t *)at = (uint8_t)value;
        break;
    case sizeof(uint16_t):
        *(uint16_t *)at = (uint16_t)value;
        break;
    case sizeof(uint32_t):
        *(uint32_t *)at = (uint32_t)value;
        break;
    default:
        assert(column->size == sizeof(int64_t));
        *(int64_t *)at = value;
    }
}

_Static_assert(sizeof(struct secret) == sizeof(char *), "a token is kept as a text is");

const char *column_text(const struct column *column, const struct record *record)
{
    const char *text;
    assert(column->type != COLUMN_NUMBER);
    memcpy(&text, (const char *)record + column->offset, sizeof text);
    return text;
}

void column_set_text(const struct column *column, struct record *record, const char *text)
{
    assert(column->type != COLUMN_NUMBER);
    memcpy((char *)record + column->offset, &text, sizeof text);
}

bool column_possible(const struct column *column, const struct record *record)
{
    assert(column->name && column->fault);
    if (column->type == COLUMN_NUMBER) {
        const int64_t number = column_number(column, record);
        return number >= column->min && number <= column->max;
    }
    const char *text = column_text(column, record);
    return text ? !column->possible || column->possible(text) : !column->required;
}

const char *record_fault(const struct record *record)
{
    assert(record);
    if (record->kind < RECORD_RESERVATION || record->kind >= RECORD_KINDS)
        return "kind is unknown";
    const struct columns *columns = &record_columns[record->kind];
    for (size_t i = 0; i < columns->count; i++)
        if (!column_possible(&columns->all[i], record))
            return columns->all[i].fault;
    return record_misfit(record);
}

const char *record_misfit(const struct record *record)
{
    assert(record);
    const struct event_record *e = &record->u.event;
    return record->kind == RECORD_EVENT && e->job && !e->cluster ? "cluster is missing" : NULL;
}
