#include "core/effects.h"
#include "core/reconcile/sighting.h"
#include "core/requests/requests.h"
#include "core/state.h"

/* A resource manager says which of its jobs are active; every other one is not (F20, F22). */

static void answer_no_cluster(struct core *core, const struct sighting *s, const char *cluster)
{
    core_answer(core, s->mark, ANSWER_NO_CLUSTER, NULL,
                core_text(core, "no cluster \"%.40s\" is configured", cluster));
}

static void refuse(struct core *core, const struct sighting *s, const char *why)
{
    core_answer(core, s->mark, ANSWER_INVALID, NULL, why);
    core->effects[core->effect_count - 1].u.answer.field = "active";
}

void core_sync(struct core *core, const struct core_event *event)
{
    uint64_t ticket = event->u.sync.ticket;
    const char *cluster = event->u.sync.cluster, *strange = NULL;
    struct sighting *s = sighting_find(core, SIGHTING_SYNC, ticket);
    if (s == NULL)
        s = sighting_begin(core, SIGHTING_SYNC, ticket, cluster, core->now_ms);
    sighting_name(core, s, event->u.sync.active, event->u.sync.count);
    if (event->u.sync.more)
        return; /* whom the rest names is not yet known */
    if (s->cluster != NULL && (strange = sighting_strange(core, s)) == NULL) {
        sighting_compare(core, s);
        return;
    }
    if (strange != NULL)
        refuse(core, s, strange);
    else
        answer_no_cluster(core, s, cluster);
    sighting_end(core, s);
}

void sync_compared(struct core *core, const struct sighting *s)
{
    if (s->cluster == NULL) {
        core_answer(core, s->mark, ANSWER_NO_CLUSTER, NULL,
                    "the cluster was taken out of the configuration");
        return;
    }
    s->cluster->synced_ms = core->now_ms;
    core_answer(core, s->mark, ANSWER_SYNCED, NULL, NULL);
    core->effects[core->effect_count - 1].u.answer.sync = &s->found;
}
