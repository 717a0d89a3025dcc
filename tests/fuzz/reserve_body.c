/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a reserve (broker/http/api/bodies/bodies.h): the whole input. */

#include "broker/http/api/bodies/bodies.h"
#include "base/names.h"
#include "base/nodelist.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void check_taken(const struct reserve_request *request)
{
    uint32_t count = 0;
    FUZZ_CHECK(request->uid != UINT32_MAX);
    FUZZ_CHECK(request->node_count >= 1 && request->node_count <= NODELIST_COUNT_MAX);
    if (request->nodes) {
        FUZZ_CHECK(strlen(request->nodes) <= NODES_TEXT_MAX);
        FUZZ_CHECK(nodelist_count(request->nodes, &count, NULL) == 0);
        FUZZ_CHECK(count == request->node_count);
    }
    FUZZ_CHECK(request->vni_count >= -1 && request->vni_count <= VNI_PER_JOB_MAX);
    FUZZ_CHECK(request->wish <= WISH_REQUIRED);
    FUZZ_CHECK(request->traffic_classes <= 15);
    FUZZ_CHECK(request->cores_per_node <= 1000000);
    FUZZ_CHECK(request->tasks_per_node <= 1000000 && request->cpus_per_task <= 1000000);
    FUZZ_CHECK(request->interconnect >= -1 && request->interconnect < INTERCONNECT_COUNT);
}

static uint32_t number_of(const json_t *root, const char *name, uint32_t missing)
{
    const json_t *member = json_object_get(root, name);
    FUZZ_CHECK(!member || json_is_integer(member));
    return member ? (uint32_t)json_integer_value(member) : missing;
}

static bool is_text(const json_t *root, const char *name, const char *value)
{
    const char *text = json_string_value(json_object_get(root, name));
    return value ? text && strcmp(text, value) == 0 : !text;
}

/* jansson, which reads it whole, has read the same. */
static void check_tree(const struct reserve_request *request, const json_t *root)
{
    uint8_t classes = 0;
    size_t i;
    const json_t *word;
    FUZZ_CHECK(root);
    FUZZ_CHECK(number_of(root, "uid", UINT32_MAX) == request->uid);
    FUZZ_CHECK(number_of(root, "node_count", request->node_count) == request->node_count);
    FUZZ_CHECK(number_of(root, "cores_per_node", 0) == request->cores_per_node);
    FUZZ_CHECK(number_of(root, "tasks_per_node", 0) == request->tasks_per_node);
    FUZZ_CHECK(number_of(root, "cpus_per_task", 0) == request->cpus_per_task);
    word = json_object_get(root, "interconnect");
    FUZZ_CHECK(request->interconnect ==
               (word ? interconnect_from_word(json_string_value(word)) : -1));
    FUZZ_CHECK((int)number_of(root, "vni_count", (uint32_t)-1) == request->vni_count);
    FUZZ_CHECK(is_text(root, "nodes", request->nodes));
    word = json_object_get(root, "hwcoll");
    FUZZ_CHECK((int)request->wish == (word ? hwcoll_wish_from_word(json_string_value(word)) : 0));
    json_array_foreach(json_object_get(root, "traffic_classes"), i, word) classes =
        (uint8_t)(classes | traffic_class_from_word(json_string_value(word)));
    FUZZ_CHECK(classes == request->traffic_classes);
}

void fuzz_one(struct fuzz_input *in)
{
    struct reserve_request request;
    struct launch_wish launch;
    struct problem problem = {0};
    size_t length;
    char *bytes = fuzz_bytes(in, &length);
    json_t *root = json_loadb(length > 0 ? bytes : "", length, JSON_REJECT_DUPLICATES, NULL);
    /* jansson lets a NUL pass between values. */
    bool good = json_is_object(root) && !memchr(bytes, '\0', length);
    json_t *body = body_read(bytes, length, &problem);
    if (body && reserve_body_parse(body, &request, &launch, &problem) == 0) {
        check_taken(&request);
        check_tree(&request, root);
    } else {
        FUZZ_CHECK(problem.status == 422 || (problem.status == 400 && !good));
        FUZZ_CHECK(problem.code && problem.detail[0] != '\0');
    }
    json_decref(body);
    json_decref(root);
    free(bytes);
}
