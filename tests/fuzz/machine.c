/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/machine.h"
#include "tests/coreconfig.h"

#include "core/reservation/reservation.h"
#include "state/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const clusters[] = {"elcap", "elcap2", "other"}; /* the last: not configured */
static const char *const jobs[] = {"f1", "f2", "3", "f1-2"};
static const char *const foreign[] = {"elc-7",        "elcap-f1",   "elcap-f2", "elcap2-f1",
                                      "elcap-9",      "x",          "elcap2-3", "-",
                                      "elcap-f1-2-3", "elcap2-f1-2"};

enum {
    CLUSTERS = sizeof clusters / sizeof *clusters,
    JOBS = sizeof jobs / sizeof *jobs,
    FOREIGN = sizeof foreign / sizeof *foreign,
    RESERVATIONS_MAX = 256, /* more are not made */
    VNI_END = 1088,         /* no pool here has it, or more */
    SYNC_LOT = 4,
    LOTS_MAX = (RESERVATIONS_MAX + MACHINE_ASKED_MAX) * MACHINE_ASKED_MAX,
};

/* ---- the disk ---- */

struct walk {
    const struct machine *machine;
    struct core_status status;
    uint64_t active, releasing, addresses, held_vnis, live_vnis, count;
    uint8_t vnis[VNI_END / 8];
    const char *name; /* whose intent is looked for */
    bool intent;
};

/* I1: in one reservation only, or shared; live or quarantined. */
static void look_at_vni(struct walk *walk, uint16_t vni, bool live)
{
    FUZZ_CHECK(vni < VNI_END);
    uint8_t bit = (uint8_t)(1u << vni % 8), *byte = &walk->vnis[vni / 8];
    FUZZ_CHECK(!(*byte & bit));
    *byte |= bit;
    walk->live_vnis += live;
    walk->held_vnis += !live;
}

static int look_at_record(void *arg, const struct record *record)
{
    struct walk *walk = arg;
    const struct reservation_record *r = &record->u.reservation;
    char name[FM_NAME_MAX + 1];
    if (record->kind == RECORD_SHARED_VNI)
        look_at_vni(walk, record->u.shared_vni.vni,
                    record->u.shared_vni.state != SHARED_QUARANTINED);
    if (record->kind != RECORD_RESERVATION)
        return 0;
    walk->count++;
    if (r->state == JOB_ACTIVE)
        walk->active++;
    else
        walk->releasing++;
    if (r->fm_side != FM_SIDE_NOTHING)
        walk->addresses += r->addresses;
    for (int i = 0; i < r->vni_count - r->shared_count; i++)
        look_at_vni(walk, r->vnis[i], r->state == JOB_ACTIVE);
    fm_name_format(name, r->cluster, r->job);
    if (walk->name && strcmp(name, walk->name) == 0 && r->fm_side != FM_SIDE_NOTHING)
        walk->intent = true;
    return 0;
}

static const char *keep_record(struct machine *machine, const struct record *record)
{
    struct batch batch;
    batch_init(&batch, 0);
    batch_add(&batch, record);
    const char *wrong = disk_apply(&machine->disk, &batch, 1);
    batch_release(&batch);
    return wrong;
}

static bool is_in_order(const struct disk *disk, const struct record *record)
{
    const size_t reservations = disk->reservation_count, events = disk->event_count;
    if (record->kind == RECORD_RESERVATION && reservations > 0)
        return record->u.reservation.number >
               disk->reservations[reservations - 1]->u.reservation.number;
    if (record->kind == RECORD_EVENT && events > 0)
        return record->u.event.seq > disk->events[events - 1]->u.event.seq;
    return true;
}

bool machine_loaded(struct machine *machine, const struct record *record)
{
    struct disk *disk = &machine->disk;
    const uint64_t number = disk->last_number, seq = disk->last_seq;
    if (!is_in_order(disk, record))
        return false;
    if (record->kind == RECORD_COUNTERS) {
        disk->last_number = disk->deleted_number = record->u.counters.last_number;
        disk->last_seq = disk->deleted_seq = record->u.counters.last_seq;
        return true;
    }
    if (record->kind == RECORD_RESERVATION)
        disk->last_number = 0; /* the counters came first */
    if (record->kind == RECORD_EVENT)
        disk->last_seq = record->u.event.seq - 1;
    const char *wrong = keep_record(machine, record);
    if (disk->last_number < number)
        disk->last_number = number;
    if (disk->last_seq < seq)
        disk->last_seq = seq;
    return !wrong && disk->deleted_number <= disk->last_number &&
           disk->deleted_seq <= disk->last_seq;
}

static void save(struct machine *machine, const struct record *record)
{
    FUZZ_CHECK(!record_fault(record)); /* else the store would stop the broker */
    FUZZ_CHECK(!keep_record(machine, record));
}

/* ---- what the core wants ---- */

static void take_answer(struct machine *machine, const struct answer *answer)
{
    for (size_t i = 0; i < machine->asked_count; i++) {
        if (machine->asked[i].ticket != answer->ticket)
            continue;
        machine->asked[i] = machine->asked[--machine->asked_count];
        if (answer->kind == ANSWER_CREATED || answer->kind == ANSWER_SAME)
            FUZZ_CHECK(answer->reservation && answer->reservation->hwcoll != HWCOLL_WANTED);
        FUZZ_CHECK(answer->kind != ANSWER_SYNCED || answer->sync);
        FUZZ_CHECK(answer_status(answer->kind) < 300 || answer->detail);
        return;
    }
    FUZZ_CHECK(!"an answer that nobody waits for");
}

static void take_call(struct machine *machine, const struct effect *effect)
{
    struct walk walk = {.name = effect->u.call.about.name};
    const struct core_config *config = core_config_of(machine->core);
    struct machine_call *call = &machine->calls[machine->call_count];
    FUZZ_CHECK(effect->u.call.id > machine->last_call);
    FUZZ_CHECK(machine->call_count < config->calls_at_once);
    for (size_t i = 0; i < machine->call_count; i++)
        FUZZ_CHECK(strcmp(machine->calls[i].name, effect->u.call.about.name) != 0);
    /* Intent first: what is asked for is on disk (F21). */
    (void)disk_load(&machine->disk, look_at_record, &walk);
    FUZZ_CHECK(effect->u.call.kind != FMCALL_RESERVE || walk.intent);
    machine->last_call = call->id = effect->u.call.id;
    call->kind = effect->u.call.kind;
    strcpy(call->name, effect->u.call.about.name);
    machine->call_count++;
}

static void take_effect(struct machine *machine, const struct effect *effect)
{
    switch (effect->kind) {
    case EFFECT_SAVE: /* saved before anything is said */
        break;
    case EFFECT_ANSWER:
        take_answer(machine, &effect->u.answer);
        break;
    case EFFECT_CALL:
        take_call(machine, effect);
        break;
    case EFFECT_LOGIN:
        FUZZ_CHECK(!machine->logging_in);
        FUZZ_CHECK(effect->u.login.url < core_config_of(machine->core)->fm_url_count);
        machine->logging_in = true;
        break;
    case EFFECT_LIST:
        FUZZ_CHECK(effect->u.list.id != 0);
        machine->list = effect->u.list.id;
        break;
    case EFFECT_JOBPOLL:
        FUZZ_CHECK(machine->jobpoll == 0); /* one cluster is asked, one at a time */
        FUZZ_CHECK(strcmp(effect->u.jobpoll.cluster, clusters[0]) == 0);
        machine->jobpoll = effect->u.jobpoll.id;
        break;
    case EFFECT_EVENT:
        FUZZ_CHECK(effect->u.event->seq <= machine->disk.last_seq);
        break;
    case EFFECT_TRACE:
        FUZZ_CHECK(effect->u.trace.text);
        break;
    }
}

/* What the core shows is what is on disk, and adds up. */
static void check_books(struct machine *machine)
{
    struct walk walk = {0};
    struct core_status *status = &walk.status;
    core_status(machine->core, status);
    (void)disk_load(&machine->disk, look_at_record, &walk);
    FUZZ_CHECK(status->use.jobs_active == walk.active &&
               status->use.jobs_releasing == walk.releasing);
    FUZZ_CHECK(status->vnis_live == walk.live_vnis && status->vnis_in_quarantine == walk.held_vnis);
    FUZZ_CHECK(status->use.addresses == walk.addresses);
    FUZZ_CHECK(status->calls_in_flight == machine->call_count);
    FUZZ_CHECK(status->last_seq == machine->disk.last_seq);
    FUZZ_CHECK(status->link != LINK_UP || core_config_of(machine->core)->fm_present);
}

static void take_effects(struct machine *machine)
{
    size_t count;
    const struct effect *effects = core_effects(machine->core, &count);
    for (size_t i = 0; i < count; i++)
        if (effects[i].kind == EFFECT_SAVE)
            save(machine, &effects[i].u.record);
    for (size_t i = 0; i < count; i++)
        take_effect(machine, &effects[i]);
    check_books(machine);
}

static void step(struct machine *machine, struct core_event event)
{
    event.now_ms = machine->now_ms;
    core_step(machine->core, &event);
    take_effects(machine);
}

/* ---- what happens ---- */

static void wait_for(struct machine *machine, uint64_t ticket)
{
    struct machine_asked *asked = &machine->asked[machine->asked_count++];
    asked->ticket = ticket;
    asked->until_ms = machine->now_ms + core_config_of(machine->core)->reserve_timeout_ms;
}

static uint64_t ask(struct machine *machine)
{
    wait_for(machine, ++machine->last_ticket);
    return machine->last_ticket;
}

static void reserve(struct machine *machine, struct fuzz_input *in)
{
    static const uint32_t node_counts[] = {128, 1, 64, 4, 0, 1000000};
    uint8_t who = fuzz_byte(in), what = fuzz_byte(in);
    if (machine->asked_count == MACHINE_ASKED_MAX || machine->disk.last_number > RESERVATIONS_MAX)
        return;
    const struct reserve_request request = {.cluster = clusters[who % CLUSTERS],
                                            .job = jobs[who / 4 % JOBS],
                                            .nodes = what & 8 ? "elcap[1-128]" : NULL,
                                            .node_count = node_counts[what % 6],
                                            .uid = who >> 7,
                                            .vni_count = (what >> 4) % 7 - 1,
                                            .wish = (enum hwcoll_wish)(who >> 4) % 5};
    step(machine,
         (struct core_event){.kind = CORE_RESERVE, .ticket = ask(machine), .u.reserve = request});
}

static void release(struct machine *machine, struct fuzz_input *in)
{
    uint8_t who = fuzz_byte(in);
    size_t waiting = machine->asked_count;
    if (waiting == MACHINE_ASKED_MAX)
        return;
    uint64_t ticket = ask(machine);
    step(machine, (struct core_event){.kind = CORE_RELEASE,
                                      .ticket = ticket,
                                      .u.release = {.cluster = clusters[who % CLUSTERS],
                                                    .job = jobs[who / 4 % JOBS]}});
    for (size_t i = 0; i < machine->asked_count; i++)
        FUZZ_CHECK(machine->asked[i].ticket != ticket); /* I5: it never waits */
}

static void sync(struct machine *machine, struct fuzz_input *in)
{
    uint8_t who = fuzz_byte(in);
    const char *active[JOBS];
    size_t count = 0;
    bool more = who & 8;
    if (machine->asked_count == MACHINE_ASKED_MAX)
        return;
    for (size_t i = 0; i < JOBS; i++)
        if (who >> 4 & 1u << i)
            active[count++] = jobs[i];
    uint64_t ticket = machine->sync != 0 ? machine->sync : machine->last_ticket + 1;
    if (machine->sync == 0)
        machine->last_ticket++;
    machine->sync = more ? ticket : 0;
    if (!more)
        wait_for(machine, ticket);
    step(machine, (struct core_event){.kind = CORE_SYNC,
                                      .ticket = ticket,
                                      .u.sync = {.cluster = clusters[who % CLUSTERS],
                                                 .active = active,
                                                 .count = count,
                                                 .more = more}});
}

static void node_reports(struct machine *machine, struct fuzz_input *in)
{
    uint8_t who = fuzz_byte(in), what = fuzz_byte(in);
    static const char *const lists[] = {"elcap[1-128]", "elcap[1-3]", "elcap1", "elcap[0-2]"};
    char node[16];
    if (machine->asked_count == MACHINE_ASKED_MAX)
        return;
    snprintf(node, sizeof node, "elcap%d", what & 3);
    uint64_t ticket = ask(machine);
    if (what >> 6 == 3)
        step(machine,
             (struct core_event){.kind = CORE_FENCE, .ticket = ticket, .u.fence = {.node = node}});
    else if (what >> 6 == 2)
        step(machine, (struct core_event){
                          .kind = CORE_NODE_SUM,
                          .ticket = ticket,
                          .u.sum = {.cluster = clusters[who % CLUSTERS],
                                    .job = jobs[who / 4 % JOBS],
                                    .number = machine->disk.last_number - (what >> 2 & 3),
                                    .nodes = lists[what & 3],
                                    .state = who >> 6 == 3 ? NODE_LINGERING : NODE_DESTROYED}});
    else
        step(machine,
             (struct core_event){.kind = CORE_NODE_REPORT,
                                 .ticket = ticket,
                                 .u.report = {.cluster = clusters[who % CLUSTERS],
                                              .job = jobs[who / 4 % JOBS],
                                              .number = machine->disk.last_number - (what >> 2 & 3),
                                              .node = node,
                                              .state = (enum node_state)(1 + (what >> 4 & 3) % 3),
                                              .services = what & 8 ? "cxi0:1" : NULL,
                                              .order = who >> 6}});
    for (size_t i = 0; i < machine->asked_count; i++)
        FUZZ_CHECK(machine->asked[i].ticket != ticket);
}

static void jobpoll_done(struct machine *machine, struct fuzz_input *in)
{
    uint8_t who = fuzz_byte(in);
    const char *active[JOBS];
    size_t count = 0;
    uint64_t id = machine->jobpoll;
    if (id == 0)
        return;
    for (size_t i = 0; i < JOBS; i++)
        if (who >> 4 & 1u << i)
            active[count++] = jobs[i];
    bool ok = who % 4 != 0, more = ok && who & 8;
    if (!more)
        machine->jobpoll = 0;
    step(machine, (struct core_event){.kind = CORE_JOBPOLL_DONE,
                                      .u.jobpoll = {.id = id,
                                                    .ok = ok,
                                                    .active = active,
                                                    .count = count,
                                                    .words = "exit status 1",
                                                    .more = more}});
}

static void login_done(struct machine *machine, struct fuzz_input *in)
{
    bool ok = fuzz_byte(in) % 4 != 0;
    if (!machine->logging_in)
        return;
    machine->logging_in = false;
    step(machine, (struct core_event){.kind = CORE_LOGIN_DONE,
                                      .u.login = {.ok = ok, .words = ok ? NULL : "HTTP 401"}});
}

static void list_names(struct machine *machine, struct fuzz_input *in)
{
    uint16_t which = fuzz_pair(in);
    const char *names[FOREIGN];
    size_t count = 0;
    for (size_t i = 0; i < FOREIGN; i++)
        if (which & 1u << i)
            names[count++] = foreign[i];
    if (machine->list != 0)
        step(machine, (struct core_event){.kind = CORE_LIST_NAMES,
                                          .u.names = {machine->list, names, count}});
}

static void list_done(struct machine *machine, struct fuzz_input *in)
{
    static const enum fmcall_outcome outcomes[] = {
        FM_OK, FM_OK, FM_OK, FM_BUSY, FM_DENIED, FM_TIMEOUT, FM_UNREACHED, FM_UNAUTHORIZED};
    enum fmcall_outcome outcome = outcomes[fuzz_byte(in) % 8];
    uint64_t list = machine->list;
    if (list == 0)
        return;
    machine->list = 0;
    step(machine,
         (struct core_event){.kind = CORE_LIST_DONE, .u.list_done = {list, outcome, "HTTP 503"}});
}

/* Only what the kind of call can come to (fmcall.h). */
static enum fmcall_outcome outcome_of(enum fmcall_kind kind, uint8_t byte)
{
    static const enum fmcall_outcome outcomes[] = {FM_OK,     FM_OK,        FM_GONE,
                                                   FM_DENIED, FM_BUSY,      FM_TIMEOUT,
                                                   FM_BROKEN, FM_UNREACHED, FM_UNAUTHORIZED};
    enum fmcall_outcome outcome = outcomes[byte % 9];
    return outcome == FM_GONE && kind == FMCALL_RESERVE ? FM_EXISTS : outcome;
}

static void call_done(struct machine *machine, struct fuzz_input *in)
{
    static const char *const tokens[] = {"sess-1", "sess-2"};
    uint8_t which = fuzz_byte(in), how = fuzz_byte(in);
    if (machine->call_count == 0)
        return;
    struct machine_call *place = &machine->calls[which % machine->call_count], call = *place;
    enum fmcall_outcome outcome = outcome_of(call.kind, how);
    const char *token = tokens[how / 9 % 2];
    bool with = outcome == FM_OK &&
                (call.kind == FMCALL_RESERVE || (call.kind == FMCALL_CHECK && how < 128));
    *place = machine->calls[--machine->call_count];
    step(machine, (struct core_event){.kind = CORE_CALL_DONE,
                                      .u.call = {.id = call.id,
                                                 .outcome = outcome,
                                                 .token = secret_of(with ? token : NULL),
                                                 .words = "HTTP 507: 02: none left"}});
}

static void tick(struct machine *machine, struct fuzz_input *in)
{
    static const int64_t units[] = {1, 10, 1000, 60000};
    uint8_t how = fuzz_byte(in);
    int64_t deadline = core_next_deadline(machine->core);
    bool to_deadline = how % 2 == 0 && deadline != INT64_MAX && deadline > machine->now_ms;
    machine->now_ms = to_deadline ? deadline : machine->now_ms + (how >> 3) * units[how / 2 % 4];
    step(machine, (struct core_event){.kind = CORE_TICK});
    for (int lots = 0; core_next_deadline(machine->core) <= machine->now_ms; lots++) {
        FUZZ_CHECK(lots < LOTS_MAX); /* else the loop would spin */
        step(machine, (struct core_event){.kind = CORE_TICK});
    }
    for (size_t i = 0; i < machine->asked_count; i++)
        FUZZ_CHECK(machine->now_ms < machine->asked[i].until_ms);
}

static void configure(struct machine *machine, struct fuzz_input *in)
{
    struct core_config *config = &machine->config;
    uint8_t what = fuzz_byte(in), value = fuzz_byte(in);
    struct core_config before = *config;
    switch (what % 10) {
    case 0:
        config->total_addresses = 32 * value;
        break;
    case 1:
        config->clusters[value % 2].budget = value;
        break;
    case 2:
        config->cluster_count = 1 + value % 2;
        break;
    case 3:
        config->fm_present = value % 2;
        break;
    case 4:
        config->fm_url_count = 1 + value % 2;
        break;
    case 5:
        strcpy(config->fm_urls[0], value % 2 ? "https://a" : "https://b");
        break;
    case 6:
        config->calls_at_once = 1 + value % 4;
        break;
    case 7:
        idset_init(&config->vni_pool);
        for (int vni = 0; vni < 2 + value % 16; vni++)
            idset_add(&config->vni_pool, (uint16_t)(1024 + vni + value / 16));
        break;
    case 8:
        config->addresses_per_job = value;
        break;
    default:
        config->vni_hold_ms = value * 1000;
        break;
    }
    if (core_config_check(config, NULL) < 0)
        *config = before;
    else if (machine->core)
        step(machine, (struct core_event){.kind = CORE_CONFIGURE, .u.config = config});
}

void machine_step(struct machine *machine, struct fuzz_input *in)
{
    static void (*const all[])(struct machine *, struct fuzz_input *) = {
        reserve,   reserve,   reserve,   release,   sync, login_done, list_names, list_done,
        call_done, call_done, call_done, call_done, tick, tick,       configure};
    uint8_t byte = fuzz_byte(in), what = byte % 16;
    if (byte >= 240) /* the top ones, so that most older inputs stay what they are */
        jobpoll_done(machine, in);
    else if (byte >= 224)
        node_reports(machine, in);
    else if (what == 15)
        machine_crash(machine);
    else
        all[what](machine, in);
}

/* ---- its life ---- */

static int load(void *arg, const struct record *record)
{
    struct machine *machine = arg;
    struct error err = {0};
    FUZZ_CHECK(core_load(machine->core, record, &err) == 0); /* what was saved can be read (I2) */
    return 0;
}

void machine_crash(struct machine *machine)
{
    core_destroy(machine->core);
    machine->core = core_create(&machine->config);
    machine->asked_count = machine->call_count = 0;
    machine->last_call = 0;
    machine->logging_in = false;
    machine->list = machine->jobpoll = machine->sync = 0;
    (void)disk_load(&machine->disk, load, machine);
    FUZZ_CHECK(core_check_load(machine->core, &(struct error){0}) == 0);
    machine_start(machine);
}

/* coreconfig_init gives 64,511 ids to the pool: once is enough. */
static void default_config(struct core_config *config)
{
    static struct core_config fresh;
    if (fresh.vni_pool.count == 0)
        coreconfig_init(&fresh);
    *config = fresh;
}

void machine_init(struct machine *machine)
{
    memset(machine, 0, sizeof *machine);
    machine->now_ms = 1000000;
    struct core_config *config = &machine->config;
    default_config(config);
    idset_init(&config->vni_pool);
    for (uint16_t vni = 1024; vni < 1032; vni++)
        idset_add(&config->vni_pool, vni);
    config->cluster_count = 2;
    strcpy(config->clusters[0].name, clusters[0]);
    strcpy(config->clusters[1].name, clusters[1]);
    config->clusters[0].jobpoll = true;
    config->clusters[0].jobpoll_every_ms = 60000;
    config->fm_present = true;
    config->min_nodes = 64;
    config->total_addresses = 4086;
    config->system_nodes = 11136;
    config->events_keep = 8;
    config->sync_lot = SYNC_LOT;
    strcpy(config->fm_urls[0], "https://a");
    strcpy(config->fm_urls[1], "https://standby");
    config->fm_url_count = 1;
}

void machine_start(struct machine *machine)
{
    core_start(machine->core, machine->now_ms);
    take_effects(machine);
}

void machine_release(struct machine *machine)
{
    core_destroy(machine->core);
    machine->core = NULL;
    disk_release(&machine->disk);
}
