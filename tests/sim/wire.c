/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/wire.h"

#include "tests/sim/check.h"
#include "tests/sim/grow.h"
#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

void wire_init(struct sim *sim)
{
    memset(&sim->wire, 0, sizeof sim->wire);
    rng_init(&sim->wire.rng, sim->profile.seed, 4);
}

static void unlink_call(struct wire *wire, struct wire_call *call)
{
    if (call->prev)
        call->prev->next = call->next;
    else
        wire->calls = call->next;
    if (call->next)
        call->next->prev = call->prev;
    free(call);
}

static void drop_reference(struct wire *wire, struct wire_call *call)
{
    if (--call->references == 0)
        unlink_call(wire, call);
}

enum {
    TOO_LATE_CHANCE = 200, /* in a thousand of those that are acted on late */
    TOO_LATE_FACTOR = 6,   /* × call_timeout, at the latest */
};

/* ---- a call ---- */

struct journey { /* times from now; INT64_MAX: never */
    int64_t act_ms, end_ms;
    enum fmcall_outcome forced;
};

/* An answer that tells nothing: acted on before it, after it, or never. */
static struct journey untold(struct rng *rng, int64_t timeout, enum fmcall_outcome outcome)
{
    struct journey j = {INT64_MAX, rng_between(rng, 1, timeout - 1), outcome};
    switch (rng_below(rng, 3)) {
    case 0:
        j.act_ms = rng_between(rng, 0, j.end_ms);
        break;
    case 1:
        j.act_ms = rng_between(rng, j.end_ms, j.end_ms + timeout);
        break;
    }
    return j;
}

static struct journey travel(struct sim *sim, struct rng *rng, uint32_t door)
{
    struct faults *faults = &sim->faults;
    int64_t timeout = sim->config.call_timeout_ms;
    int64_t soon = rng_between(
        rng, 0, 2 * sim->profile.net_ms < timeout ? 2 * sim->profile.net_ms : timeout - 1);
    if (fmurls_open(sim, door) && gateway_unrouted(sim, rng))
        return (struct journey){rng_chance(rng, 50) ? soon : INT64_MAX, soon, FM_NOT_ROUTED};
    if (!sim->fabric.up || !fmurls_open(sim, door))
        return rng_chance(rng, 250) ? (struct journey){INT64_MAX, timeout, FM_TIMEOUT}
                                    : (struct journey){INT64_MAX, soon, FM_UNREACHED};
    if (fault_happens(faults, FAULT_CALL_UNREACHED, rng))
        return (struct journey){INT64_MAX, soon, FM_UNREACHED};
    if (fault_happens(faults, FAULT_CALL_LOST, rng))
        return (struct journey){INT64_MAX, timeout, FM_TIMEOUT};
    if (fault_happens(faults, FAULT_REPLY_LOST, rng))
        return (struct journey){rng_between(rng, 0, timeout), timeout, FM_TIMEOUT};
    if (fault_happens(faults, FAULT_ACTS_LATE, rng))
        return (struct journey){rng_between(rng, timeout, 2 * timeout), timeout, FM_TIMEOUT};
    if (fault_happens(faults, FAULT_CALL_BROKEN, rng))
        return untold(rng, timeout, FM_BROKEN);
    if (fault_happens(faults, FAULT_CALL_BUSY, rng))
        return untold(rng, timeout, FM_BUSY);
    if (fault_happens(faults, FAULT_CALL_DENIED, rng))
        return (struct journey){INT64_MAX, soon, FM_DENIED};
    if (fault_happens(faults, FAULT_CALL_UNAUTHORIZED, rng))
        return (struct journey){INT64_MAX, soon, FM_UNAUTHORIZED};
    if (fault_happens(faults, FAULT_CALL_SLOW, rng)) {
        int64_t end = rng_between(rng, timeout / 4, timeout - 1);
        return (struct journey){rng_between(rng, 0, end), end, 0};
    }
    return (struct journey){rng_between(rng, 0, soon), soon, 0};
}

static void slow_down(struct sim *sim, struct journey *j)
{
    int64_t timeout = sim->config.call_timeout_ms, slow = speed_of_reserve(sim);
    if (slow == 0 || j->forced != 0)
        return;
    j->act_ms += slow;
    j->end_ms += slow;
    if (j->end_ms < timeout)
        return;
    *j = (struct journey){j->act_ms < 2 * timeout ? j->act_ms : 2 * timeout, timeout, FM_TIMEOUT};
}

/* What cleans up takes longer than the rest at some fabric managers: longer than a job's end takes,
 * and its next life's begin. */
static void cleanup_trouble(struct sim *sim, struct rng *rng, struct journey *j)
{
    int64_t timeout = sim->config.call_timeout_ms;
    int64_t end = rng_between(rng, timeout / 4, timeout - 1);
    if (j->forced != 0)
        return;
    if (fault_happens(&sim->faults, FAULT_CLEANUP_LATE, rng))
        *j = (struct journey){rng_between(rng, timeout, 2 * timeout), timeout, FM_TIMEOUT};
    else if (fault_happens(&sim->faults, FAULT_CLEANUP_SLOW, rng))
        *j = (struct journey){rng_between(rng, 0, end), end, 0};
}

/* With a token it is the token that is not known, as far as anybody can tell. */
static void token_trouble(struct sim *sim, struct rng *rng, struct journey *j)
{
    if (fault_happens(&sim->faults, FAULT_CALL_REFUSED, rng))
        *j = (struct journey){INT64_MAX, rng_between(rng, 0, 2 * sim->profile.net_ms), FM_REFUSED};
    else if (j->forced == FM_UNAUTHORIZED)
        j->forced = FM_REFUSED;
}

/* What comes of it is of no number. Where lists are made at need only, one whose pages shift can
 * lack it, and no other comes. */
static void may_be_too_late(struct sim *sim, struct wire_call *call, struct journey *j)
{
    int64_t timeout = sim->config.call_timeout_ms;
    struct rng rng;
    rng_init_for(&rng, sim->profile.seed, "too late", (int64_t)call->id << 20 ^ sim->now_ms);
    int64_t act_ms = rng_between(&rng, 2 * timeout + 1, TOO_LATE_FACTOR * timeout);
    bool late = j->forced == FM_TIMEOUT && j->act_ms != INT64_MAX && j->act_ms >= timeout;
    bool found = sim->config.relist_ms > 0 || !fault_possible(&sim->faults, FAULT_LIST_SHIFTS);
    if (!late || !found || !rng_chance(&rng, TOO_LATE_CHANCE))
        return;
    j->act_ms = act_ms;
    call->too_late = true;
}

static void call_acts(struct sim *sim, void *what, uint64_t mark)
{
    struct wire_call *call = what;
    (void)mark;
    if (call->too_late) {
        call->number = 0;
        sim->wire.too_late = true;
    }
    if (sim->now_ms == call->act_ms && sim->fabric.up)
        call->came = fabric_act(sim, call);
    drop_reference(&sim->wire, call);
}

/* Planted: a success that nobody waited for is taken for a clean failure. */
static enum fmcall_outcome forgotten_late(const struct sim *sim, const struct wire_call *call,
                                          enum fmcall_outcome outcome)
{
    bool late = call->kind == FMCALL_RESERVE && call->came == FM_OK &&
                (fmcall_unsure(outcome) || edge_gave_up(&sim->edge, call->name));
    return sim->profile.plant == PLANT_FORGET_LATE && late ? FM_DENIED : outcome;
}

static void call_ends(struct sim *sim, void *what, uint64_t mark)
{
    struct wire_call *call = what;
    (void)mark;
    if (!call->ended) {
        call->ended = true;
        enum fmcall_outcome outcome = call->forced ? call->forced : call->came;
        if (outcome == 0)
            outcome = FM_BROKEN; /* the fabric manager went down before it acted */
        if (call->kind == FMCALL_RESERVE && fmcall_unsure(outcome))
            model_unsure(sim, call->number);
        edge_call_done(sim, call, forgotten_late(sim, call, outcome));
    }
    drop_reference(&sim->wire, call);
}

static struct wire_call *call_of(struct sim *sim, const struct word *word)
{
    struct wire_call *call = memory_zeroed(sizeof *call);
    call->id = word->u.call.id;
    call->process = sim->edge.process;
    call->door = sim->fmurls.in_use;
    for (size_t i = 0; i < sim->edge.call_count; i++)
        if (sim->edge.calls[i].id == call->id)
            call->begun_ms = sim->edge.calls[i].begun_ms;
    call->kind = word->u.call.kind;
    call->addresses = word->u.call.addresses;
    call->number = word->u.call.number;
    call->tree = word->u.call.tree;
    strcpy(call->step, word->u.call.step);
    strcpy(call->shown, word->u.call.shown);
    strcpy(call->name, word->u.call.name);
    call->unwanted = edge_gave_up(&sim->edge, call->name);
    call->next = sim->wire.calls;
    if (call->next)
        call->next->prev = call;
    sim->wire.calls = call;
    return call;
}

/* As of a ledger that nobody has any more: what it does is seen in the next list at the latest. */
void wire_late(struct sim *sim, const struct word *word, int64_t pause_ms)
{
    struct wire_call *call = call_of(sim, word);
    if (!fmcall_is_relayed(call->kind)) {
        model_asked_fm(sim, call->number);
        model_unsure(sim, call->number);
    }
    call->number = 0;
    call->in_hand = call->ended = true;
    sim->wire.too_late = true;
    call->references = 1;
    pause_ms += sim->profile.net_ms;
    call->act_ms = sim->now_ms + pause_ms;
    sim_later(sim, pause_ms, call_acts, call, 0);
}

void wire_send(struct sim *sim, const struct word *word)
{
    struct wire_call *call = call_of(sim, word);
    struct rng rng;
    bool relayed = fmcall_is_relayed(call->kind);
    bool cleanup = fmcall_is_cleanup(call->kind) || relayed;
    rng_init_for(&rng, sim->profile.seed, cleanup ? fmcall_kind_word(call->kind) : call->name,
                 sim->now_ms + (relayed ? (int64_t)call->id << 44 : 0));
    struct journey j = travel(sim, &rng, call->door);
    if (cleanup)
        cleanup_trouble(sim, &rng, &j);
    if (call->kind == FMCALL_RESERVE)
        slow_down(sim, &j);
    if (call->kind == FMCALL_RESERVE)
        may_be_too_late(sim, call, &j);
    if (cleanup && call->shown[0])
        token_trouble(sim, &rng, &j);
    call->forced = j.forced;
    call->act_ms = INT64_MAX;
    call->references = 1;
    if (j.act_ms != INT64_MAX) {
        call->act_ms = sim->now_ms + j.act_ms;
        call->references = 2;
        sim_later(sim, j.act_ms, call_acts, call, 0);
    }
    sim_later(sim, j.end_ms, call_ends, call, 0);
    if (call->kind == FMCALL_RESERVE) {
        model_asked_fm(sim, call->number);
        check_budget(sim, call);
    }
}

void wire_cut(struct sim *sim)
{
    for (struct wire_call *call = sim->wire.calls; call; call = call->next) {
        if (call->ended)
            continue;
        call->ended = true;
        if (call->kind == FMCALL_RESERVE)
            model_unsure(sim, call->number);
        if (!call->too_late && call->act_ms > sim->now_ms + sim->config.call_timeout_ms)
            call->act_ms = INT64_MAX;
    }
    sim->wire.login = false;
}

void wire_rewound(struct sim *sim)
{
    for (struct wire_call *call = sim->wire.calls; call; call = call->next) {
        bool unknown = call->kind == FMCALL_RESERVE && !rewind_has_again(sim, call->name);
        if (unknown || call->kind == FMCALL_RELEASE || !model_entry(&sim->model, call->number))
            call->number = 0;
    }
}

/* ---- login ---- */

static void login_ends(struct sim *sim, void *what, uint64_t process)
{
    (void)what;
    if (process != sim->edge.process || !sim->wire.login)
        return;
    sim->wire.login = false;
    bool ok = sim->fabric.up && fmurls_open(sim, sim->fmurls.in_use) &&
              !gateway_unrouted(sim, &sim->wire.rng) &&
              !fault_happens(&sim->faults, FAULT_LOGIN_FAILS, &sim->wire.rng);
    edge_login_done(sim, ok);
}

void wire_login(struct sim *sim, uint32_t url)
{
    if (sim->wire.login)
        sim_fail(sim, "calls", "a login is asked for while one is under way");
    sim->wire.login = true;
    fmurls_use(sim, url);
    sim_later(sim, rng_between(&sim->wire.rng, 1, 2 * sim->profile.net_ms), login_ends, NULL,
              sim->edge.process);
}

/* ---- list ---- */

/* What the list is of. */
struct shown {
    const struct object *objects;
    size_t count;
};

static struct shown shown_by(const struct sim *sim, const struct wire_list *list)
{
    const struct gateway *g = &sim->gateway;
    if (list->view == LIST_EMPTY)
        return (struct shown){NULL, 0};
    if (list->view == LIST_OLD)
        return (struct shown){g->replica, g->replica_count};
    return (struct shown){sim->fabric.objects, sim->fabric.count};
}

static size_t page_by_offset(struct sim *sim, struct wire_list *list, const char **names)
{
    struct shown shown = shown_by(sim, list);
    size_t count = 0;
    if (list->offset > 0 && fault_happens(&sim->faults, FAULT_LIST_SHIFTS, &sim->wire.rng)) {
        list->offset++; /* an entry of an earlier page was deleted meanwhile */
        list->skipped = true;
    }
    while (list->offset < shown.count && count < sim->profile.page)
        names[count++] = shown.objects[list->offset++].name;
    return count;
}

static size_t page_by_last(struct sim *sim, struct wire_list *list, const char **names)
{
    struct shown shown = shown_by(sim, list);
    size_t count = 0;
    for (size_t at = 0; at < shown.count && count < sim->profile.page; at++) {
        if (shown.objects[at].made <= list->last_made)
            continue;
        names[count++] = shown.objects[at].name;
        list->last_made = shown.objects[at].made;
    }
    return count;
}

static void unlink_list(struct wire *wire, struct wire_list *list)
{
    if (list->prev)
        list->prev->next = list->next;
    else
        wire->lists = list->next;
    if (list->next)
        list->next->prev = list->prev;
    free(list);
}

static void list_over(struct sim *sim, struct wire_list *list, enum fmcall_outcome outcome)
{
    uint64_t id = list->id;
    bool untrue = list->view != LIST_TRUE || list->skipped, whole = outcome == FM_OK;
    sim->wire.lacks = whole && untrue && sim->wire.lacked;
    unlink_list(&sim->wire, list);
    edge_list_done(sim, id, outcome);
    sim->wire.lacks = false;
    sim->wire.lacked = whole ? untrue : sim->wire.lacked;
}

static bool heard(const struct sim *sim, const struct wire_list *list)
{
    return sim->edge.core && list->process == sim->edge.process;
}

/* Gives the core one page. False: it was the last one. */
static bool deliver_page(struct sim *sim, struct wire_list *list)
{
    size_t room = sim->fabric.count + sim->gateway.replica_count + 1;
    const char **names = memory_zeroed(room * sizeof *names);
    size_t count =
        list->shifting ? page_by_offset(sim, list, names) : page_by_last(sim, list, names);
    if (count > 0)
        edge_list_names(sim, list->id, names, count);
    free(names);
    return count == sim->profile.page;
}

static void page_arrives(struct sim *sim, void *what, uint64_t mark)
{
    static const enum fmcall_outcome ends[] = {FM_BUSY, FM_TIMEOUT, FM_BROKEN, FM_DENIED};
    struct wire_list *list = what;
    (void)mark;
    if (!heard(sim, list)) {
        unlink_list(&sim->wire, list);
        return;
    }
    bool reached = sim->fabric.up && fmurls_open(sim, list->door);
    if (!reached || list->pages_left == 0) {
        list_over(sim, list, reached ? ends[rng_below(&sim->wire.rng, 4)] : FM_BROKEN);
        return;
    }
    if (gateway_unrouted(sim, &sim->wire.rng)) {
        list_over(sim, list, FM_NOT_ROUTED);
        return;
    }
    bool fails = list->pages_left != UINT32_MAX;
    if (fails)
        list->pages_left--;
    bool more = deliver_page(sim, list);
    if (!more && !fails && heard(sim, list))
        list_over(sim, list, FM_OK);
    else
        sim_later(sim, rng_between(&sim->wire.rng, 0, sim->profile.net_ms), page_arrives, list, 0);
}

void wire_list(struct sim *sim, uint64_t id)
{
    struct rng *rng = &sim->wire.rng;
    struct wire_list *list = memory_zeroed(sizeof *list);
    list->next = sim->wire.lists;
    if (list->next)
        list->next->prev = list;
    sim->wire.lists = list;
    list->id = id;
    list->process = sim->edge.process;
    list->door = sim->fmurls.in_use;
    list->pages_left = UINT32_MAX;
    list->view = gateway_list(sim, &sim->wire.rng);
    /* A list is a witness: where nothing is found by name, all of it is true; and where none may
     * follow for long, releases that something in front has answered need it to be. */
    list->shifting = fault_possible(&sim->faults, FAULT_LIST_SHIFTS) &&
                     sim->gateway.lie != LIE_CHECKS &&
                     (sim->config.relist_ms > 0 || !fault_possible(&sim->faults, FAULT_GATEWAY));
    if (fault_happens(&sim->faults, FAULT_LIST_FAILS, &sim->wire.rng))
        list->pages_left = 0;
    else if (sim->profile.page < sim->fabric.count &&
             fault_happens(&sim->faults, FAULT_LIST_HALF, &sim->wire.rng))
        list->pages_left = 1 + rng_below(rng, (uint32_t)(sim->fabric.count / sim->profile.page));
    sim_later(sim, rng_between(rng, 1, 2 * sim->profile.net_ms), page_arrives, list, 0);
}

void wire_release(struct sim *sim)
{
    while (sim->wire.calls)
        unlink_call(&sim->wire, sim->wire.calls);
    while (sim->wire.lists)
        unlink_list(&sim->wire, sim->wire.lists);
}
