/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/replay/joblog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LINE_SIZE = 1024 };

static int add(struct joblog *log, size_t *room, struct joblog_job job, int64_t start, int64_t end)
{
    if (log->job_count == *room) {
        *room = *room ? *room * 2 : 1024;
        struct joblog_job *jobs = realloc(log->jobs, *room * sizeof *jobs);
        if (jobs)
            log->jobs = jobs;
        struct joblog_event *events = realloc(log->events, 2 * *room * sizeof *events);
        if (events)
            log->events = events;
        if (!jobs || !events)
            return -1;
    }
    const uint32_t index = (uint32_t)log->job_count;
    log->jobs[log->job_count++] = job;
    log->events[log->event_count++] = (struct joblog_event){.time = start, .job = index};
    log->events[log->event_count++] =
        (struct joblog_event){.time = end, .job = index, .ends = true};
    return 0;
}

static int by_time(const void *left, const void *right)
{
    const struct joblog_event *a = left, *b = right;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->ends != b->ends)
        return a->ends ? -1 : 1;
    return a->job < b->job ? -1 : a->job > b->job;
}

int joblog_read(struct joblog *log, const char *path, size_t most)
{
    char line[LINE_SIZE];
    size_t room = 0, number = 0;
    int result = 0, code = Z_OK;
    gzFile file = gzopen(path, "rb");

    *log = (struct joblog){0};
    if (!file) {
        perror(path);
        return -1;
    }
    while (result == 0 && log->job_count < most && gzgets(file, line, sizeof line)) {
        long long id, submit, wait, run, allocated, requested;

        number++;
        if (line[0] == ';' || line[strspn(line, " \t\r\n")] == '\0')
            continue;
        if (sscanf(line, "%lld %lld %lld %lld %lld %*s %*s %lld", &id, &submit, &wait, &run,
                   &allocated, &requested) != 6) {
            fprintf(stderr, "%s:%zu: not a line of the Standard Workload Format\n", path, number);
            result = -1;
        } else if (run > 0 && (allocated > 0 || requested > 0)) {
            const struct joblog_job job = {
                .id = (uint32_t)id, .nodes = (uint32_t)(allocated > 0 ? allocated : requested)};

            result = add(log, &room, job, submit + wait, submit + wait + run);
        }
    }
    if (result == 0 && (gzerror(file, &code), code != Z_OK && code != Z_STREAM_END)) {
        fprintf(stderr, "%s: damaged after line %zu\n", path, number);
        result = -1;
    }
    gzclose(file);
    if (result < 0)
        joblog_release(log);
    else
        qsort(log->events, log->event_count, sizeof *log->events, by_time);
    return result;
}

void joblog_release(struct joblog *log)
{
    free(log->jobs);
    free(log->events);
    *log = (struct joblog){0};
}
