/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/faults/faults.h"

#include <assert.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "mock-fm/http/tokens.h"

#define HOUR_MS 3600000
#define MANY 1000000000
#define FILL_MAX 67108864 /* more than any client should take */

enum kind { FLAG, NUMBER, FRACTION, TEXT, DROP, OBJECT, HEADERS, ANYTHING };

static const char *const allowed[] = {
    [FLAG] = "true or false",
    [FRACTION] = "from 0 to 1",
    [TEXT] = "a string that is not empty",
    [DROP] = "\"before\" or \"after\"",
    [OBJECT] = "an object",
    [HEADERS] = "an object of header names and strings, without Content-Length and "
                "Transfer-Encoding",
};

static const struct field {
    const char *name;
    enum kind kind;
    int64_t least, most; /* of a NUMBER */
} fields[] = {
    {"method", .kind = TEXT},
    {"path", .kind = TEXT},
    {"session", .kind = FLAG},
    {"skip", NUMBER, 0, MANY},
    {"every", NUMBER, 1, HOUR_MS},
    {"count", NUMBER, 0, MANY},
    {"for_ms", NUMBER, 1, HOUR_MS},
    {"probability", .kind = FRACTION},
    {"status", NUMBER, 200, 599},
    {"act", .kind = FLAG},
    {"body", .kind = ANYTHING},
    {"delay_ms", NUMBER, 0, HOUR_MS},
    {"act_after_ms", NUMBER, 0, HOUR_MS},
    {"drop", .kind = DROP},
    {"merge", .kind = OBJECT},
    {"headers", .kind = HEADERS},
    {"byte_every_ms", NUMBER, 1, HOUR_MS},
    {"fill_to", NUMBER, 0, FILL_MAX},
    {"chunked", .kind = FLAG},
    {"truncate", .kind = FLAG},
    {"garbage", .kind = FLAG},
    {"length_4096", .kind = FLAG},
    {"no_document_links", .kind = FLAG},
    {"no_session_token", .kind = FLAG},
    {"no_hw_root", .kind = FLAG},
    {"short_hw_root", .kind = FLAG},
    {"patch_no_body", .kind = FLAG},
    {"session_token", .kind = TEXT},
    {"stale_ms", NUMBER, 1, HOUR_MS},
    {"stale_writes", NUMBER, 1, HOUR_MS},
    {"page_size", NUMBER, 1, MANY},
};

static const struct field *find_field(const char *name)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

/* A token (RFC 9110, 5.6.2), and none of those that describe how the body is sent. */
static bool is_header_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "!#$%&'*+-.^_`|~";
    return name[0] && !name[strspn(name, letters)] && strcasecmp(name, "Content-Length") != 0 &&
           strcasecmp(name, "Transfer-Encoding") != 0;
}

static bool are_headers(json_t *value)
{
    const char *name;
    json_t *text;
    json_object_foreach(value, name, text)
    {
        if (!is_header_name(name) || !json_is_string(text) ||
            strpbrk(json_string_value(text), "\r\n"))
            return false;
    }
    return json_is_object(value);
}

static bool is_allowed(const struct field *field, json_t *value)
{
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    double number = json_is_number(value) ? json_number_value(value) : -1;
    switch (field->kind) {
    case FLAG:
        return json_is_boolean(value);
    case NUMBER:
        return json_is_integer(value) && json_integer_value(value) >= field->least &&
               json_integer_value(value) <= field->most;
    case FRACTION:
        return number >= 0 && number <= 1;
    case TEXT:
        return text[0];
    case DROP:
        return strcmp(text, "before") == 0 || strcmp(text, "after") == 0;
    case OBJECT:
        return json_is_object(value);
    case HEADERS:
        return are_headers(value);
    case ANYTHING:
        break;
    }
    return true;
}

static int check_rule(json_t *rule, struct problem *problem)
{
    const char *name;
    json_t *value;
    if (!json_is_object(rule))
        return problem_set(problem, 400, "a fault must be a JSON object");
    json_object_foreach(rule, name, value)
    {
        const struct field *field = find_field(name);
        if (!field)
            return problem_set(problem, 400, "a fault has no field '%.64s'; see docs/mock-fm.md",
                               name);
        if (is_allowed(field, value))
            continue;
        if (field->kind == NUMBER)
            return problem_set(problem, 400, "%s of a fault must be a number from %jd to %jd", name,
                               (intmax_t)field->least, (intmax_t)field->most);
        return problem_set(problem, 400, "%s of a fault must be %s", name, allowed[field->kind]);
    }
    return 0;
}

int64_t fault_number(const json_t *fault, const char *field)
{
    assert(find_field(field)->kind == NUMBER);
    return json_integer_value(json_object_get(fault, field));
}

bool fault_flag(const json_t *fault, const char *field)
{
    assert(find_field(field)->kind == FLAG);
    return json_is_true(json_object_get(fault, field));
}

static const char *fault_text(const json_t *fault, const char *field)
{
    return json_string_value(json_object_get(fault, field));
}

void faults_init(struct faults *faults, uint64_t seed)
{
    faults->count = 0;
    faults->dice = seed;
}

static void keep_first(struct faults *faults, size_t count)
{
    while (faults->count > count)
        json_decref(faults->rules[--faults->count].fault);
}

void faults_clear(struct faults *faults)
{
    keep_first(faults, 0);
}

static int add_rule(struct faults *faults, json_t *rule, struct problem *problem)
{
    if (faults->count == FAULTS_MAX)
        return problem_set(problem, 400, "there are %d rules already, which is the limit",
                           FAULTS_MAX);
    if (check_rule(rule, problem) < 0)
        return -1;
    faults->rules[faults->count++] = (struct fault_rule){.fault = json_incref(rule)};
    return 0;
}

int faults_add(struct faults *faults, json_t *rules, struct problem *problem)
{
    size_t before = faults->count;
    if (!json_is_array(rules))
        return add_rule(faults, rules, problem);
    for (size_t i = 0; i < json_array_size(rules); i++)
        if (add_rule(faults, json_array_get(rules, i), problem) < 0) {
            keep_first(faults, before);
            return -1;
        }
    return 0;
}

static bool is_for(const json_t *fault, const struct request *request, bool session)
{
    const char *method = fault_text(fault, "method"), *path = fault_text(fault, "path");
    return (!method || strcmp(method, request->method) == 0) &&
           (!path || fnmatch(path, request->path, 0) == 0) &&
           (!json_object_get(fault, "session") || fault_flag(fault, "session") == session);
}

static double dice_fraction(uint64_t *state)
{
    return (double)(dice_next(state) >> 11) * 0x1p-53; /* in [0, 1) */
}

static bool rule_fires(struct fault_rule *rule, const struct request *request, bool session,
                       uint64_t *dice)
{
    const json_t *fault = rule->fault, *count = json_object_get(fault, "count");
    const json_t *probability = json_object_get(fault, "probability");
    uint64_t skip = (uint64_t)fault_number(fault, "skip");
    uint64_t every = (uint64_t)fault_number(fault, "every");
    int64_t for_us = fault_number(fault, "for_ms") * 1000;
    if (!is_for(fault, request, session))
        return false;
    rule->matched++;
    if (rule->matched <= skip || (every > 0 && (rule->matched - skip) % every != 0))
        return false;
    if (for_us > 0 && rule->fired > 0 && request->now_us - rule->first_us >= for_us)
        return false;
    if (count && rule->fired >= (uint64_t)json_integer_value(count))
        return false;
    if (probability && dice_fraction(dice) >= json_number_value(probability))
        return false;
    if (rule->fired++ == 0)
        rule->first_us = request->now_us;
    return true;
}

json_t *faults_pick(struct faults *faults, const struct request *request, bool session)
{
    for (size_t i = 0; i < faults->count; i++)
        if (rule_fires(&faults->rules[i], request, session, &faults->dice))
            return json_incref(faults->rules[i].fault);
    return NULL;
}

bool faults_lag(const struct faults *faults)
{
    for (size_t i = 0; i < faults->count; i++)
        if (fault_number(faults->rules[i].fault, "stale_ms") > 0 ||
            fault_number(faults->rules[i].fault, "stale_writes") > 0)
            return true;
    return false;
}

json_t *faults_document(const struct faults *faults)
{
    json_t *list = json_array();
    for (size_t i = 0; i < faults->count; i++) {
        const struct fault_rule *rule = &faults->rules[i];
        json_t *text = json_copy(rule->fault);
        json_object_set_new(text, "matched", json_integer((json_int_t)rule->matched));
        json_object_set_new(text, "fired", json_integer((json_int_t)rule->fired));
        json_array_append_new(list, text);
    }
    return json_pack("{s:o}", "faults", list);
}

void fault_bend_request(const json_t *fault, struct request *request)
{
    uint64_t page_size = (uint64_t)fault_number(fault, "page_size");
    if (page_size > 0)
        request->page_size = page_size;
    request->session_token = fault_text(fault, "session_token");
    request->lag = (struct replica_lag){.ms = fault_number(fault, "stale_ms"),
                                        .writes = fault_number(fault, "stale_writes")};
}

bool fault_lets_act(const json_t *fault)
{
    const char *drop = fault_text(fault, "drop");
    return (!drop || strcmp(drop, "after") == 0) &&
           (fault_number(fault, "status") == 0 || fault_flag(fault, "act"));
}

/* "00:00:00:01:12:00" without the three groups that are zero. */
static void shorten_hw_root(json_t *document)
{
    const char *root = json_string_value(json_object_get(document, "hwRoot"));
    if (root && strlen(root) > 9)
        json_object_set_new(document, "hwRoot", json_string(root + 9));
}

/* The top level only: enough for every document there is. */
static void merge_fields(json_t *given, json_t *document)
{
    const char *name;
    json_t *value;
    json_object_foreach(given, name, value)
    {
        if (json_is_null(value))
            json_object_del(document, name);
        else
            json_object_set(document, name, value);
    }
}

static void bend_document(const json_t *fault, json_t *document)
{
    if (fault_flag(fault, "no_document_links"))
        json_object_del(document, "documentLinks");
    if (fault_flag(fault, "no_hw_root"))
        json_object_del(document, "hwRoot");
    if (fault_flag(fault, "short_hw_root"))
        shorten_hw_root(document);
    if (fault_flag(fault, "no_session_token"))
        json_object_del(document, "sessionToken");
    merge_fields(json_object_get(fault, "merge"), document);
}

void fault_bend_answer(const json_t *fault, const char *method, struct answer *answer)
{
    int status = (int)fault_number(fault, "status");
    if (status >= 400) {
        struct problem problem;
        problem_set(&problem, status, "a fault rule answers %d here", status);
        answer_problem(answer, &problem);
    } else if (status > 0) {
        answer_release(answer);
        *answer = (struct answer){.status = status};
    }
    if (fault_flag(fault, "patch_no_body") && strcmp(method, "PATCH") == 0)
        answer_release(answer);
    if (answer->document)
        bend_document(fault, answer->document);
}

/* Takes bytes. */
static void replace_body(struct body *body, char *bytes)
{
    free(body->bytes);
    *body = (struct body){.bytes = bytes, .length = strlen(bytes)};
}

/* Blanks, so that what is JSON stays it. */
static void fill_body(struct body *body, size_t length)
{
    if (length <= body->length)
        return;
    body->bytes = memory_resized(body->bytes, length, 1);
    memset(body->bytes + body->length, ' ', length - body->length);
    body->length = length;
}

void fault_bend_body(const json_t *fault, struct body *body)
{
    const json_t *given = json_object_get(fault, "body");
    if (json_is_string(given))
        replace_body(body, memory_text(json_string_value(given)));
    else if (given)
        replace_body(body, json_dumps(given, JSON_COMPACT | JSON_ENCODE_ANY));
    if (fault_flag(fault, "garbage"))
        replace_body(body, memory_text("<html>\xff\xfe{\"documentLinks\": [\"/fabric"));
    if (fault_flag(fault, "length_4096"))
        fill_body(body, body->length ? (body->length + 4095) / 4096 * 4096 : 4096);
    fill_body(body, (size_t)fault_number(fault, "fill_to"));
}
