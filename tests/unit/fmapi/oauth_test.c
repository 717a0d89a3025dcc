/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "fmapi/login/oauth.h"
#include "tests/unit/unit.h"

static struct oauthclient client_of(const char *secret)
{
    return (struct oauthclient){.endpoint = secret_of("https://sso/token"),
                                .id = secret_of("wlm"),
                                .secret = secret_of(secret)};
}

static void form_is(const char *id, const char *secret, const char *expected)
{
    struct request request;
    struct oauthclient client = client_of(secret);
    client.id = secret_of(id);
    request = oauth_request(&client);
    assert_string_equal(request.method, "POST");
    assert_string_equal(request.url, "https://sso/token");
    assert_string_equal(request.body_type, "application/x-www-form-urlencoded");
    assert_string_equal(request.body, expected);
    request_release(&request);
}

/* RFC 6749, 4.4.2 and appendix B. */
UNIT(oauth_request__encodes_what_it_is_given)
{
    form_is("wlm", "plain-1._~",
            "grant_type=client_credentials&client_id=wlm&client_secret=plain-1._~&scope=openid");
    form_is("a b&c", "=+%/ö\"",
            "grant_type=client_credentials&client_id=a%20b%26c&client_secret="
            "%3D%2B%25%2F%C3%B6%22&scope=openid");
}

static void grants(const char *body, const char *token, int64_t lifetime_ms)
{
    struct oauth_grant grant;
    struct error err = {0};
    struct oauthclient client = client_of("s3cret");
    if (oauth_decode(&grant, &client, "/etc/wlm-client-auth", 200, body, strlen(body), &err) != 0)
        fail_msg("%s: %s", body, err.text);
    assert_string_equal(secret_expose(grant.token), token);
    assert_int_equal(grant.lifetime_ms, lifetime_ms);
    secret_wipe(&grant.token);
}

UNIT(oauth_decode__takes_a_grant)
{
    grants("{\"access_token\":\"a.b-c~d+/=\",\"expires_in\":300,\"token_type\":\"Bearer\"}",
           "a.b-c~d+/=", 300000);
    grants("{\"access_token\":\"t\",\"token_type\":\"bEARER\",\"refresh_token\":null}", "t",
           LIFETIME_UNKNOWN);
    grants(" {\"access_token\":\"t\",\"token_type\":null,\"error_description\":\"\"}\n", "t",
           LIFETIME_UNKNOWN);
}

UNIT(oauth_decode__takes_lifetimes_generously)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"5", 5000},
        {"299.5", 299500},
        {"\"300\"", 300000},
        {"\"4.5\"", 4500},
        {"3.6e3", 3600000},
        {"31536000", INT64_C(31536000000)},
        {"1", 1000},
        {"0.001", 1000},
        {"9223372036854775808", LIFETIME_MAX_MS},
        {"1e18", LIFETIME_MAX_MS},
        {"\"99999999999999999999999999\"", LIFETIME_MAX_MS},
        {"0", LIFETIME_UNKNOWN},
        {"-1", LIFETIME_UNKNOWN},
        {"-9e99", LIFETIME_UNKNOWN},
        {"null", LIFETIME_UNKNOWN},
        {"true", LIFETIME_UNKNOWN},
        {"[300]", LIFETIME_UNKNOWN},
        {"{}", LIFETIME_UNKNOWN},
        {"\"\"", LIFETIME_UNKNOWN},
        {"\"-5\"", LIFETIME_UNKNOWN},
        {"\"inf\"", LIFETIME_UNKNOWN},
        {"\"nan\"", LIFETIME_UNKNOWN},
        {"\"0x10\"", LIFETIME_UNKNOWN},
        {"\"1h\"", LIFETIME_UNKNOWN},
        {"\"300 \"", LIFETIME_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[128];
        (void)snprintf(body, sizeof body, "{\"access_token\":\"t\",\"expires_in\":%s}",
                       cases[i].text);
        grants(body, "t", cases[i].ms);
    }
}

static void refuses(int status, const char *body, int code, const char *words)
{
    struct oauth_grant grant;
    struct error err = {0};
    struct oauthclient client = client_of("s3cret&");
    assert_int_equal(
        oauth_decode(&grant, &client, "/etc/wlm-client-auth", status, body, strlen(body), &err),
        code);
    assert_string_equal(err.text, words);
    assert_true(secret_none(grant.token));
}

UNIT(oauth_decode__refuses_what_is_no_grant)
{
    refuses(200, "{}", ERROR_IO, "HTTP 200: the answer has no access_token");
    static const char *const unusable[] = {
        "7", "null", "\"\"", "\"a b\"", "\"a\\r\\nHost: x\"", "\"\\\"\"", "\"\u00e4\"", "[\"t\"]"};
    for (size_t i = 0; i < sizeof unusable / sizeof unusable[0]; i++) {
        char body[128];
        (void)snprintf(body, sizeof body, "{\"access_token\":%s}", unusable[i]);
        refuses(200, body, ERROR_IO, "HTTP 200: the answer has no usable access_token");
    }
    refuses(200, "{\"access_token\":\"t\",\"token_type\":\"mac\"}", ERROR_IO,
            "HTTP 200: the token is of type mac; only Bearer is understood");
    static const char *const shapes[] = {
        "", "<html>", "[]", "\"t\"", "{\"access_token\":\"t\"", "{\"access_token\":\"\\u0000\"}"};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        refuses(200, shapes[i], ERROR_IO,
                "HTTP 200: the answer is no JSON object; is it a token endpoint? See endpoint in "
                "/etc/wlm-client-auth");
}

UNIT(oauth_decode__bounds_tokens)
{
    static char body[OAUTH_TOKEN_MAX + 64], token[OAUTH_TOKEN_MAX + 2];
    memset(token, 'x', OAUTH_TOKEN_MAX);
    (void)snprintf(body, sizeof body, "{\"access_token\":\"%s\"}", token);
    grants(body, token, LIFETIME_UNKNOWN);
    token[OAUTH_TOKEN_MAX] = 'x';
    (void)snprintf(body, sizeof body, "{\"access_token\":\"%s\"}", token);
    refuses(200, body, ERROR_IO, "HTTP 200: the answer has no usable access_token");
}

/* RFC 6749, 5.2. */
UNIT(oauth_decode__says_why_it_was_refused)
{
    refuses(401,
            "{\"error\":\"invalid_client\",\"error_description\":\"Invalid client credentials\"}",
            ERROR_REFUSED,
            "HTTP 401: invalid_client: Invalid client credentials; check client-id and "
            "client-secret in /etc/wlm-client-auth");
    refuses(400, "{\"error\":\"unauthorized_client\"}", ERROR_REFUSED,
            "HTTP 400: unauthorized_client; the client must be allowed the grant type "
            "client_credentials; see client-id in /etc/wlm-client-auth");
    refuses(400, "{\"error\":\"invalid_scope\",\"error_description\":7}", ERROR_REFUSED,
            "HTTP 400: invalid_scope");
    refuses(200, "{\"error\":\"server_error\",\"access_token\":\"t\"}", ERROR_IO,
            "HTTP 200: server_error");
    refuses(503, "", ERROR_IO, "HTTP 503 without a reason");
    refuses(429, "{}", ERROR_IO, "HTTP 429 without a reason");
    refuses(401, "", ERROR_REFUSED,
            "HTTP 401 without a reason; check client-id and client-secret in "
            "/etc/wlm-client-auth");
    refuses(307, "", ERROR_IO,
            "HTTP 307 without a reason; is it the token endpoint's final URL? See endpoint in "
            "/etc/wlm-client-auth");
}

UNIT(oauth_decode__passes_on_no_secret)
{
    refuses(400, "{\"error\":\"s3cret&\",\"error_description\":\"s3cret& or s3cret%26\"}",
            ERROR_REFUSED, "HTTP 400: ***: *** or ***");
    refuses(400,
            "{\"error\":\"e\",\"error_description\":\"client_secret=abc&x access_token: zzz "
            "refresh_token='r' \\\"id_token\\\":\\\"i\\\"\"}",
            ERROR_REFUSED,
            "HTTP 400: e: client_secret=*** access_token: *** refresh_token='*** "
            "\"id_token\":\"***\"");
    refuses(200, "{\"access_token\":\"tok-1\",\"token_type\":\"of tok-1\"}", ERROR_IO,
            "HTTP 200: the token is of type of ***; only Bearer is understood");
    refuses(400, "{\"error\":\"a\\nb\\u001b[2J\",\"error_description\":\"\\u202e\"}", ERROR_REFUSED,
            "HTTP 400: a?b?[2J: ?");
}

static const int64_t second = 1000, minute = 60000, hour = 3600000, day = 24 * INT64_C(3600000);

UNIT(lifetime_of_seconds__is_in_milliseconds)
{
    assert_int_equal(lifetime_of_seconds(5), 5 * second);
    assert_int_equal(lifetime_of_seconds(299.5), 299500);
    assert_int_equal(lifetime_of_seconds(31536000), 365 * day);
}

UNIT(lifetime_of_seconds__is_unknown_unless_positive)
{
    static const double odd[] = {0, -0.0, -1, -3600, -1e300, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        assert_int_equal(lifetime_of_seconds(odd[i]), LIFETIME_UNKNOWN);
}

UNIT(lifetime_of_seconds__has_bounds)
{
    static const double huge[] = {9.3e15, 9.3e18, 1e300, INFINITY};
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++)
        assert_int_equal(lifetime_of_seconds(huge[i]), LIFETIME_MAX_MS);
    assert_int_equal(lifetime_of_seconds(1e-300), LIFETIME_MIN_MS);
    assert_int_equal(lifetime_of_seconds(0.999), LIFETIME_MIN_MS);
    /* Nanoseconds of it, on top of a machine's age, fit into 64 bits. */
    assert_true(LIFETIME_MAX_MS < INT64_MAX / 1000000 / 4);
}

/* F13: 5 s to a year. */
UNIT(lifetime_renew_ms__is_well_before_the_end)
{
    assert_int_equal(lifetime_renew_ms(LIFETIME_MIN_MS), 750);
    assert_int_equal(lifetime_renew_ms(5 * second), 3750);
    assert_int_equal(lifetime_renew_ms(5 * minute), 225 * second);
    assert_int_equal(lifetime_renew_ms(hour), 45 * minute);
    assert_int_equal(lifetime_renew_ms(4 * hour), 3 * hour);
    assert_int_equal(lifetime_renew_ms(day), 23 * hour);
    assert_int_equal(lifetime_renew_ms(365 * day), 365 * day - hour);
    assert_int_equal(lifetime_renew_ms(LIFETIME_MAX_MS), LIFETIME_MAX_MS - hour);
}

/* From the first failure on until the end there is more than one try, and not too many. */
UNIT(lifetime_retry_ms__fits_what_is_left)
{
    static const int64_t lives[] = {5000, 300000, 3600000, INT64_C(31536000000)};
    for (size_t i = 0; i < sizeof lives / sizeof lives[0]; i++) {
        int64_t left = lives[i] - lifetime_renew_ms(lives[i]);
        unsigned tries = 0;
        for (int64_t pause; (pause = lifetime_retry_ms(left)) >= 0; tries++) {
            assert_in_range(pause, 250, minute);
            left -= pause;
        }
        assert_in_range(tries, 3, 100);
    }
    assert_int_equal(lifetime_retry_ms(0), -1);
    assert_int_equal(lifetime_retry_ms(-5), -1);
}

UNIT_RUN(NULL, NULL)
