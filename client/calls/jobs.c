/* SPDX-License-Identifier: Apache-2.0 */
/* One job: to reserve, release and show it, by its name or by its token; its steps that have
 * multicast trees, and how these are removed. */

#include "base/steppath.h"
#include "client/calls/traffic.h"
#include "client/calls/field.h"
#include "client/text.h"
#include "client/handle.h"

#include <inttypes.h>

enum { VNI_COUNT_MAX = 4 };

/* ---- answers ---- */

static int read_job(const struct answer *answer, void **document, struct mcast_error *error)
{
    struct mcast_reservation *job = NULL;
    int rc = reservation_parse(text_string(&answer->body), answer->body.length, &job, error);
    *document = job;
    return rc;
}

/* 200: this very request had been granted before. */
static int read_reserve(const struct answer *answer, void **document, struct mcast_error *error)
{
    struct mcast_reservation *job = NULL;
    int rc = reservation_parse(text_string(&answer->body), answer->body.length, &job, error);
    if (rc == 0)
        job->repeated = answer->status == 200;
    *document = job;
    return rc;
}

/* ---- reserve ---- */

static int check_request(const struct mcast_request *request, struct mcast_error *error)
{
    if (request->uid == UINT32_MAX)
        return fault_set(error, MCAST_USAGE, "the job's owner (uid) is not set");
    if (!request->nodes && request->node_count == 0)
        return fault_set(error, MCAST_USAGE,
                         "the job has no nodes: give a node list, or their number");
    if (request->vni_count < -1 || request->vni_count > VNI_COUNT_MAX)
        return fault_set(error, MCAST_USAGE, "%d VNIs cannot be had: 0 to %d", request->vni_count,
                         VNI_COUNT_MAX);
    for (const char *const *name = request->shared_vnis; name && *name; name++)
        if (names_check_vni(*name, error) < 0)
            return MCAST_USAGE;
    return 0;
}

static json_t *add_layout(json_t *body, const char *interconnect, uint32_t tasks, uint32_t cpus)
{
    body = call_add(body, "interconnect", interconnect, json_string(interconnect));
    body = call_add(body, "tasks_per_node", tasks > 0, json_integer(tasks));
    return call_add(body, "cpus_per_task", cpus > 0, json_integer(cpus));
}

static json_t *encode_vnis(const uint16_t *vnis)
{
    json_t *list = json_array();
    for (; vnis && *vnis; vnis++)
        json_array_append_new(list, json_integer(*vnis));
    return list;
}

static json_t *encode_launch(const struct mcast_launch *launch)
{
    json_t *body = call_add(json_object(), "restart", launch->restart >= 0,
                            json_integer((json_int_t)launch->restart));
    body = add_layout(body, launch->interconnect, launch->tasks_per_node, launch->cpus_per_task);
    body = call_add(body, "env", launch->env, json_true());
    body = call_add(body, "addresses", launch->addresses, json_true());
    return call_add(body, "expires", launch->lifetime_s > 0, json_integer(launch->lifetime_s));
}

static json_t *encode_request(const struct mcast_request *request)
{
    json_t *body = json_pack("{s:I}", "uid", (json_int_t)request->uid);
    body = call_add(body, "nodes", request->nodes, json_string(request->nodes));
    body = call_add(body, "node_count", request->node_count > 0, json_integer(request->node_count));
    body = call_add(body, "cores_per_node", request->cores_per_node > 0,
                    json_integer(request->cores_per_node));
    body = add_layout(body, request->interconnect, request->tasks_per_node, request->cpus_per_task);
    body = call_add(body, "vni_count", request->vni_count >= 0, json_integer(request->vni_count));
    body = call_add(body, "hwcoll", request->hwcoll, json_string(request->hwcoll));
    body = call_add(body, "profile", request->profile, json_string(request->profile));
    body = call_add(body, "shared_vnis", request->shared_vnis, call_words(request->shared_vnis));
    body = call_add(body, "vnis", request->vnis, encode_vnis(request->vnis));
    body = call_add(body, "launch", request->launch,
                    request->launch ? encode_launch(request->launch) : NULL);
    return call_add(body, "traffic_classes", request->traffic_classes,
                    call_words(request->traffic_classes));
}

static struct call make_reserve(const struct mcast_request *request, struct mcast_error *error)
{
    struct mcast_request mine = MCAST_REQUEST_INIT;
    struct mcast_launch launch = MCAST_LAUNCH_INIT;
    struct call call = {.rc = struct_adopt(&mine, request, "MCAST_REQUEST_INIT", error)};
    if (call.rc == 0 && mine.launch) {
        call.rc = struct_adopt(&launch, mine.launch, "MCAST_LAUNCH_INIT", error);
        mine.launch = &launch;
    }
    if (call.rc == 0)
        call.rc = names_check(mine.cluster, mine.job, error);
    if (call.rc == 0)
        call.rc = check_request(&mine, error);
    call_set(&call, "PUT", read_reserve, error, NAMES_JOB_PATH, mine.cluster, mine.job);
    call_set_body(&call, encode_request(&mine), "the request's words are", error);
    return call;
}

int mcast_reserve(struct mcast *handle, const struct mcast_request *request,
                  struct mcast_reservation **out, struct mcast_error *error)
{
    return handle_run(handle, make_reserve(request, error), out, error);
}

int mcast_async_reserve(struct mcast_async *async, const struct mcast_request *what,
                        mcast_done_fn *done, void *arg, uint64_t *request,
                        struct mcast_error *error)
{
    return async_begin(async, make_reserve(what, error), done, arg, request, error);
}

/* ---- launch ---- */

static struct call make_launch(const char *cluster, const char *job,
                               const struct mcast_launch *launch, struct mcast_error *error)
{
    struct mcast_launch mine = MCAST_LAUNCH_INIT;
    struct call call = {.rc = launch ? struct_adopt(&mine, launch, "MCAST_LAUNCH_INIT", error) : 0};
    if (call.rc == 0)
        call.rc = names_check(cluster, job, error);
    call_set(&call, "POST", read_job, error, NAMES_JOB_PATH "/launch", cluster, job);
    call_set_body(&call, encode_launch(&mine), "the request's words are", error);
    return call;
}

int mcast_launch(struct mcast *handle, const char *cluster, const char *job,
                 const struct mcast_launch *launch, struct mcast_reservation **out,
                 struct mcast_error *error)
{
    return handle_run(handle, make_launch(cluster, job, launch, error), out, error);
}

int mcast_async_launch(struct mcast_async *async, const char *cluster, const char *job,
                       const struct mcast_launch *launch, mcast_done_fn *done, void *arg,
                       uint64_t *request, struct mcast_error *error)
{
    return async_begin(async, make_launch(cluster, job, launch, error), done, arg, request, error);
}

/* ---- one report for many nodes ---- */

static struct call make_nodes(const char *cluster, const char *job, uint64_t number,
                              const char *nodes, const char *state,
                              const struct mcast_traffic_sum *traffic, struct mcast_error *error)
{
    struct call call = {.rc = names_check(cluster, job, error)};
    if (call.rc == 0 && (number == 0 || number > INT64_MAX || !nodes || !state))
        call.rc = fault_set(error, MCAST_USAGE,
                            "a report needs the reservation's number, a node list and a state");
    call_set(&call, "PUT", read_job, error, NAMES_JOB_PATH "/nodes", cluster, job);
    json_t *body =
        json_pack("{s:I,s:s,s:s}", "number", (json_int_t)number, "nodes", nodes, "state", state);
    body = call_add(body, "traffic", traffic, traffic ? traffic_sum_encode(traffic) : NULL);
    call_set_body(&call, body, "the report's words are", error);
    return call;
}

int mcast_nodes_clean(struct mcast *handle, const char *cluster, const char *job, uint64_t number,
                      const char *nodes, const char *state, struct mcast_reservation **out,
                      struct mcast_error *error)
{
    return handle_run(handle, make_nodes(cluster, job, number, nodes, state, NULL, error), out,
                      error);
}

int mcast_async_nodes_clean(struct mcast_async *async, const char *cluster, const char *job,
                            uint64_t number, const char *nodes, const char *state,
                            mcast_done_fn *done, void *arg, uint64_t *request,
                            struct mcast_error *error)
{
    return mcast_async_nodes_traffic(async, cluster, job, number, nodes, state, NULL, done, arg,
                                     request, error);
}

int mcast_async_nodes_traffic(struct mcast_async *async, const char *cluster, const char *job,
                              uint64_t number, const char *nodes, const char *state,
                              const struct mcast_traffic_sum *traffic, mcast_done_fn *done,
                              void *arg, uint64_t *request, struct mcast_error *error)
{
    return async_begin(async, make_nodes(cluster, job, number, nodes, state, traffic, error), done,
                       arg, request, error);
}

/* ---- release, show, own ---- */

/* A call about a job that has nothing but its method and path. */
static struct call make_bare(const char *method, const char *cluster, const char *job,
                             struct mcast_error *error)
{
    struct call call = {.rc = names_check(cluster, job, error)};
    call_set(&call, method, read_job, error, NAMES_JOB_PATH, cluster, job);
    return call;
}

int mcast_release(struct mcast *handle, const char *cluster, const char *job,
                  struct mcast_reservation **out, struct mcast_error *error)
{
    return handle_run(handle, make_bare("DELETE", cluster, job, error), out, error);
}

int mcast_release_number(struct mcast *handle, const char *cluster, const char *job,
                         uint64_t number, struct mcast_reservation **out, struct mcast_error *error)
{
    struct call call = {.rc = names_check(cluster, job, error)};
    call_set(&call, "DELETE", read_job, error, NAMES_JOB_PATH "?number=%" PRIu64, cluster, job,
             number);
    return handle_run(handle, call, out, error);
}

int mcast_async_release(struct mcast_async *async, const char *cluster, const char *job,
                        mcast_done_fn *done, void *arg, uint64_t *request,
                        struct mcast_error *error)
{
    return async_begin(async, make_bare("DELETE", cluster, job, error), done, arg, request, error);
}

int mcast_show(struct mcast *handle, const char *cluster, const char *job,
               struct mcast_reservation **out, struct mcast_error *error)
{
    return handle_run(handle, make_bare("GET", cluster, job, error), out, error);
}

int mcast_own(struct mcast *handle, struct mcast_reservation **out, struct mcast_error *error)
{
    struct call call = {.with_token = true};
    call_set(&call, "GET", read_job, error, "/v1/reservation");
    return handle_run(handle, call, out, error);
}

static int get_own(struct mcast *handle, const char *path, char **json, struct mcast_error *error)
{
    struct call call = {.with_token = true};
    call_set(&call, "GET", call_read_root, error, "%s", path);
    return handle_run_json(handle, call, json, error);
}

int mcast_own_trees(struct mcast *handle, char **json, struct mcast_error *error)
{
    return get_own(handle, "/v1/reservation/trees", json, error);
}

int mcast_own_options(struct mcast *handle, char **json, struct mcast_error *error)
{
    return get_own(handle, "/v1/reservation/options", json, error);
}

/* ---- steps ---- */

static const struct field of_steps[] = {
    {"skipped", FIELD_UINT64, FIELD_OPTIONAL, offsetof(struct mcast_steps, skipped)},
    {"unreachable", FIELD_UINT64, FIELD_OPTIONAL, offsetof(struct mcast_steps, unreachable)},
};

static int read_steps(const struct answer *answer, void **document, struct mcast_error *error)
{
    struct mcast_steps *seen = call_document(answer, sizeof *seen, error);
    json_t *array = NULL;
    int rc;
    if (!(*document = seen))
        return error->code;
    if ((rc = field_nested(document_root(seen), "steps", JSON_ARRAY, &array, error)) < 0 ||
        (rc = FIELDS_READ(document_root(seen), of_steps, seen, error)) < 0)
        return rc;
    size_t count = json_array_size(array);
    struct mcast_step *steps = document_list(seen, count, sizeof *steps);
    if (!steps)
        return fault_nomem(error);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const json_t *item = json_array_get(array, i);
        rc = field_read(item, "step", FIELD_STRING, FIELD_REQUIRED, &steps[i].step, error);
        if (rc == 0)
            rc = document_numbers(seen, item, "trees", SIZE_MAX, &steps[i].trees,
                                  &steps[i].tree_count, error);
    }
    seen->steps = steps;
    seen->step_count = count;
    return rc;
}

int mcast_steps(struct mcast *handle, const char *cluster, const char *job, unsigned wait_ms,
                struct mcast_steps **out, struct mcast_error *error)
{
    struct call call = {.rc = names_check_wait(wait_ms, error), .wait_ms = wait_ms};
    if (call.rc == 0)
        call.rc = names_check(cluster, job, error);
    call_set(&call, "GET", read_steps, error, NAMES_JOB_PATH "/steps?wait=%ums", cluster, job,
             wait_ms);
    return handle_run(handle, call, out, error);
}

void mcast_steps_free(struct mcast_steps *steps)
{
    document_free(steps);
}

char *mcast_steps_json(const struct mcast_steps *steps, unsigned flags)
{
    return field_json(document_root(steps), flags);
}

/* ---- cleanup ---- */

/* A path of job ids is one segment here, so its slashes are escaped. */
static struct call make_cleanup(const char *step, unsigned flags, unsigned wait_ms,
                                struct mcast_error *error)
{
    struct call call = {.with_token = true, .wait_ms = wait_ms};
    struct error err = {0};
    struct text escaped = {0};
    if (!step || !step[0])
        call.rc = fault_set(error, MCAST_USAGE, "no step is named");
    else if (steppath_check(step, &err) < 0)
        call.rc = fault_set(error, MCAST_USAGE, "%s", err.text);
    else if ((call.rc = names_check_wait(wait_ms, error)) == 0 && !text_add_escaped(&escaped, step))
        call.rc = fault_nomem(error);
    call_set(&call, "DELETE", call_read_root, error, "/v1/reservation/steps/%s?wait=%ums%s",
             text_string(&escaped), wait_ms, flags & MCAST_BELOW ? "&below=yes" : "");
    text_release(&escaped);
    return call;
}

int mcast_cleanup(struct mcast *handle, const char *step, unsigned flags, unsigned wait_ms,
                  bool *gone, struct mcast_error *error)
{
    return handle_run_word(handle, make_cleanup(step, flags, wait_ms, error), "state", "cleaned",
                           gone, error);
}

int mcast_cleanup_json(struct mcast *handle, const char *step, unsigned flags, unsigned wait_ms,
                       char **json, struct mcast_error *error)
{
    return handle_run_json(handle, make_cleanup(step, flags, wait_ms, error), json, error);
}
