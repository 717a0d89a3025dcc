/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/bodies/bodies.h"

#include "base/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is read, and how far. */
struct scan {
    char *start, *at, *end;
    struct sync_body *body;
    struct problem *problem;
};

static int refuse_json(const struct scan *scan, const char *what)
{
    size_t line = 1, column = 1;
    for (const char *c = scan->start; c < scan->at; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    return problem_set(scan->problem, 400, "bad-json", NULL,
                       "the body is not valid JSON: line %zu, column %zu: %s", line, column, what);
}

static char peek(struct scan *scan)
{
    while (scan->at < scan->end && memchr(" \t\r\n", *scan->at, 4))
        scan->at++;
    return (char)(scan->at < scan->end ? *scan->at : '\0');
}

static bool skip(struct scan *scan, char wanted)
{
    if (peek(scan) != wanted)
        return false;
    scan->at++;
    return true;
}

/* Whether a value begins here that is no text. */
static bool at_other_value(struct scan *scan)
{
    const char next = peek(scan);
    return next != '\0' && strchr("{[-0123456789tfn", next);
}

/* From the quote on; decoded where it stands, which takes less room than it had with its quotes. */
static int read_text(struct scan *scan, const char **text)
{
    char *out = scan->at;
    json_error_t error;
    json_t *value = json_loadb(scan->at, (size_t)(scan->end - scan->at),
                               JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, &error);
    scan->at += error.position;
    if (!value)
        return refuse_json(scan, error.text);
    *text = memcpy(out, json_string_value(value), json_string_length(value) + 1);
    json_decref(value);
    return 0;
}

/* ---- the list ---- */

static int read_id(struct scan *scan)
{
    struct sync_body *body = scan->body;
    const char *id = NULL;
    char field[48];
    const bool is_text = peek(scan) == '"';
    if (!is_text && !at_other_value(scan))
        return refuse_json(scan, "a text expected");
    if (is_text && read_text(scan, &id) < 0)
        return -1;
    if (!id || !job_id_valid(id)) {
        snprintf(field, sizeof field, "active[%zu]", body->count);
        return problem_set(scan->problem, 422, "invalid", field,
                           "%s must be a job id: 1 to %d of A-Z, a-z, 0-9 and ._:@+-", field,
                           JOB_ID_MAX);
    }
    if (body->count == SYNC_IDS_MAX)
        return problem_set(scan->problem, 422, "invalid", "active",
                           "active may name %d jobs at most", SYNC_IDS_MAX);
    body->active[body->count++] = id;
    return 0;
}

static int refuse_list(struct scan *scan)
{
    return problem_set(scan->problem, 422, scan->body->active ? "invalid" : "missing-field",
                       "active",
                       "active must be the list of all job ids of this cluster that are active");
}

static int read_active(struct scan *scan)
{
    const char next = peek(scan);
    if (next == '"' || (next != '[' && at_other_value(scan)))
        return refuse_list(scan);
    if (!skip(scan, '['))
        return refuse_json(scan, "a list expected");
    if (skip(scan, ']'))
        return 0;
    do {
        if (read_id(scan) < 0)
            return -1;
    } while (skip(scan, ','));
    return skip(scan, ']') ? 0 : refuse_json(scan, "',' or ']' expected");
}

/* ---- the object ---- */

static int read_member(struct scan *scan)
{
    /* An id with its quotes and comma is four bytes at least. */
    const size_t most = (size_t)(scan->end - scan->at) / 4 + 1;
    const char *name;
    if (peek(scan) != '"')
        return refuse_json(scan, "the name of a field expected");
    if (read_text(scan, &name) < 0)
        return -1;
    if (!skip(scan, ':'))
        return refuse_json(scan, "':' expected");
    if (strcmp(name, "active") != 0)
        return problem_set(scan->problem, 422, "unknown-field", name,
                           "there is no field '%.64s' in this request; GET /openapi.json lists "
                           "those that there are",
                           name);
    if (scan->body->active)
        return refuse_json(scan, "a field that is there twice");
    scan->body->active =
        malloc((most < SYNC_IDS_MAX ? most : SYNC_IDS_MAX) * sizeof *scan->body->active);
    if (!scan->body->active)
        return problem_set(scan->problem, 503, "out-of-memory", NULL,
                           "there is no memory for so many ids; try again");
    return read_active(scan);
}

static int read_object(struct scan *scan)
{
    if (!skip(scan, '{'))
        return refuse_json(scan, "the body must be a JSON object");
    if (!skip(scan, '}')) {
        do {
            if (read_member(scan) < 0)
                return -1;
        } while (skip(scan, ','));
        if (!skip(scan, '}'))
            return refuse_json(scan, "',' or '}' expected");
    }
    (void)peek(scan);
    if (scan->at < scan->end)
        return refuse_json(scan, "nothing may follow the object");
    return scan->body->active ? 0 : refuse_list(scan);
}

int sync_body_parse(char *bytes, size_t length, struct sync_body *body, struct problem *problem)
{
    static char none[1];
    char *start = length > 0 ? bytes : none;
    struct scan scan = {
        .start = start, .at = start, .end = start + length, .body = body, .problem = problem};
    *body = (struct sync_body){0};
    int rc = read_object(&scan);
    if (rc < 0)
        sync_body_release(body);
    return rc;
}

void sync_body_release(struct sync_body *body)
{
    free(body->active);
    *body = (struct sync_body){0};
}
