/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply.h"

#include <assert.h>

/* What a job's nodes counted outlives it: one row for a job, however many nodes it has (P6). */

/* What is kept longer than the site wants, or of more jobs: at most a few in one step. */
static void drop_traffic(struct core *core)
{
    assert(core->config.traffic_jobs > 0);
    enum { AT_ONCE = 16 };
    const struct traffic_record *excess;
    for (int i = 0; i < AT_ONCE; i++) {
        excess = traffic_excess(&core->traffic, core->config.traffic_jobs,
                                core->now_ms - core->config.traffic_keep_ms);
        if (!excess)
            return;
        core_save_record(
            core, (struct record){.kind = RECORD_TRAFFIC_GONE, .u.traffic_gone = excess->seq});
    }
}

void core_keep_traffic(struct core *core, const struct reservation *r)
{
    assert(reservation_valid(r));
    const struct traffic_record *sum = core_traffic_of(r);
    if (!sum)
        return;
    if (core->config.traffic_keep_ms > 0 && core->config.traffic_jobs > 0) {
        struct traffic_record record = *sum;
        record.seq = core->traffic.last_seq + 1;
        record.number = r->number;
        record.ended_ms = core->now_ms;
        record.uid = r->uid;
        record.node_count = r->node_count;
        record.cluster = r->cluster;
        record.job = r->job;
        core_save_record(core, (struct record){.kind = RECORD_TRAFFIC, .u.traffic = record});
    }
    drop_traffic(core);
}
