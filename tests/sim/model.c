/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/model.h"

#include "core/reservation/reservation.h"
#include "tests/sim/grow.h"
#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

/* How long after its time a VNI may still be quarantined: until the timer has looked. */
enum {
    HOLD_LATE_MS = 500,
    TIMER_LATE_MS = 500,
    JUST_RESERVED = 1, /* nobody has asked for it since */
};

void model_init(struct sim *sim)
{
    memset(&sim->model, 0, sizeof sim->model);
}

void model_release(struct sim *sim)
{
    for (size_t i = 0; i < sim->model.count; i++)
        free(sim->model.entries[i]);
    free(sim->model.entries);
    memset(&sim->model, 0, sizeof sim->model);
}

static struct entry *find(const struct model *model, uint64_t number)
{
    size_t low = 0, high = model->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (model->entries[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < model->count && model->entries[low]->number == number ? model->entries[low] : NULL;
}

const struct entry *model_entry(const struct model *model, uint64_t number)
{
    return find(model, number);
}

struct entry *model_at(struct sim *sim, uint64_t number)
{
    return find(&sim->model, number);
}

static unsigned long long n(uint64_t number)
{
    return (unsigned long long)number;
}

/* ---- VNIs ---- */

/* I1, F3: whether the VNI is in the hands of e: live, or told to a job and still to be quarantined.
 */
static bool holds(const struct sim *sim, const struct entry *e, uint16_t vni)
{
    bool has = false;
    for (int i = 0; i < e->vni_count; i++)
        has |= e->vnis[i] == vni;
    if (!has)
        return false;
    if (!e->freed_batch) /* what nobody was told can be given back at once */
        return (e->gone_batch == 0 && !e->given_batch) || e->told;
    return e->told && !e->back_batch &&
           (sim->config.vni_hold_ms < 0 || e->document ||
            sim->now_ms < e->freed_ms + sim->config.vni_hold_ms);
}

/* F3: a node that nobody knew of any more has said that it has services with it. */
static const struct host *node_keeps(const struct sim *sim, uint16_t vni)
{
    const struct host *host = NULL;
    for (size_t i = 0; i < sim->rm.job_count && !host; i++)
        host = hosts_keep(sim->rm.jobs[i], vni);
    return host;
}

/* The ledger knows that it has gone back: what it does not know may be in use. */
static void is_quarantined(struct sim *sim, const struct entry *born, uint16_t vni)
{
    const struct rewind *rewind = &sim->rewind;
    if (!admin_sees(sim, ALARM_OLD_LEDGER, NULL)) /* that has ended in this very step */
        return;
    for (size_t at = 0; at < rewind->lost_count; at++) {
        const struct entry *lost = rewind->lost[at];
        for (int i = 0; i < lost->vni_count; i++)
            if (lost->vnis[i] == vni && rewind_in_use(sim, lost))
                sim_fail(sim, "I1", "number %llu got VNI %u, %s uses it, and the ledger is old",
                         n(born->number), vni, rm_job_name(lost->job));
    }
}

static int own_vnis(const struct entry *e)
{
    return e->vni_count - e->shared_count;
}

/* Not those that it shares. */
static void vnis_are_free(struct sim *sim, const struct entry *born, bool given)
{
    for (int i = 0; i < own_vnis(born); i++) {
        uint16_t vni = born->vnis[i];
        if (shares_has(sim, vni))
            sim_fail(sim, "I1", "number %llu got VNI %u, which is a shared one", n(born->number),
                     vni);
        if (given && shares_foreign(sim, vni))
            sim_fail(sim, "B2", "number %llu got VNI %u, which is another partition's",
                     n(born->number), vni);
        if (given && (!idset_has(&sim->config.vni_pool, vni) || vni == 1 || vni == 10))
            sim_fail(sim, "F1", "number %llu got VNI %u, which is not in the pool", n(born->number),
                     vni);
        for (int j = 0; j < i; j++)
            if (born->vnis[j] == vni)
                sim_fail(sim, "I1", "number %llu got VNI %u twice", n(born->number), vni);
        const struct host *keeper = given ? node_keeps(sim, vni) : NULL;
        if (keeper)
            sim_fail(
                sim, "I1",
                "number %llu got VNI %u, node %s has said that it has it still, of number %llu",
                n(born->number), vni, keeper->name, n(keeper->number));
        if (given && sim->rewind.suspect)
            is_quarantined(sim, born, vni);
    }
    for (int i = own_vnis(born); given && i < born->vni_count; i++)
        if (shares_foreign(sim, born->vnis[i]))
            sim_fail(sim, "B2", "number %llu got shared VNI %u, which is another partition's",
                     n(born->number), born->vnis[i]);
    for (size_t at = 0; at < sim->model.count; at++) {
        const struct entry *e = sim->model.entries[at];
        for (int i = 0; e != born && i < own_vnis(born); i++)
            if (holds(sim, e, born->vnis[i]))
                sim_fail(sim, "I1", "number %llu got VNI %u, which number %llu %s", n(born->number),
                         born->vnis[i], n(e->number),
                         e->freed_batch ? "released, and it must still be quarantined" : "has");
    }
}

void model_is_free(struct sim *sim, uint16_t vni, const char *name)
{
    const struct host *keeper = node_keeps(sim, vni);
    const struct entry none = {.number = 0};
    for (size_t at = 0; at < sim->model.count; at++)
        if (holds(sim, sim->model.entries[at], vni))
            sim_fail(sim, "I1", "shared VNI %s is %u, which number %llu has", name, vni,
                     n(sim->model.entries[at]->number));
    if (shares_foreign(sim, vni) || !idset_has(&sim->config.vni_pool, vni) || vni == 1 || vni == 10)
        sim_fail(sim, "B2", "shared VNI %s is %u, which is not to be given", name, vni);
    if (keeper)
        sim_fail(sim, "I1", "shared VNI %s is %u, node %s has it still", name, vni, keeper->name);
    if (sim->rewind.suspect)
        is_quarantined(sim, &none, vni);
}

/* The ledger knows that it has gone back: a shared VNI of it may be a running job's own since. */
static void shares_no_own(struct sim *sim, const struct entry *born)
{
    const struct rewind *rewind = &sim->rewind;
    if (!rewind->suspect || !admin_sees(sim, ALARM_OLD_LEDGER, NULL))
        return;
    for (size_t at = 0; at < rewind->lost_count; at++)
        for (int i = own_vnis(born); i < born->vni_count; i++)
            for (int k = 0; k < own_vnis(rewind->lost[at]); k++)
                if (rewind->lost[at]->vnis[k] == born->vnis[i] &&
                    rewind_in_use(sim, rewind->lost[at]))
                    sim_fail(sim, "I1", "number %llu shares VNI %u, which is %s's own",
                             n(born->number), born->vnis[i], rm_job_name(rewind->lost[at]->job));
}

/* S4: no other reservation has it. After the ledger went back nothing is promised. */
static void pkey_is_free(struct sim *sim, const struct entry *born)
{
    for (size_t at = 0; born->pkey && at < sim->model.count; at++) {
        const struct entry *e = sim->model.entries[at];
        if (e != born && e->epoch == born->epoch && e->pkey == born->pkey && !e->unkeyed_batch)
            sim_fail(sim, "S4", "number %llu got partition key %u, which number %llu has",
                     n(born->number), born->pkey, n(e->number));
    }
}

/* Not before its job is released and the hold is over. */
static void pkey_given_back(struct sim *sim, struct entry *e, uint64_t batch)
{
    if (e->unkeyed_batch || !e->pkey)
        return;
    e->unkeyed_batch = batch;
    if (!e->freed_batch || sim->now_ms < e->freed_ms + sim->config.omnipath.pkey_hold_ms)
        sim_fail(sim, "S4", "number %llu gave its partition key back before its time",
                 n(e->number));
}

/* Whether the broker has been told that there are services, and nothing better since. */
static bool waits_in_core(const struct sim *sim, const struct entry *e)
{
    if (!e->job)
        return false;
    const struct reservation *r =
        core_find(sim->edge.core, rm_cluster_name(sim, e->job), e->job->id);
    while (r && r->number != e->number)
        r = r->older;
    struct core_waiting waiting = {0};
    if (r && r->reported)
        core_waiting(r, &waiting);
    return waiting.lingering + waiting.created > 0;
}

/* Whether the broker may still hold its VNIs back: a restart begins that anew. */
static bool held_in_core(const struct sim *sim, const struct entry *e)
{
    if (e->given_batch)
        return false;
    if (!e->job) /* of a life that only a node knew */
        return !e->gone_batch;
    if (sim->config.vni_hold_ms < 0 || e->launched ||
        waits_in_core(sim, e)) /* time does not free it */
        return true;
    int64_t from = e->freed_ms > e->rested_ms ? e->freed_ms : e->rested_ms;
    return sim->now_ms <= from + sim->config.vni_hold_ms + HOLD_LATE_MS;
}

bool model_nobody_has(const struct sim *sim, uint16_t vni, uint64_t but)
{
    if (!idset_has(&sim->config.vni_pool, vni))
        return false;
    for (size_t at = 0; at < sim->model.count; at++) {
        const struct entry *e = sim->model.entries[at];
        if (e->number == but)
            continue;
        for (int i = 0; i < e->vni_count; i++)
            if (e->vnis[i] == vni &&
                (e->freed_batch == 0 ? e->gone_batch == 0 : held_in_core(sim, e)))
                return false;
    }
    return true;
}

unsigned model_vnis_available(const struct sim *sim)
{
    unsigned available = 0;
    for (uint32_t vni = 0; vni <= UINT16_MAX; vni++) {
        if (!idset_has(&sim->config.vni_pool, (uint16_t)vni) || vni == 1 || vni == 10)
            continue;
        bool used = shares_has(sim, (uint16_t)vni) || idset_has(&sim->shares.known, (uint16_t)vni);
        for (size_t at = 0; at < sim->model.count && !used; at++) {
            const struct entry *e = sim->model.entries[at];
            for (int i = 0; i < e->vni_count; i++)
                used |= e->vnis[i] == vni &&
                        (e->freed_batch == 0 ? e->gone_batch == 0 : held_in_core(sim, e));
        }
        available += !used;
    }
    return available;
}

/* ---- users apart (F4) ---- */

enum { TIMES_FREE = 3, POOL_SHARE = 16 };

bool model_holds_too_much(uint32_t held, uint32_t available, uint32_t pool)
{
    return pool > (TIMES_FREE + 1) * available && held > TIMES_FREE * available &&
           held > pool / POOL_SHARE;
}

uint32_t model_vnis_held(const struct sim *sim, uint32_t uid)
{
    uint32_t held = 0;
    for (size_t at = 0; at < sim->model.count; at++) {
        const struct entry *e = sim->model.entries[at];
        held += e->uid == uid && e->freed_batch && held_in_core(sim, e) ? (uint32_t)own_vnis(e) : 0;
    }
    return held;
}

/* A user whose released jobs hold too much of a pool gets no more, by the records alone. What was
 * free when it was decided is free now, or the newcomer has it. */
static void leaves_others_some(struct sim *sim, const struct entry *born)
{
    struct core_status status;
    uint32_t vnis = 0, pkeys = 0;
    core_status(sim->edge.core, &status);
    for (size_t at = 0; at < sim->model.count; at++) {
        const struct entry *e = sim->model.entries[at];
        if (e->uid != born->uid || !e->freed_batch)
            continue;
        vnis += e->back_batch ? 0 : (uint32_t)own_vnis(e);
        pkeys += e->pkey && !e->unkeyed_batch;
    }
    if (sim->rewind.done) /* an old ledger does not know of all */
        return;
    const bool had_them = born->job && born->job->names_vnis; /* whether they are granted or not */
    if (own_vnis(born) > 0 && !had_them &&
        model_holds_too_much(vnis, status.vnis_free + (uint32_t)own_vnis(born), status.vnis_pool))
        sim_fail(sim, "F4", "number %llu got VNIs, released jobs of its user hold %u, %u are free",
                 n(born->number), vnis, status.vnis_free);
    if (born->pkey && model_holds_too_much(pkeys, status.pkeys_free + 1, status.pkeys_pool))
        sim_fail(sim, "F4", "number %llu got a partition key, released jobs of its user hold %u",
                 n(born->number), pkeys);
}

/* ---- records ---- */

static uint64_t last_number(const struct model *model)
{
    return model->entries[model->count - 1]->number;
}

/* B9: by what the configuration says when it is asked for, and only where there may be trees. */
static void is_relayed_rightly(struct sim *sim, const struct entry *e,
                               const struct reservation_record *r)
{
    if (e->by_plugin && !e->relayed)
        sim_fail(sim, "B9", "number %llu has no token of the broker's", n(e->number));
    for (uint32_t i = 0; i < sim->config.cluster_count && !e->by_plugin; i++)
        if (strcmp(sim->config.clusters[i].name, r->cluster) == 0 &&
            e->relayed != (sim->config.clusters[i].relay && r->hwcoll == HWCOLL_WANTED))
            sim_fail(sim, "B9", "number %llu is %srelayed", n(e->number), e->relayed ? "" : "not ");
}

static struct entry *born(struct sim *sim, const struct reservation_record *r, uint64_t batch)
{
    struct model *model = &sim->model;
    if (r->number == 0 || (model->count > 0 && r->number <= last_number(model))) {
        sim_fail(sim, "S3", "number %llu comes after %llu", n(r->number), n(last_number(model)));
        return NULL;
    }
    struct entry *e = memory_zeroed(sizeof *e);
    GROW(model->entries, model->count, model->room);
    model->entries[model->count++] = e;
    e->number = r->number;
    e->epoch = model->epoch;
    e->job = rm_find(sim, r->cluster, r->job);
    e->vni_count = r->vni_count;
    e->shared_count = r->shared_count;
    e->node_count = r->node_count;
    e->uid = r->uid;
    memcpy(e->vnis, r->vnis, sizeof e->vnis);
    e->born_batch = batch;
    e->event_hwcoll = r->hwcoll;
    e->pkey = r->pkey;
    e->relayed = r->interconnect == INTERCONNECT_SLINGSHOT && !secret_none(r->key);
    e->by_plugin = r->origin == ORIGIN_PLUGIN;
    e->wanted_ms = sim->now_ms;
    e->process = sim->edge.process;
    is_relayed_rightly(sim, e, r);
    vnis_are_free(sim, e, r->state == JOB_ACTIVE); /* else only quarantined */
    pkey_is_free(sim, e);
    shares_joined(sim, e, r);
    if (r->state == JOB_ACTIVE)
        shares_no_own(sim, e);
    if (r->state == JOB_ACTIVE)
        leaves_others_some(sim, e);
    return e;
}

static bool relies_on(const struct entry *e)
{
    return model_protects(e->job) && e->job->told_number == e->number;
}

/* F3: before its time, VNIs come back only when no node has services for them any more, and each
 * has said so. What was said of the lost life with its number counts for it: only step 2 of a
 * restore (docs/state.md, "Backups") keeps numbers from being given twice. */
static void vnis_given_back(struct sim *sim, struct entry *e, uint64_t batch)
{
    int64_t from = e->freed_ms > e->rested_ms ? e->freed_ms : e->rested_ms;
    if (e->back_batch)
        return;
    const struct host *known = hosts_known(e->job, e->number, e->epoch);
    bool untold = !e->told || e->vni_count == 0 || rewind_gave(sim, e);
    if (known && !untold)
        sim_fail(sim, "I1", "the VNIs of number %llu are given back, node %s has said: %s",
                 n(e->number), known->name, node_state_word(known->heard_state));
    e->back_batch = batch;
    if (untold || (sim->config.vni_hold_ms >= 0 && !e->document &&
                   sim->now_ms >= from + sim->config.vni_hold_ms))
        return;
    e->given_batch = batch;
    if (!sim->profile.reports || e->node_count > HOSTS_MAX)
        sim_fail(sim, "F3", "the VNIs of number %llu are given back, and its nodes say nothing",
                 n(e->number));
    const struct host *host = hosts_present(e->job, e->number, e->epoch);
    if (host)
        sim_fail(sim, "I1", "the VNIs of number %llu are given back, node %s has services for them",
                 n(e->number), host->name);
    sim->result.early++;
}

/* Its release brought no answer of the fabric manager's, and lists do not name it: that it is there
 * all the same is known when a true list names it. */
static void released_by_lists(struct sim *sim, const struct reservation_record *r)
{
    char name[FM_NAME_MAX + 1];
    fm_name_format(name, r->cluster, r->job);
    fabric_disown(sim, name);
}

/* F3: a life that only a node knew takes in VNIs that another job had when the node first spoke. */
static void more_vnis_saved(struct sim *sim, struct entry *e, const struct reservation_record *r)
{
    struct entry more = {.number = e->number};
    for (int i = 0; i < r->vni_count - r->shared_count; i++) {
        bool had = false;
        for (int k = 0; k < e->vni_count; k++)
            had |= e->vnis[k] == r->vnis[i];
        if (!had)
            more.vnis[more.vni_count++] = r->vnis[i];
    }
    vnis_are_free(sim, &more, false);
    memcpy(e->vnis, r->vnis, sizeof e->vnis);
    e->vni_count = r->vni_count;
    e->shared_count = r->shared_count;
}

/* … which a crash, or an older ledger, undoes. */
static void fewer_vnis_known(struct entry *e, const struct reservation_record *saved)
{
    if (e->job || saved->vni_count == 0)
        return;
    memcpy(e->vnis, saved->vnis, sizeof e->vnis);
    e->vni_count = saved->vni_count;
    e->shared_count = saved->shared_count;
}

static void reservation_saved(struct sim *sim, const struct reservation_record *r, uint64_t batch)
{
    struct entry *e = find(&sim->model, r->number);
    if (!e && !(e = born(sim, r, batch)))
        return;
    bool same = r->vni_count == e->vni_count &&
                memcmp(r->vnis, e->vnis, r->vni_count * sizeof *r->vnis) == 0;
    if (r->state == JOB_ACTIVE && r->vni_count == 0 && !e->told)
        e->given_batch = e->back_batch = batch;
    else if (r->state == JOB_ACTIVE && !same)
        sim_fail(sim, "F5", "the VNIs of number %llu changed while its job runs", n(e->number));
    if (r->state == JOB_ACTIVE && e->freed_batch)
        sim_fail(sim, "I2", "number %llu is active again after its release", n(e->number));
    if (r->state == JOB_RELEASING && !e->freed_batch) {
        e->freed_ms = sim->now_ms;
        e->freed_batch = batch;
        if (relies_on(e))
            sim_fail(sim, "I3", "number %llu was released, and its job %s is active", n(e->number),
                     rm_job_name(e->job));
    }
    if (r->state == JOB_RELEASING && r->vni_count < e->vni_count)
        vnis_given_back(sim, e, batch);
    if (!e->job && r->vni_count > e->vni_count)
        more_vnis_saved(sim, e, r);
    if (r->pkey != 0 && r->pkey != e->pkey)
        sim_fail(sim, "S4", "number %llu has another partition key than before", n(e->number));
    else if (r->pkey == 0)
        pkey_given_back(sim, e, batch);
    if (sim->wire.lacks && r->fm_side == FM_SIDE_NOTHING)
        released_by_lists(sim, r);
    e->saved_hwcoll = r->hwcoll;
    e->launched = r->launched != 0;
    if (e->relayed && r->hwcoll == HWCOLL_RESERVED) /* as good as told: its joins need it */
        snprintf(e->token, sizeof e->token, "%s", secret_expose(r->token));
}

static void gone_saved(struct sim *sim, uint64_t number, uint64_t batch)
{
    struct entry *e = find(&sim->model, number);
    if (!e || e->gone_batch) {
        sim_fail(sim, "I2", "number %llu is gone and was not there", n(number));
        return;
    }
    e->gone_batch = batch;
    vnis_given_back(sim, e, batch);
    pkey_given_back(sim, e, batch);
    if (e->told && !e->freed_batch)
        sim_fail(sim, "I2", "number %llu is gone and nobody released it", n(number));
}

static void count_own(void *arg, const struct reservation *r)
{
    uint64_t *count = arg;
    *count += r->state == JOB_ACTIVE && r->hwcoll == HWCOLL_RESERVED && r->origin != ORIGIN_FOUND;
}

/* What was found is not: it can be another broker's, and go when that says so. */
static uint64_t own_reserved(const struct sim *sim)
{
    struct core_filter filter = {.uid = -1, .limit = 1000};
    uint64_t count = 0;
    do
        filter.after = core_page(sim->edge.core, &filter, count_own, &count);
    while (filter.after != 0);
    return count;
}

/* Where nothing is found in any way, and that is little, nobody can know better. And a ledger that
 * went back may take what its job has now for another one's. */
static bool excused(const struct sim *sim, const struct entry *e)
{
    return (gateway_found_nothing(sim) &&
            own_reserved(sim) < sim->config.mass_loss_min + JUST_RESERVED) ||
           (sim->rewind.done && !relies_on(e));
}

/* I4: once, and only when it is true. */
static void lost_saved(struct sim *sim, struct entry *e, uint64_t batch)
{
    if (e->lost_batch)
        sim_fail(sim, "I4", "number %llu is declared lost twice", n(e->number));
    e->lost_batch = batch;
    if (!e->forgotten && e->told && !excused(sim, e))
        sim_fail(sim, "I11", "number %llu is declared lost, the fabric manager never lost it",
                 n(e->number));
    char name[FM_NAME_MAX + 1];
    if (!e->forgotten && e->job) { /* we take it for gone, and it is there */
        fm_name_format(name, rm_cluster_name(sim, e->job), e->job->id);
        fabric_disown(sim, name);
    }
    fabric_is_alien_of(sim, e->job);
}

/* Something may be under a name of ours that the core has not made, or that it was told is not
 * there. */
static bool may_be_anothers(const struct sim *sim)
{
    const uint64_t *happened = sim->faults.happened;
    return sim->rewind.done || sim->slurm.count > 0 || happened[FAULT_STRAY] ||
           happened[FAULT_RIVAL] || happened[FAULT_FM_RESTORES] || happened[FAULT_FM_LIES] ||
           happened[FAULT_GATEWAY];
}

static void event_saved(struct sim *sim, const struct event_record *event, uint64_t batch)
{
    struct entry *e = find(&sim->model, event->number);
    sim->result.events[event->kind]++;
    sim_trace(sim, "broker: event %llu %s, number %llu", n(event->seq),
              event_kind_word(event->kind), n(event->number));
    /* Of what was reserved late a start that comes before it knows by the ledger only. */
    if (event->kind == EVENT_ADOPTED && event->detail &&
        strcmp(event->detail, "found at the fabric manager") == 0 && !may_be_anothers(sim) &&
        sim->edge.process == 1)
        sim_fail(sim, "F21", "number %llu is taken for another's, and is ours", n(event->number));
    if (event->number == 0)
        return;
    if (!e) {
        sim_fail(sim, "F24", "event %llu is about number %llu, which is not there", n(event->seq),
                 n(event->number));
        return;
    }
    e->event_hwcoll = e->saved_hwcoll;
    if (event->kind == EVENT_ADOPTED && event->detail &&
        strcmp(event->detail, "reserved late") == 0 && !sim->wire.too_late && !may_be_anothers(sim))
        sim_fail(sim, "F21", "number %llu was forgotten, and found by a list", n(event->number));
    if (event->kind == EVENT_LOST)
        lost_saved(sim, e, batch);
}

void model_saved(struct sim *sim, const struct record *record, uint64_t batch)
{
    asks_saved(sim, record);
    switch (record->kind) {
    case RECORD_RESERVATION:
        reservation_saved(sim, &record->u.reservation, batch);
        break;
    case RECORD_GONE:
        gone_saved(sim, record->u.gone, batch);
        break;
    case RECORD_EVENT:
        event_saved(sim, &record->u.event, batch);
        break;
    case RECORD_SHARED_VNI:
    case RECORD_SHARED_GONE:
    case RECORD_PARTITIONS:
        shares_saved(sim, record);
        break;
    case RECORD_PRUNE:
    case RECORD_COUNTERS:
    case RECORD_FOUNDED:
    case RECORD_FACTS:
    case RECORD_NODE:
    case RECORD_SUM:
    case RECORD_ROOT_KEYS:
    case RECORD_NODE_NICS:
    case RECORD_NODE_NICS_GONE:
    case RECORD_TRAFFIC:
    case RECORD_TRAFFIC_GONE:
    case RECORD_CLEANUP:
    case RECORD_CLEANED:
        break;
    }
}

void model_event_told(struct sim *sim, uint64_t seq, uint64_t number, uint8_t kind)
{
    (void)number, (void)kind;
    if (seq <= sim->model.last_seq_told)
        sim_fail(sim, "F24", "event %llu was told after event %llu", n(seq),
                 n(sim->model.last_seq_told));
    sim->model.last_seq_told = seq;
}

/* ---- after every step ---- */

static void still_has(struct sim *sim, const struct entry *e, const struct reservation *r)
{
    if (!r || r->number != e->number || r->state != JOB_ACTIVE) {
        sim_fail(sim, "I2", "%s was told number %llu; now it has %s%.0llu", rm_job_name(e->job),
                 n(e->number), r ? "another one, or it is released: " : "nothing",
                 r ? n(r->number) : 0);
        return;
    }
    if (r->vni_count != e->vni_count ||
        memcmp(r->vnis, e->vnis, e->vni_count * sizeof *e->vnis) != 0)
        sim_fail(sim, "I2", "number %llu has other VNIs than its job was told", n(e->number));
}

static void hwcoll_is_known(struct sim *sim, const struct entry *e, const struct reservation *r)
{
    if (r->hwcoll == HWCOLL_WANTED &&
        sim->now_ms > e->wanted_ms + sim->config.relay_timeout_ms + TIMER_LATE_MS)
        sim_fail(sim, "F21", "number %llu: its reserve has been tried for %lld ms", n(e->number),
                 (long long)(sim->now_ms - e->wanted_ms));
    if (r->hwcoll != e->told_hwcoll && r->hwcoll != e->event_hwcoll)
        sim_fail(sim, "I7", "number %llu: hwcoll was told %s and is %s, no event says so",
                 n(e->number), hwcoll_state_word(e->told_hwcoll), hwcoll_state_word(r->hwcoll));
}

static const struct reservation *in_core(const struct sim *sim, const struct job *job)
{
    return core_find(sim->edge.core, rm_cluster_name(sim, job), job->id);
}

void model_check(struct sim *sim)
{
    for (size_t i = 0; i < sim->rm.job_count; i++) {
        const struct job *job = sim->rm.jobs[i];
        const struct entry *e = model_protects(job) ? find(&sim->model, job->told_number) : NULL;
        if (!e)
            continue;
        still_has(sim, e, in_core(sim, job));
        if (!sim->result.failed)
            hwcoll_is_known(sim, e, in_core(sim, job));
    }
}

/* ---- crashes ---- */

static bool undone(uint64_t batch, uint64_t durable)
{
    return batch > durable;
}

void model_died(struct sim *sim, uint64_t durable)
{
    struct model *model = &sim->model;
    size_t kept = 0;
    asks_died(sim, durable);
    hosts_died(sim, durable);
    shares_died(sim, durable);
    for (size_t at = 0; at < model->count; at++) {
        struct entry *e = model->entries[at];
        if (undone(e->born_batch, durable) && !e->told) {
            free(e);
            continue;
        }
        model->entries[kept++] = e;
        if (undone(e->freed_batch, durable) && !e->free_told)
            e->freed_batch = 0;
        if (undone(e->gone_batch, durable))
            e->gone_batch = 0;
        if (undone(e->back_batch, durable))
            e->back_batch = 0;
        if (undone(e->given_batch, durable))
            e->given_batch = 0;
        if (undone(e->unkeyed_batch, durable))
            e->unkeyed_batch = 0;
        if (undone(e->lost_batch, durable))
            e->lost_batch = 0;
        if (undone(e->reported_batch, durable))
            e->reported_batch = 0;
        if (!edge_clock_saved(sim))
            e->rested_ms = e->rested_before_ms;
        const struct reservation_record *saved = disk_find(&sim->disk, e->number);
        if (saved) {
            e->saved_hwcoll = e->event_hwcoll = saved->hwcoll;
            fewer_vnis_known(e, saved);
            if (e->relayed && saved->hwcoll == HWCOLL_WANTED)
                e->token[0] = '\0';
        }
    }
    model->count = kept;
}

void model_restarted(struct sim *sim)
{
    struct core_status status;
    asks_restarted(sim);
    shares_restarted(sim);
    core_status(sim->edge.core, &status);
    if (status.last_seq < sim->model.last_seq_told)
        sim_fail(sim, "F24", "event %llu was told, the last one known is %llu",
                 n(sim->model.last_seq_told), n(status.last_seq));
    for (size_t at = 0; at < sim->model.count; at++) {
        struct entry *e = sim->model.entries[at];
        const struct reservation_record *saved = disk_find(&sim->disk, e->number);
        e->wanted_ms = sim->now_ms;
        if (saved && saved->fm_side == FM_SIDE_MAYBE) /* it may be about to be asked for */
            model_unsure(sim, e->number);
        bool rests = saved && saved->state == JOB_RELEASING && saved->vni_count > 0;
        /* A time that is yet to come cannot be compared with now either; one of before the clock
         * was set back may be later than it was, and its VNIs rest the longer. */
        const int64_t released_ms = rests ? saved->released_ms - sim->edge.clock_ms : 0;
        if (rests && (sim->edge.rested || released_ms > sim->now_ms))
            e->rested_before_ms = e->rested_ms, e->rested_ms = sim->now_ms;
        else if (rests && released_ms > e->rested_ms)
            e->rested_before_ms = e->rested_ms, e->rested_ms = released_ms;
        if (!e->job)
            continue;
        const struct reservation *r = in_core(sim, e->job);
        for (const struct reservation *life = r; life; life = life->older)
            e->regranted |= life->repeated && life->number == e->number;
        if (e->told && !e->freed_batch && !e->gone_batch)
            still_has(sim, e, r);
        if (e->free_told && r && r->number == e->number && r->state == JOB_ACTIVE)
            sim_fail(sim, "I2", "the release of number %llu was accepted, now it is active",
                     n(e->number));
    }
}

/* ---- an older state of the disk ---- */

/* It knows the reservation as it was then. */
static void as_it_was(struct entry *e, const struct reservation_record *saved)
{
    bool releasing = saved->state == JOB_RELEASING;
    fewer_vnis_known(e, saved);
    e->freed_batch = releasing ? 1 : 0;
    e->free_told &= releasing;
    e->gone_batch = e->back_batch = e->given_batch = e->unkeyed_batch = 0;
    e->lost_batch = saved->hwcoll == HWCOLL_LOST ? 1 : 0;
    e->saved_hwcoll = e->event_hwcoll = e->told_hwcoll = saved->hwcoll;
    if (releasing && saved->vni_count < e->vni_count)
        e->back_batch = e->given_batch = 1;
    if (e->relayed && saved->hwcoll == HWCOLL_WANTED)
        e->token[0] = '\0';
    e->launched = e->document = saved->launched != 0;
    e->reported_batch = 0;
    if (saved->pkey == 0)
        e->unkeyed_batch = 1;
}

static bool keeps_word(const struct entry *e, const struct reservation_record *saved)
{
    const char *token = secret_none(saved->token) ? "" : secret_expose(saved->token);
    if (e->relayed && saved->hwcoll == HWCOLL_WANTED)
        return saved->wish != WISH_REQUIRED; /* such a job was told later, by what is lost now */
    return saved->hwcoll != HWCOLL_WANTED && strcmp(token, e->token) == 0;
}

void model_rewound(struct sim *sim)
{
    struct model *model = &sim->model;
    struct rewind *rewind = &sim->rewind;
    model->epoch++;
    model->last_seq_told = sim->disk.last_seq;
    size_t known = 0;
    shares_rewound(sim);
    for (size_t at = 0; at < model->count; at++) {
        struct entry *e = model->entries[at];
        const struct reservation_record *saved = disk_find(&sim->disk, e->number);
        bool keeps = saved && keeps_word(e, saved);
        if (e->job && e->job->told_number == e->number && !keeps)
            e->job->told = false;
        if (e->number <= rewind->last_number) {
            model->entries[known++] = e;
            if (saved)
                as_it_was(e, saved);
            e->forgotten |= e->token[0] && !fabric_opened_by(&sim->fabric, e->token);
            e->told &= !saved || keeps;
            e->token[0] = e->told ? e->token[0] : '\0';
            continue;
        }
        GROW(rewind->lost, rewind->lost_count, rewind->lost_room);
        rewind->lost[rewind->lost_count++] = e;
    }
    model->count = known;
    for (size_t i = 0; i < sim->rm.job_count; i++)
        sim->rm.jobs[i]->named = false;
}

/* ---- the fabric manager's losses ---- */

void model_forgotten(struct sim *sim, uint64_t number)
{
    struct entry *e = find(&sim->model, number);
    if (e)
        e->forgotten = true;
}

void model_asked_fm(struct sim *sim, uint64_t number)
{
    struct entry *e = find(&sim->model, number);
    if (e && e->job)
        e->job->asked_fm = true;
}

void model_unsure(struct sim *sim, uint64_t number)
{
    struct entry *e = find(&sim->model, number);
    if (e && e->job)
        e->job->unsure = true;
}
