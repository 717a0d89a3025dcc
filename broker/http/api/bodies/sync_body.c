/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/bodies/bodies.h"

#include "base/names.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is read, and how far. Texts are decoded where they stand. */
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

/* All of it, beforehand: only texts may have characters that are not ASCII. */
static int check_utf8(struct scan *scan)
{
    size_t length = 1;
    while (scan->at < scan->end && length > 0) {
        length = (unsigned char)*scan->at < 0x80
                     ? 1
                     : utf8_length(scan->at, (size_t)(scan->end - scan->at));
        scan->at += length;
    }
    if (length == 0)
        return refuse_json(scan, "not UTF-8");
    scan->at = scan->start;
    return 0;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static char peek(struct scan *scan)
{
    while (scan->at < scan->end && is_space(*scan->at))
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

/* NULL: what comes next begins no value. */
static const char *kind_of_next(struct scan *scan)
{
    static const struct {
        const char *begins, *kind;
    } kinds[] = {
        {"{", "an object"},         {"[", "a list"},  {"\"", "text"}, {"true", "true or false"},
        {"false", "true or false"}, {"null", "null"},
    };
    const char first = peek(scan);
    const size_t left = (size_t)(scan->end - scan->at);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const size_t length = strlen(kinds[i].begins);
        if (length <= left && !memcmp(scan->at, kinds[i].begins, length))
            return kinds[i].kind;
    }
    return first == '-' || (first >= '0' && first <= '9') ? "a number" : NULL;
}

/* ---- text ---- */

/* Behind \u: four hexadecimal digits. No id or field has a character that is not ASCII, so any such
 * stands for the others, and two units of one character are not joined. */
static int read_code(struct scan *scan, char *out)
{
    unsigned code = 0;
    for (int i = 0; i < 4; i++, scan->at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = scan->at < scan->end && *scan->at ? strchr(digits, *scan->at) : NULL;
        if (!digit)
            return refuse_json(scan, "\\u needs four hexadecimal digits");
        code = code * 16 + (unsigned)((digit - digits) % 16);
    }
    if (code == 0)
        return refuse_json(scan, "a NUL in a text");
    *out = (char)(code < 0x80 ? code : '?');
    return 0;
}

/* Behind a backslash. */
static int read_escape(struct scan *scan, char *out)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char c = (char)(scan->at < scan->end ? *scan->at : '\0');
    const char *letter = c ? strchr(letters, c) : NULL;
    if (!letter && c != 'u')
        return refuse_json(scan, "no such escape");
    scan->at++;
    if (!letter)
        return read_code(scan, out);
    *out = meant[letter - letters];
    return 0;
}

/* From the quote on; decoded where it stands. */
static int read_text(struct scan *scan, char **text)
{
    char *out = ++scan->at;
    *text = out;
    while (scan->at < scan->end && *scan->at != '"') {
        const char c = *scan->at;
        if (c >= 0 && c < ' ')
            return refuse_json(scan, "a control character in a text");
        scan->at++;
        *out = c;
        if (c == '\\' && read_escape(scan, out) < 0)
            return -1;
        out++;
    }
    if (scan->at == scan->end)
        return refuse_json(scan, "the text does not end");
    scan->at++;
    *out = '\0';
    return 0;
}

/* ---- the list ---- */

static int read_id(struct scan *scan)
{
    struct sync_body *body = scan->body;
    char field[48], *id = NULL;
    if (!kind_of_next(scan))
        return refuse_json(scan, "a text expected");
    if (*scan->at == '"' && read_text(scan, &id) < 0)
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

static int read_active(struct scan *scan)
{
    const char *kind = kind_of_next(scan);
    if (!kind)
        return refuse_json(scan, "a list expected");
    if (!skip(scan, '['))
        return problem_set(scan->problem, 422, "invalid", "active",
                           "active must be the list of all job ids of this cluster that are "
                           "active, not %s",
                           kind);
    /* An id with its quotes and comma is four bytes at least. */
    size_t most = (size_t)(scan->end - scan->at) / 4 + 1;
    scan->body->active =
        malloc((most < SYNC_IDS_MAX ? most : SYNC_IDS_MAX) * sizeof *scan->body->active);
    if (!scan->body->active)
        return problem_set(scan->problem, 503, "out-of-memory", NULL,
                           "there is no memory for so many ids; try again");
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
    char *name;
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
    return scan->body->active ? refuse_json(scan, "a field that is there twice")
                              : read_active(scan);
}

static int read_object(struct scan *scan)
{
    const char *kind = kind_of_next(scan);
    if (kind && *scan->at != '{')
        return problem_set(scan->problem, 400, "bad-json", NULL,
                           "the body must be a JSON object, it is %s: line 1, column 1", kind);
    if (!skip(scan, '{'))
        return refuse_json(scan, "'{' expected");
    if (!skip(scan, '}')) {
        do {
            if (read_member(scan) < 0)
                return -1;
        } while (skip(scan, ','));
        if (!skip(scan, '}'))
            return refuse_json(scan, "',' or '}' expected");
    }
    (void)peek(scan);
    return scan->at == scan->end ? 0 : refuse_json(scan, "nothing may follow the object");
}

int sync_body_parse(char *bytes, size_t length, struct sync_body *body, struct problem *problem)
{
    static char none[1];
    char *start = length > 0 ? bytes : none;
    struct scan scan = {
        .start = start, .at = start, .end = start + length, .body = body, .problem = problem};
    *body = (struct sync_body){0};
    int rc = check_utf8(&scan) < 0 ? -1 : read_object(&scan);
    if (rc == 0 && !body->active)
        rc = problem_set(problem, 422, "missing-field", "active",
                         "active must be the list of all job ids of this cluster that are active");
    if (rc < 0)
        sync_body_release(body);
    return rc;
}

void sync_body_release(struct sync_body *body)
{
    free(body->active);
    *body = (struct sync_body){0};
}
