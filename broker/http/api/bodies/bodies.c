/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/bodies/bodies.h"

#include "base/duration.h"
#include "base/names.h"
#include "base/nodelist.h"
#include "base/steppath.h"
#include "core/reservation/nodes.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- what a job is like ---- */

enum { CORES_MAX = 1000000 };

#define LAYOUT_FIELDS(layout, word)                                                                \
    {"interconnect", .text = (word)},                                                              \
        {"tasks_per_node", .number = &(layout)->tasks_per_node, .min = 1, .max = CORES_MAX},       \
    {                                                                                              \
        "cpus_per_task", .number = &(layout)->cpus_per_task, .min = 1, .max = CORES_MAX            \
    }

/* word: NULL: not given. */
static int read_interconnect(const char *word, struct job_layout *layout, struct problem *problem)
{
    layout->interconnect = word ? interconnect_from_word(word) : -1;
    if (!word || layout->interconnect >= 0)
        return 0;
    return problem_set(problem, 422, "invalid", "interconnect",
                       "interconnect must be slingshot, omnipath or none");
}

/* ---- a request for a launch document ---- */

struct launch_wish launch_wish_default(void)
{
    return (struct launch_wish){.wanted = true,
                                .layout = {.interconnect = -1},
                                .restart = -1,
                                .lifetime_s = LAUNCH_DAYS * INT64_C(24) * 60 * 60};
}

int launch_body_parse(const json_t *body, const char *within, struct launch_wish *wish,
                      struct problem *problem)
{
    const json_t *expires = NULL, *env = NULL, *addresses = NULL;
    const char *interconnect = NULL;
    int64_t lifetime_s;
    *wish = launch_wish_default();
    struct body_field fields[] = {{"restart", .number = &wish->restart, .max = INT32_MAX},
                                  {"expires", .value = &expires},
                                  {"env", .value = &env},
                                  {"addresses", .value = &addresses},
                                  LAYOUT_FIELDS(&wish->layout, &interconnect),
                                  {0}};
    if (within[0]) /* the reserve itself says what the job is like */
        fields[4].name = NULL;
    if (body_read_fields(body, within, fields, problem) < 0 ||
        read_interconnect(interconnect, &wish->layout, problem) < 0 ||
        body_lifetime(expires, within[0] ? "launch.expires" : "expires", "launch document",
                      LAUNCH_DAYS_MAX, &lifetime_s, problem) < 0)
        return -1;
    if (lifetime_s > 0)
        wish->lifetime_s = lifetime_s;
    wish->env = json_is_true(env);
    if (env && !json_is_boolean(env))
        return problem_set(problem, 422, "invalid", within[0] ? "launch.env" : "env",
                           "env must be true or false: whether the answer has the environment");
    wish->addresses = json_is_true(addresses);
    if (addresses && !json_is_boolean(addresses))
        return problem_set(problem, 422, "invalid", within[0] ? "launch.addresses" : "addresses",
                           "addresses must be true or false: whether those of the job's nodes "
                           "come with the document");
    return 0;
}

/* ---- a reserve ---- */

/* node_count is read already, and has to agree. */
static int check_nodes(struct reserve_request *request, struct problem *problem)
{
    const uint32_t given = request->node_count;
    struct error err;
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

/* Names of shared VNIs (B1). */
static int read_shared(const json_t *list, struct reserve_request *request, struct problem *problem)
{
    const size_t count = json_array_size(list);
    if (list && (!json_is_array(list) || count > SHARED_VNIS_PER_JOB_MAX))
        return problem_set(problem, 422, "invalid", "shared_vnis",
                           "shared_vnis must be a list of at most %d names of shared VNIs",
                           SHARED_VNIS_PER_JOB_MAX);
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (!name || !shared_name_valid(name))
            return problem_set(problem, 422, "invalid", "shared_vnis",
                               "shared_vnis[%zu] must be the name of a shared VNI: 1 to %d of a-z, "
                               "0-9, '_', '.' and '-'",
                               i, SHARED_NAME_MAX);
        request->shared[request->shared_count++] = name;
    }
    return 0;
}

/* *count is 0, and becomes at most VNI_PER_JOB_MAX. */
static int read_vnis(const json_t *list, uint16_t *vnis, unsigned *count, struct problem *problem)
{
    bool good = !list || (json_is_array(list) && json_array_size(list) <= VNI_PER_JOB_MAX);
    for (size_t i = 0; good && i < json_array_size(list); i++) {
        const int64_t vni = json_integer_value(json_array_get(list, i));
        good = vni > 0 && vni <= UINT16_MAX;
        for (unsigned k = 0; k < *count; k++)
            good &= vni != vnis[k];
        if (good)
            vnis[(*count)++] = (uint16_t)vni;
    }
    if (good)
        return 0;
    return problem_set(problem, 422, "invalid", "vnis",
                       "vnis must be a list of at most %d different VNIs, numbers from 1 to 65535",
                       VNI_PER_JOB_MAX);
}

/* VNIs that the job has already. Their number is vni_count. */
static int read_named(const json_t *list, struct reserve_request *request, struct problem *problem)
{
    unsigned count = 0;
    if (read_vnis(list, request->vnis, &count, problem) < 0)
        return -1;
    if (!list)
        return 0;
    if (request->vni_count >= 0 && (unsigned)request->vni_count != count)
        return problem_set(problem, 422, "invalid", "vni_count",
                           "vni_count is %d, but vnis names %u; give one of them",
                           request->vni_count, count);
    request->vnis_named = true;
    request->vni_count = (int)count;
    return 0;
}

/* A reserve's fields, as they stand there. */
enum { RESERVE_FIELDS = 15 };
struct reserve_body {
    int64_t uid, node_count, cores, vni_count;
    const char *nodes, *wish, *interconnect, *profile;
    const json_t *classes, *shared, *vnis, *launching;
    struct job_layout layout;
    struct body_field fields[RESERVE_FIELDS];
};

static void reserve_body_init(struct reserve_body *b)
{
    const struct body_field fields[RESERVE_FIELDS] = {
        {"uid", .number = &b->uid, .max = UINT32_MAX - 1},
        {"node_count", .number = &b->node_count, .min = 1, .max = NODELIST_COUNT_MAX},
        {"cores_per_node", .number = &b->cores, .min = 1, .max = CORES_MAX},
        {"vni_count", .number = &b->vni_count, .max = VNI_PER_JOB_MAX},
        {"nodes", .text = &b->nodes},
        {"hwcoll", .text = &b->wish},
        {"profile", .text = &b->profile},
        {"traffic_classes", .value = &b->classes},
        {"shared_vnis", .value = &b->shared},
        {"vnis", .value = &b->vnis},
        {"launch", .value = &b->launching},
        LAYOUT_FIELDS(&b->layout, &b->interconnect)};
    *b = (struct reserve_body){.uid = -1, .vni_count = -1};
    memcpy(b->fields, fields, sizeof fields);
}

/* Types as JSON calls them; of the two that are neither number nor text only a launch is an object.
 */
void reserve_fields_write(struct writer *writer, const char *key, uint32_t vnis_max)
{
    struct reserve_body b;
    reserve_body_init(&b);
    writer_begin_object(writer, key);
    for (const struct body_field *field = b.fields; field->name; field++) {
        const bool vnis = field->number == &b.vni_count;
        writer_begin_object(writer, field->name);
        writer_string(writer, "type",
                      field->number                  ? "number"
                      : field->text                  ? "text"
                      : field->value == &b.launching ? "object"
                                                     : "list");
        if (field->number) {
            writer_number(writer, "min", (uint64_t)field->min);
            writer_number(writer, "max", vnis ? vnis_max : (uint64_t)field->max);
        }
        writer_end_object(writer);
    }
    writer_end_object(writer);
}

int reserve_body_parse(const json_t *body, struct reserve_request *request,
                       struct launch_wish *launch, struct problem *problem)
{
    struct reserve_body b;
    reserve_body_init(&b);
    if (body_read_fields(body, "", b.fields, problem) < 0 ||
        read_interconnect(b.interconnect, &b.layout, problem) < 0)
        return -1;
    *request = (struct reserve_request){.uid = (uint32_t)b.uid,
                                        .nodes = b.nodes,
                                        .profile = b.profile,
                                        .node_count = (uint32_t)b.node_count,
                                        .cores_per_node = (uint32_t)b.cores,
                                        .tasks_per_node = (uint32_t)b.layout.tasks_per_node,
                                        .cpus_per_task = (uint32_t)b.layout.cpus_per_task,
                                        .interconnect = b.layout.interconnect,
                                        .vni_count = (int)b.vni_count};
    if (b.wish && !(request->wish = (enum hwcoll_wish)hwcoll_wish_from_word(b.wish)))
        return problem_set(problem, 422, "invalid", "hwcoll",
                           "hwcoll must be auto, on, off or required");
    if (check_nodes(request, problem) < 0 || read_classes(b.classes, request, problem) < 0 ||
        read_named(b.vnis, request, problem) < 0 || read_shared(b.shared, request, problem) < 0)
        return -1;
    *launch = (struct launch_wish){.wanted = false};
    if (b.launching && !json_is_object(b.launching))
        return problem_set(problem, 422, "invalid", "launch", "launch must be an object");
    if (b.launching && launch_body_parse(b.launching, "launch", launch, problem) < 0)
        return -1;
    if (b.uid < 0)
        return problem_set(problem, 422, "missing-field", "uid",
                           "uid is missing: the number of the user whose job it is");
    if (request->node_count == 0)
        return problem_set(problem, 422, "missing-field", "nodes",
                           "nodes is missing: the job's node list, or node_count instead");
    if (launch->wanted && !b.nodes)
        return problem_set(problem, 422, "missing-field", "nodes",
                           "nodes is missing: a launch document is made for a list of nodes");
    return 0;
}

/* ---- a request for a token ---- */

static int read_operations(const json_t *list, struct bearer_limits *limits,
                           struct problem *problem)
{
    unsigned bit = list ? 0 : BEARER_EVERYTHING;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        bit = word ? bearer_operation_parse(word, strlen(word)) : 0;
        if (!bit)
            break;
        limits->operations |= bit;
    }
    if (bit)
        return 0;
    return problem_set(
        problem, 422, "invalid", "operations",
        "operations is a list of one or more of these: \"show\", \"cleanup\", \"join\"");
}

int mint_body_parse(const json_t *body, int64_t now, struct bearer_limits *limits,
                    struct problem *problem)
{
    const json_t *expires = NULL, *operations = NULL;
    int64_t lifetime_s;
    struct error err = {0};
    const struct body_field fields[] = {{"steps", .text = &limits->steps},
                                        {"expires", .value = &expires},
                                        {"operations", .value = &operations},
                                        {0}};
    *limits = (struct bearer_limits){0};
    if (body_read_fields(body, "", fields, problem) < 0)
        return -1;
    if (limits->steps && steppath_check(limits->steps, &err) < 0)
        return problem_set(problem, 422, "invalid", "steps", "%s", err.text);
    if (body_lifetime(expires, "expires", "token", MINT_DAYS_MAX, &lifetime_s, problem) < 0)
        return -1;
    if (lifetime_s > 0)
        limits->expires = now + lifetime_s;
    return read_operations(operations, limits, problem);
}

/* ---- a node's report ---- */

enum { SERVICE_ID_MAX = 999999999 };

/* "device:id" behind the others, as core/reservation/nodes.h wants it. within: "services[3]". */
static int add_service(const char *within, const char *device, int64_t id, struct node_body *body,
                       struct problem *problem)
{
    char text[32], field[48];
    const size_t used = strlen(body->services);
    const int length = snprintf(text, sizeof text, "%s:%d", device, (int)id);
    /* A comma or colon in the name must not make a second service of it. */
    if (length >= (int)sizeof text || strcspn(device, ",:") != strlen(device) ||
        !node_services_valid(text)) {
        snprintf(field, sizeof field, "%s.device", within);
        return problem_set(problem, 422, "invalid", field,
                           "%s must be the name of a NIC: 1 to 15 of A-Z, a-z, 0-9 and ._-", field);
    }
    if (used + 1 + (size_t)length > NODE_SERVICES_MAX)
        return problem_set(problem, 422, "invalid", "services",
                           "services has too many long names: together more than %d bytes",
                           NODE_SERVICES_MAX);
    snprintf(body->services + used, sizeof body->services - used, "%s%s", used > 0 ? "," : "",
             text);
    return 0;
}

static int read_service(const json_t *service, const char *within, struct node_body *body,
                        struct problem *problem)
{
    const char *device = "";
    int64_t id = 0;
    char field[48];
    const struct body_field fields[] = {
        {"device", .text = &device}, {"id", .number = &id, .min = 1, .max = SERVICE_ID_MAX}, {0}};
    if (!json_is_object(service))
        return problem_set(problem, 422, "invalid", within,
                           "%s must be an object with device and id", within);
    if (body_read_fields(service, within, fields, problem) < 0)
        return -1;
    if (id > 0)
        return add_service(within, device, id, body, problem);
    snprintf(field, sizeof field, "%s.id", within);
    return problem_set(problem, 422, "invalid", field, "%s is missing", field);
}

static int read_services(const json_t *list, struct node_body *body, struct problem *problem)
{
    if (list && (!json_is_array(list) || json_array_size(list) > NODE_BODY_SERVICES_MAX))
        return problem_set(problem, 422, "invalid", "services",
                           "services must be a list of at most %d services, each an object with "
                           "device and id",
                           NODE_BODY_SERVICES_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        char within[32];
        snprintf(within, sizeof within, "services[%zu]", i);
        if (read_service(json_array_get(list, i), within, body, problem) < 0)
            return -1;
        for (size_t j = 0; j < i; j++)
            if (json_equal(json_array_get(list, i), json_array_get(list, j)))
                return problem_set(problem, 422, "invalid", within, "%s is named twice", within);
    }
    return 0;
}

static int check_number(int64_t number, struct problem *problem)
{
    return number > 0 ? 0
                      : problem_set(problem, 422, "missing-field", "number",
                                    "number is missing: the reservation's, which says which life "
                                    "of the job is meant");
}

static int check_report(const char *state, const struct node_body *body, struct problem *problem)
{
    if (!state)
        return problem_set(problem, 422, "missing-field", "state",
                           "state is missing: created, destroyed or lingering");
    if (!body->state)
        return problem_set(problem, 422, "invalid", "state",
                           "state must be created, destroyed or lingering");
    if (check_number((int64_t)body->number, problem) < 0)
        return -1;
    if (body->state == NODE_DESTROYED && body->services[0] != '\0')
        return problem_set(problem, 422, "invalid", "services",
                           "services names some, but state says that none is left; while some are, "
                           "it is lingering");
    assert(body->services[0] == '\0' || node_services_valid(body->services));
    return 0;
}

int node_body_parse(const json_t *json, struct node_body *body, struct problem *problem)
{
    const char *state = NULL;
    const json_t *services = NULL, *vnis = NULL, *traffic = NULL;
    int64_t number = 0, order = 0;
    const struct body_field fields[] = {{"state", .text = &state},
                                        {"number", .number = &number, .min = 1, .max = INT64_MAX},
                                        {"order", .number = &order, .min = 1, .max = INT64_MAX},
                                        {"services", .value = &services},
                                        {"vnis", .value = &vnis},
                                        {"traffic", .value = &traffic},
                                        {0}};
    *body = (struct node_body){0};
    if (body_read_fields(json, "", fields, problem) < 0 ||
        read_services(services, body, problem) < 0 ||
        read_vnis(vnis, body->vnis, &body->vni_count, problem) < 0 ||
        (traffic && traffic_body_parse(traffic, &body->traffic, problem) < 0))
        return -1;
    body->has_traffic = traffic;
    body->state = state ? (enum node_state)node_state_from_word(state) : (enum node_state)0;
    body->number = (uint64_t)number;
    body->order = (uint64_t)order;
    return check_report(state, body, problem);
}

int nodes_body_parse(const json_t *json, struct nodes_body *body, struct problem *problem)
{
    const char *state = NULL, *nodes = NULL;
    const json_t *traffic = NULL;
    int64_t number = 0;
    uint32_t count;
    struct error err;
    const struct body_field fields[] = {{"state", .text = &state},
                                        {"number", .number = &number, .min = 1, .max = INT64_MAX},
                                        {"nodes", .text = &nodes},
                                        {"traffic", .value = &traffic},
                                        {0}};
    *body = (struct nodes_body){0};
    if (body_read_fields(json, "", fields, problem) < 0 ||
        (traffic && traffic_sum_parse(traffic, &body->traffic, problem) < 0))
        return -1;
    body->number = (uint64_t)number;
    body->nodes = nodes;
    body->has_traffic = traffic;
    if (!nodes)
        return problem_set(problem, 422, "missing-field", "nodes",
                           "nodes is missing: the nodes that this is about, \"elcap[1-4000]\"");
    if (nodelist_count(nodes, &count, &err) < 0)
        return problem_set(problem, 422, "invalid", "nodes", "nodes: %s", err.text);
    body->state = state ? (enum node_state)node_state_from_word(state) : (enum node_state)0;
    if (body->state != NODE_DESTROYED && body->state != NODE_LINGERING)
        return problem_set(problem, 422, state ? "invalid" : "missing-field", "state",
                           "state must be destroyed or lingering: what was created each node has "
                           "to say itself");
    return check_number(number, problem);
}
