/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/bodies/reserve_body.h"

#include "base/names.h"
#include "base/nodelist.h"

#include <stdio.h>
#include <string.h>

enum { CORES_MAX = 1000000 };

static int read_number(const json_t *body, const char *name, uint32_t min, uint32_t max,
                       uint32_t *out, struct problem *problem)
{
    int64_t value = *out;
    const int rc = body_number(json_object_get(body, name), name, min, max, &value, problem);
    *out = (uint32_t)value;
    return rc;
}

static int read_numbers(const json_t *body, struct reserve_request *request,
                        struct problem *problem)
{
    int64_t vnis = -1;
    if (read_number(body, "uid", 0, UINT32_MAX - 1, &request->uid, problem) < 0 ||
        read_number(body, "node_count", 1, NODELIST_COUNT_MAX, &request->node_count, problem) < 0 ||
        read_number(body, "cores_per_node", 1, CORES_MAX, &request->cores_per_node, problem) < 0 ||
        body_number(json_object_get(body, "vni_count"), "vni_count", 0, VNI_PER_JOB_MAX, &vnis,
                    problem) < 0)
        return -1;
    request->vni_count = (int)vnis;
    return 0;
}

/* node_count is read already, and has to agree. */
static int read_nodes(const json_t *body, struct reserve_request *request, struct problem *problem)
{
    const uint32_t given = request->node_count;
    struct error err;
    if (body_text(json_object_get(body, "nodes"), "nodes", &request->nodes, problem) < 0)
        return -1;
    if (!request->nodes)
        return 0;
    if (strlen(request->nodes) > NODES_TEXT_MAX)
        return problem_set(problem, 422, "invalid", "nodes", "nodes is longer than %d bytes",
                           NODES_TEXT_MAX);
    if (nodelist_count(request->nodes, &request->node_count, &err) < 0)
        return problem_set(problem, 422, "invalid", "nodes", "nodes: %s", err.text);
    if (given == 0 || given == request->node_count)
        return 0;
    return problem_set(problem, 422, "invalid", "node_count",
                       "node_count is %u, but nodes names %u; give one of them, or both alike",
                       given, request->node_count);
}

static int read_hwcoll(const json_t *body, struct reserve_request *request, struct problem *problem)
{
    const char *word = NULL;
    if (body_text(json_object_get(body, "hwcoll"), "hwcoll", &word, problem) < 0)
        return -1;
    if (!word)
        return 0;
    request->wish = (enum hwcoll_wish)hwcoll_wish_from_word(word);
    return request->wish ? 0
                         : problem_set(problem, 422, "invalid", "hwcoll",
                                       "hwcoll must be auto, on, off or required");
}

static int read_classes(const json_t *list, struct reserve_request *request,
                        struct problem *problem)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        const int bit = word ? traffic_class_from_word(word) : 0;
        if (!bit) {
            char field[48];
            snprintf(field, sizeof field, "traffic_classes[%zu]", i);
            return problem_set(problem, 422, "invalid", field,
                               "%s must be best_effort, low_latency, bulk_data or dedicated_access",
                               field);
        }
        request->traffic_classes = (uint8_t)(request->traffic_classes | bit);
    }
    if (!list || request->traffic_classes)
        return 0;
    return problem_set(problem, 422, "invalid", "traffic_classes",
                       "traffic_classes must be a list of at least one of best_effort, "
                       "low_latency, bulk_data, dedicated_access");
}

int reserve_body_parse(const json_t *body, struct reserve_request *request, struct problem *problem)
{
    static const char *const names[] = {"uid",       "nodes",  "node_count",      "cores_per_node",
                                        "vni_count", "hwcoll", "traffic_classes", NULL};
    *request = (struct reserve_request){0};
    if (body_check_names(body, names, problem) < 0 || read_numbers(body, request, problem) < 0 ||
        read_nodes(body, request, problem) < 0 || read_hwcoll(body, request, problem) < 0 ||
        read_classes(json_object_get(body, "traffic_classes"), request, problem) < 0)
        return -1;
    if (!json_object_get(body, "uid"))
        return problem_set(problem, 422, "missing-field", "uid",
                           "uid is missing: the number of the user whose job it is");
    if (request->node_count == 0)
        return problem_set(problem, 422, "missing-field", "nodes",
                           "nodes is missing: the job's node list, or node_count instead");
    return 0;
}
