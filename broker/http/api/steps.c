#include "broker/http/request/call.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"
#include "broker/http/request/wait_query.h"
#include "base/steppath.h"

/* GET …/steps: the steps of a job that have multicast trees, as the fabric manager tells (F19). */

enum { STEPS_WAIT_MS = 5000 };

int steps_handle(struct call *call)
{
    enum job_sight sight;
    struct core_event event = {.kind = CORE_STEPS};
    int rc = wait_query_read(&call->target, STEPS_WAIT_MS, &event.u.steps.wait_ms, &call->problem);
    const struct reservation *found = rc < 0 ? NULL : job_path_find(call, JOB_WHOLE, &sight);
    if (!found)
        return -1;
    event.u.steps.ticket = call_ticket(call);
    event.u.steps.cluster = found->cluster;
    event.u.steps.job = found->job;
    engine_step(call->http->engine, &event);
    return 0;
}

void steps_render(struct call *call, const struct answer *answer)
{
    const struct fmcall_steps *steps = answer->steps;
    struct writer *out = &call->out;
    uint64_t unreachable = 0;
    writer_begin_object(out, NULL);
    writer_begin_array(out, "steps");
    for (size_t i = 0; i < steps->count; i++) {
        const struct fmcall_step *step = &steps->steps[i];
        unreachable += !steppath_valid(step->step);
        writer_begin_object(out, NULL);
        writer_string(out, "step", step->step);
        writer_begin_array(out, "trees");
        for (size_t j = 0; j < step->tree_count; j++)
            writer_number(out, NULL, step->trees[j]);
        writer_end_array(out);
        writer_end_object(out);
    }
    writer_end_array(out);
    writer_number(out, "unreachable", unreachable);
    writer_number(out, "skipped", steps->skipped);
    writer_end_object(out);
}
