/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/jobkey.h"
#include "broker/http/auth/pluginlogin.h"
#include "broker/http/request/call.h"
#include "broker/http/routes.h"
#include "core/reservation/reservation.h"
#include "base/memory.h"
#include "base/steppath.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* /fabric/collectives/jobs: what Slurm's own plugin asks the fabric manager for, when it takes this
 * broker for it (B9, docs/facade.md). Requests and answers are the fabric manager's. */

static const char jobs_path[] = "/fabric/collectives/jobs";

static const char *own_cluster(const struct call *call)
{
    return rights_only_cluster(call->http->rights, &call->identity);
}

/* "<cluster>-<id>", of the caller's own cluster. */
static int read_name(struct call *call, const char *name, const char **job)
{
    char cluster[CLUSTER_NAME_MAX + 1];
    if (!name || !fm_name_split(name, cluster, job))
        return problem_set(&call->problem, 422, "invalid", "jobID",
                           "jobID: <cluster>-<job> is wanted; a cluster's name here is 1 to %d of "
                           "a-z, 0-9 and _",
                           CLUSTER_NAME_MAX);
    if (strcmp(cluster, own_cluster(call)) != 0)
        return problem_set(&call->problem, 403, "forbidden", "jobID",
                           "the login is that of cluster %s, the job is one of %s: check "
                           "ClusterName in slurm.conf, and fm_authdir",
                           own_cluster(call), cluster);
    return 0;
}

static const struct reservation *find_own(struct call *call, const char *job)
{
    const struct reservation *found =
        core_find(engine_core(call->http->engine), own_cluster(call), job);
    if (found && found->state == JOB_ACTIVE && found->origin == ORIGIN_PLUGIN)
        return found;
    problem_set(&call->problem, 404, "not-found", NULL, "job %.130s of %s has no reservation", job,
                own_cluster(call));
    return NULL;
}

static void write_job(struct call *call, const struct reservation *reservation)
{
    struct writer *out = &call->out;
    char link[FM_NAME_MAX + sizeof jobs_path + 1], *name = link + sizeof jobs_path;
    fm_name_format(name, reservation->cluster, reservation->job);
    memcpy(link, jobs_path, sizeof jobs_path - 1);
    link[sizeof jobs_path - 1] = '/';
    writer_begin_object(out, NULL);
    writer_string(out, "documentSelfLink", link);
    writer_string(out, "jobID", name);
    writer_number(out, "mcastLimit", reservation->addresses);
    writer_string(out, "sessionToken", secret_expose(reservation->key));
    writer_end_object(out);
    call->secret = true;
}

/* ---- GET …/jobs/{name}, POST …/jobs ---- */

int plugin_job_handle(struct call *call)
{
    const char *job;
    if (read_name(call, call->target.segments[3], &job) < 0)
        return -1;
    const struct reservation *found = find_own(call, job);
    if (!found)
        return -1;
    /* Its job runs: a list of jobs that was made before it started must not end it. */
    struct core_event event = {.kind = CORE_ALIVE, .u.alive = found->number};
    engine_step(call->http->engine, &event);
    if (!(found = find_own(call, job))) /* the step may have ended it for another cause */
        return -1;
    call_show(call, found);
    write_job(call, found);
    return call_reply_shown(call, MHD_HTTP_OK, CALL_JSON);
}

int plugin_reserve_handle(struct call *call)
{
    const char *name = NULL;
    json_int_t limit = 0;
    char key[JOB_KEY_LENGTH + 1];
    struct core_event event = {.kind = CORE_RESERVE,
                               .ticket = call_ticket(call),
                               .u.reserve = {.cluster = own_cluster(call),
                                             .uid = UID_UNKNOWN,
                                             .interconnect = INTERCONNECT_SLINGSHOT,
                                             .wish = WISH_ON,
                                             .by_plugin = true,
                                             .key = secret_of(key)}};
    if (!call_json(call))
        return -1;
    (void)json_unpack(call->json, "{s?s, s?I}", "jobID", &name, "mcastLimit", &limit);
    if (limit < 0 || limit > UINT16_MAX)
        return problem_set(&call->problem, 422, "invalid", "mcastLimit",
                           "mcastLimit: a number from 0 to %d is wanted", UINT16_MAX);
    if (read_name(call, name, &event.u.reserve.job) < 0 || jobkey_draw(key, &call->problem) < 0)
        return -1;
    event.u.reserve.limit = (uint32_t)limit;
    engine_step(call->http->engine, &event);
    explicit_bzero(key, sizeof key);
    return 0;
}

void plugin_reserve_render(struct call *call, const struct answer *answer)
{
    write_job(call, answer->reservation);
}

/* ---- PATCH and DELETE …/jobs/{name} ---- */

/* {"jobSteps": {"N": null}}: the step's end. */
static int read_step(struct call *call, const char **step)
{
    struct error err = {0};
    const json_t *steps = call_json(call) ? json_object_get(call->json, "jobSteps") : NULL;
    void *first = json_object_iter((json_t *)(uintptr_t)steps);
    if (!call->json)
        return -1;
    if (json_object_size(steps) != 1 || !json_is_null(json_object_iter_value(first)))
        return problem_set(&call->problem, 422, "invalid", "jobSteps",
                           "jobSteps: one step is wanted, with the value null: nothing else of a "
                           "job can be changed here");
    *step = json_object_iter_key(first);
    if (steppath_check(*step, &err) < 0)
        return problem_set(&call->problem, 422, "invalid", "jobSteps", "%s", err.text);
    return 0;
}

int plugin_step_handle(struct call *call)
{
    const char *job;
    struct core_event event = {.kind = CORE_CLEANUP, .ticket = call_ticket(call)};
    if (read_name(call, call->target.segments[3], &job) < 0 ||
        read_step(call, &event.u.cleanup.step) < 0)
        return -1;
    const struct reservation *found = find_own(call, job);
    if (!found)
        return -1;
    event.u.cleanup.number = found->number;
    engine_step(call->http->engine, &event);
    return 0;
}

int plugin_release_handle(struct call *call)
{
    struct core_event event = {.kind = CORE_RELEASE,
                               .ticket = call_ticket(call),
                               .u.release = {.cluster = own_cluster(call), .by_plugin = true}};
    if (read_name(call, call->target.segments[3], &event.u.release.job) < 0)
        return -1;
    engine_step(call->http->engine, &event);
    return 0;
}

/* Not empty: Slurm takes an empty answer for a failure. */
void plugin_done_render(struct call *call, const struct answer *answer)
{
    (void)answer;
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "jobID", call->target.segments[3]);
    writer_end_object(&call->out);
}

/* ---- GET …/jobs/ ---- */

/* Slurm reads a number behind the cluster's name, and deletes what is no running job of its own.
 * What would be read as another number is not listed. */
static bool is_number(const char *job)
{
    uint64_t number;
    return job[0] != '0' && target_number(job, UINT32_MAX, &number);
}

static void write_link(void *arg, const struct reservation *reservation)
{
    struct call *call = arg;
    char name[FM_NAME_MAX + 1], link[FM_NAME_MAX + sizeof jobs_path + 1];
    if (!is_number(reservation->job) ||
        (reservation->origin != ORIGIN_PLUGIN && !reservation_adopted(reservation)))
        return;
    fm_name_format(name, reservation->cluster, reservation->job);
    (void)snprintf(link, sizeof link, "%s/%s", jobs_path, name);
    call_show(call, reservation);
    writer_string(&call->out, NULL, link);
}

/* In one answer, without pages: Slurm asks for no second one, every 30 s. */
int plugin_list_handle(struct call *call)
{
    struct core_filter filter = {
        .cluster = own_cluster(call), .state = JOB_ACTIVE, .uid = -1, .limit = 1000};
    writer_begin_object(&call->out, NULL);
    writer_begin_array(&call->out, "documentLinks");
    do
        filter.after = core_page(engine_core(call->http->engine), &filter, write_link, call);
    while (filter.after != 0);
    writer_end_array(&call->out);
    writer_end_object(&call->out);
    return call_reply_shown(call, MHD_HTTP_OK, CALL_JSON);
}

/* ---- POST /oauth2/token ---- */

/* The value of a field of the form, cut off in place; or NULL. Slurm does not percent-encode it,
 * and what is in the files needs none (pluginlogin.c). */
static char *form_field(char *form, const char *name)
{
    const size_t length = strlen(name);
    while (form && (strncmp(form, name, length) != 0 || form[length] != '=')) {
        form = strchr(form, '&');
        form += form != NULL;
    }
    return form ? form + length + 1 : NULL;
}

static const char *cut(char *value)
{
    if (value)
        value[strcspn(value, "&")] = '\0';
    return value;
}

int plugin_token_handle(struct call *call)
{
    struct pluginlogins *logins = call->http->plugin_logins;
    struct error err = {0};
    const size_t length = strnlen(call->body ? call->body : "", call->body_used);
    char *form = memory_zeroed(length + 1);
    if (length > 0)
        memcpy(form, call->body, length);
    char *id = form_field(form, "client_id"), *secret = form_field(form, "client_secret");
    bool former = false;
    const char *cluster =
        pluginlogins_client(logins, secret_of(cut(id)), secret_of(cut(secret)), &former);
    explicit_bzero(form, length);
    free(form);
    if (call->body_used > 0)
        explicit_bzero(call->body, call->body_used);
    if (!cluster)
        return problem_set(&call->problem, 401, "login-refused", NULL,
                           "client_id and client_secret are none of a cluster here: Slurm's "
                           "fm_authdir and plugin_login in mcastd.conf must have the same");
    const int64_t now_ms = engine_now_ms(call->http->engine);
    pluginlogins_used(logins, cluster, former, now_ms);
    struct secret token = pluginlogins_issue(logins, cluster, now_ms, &err);
    if (secret_none(token))
        return problem_set(&call->problem, 503, "no-randomness", NULL, "%s", err.text);
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "access_token", secret_expose(token));
    writer_string(&call->out, "token_type", "Bearer");
    writer_number(&call->out, "expires_in", PLUGIN_TOKEN_MS / 1000);
    writer_end_object(&call->out);
    call->secret = true;
    return call_reply(call, MHD_HTTP_OK, CALL_JSON);
}
