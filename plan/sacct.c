/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/joblog.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* What `sacct --parsable2` prints: names of fields, then a line for each job and each of its
 * steps. Times are those of this host, or seconds (SLURM_TIME_FORMAT=%s). */

enum { FIELDS_MAX = 128 };

enum field { JOB, START, END, NODES, UID, USER, FIELD_COUNT };

/* Where each stands; -1: it is not there. Of two names the later one is taken. */
struct header {
    int at[FIELD_COUNT];
    size_t count;
};

static const struct {
    const char *name;
    enum field field;
} names[] = {{"JobID", JOB},        {"JobIDRaw", JOB}, {"Start", START}, {"End", END},
             {"AllocNodes", NODES}, {"NNodes", NODES}, {"UID", UID},     {"User", USER}};

static size_t split(char *line, char *fields[FIELDS_MAX])
{
    size_t count = 0;
    for (char *field; count < FIELDS_MAX && (field = strsep(&line, "|"));)
        fields[count++] = field;
    return count;
}

static bool read_header(struct joblog *log, struct header *header, size_t number, char *line)
{
    static const char *const needed[] = {"JobID", "Start", "End", "NNodes"};
    char *fields[FIELDS_MAX];
    header->count = split(line, fields);
    for (size_t i = 0; i < FIELD_COUNT; i++)
        header->at[i] = -1;
    for (size_t i = 0; i < header->count; i++) {
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            if (strcasecmp(fields[i], names[j].name) == 0)
                header->at[names[j].field] = (int)i;
        }
    }
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (header->at[i] < 0) {
            joblog_fault(log, number, "no field %s: sacct -a -P -o JobID,UID,Start,End,NNodes",
                         needed[i]);
            return false;
        }
    }
    return true;
}

enum when { WHEN_WRONG, WHEN_UNKNOWN, WHEN_KNOWN };

static enum when read_time(const char *text, int64_t *ms)
{
    struct tm tm = {.tm_isdst = -1};
    char *end;
    if (text[0] == '\0' || strcmp(text, "Unknown") == 0 || strcmp(text, "None") == 0 ||
        strcmp(text, "0") == 0)
        return WHEN_UNKNOWN;
    if (text[strspn(text, "0123456789")] == '\0' && strlen(text) <= 12) {
        *ms = (int64_t)strtoll(text, NULL, 10) * 1000;
        return WHEN_KNOWN;
    }
    end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!end || end[0] != '\0')
        return WHEN_WRONG;
    *ms = (int64_t)mktime(&tm) * 1000;
    return WHEN_KNOWN;
}

/* sacct writes 2048 as "2K". 0: it is no number of nodes; those that are too many are for
 * joblog_add. */
static uint32_t read_nodes(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end[0] == 'K' || end[0] == 'M')
        value *= *end++ == 'K' ? 1024 : 1024 * 1024;
    if (end == text || end[0] != '\0' || !(value >= 1))
        return 0;
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* A user without a number is known by his name. */
static uint32_t read_user(const char *uid, const char *user)
{
    uint32_t hash = 2166136261;
    if (uid && isdigit((unsigned char)uid[0]))
        return (uint32_t)strtoul(uid, NULL, 10);
    if (!user || user[0] == '\0')
        return UINT32_MAX;
    for (; *user; user++)
        hash = (hash ^ (unsigned char)*user) * 16777619;
    return hash / 2;
}

static void read_job(struct joblog *log, size_t number, const struct header *header,
                     char *fields[FIELDS_MAX])
{
    const char *told[FIELD_COUNT];
    for (size_t i = 0; i < FIELD_COUNT; i++)
        told[i] = header->at[i] < 0 ? NULL : fields[header->at[i]];
    struct joblog_job job = {.nodes = read_nodes(told[NODES]),
                             .uid = read_user(told[UID], told[USER])};
    (void)strncpy(job.id, told[JOB], sizeof job.id - 1);
    const enum when starts = read_time(told[START], &job.start_ms);
    const enum when ends = read_time(told[END], &job.end_ms);
    if (strchr(told[JOB], '.'))
        log->steps++;
    else if (starts == WHEN_WRONG || ends == WHEN_WRONG)
        joblog_fault(log, number, "job %.32s: not a time: %.20s", job.id,
                     starts == WHEN_WRONG ? told[START] : told[END]);
    else if (starts == WHEN_UNKNOWN)
        log->never_ran++;
    else {
        if (ends == WHEN_UNKNOWN)
            job.end_ms = JOBLOG_RUNNING;
        joblog_add(log, number, &job);
    }
}

void joblog_read_sacct(struct joblog *log, char *text, char *end)
{
    struct header header = {.count = 0};
    size_t number = 0;
    for (char *line; (line = joblog_line(&text, end));) {
        char *fields[FIELDS_MAX];
        number++;
        if (line[0] == '\0')
            continue;
        if (header.count == 0) {
            if (!read_header(log, &header, number, line))
                return;
            continue;
        }
        const size_t count = split(line, fields);
        if (count == header.count)
            read_job(log, number, &header, fields);
        else
            joblog_fault(log, number, "%zu fields, and the first line has %zu: job %.32s", count,
                         header.count, fields[0]);
    }
}
