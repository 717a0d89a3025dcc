/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/faults/control.h"

#include <string.h>

#include "mock-fm/objects/document.h"
#include "mock-fm/objects/objects.h"

/* A call of a control path. */
struct task {
    struct control *control;
    const struct request *request;
    struct problem *problem; /* for a handler that returns NULL */
};

static json_t *state_of_jobs(const struct objects *objects)
{
    json_t *jobs = json_array();
    for (const struct job *job = objects->first; job; job = job->next)
        json_array_append_new(jobs, json_pack("{s:s, s:i, s:o}", "jobID", job->id, "mcastLimit",
                                              (int)job->limit, "jobSteps", document_of_steps(job)));
    return jobs;
}

static json_t *state_of_trees(const struct objects *objects)
{
    json_t *trees = json_array();
    for (unsigned id = 0; id < OBJECTS_MCAST_IDS; id++) {
        const struct tree *tree = objects->trees[id];
        char root[NIC_TEXT_SIZE];
        if (!tree)
            continue;
        nic_format_long(tree->root, root);
        json_array_append_new(trees, json_pack("{s:i, s:s, s:s, s:s, s:i, s:i}", "mcastID", (int)id,
                                               "jobID", tree->job->id, "jobStepID", tree->step,
                                               "hwRoot", root, "vni", (int)tree->vni, "macs",
                                               (int)json_array_size(tree->macs)));
    }
    return trees;
}

static int count_live(const struct task *task)
{
    const struct accesstokens *tokens = task->control->fabric->auth->tokens;
    return tokens ? (int)accesstokens_live(tokens, task->request->now_us) : 0;
}

static json_t *get_state(const struct task *task)
{
    const struct objects *objects = task->control->fabric->objects;
    const struct accesstokens *tokens = task->control->fabric->auth->tokens;
    json_int_t issued = tokens ? (json_int_t)tokens->issued : 0;
    return json_pack("{s:i, s:I, s:i, s:o, s:o, s:I, s:i}", "addresses", (int)objects->addresses,
                     "addressesReserved", (json_int_t)objects->totals.reserved, "addressesInUse",
                     (int)objects->totals.trees, "jobs", state_of_jobs(objects), "multicasts",
                     state_of_trees(objects), "accessTokensIssued", issued, "accessTokensLive",
                     count_live(task));
}

static json_t *get_log(const struct task *task)
{
    return requestlog_document(task->control->log, task->request->after);
}

static json_t *get_faults(const struct task *task)
{
    return faults_document(task->control->faults);
}

static json_t *post_faults(const struct task *task)
{
    struct control *control = task->control;
    struct fabric *fabric = control->fabric;
    json_t *rules = request_json(task->request, task->problem);
    int result = rules ? faults_add(control->faults, rules, task->problem) : -1;
    json_decref(rules);
    /* For reads that lag: there is no other way to know later what was held before. */
    if (result == 0 && faults_lag(control->faults) && !fabric->replica)
        fabric->replica = replica_create(fabric->objects);
    return result < 0 ? NULL : get_faults(task);
}

static json_t *delete_faults(const struct task *task)
{
    faults_clear(task->control->faults);
    replica_destroy(task->control->fabric->replica);
    task->control->fabric->replica = NULL;
    return get_faults(task);
}

/* What another client or an administrator does with the fabric manager: the client under test does
 * not know of it. */

/* 1 when there was such a job; or -1 with a problem. */
static int forget_job(const struct task *task, const char *id)
{
    struct fabric *fabric = task->control->fabric;
    if (!id || !objects_job(fabric->objects, id))
        return 0;
    return fabric_lose(fabric, id, task->request->now_us, task->problem) < 0 ? -1 : 1;
}

/* No body: everything. Otherwise {"jobs":[…]}, so that a misspelt list does not lose everything. */
static json_t *post_forget(const struct task *task)
{
    json_t *body = request_json(task->request, task->problem);
    const json_t *jobs = json_object_get(body, "jobs");
    const struct job *job;
    int lost = 0, result = 0;
    if (task->request->body_length > 0 && !json_is_array(jobs))
        result = problem_set(task->problem, 400,
                             "send no body to forget every job, or {\"jobs\":[\"…\"]}");
    for (size_t i = 0; result >= 0 && i < json_array_size(jobs); i++, lost += result)
        result = forget_job(task, json_string_value(json_array_get(jobs, i)));
    while (!jobs && result >= 0 && (job = task->control->fabric->objects->first))
        lost += result = forget_job(task, job->id);
    json_decref(body);
    return result < 0 ? NULL : json_pack("{s:i}", "forgotten", lost);
}

static int put_job(const struct task *task, const json_t *text)
{
    const json_t *token = json_object_get(text, "sessionToken");
    if (!json_is_integer(json_object_get(text, "mcastLimit")) ||
        (token && json_string_length(token) == 0))
        return problem_set(task->problem, 400,
                           "a job is {\"jobID\":\"…\",\"mcastLimit\":N}, perhaps with a "
                           "\"sessionToken\"");
    if (forget_job(task, json_string_value(json_object_get(text, "jobID"))) < 0)
        return -1;
    return fabric_reserve(task->control->fabric, text, json_string_value(token),
                          task->request->now_us, task->problem);
}

/* A job that exists is replaced, and has another token then. */
static json_t *post_put(const struct task *task)
{
    json_t *body = request_json(task->request, task->problem);
    const json_t *jobs = json_object_get(body, "jobs");
    int made = (int)json_array_size(jobs), result = 0;
    if (!json_is_array(jobs))
        result =
            problem_set(task->problem, 400, "send {\"jobs\":[{\"jobID\":\"…\",\"mcastLimit\":N}]}");
    for (int i = 0; i < made && result == 0; i++)
        result = put_job(task, json_array_get(jobs, (size_t)i));
    json_decref(body);
    return result < 0 ? NULL : json_pack("{s:i}", "put", made);
}

static json_t *count_jobs(const struct task *task)
{
    uint64_t jobs = task->control->fabric->objects->totals.jobs;
    return json_pack("{s:I}", "jobs", (json_int_t)jobs);
}

static json_t *post_snapshot(const struct task *task)
{
    objects_destroy(task->control->snapshot);
    task->control->snapshot = objects_copy(task->control->fabric->objects);
    return count_jobs(task);
}

static json_t *post_restore(const struct task *task)
{
    struct control *control = task->control;
    int result = control->snapshot
                     ? fabric_restore(control->fabric, control->snapshot, task->request->now_us,
                                      task->problem)
                     : problem_set(task->problem, 404,
                                   "there is no snapshot yet; POST /mock/snapshot takes one");
    return result < 0 ? NULL : count_jobs(task);
}

static json_t *post_revoke(const struct task *task)
{
    int live = count_live(task);
    if (task->control->fabric->auth->tokens)
        accesstokens_revoke(task->control->fabric->auth->tokens);
    return json_pack("{s:i}", "revoked", live);
}

static json_t *post_reload(const struct task *task)
{
    return task->control->reload(task->control->program, task->problem) < 0
               ? NULL
               : json_pack("{s:b}", "reloaded", 1);
}

static const struct {
    const char *method, *path;
    json_t *(*handle)(const struct task *task);
} routes[] = {
    {"GET", "/mock/state", get_state},         {"GET", "/mock/log", get_log},
    {"GET", "/mock/faults", get_faults},       {"POST", "/mock/faults", post_faults},
    {"DELETE", "/mock/faults", delete_faults}, {"POST", "/mock/forget", post_forget},
    {"POST", "/mock/snapshot", post_snapshot}, {"POST", "/mock/restore", post_restore},
    {"POST", "/mock/revoke", post_revoke},     {"POST", "/mock/reload", post_reload},
    {"POST", "/mock/put", post_put},
};

bool control_owns(const char *path)
{
    return strncmp(path, "/mock/", 6) == 0;
}

void control_answer(struct control *control, const struct request *request, struct answer *answer)
{
    struct problem problem;
    const struct task task = {.control = control, .request = request, .problem = &problem};
    problem_set(&problem, 404,
                "the control paths are GET /mock/state, GET /mock/log, GET, POST and DELETE "
                "/mock/faults, POST /mock/forget, /mock/put, /mock/snapshot, /mock/restore, "
                "/mock/revoke and /mock/reload");
    *answer = (struct answer){.status = 200};
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (strcmp(routes[i].method, request->method) == 0 &&
            strcmp(routes[i].path, request->path) == 0)
            answer->document = routes[i].handle(&task);
    if (!answer->document)
        answer_problem(answer, &problem);
}
