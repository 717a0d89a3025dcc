/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/shares.h"

#include "core/reservation/reservation.h"
#include "tests/sim/sim.h"

#include <string.h>

static const char *const names[SHARES] = {"daos", "mochi", "a.b_c-1"};
static const char *const lists[] = {"", "1001", "1000,1002", "*", "*"};

enum {
    TELLS_EVERY_MS = 7000,
    LIES = 300,
    AFTER_LIE = 4,
    CHANGES_MAX = 6,
    WISHES_MAX = 10,
    DRAINS_EVERY_MS = 5000
};

static void tell(struct sim *sim, void *what, uint64_t mark);

const char *shares_name(uint8_t index)
{
    return names[index];
}

void shares_init(struct sim *sim)
{
    struct shares *shares = &sim->shares;
    memset(shares, 0, sizeof *shares);
    rng_init_for(&shares->rng, sim->profile.seed, "shares", 0);
    shares->on = rng_chance(&shares->rng, 500);
    if (shares->on)
        sim_later(sim, rng_between(&shares->rng, 1, TELLS_EVERY_MS), tell, NULL, 0);
}

unsigned shares_draw(struct sim *sim, uint32_t cluster, const char *job, uint32_t life,
                     uint8_t wanted[SHARES_PER_JOB])
{
    struct rng rng;
    if (!sim->shares.on)
        return 0;
    rng_init_for(&rng, sim->profile.seed ^ name_hash(sim->config.clusters[cluster].name, job),
                 "share", life);
    const unsigned count = rng_chance(&rng, 500) ? 0 : 1 + rng_below(&rng, SHARES_PER_JOB);
    wanted[0] = (uint8_t)rng_below(&rng, SHARES);
    wanted[1] = (uint8_t)((wanted[0] + 1) % SHARES);
    return count;
}

/* ---- other partitions ---- */

static size_t foreign_at(const struct shares *shares, uint16_t vni)
{
    size_t at = 0;
    while (at < shares->foreign_count && shares->foreign[at].vni != vni)
        at++;
    return at;
}

bool shares_foreign(const struct sim *sim, uint16_t vni)
{
    const size_t at = foreign_at(&sim->shares, vni);
    return at < sim->shares.foreign_count && sim->shares.foreign[at].told;
}

/* One of the pool comes or goes. */
static void change_partition(struct sim *sim, void *what, uint64_t mark)
{
    struct shares *shares = &sim->shares;
    (void)what, (void)mark;
    const int vni = idset_next(&sim->config.vni_pool, rng_below(&shares->rng, UINT16_MAX + 1));
    const size_t at = foreign_at(shares, (uint16_t)vni);
    if (sim->phase != PHASE_STORM || vni < 0 || vni == 1 || vni == 10)
        return;
    if (at < shares->foreign_count || shares->foreign_count == FOREIGN_MAX) {
        const size_t gone = at < shares->foreign_count ? at : rng_below(&shares->rng, FOREIGN_MAX);
        sim_trace(sim, "fabric manager: VNI %u is no other partition's any more",
                  shares->foreign[gone].vni);
        shares->foreign[gone] = shares->foreign[--shares->foreign_count];
        return;
    }
    sim_trace(sim, "fabric manager: VNI %d is another partition's now", vni);
    memset(&shares->foreign[shares->foreign_count], 0, sizeof shares->foreign[0]);
    shares->foreign[shares->foreign_count++].vni = (uint16_t)vni;
}

/* What another partition got in this step. */
struct got {
    struct sim *sim;
    struct idset vnis;
    uint64_t before; /* the last event until then */
};

/* B2: each job that runs and has one is told, whether it is its own or shared. */
static void is_told(void *arg, const struct reservation *r)
{
    const struct got *got = arg;
    bool has = false;
    for (unsigned i = 0; i < r->vni_count; i++)
        has |= idset_has(&got->vnis, r->vnis[i]);
    for (uint64_t seq = got->before + 1; has && seq <= core_last_seq(got->sim->edge.core); seq++) {
        const struct event_record *event = core_event_at(got->sim->edge.core, seq);
        has = !event || event->kind != EVENT_VNI_FOREIGN || event->number != r->number;
    }
    if (has)
        sim_fail(got->sim, "B2",
                 "number %llu has a VNI that another partition got, and is not told",
                 (unsigned long long)r->number);
}

/* What is true; or, never twice running and only in storms, too much or nothing at all. */
static void tell(struct sim *sim, void *what, uint64_t mark)
{
    struct shares *shares = &sim->shares;
    struct idset ours = {.count = 0}, others = {.count = 0};
    (void)what, (void)mark;
    const bool lies = sim->phase == PHASE_STORM && !shares->lied && rng_chance(&shares->rng, LIES);
    const int64_t next_ms = rng_between(&shares->rng, TELLS_EVERY_MS / 2, TELLS_EVERY_MS);
    sim_later(sim, lies ? AFTER_LIE * next_ms : next_ms, tell, NULL, 0);
    if (!sim->edge.core)
        return;
    for (size_t i = 0; i < shares->foreign_count; i++)
        idset_add(&others, shares->foreign[i].vni);
    if (lies && rng_chance(&shares->rng, 500))
        others = (struct idset){.count = 0};
    else if (lies)
        idset_add_all(&others, &sim->config.vni_pool);
    shares->lied = lies;
    idset_add(&ours, 1024);
    const struct partition all[] = {{"default", &ours}, {"beta", &others}};
    struct core_event event = {.kind = CORE_PARTITIONS, .u.partitions = {.all = all, .count = 2}};
    const uint64_t process = sim->edge.process;
    const struct idset known = shares->known;
    struct got got = {.sim = sim, .before = core_last_seq(sim->edge.core)};
    edge_piece(sim, &event);
    if (!sim->edge.core || sim->edge.process != process)
        return;
    got.vnis = shares->known;
    idset_remove_all(&got.vnis, &known);
    core_page(sim->edge.core, &(struct core_filter){.state = JOB_ACTIVE, .uid = -1, .limit = 1000},
              is_told, &got);
    const bool doubted = admin_sees(sim, ALARM_PARTITIONS, NULL);
    shares->doubts += doubted;
    for (size_t i = 0; i < shares->foreign_count && !doubted; i++)
        if (!shares->foreign[i].told && idset_has(&others, shares->foreign[i].vni)) {
            shares->foreign[i].told = true;
            shares->foreign[i].batch = journal_newest(&sim->journal);
        }
}

/* ---- shared VNIs ---- */

static const struct shared_vni *in_core(const struct sim *sim, uint16_t vni)
{
    const struct shared_vni *one = sim->edge.core ? core_shared(sim->edge.core) : NULL;
    while (one && one->record.vni != vni)
        one = one->next;
    return one;
}

bool shares_has(const struct sim *sim, uint16_t vni)
{
    return in_core(sim, vni);
}

static void send_wish(struct sim *sim, void *what, uint64_t mark)
{
    static const int64_t lifetimes[] = {0, 0, 3000, 30000};
    struct shares *shares = &sim->shares;
    struct rng *rng = &shares->rng;
    (void)what;
    if (sim->phase != PHASE_STORM)
        return;
    struct request *request =
        rm_request(sim, rng_chance(rng, 600) ? REQUEST_SHARE : REQUEST_UNSHARE, NULL);
    request->share = (struct share_wish){.name = (uint8_t)(mark % SHARES),
                                         .uid = 1000 + rng_below(rng, 3),
                                         .users = lists[rng_below(rng, 5)],
                                         .one_cluster = rng_chance(rng, 300),
                                         .lifetime_ms = lifetimes[rng_below(rng, 4)],
                                         .when_unused = rng_chance(rng, 500)};
    rm_send(sim, request, rng_between(rng, 0, sim->profile.net_ms));
}

void shares_storm(struct sim *sim)
{
    struct shares *shares = &sim->shares;
    const int64_t storm = sim->profile.storm_ms;
    if (!shares->on)
        return;
    for (uint32_t i = 0; i < SHARES; i++) /* some are there from the beginning on */
        sim_later(sim, rng_between(&shares->rng, 0, 1000), send_wish, NULL, i);
    for (uint32_t i = rng_below(&shares->rng, WISHES_MAX); i > 0; i--)
        sim_later(sim, rng_between(&shares->rng, 0, storm - 1), send_wish, NULL,
                  rng_below(&shares->rng, SHARES));
    for (uint32_t i = rng_below(&shares->rng, CHANGES_MAX); i > 0; i--)
        sim_later(sim, rng_between(&shares->rng, 0, storm - 1), change_partition, NULL, 0);
}

static void drain(struct sim *sim, void *what, uint64_t mark)
{
    (void)what, (void)mark;
    sim_later(sim, DRAINS_EVERY_MS, drain, NULL, 0);
    for (uint8_t i = 0; sim->edge.core && i < SHARES; i++) {
        if (!core_find_shared(sim->edge.core, names[i]))
            continue;
        struct request *request = rm_request(sim, REQUEST_UNSHARE, NULL);
        request->share = (struct share_wish){.name = i, .when_unused = true};
        rm_send(sim, request, 0);
    }
}

void shares_drain(struct sim *sim)
{
    drain(sim, NULL, 0);
}

void shares_event(struct sim *sim, struct request *request, struct core_event *event)
{
    struct share_wish *wish = &request->share;
    event->ticket = request->ticket;
    wish->asked = ++sim->shares.asked[wish->name];
    if (request->kind == REQUEST_UNSHARE) {
        sim->shares.told[wish->name].vni = 0;
        event->kind = CORE_UNSHARE;
        event->u.unshare.name = names[wish->name];
        event->u.unshare.when_unused = wish->when_unused;
        return;
    }
    sim->shares.told[wish->name].ends |= wish->lifetime_ms > 0; /* if it is done, and not told */
    event->kind = CORE_SHARE;
    event->u.share = (struct share_request){
        .name = names[wish->name],
        .users = wish->users,
        .clusters = wish->one_cluster ? sim->config.clusters[0].name : "",
        .uid = wish->uid,
        .expires_ms =
            wish->lifetime_ms > 0 ? sim->now_ms + sim->edge.clock_ms + wish->lifetime_ms : 0,
    };
}

static bool runs_with(const struct sim *sim, uint16_t vni)
{
    for (size_t at = 0; at < sim->model.count; at++) {
        const struct entry *e = sim->model.entries[at];
        for (unsigned i = e->vni_count - e->shared_count; i < e->vni_count; i++)
            if (e->vnis[i] == vni && !e->freed_batch && !e->gone_batch && !e->given_batch)
                return true;
    }
    return false;
}

void shares_given(struct sim *sim, const struct request *request, enum answer_kind kind)
{
    const struct shared_vni *one = core_find_shared(sim->edge.core, names[request->share.name]);
    bool good;
    if (request->kind == REQUEST_SHARE)
        good = kind == ANSWER_CREATED || kind == ANSWER_SAME || kind == ANSWER_CHANGED ||
               kind == ANSWER_CONFLICT || kind == ANSWER_TOO_MANY_SHARED ||
               kind == ANSWER_TOO_OFTEN || kind == ANSWER_NO_VNIS;
    else
        good = kind == ANSWER_REMOVED || kind == ANSWER_NOT_FOUND ||
               (kind == ANSWER_CLOSING && request->share.when_unused) ||
               (kind == ANSWER_IN_USE && one && runs_with(sim, one->record.vni));
    sim->shares.made += kind == ANSWER_CREATED;
    if (!good)
        sim_fail(sim, "B1", "a request to %s %s was answered: %s", rm_request_word(request),
                 names[request->share.name], answer_word(kind));
}

void shares_told(struct sim *sim, const struct request *request, enum answer_kind kind,
                 uint16_t vni, int64_t expires_ms)
{
    const uint8_t name = request->share.name;
    if (request->kind != REQUEST_SHARE || request->share.asked != sim->shares.asked[name] ||
        (kind != ANSWER_CREATED && kind != ANSWER_SAME && kind != ANSWER_CHANGED))
        return;
    sim->shares.told[name].vni = vni;
    sim->shares.told[name].ends = expires_ms != 0;
}

/* ---- what the broker saves ---- */

/* None of a job that runs goes (I1). */
static void is_unused(struct sim *sim, uint16_t vni)
{
    for (size_t at = 0; at < sim->model.count; at++) {
        const struct entry *e = sim->model.entries[at];
        for (unsigned i = e->vni_count - e->shared_count; i < e->vni_count; i++)
            if (e->vnis[i] == vni && model_protects(e->job) && e->job->told_number == e->number &&
                !e->freed_batch)
                sim_fail(sim, "I1", "shared VNI %u is removed, job %s has it", vni,
                         rm_job_name(e->job));
    }
}

unsigned shares_gone_now(const struct sim *sim)
{
    return sim->shares.gone_ms == sim->now_ms ? sim->shares.gone : 0;
}

void shares_saved(struct sim *sim, const struct record *record)
{
    struct partitions others = {0};
    if (record->kind == RECORD_PARTITIONS) {
        if (partitions_parse(&others, record->u.partitions, NULL) < 0)
            sim_fail(sim, "B2", "partitions are saved that cannot be read");
        partitions_union(&others, &sim->shares.known);
        partitions_release(&others);
    } else if (record->kind == RECORD_SHARED_GONE) {
        is_unused(sim, record->u.shared_gone);
        idset_remove(&sim->shares.there, record->u.shared_gone);
        sim->shares.gone = shares_gone_now(sim) + 1;
        sim->shares.gone_ms = sim->now_ms;
    } else if (record->kind == RECORD_SHARED_VNI) {
        const struct shared_vni_record *rec = &record->u.shared_vni;
        if (rec->state == SHARED_QUARANTINED)
            is_unused(sim, rec->vni);
        if (!idset_has(&sim->shares.there, rec->vni))
            model_is_free(sim, rec->vni, rec->name);
        idset_add(&sim->shares.there, rec->vni);
    }
}

static bool on_list(const char *list, const char *word)
{
    char text[SHARED_LIST_MAX + 2], wanted[64];
    snprintf(text, sizeof text, ",%s,", list);
    snprintf(wanted, sizeof wanted, ",%s,", word);
    return strstr(text, wanted);
}

/* B1: a new reservation has only what its user and its cluster may have. */
void shares_joined(struct sim *sim, const struct entry *e, const struct reservation_record *r)
{
    char uid[16];
    snprintf(uid, sizeof uid, "%u", r->uid);
    for (unsigned i = e->vni_count - e->shared_count; i < e->vni_count; i++) {
        const struct shared_vni *one = in_core(sim, e->vnis[i]);
        const struct shared_vni_record *rec = one ? &one->record : NULL;
        sim->shares.joined++;
        if (!rec || (rec->state != SHARED_OPEN && r->state == JOB_ACTIVE))
            sim_fail(sim, "B1", "number %llu got shared VNI %u, which is %s",
                     (unsigned long long)e->number, e->vnis[i],
                     rec ? shared_state_word(rec->state) : "not there");
        else if (r->state == JOB_ACTIVE && rec->expires_ms != 0 &&
                 rec->expires_ms < sim->now_ms + sim->edge.clock_ms)
            sim_fail(sim, "B1", "number %llu got shared VNI %u after its time",
                     (unsigned long long)e->number, e->vnis[i]);
        else if (r->state == JOB_ACTIVE &&
                 ((r->uid != rec->uid && strcmp(rec->users, "*") != 0 &&
                   !on_list(rec->users, uid)) ||
                  (rec->clusters[0] != '\0' && !on_list(rec->clusters, r->cluster))))
            sim_fail(sim, "I1", "number %llu of uid %s got shared VNI %u, and is not on its list",
                     (unsigned long long)e->number, uid, e->vnis[i]);
    }
}

/* ---- crashes ---- */

void shares_died(struct sim *sim, uint64_t durable)
{
    struct shares *shares = &sim->shares;
    for (size_t i = 0; i < shares->foreign_count; i++)
        shares->foreign[i].told &= shares->foreign[i].batch <= durable;
}

/* I2: what a user was told is there, unless it ends by itself. */
void shares_restarted(struct sim *sim)
{
    struct shares *shares = &sim->shares;
    idset_init(&shares->known);
    idset_init(&shares->there);
    for (size_t i = 0; i < sim->disk.shared_count; i++)
        idset_add(&shares->there, sim->disk.shared[i]->u.shared_vni.vni);
    if (sim->disk.partitions)
        shares_saved(sim, sim->disk.partitions);
    for (unsigned i = 0; i < SHARES; i++) {
        const struct shared_vni *one = core_find_shared(sim->edge.core, names[i]);
        if (shares->told[i].vni != 0 && !shares->told[i].ends &&
            (!one || one->record.vni != shares->told[i].vni))
            sim_fail(sim, "I2", "shared VNI %s was told to be %u, after a restart it is %u",
                     names[i], shares->told[i].vni, one ? one->record.vni : 0);
    }
}

void shares_rewound(struct sim *sim)
{
    struct shares *shares = &sim->shares;
    for (size_t i = 0; i < shares->foreign_count; i++)
        shares->foreign[i].told = false;
    for (unsigned i = 0; i < SHARES; i++)
        shares->told[i].vni = 0;
}

/* Nothing is left of what was shared, and all VNIs are free that are no other partition's. */
void shares_check_empty(struct sim *sim)
{
    struct core_status status;
    uint32_t foreign = 0;
    core_status(sim->edge.core, &status);
    for (size_t i = 0; i < sim->shares.foreign_count; i++)
        foreign += idset_has(&sim->config.vni_pool, sim->shares.foreign[i].vni);
    if (status.vnis_shared > 0)
        sim_fail(sim, "B1", "every job is over, %u shared VNIs are left", status.vnis_shared);
    if (status.vnis_live + status.vnis_in_quarantine > 0 || status.vnis_foreign != foreign ||
        status.vnis_free + foreign != status.vnis_pool)
        sim_fail(sim, "F3",
                 "every job is over; VNIs: %u live, %u held, %u of %u free, %u are others', and %u "
                 "are taken for that",
                 status.vnis_live, status.vnis_in_quarantine, status.vnis_free, status.vnis_pool,
                 foreign, status.vnis_foreign);
}
