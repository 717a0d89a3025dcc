/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/fabric.h"

#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

/* One transport with its options, and what was begun with it; a change begins the next one. */
struct generation {
    LIST_ENTRY(generation) link; /* in fabric->retired */
    struct fabric *fabric;
    struct fmapi *api;
    char *urls[FMAPI_URLS_MAX]; /* as the core counts them */
    uint32_t url_count;
    uint32_t first; /* the core's index of what is the transport's first URL */
    uint32_t url;   /* in use, by the core's index */
    unsigned in_progress;
    bool closing;
};

/* A call or list in progress, or one without a fabric manager that has yet to be reported. */
struct request {
    LIST_ENTRY(request) link;
    struct fabric *fabric;
    struct generation *generation; /* NULL: there was none */
    uint64_t id;
    enum fmcall_kind kind; /* FMCALL_NONE: a list */
    uint64_t begun_ns;
};

struct fabric {
    uv_loop_t *loop;
    struct generation *current;                 /* NULL: no fabric manager */
    LIST_HEAD(generations, generation) retired; /* drain, then close */
    fabric_step_fn *step;
    void *arg;
    LIST_HEAD(requests, request) requests; /* the newest first */
    bool login_unstarted; /* reported in the next turn of the loop, as such requests */
    struct fabric_counters counters;
    struct fmapi_counters past; /* of generations that are closed */
    uint64_t login_begun_ns;
    uv_timer_t next_turn;
    unsigned closing; /* parts that have yet to close; 0: alive */
    void (*closed)(void *arg);
    void *closed_arg;
};

static struct request *request_create(struct fabric *fabric, uint64_t id, enum fmcall_kind kind)
{
    struct request *request = memory_zeroed(sizeof *request);
    request->fabric = fabric;
    request->generation = fabric->current;
    if (request->generation)
        request->generation->in_progress++;
    request->id = id;
    request->kind = kind;
    request->begun_ns = uv_hrtime();
    LIST_INSERT_HEAD(&fabric->requests, request, link);
    return request;
}

static void on_next_turn(uv_timer_t *timer);

static void schedule_next_turn(struct fabric *fabric)
{
    (void)uv_timer_start(&fabric->next_turn, on_next_turn, 0, 0);
}

/* A retired generation without requests is closed later: this may be one of its callbacks. */
static void request_ended(struct generation *generation)
{
    assert(generation->in_progress > 0);
    generation->in_progress--;
    if (generation->in_progress == 0 && generation != generation->fabric->current)
        schedule_next_turn(generation->fabric);
}

/* It is in progress no longer: its result, or that it was not started, is reported. */
static void finish_request(struct request *request, const struct fmapi_reply *reply)
{
    const enum fmcall_outcome outcome = reply->outcome;
    struct fabric *fabric = request->fabric;
    struct core_event event = {0};
    LIST_REMOVE(request, link);
    if (request->generation)
        request_ended(request->generation);
    fabric->counters.calls[request->kind][outcome]++;
    if (request->kind == FMCALL_NONE) {
        event.kind = CORE_LIST_DONE;
        event.u.list_done.list = request->id;
        event.u.list_done.outcome = outcome;
        event.u.list_done.words = reply->words;
    } else {
        event.kind = CORE_CALL_DONE;
        event.u.call.id = request->id;
        event.u.call.outcome = outcome;
        event.u.call.token = reply->token;
        event.u.call.steps = reply->steps;
        event.u.call.tree = reply->tree;
        event.u.call.status = reply->status;
        event.u.call.took_ms = reply->took_us / 1000;
        event.u.call.words = reply->words;
    }
    fabric->step(fabric->arg, &event);
    free(request);
}

static int64_t us_since(uint64_t begun_ns)
{
    return (int64_t)((uv_hrtime() - begun_ns) / 1000);
}

static void on_reply(void *arg, const struct fmapi_reply *reply)
{
    struct request *request = arg;
    histogram_add(&request->fabric->counters.times[request->kind], us_since(request->begun_ns));
    finish_request(request, reply);
}

static void report_login(struct fabric *fabric, int code, const char *words)
{
    struct core_event event = {
        .kind = CORE_LOGIN_DONE,
        .u.login = {.ok = code == 0, .words = words},
    };
    histogram_add(&fabric->counters.login_times, us_since(fabric->login_begun_ns));
    fabric->step(fabric->arg, &event);
}

static void close_drained(struct fabric *fabric);

static void on_next_turn(uv_timer_t *timer)
{
    struct fabric *fabric = timer->data;
    if (fabric->login_unstarted) {
        fabric->login_unstarted = false;
        report_login(fabric, ERROR_INVALID, "no fabric manager is configured");
    }
    static const struct fmapi_reply unstarted = {
        .outcome = FM_UNREACHED,
        .words = "the call could not be started: no fabric manager is configured"};
    /* What a step adds here comes before these, and waits for the turn after. */
    struct request *request = LIST_FIRST(&fabric->requests);
    while (request) {
        struct request *next = LIST_NEXT(request, link);
        if (!request->generation)
            finish_request(request, &unstarted);
        request = next;
    }
    close_drained(fabric);
}

static void start_call(struct fabric *fabric, const struct effect *effect)
{
    enum fmcall_kind kind = effect->u.call.kind;
    assert(kind != FMCALL_NONE);
    struct request *request = request_create(fabric, effect->u.call.id, kind);
    if (request->generation)
        fmapi_call(request->generation->api, kind, &effect->u.call.about, on_reply, request);
    else
        schedule_next_turn(fabric);
}

static void on_page(void *arg, const char *const *names, size_t count)
{
    const struct request *request = arg;
    struct core_event event = {
        .kind = CORE_LIST_NAMES,
        .u.names = {.list = request->id, .names = names, .count = count},
    };
    request->fabric->step(request->fabric->arg, &event);
}

static void start_list(struct fabric *fabric, uint64_t list)
{
    struct request *request = request_create(fabric, list, FMCALL_NONE);
    if (request->generation)
        fmapi_list(request->generation->api, on_page, on_reply, request);
    else
        schedule_next_turn(fabric);
}

static void on_login(void *arg, int code, const char *words)
{
    struct generation *generation = arg;
    request_ended(generation);
    report_login(generation->fabric, code, words);
}

static void start_login(struct fabric *fabric, uint32_t url)
{
    struct generation *generation = fabric->current;
    fabric->login_begun_ns = uv_hrtime();
    if (!generation) {
        fabric->login_unstarted = true;
        schedule_next_turn(fabric);
        return;
    }
    uint32_t count = generation->url_count;
    generation->url = url < count ? url : 0;
    generation->in_progress++;
    fmapi_login(generation->api, (generation->url + count - generation->first) % count, on_login,
                generation);
}

void fabric_perform(struct fabric *fabric, const struct effect *effect)
{
    if (effect->kind == EFFECT_CALL) {
        start_call(fabric, effect);
    } else if (effect->kind == EFFECT_LOGIN) {
        start_login(fabric, effect->u.login.url);
    } else {
        assert(effect->kind == EFFECT_LIST);
        start_list(fabric, effect->u.list.id);
    }
}

/* ---- generations ---- */

static void generation_free(struct generation *generation)
{
    for (uint32_t i = 0; i < generation->url_count; i++)
        free(generation->urls[i]);
    free(generation);
}

/* in_use: the URL to begin with, if it is there. The transport begins with its first one, so it is
 * given them turned round. */
static struct generation *generation_create(struct fabric *fabric,
                                            const struct fmapi_options *options, const char *in_use,
                                            struct error *err)
{
    struct generation *generation = memory_zeroed(sizeof *generation);
    struct fmapi_options turned = *options;
    uint32_t count = 0;
    for (; count < FMAPI_URLS_MAX && options->urls[count]; count++)
        generation->urls[count] = memory_text(options->urls[count]);
    generation->url_count = count;
    generation->fabric = fabric;
    for (uint32_t i = 0; i < count; i++) {
        if (in_use && strcmp(generation->urls[i], in_use) == 0)
            generation->first = generation->url = i;
    }
    for (uint32_t i = 0; i < count; i++)
        turned.urls[i] = generation->urls[(generation->first + i) % count];
    generation->api = fmapi_create(fabric->loop, &turned, err);
    if (generation->api)
        return generation;
    generation_free(generation);
    return NULL;
}

/* Sums what can be summed; of the rest, `to` keeps its own. */
static void add_counters(struct fmapi_counters *to, const struct fmapi_counters *from)
{
    to->calls += from->calls;
    to->connections += from->connections;
    to->bytes_in += from->bytes_in;
    to->bytes_out += from->bytes_out;
    to->in_flight += from->in_flight;
    to->logins += from->logins;
    to->renewals += from->renewals;
    to->login_failures += from->login_failures;
    to->tls_errors += from->tls_errors;
}

static void part_closed(struct fabric *fabric)
{
    if (fabric->closing == 0 || --fabric->closing != 0)
        return;
    void (*closed)(void *) = fabric->closed;
    void *arg = fabric->closed_arg;
    free(fabric);
    closed(arg);
}

static void on_api_closed(void *arg)
{
    struct generation *generation = arg;
    struct fabric *fabric = generation->fabric;
    LIST_REMOVE(generation, link);
    generation_free(generation);
    part_closed(fabric);
}

static void generation_close(struct generation *generation)
{
    struct fmapi_counters counters;
    if (generation->closing)
        return;
    generation->closing = true;
    fmapi_counters(generation->api, &counters);
    counters.in_flight = 0; /* what is aborted is not reported */
    add_counters(&generation->fabric->past, &counters);
    fmapi_destroy(generation->api, on_api_closed, generation);
}

static void close_drained(struct fabric *fabric)
{
    for (struct generation *g = LIST_FIRST(&fabric->retired); g; g = LIST_NEXT(g, link)) {
        if (g->in_progress == 0)
            generation_close(g);
    }
}

static void retire_current(struct fabric *fabric)
{
    struct generation *generation = fabric->current;
    fabric->current = NULL;
    if (!generation)
        return;
    LIST_INSERT_HEAD(&fabric->retired, generation, link);
    schedule_next_turn(fabric);
}

int fabric_change(struct fabric *fabric, const struct fmapi_options *options, struct error *err)
{
    const struct generation *old = fabric->current;
    struct generation *next = NULL;
    assert(fabric->closing == 0);
    if (options) {
        next = generation_create(fabric, options, old ? old->urls[old->url] : NULL, err);
        if (!next)
            return err->code;
    }
    retire_current(fabric);
    fabric->current = next;
    return 0;
}

/* ---- life ---- */

struct fabric *fabric_create(uv_loop_t *loop, const struct fmapi_options *options,
                             fabric_step_fn *step, void *arg, struct error *err)
{
    struct fabric *fabric = memory_zeroed(sizeof *fabric);
    fabric->loop = loop;
    fabric->step = step;
    fabric->arg = arg;
    if (fabric_change(fabric, options, err) < 0) {
        free(fabric);
        return NULL;
    }
    (void)uv_timer_init(loop, &fabric->next_turn);
    fabric->next_turn.data = fabric;
    return fabric;
}

const struct fabric_counters *fabric_counters(const struct fabric *fabric)
{
    return &fabric->counters;
}

void fabric_transport(const struct fabric *fabric, struct fmapi_counters *out)
{
    struct fmapi_counters counters;
    *out = (struct fmapi_counters){.date_skew_ms = INT64_MIN};
    if (fabric->current)
        fmapi_counters(fabric->current->api, out);
    add_counters(out, &fabric->past);
    for (const struct generation *g = LIST_FIRST(&fabric->retired); g; g = LIST_NEXT(g, link)) {
        if (g->closing)
            continue; /* counted in the past */
        fmapi_counters(g->api, &counters);
        add_counters(out, &counters);
    }
}

static void on_timer_closed(uv_handle_t *handle)
{
    part_closed(handle->data);
}

void fabric_destroy(struct fabric *fabric, void (*closed)(void *arg), void *arg)
{
    fabric->closed = closed;
    fabric->closed_arg = arg;
    retire_current(fabric);
    fabric->closing = 1;
    for (struct generation *g = LIST_FIRST(&fabric->retired); g; g = LIST_NEXT(g, link)) {
        fabric->closing++;
        generation_close(g);
    }
    for (struct request *request; (request = LIST_FIRST(&fabric->requests));) {
        LIST_REMOVE(request, link);
        free(request);
    }
    uv_close((uv_handle_t *)&fabric->next_turn, on_timer_closed);
}
