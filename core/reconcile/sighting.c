#include "core/reconcile/sighting.h"

#include "base/memory.h"
#include "core/apply.h"
#include "core/effects.h"
#include "core/reconcile/conflict.h"
#include "core/reconcile/listing.h"
#include "core/reconcile/rollcall.h"
#include "core/reconcile/strays.h"
#include "core/reconcile/suspect.h"
#include "core/requests/requests.h"
#include "core/state.h"

#include <stdlib.h>
#include <string.h>

enum { RELEASE_COSTS = 20 /* as much as comparing so many */ };

struct sighting *sighting_find(const struct core *core, enum sighting_kind kind, uint64_t mark)
{
    struct sighting *s = core->sightings;
    while (s != NULL && (s->kind != kind || s->mark != mark))
        s = s->next;
    return s;
}

/* The one whose turn it is to be compared. */
static struct sighting *first_whole(const struct core *core)
{
    struct sighting *s = core->sightings;
    while (s != NULL && !s->whole)
        s = s->next;
    return s;
}

struct sighting *sighting_begin(struct core *core, enum sighting_kind kind, uint64_t mark,
                                const char *cluster, int64_t seen_ms)
{
    struct sighting **last = &core->sightings;
    struct sighting *s = memory_zeroed(sizeof *s);
    while (*last != NULL)
        last = &(*last)->next;
    *last = s;
    s->kind = kind;
    s->mark = mark;
    s->id = ++core->last_sighting;
    s->seen_ms = seen_ms;
    s->newest = core->last_number;
    if (core_cluster_config(core, cluster) != NULL) {
        s->cluster = core_cluster(core, cluster);
        s->had_jobs = s->cluster->use.jobs_active > 0;
    }
    return s;
}

/* Copied: its reservation may be gone when the answer is given. */
static void note(const char ***names, uint32_t *count, const char *name)
{
    if (*names == NULL)
        *names = memory_zeroed(SYNC_NAMES_MAX * sizeof **names);
    if (*count < SYNC_NAMES_MAX)
        (*names)[*count] = memory_text(name);
    (*count)++;
}

/* A job that the resource manager says is active, and the ledger has not as such, while the fabric
 * manager lists a reservation of it: two witnesses against the ledger, which may be older than the
 * job (B11). Taken for active, as a new ledger does. */
static struct reservation *named_job(struct core *core, const struct sighting *s, const char *job)
{
    const char *cluster = s->cluster->name;
    struct reservation *r = ledger_newest(&core->ledger, cluster, job);
    char name[FM_NAME_MAX + 1];
    if (r != NULL && r->origin == ORIGIN_FOUND && r->state == JOB_ACTIVE && r->synced == 0)
        suspect_begin(core, cluster, job, "runs, and this ledger does not know its reservation");
    if ((r != NULL && r->state == JOB_ACTIVE) || !job_id_valid(job))
        return r;
    fm_name_format(name, cluster, job);
    struct stray *stray = strays_find(&core->strays, name);
    if (stray == NULL)
        return r;
    stray->named = s->id;
    if (r != NULL)
        return r;
    r = listing_take_in(core, cluster, job, JOB_ACTIVE, ORIGIN_FOUND, "its job is named as active");
    conflict_raise(core, cluster, job, "this ledger has no record of it");
    suspect_begin(core, cluster, job, "runs, and this ledger does not know its reservation");
    return r;
}

void sighting_name(struct core *core, struct sighting *s, const char *const *active, size_t count)
{
    struct sync_found *found = &s->found;
    if (s->cluster == NULL)
        return;
    found->active += (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct reservation *r = named_job(core, s, active[i]);
        if (r == NULL || r->state != JOB_ACTIVE) {
            note(&found->unknown, &found->unknown_count, active[i]);
            continue;
        }
        found->confirmed += r->synced != s->id;
        r->missed_ms = 0;
        if (r->synced < s->id)
            r->synced = s->id;
    }
}

const char *sighting_strange(struct core *core, const struct sighting *s)
{
    const struct sync_found *found = &s->found;
    if (found->active == 0 || found->confirmed > 0 || !s->had_jobs ||
        s->cluster->use.jobs_active == 0 || s->cluster->ids_known)
        return NULL;
    return core_text(core,
                     "no active job here is among the %u that are named, \"%.60s\" for one: name "
                     "them as they are reserved (mcastctl list shows how); should all that are "
                     "active here be over, release them",
                     found->active, found->unknown[0]);
}

static void miss(struct core *core, struct sighting *s, struct reservation *r)
{
    bool first = r->missed_ms == 0;
    if (first)
        r->missed_ms = core->now_ms;
    if (first || s->seen_ms - r->missed_ms < core->config.sync_grace_ms) {
        note(&s->found.suspects, &s->found.suspect_count, r->job);
        return;
    }
    note(&s->found.released, &s->found.released_count, r->job);
    core_trace_of(core, r, TRACE_NOTICE,
                  "%s-%s: its resource manager did not name it twice in a row -> inactive, "
                  "released",
                  r->cluster, r->job);
    core_begin_release(core, r, "its resource manager does not name it");
}

/* Whether it should have been named and was not. */
static bool lacks(const struct sighting *s, const struct reservation *r)
{
    return r->state == JOB_ACTIVE && r->cluster == s->cluster->name &&
           r->synced < s->id && /* a later one vouches for it, too */
           r->alive_ms < s->seen_ms;
}

/* True when that was the last lot. */
static bool compare_lot(struct core *core, struct sighting *s)
{
    for (uint32_t done = 0; done < core->config.sync_lot; done++) {
        struct reservation *r = ledger_walk(&core->ledger, &s->at);
        if (r == NULL || r->number > s->newest)
            return true;
        if (!lacks(s, r))
            continue;
        uint32_t released = s->found.released_count;
        miss(core, s, r); /* which may end it */
        if (s->found.released_count > released)
            done += RELEASE_COSTS;
    }
    return false;
}

static void turn(struct core *core, struct sighting *s)
{
    if (!compare_lot(core, s))
        return;
    s->cluster->sighting = s->id;
    s->cluster->sighted_ms = s->seen_ms;
    s->cluster->unknown_jobs = s->found.unknown_count;
    if (s->kind == SIGHTING_SYNC)
        sync_compared(core, s);
    else
        rollcall_compared(core, s);
    sighting_end(core, s);
}

void sighting_compare(struct core *core, struct sighting *s)
{
    s->whole = true;
    if (s->found.confirmed > 0)
        s->cluster->ids_known = true;
    if (first_whole(core) == s)
        turn(core, s);
}

void sighting_tick(struct core *core)
{
    struct sighting *s = first_whole(core);
    if (s != NULL)
        turn(core, s);
}

int64_t sighting_deadline(const struct core *core)
{
    return first_whole(core) != NULL ? core->now_ms : INT64_MAX;
}

static void discard_names(struct core *core, const char **names, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < SYNC_NAMES_MAX; i++)
        core_discard(core, (char *)(uintptr_t)names[i]);
    core_discard(core, names);
}

void sighting_end(struct core *core, struct sighting *s)
{
    struct sighting **at = &core->sightings;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    discard_names(core, s->found.suspects, s->found.suspect_count);
    discard_names(core, s->found.released, s->found.released_count);
    discard_names(core, s->found.unknown, s->found.unknown_count);
    core_discard(core, s);
}

void sighting_configure(struct core *core)
{
    for (struct sighting *s = core->sightings, *next; s != NULL; s = next) {
        next = s->next;
        if (s->kind == SIGHTING_ROLLCALL) {
            rollcall_dropped(core, s);
            sighting_end(core, s);
            continue;
        }
        if (s->cluster == NULL || core_cluster_config(core, s->cluster->name) != NULL)
            continue;
        s->cluster = NULL;
        if (s->whole) {
            sync_compared(core, s);
            sighting_end(core, s);
        }
    }
}

void sighting_release(struct core *core)
{
    while (core->sightings != NULL)
        sighting_end(core, core->sightings);
}
