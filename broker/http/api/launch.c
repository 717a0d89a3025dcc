/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/launch.h"

#include "base/memory.h"
#include "broker/http/api/bodies/bodies.h"
#include "broker/http/api/bodies/job_json.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"
#include "core/interconnect/interconnect.h"
#include "core/inventory/nodeaddresses.h"
#include "launch/credential.h"
#include "launch/document.h"
#include "launch/sealed.h"

#include <stdlib.h>
#include <string.h>

/* One document on its way into its envelope. */
struct launching {
    struct work work;  /* first */
    struct call *call; /* NULL: it has been answered */
    uint64_t number;
    char *warning;         /* or NULL */
    char *socket;          /* of munged */
    struct launch_key key; /* if it can sign, instead of munged */
    char *document, *envelope;
    char *addresses;    /* LAUNCH_ADDRESSES_PREFIX and those of the job's nodes; or NULL */
    struct error error; /* why there is no envelope */
};

/* ---- the document ---- */

static void add_variable(void *tasks, const char *name, const char *value)
{
    json_object_set_new(tasks, name, json_string(value));
}

/* What the services of the job are to be like. */
static json_t *service_values(const struct reservation *reservation)
{
    json_t *vnis = json_array(), *classes = json_array();
    for (unsigned i = 0; i < reservation->vni_count; i++)
        json_array_append_new(vnis, json_integer(reservation->vnis[i]));
    for (int bit = 1; bit <= TC_ALL; bit <<= 1)
        if (reservation->traffic_classes & bit)
            json_array_append_new(classes, json_string(traffic_class_word(bit)));
    json_t *values = json_pack("{s:o, s:o, s:i}", "vnis", vnis, "traffic_classes", classes,
                               "cores_per_node", (int)reservation->cores_per_node);
    if (values && reservation->shared_count > 0)
        json_object_set_new(values, "vnis_shared", json_integer(reservation->shared_count));
    return values;
}

/* What the node's driver needs. */
static json_t *driver_values(const struct reservation *reservation)
{
    const unsigned driver = interconnect_of(reservation->interconnect)->driver;
    const bool layout = driver & DRIVER_LAYOUT;
    json_t *values = driver & DRIVER_SERVICES ? service_values(reservation) : json_object();
    if (layout && reservation->tasks_per_node)
        json_object_set_new(values, "tasks_per_node", json_integer(reservation->tasks_per_node));
    if (layout && reservation->cpus_per_task)
        json_object_set_new(values, "cpus_per_task", json_integer(reservation->cpus_per_task));
    return values;
}

/* The word that travels beside the envelope, when it is wanted; NULL, and then *warning says why
 * there is none. */
static char *make_addresses(const struct call *call, const struct reservation *reservation,
                            const char **warning)
{
    static const char *const lacks[] = {
        [NODEADDRESSES_UNKNOWN] =
            "no address of the job's nodes is known, so none comes with its launch document",
        [NODEADDRESSES_TOO_LONG] =
            "the addresses of the job's nodes are longer than 64 KiB, so none comes with its "
            "launch document",
    };
    struct inventory_facts facts;
    enum nodeaddresses_lack lack;
    if (!call->launch.addresses)
        return NULL;
    const struct inventory inventory = engine_inventory(call->http->engine, &facts);
    struct turn *turn = engine_turn(call->http->engine);
    const char *before = turn_enter(turn, "the addresses of a job's nodes");
    char *text = nodeaddresses_write(&inventory, reservation->nodes, &lack);
    turn_leave(turn, before);
    if (!text) {
        *warning = *warning ? *warning : lacks[lack];
        return NULL;
    }
    char *word = memory_format(LAUNCH_ADDRESSES_PREFIX "%s", text);
    free(text);
    return word;
}

/* For memory_wipe_text; NULL without memory or libcrypto. */
static char *make_document(const struct call *call, const struct reservation *reservation,
                           const char *addresses)
{
    const struct core *core = engine_core(call->http->engine);
    const int64_t now_s = engine_now_ms(call->http->engine) / 1000;
    struct launch launch = {.interconnect = interconnect_word(reservation->interconnect),
                            .cluster = reservation->cluster,
                            .job = reservation->job,
                            .number = reservation->number,
                            .restart = call->launch.restart,
                            .uid = reservation->uid,
                            .node_count = reservation->node_count,
                            .nodes = reservation->nodes,
                            .addresses = addresses,
                            .issued_s = now_s,
                            .expires_s = now_s + call->launch.lifetime_s,
                            .driver = driver_values(reservation),
                            .tasks = json_object()};
    launch.root = json_pack("{s:o, s:o}", "driver", launch.driver, "tasks", launch.tasks);
    if (!launch.root)
        return NULL;
    environment_each(core_config_of(core), core_fm_url(core), reservation, NULL, add_variable,
                     launch.tasks);
    char *document = launch_format(&launch);
    launch_release(&launch);
    return document;
}

/* ---- its envelope ---- */

static void launching_destroy(struct launching *launching)
{
    memory_wipe_text(launching->document);
    free(launching->envelope);
    free(launching->addresses);
    free(launching->warning);
    free(launching->socket);
    launch_key_wipe(&launching->key);
    free(launching);
}

static void make_envelope(struct work *work)
{
    struct launching *launching = (struct launching *)work;
    launching->envelope =
        launching->key.can_sign
            ? sealed_close(&launching->key, launching->document, &launching->error)
            : credential_close(launching->socket, launching->document, &launching->error);
}

static void answer_problem(struct call *call, int status, const char *code, const char *text)
{
    problem_set(&call->problem, status, code, NULL, "%s", text);
    call_refuse(call);
}

/* The job may have ended meanwhile. */
static void answer_launch(struct call *call, const struct launching *launching)
{
    const struct core *core = engine_core(call->http->engine);
    const struct reservation *found =
        core_find(core, call->target.segments[2], call->target.segments[4]);
    if (!found || found->number != launching->number || found->state != JOB_ACTIVE) {
        answer_problem(call, 409, "released-meanwhile",
                       "the job was released while its launch document was made");
        return;
    }
    call->secret = job_json_write(&call->out, core, found,
                                  &(struct job_parts){.launch = launching->envelope,
                                                      .node_addresses = launching->addresses,
                                                      .warning = launching->warning,
                                                      .env = call->launch.env});
    call_show(call, found); /* it may have changed since */
    call_reply_shown(call, call->status, CALL_JSON);
}

static void report_overdue(struct work *work)
{
    struct launching *launching = (struct launching *)work;
    struct call *call = launching->call;
    launching->call = NULL;
    answer_problem(call, 503, "munge-unavailable",
                   "munged does not answer, so there is no launch document; see that munged runs "
                   "on the broker's host, and ask again");
}

static void finish(struct work *work)
{
    struct launching *launching = (struct launching *)work;
    struct call *call = launching->call;
    if (call && launching->envelope)
        answer_launch(call, launching);
    else if (call)
        answer_problem(call, 503, launching->key.can_sign ? "out-of-memory" : "munge-unavailable",
                       launching->error.text);
    launching_destroy(launching);
}

struct workqueue *launch_queue_create(uv_loop_t *loop)
{
    static const struct workqueue_kind kind = {
        .ask = make_envelope, .overdue = report_overdue, .done = finish};
    struct workqueue *queue = memory_zeroed(sizeof *queue);
    workqueue_init(queue, loop, &kind);
    return queue;
}

/* ---- the calls ---- */

static void on_durable(struct call *call, int code)
{
    struct launching *launching = call->launching;
    call->launching = NULL;
    call->durable = NULL;
    if (code == 0) {
        launching->call = call;
        workqueue_add(call->http->launches, &launching->work);
        return;
    }
    launching_destroy(launching);
    call_reply(call, call->status, call->type);
}

int launch_possible(struct call *call)
{
    if (core_judge_launch(engine_core(call->http->engine), NULL) == LAUNCH_NEVER)
        return problem_set(&call->problem, 409, "no-envelope", NULL,
                           "this broker makes no launch documents, as [vni] hold is a time: set "
                           "hold = reports in mcastd.conf");
    if (call->http->launch_keys.count > 0 || call->http->config->munge_socket[0] != '\0')
        return 0;
    return problem_set(&call->problem, 409, "no-envelope", NULL,
                       "this broker makes no launch documents, as neither MUNGE nor a launch "
                       "key is configured: set munge_socket or launch_key_file in [broker] of "
                       "mcastd.conf");
}

static int refuse_launch(struct call *call, enum launch_verdict verdict)
{
    if (verdict == LAUNCH_EARLIER_START) /* mcastctl reserve --anew releases it then */
        return problem_set(&call->problem, 409, "conflict", NULL,
                           "nodes have reported of this reservation, so it is an earlier start's: "
                           "release it, and reserve again");
    return problem_set(&call->problem, 409, "no-launch", NULL,
                       "the job is released, or its reservation has no node list or no owner, to "
                       "which a launch document could be bound: reserve it with nodes and uid");
}

void launch_render(struct call *call, const struct reservation *reservation, const char *warning)
{
    const enum launch_verdict verdict =
        core_judge_launch(engine_core(call->http->engine), reservation);
    char *document = NULL, *addresses = NULL;
    if (verdict != LAUNCH_ALLOWED)
        refuse_launch(call, verdict);
    else if (addresses = make_addresses(call, reservation, &warning),
             !(document = make_document(call, reservation, addresses)))
        problem_set(&call->problem, 503, "out-of-memory", NULL,
                    "no memory for the launch document");
    if (!document) {
        free(addresses);
        call_render_problem(call);
        return;
    }
    struct launching *launching = memory_zeroed(sizeof *launching);
    launching->number = reservation->number;
    launching->warning = warning ? memory_text(warning) : NULL;
    launching->socket = memory_text(call->http->config->munge_socket);
    launching->document = document;
    launching->addresses = addresses;
    launching->key = call->http->launch_keys.at[0]; /* or all zero */
    call->launching = launching;
    call->durable = on_durable;
}

/* The field of a request in which it differs from what the job has, or NULL. */
static const char *other_layout(const struct job_layout *asked, const struct reservation *has)
{
    return asked->interconnect >= 0 && asked->interconnect != has->interconnect ? "interconnect"
           : asked->tasks_per_node && asked->tasks_per_node != has->tasks_per_node
               ? "tasks_per_node"
           : asked->cpus_per_task && asked->cpus_per_task != has->cpus_per_task ? "cpus_per_task"
                                                                                : NULL;
}

/* POST /v1/clusters/{cluster}/jobs/{job}/launch */
int launch_handle(struct call *call)
{
    struct job_path path;
    if (launch_possible(call) < 0 || job_path_read(call, &path) < 0)
        return -1;
    if (call->body_used == 0)
        call->launch = launch_wish_default();
    else if (!call_json(call) ||
             launch_body_parse(call->json, "", &call->launch, &call->problem) < 0)
        return -1;
    enum job_sight sight;
    const struct reservation *found = job_path_find(call, JOB_WHOLE, &sight);
    if (!found)
        return -1;
    const char *other = other_layout(&call->launch.layout, found);
    if (other)
        return problem_set(&call->problem, 409, "conflict", other,
                           "the job is reserved with another %s: release it first, or leave %s out",
                           other, other);
    struct core_event event = {.kind = CORE_LAUNCH,
                               .ticket = call_ticket(call),
                               .u.launch = {.cluster = path.cluster, .job = path.job}};
    engine_step(call->http->engine, &event);
    return 0;
}

void launch_answer_render(struct call *call, const struct answer *answer)
{
    launch_render(call, answer->reservation, NULL);
}
