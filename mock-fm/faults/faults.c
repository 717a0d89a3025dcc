/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/faults/faults.h"

#include <fnmatch.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "mock-fm/http/tokens.h"

/* The range is for numbers; a reader returns -1 for a value that is not allowed. */
struct field {
    const char *name;
    int (*read)(const struct field *field, json_t *value, void *to);
    size_t offset;
    const char *allowed;
    int64_t least, most;
};

static int read_flag(const struct field *field, json_t *value, void *to)
{
    (void)field;
    *(bool *)to = json_is_true(value);
    return json_is_boolean(value) ? 0 : -1;
}

static int read_text(const struct field *field, json_t *value, void *to)
{
    (void)field;
    return (*(char **)to = memory_text(json_string_value(value))) ? 0 : -1;
}

static int read_number(const struct field *field, json_t *value, void *to)
{
    int64_t number = json_integer_value(value);
    *(int64_t *)to = number;
    return json_is_integer(value) && number >= field->least && number <= field->most ? 0 : -1;
}

static int read_probability(const struct field *field, json_t *value, void *to)
{
    double number = json_number_value(value);
    (void)field;
    *(double *)to = number;
    return json_is_number(value) && number >= 0 && number <= 1 ? 0 : -1;
}

static int read_json(const struct field *field, json_t *value, void *to)
{
    (void)field;
    return (*(json_t **)to = json_deep_copy(value)) ? 0 : -1;
}

static int read_object(const struct field *field, json_t *value, void *to)
{
    return json_is_object(value) ? read_json(field, value, to) : -1;
}

static int read_token(const struct field *field, json_t *value, void *to)
{
    return json_string_length(value) > 0 ? read_json(field, value, to) : -1;
}

/* A token (RFC 9110, 5.6.2), and none of those that describe how the body is sent. */
static bool is_header_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "!#$%&'*+-.^_`|~";
    return name[0] && !name[strspn(name, letters)] && strcasecmp(name, "Content-Length") != 0 &&
           strcasecmp(name, "Transfer-Encoding") != 0;
}

static int read_headers(const struct field *field, json_t *value, void *to)
{
    const char *name;
    json_t *text;
    json_object_foreach(value, name, text)
    {
        if (!is_header_name(name) || !json_is_string(text) ||
            strpbrk(json_string_value(text), "\r\n"))
            return -1;
    }
    return read_object(field, value, to);
}

static int read_drop(const struct field *field, json_t *value, void *to)
{
    const char *when = json_is_string(value) ? json_string_value(value) : "";
    bool before = strcmp(when, "before") == 0;
    (void)field;
    *(enum fault_drop *)to = before ? FAULT_DROP_BEFORE : FAULT_DROP_AFTER;
    return before || strcmp(when, "after") == 0 ? 0 : -1;
}

static int read_login(const struct field *field, json_t *value, void *to)
{
    (void)field;
    *(enum fault_login *)to = json_is_true(value) ? FAULT_SESSION : FAULT_NO_SESSION;
    return json_is_boolean(value) ? 0 : -1;
}

#define IN_RULE(name, read, member, allowed)                                                       \
    {                                                                                              \
        name, read, offsetof(struct fault_rule, member), allowed, 0, 0                             \
    }
#define IN_FAULT(member, read, allowed) IN_RULE(#member, read, fault.member, allowed)
#define FLAG(member) IN_FAULT(member, read_flag, "true or false")
#define COUNT(name, member, least)                                                                 \
    {                                                                                              \
        name, read_number, offsetof(struct fault_rule, member), "a number, " #least " or more",    \
            least, INT64_MAX                                                                       \
    }
#define RANGE(name, member, least, most)                                                           \
    {                                                                                              \
        name, read_number, offsetof(struct fault_rule, member), #least " to " #most, least, most   \
    }

static const struct field fields[] = {
    IN_RULE("method", read_text, method, "a string"),
    IN_RULE("path", read_text, path, "a pattern"),
    IN_RULE("session", read_login, login, "true or false"),
    COUNT("count", count, 0),
    COUNT("skip", skip, 0),
    RANGE("every", every, 1, 3600000),
    RANGE("for_ms", for_ms, 1, 3600000),
    IN_RULE("probability", read_probability, probability, "from 0 to 1"),
    RANGE("act_after_ms", fault.act_after_ms, 0, 3600000),
    RANGE("delay_ms", fault.delay_ms, 0, 3600000),
    IN_FAULT(drop, read_drop, "\"before\" or \"after\""),
    RANGE("status", fault.status, 200, 599),
    FLAG(act),
    IN_FAULT(body, read_json, "any JSON"),
    IN_FAULT(merge, read_object, "an object"),
    IN_FAULT(headers, read_headers,
             "an object of header names and strings, without Content-Length and Transfer-Encoding"),
    FLAG(chunked),
    RANGE("byte_every_ms", fault.byte_every_ms, 1, 3600000),
    RANGE("fill_to", fault.fill_to, 0, 67108864), /* 64 MB: more than any client should take */
    FLAG(truncate),
    FLAG(garbage),
    FLAG(no_document_links),
    FLAG(no_hw_root),
    FLAG(short_hw_root),
    FLAG(no_session_token),
    FLAG(patch_no_body),
    FLAG(length_4096),
    COUNT("page_size", fault.page_size, 1),
    IN_FAULT(session_token, read_token, "a string that is not empty"),
    RANGE("stale_ms", fault.lag.ms, 1, 3600000),
    RANGE("stale_writes", fault.lag.writes, 1, 3600000),
};

static int read_field(struct fault_rule *rule, const char *name, json_t *value,
                      struct problem *problem)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct field *field = &fields[i];
        if (strcmp(field->name, name) != 0)
            continue;
        if (field->read(field, value, (char *)rule + field->offset) == 0)
            return 0;
        return problem_set(problem, 400, "%s of a fault must be %s", name, field->allowed);
    }
    return problem_set(problem, 400, "a fault has no field '%.64s'; see docs/mock-fm.md", name);
}

static void rule_destroy(struct fault_rule *rule)
{
    fault_release(&rule->fault);
    json_decref(rule->text);
    free(rule->method);
    free(rule->path);
    free(rule);
}

static struct fault_rule *rule_create(const json_t *text, struct problem *problem)
{
    if (!json_is_object(text)) {
        problem_set(problem, 400, "a fault must be a JSON object");
        return NULL;
    }
    struct fault_rule *rule = memory_zeroed(sizeof *rule);
    const char *name;
    json_t *value;
    int result = 0;
    *rule = (struct fault_rule){
        .text = json_deep_copy(text), .count = -1, .every = 1, .probability = 1};
    json_object_foreach(rule->text, name, value)
    {
        if (result == 0)
            result = read_field(rule, name, value, problem);
    }
    if (result == 0)
        return rule;
    rule_destroy(rule);
    return NULL;
}

void faults_init(struct faults *faults, uint64_t seed)
{
    faults->count = 0;
    faults->dice = seed;
}

static void keep_first(struct faults *faults, size_t count)
{
    while (faults->count > count)
        rule_destroy(faults->rules[--faults->count]);
}

void faults_clear(struct faults *faults)
{
    keep_first(faults, 0);
}

static int add_rule(struct faults *faults, const json_t *text, struct problem *problem)
{
    struct fault_rule *rule;
    if (faults->count == FAULTS_MAX)
        return problem_set(problem, 400, "there are %d rules already, which is the limit",
                           FAULTS_MAX);
    if (!(rule = rule_create(text, problem)))
        return -1;
    faults->rules[faults->count++] = rule;
    return 0;
}

int faults_add(struct faults *faults, const json_t *rules, struct problem *problem)
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

static bool is_for(const struct fault_rule *rule, const struct request *request, bool session)
{
    return (!rule->method || strcmp(rule->method, request->method) == 0) &&
           (!rule->path || fnmatch(rule->path, request->path, 0) == 0) &&
           (rule->login == FAULT_ANY_LOGIN || session == (rule->login == FAULT_SESSION));
}

static double dice_fraction(uint64_t *state)
{
    return (double)(dice_next(state) >> 11) * 0x1p-53; /* in [0, 1) */
}

static bool rule_fires(struct fault_rule *rule, const struct request *request, bool session,
                       uint64_t *dice)
{
    if (!is_for(rule, request, session))
        return false;
    rule->matched++;
    if (rule->matched <= (uint64_t)rule->skip ||
        (rule->matched - (uint64_t)rule->skip) % (uint64_t)rule->every != 0)
        return false;
    if (rule->for_ms > 0 && rule->fired > 0 &&
        request->now_us - rule->first_us >= rule->for_ms * 1000)
        return false;
    if (rule->count >= 0 && rule->fired >= (uint64_t)rule->count)
        return false;
    if (rule->probability < 1 && dice_fraction(dice) >= rule->probability)
        return false;
    if (rule->fired++ == 0)
        rule->first_us = request->now_us;
    return true;
}

struct fault faults_pick(struct faults *faults, const struct request *request, bool session)
{
    for (size_t i = 0; i < faults->count; i++) {
        struct fault *fault = &faults->rules[i]->fault;
        if (!rule_fires(faults->rules[i], request, session, &faults->dice))
            continue;
        json_incref(fault->body);
        json_incref(fault->merge);
        json_incref(fault->headers);
        json_incref(fault->session_token);
        return *fault;
    }
    return (struct fault){0};
}

bool faults_lag(const struct faults *faults)
{
    for (size_t i = 0; i < faults->count; i++)
        if (faults->rules[i]->fault.lag.ms > 0 || faults->rules[i]->fault.lag.writes > 0)
            return true;
    return false;
}

json_t *faults_document(const struct faults *faults)
{
    json_t *list = json_array();
    for (size_t i = 0; i < faults->count; i++) {
        const struct fault_rule *rule = faults->rules[i];
        json_t *text = json_copy(rule->text);
        json_object_set_new(text, "matched", json_integer((json_int_t)rule->matched));
        json_object_set_new(text, "fired", json_integer((json_int_t)rule->fired));
        json_array_append_new(list, text);
    }
    return json_pack("{s:o}", "faults", list);
}

void fault_release(struct fault *fault)
{
    json_decref(fault->body);
    json_decref(fault->merge);
    json_decref(fault->headers);
    json_decref(fault->session_token);
    fault->body = fault->merge = fault->headers = fault->session_token = NULL;
}

void fault_bend_request(const struct fault *fault, struct request *request)
{
    if (fault->page_size > 0)
        request->page_size = (uint64_t)fault->page_size;
    request->session_token = json_string_value(fault->session_token);
    request->lag = fault->lag;
}

bool fault_lets_act(const struct fault *fault)
{
    return fault->drop != FAULT_DROP_BEFORE && (fault->status == 0 || fault->act);
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

static void bend_document(const struct fault *fault, json_t *document)
{
    if (fault->no_document_links)
        json_object_del(document, "documentLinks");
    if (fault->no_hw_root)
        json_object_del(document, "hwRoot");
    if (fault->short_hw_root)
        shorten_hw_root(document);
    if (fault->no_session_token)
        json_object_del(document, "sessionToken");
    merge_fields(fault->merge, document);
}

void fault_bend_answer(const struct fault *fault, const char *method, struct answer *answer)
{
    int status = (int)fault->status;
    if (status >= 400) {
        struct problem problem;
        problem_set(&problem, status, "a fault rule answers %d here", status);
        answer_problem(answer, &problem);
    } else if (status > 0) {
        answer_release(answer);
        *answer = (struct answer){.status = status};
    }
    if (fault->patch_no_body && strcmp(method, "PATCH") == 0)
        answer_release(answer);
    if (answer->document)
        bend_document(fault, answer->document);
}

static void replace_body(struct body *body, const char *bytes, size_t length)
{
    free(body->bytes);
    *body = (struct body){.bytes = memory_zeroed(length + 1), .length = length};
    memcpy(body->bytes, bytes, length);
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

void fault_bend_body(const struct fault *fault, struct body *body)
{
    static const char garbage[] = "<html>\xff\xfe{\"documentLinks\": [\"/fabric";
    if (json_is_string(fault->body)) {
        replace_body(body, json_string_value(fault->body), json_string_length(fault->body));
    } else if (fault->body) {
        free(body->bytes);
        body->bytes = json_dumps(fault->body, JSON_COMPACT | JSON_ENCODE_ANY);
        body->length = strlen(body->bytes);
    }
    if (fault->garbage)
        replace_body(body, garbage, sizeof garbage - 1);
    if (fault->length_4096)
        fill_body(body, body->length ? (body->length + 4095) / 4096 * 4096 : 4096);
    fill_body(body, (size_t)fault->fill_to);
}
