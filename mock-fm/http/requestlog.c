/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/http/requestlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct entry {
    uint64_t connection;
    int64_t at_us;
    int status;
    bool session; /* a session token was shown */
    char method[12];
    char path[300]; /* job ids have at most 255 bytes; longer paths are cut */
};

struct requestlog {
    uint64_t requests;    /* the newest entry's number */
    uint64_t connections; /* that carried a request */
    struct entry entries[REQUESTLOG_ENTRIES];
};

struct requestlog *requestlog_create(void)
{
    return memory_zeroed(sizeof(struct requestlog));
}

void requestlog_destroy(struct requestlog *log)
{
    free(log);
}

uint64_t requestlog_connection(struct requestlog *log)
{
    return ++log->connections;
}

/* JSON must be UTF-8, a path can be anything. */
static void copy_printable(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
    for (; *to; to++)
        if (*to < ' ' || *to > '~')
            *to = '?';
}

uint64_t requestlog_begin(struct requestlog *log, uint64_t connection, const char *method,
                          const char *path, bool session, int64_t now_us)
{
    struct entry *entry = &log->entries[++log->requests % REQUESTLOG_ENTRIES];
    *entry = (struct entry){.connection = connection, .at_us = now_us, .session = session};
    copy_printable(entry->method, sizeof entry->method, method);
    copy_printable(entry->path, sizeof entry->path, path);
    return log->requests;
}

void requestlog_finish(struct requestlog *log, uint64_t number, int status)
{
    if (log->requests - number < REQUESTLOG_ENTRIES)
        log->entries[number % REQUESTLOG_ENTRIES].status = status;
}

static json_t *entry_document(const struct entry *entry, uint64_t number)
{
    const char *outcome = entry->status == REQUESTLOG_DROPPED ? "dropped" : "pending";
    json_t *status = entry->status > 0 ? json_integer(entry->status) : json_string(outcome);
    json_t *document = json_pack("{s:I, s:I, s:I, s:s, s:s, s:o}", "number", (json_int_t)number,
                                 "timeMicros", (json_int_t)entry->at_us, "connection",
                                 (json_int_t)entry->connection, "method", entry->method, "path",
                                 entry->path, entry->status > 0 ? "status" : "outcome", status);
    if (entry->session)
        json_object_set_new(document, "session", json_true());
    return document;
}

json_t *requestlog_document(const struct requestlog *log, uint64_t since)
{
    uint64_t first = since + 1;
    json_t *entries = json_array();
    if (log->requests >= REQUESTLOG_ENTRIES && first <= log->requests - REQUESTLOG_ENTRIES)
        first = log->requests - REQUESTLOG_ENTRIES + 1;
    for (uint64_t number = first; number <= log->requests; number++)
        json_array_append_new(entries,
                              entry_document(&log->entries[number % REQUESTLOG_ENTRIES], number));
    return json_pack("{s:I, s:I, s:o}", "requests", (json_int_t)log->requests, "connections",
                     (json_int_t)log->connections, "entries", entries);
}
