#include "broker/fabric.h"

#include "core/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One call or list under way, or one that could not be begun and is about to be reported. */
struct errand_out {
    struct errand_out *prev, *next; /* in fabric->under_way; in stillborn only next counts */
    struct fabric *fabric;
    uint64_t id;
    enum fmcall_kind kind; /* FMCALL_NONE: a list */
    uint64_t begun_ns;
    char words[128]; /* why it could not be begun */
};

struct fabric {
    struct fmapi *api;
    fabric_step_fn *step;
    void *arg;
    struct errand_out *under_way;
    struct errand_out *stillborn; /* reported in the next turn of the loop */
    struct fabric_counters counters;
    uint64_t login_begun_ns;
    uv_timer_t next_turn;
    unsigned closing;
    void (*closed)(void *arg);
    void *closed_arg;
};

static struct errand_out *errand_create(struct fabric *fabric, uint64_t id, enum fmcall_kind kind)
{
    struct errand_out *errand = memory_zeroed(sizeof *errand);
    errand->fabric = fabric;
    errand->id = id;
    errand->kind = kind;
    errand->begun_ns = uv_hrtime();
    errand->next = fabric->under_way;
    if (errand->next != NULL)
        errand->next->prev = errand;
    fabric->under_way = errand;
    return errand;
}

static void take_out(struct errand_out *errand)
{
    if (errand->prev != NULL)
        errand->prev->next = errand->next;
    else
        errand->fabric->under_way = errand->next;
    if (errand->next != NULL)
        errand->next->prev = errand->prev;
}

static void free_all(struct errand_out *errand)
{
    for (struct errand_out *next; errand != NULL; errand = next) {
        next = errand->next;
        free(errand);
    }
}

/* Tells the core how an errand ended. */
static void report(const struct errand_out *errand, enum fmcall_outcome outcome,
                   struct secret token, const char *words)
{
    struct fabric *fabric = errand->fabric;
    struct core_event event = {0};
    fabric->counters.calls[errand->kind][outcome]++;
    if (errand->kind == FMCALL_NONE) {
        event.kind = CORE_LIST_DONE;
        event.u.list_done.list = errand->id;
        event.u.list_done.outcome = outcome;
        event.u.list_done.words = words;
    } else {
        event.kind = CORE_CALL_DONE;
        event.u.call.id = errand->id;
        event.u.call.outcome = outcome;
        event.u.call.token = token;
        event.u.call.words = words;
    }
    fabric->step(fabric->arg, &event);
}

static int64_t us_since(uint64_t begun_ns)
{
    return (int64_t)((uv_hrtime() - begun_ns) / 1000);
}

static void on_reply(void *arg, const struct fmapi_reply *reply)
{
    struct errand_out *errand = arg;
    take_out(errand);
    histogram_add(&errand->fabric->counters.times[errand->kind], us_since(errand->begun_ns));
    report(errand, reply->outcome, reply->token, reply->words);
    free(errand);
}

static void on_next_turn(uv_timer_t *timer)
{
    struct fabric *fabric = timer->data;
    struct errand_out *stillborn = fabric->stillborn;
    fabric->stillborn = NULL; /* what a step below adds waits for its own turn */
    for (const struct errand_out *errand = stillborn; errand != NULL; errand = errand->next)
        report(errand, FM_UNREACHED, (struct secret){0}, errand->words);
    free_all(stillborn);
}

static void bury(struct errand_out *errand, int code)
{
    struct fabric *fabric = errand->fabric;
    take_out(errand);
    errand->next = fabric->stillborn;
    fabric->stillborn = errand;
    (void)snprintf(errand->words, sizeof errand->words, "the call could not be begun: %s",
                   error_word(code));
    (void)uv_timer_start(&fabric->next_turn, on_next_turn, 0, 0);
}

void fabric_call(struct fabric *fabric, uint64_t id, enum fmcall_kind kind, const char *name,
                 uint32_t addresses)
{
    assert(kind != FMCALL_NONE);
    struct errand_out *errand = errand_create(fabric, id, kind);
    int code = fmapi_call(fabric->api, kind, name, addresses, on_reply, errand);
    if (code < 0)
        bury(errand, code);
}

static void on_page(void *arg, const char *const *names, size_t count)
{
    const struct errand_out *errand = arg;
    struct core_event event = {
        .kind = CORE_LIST_NAMES,
        .u.names = {.list = errand->id, .names = names, .count = count},
    };
    errand->fabric->step(errand->fabric->arg, &event);
}

void fabric_list(struct fabric *fabric, uint64_t list)
{
    struct errand_out *errand = errand_create(fabric, list, FMCALL_NONE);
    int code = fmapi_list(fabric->api, on_page, on_reply, errand);
    if (code < 0)
        bury(errand, code);
}

static void on_login(void *arg, int code, const char *words)
{
    struct fabric *fabric = arg;
    struct core_event event = {
        .kind = CORE_LOGIN_DONE,
        .u.login = {.ok = code == 0, .words = words},
    };
    fabric->counters.logins++;
    fabric->counters.login_failures += code != 0;
    histogram_add(&fabric->counters.login_times, us_since(fabric->login_begun_ns));
    fabric->step(fabric->arg, &event);
}

void fabric_login(struct fabric *fabric, uint32_t url)
{
    fabric->login_begun_ns = uv_hrtime();
    fmapi_login(fabric->api, url, on_login, fabric);
}

struct fabric *fabric_create(uv_loop_t *loop, const struct fmapi_options *options,
                             fabric_step_fn *step, void *arg, struct error *err)
{
    struct fabric *fabric = calloc(1, sizeof *fabric);
    if (fabric == NULL) {
        (void)error_set(err, ERROR_NOMEM, "memory is exhausted");
        return NULL;
    }
    fabric->step = step;
    fabric->arg = arg;
    fabric->api = fmapi_create(loop, options, err);
    if (fabric->api == NULL) {
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
    fmapi_counters(fabric->api, out);
}

static void part_closed(struct fabric *fabric)
{
    if (--fabric->closing != 0)
        return;
    void (*closed)(void *) = fabric->closed;
    void *arg = fabric->closed_arg;
    free(fabric);
    closed(arg);
}

static void on_api_closed(void *arg)
{
    part_closed(arg);
}

static void on_timer_closed(uv_handle_t *handle)
{
    part_closed(handle->data);
}

void fabric_destroy(struct fabric *fabric, void (*closed)(void *arg), void *arg)
{
    fabric->closed = closed;
    fabric->closed_arg = arg;
    fabric->closing = 2;
    fmapi_destroy(fabric->api, on_api_closed, fabric);
    free_all(fabric->under_way);
    free_all(fabric->stillborn);
    uv_close((uv_handle_t *)&fabric->next_turn, on_timer_closed);
}
