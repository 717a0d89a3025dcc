/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/brokers.h"

#include "base/memory.h"
#include "tests/sim/sim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    SKEW_MAX = 20,         /* thousandths: a fifth of the margin of a lease */
    AWAY_MAX_MS = 15000,   /* without quorum */
    FULL_MAX_MS = 20000,   /* without space */
    CUT_MAX_MS = 30000,    /* one broker from the cluster, */
    SLOW_MAX_MS = 5000,    /* … and so long before its answers take nearly the time of a try */
    RESTART_MAX_MS = 5000, /* by the service manager */
    TRAVEL_MAX_MS = 40,
    LOAD_MAX_MS = 1500,
    SOCKET_MS = 100,
    PAUSED_WITH_A_CALL = 8, /* in a thousand calls */
};

struct question { /* of a broker to the cluster, on its way */
    struct question *prev, *next;
    struct broker *broker;
    uint64_t life, asked;
    struct leader_ask ask;
    int64_t sent_ms;
    struct leader_answer answer;
    bool heard;
    int references;
};

static const char *const fault_words[BROKER_FAULT_COUNT] = {
#define FAULT_WORD_(name, word) word,
    BROKER_FAULTS(FAULT_WORD_)
#undef FAULT_WORD_
};

const char *broker_fault_word(unsigned fault)
{
    return fault_words[fault];
}

void brokers_count(struct sim *sim, enum broker_fault fault)
{
    sim->result.broker_faults[fault]++;
}

bool brokers_chance(struct sim *sim, uint32_t per_mille)
{
    return rng_chance(&sim->brokers.rng, per_mille) && !sim->faults.calm;
}

int64_t brokers_travel(struct sim *sim)
{
    return rng_between(&sim->brokers.rng, 0, TRAVEL_MAX_MS);
}

static unsigned index_of(const struct sim *sim, const struct broker *broker)
{
    return (unsigned)(broker - sim->brokers.all);
}

struct broker *brokers_leader(struct sim *sim)
{
    return sim->brokers.leads < 0 ? NULL : &sim->brokers.all[sim->brokers.leads];
}

/* CLOCK_BOOTTIME of its host: how far it is since the start of the world, and a bit more or less.
 */
int64_t brokers_clock(const struct sim *sim, const struct broker *broker)
{
    const int64_t since_ms = sim->now_ms - sim->start_ms;
    return 1000 + since_ms + since_ms * broker->skew / 1000;
}

bool brokers_may_act(const struct sim *sim, const struct broker *broker)
{
    return leader_may_act(&broker->leader, brokers_clock(sim, broker));
}

/* ---- a process ---- */

static void think(struct sim *sim, void *what, uint64_t mark);

static void starts(struct sim *sim, void *what, uint64_t life)
{
    struct broker *broker = what;
    if (broker->alive || broker->life != life)
        return;
    broker->life++;
    broker->alive = true;
    broker->loads = false;
    broker->seen_seq = sim->disk.last_seq;
    leader_init(&broker->leader, sim->profile.lease_ms);
    sim_trace(sim, "broker %u: starts as standby", index_of(sim, broker));
    think(sim, broker, ++broker->wake);
}

/* Its core, if it leads, goes on elsewhere or nowhere. */
static struct core *lay_down(struct sim *sim, struct broker *broker)
{
    if (brokers_leader(sim) != broker)
        return NULL;
    sim->brokers.leads = -1;
    broker->boot = sim->edge.boot;
    broker->booted_ms = sim->edge.booted_ms;
    broker->clock_ms = sim->edge.clock_ms;
    return edge_take(sim);
}

static void ends(struct sim *sim, struct broker *broker, int64_t longest_ms)
{
    core_destroy(lay_down(sim, broker));
    core_destroy(broker->ghost);
    broker->ghost = NULL;
    broker->alive = broker->paused = broker->ghost_unsaved = false;
    broker->read_count = 0;
    sim_later(sim, rng_between(&sim->brokers.rng, 20, longest_ms), starts, broker, broker->life);
}

void brokers_died(struct sim *sim)
{
    struct broker *broker = brokers_leader(sim);
    brokers_count(sim, BROKER_DEATHS);
    sim->brokers.leads = -1;
    ends(sim, broker, 60000);
}

/* It has loaded the ledger. */
static void takes_over(struct sim *sim, void *what, uint64_t life)
{
    struct broker *broker = what;
    struct brokers *brokers = &sim->brokers;
    if (!broker->alive || broker->life != life || !brokers_may_act(sim, broker))
        return;
    if (sim->cluster.holder != broker->leader.lease) {
        sim_fail(sim, "I10", "broker %u takes over, and its lease is over", index_of(sim, broker));
        return;
    }
    brokers_count(sim, BROKER_TAKEOVERS);
    sim_trace(sim, "broker %u: leads, by lease %llx", index_of(sim, broker),
              (unsigned long long)broker->leader.lease);
    brokers->leads = (int)index_of(sim, broker);
    brokers->commits = 0;
    sim->edge.boot = broker->boot;
    sim->edge.booted_ms = broker->booted_ms;
    sim->edge.clock_ms = broker->clock_ms;
    edge_start(sim);
}

void brokers_settle(struct sim *sim, struct broker *broker)
{
    const struct leader *leader = &broker->leader;
    if (leader->phase == LEADER_ENDED) {
        sim_trace(sim, "broker %u: does not lead any more", index_of(sim, broker));
        ends(sim, broker, RESTART_MAX_MS);
        return;
    }
    if (leader->phase == LEADER_LEADING && !broker->loads) {
        broker->loads = true;
        sim_later(sim, rng_between(&sim->brokers.rng, 0, LOAD_MAX_MS), takes_over, broker,
                  broker->life);
    }
    const int64_t wake_ms = leader_wake(leader), now_ms = brokers_clock(sim, broker);
    if (!broker->alive || wake_ms == INT64_MAX)
        return;
    const int64_t wait_ms =
        wake_ms > now_ms ? (wake_ms - now_ms) * 1000 / (1000 + broker->skew) : 0;
    sim_later(sim, wait_ms + (wake_ms > now_ms), think, broker, ++broker->wake);
}

void brokers_key_gone(struct sim *sim, uint64_t lease)
{
    struct broker *broker = brokers_leader(sim);
    if (!broker || broker->leader.lease != lease)
        return;
    sim_trace(sim, "broker %u: its lease is over, and it has not noticed", index_of(sim, broker));
    broker->ghost = lay_down(sim, broker);
    brokers_ghost_runs(sim, broker);
}

/* ---- questions ---- */

static void drop_reference(struct sim *sim, struct question *question)
{
    if (--question->references > 0)
        return;
    if (question->prev)
        question->prev->next = question->next;
    else
        sim->brokers.questions = question->next;
    if (question->next)
        question->next->prev = question->prev;
    free(question);
}

static void hears(struct sim *sim, void *what, uint64_t answered)
{
    struct question *question = what;
    struct broker *broker = question->broker;
    const bool waits = broker->alive && broker->life == question->life &&
                       broker->asked == question->asked && !question->heard;
    if (waits && broker->paused) { /* it lies in its socket */
        sim_later(sim, SOCKET_MS, hears, question, answered);
        return;
    }
    if (waits) {
        struct leader_answer answer = question->answer;
        question->heard = true;
        answer.question = question->ask.question;
        answer.outcome = answered ? answer.outcome : LEADER_UNKNOWN;
        answer.sent_ms = question->sent_ms;
        if (sim->profile.plant == PLANT_LEASE_FROM_ANSWER)
            answer.sent_ms = brokers_clock(sim, broker);
        leader_answered(&broker->leader, &answer, brokers_clock(sim, broker));
        brokers_settle(sim, broker);
    }
    drop_reference(sim, question);
}

static bool is_cut(const struct sim *sim, const struct broker *broker, bool way)
{
    return way && sim->now_ms < broker->cut_until_ms;
}

static void is_carried_out(struct sim *sim, void *what, uint64_t copy)
{
    struct question *question = what;
    struct broker *broker = question->broker;
    const uint64_t asker =
        (uint64_t)index_of(sim, broker) << 56 | question->life << 40 | question->asked;
    bool answered = !copy && !is_cut(sim, broker, broker->cut_answers);
    if (sim->cluster.away) { /* it waits there, if it does not get lost */
        if (copy || brokers_chance(sim, 300)) {
            sim_later(sim, AWAY_MAX_MS / 2, is_carried_out, question, 1);
            return;
        }
        drop_reference(sim, question);
        return;
    }
    const struct leader_answer answer = cluster_ask(sim, &question->ask, asker);
    if (answered && brokers_chance(sim, 40)) {
        brokers_count(sim, BROKER_ANSWERS_LOST);
        answered = false;
    }
    if (!answered) {
        drop_reference(sim, question);
        return;
    }
    question->answer = answer;
    int64_t back_ms = brokers_travel(sim);
    if (brokers_chance(sim, 50) || sim->now_ms < broker->slow_until_ms) /* just in time */
        back_ms = rng_between(&sim->brokers.rng, 0, leader_try_ms(&broker->leader));
    sim_later(sim, back_ms, hears, question, 1);
}

static void asks(struct sim *sim, struct broker *broker, const struct leader_ask *ask)
{
    struct brokers *brokers = &sim->brokers;
    struct question *question = memory_zeroed(sizeof *question);
    question->broker = broker;
    question->life = broker->life;
    question->asked = ++broker->asked;
    question->ask = *ask;
    question->sent_ms = brokers_clock(sim, broker);
    question->next = brokers->questions;
    if (question->next)
        question->next->prev = question;
    brokers->questions = question;

    question->references = 1; /* nothing came within the time of one try */
    sim_later(sim, leader_try_ms(&broker->leader), hears, question, 0);
    if (is_cut(sim, broker, broker->cut_asks))
        return;
    if (brokers_chance(sim, 40)) {
        brokers_count(sim, BROKER_ASKS_LOST);
    } else {
        question->references++;
        sim_later(sim, brokers_travel(sim), is_carried_out, question, 0);
    }
    if (brokers_chance(sim, 30)) { /* and then another member carries it out, too */
        brokers_count(sim, BROKER_ASKS_LATE);
        question->references++;
        sim_later(sim, rng_between(&brokers->rng, 1, BROKERS_LATE_MAX_MS), is_carried_out, question,
                  1);
    }
}

static void think(struct sim *sim, void *what, uint64_t mark)
{
    struct broker *broker = what;
    if (!broker->alive || broker->paused || broker->wake != mark)
        return;
    const uint64_t random = (rng_next(&sim->brokers.rng) >> 1) | 1;
    const struct leader_ask ask = leader_next(&broker->leader, brokers_clock(sim, broker), random);
    if (ask.question != LEADER_NOTHING)
        asks(sim, broker, &ask);
    brokers_settle(sim, broker);
}

/* ---- a stop: SIGSTOP, a virtual machine that moves ---- */

static void goes_on(struct sim *sim, void *what, uint64_t life)
{
    struct broker *broker = what;
    if (!broker->alive || broker->life != life || !broker->paused)
        return;
    sim_trace(sim, "broker %u: goes on", index_of(sim, broker));
    broker->paused = false;
    brokers_read_waiting(sim, broker); /* what lies in its sockets may come before its timers */
    sim_later(sim, rng_between(&sim->brokers.rng, 0, 2 * SOCKET_MS), think, broker, ++broker->wake);
}

/* Longer than its lease: a shorter one is a late timer. The word, if there is one, it was about to
 * send: it has looked, and sends it when it goes on, without another look. */
static bool stops(struct sim *sim, struct broker *broker, const struct word *word)
{
    const int64_t longest_ms = sim->profile.lease_ms + BROKERS_PAUSE_MAX_MS;
    const int64_t pause_ms = rng_between(&sim->brokers.rng, 1, longest_ms);
    const int64_t now_ms = brokers_clock(sim, broker);
    if (now_ms + pause_ms * (1000 - SKEW_MAX) / 1000 < broker->leader.deadline_ms)
        return false;
    sim_trace(sim, "broker %u: is stopped for %lld ms%s", index_of(sim, broker),
              (long long)pause_ms, word ? ", with a call to send" : "");
    brokers_count(sim, BROKER_PAUSES);
    broker->ghost = lay_down(sim, broker);
    broker->paused = true;
    if (word) {
        brokers_count(sim, BROKER_LATE_CALLS);
        wire_late(sim, word, pause_ms);
    }
    sim_later(sim, pause_ms, goes_on, broker, broker->life);
    return true;
}

/* Where objects that vanish are only found by comparing, they must be compared. What ends a step
 * with the login would end the one of a later life: such a stop is not made. */
static bool may_be_late(const struct sim *sim, const struct word *word)
{
    return word->kind == EFFECT_CALL && !fmcall_is_cleanup(word->u.call.kind) &&
           sim->profile.config.relist_ms > 0;
}

bool brokers_let_out(struct sim *sim, const struct word *word)
{
    struct broker *broker = brokers_leader(sim);
    if (!leader_check(&broker->leader, brokers_clock(sim, broker))) {
        brokers_settle(sim, broker);
        return false;
    }
    return !may_be_late(sim, word) || !brokers_chance(sim, PAUSED_WITH_A_CALL) ||
           !stops(sim, broker, word);
}

/* ---- storms ---- */

static void quorum_again(struct sim *sim, void *what, uint64_t mark)
{
    (void)what, (void)mark;
    cluster_is_back(sim);
}

static void space_again(struct sim *sim, void *what, uint64_t mark)
{
    (void)what, (void)mark;
    sim->cluster.full = false;
}

static void cut_off(struct sim *sim, void *what, uint64_t mark)
{
    struct broker *broker = what;
    struct rng *rng = &sim->brokers.rng;
    const unsigned ways = 1 + rng_below(rng, 3);
    (void)mark;
    if (sim->faults.calm)
        return;
    brokers_count(sim, BROKER_CUTS);
    broker->cut_asks = ways & 1;
    broker->cut_answers = ways & 2;
    broker->cut_until_ms = sim->now_ms + rng_between(rng, 100, CUT_MAX_MS);
    sim_trace(sim, "broker %u: is cut off from the cluster (%u)", index_of(sim, broker), ways);
}

static void trouble(struct sim *sim, void *what, uint64_t mark)
{
    struct brokers *brokers = &sim->brokers;
    struct broker *broker = brokers_leader(sim);
    struct broker *any = &brokers->all[rng_below(&brokers->rng, brokers->count)];
    (void)what, (void)mark;
    if (sim->faults.calm)
        return;
    switch (rng_below(&brokers->rng, 7)) {
    case 0:
        brokers_count(sim, BROKER_QUORUMS);
        cluster_goes_away(sim);
        sim_later(sim, rng_between(&brokers->rng, 200, AWAY_MAX_MS), quorum_again, NULL, 0);
        break;
    case 1:
        brokers_count(sim, BROKER_NOSPACES);
        sim->cluster.full = true;
        sim_later(sim, rng_between(&brokers->rng, 200, FULL_MAX_MS), space_again, NULL, 0);
        break;
    case 2: /* it becomes slow before */
        any = broker ? broker : any;
        any->slow_until_ms = sim->now_ms + rng_between(&brokers->rng, 0, SLOW_MAX_MS);
        sim_later(sim, any->slow_until_ms - sim->now_ms, cut_off, any, 0);
        break;
    case 3:
        if (any != broker && any->alive)
            ends(sim, any, RESTART_MAX_MS);
        break;
    case 4:
        if (broker) {
            brokers_count(sim, BROKER_STEPDOWNS);
            leader_resign(&broker->leader);
            sim_trace(sim, "broker %u: steps down", index_of(sim, broker));
            core_destroy(lay_down(sim, broker));
            brokers_settle(sim, broker);
        }
        break;
    default:
        if (broker)
            stops(sim, broker, NULL);
    }
}

void brokers_storm(struct sim *sim)
{
    struct brokers *brokers = &sim->brokers;
    if (brokers->count == 0)
        return;
    const uint32_t troubles = 2 + rng_below(&brokers->rng, 10);
    for (uint32_t i = 0; i < troubles; i++)
        sim_later(sim, rng_between(&brokers->rng, 0, sim->profile.storm_ms), trouble, NULL, 0);
    brokers_clients_storm(sim);
}

void brokers_calm(struct sim *sim)
{
    struct brokers *brokers = &sim->brokers;
    if (brokers->count > 0)
        cluster_is_back(sim);
    sim->cluster.full = false;
    for (uint32_t i = 0; i < brokers->count; i++)
        brokers->all[i].cut_until_ms = 0; /* who is stopped goes on when the lease is over */
}

/* ---- begin and end ---- */

void brokers_init(struct sim *sim)
{
    struct brokers *brokers = &sim->brokers;
    memset(brokers, 0, sizeof *brokers);
    brokers->leads = -1;
    brokers->count = sim->profile.brokers > 1 ? sim->profile.brokers : 0;
    rng_init(&brokers->rng, sim->profile.seed, 14);
    for (uint32_t i = 0; i < brokers->count; i++) {
        struct broker *broker = &brokers->all[i];
        broker->skew = rng_between(&brokers->rng, -SKEW_MAX, SKEW_MAX);
        broker->boot = 1000 * (i + 1); /* of a host of its own */
        broker->booted_ms = sim->now_ms;
    }
}

void brokers_start(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->brokers.count; i++)
        starts(sim, &sim->brokers.all[i], 0);
}

void brokers_release(struct sim *sim)
{
    struct brokers *brokers = &sim->brokers;
    for (uint32_t i = 0; i < brokers->count; i++)
        core_destroy(brokers->all[i].ghost);
    while (brokers->questions) {
        brokers->questions->references = 1;
        drop_reference(sim, brokers->questions);
    }
    brokers_commits_release(sim);
}
