/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/head.h"
#include "broker/http/request/call.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"
#include "core/environment.h"
#include "base/steppath.h"

/* GET …/env?step=S: the variables for the tasks of one step (F16). */

static void write_member(void *arg, const char *name, const char *value)
{
    writer_string(arg, name, value);
}

static void write_line(void *arg, const char *name, const char *value)
{
    writer_text(arg, name);
    writer_text(arg, "=");
    writer_text(arg, value);
    writer_text(arg, "\n");
}

/* NULL: neither of the two is wanted. */
static const char *choose_type(struct call *call)
{
    const char *accept = call_header(call, MHD_HTTP_HEADER_ACCEPT);
    int json = accept_weight(accept, CALL_JSON), text = accept_weight(accept, "text/plain");
    return text > json ? "text/plain; charset=utf-8" : json ? CALL_JSON : NULL;
}

/* What no token can name (I6) must not become a step's: its trees could not be cleaned up. */
static int check_step(struct call *call, const char *step)
{
    struct error err = {0};
    if (!step || steppath_check(step, &err) == 0)
        return 0;
    return problem_set(&call->problem, 422, "invalid", "step", "%s", err.text);
}

int env_handle(struct call *call)
{
    const struct core_config *config = core_config_of(engine_core(call->http->engine));
    const char *step = target_query(&call->target, "step"), *type = choose_type(call);
    const struct reservation *found = NULL;
    enum job_sight sight;
    if (!type)
        problem_set(&call->problem, 406, "not-acceptable", "Accept",
                    "available as application/json or text/plain");
    else if (check_step(call, step) == 0)
        found = job_path_find(call, JOB_WHOLE, &sight);
    if (!found)
        return -1;
    call_show(call, found);
    call->secret = true;
    if (type == CALL_JSON) {
        writer_begin_object(&call->out, NULL);
        environment_each(config, core_fm_url(engine_core(call->http->engine)), found, step,
                         write_member, &call->out);
        writer_end_object(&call->out);
    } else {
        environment_each(config, core_fm_url(engine_core(call->http->engine)), found, step,
                         write_line, &call->out);
    }
    return call_reply_shown(call, MHD_HTTP_OK, type);
}
