#include "broker/http/api/bodies/node_body.h"

#include "broker/http/request/json_scan.h"
#include "core/reservation/nodes.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { FIELD_SIZE = 48, SERVICE_ID_MAX = 999999999 };

enum member { STATE, NUMBER, ORDER, SERVICES, VNIS };
static const char *const names[] = {[STATE] = "state",       [NUMBER] = "number", [ORDER] = "order",
                                    [SERVICES] = "services", [VNIS] = "vnis",     NULL};

struct reading {
    struct node_body *body;
    uint32_t seen; /* bits by enum member */
};

/* services[index], or a member of it, as its field is called. */
static const char *field_of(char field[FIELD_SIZE], size_t index, const char *name)
{
    snprintf(field, FIELD_SIZE, "services[%zu]%s%s", index, name[0] != '\0' ? "." : "", name);
    return field;
}

/* What is missing or not as it should be. */
static int refuse(struct problem *problem, size_t index, const char *name, const char *what)
{
    char field[FIELD_SIZE];
    return problem_set(problem, 422, "invalid", field_of(field, index, name), "%s must be %s",
                       field, what);
}

/* ---- one service ---- */

struct service {
    size_t index;
    uint32_t seen;
    char *device;
    int64_t id; /* 0: not told */
};

static int read_part(struct json_scan *scan, const char *name, void *arg)
{
    static const char *const parts[] = {"device", "id", NULL};
    struct service *service = arg;
    char field[FIELD_SIZE];
    int part = json_scan_name(scan, name, parts, &service->seen);
    if (part < 0)
        return -1;
    field_of(field, service->index, parts[part]);
    return part == 0 ? json_scan_text(scan, field, &service->device)
                     : json_scan_number(scan, field, 1, SERVICE_ID_MAX, &service->id);
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

/* "device:id" behind the others, as core/reservation/nodes.h wants it. */
static int add_service(const struct service *service, struct node_body *body,
                       struct problem *problem)
{
    char text[32];
    const char *device = service->device ? service->device : "";
    size_t used = strlen(body->services);
    if (service->id == 0)
        return refuse(problem, service->index, "id", "a whole number from 1 to 999999999");
    int length = snprintf(text, sizeof text, "%s:%d", device, (int)service->id);
    /* A comma or colon in the name must not make a second service of it. */
    if (length >= (int)sizeof text || strcspn(device, ",:") != strlen(device) ||
        !node_services_valid(text))
        return refuse(problem, service->index, "device",
                      "the name of a NIC: 1 to 15 of A-Z, a-z, 0-9 and ._-");
    if (is_listed(body->services, text))
        return refuse(problem, service->index, "", "named once, and is named twice");
    if (used + 1 + (size_t)length > NODE_SERVICES_MAX)
        return problem_set(problem, 422, "invalid", "services",
                           "services has too many long names: together more than %d bytes",
                           NODE_SERVICES_MAX);
    snprintf(body->services + used, sizeof body->services - used, "%s%s", used > 0 ? "," : "",
             text);
    return 0;
}

static int refuse_list(struct problem *problem)
{
    return problem_set(problem, 422, "invalid", "services",
                       "services must be a list of at most %d services, each an object with "
                       "device and id",
                       NODE_BODY_SERVICES_MAX);
}

static int read_service(struct json_scan *scan, size_t index, void *arg)
{
    struct service service = {.index = index};
    if (index == NODE_BODY_SERVICES_MAX)
        return refuse_list(scan->problem);
    if (json_scan_kind(scan) && *scan->at != '{')
        return refuse(scan->problem, index, "", "an object with device and id");
    if (json_scan_object(scan, read_part, &service) < 0)
        return -1;
    return add_service(&service, arg, scan->problem);
}

/* ---- the body ---- */

static int read_state(struct json_scan *scan, struct node_body *body)
{
    char *word;
    if (json_scan_text(scan, "state", &word) < 0)
        return -1;
    body->state = (enum node_state)node_state_from_word(word);
    return body->state ? 0
                       : problem_set(scan->problem, 422, "invalid", "state",
                                     "state must be created, destroyed or lingering");
}

static int read_count(struct json_scan *scan, enum member member, uint64_t *count)
{
    int64_t value;
    if (json_scan_number(scan, names[member], 1, INT64_MAX, &value) < 0)
        return -1;
    *count = (uint64_t)value;
    return 0;
}

static int read_services(struct json_scan *scan, struct node_body *body)
{
    if (json_scan_kind(scan) && *scan->at != '[')
        return refuse_list(scan->problem);
    return json_scan_list(scan, read_service, body);
}

static int refuse_vnis(struct problem *problem)
{
    return problem_set(problem, 422, "invalid", "vnis",
                       "vnis must be a list of at most %d different VNIs, numbers from 1 to 65535",
                       VNI_PER_JOB_MAX);
}

static int read_vni(struct json_scan *scan, size_t index, void *arg)
{
    struct node_body *body = arg;
    int64_t vni;
    if (index == VNI_PER_JOB_MAX)
        return refuse_vnis(scan->problem);
    if (json_scan_number(scan, "vnis", 1, UINT16_MAX, &vni) < 0)
        return -1;
    for (unsigned i = 0; i < body->vni_count; i++) {
        if (body->vnis[i] == vni)
            return refuse_vnis(scan->problem);
    }
    body->vnis[body->vni_count++] = (uint16_t)vni;
    return 0;
}

static int read_vnis(struct json_scan *scan, struct node_body *body)
{
    if (json_scan_kind(scan) && *scan->at != '[')
        return refuse_vnis(scan->problem);
    return json_scan_list(scan, read_vni, body);
}

static int read_member(struct json_scan *scan, const char *name, void *arg)
{
    struct reading *reading = arg;
    int member = json_scan_name(scan, name, names, &reading->seen);
    if (member < 0)
        return -1;
    switch ((enum member)member) {
    case STATE:
        return read_state(scan, reading->body);
    case NUMBER:
        return read_count(scan, NUMBER, &reading->body->number);
    case ORDER:
        return read_count(scan, ORDER, &reading->body->order);
    case SERVICES:
        return read_services(scan, reading->body);
    case VNIS:
        return read_vnis(scan, reading->body);
    }
    return -1;
}

static int check(const struct node_body *body, struct problem *problem)
{
    if (!body->state)
        return problem_set(problem, 422, "missing-field", "state",
                           "state is missing: created, destroyed or lingering");
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

int node_body_parse(char *bytes, size_t length, struct node_body *body, struct problem *problem)
{
    struct reading reading = {.body = body};
    *body = (struct node_body){0};
    if (json_scan_body(bytes, length, read_member, &reading, problem) < 0)
        return -1;
    return check(body, problem);
}
