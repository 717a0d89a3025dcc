/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/bodies/node_body.h"

#include "core/reservation/nodes.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { FIELD_SIZE = 48, SERVICE_ID_MAX = 999999999 };

/* services[index], or a member of it, as its field is called. */
static const char *field_of(char field[FIELD_SIZE], size_t index, const char *name)
{
    snprintf(field, FIELD_SIZE, "services[%zu]%s%s", index, name[0] != '\0' ? "." : "", name);
    return field;
}

/* What is missing or not as it should be. */
static int refuse_service(struct problem *problem, size_t index, const char *name, const char *what)
{
    char field[FIELD_SIZE];
    return problem_set(problem, 422, "invalid", field_of(field, index, name), "%s must be %s",
                       field, what);
}

/* ---- one service ---- */

/* Whether one of the list is this one. */
static bool is_listed(const char *list, const char *service)
{
    size_t length = strlen(service);
    for (const char *at = list; *at != '\0'; at += strspn(at, ",")) {
        size_t item = strcspn(at, ",");
        if (item == length && memcmp(at, service, length) == 0)
            return true;
        at += item;
    }
    return false;
}

/* "device:id" behind the others, as core/reservation/nodes.h wants it. */
static int add_service(size_t index, const char *device, int64_t id, struct node_body *body,
                       struct problem *problem)
{
    char text[32];
    size_t used = strlen(body->services);
    if (id == 0)
        return refuse_service(problem, index, "id", "a whole number from 1 to 999999999");
    int length = snprintf(text, sizeof text, "%s:%d", device, (int)id);
    /* A comma or colon in the name must not make a second service of it. */
    if (length >= (int)sizeof text || strcspn(device, ",:") != strlen(device) ||
        !node_services_valid(text))
        return refuse_service(problem, index, "device",
                              "the name of a NIC: 1 to 15 of A-Z, a-z, 0-9 and ._-");
    if (is_listed(body->services, text))
        return refuse_service(problem, index, "", "named once, and is named twice");
    if (used + 1 + (size_t)length > NODE_SERVICES_MAX)
        return problem_set(problem, 422, "invalid", "services",
                           "services has too many long names: together more than %d bytes",
                           NODE_SERVICES_MAX);
    snprintf(body->services + used, sizeof body->services - used, "%s%s", used > 0 ? "," : "",
             text);
    return 0;
}

static int read_service(const json_t *service, size_t index, struct node_body *body,
                        struct problem *problem)
{
    static const char *const names[] = {"device", "id", NULL};
    char device_field[FIELD_SIZE], id_field[FIELD_SIZE];
    const char *device = "";
    int64_t id = 0;
    if (!json_is_object(service))
        return refuse_service(problem, index, "", "an object with device and id");
    if (body_check_names(service, names, problem) < 0 ||
        body_text(json_object_get(service, "device"), field_of(device_field, index, "device"),
                  &device, problem) < 0 ||
        body_number(json_object_get(service, "id"), field_of(id_field, index, "id"), 1,
                    SERVICE_ID_MAX, &id, problem) < 0)
        return -1;
    return add_service(index, device, id, body, problem);
}

static int read_services(const json_t *list, struct node_body *body, struct problem *problem)
{
    if (list && (!json_is_array(list) || json_array_size(list) > NODE_BODY_SERVICES_MAX))
        return problem_set(problem, 422, "invalid", "services",
                           "services must be a list of at most %d services, each an object with "
                           "device and id",
                           NODE_BODY_SERVICES_MAX);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (read_service(json_array_get(list, i), i, body, problem) < 0)
            return -1;
    return 0;
}

/* ---- the body ---- */

static int read_state(const json_t *value, struct node_body *body, struct problem *problem)
{
    const char *word = NULL;
    if (body_text(value, "state", &word, problem) < 0)
        return -1;
    if (!word)
        return problem_set(problem, 422, "missing-field", "state",
                           "state is missing: created, destroyed or lingering");
    body->state = (enum node_state)node_state_from_word(word);
    return body->state ? 0
                       : problem_set(problem, 422, "invalid", "state",
                                     "state must be created, destroyed or lingering");
}

static int read_count(const json_t *json, const char *name, uint64_t *count,
                      struct problem *problem)
{
    int64_t value = 0;
    const int rc = body_number(json_object_get(json, name), name, 1, INT64_MAX, &value, problem);
    *count = (uint64_t)value;
    return rc;
}

static int refuse_vnis(struct problem *problem)
{
    return problem_set(problem, 422, "invalid", "vnis",
                       "vnis must be a list of at most %d different VNIs, numbers from 1 to 65535",
                       VNI_PER_JOB_MAX);
}

static int read_vnis(const json_t *list, struct node_body *body, struct problem *problem)
{
    if (list && (!json_is_array(list) || json_array_size(list) > VNI_PER_JOB_MAX))
        return refuse_vnis(problem);
    for (size_t i = 0; i < json_array_size(list); i++) {
        int64_t vni = 0;
        if (body_number(json_array_get(list, i), "vnis", 1, UINT16_MAX, &vni, problem) < 0)
            return -1;
        for (unsigned before = 0; before < body->vni_count; before++)
            if (body->vnis[before] == vni)
                return refuse_vnis(problem);
        body->vnis[body->vni_count++] = (uint16_t)vni;
    }
    return 0;
}

static int check_report(const struct node_body *body, struct problem *problem)
{
    if (body->number == 0)
        return problem_set(problem, 422, "missing-field", "number",
                           "number is missing: the reservation's, which says which life of the "
                           "job is meant");
    if (body->state == NODE_DESTROYED && body->services[0] != '\0')
        return problem_set(problem, 422, "invalid", "services",
                           "services names some, but state says that none is left; while some are, "
                           "it is lingering");
    assert(body->services[0] == '\0' || node_services_valid(body->services));
    return 0;
}

int node_body_parse(const json_t *json, struct node_body *body, struct problem *problem)
{
    static const char *const names[] = {"state", "number", "order", "services", "vnis", NULL};
    *body = (struct node_body){0};
    if (body_check_names(json, names, problem) < 0 ||
        read_state(json_object_get(json, "state"), body, problem) < 0 ||
        read_count(json, "number", &body->number, problem) < 0 ||
        read_count(json, "order", &body->order, problem) < 0 ||
        read_services(json_object_get(json, "services"), body, problem) < 0 ||
        read_vnis(json_object_get(json, "vnis"), body, problem) < 0)
        return -1;
    return check_report(body, problem);
}
