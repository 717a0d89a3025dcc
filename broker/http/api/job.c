/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/api/bodies/job_json.h"
#include "broker/http/request/head.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"
#include "broker/http/api/bodies/bodies.h"
#include "broker/http/api/jobkey.h"
#include "broker/http/api/launch.h"
#include "broker/http/auth/tokenproof.h"
#include "core/interconnect/interconnect.h"
#include "base/steppath.h"
#include "tokens/keybytes.h"

#include <string.h>

/* GET and DELETE of /v1/clusters/{cluster}/jobs/{job} */

int job_handle(struct call *call)
{
    enum job_sight sight;
    const struct reservation *found = job_path_find(call, JOB_OPEN, &sight);
    if (!found)
        return -1;
    call_show(call, found);
    call->secret = job_json_write(&call->out, engine_core(call->http->engine), found,
                                  &(struct job_parts){.env = sight == JOB_WHOLE});
    return call_reply_shown(call, MHD_HTTP_OK, CALL_JSON);
}

int release_handle(struct call *call)
{
    struct job_path path;
    uint64_t number = 0;
    if (job_path_read(call, &path) < 0 ||
        target_query_number(&call->target, "number", 1, UINT64_MAX, &number, &call->problem) < 0)
        return -1;
    struct core_event event = {
        .kind = CORE_RELEASE,
        .ticket = call_ticket(call),
        .u.release = {.cluster = path.cluster, .job = path.job, .number = number}};
    engine_step(call->http->engine, &event);
    return 0;
}

void release_render(struct call *call, const struct answer *answer)
{
    if (answer->reservation) {
        job_json_write(&call->out, engine_core(call->http->engine), answer->reservation,
                       &(struct job_parts){0});
        return;
    }
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "cluster", call->target.segments[2]);
    writer_string(&call->out, "job", call->target.segments[4]);
    writer_string(&call->out, "state", "gone");
    writer_end_object(&call->out);
}

/* 128 bits that no job has had, as the core draws nothing. */
int jobkey_draw(char key[static JOB_KEY_LENGTH + 1], struct problem *problem)
{
    struct error err = {0};
    if (keybytes_draw_digits(key, JOB_KEY_LENGTH, &err) == 0)
        return 0;
    return problem_set(problem, 503, "no-randomness", NULL, "no key for the job: %s", err.text);
}

/* PUT /v1/clusters/{cluster}/jobs/{job} */
int reserve_handle(struct call *call)
{
    struct core_event event = {.kind = CORE_RESERVE, .ticket = call_ticket(call)};
    struct reserve_request *request = &event.u.reserve;
    struct job_path path;
    char key[JOB_KEY_LENGTH + 1];
    if (job_path_read(call, &path) < 0 || !call_json(call) ||
        reserve_body_parse(call->json, request, &call->launch, &call->problem) < 0 ||
        (call->launch.wanted && launch_possible(call) < 0) || jobkey_draw(key, &call->problem) < 0)
        return -1;
    request->cluster = path.cluster;
    request->job = path.job;
    request->launch = call->launch.wanted;
    request->key = secret_of(key);
    engine_step(call->http->engine, &event);
    explicit_bzero(key, sizeof key);
    return 0;
}

void reserve_render(struct call *call, const struct answer *answer)
{
    if (call->launch.wanted) {
        launch_render(call, answer->reservation, answer->detail);
        return;
    }
    call->secret = job_json_write(&call->out, engine_core(call->http->engine), answer->reservation,
                                  &(struct job_parts){.env = true, .warning = answer->detail});
}

/* GET /v1/reservation: that of the token which is shown. */

int ownjob_handle(struct call *call)
{
    const struct tokenproof *proof = call->identity.proof.token;
    const struct reservation *own = tokencheck_reservation(call->http, proof);
    if (tokenproof_allows(proof, BEARER_SHOW, NULL, &call->problem) < 0)
        return -1;
    call_show(call, own);
    call->secret = job_json_write(&call->out, engine_core(call->http->engine), own,
                                  &(struct job_parts){.token = proof, .env = proof->session});
    return call_reply_shown(call, MHD_HTTP_OK, CALL_JSON);
}

/* GET …/env?step=S: the variables for the tasks of one step (F16). */

static void write_line(void *arg, const char *name, const char *value)
{
    writer_textf(arg, "%s=%s\n", name, value);
}

/* NULL: neither of the two is wanted. */
static const char *choose_type(struct call *call)
{
    const char *accept = call_header(call, MHD_HTTP_HEADER_ACCEPT);
    int json = accept_weight(accept, CALL_JSON), text = accept_weight(accept, "text/plain");
    return text > json ? "text/plain; charset=utf-8" : json ? CALL_JSON : NULL;
}

int env_handle(struct call *call)
{
    const struct core *core = engine_core(call->http->engine);
    const char *step = target_query(&call->target, "step"), *type = choose_type(call);
    struct error err = {0};
    enum job_sight sight;
    if (!type)
        return problem_set(&call->problem, 406, "not-acceptable", "Accept",
                           "available as application/json or text/plain");
    /* What no token can name (I6) must not become a step's: its trees could not be cleaned up. */
    if (step && steppath_check(step, &err) < 0)
        return problem_set(&call->problem, 422, "invalid", "step", "%s", err.text);
    const struct reservation *found = job_path_find(call, JOB_WHOLE, &sight);
    if (!found)
        return -1;
    call_show(call, found);
    call->secret = true;
    if (type == CALL_JSON)
        env_json_write(&call->out, NULL, core, found, step);
    else
        environment_each(core_config_of(core), core_fm_url(core), found, step, write_line,
                         &call->out);
    return call_reply_shown(call, MHD_HTTP_OK, type);
}
