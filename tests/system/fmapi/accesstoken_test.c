/* SPDX-License-Identifier: Apache-2.0 */

#include <time.h>
#include <unistd.h>

#include "tests/system/fmapi/issuer.h"
#include "tests/system/fmapi/apiclient.h"
#include "tests/system/fmapi/scriptedserver.h"
#include "tests/unit/unit.h"

enum { MANY = 50 };

/* A fabric manager that takes access tokens from number oldest on. */
struct guard {
    atomic_uint oldest;
    int refusal;
    bool forbids; /* 403 to the job c-not, whatever the token */
    unsigned refused;
};

static void ask_token(void *arg, const struct scriptedserver_request *request,
                      struct scriptedserver_answer *answer)
{
    struct guard *guard = arg;
    bool forbidden = guard->forbids && strstr(request->path, "c-not");

    if (issuer_number(request->head) < guard->oldest || forbidden) {
        guard->refused++;
        answer->status = forbidden ? 403 : guard->refusal;
        answer->body = scriptedserver_text("{\"message\":\"not with this token\"}");
    } else {
        answer->body =
            scriptedserver_text("{\"sessionToken\":\"tok-1\",\"documentLinks\":[\"/j/c-1\"]}");
    }
}

struct scene {
    struct guard guard;
    struct issuer issuer;
    struct scriptedserver *scriptedserver;
    struct apiclient apiclient;
};

static void scene_init(struct scene *scene, int64_t timeout_ms)
{
    *scene = (struct scene){.guard = {.oldest = 1, .refusal = 401}};
    issuer_init(&scene->issuer, &(struct scriptedserver_options){0});
    scene->scriptedserver = scriptedserver_create(
        &(struct scriptedserver_options){.script = ask_token, .arg = &scene->guard});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scene->scriptedserver));
    options.auth = FMAPI_AUTH_OAUTH;
    options.authdir = scene->issuer.folder;
    options.timeout_ms = timeout_ms;
    options.parallel = MANY;
    apiclient_init(&scene->apiclient, &options);
}

static void scene_release(struct scene *scene)
{
    apiclient_release(&scene->apiclient);
    scriptedserver_destroy(scene->scriptedserver);
    issuer_release(&scene->issuer);
}

static void login_is(struct scene *scene, int code, const char *words)
{
    struct landing login = apiclient_login(&scene->apiclient);
    if (login.code != code || !strstr(login.words, words))
        fail_msg("%s: %s", error_word(login.code), login.words);
}

static void call_is(struct scene *scene, enum fmcall_outcome outcome)
{
    struct landing landing = apiclient_call(&scene->apiclient, FMCALL_RESERVE, "c-1");
    if (landing.outcome != outcome)
        fail_msg("%s: %s", fmcall_outcome_word(landing.outcome), landing.words);
}

/* F13; RFC 6749, 4.4.2: percent-encoded, which Slurm forgets. */
static void oauth__asks_by_client_credentials(void **state)
{
    struct scene scene;
    scene_init(&scene, 60000);
    login_is(&scene, 0, "");
    assert_int_equal(strncmp(scene.issuer.head, "POST /realms/fm/token HTTP/1.1\r\n", 32), 0);
    assert_non_null(
        strstr(scene.issuer.head, "\r\nContent-Type: application/x-www-form-urlencoded\r\n"));
    assert_null(strstr(scene.issuer.head, "\r\nAuthorization:"));
    assert_string_equal(scene.issuer.form, "grant_type=client_credentials&client_id=wlm%20client"
                                           "&client_secret=" ISSUER_ENCODED "&scope=openid");
    call_is(&scene, FM_OK);
    assert_int_equal(scene.guard.refused, 0);
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 1);
    scene_release(&scene);
}

static void oauth__counts(void **state)
{
    struct scene scene;
    scene_init(&scene, 60000);
    struct fmapi_counters before = apiclient_counters(&scene.apiclient);
    assert_int_equal(before.logins, 0);
    assert_int_equal(before.login_since_ms, 0);
    assert_int_equal(before.login_expires_ms, 0);
    assert_true(before.date_skew_ms == INT64_MIN);

    issuer_grant(&scene.issuer, "31536000"); /* a year */
    int64_t earliest = (int64_t)time(NULL) * 1000;
    login_is(&scene, 0, "");
    /* time() may be a tick of the kernel's coarse clock behind, and so a second. */
    int64_t latest = ((int64_t)time(NULL) + 2) * 1000;
    struct fmapi_counters after = apiclient_counters(&scene.apiclient);
    assert_int_equal(after.logins, 1);
    assert_int_equal(after.renewals, 0);
    assert_int_equal(after.login_failures, 0);
    assert_int_equal(after.calls, 0); /* the token endpoint is not the fabric manager */
    assert_in_range(after.login_since_ms, earliest, latest);
    assert_in_range(after.login_expires_ms - INT64_C(31536000000), earliest - 1, latest);

    scene.guard.oldest = 2;
    call_is(&scene, FM_OK);
    assert_int_equal(apiclient_counters(&scene.apiclient).renewals, 1);
    issuer_say(&scene.issuer, 503, "{}");
    scene.guard.oldest = 3;
    call_is(&scene, FM_UNAUTHORIZED);
    assert_int_equal(apiclient_counters(&scene.apiclient).login_failures, 1);
    scene_release(&scene);
}

static void start_many(struct scene *scene, struct landing landings[MANY])
{
    for (size_t i = 0; i < MANY; i++)
        apiclient_start(&scene->apiclient, FMCALL_RESERVE, "c-1", &landings[i]);
}

static void await_many(struct scene *scene, const struct landing landings[MANY])
{
    for (size_t i = 0; i < MANY; i++) {
        apiclient_await(&scene->apiclient, &landings[i]);
        assert_int_equal(landings[i].outcome, FM_OK);
    }
}

/* F13: one renewal in flight however many calls wait. */
static void oauth__asks_once_for_many_calls(void **state)
{
    struct scene scene;
    static struct landing first[MANY], second[MANY];
    memset(first, 0, sizeof first);
    memset(second, 0, sizeof second);
    scene_init(&scene, 60000);
    start_many(&scene, first); /* none has a token */
    await_many(&scene, first);
    assert_int_equal(issuer_requests(&scene.issuer), 1);
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), MANY);

    scene.guard.oldest = 2; /* all tokens are void, and all calls learn it at once */
    scriptedserver_gather(scene.scriptedserver, MANY);
    start_many(&scene, second);
    await_many(&scene, second);
    assert_int_equal(issuer_requests(&scene.issuer), 2);
    assert_int_equal(scene.guard.refused, MANY);
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 3 * MANY);
    scene_release(&scene);
}

static void oauth__gives_up_when_the_new_token_is_refused_too(void **state)
{
    struct scene scene;
    scene_init(&scene, 60000);
    login_is(&scene, 0, "");
    scene.guard.oldest = 1000;
    struct landing landing = apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1");
    assert_int_equal(landing.outcome, FM_UNAUTHORIZED);
    assert_string_equal(landing.words, "HTTP 401: not with this token");
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 2);
    assert_int_equal(issuer_requests(&scene.issuer), 2);
    scene_release(&scene);
}

/* A 403 to one job is a no to that job, after one renewal; and jobs that are never ours do not have
 * a token made at every try. */
static void oauth__renews_once_for_what_is_forbidden(void **state)
{
    struct scene scene;
    scene_init(&scene, 60000);
    login_is(&scene, 0, "");
    scene.guard.forbids = true;
    for (unsigned i = 0; i < 3; i++) {
        struct landing landing = apiclient_call(&scene.apiclient, FMCALL_RELEASE, "c-not");
        assert_int_equal(landing.outcome, FM_DENIED);
        assert_string_equal(landing.words, "HTTP 403: not with this token");
        assert_int_equal(issuer_requests(&scene.issuer), 2);
    }
    call_is(&scene, FM_OK);
    scene.guard.oldest = 3; /* 401 is heard all the same */
    call_is(&scene, FM_OK);
    assert_int_equal(issuer_requests(&scene.issuer), 3);
    scene_release(&scene);
}

/* With roles that were given meanwhile. */
static void oauth__tries_again_after_a_403(void **state)
{
    struct scene scene;
    scene_init(&scene, 60000);
    login_is(&scene, 0, "");
    scene.guard.oldest = 2;
    scene.guard.refusal = 403;
    call_is(&scene, FM_OK);
    assert_int_equal(issuer_requests(&scene.issuer), 2);
    scene_release(&scene);
}

static bool renewed_twice(void *arg)
{
    return apiclient_counters(arg).renewals >= 2;
}

/* F13: well before it expires, with nobody asking. */
static void oauth__renews_short_lives_early(void **state)
{
    struct scene scene;
    scene_init(&scene, 60000);
    issuer_grant(&scene.issuer, "\"1\"");
    login_is(&scene, 0, "");
    apiclient_await_that(&scene.apiclient, renewed_twice, &scene.apiclient);
    assert_int_equal(scene.issuer.granted, 3);
    scene.guard.oldest = 3;
    call_is(&scene, FM_OK);
    assert_int_equal(scene.guard.refused, 0);
    scene_release(&scene);
}

static bool failed_once(void *arg)
{
    return apiclient_counters(arg).login_failures >= 1;
}

static bool renewed_once(void *arg)
{
    return apiclient_counters(arg).renewals >= 1;
}

static bool expired(void *arg)
{
    return apiclient_counters(arg).login_since_ms == 0;
}

static void oauth__goes_on_while_an_early_renewal_fails(void **state)
{
    struct scene scene;
    scene_init(&scene, 60000);
    issuer_grant(&scene.issuer, "8");
    login_is(&scene, 0, "");
    issuer_say(&scene.issuer, 503, "down");
    apiclient_await_that(&scene.apiclient, failed_once, &scene.apiclient);
    call_is(&scene, FM_OK);
    login_is(&scene, 0, ""); /* the link may even come and go */
    assert_int_equal(scene.guard.refused, 0);
    assert_int_equal(apiclient_counters(&scene.apiclient).renewals, 0);

    issuer_grant(&scene.issuer, "3600"); /* and recovers by itself */
    apiclient_await_that(&scene.apiclient, renewed_once, &scene.apiclient);
    scene.guard.oldest = 2;
    call_is(&scene, FM_OK);
    assert_int_equal(scene.guard.refused, 0);
    scene_release(&scene);
}

static void oauth__sends_nothing_with_a_token_that_expired(void **state)
{
    struct scene scene;
    scene_init(&scene, 60000);
    issuer_grant(&scene.issuer, "1");
    login_is(&scene, 0, "");
    issuer_say(&scene.issuer, 500, "{\"error\":\"server_error\"}");
    apiclient_await_that(&scene.apiclient, expired, &scene.apiclient);
    struct landing landing = apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1");
    assert_int_equal(landing.outcome, FM_UNAUTHORIZED);
    assert_non_null(strstr(landing.words, "/realms/fm/token: HTTP 500: server_error"));
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 0);

    issuer_grant(&scene.issuer, "3600");
    call_is(&scene, FM_OK);
    assert_int_equal(apiclient_counters(&scene.apiclient).renewals, 1);
    scene_release(&scene);
}

/* Servers that give no lifetime, or mean "for ever" by an odd one. */
static void oauth__takes_odd_lifetimes(void **state)
{
    static const char *const odd[] = {NULL,     "0",        "-1",     "-3600.5",
                                      "null",   "\"soon\"", "[3600]", "true",
                                      "1e300",  "\"\"",     "{}",     "99999999999999999999999",
                                      "3599.99"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        struct scene scene;
        scene_init(&scene, 60000);
        issuer_grant(&scene.issuer, odd[i]);
        login_is(&scene, 0, "");
        call_is(&scene, FM_OK);
        assert_int_equal(issuer_requests(&scene.issuer), 1);
        scene_release(&scene);
    }
}

/* A login does not ask for a token when the one in force will do: links come and go. */
static void login__keeps_a_token_that_serves(void **state)
{
    struct scene scene;
    scene_init(&scene, 60000);
    login_is(&scene, 0, "");
    login_is(&scene, 0, "");
    assert_int_equal(issuer_requests(&scene.issuer), 1);

    scriptedserver_refuse(scene.issuer.scriptedserver);
    login_is(&scene, 0, "");
    call_is(&scene, FM_OK);
    assert_int_equal(apiclient_counters(&scene.apiclient).logins, 3);
    scene_release(&scene);
}

/* The files are read again: no reload is needed. */
static void login__takes_a_changed_client(void **state)
{
    struct scene scene;
    scene_init(&scene, 60000);
    login_is(&scene, 0, "");
    issuer_put(scene.issuer.secret, "other", 0600);
    login_is(&scene, 0, "");
    assert_int_equal(issuer_requests(&scene.issuer), 2);
    assert_non_null(strstr(scene.issuer.form, "&client_secret=other&"));

    /* So does a renewal. */
    issuer_put(scene.issuer.id, "third", 0600);
    scene.guard.oldest = 3;
    call_is(&scene, FM_OK);
    assert_non_null(strstr(scene.issuer.form, "&client_id=third&"));

    /* One that the endpoint does not know is told, though the old token lives. */
    issuer_put(scene.issuer.secret, "wrong", 0600);
    issuer_say(&scene.issuer, 401, "{\"error\":\"invalid_client\"}");
    login_is(&scene, ERROR_REFUSED, "check client-id and client-secret in /tmp/mcast-oauth-");
    scene_release(&scene);
}

/* With the endpoint down, a token serves on unless the fabric manager took it no more. */
static void login__fails_with_a_token_that_was_refused(void **state)
{
    struct scene scene;
    scene_init(&scene, 60000);
    login_is(&scene, 0, "");
    issuer_say(&scene.issuer, 503, "{}");
    scene.guard.forbids = true;
    struct landing landing = apiclient_call(&scene.apiclient, FMCALL_RELEASE, "c-not");
    assert_string_equal(landing.words, "HTTP 403: not with this token");
    login_is(&scene, 0, ""); /* one job's no is not the token's end */
    call_is(&scene, FM_OK);

    scene.guard.oldest = 2;
    call_is(&scene, FM_UNAUTHORIZED);
    login_is(&scene, ERROR_IO, "/realms/fm/token: HTTP 503");
    issuer_grant(&scene.issuer, "3600");
    login_is(&scene, 0, "");
    call_is(&scene, FM_OK);
    scene_release(&scene);
}

static void login__names_the_endpoint_that_is_down(void **state)
{
    struct scene scene;
    char words[128];
    scene_init(&scene, 60000);
    (void)snprintf(words, sizeof words, "OAuth2 endpoint %s/realms/fm/token: cannot be reached: ",
                   scriptedserver_url(scene.issuer.scriptedserver));
    scriptedserver_refuse(scene.issuer.scriptedserver);
    login_is(&scene, ERROR_IO, words);

    struct landing landing = apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1");
    assert_int_equal(landing.outcome, FM_UNAUTHORIZED);
    assert_int_equal(strncmp(landing.words, words, strlen(words)), 0);
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 0);
    scene_release(&scene);
}

static void login__bounds_the_endpoints_answer(void **state)
{
    struct scene scene;
    char *huge = malloc(65536 + 2);
    assert_non_null(huge);
    memset(huge, ' ', 65537);
    huge[65537] = '\0';
    memcpy(huge, "{}", 2);
    scene_init(&scene, 60000);
    issuer_say(&scene.issuer, 200, huge);
    login_is(&scene, ERROR_IO, "the answer is longer than 65536 bytes");
    issuer_say(&scene.issuer, 200, "<html>login</html>");
    login_is(&scene, ERROR_IO, "HTTP 200: the answer is no JSON object");

    static const int faults[] = {SCRIPTEDSERVER_GARBAGE, SCRIPTEDSERVER_DROP, SCRIPTEDSERVER_RESET,
                                 SCRIPTEDSERVER_TRUNCATE};
    for (size_t i = 0; i < 4; i++) {
        scene.issuer.fault = faults[i];
        login_is(&scene, ERROR_IO, "/realms/fm/token: the connection broke: ");
    }
    issuer_grant(&scene.issuer, "3600");
    login_is(&scene, 0, "");
    scene_release(&scene);
    free(huge);
}

static void login__waits_no_longer_than_the_timeout(void **state)
{
    static const int faults[] = {SCRIPTEDSERVER_SILENT, SCRIPTEDSERVER_STALL};
    for (size_t i = 0; i < 2; i++) {
        struct scene scene;
        scene_init(&scene, 5000); /* the second login needs time on a busy machine */
        scene.issuer.fault = faults[i];
        login_is(&scene, ERROR_IO, "/realms/fm/token: no whole answer in time (5000 ms)");
        issuer_grant(&scene.issuer, "3600");
        login_is(&scene, 0, "");
        scene_release(&scene);
    }
}

/* The call's own time covers the login: one that joins late does not wait for all of it. */
static void call__waits_for_a_login_within_its_time(void **state)
{
    struct scene scene;
    struct landing landing = {0};
    scene_init(&scene, 5000); /* its request needs time on a busy machine */
    scene.issuer.fault = SCRIPTEDSERVER_SILENT;
    apiclient_start(&scene.apiclient, FMCALL_RESERVE, "c-1", &landing);
    apiclient_await(&scene.apiclient, &landing);
    assert_true(landing.outcome == FM_UNREACHED || landing.outcome == FM_UNAUTHORIZED);
    assert_non_null(strstr(landing.words, "/realms/fm/token"));
    assert_non_null(strstr(landing.words, "in time"));
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 0);
    scene_release(&scene);
}

static void login__refuses_files_that_others_can_touch(void **state)
{
    struct scene scene;
    scene_init(&scene, 60000);
    static const mode_t secret[] = {0640, 0604, 0620, 0666};
    for (size_t i = 0; i < 4; i++) {
        issuer_put(scene.issuer.secret, ISSUER_SECRET, secret[i]);
        login_is(&scene, ERROR_REFUSED, "/client-secret can be ");
    }
    issuer_put(scene.issuer.secret, ISSUER_SECRET, 0600);
    issuer_put(scene.issuer.endpoint, "https://fmn/token", 0664);
    login_is(&scene, ERROR_REFUSED, "/endpoint can be changed by others: chmod 0644 ");
    issuer_put(scene.issuer.endpoint, "https://fmn/token", 0644);
    issuer_put(scene.issuer.id, ISSUER_ID, 0646);
    login_is(&scene, ERROR_REFUSED, "/client-id can be changed by others: chmod 0644 ");
    assert_int_equal(unlink(scene.issuer.id), 0);
    login_is(&scene, ERROR_NOT_FOUND, "/client-id: No such file or directory");
    issuer_put(scene.issuer.endpoint, "ftp://fmn/token", 0644);
    login_is(&scene, ERROR_INVALID, "/endpoint: the URL is not an http or https URL");
    assert_int_equal(issuer_requests(&scene.issuer), 0);
    scene_release(&scene);
}

static bool asked(void *arg)
{
    return issuer_requests(arg) > 0;
}

static void destroy__ends_a_request_for_a_token(void **state)
{
    struct scene scene;
    struct landing login = {0}, call = {0};
    scene_init(&scene, 60000);
    scene.issuer.fault = SCRIPTEDSERVER_SILENT;
    apiclient_start_login(&scene.apiclient, &login);
    apiclient_start(&scene.apiclient, FMCALL_RESERVE, "c-1", &call);
    apiclient_await_that(&scene.apiclient, asked, &scene.issuer);
    scene_release(&scene);
    assert_int_equal(login.times, 0);
    assert_int_equal(call.times, 0);
}

UNIT_GROUP(apiclient_prepare, NULL, cmocka_unit_test(oauth__asks_by_client_credentials),
           cmocka_unit_test(oauth__counts), cmocka_unit_test(oauth__asks_once_for_many_calls),
           cmocka_unit_test(oauth__gives_up_when_the_new_token_is_refused_too),
           cmocka_unit_test(oauth__renews_once_for_what_is_forbidden),
           cmocka_unit_test(oauth__tries_again_after_a_403),
           cmocka_unit_test(oauth__renews_short_lives_early),
           cmocka_unit_test(oauth__goes_on_while_an_early_renewal_fails),
           cmocka_unit_test(oauth__sends_nothing_with_a_token_that_expired),
           cmocka_unit_test(oauth__takes_odd_lifetimes),
           cmocka_unit_test(login__keeps_a_token_that_serves),
           cmocka_unit_test(login__takes_a_changed_client),
           cmocka_unit_test(login__fails_with_a_token_that_was_refused),
           cmocka_unit_test(login__names_the_endpoint_that_is_down),
           cmocka_unit_test(login__bounds_the_endpoints_answer),
           cmocka_unit_test(login__waits_no_longer_than_the_timeout),
           cmocka_unit_test(call__waits_for_a_login_within_its_time),
           cmocka_unit_test(login__refuses_files_that_others_can_touch),
           cmocka_unit_test(destroy__ends_a_request_for_a_token))
