/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/joblog.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The Standard Workload Format: 18 numbers a line, -1 for what is not known, and a header of lines
 * that begin with ';'. */

enum {
    FIELDS = 18,
    JOB = 0,
    SUBMIT = 1,
    WAIT = 2,
    RUN = 3,
    ALLOCATED = 4,
    REQUESTED = 7,
    STATUS = 10,
    USER = 11
};
#define VALUE_MAX 1e12

static void read_header(struct joblog *log, const char *line)
{
    unsigned value;
    line += strspn(line, "; \t");
    if (sscanf(line, "UnixStartTime: %10u", &value) == 1)
        log->begin_s = value;
    if (sscanf(line, "MaxNodes: %9u", &value) == 1 && value <= JOBLOG_NODES_MAX)
        log->machine_nodes = value;
    if (sscanf(line, "MaxProcs: %9u", &value) == 1)
        log->machine_processors = value;
}

/* How many fields there are, up to the first that is none. */
static size_t read_fields(const char *line, double fields[FIELDS])
{
    size_t count = 0;
    for (char *end; line[0] != '\0'; line = end + strspn(end, " \t")) {
        const double value = strtod(line, &end);
        if (end == line || !strchr(" \t", end[0]) || count == FIELDS || !(fabs(value) <= VALUE_MAX))
            return count == FIELDS ? FIELDS + 1 : count;
        fields[count++] = value;
    }
    return count;
}

static uint32_t nodes_of(const struct joblog *log, double processors)
{
    const double nodes = log->machine_nodes, all = log->machine_processors;
    if (nodes > 0 && all > nodes)
        processors = ceil(processors * nodes / all);
    return processors > 0 && processors <= JOBLOG_NODES_MAX ? (uint32_t)processors : 0;
}

static void read_job(struct joblog *log, size_t number, const double f[FIELDS])
{
    const double processors = f[ALLOCATED] > 0 ? f[ALLOCATED] : f[REQUESTED];
    struct joblog_job job = {
        .nodes = nodes_of(log, processors),
        .uid = f[USER] >= 0 && f[USER] < UINT32_MAX ? (uint32_t)f[USER] : UINT32_MAX,
        .start_ms = (int64_t)((log->begin_s + f[SUBMIT] + (f[WAIT] > 0 ? f[WAIT] : 0)) * 1000),
    };
    (void)snprintf(job.id, sizeof job.id, "%.0f", f[JOB]);
    job.end_ms = job.start_ms + (int64_t)(f[RUN] * 1000);
    if (f[STATUS] >= 2 && f[STATUS] <= 4) /* a part of a job that has a line of its own */
        log->steps++;
    else if (f[RUN] <= 0 || processors <= 0)
        log->never_ran++;
    else
        joblog_add(log, number, &job);
}

void joblog_read_swf(struct joblog *log, char *text, char *end)
{
    size_t number = 0;
    for (char *line; (line = joblog_line(&text, end));) {
        double fields[FIELDS];
        number++;
        line += strspn(line, " \t");
        if (line[0] == ';')
            read_header(log, line);
        if (line[0] == ';' || line[0] == '\0')
            continue;
        const size_t count = read_fields(line, fields);
        if (count == FIELDS)
            read_job(log, number, fields);
        else
            joblog_fault(log, number, "%s than the %d numbers of a job: %.40s",
                         count < FIELDS ? "fewer" : "more", FIELDS, line);
    }
}
