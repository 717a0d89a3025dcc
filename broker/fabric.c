#include "broker/fabric.h"

#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One transport with its options, and what was begun with it; a change begins the next one. */
struct generation {
    struct generation *next; /* in fabric->retired */
    struct fabric *fabric;
    struct fmapi *api;
    char *urls[FMAPI_URLS_MAX]; /* as the core counts them */
    uint32_t url_count;
    uint32_t first; /* the core's index of what is the transport's first URL */
    uint32_t url;   /* in use, by the core's index */
    unsigned under_way;
    bool closing;
};

/* One call or list under way, or one that could not be begun and is about to be reported. */
struct errand_out {
    struct errand_out *prev, *next; /* in fabric->under_way; in stillborn only next counts */
    struct fabric *fabric;
    struct generation *generation; /* NULL: there was none to begin it with */
    uint64_t id;
    enum fmcall_kind kind; /* FMCALL_NONE: a list */
    uint64_t begun_ns;
    char words[128]; /* why it could not be begun */
};

struct fabric {
    uv_loop_t *loop;
    struct generation *current; /* NULL: no fabric manager */
    struct generation *retired; /* drain, then close */
    fabric_step_fn *step;
    void *arg;
    struct errand_out *under_way;
    struct errand_out *stillborn; /* reported in the next turn of the loop */
    bool login_stillborn;
    struct fabric_counters counters;
    struct fmapi_counters past; /* of generations that are closed */
    uint64_t login_begun_ns;
    uv_timer_t next_turn;
    unsigned closing; /* parts that have yet to close; 0: alive */
    void (*closed)(void *arg);
    void *closed_arg;
};

static const char no_fabric_manager[] = "no fabric manager is configured";

static struct errand_out *errand_create(struct fabric *fabric, uint64_t id, enum fmcall_kind kind)
{
    struct errand_out *errand = memory_zeroed(sizeof *errand);
    errand->fabric = fabric;
    errand->generation = fabric->current;
    if (errand->generation != NULL)
        errand->generation->under_way++;
    errand->id = id;
    errand->kind = kind;
    errand->begun_ns = uv_hrtime();
    errand->next = fabric->under_way;
    if (errand->next != NULL)
        errand->next->prev = errand;
    fabric->under_way = errand;
    return errand;
}

static void on_next_turn(uv_timer_t *timer);

static void act_in_next_turn(struct fabric *fabric)
{
    (void)uv_timer_start(&fabric->next_turn, on_next_turn, 0, 0);
}

/* One thing fewer is under way. A retired generation that is drained is closed later: this may be a
 * callback of its own. */
static void came_back(struct generation *generation)
{
    assert(generation->under_way > 0);
    generation->under_way--;
    if (generation->under_way == 0 && generation != generation->fabric->current)
        act_in_next_turn(generation->fabric);
}

static void take_out(struct errand_out *errand)
{
    if (errand->prev != NULL)
        errand->prev->next = errand->next;
    else
        errand->fabric->under_way = errand->next;
    if (errand->next != NULL)
        errand->next->prev = errand->prev;
    if (errand->generation != NULL)
        came_back(errand->generation);
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
                   struct secret token, const struct fmcall_steps *steps, const char *words)
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
        event.u.call.steps = steps;
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
    report(errand, reply->outcome, reply->token, reply->steps, reply->words);
    free(errand);
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
    struct errand_out *stillborn = fabric->stillborn;
    bool login_stillborn = fabric->login_stillborn;
    fabric->stillborn = NULL; /* what a step below adds waits for its own turn */
    fabric->login_stillborn = false;
    if (login_stillborn)
        report_login(fabric, ERROR_INVALID, no_fabric_manager);
    for (const struct errand_out *errand = stillborn; errand != NULL; errand = errand->next)
        report(errand, FM_UNREACHED, (struct secret){0}, NULL, errand->words);
    free_all(stillborn);
    close_drained(fabric);
}

static void bury(struct errand_out *errand, const char *why)
{
    struct fabric *fabric = errand->fabric;
    take_out(errand);
    errand->next = fabric->stillborn;
    fabric->stillborn = errand;
    (void)snprintf(errand->words, sizeof errand->words, "the call could not be begun: %s", why);
    act_in_next_turn(fabric);
}

void fabric_call(struct fabric *fabric, uint64_t id, enum fmcall_kind kind, const char *name,
                 uint32_t addresses)
{
    assert(kind != FMCALL_NONE);
    struct errand_out *errand = errand_create(fabric, id, kind);
    if (errand->generation == NULL) {
        bury(errand, no_fabric_manager);
        return;
    }
    int code = fmapi_call(errand->generation->api, kind, name, addresses, on_reply, errand);
    if (code < 0)
        bury(errand, error_word(code));
}

void fabric_step(struct fabric *fabric, uint64_t id, enum fmcall_kind kind,
                 const struct fmapi_step *what)
{
    assert(fmcall_is_cleanup(kind));
    struct errand_out *errand = errand_create(fabric, id, kind);
    int code = 0;
    if (errand->generation == NULL)
        bury(errand, no_fabric_manager);
    else if ((code = fmapi_step(errand->generation->api, kind, what, on_reply, errand)) < 0)
        bury(errand, error_word(code));
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
    if (errand->generation == NULL) {
        bury(errand, no_fabric_manager);
        return;
    }
    int code = fmapi_list(errand->generation->api, on_page, on_reply, errand);
    if (code < 0)
        bury(errand, error_word(code));
}

static void on_login(void *arg, int code, const char *words)
{
    struct generation *generation = arg;
    came_back(generation);
    report_login(generation->fabric, code, words);
}

void fabric_login(struct fabric *fabric, uint32_t url)
{
    struct generation *generation = fabric->current;
    fabric->login_begun_ns = uv_hrtime();
    if (generation == NULL) {
        fabric->login_stillborn = true;
        act_in_next_turn(fabric);
        return;
    }
    uint32_t count = generation->url_count;
    generation->url = url < count ? url : 0;
    generation->under_way++;
    fmapi_login(generation->api, (generation->url + count - generation->first) % count, on_login,
                generation);
}

/* ---- generations ---- */

static void generation_free(struct generation *generation)
{
    for (uint32_t i = 0; i < generation->url_count; i++)
        free(generation->urls[i]);
    free(generation);
}

static bool copy_urls(struct generation *generation, const struct fmapi_options *options)
{
    for (size_t i = 0; i < FMAPI_URLS_MAX && options->urls[i] != NULL; i++) {
        generation->urls[i] = strdup(options->urls[i]);
        if (generation->urls[i] == NULL)
            return false;
        generation->url_count++;
    }
    return true;
}

/* in_use: the URL to begin with, if it is there. The transport begins with its first one, so it is
 * given them turned round. */
static struct generation *generation_create(struct fabric *fabric,
                                            const struct fmapi_options *options, const char *in_use,
                                            struct error *err)
{
    struct generation *generation = calloc(1, sizeof *generation);
    struct fmapi_options turned = *options;
    if (generation == NULL || !copy_urls(generation, options)) {
        (void)error_set(err, ERROR_NOMEM, "memory is exhausted");
        goto fail;
    }
    uint32_t count = generation->url_count;
    generation->fabric = fabric;
    for (uint32_t i = 0; i < count; i++) {
        if (in_use != NULL && strcmp(generation->urls[i], in_use) == 0)
            generation->first = generation->url = i;
    }
    for (uint32_t i = 0; i < count; i++)
        turned.urls[i] = generation->urls[(generation->first + i) % count];
    generation->api = fmapi_create(fabric->loop, &turned, err);
    if (generation->api == NULL)
        goto fail;
    return generation;

fail:
    if (generation != NULL)
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
    to->under_way += from->under_way;
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
    struct generation **link = &fabric->retired;
    while (*link != generation)
        link = &(*link)->next;
    *link = generation->next;
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
    counters.under_way = 0; /* nobody hears of what is broken off */
    add_counters(&generation->fabric->past, &counters);
    fmapi_destroy(generation->api, on_api_closed, generation);
}

static void close_drained(struct fabric *fabric)
{
    for (struct generation *g = fabric->retired; g != NULL; g = g->next) {
        if (g->under_way == 0)
            generation_close(g);
    }
}

static void retire(struct fabric *fabric)
{
    struct generation *generation = fabric->current;
    fabric->current = NULL;
    if (generation == NULL)
        return;
    generation->next = fabric->retired;
    fabric->retired = generation;
    act_in_next_turn(fabric);
}

int fabric_change(struct fabric *fabric, const struct fmapi_options *options, struct error *err)
{
    const struct generation *old = fabric->current;
    struct generation *next = NULL;
    assert(fabric->closing == 0);
    if (options != NULL) {
        next = generation_create(fabric, options, old != NULL ? old->urls[old->url] : NULL, err);
        if (next == NULL)
            return err->code;
    }
    retire(fabric);
    fabric->current = next;
    return 0;
}

/* ---- life ---- */

struct fabric *fabric_create(uv_loop_t *loop, const struct fmapi_options *options,
                             fabric_step_fn *step, void *arg, struct error *err)
{
    struct fabric *fabric = calloc(1, sizeof *fabric);
    if (fabric == NULL) {
        (void)error_set(err, ERROR_NOMEM, "memory is exhausted");
        return NULL;
    }
    fabric->loop = loop;
    fabric->step = step;
    fabric->arg = arg;
    if (options != NULL) {
        fabric->current = generation_create(fabric, options, NULL, err);
        if (fabric->current == NULL) {
            free(fabric);
            return NULL;
        }
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
    if (fabric->current != NULL)
        fmapi_counters(fabric->current->api, out);
    add_counters(out, &fabric->past);
    for (const struct generation *g = fabric->retired; g != NULL; g = g->next) {
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
    retire(fabric);
    fabric->closing = 1;
    for (struct generation *g = fabric->retired; g != NULL; g = g->next) {
        fabric->closing++;
        generation_close(g);
    }
    free_all(fabric->under_way);
    free_all(fabric->stillborn);
    uv_close((uv_handle_t *)&fabric->next_turn, on_timer_closed);
}
