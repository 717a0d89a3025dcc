/* SPDX-License-Identifier: Apache-2.0 */

#include <unistd.h>

#include "tests/system/fmapi/authority.h"
#include "tests/system/fmapi/issuer.h"
#include "tests/system/fmapi/apiclient.h"
#include "tests/system/fmapi/scriptedserver.h"
#include "tests/system/mockfm/mockfm.h"
#include "tests/system/mockfm/httpclient.h"
#include "tests/unit/unit.h"

/* What cleans up after the steps of a job (F19, I6), at a fabric manager of each kind: the real
 * mock-fm, and for refusals that it does not know a puppet. */

#define SESSION "s3ssion-t0ken"

struct scene {
    struct mockfm_fm *fm;
    struct authority authority;
    char one[64], two[64]; /* the tokens of c-1 and c-2 */
    char url[64];
    struct apiclient apiclient;
    json_int_t asked; /* requests before ours */
};

static void make_tree(struct httpclient *httpclient, const char *step, unsigned nic)
{
    char body[256];
    assert_int_equal(httpclient_call(httpclient, "POST", DOUBLE_TREES,
                                     mockfm_tree(body, "c-1", step, nic), NULL),
                     201);
}

static void reserve(const struct mockfm_fm *fm, const char *job, char token[64])
{
    char bearer[128];
    mockfm_reserve(fm, job, 4, bearer);
    assert_int_equal(sscanf(bearer, "Authorization: Bearer %63s", token), 1);
}

/* Two jobs, and of the first one two trees of step /fA and one of /fB. */
static void scene_init(struct scene *scene, struct mockfm_fm *fm, const char *kind, bool tls)
{
    struct httpclient httpclient;
    *scene = (struct scene){.fm = fm};
    authority_init(&scene->authority, "IP:127.0.0.1");
    const char *const options[] = {
        "--session-tokens",   kind, tls ? "--tls-cert" : NULL, scene->authority.cert, "--tls-key",
        scene->authority.key, NULL,
    };
    mockfm_start(fm, options);
    reserve(fm, "c-1", scene->one);
    reserve(fm, "c-2", scene->two);
    httpclient_create(&httpclient, tls ? "https" : "http", fm->port);
    httpclient.bearer = scene->one;
    make_tree(&httpclient, "/fA", 0);
    make_tree(&httpclient, "/fA", 4);
    make_tree(&httpclient, "/fB", 8);
    httpclient_destroy(&httpclient);
    (void)snprintf(scene->url, sizeof scene->url, "http%s://127.0.0.1:%u", tls ? "s" : "",
                   fm->port);
    struct fmapi_options apiclient = apiclient_options(scene->url);
    apiclient.auth = FMAPI_AUTH_BASIC;
    apiclient.authdir = fm->folder;
    apiclient.ca = tls ? scene->authority.cert : NULL;
    apiclient_init(&scene->apiclient, &apiclient);
    scene->asked = mockfm_log_total(fm, "requests");
}

static void scene_release(struct scene *scene)
{
    apiclient_release(&scene->apiclient);
    mockfm_stop(scene->fm);
    authority_release(&scene->authority);
}

static struct landing step_is(struct scene *scene, enum fmcall_kind kind, const char *token,
                              uint16_t tree, enum fmcall_outcome outcome)
{
    struct landing landing =
        apiclient_step(&scene->apiclient, kind,
                       &(struct fmcall_about){
                           .name = "c-1", .step = "/fA", .tree = tree, .token = secret_of(token)});
    if (landing.outcome != outcome)
        fail_msg("%s: %s: %s", fmcall_kind_word(kind), fmcall_outcome_word(landing.outcome),
                 landing.words);
    return landing;
}

static void trees_are(struct scene *scene, const char *token, const char *steps)
{
    assert_string_equal(step_is(scene, FMCALL_STEPS, token, 0, FM_OK).steps, steps);
}

/* Of what we asked, so many showed a session token. */
static void sessions_are(const struct scene *scene, unsigned sessions, unsigned logins)
{
    struct httpclient httpclient;
    struct httpclient_reply reply;
    char path[64];
    unsigned counted = 0;
    httpclient_create(&httpclient, scene->fm->tls ? "https" : "http", scene->fm->port);
    (void)snprintf(path, sizeof path, "/mock/log?since=%d", (int)scene->asked);
    assert_int_equal(httpclient_call(&httpclient, "GET", path, NULL, &reply), 200);
    const json_t *entries = json_object_get(reply.json, "entries");
    for (size_t i = 0; i < json_array_size(entries); i++)
        counted += json_is_true(json_object_get(json_array_get(entries, i), "session"));
    assert_int_equal(counted, sessions);
    assert_int_equal(json_array_size(entries), sessions + logins);
    httpclient_reply_release(&reply);
    httpclient_destroy(&httpclient);
}

static void end_with_the_token(struct mockfm_fm *fm, bool tls)
{
    struct scene scene;
    scene_init(&scene, fm, "own-job", tls);
    trees_are(&scene, scene.one, "/fA=0,1 /fB=2");
    (void)step_is(&scene, FMCALL_END_STEP, scene.one, 0, FM_OK);
    (void)step_is(&scene, FMCALL_END_STEP, scene.one, 0, FM_OK); /* again: it is gone already */
    trees_are(&scene, scene.one, "/fB=2");
    (void)step_is(&scene, FMCALL_END_TREE, scene.one, 2, FM_OK);
    (void)step_is(&scene, FMCALL_END_TREE, scene.one, 2, FM_GONE);
    trees_are(&scene, scene.one, "");

    sessions_are(&scene, 7, 0);
    struct fmapi_counters counters = apiclient_counters(&scene.apiclient);
    assert_int_equal(counters.connections, 1);                /* G8 */
    assert_int_equal(counters.logins + counters.renewals, 0); /* not even one's own */
    scene_release(&scene);
}

static void steps__end_with_the_jobs_token(void **state)
{
    end_with_the_token(*state, false);
}

static void steps__end_with_the_jobs_token_over_tls(void **state)
{
    end_with_the_token(*state, true);
}

/* The way round that is left where the token does not open the job itself. */
static void trees__end_one_by_one_where_the_job_is_closed(void **state)
{
    struct scene scene;
    scene_init(&scene, *state, "trees-only", false);
    (void)step_is(&scene, FMCALL_STEPS, scene.one, 0, FM_REFUSED);
    (void)step_is(&scene, FMCALL_END_STEP, scene.one, 0, FM_REFUSED);
    trees_are(&scene, NULL, "/fA=0,1 /fB=2");
    (void)step_is(&scene, FMCALL_END_TREE, scene.one, 0, FM_OK);
    (void)step_is(&scene, FMCALL_END_TREE, scene.one, 1, FM_OK);
    trees_are(&scene, NULL, "/fB=2");
    sessions_are(&scene, 4, 2);
    scene_release(&scene);
}

static void trees__end_one_by_one_where_the_job_can_only_be_read(void **state)
{
    struct scene scene;
    scene_init(&scene, *state, "get", false);
    (void)step_is(&scene, FMCALL_END_STEP, scene.one, 0, FM_REFUSED);
    trees_are(&scene, scene.one, "/fA=0,1 /fB=2");
    (void)step_is(&scene, FMCALL_END_TREE, scene.one, 0, FM_OK);
    (void)step_is(&scene, FMCALL_END_TREE, scene.one, 1, FM_OK);
    trees_are(&scene, scene.one, "/fB=2");
    sessions_are(&scene, 5, 0);
    scene_release(&scene);
}

/* I6 */
static void steps__of_another_job_are_out_of_reach(void **state)
{
    struct scene scene;
    scene_init(&scene, *state, "own-job", false);
    (void)step_is(&scene, FMCALL_STEPS, scene.two, 0, FM_REFUSED);
    (void)step_is(&scene, FMCALL_END_STEP, scene.two, 0, FM_REFUSED);
    (void)step_is(&scene, FMCALL_END_TREE, scene.two, 0, FM_REFUSED);
    (void)step_is(&scene, FMCALL_END_STEP, "sess-unknown", 0, FM_REFUSED);
    trees_are(&scene, scene.one, "/fA=0,1 /fB=2");
    sessions_are(&scene, 5, 0);
    scene_release(&scene);
}

/* Where a site has switched that on. A tree by itself wants its job's token, and says so with a
 * 401, which must not pass for a bad login. */
static void steps__end_under_the_login_too(void **state)
{
    struct scene scene;
    scene_init(&scene, *state, "trees-only", false);
    (void)step_is(&scene, FMCALL_END_TREE, NULL, 0, FM_DENIED);
    (void)step_is(&scene, FMCALL_END_STEP, NULL, 0, FM_OK);
    trees_are(&scene, NULL, "/fB=2");
    assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_RELEASE, "c-1").outcome, FM_OK);
    (void)step_is(&scene, FMCALL_END_STEP, NULL, 0, FM_GONE);
    (void)step_is(&scene, FMCALL_STEPS, NULL, 0, FM_GONE);
    (void)step_is(&scene, FMCALL_END_STEP, scene.one, 0, FM_REFUSED);
    scene_release(&scene);
}

struct gate {
    int status;
    const char *body;
    enum scriptedserver_fault fault;
    unsigned tokens, logins; /* requests that showed the one or the other */
    unsigned access_token;   /* the last one's number */
};

/* As it says to who shows the job's token, and good to everybody else. */
static void mind_the_gate(void *arg, const struct scriptedserver_request *request,
                          struct scriptedserver_answer *answer)
{
    struct gate *gate = arg;
    if (strstr(request->head, "\r\nAuthorization: Bearer " SESSION "\r\n")) {
        gate->tokens++;
        answer->status = gate->status;
        answer->fault = gate->fault;
        answer->body = scriptedserver_text("%s", gate->body);
        answer->header = "WWW-Authenticate: Bearer realm=\"fm\", error=\"invalid_token\"";
    } else {
        gate->logins++;
        gate->access_token = issuer_number(request->head);
        answer->body = scriptedserver_text("{\"sessionToken\":\"tok-1\",\"jobSteps\":{}}");
    }
}

struct testbed {
    struct gate gate;
    struct scriptedserver *scriptedserver;
    struct issuer issuer;
    struct apiclient apiclient;
};

static void testbed_init(struct testbed *testbed, int64_t timeout_ms)
{
    *testbed = (struct testbed){.gate = {.status = 200, .body = "{}"}};
    testbed->scriptedserver = scriptedserver_create(
        &(struct scriptedserver_options){.script = mind_the_gate, .arg = &testbed->gate});
    issuer_init(&testbed->issuer, &(struct scriptedserver_options){0});
    struct fmapi_options options = apiclient_options(scriptedserver_url(testbed->scriptedserver));
    options.auth = FMAPI_AUTH_OAUTH;
    options.authdir = testbed->issuer.folder;
    options.timeout_ms = timeout_ms;
    apiclient_init(&testbed->apiclient, &options);
}

static void testbed_release(struct testbed *testbed)
{
    apiclient_release(&testbed->apiclient);
    scriptedserver_destroy(testbed->scriptedserver);
    issuer_release(&testbed->issuer);
}

static enum fmcall_outcome ask(struct testbed *testbed, enum fmcall_kind kind)
{
    return apiclient_step(&testbed->apiclient, kind,
                          &(struct fmcall_about){
                              .name = "c-1", .step = "0", .tree = 7, .token = secret_of(SESSION)})
        .outcome;
}

/* However often a job's token is refused, the login stays what it is, and nobody shows it instead.
 */
static void refusal__never_touches_the_login(void **state)
{
    static const int statuses[] = {401, 403};
    struct testbed testbed;
    testbed_init(&testbed, 60000);
    assert_int_equal(apiclient_login(&testbed.apiclient).code, 0);
    testbed.gate.body = "{\"message\":\"" SESSION " is not known\"}";
    for (int i = 0; i < 2; i++) {
        testbed.gate.status = statuses[i];
        for (int kind = FMCALL_STEPS; kind <= FMCALL_END_TREE; kind++)
            assert_int_equal(ask(&testbed, (enum fmcall_kind)kind), FM_REFUSED);
    }
    assert_int_equal(testbed.gate.tokens, 6); /* and not one of them twice */
    assert_int_equal(testbed.gate.logins, 0);
    assert_int_equal(issuer_requests(&testbed.issuer), 1);
    assert_int_equal(apiclient_call(&testbed.apiclient, FMCALL_CHECK, "c-1").outcome, FM_OK);
    assert_int_equal(testbed.gate.access_token, 1);
    struct fmapi_counters counters = apiclient_counters(&testbed.apiclient);
    assert_int_equal(counters.logins, 1);
    assert_int_equal(counters.renewals, 0);
    assert_int_equal(counters.login_failures, 0);
    testbed_release(&testbed);
}

/* The job's token needs none, so it does not wait for one either. */
static void token__is_enough_without_a_login(void **state)
{
    struct testbed testbed;
    testbed_init(&testbed, 60000);
    issuer_say(&testbed.issuer, 503, "{}");
    for (int kind = FMCALL_STEPS; kind <= FMCALL_END_TREE; kind++)
        assert_int_equal(ask(&testbed, (enum fmcall_kind)kind), FM_OK);
    assert_int_equal(testbed.gate.tokens, 3);
    assert_int_equal(issuer_requests(&testbed.issuer), 0);
    testbed_release(&testbed);
}

static void answers__mean_what_they_mean_to_other_calls(void **state)
{
    static const struct {
        int status;
        const char *body;
        enum scriptedserver_fault fault;
        enum fmcall_outcome outcome;
    } rows[] = {
        {200, "{\"jobSteps\":{}}", SCRIPTEDSERVER_NONE, FM_OK},
        {404, "{\"statusCode\":404,\"documentKind\":\"common:ErrorResponse\"}", SCRIPTEDSERVER_NONE,
         FM_GONE},
        {404, "{}", SCRIPTEDSERVER_NONE, FM_NOT_ROUTED},
        {404, "<html>", SCRIPTEDSERVER_NONE, FM_NOT_ROUTED},
        {400, "{}", SCRIPTEDSERVER_NONE, FM_DENIED},
        {429, "{}", SCRIPTEDSERVER_NONE, FM_BUSY},
        {503, "", SCRIPTEDSERVER_NONE, FM_BUSY},
        {200, "{}", SCRIPTEDSERVER_DROP, FM_BROKEN},
        {200, "{}", SCRIPTEDSERVER_TRUNCATE, FM_BROKEN},
        {200, "{}", SCRIPTEDSERVER_GARBAGE, FM_BROKEN},
    };
    struct testbed testbed;
    testbed_init(&testbed, 60000);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        testbed.gate.status = rows[i].status;
        testbed.gate.body = rows[i].body;
        testbed.gate.fault = rows[i].fault;
        for (int kind = FMCALL_STEPS; kind <= FMCALL_END_TREE; kind++)
            assert_int_equal(ask(&testbed, (enum fmcall_kind)kind), rows[i].outcome);
    }
    scriptedserver_refuse(testbed.scriptedserver);
    assert_int_equal(ask(&testbed, FMCALL_END_STEP), FM_UNREACHED);
    assert_int_equal(testbed.gate.logins, 0);
    testbed_release(&testbed);
}

static void silence__ends_in_time(void **state)
{
    struct testbed testbed;
    testbed_init(&testbed, 300);
    testbed.gate.fault = SCRIPTEDSERVER_SILENT;
    assert_int_equal(ask(&testbed, FMCALL_END_STEP), FM_TIMEOUT);
    testbed_release(&testbed);
}

/* Destroyed while it is under way: done is not called, nothing is left. */
static void step__under_way_is_let_go(void **state)
{
    struct landing landing = {0};
    struct testbed testbed;
    testbed_init(&testbed, 60000);
    testbed.gate.fault = SCRIPTEDSERVER_SILENT;
    char *token = strdup(SESSION);
    assert_non_null(token);
    fmapi_call(testbed.apiclient.api, FMCALL_STEPS,
               &(struct fmcall_about){.name = "c-1", .token = secret_of(token)}, apiclient_land,
               &landing);
    free(token); /* it was copied */
    assert_int_equal(apiclient_counters(&testbed.apiclient).in_flight, 1);
    testbed_release(&testbed);
    assert_int_equal(landing.times, 0);
}

UNIT_GROUP(apiclient_prepare, NULL, STOPPED(steps__end_with_the_jobs_token),
           STOPPED(steps__end_with_the_jobs_token_over_tls),
           STOPPED(trees__end_one_by_one_where_the_job_is_closed),
           STOPPED(trees__end_one_by_one_where_the_job_can_only_be_read),
           STOPPED(steps__of_another_job_are_out_of_reach), STOPPED(steps__end_under_the_login_too),
           cmocka_unit_test(refusal__never_touches_the_login),
           cmocka_unit_test(token__is_enough_without_a_login),
           cmocka_unit_test(answers__mean_what_they_mean_to_other_calls),
           cmocka_unit_test(silence__ends_in_time), cmocka_unit_test(step__under_way_is_let_go))
