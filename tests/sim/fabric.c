/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/fabric.h"

#include "tests/sim/grow.h"
#include "tests/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct object *add(struct sim *sim, const char *name, uint32_t limit)
{
    struct fabric *f = &sim->fabric;
    GROW(f->objects, f->count, f->room);
    struct object *object = &f->objects[f->count++];
    memset(object, 0, sizeof *object);
    snprintf(object->name, sizeof object->name, "%s", name);
    object->limit = limit;
    object->made = ++f->last_made;
    snprintf(object->token, sizeof object->token, "token-%llu", (unsigned long long)object->made);
    f->addresses += limit;
    return object;
}

static void drop(struct fabric *f, size_t at)
{
    f->addresses -= f->objects[at].limit;
    memmove(&f->objects[at], &f->objects[at + 1], (--f->count - at) * sizeof *f->objects);
}

static size_t place_of(const struct fabric *f, const char *name)
{
    size_t at = 0;
    while (at < f->count && strcmp(f->objects[at].name, name) != 0)
        at++;
    return at;
}

const struct object *fabric_find(const struct fabric *f, const char *name)
{
    size_t at = place_of(f, name);
    return at < f->count ? &f->objects[at] : NULL;
}

struct object *fabric_add(struct sim *sim, const char *name, uint32_t limit)
{
    bool room = sim->fabric.addresses + limit <= sim->profile.capacity;
    return room && !fabric_find(&sim->fabric, name) ? add(sim, name, limit) : NULL;
}

void fabric_drop(struct sim *sim, const char *name)
{
    size_t at = place_of(&sim->fabric, name);
    if (at < sim->fabric.count)
        drop(&sim->fabric, at);
}

static bool in_cluster(const char *name, const char *cluster)
{
    size_t length = strlen(cluster);
    return strncmp(name, cluster, length) == 0 && name[length] == '-';
}

void fabric_is_alien(struct sim *sim, const char *name)
{
    for (uint32_t i = 0; i < sim->config.cluster_count; i++)
        sim->fabric.alien[i] |= in_cluster(name, sim->config.clusters[i].name);
}

void fabric_is_alien_of(struct sim *sim, const struct job *job)
{
    if (job)
        sim->fabric.alien[job->cluster] = true;
}

void fabric_claimed(struct sim *sim, const char *cluster)
{
    struct fabric *f = &sim->fabric;
    for (size_t at = 0; at < f->count; at++)
        f->objects[at].unknown &= !in_cluster(f->objects[at].name, cluster);
}

void fabric_claim(struct sim *sim, const char *name)
{
    size_t at = place_of(&sim->fabric, name);
    if (at < sim->fabric.count)
        sim->fabric.objects[at].unknown = false;
}

void fabric_rewound(struct sim *sim)
{
    struct fabric *f = &sim->fabric;
    for (size_t at = 0; at < f->count; at++) {
        struct object *object = &f->objects[at];
        char cluster[CLUSTER_NAME_MAX + 1];
        const char *job;
        object->unknown &= !rewind_has_again(sim, object->name);
        bool known = model_entry(&sim->model, object->number) && /* but that it was asked for? */
                     rewind_has_again(sim, object->name);
        if (object->number == 0 || known)
            continue;
        object->number = 0;
        object->returned = true;
        if (fm_name_split(object->name, cluster, &job) && !rewind_deletes(sim, object->name))
            object->forgotten_by = rm_find(sim, cluster, job);
        fabric_is_alien(sim, object->name);
    }
    for (uint32_t i = 0; i < sim->config.cluster_count; i++)
        f->alien[i] = true;
}

void fabric_reserved_anew(struct sim *sim, const struct job *job)
{
    for (size_t at = 0; at < sim->fabric.count; at++)
        if (sim->fabric.objects[at].forgotten_by == job)
            sim->fabric.objects[at].forgotten_by = NULL;
}

void fabric_disown(struct sim *sim, const char *name)
{
    size_t at = place_of(&sim->fabric, name);
    if (at == sim->fabric.count)
        return;
    sim->fabric.objects[at].returned = true;
    fabric_is_alien(sim, name);
}

static void add_foreign(struct sim *sim, const char *name)
{
    if (fabric_find(&sim->fabric, name))
        return;
    add(sim, name, 1)->foreign = true;
    sim->fabric.foreign++;
}

/* Entries of others: clusters whose names begin with ours, ours begin with theirs, Slurm's own, and
 * what is no job name at all. None of their clusters is ever configured here. */
static void settle_foreigners(struct sim *sim)
{
    static const char *const names[] = {
        "elcap22-17", "elca-17",   "e-1",        "elcap2x-f3",   "elcap_-5", "elcap_22-1",
        "ELCAP-17",   "elcap 1",   "elcap",      "elcap2.el-9",  "-17",      "elcap-",
        "el-a/b",     "elcap-a b", "elcap2-\"x", "elcap_2-j\\1",
    };
    for (uint32_t i = 0; i < sim->profile.foreign; i++) {
        add_foreign(sim, names[rng_below(&sim->fabric.rng, sizeof names / sizeof *names)]);
    }
    /* A cluster that other runs configure, and this one does not. */
    if (sim->profile.foreign > 0 && sim->config.cluster_count < 4)
        add_foreign(sim, profile_name_conflict(&sim->profile));
}

void fabric_init(struct sim *sim)
{
    struct fabric *f = &sim->fabric;
    memset(f, 0, sizeof *f);
    rng_init(&f->rng, sim->profile.seed, 3);
    f->up = true;
    settle_foreigners(sim);
}

void fabric_release(struct sim *sim)
{
    free(sim->fabric.objects);
    free(sim->fabric.backup);
    memset(&sim->fabric, 0, sizeof sim->fabric);
}

static void forget(struct sim *sim, uint32_t per_mille)
{
    struct fabric *f = &sim->fabric;
    uint64_t forgotten = 0;
    for (size_t at = f->count; at-- > 0;) {
        const struct object *object = &f->objects[at];
        bool claimed = object->number == 0 && !object->unknown; /* also what appears next there */
        if (object->foreign || claimed || !rng_chance(&f->rng, per_mille))
            continue;
        sim_trace(sim, "fm: forgets %s", object->name);
        model_forgotten(sim, object->number);
        drop(f, at);
        forgotten++;
    }
    if (forgotten > 0)
        fault_count(&sim->faults, FAULT_FM_FORGETS);
}

static void forget_some(struct sim *sim, void *what, uint64_t mark)
{
    (void)what;
    if (fault_possible(&sim->faults, FAULT_FM_FORGETS))
        forget(sim, (uint32_t)mark);
}

static void back_up(struct sim *sim, void *what, uint64_t mark)
{
    struct fabric *f = &sim->fabric;
    (void)what, (void)mark;
    free(f->backup);
    f->backup = memory_zeroed((f->count + 1) * sizeof *f->backup);
    f->backup_count = f->count;
    for (size_t i = 0; i < f->count; i++)
        f->backup[i] = f->objects[i];
}

static const struct object *find_made(const struct object *objects, size_t count, uint64_t made)
{
    for (size_t i = 0; i < count; i++)
        if (objects[i].made == made)
            return &objects[i];
    return NULL;
}

/* Younger objects are gone, deleted ones are back: nobody of ours wants these. */
static void restore(struct sim *sim, void *what, uint64_t mark)
{
    struct fabric *f = &sim->fabric;
    (void)what, (void)mark;
    if (!f->backup || !fault_possible(&sim->faults, FAULT_FM_RESTORES))
        return;
    sim_trace(sim, "fm: an old state comes back");
    f->restored = true;
    fault_count(&sim->faults, FAULT_FM_RESTORES);
    for (size_t i = 0; i < f->count; i++)
        if (!find_made(f->backup, f->backup_count, f->objects[i].made))
            model_forgotten(sim, f->objects[i].number);
    for (size_t i = 0; i < f->backup_count; i++) {
        const struct object *now = find_made(f->objects, f->count, f->backup[i].made);
        if (now) { /* what is known of it stays known */
            f->backup[i].number = now->number;
            f->backup[i].returned |= now->returned;
            f->backup[i].unknown &= now->unknown;
            f->backup[i].forgotten_by = now->forgotten_by;
            continue;
        }
        f->backup[i].returned = true;
        f->backup[i].unknown &= edge_forgot(&sim->edge, f->backup[i].name);
        fabric_is_alien(sim, f->backup[i].name);
    }
    free(f->objects);
    f->objects = f->backup;
    f->count = f->backup_count;
    f->room = f->count + 1;
    f->backup = NULL;
    f->addresses = 0;
    for (size_t i = 0; i < f->count; i++)
        f->addresses += f->objects[i].limit;
}

static void come_up(struct sim *sim, void *what, uint64_t mark)
{
    (void)what, (void)mark;
    if (!sim->fabric.up)
        sim_trace(sim, "fm: up");
    sim->fabric.up = true;
}

static void go_down(struct sim *sim, void *what, uint64_t mark)
{
    (void)what;
    struct fabric *f = &sim->fabric;
    if (!fault_possible(&sim->faults, FAULT_FM_DOWN) || !f->up)
        return;
    fault_count(&sim->faults, FAULT_FM_DOWN);
    sim_trace(sim, "fm: down");
    f->up = false;
    if (mark > 0 && fault_possible(&sim->faults, FAULT_FM_FORGETS))
        forget(sim, (uint32_t)mark);
    static const int64_t longest[] = {500, 20000, 120000};
    sim_later(sim, rng_between(&f->rng, 10, longest[rng_below(&f->rng, 3)]), come_up, NULL, 0);
}

/* Somebody made an object under one of our clusters' names: an earlier installation, or a mistake.
 */
static void stray_appears(struct sim *sim, void *what, uint64_t mark)
{
    (void)what;
    if (!fault_possible(&sim->faults, FAULT_STRAY))
        return;
    const struct core_config *config = &sim->config;
    uint32_t cluster = rng_below(&sim->fabric.rng, config->cluster_count);
    char name[FM_NAME_MAX + 1];
    char id[32];
    slurm_format_id(sim, cluster, "stray", mark, id, sizeof id);
    if (mark % 2 == 0)
        snprintf(name, sizeof name, "%s-%s", config->clusters[cluster].name, id);
    else /* in the way of a job that may come */
        snprintf(name, sizeof name, "%s-%s", config->clusters[cluster].name,
                 slurm_id(sim, cluster, rm_any_job(sim, &sim->fabric.rng), id));
    const struct job *job = rm_find(sim, config->clusters[cluster].name, strchr(name, '-') + 1);
    if (fabric_find(&sim->fabric, name) || (job && job->active))
        return;
    sim_trace(sim, "fm: stray %s appears", name);
    add(sim, name, 1)->unknown = edge_forgot(&sim->edge, name);
    fabric_is_alien(sim, name);
    fault_count(&sim->faults, FAULT_STRAY);
}

void fabric_begin(struct sim *sim)
{
    uint32_t left = rng_below(&sim->fabric.rng, 4);
    for (uint32_t i = 0; i < left; i++)
        stray_appears(sim, NULL, rng_below(&sim->fabric.rng, 100));
}

void fabric_storm(struct sim *sim)
{
    struct rng *rng = &sim->fabric.rng;
    int64_t storm = sim->profile.storm_ms;
    static const uint64_t losses[] = {0, 0, 300, 1000};
    for (uint32_t i = 0; i < sim->profile.outages; i++)
        sim_later(sim, rng_between(rng, 0, storm), go_down, NULL, losses[rng_below(rng, 4)]);
    for (uint32_t i = 0; i < sim->profile.outages; i++)
        sim_later(sim, rng_between(rng, 0, storm), forget_some, NULL, losses[rng_below(rng, 4)]);
    if (rng_chance(rng, 300)) {
        int64_t taken = rng_between(rng, 0, storm);
        sim_later(sim, taken, back_up, NULL, 0);
        sim_later(sim, rng_between(rng, taken, storm), restore, NULL, 0);
    }
    for (uint64_t i = 0; i < 3; i++)
        sim_later(sim, rng_between(rng, 0, storm), stray_appears, NULL, rng_below(rng, 100));
}

void fabric_calm(struct sim *sim)
{
    come_up(sim, NULL, 0);
}

static enum fmcall_outcome reserve(struct sim *sim, const char *name, uint32_t addresses,
                                   uint64_t number, char *token)
{
    if (fabric_find(&sim->fabric, name))
        return FM_EXISTS;
    if (sim->fabric.addresses + addresses > sim->profile.capacity)
        return FM_DENIED;
    struct object *object = add(sim, name, addresses);
    object->number = number;
    strcpy(token, object->token);
    return FM_OK;
}

static bool named_by(const struct object *object, const char *name, enum plant plant)
{
    if (plant == PLANT_PREFIX_DELETE)
        return strncmp(object->name, name, strlen(name)) == 0;
    return strcmp(object->name, name) == 0;
}

/* A try of ours may have been acted on without our knowing: the name tells no more than that. */
static bool job_is_unsure(const struct sim *sim, const char *name)
{
    char cluster[CLUSTER_NAME_MAX + 1];
    const char *id;
    const struct job *job = fm_name_split(name, cluster, &id) ? rm_find(sim, cluster, id) : NULL;
    return job && job->unsure;
}

/* I11: nothing of a running job, and nothing that may be somebody else's. */
static void may_go(struct sim *sim, const struct object *object, const struct wire_call *call)
{
    const struct entry *e = model_entry(&sim->model, object->number);
    if (object->foreign)
        sim_fail(sim, "I6", "%s is not ours and was deleted", object->name);
    else if (slurm_has(sim, object->name))
        sim_fail(sim, "I11", "%s was deleted, and its Slurm has its job as running", object->name);
    else if (call->in_hand) {
        if (e && e->told && model_protects(e->job) && e->job->told_number == e->number)
            brokers_count(sim, BROKER_LATE_TOOK);
        model_forgotten(sim, object->number);
    } else if (object->unknown && !job_is_unsure(sim, call->name))
        sim_fail(sim, "I6", "%s may be another broker's and was deleted", object->name);
    else if (call->number == 0) /* of a ledger that was lost, acted on late: unknown */
        model_forgotten(sim, object->number);
    else if (e && e->told && !e->lost_batch && model_protects(e->job) &&
             e->job->told_number == e->number && strcmp(e->token, object->token) == 0)
        sim_fail(sim, "I11", "%s was deleted, and its job runs", object->name);
    else if (object->forgotten_by && object->forgotten_by->active && object->forgotten_by->named &&
             !object->forgotten_by->told && call->unwanted &&
             edge_gave_up(&sim->edge, object->name)) /* a try of that ledger's is open: its own */
        sim_fail(sim, "I11", "%s was deleted, and a list of jobs has named its job", object->name);
}

static enum fmcall_outcome release(struct sim *sim, const struct wire_call *call)
{
    const char *name = call->name;
    struct fabric *f = &sim->fabric;
    for (size_t at = 0; at < f->count; at++) {
        if (!named_by(&f->objects[at], name, sim->profile.plant))
            continue;
        may_go(sim, &f->objects[at], call);
        drop(f, at);
        return FM_OK;
    }
    return FM_GONE;
}

/* ---- steps ---- */

const struct object *fabric_opened_by(const struct fabric *f, const char *token)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->objects[i].token, token) == 0)
            return &f->objects[i];
    return NULL;
}

void fabric_make_tree(struct sim *sim, const char *token, int step)
{
    struct fabric *f = &sim->fabric;
    const struct object *open = fabric_opened_by(f, token);
    if (!f->up || !open || f->last_tree == FMCALL_TREES - 1)
        return;
    uint16_t *trees = f->objects[open - f->objects].trees[step];
    int at = 0;
    while (at < STEP_TREES && trees[at] != 0)
        at++;
    if (at == STEP_TREES)
        return;
    trees[at] = ++f->last_tree;
    f->owners[trees[at]].number = open->number;
    f->owners[trees[at]].step = step;
    sim->result.trees++;
    sim_trace(sim, "fm: step %s of %s makes tree %u", steps_name(step), open->name, trees[at]);
}

/* Whether it may do what only some fabric managers allow a job's token. */
static bool is_open(const struct sim *sim, const struct object *object,
                    const struct wire_call *call, enum token_power weakest)
{
    if (call->shown[0] == 0)
        return true;
    return strcmp(call->shown, object->token) == 0 && sim->profile.token_power <= weakest;
}

/* A token whose job is gone opens nothing; some say so, some that there is no such job. */
static enum fmcall_outcome no_object(const struct sim *sim, const struct wire_call *call)
{
    return call->shown[0] && sim->profile.token_dies ? FM_REFUSED : FM_GONE;
}

static enum fmcall_outcome show_steps(struct sim *sim, struct wire_call *call)
{
    const struct object *object = fabric_find(&sim->fabric, call->name);
    if (!object)
        return no_object(sim, call);
    if (!is_open(sim, object, call, TOKEN_SHOWS_STEPS))
        return FM_REFUSED;
    memcpy(call->trees, object->trees, sizeof call->trees);
    return FM_OK;
}

static enum fmcall_outcome end_step(struct sim *sim, const struct wire_call *call)
{
    struct object *object = sim->fabric.objects + place_of(&sim->fabric, call->name);
    int step = steps_find(call->step);
    if (!fabric_find(&sim->fabric, call->name))
        return no_object(sim, call);
    if (!is_open(sim, object, call, TOKEN_ENDS_STEPS))
        return FM_REFUSED;
    asks_acted(sim, object, step, call);
    memset(object->trees[step], 0, sizeof object->trees[step]);
    return FM_OK;
}

static enum fmcall_outcome end_tree(struct sim *sim, const struct wire_call *call)
{
    struct fabric *f = &sim->fabric;
    if (call->shown[0] == 0)
        sim_fail(sim, "calls", "a tree of %s is removed without the token of its job", call->name);
    for (size_t at = 0; at < f->count; at++) {
        struct object *object = &f->objects[at];
        for (int i = 0; i < STEPS * STEP_TREES; i++) {
            uint16_t *tree = &object->trees[i / STEP_TREES][i % STEP_TREES];
            if (*tree == 0 || *tree != call->tree)
                continue;
            if (!is_open(sim, object, call, TOKEN_ENDS_TREES))
                return FM_REFUSED;
            asks_acted(sim, object, i / STEP_TREES, call);
            *tree = 0;
            return FM_OK;
        }
    }
    return FM_GONE;
}

static enum fmcall_outcome act(struct sim *sim, struct wire_call *call)
{
    const struct object *object;
    enum fmcall_outcome outcome;
    switch (call->kind) {
    case FMCALL_RESERVE:
        outcome = reserve(sim, call->name, call->addresses, call->number, call->token);
        if (call->in_hand && outcome == FM_OK) { /* nobody can know of it */
            brokers_count(sim, BROKER_LATE_MADE);
            sim->fabric.objects[sim->fabric.count - 1].unknown =
                edge_forgot(&sim->edge, call->name);
            fabric_is_alien(sim, call->name);
        }
        return outcome;
    case FMCALL_CHECK:
        object = gateway_find(sim, call->name);
        if (object)
            strcpy(call->token, object->token);
        return object ? FM_OK : FM_GONE;
    case FMCALL_RELEASE:
        return release(sim, call);
    case FMCALL_STEPS:
        return show_steps(sim, call);
    case FMCALL_END_STEP:
        return end_step(sim, call);
    case FMCALL_END_TREE:
        return end_tree(sim, call);
    case FMCALL_JOIN:
    case FMCALL_LEAVE:
        object = fabric_opened_by(&sim->fabric, call->shown);
        if (!object)
            return no_object(sim, call);
        if (call->kind == FMCALL_LEAVE && !is_open(sim, object, call, TOKEN_ENDS_TREES))
            return FM_REFUSED;
        return joins_act(sim, call, &sim->fabric.objects[object - sim->fabric.objects]);
    case FMCALL_NONE:
        break;
    }
    return FM_GONE;
}

enum fmcall_outcome fabric_act(struct sim *sim, struct wire_call *call)
{
    enum fmcall_outcome outcome =
        gateway_hides(sim, call) ? gateway_hidden(sim, call) : act(sim, call);
    char tree[8] = "";
    if (call->kind == FMCALL_END_TREE || fmcall_is_relayed(call->kind))
        snprintf(tree, sizeof tree, " %u", call->tree);
    sim_trace(sim, "fm: acts: %s %s%s%s%s%s -> %s", fmcall_kind_word(call->kind), call->name,
              call->step[0] ? " " : "", call->step, tree,
              !fmcall_is_cleanup(call->kind) ? ""
              : call->shown[0]               ? " (token)"
                                             : " (login)",
              fmcall_outcome_word(outcome));
    return outcome;
}
