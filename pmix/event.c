/* SPDX-License-Identifier: Apache-2.0 */
/* The broker's events, as PMIx tells them. */

#include "pmix/host.h"

#include <string.h>

/* Each is for handlers that ask for it, so PMIx's own codes can be used; which event it was, the
 * word says. */
static const struct {
    const char *event;
    pmix_status_t code;
} kinds[] = {
    {"lost", PMIX_FABRIC_UPDATE_ENDPOINTS},
    {"link-down", PMIX_FABRIC_UPDATE_PENDING},
    {"link-up", PMIX_FABRIC_UPDATED},
    /* Of the switches and what is between them; a node's NICs are its jobs' only. */
    {"switch-down", PMIX_FABRIC_UPDATED},
    {"switch-up", PMIX_FABRIC_UPDATED},
    {"cable-down", PMIX_FABRIC_UPDATED},
    {"cable-up", PMIX_FABRIC_UPDATED},
    {"fabric-changed", PMIX_FABRIC_UPDATED},
    {"job-fabric", PMIX_FABRIC_UPDATED},
};

static bool concerns(const struct job *job, const struct mcast_event *event)
{
    if (!event->job || !event->cluster)
        return true;
    const char *cluster = infos_string(&job->facts, MCAST_PMIX_CLUSTER);
    const char *name = infos_string(&job->facts, MCAST_PMIX_JOB);
    if (!cluster || !name || strcmp(cluster, event->cluster) != 0 || strcmp(name, event->job) != 0)
        return false;
    for (size_t i = 0; i < job->facts.count; i++) { /* not an earlier job of that name */
        if (PMIX_CHECK_KEY(&job->facts.at[i], MCAST_PMIX_NUMBER) &&
            job->facts.at[i].value.type == PMIX_UINT64)
            return job->facts.at[i].value.data.uint64 == event->number;
    }
    return false;
}

/* All processes of the namespaces that it concerns; size 0: none. */
static pmix_status_t find_range(struct mcast_pmix *pmix, const struct mcast_event *event,
                                pmix_data_array_t *range)
{
    size_t count = 0;
    pmix_proc_t *procs = NULL;
    pthread_mutex_lock(&pmix->mutex);
    for (const struct job *job = pmix->jobs; job; job = job->next)
        count += concerns(job, event);
    if (count > 0)
        PMIX_PROC_CREATE(procs, count);
    *range = (pmix_data_array_t){.type = PMIX_PROC, .array = procs};
    for (const struct job *job = pmix->jobs; procs && job; job = job->next) {
        if (!concerns(job, event))
            continue;
        PMIX_LOAD_PROCID(&procs[range->size], job->nspace, PMIX_RANK_WILDCARD);
        range->size++;
    }
    pthread_mutex_unlock(&pmix->mutex);
    if (count == 0)
        return PMIX_ERR_NOT_FOUND;
    return procs ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t mcast_pmix_event(struct mcast_pmix *pmix, const struct mcast_event *event,
                               pmix_status_t *code, pmix_info_t **info, size_t *ninfo)
{
    struct infos infos;
    pmix_data_array_t range;
    const bool yes = true;
    size_t kind = 0;
    while (kind < sizeof kinds / sizeof *kinds && strcmp(event->event, kinds[kind].event) != 0)
        kind++;
    if (kind == sizeof kinds / sizeof *kinds)
        return PMIX_ERR_NOT_SUPPORTED;
    const pmix_status_t rc = find_range(pmix, event, &range);
    if (rc != PMIX_SUCCESS)
        return rc;
    bool fits =
        infos_create(&infos, 5) && infos_add(&infos, PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL) &&
        infos_add(&infos, PMIX_EVENT_CUSTOM_RANGE, &range, PMIX_DATA_ARRAY) &&
        infos_add(&infos, MCAST_PMIX_SEQ, &event->seq, PMIX_UINT64) &&
        infos_add(&infos, MCAST_PMIX_EVENT, event->event, PMIX_STRING) &&
        (!event->detail || infos_add(&infos, PMIX_EVENT_TEXT_MESSAGE, event->detail, PMIX_STRING));
    pmix_proc_t *procs = range.array;
    PMIX_PROC_FREE(procs, range.size);
    if (!fits) {
        infos_release(&infos);
        return PMIX_ERR_NOMEM;
    }
    *code = kinds[kind].code;
    *info = infos.at;
    *ninfo = infos.count;
    return PMIX_SUCCESS;
}
