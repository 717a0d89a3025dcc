/* SPDX-License-Identifier: Apache-2.0 */
/* Logging in: passwords that change, access tokens that expire and are revoked; seen by a real
 * client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "tests/system/mockfm/double.h"
#include "tests/system/mockfm/visitor.h"
#include "tests/system/rig/await.h"

#define TOKEN_PATH "/oauth/token"
#define KEYCLOAK_PATH "/auth/realms/shasta/protocol/openid-connect/token"
#define SECRET "s3cret+with &=%"
#define FORM                                                                                       \
    "grant_type=client_credentials&client_id=wlm-client&client_secret=s3cret%2Bwith%20%26%3D%25"   \
    "&scope=openid"
#define RESERVE "{\"jobID\":\"c-1\",\"mcastLimit\":2}"

static const char *const oauth[] = {"--auth", "oauth", NULL};

/* Started with OAuth; a client that is not logged in yet. */
static void begin(struct double_fm *fm, struct visitor *visitor, const char *const *options)
{
    double_write(fm, "client-id", "wlm-client\n");
    double_write(fm, "client-secret", SECRET "\n");
    double_start(fm, options);
    visitor_create(visitor, "http", fm->port);
}

static void end(struct double_fm *fm, struct visitor *visitor)
{
    visitor_destroy(visitor);
    double_stop(fm);
}

static void get_token(struct visitor *visitor, const char *path, char token[2048])
{
    struct visitor_reply reply;
    const char *text;

    visitor->bearer = NULL;
    assert_int_equal(visitor_call(visitor, "POST", path, FORM, &reply), 200);
    assert_string_equal(json_string_value(json_object_get(reply.json, "token_type")), "Bearer");
    text = json_string_value(json_object_get(reply.json, "access_token"));
    assert_non_null(text);
    snprintf(token, 2048, "%s", text);
    visitor_reply_release(&reply);
    visitor->bearer = token;
}

static long list(struct visitor *visitor)
{
    return visitor_call(visitor, "GET", DOUBLE_JOBS "/", NULL, NULL);
}

static json_int_t state_number(struct visitor *visitor, const char *name)
{
    struct visitor_reply reply;
    json_int_t number;

    assert_int_equal(visitor_call(visitor, "GET", "/mock/state", NULL, &reply), 200);
    assert_true(json_is_integer(json_object_get(reply.json, name)));
    number = json_integer_value(json_object_get(reply.json, name));
    visitor_reply_release(&reply);
    return number;
}

static void basic__password_changes_while_it_serves(void **state)
{
    struct double_fm *fm = *state;
    struct visitor visitor;
    struct visitor_reply reply;

    double_start(fm, NULL);
    visitor_create(&visitor, "http", fm->port);
    visitor.basic = "cxi:fm-passw0rd";
    assert_int_equal(list(&visitor), 200);
    double_write(fm, "passwd", "changed\n");
    assert_int_equal(visitor_call(&visitor, "POST", "/mock/reload", "", NULL), 200);
    assert_int_equal(visitor_call(&visitor, "GET", DOUBLE_JOBS "/", NULL, &reply), 401);
    assert_string_equal(reply.challenge, "Basic realm=\"fabric manager\"");
    visitor_reply_release(&reply);
    visitor.basic = "cxi:changed";
    assert_int_equal(list(&visitor), 200);
    /* An empty file is no password; the old one stays. */
    double_write(fm, "passwd", "");
    assert_int_equal(visitor_call(&visitor, "POST", "/mock/reload", "", &reply), 500);
    assert_non_null(strstr(reply.text, "/passwd is empty"));
    visitor_reply_release(&reply);
    assert_int_equal(list(&visitor), 200);
    /* There are no tokens here, and no place to get one. */
    assert_int_equal(visitor_call(&visitor, "POST", TOKEN_PATH, FORM, NULL), 404);
    end(fm, &visitor);
}

/* F13: from the secret to a job that is reserved and released. */
static void oauth__token_opens_the_door(void **state)
{
    static const char *const paths[] = {TOKEN_PATH, KEYCLOAK_PATH};
    struct double_fm *fm = *state;
    struct visitor visitor;
    struct visitor_reply reply;
    char token[2048];

    begin(fm, &visitor, oauth);
    assert_int_equal(visitor_call(&visitor, "GET", DOUBLE_JOBS "/", NULL, &reply), 401);
    assert_memory_equal(reply.challenge, "Bearer realm=", 13);
    visitor_reply_release(&reply);
    for (size_t i = 0; i < 2; i++) {
        get_token(&visitor, paths[i], token);
        assert_int_equal(list(&visitor), 200);
        assert_int_equal(visitor_call(&visitor, "POST", DOUBLE_JOBS, RESERVE, NULL), 201);
        assert_int_equal(visitor_call(&visitor, "DELETE", DOUBLE_JOBS "/c-1", NULL, NULL), 200);
    }
    assert_int_equal(state_number(&visitor, "accessTokensIssued"), 2);
    assert_int_equal(state_number(&visitor, "accessTokensLive"), 2);
    end(fm, &visitor);
}

/* RFC 6749, 5.2. */
static void oauth__wrong_requests_get_their_error(void **state)
{
    static const struct {
        const char *form;
        long status;
        const char *error;
    } wrong[] = {
        {"", 400, "invalid_request"},
        {"{}", 400, "invalid_request"},
        {"grant_type=client_credentials&grant_type=client_credentials", 400, "invalid_request"},
        {"grant_type=client_credentials&client_id=%zz", 400, "invalid_request"},
        {"grant_type=client_credentials&client_id=%0", 400, "invalid_request"},
        {"grant_type=client_credentials&client_id=%00", 400, "invalid_request"},
        {"grant_type=password&username=cxi", 400, "unsupported_grant_type"},
        {"grant_type=client_credentials", 401, "invalid_client"},
        {"grant_type=client_credentials&client_id=wlm-client&client_secret=", 401,
         "invalid_client"},
        {"grant_type=client_credentials&client_id=wlm-client&client_secret=wrong", 401,
         "invalid_client"},
        {"grant_type=client_credentials&client_id=nobody&client_secret=s3cret%2Bwith+%26%3D%25",
         401, "invalid_client"},
        /* As Slurm sends it, unescaped: a '+' is a blank, and a '&' ends the field. */
        {"grant_type=client_credentials&client_id=wlm-client&client_secret=s3cret+with ", 401,
         "invalid_client"},
    };
    struct double_fm *fm = *state;
    struct visitor visitor;
    struct visitor_reply reply;

    begin(fm, &visitor, oauth);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        visitor_call(&visitor, "POST", TOKEN_PATH, wrong[i].form, &reply);
        assert_int_equal(reply.status, wrong[i].status);
        assert_string_equal(json_string_value(json_object_get(reply.json, "error")),
                            wrong[i].error);
        visitor_reply_release(&reply);
    }
    assert_int_equal(visitor_call(&visitor, "GET", TOKEN_PATH, NULL, NULL), 405);
    assert_int_equal(visitor_call(&visitor, "POST",
                                  "/auth/realms/a/b/protocol/openid-connect/token", FORM, NULL),
                     404);
    assert_int_equal(state_number(&visitor, "accessTokensIssued"), 0);
    end(fm, &visitor);
}

static bool is_refused(void *arg)
{
    return list(arg) == 401;
}

static void oauth__token_expires(void **state)
{
    static const char *const options[] = {"--auth", "oauth", "--token-lifetime", "0.3", NULL};
    struct double_fm *fm = *state;
    struct visitor visitor;
    char token[2048];

    begin(fm, &visitor, options);
    get_token(&visitor, TOKEN_PATH, token);
    assert_true(await(is_refused, &visitor, AWAIT_DEADLINE_MS));
    assert_int_equal(state_number(&visitor, "accessTokensIssued"), 1);
    assert_int_equal(state_number(&visitor, "accessTokensLive"), 0);
    end(fm, &visitor);
}

static void oauth__lifetime_is_announced(void **state)
{
    static const char *const options[] = {"--auth", "oauth", "--token-lifetime", "300.9", NULL};
    struct double_fm *fm = *state;
    struct visitor visitor;
    struct visitor_reply reply;

    begin(fm, &visitor, options);
    assert_int_equal(visitor_call(&visitor, "POST", TOKEN_PATH, FORM, &reply), 200);
    assert_int_equal(json_integer_value(json_object_get(reply.json, "expires_in")), 300);
    visitor_reply_release(&reply);
    end(fm, &visitor);
}

static void oauth__token_is_revoked(void **state)
{
    struct double_fm *fm = *state;
    struct visitor visitor;
    struct visitor_reply reply;
    char token[2048];

    begin(fm, &visitor, oauth);
    get_token(&visitor, TOKEN_PATH, token);
    assert_int_equal(list(&visitor), 200);
    assert_int_equal(visitor_call(&visitor, "POST", "/mock/revoke", "", &reply), 200);
    assert_int_equal(json_integer_value(json_object_get(reply.json, "revoked")), 1);
    visitor_reply_release(&reply);
    assert_int_equal(list(&visitor), 401);
    get_token(&visitor, TOKEN_PATH, token);
    assert_int_equal(list(&visitor), 200);
    end(fm, &visitor);
}

/* Both are bearer tokens; each opens its own doors only. */
static void oauth__session_tokens_are_told_apart(void **state)
{
    static const char step[] = "{\"jobSteps\":{\"0\":null}}";
    struct double_fm *fm = *state;
    struct visitor visitor;
    struct visitor_reply reply;
    char token[2048], session[64], body[256];

    begin(fm, &visitor, oauth);
    get_token(&visitor, TOKEN_PATH, token);
    assert_int_equal(visitor_call(&visitor, "POST", DOUBLE_JOBS, RESERVE, &reply), 201);
    snprintf(session, sizeof session, "%s",
             json_string_value(json_object_get(reply.json, "sessionToken")));
    visitor_reply_release(&reply);
    double_tree(body, "c-1", "0", 0);
    assert_int_equal(visitor_call(&visitor, "POST", DOUBLE_TREES, body, NULL), 403);
    assert_int_equal(visitor_call(&visitor, "PATCH", DOUBLE_JOBS "/c-1", step, NULL), 200);
    visitor.bearer = session;
    assert_int_equal(list(&visitor), 403);
    assert_int_equal(visitor_call(&visitor, "POST", DOUBLE_TREES, body, NULL), 201);
    assert_int_equal(visitor_call(&visitor, "PATCH", DOUBLE_JOBS "/c-1", step, NULL), 200);
    /* Neither the one nor the other: as an access token that ran out. */
    visitor.bearer = "eyJhbGciOiJSUzI1NiJ9.e30.c2ln";
    assert_int_equal(list(&visitor), 401);
    assert_int_equal(visitor_call(&visitor, "PATCH", DOUBLE_JOBS "/c-1", step, NULL), 401);
    end(fm, &visitor);
}

/* Tokens that were handed out stay good, as they do where they are signed. */
static void oauth__client_secret_changes_while_it_serves(void **state)
{
    struct double_fm *fm = *state;
    struct visitor visitor;
    char token[2048];

    begin(fm, &visitor, oauth);
    get_token(&visitor, TOKEN_PATH, token);
    double_write(fm, "client-secret", "another\n");
    assert_int_equal(visitor_call(&visitor, "POST", "/mock/reload", "", NULL), 200);
    assert_int_equal(visitor_call(&visitor, "POST", TOKEN_PATH, FORM, NULL), 401);
    assert_int_equal(list(&visitor), 200);
    assert_int_equal(visitor_call(&visitor, "POST", TOKEN_PATH,
                                  "grant_type=client_credentials&client_id=wlm-client"
                                  "&client_secret=another",
                                  NULL),
                     200);
    end(fm, &visitor);
}

/* The rules of faults apply to the token endpoint as to everything else. */
static void oauth__token_endpoint_misbehaves(void **state)
{
    struct double_fm *fm = *state;
    struct visitor visitor;
    struct visitor_reply reply;

    begin(fm, &visitor, oauth);
    double_fault(fm, "[{\"path\":\"*/token\",\"count\":1,\"status\":503,"
                     "\"headers\":{\"Retry-After\":\"7\"}},"
                     "{\"path\":\"*/token\",\"count\":1,\"merge\":{\"access_token\":null}},"
                     "{\"path\":\"*/token\",\"count\":1,\"merge\":{\"expires_in\":\"soon\"}},"
                     "{\"path\":\"*/token\",\"count\":1,\"truncate\":true},"
                     "{\"path\":\"*/token\",\"count\":1,\"garbage\":true},"
                     "{\"path\":\"*/token\",\"count\":1,\"drop\":\"after\"}]");
    assert_int_equal(visitor_call(&visitor, "POST", TOKEN_PATH, FORM, &reply), 503);
    assert_string_equal(reply.retry_after, "7");
    visitor_reply_release(&reply);
    assert_int_equal(state_number(&visitor, "accessTokensIssued"), 0);
    assert_int_equal(visitor_call(&visitor, "POST", TOKEN_PATH, FORM, &reply), 200);
    assert_null(json_object_get(reply.json, "access_token"));
    assert_non_null(json_object_get(reply.json, "expires_in"));
    visitor_reply_release(&reply);
    assert_int_equal(visitor_call(&visitor, "POST", TOKEN_PATH, FORM, &reply), 200);
    assert_string_equal(json_string_value(json_object_get(reply.json, "expires_in")), "soon");
    visitor_reply_release(&reply);
    visitor_call(&visitor, "POST", TOKEN_PATH, FORM, &reply);
    assert_int_equal(reply.code, CURLE_PARTIAL_FILE);
    visitor_reply_release(&reply);
    assert_int_equal(visitor_call(&visitor, "POST", TOKEN_PATH, FORM, &reply), 200);
    assert_null(reply.json);
    visitor_reply_release(&reply);
    /* libcurl tries again by itself when a kept connection ends without a word. */
    visitor_hang_up(&visitor);
    assert_int_equal(visitor_call(&visitor, "POST", TOKEN_PATH, FORM, NULL), 0);
    assert_int_equal(state_number(&visitor, "accessTokensIssued"), 5);
    end(fm, &visitor);
}

static void oauth__leaves_no_secret_in_log_or_state(void **state)
{
    static const char *const paths[] = {"/mock/log", "/mock/state"};
    struct double_fm *fm = *state;
    struct visitor visitor;
    char token[2048];

    begin(fm, &visitor, oauth);
    get_token(&visitor, TOKEN_PATH, token);
    assert_int_equal(list(&visitor), 200);
    for (size_t i = 0; i < 2; i++) {
        struct visitor_reply reply;

        assert_int_equal(visitor_call(&visitor, "GET", paths[i], NULL, &reply), 200);
        assert_null(strstr(reply.text, "s3cret"));
        assert_null(strstr(reply.text, "wlm-client"));
        token[40] = '\0';
        assert_null(strstr(reply.text, token));
        visitor_reply_release(&reply);
    }
    assert_false(double_printed(fm, "s3cret"));
    assert_false(double_printed(fm, token));
    end(fm, &visitor);
}

#define WITH_DOUBLE(test) cmocka_unit_test_setup_teardown(test, double_setup, double_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DOUBLE(basic__password_changes_while_it_serves),
        WITH_DOUBLE(oauth__token_opens_the_door),
        WITH_DOUBLE(oauth__wrong_requests_get_their_error),
        WITH_DOUBLE(oauth__token_expires),
        WITH_DOUBLE(oauth__lifetime_is_announced),
        WITH_DOUBLE(oauth__token_is_revoked),
        WITH_DOUBLE(oauth__session_tokens_are_told_apart),
        WITH_DOUBLE(oauth__client_secret_changes_while_it_serves),
        WITH_DOUBLE(oauth__token_endpoint_misbehaves),
        WITH_DOUBLE(oauth__leaves_no_secret_in_log_or_state),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
