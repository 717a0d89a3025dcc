#include "core/inside.h"
#include "core/sizing.h"

#include <stdio.h>
#include <string.h>

/* Comparing what the fabric manager lists with the ledger (F20, F22). Only a list that was read
 * whole concludes anything, and nothing is touched that is not provably ours: an exact cluster name
 * of our configuration, and a job that the ledger knows to be over. */

/* Somebody else's name, which may hold anything: it will be shown to people. */
static void keep_neighbour(struct cluster *cluster, const char *name)
{
    size_t length = 0;
    for (; length < sizeof cluster->neighbour - 1 && name[length] != '\0'; length++)
        cluster->neighbour[length] =
            (char)(name[length] > ' ' && name[length] <= '~' ? name[length] : '?');
    cluster->neighbour[length] = '\0';
}

/* Slurm deletes by prefix: a cluster `foo` that lists its jobs here takes our `foo2-17` for one of
 * its own (fabric-manager.md, "How the peers behave"). */
static void warn_of_neighbour(struct core *core, const char *name)
{
    const char *dash = strchr(name, '-');
    size_t length = dash != NULL ? (size_t)(dash - name) : 0;
    for (uint32_t i = 0; length > 0 && i < core->config.cluster_count; i++) {
        const char *ours = core->config.clusters[i].name;
        struct cluster *cluster = core_cluster(core, ours);
        if (strncmp(ours, name, length) != 0 || ours[length] == '\0' ||
            cluster->neighbour[0] != '\0')
            continue;
        keep_neighbour(cluster, name);
        core_trace(
            core, TRACE_WARNING,
            "fabric manager lists %.80s: if that is a Slurm cluster \"%.*s\", its controller "
            "takes our %s-<number> for its own and may delete by it -> rename cluster %s so that "
            "it does not begin with \"%.*s\"",
            name, (int)length, name, ours, ours, (int)length, name);
    }
}

/* A Slurm whose cluster has the very name of ours, and that asks for its own reservations: its jobs
 * are strays to us, as ours are to its controller. Leftovers of ours look alike, so this only
 * warns; once, and at the first sight of one, when it is not deleted yet. */
static void warn_of_namesake(struct core *core, const char *name, const char *job)
{
    struct cluster *cluster = core_cluster(core, name);
    if (cluster->told_namesake || job[strspn(job, "0123456789")] != '\0')
        return;
    cluster->told_namesake = true;
    core_trace(core, TRACE_WARNING,
               "fabric manager lists %s-%s, which the ledger does not know -> it is taken for "
               "one of ours; if instead a Slurm with switch/hpe_slingshot calls its cluster "
               "\"%s\" too, rename cluster %s here at once: each deletes what the other has",
               name, job, name, name);
}

/* Whether some life of the job may be what was listed. */
static bool in_ledger(const struct core *core, const char *cluster, const char *job)
{
    const struct reservation *r = ledger_newest(&core->ledger, cluster, job);
    while (r != NULL && r->fm_side == FM_SIDE_NOTHING)
        r = r->older;
    return r != NULL;
}

void listing_names(struct core *core, uint64_t list, const char *const *names, size_t count)
{
    if (list != core->link.list || list == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        char cluster[CLUSTER_NAME_MAX + 1];
        const char *job;
        if (!fm_name_split(names[i], cluster, &job) || core_cluster_config(core, cluster) == NULL)
            warn_of_neighbour(core, names[i]);
        else if (!in_ledger(core, cluster, job)) {
            warn_of_namesake(core, cluster, job);
            strays_seen(&core->strays, names[i], core->now_ms);
        }
    }
}

/* Every active reservation is asked for by name; the list alone proves nothing of it. One that it
 * lacks may have been missed while pages shifted; one that it has may not be ours any more: a
 * manager that came back with an old state holds the same name with another token. */
static void doubt_active(struct core *core)
{
    for (struct errand *e = core->errands, *next; e != NULL; e = next) {
        next = e->next;
        struct reservation *r = e->owner;
        if (r == NULL || r->state != JOB_ACTIVE || r->hwcoll != HWCOLL_RESERVED)
            continue;
        e->doubted = true;
        core_act(core, r);
    }
}

/* A reservation without VNIs, so that the ordinary life of one takes care of the rest. */
static void take_in(struct core *core, const char *cluster, const char *job, enum job_state state,
                    enum hwcoll_state hwcoll, const char *reason)
{
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
        .hwcoll = (uint8_t)hwcoll,
        .fm_side = FM_SIDE_HELD,
        .created_ms = core->now_ms,
        .released_ms = state == JOB_RELEASING ? core->now_ms : 0,
        .hold_until_ms = state == JOB_RELEASING ? core->now_ms : 0,
    };
    struct reservation *r = core_save(core, &rec);
    core_publish(core, EVENT_ADOPTED, r, reason);
    core_act(core, r);
}

/* Nobody wants it: the job's own reservation, if there is one, gets it to release. */
static void release_stray(struct core *core, const char *name)
{
    char cluster[CLUSTER_NAME_MAX + 1];
    const char *job;
    if (!fm_name_split(name, cluster, &job))
        return;
    struct reservation *r = ledger_newest(&core->ledger, cluster, job);
    if (in_ledger(core, cluster, job))
        return; /* reserved while the list was read: it is somebody's now */
    if (r == NULL) {
        core_trace(core, TRACE_NOTICE, "fabric manager lists %s, ledger does not know it -> delete",
                   name);
        take_in(core, cluster, job, JOB_RELEASING, HWCOLL_RELEASED, "left at the fabric manager");
        return;
    }
    core_trace_of(core, r, TRACE_NOTICE,
                  "fabric manager lists %s, ledger has it %s without -> delete", name,
                  hwcoll_state_word(r->hwcoll));
    struct reservation_record rec = reservation_record(r);
    rec.fm_side = FM_SIDE_HELD;
    (void)core_save(core, &rec);
    core_act(core, r);
}

static void take_stray(void *arg, const char *name)
{
    release_stray(arg, name);
}

/* A ledger that has never seen a list cannot know what is over: perhaps the state was lost while
 * jobs run. What is there is taken for active until a sync, a release or a new reserve says
 * otherwise. */
static void take_for_active(void *arg, const char *name)
{
    struct core *core = arg;
    char cluster[CLUSTER_NAME_MAX + 1];
    const char *job;
    if (!fm_name_split(name, cluster, &job))
        return;
    if (ledger_newest(&core->ledger, cluster, job) != NULL) {
        release_stray(core, name);
        return;
    }
    core_trace(core, TRACE_WARNING,
               "fabric manager lists %s, this ledger is new -> taken for active until a sync says "
               "otherwise",
               name);
    take_in(core, cluster, job, JOB_ACTIVE, HWCOLL_RESERVED, "found by a new ledger");
}

static void judge_strays(struct core *core)
{
    if (core->founded) {
        strays_take(&core->strays, core->now_ms - core->config.stray_grace_ms, take_stray, core);
        return;
    }
    strays_take(&core->strays, core->now_ms, take_for_active, core);
    core_save_founded(core);
}

static void compare(struct core *core)
{
    strays_keep(&core->strays);
    doubt_active(core);
    judge_strays(core);
    int64_t wait = core->config.relist_ms > 0 ? core->config.relist_ms : INT64_MAX;
    if (core->strays.known.count > 0 && core->config.stray_grace_ms < wait)
        wait = core->config.stray_grace_ms;
    core->link.relist_ms = wait == INT64_MAX ? INT64_MAX : core->now_ms + wait;
}

static bool link_broken(enum fmcall_outcome outcome)
{
    return outcome == FM_BROKEN || outcome == FM_UNREACHED || outcome == FM_UNAUTHORIZED ||
           outcome == FM_TIMEOUT;
}

void listing_done(struct core *core, uint64_t list, enum fmcall_outcome outcome, const char *words)
{
    if (list != core->link.list || list == 0) {
        core_trace(core, TRACE_DEBUG, "a list that nobody waits for ended -> ignored");
        return;
    }
    if (words == NULL)
        words = fmcall_outcome_word(outcome);
    bool coming_up = core->link.state == LINK_LISTING;
    if (outcome == FM_OK) {
        compare(core);
        core->link.list = 0;
        core->link.listed_ms = core->now_ms;
        if (coming_up)
            link_came_up(core);
        return;
    }
    core->link.list = 0;
    if (coming_up || link_broken(outcome)) {
        link_lost(core, words);
        return;
    }
    core_trace(core, TRACE_WARNING,
               "fabric manager: the list was not whole: %s -> nothing concluded", words);
    core->link.relist_ms = core->now_ms + core->config.stray_grace_ms;
}
