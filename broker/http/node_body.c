#include "broker/http/node_body.h"

#include "broker/http/json_body.h"
#include "core/nodes.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { FIELD_SIZE = 48, SERVICE_ID_MAX = 999999999 };

static int parse_state(json_t *root, struct node_body *body, struct problem *problem)
{
    const char *word;
    if (json_body_text(root, "state", &word, problem) < 0)
        return -1;
    if (!word)
        return problem_set(problem, 422, "missing-field", "state",
                           "state is missing: created, destroyed or lingering");
    body->state = (enum node_state)node_state_from_word(word);
    return body->state ? 0
                       : problem_set(problem, 422, "invalid", "state",
                                     "state must be created, destroyed or lingering");
}

/* 0 in *value when it is not there. */
static int parse_count(json_t *root, const char *name, uint64_t *value, struct problem *problem)
{
    const json_t *number = json_object_get(root, name);
    if (number && (!json_is_integer(number) || json_integer_value(number) < 1))
        return problem_set(problem, 422, "invalid", name, "%s must be a whole number from 1", name);
    *value = (uint64_t)json_integer_value(number);
    return 0;
}

static int parse_numbers(json_t *root, struct node_body *body, struct problem *problem)
{
    if (parse_count(root, "number", &body->number, problem) < 0 ||
        parse_count(root, "order", &body->order, problem) < 0)
        return -1;
    return body->number > 0
               ? 0
               : problem_set(problem, 422, "missing-field", "number",
                             "number is missing: the reservation's, which says which life of the "
                             "job is meant");
}

/* A member of services[index] that is missing or not as it should be. */
static int refuse(struct problem *problem, size_t index, const char *name, const char *what)
{
    char field[FIELD_SIZE];
    snprintf(field, sizeof field, "services[%zu]%s%s", index, name[0] != '\0' ? "." : "", name);
    return problem_set(problem, 422, "invalid", field, "%s must be %s", field, what);
}

/* "device:id" into text, as core/nodes.h wants it. */
static int parse_service(json_t *service, size_t index, char *text, size_t size,
                         struct problem *problem)
{
    static const char *const names[] = {"device", "id", NULL};
    if (!json_is_object(service))
        return refuse(problem, index, "", "an object with device and id");
    if (json_body_check_names(service, names, problem) < 0)
        return -1;
    const char *device = json_string_value(json_object_get(service, "device"));
    const json_t *number = json_object_get(service, "id");
    json_int_t id = json_integer_value(number);
    if (!json_is_integer(number) || id < 1 || id > SERVICE_ID_MAX)
        return refuse(problem, index, "id", "a whole number from 1 to 999999999");
    int length = snprintf(text, size, "%s:%d", device ? device : "", (int)id);
    /* A comma or colon in the name must not make a second service of it. */
    if (!device || length >= (int)size || strcspn(device, ",:") != strlen(device) ||
        !node_services_valid(text))
        return refuse(problem, index, "device",
                      "the name of a NIC: 1 to 15 of A-Z, a-z, 0-9 and ._-");
    return 0;
}

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

static int add_service(struct node_body *body, json_t *service, size_t index,
                       struct problem *problem)
{
    char text[32];
    size_t used = strlen(body->services);
    if (parse_service(service, index, text, sizeof text, problem) < 0)
        return -1;
    if (is_listed(body->services, text))
        return refuse(problem, index, "", "named once, and is named twice");
    if (used + 1 + strlen(text) > NODE_SERVICES_MAX)
        return problem_set(problem, 422, "invalid", "services",
                           "services has too many long names: together more than %d bytes",
                           NODE_SERVICES_MAX);
    snprintf(body->services + used, sizeof body->services - used, "%s%s", used > 0 ? "," : "",
             text);
    return 0;
}

static int parse_services(json_t *root, struct node_body *body, struct problem *problem)
{
    json_t *list = json_object_get(root, "services"), *service;
    size_t i;
    if (!list)
        return 0;
    if (!json_is_array(list) || json_array_size(list) > NODE_BODY_SERVICES_MAX)
        return problem_set(problem, 422, "invalid", "services",
                           "services must be a list of at most %d services, each an object with "
                           "device and id",
                           NODE_BODY_SERVICES_MAX);
    if (body->state == NODE_DESTROYED && json_array_size(list) > 0)
        return problem_set(problem, 422, "invalid", "services",
                           "services names some, but state says that none is left; while some are, "
                           "it is lingering");
    json_array_foreach(list, i, service)
    {
        if (add_service(body, service, i, problem) < 0)
            return -1;
    }
    assert(body->services[0] == '\0' || node_services_valid(body->services));
    return 0;
}

int node_body_parse(const char *bytes, size_t length, struct node_body *body,
                    struct problem *problem)
{
    static const char *const names[] = {"state", "number", "order", "services", NULL};
    *body = (struct node_body){0};
    json_t *root = json_body_parse(bytes, length, problem);
    if (!root)
        return -1;
    int rc = json_body_check_names(root, names, problem);
    if (rc == 0)
        rc = parse_state(root, body, problem);
    if (rc == 0)
        rc = parse_numbers(root, body, problem);
    if (rc == 0)
        rc = parse_services(root, body, problem);
    json_decref(root);
    return rc;
}
