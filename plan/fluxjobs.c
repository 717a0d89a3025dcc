/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jobid.h"
#include "plan/joblog.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What `flux jobs -a --json` prints: {"jobs": [{…}, …]}, or one job. Each job is parsed by itself:
 * a text that was cut loses no more than the last one, and no tree of all of them is built. */

#define SECONDS_MAX 1e12

/* Seconds since 1970, as a number of milliseconds; 0: it is not there. */
static int64_t time_of(const json_t *job, const char *name)
{
    const double seconds = json_number_value(json_object_get(job, name));
    return seconds > 0 && seconds < SECONDS_MAX ? (int64_t)(seconds * 1000) : 0;
}

static void read_id(const json_t *object, char id[JOBLOG_ID_SIZE])
{
    const json_t *number = json_object_get(object, "id");
    const char *text = json_string_value(json_object_get(object, "jobid"));
    if (!text)
        text = json_string_value(number);
    if (text && jobid_plain(text, id, JOBLOG_ID_SIZE))
        return;
    (void)snprintf(id, JOBLOG_ID_SIZE, "%lld", (long long)json_integer_value(number));
}

static void read_job(struct joblog *log, size_t number, const json_t *object)
{
    const json_int_t nodes = json_integer_value(json_object_get(object, "nnodes"));
    const json_t *uid = json_object_get(object, "userid");
    struct joblog_job job = {
        .start_ms = time_of(object, "t_run"),
        .nodes = nodes > UINT32_MAX ? UINT32_MAX
                 : nodes > 0        ? (uint32_t)nodes
                                    : 0,
        .uid = json_is_integer(uid) ? (uint32_t)json_integer_value(uid) : UINT32_MAX,
    };
    read_id(object, job.id);
    job.end_ms = time_of(object, "t_cleanup");
    if (job.end_ms == 0)
        job.end_ms = time_of(object, "t_inactive");
    if (!json_is_object(object) || !json_object_get(object, "id")) {
        joblog_fault(log, number, "it is no job: it has no id");
    } else if (job.start_ms == 0) {
        log->never_ran++;
    } else {
        if (job.end_ms == 0)
            job.end_ms = JOBLOG_RUNNING;
        joblog_add(log, number, &job);
    }
}

/* Moves behind one token, with the blanks before it. */
static bool skip(char **text, const char *token)
{
    char *at = *text + strspn(*text, " \t\r\n");
    if (strncmp(at, token, strlen(token)) != 0)
        return false;
    *text = at + strlen(token);
    return true;
}

/* Moves behind an object whose braces match, whatever else is wrong in it. */
static bool skip_object(char **text, const char *end)
{
    size_t depth = 0;
    bool quoted = false;
    for (char *at = *text + strspn(*text, " \t\r\n"); at < end; at++) {
        if (quoted && *at == '\\')
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted && *at == '{')
            depth++;
        else if (!quoted && *at == '}' && depth > 0 && --depth == 0) {
            *text = at + 1;
            return true;
        } else if (depth == 0)
            return false;
    }
    return false;
}

/* One value, and moves behind it; false: what follows cannot be read. A user can give his job a
 * name that is no Unicode: that job is left out, and no other. */
static bool next_value(struct joblog *log, size_t number, char **text, const char *end,
                       json_t **value)
{
    json_error_t error;
    *value = json_loadb(*text, (size_t)(end - *text),
                        JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (*value) {
        *text += error.position;
        return true;
    }
    const bool good = skip_object(text, end);
    joblog_fault(log, number, "%s: %.40s",
                 good ? "not JSON" : "not JSON, or cut; what follows is lost", error.text);
    return good;
}

void joblog_read_flux(struct joblog *log, char *text, char *end)
{
    size_t number = 0;
    char *at = text;
    const bool list = skip(&at, "[") ||
                      (skip(&at, "{") && skip(&at, "\"jobs\"") && skip(&at, ":") && skip(&at, "["));
    if (!list)
        at = text;
    if (list && skip(&at, "]"))
        return;
    do {
        json_t *value;
        if (!next_value(log, ++number, &at, end, &value))
            return;
        if (value)
            read_job(log, number, value);
        json_decref(value);
    } while (list && skip(&at, ","));
    if (list && !skip(&at, "]"))
        joblog_fault(log, number + 1, "the list has no end: it was cut");
}
