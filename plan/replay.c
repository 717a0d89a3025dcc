/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/replay.h"
#include "base/memory.h"
#include "core/core.h"
#include "core/reservation/reservation.h"
#include "core/reservation/sizing.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(UID_UNKNOWN == UINT32_MAX, "as struct joblog_job has it");

static const char cluster[] = "plan";

/* The core takes a time of 0 for none, and a log may begin there. */
enum { JOB_NAME_SIZE = 16, TOKEN_SIZE = 32, CLOCK_MS = 1000000 };

/* What the fabric manager was asked for, and when it is done. All take the same time, so they end
 * in the order in which they began. */
struct pending {
    int64_t due_ms;
    enum effect_kind kind; /* CALL, LOGIN, LIST */
    uint64_t id;
};

struct run {
    struct core *core;
    const struct joblog *log;
    const struct plan_machine *machine;
    struct plan_outcome *out;
    struct pending *pending;
    size_t first, count, capacity;
    int64_t now_ms;
    size_t point; /* of the curve */
};

/* What the site does not decide here is as broker/config/keys.inc has it. */
static void configure(struct core_config *config, const struct plan_machine *machine,
                      const struct plan_setting *setting)
{
    *config = (struct core_config){
        .vni_pool = machine->pool,
        .vni_per_job = machine->vnis_per_job,
        .vni_single_node = true,
        .vni_required = true,
        .vni_hold_ms = setting->hold_ms,
        .classes_default = TC_BEST_EFFORT | TC_LOW_LATENCY,
        .classes_allowed = TC_BEST_EFFORT | TC_LOW_LATENCY,
        .min_nodes = setting->min_nodes,
        .addresses_per_job = setting->addresses,
        .total_addresses = machine->total_addresses,
        .system_nodes = machine->system_nodes,
        .sharing = machine->sharing,
        .fm_present = true,
        .reserve_timeout_ms = RESERVE_TIMEOUT_AUTO,
        .relay_timeout_ms = 60 * 1000,
        .call_timeout_ms = 10 * 1000,
        .calls_at_once = 16,
        .stray_grace_ms = 30 * 1000,
        .mass_loss_percent = 10,
        .mass_loss_min = 3,
        .link_retry_ms = 1000,
        .cleanup_timeout_ms = 600 * 1000,
        .sync_lot = 4000,
        .tombstone_ms = 1000,
        .events_keep = 1,
        .fm_urls = {"http://plan"},
        .fm_url_count = 1,
        .cluster_count = 1,
    };
    strcpy(config->vni_partition, "default");
    strcpy(config->clusters[0].name, cluster);
}

/* ---- one step ---- */

static void hear_answer(struct run *run, const struct answer *answer)
{
    uint8_t *fate = &run->out->fate[answer->ticket - 1];
    const enum hwcoll_state state =
        answer->reservation ? (enum hwcoll_state)answer->reservation->hwcoll : HWCOLL_OFF;
    *fate = answer->kind == ANSWER_NO_VNIS   ? PLAN_REFUSED
            : answer->kind != ANSWER_CREATED ? PLAN_LATE
            : state == HWCOLL_RESERVED       ? PLAN_SERVED
            : state == HWCOLL_DENIED         ? PLAN_DENIED
            : state == HWCOLL_INELIGIBLE     ? PLAN_INELIGIBLE
                                             : PLAN_LATE;
}

static void push(struct run *run, enum effect_kind kind, uint64_t id, int64_t took_ms)
{
    if (run->first > run->count / 2) {
        memmove(run->pending, run->pending + run->first,
                (run->count - run->first) * sizeof *run->pending);
        run->count -= run->first;
        run->first = 0;
    }
    run->pending = memory_room(run->pending, run->count, &run->capacity, sizeof *run->pending);
    run->pending[run->count++] = (struct pending){run->now_ms + took_ms, kind, id};
}

static void read_effects(struct run *run)
{
    size_t count;
    const struct effect *effects = core_effects(run->core, &count);
    for (size_t i = 0; i < count; i++) {
        const struct effect *effect = &effects[i];
        if (effect->kind == EFFECT_ANSWER && effect->u.answer.ticket != 0)
            hear_answer(run, &effect->u.answer);
        else if (effect->kind == EFFECT_CALL)
            push(run, EFFECT_CALL, effect->u.call.id, run->machine->call_ms);
        else if (effect->kind == EFFECT_LOGIN)
            push(run, EFFECT_LOGIN, 0, 0);
        else if (effect->kind == EFFECT_LIST)
            push(run, EFFECT_LIST, effect->u.list.id, 0);
    }
}

static void step(struct run *run, struct core_event event)
{
    event.now_ms = run->now_ms + CLOCK_MS;
    core_step(run->core, &event);
    read_effects(run);
}

static void finish(struct run *run, struct pending done)
{
    char token[TOKEN_SIZE];
    struct core_event event = {.kind = CORE_CALL_DONE};
    (void)snprintf(token, sizeof token, "%llu", (unsigned long long)done.id);
    if (done.kind == EFFECT_LOGIN) {
        event.kind = CORE_LOGIN_DONE;
        event.u.login.ok = true;
    } else if (done.kind == EFFECT_LIST) {
        event.kind = CORE_LIST_DONE;
        event.u.list_done.list = done.id;
        event.u.list_done.outcome = FM_OK;
    } else {
        event.u.call.id = done.id;
        event.u.call.outcome = FM_OK;
        event.u.call.token = secret_of(token);
    }
    step(run, event);
}

/* ---- time ---- */

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void raise_to(struct plan_curve *most, const struct plan_curve *now)
{
    most->addresses = larger(most->addresses, now->addresses);
    most->vnis = larger(most->vnis, now->vnis);
    most->quarantined = larger(most->quarantined, now->quarantined);
}

/* Time moves on: what is in use has been so since run->now_ms. */
static void pass_time(struct run *run, int64_t until_ms)
{
    struct plan_outcome *out = run->out;
    struct core_status status;
    if (until_ms <= run->now_ms)
        return;
    core_status(run->core, &status);
    const struct plan_curve now = {.addresses = (uint32_t)status.use.addresses,
                                   .vnis = status.vnis_live,
                                   .quarantined = status.vnis_in_quarantine};
    const int64_t whole = out->end_ms - out->begin_ms + 1;
    raise_to(&out->most, &now);
    out->addresses_mean += (double)now.addresses * (double)(until_ms - run->now_ms) / (double)whole;
    out->vnis_mean += (double)now.vnis * (double)(until_ms - run->now_ms) / (double)whole;
    run->now_ms = until_ms;
    const size_t last =
        (size_t)((double)(until_ms - 1 - out->begin_ms) / (double)whole * PLAN_CURVE_POINTS);
    assert(last < PLAN_CURVE_POINTS);
    for (size_t i = run->point; i <= last; i++)
        raise_to(&out->curve[i], &now);
    run->point = last;
}

/* All that is due by then, in its order. */
static void run_until(struct run *run, int64_t until_ms)
{
    for (;;) {
        const int64_t tick = core_next_deadline(run->core) - CLOCK_MS;
        const int64_t call = run->first < run->count ? run->pending[run->first].due_ms : INT64_MAX;
        if (tick > until_ms && call > until_ms)
            break;
        pass_time(run, call <= tick ? call : tick);
        if (call <= tick)
            finish(run, run->pending[run->first++]);
        else
            step(run, (struct core_event){.kind = CORE_TICK});
    }
    pass_time(run, until_ms);
}

/* ---- the log ---- */

static void begin_job(struct run *run, uint32_t index)
{
    const struct joblog_job *job = &run->log->jobs[index];
    char name[JOB_NAME_SIZE];
    (void)snprintf(name, sizeof name, "%u", index);
    step(run, (struct core_event){.kind = CORE_RESERVE,
                                  .ticket = (uint64_t)index + 1,
                                  .u.reserve = {.cluster = cluster,
                                                .job = name,
                                                .node_count = job->nodes,
                                                .uid = job->uid,
                                                .interconnect = -1,
                                                .vni_count = -1}});
    const struct reservation *r = core_find(run->core, cluster, name);
    run->out->waited += r && r->hwcoll == HWCOLL_WANTED && r->fm_side == FM_SIDE_NOTHING;
}

static void end_job(struct run *run, uint32_t index)
{
    char name[JOB_NAME_SIZE];
    (void)snprintf(name, sizeof name, "%u", index);
    if (run->out->fate[index] != PLAN_REFUSED)
        step(run, (struct core_event){.kind = CORE_RELEASE,
                                      .u.release = {.cluster = cluster, .job = name}});
}

static void count_fates(struct plan_outcome *out, const struct joblog *log)
{
    for (size_t i = 0; i < log->job_count; i++) {
        const struct joblog_job *job = &log->jobs[i];
        const double used = (double)job->nodes * (double)(job->end_ms - job->start_ms);
        out->fates[out->fate[i]]++;
        out->node_ms += used;
        out->served_node_ms += out->fate[i] == PLAN_SERVED ? used : 0;
    }
}

static void play(struct run *run)
{
    const struct joblog *log = run->log;
    core_start(run->core, run->now_ms + CLOCK_MS);
    read_effects(run);
    for (size_t i = 0; i < log->event_count; i++) {
        const struct joblog_event *event = &log->events[i];
        run_until(run, event->time_ms);
        if (event->ends)
            end_job(run, event->job);
        else
            begin_job(run, event->job);
    }
    run_until(run, run->out->end_ms);
    run->now_ms = run->out->end_ms; /* what is asked for at the very end is heard, too */
    while (run->first < run->count)
        finish(run, run->pending[run->first++]);
}

void plan_replay(const struct joblog *log, const struct plan_machine *machine,
                 const struct plan_setting *setting, struct plan_outcome *out)
{
    struct core_config *config = memory_zeroed(sizeof *config);
    *out = (struct plan_outcome){.setting = *setting, .jobs = log->job_count};
    configure(config, machine, setting);
    if (core_config_check(config, &out->error) == 0 &&
        sizing_addresses(config, &out->addresses, &out->error) == 0 && log->event_count > 0) {
        out->begin_ms = log->events[0].time_ms;
        out->end_ms = log->events[log->event_count - 1].time_ms;
        out->fate = memory_zeroed(log->job_count);
        out->curve = memory_zeroed(PLAN_CURVE_POINTS * sizeof *out->curve);
        struct run run = {.core = core_create(config),
                          .log = log,
                          .machine = machine,
                          .out = out,
                          .now_ms = out->begin_ms};
        play(&run);
        count_fates(out, log);
        core_destroy(run.core);
        free(run.pending);
    }
    free(config);
}

void plan_outcome_release(struct plan_outcome *outcome)
{
    free(outcome->curve);
    free(outcome->fate);
    *outcome = (struct plan_outcome){0};
}

size_t plan_eligible(const struct plan_outcome *outcome)
{
    return outcome->fates[PLAN_SERVED] + plan_unserved(outcome);
}

size_t plan_unserved(const struct plan_outcome *outcome)
{
    return outcome->fates[PLAN_DENIED] + outcome->fates[PLAN_LATE];
}
