#include "mock-fm/objects/fabric.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "mock-fm/objects/document.h"
#include "mock-fm/objects/nic.h"

typedef int handler(struct fabric *fabric, const struct request *request, const char *name,
                    struct answer *answer, struct problem *problem);

int fabric_commit(struct fabric *fabric, const struct change *change, struct problem *problem)
{
    int result;

    if (fabric->journal && journal_append(fabric->journal, change, problem) < 0)
        return -1;
    result = objects_apply(fabric->objects, change);
    if (result < 0)
        return problem_set(problem, 500, "cannot apply the change: %s", strerror(-result));
    if (fabric->replica && replica_add(fabric->replica, change) < 0)
        return problem_set(problem, 500, "out of memory");
    return 0;
}

static int succeed(struct answer *answer, int status, json_t *document, struct problem *problem)
{
    if (!document)
        return problem_set(problem, 500, "out of memory");
    answer->status = status;
    answer->document = document;
    return 0;
}

/* The body as a JSON object: a new reference, or NULL with a 400. */
static json_t *parse_body(const struct request *request, struct problem *problem)
{
    json_error_t error;
    json_t *body =
        json_loadb(request->body_length ? request->body : "", request->body_length, 0, &error);

    if (!body)
        problem_set(problem, 400, "the body is not JSON: %s", error.text);
    else if (!json_is_object(body))
        problem_set(problem, 400, "the body must be a JSON object");
    if (json_is_object(body))
        return body;
    json_decref(body);
    return NULL;
}

static int need_login(struct fabric *fabric, const struct request *request, struct problem *problem)
{
    switch (auth_judge(fabric->auth, request->authorization, request->now_us)) {
    case AUTH_ADMITTED:
        return 0;
    case AUTH_BEARER:
        return problem_set(problem, 403,
                           "a session token opens only its own job and the job's multicast "
                           "trees; log in for this");
    case AUTH_MISSING:
        return problem_set(problem, 401, "%s", auth_words(fabric->auth)->missing);
    case AUTH_WRONG:
        break;
    }
    return problem_set(problem, 401, "%s", auth_words(fabric->auth)->wrong);
}

static int need_token_of(const struct job *job, const struct request *request,
                         struct problem *problem)
{
    const char *token = auth_bearer(request->authorization);

    if (!token)
        return problem_set(problem, 401, "this path needs a job's session token as bearer token");
    if (!job || !secret_equal(secret_of(job->token), secret_of(token)))
        return problem_set(problem, 403, "this session token does not open this job");
    return 0;
}

/* Its own token, where that reaches so far, or the login. */
static int need_reach(struct fabric *fabric, const struct request *request, const char *id,
                      enum session_reach enough, struct problem *problem)
{
    if (auth_judge(fabric->auth, request->authorization, request->now_us) != AUTH_BEARER)
        return need_login(fabric, request, problem);
    if (need_token_of(objects_job(fabric->objects, id), request, problem) < 0)
        return -1;
    if (fabric->reach == SESSION_OWN_JOB || fabric->reach == enough)
        return 0;
    return problem_set(problem, 403, "a session token is not enough for this here; log in");
}

static int list_jobs(struct fabric *fabric, const struct request *request, const char *name,
                     struct answer *answer, struct problem *problem)
{
    struct document_page page = {.size = request->page_size, .after = request->after};

    (void)name;
    if (need_login(fabric, request, problem) < 0)
        return -1;
    page.links = json_array();
    for (const struct job *job = objects_first(fabric->objects); job; job = job->next) {
        if (!document_page_add(&page, job->serial, DOCUMENT_JOBS, job->id))
            break;
    }
    return succeed(answer, 200, document_of_page(&page, DOCUMENT_JOBS), problem);
}

int fabric_reserve(struct fabric *fabric, const struct fabric_wish *wish, struct problem *problem)
{
    uint64_t serial = objects_totals(fabric->objects).last_serial + 1;
    char token[SESSION_TOKEN_SIZE];
    struct change change = {.kind = CHANGE_JOB,
                            .at_us = wish->now_us,
                            .job = wish->id,
                            .token = wish->token ? wish->token : token,
                            .serial = serial};
    int result;

    if (objects_may_reserve(fabric->objects, wish->id, wish->limit, problem) < 0)
        return -1;
    change.limit = (unsigned)wish->limit;
    if (session_token(&fabric->mint, serial, token) < 0)
        return problem_set(problem, 500, "no random numbers for a session token");
    result = fabric_commit(fabric, &change, problem);
    explicit_bzero(token, sizeof token);
    return result;
}

static int post_job(struct fabric *fabric, const struct request *request, const char *name,
                    struct answer *answer, struct problem *problem)
{
    struct fabric_wish wish = {.token = request->session_token, .now_us = request->now_us};
    const json_t *limit;
    json_t *body;
    int result;

    (void)name;
    if (need_login(fabric, request, problem) < 0 || !(body = parse_body(request, problem)))
        return -1;
    wish.id = json_string_value(json_object_get(body, "jobID"));
    limit = json_object_get(body, "mcastLimit");
    wish.limit = json_integer_value(limit);
    if (!wish.id)
        result = problem_set(problem, 400, "jobID must be a string");
    else if (!json_is_integer(limit))
        result = problem_set(problem, 400, "mcastLimit must be a number from 1 to %d",
                             OBJECTS_MCAST_IDS);
    else
        result = fabric_reserve(fabric, &wish, problem);
    if (result == 0)
        result =
            succeed(answer, 201, document_of_job(objects_job(fabric->objects, wish.id)), problem);
    json_decref(body);
    return result;
}

static const struct job *find_job(struct fabric *fabric, const char *id, struct problem *problem)
{
    const struct job *job = objects_job(fabric->objects, id);

    if (!job)
        problem_set(problem, 404, "no such job %.*s", OBJECTS_JOB_ID_MAX, id);
    return job;
}

static int get_job(struct fabric *fabric, const struct request *request, const char *name,
                   struct answer *answer, struct problem *problem)
{
    const struct job *job;

    if (need_reach(fabric, request, name, SESSION_GET, problem) < 0 ||
        !(job = find_job(fabric, name, problem)))
        return -1;
    return succeed(answer, 200, document_of_job(job), problem);
}

static int delete_job(struct fabric *fabric, const struct request *request, const char *name,
                      struct answer *answer, struct problem *problem)
{
    struct change change = {.kind = CHANGE_JOB_GONE, .at_us = request->now_us, .job = name};
    const struct job *job;

    if (need_login(fabric, request, problem) < 0 || !(job = find_job(fabric, name, problem)))
        return -1;
    /* The answer shows the job as it was. */
    if (succeed(answer, 200, document_of_job(job), problem) < 0)
        return -1;
    return fabric_commit(fabric, &change, problem);
}

static int drop_steps(struct fabric *fabric, const struct request *request, const char *id,
                      json_t *steps, struct problem *problem)
{
    const char *step;
    json_t *value;

    if (!json_is_object(steps))
        return problem_set(problem, 400, "jobSteps must be an object of steps");
    json_object_foreach(steps, step, value)
    {
        if (!json_is_null(value))
            return problem_set(problem, 400, "a step can only be set to null");
    }
    json_object_foreach(steps, step, value)
    {
        struct change change = {
            .kind = CHANGE_STEP_GONE, .at_us = request->now_us, .job = id, .step = step};

        if (fabric_commit(fabric, &change, problem) < 0)
            return -1;
    }
    return 0;
}

static int patch_job(struct fabric *fabric, const struct request *request, const char *name,
                     struct answer *answer, struct problem *problem)
{
    const struct job *job;
    json_t *body;
    int result;

    if (need_reach(fabric, request, name, SESSION_PATCH, problem) < 0 ||
        !(job = find_job(fabric, name, problem)) || !(body = parse_body(request, problem)))
        return -1;
    result = drop_steps(fabric, request, name, json_object_get(body, "jobSteps"), problem);
    json_decref(body);
    return result < 0 ? -1 : succeed(answer, 200, document_of_job(job), problem);
}

static int list_trees(struct fabric *fabric, const struct request *request, const char *name,
                      struct answer *answer, struct problem *problem)
{
    struct document_page page = {.size = request->page_size, .after = request->after};

    (void)name;
    if (need_login(fabric, request, problem) < 0)
        return -1;
    page.links = json_array();
    for (unsigned id = 0; id < OBJECTS_MCAST_IDS; id++) {
        char number[12];

        snprintf(number, sizeof number, "%u", id);
        if (objects_tree(fabric->objects, id) &&
            !document_page_add(&page, (uint64_t)id + 1, DOCUMENT_TREES, number))
            break;
    }
    return succeed(answer, 200, document_of_page(&page, DOCUMENT_TREES), problem);
}

static int parse_macs(const json_t *list, struct change *wish, uint32_t **macs,
                      struct problem *problem)
{
    size_t count = json_array_size(list);

    if (!json_is_array(list) || count == 0 || count > NIC_ADDRESSES)
        return problem_set(problem, 400, "macs must be an array of NIC addresses");
    if (!(*macs = calloc(count, sizeof **macs)))
        return problem_set(problem, 500, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(list, i));

        if (!text || !nic_parse(text, &(*macs)[i]))
            return problem_set(problem, 400,
                               "entry %zu of macs is no NIC address of three groups, as 1:12:00",
                               i + 1);
    }
    wish->macs = *macs;
    wish->mac_count = count;
    return 0;
}

/* vni and timeout may be left out; when there, they must be what libfabric sends. */
static int parse_wish(const json_t *body, struct change *wish, uint32_t **macs,
                      struct problem *problem)
{
    const json_t *vni = json_object_get(body, "vni"), *timeout = json_object_get(body, "timeout");

    if (!(wish->job = json_string_value(json_object_get(body, "jobID"))))
        return problem_set(problem, 400, "jobID must be a string");
    if (!(wish->step = json_string_value(json_object_get(body, "jobStepID"))))
        return problem_set(problem, 400, "jobStepID must be a string");
    if (vni && (!json_is_integer(vni) || json_integer_value(vni) < 0 ||
                json_integer_value(vni) > UINT16_MAX))
        return problem_set(problem, 400, "vni must be a number from 0 to %d", UINT16_MAX);
    if (timeout && (!json_is_integer(timeout) || json_integer_value(timeout) < 0))
        return problem_set(problem, 400, "timeout must be a number of microseconds");
    wish->vni = (unsigned)json_integer_value(vni);
    wish->timeout_us = json_integer_value(timeout);
    return parse_macs(json_object_get(body, "macs"), wish, macs, problem);
}

static int post_tree(struct fabric *fabric, const struct request *request, const char *name,
                     struct answer *answer, struct problem *problem)
{
    struct change wish = {.kind = CHANGE_TREE, .at_us = request->now_us};
    uint32_t *macs = NULL;
    json_t *body;
    int result = -1;

    (void)name;
    if (!auth_bearer(request->authorization))
        return need_token_of(NULL, request, problem);
    if (!(body = parse_body(request, problem)))
        return -1;
    if (parse_wish(body, &wish, &macs, problem) == 0 &&
        need_token_of(objects_job(fabric->objects, wish.job), request, problem) == 0 &&
        objects_may_grow(fabric->objects, &wish, problem) == 0 &&
        fabric_commit(fabric, &wish, problem) == 0)
        result = succeed(answer, 201,
                         document_of_tree(objects_tree(fabric->objects, wish.mcast_id)), problem);
    free(macs);
    json_decref(body);
    return result;
}

/* Decimal digits only, a known tree, or a 404. */
static const struct tree *find_tree(struct fabric *fabric, const char *name,
                                    struct problem *problem)
{
    const struct tree *tree = NULL;
    char *end;

    if (isdigit((unsigned char)name[0])) {
        unsigned long id = strtoul(name, &end, 10);

        if (*end == '\0' && id < OBJECTS_MCAST_IDS)
            tree = objects_tree(fabric->objects, (unsigned)id);
    }
    if (!tree)
        problem_set(problem, 404, "no such multicast tree %.32s", name);
    return tree;
}

static int get_tree(struct fabric *fabric, const struct request *request, const char *name,
                    struct answer *answer, struct problem *problem)
{
    bool bearer = auth_judge(fabric->auth, request->authorization, request->now_us) == AUTH_BEARER;
    const struct tree *tree;

    if (!bearer && need_login(fabric, request, problem) < 0)
        return -1;
    if (!(tree = find_tree(fabric, name, problem)) ||
        (bearer && need_token_of(tree->job, request, problem) < 0))
        return -1;
    return succeed(answer, 200, document_of_tree(tree), problem);
}

static int delete_tree(struct fabric *fabric, const struct request *request, const char *name,
                       struct answer *answer, struct problem *problem)
{
    struct change change = {.kind = CHANGE_TREE_GONE, .at_us = request->now_us};
    const struct tree *tree;

    if (!auth_bearer(request->authorization))
        return need_token_of(NULL, request, problem);
    if (!(tree = find_tree(fabric, name, problem)) ||
        need_token_of(tree->job, request, problem) < 0 ||
        succeed(answer, 200, document_of_tree(tree), problem) < 0)
        return -1;
    change.mcast_id = tree->mcast_id;
    return fabric_commit(fabric, &change, problem);
}

/* What can be done with the list (name NULL) and with one of its members. */
static const struct route {
    const char *base;
    bool member;
    const char *method;
    handler *handle;
} routes[] = {
    {DOCUMENT_JOBS, false, "GET", list_jobs},      {DOCUMENT_JOBS, false, "POST", post_job},
    {DOCUMENT_JOBS, true, "GET", get_job},         {DOCUMENT_JOBS, true, "PATCH", patch_job},
    {DOCUMENT_JOBS, true, "DELETE", delete_job},   {DOCUMENT_TREES, false, "GET", list_trees},
    {DOCUMENT_TREES, false, "POST", post_tree},    {DOCUMENT_TREES, true, "GET", get_tree},
    {DOCUMENT_TREES, true, "DELETE", delete_tree},
};

static const char *allowed_methods(const char *base, bool member)
{
    if (!member)
        return "GET, POST";
    return strcmp(base, DOCUMENT_JOBS) == 0 ? "GET, PATCH, DELETE" : "GET, DELETE";
}

static const char *without_gateway(const char *path)
{
    size_t prefix = strlen(FABRIC_GATEWAY_PREFIX);

    return strncmp(path, FABRIC_GATEWAY_PREFIX "/", prefix + 1) == 0 ? path + prefix : path;
}

/* Splits the path into one of the two lists and the member's name; "…/jobs/" is the list, too. */
static const char *split(const char *path, const char **name)
{
    static const char *const bases[] = {DOCUMENT_JOBS, DOCUMENT_TREES};

    path = without_gateway(path);
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        size_t length = strlen(bases[i]);

        if (strncmp(path, bases[i], length) != 0 || (path[length] && path[length] != '/'))
            continue;
        *name = path[length] && path[length + 1] ? path + length + 1 : NULL;
        return bases[i];
    }
    return NULL;
}

/* The paths that can only be read; the login is that of jobs. */
static int read_inventory(struct fabric *fabric, const struct request *request,
                          struct answer *answer, struct problem *problem)
{
    const struct inventory *inventory = &fabric->inventory;
    const char *name;
    const struct inventory_collection *collection =
        inventory_find(without_gateway(request->path), &name);
    json_t *document;

    if (!collection)
        return problem_set(problem, 404, "Service not found: %.200s", request->path);
    if (strcmp(request->method, "GET") != 0)
        return problem_set(problem, 405, "%.20s is not possible here; try GET", request->method);
    if (need_login(fabric, request, problem) < 0)
        return -1;
    if (!name)
        return succeed(answer, 200,
                       inventory_list(inventory, collection, request->page_size, request->after),
                       problem);
    if (!(document = inventory_member(inventory, collection, name, problem)))
        return -1;
    return succeed(answer, 200, document, problem);
}

static int dispatch(struct fabric *fabric, const struct request *request, struct answer *answer,
                    struct problem *problem)
{
    const char *name, *base = split(request->path, &name);

    if (!base)
        return read_inventory(fabric, request, answer, problem);
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        const struct route *route = &routes[i];

        if (strcmp(route->base, base) == 0 && route->member == (name != NULL) &&
            strcmp(route->method, request->method) == 0)
            return route->handle(fabric, request, name, answer, problem);
    }
    return problem_set(problem, 405, "%.20s is not possible here; try %s", request->method,
                       allowed_methods(base, name != NULL));
}

/* A read, from a replica that lags: it knows neither jobs nor tokens of late. */
static int dispatch_behind(struct fabric *fabric, const struct request *request,
                           struct answer *answer, struct problem *problem)
{
    struct fabric behind = *fabric;
    int result;

    behind.objects = replica_objects(fabric->replica, &request->lag, request->now_us);
    if (!behind.objects)
        return problem_set(problem, 500, "out of memory");
    result = dispatch(&behind, request, answer, problem);
    objects_destroy(behind.objects);
    return result;
}

void fabric_answer(struct fabric *fabric, const struct request *request, struct answer *answer)
{
    bool behind = (request->lag.ms > 0 || request->lag.writes > 0) && fabric->replica &&
                  strcmp(request->method, "GET") == 0;
    struct problem problem = {0};
    const char *name, *base;

    *answer = (struct answer){0};
    if ((behind ? dispatch_behind : dispatch)(fabric, request, answer, &problem) == 0)
        return;
    answer_problem(answer, &problem);
    if (problem.status != 405)
        return;
    base = split(request->path, &name);
    answer->allow = base ? allowed_methods(base, name != NULL) : "GET";
}
