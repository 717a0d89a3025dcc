#include "broker/fabric.h"

#include "broker/log.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One call or list under way, or one that could not be begun and is about to be reported. */
struct errand_out {
    struct errand_out *next, **link; /* in fabric->under_way */
    struct fabric *fabric;
    uint64_t id;
    enum fmcall_kind kind; /* FMCALL_NONE: a list */
    bool stillborn;        /* it could not be begun */
    char words[128];       /* why not */
};

struct fabric {
    struct fmapi *api;
    fabric_step_fn *step;
    void *arg;
    struct errand_out *under_way;
    uint64_t calls[FABRIC_KINDS][FABRIC_OUTCOMES];
    uv_timer_t stillborn; /* reports those that could not be begun, in the next turn of the loop */
    unsigned closing;
    void (*closed)(void *arg);
    void *closed_arg;
};

static struct errand_out *errand_create(struct fabric *fabric, uint64_t id, enum fmcall_kind kind)
{
    struct errand_out *errand = calloc(1, sizeof *errand);
    if (errand == NULL)
        log_exhausted("a call of the fabric manager");
    errand->fabric = fabric;
    errand->id = id;
    errand->kind = kind;
    errand->next = fabric->under_way;
    errand->link = &fabric->under_way;
    if (errand->next != NULL)
        errand->next->link = &errand->next;
    fabric->under_way = errand;
    return errand;
}

static void errand_destroy(struct errand_out *errand)
{
    *errand->link = errand->next;
    if (errand->next != NULL)
        errand->next->link = errand->link;
    free(errand);
}

/* Reports the end of an errand to the core and forgets it. */
static void finish(struct errand_out *errand, enum fmcall_outcome outcome, const char *token,
                   const char *words)
{
    struct fabric *fabric = errand->fabric;
    struct core_event event = {0};
    if (errand->kind == FMCALL_NONE) {
        event.kind = CORE_LIST_DONE;
        event.u.list_done.list = errand->id;
        event.u.list_done.outcome = outcome;
        event.u.list_done.words = words;
    } else {
        fabric->calls[errand->kind][outcome]++;
        event.kind = CORE_CALL_DONE;
        event.u.call.id = errand->id;
        event.u.call.outcome = outcome;
        event.u.call.token = token;
        event.u.call.words = words;
    }
    errand_destroy(errand);
    fabric->step(fabric->arg, &event);
}

static void on_reply(void *arg, const struct fmapi_reply *reply)
{
    finish(arg, reply->outcome, reply->token, reply->words);
}

static struct errand_out *next_stillborn(const struct fabric *fabric)
{
    struct errand_out *errand = fabric->under_way;
    while (errand != NULL && !errand->stillborn)
        errand = errand->next;
    return errand;
}

static void on_stillborn(uv_timer_t *timer)
{
    struct fabric *fabric = timer->data;
    /* From the start each time: a step may begin and end others. */
    for (struct errand_out *errand; (errand = next_stillborn(fabric)) != NULL;) {
        char words[sizeof errand->words];
        memcpy(words, errand->words, sizeof words);
        finish(errand, FM_UNREACHED, NULL, words);
    }
}

static void bury(struct errand_out *errand, int code)
{
    errand->stillborn = true;
    (void)snprintf(errand->words, sizeof errand->words, "the call could not be begun: %s",
                   error_word(code));
    (void)uv_timer_start(&errand->fabric->stillborn, on_stillborn, 0, 0);
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
    fabric->step(fabric->arg, &event);
}

void fabric_login(struct fabric *fabric)
{
    fmapi_login(fabric->api, on_login, fabric);
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
    (void)uv_timer_init(loop, &fabric->stillborn);
    fabric->stillborn.data = fabric;
    return fabric;
}

void fabric_counters(const struct fabric *fabric, uint64_t calls[FABRIC_KINDS][FABRIC_OUTCOMES],
                     struct fmapi_counters *transport)
{
    memcpy(calls, fabric->calls, sizeof fabric->calls);
    fmapi_counters(fabric->api, transport);
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
    while (fabric->under_way != NULL)
        errand_destroy(fabric->under_way);
    uv_close((uv_handle_t *)&fabric->stillborn, on_timer_closed);
}
