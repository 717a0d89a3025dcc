#include "mock-fm/objects/recount.h"

static int recount_job(const struct job *job, recount_listener *tell, void *listener)
{
    /* Applying its trees counts the job's version up to what it is now. */
    struct change change = {.kind = CHANGE_JOB,
                            .at_us = job->updated_us,
                            .job = job->id,
                            .token = job->token,
                            .limit = job->limit,
                            .serial = job->serial,
                            .version = job->version - job->trees_in_use};
    int result = tell(listener, &change);

    for (const struct tree *tree = job->trees; tree && result == 0; tree = tree->next) {
        change = (struct change){.kind = CHANGE_TREE,
                                 .at_us = tree->updated_us,
                                 .job = job->id,
                                 .step = tree->step,
                                 .mcast_id = tree->mcast_id,
                                 .root = tree->root,
                                 .vni = tree->vni,
                                 .timeout_us = tree->timeout_us,
                                 .macs = tree->macs,
                                 .mac_count = tree->mac_count};
        result = tell(listener, &change);
    }
    return result;
}

int recount(const struct objects *objects, recount_listener *tell, void *listener)
{
    struct objects_totals totals = objects_totals(objects);
    struct change mark = {
        .kind = CHANGE_MARK, .serial = totals.last_serial, .next_mcast_id = totals.next_mcast_id};
    int result = 0;

    for (const struct job *job = objects_first(objects); job && result == 0; job = job->next)
        result = recount_job(job, tell, listener);
    /* Last, because the counters may be ahead of every object that is left. */
    return result == 0 ? tell(listener, &mark) : result;
}
