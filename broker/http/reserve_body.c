#include "broker/http/reserve_body.h"

#include "core/names.h"
#include "core/nodelist.h"

#include <stdio.h>
#include <string.h>

enum { CORES_MAX = 1000000 };

static int parse_uid(json_t *root, struct reserve_request *request, struct problem *problem)
{
    bool found;
    if (json_body_number(root, "uid", 0, UINT32_MAX - 1, &request->uid, &found, problem) < 0)
        return -1;
    return found ? 0
                 : problem_set(problem, 422, "missing-field", "uid",
                               "uid is missing: the number of the user whose job it is");
}

static int parse_nodes(json_t *root, struct reserve_request *request, struct problem *problem)
{
    struct error err;
    uint32_t counted, told;
    bool found;
    if (json_body_text(root, "nodes", &request->nodes, problem) < 0 ||
        json_body_number(root, "node_count", 1, NODELIST_COUNT_MAX, &told, &found, problem) < 0)
        return -1;
    if (!request->nodes && !found)
        return problem_set(problem, 422, "missing-field", "nodes",
                           "nodes is missing: the job's node list, or node_count instead");
    if (!request->nodes) {
        request->node_count = told;
        return 0;
    }
    if (strlen(request->nodes) > NODES_TEXT_MAX)
        return problem_set(problem, 422, "invalid", "nodes", "nodes is longer than %d bytes",
                           NODES_TEXT_MAX);
    if (nodelist_count(request->nodes, &counted, &err) < 0)
        return problem_set(problem, 422, "invalid", "nodes", "nodes: %s", err.text);
    if (found && told != counted)
        return problem_set(
            problem, 422, "invalid", "node_count",
            "node_count says %u, but nodes names %u; give one of them, or both alike", told,
            counted);
    request->node_count = counted;
    return 0;
}

static int parse_hwcoll(json_t *root, struct reserve_request *request, struct problem *problem)
{
    const char *word;
    if (json_body_text(root, "hwcoll", &word, problem) < 0)
        return -1;
    request->wish = (enum hwcoll_wish)(word ? hwcoll_wish_from_word(word) : 0);
    if (word && !request->wish)
        return problem_set(problem, 422, "invalid", "hwcoll",
                           "hwcoll must be auto, on, off or required");
    return 0;
}

static int parse_classes(json_t *root, struct reserve_request *request, struct problem *problem)
{
    json_t *list = json_object_get(root, "traffic_classes"), *member;
    size_t i;
    char field[48];
    if (!list)
        return 0;
    if (!json_is_array(list) || json_array_size(list) == 0)
        return problem_set(problem, 422, "invalid", "traffic_classes",
                           "traffic_classes must be a list of at least one of best_effort, "
                           "low_latency, bulk_data, dedicated_access");
    json_array_foreach(list, i, member)
    {
        const char *word = json_string_value(member);
        int bit = word ? traffic_class_from_word(word) : 0;
        snprintf(field, sizeof field, "traffic_classes[%zu]", i);
        if (!bit)
            return problem_set(problem, 422, "invalid", field,
                               "%s must be best_effort, low_latency, bulk_data or "
                               "dedicated_access",
                               field);
        request->traffic_classes = (uint8_t)(request->traffic_classes | bit);
    }
    return 0;
}

static int parse_members(json_t *root, struct reserve_request *request, struct problem *problem)
{
    static const char *const names[] = {"uid",       "nodes",  "node_count",      "cores_per_node",
                                        "vni_count", "hwcoll", "traffic_classes", NULL};
    uint32_t vnis;
    bool found;
    if (json_body_check_names(root, names, problem) < 0 || parse_uid(root, request, problem) < 0 ||
        parse_nodes(root, request, problem) < 0 ||
        json_body_number(root, "cores_per_node", 1, CORES_MAX, &request->cores_per_node, &found,
                         problem) < 0 ||
        json_body_number(root, "vni_count", 0, VNI_PER_JOB_MAX, &vnis, &found, problem) < 0)
        return -1;
    request->vni_count = found ? (int)vnis : -1;
    if (parse_hwcoll(root, request, problem) < 0)
        return -1;
    return parse_classes(root, request, problem);
}

int reserve_body_parse(const char *bytes, size_t length, struct reserve_body *body,
                       struct problem *problem)
{
    *body = (struct reserve_body){.root = json_body_parse(bytes, length, problem)};
    if (!body->root)
        return -1;
    if (parse_members(body->root, &body->request, problem) == 0)
        return 0;
    reserve_body_release(body);
    return -1;
}

void reserve_body_release(struct reserve_body *body)
{
    json_decref(body->root);
    *body = (struct reserve_body){0};
}
