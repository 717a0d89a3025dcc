/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/request/call.h"
#include "broker/http/auth/gate.h"
#include "broker/http/request/job_path.h"
#include "broker/http/routes.h"
#include "base/memory.h"
#include "broker/http/api/bodies/bodies.h"

#include <stdlib.h>
#include <string.h>

/* POST /v1/clusters/{cluster}/sync. Very many ids are parsed on a worker thread, and reach the core
 * in pieces, one a turn, so that the loop goes on. */

enum {
    INLINE_BYTES = 16384,
    PIECE_IDS = 2000, /* about a millisecond */
    NEXT_TURN_MS = 1, /* with 0, libuv runs a timer again in the same turn */
};

/* A large body on its way through the worker and into the core. */
struct sync_work {
    uv_work_t work;
    uv_timer_t turn; /* the next one */
    struct call *call;
    struct sync_body body;
    size_t stepped; /* ids */
    struct problem problem;
    int rc;
};

static void step_sync(struct call *call, const char *const *active, size_t count, bool more)
{
    struct core_event event = {
        .kind = CORE_SYNC,
        .ticket = call_ticket(call),
        .u.sync = {
            .cluster = call->target.segments[2], .active = active, .count = count, .more = more}};
    engine_step(call->http->engine, &event);
}

static void on_closed(uv_handle_t *turn)
{
    struct sync_work *work = turn->data;
    sync_body_release(&work->body);
    free(work);
}

/* With the last piece the call may be answered, and gone. */
static void step_piece(uv_timer_t *turn)
{
    struct sync_work *work = turn->data;
    const char *const *from = work->body.active + work->stepped;
    size_t left = work->body.count - work->stepped;
    bool more = left > PIECE_IDS;
    work->stepped += PIECE_IDS;
    step_sync(work->call, from, more ? PIECE_IDS : left, more);
    if (more)
        (void)uv_timer_start(turn, step_piece, NEXT_TURN_MS, 0);
    else
        uv_close((uv_handle_t *)turn, on_closed);
}

static void parse_on_worker(uv_work_t *request)
{
    struct sync_work *work = request->data;
    work->rc =
        sync_body_parse(work->call->body, work->call->body_used, &work->body, &work->problem);
}

static void on_parsed(uv_work_t *request, int status)
{
    struct sync_work *work = request->data;
    struct call *call = work->call;
    struct http *http = call->http;
    (void)status;
    call->problem = work->problem;
    (void)uv_timer_init(http->loop, &work->turn);
    work->turn.data = work;
    if (work->rc == 0 && gate_judge_again(call) == 0) {
        step_piece(&work->turn);
    } else {
        call_refuse(call);
        uv_close((uv_handle_t *)&work->turn, on_closed);
    }
}

static void parse_later(struct call *call)
{
    struct sync_work *work = memory_zeroed(sizeof *work);
    work->call = call;
    work->work.data = work;
    /* Fails only without a work function. */
    (void)uv_queue_work(call->http->loop, &work->work, parse_on_worker, on_parsed);
}

/* A second one beside the first would bring nothing newer, at twice the cost. */
static int check_alone(struct call *call)
{
    for (const struct call *other = LIST_FIRST(&call->http->calls); other;
         other = LIST_NEXT(other, link))
        if (other != call && other->phase == CALL_DECIDING && other->route == call->route &&
            !strcmp(other->target.segments[2], call->target.segments[2]))
            return problem_set(&call->problem, 503, "sync-under-way", NULL,
                               "another sync of this cluster is under way; try again");
    return 0;
}

int sync_handle(struct call *call)
{
    struct sync_body body;
    struct job_path path;
    if (job_path_read(call, &path) < 0 || check_alone(call) < 0)
        return -1;
    if (call->body_used > INLINE_BYTES) {
        parse_later(call);
        return 0;
    }
    if (sync_body_parse(call->body, call->body_used, &body, &call->problem) < 0)
        return -1;
    step_sync(call, body.active, body.count, false);
    sync_body_release(&body);
    return 0;
}

static void write_names(struct writer *out, const char *key, const char **names, uint32_t count)
{
    writer_begin_array(out, key);
    for (uint32_t i = 0; i < count && i < SYNC_NAMES_MAX; i++)
        writer_string(out, NULL, names[i]);
    writer_end_array(out);
}

void sync_render(struct call *call, const struct answer *answer)
{
    const struct sync_found *found = answer->sync;
    struct writer *out = &call->out;
    writer_begin_object(out, NULL);
    writer_number(out, "active", found->active);
    writer_number(out, "confirmed", found->confirmed);
    writer_number(out, "suspect_count", found->suspect_count);
    writer_number(out, "released_count", found->released_count);
    writer_number(out, "unknown_count", found->unknown_count);
    write_names(out, "suspect", found->suspects, found->suspect_count);
    write_names(out, "released", found->released, found->released_count);
    write_names(out, "unknown", found->unknown, found->unknown_count);
    writer_end_object(out);
}
