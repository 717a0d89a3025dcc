#include "fmapi/wire/decode.h"

#include "fmapi/wire/jobsteps.h"
#include "fmapi/wire/words.h"

#include <ctype.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether it is about something that has been there, and may not be any more. */
static bool may_be_gone(enum fmcall_kind kind)
{
    return kind != FMCALL_NONE && kind != FMCALL_RESERVE;
}

static enum fmcall_outcome outcome_of_conflict(enum fmcall_kind kind)
{
    if (kind == FMCALL_END_STEP || kind == FMCALL_END_TREE)
        return FM_BUSY; /* of trees it means "not now": libfabric asks again until it is over */
    return kind == FMCALL_RESERVE ? FM_EXISTS : FM_DENIED;
}

static enum fmcall_outcome outcome_of_status(enum fmcall_kind kind, bool session, int status)
{
    if (status >= 200 && status <= 299)
        return FM_OK;
    if (session && (status == 401 || status == 403))
        return FM_REFUSED;
    switch (status) {
    case 401: /* a tree asks for its job's token: that no login will do says nothing of ours */
        return kind == FMCALL_END_TREE ? FM_DENIED : FM_UNAUTHORIZED;
    case 403: /* the login is fresh by now: a no to this one job, unless it is to the list */
        return kind == FMCALL_NONE ? FM_UNAUTHORIZED : FM_DENIED;
    case 404:
        return may_be_gone(kind) ? FM_GONE : FM_DENIED;
    case 409:
        return outcome_of_conflict(kind);
    case 408: /* these three ask to come again and say nothing about the job */
    case 425:
    case 429:
        return FM_BUSY;
    case 507:
        return FM_DENIED;
    default:
        return status >= 400 && status <= 499 ? FM_DENIED : FM_BUSY;
    }
}

/* The body as a JSON object, NULL when it is something else. */
static json_t *object_of(const char *body, size_t length)
{
    json_t *json = length > 0 ? json_loadb(body, length, 0, NULL) : NULL;
    if (json != NULL && !json_is_object(json)) {
        json_decref(json);
        return NULL;
    }
    return json;
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

static void clean_member(char out[static WORDS_MAX + 1], const json_t *object, const char *key,
                         const struct secrets *secrets)
{
    char blanked[2 * WORDS_MAX]; /* more than fits: words_clean is to see that it must cut */
    const char *value = json_string_value(json_object_get(object, key));

    out[0] = '\0';
    if (value != NULL && secrets_blank(secrets, value, blanked, sizeof blanked))
        words_clean(out, WORDS_MAX + 1, blanked, strlen(blanked));
}

__attribute__((format(printf, 3, 4))) static void say(char words[static DECODE_WORDS_SIZE],
                                                      int status, const char *format, ...)
{
    int length = snprintf(words, DECODE_WORDS_SIZE, "HTTP %d: ", status);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words + length, DECODE_WORDS_SIZE - (size_t)length, format, args);
    va_end(args);
}

/* What an object says for people: libfabric reads "message", Slurm reads "detail"; either may be
 * the one that helps. "" when there is neither. */
static void texts_of(char out[static WORDS_MAX + 1], json_t *object, const struct secrets *secrets)
{
    char message[WORDS_MAX + 1] = "";
    char detail[WORDS_MAX + 1] = "";
    struct secrets all = *secrets;
    if (add_tokens(&all, object)) {
        clean_member(message, object, "message", &all);
        clean_member(detail, object, "detail", &all);
    }

    if (message[0] != '\0' && detail[0] != '\0' && strstr(message, detail) == NULL) {
        char both[2 * WORDS_MAX + 4];
        int written = snprintf(both, sizeof both, "%s (%s)", message, detail);
        words_clean(out, WORDS_MAX + 1, both, (size_t)written);
    } else {
        memcpy(out, message[0] != '\0' ? message : detail, WORDS_MAX + 1);
    }
}

static void say_theirs(char words[static DECODE_WORDS_SIZE], int status, json_t *object,
                       size_t length, const struct secrets *secrets)
{
    char texts[WORDS_MAX + 1];
    texts_of(texts, object, secrets);
    if (texts[0] != '\0')
        say(words, status, "%s", texts);
    else if (object == NULL && length > 0)
        say(words, status, "the body is not a JSON object; is this the fabric manager?");
    else
        (void)snprintf(words, DECODE_WORDS_SIZE, "HTTP %d", status);
}

/* The fabric manager's own error document says of which kind it is. No gateway's answer does,
 * however much it resembles one (fabric-manager.md, "Jobs"). */
static bool is_own_404(const json_t *object)
{
    const json_t *code = json_object_get(object, "statusCode");
    const char *kind = json_string_value(json_object_get(object, "documentKind"));

    return json_integer_value(code) == 404 && kind != NULL && strstr(kind, "ErrorResponse") != NULL;
}

/* A yes to a DELETE or PATCH need not have a body. One that has is of the fabric manager's form: a
 * document, or what the object was; {} says nothing else. A page, or a gateway's or a login
 * portal's JSON, is not (B6). */
static bool is_own_yes(const json_t *object, const char *body, size_t length)
{
    static const char *const members[] = {"documentSelfLink", "documentKind", "jobID",
                                          "jobSteps",         "mcastID",      "sessionToken"};
    const char *kind = json_string_value(json_object_get(object, "documentKind"));

    while (length > 0 && isspace((unsigned char)body[length - 1]))
        length--;
    if (length == 0)
        return true;
    if (object == NULL || (kind != NULL && strstr(kind, "ErrorResponse") != NULL))
        return false;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (json_object_get(object, members[i]) != NULL)
            return true;
    return json_object_size(object) == 0;
}

static bool is_removal(enum fmcall_kind kind)
{
    return kind == FMCALL_RELEASE || kind == FMCALL_END_STEP || kind == FMCALL_END_TREE;
}

/* The first words of a text; of a page its title, for a page may quote the request. */
static void first_words(char out[static WORDS_MAX + 1], const char *body, size_t length,
                        const struct secrets *secrets)
{
    static const char blanks[] = " \t\r\n";
    char text[SECRETS_TEXT_MAX + 1], blanked[SECRETS_TEXT_MAX + 1];

    if (length >= sizeof text)
        return;
    memcpy(text, body, length);
    text[length] = '\0';
    (void)secrets_blank(secrets, text, blanked, sizeof blanked);
    const char *start = blanked + strspn(blanked, blanks);
    const char *end = strchr(start, '\0');
    if (*start == '<') {
        const char *title = strcasestr(start, "<title>");
        start = title != NULL ? title + strlen("<title>") : end;
        start += strspn(start, blanks);
        end = start + strcspn(start, "<");
    }
    while (end > start && strchr(blanks, end[-1]) != NULL)
        end--;
    words_clean(out, WORDS_MAX + 1, start, (size_t)(end - start));
}

/* Another server answered in the fabric manager's place: what it says helps to find out which. */
static void say_not_routed(char words[static DECODE_WORDS_SIZE], int status, json_t *object,
                           const char *body, size_t length, const struct secrets *secrets)
{
    char texts[WORDS_MAX + 1] = "";
    if (object != NULL)
        texts_of(texts, object, secrets);
    else if (length > 0)
        first_words(texts, body, length, secrets);
    if (texts[0] == '\0' && length > 0)
        (void)snprintf(texts, sizeof texts, "%s of %zu bytes without a message",
                       object != NULL ? "a JSON object" : "a body", length);
    (void)snprintf(words, DECODE_WORDS_SIZE,
                   "HTTP %d that the fabric manager did not write (a gateway in front of it? a "
                   "wrong [fm] url?): %s",
                   status, length > 0 ? texts : "the body is empty");
}

/* Whether this can be a session token: 1–TOKEN_MAX printable ASCII bytes without space, quote and
 * backslash, for it goes into headers and environments. */
static bool is_token(const char *token, size_t length)
{
    if (length < 1 || length > TOKEN_MAX)
        return false;
    for (size_t i = 0; i < length; i++)
        if (token[i] <= ' ' || token[i] > '~' || token[i] == '"' || token[i] == '\\')
            return false;
    return true;
}

static void take_token(struct decoded *out, int status, const json_t *object, size_t length)
{
    const json_t *token = json_object_get(object, "sessionToken");

    if (json_is_string(token) && is_token(json_string_value(token), json_string_length(token))) {
        memcpy(out->token, json_string_value(token), json_string_length(token) + 1);
        (void)snprintf(out->words, sizeof out->words, "HTTP %d", status);
        return;
    }
    out->outcome = FM_BUSY;
    if (object == NULL)
        say(out->words, status,
            length == 0 ? "the body is empty; a sessionToken was expected"
                        : "the body is not a JSON object");
    else
        say(out->words, status,
            token == NULL ? "the body has no sessionToken" : "the sessionToken is not usable");
}

static void take_steps(struct decoded *out, int status, const json_t *object)
{
    if (object != NULL)
        out->steps = jobsteps_create(json_object_get(object, "jobSteps"));
    if (out->steps == NULL) {
        out->outcome = FM_BUSY;
        say(out->words, status,
            object == NULL ? "the body is not a JSON object" : "jobSteps is not a JSON object");
        return;
    }
    size_t skipped = jobsteps_list(out->steps)->skipped;
    if (skipped > 0)
        say(out->words, status, "%zu entries of jobSteps make no sense and are left out", skipped);
    else
        (void)snprintf(out->words, sizeof out->words, "HTTP %d", status);
}

void decode_call(struct decoded *out, enum fmcall_kind kind, bool session, int status,
                 const char *body, size_t length, const struct secrets *secrets)
{
    out->outcome = outcome_of_status(kind, session, status);
    out->token[0] = '\0';
    out->steps = NULL;

    json_t *object = object_of(body, length);
    bool removed = out->outcome == FM_OK && is_removal(kind);
    if ((status == 404 && !is_own_404(object)) || (removed && !is_own_yes(object, body, length))) {
        out->outcome = FM_NOT_ROUTED;
        say_not_routed(out->words, status, object, body, length, secrets);
    } else if (removed) {
        (void)snprintf(out->words, sizeof out->words, "HTTP %d", status);
    } else if (out->outcome != FM_OK) {
        say_theirs(out->words, status, object, length, secrets);
    } else if (kind == FMCALL_STEPS) {
        take_steps(out, status, object);
    } else if (kind == FMCALL_CHECK && object != NULL &&
               json_object_get(object, "sessionToken") == NULL) {
        /* It is there; not every manager need show a token twice. */
        (void)snprintf(out->words, sizeof out->words, "HTTP %d", status);
    } else {
        take_token(out, status, object, length);
    }
    json_decref(object);
}

void decoded_release(struct decoded *decoded)
{
    explicit_bzero(decoded->token, sizeof decoded->token);
    jobsteps_destroy(decoded->steps);
    decoded->steps = NULL;
}

static int hex(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return isxdigit((unsigned char)digit) ? (digit | 0x20) - 'a' + 10 : -1;
}

static char *percent_decode(const char *text)
{
    char *name = malloc(strlen(text) + 1);
    size_t length = 0;

    while (name != NULL && *text != '\0') {
        int high = text[0] == '%' ? hex(text[1]) : -1;
        int low = high >= 0 ? hex(text[2]) : -1;
        bool escape = low >= 0 && (high | low) != 0;
        name[length++] = (char)(escape ? high << 4 | low : *text);
        text += escape ? 3 : 1;
    }
    if (name != NULL)
        name[length] = '\0';
    return name;
}

/* The text behind the last slash of a path or URL; NULL when there is nothing. */
static const char *last_segment(const char *link)
{
    const char *authority = strstr(link, "://");
    const char *slash = strrchr(authority != NULL ? authority + 3 : link, '/');
    const char *segment = slash != NULL ? slash + 1 : authority != NULL ? "" : link;
    return segment[0] != '\0' ? segment : NULL;
}

static bool take_names(struct decoded_page *page, const json_t *links, int status, char *words)
{
    size_t size = json_array_size(links);

    if (!json_is_array(links)) {
        say(words, status, "the list is not whole: documentLinks is missing or no array");
        return false;
    }
    page->names = calloc(size > 0 ? size : 1, sizeof *page->names);
    for (size_t i = 0; page->names != NULL && i < size; i++) {
        const char *link = json_string_value(json_array_get(links, i));
        const char *segment = link != NULL ? last_segment(link) : NULL;
        if (segment == NULL) {
            say(words, status, "the list is not whole: entry %zu of documentLinks is no link", i);
            return false;
        }
        if ((page->names[i] = percent_decode(segment)) == NULL)
            break;
        page->count++;
    }
    if (page->names == NULL || page->count < size) {
        say(words, status, "memory is exhausted");
        return false;
    }
    return true;
}

static bool take_count(struct decoded_page *page, const json_t *count, int status, char *words)
{
    if (count == NULL || json_is_null(count))
        return true;
    double value = json_number_value(count);
    if (!json_is_number(count) || !(value >= 0 && value <= 1e12) ||
        (double)(int64_t)value != value) {
        say(words, status, "the list is not whole: documentCount is no count");
        return false;
    }
    page->claimed = (int64_t)value;
    return true;
}

static bool take_next(struct decoded_page *page, const json_t *next, int status, char *words)
{
    if (next == NULL || json_is_null(next) ||
        (json_is_string(next) && json_string_length(next) == 0))
        return true;
    if (!json_is_string(next)) {
        say(words, status, "the list is not whole: nextPageLink is no link");
        return false;
    }
    if ((page->next = strdup(json_string_value(next))) == NULL) {
        say(words, status, "memory is exhausted");
        return false;
    }
    return true;
}

enum fmcall_outcome decode_page(struct decoded_page *page, int status, const char *body,
                                size_t length, const struct secrets *secrets,
                                char words[static DECODE_WORDS_SIZE])
{
    *page = (struct decoded_page){.claimed = -1};
    enum fmcall_outcome outcome = outcome_of_status(FMCALL_NONE, false, status);
    json_t *object = object_of(body, length);

    if (status == 404 && !is_own_404(object)) {
        outcome = FM_NOT_ROUTED;
        say_not_routed(words, status, object, body, length, secrets);
    } else if (outcome != FM_OK) {
        say_theirs(words, status, object, length, secrets);
    } else if (object == NULL) {
        say(words, status, "the list is not whole: the body is not a JSON object");
        outcome = FM_BUSY;
    } else if (!take_names(page, json_object_get(object, "documentLinks"), status, words) ||
               !take_count(page, json_object_get(object, "documentCount"), status, words) ||
               !take_next(page, json_object_get(object, "nextPageLink"), status, words)) {
        decoded_page_release(page);
        outcome = FM_BUSY;
    }
    json_decref(object);
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
