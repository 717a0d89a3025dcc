/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reconcile/reconcile.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Asks resource managers which of their jobs are active: after a start, when the fabric manager is
 * back after a loss, and now and then (F20, F22). A list that is not whole concludes nothing. */

enum { RETRY_MS = 30 * 1000 };

static int64_t until_next(const struct core *core, const struct cluster *cluster)
{
    assert(cluster);
    const struct cluster_config *config = core_cluster_config(core, cluster->name);
    return config && config->jobpoll_every_ms > 0 ? config->jobpoll_every_ms : INT64_MAX;
}

static void schedule_poll(struct cluster *cluster, int64_t now_ms, int64_t wait_ms)
{
    assert(wait_ms >= 0);
    cluster->jobpoll.due_ms = wait_ms == INT64_MAX ? INT64_MAX : now_ms + wait_ms;
}

void jobpoll_start(struct core *core)
{
    assert(core->config.cluster_count <= CLUSTERS_MAX);
    for (uint32_t i = 0; i < core->config.cluster_count; i++) {
        if (!core->config.clusters[i].jobpoll)
            continue;
        struct cluster *cluster = core_cluster(core, core->config.clusters[i].name);
        cluster->jobpoll.called = true;
        cluster->jobpoll.again = cluster->jobpoll.id != 0;
        schedule_poll(cluster, core->now_ms, 0);
    }
}

void jobpoll_soon(struct core *core, struct cluster *cluster)
{
    assert(cluster->jobpoll.called);
    struct jobpoll *poll = &cluster->jobpoll;
    if (poll->id == 0 && poll->error[0] == '\0' && poll->due_ms > core->now_ms)
        poll->due_ms = core->now_ms;
}

void jobpoll_tick(struct core *core)
{
    for (uint32_t i = 0; i < core->cluster_count; i++) {
        struct jobpoll *poll = &core->clusters[i]->jobpoll;
        if (!poll->called || poll->id != 0 || poll->due_ms > core->now_ms)
            continue;
        poll->id = ++core->last_jobpoll;
        poll->again = poll->stale = false;
        poll->asked_ms = core->now_ms;
        struct effect *effect = core_effect(core, EFFECT_JOBPOLL);
        effect->u.jobpoll.id = poll->id;
        effect->u.jobpoll.cluster = core->clusters[i]->name;
    }
}

int64_t jobpoll_deadline(const struct core *core)
{
    int64_t when = INT64_MAX;
    for (uint32_t i = 0; i < core->cluster_count; i++) {
        const struct jobpoll *poll = &core->clusters[i]->jobpoll;
        if (poll->called && poll->id == 0 && poll->due_ms < when)
            when = poll->due_ms;
    }
    return when;
}

/* The answer to one whose cluster is no longer asked is not waited for. */
void jobpoll_configure(struct core *core)
{
    for (uint32_t i = 0; i < core->cluster_count; i++) {
        struct cluster *cluster = core->clusters[i];
        const struct cluster_config *config = core_cluster_config(core, cluster->name);
        cluster->ids_known = false;
        cluster->jobpoll.stale = cluster->jobpoll.id != 0;
        if (!config || !config->jobpoll)
            cluster->jobpoll = (struct jobpoll){0};
    }
    jobpoll_start(core);
}

static void end_poll(struct core *core, struct cluster *cluster)
{
    assert(cluster->jobpoll.called);
    cluster->jobpoll.id = 0;
    if (cluster->jobpoll.again)
        schedule_poll(cluster, core->now_ms, 0);
}

void jobpoll_compared(struct core *core, const struct joblist *joblist)
{
    assert(joblist->kind == JOBLIST_JOBPOLL && joblist->cluster);
    assert(joblist->whole);
    struct jobpoll *poll = &joblist->cluster->jobpoll;
    const struct sync_found *found = &joblist->found;
    int64_t wait = until_next(core, joblist->cluster), grace = core->config.sync_grace_ms;
    if (poll->error[0] != '\0')
        core_trace(core, TRACE_NOTICE, "list_command of cluster %s answers again",
                   joblist->cluster->name);
    poll->error[0] = '\0';
    poll->whole_ms = core->now_ms;
    poll->seen_ms = joblist->seen_ms;
    core_trace(core, TRACE_DEBUG,
               "cluster %s names %u active jobs: %u are ours, %u have no reservation; %u of ours "
               "are not named, %u of these a second time",
               joblist->cluster->name, found->active, found->confirmed, found->unknown_count,
               found->suspect_count + found->released_count, found->released_count);
    /* Asked early enough, the second one would be too near to the first to conclude anything. */
    if (found->suspect_count > 0 && grace < wait)
        wait = grace;
    schedule_poll(joblist->cluster, core->now_ms, wait);
    end_poll(core, joblist->cluster);
}

/* Its names end here, those that were said already as well. */
static void fail_poll(struct core *core, struct cluster *cluster, const char *words)
{
    assert(cluster->jobpoll.called);
    struct jobpoll *poll = &cluster->jobpoll;
    struct joblist *joblist = joblist_find(core, JOBLIST_JOBPOLL, poll->id);
    int64_t wait = until_next(core, cluster);
    bool known = strcmp(poll->error, words) == 0;
    if (joblist)
        joblist_end(core, joblist);
    poll->failures++;
    if (poll->error[0] == '\0')
        poll->failing_ms = core->now_ms;
    (void)snprintf(poll->error, sizeof poll->error, "%s", words);
    schedule_poll(cluster, core->now_ms, wait < RETRY_MS ? wait : RETRY_MS);
    core_trace(core, known ? TRACE_DEBUG : TRACE_WARNING,
               "list_command of cluster %s: %s -> nothing is concluded, asked again in %lld s",
               cluster->name, poll->error, (long long)(poll->due_ms - core->now_ms + 999) / 1000);
    end_poll(core, cluster);
}

static void add_names(struct core *core, struct cluster *cluster, const struct core_event *event)
{
    assert(cluster->jobpoll.called && !cluster->jobpoll.stale);
    struct jobpoll *poll = &cluster->jobpoll;
    /* What was seen is no older than the question, however long the answer took. */
    struct joblist *joblist =
        joblist_begin(core, JOBLIST_JOBPOLL, poll->id, cluster->name, poll->asked_ms);
    const char *why_not = joblist_add(core, joblist, event->u.jobpoll.active,
                                      event->u.jobpoll.count, event->u.jobpoll.more);
    if (why_not)
        fail_poll(core, cluster, why_not);
}

/* After a reload it is not heard to its end; asking begins anew. */
void jobpoll_dropped(const struct joblist *joblist)
{
    assert(joblist->kind == JOBLIST_JOBPOLL && joblist->cluster);
    if (joblist->whole)
        joblist->cluster->jobpoll.id = 0;
}

void jobpoll_done(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_JOBPOLL_DONE);
    for (uint32_t i = 0; i < core->cluster_count; i++) {
        struct cluster *cluster = core->clusters[i];
        if (!cluster->jobpoll.called || cluster->jobpoll.id != event->u.jobpoll.id)
            continue;
        if (cluster->jobpoll.stale && !event->u.jobpoll.more)
            end_poll(core, cluster); /* and asked again */
        else if (!cluster->jobpoll.stale && !event->u.jobpoll.ok)
            fail_poll(core, cluster, event->u.jobpoll.words);
        else if (!cluster->jobpoll.stale)
            add_names(core, cluster, event);
        return;
    }
    core_trace(core, TRACE_DEBUG,
               "an answer to a job list poll that is no longer expected -> ignored");
}
