#include "broker/http/request/call.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"
#include "broker/http/shared.h"
#include "core/reservation/reservation.h"

#include <stdio.h>
#include <string.h>

/* PUT /v1/nodes/{node}/fence: an admin vouches that nothing on this machine uses VNIs of jobs that
 * are over (F3). A machine is no cluster's: it may run jobs of several. */

enum { REASON_MAX = 200 };

/* It is shown in logs and on terminals, one line. */
static bool is_one_line(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

/* It belongs to the body. */
static int read_reason(struct call *call, const char **reason)
{
    static const char *const names[] = {"reason", NULL};
    struct problem *problem = &call->problem;
    const json_t *body = call_json(call);
    *reason = NULL;
    if (!body || body_check_names(body, names, problem) < 0 ||
        body_text(json_object_get(body, "reason"), "reason", reason, problem) < 0)
        return -1;
    if (!*reason)
        return problem_set(problem, 422, "missing-field", "reason",
                           "reason is missing: why nothing on the node can use the VNIs of jobs "
                           "that are over");
    if (**reason == '\0' || strlen(*reason) > REASON_MAX || !is_one_line(*reason))
        return problem_set(problem, 422, "invalid", "reason",
                           "reason must be one line of 1 to %d bytes", REASON_MAX);
    return 0;
}

/* Log and event tell who vouched, and first, as long words are cut. */
static void step_fence(struct call *call, const char *node, const char *reason)
{
    char who[IDENTITY_TEXT_SIZE], words[IDENTITY_TEXT_SIZE + sizeof " says: " + REASON_MAX];
    snprintf(words, sizeof words, "%s says: %s",
             identity_format(&call->identity.proof, who, sizeof who), reason);
    struct core_event event = {.kind = CORE_FENCE};
    event.u.fence.ticket = call_ticket(call);
    event.u.fence.node = node;
    event.u.fence.reason = words;
    engine_step(call->http->engine, &event);
}

int fence_handle(struct call *call)
{
    const char *node = call->target.segments[2], *reason;
    if (node_name_read(call, node) < 0 || read_reason(call, &reason) < 0)
        return -1;
    step_fence(call, node, reason);
    return 0;
}

/* What else is on the machine. */
struct census {
    const char *node;
    uint64_t found, active;
};

static void count_reservation(void *arg, const struct reservation *reservation)
{
    struct census *census = arg;
    if (core_presence(reservation, census->node) == PRESENCE_POSSIBLE)
        return; /* a job that named no nodes may run anywhere */
    census->found++;
    census->active += reservation->state == JOB_ACTIVE;
}

/* Reads some pages: nobody else is answered meanwhile. True when these were all there are. */
static bool count_pages(const struct core *core, struct census *census)
{
    enum { PAGES_MAX = 8, PAGE = 1000 };
    struct core_filter filter = {.node = census->node, .uid = -1, .limit = PAGE};
    for (int page = 0; page < PAGES_MAX; page++) {
        filter.after = core_list(core, &filter, count_reservation, census);
        if (filter.after == 0)
            return true;
    }
    return false;
}

void fence_render(struct call *call, const struct answer *answer)
{
    struct census census = {.node = call->target.segments[2]};
    const bool all = count_pages(engine_core(call->http->engine), &census);
    /* A name that is misspelt must not look like a node for which nobody waits. */
    const bool known = !all || answer->count > 0 || census.found > 0 ||
                       rights_list_node(call->http->rights, NULL, census.node);
    writer_begin_object(&call->out, NULL);
    writer_string(&call->out, "node", census.node);
    writer_number(&call->out, "reservations", answer->count);
    writer_number(&call->out, "active", census.active);
    writer_bool(&call->out, "known", known);
    writer_end_object(&call->out);
}
