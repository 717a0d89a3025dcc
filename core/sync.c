#include "core/inside.h"
#include "core/memory.h"

#include <string.h>

/* A resource manager says which of its jobs are active; every other one is not (F20, F22).
 * In two passes: what it saw may be older than the newest reservation, or not all for a moment. */

static void note(const char **names, uint32_t *count, const char *name)
{
    if (*count < SYNC_NAMES_MAX)
        names[*count] = name;
    (*count)++;
}

static const char **names_until_next_step(struct core *core)
{
    const char **names = memory_zeroed(SYNC_NAMES_MAX * sizeof *names);
    core_discard(core, names);
    return names;
}

static void mark(struct core *core, const struct sighting *sighting, struct sync_found *found)
{
    for (size_t i = 0; i < sighting->count; i++) {
        const char *job = sighting->active[i];
        struct reservation *r = ledger_newest(&core->ledger, sighting->cluster, job);
        if (r == NULL || r->state != JOB_ACTIVE) {
            note(found->unknown, &found->unknown_count, job);
            continue;
        }
        found->confirmed += r->synced != core->last_sync;
        r->synced = core->last_sync;
        r->missed_ms = 0;
    }
}

static void sweep(struct core *core, const struct sighting *sighting, struct sync_found *found)
{
    uint64_t after = 0;
    for (struct reservation *r; (r = ledger_next(&core->ledger, after)) != NULL;) {
        after = r->number; /* releasing may end it */
        if (r->state != JOB_ACTIVE || r->synced == core->last_sync ||
            strcmp(r->cluster, sighting->cluster) != 0 || r->alive_ms >= sighting->seen_ms)
            continue; /* what was seen before it was reserved cannot lack it */
        if (r->missed_ms == 0) {
            r->missed_ms = core->now_ms;
            note(found->suspects, &found->suspect_count, r->job);
        } else if (sighting->seen_ms - r->missed_ms < core->config.sync_grace_ms) {
            note(found->suspects, &found->suspect_count, r->job);
        } else {
            note(found->released, &found->released_count, r->job);
            core_trace_of(core, r, TRACE_NOTICE,
                          "%s-%s: its resource manager did not name it twice in a row -> inactive, "
                          "released",
                          r->cluster, r->job);
            core_begin_release(core, r, "its resource manager does not name it");
        }
    }
}

const char *core_strange(struct core *core, const char *cluster, const char *const *active,
                         size_t count)
{
    const struct cluster *known = core_cluster(core, cluster);
    if (count == 0 || known->use.jobs_active == 0 || known->ids_known)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const struct reservation *r = ledger_newest(&core->ledger, cluster, active[i]);
        if (r != NULL && r->state == JOB_ACTIVE)
            return NULL;
    }
    return core_text(core,
                     "no active job here is among the %zu that are named, \"%.60s\" for one: name "
                     "them as they are reserved (mcastctl list shows how); should all that are "
                     "active here be over, release them",
                     count, active[0]);
}

const struct sync_found *core_sighted(struct core *core, const struct sighting *sighting)
{
    struct sync_found *found = memory_zeroed(sizeof *found);
    core_discard(core, found);
    found->active = (uint32_t)sighting->count;
    found->suspects = names_until_next_step(core);
    found->released = names_until_next_step(core);
    found->unknown = names_until_next_step(core);
    core->last_sync++;
    mark(core, sighting, found);
    if (found->confirmed > 0)
        core_cluster(core, sighting->cluster)->ids_known = true;
    sweep(core, sighting, found);
    return found;
}

void core_sync(struct core *core, uint64_t ticket, const char *cluster, const char *const *active,
               size_t count)
{
    if (core_cluster_config(core, cluster) == NULL) {
        core_answer(core, ticket, ANSWER_NO_CLUSTER, NULL,
                    core_text(core, "no cluster \"%.40s\" is configured", cluster));
        return;
    }
    const char *strange = core_strange(core, cluster, active, count);
    if (strange != NULL) {
        core_answer(core, ticket, ANSWER_INVALID, NULL, strange);
        core->effects[core->effect_count - 1].u.answer.field = "active";
        return;
    }
    core_cluster(core, cluster)->synced_ms = core->now_ms;
    const struct sync_found *found =
        core_sighted(core, &(struct sighting){cluster, active, count, core->now_ms});
    core_answer(core, ticket, ANSWER_SYNCED, NULL, NULL);
    core->effects[core->effect_count - 1].u.answer.sync = found;
}
