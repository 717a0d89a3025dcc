/* SPDX-License-Identifier: Apache-2.0 */
#include "fmapi/wire/decode.h"

#include "base/hex.h"
#include "base/memory.h"
#include "fmapi/wire/credential.h"
#include "fmapi/wire/jobsteps.h"

#include <ctype.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* STEPS, RELEASE and the like concern something that existed, and may be gone. */
static enum fmcall_outcome outcome_of_status(enum fmcall_kind kind, bool session, int status)
{
    const bool tree = kind == FMCALL_END_TREE, relayed = fmcall_is_relayed(kind);
    if (status >= 200 && status <= 299)
        return FM_OK;
    if (session && (status == 401 || status == 403))
        return FM_REFUSED;
    switch (status) {
    case 401: /* a tree wants its job's token: no login of ours is wrong then */
        return tree ? FM_DENIED : FM_UNAUTHORIZED;
    case 403: /* the login was renewed: it concerns this job, unless it is the list */
        return kind == FMCALL_NONE ? FM_UNAUTHORIZED : FM_DENIED;
    case 404:
        return kind == FMCALL_NONE || kind == FMCALL_RESERVE ? FM_DENIED : FM_GONE;
    case 409: /* of trees: "not now", libfabric retries until it is over */
        return kind == FMCALL_RESERVE || relayed ? FM_EXISTS
               : tree || kind == FMCALL_END_STEP ? FM_BUSY
                                                 : FM_DENIED;
    case 408: /* these three mean "retry later", nothing about the job */
    case 425:
    case 429:
        return FM_BUSY;
    default:
        return status == 507 || (status >= 400 && status <= 499) ? FM_DENIED : FM_BUSY;
    }
}

/* An answer and what is said about it. */
struct answer {
    int status;
    const char *body;
    size_t length;
    json_t *object; /* NULL: the body is something else; owned */
    const struct secrets *secrets;
    char *words; /* DECODE_WORDS_SIZE */
};

static struct answer answer_of(int status, const char *body, size_t length,
                               const struct secrets *secrets, char *words)
{
    json_t *json = length > 0 ? json_loadb(body, length, 0, NULL) : NULL;
    if (json && !json_is_object(json)) {
        json_decref(json);
        json = NULL;
    }
    return (struct answer){status, body, length, json, secrets, words};
}

static const char *text_of(const struct answer *answer, const char *member)
{
    return json_string_value(json_object_get(answer->object, member));
}

/* Every sessionToken, however deep; jansson bounds the depth. False when there are too many. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool add_tokens(struct secrets *secrets, json_t *json)
{
    const char *key;
    json_t *value;
    size_t i;
    json_array_foreach(json, i, value)
    {
        if (!add_tokens(secrets, value))
            return false;
    }
    json_object_foreach(json, key, value)
    {
        bool token = strcmp(key, "sessionToken") == 0 && json_is_string(value);
        if (token ? !secrets_add(secrets, json_string_value(value)) : !add_tokens(secrets, value))
            return false;
    }
    return true;
}

__attribute__((format(printf, 2, 3))) static void describe(const struct answer *answer,
                                                           const char *format, ...)
{
    int length = snprintf(answer->words, DECODE_WORDS_SIZE, "HTTP %d: ", answer->status);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(answer->words + length, DECODE_WORDS_SIZE - (size_t)length, format, args);
    va_end(args);
}

/* libfabric reads "message", Slurm "detail"; either may have the cause. "" when there is neither.
 */
static void server_text(char out[static WORDS_MAX + 1], const struct answer *answer)
{
    char message[WORDS_MAX + 1] = "", detail[WORDS_MAX + 1] = "", both[2 * WORDS_MAX + 4];
    struct secrets all = *answer->secrets;
    if (add_tokens(&all, answer->object)) {
        secrets_clean(&all, text_of(answer, "message"), message, sizeof message);
        secrets_clean(&all, text_of(answer, "detail"), detail, sizeof detail);
    }
    const bool told = detail[0] == '\0' || strstr(message, detail);
    int written = message[0] == '\0' ? snprintf(both, sizeof both, "%s", detail)
                  : told             ? snprintf(both, sizeof both, "%s", message)
                                     : snprintf(both, sizeof both, "%s (%s)", message, detail);
    printable_copy(out, WORDS_MAX + 1, both, (size_t)written);
}

static void describe_by_server_text(const struct answer *answer)
{
    char text[WORDS_MAX + 1];
    server_text(text, answer);
    if (text[0] != '\0')
        describe(answer, "%s", text);
    else if (!answer->object && answer->length > 0)
        describe(answer, "the body is not a JSON object; is this the fabric manager?");
    else
        (void)snprintf(answer->words, DECODE_WORDS_SIZE, "HTTP %d", answer->status);
}

/* libfabric reads what stands before the first colon. */
static void describe_denial(const struct answer *answer)
{
    char text[WORDS_MAX + 1];
    server_text(text, answer);
    if (text[0] != '\0') /* else the status stands there */
        (void)snprintf(answer->words, DECODE_WORDS_SIZE, "%s", text);
}

static bool is_error_document(const struct answer *answer)
{
    const char *kind = text_of(answer, "documentKind");
    return kind && strstr(kind, "ErrorResponse");
}

/* 404 of another server: the fabric manager's error document has its kind. A gateway's answer has
 * not, even if similar (docs/fabric-manager.md, "Jobs"). */
static bool is_foreign_404(const struct answer *answer)
{
    return answer->status == 404 &&
           !(is_error_document(answer) &&
             json_integer_value(json_object_get(answer->object, "statusCode")) == 404);
}

/* Success of a DELETE or PATCH may have no body, {} or the fabric manager's document. An HTML page
 * or the JSON of a gateway or login portal is another server's (B6). */
static bool is_own_success(const struct answer *answer)
{
    static const char *const members[] = {"documentSelfLink", "documentKind", "jobID",
                                          "jobSteps",         "mcastID",      "sessionToken"};
    size_t length = answer->length;
    while (length > 0 && isspace((unsigned char)answer->body[length - 1]))
        length--;
    if (length == 0)
        return true;
    if (!answer->object || is_error_document(answer))
        return false;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (json_object_get(answer->object, members[i]))
            return true;
    return json_object_size(answer->object) == 0;
}

static bool is_removal(enum fmcall_kind kind)
{
    return kind == FMCALL_RELEASE || kind == FMCALL_END_STEP || kind == FMCALL_END_TREE ||
           kind == FMCALL_LEAVE;
}

/* The beginning of a text; of a page its title, because a page may quote the request. */
static void first_text(char out[static WORDS_MAX + 1], const struct answer *answer)
{
    static const char blanks[] = " \t\r\n";
    char text[SECRETS_TEXT_MAX + 1], blanked[SECRETS_TEXT_MAX + 1];
    if (answer->length >= sizeof text)
        return;
    memcpy(text, answer->body, answer->length);
    text[answer->length] = '\0';
    (void)secrets_blank(answer->secrets, text, blanked, sizeof blanked);
    const char *start = blanked + strspn(blanked, blanks);
    const char *end = strchr(start, '\0');
    if (*start == '<') {
        const char *title = strcasestr(start, "<title>");
        start = title ? title + strlen("<title>") : end;
        start += strspn(start, blanks);
        end = start + strcspn(start, "<");
    }
    while (end > start && strchr(blanks, end[-1]))
        end--;
    printable_copy(out, WORDS_MAX + 1, start, (size_t)(end - start));
}

/* Another server answered: its text helps to find out which. */
static enum fmcall_outcome describe_not_routed(const struct answer *answer)
{
    char text[WORDS_MAX + 1] = "";
    if (answer->object)
        server_text(text, answer);
    else if (answer->length > 0)
        first_text(text, answer);
    if (answer->length == 0)
        (void)snprintf(text, sizeof text, "the body is empty");
    else if (text[0] == '\0')
        (void)snprintf(text, sizeof text, "%s of %zu bytes without a message",
                       answer->object ? "a JSON object" : "a body", answer->length);
    (void)snprintf(answer->words, DECODE_WORDS_SIZE,
                   "HTTP %d that the fabric manager did not write (a gateway in front of it? a "
                   "wrong [fm] url?): %s",
                   answer->status, text);
    return FM_NOT_ROUTED;
}

static enum fmcall_outcome decode_token(struct decoded *out, const struct answer *answer)
{
    const json_t *token = json_object_get(answer->object, "sessionToken");
    if (json_is_string(token) &&
        credential_text_valid(json_string_value(token), json_string_length(token), TOKEN_MAX)) {
        memcpy(out->token, json_string_value(token), json_string_length(token) + 1);
        return FM_OK;
    }
    describe(answer, "%s",
             answer->length == 0 ? "the body is empty; a sessionToken was expected"
             : !answer->object   ? "the body is not a JSON object"
             : !token            ? "the body has no sessionToken"
                                 : "the sessionToken is not usable");
    return FM_BUSY;
}

static enum fmcall_outcome decode_steps(struct decoded *out, const struct answer *answer)
{
    if (answer->object)
        out->steps = jobsteps_create(json_object_get(answer->object, "jobSteps"));
    if (!out->steps) {
        describe(answer, "%s is not a JSON object", !answer->object ? "the body" : "jobSteps");
        return FM_BUSY;
    }
    if (out->steps->skipped > 0)
        describe(answer, "%zu entries of jobSteps make no sense and are left out",
                 out->steps->skipped);
    return FM_OK;
}

/* Six groups of one or two digits, as libfabric reads them. */
static bool read_root(const char *text, char root[static FMCALL_ROOT_SIZE])
{
    unsigned long groups[6];
    for (int i = 0; i < 6; i++) {
        char *end;
        if (!text || !isxdigit((unsigned char)*text))
            return false;
        groups[i] = strtoul(text, &end, 16);
        if (end - text > 2 || *end != (i < 5 ? ':' : '\0'))
            return false;
        text = end + 1;
    }
    (void)snprintf(root, FMCALL_ROOT_SIZE, "%02lX:%02lX:%02lX:%02lX:%02lX:%02lX", groups[0],
                   groups[1], groups[2], groups[3], groups[4], groups[5]);
    return true;
}

static enum fmcall_outcome decode_tree(struct decoded *out, const struct answer *answer)
{
    const json_t *id = json_object_get(answer->object, "mcastID");
    const json_int_t number = json_integer_value(id);
    if (!json_is_integer(id) || number < 0 || number >= FMCALL_TREES) {
        describe(answer, "no mcastID below %d", FMCALL_TREES);
        return FM_BUSY;
    }
    if (!read_root(text_of(answer, "hwRoot"), out->root))
        out->root[0] = '\0';
    out->tree = (struct fmcall_tree){(uint16_t)number, out->root};
    return FM_OK;
}

void decode_call(struct decoded *out, enum fmcall_kind kind, bool session, int status,
                 const char *body, size_t length, const struct secrets *secrets)
{
    out->outcome = outcome_of_status(kind, session, status);
    out->token[0] = '\0';
    out->steps = NULL;
    out->tree = (struct fmcall_tree){0};
    (void)snprintf(out->words, sizeof out->words, "HTTP %d", status);

    const struct answer answer = answer_of(status, body, length, secrets, out->words);
    const bool ok = out->outcome == FM_OK, removed = ok && is_removal(kind);
    /* The job exists; a manager need not show its token twice. */
    const bool tokenless =
        kind == FMCALL_CHECK && answer.object && !json_object_get(answer.object, "sessionToken");
    if (is_foreign_404(&answer) || (removed && !is_own_success(&answer)))
        out->outcome = describe_not_routed(&answer);
    else if (!ok && kind == FMCALL_JOIN)
        describe_denial(&answer);
    else if (!ok)
        describe_by_server_text(&answer);
    else if (kind == FMCALL_JOIN)
        out->outcome = decode_tree(out, &answer);
    else if (kind == FMCALL_STEPS)
        out->outcome = decode_steps(out, &answer);
    else if (!removed && !tokenless)
        out->outcome = decode_token(out, &answer);
    json_decref(answer.object);
}

void decoded_release(struct decoded *decoded)
{
    explicit_bzero(decoded->token, sizeof decoded->token);
    jobsteps_destroy(decoded->steps);
    decoded->steps = NULL;
}

static char *percent_decode(const char *text)
{
    char *name = memory_zeroed(strlen(text) + 1);
    for (size_t length = 0; *text != '\0'; length++) {
        unsigned char byte = 0;
        bool escape = *text == '%' && hex_read(text + 1, &byte, 1) == 0 && byte != 0;
        name[length] = escape ? (char)byte : *text;
        text += escape ? 3 : 1;
    }
    return name;
}

/* The text behind the last slash of a path or URL; NULL when there is nothing. */
static const char *last_segment(const char *link)
{
    const char *authority = strstr(link, "://");
    const char *slash = strrchr(authority ? authority + 3 : link, '/');
    const char *segment = slash ? slash + 1 : authority ? "" : link;
    return segment[0] != '\0' ? segment : NULL;
}

/* These three say what is wrong; NULL: nothing. */

static const char *decode_names(struct decoded_page *page, const json_t *links)
{
    if (!json_is_array(links))
        return "documentLinks is missing or no array";
    page->names = memory_zeroed((json_array_size(links) + 1) * sizeof *page->names);
    for (; page->count < json_array_size(links); page->count++) {
        const char *link = json_string_value(json_array_get(links, page->count));
        const char *segment = link ? last_segment(link) : NULL;
        if (!segment)
            return "an entry of documentLinks is no link";
        page->names[page->count] = percent_decode(segment);
    }
    return NULL;
}

static const char *decode_count(struct decoded_page *page, const json_t *count)
{
    if (!count || json_is_null(count))
        return NULL;
    double value = json_number_value(count);
    if (!json_is_number(count) || !(value >= 0 && value <= 1e12) || (double)(int64_t)value != value)
        return "documentCount is no count";
    page->claimed = (int64_t)value;
    return NULL;
}

static const char *decode_next_link(struct decoded_page *page, const json_t *next)
{
    if (!next || json_is_null(next))
        return NULL;
    if (!json_is_string(next))
        return "nextPageLink is no link";
    if (json_string_length(next) > DECODE_LINK_MAX)
        return "nextPageLink is longer than 8192 bytes";
    if (json_string_length(next) > 0)
        page->next = memory_text(json_string_value(next));
    return NULL;
}

static const char *decode_list(struct decoded_page *page, const json_t *object)
{
    if (!object)
        return "the body is not a JSON object";
    const char *fault = decode_names(page, json_object_get(object, "documentLinks"));
    if (!fault)
        fault = decode_count(page, json_object_get(object, "documentCount"));
    return fault ? fault : decode_next_link(page, json_object_get(object, "nextPageLink"));
}

enum fmcall_outcome decode_page(struct decoded_page *page, int status, const char *body,
                                size_t length, const struct secrets *secrets,
                                char words[static DECODE_WORDS_SIZE])
{
    *page = (struct decoded_page){.claimed = -1};
    enum fmcall_outcome outcome = outcome_of_status(FMCALL_NONE, false, status);
    const struct answer answer = answer_of(status, body, length, secrets, words);
    const char *fault = NULL;
    if (is_foreign_404(&answer)) {
        outcome = describe_not_routed(&answer);
    } else if (outcome != FM_OK) {
        describe_by_server_text(&answer);
    } else if ((fault = decode_list(page, answer.object))) {
        describe(&answer, "the list is not whole: %s", fault);
        decoded_page_release(page);
        outcome = FM_BUSY;
    }
    json_decref(answer.object);
    return outcome;
}

void decoded_page_release(struct decoded_page *page)
{
    for (size_t i = 0; i < page->count; i++)
        free(page->names[i]);
    free(page->names);
    free(page->next);
    *page = (struct decoded_page){.claimed = -1};
}
