/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a node's report (broker/http/api/bodies/bodies.h): the whole input. */

#include "broker/http/api/bodies/bodies.h"
#include "core/reservation/nodes.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text says exactly what the list does, service by service. */
static void check_services(const char *text, const json_t *list)
{
    char service[32];
    const char *at = text;
    size_t i;
    const json_t *member;
    json_array_foreach(list, i, member)
    {
        const char *device = json_string_value(json_object_get(member, "device"));
        int length =
            snprintf(service, sizeof service, "%s%s:%" JSON_INTEGER_FORMAT, i > 0 ? "," : "",
                     device, json_integer_value(json_object_get(member, "id")));
        FUZZ_CHECK(length > 0 && length < (int)sizeof service);
        FUZZ_CHECK(strncmp(at, service, (size_t)length) == 0);
        at += length;
    }
    FUZZ_CHECK(*at == '\0');
}

static bool is_amount(const json_t *traffic, const char *name, uint64_t taken)
{
    return taken == (uint64_t)json_integer_value(json_object_get(traffic, name)) &&
           taken <= TRAFFIC_MAX;
}

static void check_traffic(const struct node_body *body, const json_t *told)
{
    const struct traffic_report *traffic = &body->traffic;
    struct traffic_record *sum = NULL;
    FUZZ_CHECK(body->has_traffic == (told != NULL));
    if (!told)
        return;
    for (int kind = 0; kind < TRAFFIC_KINDS; kind++) {
        FUZZ_CHECK(is_amount(told, traffic_words[kind], traffic->amounts[kind]));
        FUZZ_CHECK(!(traffic->lacking >> kind & 1) == !!json_object_get(told, traffic_words[kind]));
    }
    traffic_add(&sum, "n1", traffic);
    traffic_add(&sum, "n2", traffic);
    FUZZ_CHECK(!sum->slowest || traffic_nic_valid(sum->slowest));
    FUZZ_CHECK(!sum->congested || traffic_nic_valid(sum->congested));
    FUZZ_CHECK(sum->amounts[TRAFFIC_PAUSED] <= TRAFFIC_MAX);
    traffic_destroy(sum);
}

static void check_taken(const struct node_body *body, const json_t *root)
{
    const char *state = json_string_value(json_object_get(root, "state"));
    FUZZ_CHECK(state && strcmp(state, node_state_word((int)body->state)) == 0);
    FUZZ_CHECK(body->state != NODE_FENCED);
    FUZZ_CHECK(body->number >= 1);
    FUZZ_CHECK(body->number == (uint64_t)json_integer_value(json_object_get(root, "number")));
    FUZZ_CHECK(body->services[0] == '\0' || node_services_valid(body->services));
    FUZZ_CHECK(body->services[0] == '\0' || body->state != NODE_DESTROYED);
    check_traffic(body, json_object_get(root, "traffic"));
    check_services(body->services, json_object_get(root, "services"));
}

void fuzz_one(struct fuzz_input *in)
{
    struct node_body body;
    struct problem problem = {0};
    size_t length;
    char *bytes = fuzz_bytes(in, &length);
    json_t *root = json_loadb(length > 0 ? bytes : "", length, JSON_REJECT_DUPLICATES, NULL);
    /* jansson lets a NUL pass between values. */
    bool good = json_is_object(root) && !memchr(bytes, '\0', length);
    json_t *json = body_read(bytes, length, &problem);
    if (json && node_body_parse(json, &body, &problem) == 0) {
        check_taken(&body, root);
    } else {
        FUZZ_CHECK(problem.status == 422 || (problem.status == 400 && !good));
        FUZZ_CHECK(problem.code && problem.detail[0] != '\0');
    }
    json_decref(json);
    json_decref(root);
    free(bytes);
}
