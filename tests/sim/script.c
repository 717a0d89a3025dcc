/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/script.h"
#include "tests/coreconfig.h"

#include "core/reservation/reservation.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void script_init(struct script *s)
{
    struct error err;
    memset(s, 0, sizeof *s);
    disk_init(&s->disk);
    coreconfig_init(&s->config);
    if (idset_parse(&s->config.vni_pool, "1024-1031", &err) < 0)
        abort();
    s->config.vni_hold_ms = 10000;
    s->config.fm_present = true;
    s->config.min_nodes = 64;
    s->config.total_addresses = 4086;
    s->config.system_nodes = 11136;
    s->config.relist_ms = 60000;
    s->config.stray_grace_ms = 30000;
    s->config.sync_grace_ms = 30000;
    s->config.cluster_count = 2;
    strcpy(s->config.clusters[0].name, "elcap");
    strcpy(s->config.clusters[1].name, "elcap2");
    strcpy(s->config.fm_urls[0], "https://fmn:8000");
    s->config.fm_url_count = 1;
    s->now_ms = 1700000000000;
    s->token = "session-token";
}

void script_release(struct script *s)
{
    core_destroy(s->core);
    disk_release(&s->disk);
    memset(s, 0, sizeof *s);
}

__attribute__((format(printf, 2, 3))) static void note(struct script *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(s->text + s->length, SCRIPT_TEXT_MAX - s->length, format, args);
    va_end(args);
    s->length += (size_t)length;
    if (s->length >= SCRIPT_TEXT_MAX)
        abort();
}

static void note_record(struct script *s, const struct record *record)
{
    static const char *const sides[] = {"nothing", "maybe", "held"};
    const struct reservation_record *r = &record->u.reservation;
    if (record->kind == RECORD_RESERVATION)
        note(s, "save %llu %s %s %s\n", (unsigned long long)r->number, job_state_word(r->state),
             hwcoll_state_word(r->hwcoll), sides[r->fm_side]);
    else if (record->kind == RECORD_GONE)
        note(s, "save %llu gone\n", (unsigned long long)record->u.gone);
}

static void note_answer(struct script *s, const struct answer *answer)
{
    const struct reservation *r = answer->reservation;
    note(s, "answer %s", answer_word(answer->kind));
    if (r) {
        note(s, " %llu %s [", (unsigned long long)r->number, hwcoll_state_word(r->hwcoll));
        for (int i = 0; i < r->vni_count; i++)
            note(s, "%s%u", i ? "," : "", r->vnis[i]);
        note(s, "]");
    }
    note(s, "\n");
}

static void note_call(struct script *s, const struct effect *effect)
{
    if (s->call_count == SCRIPT_CALLS_MAX)
        abort();
    s->calls[s->call_count].id = effect->u.call.id;
    snprintf(s->calls[s->call_count].text, sizeof s->calls[0].text, "%s %s",
             fmcall_kind_word(effect->u.call.kind), effect->u.call.about.name);
    note(s, "call %s %u\n", s->calls[s->call_count++].text, effect->u.call.about.addresses);
}

static void note_word(struct script *s, const struct effect *effect)
{
    switch (effect->kind) {
    case EFFECT_SAVE:
        note_record(s, &effect->u.record);
        break;
    case EFFECT_ANSWER:
        note_answer(s, &effect->u.answer);
        break;
    case EFFECT_CALL:
        note_call(s, effect);
        break;
    case EFFECT_LOGIN:
        note(s, "login\n");
        break;
    case EFFECT_LIST:
        s->list = effect->u.list.id;
        note(s, "list\n");
        break;
    case EFFECT_JOBPOLL:
        note(s, "jobpoll %s\n", effect->u.jobpoll.cluster);
        break;
    case EFFECT_EVENT:
        note(s, "event %s %llu\n", event_kind_word(effect->u.event->kind),
             (unsigned long long)effect->u.event->number);
        break;
    case EFFECT_TRACE:
        note(s, "trace: %s\n", effect->u.trace.text);
        break;
    }
}

/* Everything is durable at once: these stories are not about the disk. */
static void carry_out(struct script *s)
{
    struct batch batch;
    size_t count;
    const struct effect *effects = core_effects(s->core, &count);
    batch_init(&batch, ++s->commits);
    for (size_t i = 0; i < count; i++) {
        note_word(s, &effects[i]);
        if (effects[i].kind == EFFECT_SAVE)
            batch_add(&batch, &effects[i].u.record);
    }
    const char *wrong = disk_apply(&s->disk, &batch, batch.count);
    batch_release(&batch);
    if (wrong)
        note(s, "WRONG: %s\n", wrong);
    assert(!wrong);
}

static void step(struct script *s, struct core_event *event)
{
    s->length = 0;
    s->text[0] = 0;
    event->now_ms = s->now_ms;
    core_step(s->core, event);
    carry_out(s);
}

static int load_one(void *arg, const struct record *record)
{
    struct error err;
    return core_load(arg, record, &err);
}

void script_boot(struct script *s)
{
    s->core = core_create(&s->config);
    if (!s->core || disk_load(&s->disk, load_one, s->core) < 0 ||
        core_check_load(s->core, &(struct error){0}) < 0)
        abort();
    s->length = 0;
    s->text[0] = 0;
    core_start(s->core, s->now_ms);
    carry_out(s);
}

void script_crash(struct script *s)
{
    core_destroy(s->core);
    s->core = NULL;
    s->call_count = 0;
}

void script_reserve(struct script *s, const char *job, uint32_t nodes)
{
    struct core_event event = {.kind = CORE_RESERVE};
    event.ticket = ++s->ticket;
    event.u.reserve = (struct reserve_request){
        .cluster = "elcap", .job = job, .node_count = nodes, .uid = 5588, .vni_count = -1};
    step(s, &event);
}

void script_release_job(struct script *s, const char *job)
{
    struct core_event event = {.kind = CORE_RELEASE};
    event.ticket = ++s->ticket;
    event.u.release.cluster = "elcap";
    event.u.release.job = job;
    step(s, &event);
}

void script_sync(struct script *s, const char *job)
{
    struct core_event event = {.kind = CORE_SYNC};
    event.ticket = ++s->ticket;
    event.u.sync.cluster = "elcap";
    event.u.sync.active = &job;
    event.u.sync.count = job ? 1 : 0;
    step(s, &event);
}

void script_wait(struct script *s, int64_t ms)
{
    int64_t until = s->now_ms + ms;
    s->length = 0;
    s->text[0] = 0;
    for (int64_t due; (due = core_next_deadline(s->core)) <= until;) {
        s->now_ms = due > s->now_ms ? due : s->now_ms;
        core_step(s->core, &(struct core_event){.kind = CORE_TICK, .now_ms = s->now_ms});
        carry_out(s);
    }
    s->now_ms = until;
}

static void log_in(struct script *s, bool ok)
{
    struct core_event event = {.kind = CORE_LOGIN_DONE};
    event.u.login.ok = ok;
    event.u.login.words = ok ? NULL : "401 Unauthorized";
    step(s, &event);
}

void script_list(struct script *s, const char *const *names, enum fmcall_outcome outcome)
{
    struct core_event event = {.kind = CORE_LIST_NAMES};
    event.u.names.list = s->list;
    event.u.names.names = names;
    while (names && names[event.u.names.count])
        event.u.names.count++;
    if (event.u.names.count > 0)
        step(s, &event);
    event = (struct core_event){.kind = CORE_LIST_DONE};
    event.u.list_done.list = s->list;
    event.u.list_done.outcome = outcome;
    event.u.list_done.words = outcome == FM_OK ? NULL : "cut short";
    step(s, &event);
}

void script_come_up(struct script *s, const char *const *names)
{
    log_in(s, true);
    script_list(s, names, FM_OK);
}

static size_t place_of(const struct script *s, const char *call)
{
    size_t at = 0;
    while (at < s->call_count && strcmp(s->calls[at].text, call) != 0)
        at++;
    return at;
}

bool script_calling(const struct script *s, const char *call)
{
    return place_of(s, call) < s->call_count;
}

void script_done(struct script *s, const char *call, enum fmcall_outcome outcome)
{
    size_t at = place_of(s, call);
    if (at == s->call_count) {
        fprintf(stderr, "\"%s\" is not under way\n", call);
        abort();
    }
    struct core_event event = {.kind = CORE_CALL_DONE};
    event.u.call.id = s->calls[at].id;
    event.u.call.outcome = outcome;
    event.u.call.token = secret_of(outcome == FM_OK ? s->token : NULL);
    event.u.call.words = outcome == FM_OK ? NULL : "the fabric manager's words";
    s->calls[at] = s->calls[--s->call_count];
    step(s, &event);
}

void script_configure(struct script *s, const char *pool)
{
    struct error err;
    if (idset_parse(&s->config.vni_pool, pool, &err) < 0)
        abort();
    struct core_event event = {.kind = CORE_CONFIGURE};
    event.u.config = &s->config;
    step(s, &event);
}

bool script_said(const struct script *s, const char *text)
{
    return strstr(s->text, text);
}
