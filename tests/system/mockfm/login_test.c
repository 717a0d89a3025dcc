/* SPDX-License-Identifier: Apache-2.0 */
/* Logging in: passwords that change, access tokens that expire and are revoked; seen by a real
 * client. */

#include "tests/system/mockfm/mockfm.h"
#include "tests/system/mockfm/httpclient.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

#define TOKEN_PATH "/oauth/token"
#define KEYCLOAK_PATH "/auth/realms/shasta/protocol/openid-connect/token"
#define SECRET "s3cret+with &=%"
#define FORM                                                                                       \
    "grant_type=client_credentials&client_id=wlm-client&client_secret=s3cret%2Bwith%20%26%3D%25"   \
    "&scope=openid"
#define RESERVE "{\"jobID\":\"c-1\",\"mcastLimit\":2}"

static const char *const oauth[] = {"--auth", "oauth", NULL};

/* Started with OAuth; a client that is not logged in yet. */
static void begin(struct mockfm_fm *fm, struct httpclient *httpclient, const char *const *options)
{
    mockfm_write(fm, "client-id", "wlm-client\n");
    mockfm_write(fm, "client-secret", SECRET "\n");
    mockfm_start(fm, options);
    httpclient_create(httpclient, "http", fm->port);
}

static void end(struct mockfm_fm *fm, struct httpclient *httpclient)
{
    httpclient_destroy(httpclient);
}

static void get_token(struct httpclient *httpclient, const char *path, char token[2048])
{
    struct httpclient_reply reply;
    const char *text;

    httpclient->bearer = NULL;
    assert_int_equal(httpclient_call(httpclient, "POST", path, FORM, &reply), 200);
    assert_string_equal(json_string_value(json_object_get(reply.json, "token_type")), "Bearer");
    text = json_string_value(json_object_get(reply.json, "access_token"));
    assert_non_null(text);
    snprintf(token, 2048, "%s", text);
    httpclient_reply_release(&reply);
    httpclient->bearer = token;
}

static long list(struct httpclient *httpclient)
{
    return httpclient_call(httpclient, "GET", DOUBLE_JOBS "/", NULL, NULL);
}

static json_int_t state_number(struct httpclient *httpclient, const char *name)
{
    struct httpclient_reply reply;
    json_int_t number;

    assert_int_equal(httpclient_call(httpclient, "GET", "/mock/state", NULL, &reply), 200);
    assert_true(json_is_integer(json_object_get(reply.json, name)));
    number = json_integer_value(json_object_get(reply.json, name));
    httpclient_reply_release(&reply);
    return number;
}

static void basic__password_changes_while_it_serves(void **state)
{
    struct mockfm_fm *fm = *state;
    struct httpclient httpclient;
    struct httpclient_reply reply;

    httpclient_create(&httpclient, "http", fm->port);
    httpclient.basic = "cxi:fm-passw0rd";
    assert_int_equal(list(&httpclient), 200);
    mockfm_write(fm, "passwd", "changed\n");
    assert_int_equal(httpclient_call(&httpclient, "POST", "/mock/reload", "", NULL), 200);
    assert_int_equal(httpclient_call(&httpclient, "GET", DOUBLE_JOBS "/", NULL, &reply), 401);
    assert_string_equal(reply.challenge, "Basic realm=\"fabric manager\"");
    httpclient_reply_release(&reply);
    httpclient.basic = "cxi:changed";
    assert_int_equal(list(&httpclient), 200);
    /* An empty file is no password; the old one stays. */
    mockfm_write(fm, "passwd", "");
    assert_int_equal(httpclient_call(&httpclient, "POST", "/mock/reload", "", &reply), 500);
    assert_non_null(strstr(reply.text, "/passwd is empty"));
    httpclient_reply_release(&reply);
    assert_int_equal(list(&httpclient), 200);
    /* There are no tokens here, and no place to get one. */
    assert_int_equal(httpclient_call(&httpclient, "POST", TOKEN_PATH, FORM, NULL), 404);
    end(fm, &httpclient);
}

/* F13: from the secret to a job that is reserved and released. */
static void oauth__token_opens_the_door(void **state)
{
    static const char *const paths[] = {TOKEN_PATH, KEYCLOAK_PATH};
    struct mockfm_fm *fm = *state;
    struct httpclient httpclient;
    struct httpclient_reply reply;
    char token[2048];

    begin(fm, &httpclient, oauth);
    assert_int_equal(httpclient_call(&httpclient, "GET", DOUBLE_JOBS "/", NULL, &reply), 401);
    assert_memory_equal(reply.challenge, "Bearer realm=", 13);
    httpclient_reply_release(&reply);
    for (size_t i = 0; i < 2; i++) {
        get_token(&httpclient, paths[i], token);
        assert_int_equal(list(&httpclient), 200);
        assert_int_equal(httpclient_call(&httpclient, "POST", DOUBLE_JOBS, RESERVE, NULL), 201);
        assert_int_equal(httpclient_call(&httpclient, "DELETE", DOUBLE_JOBS "/c-1", NULL, NULL),
                         200);
    }
    assert_int_equal(state_number(&httpclient, "accessTokensIssued"), 2);
    assert_int_equal(state_number(&httpclient, "accessTokensLive"), 2);
    end(fm, &httpclient);
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
    struct mockfm_fm *fm = *state;
    struct httpclient httpclient;
    struct httpclient_reply reply;

    begin(fm, &httpclient, oauth);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        httpclient_call(&httpclient, "POST", TOKEN_PATH, wrong[i].form, &reply);
        assert_int_equal(reply.status, wrong[i].status);
        assert_string_equal(json_string_value(json_object_get(reply.json, "error")),
                            wrong[i].error);
        httpclient_reply_release(&reply);
    }
    assert_int_equal(httpclient_call(&httpclient, "GET", TOKEN_PATH, NULL, NULL), 405);
    assert_int_equal(httpclient_call(&httpclient, "POST",
                                     "/auth/realms/a/b/protocol/openid-connect/token", FORM, NULL),
                     404);
    assert_int_equal(state_number(&httpclient, "accessTokensIssued"), 0);
    end(fm, &httpclient);
}

static bool is_refused(void *arg)
{
    return list(arg) == 401;
}

static void oauth__token_expires(void **state)
{
    static const char *const options[] = {"--auth", "oauth", "--token-lifetime", "0.3", NULL};
    struct mockfm_fm *fm = *state;
    struct httpclient httpclient;
    char token[2048];

    begin(fm, &httpclient, options);
    get_token(&httpclient, TOKEN_PATH, token);
    assert_true(await(is_refused, &httpclient, AWAIT_DEADLINE_MS));
    assert_int_equal(state_number(&httpclient, "accessTokensIssued"), 1);
    assert_int_equal(state_number(&httpclient, "accessTokensLive"), 0);
    end(fm, &httpclient);
}

static void oauth__lifetime_is_announced(void **state)
{
    static const char *const options[] = {"--auth", "oauth", "--token-lifetime", "300.9", NULL};
    struct mockfm_fm *fm = *state;
    struct httpclient httpclient;
    struct httpclient_reply reply;

    begin(fm, &httpclient, options);
    assert_int_equal(httpclient_call(&httpclient, "POST", TOKEN_PATH, FORM, &reply), 200);
    assert_int_equal(json_integer_value(json_object_get(reply.json, "expires_in")), 300);
    httpclient_reply_release(&reply);
    end(fm, &httpclient);
}

static void oauth__token_is_revoked(void **state)
{
    struct mockfm_fm *fm = *state;
    struct httpclient httpclient;
    struct httpclient_reply reply;
    char token[2048];

    begin(fm, &httpclient, oauth);
    get_token(&httpclient, TOKEN_PATH, token);
    assert_int_equal(list(&httpclient), 200);
    assert_int_equal(httpclient_call(&httpclient, "POST", "/mock/revoke", "", &reply), 200);
    assert_int_equal(json_integer_value(json_object_get(reply.json, "revoked")), 1);
    httpclient_reply_release(&reply);
    assert_int_equal(list(&httpclient), 401);
    get_token(&httpclient, TOKEN_PATH, token);
    assert_int_equal(list(&httpclient), 200);
    end(fm, &httpclient);
}

/* Both are bearer tokens; each opens its own doors only. */
static void oauth__session_tokens_are_told_apart(void **state)
{
    static const char step[] = "{\"jobSteps\":{\"0\":null}}";
    struct mockfm_fm *fm = *state;
    struct httpclient httpclient;
    struct httpclient_reply reply;
    char token[2048], session[64], body[256];

    begin(fm, &httpclient, oauth);
    get_token(&httpclient, TOKEN_PATH, token);
    assert_int_equal(httpclient_call(&httpclient, "POST", DOUBLE_JOBS, RESERVE, &reply), 201);
    snprintf(session, sizeof session, "%s",
             json_string_value(json_object_get(reply.json, "sessionToken")));
    httpclient_reply_release(&reply);
    mockfm_tree(body, "c-1", "0", 0);
    assert_int_equal(httpclient_call(&httpclient, "POST", DOUBLE_TREES, body, NULL), 403);
    assert_int_equal(httpclient_call(&httpclient, "PATCH", DOUBLE_JOBS "/c-1", step, NULL), 200);
    httpclient.bearer = session;
    assert_int_equal(list(&httpclient), 403);
    assert_int_equal(httpclient_call(&httpclient, "POST", DOUBLE_TREES, body, NULL), 201);
    assert_int_equal(httpclient_call(&httpclient, "PATCH", DOUBLE_JOBS "/c-1", step, NULL), 200);
    /* Neither the one nor the other: as an access token that ran out. */
    httpclient.bearer = "eyJhbGciOiJSUzI1NiJ9.e30.c2ln";
    assert_int_equal(list(&httpclient), 401);
    assert_int_equal(httpclient_call(&httpclient, "PATCH", DOUBLE_JOBS "/c-1", step, NULL), 401);
    end(fm, &httpclient);
}

/* Tokens that were handed out stay good, as they do where they are signed. */
static void oauth__client_secret_changes_while_it_serves(void **state)
{
    struct mockfm_fm *fm = *state;
    struct httpclient httpclient;
    char token[2048];

    begin(fm, &httpclient, oauth);
    get_token(&httpclient, TOKEN_PATH, token);
    mockfm_write(fm, "client-secret", "another\n");
    assert_int_equal(httpclient_call(&httpclient, "POST", "/mock/reload", "", NULL), 200);
    assert_int_equal(httpclient_call(&httpclient, "POST", TOKEN_PATH, FORM, NULL), 401);
    assert_int_equal(list(&httpclient), 200);
    assert_int_equal(httpclient_call(&httpclient, "POST", TOKEN_PATH,
                                     "grant_type=client_credentials&client_id=wlm-client"
                                     "&client_secret=another",
                                     NULL),
                     200);
    end(fm, &httpclient);
}

/* The rules of faults apply to the token endpoint as to everything else. */
static void oauth__token_endpoint_misbehaves(void **state)
{
    struct mockfm_fm *fm = *state;
    struct httpclient httpclient;
    struct httpclient_reply reply;

    begin(fm, &httpclient, oauth);
    mockfm_fault(fm, "[{\"path\":\"*/token\",\"count\":1,\"status\":503,"
                     "\"headers\":{\"Retry-After\":\"7\"}},"
                     "{\"path\":\"*/token\",\"count\":1,\"merge\":{\"access_token\":null}},"
                     "{\"path\":\"*/token\",\"count\":1,\"merge\":{\"expires_in\":\"soon\"}},"
                     "{\"path\":\"*/token\",\"count\":1,\"truncate\":true},"
                     "{\"path\":\"*/token\",\"count\":1,\"garbage\":true},"
                     "{\"path\":\"*/token\",\"count\":1,\"drop\":\"after\"}]");
    assert_int_equal(httpclient_call(&httpclient, "POST", TOKEN_PATH, FORM, &reply), 503);
    assert_string_equal(reply.retry_after, "7");
    httpclient_reply_release(&reply);
    assert_int_equal(state_number(&httpclient, "accessTokensIssued"), 0);
    assert_int_equal(httpclient_call(&httpclient, "POST", TOKEN_PATH, FORM, &reply), 200);
    assert_null(json_object_get(reply.json, "access_token"));
    assert_non_null(json_object_get(reply.json, "expires_in"));
    httpclient_reply_release(&reply);
    assert_int_equal(httpclient_call(&httpclient, "POST", TOKEN_PATH, FORM, &reply), 200);
    assert_string_equal(json_string_value(json_object_get(reply.json, "expires_in")), "soon");
    httpclient_reply_release(&reply);
    httpclient_call(&httpclient, "POST", TOKEN_PATH, FORM, &reply);
    assert_int_equal(reply.code, CURLE_PARTIAL_FILE);
    httpclient_reply_release(&reply);
    assert_int_equal(httpclient_call(&httpclient, "POST", TOKEN_PATH, FORM, &reply), 200);
    assert_null(reply.json);
    httpclient_reply_release(&reply);
    /* libcurl tries again by itself when a kept connection ends without a word. */
    httpclient_hang_up(&httpclient);
    assert_int_equal(httpclient_call(&httpclient, "POST", TOKEN_PATH, FORM, NULL), 0);
    assert_int_equal(state_number(&httpclient, "accessTokensIssued"), 5);
    end(fm, &httpclient);
}

static void oauth__leaves_no_secret_in_log_or_state(void **state)
{
    static const char *const paths[] = {"/mock/log", "/mock/state"};
    struct mockfm_fm *fm = *state;
    struct httpclient httpclient;
    char token[2048];

    begin(fm, &httpclient, oauth);
    get_token(&httpclient, TOKEN_PATH, token);
    assert_int_equal(list(&httpclient), 200);
    for (size_t i = 0; i < 2; i++) {
        struct httpclient_reply reply;

        assert_int_equal(httpclient_call(&httpclient, "GET", paths[i], NULL, &reply), 200);
        assert_null(strstr(reply.text, "s3cret"));
        assert_null(strstr(reply.text, "wlm-client"));
        token[40] = '\0';
        assert_null(strstr(reply.text, token));
        httpclient_reply_release(&reply);
    }
    assert_false(mockfm_printed(fm, "s3cret"));
    assert_false(mockfm_printed(fm, token));
    end(fm, &httpclient);
}

UNIT_MAIN(RUNNING(basic__password_changes_while_it_serves), STOPPED(oauth__token_opens_the_door),
          STOPPED(oauth__wrong_requests_get_their_error), STOPPED(oauth__token_expires),
          STOPPED(oauth__lifetime_is_announced), STOPPED(oauth__token_is_revoked),
          STOPPED(oauth__session_tokens_are_told_apart),
          STOPPED(oauth__client_secret_changes_while_it_serves),
          STOPPED(oauth__token_endpoint_misbehaves),
          STOPPED(oauth__leaves_no_secret_in_log_or_state))
