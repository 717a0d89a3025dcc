#include "broker/http/sync_body.h"

#include "core/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where reading is. */
struct scan {
    char *start, *at, *end;
    struct problem *problem;
};

static int bad_json(const struct scan *scan, const char *what)
{
    size_t line = 1, column = 1;
    for (const char *c = scan->start; c < scan->at; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    return problem_set(scan->problem, 400, "bad-json", NULL,
                       "the body is not valid JSON: line %zu, column %zu: %s", line, column, what);
}

/* The next character that is not space; NUL at the end, which no JSON has elsewhere. */
static char peek(struct scan *scan)
{
    while (scan->at < scan->end && *scan->at != '\0' && strchr(" \t\r\n", *scan->at))
        scan->at++;
    return (char)(scan->at < scan->end ? *scan->at : '\0');
}

static bool take(struct scan *scan, char wanted)
{
    if (peek(scan) != wanted)
        return false;
    scan->at++;
    return true;
}

/* What the next value is, for people; NULL: no value begins like this. */
static const char *kind_of(char first)
{
    switch (first) {
    case '{':
        return "an object";
    case '[':
        return "a list";
    case '"':
        return "text";
    case 't':
    case 'f':
        return "true or false";
    case 'n':
        return "null";
    default:
        return first == '-' || (first >= '0' && first <= '9') ? "a number" : NULL;
    }
}

/* After a backslash: the character meant, or '?' for one that no name here can have. */
static int read_escape(struct scan *scan, char *out)
{
    unsigned code = 0;
    char c = (char)(scan->at < scan->end ? *scan->at : '\0');
    if (c == '\0' || !strchr("\"\\/bfnrtu", c))
        return bad_json(scan, "no such escape");
    scan->at++;
    *out = (char)(strchr("\"\\/", c) ? c : '?');
    if (c != 'u')
        return 0;
    for (int i = 0; i < 4; i++, scan->at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = scan->at < scan->end && *scan->at ? strchr(digits, *scan->at) : NULL;
        if (!digit)
            return bad_json(scan, "\\u needs four hexadecimal digits");
        code = code * 16 + (unsigned)((digit - digits) % 16);
    }
    if (code > ' ' && code < 0x7f)
        *out = (char)code;
    return 0;
}

/* A string, decoded where it stands. */
static int read_text(struct scan *scan, char **text)
{
    char *out = ++scan->at;
    *text = out;
    for (;; out++) {
        if (scan->at == scan->end)
            return bad_json(scan, "the text does not end");
        char c = *scan->at;
        if ((unsigned char)c < ' ')
            return bad_json(scan, "a control character in a text");
        scan->at++;
        if (c == '"')
            break;
        if (c == '\\' && read_escape(scan, &c) < 0)
            return -1;
        *out = c;
    }
    *out = '\0';
    return 0;
}

static int read_id(struct scan *scan, struct sync_body *body)
{
    char field[48], *id = NULL, first = peek(scan);
    if (!kind_of(first))
        return bad_json(scan, "a text expected");
    if (first == '"' && read_text(scan, &id) < 0)
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

static int read_active(struct scan *scan, struct sync_body *body)
{
    char first = peek(scan);
    if (!kind_of(first))
        return bad_json(scan, "a list expected");
    if (first != '[')
        return problem_set(scan->problem, 422, "invalid", "active",
                           "active must be the list of all job ids of this cluster that are "
                           "active, not %s",
                           kind_of(first));
    /* An id with its quotes and comma is four bytes at least. */
    size_t most = (size_t)(scan->end - scan->at) / 4 + 1;
    body->active = malloc((most < SYNC_IDS_MAX ? most : SYNC_IDS_MAX) * sizeof *body->active);
    if (!body->active)
        return problem_set(scan->problem, 503, "out-of-memory", NULL,
                           "there is no memory for so many ids; try again");
    scan->at++;
    if (take(scan, ']'))
        return 0;
    do {
        if (read_id(scan, body) < 0)
            return -1;
    } while (take(scan, ','));
    return take(scan, ']') ? 0 : bad_json(scan, "',' or ']' expected");
}

static int read_member(struct scan *scan, struct sync_body *body)
{
    char *name;
    if (peek(scan) != '"')
        return bad_json(scan, "the name of a field expected");
    if (read_text(scan, &name) < 0)
        return -1;
    if (!take(scan, ':'))
        return bad_json(scan, "':' expected");
    if (strcmp(name, "active") != 0)
        return problem_set(scan->problem, 422, "unknown-field", name,
                           "there is no field '%.64s' in this request; GET /openapi.json lists "
                           "those that there are",
                           name);
    return body->active ? bad_json(scan, "'active' is there twice") : read_active(scan, body);
}

static int read_object(struct scan *scan, struct sync_body *body)
{
    char first = peek(scan);
    if (!kind_of(first))
        return bad_json(scan, "'{' expected");
    if (first != '{')
        return problem_set(scan->problem, 400, "bad-json", NULL,
                           "the body must be a JSON object, it is %s: line 1, column 1",
                           kind_of(first));
    scan->at++;
    if (!take(scan, '}')) {
        do {
            if (read_member(scan, body) < 0)
                return -1;
        } while (take(scan, ','));
        if (!take(scan, '}'))
            return bad_json(scan, "',' or '}' expected");
    }
    (void)peek(scan);
    if (scan->at < scan->end)
        return bad_json(scan, "nothing may follow the object");
    if (!body->active)
        return problem_set(
            scan->problem, 422, "missing-field", "active",
            "active must be the list of all job ids of this cluster that are active");
    return 0;
}

int sync_body_parse(char *bytes, size_t length, struct sync_body *body, struct problem *problem)
{
    struct scan scan = {
        .start = bytes, .at = bytes, .end = length ? bytes + length : bytes, .problem = problem};
    *body = (struct sync_body){0};
    int rc = read_object(&scan, body);
    if (rc < 0)
        sync_body_release(body);
    return rc;
}

void sync_body_release(struct sync_body *body)
{
    free(body->active);
    *body = (struct sync_body){0};
}
