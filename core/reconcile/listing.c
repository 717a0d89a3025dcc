/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reconcile/reconcile.h"

#include "core/fabric/link.h"
#include "core/reservation/sizing.h"

#include <assert.h>
#include <string.h>

/* Comparing what the fabric manager lists with the ledger (F20, F22, B11). Only a list that was
 * read whole concludes anything, and nothing is deleted that is not provably ours: an exact cluster
 * name of our configuration, and the session token of a job that the ledger knows to be over. */

/* Slurm deletes by prefix: a cluster `foo` that lists its jobs here takes our `foo2-17` for one of
 * its own (docs/fabric-manager.md). */
static void warn_of_prefix_conflict(struct core *core, const char *name)
{
    assert(name);
    const char *dash = strchr(name, '-');
    size_t length = dash ? (size_t)(dash - name) : 0;
    for (uint32_t i = 0; length > 0 && i < core->config.cluster_count; i++) {
        const char *ours = core->config.clusters[i].name;
        struct cluster *cluster = core_cluster(core, ours);
        if (strncmp(ours, name, length) != 0 || ours[length] == '\0' ||
            cluster->name_conflict[0] != '\0')
            continue;
        /* A name of another owner, with any bytes: made printable, because it is shown. */
        for (size_t at = 0; at < sizeof cluster->name_conflict - 1 && name[at] != '\0'; at++)
            cluster->name_conflict[at] = (char)(name[at] > ' ' && name[at] <= '~' ? name[at] : '?');
        core_trace(
            core, TRACE_WARNING,
            "fabric manager lists %.80s: if that is a Slurm cluster \"%.*s\", its controller "
            "takes our %s-<number> for its own and may delete by it -> rename cluster %s so that "
            "it does not begin with \"%.*s\"",
            name, (int)length, name, ours, ours, (int)length, name);
    }
}

/* A Slurm whose cluster has the very name of ours: its jobs are strays to us, as ours are to its
 * controller. Leftovers of ours look alike, so this only warns; once. */
static void warn_of_name_conflict(struct core *core, const char *name, const char *job)
{
    assert(core_cluster_config(core, name));
    struct cluster *cluster = core_cluster(core, name);
    if (cluster->same_name_logged || job[strspn(job, "0123456789")] != '\0')
        return;
    cluster->same_name_logged = true;
    core_trace(core, TRACE_WARNING,
               "fabric manager lists %s-%s, which the ledger does not know; if a Slurm with "
               "switch/hpe_slingshot calls its cluster \"%s\" too, its controller deletes what is "
               "ours -> rename cluster %s here, or there, at once",
               name, job, name, name);
}

/* The life of the job that may be what was listed, or NULL. */
static struct reservation *find_listed(const struct core *core, const char *cluster,
                                       const char *job)
{
    assert(cluster && job);
    struct reservation *r = ledger_newest(&core->ledger, cluster, job);
    while (r && r->fm_side == FM_SIDE_NOTHING)
        r = r->older;
    return r;
}

/* Of all its lives: which of them it is, the name does not tell. An older one whose release is in
 * doubt is there as long as the name is, also when the next one waits for it already. */
static void note_listed(const struct core *core, struct reservation *newest)
{
    for (struct reservation *r = newest; r; r = r->older) {
        if (r->fm_side != FM_SIDE_NOTHING)
            r->op->evidence.listed = core->link.list;
    }
}

void listing_names(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_LIST_NAMES);
    const char *const *names = event->u.names.names;
    if (event->u.names.list != core->link.list || core->link.list == 0)
        return;
    link_heard(core);
    for (size_t i = 0; i < event->u.names.count; i++) {
        char cluster[CLUSTER_NAME_MAX + 1];
        const char *job;
        struct reservation *r;
        if (!fm_name_split(names[i], cluster, &job) || !core_cluster_config(core, cluster)) {
            warn_of_prefix_conflict(core, names[i]);
        } else if ((r = find_listed(core, cluster, job))) {
            note_listed(core, r);
        } else {
            warn_of_name_conflict(core, cluster, job);
            strays_seen(&core->strays, names[i], core->now_ms);
        }
    }
}

/* Every active reservation is asked for by name, as the list alone proves nothing of it: pages may
 * have shifted, and a manager that came back with an old state has the name with another token.
 * What was found and is over is asked for its token, too: it may be a leftover of ours. */
static void doubt_listed(struct core *core)
{
    assert(core->link.list != 0);
    struct operation *at = core->operations;
    for (struct reservation *r; (r = operations_next(&at));) {
        if (r->fm_side == FM_SIDE_NOTHING)
            continue;
        if ((r->state == JOB_ACTIVE && r->hwcoll == HWCOLL_RESERVED) ||
            (r->state == JOB_RELEASING && r->origin == ORIGIN_FOUND && !r->op->evidence.not_ours)) {
            r->op->doubted = true;
            core_act(core, r);
        }
    }
}

/* A reservation without VNIs, so that the ordinary life of one takes care of the rest. */
struct reservation *listing_take_in(struct core *core, const char *cluster, const char *job,
                                    enum job_state state, enum reservation_origin origin,
                                    const char *reason)
{
    assert(state == JOB_ACTIVE || state == JOB_RELEASING);
    assert(origin != ORIGIN_JOB);
    bool active = state == JOB_ACTIVE;
    uint32_t addresses; /* as many as we would have asked for: nothing tells how many it has */
    (void)sizing_addresses(&core->config, &addresses, NULL);
    struct reservation_record rec = {
        .number = core->last_number + 1,
        .cluster = cluster,
        .job = job,
        .reason = reason,
        .addresses = addresses,
        .uid = UID_UNKNOWN,
        .wish = WISH_AUTO,
        .state = (uint8_t)state,
        .hwcoll = active ? HWCOLL_RESERVED : HWCOLL_RELEASED,
        .fm_side = FM_SIDE_THERE,
        .origin = (uint8_t)origin,
        .created_ms = core->now_ms,
        .released_ms = active ? 0 : core->now_ms,
        .hold_until_ms = active ? 0 : core->now_ms,
    };
    struct reservation *r = core_save(core, &rec);
    uint64_t number = r->number;
    core_publish(core, EVENT_ADOPTED, r, reason, 0);
    core_act(core, r);
    return ledger_by_number(&core->ledger, number);
}

/* Whether the jobs whose names are listed and not in the ledger are over by its events, or have a
 * RESERVE that was never answered. One pass over all events that are kept. */
static void read_histories(struct core *core)
{
    assert(core->link.list != 0);
    for (uint64_t seq = core_first_seq(core); core->strays.known.count > 0 && seq <= core->last_seq;
         seq++) {
        const struct event_record *event = eventlog_at(&core->events, seq);
        char name[FM_NAME_MAX + 1];
        if (!event || !event->job ||
            (event->kind != EVENT_RELEASED && event->proof != PROOF_UNANSWERED))
            continue;
        fm_name_format(name, event->cluster, event->job);
        struct stray *stray = strays_find(&core->strays, name);
        if (!stray)
            continue;
        stray->late |= event->proof == PROOF_UNANSWERED;
        if (event->kind == EVENT_RELEASED)
            stray->over = event->proof != 0 && event->proof != PROOF_UNANSWERED;
    }
}

/* Of the last reservation of the job that was released here; 0: no event tells. */
static uint64_t released_proof(const struct core *core, const struct reservation *r)
{
    assert(r->origin == ORIGIN_FOUND);
    for (uint64_t seq = core->last_seq; seq >= core_first_seq(core) && seq > 0; seq--) {
        const struct event_record *event = eventlog_at(&core->events, seq);
        if (event && event->kind == EVENT_RELEASED && event->job &&
            strcmp(event->job, r->job) == 0 && strcmp(event->cluster, r->cluster) == 0)
            return event->proof;
    }
    return 0;
}

static bool may_delete(struct core *core, struct cluster *cluster, const struct stray *stray)
{
    assert(stray->name);
    if (cluster->jobpoll.called && cluster->jobpoll.seen_ms <= stray->first_ms) {
        jobpoll_soon(core, cluster); /* which may name its job */
        return false;
    }
    return !alarm_on(core, ALARM_MASS_LOSS, NULL) &&
           (stray->named == 0 || stray->named < cluster->joblist);
}

/* Taken in as over. Unless an administrator says that it is a leftover of ours, it is asked for its
 * token: another broker may use the same job ids (B11). */
static void take_in_over(struct core *core, const char *cluster, const char *job,
                         struct reservation *r, bool claimed)
{
    assert(!r || (r->state == JOB_RELEASING && r->fm_side == FM_SIDE_NOTHING));
    enum reservation_origin origin = claimed ? ORIGIN_CLAIMED : ORIGIN_FOUND;
    if (claimed)
        core_trace(core, TRACE_NOTICE,
                   "fabric manager lists %s-%s, which an administrator says is a leftover -> "
                   "delete",
                   cluster, job);
    if (!r) {
        r = listing_take_in(core, cluster, job, JOB_RELEASING, origin,
                            "left at the fabric manager");
    } else {
        struct reservation_record rec = reservation_record(r);
        if (r->op) /* before its origin changes: what is found does not count as missing */
            missing_forget(core, r->op);
        rec.fm_side = FM_SIDE_THERE;
        rec.origin = (uint8_t)origin;
        r = core_save(core, &rec);
        core_act(core, r);
    }
    if (claimed)
        return;
    assert(r && r->op);
    r->op->evidence.not_ours = false; /* said of what was found under the name before */
    r->op->doubted = true;
    core_act(core, r);
}

void listing_claim(struct core *core, struct reservation *r)
{
    assert(reservation_valid(r));
    assert(r->origin == ORIGIN_FOUND && r->op);
    struct reservation_record rec = reservation_record(r);
    missing_forget(core, r->op); /* as above */
    rec.origin = ORIGIN_CLAIMED;
    (void)core_save(core, &rec);
    core_act(core, r);
}

void listing_leftover(struct core *core, struct reservation *r, struct secret token)
{
    assert(reservation_valid(r));
    assert(r->origin == ORIGIN_FOUND && r->state == JOB_RELEASING);
    if (secret_none(token) || token_proof(token) != released_proof(core, r)) {
        r->op->evidence.not_ours = true;
        conflict_raise(core, r->cluster, r->job, "its session token is none that a job had here");
        return;
    }
    if (alarm_on(core, ALARM_MASS_LOSS, NULL))
        return; /* asked again after the next list */
    core_trace_of(core, r, TRACE_NOTICE,
                  "the fabric manager lists it with the session token of a job that is over -> "
                  "delete");
    listing_claim(core, r);
}

/* A RESERVE of ours was acted on later than we hold for possible. No job was told its token, so no
 * job uses it: it is what that reserve left (F21), unless another broker may use our names (B11).
 * Whether it stays a stray. */
static bool judge_late(struct core *core, struct cluster *cluster, const char *job,
                       struct reservation *r, const struct stray *stray)
{
    assert(!stray->claimed);
    bool runs = r && r->state == JOB_ACTIVE;
    /* While the job runs, events of before this start do not tell that: the ledger may have gone
     * back, and the job been reserved anew since (I11). It stays until the job is over. */
    bool in_use = runs && !core_unanswered(core, cluster->name, job);
    if (in_use || core->facts.suspect || alarm_on(core, ALARM_MASS_LOSS, NULL) ||
        alarm_on(core, ALARM_NAME_CONFLICT, cluster->name) ||
        (runs ? r->hwcoll == HWCOLL_WANTED : !may_delete(core, cluster, stray)))
        return true;
    core_trace(core, TRACE_NOTICE,
               "fabric manager lists %s-%s, whose reserve was given up long ago: it acted late -> "
               "delete",
               cluster->name, job);
    if (!r) {
        (void)listing_take_in(core, cluster->name, job, JOB_RELEASING, ORIGIN_CLAIMED,
                              "reserved late");
        return false;
    }
    struct reservation_record rec = reservation_record(r);
    rec.fm_side = FM_SIDE_THERE;
    r = core_save(core, &rec);
    core_act(core, r);
    return false;
}

/* Found, and taken for active: another broker's perhaps, or the ledger is not the one that it was
 * reserved with. */
static void adopt_stray(struct core *core, const char *cluster, const char *job)
{
    assert(!ledger_newest(&core->ledger, cluster, job));
    const char *why = core->founded ? "this ledger has no record of it" : "this ledger is new";
    core_trace(core, TRACE_WARNING, "fabric manager lists %s-%s, %s -> taken for active", cluster,
               job, why);
    (void)listing_take_in(core, cluster, job, JOB_ACTIVE, ORIGIN_FOUND,
                          core->founded ? "found at the fabric manager" : "found by a new ledger");
    conflict_raise(core, cluster, job, why);
    if (!core->founded)
        suspect_begin(core, cluster, job, "was there before this ledger, which is new");
}

/* Whether a life of the job was released while the list was under way: what is listed may be of
 * before that. The next list tells. */
static bool released_meanwhile(const struct core *core, const struct reservation *newest)
{
    assert(core->link.list != 0);
    const struct reservation *r = newest;
    while (r && (r->fm_side != FM_SIDE_NOTHING || !r->op || r->op->list != core->link.list))
        r = r->older;
    return r;
}

/* Whether it stays a stray. */
static bool judge_stray(void *arg, const struct stray *stray)
{
    assert(stray->name);
    struct core *core = arg;
    char cluster_name[CLUSTER_NAME_MAX + 1];
    const char *job;
    if (!fm_name_split(stray->name, cluster_name, &job) || find_listed(core, cluster_name, job))
        return false; /* reserved, or taken in, since it was listed */
    struct cluster *cluster = core_cluster(core, cluster_name);
    struct reservation *r = ledger_newest(&core->ledger, cluster_name, job);
    if (released_meanwhile(core, r) && !stray->claimed)
        return false;
    bool over = stray->claimed || stray->over;
    bool late = stray->late || core_unanswered(core, cluster_name, job);
    bool again = core->now_ms - stray->first_ms >= core->config.stray_grace_ms;
    if (!r && !core->founded) {
        adopt_stray(core, cluster_name, job);
        return false;
    }
    if (!again) { /* what is seen for the first time ends no alarm either */
        cluster->contested += !over && !late;
        return true;
    }
    if (late && !stray->claimed)
        return judge_late(core, cluster, job, r, stray);
    if (over && (!r || r->state == JOB_RELEASING)) {
        if (!may_delete(core, cluster, stray))
            return true;
        take_in_over(core, cluster_name, job, r, stray->claimed);
        return false;
    }
    if (!r) {
        adopt_stray(core, cluster_name, job);
        return false;
    }
    if (!over) {
        cluster->contested++;
        conflict_raise(core, cluster_name, job, "its job has none by this ledger");
    }
    return true; /* until its job is over */
}

static void judge_strays(struct core *core)
{
    assert(core->link.list != 0);
    for (uint32_t i = 0; i < core->cluster_count; i++)
        core->clusters[i]->contested = 0;
    read_histories(core);
    strays_judge(&core->strays, judge_stray, core);
    if (!core->founded)
        core_save_record(core, (struct record){.kind = RECORD_FOUNDED});
}

/* What was released while the list was under way had to stay until here: listed, and not in the
 * ledger, it would be a stray (F21). */
static void end_released(struct core *core, uint64_t list)
{
    assert(core->link.list == 0);
    struct operation *at = core->operations;
    for (struct reservation *r; (r = operations_next(&at));) {
        if (r->op->list == list && r->fm_side == FM_SIDE_NOTHING)
            core_act(core, r);
    }
}

void listing_done(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_LIST_DONE);
    enum fmcall_outcome outcome = event->u.list_done.outcome;
    const char *words = event->u.list_done.words;
    if (event->u.list_done.list != core->link.list || core->link.list == 0) {
        core_trace(core, TRACE_DEBUG, "a list ended that is no longer expected -> ignored");
        return;
    }
    if (!words)
        words = fmcall_outcome_word(outcome);
    assert(core->link.state == LINK_LISTING || core->link.state == LINK_UP);
    bool coming_up = core->link.state == LINK_LISTING;
    if (outcome == FM_OK) {
        link_heard(core);
        strays_keep(&core->strays);
        missing_compare(core);
        doubt_listed(core);
        judge_strays(core);
        conflict_watch(core);
        link_schedule_list(core);
        core->link.list = 0;
        core->link.listed_ms = core->now_ms;
        if (core->link.list_error[0] != '\0')
            core_trace(core, TRACE_NOTICE, "fabric manager: the list is whole again");
        core->link.list_error[0] = '\0';
        end_released(core, event->u.list_done.list);
        if (coming_up)
            link_came_up(core);
        return;
    }
    core->link.list = 0;
    end_released(core, event->u.list_done.list);
    if (coming_up || outcome == FM_BROKEN || outcome == FM_UNREACHED ||
        outcome == FM_UNAUTHORIZED || outcome == FM_TIMEOUT) {
        link_lost(core, outcome, words);
        return;
    }
    bool known = strcmp(core->link.list_error, words) == 0;
    core->link.list_fault = outcome;
    (void)snprintf(core->link.list_error, sizeof core->link.list_error, "%s", words);
    core_trace(core, known ? TRACE_DEBUG : TRACE_WARNING,
               "fabric manager: the list was not whole: %s -> nothing concluded, asked again; see "
               "the fabric manager's own log",
               words);
    core->link.relist_ms = core->now_ms + core->config.stray_grace_ms;
}
