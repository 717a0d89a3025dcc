#include "broker/http/api/bodies/reserve_body.h"

#include "broker/http/request/json_scan.h"
#include "base/names.h"
#include "base/nodelist.h"

#include <stdio.h>
#include <string.h>

enum { CORES_MAX = 1000000 };

enum member { UID, NODES, NODE_COUNT, CORES_PER_NODE, VNI_COUNT, HWCOLL, TRAFFIC_CLASSES };
static const char *const names[] = {
    [UID] = "uid",
    [NODES] = "nodes",
    [NODE_COUNT] = "node_count",
    [CORES_PER_NODE] = "cores_per_node",
    [VNI_COUNT] = "vni_count",
    [HWCOLL] = "hwcoll",
    [TRAFFIC_CLASSES] = "traffic_classes",
    NULL,
};

/* What was read so far. */
struct reading {
    struct reserve_request *request;
    uint32_t seen; /* bits by enum member */
    uint32_t told; /* node_count */
};

static bool has(const struct reading *reading, enum member member)
{
    return reading->seen >> member & 1;
}

static int read_number(struct json_scan *scan, enum member member, uint32_t min, uint32_t max,
                       uint32_t *out)
{
    int64_t value;
    if (json_scan_number(scan, names[member], min, max, &value) < 0)
        return -1;
    *out = (uint32_t)value;
    return 0;
}

static int read_nodes(struct json_scan *scan, struct reserve_request *request)
{
    char *nodes;
    struct error err;
    if (json_scan_text(scan, "nodes", &nodes) < 0)
        return -1;
    if (strlen(nodes) > NODES_TEXT_MAX)
        return problem_set(scan->problem, 422, "invalid", "nodes", "nodes is longer than %d bytes",
                           NODES_TEXT_MAX);
    if (nodelist_count(nodes, &request->node_count, &err) < 0)
        return problem_set(scan->problem, 422, "invalid", "nodes", "nodes: %s", err.text);
    request->nodes = nodes;
    return 0;
}

static int read_vni_count(struct json_scan *scan, struct reserve_request *request)
{
    uint32_t count;
    if (read_number(scan, VNI_COUNT, 0, VNI_PER_JOB_MAX, &count) < 0)
        return -1;
    request->vni_count = (int)count;
    return 0;
}

static int read_hwcoll(struct json_scan *scan, struct reserve_request *request)
{
    char *word;
    if (json_scan_text(scan, "hwcoll", &word) < 0)
        return -1;
    request->wish = (enum hwcoll_wish)hwcoll_wish_from_word(word);
    return request->wish ? 0
                         : problem_set(scan->problem, 422, "invalid", "hwcoll",
                                       "hwcoll must be auto, on, off or required");
}

static int read_class(struct json_scan *scan, size_t index, void *arg)
{
    struct reserve_request *request = arg;
    char field[48], *word = NULL;
    if (!json_scan_kind(scan))
        return json_scan_bad(scan, "a text expected");
    if (*scan->at == '"' && json_scan_text(scan, "traffic_classes", &word) < 0)
        return -1;
    int bit = word ? traffic_class_from_word(word) : 0;
    if (!bit) {
        snprintf(field, sizeof field, "traffic_classes[%zu]", index);
        return problem_set(scan->problem, 422, "invalid", field,
                           "%s must be best_effort, low_latency, bulk_data or dedicated_access",
                           field);
    }
    request->traffic_classes = (uint8_t)(request->traffic_classes | bit);
    return 0;
}

static int read_classes(struct json_scan *scan, struct reserve_request *request)
{
    if (!json_scan_kind(scan))
        return json_scan_bad(scan, "a list expected");
    if (*scan->at == '[' && json_scan_list(scan, read_class, request) < 0)
        return -1;
    return request->traffic_classes
               ? 0
               : problem_set(scan->problem, 422, "invalid", "traffic_classes",
                             "traffic_classes must be a list of at least one of best_effort, "
                             "low_latency, bulk_data, dedicated_access");
}

static int read_member(struct json_scan *scan, const char *name, void *arg)
{
    struct reading *reading = arg;
    struct reserve_request *request = reading->request;
    int member = json_scan_name(scan, name, names, &reading->seen);
    if (member < 0)
        return -1;
    switch ((enum member)member) {
    case UID:
        return read_number(scan, UID, 0, UINT32_MAX - 1, &request->uid);
    case NODES:
        return read_nodes(scan, request);
    case NODE_COUNT:
        return read_number(scan, NODE_COUNT, 1, NODELIST_COUNT_MAX, &reading->told);
    case CORES_PER_NODE:
        return read_number(scan, CORES_PER_NODE, 1, CORES_MAX, &request->cores_per_node);
    case VNI_COUNT:
        return read_vni_count(scan, request);
    case HWCOLL:
        return read_hwcoll(scan, request);
    case TRAFFIC_CLASSES:
        return read_classes(scan, request);
    }
    return -1;
}

/* What must be there, and agree. */
static int check(const struct reading *reading, struct problem *problem)
{
    struct reserve_request *request = reading->request;
    if (!has(reading, UID))
        return problem_set(problem, 422, "missing-field", "uid",
                           "uid is missing: the number of the user whose job it is");
    if (!has(reading, NODES) && !has(reading, NODE_COUNT))
        return problem_set(problem, 422, "missing-field", "nodes",
                           "nodes is missing: the job's node list, or node_count instead");
    if (!has(reading, NODES))
        request->node_count = reading->told;
    else if (has(reading, NODE_COUNT) && reading->told != request->node_count)
        return problem_set(problem, 422, "invalid", "node_count",
                           "node_count says %u, but nodes names %u; give one of them, or both "
                           "alike",
                           reading->told, request->node_count);
    return 0;
}

int reserve_body_parse(char *bytes, size_t length, struct reserve_request *request,
                       struct problem *problem)
{
    struct reading reading = {.request = request};
    *request = (struct reserve_request){.vni_count = -1};
    if (json_scan_body(bytes, length, read_member, &reading, problem) < 0)
        return -1;
    return check(&reading, problem);
}
