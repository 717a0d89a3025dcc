/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/enginestate.h"

#include "base/memory.h"
#include "broker/log/decisionlog.h"
#include "broker/clock.h"
#include "broker/config/settings.h"
#include "broker/log/log.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- from the core to its edges ---- */

static void send_answer(struct engine *engine, uint64_t ticket, int code, const char *why)
{
    assert(engine->tickets > 0);
    engine->tickets--;
    if (engine->listener.send)
        engine->listener.send(engine->listener.arg, ticket, code, why);
}

/* The journal's: everything that the effect is built on is durable. */
static void perform_effect(void *arg, const struct effect *effect, int code)
{
    struct engine *engine = arg;
    if (engine->draining && effect->kind != EFFECT_ANSWER)
        return; /* as after a crash just before: the next start does it */
    if (!leadership_holds(engine->options.leadership)) {
        engine->role = ROLE_STANDBY; /* the broker that leads now does it (B7) */
        return;
    }
    switch (effect->kind) {
    case EFFECT_ANSWER:
        send_answer(engine, effect->u.answer.ticket, code,
                    code == 0 ? NULL : journal_counters(engine->journal)->error.text);
        break;
    case EFFECT_CALL:
    case EFFECT_LOGIN:
    case EFFECT_LIST:
        fabric_perform(engine->fabric, effect);
        break;
    case EFFECT_JOBPOLL:
        if (engine->lists)
            listcommand_ask(engine->lists, effect->u.jobpoll.id, effect->u.jobpoll.cluster);
        break;
    case EFFECT_EVENT:
        engine->event_seq = effect->u.event->seq;
        decisionlog_event(engine->core, engine->event_seq);
        break;
    case EFFECT_SAVE:
    case EFFECT_TRACE:
        break;
    }
}

static void on_flushed(void *arg)
{
    struct engine *engine = arg;
    uint64_t seq = engine->event_seq;
    engine->event_seq = 0;
    if (seq != 0 && engine->listener.events)
        engine->listener.events(engine->listener.arg, seq);
}

static void on_deposed(void *arg)
{
    struct engine *engine = arg;
    engine->role = ROLE_STANDBY;
    leadership_deposed(engine->options.leadership, journal_counters(engine->journal)->error.text);
}

static void apply_effects(struct engine *engine)
{
    size_t count;
    const struct effect *effects = core_effects(engine->core, &count);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind == EFFECT_TRACE)
            decisionlog_trace(&effects[i]);
        if (effects[i].kind != EFFECT_SAVE)
            continue;
        journal_save(engine->journal, &effects[i].u.record);
        if (engine->options.bearers)
            bearers_follow(engine->options.bearers, &effects[i].u.record);
    }
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind == EFFECT_SAVE || effects[i].kind == EFFECT_TRACE)
            continue;
        if (effects[i].kind == EFFECT_ANSWER && engine->listener.render)
            engine->listener.render(engine->listener.arg, &effects[i].u.answer);
        journal_defer(engine->journal, &effects[i]);
    }
}

/* ---- from the edges to the core ---- */

void engine_step(struct engine *engine, struct core_event *event)
{
    assert(!engine->stepping);
    bool partial = event->kind == CORE_SYNC && event->u.sync.more; /* its last part is answered */
    uint64_t ticket = partial ? 0 : event->ticket;
    engine->tickets += ticket != 0;
    if (engine->role != ROLE_LEADER || engine->draining || (engine->stopping && ticket)) {
        if (ticket) {
            send_answer(engine, ticket, engine->stopping ? ERROR_REFUSED : ERROR_NOT_LEADER,
                        engine->stopping ? "mcastd is stopping: repeat the request"
                                         : "this broker does not lead: ask the one that does");
            on_flushed(engine);
        }
        return;
    }
    event->now_ms = engine_now_ms(engine);
    engine->steps++;
    engine->stepping = true;
    const char *before =
        turn_enter(&engine->turn, event->kind == CORE_SYNC           ? "the step of a sync"
                                  : event->kind == CORE_JOBPOLL_DONE ? "the step after list_command"
                                                                     : "steps of the core");
    core_step(engine->core, event);
    apply_effects(engine);
    engine->stepping = false;
    journal_flush(engine->journal);
    turn_leave(&engine->turn, before);
}

static void on_edge(void *arg, struct core_event *event)
{
    engine_step(arg, event);
}

static void adopt_config(struct engine *engine, const struct config *config)
{
    engine->options.config = config;
    listcommand_configure(engine->lists, config);
}

static bool may_send(void *leadership)
{
    return leadership_holds(leadership);
}

/* NULL: no fabric manager is configured. */
static const struct fmapi_options *
fabric_options(const struct engine *engine, const struct config *config, struct fmapi_options *out)
{
    const struct fmapi_options *options = settings_fabric(config, out);
    out->may_send = engine->options.leadership ? may_send : NULL;
    out->may_send_arg = engine->options.leadership;
    return options;
}

/* Nothing was loaded yet. */
static int configure_standby(struct engine *engine, const struct config *config, struct error *err)
{
    if (engine->loading.active)
        return error_set(err, ERROR_REFUSED,
                         "the ledger is being loaded: reload again in a moment");
    core_destroy(engine->core);
    engine->core = core_create(&config->core);
    adopt_config(engine, config);
    return 0;
}

int engine_configure(struct engine *engine, const struct config *config, bool keep_fabric,
                     struct error *err)
{
    struct fmapi_options fabric;
    if (engine->role == ROLE_STANDBY || engine->stopping)
        return error_set(err, ERROR_REFUSED, "the broker is stopping");
    if (engine->role == ROLE_STARTING)
        return configure_standby(engine, config, err);
    int rc = keep_fabric
                 ? 0
                 : fabric_change(engine->fabric, fabric_options(engine, config, &fabric), err);
    if (rc < 0)
        return rc;
    adopt_config(engine, config);
    inventory_configure(engine->inventory, config, keep_fabric);
    struct core_event event = {.kind = CORE_CONFIGURE, .u.config = &config->core};
    engine_step(engine, &event);
    return 0;
}

static void save_record(void *journal, const struct record *record)
{
    journal_save(journal, record);
}

void engine_save_keys(struct engine *engine)
{
    assert(engine->role == ROLE_LEADER);
    keyring_save(engine->options.keyring, save_record, engine->journal);
}

void engine_after_saved(struct engine *engine, uint64_t ticket)
{
    engine->tickets++;
    if (!engine->journal) {
        send_answer(engine, ticket, 0, NULL);
        on_flushed(engine);
        return;
    }
    const struct effect answer = {.kind = EFFECT_ANSWER, .u.answer.ticket = ticket};
    journal_defer(engine->journal, &answer);
    journal_flush(engine->journal);
}

bool engine_unsaved(const struct engine *engine, uint64_t number)
{
    return engine->journal && journal_about(engine->journal, number);
}

/* ---- the loop ---- */

static void on_deadline(uv_timer_t *timer)
{
    struct engine *engine = timer->data;
    engine->deadline_ms = INT64_MAX; /* the timer is spent: set it again even if it was early */
    struct core_event event = {.kind = CORE_TICK};
    engine_step(engine, &event);
}

static void set_deadline(struct engine *engine)
{
    int64_t due = core_next_deadline(engine->core);
    if (due == engine->deadline_ms)
        return;
    engine->deadline_ms = due;
    if (due == INT64_MAX) {
        (void)uv_timer_stop(&engine->deadline);
        return;
    }
    int64_t wait = due - engine_now_ms(engine);
    uv_update_time(engine->options.loop);
    (void)uv_timer_start(&engine->deadline, on_deadline, wait > 0 ? (uint64_t)wait : 0, 0);
}

static void close_parts(struct engine *engine);

/* What was accepted is answered and saved. While the disk fails, each request for what is unsaved
 * was refused, so nothing is lost by stopping. */
static bool drained(struct engine *engine)
{
    if (engine->role == ROLE_STANDBY)
        return true;
    if (engine->tickets > 0)
        return false;
    engine->draining = true;
    if (journal_clean(engine->journal))
        return true;
    const char *fault = engine_storage_fault(engine);
    if (fault)
        log_line(LOG_ERR, "stopping with unsaved records=%" PRIu32 ", all of them refused: %s",
                 journal_unsaved(engine->journal), fault);
    return fault;
}

struct turn *engine_turn(struct engine *engine)
{
    return &engine->turn;
}

/* Just before the loop waits: everything that this turn brought is in one batch by now. */
static void on_prepare(uv_prepare_t *prepare)
{
    struct engine *engine = prepare->data;
    journal_turn(engine->journal);
    if (engine->stopping && drained(engine)) {
        close_parts(engine);
        return;
    }
    if (engine->role == ROLE_LEADER)
        set_deadline(engine);
    turn_next(&engine->turn);
}

/* ---- life ---- */

struct engine *engine_create(const struct engine_options *options)
{
    struct engine *engine = memory_zeroed(sizeof *engine);
    engine->options = *options;
    engine->core = core_create(&options->config->core);
    turn_init(&engine->turn, engine->options.loop);
    engine->deadline_ms = INT64_MAX;
    engine->lists = listcommand_create(engine->options.loop, on_edge, engine);
    adopt_config(engine, options->config);
    engine->clock_offset_ns = clock_offset_ns();
    engine->started_ms = engine_now_ms(engine);
    return engine;
}

void engine_listen(struct engine *engine, const struct engine_listener *listener)
{
    engine->listener = *listener;
}

static void start_loop(struct engine *engine)
{
    (void)uv_timer_init(engine->options.loop, &engine->deadline);
    (void)uv_prepare_init(engine->options.loop, &engine->prepare);
    engine->deadline.data = engine->prepare.data = engine;
    (void)uv_prepare_start(&engine->prepare, on_prepare);
}

static void lead(struct engine *engine)
{
    char boot[BOOT_ID_MAX + 1];
    engine->role = ROLE_LEADER;
    engine->stepping = true;
    clock_boot(boot);
    core_set_clock(engine->core, boot, engine->clock_offset_ns / 1000000);
    core_start(engine->core, engine_now_ms(engine));
    apply_effects(engine);
    if (engine->options.keyring && !keyring_loaded(engine->options.keyring))
        engine_save_keys(engine);
    engine->stepping = false;
    journal_flush(engine->journal);
}

/* All is loaded. */
static int start_edges(struct engine *engine, struct error *err)
{
    struct fmapi_options fabric;
    const struct journal_sink sink = {.arg = engine,
                                      .turn = &engine->turn,
                                      .perform = perform_effect,
                                      .flushed = on_flushed,
                                      .deposed = on_deposed};
    engine->journal = journal_create(engine->options.loop, engine->options.store, &sink, err);
    if (!engine->journal)
        return ERROR_IO;
    start_loop(engine);
    engine->open_parts += 3; /* the journal, two handles */
    engine->fabric =
        fabric_create(engine->options.loop, fabric_options(engine, engine->options.config, &fabric),
                      on_edge, engine, err);
    if (!engine->fabric)
        return ERROR_INVALID;
    const struct inventory_surroundings around = {.core = engine->core,
                                                  .leadership = engine->options.leadership,
                                                  .step = on_edge,
                                                  .arg = engine};
    engine->reports = inventory_reports_of(engine->core);
    engine->inventory = inventory_create(engine->options.loop, &around, engine->options.config);
    engine->open_parts += 2;
    lead(engine);
    return 0;
}

static void part_closed(void *arg)
{
    struct engine *engine = arg;
    if (--engine->open_parts == 0 && engine->stopped) /* else the start has failed */
        engine->stopped(engine->stopped_arg);
}

static void on_loaded(void *arg, int rc, struct error *err)
{
    struct engine *engine = arg;
    if (rc == 0)
        rc = start_edges(engine, err);
    engine->options.started(engine->options.started_arg, rc < 0 ? err : NULL);
}

void engine_use_store(struct engine *engine, struct store *store)
{
    assert(!engine->options.store && engine->role == ROLE_STARTING);
    engine->options.store = store;
}

int engine_start(struct engine *engine, struct error *err)
{
    engine->loading = (struct loading){.options = &engine->options,
                                       .turn = &engine->turn,
                                       .core = engine->core,
                                       .done = on_loaded,
                                       .closed = part_closed,
                                       .arg = engine};
    const int rc = loading_start(&engine->loading, err);
    assert(rc != 1 || engine->options.started);
    engine->open_parts += rc == 1;
    return rc == 0 ? start_edges(engine, err) : rc;
}

/* Once: the leadership may be gone later. */
static void close_store(struct engine *engine)
{
    if (!engine->options.store)
        return;
    leadership_forget_store(engine->options.leadership);
    store_close(engine->options.store);
    engine->options.store = NULL;
}

static void on_handle_closed(uv_handle_t *handle)
{
    part_closed(handle->data);
}

/* Called from the loop, never from inside a callback of one of the parts. */
static void close_parts(struct engine *engine)
{
    if (engine->closing)
        return;
    engine->closing = true;
    uv_close((uv_handle_t *)&engine->deadline, on_handle_closed);
    uv_close((uv_handle_t *)&engine->prepare, on_handle_closed);
    if (engine->fabric)
        fabric_destroy(engine->fabric, part_closed, engine);
    if (engine->inventory)
        inventory_destroy(engine->inventory, part_closed, engine);
    journal_destroy(engine->journal, part_closed, engine);
    close_store(engine);
    engine->fabric = NULL;
    engine->inventory = NULL;
    engine->journal = NULL;
}

void engine_stop(struct engine *engine, void (*stopped)(void *arg), void *arg)
{
    engine->stopping = true;
    loading_stop(&engine->loading);
    if (!engine->journal)
        close_store(engine);
    if (engine->open_parts == 0) { /* never started: nothing of it is in the loop */
        stopped(arg);
        return;
    }
    engine->stopped = stopped;
    engine->stopped_arg = arg;
    if (!engine->lists)
        return;
    struct listcommand *lists = engine->lists;
    engine->open_parts++;
    engine->lists = NULL;
    listcommand_destroy(lists, part_closed, engine);
}

void engine_destroy(struct engine *engine)
{
    if (!engine)
        return;
    assert(engine->open_parts == 0);
    if (engine->lists) /* never started */
        listcommand_destroy(engine->lists, NULL, NULL);
    store_close(engine->options.store); /* the leadership is gone */
    core_destroy(engine->core);
    free(engine);
}
