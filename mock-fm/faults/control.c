/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/faults/control.h"

#include <string.h>

#include "mock-fm/objects/document.h"
#include "mock-fm/objects/objects.h"
#include "mock-fm/objects/otherclient.h"

/* A call of a control path. */
struct task {
    struct control *control;
    const struct request *request;
    struct problem *problem; /* for a handler that returns NULL; "out of memory" before */
};

static json_t *state_of_jobs(const struct objects *objects)
{
    json_t *jobs = json_array();
    for (const struct job *job = objects_first(objects); job; job = job->next)
        json_array_append_new(jobs, json_pack("{s:s, s:i, s:o}", "jobID", job->id, "mcastLimit",
                                              (int)job->limit, "jobSteps", document_of_steps(job)));
    return jobs;
}

static json_t *state_of_trees(const struct objects *objects)
{
    json_t *trees = json_array();
    for (unsigned id = 0; id < OBJECTS_MCAST_IDS; id++) {
        const struct tree *tree = objects_tree(objects, id);
        char root[NIC_TEXT_SIZE];
        if (!tree)
            continue;
        nic_format_long(tree->root, root);
        json_array_append_new(trees,
                              json_pack("{s:i, s:s, s:s, s:s, s:i, s:i}", "mcastID", (int)id,
                                        "jobID", tree->job->id, "jobStepID", tree->step, "hwRoot",
                                        root, "vni", (int)tree->vni, "macs", (int)tree->mac_count));
    }
    return trees;
}

static json_t *get_state(const struct task *task)
{
    const struct objects *objects = task->control->fabric->objects;
    const struct accesstokens *tokens = auth_tokens(task->control->fabric->auth);
    struct objects_totals totals = objects_totals(objects);
    struct accesstokens_totals access = {0};
    if (tokens)
        access = accesstokens_totals(tokens, task->request->now_us);
    return json_pack("{s:i, s:I, s:i, s:o, s:o, s:I, s:i}", "addresses", (int)totals.addresses,
                     "addressesReserved", (json_int_t)totals.reserved, "addressesInUse",
                     (int)totals.trees, "jobs", state_of_jobs(objects), "multicasts",
                     state_of_trees(objects), "accessTokensIssued", (json_int_t)access.issued,
                     "accessTokensLive", (int)access.live);
}

static json_t *get_log(const struct task *task)
{
    return requestlog_document(task->control->log, task->request->after);
}

static json_t *get_faults(const struct task *task)
{
    return faults_document(task->control->faults);
}

static json_t *parse_body(const struct task *task, json_error_t *error)
{
    const struct request *request = task->request;
    return json_loadb(request->body_length ? request->body : "", request->body_length, 0, error);
}

static json_t *post_faults(const struct task *task)
{
    struct control *control = task->control;
    struct fabric *fabric = control->fabric;
    json_error_t error;
    json_t *rules = parse_body(task, &error);
    int result = rules ? faults_add(control->faults, rules, task->problem)
                       : problem_set(task->problem, 400, "the body is not JSON: %s", error.text);
    json_decref(rules);
    /* For reads that lag: there is no other way to know later what was held before. */
    if (result == 0 && faults_lag(control->faults) && !fabric->replica &&
        !(fabric->replica = replica_create(fabric->objects)))
        result = problem_set(task->problem, 500, "out of memory");
    return result < 0 ? NULL : get_faults(task);
}

static json_t *delete_faults(const struct task *task)
{
    faults_clear(task->control->faults);
    replica_destroy(task->control->fabric->replica);
    task->control->fabric->replica = NULL;
    return get_faults(task);
}

/* No body: everything. Otherwise {"jobs":[…]}, so that a misspelt list does not lose everything. */
static json_t *post_forget(const struct task *task)
{
    const struct request *request = task->request;
    json_t *body = parse_body(task, NULL);
    const json_t *jobs = json_object_get(body, "jobs");
    int lost = request->body_length == 0 || json_is_array(jobs)
                   ? otherclient_forget(task->control->fabric, jobs, request->now_us, task->problem)
                   : problem_set(task->problem, 400,
                                 "send no body to forget every job, or {\"jobs\":[\"…\"]}");
    json_decref(body);
    return lost < 0 ? NULL : json_pack("{s:i}", "forgotten", lost);
}

static json_t *post_put(const struct task *task)
{
    json_t *body = parse_body(task, NULL);
    const json_t *jobs = json_object_get(body, "jobs");
    int made =
        json_is_array(jobs)
            ? otherclient_put(task->control->fabric, jobs, task->request->now_us, task->problem)
            : problem_set(task->problem, 400,
                          "send {\"jobs\":[{\"jobID\":\"…\",\"mcastLimit\":N}]}");
    json_decref(body);
    return made < 0 ? NULL : json_pack("{s:i}", "put", made);
}

static json_t *count_jobs(const struct task *task)
{
    struct objects_totals totals = objects_totals(task->control->fabric->objects);
    return json_pack("{s:I}", "jobs", (json_int_t)totals.jobs);
}

static json_t *post_snapshot(const struct task *task)
{
    struct objects *snapshot = objects_copy(task->control->fabric->objects);
    if (!snapshot)
        return NULL;
    objects_destroy(task->control->snapshot);
    task->control->snapshot = snapshot;
    return count_jobs(task);
}

static json_t *post_restore(const struct task *task)
{
    struct control *control = task->control;
    int result = control->snapshot
                     ? otherclient_restore(control->fabric, control->snapshot,
                                           task->request->now_us, task->problem)
                     : problem_set(task->problem, 404,
                                   "there is no snapshot yet; POST /mock/snapshot takes one");
    return result < 0 ? NULL : count_jobs(task);
}

static json_t *post_revoke(const struct task *task)
{
    struct accesstokens *tokens = auth_tokens(task->control->fabric->auth);
    return json_pack("{s:i}", "revoked",
                     tokens ? (int)accesstokens_revoke(tokens, task->request->now_us) : 0);
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
    for (size_t i = 0; i < sizeof routes / sizeof *routes && !answer->document; i++)
        if (strcmp(routes[i].method, request->method) == 0 &&
            strcmp(routes[i].path, request->path) == 0) {
            problem_set(&problem, 500, "out of memory");
            answer->document = routes[i].handle(&task);
        }
    if (!answer->document)
        answer_problem(answer, &problem);
}
