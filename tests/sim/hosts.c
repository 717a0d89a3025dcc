/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/hosts.h"

#include "core/reservation/reservation.h"
#include "base/nodelist.h"
#include "tests/sim/sim.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
    ANSWER_TIMEOUT_MS = 3000, /* more than a message takes that is not late */
    LOOK_AFTER_MS = 10000,
    LOOKS_WITHIN_MS = 120000,
};

static void deliver(struct sim *sim, struct host *host);

/* ---- names ---- */

static uint32_t nodes_of(const struct sim *sim, const struct job *job)
{
    bool modelled = sim->profile.reports && job->wanted.node_count <= HOSTS_MAX;
    return modelled ? job->wanted.node_count : 0;
}

static int serial(const struct sim *sim, const struct job *job)
{
    int at = 0;
    while (sim->rm.jobs[at] != job)
        at++;
    return at;
}

void hosts_name_nodes(const struct sim *sim, const struct job *job, char *out, size_t size)
{
    snprintf(out, size, "j%dn[0-%u]", serial(sim, job), job->wanted.node_count - 1);
}

void hosts_name_some(const struct sim *sim, const struct job *job, uint32_t mask, char *out,
                     size_t size)
{
    int length = snprintf(out, size, "j%dn[", serial(sim, job));
    for (uint32_t i = 0; i < HOSTS_MAX; i++)
        if (mask >> i & 1)
            length += snprintf(out + length, size - (size_t)length, "%u,", i);
    assert((size_t)length < size);
    out[length - 1] = ']';
}

static struct host *host_at(struct sim *sim, struct job *job, uint32_t index)
{
    struct host *host = &job->hosts[index];
    host->job = job;
    if (host->name[0] == '\0')
        snprintf(host->name, sizeof host->name, "j%dn%u", serial(sim, job), index);
    return host;
}

struct host *hosts_at(struct sim *sim, struct job *job, uint32_t index)
{
    return index < nodes_of(sim, job) ? host_at(sim, job, index) : NULL;
}

/* ---- reports ---- */

/* A newer word about the same reservation takes the place of one that has not left yet. */
static void put(struct sim *sim, struct host *host, struct host_report said)
{
    size_t last = host->outbox_count - 1;
    bool waits = host->outbox_count > (host->sending ? 1 : 0);
    if (waits && host->outbox[last].number == said.number)
        host->outbox_count--;
    assert(host->outbox_count < OUTBOX_MAX);
    said.order = ++host->order;
    host->outbox[host->outbox_count++] = said;
    deliver(sim, host);
}

static void report(struct sim *sim, struct host *host, uint64_t number, uint8_t state)
{
    struct host_report said = {.number = number, .state = state};
    if (host->number == number) {
        said.epoch = host->epoch;
        said.making = host->making;
        said.vni_count = host->vni_count;
        memcpy(said.vnis, host->vnis, sizeof said.vnis);
    }
    put(sim, host, said);
}

static void no_answer(struct sim *sim, void *what, uint64_t attempt)
{
    struct host *host = what;
    if (!host->sending || host->attempt != attempt)
        return;
    host->sending = false;
    host->unheard = true;
    deliver(sim, host);
}

static int64_t travel(struct sim *sim, struct host *host, const struct host_report *sent)
{
    struct rng *rng = &host->job->rng;
    if (sent->state == NODE_FENCED || !fault_happens(&sim->faults, FAULT_WORD_LATE, rng))
        return rng_between(rng, 0, sim->profile.net_ms);
    if (sent->state != NODE_DESTROYED) {
        host->in_wind = sent->number;
        host->untellable = true;
    }
    return rng_between(rng, ANSWER_TIMEOUT_MS, 30000);
}

static void deliver(struct sim *sim, struct host *host)
{
    if (host->sending || host->outbox_count == 0 ||
        ((host->dead || host->cut_off) && host->outbox[0].state != NODE_FENCED))
        return;
    host->sending = true;
    uint8_t state = host->outbox[0].state;
    enum request_kind kind = state == NODE_FENCED   ? REQUEST_FENCE
                             : state == HOST_BOOTED ? REQUEST_BOOT
                                                    : REQUEST_REPORT;
    struct request *request = rm_request(sim, kind, host->job);
    request->host = host;
    request->report = host->outbox[0];
    request->report.attempt = ++host->attempt;
    rm_send(sim, request, travel(sim, host, &host->outbox[0]));
    sim_later(sim, ANSWER_TIMEOUT_MS, no_answer, host, host->attempt);
}

void hosts_event(const struct sim *sim, const struct request *request, struct core_event *event)
{
    if (request->kind == REQUEST_FENCE) {
        event->kind = CORE_FENCE;
        event->ticket = request->ticket;
        event->u.fence.node = request->host->name;
        event->u.fence.reason = "it is off";
        return;
    }
    if (request->kind == REQUEST_BOOT) {
        event->kind = CORE_NODE_BOOT;
        event->ticket = request->ticket;
        event->u.boot.node = request->host->name;
        event->u.boot.order = request->report.order;
        event->u.boot.uptime_ms = sim->now_ms - request->host->booted_ms;
        event->u.boot.booted_ms = request->host->booted_ms;
        return;
    }
    static const struct traffic_report traffic = {
        .amounts = {1, 1, 1, 1, 1}, .slowest = "cxi0", .congested = "cxi1"};
    event->u.report.traffic =
        sim->nics.told && request->report.state != NODE_CREATED ? &traffic : NULL;
    event->kind = CORE_NODE_REPORT;
    event->ticket = request->ticket;
    event->u.report.cluster = sim->config.clusters[request->cluster].name;
    event->u.report.job = request->job->id;
    event->u.report.number = request->report.number;
    event->u.report.node = request->host->name;
    event->u.report.order = request->report.order;
    event->u.report.state = request->report.state;
    event->u.report.vnis = request->report.vnis;
    event->u.report.vni_count = request->report.vni_count;
    event->u.report.services = request->report.state == NODE_DESTROYED ? NULL : "cxi0:12,cxi1:7";
}

/* F3: services of a reservation that is over, which no other job may have. A late word is of
 * those that were there before the prolog ran again, when that has made others since. */
void hosts_heard(struct sim *sim, const struct request *request, const struct told *told,
                 uint64_t batch)
{
    struct host *host = request->host;
    const struct host_report *said = &request->report;
    bool there = said->state == NODE_CREATED || said->state == NODE_LINGERING;
    if (request->kind == REQUEST_REPORT && told->kind == ANSWER_REPORTED) {
        if (there && said->number == host->misheard)
            host->misheard = 0;
        else if (said->state == NODE_DESTROYED && said->epoch != sim->model.epoch)
            host->misheard = said->number; /* the number is another reservation's by now */
    }
    if (request->kind != REQUEST_REPORT || said->state != NODE_LINGERING ||
        said->number != host->number || said->making != host->making ||
        said->epoch != sim->model.epoch)
        return;
    unsigned before = host->kept_count;
    host->kept_count = 0;
    for (unsigned i = 0; i < said->vni_count; i++)
        if (model_nobody_has(sim, said->vnis[i], told->number))
            host->kept[host->kept_count++] = said->vnis[i];
    if (host->kept_count > before)
        host->kept_batch = batch;
    if (host->kept_count > 0 && told->kind != ANSWER_REPORTED && host->present)
        sim_fail(sim, "F3", "node %s still has VNI %u, nobody else has it, and it was answered: %s",
                 host->name, host->kept[0], answer_word(told->kind));
}

void hosts_answered(struct sim *sim, const struct request *request)
{
    struct host *host = request->host;
    struct host_report sent = request->report;
    enum answer_kind answer = request->told.kind;
    if (!host->sending || host->attempt != sent.attempt)
        return; /* it was given up: nobody listens on that connection */
    host->sending = false;
    host->unheard = false;
    memmove(host->outbox, host->outbox + 1, --host->outbox_count * sizeof *host->outbox);
    /* One that has said nothing is only known to be of a job that named its nodes; and a fence is
     * about jobs that are over. */
    const struct reservation_record *saved = disk_find(&sim->disk, sent.number);
    bool fenced = answer == ANSWER_FENCED && sim->profile.nodes_named && saved &&
                  saved->state == JOB_RELEASING && host->in_wind != sent.number;
    bool counts = host->doubted != sent.number;
    if (fenced || (sent.state == NODE_DESTROYED && answer == ANSWER_REPORTED && counts))
        host->heard_clean = sent.number;
    bool there = sent.state == NODE_CREATED || sent.state == NODE_LINGERING;
    if (answer == ANSWER_REPORTED && sent.state != HOST_BOOTED && sent.epoch == sim->model.epoch) {
        host->heard_number = there ? sent.number : 0;
        host->heard_state = sent.state;
    }
    if (sent.state == NODE_LINGERING && answer == ANSWER_REPORTED)
        sums_lingers(sim, host, sent.number);
    if (sent.state == NODE_CREATED && (answer == ANSWER_GIVEN_BACK || answer == ANSWER_NOT_FOUND) &&
        host->number == sent.number)
        host->present = false; /* destroyed at once */
    deliver(sim, host);
}

/* What it has still to say of it may arrive after the sum, and count. */
void hosts_summed(struct host *host, uint64_t number, enum node_state state)
{
    bool lingers = host->heard_number == number && host->heard_state == NODE_LINGERING;
    if (host->sending || host->outbox_count > 0 || host->in_wind == number || lingers ||
        host->doubted == number)
        return;
    if (state == NODE_DESTROYED && host->ended_number >= number)
        host->heard_clean = number;
}

/* ---- a node's life ---- */

static void fence(struct sim *sim, void *what, uint64_t number)
{
    struct host *host = what;
    host->fenced = true;
    host->outbox_count = 0;
    host->sending = false;
    report(sim, host, number, NODE_FENCED);
}

/* No CXI service outlives it, nor does what it had still to say. */
static void boot(struct sim *sim, void *what, uint64_t mark)
{
    struct host *host = what;
    (void)mark;
    if (host->fenced)
        return;
    sim_trace(sim, "node %s: boots", host->name);
    host->dead = host->present = host->cut_off = false;
    host->sending = false;
    host->untellable = true;
    host->heard_number = host->kept_count = 0;
    host->outbox_count = 0;
    host->attempt++;
    host->booted_ms = sim->now_ms;
    if (rng_chance(&host->job->launches.rng, 300)) /* with what it remembered */
        host->ended_number = 0;
    report(sim, host, 0, HOST_BOOTED);
}

static void die(struct sim *sim, struct host *host)
{
    struct rng *rng = &host->job->rng;
    host->dead = true;
    sim_trace(sim, "node %s: dies, services for number %llu %s", host->name,
              (unsigned long long)host->number, host->present ? "stay there" : "are none");
    if (fault_happens(&sim->faults, FAULT_NODE_BOOTS, rng))
        sim_later(sim, rng_between(rng, 5000, 120000), boot, host, 0);
    else if (rng_chance(rng, 500))
        sim_later(sim, rng_between(rng, 5000, 120000), fence, host, host->number);
}

/* What it has not yet said of this reservation is not true any more. */
static void forget(struct host *host, uint64_t number)
{
    size_t kept = 0;
    for (size_t i = 0; i < host->outbox_count; i++)
        if (host->outbox[i].number != number)
            host->outbox[kept++] = host->outbox[i];
    host->outbox_count = kept;
}

static void prolog(struct sim *sim, void *what, uint64_t life);

/* Another NIC has failed: none of the job's services is left, and the prolog is run again. */
static void undo(struct sim *sim, struct host *host)
{
    struct rng *rng = &host->job->rng;
    host->present = false;
    sim_trace(sim,
              "node %s: undoes what it made for number %llu, and leaves the word to its epilog",
              host->name, (unsigned long long)host->number);
    sim_later(sim, rng_between(rng, 0, 2000), prolog, host, host->job->life);
}

static void make_services(struct sim *sim, struct host *host, const struct document *of)
{
    host->present = true;
    host->making++;
    host->number = of->number;
    host->epoch = of->epoch;
    host->vni_count = of->vni_count;
    memcpy(host->vnis, of->vnis, sizeof host->vnis);
    host->kept_count = 0;
    sim_trace(sim, "node %s: makes services for number %llu%s", host->name,
              (unsigned long long)host->number, of->life > 0 ? ", by a document" : "");
}

void hosts_make(struct sim *sim, struct host *host, const struct document *document)
{
    make_services(sim, host, document);
    if (fault_happens(&sim->faults, FAULT_NODE_DIES, &host->job->launches.rng))
        die(sim, host);
}

static void prolog(struct sim *sim, void *what, uint64_t life)
{
    struct host *host = what;
    struct job *job = host->job;
    bool runs = job->stage == STAGE_RUNNING && job->life == life;
    if (!runs || host->dead || host->cut_off || (host->present && host->number != job->number))
        return;
    if (host->sending && !host->unheard) { /* one program at a time, which waits for an answer */
        sim_later(sim, 50, prolog, host, life);
        return;
    }
    host->sending = false;
    if (host->unheard) /* it may have been heard all the same, and is not said again */
        host->heard_number = 0;
    forget(host, job->number);
    if (host->heard_clean == job->number)
        host->heard_clean = 0;
    struct document of = {job->number, job->epoch, .vni_count = job->vni_count};
    memcpy(of.vnis, job->vnis, sizeof of.vnis);
    make_services(sim, host, &of);
    if (fault_happens(&sim->faults, FAULT_NODE_DIES, &job->rng)) {
        die(sim, host);
        return;
    }
    host->spoke_number = host->number;
    if (!fault_happens(&sim->faults, FAULT_NODE_MUTE, &job->rng))
        report(sim, host, host->number, NODE_CREATED);
    if (fault_happens(&sim->faults, FAULT_NODE_UNDOES, &job->rng))
        undo(sim, host);
}

/* What begins here of it later comes too late. */
static void ends(struct host *host, uint64_t number)
{
    host->ended_number = number > host->ended_number ? number : host->ended_number;
}

static void destroyed(struct sim *sim, void *what, uint64_t number)
{
    struct host *host = what;
    if (host->dead)
        return;
    ends(host, number);
    if (host->number == number)
        host->present = false;
    sim_trace(sim, "node %s: services for number %llu are gone", host->name,
              (unsigned long long)number);
    if (!sums_ended(sim, host, number, NODE_DESTROYED) || host->spoke_number == number)
        report(sim, host, number, NODE_DESTROYED);
    else
        deliver(sim, host); /* what it had to say before it was cut off */
}

static void lingers(struct sim *sim, struct host *host, uint64_t number)
{
    ends(host, number);
    if (!sums_ended(sim, host, number, NODE_LINGERING) || rng_chance(&host->job->sums.rng, 500))
        report(sim, host, number, NODE_LINGERING);
    host->spoke_number = number; /* no sum ends it */
    sim_later(sim, rng_between(&host->job->rng, 1000, 90000), destroyed, host, number);
}

/* What has become of its services meanwhile: there was nobody to destroy them. */
static void comes_back(struct sim *sim, void *what, uint64_t number)
{
    struct host *host = what;
    struct rng *rng = &host->job->rng;
    bool earlier = host->number != number; /* another time, which has ended */
    if (!host->cut_off || earlier || host->dead || host->fenced)
        return;
    host->cut_off = false;
    sim_trace(sim, "node %s: is back", host->name);
    if (fault_happens(&sim->faults, FAULT_NODE_BOOTS, rng))
        boot(sim, host, 0);
    else if (host->present && rng_chance(rng, 500))
        lingers(sim, host, number);
    else
        destroyed(sim, host, number);
}

static void cut_off(struct sim *sim, struct host *host, uint64_t number)
{
    int64_t hold = sim->config.vni_hold_ms > 0 ? sim->config.vni_hold_ms : 0;
    sim_trace(sim, "node %s: is cut off", host->name);
    host->cut_off = true;
    sim_later(sim, rng_between(&host->job->rng, 1000, 2 * hold + 60000), comes_back, host, number);
}

/* A life that has not been told of its reservation yet may want other nodes than the one before. */
static bool begins_here(struct sim *sim, struct host *host, uint64_t number)
{
    return launch_begins(host->job, number) &&
           hosts_at(sim, host->job, (uint32_t)(host - host->job->hosts));
}

static void epilog(struct sim *sim, void *what, uint64_t number)
{
    struct host *host = what;
    struct rng *rng = &host->job->rng;
    bool again = host->job->stage == STAGE_RUNNING && host->job->number == number;
    if (again && host->present && host->epoch != host->job->epoch) {
        host->present = false; /* of a ledger that was lost: the number is another reservation's */
        return;
    }
    if (host->cut_off && !host->dead &&
        host->number != number) { /* of an earlier life: runs then */
        sim_later(sim, LOOK_AFTER_MS, epilog, host, number);
        return;
    }
    if (host->dead || host->cut_off ||
        again || /* its id and its reservation are in use again: hooks are in order */
        begins_here(sim, host, number))
        return;
    if (host->present && host->number == number &&
        fault_happens(&sim->faults, FAULT_NODE_CUT_OFF, rng)) {
        cut_off(sim, host, number);
        return;
    }
    if (host->present && host->number == number &&
        fault_happens(&sim->faults, FAULT_NODE_LINGERS, rng)) {
        lingers(sim, host, number);
        return;
    }
    destroyed(sim, host, number);
}

void hosts_end_of(struct sim *sim, struct host *host, uint64_t number)
{
    sim_later(sim, rng_between(&host->job->launches.rng, 1000, 60000), epilog, host, number);
}

void hosts_ask_of(struct sim *sim, struct host *host, uint32_t life)
{
    prolog(sim, host, life);
}

void hosts_ask(struct sim *sim, struct job *job)
{
    for (uint32_t i = 0; i < nodes_of(sim, job); i++)
        sim_later(sim, rng_between(&job->rng, 0, 500), prolog, host_at(sim, job, i), job->life);
}

void hosts_prolog(struct sim *sim, struct job *job, const struct told *told)
{
    uint64_t number = told->vni_count > 0 ? told->number : 0;
    job->number = number;
    job->epoch = told->epoch;
    job->vni_count = told->vni_count;
    memcpy(job->vnis, told->vnis, sizeof job->vnis);
    sums_forget(job, number);
    if (number != 0 && !launch_prologs(sim, job, told))
        hosts_ask(sim, job);
}

void hosts_epilog(struct sim *sim, struct job *job, uint64_t number)
{
    for (uint32_t i = 0; number != 0 && i < nodes_of(sim, job); i++) {
        bool late = fault_happens(&sim->faults, FAULT_NODE_LATE, &job->rng);
        int64_t wait = rng_between(&job->rng, 0, late ? 60000 : 1000);
        if (host_at(sim, job, i)->left_out != job->life)
            sim_later(sim, wait, epilog, host_at(sim, job, i), number);
    }
}

/* ---- jobs that ended before it heard of them ---- */

static bool remembers(const struct host *host, uint64_t number)
{
    bool found = host->number == number;
    for (size_t i = 0; i < host->outbox_count; i++)
        found |= host->outbox[i].number == number;
    return found;
}

static bool uses_vni_of(const struct host *host, const struct reservation_record *r)
{
    bool uses = false;
    for (unsigned i = 0; i < host->vni_count && host->present; i++)
        for (unsigned k = 0; k < r->vni_count; k++)
            uses |= host->vnis[i] == r->vnis[k];
    return uses;
}

/* No prolog is between its document and its services: no document of it is taken from now on. */
static void never_heard(struct sim *sim, void *what, uint64_t number)
{
    struct host *host = what;
    const struct reservation_record *r = disk_find(&sim->disk, number);
    if (!r || r->state != JOB_RELEASING || remembers(host, number) || uses_vni_of(host, r) ||
        host->outbox_count > OUTBOX_MAX / 2 || host->dead || host->cut_off || host->fenced)
        return;
    if (sim->profile.plant != PLANT_TELL_UNNOTED)
        ends(host, number);
    sim_trace(sim, "node %s: never heard of number %llu", host->name, (unsigned long long)number);
    put(sim, host,
        (struct host_report){.number = number, .epoch = sim->model.epoch, .state = NODE_DESTROYED});
}

struct looking {
    struct sim *sim;
    struct host *host;
};

/* What is shown is on disk. */
static void is_shown(void *arg, const struct reservation *r)
{
    const struct looking *looking = arg;
    struct sim *sim = looking->sim;
    const struct reservation_record *saved = disk_find(&sim->disk, r->number);
    if (r->state != JOB_RELEASING || strcmp(r->job, looking->host->job->id) != 0)
        sim_fail(sim, "F3", "node %s is shown number %llu, which does not wait for it",
                 looking->host->name, (unsigned long long)r->number);
    if (saved && saved->state == JOB_RELEASING)
        sim_later(sim, rng_between(&looking->host->job->launches.dice, 0, 500), never_heard,
                  looking->host, r->number);
}

static void looks(struct sim *sim, void *what, uint64_t mark)
{
    struct looking looking = {sim, what};
    const struct host *host = what;
    (void)mark;
    if (sim->edge.core && !host->dead && !host->cut_off && !host->fenced)
        (void)core_page(sim->edge.core,
                        &(struct core_filter){.cluster = rm_cluster_name(sim, host->job),
                                              .node = host->name,
                                              .uid = -1,
                                              .limit = OUTBOX_MAX / 4,
                                              .silent = true},
                        is_shown, &looking);
}

void hosts_look(struct sim *sim, struct job *job)
{
    static const int64_t within[] = {LOOK_AFTER_MS, LOOKS_WITHIN_MS};
    for (uint32_t i = 0; i < 2 * nodes_of(sim, job) && sim->profile.looks; i++)
        sim_later(sim, rng_between(&job->launches.dice, 0, within[i % 2]), looks,
                  host_at(sim, job, i / 2), 0);
}

/* ---- the truth ---- */

const struct host *hosts_present(const struct job *job, uint64_t number, uint32_t epoch)
{
    for (uint32_t i = 0; job && i < HOSTS_MAX; i++) {
        const struct host *host = &job->hosts[i];
        if (host->present && host->number == number && host->epoch == epoch && !host->fenced &&
            host->misheard != number)
            return host;
    }
    return NULL;
}

const struct host *hosts_known(const struct job *job, uint64_t number, uint32_t epoch)
{
    for (uint32_t i = 0; job && i < HOSTS_MAX; i++) {
        const struct host *host = &job->hosts[i];
        if (host->present && host->number == number && host->epoch == epoch && !host->fenced &&
            host->heard_number == number && host->outbox_count == 0)
            return host;
    }
    return NULL;
}

const struct host *hosts_keep(const struct job *job, uint16_t vni)
{
    for (uint32_t i = 0; i < HOSTS_MAX; i++) {
        const struct host *host = &job->hosts[i];
        for (unsigned k = 0; k < host->kept_count && host->present && !host->fenced; k++)
            if (host->kept[k] == vni)
                return host;
    }
    return NULL;
}

uint32_t hosts_heard_clean(const struct job *job, uint64_t number)
{
    uint32_t count = 0;
    for (uint32_t i = 0; job && i < HOSTS_MAX; i++)
        count += job->hosts[i].heard_clean == number;
    return count;
}

/* ---- who looks after them ---- */

static bool being_fenced(const struct host *host)
{
    return host->outbox_count > 0 && host->outbox[0].state == NODE_FENCED;
}

static struct host *named(struct sim *sim, const char *name)
{
    unsigned job, index;
    if (sscanf(name, "j%un%u", &job, &index) != 2 || job >= sim->rm.job_count || index >= HOSTS_MAX)
        return NULL;
    return host_at(sim, sim->rm.jobs[job], index);
}

/* Nothing of what the broker waits for is left there or yet to come, and it cannot say so, or has
 * nobody to. */
static bool is_to_be_fenced(const struct sim *sim, const struct host *host)
{
    return !host->present && !host->dead && host->outbox_count == 0 && host->prologs == 0 &&
           sim->now_ms > host->job->launches.arrives_ms &&
           (host->untellable || sim->rewind.done || sim->profile.config.vni_hold_ms < 0);
}

static void declare_clean(struct sim *sim, struct host *host)
{
    struct request *request = rm_request(sim, REQUEST_FENCE, host->job);
    request->host = host;
    rm_send(sim, request, 0);
}

static void look_at(struct sim *sim, struct host *host, uint64_t number)
{
    if (host->dead && !host->fenced && !being_fenced(host))
        fence(sim, host, number);
    else if (host->fenced || is_to_be_fenced(sim, host))
        declare_clean(sim, host);
}

static void look_at_silent(struct sim *sim, const struct reservation_record *r)
{
    struct job *job = rm_find(sim, r->cluster, r->job);
    for (uint32_t at = 0; job && at < r->node_count && at < HOSTS_MAX; at++)
        if (r->state == JOB_RELEASING && r->vni_count > 0)
            look_at(sim, host_at(sim, job, at), r->number);
}

static void look_after_all(struct sim *sim)
{
    bool silent = sim->profile.config.vni_hold_ms < 0 || sim->profile.sums > 0; /* no row of it */
    for (size_t i = 0; i < sim->disk.node_count; i++) {
        const struct node_record *node = &sim->disk.nodes[i]->u.node;
        const struct reservation_record *r = disk_find(&sim->disk, node->number);
        struct host *host = named(sim, node->node);
        if (host && r && r->state == JOB_RELEASING &&
            (node->state == NODE_LINGERING || node->state == NODE_CREATED))
            look_at(sim, host, node->number);
    }
    for (size_t i = 0; i < sim->rm.job_count && sim->rewind.done; i++)
        for (uint32_t at = 0; at < HOSTS_MAX; at++) { /* the ledger may not know that it waits */
            struct host *host = &sim->rm.jobs[i]->hosts[at];
            if (host->dead && !host->fenced && host->present)
                fence(sim, host, host->number);
        }
    for (size_t i = 0; i < sim->disk.reservation_count && silent; i++)
        look_at_silent(sim, &sim->disk.reservations[i]->u.reservation);
}

static void look_after(struct sim *sim, void *what, uint64_t mark)
{
    (void)what;
    if (sim->phase == PHASE_STORM || mark != sim->calm)
        return;
    look_after_all(sim);
    sim_later(sim, LOOK_AFTER_MS, look_after, NULL, mark);
}

void hosts_calm(struct sim *sim)
{
    for (size_t i = 0; i < sim->rm.job_count; i++)
        for (uint32_t at = 0; at < HOSTS_MAX; at++) {
            struct host *host = &sim->rm.jobs[i]->hosts[at];
            if (host->cut_off)
                comes_back(sim, host, host->number);
        }
    look_after(sim, NULL, sim->calm);
}

/* ---- an older state of the disk ---- */

static const struct node_record *on_disk(const struct sim *sim, const struct host *host,
                                         uint64_t number)
{
    for (size_t i = 0; i < sim->disk.node_count; i++) {
        const struct node_record *node = &sim->disk.nodes[i]->u.node;
        if (node->number == number && strcmp(node->node, host->name) == 0)
            return node;
    }
    return NULL;
}

static bool has_services(const struct node_record *node)
{
    return node->state == NODE_LINGERING || node->state == NODE_CREATED;
}

/* A node's own word that services linger is ended by no sum. */
static bool summed_clean(const struct sim *sim, const struct host *host,
                         const struct node_record *said)
{
    for (size_t i = 0; i < sim->disk.sum_count; i++) {
        const struct sum_record *sum = &sim->disk.sums[i]->u.sum;
        bool later = !said || (said->state != NODE_LINGERING && said->sums < sum->sum);
        if (sum->number == host->number && sum->state == NODE_DESTROYED && later &&
            nodelist_contains(sum->nodes, host->name))
            return true;
    }
    return false;
}

void hosts_died(struct sim *sim, uint64_t durable)
{
    for (size_t i = 0; i < sim->rm.job_count; i++)
        for (uint32_t at = 0; at < HOSTS_MAX; at++)
            if (sim->rm.jobs[i]->hosts[at].kept_batch > durable)
                sim->rm.jobs[i]->hosts[at].kept_count = 0;
}

void hosts_rewound(struct sim *sim)
{
    for (size_t i = 0; i < sim->rm.job_count; i++)
        for (uint32_t at = 0; at < HOSTS_MAX; at++) {
            struct host *host = &sim->rm.jobs[i]->hosts[at];
            const struct node_record *heard = on_disk(sim, host, host->heard_number);
            const struct node_record *now = on_disk(sim, host, host->number);
            host->heard_clean = host->kept_count = 0;
            if (!heard || heard->state != host->heard_state || !has_services(heard))
                host->heard_number = 0;
            bool clean = (now && !has_services(now)) || summed_clean(sim, host, now);
            host->misheard = clean ? host->number : 0;
        }
}
