/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The jobs of a resource manager's log, and their starts and ends in the order of time. Reads the
 * Standard Workload Format, what `sacct --parsable2` prints and what `flux jobs --json` does; the
 * text itself tells which it is. What is wrong or cut is counted and named. */

enum joblog_format { JOBLOG_SWF, JOBLOG_SACCT, JOBLOG_FLUX };

enum { JOBLOG_ID_SIZE = 40, JOBLOG_FAULTS_KEPT = 20, JOBLOG_NODES_MAX = 1000000 };
#define JOBLOG_TEXT_MAX ((size_t)1 << 30) /* octets of a log, not compressed */
#define JOBLOG_RUNNING INT64_MAX          /* the end of a job that has none yet */

struct joblog_job {
    char id[JOBLOG_ID_SIZE]; /* as the log says; cut to fit */
    int64_t start_ms, end_ms;
    uint32_t nodes, uid; /* uid: UINT32_MAX: not known */
};

struct joblog_event {
    int64_t time_ms;
    uint32_t job; /* index into jobs */
    bool ends;
};

struct joblog_fault {
    size_t line; /* of flux jobs --json: which of its jobs; 0: the file as a whole */
    char words[100];
};

struct joblog {
    enum joblog_format format;
    struct joblog_job *jobs;
    struct joblog_event *events; /* 2 a job; at one time the ends come before the starts */
    size_t job_count, event_count, job_capacity, most;
    uint32_t machine_nodes, machine_processors; /* as the log's header says; 0: it does not */
    uint32_t begin_s;                           /* Unix time of its 0 */
    /* left out: jobs that never ran, or took no time; parts of jobs that are there */
    size_t never_ran, steps;
    size_t running;     /* not over yet: they end with the log */
    size_t fault_count; /* left out: wrong or cut; the first are named */
    struct joblog_fault faults[JOBLOG_FAULTS_KEPT];
};

/* Reads the first jobs of a file, gzip or plain, at most so many; "-": standard input. 0, or
 * ERROR_IO or ERROR_FULL. Released by the caller, whatever is returned. */
int joblog_read(struct joblog *log, const char *path, size_t most, struct error *err);
/* The same of a text, which it changes; text[length] must be there. */
void joblog_parse(struct joblog *log, char *text, size_t length, size_t most);
void joblog_release(struct joblog *log);

/* The log of a machine of another size that is used as much: the jobs are as large as before, and
 * more, or fewer, by to / from. Each copy begins an hour after the one before. */
void joblog_resize(struct joblog *log, uint32_t from, uint32_t to);

/* "swf", "sacct", "flux" */
const char *joblog_format_word(enum joblog_format format);

/* ---- for the readers of each format: swf.c, sacct.c, fluxjobs.c ---- */

void joblog_add(struct joblog *log, size_t line, const struct joblog_job *job);
__attribute__((format(printf, 3, 4))) void joblog_fault(struct joblog *log, size_t line,
                                                        const char *format, ...);
/* Ends a line and moves *text behind it; NULL: there are no more. A text of one line at a time. */
char *joblog_line(char **text, char *end);

void joblog_read_swf(struct joblog *log, char *text, char *end);
void joblog_read_sacct(struct joblog *log, char *text, char *end);
void joblog_read_flux(struct joblog *log, char *text, char *end);
