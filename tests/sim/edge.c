/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/edge.h"

#include "core/reservation/reservation.h"
#include "tests/sim/grow.h"
#include "tests/sim/pieces.h"
#include "tests/sim/sim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIMER_LATE_MAX_MS = 150,
    TICKS_AT_ONCE_MAX = 1000,  /* at one moment of virtual time: more than a sync has lots */
    SYNC_TAKES_MAX_MS = 60000, /* all of whose lots may come late */
    JOIN_TAKES_MAX_MS = 4000,  /* libfabric waits 5 s */
    CALLS_AT_ONCE_MAX = 20000,
    TICKS_IN_WINDOW_MAX = 20000, /* in WINDOW_MS of it */
    WINDOW_MS = 10000,
    CLOCK_OFF_MAX_MS = 24 * 3600 * 1000,
    CLOCK_TOLERANCE_MS = 2000, /* of the core (quarantine.c) */
};

static void edge_begin(struct sim *sim, void *what, uint64_t mark);
static void settle_step(struct sim *sim);

void edge_init(struct sim *sim)
{
    struct edge *edge = &sim->edge;
    memset(edge, 0, sizeof *edge);
    rng_init(&edge->rng, sim->profile.seed, 5);
}

static void forget_listed(struct edge *edge)
{
    for (size_t i = 0; i < edge->listed_count; i++)
        free(edge->listed[i]);
    edge->listed_count = 0;
}

void edge_release(struct sim *sim)
{
    struct edge *edge = &sim->edge;
    core_destroy(edge->core);
    forget_listed(edge);
    free(edge->listed);
    free(edge->words);
    free(edge->calls);
    free(edge->open);
    memset(edge, 0, sizeof *edge);
}

/* ---- death ---- */

struct core *edge_take(struct sim *sim)
{
    struct edge *edge = &sim->edge;
    struct core *core = edge->core;
    journal_cut(sim);
    model_died(sim, sim->journal.durable);
    wire_cut(sim);
    edge->core = NULL;
    edge->timer++;
    edge->word_first = edge->word_count = 0;
    edge->call_count = edge->open_count = 0;
    edge->fuse = 0;
    return core;
}

void edge_die(struct sim *sim)
{
    static const int64_t longest[] = {20, 2000, 60000};
    struct edge *edge = &sim->edge;
    fault_count(&sim->faults, FAULT_CRASH);
    sim_trace(sim, "broker: dies");
    core_destroy(edge_take(sim));
    if (sim->brokers.count > 0)
        brokers_died(sim);
    else
        sim_later(sim, rng_between(&edge->rng, 1, longest[rng_below(&edge->rng, 3)]), edge_begin,
                  NULL, 0);
}

bool edge_crash_point(struct sim *sim)
{
    struct edge *edge = &sim->edge;
    if (edge->fuse == 0 || --edge->fuse > 0)
        return false;
    if (!fault_possible(&sim->faults, FAULT_CRASH))
        return false;
    edge_die(sim);
    return true;
}

static void light_fuse(struct sim *sim, void *what, uint64_t mark)
{
    struct edge *edge = &sim->edge;
    (void)what;
    if (!edge->core)
        return;
    if (mark == 0)
        sim->journal.die_in_commit = fault_possible(&sim->faults, FAULT_CRASH_IN_COMMIT);
    else
        edge->fuse = (uint32_t)mark;
}

/* ---- speaking ---- */

static void intent_is_saved(struct sim *sim, const struct word *word)
{
    if (fmcall_is_cleanup(word->u.call.kind)) {
        asks_leaves(sim, word);
        return;
    }
    if (fmcall_is_relayed(word->u.call.kind)) {
        joins_leaves(sim, word);
        return;
    }
    const struct reservation_record *saved = disk_find(&sim->disk, word->u.call.number);
    if (word->u.call.kind == FMCALL_RESERVE && (!saved || saved->fm_side == FM_SIDE_NOTHING))
        sim_fail(sim, "intent", "the fabric manager is asked for %s, and no record on disk says so",
                 word->u.call.name);
}

static void say(struct sim *sim, const struct word *word)
{
    switch (word->kind) {
    case EFFECT_ANSWER:
        rm_told(sim, &word->u.told);
        break;
    case EFFECT_CALL:
        if (sim->profile.plant != PLANT_ANSWER_EARLY && sim->profile.plant != PLANT_NO_FSYNC)
            intent_is_saved(sim, word);
        sim->result.calls++;
        wire_send(sim, word);
        break;
    case EFFECT_LOGIN:
        wire_login(sim, word->u.url);
        break;
    case EFFECT_LIST:
        forget_listed(&sim->edge);
        wire_list(sim, word->u.list);
        break;
    case EFFECT_JOBPOLL:
        jobpoll_ask(sim, word->u.jobpoll.id, word->u.jobpoll.cluster);
        break;
    case EFFECT_EVENT:
        model_event_told(sim, word->u.event.seq, word->u.event.number, word->u.event.kind);
        break;
    case EFFECT_SAVE:
    case EFFECT_TRACE:
        assert(!"a word");
    }
}

void edge_speak(struct sim *sim)
{
    struct edge *edge = &sim->edge;
    bool early = sim->profile.plant == PLANT_ANSWER_EARLY;
    while (edge->core && edge->word_first < edge->word_count) {
        struct word word = edge->words[edge->word_first];
        if (word.batch > sim->journal.durable && !early)
            return;
        edge->word_first++;
        if (sim->brokers.count > 0 && !brokers_let_out(sim, &word))
            return;
        say(sim, &word);
        if (edge_crash_point(sim))
            return;
    }
    edge->word_first = edge->word_count = 0;
}

bool edge_settled(const struct edge *edge)
{
    return edge->core && edge->word_count == 0 && edge->open_count == 0;
}

/* ---- one step ---- */

static void gather_records(struct sim *sim, const struct effect *effects, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind == EFFECT_TRACE)
            sim_trace(sim, "core: %s", effects[i].u.trace.text);
        if (effects[i].kind != EFFECT_SAVE)
            continue;
        struct record record = effects[i].u.record;
        if (!plant_record(sim->profile.plant, &record))
            continue;
        journal_add(sim, &record);
        model_saved(sim, &record, sim->journal.gathering.id);
    }
}

static void call_is_allowed(struct sim *sim, const struct word *word)
{
    struct edge *edge = &sim->edge;
    struct core_status status;
    core_status(edge->core, &status);
    if (status.link != LINK_UP)
        sim_fail(sim, "calls", "%s of %s while the link is %s", fmcall_kind_word(word->u.call.kind),
                 word->u.call.name, link_state_word(status.link));
    bool cleanup = fmcall_is_cleanup(word->u.call.kind);
    bool relayed = fmcall_is_relayed(word->u.call.kind);
    for (size_t i = 0; i < edge->call_count; i++)  /* cleaning up goes on beside the others, */
        if (!relayed && !edge->calls[i].relayed && /* and so do joins, */
            strcmp(edge->calls[i].name, word->u.call.name) == 0 &&
            edge->calls[i].cleanup == cleanup && /* and by several lives, each for itself */
            (!cleanup || edge->calls[i].number == word->u.call.number))
            sim_fail(sim, "calls", "two calls for %s under way", word->u.call.name);
    if (word->u.call.kind == FMCALL_END_STEP && !word->u.call.shown[0] &&
        !sim->config.cleanup_login)
        sim_fail(sim, "I6", "a step of %s is ended with the login, and the site does not allow it",
                 word->u.call.name);
    edge->calls_at_once = edge->called_ms == sim->now_ms ? edge->calls_at_once + 1 : 0;
    edge->called_ms = sim->now_ms;
    if (edge->calls_at_once > CALLS_AT_ONCE_MAX)
        sim_fail(sim, "calls", "a busy loop: %u calls at one moment, now %s of %s",
                 edge->calls_at_once, fmcall_kind_word(word->u.call.kind), word->u.call.name);
    if (edge->call_count >= sim->config.calls_at_once)
        sim_fail(sim, "calls", "more than %u calls under way", sim->config.calls_at_once);
    GROW(edge->calls, edge->call_count, edge->call_room);
    edge->calls[edge->call_count].id = word->u.call.id;
    edge->calls[edge->call_count].number = word->u.call.number;
    edge->calls[edge->call_count].begun_ms = sim->now_ms;
    edge->calls[edge->call_count].cleanup = cleanup;
    edge->calls[edge->call_count].relayed = relayed;
    strcpy(edge->calls[edge->call_count++].name, word->u.call.name);
}

static void answer_is_allowed(struct sim *sim, const struct word *word)
{
    struct edge *edge = &sim->edge;
    for (size_t i = 0; i < edge->open_count; i++) {
        if (edge->open[i]->ticket != word->u.told.ticket)
            continue;
        struct request *request = edge->open[i];
        request->answered = true;
        edge->open[i] = edge->open[--edge->open_count];
        sim->result.answers[word->u.told.kind]++;
        answers_given(sim, request, &word->u.told, word->batch);
        return;
    }
    sim_fail(sim, "answers", "an answer to ticket %llu, which is not open",
             (unsigned long long)word->u.told.ticket);
}

static void hear_words(struct sim *sim, const struct effect *effects, size_t count)
{
    struct edge *edge = &sim->edge;
    uint64_t batch = journal_newest(&sim->journal);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind == EFFECT_SAVE || effects[i].kind == EFFECT_TRACE)
            continue;
        GROW(edge->words, edge->word_count, edge->word_room);
        struct word *word = &edge->words[edge->word_count++];
        word_copy(word, edge->core, &effects[i], batch);
        if (word->kind == EFFECT_CALL)
            call_is_allowed(sim, word);
        if (word->kind == EFFECT_JOBPOLL)
            sim->rm.jobpoll_wanted = word->u.jobpoll.id;
        if (word->kind == EFFECT_ANSWER) {
            launch_judge(sim, effects[i].u.answer.reservation, &word->u.told);
            answer_is_allowed(sim, word);
        }
        if (word->kind == EFFECT_EVENT && sim->profile.plant == PLANT_SWALLOW_LOST &&
            word->u.event.kind == EVENT_LOST)
            word->u.event.kind = EVENT_UNAVAILABLE;
        if (word->kind == EFFECT_ANSWER && sim->profile.plant == PLANT_DOUBLE_ANSWER &&
            rng_chance(&edge->rng, 50))
            answer_is_allowed(sim, word);
    }
}

static void answers_are_in_time(struct sim *sim)
{
    struct edge *edge = &sim->edge;
    for (size_t i = 0; i < edge->open_count; i++) {
        const struct request *request = edge->open[i];
        if (request->due_ms == 0)
            sim_fail(sim, "I5", "the answer to a %s of %s waits", rm_request_word(request),
                     rm_job_name(request->job));
        else if (sim->now_ms > request->due_ms ||
                 sim->now_ms - TIMER_LATE_MAX_MS > speed_latest(sim, request))
            sim_fail(sim, "F21", "a %s of %s waits for %lld ms", rm_request_word(request),
                     rm_job_name(request->job), (long long)(sim->now_ms - request->asked_ms));
    }
}

static void tick(struct sim *sim, void *what, uint64_t mark);

/* What the broker's clock says. */
static int64_t core_time(const struct sim *sim)
{
    return sim->now_ms + sim->edge.clock_ms;
}

static void arm(struct sim *sim)
{
    struct edge *edge = &sim->edge;
    int64_t due = core_next_deadline(edge->core);
    if (due == edge->armed_ms)
        return;
    edge->armed_ms = due;
    edge->timer++;
    if (due == INT64_MAX)
        return;
    int64_t now_ms = core_time(sim), wait = due > now_ms ? due - now_ms : 0;
    struct rng rng;
    rng_init_for(&rng, sim->profile.seed, "timer", due);
    if (fault_happens(&sim->faults, FAULT_LATE_TIMER, &rng))
        wait += rng_between(&rng, 1, TIMER_LATE_MAX_MS);
    sim_later(sim, wait, tick, NULL, edge->timer);
}

/* What follows every step: its records gathered, its words held, then let out as far as they may.
 */
static void settle_step(struct sim *sim)
{
    struct edge *edge = &sim->edge;
    size_t count;
    const struct effect *effects = core_effects(edge->core, &count);
    gather_records(sim, effects, count);
    hear_words(sim, effects, count);
    asks_step_ends(sim, journal_newest(&sim->journal));
    answers_are_in_time(sim);
    model_check(sim);
    arm(sim);
    if (edge_crash_point(sim))
        return;
    journal_commit_soon(sim);
    edge_speak(sim);
}

static void step_of(struct sim *sim, struct core_event *event, const struct request *request)
{
    asks_step_begins(sim, request);
    joins_arrive(sim, request);
    sim->edge.suspect = admin_sees(sim, ALARM_OLD_LEDGER, NULL);
    sim->rewind.suspect = sim->disk.facts.suspect && sim->rewind.done;
    event->now_ms = core_time(sim);
    sim->result.steps++;
    core_step(sim->edge.core, event);
    settle_step(sim);
}

static void step(struct sim *sim, struct core_event *event)
{
    step_of(sim, event, NULL);
}

static void no_busy_loop(struct sim *sim)
{
    struct edge *edge = &sim->edge;
    sim->result.ticks++;
    edge->ticks_at_once = edge->ticked_ms == sim->now_ms ? edge->ticks_at_once + 1 : 0;
    edge->ticked_ms = sim->now_ms;
    if (sim->now_ms > edge->window_ms + WINDOW_MS) {
        edge->window_ms = sim->now_ms;
        edge->ticks_in_window = 0;
    }
    if (edge->ticks_at_once > TICKS_AT_ONCE_MAX || ++edge->ticks_in_window > TICKS_IN_WINDOW_MAX)
        sim_fail(sim, "ticks", "a busy loop: %u ticks at one moment, %u in %d ms",
                 edge->ticks_at_once, edge->ticks_in_window, WINDOW_MS);
}

static void tick(struct sim *sim, void *what, uint64_t mark)
{
    (void)what;
    if (!sim->edge.core || mark != sim->edge.timer)
        return;
    no_busy_loop(sim);
    sim->edge.armed_ms = INT64_MIN;
    step(sim, &(struct core_event){.kind = CORE_TICK});
}

/* ---- a life ---- */

static int load_one(void *arg, const struct record *record)
{
    struct sim *sim = arg;
    struct record planted = *record;
    struct error err = {0};
    if (sim->profile.plant == PLANT_FORGET_NUMBER && record->kind == RECORD_COUNTERS)
        planted.u.counters.last_number = 0;
    if (sim->profile.plant == PLANT_REPEAT_EVENTS && sim->brokers.count > 0) {
        const uint64_t seen = brokers_leader(sim)->seen_seq;
        if (record->kind == RECORD_EVENT && record->u.event.seq > seen)
            return 0;
        if (record->kind == RECORD_COUNTERS && record->u.counters.last_seq > seen)
            planted.u.counters.last_seq = seen;
    }
    int rc = core_load(sim->edge.core, &planted, &err);
    if (rc < 0)
        sim_fail(sim, "I2", "what was saved cannot be loaded: %s", err.text);
    return rc;
}

static struct core_config planted_config(const struct sim *sim)
{
    struct core_config config = sim->config;
    if (sim->profile.plant == PLANT_REUSE_HELD)
        config.vni_hold_ms = 0;
    return config;
}

static void boot_of(const struct sim *sim, char boot[32])
{
    boot[0] = '\0';
    if (sim->profile.boot_told)
        snprintf(boot, 32, "boot-%llu", (unsigned long long)sim->edge.boot);
}

bool edge_clock_saved(const struct sim *sim)
{
    char boot[32];
    boot_of(sim, boot);
    return boot[0] != '\0' && sim->disk.has_facts && strcmp(boot, sim->disk.boot) == 0 &&
           sim->edge.booted_ms + sim->edge.clock_ms == sim->disk.facts.clock_ms;
}

/* The core takes a clock that was set by no more than its tolerance for one that was not, and a
 * hold may end so much early or late: it is set by more, or not. */
static void set_clock(struct sim *sim)
{
    struct edge *edge = &sim->edge;
    edge->clock_ms = rng_between(&edge->rng, -CLOCK_OFF_MAX_MS, CLOCK_OFF_MAX_MS);
    int64_t moved_ms = edge->booted_ms + edge->clock_ms - sim->disk.facts.clock_ms;
    if (sim->disk.has_facts && llabs(moved_ms) <= CLOCK_TOLERANCE_MS)
        edge->clock_ms -= moved_ms;
}

/* Which boot it is, and when by the clock that was: times on disk of the same can be compared. */
static void tell_clock(struct sim *sim)
{
    struct edge *edge = &sim->edge;
    char boot[32];
    boot_of(sim, boot);
    core_set_clock(edge->core, boot, edge->booted_ms + edge->clock_ms);
    edge->rested = !edge_clock_saved(sim);
}

static void edge_begin(struct sim *sim, void *what, uint64_t mark)
{
    struct edge *edge = &sim->edge;
    (void)what, (void)mark;
    struct core_config config = planted_config(sim);
    edge->process++;
    sim->rm.jobpoll_wanted = sim->rm.jobpoll_stale = 0;
    if (fault_happens(&sim->faults, FAULT_CLOCK_SET, &edge->rng))
        set_clock(sim);
    if (edge->boot == 0 || rng_chance(&edge->rng, 100)) {
        edge->boot++;
        edge->booted_ms = sim->now_ms;
    }
    sim_trace(sim, "broker: starts, its clock is %lld s off", (long long)edge->clock_ms / 1000);
    edge->core = core_create(&config);
    if (!edge->core || disk_load(&sim->disk, load_one, sim) < 0) {
        sim_fail(sim, "I2", "the broker cannot start");
        return;
    }
    struct error err = {0};
    if (core_check_load(edge->core, &err) < 0) {
        sim_fail(sim, "I2", "what was saved cannot be loaded: %s", err.text);
        return;
    }
    edge->armed_ms = INT64_MIN;
    tell_clock(sim);
    asks_step_begins(sim, NULL);
    speed_started(sim);
    core_start(edge->core, core_time(sim));
    model_restarted(sim);
    settle_step(sim);
}

void edge_start(struct sim *sim)
{
    edge_begin(sim, NULL, 0);
}

void edge_configure(struct sim *sim)
{
    if (!sim->edge.core)
        return;
    struct core_config config = planted_config(sim);
    step(sim, &(struct core_event){.kind = CORE_CONFIGURE, .u.config = &config});
    if (sim->edge.core)
        speed_configured(sim);
}

void edge_storm(struct sim *sim)
{
    struct rng *rng = &sim->edge.rng;
    for (uint32_t i = 0; i < sim->profile.crashes; i++)
        sim_later(sim, rng_between(rng, 0, sim->profile.storm_ms), light_fuse, NULL,
                  rng_below(rng, 16));
}

void edge_calm(struct sim *sim)
{
    sim->edge.fuse = 0;
    sim->journal.die_in_commit = false;
}

/* ---- what comes in ---- */

/* Answered when the fabric manager has. */
static bool awaits_outcome(const struct request *request)
{
    return request->kind == REQUEST_RESERVE || request->kind == REQUEST_LAUNCH;
}

static int64_t due_of(const struct sim *sim, const struct request *request)
{
    const bool relayed = request->kind == REQUEST_JOIN || request->kind == REQUEST_LEAVE;
    int64_t wait_ms = awaits_outcome(request)         ? profile_longest_wait(&sim->config)
                      : request->kind == REQUEST_SYNC ? SYNC_TAKES_MAX_MS
                      : relayed                       ? JOIN_TAKES_MAX_MS
                                                      : request->cleanup.wait_ms;
    return wait_ms > 0 ? sim->now_ms + wait_ms + TIMER_LATE_MAX_MS : 0;
}

/* What its tasks need is there at once, whatever the fabric manager says. */
static bool is_relayed(const struct sim *sim, const struct request *request)
{
    const struct job *job = request->job;
    const struct reservation *r =
        job && sim->edge.core ? core_find(sim->edge.core, rm_cluster_name(sim, job), job->id)
                              : NULL;
    return r && r->state == JOB_ACTIVE && reservation_relayed(r) && r->wish != WISH_REQUIRED;
}

bool edge_receive(struct sim *sim, struct request *request)
{
    struct edge *edge = &sim->edge;
    if (!edge->core)
        return false;
    struct core_status before;
    core_status(edge->core, &before);
    GROW(edge->open, edge->open_count, edge->open_room);
    edge->open[edge->open_count++] = request;
    request->asked_ms = sim->now_ms;
    request->due_ms = due_of(sim, request);
    if (awaits_outcome(request))
        speed_asked(sim, request, &before);
    request->trees = sim->fabric.last_tree;
    struct core_event event;
    rm_event(sim, request, &event);
    if (request->kind == REQUEST_SYNC) {
        answers_sync_begins(sim, request);
        pieces_send(sim, &event);
        return true;
    }
    if (request->kind == REQUEST_CLAIM)
        admin_heard(sim, request);
    if (request->kind == REQUEST_RESERVE && request->job)
        request->job->named = false; /* it asks for another one: what it had is over */
    step_of(sim, &event, request);
    if (request->kind == REQUEST_RESERVE && !request->answered && is_relayed(sim, request))
        sim_fail(sim, "F18", "the answer to a reserve of %s waits, and it is relayed",
                 rm_job_name(request->job));
    bool nobody_to_ask = before.link == LINK_DOWN || !sim->config.fm_present;
    if (awaits_outcome(request) && nobody_to_ask && !request->answered)
        sim_fail(sim, "F20", "the answer to a %s of %s waits, and the link is down",
                 rm_request_word(request), rm_job_name(request->job));
    return true;
}

void edge_show(struct sim *sim, struct request *request, const struct reservation *r)
{
    struct edge *edge = &sim->edge;
    step(sim, &(struct core_event){.kind = CORE_ALIVE, .u.alive = r->number});
    r = edge->core ? core_find(edge->core, rm_cluster_name(sim, request->job), request->job->id)
                   : NULL;
    if (!r || r->state != JOB_ACTIVE || r->origin != ORIGIN_PLUGIN)
        return; /* the broker has died, or the step has ended it */
    const struct effect effect = {
        .kind = EFFECT_ANSWER,
        .u.answer = {.ticket = request->ticket, .kind = ANSWER_SAME, .reservation = r}};
    GROW(edge->words, edge->word_count, edge->word_room);
    struct word *word = &edge->words[edge->word_count++];
    request->asked_ms = sim->now_ms;
    request->answered = true;
    word_copy(word, edge->core, &effect, journal_newest(&sim->journal));
    answers_given(sim, request, &word->u.told, word->batch);
    edge_speak(sim);
}

void edge_login_done(struct sim *sim, bool ok)
{
    struct core_event event = {.kind = CORE_LOGIN_DONE};
    event.u.login.ok = ok;
    event.u.login.words = ok ? NULL : "401 Unauthorized";
    sim_trace(sim, "fm: login %s", ok ? "ok" : "fails");
    step(sim, &event);
}

static void remember_listed(struct sim *sim, const char *const *names, size_t count)
{
    struct edge *edge = &sim->edge;
    for (size_t i = 0; i < count && sim->profile.plant == PLANT_PARTIAL_LIST; i++) {
        GROW(edge->listed, edge->listed_count, edge->listed_room);
        edge->listed[edge->listed_count++] = memory_text(names[i]);
    }
}

static bool was_listed(const struct edge *edge, const char *name)
{
    for (size_t i = 0; i < edge->listed_count; i++)
        if (strcmp(edge->listed[i], name) == 0)
            return true;
    return false;
}

static void trace_names(struct sim *sim, const char *const *names, size_t count)
{
    char text[400] = "";
    size_t length = 0;
    for (size_t i = 0; i < count && sim->trace && length < sizeof text; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, " %s", names[i]);
    sim_trace(sim, "fm: lists%s", text);
}

void edge_list_names(struct sim *sim, uint64_t list, const char *const *names, size_t count)
{
    struct core_event event = {.kind = CORE_LIST_NAMES};
    event.u.names.list = list;
    event.u.names.names = names;
    event.u.names.count = count;
    trace_names(sim, names, count);
    remember_listed(sim, names, count);
    step(sim, &event);
}

void edge_list_done(struct sim *sim, uint64_t list, int outcome)
{
    struct core_event event = {.kind = CORE_LIST_DONE};
    if (sim->profile.plant == PLANT_PARTIAL_LIST)
        outcome = FM_OK;
    event.u.list_done.list = list;
    event.u.list_done.outcome = (enum fmcall_outcome)outcome;
    event.u.list_done.words = outcome == FM_OK ? NULL : "planned trouble";
    sim_trace(sim, "fm: list ends: %s", fmcall_outcome_word(event.u.list_done.outcome));
    step(sim, &event);
}

/* What the fabric manager says of a job's steps, as the core is given it. */
struct shown_steps {
    uint16_t trees[STEPS][STEP_TREES];
    struct fmcall_step each[STEPS];
    struct fmcall_steps steps;
};

static void show_steps(const struct wire_call *call, struct shown_steps *shown)
{
    shown->steps = (struct fmcall_steps){.steps = shown->each};
    for (int step = 0; step < STEPS; step++) {
        struct fmcall_step *each = &shown->each[shown->steps.count];
        *each = (struct fmcall_step){.step = steps_name(step), .trees = shown->trees[step]};
        for (int i = 0; i < STEP_TREES; i++)
            if (call->trees[step][i] != 0)
                shown->trees[step][each->tree_count++] = call->trees[step][i];
        shown->steps.count += each->tree_count > 0;
    }
}

void edge_call_done(struct sim *sim, const struct wire_call *call, int outcome)
{
    struct edge *edge = &sim->edge;
    struct core_event event = {.kind = CORE_CALL_DONE};
    if (sim->profile.plant == PLANT_PARTIAL_LIST && call->kind == FMCALL_CHECK &&
        outcome == FM_OK && !was_listed(edge, call->name))
        outcome = FM_GONE;
    if (sim->profile.plant == PLANT_GATEWAY_IS_FM && outcome == FM_NOT_ROUTED)
        outcome = call->kind == FMCALL_RESERVE ? FM_DENIED : FM_GONE;
    for (size_t i = 0; i < edge->call_count; i++) {
        if (edge->calls[i].id != call->id)
            continue;
        if (call->kind == FMCALL_RESERVE)
            speed_ended(sim, outcome == FM_OK, sim->now_ms - edge->calls[i].begun_ms);
        edge->calls[i] = edge->calls[--edge->call_count];
    }
    event.u.call.id = call->id;
    event.u.call.outcome = (enum fmcall_outcome)outcome;
    event.u.call.token = secret_of(outcome == FM_OK && call->token[0] != '\0' ? call->token : NULL);
    event.u.call.words = outcome == FM_OK ? NULL : fmcall_outcome_word(event.u.call.outcome);
    struct shown_steps shown;
    show_steps(call, &shown);
    struct fmcall_tree tree = {(uint16_t)call->tree, joins_root(call)};
    event.u.call.tree = outcome == FM_OK && call->kind == FMCALL_JOIN ? &tree : NULL;
    joins_done(sim, call, event.u.call.outcome);
    event.u.call.steps = outcome == FM_OK && call->kind == FMCALL_STEPS ? &shown.steps : NULL;
    sim->result.outcomes[outcome]++;
    sim_trace(sim, "fm: %s %s: %s", fmcall_kind_word(call->kind), call->name,
              fmcall_outcome_word(event.u.call.outcome));
    step(sim, &event);
}

bool edge_gave_up(const struct edge *edge, const char *name)
{
    char cluster[CLUSTER_NAME_MAX + 1];
    const char *job;
    if (!edge->core || !fm_name_split(name, cluster, &job))
        return true;
    const struct reservation *r = core_find(edge->core, cluster, job);
    return !r || r->hwcoll != HWCOLL_WANTED;
}

bool edge_forgot(const struct edge *edge, const char *name)
{
    char cluster[CLUSTER_NAME_MAX + 1];
    const char *job;
    return edge->core && fm_name_split(name, cluster, &job) && !core_find(edge->core, cluster, job);
}

void edge_jobpoll_done(struct sim *sim, const struct core_event *event)
{
    struct core_event fails = *event;
    sim_trace(sim, "rm: job list poll: %s, %zu active", event->u.jobpoll.ok ? "whole" : "fails",
              event->u.jobpoll.count);
    if (event->u.jobpoll.ok)
        pieces_send(sim, event);
    else
        step(sim, &fails);
}

void edge_piece(struct sim *sim, struct core_event *event)
{
    step(sim, event);
}
