/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/joins.h"

#include "base/memory.h"
#include "core/relay/relay.h"
#include "core/reservation/reservation.h"
#include "tests/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What libfabric does, and what the core promises it. */
enum {
    NO_ANSWER_MS = 5000,
    AGAIN_MS = 100,
    ANSWER_MS = 4000,
    KEPT_MS = 2000, /* what came between two requests */
    LATE_MS = 1000, /* timers, and the way */
    LEARNED_MS = 30000,
    CROWD = 70,
    SHARED = 2, /* bodies that several communicators of a job send */
};

static unsigned long long n(uint64_t number)
{
    return (unsigned long long)number;
}

void joins_release(struct sim *sim)
{
    for (struct task *task; (task = sim->joins.tasks);) {
        sim->joins.tasks = task->next;
        free(task);
    }
}

/* ---- tasks ---- */

static void send_wish(struct sim *sim, enum request_kind kind, struct join_wish wish)
{
    struct task *task = wish.task;
    const uint16_t tree = wish.tree;
    struct request *request = rm_request(sim, kind, task->job);
    request->join = wish;
    request->join.scope_name = task->scope < 0 ? "" : steps_name(task->scope);
    if (kind == REQUEST_JOIN)
        task->ticket = request->ticket;
    else if (sim->fabric.owners[tree].left_ms == 0)
        sim->fabric.owners[tree].left_ms = sim->now_ms;
    rm_send(sim, request, rng_between(bearer_dice(sim, task->job), 0, sim->profile.net_ms));
}

static void send(struct sim *sim, struct task *task, enum request_kind kind, uint16_t tree)
{
    send_wish(sim, kind, (struct join_wish){.task = task, .tree = tree});
}

static bool runs(const struct task *task)
{
    return task->job->stage == STAGE_RUNNING && task->job->life == task->life;
}

static void gives_up(struct sim *sim, void *what, uint64_t ticket)
{
    struct task *task = what;
    if (task->ticket == ticket)
        task->ticket = 0;
}

static void ask(struct sim *sim, struct task *task)
{
    send(sim, task, REQUEST_JOIN, 0);
    sim_later(sim, NO_ANSWER_MS, gives_up, task, task->ticket);
}

static void ask_again(struct sim *sim, void *what, uint64_t ticket)
{
    struct task *task = what;
    if (task->ticket == ticket && runs(task))
        ask(sim, task);
    else if (task->ticket == ticket)
        task->ticket = 0;
}

static void begin_one(struct sim *sim, struct job *job, uint64_t number, int step)
{
    struct rng *rng = bearer_dice(sim, job);
    struct task *task = memory_zeroed(sizeof *task);
    *task = (struct task){.next = sim->joins.tasks,
                          .job = job,
                          .life = job->life,
                          .number = number,
                          .step = step,
                          .shared = rng_chance(rng, 300),
                          .wrong_vni = rng_chance(rng, 20),
                          .scope = rng_chance(rng, 800) ? -1 : (int)rng_below(rng, STEPS)};
    sim->joins.tasks = task;
    snprintf(task->body, sizeof task->body, "[\"0:00:02\",\"0:00:0a\"]%c%llu",
             task->shared ? 's' : 'u',
             task->shared ? rng_below(rng, SHARED) : n(++sim->joins.begun));
    ask(sim, task);
    if (rng_chance(rng, 50) && sim->fabric.last_tree > 0) /* not its own */
        send(sim, task, REQUEST_LEAVE, (uint16_t)(1 + rng_below(rng, sim->fabric.last_tree)));
}

void joins_begin(struct sim *sim, struct job *job, uint64_t number, int step)
{
    const bool crowd = rng_chance(bearer_dice(sim, job), 10);
    for (int i = 0; i < (crowd ? CROWD : 1); i++)
        begin_one(sim, job, number, step);
}

static void leave(struct sim *sim, void *what, uint64_t tree)
{
    struct task *task = what;
    if (runs(task))
        send(sim, task, REQUEST_LEAVE, (uint16_t)tree);
}

static void leave_again(struct sim *sim, void *what, uint64_t mark)
{
    const struct request *request = what;
    (void)mark;
    if (runs(request->join.task))
        send_wish(sim, REQUEST_LEAVE, request->join);
}

void joins_answered(struct sim *sim, const struct request *request)
{
    struct task *task = request->join.task;
    struct rng *rng = bearer_dice(sim, task->job);
    if (request->kind == REQUEST_LEAVE && request->told.kind == ANSWER_JOIN_LATER)
        sim_later(sim, AGAIN_MS, leave_again, (void *)(uintptr_t)request, 0);
    if (task->ticket != request->ticket) /* it has given up, or this is of a leave */
        return;
    if (request->told.kind == ANSWER_JOIN_LATER) {
        sim_later(sim, AGAIN_MS, ask_again, task, task->ticket);
        return;
    }
    task->ticket = 0;
    if (request->told.kind == ANSWER_JOINED && rng_chance(rng, 600))
        sim_later(sim, rng_between(rng, 0, sim->profile.run_ms / 4), leave, task,
                  request->told.tree);
}

/* ---- what the core is asked ---- */

static bool has(const struct entry *e, uint16_t vni)
{
    for (unsigned i = 0; i < e->vni_count; i++)
        if (e->vnis[i] == vni)
            return true;
    return false;
}

/* One that a job has. 0: none has any of the pool. */
static uint16_t vni_of_another(const struct sim *sim)
{
    for (size_t at = 0; at < sim->model.count && !sim->rewind.done; at++) {
        const struct entry *e = sim->model.entries[at];
        if (e->vni_count > 0 && e->told && !e->freed_batch && !e->given_batch &&
            idset_has(&sim->config.vni_pool, e->vnis[0]))
            return e->vnis[0];
    }
    return 0;
}

static bool has_anothers_vni(const struct sim *sim, const struct task *task)
{
    const struct entry *e = model_entry(&sim->model, task->number);
    return e && e->by_plugin && task->wrong_vni && vni_of_another(sim) != 0;
}

static uint16_t vni_of(const struct sim *sim, const struct task *task)
{
    const struct entry *e = model_entry(&sim->model, task->number);
    uint16_t vni = 40000;
    if (has_anothers_vni(sim, task))
        return vni_of_another(sim);
    if (e && e->vni_count > 0 && !task->wrong_vni)
        return e->vnis[0];
    while (e && has(e, vni))
        vni++;
    return vni;
}

void joins_event(const struct sim *sim, const struct request *request, struct core_event *event)
{
    const struct join_wish *wish = &request->join;
    const struct task *task = wish->task;
    const size_t scopes = task->scope < 0 ? 0 : 1;
    event->ticket = request->ticket;
    if (request->kind == REQUEST_LEAVE) {
        event->kind = CORE_LEAVE;
        event->u.leave.number = task->number;
        event->u.leave.tree = wish->tree;
        event->u.leave.scopes = &wish->scope_name;
        event->u.leave.scope_count = scopes;
        return;
    }
    event->kind = CORE_JOIN;
    event->u.join.number = task->number;
    event->u.join.step = steps_name(task->step);
    event->u.join.scopes = &wish->scope_name;
    event->u.join.scope_count = scopes;
    event->u.join.vni = vni_of(sim, task);
    event->u.join.body = task->body;
}

void joins_arrive(struct sim *sim, const struct request *request)
{
    sim->joins.arriving = request;
    if (!request || (request->kind != REQUEST_JOIN && request->kind != REQUEST_LEAVE))
        return;
    struct task *task = request->join.task;
    if (request->kind == REQUEST_JOIN)
        sim->rm.requests[request->ticket - 1]->join.anothers = has_anothers_vni(sim, task);
    if (request->kind == REQUEST_LEAVE)
        sim->fabric.owners[request->join.tree].asked = true;
    else if (task->process != sim->edge.process) {
        task->process = sim->edge.process;
        task->since_ms = sim->now_ms;
    }
}

/* ---- what the fabric manager has ---- */

static const struct object *object_of(const struct sim *sim, uint64_t number)
{
    for (size_t i = 0; i < sim->fabric.count; i++)
        if (sim->fabric.objects[i].number == number)
            return &sim->fabric.objects[i];
    return NULL;
}

static bool is_among(const uint16_t trees[STEPS][STEP_TREES], uint16_t tree)
{
    for (int i = 0; i < STEPS * STEP_TREES; i++)
        if (trees[i / STEP_TREES][i % STEP_TREES] == tree)
            return true;
    return false;
}

static bool has_tree(const struct object *object, uint16_t tree)
{
    return object && is_among(object->trees, tree);
}

static uint32_t trees_of(const struct object *object)
{
    uint32_t count = 0;
    for (int i = 0; object && i < STEPS * STEP_TREES; i++)
        count += object->trees[i / STEP_TREES][i % STEP_TREES] != 0;
    return count;
}

/* What a job has there may have changed without any call. */
static bool is_uncertain(const struct sim *sim, const struct entry *e)
{
    return sim->fabric.restored || sim->rewind.done || !e || e->forgotten;
}

static enum fmcall_outcome make_tree(struct sim *sim, struct wire_call *call, struct object *object)
{
    struct fabric *f = &sim->fabric;
    const int step = steps_find(call->step);
    int at = 0;
    if (fault_happens(&sim->faults, FAULT_CALL_BUSY, &f->rng))
        object->busy_ms = sim->now_ms + rng_between(&f->rng, 0, 2 * sim->config.relay_timeout_ms);
    if (object->busy_ms > sim->now_ms)
        return FM_EXISTS;
    while (at < STEP_TREES && object->trees[step][at] != 0)
        at++;
    if (at == STEP_TREES || trees_of(object) >= object->limit || f->last_tree == FMCALL_TREES - 1)
        return FM_DENIED;
    call->tree = object->trees[step][at] = ++f->last_tree;
    f->owners[call->tree].number = object->number;
    f->owners[call->tree].step = step;
    f->owners[call->tree].late = call->in_hand;
    call->unfit = fault_happens(&sim->faults, FAULT_CALL_BUSY, &f->rng);
    f->owners[call->tree].unfit = call->unfit;
    sim->result.trees++;
    return FM_OK;
}

const char *joins_root(const struct wire_call *call)
{
    return !call->unfit ? "00:00:00:00:00:0A" : call->tree % 2 ? "" : "00:00:00:00:00:01";
}

/* The object is the one that its token opens. */
enum fmcall_outcome joins_act(struct sim *sim, struct wire_call *call, struct object *object)
{
    if (call->kind == FMCALL_JOIN)
        return make_tree(sim, call, object);
    for (int i = 0; i < STEPS * STEP_TREES; i++) {
        uint16_t *tree = &object->trees[i / STEP_TREES][i % STEP_TREES];
        if (*tree != 0 && *tree == call->tree)
            return *tree = 0, FM_OK;
    }
    return FM_GONE;
}

/* A definite end of a tree, or of all of a step: of what was known when the call began. Which of a
 * join and it was acted on first the core cannot know. */
static void note_ended(struct sim *sim, const struct wire_call *call)
{
    const struct object *object = object_of(sim, call->number);
    for (uint16_t tree = 1; tree <= sim->fabric.last_tree; tree++) {
        const bool step = call->kind == FMCALL_END_STEP &&
                          sim->fabric.owners[tree].number == call->number &&
                          sim->fabric.owners[tree].step == steps_find(call->step);
        const bool it = step || (call->kind != FMCALL_END_STEP && tree == call->tree);
        const bool known = sim->fabric.owners[tree].known &&
                           (!step || sim->fabric.owners[tree].known_ms < call->begun_ms);
        if (it && known && !has_tree(object, tree))
            sim->fabric.owners[tree].ended = true;
    }
}

void joins_done(struct sim *sim, const struct wire_call *call, enum fmcall_outcome outcome)
{
    struct entry *e = model_at(sim, call->number);
    const bool no = outcome == FM_DENIED || outcome == FM_REFUSED || outcome == FM_GONE;
    if (fmcall_is_relayed(call->kind) && no && e)
        e->refused_ms = sim->now_ms;
    if (call->kind == FMCALL_JOIN && outcome == FM_OK) {
        sim->fabric.owners[call->tree].known = true;
        sim->fabric.owners[call->tree].known_ms = sim->now_ms;
        sim->fabric.owners[call->tree].process = sim->edge.process;
    } else if (fmcall_is_relayed(call->kind) && fmcall_unsure(outcome) && e)
        e->trees_unsure = true;
    const bool ends = call->kind == FMCALL_END_STEP || call->kind == FMCALL_END_TREE;
    if (fmcall_is_cleanup(call->kind) && e)
        e->trees_unsure = true; /* for the core, too, if a join was under way, or it is given up */
    if ((ends || call->kind == FMCALL_LEAVE) && (outcome == FM_OK || outcome == FM_GONE))
        note_ended(sim, call);
}

/* ---- calls ---- */

static void stays_within_the_limit(struct sim *sim, const struct word *word, const struct entry *e)
{
    const struct object *object = object_of(sim, e->number);
    uint32_t count = trees_of(object);
    if (is_uncertain(sim, e) || e->trees_unsure || e->process != sim->edge.process || !object)
        return;
    for (const struct wire_call *call = sim->wire.calls; call; call = call->next)
        count += call->kind == FMCALL_JOIN && call->number == e->number && !call->ended &&
                 call->came == 0;
    if (count >= object->limit)
        sim_fail(sim, "I8", "%s has or asks for %u trees, its addresses are %u, and joins",
                 word->u.call.name, count, object->limit);
}

/* I6: under the session token of this reservation, while the job has not been released. */
void joins_leaves(struct sim *sim, const struct word *word)
{
    const struct entry *e = model_entry(&sim->model, word->u.call.number);
    const bool join = word->u.call.kind == FMCALL_JOIN;
    const unsigned tree = word->u.call.tree;
    if (!e || !e->relayed || e->free_told)
        sim_fail(sim, "B9", "%s: a %s, and number %llu is %s", word->u.call.name,
                 fmcall_kind_word(word->u.call.kind), n(word->u.call.number),
                 !e           ? "not there"
                 : e->relayed ? "released, and its job was told so"
                              : "not relayed");
    else if (strcmp(word->u.call.shown, e->token) != 0)
        sim_fail(sim, "I6", "%s: a %s with a token that is not its session token",
                 word->u.call.name, fmcall_kind_word(word->u.call.kind));
    else if (join)
        stays_within_the_limit(sim, word, e);
    else if (sim->fabric.owners[tree].given && !sim->fabric.owners[tree].asked)
        sim_fail(sim, "I6", "%s: tree %u was given to its job, which has not deleted it, and goes",
                 word->u.call.name, tree);
    if (!join)
        sim->fabric.owners[tree].leaving = true;
}

/* ---- answers ---- */

static bool may(const struct task *task, int step)
{
    return task->scope < 0 || steps_within(step, task->scope);
}

static void given_tree(struct sim *sim, const struct task *task, uint16_t tree)
{
    const struct entry *e = model_entry(&sim->model, task->number);
    const bool own = sim->fabric.owners[tree].number == task->number &&
                     sim->fabric.owners[tree].step == task->step;
    if (sim->fabric.owners[tree].given || sim->fabric.owners[tree].unfit)
        sim_fail(sim, "B9", "tree %u is given to %s", tree,
                 sim->fabric.owners[tree].given ? "two requests" : "libfabric, which rejects it");
    sim->fabric.owners[tree].given = true;
    sim->result.joined++;
    if (is_uncertain(sim, e))
        return;
    if (e->freed_batch)
        sim_fail(sim, "B9", "number %llu joined tree %u after its release", n(e->number), tree);
    if (!own || !sim->fabric.owners[tree].known)
        sim_fail(sim, "B9", "number %llu, step %s, was given tree %u, which is not its",
                 n(e->number), steps_name(task->step), tree);
    if (sim->fabric.owners[tree].ended)
        sim_fail(sim, "B9", "number %llu was given tree %u, which was deleted before", n(e->number),
                 tree);
}

/* How long a row of "later" may be. What others send, too, may take over what it began. */
static int64_t longest_ms(const struct sim *sim, const struct task *task)
{
    int64_t one = sim->config.relay_timeout_ms + sim->config.call_timeout_ms + ANSWER_MS + LATE_MS;
    uint32_t alike = 0, all = 0;
    for (const struct task *other = sim->joins.tasks; other; other = other->next) {
        all += other->number == task->number;
        alike += other->number == task->number && strcmp(other->body, task->body) == 0;
    }
    return one * (all >= CROWD ? 3 : 1) * (task->shared ? alike : 1);
}

/* A leave waits until the trees are known, which is given up in time, and then is one. */
static void leave_told_later(struct sim *sim, struct request *request, struct entry *e)
{
    struct join_wish *wish = &request->join;
    const int64_t one = sim->config.relay_timeout_ms + ANSWER_MS + LATE_MS;
    if (wish->process != sim->edge.process)
        wish->later_ms = sim->now_ms;
    wish->process = sim->edge.process;
    if (e && wish->task->scope >= 0 && e->later_process != sim->edge.process) {
        e->later_process = sim->edge.process;
        e->later_ms = sim->now_ms;
    }
    if (sim->now_ms - wish->later_ms > 2 * one + sim->config.call_timeout_ms)
        sim_fail(sim, "B9", "a leave of tree %u is told to ask again, after %lld s", wish->tree,
                 (long long)(sim->now_ms - wish->later_ms) / 1000);
}

static void told_later(struct sim *sim, const struct request *request)
{
    const struct task *task = request->join.task;
    sim->result.join_laters++;
    if (request->kind == REQUEST_LEAVE)
        leave_told_later(sim, sim->rm.requests[request->ticket - 1], model_at(sim, task->number));
    if (request->kind == REQUEST_JOIN && sim->now_ms - task->since_ms > longest_ms(sim, task))
        sim_fail(sim, "B9", "a join of number %llu is told to ask again, after %lld s",
                 n(task->number), (long long)(sim->now_ms - task->since_ms) / 1000);
}

/* All that could ever have used an address of it; or what is there, of lost answers too, and what
 * is asked for. */
static bool may_be_full(const struct sim *sim, const struct task *task)
{
    const struct object *object = object_of(sim, task->number);
    uint32_t count = 0, used = trees_of(object);
    for (const struct task *other = sim->joins.tasks; other; other = other->next) {
        count += other->number == task->number;
        used += other->number == task->number && other != task && other->ticket != 0;
    }
    for (const struct wire_call *call = sim->wire.calls; call; call = call->next)
        used -= call->kind == FMCALL_JOIN && call->number == task->number && !call->ended &&
                call->came == FM_OK && used > 0; /* whose tree is there, counts once */
    return !object || count > object->limit || used >= object->limit;
}

static bool denied_rightly(const struct sim *sim, const struct request *request,
                           const struct entry *e)
{
    const struct task *task = request->join.task;
    /* Requests for the end of one tree are one. */
    const int64_t since_ms = request->kind == REQUEST_JOIN
                                 ? task->since_ms
                                 : sim->fabric.owners[request->join.tree].left_ms;
    const bool has_some = e->saved_hwcoll == HWCOLL_WANTED || e->saved_hwcoll == HWCOLL_RESERVED;
    return !has_some || e->freed_batch || task->shared ||
           sim->now_ms - e->refused_ms <= KEPT_MS + LATE_MS ||
           sim->now_ms - since_ms >= sim->config.relay_timeout_ms ||
           (request->kind == REQUEST_JOIN && may_be_full(sim, task));
}

static bool not_there(const struct sim *sim, const struct request *request, const struct entry *e)
{
    const uint16_t tree = request->join.tree;
    if (!e->relayed || e->freed_batch || e->gone_batch || is_uncertain(sim, e))
        return true;
    return request->kind == REQUEST_LEAVE &&
           !(has_tree(object_of(sim, e->number), tree) && sim->fabric.owners[tree].known &&
             sim->fabric.owners[tree].process == sim->edge.process);
}

static bool is_outside(const struct sim *sim, const struct request *request, const struct entry *e)
{
    const struct task *task = request->join.task;
    if (request->kind == REQUEST_LEAVE)
        return task->scope >= 0 &&
               (sim->fabric.owners[request->join.tree].number != task->number ||
                !may(task, sim->fabric.owners[request->join.tree].step) || is_uncertain(sim, e) ||
                (e->later_process == sim->edge.process &&
                 sim->now_ms - e->later_ms >= sim->config.relay_timeout_ms));
    return !may(task, task->step) || task->wrong_vni || e->vni_count == 0;
}

void joins_given(struct sim *sim, const struct request *request, const struct told *told)
{
    const struct task *task = request->join.task;
    const struct entry *e = model_entry(&sim->model, task->number);
    const bool join = request->kind == REQUEST_JOIN;
    bool right = !e || sim->rewind.done;
    switch (told->kind) {
    case ANSWER_JOINED:
        right = join && may(task, task->step) && !request->join.anothers &&
                (!task->wrong_vni || (e && e->vni_count == 0));
        given_tree(sim, task, told->tree);
        break;
    case ANSWER_LEFT:
        right |=
            !join &&
            (is_uncertain(sim, e) || !has_tree(object_of(sim, task->number), request->join.tree) ||
             !sim->fabric.owners[request->join.tree].given || not_there(sim, request, e));
        break;
    case ANSWER_JOIN_LATER:
        right = true;
        told_later(sim, request);
        break;
    case ANSWER_JOIN_DENIED:
        sim->result.join_denials++;
        right = right || denied_rightly(sim, request, e);
        break;
    case ANSWER_NOT_FOUND:
        right = right || not_there(sim, request, e);
        break;
    case ANSWER_OUTSIDE:
        right = right || is_outside(sim, request, e);
        break;
    default:
        break;
    }
    if (!right)
        sim_fail(sim, "answers", "number %llu: a %s of step %s was answered: %s", n(task->number),
                 join ? "join" : "leave", steps_name(task->step), answer_word(told->kind));
}

/* ---- what is known ---- */

/* It is made, and the answer is on its way. */
static bool is_being_told(const struct sim *sim, uint16_t tree)
{
    for (const struct wire_call *call = sim->wire.calls; call; call = call->next)
        if (call->kind == FMCALL_JOIN && call->came == FM_OK && call->tree == tree && !call->ended)
            return true;
    return false;
}

void joins_shown(struct sim *sim, const struct request *request, const struct told *told)
{
    const struct entry *e = model_entry(&sim->model, told->number);
    const struct object *object = object_of(sim, told->number);
    if (request != sim->joins.arriving || is_uncertain(sim, e) || !e->relayed ||
        told->state != JOB_ACTIVE || told->hwcoll != HWCOLL_RESERVED)
        return;
    sim->result.shown_from_memory++;
    sim->result.learned += e->process != sim->edge.process;
    for (uint16_t tree = 1; tree <= sim->fabric.last_tree; tree++) {
        const bool there = has_tree(object, tree), shown = is_among(told->trees, tree);
        if (there && !shown && !told->more_trees && !is_being_told(sim, tree) &&
            !sim->fabric.owners[tree].late)
            sim_fail(sim, "B9", "number %llu has tree %u, and it is not shown", n(e->number), tree);
        if (!there && shown && sim->fabric.owners[tree].ended)
            sim_fail(sim, "B9", "tree %u of number %llu is shown, and it was deleted", tree,
                     n(e->number));
    }
}

/* ---- after a quiet spell ---- */

static void has_no_unused_trees(struct sim *sim, const struct object *object)
{
    const struct entry *e = model_entry(&sim->model, object->number);
    /* What is still there of a job that is over is I3's: its release may have been told a lie. So
     * may be what is taken for lost. */
    if (!e || !e->relayed || e->freed_batch || e->lost_batch || is_uncertain(sim, e))
        return;
    for (uint16_t tree = 1; tree <= sim->fabric.last_tree; tree++)
        if (has_tree(object, tree) && sim->fabric.owners[tree].known &&
            sim->fabric.owners[tree].process == sim->edge.process &&
            !sim->fabric.owners[tree].given && !sim->fabric.owners[tree].leaving)
            sim_fail(sim, "B9", "%s has tree %u, which was never given to its job", object->name,
                     tree);
}

/* What is not known of its trees, and can be asked for, is asked for. */
static void learns_its_trees(struct sim *sim, const struct task *task)
{
    const struct reservation *r =
        core_find(sim->edge.core, rm_cluster_name(sim, task->job), task->job->id);
    if (r && r->hwcoll == HWCOLL_RESERVED && relay_list_due(r) < sim->now_ms - LEARNED_MS)
        sim_fail(sim, "B9", "not all trees of number %llu are known, and none asks for them",
                 n(r->number));
}

void joins_check_quiet(struct sim *sim)
{
    for (size_t i = 0; i < sim->fabric.count; i++)
        has_no_unused_trees(sim, &sim->fabric.objects[i]);
    for (const struct task *task = sim->joins.tasks; task; task = task->next)
        if (task->ticket != 0)
            sim_fail(sim, "B9", "a join of number %llu has no end", n(task->number));
        else
            learns_its_trees(sim, task);
}
