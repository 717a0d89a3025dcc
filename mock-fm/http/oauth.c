/* SPDX-License-Identifier: Apache-2.0 */
#include "mock-fm/http/oauth.h"

#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/memory.h"

#define PLAIN_PATH "/oauth/token"
#define KEYCLOAK_TAIL "/protocol/openid-connect/token"

/* Decodes in place; the text only gets shorter. -1 for a bad escape or a zero byte. */
static int decode_text(char *text, size_t length)
{
    char *out = text;
    for (size_t i = 0; i < length; i++) {
        char byte = text[i] == '+' ? ' ' : text[i];
        if (byte == '%') {
            if (i + 2 >= length || hex_read(text + i + 1, (unsigned char *)&byte, 1) < 0)
                return -1;
            i += 2;
        }
        if (!byte)
            return -1;
        *out++ = byte;
    }
    *out = '\0';
    return 0;
}

static int add_field(struct form *form, char *field, size_t length)
{
    char *equals = memchr(field, '=', length);
    size_t name_length = equals ? (size_t)(equals - field) : length;
    if (length == 0)
        return 0;
    if (form->count == FORM_FIELDS_MAX ||
        (equals && decode_text(equals + 1, length - name_length - 1) < 0) ||
        decode_text(field, name_length) < 0)
        return -1;
    for (size_t i = 0; i < form->count; i++) {
        if (strcmp(form->fields[i].name, field) == 0)
            return -1;
    }
    form->fields[form->count].name = field;
    form->fields[form->count++].value = equals ? equals + 1 : "";
    return 0;
}

int form_parse(struct form *form, const char *body, size_t length)
{
    *form = (struct form){.size = length + 1};
    form->text = memory_zeroed(form->size);
    if (length > 0)
        memcpy(form->text, body, length);
    for (size_t start = 0; start < length;) {
        const char *end = memchr(form->text + start, '&', length - start);
        size_t field_length = end ? (size_t)(end - form->text) - start : length - start;
        form->text[start + field_length] = '\0';
        if (add_field(form, form->text + start, field_length) < 0)
            return -1;
        start += field_length + 1;
    }
    return 0;
}

void form_release(struct form *form)
{
    if (form->text)
        explicit_bzero(form->text, form->size);
    free(form->text);
    *form = (struct form){0};
}

const char *form_value(const struct form *form, const char *name)
{
    for (size_t i = 0; i < form->count; i++) {
        if (strcmp(form->fields[i].name, name) == 0)
            return form->fields[i].value[0] ? form->fields[i].value : NULL;
    }
    return NULL;
}

bool oauth_owns(const char *path)
{
    const char *realm, *tail;
    if (strcmp(path, PLAIN_PATH) == 0)
        return true;
    if (strncmp(path, "/auth/", 6) == 0)
        path += 5;
    if (strncmp(path, "/realms/", 8) != 0)
        return false;
    realm = path + 8;
    tail = strchr(realm, '/');
    return tail && tail > realm && strcmp(tail, KEYCLOAK_TAIL) == 0;
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
    int64_t seconds = accesstokens_lifetime_us(tokens) / 1000000;
    char text[ACCESSTOKENS_TEXT_SIZE];
    if (accesstokens_issue(tokens, now_us, text) < 0) {
        answer_error(answer, 500, "server_error", "no random numbers for an access token");
        return;
    }
    answer->status = 200;
    answer->document = json_pack("{s:s, s:I, s:s, s:i, s:s}", "access_token", text, "expires_in",
                                 (json_int_t)(seconds > 0 ? seconds : 1), "token_type", "Bearer",
                                 "not-before-policy", 0, "scope", scope ? scope : "openid");
    explicit_bzero(text, sizeof text);
}

static void answer_form(const struct auth *auth, const struct form *form, int64_t now_us,
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
        grant_token(auth_tokens(auth), form_value(form, "scope"), now_us, answer);
}

void oauth_answer(const struct auth *auth, const struct request *request, struct answer *answer)
{
    struct problem problem;
    struct form form;
    *answer = (struct answer){0};
    if (!auth_tokens(auth)) {
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
    if (form_parse(&form, request->body, request->body_length) < 0)
        answer_error(
            answer, 400, "invalid_request",
            "the body must be a form (application/x-www-form-urlencoded), each field once");
    else
        answer_form(auth, &form, request->now_us, answer);
    form_release(&form);
    answer->no_store = true;
}
