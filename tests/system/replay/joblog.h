/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The starts and ends of the jobs of a log in the Standard Workload Format, in the order of time.
 * Failures say why on stderr. */

struct joblog_job {
    uint32_t id;    /* field 1 */
    uint32_t nodes; /* field 5, or 8 where 5 is not known */
};

struct joblog_event {
    int64_t time; /* s */
    uint32_t job; /* index into jobs */
    bool ends;
};

struct joblog {
    struct joblog_job *jobs;
    struct joblog_event *events; /* 2 a job; at one time the ends come before the starts */
    size_t job_count, event_count;
};

/* Reads the first jobs of a file, gzip or plain, at most so many. A job that never ran, or has no
 * nodes, is left out. 0, or -1. */
int joblog_read(struct joblog *log, const char *path, size_t most);
void joblog_release(struct joblog *log);
