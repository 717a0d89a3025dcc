/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/http/oauth.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/memory.h"

/* To be freed. NULL for a bad escape or a zero byte. */
static char *decode_text(const char *text, size_t length)
{
    char *decoded = memory_zeroed(length + 1), *out = decoded;
    for (size_t i = 0; i < length; i++) {
        char byte = text[i] == '+' ? ' ' : text[i];
        if (byte == '%') {
            byte = '\0';
            if (i + 2 < length)
                (void)hex_read(text + i + 1, (unsigned char *)&byte, 1);
            i += 2;
        }
        if (!byte) {
            free(decoded);
            return NULL;
        }
        *out++ = byte;
    }
    return decoded;
}

static bool add_field(json_t *form, const char *field, size_t length)
{
    const char *equals = memchr(field, '=', length), *end = field + length;
    char *name = decode_text(field, equals ? (size_t)(equals - field) : length);
    char *value = equals ? decode_text(equals + 1, (size_t)(end - equals) - 1) : memory_text("");
    bool added = name && value && !json_object_get(form, name) &&
                 json_object_set_new(form, name, json_string(value)) == 0;
    free(name);
    memory_wipe_text(value);
    return added;
}

json_t *form_parse(const char *body, size_t length)
{
    json_t *form = json_object();
    for (size_t start = 0, size; start < length; start += size + 1) {
        const char *end = memchr(body + start, '&', length - start);
        size = end ? (size_t)(end - body) - start : length - start;
        if (size > 0 && !add_field(form, body + start, size)) {
            json_decref(form);
            return NULL;
        }
    }
    return form;
}

/* NULL when it is not there or empty, which is the same (RFC 6749, 3.2). */
static const char *form_value(const json_t *form, const char *name)
{
    const json_t *value = json_object_get(form, name);
    return json_string_length(value) > 0 ? json_string_value(value) : NULL;
}

bool oauth_owns(const char *path)
{
    static const char *const paths[] = {"/oauth/token", "/realms/?*/protocol/openid-connect/token",
                                        "/auth/realms/?*/protocol/openid-connect/token"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (fnmatch(paths[i], path, FNM_PATHNAME) == 0)
            return true;
    return false;
}

static void answer_error(struct answer *answer, int status, const char *error, const char *why)
{
    answer->status = status;
    answer->document = json_pack("{s:s, s:s}", "error", error, "error_description", why);
}

static void grant_token(struct accesstokens *tokens, const char *scope, int64_t now_us,
                        struct answer *answer)
{
    /* Rounded down, so that a client may trust it; but a client may take 0 for "never". */
    int64_t seconds = tokens->lifetime_us / 1000000;
    const char *text = accesstokens_issue(tokens, now_us);
    answer->status = 200;
    answer->document = json_pack("{s:s, s:I, s:s, s:i, s:s}", "access_token", text, "expires_in",
                                 (json_int_t)(seconds > 0 ? seconds : 1), "token_type", "Bearer",
                                 "not-before-policy", 0, "scope", scope ? scope : "openid");
}

static void answer_form(const struct auth *auth, const json_t *form, int64_t now_us,
                        struct answer *answer)
{
    const char *type = form_value(form, "grant_type");
    const char *id = form_value(form, "client_id"), *secret = form_value(form, "client_secret");
    if (!type)
        answer_error(answer, 400, "invalid_request", "grant_type is missing");
    else if (strcmp(type, "client_credentials") != 0)
        answer_error(answer, 400, "unsupported_grant_type",
                     "grant_type must be client_credentials");
    else if (!id || !secret)
        answer_error(answer, 401, "invalid_client",
                     "client_id and client_secret must both be sent");
    else if (!auth_is_client(auth, id, secret))
        answer_error(answer, 401, "invalid_client", "unknown client_id or wrong client_secret");
    else
        grant_token(auth->tokens, form_value(form, "scope"), now_us, answer);
}

void oauth_answer(const struct auth *auth, const struct request *request, struct answer *answer)
{
    struct problem problem;
    *answer = (struct answer){0};
    if (!auth->tokens) {
        problem_set(&problem, 404, "there is a token endpoint only with --auth oauth");
        answer_problem(answer, &problem);
        return;
    }
    if (strcmp(request->method, "POST") != 0) {
        problem_set(&problem, 405, "%.20s is not possible here; try POST", request->method);
        answer_problem(answer, &problem);
        answer->allow = "POST";
        return;
    }
    json_t *form = form_parse(request->body, request->body_length);
    if (!form)
        answer_error(
            answer, 400, "invalid_request",
            "the body must be a form (application/x-www-form-urlencoded), each field once");
    else
        answer_form(auth, form, request->now_us, answer);
    json_decref(form);
    answer->no_store = true;
}
