#include "broker/engine.h"

#include "broker/log/chronicle.h"
#include "broker/clock.h"
#include "broker/fabric.h"
#include "broker/journal.h"
#include "broker/jobs/listcommand.h"
#include "broker/log/log.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct engine {
    uv_loop_t *loop;
    struct clock clock;
    struct core *core;
    struct store *store;
    struct bearers *bearers;
    struct journal *journal;   /* NULL before engine_start and after the end */
    struct fabric *fabric;     /* as the journal */
    struct listcommand *lists; /* NULL once it stops */
    struct fmapi_options fabric_options;
    bool fabric_present; /* those say where one is */
    void (*loading)(void *arg, uint64_t records);
    void *loading_arg;
    struct engine_listener listener;
    enum broker_role role;

    uint64_t steps;
    uint64_t tickets;   /* accepted and not yet spoken */
    uint64_t event_seq; /* durable, the listener not yet told; 0: none */
    bool spoke;         /* since the listener was last told that all is out */
    bool stepping;      /* between core_step and the last of its effects */

    uv_timer_t deadline;
    int64_t deadline_ms; /* what the timer is set to; INT64_MAX: nothing */
    uv_prepare_t prepare;
    struct turn turn; /* of the loop */
    int64_t started_ms;

    bool stopping; /* engine_stop was called: no new requests */
    bool draining; /* nothing accepted is unanswered: no more steps, the rest is only saved */
    bool closing;
    unsigned open_parts; /* handles and rooms that have yet to close */
    void (*stopped)(void *arg);
    void *stopped_arg;
};

const char *broker_role_word(enum broker_role role)
{
    switch (role) {
    case ROLE_STARTING:
        return "starting";
    case ROLE_LEADER:
        return "leader";
    case ROLE_STANDBY:
        return "standby";
    }
    return "unknown";
}

/* ---- from the core to its edges ---- */

static void speak(struct engine *engine, uint64_t ticket, int code, const char *words)
{
    assert(engine->tickets > 0);
    engine->tickets--;
    engine->spoke = true;
    if (engine->listener.speak != NULL)
        engine->listener.speak(engine->listener.arg, ticket, code, words);
}

static const char *why_not(const struct engine *engine, int code)
{
    return code == 0 ? NULL : journal_counters(engine->journal)->error.text;
}

static void call_fabric(struct engine *engine, const struct word *word)
{
    const struct fmapi_step step = {.name = word->name,
                                    .step = word->u.call.step,
                                    .tree = word->u.call.tree,
                                    .token = word->u.call.token};
    if (fmcall_is_cleanup(word->u.call.kind))
        fabric_step(engine->fabric, word->u.call.id, word->u.call.kind, &step);
    else
        fabric_call(engine->fabric, word->u.call.id, word->u.call.kind, word->name,
                    word->u.call.addresses);
}

static void call_roll(struct engine *engine, const struct word *word)
{
    if (engine->lists == NULL)
        return;
    const char *before = turn_enter(&engine->turn, "starting list_command");
    listcommand_ask(engine->lists, word->u.rollcall, word->name);
    turn_leave(&engine->turn, before);
}

static void on_say(void *arg, const struct word *word)
{
    struct engine *engine = arg;
    if (engine->draining && word->kind != WORD_ANSWER)
        return; /* as if we had crashed just before: the next start sees to it */
    switch (word->kind) {
    case WORD_ANSWER:
        speak(engine, word->u.ticket, word->code, why_not(engine, word->code));
        break;
    case WORD_CALL:
        call_fabric(engine, word);
        break;
    case WORD_LOGIN:
        fabric_login(engine->fabric, word->u.url);
        break;
    case WORD_LIST:
        fabric_list(engine->fabric, word->u.list);
        break;
    case WORD_ROLLCALL:
        call_roll(engine, word);
        break;
    case WORD_EVENT:
        engine->event_seq = word->u.seq;
        chronicle_event(engine->core, word->u.seq);
        break;
    }
}

static void on_breath(void *arg)
{
    struct engine *engine = arg;
    uint64_t seq = engine->event_seq;
    bool spoke = engine->spoke;
    engine->event_seq = 0;
    engine->spoke = false;
    if (seq != 0 && engine->listener.events != NULL) {
        const char *before = turn_enter(&engine->turn, "telling events to who follows them");
        engine->listener.events(engine->listener.arg, seq);
        turn_leave(&engine->turn, before);
    }
    if (spoke && engine->listener.spoken != NULL)
        engine->listener.spoken(engine->listener.arg);
}

static void on_deposed(void *arg)
{
    struct engine *engine = arg;
    engine->role = ROLE_STANDBY;
    log_line(LOG_ERR, "another broker has taken over: stopping, nothing more is saved here");
    uv_stop(engine->loop);
}

/* An effect that waits for the disk, copied: its pointers die with the next step. */
static struct word *word_of(struct engine *engine, const struct effect *effect)
{
    struct word *word;
    switch (effect->kind) {
    case EFFECT_ANSWER:
        if (engine->listener.render != NULL)
            engine->listener.render(engine->listener.arg, &effect->u.answer);
        word = journal_word(engine->journal, WORD_ANSWER, NULL);
        word->u.ticket = effect->u.answer.ticket;
        return word;
    case EFFECT_CALL:
        return journal_word_call(effect);
    case EFFECT_LOGIN:
        word = journal_word(engine->journal, WORD_LOGIN, NULL);
        word->u.url = effect->u.login.url;
        return word;
    case EFFECT_LIST:
        word = journal_word(engine->journal, WORD_LIST, NULL);
        word->u.list = effect->u.list.id;
        return word;
    case EFFECT_ROLLCALL:
        word = journal_word(engine->journal, WORD_ROLLCALL, effect->u.rollcall.cluster);
        word->u.rollcall = effect->u.rollcall.id;
        return word;
    case EFFECT_EVENT:
        word = journal_word(engine->journal, WORD_EVENT, NULL);
        word->u.seq = effect->u.event->seq;
        return word;
    case EFFECT_SAVE:
    case EFFECT_TRACE:
        break;
    }
    return NULL;
}

static void save(struct engine *engine, const struct record *record)
{
    journal_save(engine->journal, record);
    if (engine->bearers != NULL)
        bearers_follow(engine->bearers, record);
}

static void carry_out(struct engine *engine)
{
    size_t count;
    const struct effect *effects = core_effects(engine->core, &count);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind == EFFECT_SAVE)
            save(engine, &effects[i].u.record);
        else if (effects[i].kind == EFFECT_TRACE)
            chronicle_trace(&effects[i]);
    }
    for (size_t i = 0; i < count; i++) {
        struct word *word = word_of(engine, &effects[i]);
        if (word != NULL)
            journal_say(engine->journal, word);
    }
}

/* ---- from the edges to the core ---- */

/* What the turn is busy with. */
static const char *work_of(const struct core_event *event)
{
    switch (event->kind) {
    case CORE_SYNC:
        return "the step of a sync";
    case CORE_ROLLCALL_DONE:
        return "the step after list_command";
    case CORE_TICK:
        return "the step of a deadline";
    default:
        return "steps of the core";
    }
}

static bool wants_answer(const struct core_event *event, uint64_t *ticket)
{
    switch (event->kind) {
    case CORE_RESERVE:
        *ticket = event->u.reserve.ticket;
        return true;
    case CORE_RELEASE:
        *ticket = event->u.release.ticket;
        return true;
    case CORE_SYNC:
        *ticket = event->u.sync.ticket;
        return !event->u.sync.more; /* it is the last piece that is answered */
    case CORE_NODE_REPORT:
        *ticket = event->u.report.ticket;
        return true;
    case CORE_NODE_BOOT:
        *ticket = event->u.boot.ticket;
        return true;
    case CORE_FENCE:
        *ticket = event->u.fence.ticket;
        return true;
    case CORE_ACCEPT_LOSS:
        *ticket = event->u.accept_loss.ticket;
        return true;
    case CORE_CLAIM:
        *ticket = event->u.claim.ticket;
        return true;
    case CORE_CLEANUP:
        *ticket = event->u.cleanup.ticket;
        return true;
    case CORE_STEPS:
        *ticket = event->u.steps.ticket;
        return true;
    default:
        return false;
    }
}

void engine_step(struct engine *engine, struct core_event *event)
{
    assert(!engine->stepping);
    uint64_t ticket = 0;
    bool asked = wants_answer(event, &ticket);
    engine->tickets += asked;
    if (engine->role != ROLE_LEADER || engine->draining || (engine->stopping && asked)) {
        if (asked) {
            speak(engine, ticket, engine->stopping ? ERROR_REFUSED : ERROR_NOT_LEADER,
                  engine->stopping ? "mcastd is stopping: repeat the request"
                                   : "this broker does not lead: ask the one that does");
            on_breath(engine);
        }
        return;
    }
    event->now_ms = engine_now_ms(engine);
    engine->steps++;
    engine->stepping = true;
    const char *before = turn_enter(&engine->turn, work_of(event));
    core_step(engine->core, event);
    carry_out(engine);
    engine->stepping = false;
    journal_flush(engine->journal);
    turn_leave(&engine->turn, before);
}

static void on_edge(void *arg, struct core_event *event)
{
    engine_step(arg, event);
}

int engine_configure(struct engine *engine, const struct engine_settings *settings,
                     struct error *err)
{
    if (engine->role != ROLE_LEADER || engine->stopping)
        return error_set(err, ERROR_REFUSED, "the broker is stopping");
    int rc = settings->keep_fabric ? 0 : fabric_change(engine->fabric, settings->fabric, err);
    if (rc < 0)
        return rc;
    listcommand_configure(engine->lists, settings->lists, settings->list_count);
    struct core_event event = {.kind = CORE_CONFIGURE, .u.config = settings->core};
    engine_step(engine, &event);
    return 0;
}

void engine_after_saved(struct engine *engine, uint64_t ticket)
{
    engine->tickets++;
    if (engine->journal == NULL) {
        speak(engine, ticket, 0, NULL);
        on_breath(engine);
        return;
    }
    struct word *word = journal_word(engine->journal, WORD_ANSWER, NULL);
    word->u.ticket = ticket;
    journal_say(engine->journal, word);
    journal_flush(engine->journal);
}

bool engine_unsaved(const struct engine *engine, uint64_t number)
{
    return engine->journal != NULL && journal_about(engine->journal, number);
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
    uv_update_time(engine->loop);
    (void)uv_timer_start(&engine->deadline, on_deadline, wait > 0 ? (uint64_t)wait : 0, 0);
}

static void close_parts(struct engine *engine);

/* What was accepted is answered and saved. While the disk fails, what is unsaved was refused to
 * everyone who asked for it, so nothing is lost by leaving. */
static bool finished(struct engine *engine)
{
    if (engine->role == ROLE_STANDBY)
        return true;
    if (engine->tickets > 0)
        return false;
    engine->draining = true;
    if (journal_clean(engine->journal))
        return true;
    const struct journal_counters *counters = journal_counters(engine->journal);
    if (!counters->failing)
        return false;
    log_line(LOG_ERR, "stopping with unsaved records=%" PRIu32 ", all of them refused: %s",
             journal_unsaved(engine->journal), counters->error.text);
    return true;
}

static void measure_turn(struct engine *engine)
{
    struct turn_absence absence;
    if (turn_end(&engine->turn, &absence))
        log_line(LOG_WARNING,
                 "nobody was served for %" PRId64 " ms, of which mcastd had a processor for "
                 "%" PRId64 " ms; %" PRId64 " ms went into %s",
                 absence.took_us / 1000, absence.cpu_us / 1000, absence.what_us / 1000,
                 absence.what);
}

void engine_interrupted(struct engine *engine)
{
    turn_interrupted(&engine->turn);
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
    if (engine->stopping && finished(engine)) {
        close_parts(engine);
        return;
    }
    if (engine->role == ROLE_LEADER)
        set_deadline(engine);
    measure_turn(engine);
}

/* ---- life ---- */

struct engine *engine_create(const struct engine_options *options, struct error *err)
{
    struct engine *engine = calloc(1, sizeof *engine);
    if (engine == NULL) {
        (void)error_set(err, ERROR_NOMEM, "memory is exhausted");
        return NULL;
    }
    engine->core = core_create(options->core);
    engine->loop = options->loop;
    turn_init(&engine->turn, engine->loop);
    engine->store = options->store;
    engine->bearers = options->bearers;
    engine->deadline_ms = INT64_MAX;
    engine->loading = options->loading;
    engine->loading_arg = options->loading_arg;
    if (options->fabric != NULL) {
        engine->fabric_present = true;
        engine->fabric_options = *options->fabric;
    }
    engine->lists = listcommand_create(engine->loop, on_edge, engine);
    listcommand_configure(engine->lists, options->lists, options->list_count);
    clock_init(&engine->clock);
    engine->started_ms = engine_now_ms(engine);
    return engine;
}

void engine_listen(struct engine *engine, const struct engine_listener *listener)
{
    engine->listener = *listener;
}

enum { LOADING_STRIDE = 4096 /* records between two words about it */ };

struct loading {
    const struct engine *engine;
    uint64_t records;
    struct error *err;
};

static int load(void *arg, const struct record *record)
{
    struct loading *loading = arg;
    const struct engine *engine = loading->engine;
    if (++loading->records % LOADING_STRIDE == 0 && engine->loading != NULL)
        engine->loading(engine->loading_arg, loading->records);
    if (engine->bearers != NULL)
        bearers_follow(engine->bearers, record);
    return core_load(engine->core, record, loading->err);
}

static void start_loop(struct engine *engine)
{
    (void)uv_timer_init(engine->loop, &engine->deadline);
    (void)uv_prepare_init(engine->loop, &engine->prepare);
    engine->deadline.data = engine->prepare.data = engine;
    (void)uv_prepare_start(&engine->prepare, on_prepare);
}

int engine_start(struct engine *engine, struct error *err)
{
    struct loading loading = {.engine = engine, .err = err};
    int rc = store_load(engine->store, load, &loading, err);
    if (rc == 0 && core_loaded(engine->core, err) < 0)
        rc = store_refuse(engine->store, err);
    if (rc < 0)
        return rc;

    struct journal_mouth mouth = {.arg = engine,
                                  .turn = &engine->turn,
                                  .say = on_say,
                                  .breath = on_breath,
                                  .deposed = on_deposed};
    engine->journal = journal_create(engine->loop, engine->store, &mouth, err);
    if (engine->journal == NULL)
        return ERROR_IO;
    start_loop(engine);
    engine->open_parts = 4; /* the journal, the lists, two handles */
    engine->fabric =
        fabric_create(engine->loop, engine->fabric_present ? &engine->fabric_options : NULL,
                      on_edge, engine, err);
    if (engine->fabric == NULL)
        return ERROR_INVALID;
    engine->open_parts++;

    engine->role = ROLE_LEADER;
    engine->stepping = true;
    char boot[BOOT_ID_MAX + 1];
    clock_boot(boot);
    core_clock(engine->core, boot, clock_offset_ms(&engine->clock));
    core_start(engine->core, engine_now_ms(engine));
    carry_out(engine);
    engine->stepping = false;
    journal_flush(engine->journal);
    return 0;
}

static void part_closed(void *arg)
{
    struct engine *engine = arg;
    if (--engine->open_parts == 0)
        engine->stopped(engine->stopped_arg);
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
    if (engine->fabric != NULL)
        fabric_destroy(engine->fabric, part_closed, engine);
    journal_destroy(engine->journal, part_closed, engine);
    store_close(engine->store);
    engine->fabric = NULL;
    engine->journal = NULL;
    engine->store = NULL;
}

void engine_stop(struct engine *engine, void (*stopped)(void *arg), void *arg)
{
    engine->stopping = true;
    if (engine->open_parts == 0) { /* never started: nothing of it is in the loop */
        stopped(arg);
        return;
    }
    engine->stopped = stopped;
    engine->stopped_arg = arg;
    if (engine->lists != NULL)
        listcommand_destroy(engine->lists, part_closed, engine);
    engine->lists = NULL;
}

static void nothing_was_open(void *arg)
{
    (void)arg;
}

void engine_destroy(struct engine *engine)
{
    if (engine == NULL)
        return;
    assert(engine->open_parts == 0);
    if (engine->lists != NULL) /* never started */
        listcommand_destroy(engine->lists, nothing_was_open, NULL);
    store_close(engine->store);
    core_destroy(engine->core);
    free(engine);
}

/* ---- looking ---- */

const struct core *engine_core(const struct engine *engine)
{
    return engine->core;
}

int64_t engine_now_ms(const struct engine *engine)
{
    return clock_now_ms(&engine->clock);
}

enum broker_role engine_role(const struct engine *engine)
{
    return engine->role;
}

const char *engine_storage_fault(const struct engine *engine)
{
    const struct journal_counters *counters =
        engine->journal != NULL ? journal_counters(engine->journal) : NULL;
    return counters != NULL && counters->failing ? counters->error.text : NULL;
}

void engine_counters(const struct engine *engine, struct engine_counters *out)
{
    static const struct histogram no_times, no_sizes = {.scale = HISTOGRAM_SIZES};
    static const struct fabric_counters no_calls;
    memset(out, 0, sizeof *out);
    out->role = engine->role;
    out->steps = engine->steps;
    out->loop_absence = &engine->turn.absence;
    out->loop_absence_us_peak = turn_peak_us(&engine->turn);
    out->started_ms = engine->started_ms;
    out->commit_times = &no_times;
    out->commit_sizes = &no_sizes;
    out->fm = &no_calls;
    if (engine->fabric != NULL) {
        out->fm = fabric_counters(engine->fabric);
        fabric_transport(engine->fabric, &out->fabric);
    }
    if (engine->journal == NULL)
        return;

    const struct journal_counters *counters = journal_counters(engine->journal);
    out->commits = counters->commits;
    out->commit_failures = counters->commit_failures;
    out->records = counters->records;
    out->commit_times = &counters->times;
    out->commit_sizes = &counters->sizes;
    out->unsaved = journal_unsaved(engine->journal);
    out->storage_failing = counters->failing;
    memcpy(out->storage_error, counters->error.text, sizeof out->storage_error);
}
