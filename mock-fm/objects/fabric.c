/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/objects/fabric.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "mock-fm/objects/document.h"

int fabric_commit(struct fabric *fabric, json_t *change, struct problem *problem)
{
    int result = fabric->journal ? journal_append(fabric->journal, change, problem) : 0;
    if (result == 0 && objects_apply(fabric->objects, change) < 0)
        result = problem_set(problem, 500, "cannot apply the change: it contradicts what is held");
    else if (result == 0 && fabric->replica)
        replica_add(fabric->replica, change);
    json_decref(change);
    return result;
}

int fabric_lose(struct fabric *fabric, const char *id, int64_t now_us, struct problem *problem)
{
    return fabric_commit(
        fabric, json_pack("{s:s, s:I, s:s}", "op", "job-gone", "at", now_us, "job", id), problem);
}

int fabric_restore(struct fabric *fabric, const struct objects *snapshot, int64_t now_us,
                   struct problem *problem)
{
    json_t *changes = objects_changes(snapshot);
    int result =
        fabric_commit(fabric, json_pack("{s:s, s:I}", "op", "reset", "at", now_us), problem);
    for (size_t i = 0; result == 0 && i < json_array_size(changes); i++)
        result = fabric_commit(fabric, json_incref(json_array_get(changes, i)), problem);
    json_decref(changes);
    return result;
}

/* A request to a path: the list (name NULL) or one of its members. */
struct task {
    struct fabric *fabric;
    const struct request *request;
    const char *name;
    struct answer *answer;
    struct problem *problem; /* set when a handler returns -1 */
};

static int succeed(const struct task *task, int status, json_t *document)
{
    task->answer->status = status;
    task->answer->document = document;
    return 0;
}

/* The body as a JSON object: a new reference, or NULL with a 400. */
static json_t *parse_body(const struct task *task)
{
    json_t *body = request_json(task->request, task->problem);
    if (!body || json_is_object(body))
        return body;
    problem_set(task->problem, 400, "the body must be a JSON object");
    json_decref(body);
    return NULL;
}

static enum auth_login login_of(const struct task *task)
{
    return auth_judge(task->fabric->auth, task->request->authorization, task->request->now_us);
}

static int need_login(const struct task *task)
{
    const struct auth_words *words = task->fabric->auth->words;
    enum auth_login login = login_of(task);
    if (login == AUTH_ADMITTED)
        return 0;
    if (login == AUTH_BEARER)
        return problem_set(task->problem, 403,
                           "a session token opens only its own job and the job's multicast "
                           "trees; log in for this");
    return problem_set(task->problem, 401, "%s",
                       login == AUTH_MISSING ? words->missing : words->wrong);
}

static int need_token_of(const struct task *task, const struct job *job)
{
    const char *token = auth_bearer(task->request->authorization);
    if (!token)
        return problem_set(task->problem, 401,
                           "this path needs a job's session token as bearer token");
    if (!job || !secret_equal(secret_of(job->token), secret_of(token)))
        return problem_set(task->problem, 403, "this session token does not open this job");
    return 0;
}

/* Its own token, where that reaches so far, or the login. */
static int need_reach(const struct task *task, enum session_reach enough)
{
    const struct fabric *fabric = task->fabric;
    if (login_of(task) != AUTH_BEARER)
        return need_login(task);
    if (need_token_of(task, objects_job(fabric->objects, task->name)) < 0)
        return -1;
    if (fabric->reach == SESSION_OWN_JOB || fabric->reach == enough)
        return 0;
    return problem_set(task->problem, 403, "a session token is not enough for this here; log in");
}

static int list_jobs(const struct task *task)
{
    if (need_login(task) < 0)
        return -1;
    struct document_page page = document_page_of(task->request);
    const struct job *job = task->fabric->objects->first;
    while (job && document_page_add(&page, job->serial, DOCUMENT_JOBS, job->id))
        job = job->next;
    return succeed(task, 200, document_of_page(&page, DOCUMENT_JOBS));
}

int fabric_reserve(struct fabric *fabric, const json_t *wish, const char *token, int64_t now_us,
                   struct problem *problem)
{
    const char *id = json_string_value(json_object_get(wish, "jobID"));
    const json_t *limit = json_object_get(wish, "mcastLimit");
    uint64_t serial = fabric->objects->totals.last_serial + 1;
    char minted[SESSION_TOKEN_SIZE];
    if (!id)
        return problem_set(problem, 400, "jobID must be a string");
    if (!json_is_integer(limit))
        return problem_set(problem, 400, "mcastLimit must be a number from 1 to %d",
                           OBJECTS_MCAST_IDS);
    if (objects_may_reserve(fabric->objects, id, json_integer_value(limit), problem) < 0)
        return -1;
    session_token(&fabric->mint, serial, minted);
    int result = fabric_commit(fabric,
                               json_pack("{s:s, s:I, s:s, s:s, s:I, s:I, s:i}", "op", "job", "at",
                                         now_us, "job", id, "token", token ? token : minted,
                                         "limit", json_integer_value(limit), "serial",
                                         (json_int_t)serial, "version", 0),
                               problem);
    explicit_bzero(minted, sizeof minted);
    return result;
}

static int post_job(const struct task *task)
{
    const struct request *request = task->request;
    json_t *body;
    if (need_login(task) < 0 || !(body = parse_body(task)))
        return -1;
    int result =
        fabric_reserve(task->fabric, body, request->session_token, request->now_us, task->problem);
    const char *id = json_string_value(json_object_get(body, "jobID"));
    if (result == 0)
        result = succeed(task, 201, document_of_job(objects_job(task->fabric->objects, id)));
    json_decref(body);
    return result;
}

static const struct job *find_job(const struct task *task)
{
    const struct job *job = objects_job(task->fabric->objects, task->name);
    if (!job)
        problem_set(task->problem, 404, "no such job %.*s", OBJECTS_JOB_ID_MAX, task->name);
    return job;
}

static int get_job(const struct task *task)
{
    const struct job *job;
    if (need_reach(task, SESSION_GET) < 0 || !(job = find_job(task)))
        return -1;
    return succeed(task, 200, document_of_job(job));
}

static int delete_job(const struct task *task)
{
    const struct job *job;
    /* The answer shows the job as it was. */
    if (need_login(task) < 0 || !(job = find_job(task)) ||
        succeed(task, 200, document_of_job(job)) < 0)
        return -1;
    return fabric_lose(task->fabric, task->name, task->request->now_us, task->problem);
}

static int drop_steps(const struct task *task, json_t *steps)
{
    const char *step;
    json_t *value;
    if (!json_is_object(steps))
        return problem_set(task->problem, 400, "jobSteps must be an object of steps");
    json_object_foreach(steps, step, value)
    {
        if (!json_is_null(value))
            return problem_set(task->problem, 400, "a step can only be set to null");
    }
    json_object_foreach(steps, step, value)
    {
        json_t *change = json_pack("{s:s, s:I, s:s, s:s}", "op", "step-gone", "at",
                                   task->request->now_us, "job", task->name, "step", step);
        if (fabric_commit(task->fabric, change, task->problem) < 0)
            return -1;
    }
    return 0;
}

static int patch_job(const struct task *task)
{
    const struct job *job;
    json_t *body;
    if (need_reach(task, SESSION_PATCH) < 0 || !(job = find_job(task)) ||
        !(body = parse_body(task)))
        return -1;
    int result = drop_steps(task, json_object_get(body, "jobSteps"));
    json_decref(body);
    return result < 0 ? -1 : succeed(task, 200, document_of_job(job));
}

static int list_trees(const struct task *task)
{
    if (need_login(task) < 0)
        return -1;
    struct document_page page = document_page_of(task->request);
    for (unsigned id = 0; id < OBJECTS_MCAST_IDS; id++) {
        char number[12];
        snprintf(number, sizeof number, "%u", id);
        if (task->fabric->objects->trees[id] &&
            !document_page_add(&page, (uint64_t)id + 1, DOCUMENT_TREES, number))
            break;
    }
    return succeed(task, 200, document_of_page(&page, DOCUMENT_TREES));
}

/* As numbers: a new reference, or NULL with a 400. */
static json_t *parse_macs(const json_t *list, struct problem *problem)
{
    size_t count = json_array_size(list);
    json_t *macs = json_array();
    if (count == 0 || count > NIC_ADDRESSES)
        problem_set(problem, 400, "macs must be an array of NIC addresses");
    for (size_t i = 0; i < count && count <= NIC_ADDRESSES; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        uint32_t nic;
        if (text && nic_parse(text, &nic)) {
            json_array_append_new(macs, json_integer(nic));
            continue;
        }
        problem_set(problem, 400, "entry %zu of macs is no NIC address of three groups, as 1:12:00",
                    i + 1);
        break;
    }
    if (count > 0 && json_array_size(macs) == count)
        return macs;
    json_decref(macs);
    return NULL;
}

/* The change that makes the tree: a new reference, or NULL with a 400. vni and timeout may be left
 * out; when there, they must be what libfabric sends. */
static json_t *parse_tree(const struct task *task, const json_t *body)
{
    const json_t *vni = json_object_get(body, "vni"), *timeout = json_object_get(body, "timeout");
    const char *job = json_string_value(json_object_get(body, "jobID"));
    const char *step = json_string_value(json_object_get(body, "jobStepID"));
    struct problem *problem = task->problem;
    json_t *macs;
    if (!job)
        problem_set(problem, 400, "jobID must be a string");
    else if (!step)
        problem_set(problem, 400, "jobStepID must be a string");
    else if (vni && (!json_is_integer(vni) || json_integer_value(vni) < 0 ||
                     json_integer_value(vni) > UINT16_MAX))
        problem_set(problem, 400, "vni must be a number from 0 to %d", UINT16_MAX);
    else if (timeout && (!json_is_integer(timeout) || json_integer_value(timeout) < 0))
        problem_set(problem, 400, "timeout must be a number of microseconds");
    else if ((macs = parse_macs(json_object_get(body, "macs"), problem)))
        return json_pack("{s:s, s:I, s:s, s:s, s:I, s:I, s:o}", "op", "tree", "at",
                         task->request->now_us, "job", job, "step", step, "vni",
                         json_integer_value(vni), "timeout", json_integer_value(timeout), "macs",
                         macs);
    return NULL;
}

static int post_tree(const struct task *task)
{
    const struct objects *objects = task->fabric->objects;
    if (!auth_bearer(task->request->authorization))
        return need_token_of(task, NULL);
    json_t *body = parse_body(task), *change = body ? parse_tree(task, body) : NULL;
    int result = -1;
    if (change &&
        need_token_of(
            task, objects_job(objects, json_string_value(json_object_get(change, "job")))) == 0 &&
        objects_may_grow(objects, change, task->problem) == 0 &&
        fabric_commit(task->fabric, json_incref(change), task->problem) == 0) {
        json_int_t id = json_integer_value(json_object_get(change, "mcastID"));
        result = succeed(task, 201, document_of_tree(objects->trees[id]));
    }
    json_decref(change);
    json_decref(body);
    return result;
}

/* Decimal digits only, a known tree, or a 404. */
static const struct tree *find_tree(const struct task *task)
{
    const struct tree *tree = NULL;
    char *end;
    unsigned long id = strtoul(task->name, &end, 10);
    if (isdigit((unsigned char)task->name[0]) && *end == '\0' && id < OBJECTS_MCAST_IDS)
        tree = task->fabric->objects->trees[id];
    if (!tree)
        problem_set(task->problem, 404, "no such multicast tree %.32s", task->name);
    return tree;
}

static int get_tree(const struct task *task)
{
    bool bearer = login_of(task) == AUTH_BEARER;
    const struct tree *tree;
    if ((!bearer && need_login(task) < 0) || !(tree = find_tree(task)) ||
        (bearer && need_token_of(task, tree->job) < 0))
        return -1;
    return succeed(task, 200, document_of_tree(tree));
}

static int delete_tree(const struct task *task)
{
    const struct tree *tree;
    if (!auth_bearer(task->request->authorization))
        return need_token_of(task, NULL);
    if (!(tree = find_tree(task)) || need_token_of(task, tree->job) < 0 ||
        succeed(task, 200, document_of_tree(tree)) < 0)
        return -1;
    return fabric_commit(task->fabric,
                         json_pack("{s:s, s:I, s:i}", "op", "tree-gone", "at",
                                   task->request->now_us, "mcastID", (int)tree->mcast_id),
                         task->problem);
}

/* What can be done with the two lists and with one of their members. */
static const struct collection {
    const char *base;
    bool member;
    const char *allow;
    struct {
        const char *method;
        int (*handle)(const struct task *task);
    } calls[3];
} collections[] = {
    {DOCUMENT_JOBS, false, "GET, POST", {{"GET", list_jobs}, {"POST", post_job}}},
    {DOCUMENT_JOBS,
     true,
     "GET, PATCH, DELETE",
     {{"GET", get_job}, {"PATCH", patch_job}, {"DELETE", delete_job}}},
    {DOCUMENT_TREES, false, "GET, POST", {{"GET", list_trees}, {"POST", post_tree}}},
    {DOCUMENT_TREES, true, "GET, DELETE", {{"GET", get_tree}, {"DELETE", delete_tree}}},
};

static const char *without_gateway(const char *path)
{
    size_t prefix = strlen(FABRIC_GATEWAY_PREFIX);
    return strncmp(path, FABRIC_GATEWAY_PREFIX "/", prefix + 1) == 0 ? path + prefix : path;
}

/* "…/jobs/" is the list, too. *name is NULL for a list. */
static const struct collection *find_collection(const char *path, const char **name)
{
    path = without_gateway(path);
    for (size_t i = 0; i < sizeof collections / sizeof *collections; i++) {
        *name = document_below(path, collections[i].base);
        if (*name && collections[i].member == (**name != '\0')) {
            *name = collections[i].member ? *name : NULL;
            return &collections[i];
        }
    }
    return NULL;
}

static int method_not_allowed(const struct task *task, const char *allow)
{
    task->answer->allow = allow;
    return problem_set(task->problem, 405, "%.20s is not possible here; try %s",
                       task->request->method, allow);
}

/* The paths that can only be read; the login is that of jobs. */
static int read_inventory(const struct task *task)
{
    const struct request *request = task->request;
    const char *path = without_gateway(request->path);
    if (!inventory_owns(path))
        return problem_set(task->problem, 404, "Service not found: %.200s", request->path);
    if (strcmp(request->method, "GET") != 0)
        return method_not_allowed(task, "GET");
    if (need_login(task) < 0)
        return -1;
    json_t *document = inventory_read(&task->fabric->inventory, path, request, task->problem);
    return document ? succeed(task, 200, document) : -1;
}

static int dispatch(struct task *task)
{
    const struct collection *collection = find_collection(task->request->path, &task->name);
    if (!collection)
        return read_inventory(task);
    for (size_t i = 0; i < 3 && collection->calls[i].method; i++)
        if (strcmp(collection->calls[i].method, task->request->method) == 0)
            return collection->calls[i].handle(task);
    return method_not_allowed(task, collection->allow);
}

/* A read, from a replica that lags: it knows neither the latest jobs nor their tokens. */
static int dispatch_behind(const struct task *task)
{
    struct fabric lagging = *task->fabric;
    struct task behind = *task;
    behind.fabric = &lagging;
    lagging.objects = replica_objects(lagging.replica, &task->request->lag, task->request->now_us);
    int result = dispatch(&behind);
    objects_destroy(lagging.objects);
    return result;
}

void fabric_answer(struct fabric *fabric, const struct request *request, struct answer *answer)
{
    bool behind = (request->lag.ms > 0 || request->lag.writes > 0) && fabric->replica &&
                  strcmp(request->method, "GET") == 0;
    struct problem problem = {0};
    struct task task = {
        .fabric = fabric, .request = request, .answer = answer, .problem = &problem};
    *answer = (struct answer){0};
    if ((behind ? dispatch_behind(&task) : dispatch(&task)) == 0)
        return;
    const char *allow = answer->allow;
    answer_problem(answer, &problem);
    answer->allow = allow;
}
