/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/bodies/sync_body.h"

#include "base/names.h"
#include "base/utf8.h"

#include <stdint.h>
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

static bool at_word(const struct scan *scan, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(scan->end - scan->at) >= length && memcmp(scan->at, word, length) == 0;
}

static const char *kind_of_next(struct scan *scan)
{
    char first = peek(scan);
    switch (first) {
    case '{':
        return "an object";
    case '[':
        return "a list";
    case '"':
        return "text";
    case 't':
        return at_word(scan, "true") ? "true or false" : NULL;
    case 'f':
        return at_word(scan, "false") ? "true or false" : NULL;
    case 'n':
        return at_word(scan, "null") ? "null" : NULL;
    default:
        return first == '-' || (first >= '0' && first <= '9') ? "a number" : NULL;
    }
}

/* ---- text ---- */

/* Four hexadecimal digits. */
static int read_unit(struct scan *scan, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, scan->at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = scan->at < scan->end && *scan->at ? strchr(digits, *scan->at) : NULL;
        if (!digit)
            return refuse_json(scan, "\\u needs four hexadecimal digits");
        *unit = *unit * 16 + (uint32_t)((digit - digits) % 16);
    }
    return 0;
}

/* Behind \u: a character, of two units if it must be. */
static int read_code(struct scan *scan, uint32_t *code)
{
    uint32_t low;
    if (read_unit(scan, code) < 0)
        return -1;
    if (*code == 0)
        return refuse_json(scan, "a NUL in a text");
    if (*code < 0xd800 || *code > 0xdfff)
        return 0;
    if (*code > 0xdbff || !at_word(scan, "\\u"))
        return refuse_json(scan, "half a character");
    scan->at += 2;
    if (read_unit(scan, &low) < 0)
        return -1;
    if (low < 0xdc00 || low > 0xdfff)
        return refuse_json(scan, "half a character");
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return 0;
}

/* In UTF-8, which is shorter than the escape was. */
static void write_code(char **out, uint32_t code)
{
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char marks[] = {0, 0xc0, 0xe0, 0xf0};
    *(*out)++ = (char)(marks[more] | code >> 6 * more);
    while (more-- > 0)
        *(*out)++ = (char)(0x80 | (code >> 6 * more & 0x3f));
}

/* Behind a backslash. */
static int read_escape(struct scan *scan, char **out)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char c = (char)(scan->at < scan->end ? *scan->at : '\0');
    const char *letter = c ? strchr(letters, c) : NULL;
    uint32_t code;
    if (!letter && c != 'u')
        return refuse_json(scan, "no such escape");
    scan->at++;
    if (letter) {
        *(*out)++ = meant[letter - letters];
        return 0;
    }
    if (read_code(scan, &code) < 0)
        return -1;
    write_code(out, code);
    return 0;
}

/* A character that is not ASCII. */
static int copy_character(struct scan *scan, char **out)
{
    size_t length = utf8_length(scan->at, (size_t)(scan->end - scan->at));
    if (length == 0)
        return refuse_json(scan, "not UTF-8");
    memmove(*out, scan->at, length);
    *out += length;
    scan->at += length;
    return 0;
}

/* One character of a text, which is not its end. */
static int copy_one(struct scan *scan, char **out)
{
    unsigned char c = (unsigned char)*scan->at;
    if (c < ' ')
        return refuse_json(scan, "a control character in a text");
    if (c >= 0x80)
        return copy_character(scan, out);
    scan->at++;
    if (c == '\\')
        return read_escape(scan, out);
    *(*out)++ = (char)c;
    return 0;
}

/* From the quote on; decoded where it stands. */
static int read_text(struct scan *scan, char **text)
{
    char *out = ++scan->at;
    *text = out;
    while (scan->at < scan->end && *scan->at != '"') {
        if (copy_one(scan, &out) < 0)
            return -1;
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
    int rc = read_object(&scan);
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
