/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/joblog.h"
#include "base/memory.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { COPY_SHIFT_MS = 3600 * 1000, PIECE = 1 << 20 };

const char *joblog_format_word(enum joblog_format format)
{
    static const char *const words[] = {"swf", "sacct", "flux"};
    return words[format];
}

void joblog_release(struct joblog *log)
{
    free(log->jobs);
    free(log->events);
    *log = (struct joblog){0};
}

/* ---- for the readers ---- */

void joblog_fault(struct joblog *log, size_t line, const char *format, ...)
{
    va_list args;
    if (log->fault_count++ >= JOBLOG_FAULTS_KEPT)
        return;
    struct joblog_fault *fault = &log->faults[log->fault_count - 1];
    fault->line = line;
    va_start(args, format);
    (void)vsnprintf(fault->words, sizeof fault->words, format, args);
    va_end(args);
    text_make_printable(fault->words);
}

void joblog_add(struct joblog *log, size_t line, const struct joblog_job *job)
{
    if (job->start_ms < 0 || job->end_ms < job->start_ms) {
        joblog_fault(log, line, "job %.32s starts before 1970, or ends before it starts", job->id);
    } else if (job->nodes == 0 || job->nodes > JOBLOG_NODES_MAX) {
        joblog_fault(log, line, "job %.32s has %u nodes, which is not from 1 to %d", job->id,
                     job->nodes, JOBLOG_NODES_MAX);
    } else if (job->end_ms == job->start_ms) { /* as sacct tells a job that was cancelled before */
        log->never_ran++;
    } else if (log->job_count < log->most) {
        log->jobs = memory_room(log->jobs, log->job_count, &log->job_capacity, sizeof *log->jobs);
        log->running += job->end_ms == JOBLOG_RUNNING;
        log->jobs[log->job_count] = *job;
        text_make_printable(log->jobs[log->job_count++].id);
    }
}

char *joblog_line(char **text, char *end)
{
    char *line = *text, *stop = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
    if (line >= end)
        return NULL;
    if (!stop)
        stop = end;
    *text = stop + 1;
    *stop = '\0';
    if (stop > line && stop[-1] == '\r')
        stop[-1] = '\0';
    return line;
}

/* ---- the whole ---- */

static int by_time(const void *left, const void *right)
{
    const struct joblog_event *a = left, *b = right;
    if (a->time_ms != b->time_ms)
        return a->time_ms < b->time_ms ? -1 : 1;
    if (a->ends != b->ends)
        return a->ends ? -1 : 1;
    return a->job < b->job ? -1 : a->job > b->job;
}

static void order_events(struct joblog *log)
{
    free(log->events);
    log->event_count = 0;
    log->events = memory_resized(NULL, 2 * log->job_count + 1, sizeof *log->events);
    for (uint32_t i = 0; i < log->job_count; i++) {
        const struct joblog_job *job = &log->jobs[i];
        log->events[log->event_count++] = (struct joblog_event){job->start_ms, i, false};
        log->events[log->event_count++] = (struct joblog_event){job->end_ms, i, true};
    }
    qsort(log->events, log->event_count, sizeof *log->events, by_time);
}

/* Jobs that run end when nothing more is told. */
static void end_running(struct joblog *log)
{
    int64_t last = 0;
    for (size_t i = 0; i < log->job_count; i++) {
        const struct joblog_job *job = &log->jobs[i];
        const int64_t told = job->end_ms == JOBLOG_RUNNING ? job->start_ms + 1 : job->end_ms;
        last = told > last ? told : last;
    }
    for (size_t i = 0; i < log->job_count; i++) {
        if (log->jobs[i].end_ms == JOBLOG_RUNNING)
            log->jobs[i].end_ms = last;
    }
}

void joblog_parse(struct joblog *log, char *text, size_t length, size_t most)
{
    char *end = text + length, *begin = text + strspn(text, " \t\r\n");
    *log = (struct joblog){.most = most < UINT32_MAX / 2 ? most : UINT32_MAX / 2};
    const size_t first = strcspn(begin, "\n");
    text[length] = '\0';
    if (begin[0] == '{' || begin[0] == '[')
        log->format = JOBLOG_FLUX;
    else if (memchr(begin, '|', first))
        log->format = JOBLOG_SACCT;
    if (log->format == JOBLOG_FLUX)
        joblog_read_flux(log, begin, end);
    else if (log->format == JOBLOG_SACCT)
        joblog_read_sacct(log, text, end);
    else
        joblog_read_swf(log, text, end);
    end_running(log);
    order_events(log);
}

static gzFile open_log(const char *path)
{
    if (strcmp(path, "-") != 0)
        return gzopen(path, "rbe");
    const int copy = dup(STDIN_FILENO);
    gzFile file = copy >= 0 ? gzdopen(copy, "rb") : NULL;
    if (copy >= 0 && !file)
        close(copy);
    return file;
}

int joblog_read(struct joblog *log, const char *path, size_t most, struct error *err)
{
    size_t length = 0, capacity = 0;
    char *text = NULL;
    int got = 0, code = 0;
    *log = (struct joblog){0};
    errno = 0;
    gzFile file = open_log(path);
    if (!file)
        return error_set(err, ERROR_IO, "%s: %s", path, strerror(errno ? errno : ENOMEM));
    do {
        length += (size_t)got;
        if (capacity < length + PIECE + 1)
            text = memory_resized(text, capacity = 2 * capacity + PIECE + 1, 1);
    } while ((got = gzread(file, text + length, PIECE)) > 0 && length < JOBLOG_TEXT_MAX);
    (void)gzerror(file, &code);
    const int cause = errno;
    int rc = 0;
    if (code == Z_ERRNO)
        rc = error_set(err, ERROR_IO, "%s: %s", path, strerror(cause));
    else if (length >= JOBLOG_TEXT_MAX)
        rc = error_set(err, ERROR_FULL, "%s: more than 1 GiB of text: cut it into parts", path);
    if (rc == 0) {
        text[length] = '\0';
        joblog_parse(log, text, length, most);
    }
    if (rc == 0 && code != Z_OK && code != Z_STREAM_END)
        joblog_fault(log, 0, "the compressed file is %s: what follows is lost",
                     code == Z_BUF_ERROR ? "cut" : "damaged");
    free(text);
    (void)gzclose(file);
    return rc;
}

void joblog_resize(struct joblog *log, uint32_t from, uint32_t to)
{
    assert(from > 0 && to > 0);
    const struct joblog old = *log;
    log->jobs = NULL;
    log->job_count = log->job_capacity = 0;
    for (uint64_t copy = 0; copy * from < to; copy++) {
        const uint64_t share = to - copy * from < from ? to - copy * from : from;
        for (uint64_t i = 0; i < old.job_count; i++) {
            struct joblog_job job = old.jobs[i];
            /* As many of the last copy as are left, evenly over the whole log. */
            if ((i + 1) * share / from == i * share / from || log->job_count == log->most)
                continue;
            job.start_ms += (int64_t)copy * COPY_SHIFT_MS;
            job.end_ms += (int64_t)copy * COPY_SHIFT_MS;
            job.nodes = job.nodes < to ? job.nodes : to;
            log->jobs =
                memory_room(log->jobs, log->job_count, &log->job_capacity, sizeof *log->jobs);
            log->jobs[log->job_count++] = job;
        }
    }
    free(old.jobs);
    order_events(log);
}
