#include "mock-fm/faults/control.h"

#include <string.h>

#include "mock-fm/objects/document.h"
#include "mock-fm/objects/nic.h"
#include "mock-fm/objects/otherclient.h"

typedef json_t *handler(struct control *control, const struct request *request,
                        struct problem *problem);

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

static json_t *get_state(struct control *control, const struct request *request,
                         struct problem *problem)
{
    const struct objects *objects = control->fabric->objects;
    const struct accesstokens *tokens = auth_tokens(control->fabric->auth);
    struct objects_totals totals = objects_totals(objects);
    struct accesstokens_totals access = {0};

    (void)problem;
    if (tokens)
        access = accesstokens_totals(tokens, request->now_us);
    return json_pack("{s:i, s:I, s:i, s:o, s:o, s:I, s:i}", "addresses", (int)totals.addresses,
                     "addressesReserved", (json_int_t)totals.reserved, "addressesInUse",
                     (int)totals.trees, "jobs", state_of_jobs(objects), "multicasts",
                     state_of_trees(objects), "accessTokensIssued", (json_int_t)access.issued,
                     "accessTokensLive", (int)access.live);
}

static json_t *get_log(struct control *control, const struct request *request,
                       struct problem *problem)
{
    (void)problem;
    return requestlog_document(control->log, request->after);
}

static json_t *get_faults(struct control *control, const struct request *request,
                          struct problem *problem)
{
    (void)request;
    (void)problem;
    return faults_document(control->faults);
}

static json_t *post_faults(struct control *control, const struct request *request,
                           struct problem *problem)
{
    json_error_t error;
    json_t *rules =
        json_loadb(request->body_length ? request->body : "", request->body_length, 0, &error);
    int result;

    if (!rules)
        result = problem_set(problem, 400, "the body is not JSON: %s", error.text);
    else
        result = faults_add(control->faults, rules, problem);
    json_decref(rules);
    /* For reads that lag: there is no other way to know later what was held before. */
    if (result == 0 && faults_lag(control->faults) && !control->fabric->replica &&
        !(control->fabric->replica = replica_create(control->fabric->objects)))
        result = problem_set(problem, 500, "out of memory");
    return result < 0 ? NULL : faults_document(control->faults);
}

static json_t *delete_faults(struct control *control, const struct request *request,
                             struct problem *problem)
{
    (void)request;
    (void)problem;
    faults_clear(control->faults);
    replica_destroy(control->fabric->replica);
    control->fabric->replica = NULL;
    return faults_document(control->faults);
}

/* No body: everything. Otherwise {"jobs":[…]}, so that a misspelt list does not lose everything. */
static json_t *post_forget(struct control *control, const struct request *request,
                           struct problem *problem)
{
    json_t *body = NULL;
    const json_t *jobs = NULL;
    int lost = -1;

    if (request->body_length > 0) {
        body = json_loadb(request->body, request->body_length, 0, NULL);
        jobs = json_object_get(body, "jobs");
        if (!json_is_array(jobs)) {
            problem_set(problem, 400, "send no body to forget every job, or {\"jobs\":[\"…\"]}");
            goto done;
        }
    }
    lost = otherclient_forget(control->fabric, jobs, request->now_us, problem);
done:
    json_decref(body);
    return lost < 0 ? NULL : json_pack("{s:i}", "forgotten", lost);
}

static json_t *post_put(struct control *control, const struct request *request,
                        struct problem *problem)
{
    json_t *body =
        json_loadb(request->body_length ? request->body : "", request->body_length, 0, NULL);
    const json_t *jobs = json_object_get(body, "jobs");
    int made =
        json_is_array(jobs)
            ? otherclient_put(control->fabric, jobs, request->now_us, problem)
            : problem_set(problem, 400, "send {\"jobs\":[{\"jobID\":\"…\",\"mcastLimit\":N}]}");

    json_decref(body);
    return made < 0 ? NULL : json_pack("{s:i}", "put", made);
}

static json_t *count_jobs(const struct control *control)
{
    return json_pack("{s:I}", "jobs", (json_int_t)objects_totals(control->fabric->objects).jobs);
}

static json_t *post_snapshot(struct control *control, const struct request *request,
                             struct problem *problem)
{
    struct backup *backup = backup_create(control->fabric->objects);

    (void)request;
    (void)problem;
    if (!backup)
        return NULL;
    backup_destroy(control->backup);
    control->backup = backup;
    return count_jobs(control);
}

static json_t *post_restore(struct control *control, const struct request *request,
                            struct problem *problem)
{
    if (!control->backup) {
        problem_set(problem, 404, "there is no snapshot yet; POST /mock/snapshot takes one");
        return NULL;
    }
    if (backup_restore(control->backup, control->fabric, request->now_us, problem) < 0)
        return NULL;
    return count_jobs(control);
}

static json_t *post_revoke(struct control *control, const struct request *request,
                           struct problem *problem)
{
    struct accesstokens *tokens = auth_tokens(control->fabric->auth);

    (void)problem;
    return json_pack("{s:i}", "revoked",
                     tokens ? (int)accesstokens_revoke(tokens, request->now_us) : 0);
}

static json_t *post_reload(struct control *control, const struct request *request,
                           struct problem *problem)
{
    (void)request;
    return control->reload(control->program, problem) < 0 ? NULL
                                                          : json_pack("{s:b}", "reloaded", 1);
}

static const struct {
    const char *method, *path;
    handler *handle;
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

    problem_set(&problem, 404,
                "the control paths are GET /mock/state, GET /mock/log, GET, POST and DELETE "
                "/mock/faults, POST /mock/forget, /mock/put, /mock/snapshot, /mock/restore, "
                "/mock/revoke and "
                "/mock/reload");
    *answer = (struct answer){0};
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        if (strcmp(routes[i].method, request->method) != 0 ||
            strcmp(routes[i].path, request->path) != 0)
            continue;
        problem_set(&problem, 500, "out of memory");
        answer->document = routes[i].handle(control, request, &problem);
        answer->status = 200;
        break;
    }
    if (!answer->document)
        answer_problem(answer, &problem);
}
