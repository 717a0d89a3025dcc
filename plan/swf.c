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

static void read_header(struct joblog *log, size_t number, const char *line)
{
    const struct {
        const char *format;
        uint32_t *value, most;
    } names[] = {{"UnixStartTime: %lf", &log->begin_s, UINT32_MAX},
                 {"MaxNodes: %lf", &log->machine_nodes, JOBLOG_NODES_MAX},
                 {"MaxProcs: %lf", &log->machine_processors, UINT32_MAX}};
    line += strspn(line, "; \t");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        double value;
        if (sscanf(line, names[i].format, &value) != 1)
            continue;
        if (value >= 0 && value <= names[i].most)
            *names[i].value = (uint32_t)value;
        else if (value != -1) /* not known */
            joblog_fault(log, number, "not from 0 to %u: %.40s", names[i].most, line);
    }
}

/* How many fields there are; *rest is what follows them: one that is none, or one too many. */
static size_t read_fields(const char **rest, double fields[FIELDS])
{
    size_t count = 0;
    for (char *end; *rest[0] != '\0' && count < FIELDS; *rest = end + strspn(end, " \t")) {
        fields[count] = strtod(*rest, &end);
        if (end == *rest || !strchr(" \t", end[0]) || !(fabs(fields[count]) <= VALUE_MAX))
            break;
        count++;
    }
    return count;
}

static uint32_t nodes_of(const struct joblog *log, double processors)
{
    const double nodes = log->machine_nodes, all = log->machine_processors;
    if (nodes > 0 && all > nodes)
        processors = ceil(processors * nodes / all);
    return processors >= UINT32_MAX ? UINT32_MAX : processors > 0 ? (uint32_t)processors : 0;
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
            read_header(log, number, line);
        if (line[0] == ';' || line[0] == '\0')
            continue;
        const char *rest = line;
        const size_t count = read_fields(&rest, fields);
        if (count == FIELDS && rest[0] == '\0')
            read_job(log, number, fields);
        else if (count == FIELDS || rest[0] == '\0')
            joblog_fault(log, number, "%s than the %d numbers of a job: %.40s",
                         count < FIELDS ? "fewer" : "more", FIELDS, line);
        else
            joblog_fault(log, number, "field %zu is no number up to 1e12: %.24s", count + 1, rest);
    }
}
