#include "mock-fm/faults/fault.h"

#include <fnmatch.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mock-fm/objects/dice.h"

typedef int reader(const json_t *value, void *field);

static int read_flag(const json_t *value, void *field)
{
    *(bool *)field = json_is_true(value);
    return json_is_boolean(value) ? 0 : -1;
}

static int read_text(const json_t *value, void *field)
{
    if (!json_is_string(value) || !(*(char **)field = strdup(json_string_value(value))))
        return -1;
    return 0;
}

static int read_number(const json_t *value, void *field)
{
    *(int64_t *)field = json_integer_value(value);
    return json_is_integer(value) && *(int64_t *)field >= 0 ? 0 : -1;
}

static int read_delay(const json_t *value, void *field)
{
    return read_number(value, field) == 0 && *(int64_t *)field <= FAULT_DELAY_MAX_MS ? 0 : -1;
}

static int read_page_size(const json_t *value, void *field)
{
    *(uint64_t *)field = (uint64_t)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 1 ? 0 : -1;
}

static int read_probability(const json_t *value, void *field)
{
    *(double *)field = json_number_value(value);
    return json_is_number(value) && *(double *)field >= 0 && *(double *)field <= 1 ? 0 : -1;
}

static int read_status(const json_t *value, void *field)
{
    *(int *)field = (int)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 200 &&
                   json_integer_value(value) <= 599
               ? 0
               : -1;
}

static int read_body(const json_t *value, void *field)
{
    *(json_t **)field = json_deep_copy(value);
    return *(json_t **)field ? 0 : -1;
}

static int read_fields(const json_t *value, void *field)
{
    return json_is_object(value) ? read_body(value, field) : -1;
}

static int read_interval(const json_t *value, void *field)
{
    return read_delay(value, field) == 0 && *(int64_t *)field > 0 ? 0 : -1;
}

static int read_length(const json_t *value, void *field)
{
    return read_number(value, field) == 0 && *(int64_t *)field <= FAULT_BODY_MAX ? 0 : -1;
}

/* A token (RFC 9110, 5.6.2), and none of those that describe how the body is sent. */
static bool is_header_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "!#$%&'*+-.^_`|~";

    return name[0] && !name[strspn(name, letters)] && strcasecmp(name, "Content-Length") != 0 &&
           strcasecmp(name, "Transfer-Encoding") != 0;
}

static int read_token(const json_t *value, void *field)
{
    return json_is_string(value) && json_string_length(value) > 0 ? read_body(value, field) : -1;
}

static int read_headers(const json_t *value, void *field)
{
    const char *name;
    json_t *text;

    /* jansson's loop wants to change what it walks over, and does not. */
    json_object_foreach((json_t *)value, name, text)
    {
        if (!is_header_name(name) || !json_is_string(text) ||
            strpbrk(json_string_value(text), "\r\n"))
            return -1;
    }
    return read_fields(value, field);
}

static int read_drop(const json_t *value, void *field)
{
    const char *when = json_string_value(value);

    if (!when)
        return -1;
    *(enum fault_drop *)field = strcmp(when, "before") == 0 ? FAULT_DROP_BEFORE : FAULT_DROP_AFTER;
    return strcmp(when, "before") == 0 || strcmp(when, "after") == 0 ? 0 : -1;
}

static int read_login(const json_t *value, void *field)
{
    *(enum fault_login *)field = json_is_true(value) ? FAULT_SESSION : FAULT_NO_SESSION;
    return json_is_boolean(value) ? 0 : -1;
}

static const struct field {
    const char *name;
    reader *read;
    size_t offset;
    const char *allowed;
} fields[] = {
    {"method", read_text, offsetof(struct fault_rule, method), "a string"},
    {"path", read_text, offsetof(struct fault_rule, path), "a pattern"},
    {"session", read_login, offsetof(struct fault_rule, login), "true or false"},
    {"count", read_number, offsetof(struct fault_rule, count), "a number, 0 or more"},
    {"skip", read_number, offsetof(struct fault_rule, skip), "a number, 0 or more"},
    {"every", read_interval, offsetof(struct fault_rule, every), "1 to 3600000"},
    {"for_ms", read_interval, offsetof(struct fault_rule, for_ms), "1 to 3600000"},
    {"probability", read_probability, offsetof(struct fault_rule, probability), "from 0 to 1"},
    {"act_after_ms", read_delay, offsetof(struct fault_rule, fault.act_after_ms), "0 to 3600000"},
    {"delay_ms", read_delay, offsetof(struct fault_rule, fault.delay_ms), "0 to 3600000"},
    {"drop", read_drop, offsetof(struct fault_rule, fault.drop), "\"before\" or \"after\""},
    {"status", read_status, offsetof(struct fault_rule, fault.status), "200 to 599"},
    {"act", read_flag, offsetof(struct fault_rule, fault.act), "true or false"},
    {"body", read_body, offsetof(struct fault_rule, fault.body), "any JSON"},
    {"merge", read_fields, offsetof(struct fault_rule, fault.merge), "an object"},
    {"headers", read_headers, offsetof(struct fault_rule, fault.headers),
     "an object of header names and strings, without Content-Length and Transfer-Encoding"},
    {"chunked", read_flag, offsetof(struct fault_rule, fault.chunked), "true or false"},
    {"byte_every_ms", read_interval, offsetof(struct fault_rule, fault.byte_every_ms),
     "1 to 3600000"},
    {"fill_to", read_length, offsetof(struct fault_rule, fault.fill_to), "0 to 67108864"},
    {"truncate", read_flag, offsetof(struct fault_rule, fault.truncate), "true or false"},
    {"garbage", read_flag, offsetof(struct fault_rule, fault.garbage), "true or false"},
    {"no_document_links", read_flag, offsetof(struct fault_rule, fault.no_document_links),
     "true or false"},
    {"no_hw_root", read_flag, offsetof(struct fault_rule, fault.no_hw_root), "true or false"},
    {"short_hw_root", read_flag, offsetof(struct fault_rule, fault.short_hw_root), "true or false"},
    {"no_session_token", read_flag, offsetof(struct fault_rule, fault.no_session_token),
     "true or false"},
    {"patch_no_body", read_flag, offsetof(struct fault_rule, fault.patch_no_body), "true or false"},
    {"length_4096", read_flag, offsetof(struct fault_rule, fault.length_4096), "true or false"},
    {"page_size", read_page_size, offsetof(struct fault_rule, fault.page_size),
     "a number, 1 or more"},
    {"session_token", read_token, offsetof(struct fault_rule, fault.session_token),
     "a string that is not empty"},
    {"stale_ms", read_interval, offsetof(struct fault_rule, fault.lag.ms), "1 to 3600000"},
    {"stale_writes", read_interval, offsetof(struct fault_rule, fault.lag.writes), "1 to 3600000"},
};

static int read_field(struct fault_rule *rule, const char *name, const json_t *value,
                      struct problem *problem)
{
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const struct field *field = &fields[i];

        if (strcmp(field->name, name) != 0)
            continue;
        if (field->read(value, (char *)rule + field->offset) < 0)
            return problem_set(problem, 400, "%s of a fault must be %s", name, field->allowed);
        return 0;
    }
    return problem_set(problem, 400, "a fault has no field '%.64s'; see docs/mock-fm.md", name);
}

struct fault_rule *fault_rule_create(const json_t *text, struct problem *problem)
{
    struct fault_rule *rule;
    const char *name;
    json_t *value;

    if (!json_is_object(text)) {
        problem_set(problem, 400, "a fault must be a JSON object");
        return NULL;
    }
    if (!(rule = calloc(1, sizeof *rule)) || !(rule->text = json_deep_copy(text))) {
        problem_set(problem, 500, "out of memory");
        goto fail;
    }
    rule->count = -1;
    rule->every = 1;
    rule->probability = 1;
    json_object_foreach(rule->text, name, value)
    {
        if (read_field(rule, name, value, problem) < 0)
            goto fail;
    }
    return rule;
fail:
    fault_rule_destroy(rule);
    return NULL;
}

void fault_rule_destroy(struct fault_rule *rule)
{
    if (!rule)
        return;
    fault_release(&rule->fault);
    json_decref(rule->text);
    free(rule->method);
    free(rule->path);
    free(rule);
}

static bool is_for(const struct fault_rule *rule, const struct request *request, bool session)
{
    if (rule->method && strcmp(rule->method, request->method) != 0)
        return false;
    if (rule->path && fnmatch(rule->path, request->path, 0) != 0)
        return false;
    return rule->login == FAULT_ANY_LOGIN || session == (rule->login == FAULT_SESSION);
}

bool fault_rule_fires(struct fault_rule *rule, const struct request *request, bool session,
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

void fault_copy(struct fault *to, const struct fault *from)
{
    *to = *from;
    json_incref(to->body);
    json_incref(to->merge);
    json_incref(to->headers);
    json_incref(to->session_token);
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
        request->page_size = fault->page_size;
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
static void merge(json_t *given, json_t *document)
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
    merge(fault->merge, document);
}

void fault_bend_answer(const struct fault *fault, const char *method, struct answer *answer)
{
    if (fault->status >= 400) {
        struct problem problem;

        problem_set(&problem, fault->status, "a fault rule answers %d here", fault->status);
        answer_problem(answer, &problem);
    } else if (fault->status > 0) {
        answer_release(answer);
        *answer = (struct answer){.status = fault->status};
    }
    if (fault->patch_no_body && strcmp(method, "PATCH") == 0)
        answer_release(answer);
    if (answer->document)
        bend_document(fault, answer->document);
}

static int replace_body(struct body *body, const char *bytes, size_t length)
{
    char *copy = malloc(length + 1);

    if (!copy)
        return -1;
    memcpy(copy, bytes, length);
    free(body->bytes);
    body->bytes = copy;
    body->length = length;
    return 0;
}

static int use_given_body(const struct fault *fault, struct body *body)
{
    char *text;
    int result;

    if (json_is_string(fault->body))
        return replace_body(body, json_string_value(fault->body), json_string_length(fault->body));
    if (!(text = json_dumps(fault->body, JSON_COMPACT | JSON_ENCODE_ANY)))
        return -1;
    result = replace_body(body, text, strlen(text));
    free(text);
    return result;
}

/* Blanks, so that what is JSON stays it. */
static int fill(struct body *body, size_t length)
{
    char *filled;

    if (length <= body->length)
        return 0;
    if (!(filled = realloc(body->bytes, length)))
        return -1;
    memset(filled + body->length, ' ', length - body->length);
    body->bytes = filled;
    body->length = length;
    return 0;
}

static size_t next_multiple_of_4096(size_t length)
{
    return length ? (length + 4095) / 4096 * 4096 : 4096;
}

int fault_bend_body(const struct fault *fault, struct body *body)
{
    static const char garbage[] = "<html>\xff\xfe{\"documentLinks\": [\"/fabric";

    if (fault->body && use_given_body(fault, body) < 0)
        return -1;
    if (fault->garbage && replace_body(body, garbage, sizeof garbage - 1) < 0)
        return -1;
    if (fault->length_4096 && fill(body, next_multiple_of_4096(body->length)) < 0)
        return -1;
    return fill(body, (size_t)fault->fill_to);
}
