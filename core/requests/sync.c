/* SPDX-License-Identifier: Apache-2.0 */
#include "core/effects.h"
#include "core/reconcile/joblist.h"
#include "core/requests/requests.h"
#include "core/state.h"

#include <assert.h>

/* A resource manager says which of its jobs are active; every other one is not (F20, F22). */

static void answer_no_cluster(struct core *core, const struct joblist *list, const char *cluster)
{
    core_answer(core, list->mark, ANSWER_NO_CLUSTER, NULL,
                core_text(core, "no cluster \"%.40s\" is configured", cluster));
}

static void answer_implausible(struct core *core, const struct joblist *list, const char *why)
{
    assert(why != NULL);
    core_answer(core, list->mark, ANSWER_INVALID, NULL, why)->field = "active";
}

void core_sync(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_SYNC);
    uint64_t ticket = event->u.sync.ticket;
    const char *cluster = event->u.sync.cluster, *strange = NULL;
    struct joblist *list = joblist_find(core, JOBLIST_SYNC, ticket);
    if (list == NULL)
        list = joblist_begin(core, JOBLIST_SYNC, ticket, cluster, core->now_ms);
    joblist_add(core, list, event->u.sync.active, event->u.sync.count);
    if (event->u.sync.more)
        return; /* the rest is not yet known */
    if (list->cluster != NULL && (strange = joblist_implausible(core, list)) == NULL) {
        joblist_compare(core, list);
        return;
    }
    if (strange != NULL)
        answer_implausible(core, list, strange);
    else
        answer_no_cluster(core, list, cluster);
    joblist_end(core, list);
}

void sync_compared(struct core *core, const struct joblist *list)
{
    assert(list->kind == JOBLIST_SYNC && list->whole);
    if (list->cluster == NULL) {
        core_answer(core, list->mark, ANSWER_NO_CLUSTER, NULL,
                    "the cluster was taken out of the configuration");
        return;
    }
    list->cluster->synced_ms = core->now_ms;
    core_answer(core, list->mark, ANSWER_SYNCED, NULL, NULL)->sync = &list->found;
}
