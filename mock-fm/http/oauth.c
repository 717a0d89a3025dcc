#include "mock-fm/http/oauth.h"

#include <string.h>

#include "mock-fm/http/accesstokens.h"
#include "mock-fm/http/form.h"

#define PLAIN_PATH "/oauth/token"
#define KEYCLOAK_TAIL "/protocol/openid-connect/token"

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

static void refuse(struct answer *answer, int status, const char *error, const char *why)
{
    answer->status = status;
    answer->document = json_pack("{s:s, s:s}", "error", error, "error_description", why);
}

static void grant(struct accesstokens *tokens, const char *scope, int64_t now_us,
                  struct answer *answer)
{
    /* Rounded down, so that a client may trust it; but a client may take 0 for "never". */
    int64_t seconds = accesstokens_lifetime_us(tokens) / 1000000;
    char text[ACCESSTOKENS_TEXT_SIZE];

    if (accesstokens_issue(tokens, now_us, text) < 0) {
        refuse(answer, 500, "server_error", "no random numbers for an access token");
        return;
    }
    answer->status = 200;
    answer->document = json_pack("{s:s, s:I, s:s, s:i, s:s}", "access_token", text, "expires_in",
                                 (json_int_t)(seconds > 0 ? seconds : 1), "token_type", "Bearer",
                                 "not-before-policy", 0, "scope", scope ? scope : "openid");
    explicit_bzero(text, sizeof text);
}

static void judge(const struct auth *auth, const struct form *form, int64_t now_us,
                  struct answer *answer)
{
    const char *type = form_value(form, "grant_type");
    const char *id = form_value(form, "client_id"), *secret = form_value(form, "client_secret");

    if (!type)
        refuse(answer, 400, "invalid_request", "grant_type is missing");
    else if (strcmp(type, "client_credentials") != 0)
        refuse(answer, 400, "unsupported_grant_type", "grant_type must be client_credentials");
    else if (!id || !secret)
        refuse(answer, 401, "invalid_client", "client_id and client_secret must both be sent");
    else if (!auth_is_client(auth, id, secret))
        refuse(answer, 401, "invalid_client", "unknown client_id or wrong client_secret");
    else
        grant(auth_tokens(auth), form_value(form, "scope"), now_us, answer);
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
        refuse(answer, 400, "invalid_request",
               "the body must be a form (application/x-www-form-urlencoded), each field once");
    else
        judge(auth, &form, request->now_us, answer);
    form_release(&form);
    answer->no_store = true;
}
