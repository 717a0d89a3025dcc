/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/leadership.h"

#include "base/memory.h"
#include "broker/clock.h"
#include "broker/log/log.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* A member that has just gone costs one question; after so many the cluster counts as away. */
enum { UNREACHABLE_QUESTIONS = 3, REMEMBER_EVERY_MS = 1000 };

struct leadership {
    struct leader leader;
    struct etcd *etcd;
    char *url; /* its own */
    struct leadership_hooks hooks;
    struct store *store; /* that it extends the lease of; or NULL */
    uv_timer_t timer;
    uv_poll_t poll;
    bool won, ended; /* each is told once */
    bool gives_up;   /* while it resigns: a question without an answer ends that */
    uv_work_t remembering;
    bool writing;            /* remembering is under way */
    int64_t written_ms;      /* when it last was */
    struct error forgotten;  /* why it failed */
    bool told;               /* that it failed */
    unsigned unanswered_row; /* questions */
    int64_t unanswered_ms;   /* since when; while unanswered_row > 0 */
    int64_t extended_ms;     /* when the question was sent that extended the lease last; 0: never */
    unsigned handles;
    struct leadership_facts facts;
};

static int64_t now_ms(void)
{
    return clock_read_ns(CLOCK_BOOTTIME) / 1000000;
}

/* ---- what becomes of it ---- */

static void tell_end(struct leadership *leadership, const char *words)
{
    const struct leadership_hooks *hooks = &leadership->hooks;
    if (leadership->ended)
        return;
    leadership->ended = true;
    (void)uv_timer_stop(&leadership->timer);
    if (leadership->leader.resigning)
        hooks->resigned(hooks->arg);
    else if (leadership->leader.refused)
        hooks->refused(hooks->arg, words);
    else
        hooks->lost(hooks->arg, words);
}

static void tell_phase(struct leadership *leadership, const char *words)
{
    if (leadership->leader.phase == LEADER_ENDED)
        tell_end(leadership, words);
    if (leadership->leader.phase != LEADER_LEADING || leadership->won)
        return;
    leadership->won = true;
    log_line(LOG_NOTICE, "this broker leads lease=%016" PRIx64 " revision=%" PRIu64,
             leadership->leader.lease, leadership->leader.revision);
    leadership->hooks.won(leadership->hooks.arg);
}

static const char *lapsed_words(const struct leadership *leadership)
{
    return leadership->unanswered_row > 0 ? leadership->facts.error
                                          : "the lease ran out before it could be extended";
}

bool leadership_holds(struct leadership *leadership)
{
    if (!leadership || !leadership->won)
        return true;
    const bool holds = leader_check(&leadership->leader, now_ms());
    if (!holds)
        tell_phase(leadership, lapsed_words(leadership));
    return holds;
}

void leadership_deposed(struct leadership *leadership, const char *words)
{
    if (!leadership)
        return;
    leader_deposed(&leadership->leader);
    tell_phase(leadership, words);
}

/* ---- questions and answers ---- */

static void ask_next(struct leadership *leadership);

static void on_timer(uv_timer_t *timer)
{
    ask_next(timer->data);
}

static void set_timer(struct leadership *leadership)
{
    const int64_t wake_ms = leader_wake(&leadership->leader), now = now_ms();
    uv_update_time(leadership->timer.loop);
    if (wake_ms == INT64_MAX)
        (void)uv_timer_stop(&leadership->timer);
    else
        (void)uv_timer_start(&leadership->timer, on_timer,
                             wake_ms > now ? (uint64_t)(wake_ms - now) : 0, 0);
}

/* Of 63 bits, as etcd's leases are. */
static uint64_t draw(void)
{
    uint64_t random = 0;
    while (random == 0) {
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
            random = 0;
        random &= INT64_MAX;
    }
    return random;
}

static void ask_next(struct leadership *leadership)
{
    const struct leader_ask ask = leader_next(&leadership->leader, now_ms(), draw());
    if (ask.question != LEADER_NOTHING)
        etcd_ask(leadership->etcd, &ask, leader_try_ms(&leadership->leader));
    tell_phase(leadership, lapsed_words(leadership));
    if (!leadership->ended)
        set_timer(leadership);
}

static void note_unanswered(struct leadership *leadership, const struct etcd_answer *answer)
{
    struct leadership_facts *facts = &leadership->facts;
    facts->unanswered++;
    if (++leadership->unanswered_row == 1)
        leadership->unanswered_ms = answer->answer.sent_ms;
    if (leadership->unanswered_row == UNREACHABLE_QUESTIONS)
        log_line(LOG_WARNING, "etcd does not answer, trying on member=%s: %s", answer->member,
                 answer->error.text);
    memcpy(facts->error, answer->error.text, sizeof facts->error);
}

static void note_answered(struct leadership *leadership, const struct etcd_answer *answer)
{
    struct leadership_facts *facts = &leadership->facts;
    facts->answered++;
    facts->took_us = answer->took_us;
    histogram_add(&facts->times, answer->took_us);
    if (leadership->unanswered_row >= UNREACHABLE_QUESTIONS)
        log_line(LOG_NOTICE, "etcd answers again, after %" PRId64 " ms member=%s",
                 now_ms() - leadership->unanswered_ms, answer->member);
    leadership->unanswered_row = 0;
    facts->error[0] = '\0';
}

static void note_leader(struct leadership *leadership, const struct etcd_answer *answer)
{
    struct leadership_facts *facts = &leadership->facts;
    const bool own = answer->answer.holder == leadership->leader.lease;
    const char *url = own ? leadership->url : answer->holder_url;
    if (strcmp(facts->leader, url) == 0 && facts->leaders > 0)
        return;
    facts->leaders++;
    (void)snprintf(facts->leader, sizeof facts->leader, "%s", url);
    if (!own && facts->leader[0] != '\0')
        log_line(LOG_NOTICE, "standby: %s leads", facts->leader);
    else if (!own)
        log_line(LOG_NOTICE, "standby: no broker leads");
}

/* Those that were there may have failed since, for as long as their leases last. */
static void note_standbys(struct leadership *leadership, const struct etcd_standbys *standbys)
{
    struct leadership_facts *facts = &leadership->facts;
    const struct etcd_standbys *before = &facts->standbys;
    if (!facts->looked || standbys->count != before->count ||
        standbys->malformed != before->malformed)
        log_line(standbys->count > 0 ? LOG_NOTICE : LOG_WARNING, "%sstandbys=%zu%s%s",
                 standbys->count > 0 ? ""
                                     : "no broker waits to take over: start mcastd on the other "
                                       "hosts, and see their logs ",
                 standbys->count, standbys->count > 0 ? " first=" : "", standbys->all[0].url);
    facts->looked = true;
    facts->standbys = *standbys;
}

static void free_closed(struct leadership *leadership)
{
    if (leadership->handles < 2 || leadership->writing)
        return;
    free(leadership->url);
    free(leadership);
}

/* Which ledger was seen is written beside the loop and the questions: a disk may hang. */
static void write_seen(uv_work_t *work)
{
    struct leadership *leadership = work->data;
    (void)etcd_remember(leadership->etcd, &leadership->forgotten);
}

static void on_written(uv_work_t *work, int status)
{
    struct leadership *leadership = work->data;
    (void)status;
    if (leadership->forgotten.code && !leadership->told)
        log_line(LOG_WARNING, "%s", leadership->forgotten.text);
    leadership->told = leadership->told || leadership->forgotten.code;
    leadership->writing = false;
    leadership->written_ms = now_ms();
    free_closed(leadership);
}

static void remember(struct leadership *leadership)
{
    if (leadership->writing || now_ms() < leadership->written_ms + REMEMBER_EVERY_MS)
        return;
    leadership->remembering.data = leadership;
    leadership->writing = uv_queue_work(leadership->timer.loop, &leadership->remembering,
                                        write_seen, on_written) == 0;
}

static void take_answer(struct leadership *leadership, const struct etcd_answer *answer)
{
    const enum leader_question question = answer->answer.question;
    const enum leader_outcome outcome = answer->answer.outcome;
    struct leader *leader = &leadership->leader;
    memcpy(leadership->facts.member, answer->member, sizeof leadership->facts.member);
    if (outcome == LEADER_UNKNOWN)
        note_unanswered(leadership, answer);
    else
        note_answered(leadership, answer);
    if (question == LEADER_CAMPAIGN && outcome == LEADER_OK)
        note_leader(leadership, answer);
    remember(leadership);
    if (answer->looked)
        note_standbys(leadership, &answer->standbys);
    leader_answered(leader, &answer->answer, now_ms());
    if ((question == LEADER_GRANT || question == LEADER_KEEPALIVE) && outcome == LEADER_OK)
        leadership->extended_ms = answer->answer.sent_ms;
    if (leader->phase == LEADER_LEADING && leadership->store)
        store_etcd_extend(leadership->store, leader->deadline_ms);
    if (leader->resigning && leadership->gives_up && outcome == LEADER_UNKNOWN)
        tell_end(leadership, answer->error.text);
    tell_phase(leadership, outcome == LEADER_GONE ? "the lease has ended" : answer->error.text);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct leadership *leadership = poll->data;
    struct etcd_answer answer;
    (void)events;
    if (status < 0)
        log_line(LOG_ERR, "waiting for etcd's answers failed: %s", uv_strerror(status));
    while (!leadership->ended && etcd_take_answer(leadership->etcd, &answer))
        take_answer(leadership, &answer);
    if (!leadership->ended)
        ask_next(leadership);
}

/* ---- life ---- */

struct leadership *leadership_create(uv_loop_t *loop, struct etcd *etcd, int64_t lease_ms,
                                     const char *url, const struct leadership_hooks *hooks)
{
    struct leadership *leadership = memory_zeroed(sizeof *leadership);
    leadership->etcd = etcd;
    leadership->url = memory_text(url);
    leadership->hooks = *hooks;
    leader_init(&leadership->leader, lease_ms);
    (void)uv_timer_init(loop, &leadership->timer);
    (void)uv_poll_init(loop, &leadership->poll, etcd_fd(etcd)); /* fails of files only */
    leadership->timer.data = leadership->poll.data = leadership;
    (void)uv_poll_start(&leadership->poll, UV_READABLE, on_readable);
    (void)uv_timer_start(&leadership->timer, on_timer, 0, 0);
    return leadership;
}

struct store *leadership_store(struct leadership *leadership, struct error *err)
{
    const struct leader *leader = &leadership->leader;
    assert(leadership->won && !leadership->store);
    leadership->store = store_etcd_open(leadership->etcd, leader->lease, leader->revision,
                                        leader->deadline_ms, err);
    return leadership->store;
}

void leadership_forget_store(struct leadership *leadership)
{
    if (leadership)
        leadership->store = NULL;
}

void leadership_resign(struct leadership *leadership)
{
    if (leadership->ended) {
        leadership->hooks.resigned(leadership->hooks.arg);
        return;
    }
    leadership->gives_up = leadership->leader.phase != LEADER_LEADING;
    leader_resign(&leadership->leader);
    ask_next(leadership);
}

static void on_closed(uv_handle_t *handle)
{
    struct leadership *leadership = handle->data;
    leadership->handles++;
    free_closed(leadership);
}

void leadership_destroy(struct leadership *leadership)
{
    if (!leadership)
        return;
    uv_close((uv_handle_t *)&leadership->timer, on_closed);
    uv_close((uv_handle_t *)&leadership->poll, on_closed);
}

const struct leadership_facts *leadership_facts(struct leadership *leadership)
{
    if (!leadership)
        return NULL;
    struct leadership_facts *facts = &leadership->facts;
    facts->phase = leadership->leader.phase;
    facts->configuration = etcd_configuration(leadership->etcd);
    facts->lease_ms = leadership->leader.ttl_ms;
    facts->lease_age_ms = facts->lease_ms > 0 && leadership->extended_ms > 0
                              ? now_ms() - leadership->extended_ms
                              : -1;
    facts->unreachable_ms =
        leadership->unanswered_row > 0 ? now_ms() - leadership->unanswered_ms : -1;
    return facts;
}
