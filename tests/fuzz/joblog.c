/* SPDX-License-Identifier: Apache-2.0 */
/* A log of jobs, in whichever format it is (mcastctl plan; plan/joblog.h): jobs are possible, each
 * starts once and ends once, in the order of time, and no fault is without words. With few jobs it
 * is replayed, too: each is answered, and no more is in use than there is. */

#include "plan/replay.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { REPLAYED_MAX = 200 };

static void check_events(const struct joblog *log)
{
    int *told = calloc(log->job_count + 1, sizeof *told);
    FUZZ_CHECK(log->event_count == 2 * log->job_count);
    for (size_t i = 0; i < log->event_count; i++) {
        const struct joblog_event *event = &log->events[i];
        FUZZ_CHECK(event->job < log->job_count);
        FUZZ_CHECK(told[event->job]++ == event->ends);
        FUZZ_CHECK(i == 0 || log->events[i - 1].time_ms <= event->time_ms);
    }
    free(told);
}

static void check_replay(const struct joblog *log)
{
    struct plan_machine machine = {.total_addresses = 100,
                                   .system_nodes = JOBLOG_NODES_MAX,
                                   .sharing = 1,
                                   .vnis_per_job = 1,
                                   .call_ms = 1000};
    const struct plan_setting setting = {2, 40, 60 * 1000};
    struct plan_outcome out;
    for (uint16_t vni = 100; vni < 120; vni++)
        idset_add(&machine.pool, vni);
    plan_replay(log, &machine, &setting, &out);
    FUZZ_CHECK(out.error.code == 0 && out.fates[PLAN_OPEN] == 0);
    FUZZ_CHECK(out.most.addresses <= 100 && out.most.vnis + out.most.quarantined <= 40);
    plan_outcome_release(&out);
}

void fuzz_one(struct fuzz_input *in)
{
    struct joblog log;
    size_t length;
    char *bytes = fuzz_bytes(in, &length), *text = malloc(length + 1);
    FUZZ_CHECK(text);
    memcpy(text, bytes, length);
    free(bytes);
    text[length] = '\0';
    joblog_parse(&log, text, length, SIZE_MAX);
    free(text);
    for (size_t i = 0; i < log.job_count; i++) {
        const struct joblog_job *job = &log.jobs[i];
        FUZZ_CHECK(fuzz_is_line(job->id) && job->start_ms >= 0 && job->end_ms > job->start_ms);
        FUZZ_CHECK(job->nodes >= 1 && job->nodes <= JOBLOG_NODES_MAX);
    }
    for (size_t i = 0; i < log.fault_count && i < JOBLOG_FAULTS_KEPT; i++)
        FUZZ_CHECK(log.faults[i].words[0] != '\0' && fuzz_is_line(log.faults[i].words));
    check_events(&log);
    if (log.job_count > 0 && log.job_count <= REPLAYED_MAX)
        check_replay(&log);
    joblog_release(&log);
}
