/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reconcile/joblist.h"

#include "base/memory.h"
#include "core/reconcile/reconcile.h"
#include "core/requests/requests.h"

#include <assert.h>
#include <string.h>

enum { RELEASE_COSTS = 20 /* as much as comparing so many */ };

struct joblist *joblist_find(const struct core *core, enum joblist_kind kind, uint64_t mark)
{
    struct joblist *joblist = core->joblists;
    while (joblist && (joblist->kind != kind || joblist->mark != mark))
        joblist = joblist->next;
    return joblist;
}

/* The one whose turn it is to be compared. */
static struct joblist *first_whole(const struct core *core)
{
    struct joblist *joblist = core->joblists;
    while (joblist && !joblist->whole)
        joblist = joblist->next;
    return joblist;
}

struct joblist *joblist_begin(struct core *core, enum joblist_kind kind, uint64_t mark,
                              const char *cluster, int64_t seen_ms)
{
    assert(cluster);
    struct joblist **last = &core->joblists, *joblist = joblist_find(core, kind, mark);
    if (joblist)
        return joblist;
    joblist = memory_zeroed(sizeof *joblist);
    while (*last)
        last = &(*last)->next;
    *last = joblist;
    joblist->kind = kind;
    joblist->mark = mark;
    joblist->id = ++core->last_joblist;
    joblist->seen_ms = seen_ms;
    joblist->newest = core->last_number;
    if (core_cluster_config(core, cluster)) {
        joblist->cluster = core_cluster(core, cluster);
        joblist->had_jobs = joblist->cluster->use.jobs_active > 0;
    }
    return joblist;
}

/* Copied: its reservation may be gone when the answer is given. */
static void note_job_id(const char ***names, uint32_t *count, const char *name)
{
    assert(name);
    if (!*names)
        *names = memory_zeroed(SYNC_NAMES_MAX * sizeof **names);
    if (*count < SYNC_NAMES_MAX)
        (*names)[*count] = memory_text(name);
    (*count)++;
}

/* A job that the resource manager says is active, and the ledger has not as such, while the fabric
 * manager lists a reservation of it: both contradict the ledger, which may be older than the
 * job (B11). Taken for active, as a new ledger does. */
static struct reservation *take_named_job(struct core *core, const struct joblist *joblist,
                                          const char *job)
{
    assert(joblist->cluster);
    const char *cluster = joblist->cluster->name;
    struct reservation *r = ledger_newest(&core->ledger, cluster, job);
    char name[FM_NAME_MAX + 1];
    if (r && r->origin == ORIGIN_FOUND && r->state == JOB_ACTIVE && r->named_by == 0)
        suspect_begin(core, cluster, job, "runs, and this ledger does not know its reservation");
    if (r && r->origin == ORIGIN_FOUND && r->state == JOB_RELEASING)
        r->named_by = joblist->id; /* no claim deletes it (conflict.c) */
    if ((r && r->state == JOB_ACTIVE) || !job_id_valid(job))
        return r;
    fm_name_format(name, cluster, job);
    struct stray *stray = strays_find(&core->strays, name);
    if (!stray)
        return r;
    stray->named = joblist->id;
    if (r)
        return r;
    r = listing_take_in(core, cluster, job, JOB_ACTIVE, ORIGIN_FOUND, "its job is named as active");
    conflict_raise(core, cluster, job, "this ledger has no record of it");
    suspect_begin(core, cluster, job, "runs, and this ledger does not know its reservation");
    return r;
}

/* What is said cannot be: it names jobs, we have active ones, and none of them is the same. Ids in
 * another form, or of another cluster, would end every job here. */
static bool is_implausible(const struct joblist *joblist)
{
    assert(joblist->cluster);
    return joblist->found.active > 0 && joblist->found.confirmed == 0 && joblist->had_jobs &&
           joblist->cluster->use.jobs_active > 0 && !joblist->cluster->ids_known;
}

const char *joblist_add(struct core *core, struct joblist *joblist, const char *const *active,
                        size_t count, bool more)
{
    assert(joblist->cluster);
    assert(count == 0 || active);
    struct sync_found *found = &joblist->found;
    found->active += (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct reservation *r = take_named_job(core, joblist, active[i]);
        if (!r || r->state != JOB_ACTIVE) {
            note_job_id(&found->unknown, &found->unknown_count, active[i]);
            continue;
        }
        found->confirmed += r->named_by != joblist->id;
        r->unnamed_ms = 0;
        if (r->named_by < joblist->id)
            r->named_by = joblist->id;
    }
    if (more)
        return NULL;
    if (is_implausible(joblist))
        return core_text(core,
                         "no active job here is among the %u that are named, \"%.60s\" for one: "
                         "name them as they are reserved (mcastctl list shows how); should all "
                         "that are active here be over, release them",
                         found->active, found->unknown[0]);
    joblist->whole = true;
    if (found->confirmed > 0)
        joblist->cluster->ids_known = true;
    if (first_whole(core) == joblist)
        joblist_tick(core);
    return NULL;
}

static void note_missing_job(struct core *core, struct joblist *joblist, struct reservation *r)
{
    assert(reservation_valid(r));
    assert(r->state == JOB_ACTIVE);
    assert(joblist->whole);
    bool first = r->unnamed_ms == 0;
    if (first)
        r->unnamed_ms = core->now_ms;
    if (first || joblist->seen_ms - r->unnamed_ms < core->config.sync_grace_ms) {
        note_job_id(&joblist->found.suspects, &joblist->found.suspect_count, r->job);
        return;
    }
    note_job_id(&joblist->found.released, &joblist->found.released_count, r->job);
    core_trace_of(core, r, TRACE_NOTICE,
                  "its resource manager did not name it twice in a row -> inactive, "
                  "released");
    core_begin_release(core, r, "its resource manager does not name it");
}

/* True when that was the last lot. */
static bool compare_lot(struct core *core, struct joblist *joblist)
{
    assert(joblist->whole);
    assert(core->config.sync_lot > 0);
    for (uint32_t done = 0; done < core->config.sync_lot; done++) {
        struct reservation *r = ledger_walk(&core->ledger, &joblist->at);
        if (!r || r->number > joblist->newest)
            return true;
        if (r->state != JOB_ACTIVE || r->cluster != joblist->cluster->name ||
            r->named_by >= joblist->id /* a later one confirms it, too */ ||
            r->alive_ms >= joblist->seen_ms)
            continue; /* it was named, or need not have been */
        uint32_t released = joblist->found.released_count;
        note_missing_job(core, joblist, r); /* which may end it */
        if (joblist->found.released_count > released)
            done += RELEASE_COSTS;
    }
    return false;
}

static void sync_compared(struct core *core, const struct joblist *joblist)
{
    assert(joblist->kind == JOBLIST_SYNC && joblist->whole);
    if (!joblist->cluster) {
        core_answer(core, joblist->mark, ANSWER_NO_CLUSTER, NULL,
                    "the cluster was taken out of the configuration");
        return;
    }
    joblist->cluster->synced_ms = core->now_ms;
    core_answer(core, joblist->mark, ANSWER_SYNCED, NULL, NULL)->sync = &joblist->found;
}

/* Compares one more lot of the list whose turn it is, if there is one. */
void joblist_tick(struct core *core)
{
    struct joblist *joblist = first_whole(core);
    if (!joblist || !compare_lot(core, joblist))
        return;
    assert(joblist->cluster);
    joblist->cluster->joblist = joblist->id;
    joblist->cluster->joblist_ms = joblist->seen_ms;
    joblist->cluster->unknown_jobs = joblist->found.unknown_count;
    if (joblist->kind == JOBLIST_SYNC)
        sync_compared(core, joblist);
    else
        jobpoll_compared(core, joblist);
    joblist_end(core, joblist);
}

int64_t joblist_deadline(const struct core *core)
{
    return first_whole(core) ? core->now_ms : INT64_MAX;
}

static void discard_names(struct core *core, const char **names, uint32_t count)
{
    assert(names || count == 0);
    for (uint32_t i = 0; i < count && i < SYNC_NAMES_MAX; i++)
        core_discard(core, (char *)(uintptr_t)names[i]);
    core_discard(core, names);
}

void joblist_end(struct core *core, struct joblist *joblist)
{
    assert(core->joblists);
    struct joblist **at = &core->joblists;
    while (*at != joblist)
        at = &(*at)->next;
    *at = joblist->next;
    discard_names(core, joblist->found.suspects, joblist->found.suspect_count);
    discard_names(core, joblist->found.released, joblist->found.released_count);
    discard_names(core, joblist->found.unknown, joblist->found.unknown_count);
    core_discard(core, joblist);
}

void joblist_configure(struct core *core)
{
    for (struct joblist *joblist = core->joblists, *next; joblist; joblist = next) {
        next = joblist->next;
        if (joblist->kind == JOBLIST_JOBPOLL) {
            jobpoll_dropped(joblist);
            joblist_end(core, joblist);
            continue;
        }
        if (!joblist->cluster || core_cluster_config(core, joblist->cluster->name))
            continue;
        joblist->cluster = NULL;
        if (joblist->whole) {
            sync_compared(core, joblist);
            joblist_end(core, joblist);
        }
    }
}

void joblist_release(struct core *core)
{
    while (core->joblists)
        joblist_end(core, core->joblists);
}

/* ---- a sync: a resource manager says which of its jobs are active ---- */

void core_sync(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_SYNC);
    const char *cluster = event->u.sync.cluster, *why_not;
    struct joblist *joblist =
        joblist_begin(core, JOBLIST_SYNC, event->ticket, cluster, core->now_ms);
    bool more = event->u.sync.more; /* the rest is not yet known */
    if (!joblist->cluster) {
        if (more)
            return;
        core_answer_no_cluster(core, event->ticket, cluster);
    } else {
        why_not = joblist_add(core, joblist, event->u.sync.active, event->u.sync.count, more);
        if (!why_not)
            return;
        core_answer(core, event->ticket, ANSWER_INVALID, NULL, why_not)->field = "active";
    }
    joblist_end(core, joblist);
}
