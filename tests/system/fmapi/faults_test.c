/* SPDX-License-Identifier: Apache-2.0 */

#include <signal.h>

#include "tests/system/fmapi/apiclient.h"
#include "tests/system/fmapi/scriptedserver.h"
#include "tests/unit/unit.h"

/* What is done to the first requests, in this order; the last one repeats. */
struct plan {
    struct {
        enum scriptedserver_fault fault;
        int status;
        const char *body, *header;
        bool close;
    } steps[4];
    size_t count;
};

static void follow(void *arg, const struct scriptedserver_request *request,
                   struct scriptedserver_answer *answer)
{
    const struct plan *plan = arg;
    size_t step = request->number <= plan->count ? request->number - 1 : plan->count - 1;
    answer->fault = plan->steps[step].fault;
    answer->status = plan->steps[step].status;
    answer->header = plan->steps[step].header;
    answer->close = plan->steps[step].close;
    if (plan->steps[step].body)
        answer->body = scriptedserver_text("%s", plan->steps[step].body);
}

#define TOKEN "{\"sessionToken\":\"tok-1\"}"

struct scene {
    struct scriptedserver *scriptedserver;
    struct apiclient apiclient;
};

static void scene_init(struct scene *scene, struct plan *plan, int64_t timeout_ms)
{
    scene->scriptedserver =
        scriptedserver_create(&(struct scriptedserver_options){.script = follow, .arg = plan});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scene->scriptedserver));
    options.timeout_ms = timeout_ms;
    apiclient_init(&scene->apiclient, &options);
}

static void scene_release(struct scene *scene)
{
    apiclient_release(&scene->apiclient);
    scriptedserver_destroy(scene->scriptedserver);
}

/* One call, on a fresh connection, whose answer is spoilt. */
static void spoilt(struct plan plan, int64_t timeout_ms, enum fmcall_outcome outcome,
                   const char *words)
{
    struct scene scene;
    plan.count = 1;
    scene_init(&scene, &plan, timeout_ms);
    struct landing landing = apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1");
    if (landing.outcome != outcome || !strstr(landing.words, words))
        fail_msg("%s: %s", fmcall_outcome_word(landing.outcome), landing.words);
    assert_false(landing.has_token);
    assert_null(strstr(landing.words, "tok-1"));
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 1);
    scene_release(&scene);
}

static void call__carries_refusals_with_their_words(void **state)
{
    spoilt(
        (struct plan){
            .steps = {{.status = 507,
                       .body = "{\"message\":\"02: no addresses left\",\"statusCode\":507}"}}},
        60000, FM_DENIED, "HTTP 507: 02: no addresses left");
    spoilt((struct plan){.steps = {{.status = 409, .body = "{\"detail\":\"exists\"}"}}}, 60000,
           FM_EXISTS, "HTTP 409: exists");
    spoilt((struct plan){.steps = {{.status = 503}}}, 60000, FM_BUSY, "HTTP 503");
    spoilt((struct plan){.steps = {{.status = 200, .body = "{}"}}}, 60000, FM_BUSY,
           "no sessionToken");
}

static void call__notices_broken_connections(void **state)
{
    spoilt((struct plan){.steps = {{.fault = SCRIPTEDSERVER_DROP}}}, 60000, FM_BROKEN,
           "the connection broke: ");
    spoilt((struct plan){.steps = {{.fault = SCRIPTEDSERVER_RESET}}}, 60000, FM_BROKEN,
           "the connection broke: ");
    spoilt(
        (struct plan){.steps = {{.fault = SCRIPTEDSERVER_TRUNCATE, .status = 201, .body = TOKEN}}},
        60000, FM_BROKEN, "the connection broke: ");
    spoilt((struct plan){.steps = {{.fault = SCRIPTEDSERVER_GARBAGE}}}, 60000, FM_BROKEN,
           "the connection broke: ");
}

static void call__gives_up_in_time(void **state)
{
    spoilt((struct plan){.steps = {{.fault = SCRIPTEDSERVER_SILENT}}}, 500, FM_TIMEOUT,
           "no whole answer in time (500 ms)");
    spoilt((struct plan){.steps = {{.fault = SCRIPTEDSERVER_STALL, .status = 201, .body = TOKEN}}},
           500, FM_TIMEOUT, "no whole answer in time (500 ms)");
}

/* The login must go nowhere else. */
static void call__follows_no_redirect(void **state)
{
    spoilt((struct plan){.steps = {{.status = 307, .header = "Location: /elsewhere"}}}, 60000,
           FM_BUSY, "HTTP 307");
}

static void call__bounds_bodies(void **state)
{
    size_t size = (1 << 20) + 1;
    char *body = malloc(size + 1);
    assert_non_null(body);
    memset(body, ' ', size);
    memcpy(body, TOKEN, strlen(TOKEN));
    body[size] = '\0';
    spoilt((struct plan){.steps = {{.status = 200, .body = body}}}, 60000, FM_BUSY,
           "the answer is longer than 1048576 bytes");

    body[size - 1] = '\0'; /* 1 MiB is good */
    struct plan plan = {.steps = {{.status = 200, .body = body}}, 1};
    struct scene scene;
    scene_init(&scene, &plan, 60000);
    struct landing landing = apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1");
    assert_int_equal(landing.outcome, FM_OK);
    assert_string_equal(landing.token, "tok-1");
    scene_release(&scene);
    free(body);
}

static void call__uses_a_new_connection_after_a_fault(void **state)
{
    struct plan plan = {{{.fault = SCRIPTEDSERVER_TRUNCATE, .status = 201, .body = TOKEN},
                         {.status = 201, .body = TOKEN}},
                        2};
    struct scene scene;
    scene_init(&scene, &plan, 60000);
    assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1").outcome, FM_BROKEN);
    assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1").outcome, FM_OK);
    assert_int_equal(scriptedserver_connections(scene.scriptedserver), 2);
    scene_release(&scene);
}

/* F21: libcurl would send again by itself what a kept connection had no answer to; the first copy
 * may have been acted on, so only the core may ask again. */
static void call__is_not_sent_twice_on_a_kept_connection(void **state)
{
    static const enum fmcall_kind kinds[] = {FMCALL_RESERVE, FMCALL_RELEASE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct plan plan = {.steps = {{.status = 201, .body = TOKEN},
                                      {.fault = SCRIPTEDSERVER_DROP},
                                      {.status = 507, .body = "{\"message\":\"full\"}"}},
                            3};
        struct scene scene;
        scene_init(&scene, &plan, 60000);
        assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1").outcome, FM_OK);
        struct landing landing = apiclient_call(&scene.apiclient, kinds[i], "c-2");
        assert_int_equal(landing.outcome, FM_BROKEN);
        assert_non_null(strstr(landing.words, "ended without an answer"));
        assert_int_equal(scriptedserver_requests(scene.scriptedserver), 2);
        scene_release(&scene);
    }
}

static void check__may_be_sent_twice(void **state)
{
    struct plan plan = {.steps = {{.status = 201, .body = TOKEN},
                                  {.fault = SCRIPTEDSERVER_DROP},
                                  {.status = 200, .body = TOKEN}},
                        3};
    struct scene scene;
    scene_init(&scene, &plan, 60000);
    assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1").outcome, FM_OK);
    assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_CHECK, "c-1").outcome, FM_OK);
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 3);
    scene_release(&scene);
}

/* F21: when the first copy left and the second finds nobody, the request may still be acted on. */
static void call__is_not_unreached_once_a_copy_has_left(void **state)
{
    struct plan plan = {.steps = {{.status = 201, .body = TOKEN}, {.fault = SCRIPTEDSERVER_DROP}},
                        2};
    struct scene scene;
    scene_init(&scene, &plan, 60000);
    assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1").outcome, FM_OK);
    scriptedserver_refuse(scene.scriptedserver);
    struct landing landing = apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-2");
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 2);
    assert_int_equal(landing.outcome, FM_BROKEN);
    scene_release(&scene);
}

/* A kept connection that was closed while idle is not written to: surely not acted. */
static void call__notices_a_connection_closed_while_idle(void **state)
{
    struct plan plan = {.steps = {{.status = 201, .body = TOKEN, .close = true}}, 1};
    struct scene scene;
    scene_init(&scene, &plan, 60000);
    for (unsigned i = 1; i <= 10; i++) {
        assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1").outcome, FM_OK);
        scriptedserver_await_closed(scene.scriptedserver);
        assert_int_equal(scriptedserver_requests(scene.scriptedserver), i);
    }
    scriptedserver_refuse(scene.scriptedserver);
    struct landing landing = apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1");
    assert_int_equal(landing.outcome, FM_UNREACHED);
    assert_int_equal(scriptedserver_requests(scene.scriptedserver), 10);
    scene_release(&scene);
}

static void call__knows_that_nobody_was_reached(void **state)
{
    struct plan plan = {.steps = {{.status = 200}}, 1};
    struct scene scene;
    scene_init(&scene, &plan, 60000);
    scriptedserver_refuse(scene.scriptedserver);
    struct landing landing = apiclient_call(&scene.apiclient, FMCALL_RELEASE, "c-1");
    assert_int_equal(landing.outcome, FM_UNREACHED);
    assert_int_equal(landing.status, 0);
    assert_non_null(strstr(landing.words, scriptedserver_url(scene.scriptedserver)));
    assert_non_null(strstr(landing.words, ": cannot be reached: "));
    scene_release(&scene);

    /* A name that does not exist, or whose resolver does not answer in time: the same. */
    struct fmapi_options options = apiclient_options("http://fabric-manager.invalid:8000");
    options.timeout_ms = 200;
    struct apiclient apiclient;
    apiclient_init(&apiclient, &options);
    assert_int_equal(apiclient_call(&apiclient, FMCALL_RESERVE, "c-1").outcome, FM_UNREACHED);
    apiclient_release(&apiclient);
}

static void nothing_more(void *arg, const struct fmapi_reply *reply)
{
    ++*(unsigned *)arg;
}

static void no_page(void *arg, const char *const *names, size_t count)
{
    ++*(unsigned *)arg;
}

/* ---- turns of the loop ---- */

struct turns {
    uv_check_t check;
    unsigned over, answers, in_this, most; /* turns, answers: of all, of this turn, of one */
};

static void on_turn_over(uv_check_t *check)
{
    struct turns *turns = check->data;
    turns->over++;
    turns->in_this = 0;
}

static void count_turns(struct turns *turns, struct apiclient *apiclient)
{
    assert_int_equal(uv_check_init(&apiclient->loop, &turns->check), 0);
    turns->check.data = turns;
    assert_int_equal(uv_check_start(&turns->check, on_turn_over), 0);
}

/* An answer that comes as fast as it is read leaves turns to others (G11). */
static void call__reads_a_part_in_a_turn(void **state)
{
    enum { A_TURN_AT_MOST = 1500000 }; /* three times a hundred reads, and some */
    struct plan plan = {.steps = {{.fault = SCRIPTEDSERVER_PADDED, .status = 201, .body = TOKEN}},
                        1};
    struct scene scene;
    struct turns turns = {0};
    scene_init(&scene, &plan, 60000);
    count_turns(&turns, &scene.apiclient);
    assert_int_equal(apiclient_call(&scene.apiclient, FMCALL_RESERVE, "c-1").outcome, FM_OK);
    assert_in_range(turns.over, strlen(TOKEN) * SCRIPTEDSERVER_PADDING / A_TURN_AT_MOST,
                    UINT32_MAX);
    uv_close((uv_handle_t *)&turns.check, NULL);
    scene_release(&scene);
}

enum { CALLS = 12 };

static void take_at_once(void *arg, const struct fmapi_reply *reply)
{
    struct turns *turns = arg;
    assert_int_equal(reply->outcome, FM_OK);
    turns->answers++;
    if (++turns->in_this > turns->most)
        turns->most = turns->in_this;
}

/* Longer than all other answers are on their way. */
static void take_long(void *arg, const struct fmapi_reply *reply)
{
    const uint64_t end = uv_hrtime() + 20000000;
    take_at_once(arg, reply);
    while (uv_hrtime() < end)
        ;
}

static bool all_are_answered(void *arg)
{
    return ((const struct turns *)arg)->answers == CALLS;
}

static void call_all(struct apiclient *apiclient, fmapi_call_fn *take, struct turns *turns)
{
    turns->answers = turns->most = 0;
    for (int i = 0; i < CALLS; i++)
        fmapi_call(apiclient->api, FMCALL_RESERVE,
                   &(struct fmcall_about){.name = "c-1", .addresses = 4}, take, turns);
    apiclient_await_that(apiclient, all_are_answered, turns);
}

/* What a turn has no time for comes in the next ones, and nothing is forgotten. Over connections
 * that stand: of one that is new libcurl looks at once more by itself, after 200 ms. */
static void answers__wait_for_turns_with_time(void **state)
{
    struct plan plan = {.steps = {{.status = 201, .body = TOKEN}}, 1};
    struct scriptedserver *scriptedserver = scriptedserver_create(
        &(struct scriptedserver_options){.script = follow, .arg = &plan, .gathering = CALLS});
    struct fmapi_options options = apiclient_options(scriptedserver_url(scriptedserver));
    struct apiclient apiclient;
    struct turns turns = {0};
    options.parallel = CALLS;
    apiclient_init(&apiclient, &options);
    count_turns(&turns, &apiclient);
    call_all(&apiclient, take_at_once, &turns);
    scriptedserver_gather(scriptedserver, CALLS);
    call_all(&apiclient, take_long, &turns);
    assert_int_equal(scriptedserver_connections(scriptedserver), CALLS);
    assert_in_range(turns.most, 1, 2); /* one of a socket, and one of libcurl's timer */
    uv_close((uv_handle_t *)&turns.check, NULL);
    apiclient_release(&apiclient);
    scriptedserver_destroy(scriptedserver);
}

static void destroy__ends_what_is_under_way(void **state)
{
    struct plan plan = {.steps = {{.fault = SCRIPTEDSERVER_SILENT}}, 1};
    struct scene scene;
    unsigned calls = 0;
    scene_init(&scene, &plan, 60000);
    for (size_t i = 0; i < 10; i++) /* four wait for an answer, six for a connection */
        fmapi_call(scene.apiclient.api, FMCALL_RESERVE,
                   &(struct fmcall_about){.name = "c-1", .addresses = 4}, nothing_more, &calls);
    fmapi_list(scene.apiclient.api, no_page, nothing_more, &calls);
    struct landing login = {0};
    apiclient_start_login(&scene.apiclient, &login);
    apiclient_await(&scene.apiclient, &login);
    while (scriptedserver_requests(scene.scriptedserver) < 4)
        (void)uv_run(&scene.apiclient.loop, UV_RUN_NOWAIT);
    scene_release(&scene);
    assert_int_equal(calls, 0);
}

static void destroy__comes_before_anything_was_sent(void **state)
{
    struct plan plan = {.steps = {{.status = 200}}, 1};
    struct scene scene;
    unsigned calls = 0;
    struct landing login = {0};
    scene_init(&scene, &plan, 60000);
    fmapi_call(scene.apiclient.api, FMCALL_CHECK,
               &(struct fmcall_about){.name = "c-1", .addresses = 0}, nothing_more, &calls);
    fmapi_list(scene.apiclient.api, no_page, nothing_more, &calls);
    apiclient_start_login(&scene.apiclient, &login);
    apiclient_destroy_api(&scene.apiclient);
    scene_release(&scene);
    assert_int_equal(calls, 0);
    assert_int_equal(login.times, 0);
}

struct last_wish {
    struct apiclient *apiclient;
    unsigned times;
};

static void destroy_now(void *arg, const struct fmapi_reply *reply)
{
    struct last_wish *wish = arg;
    assert_int_equal(reply->outcome, FM_OK);
    wish->times++;
    apiclient_destroy_api(wish->apiclient);
    assert_string_equal(secret_expose(reply->token), "tok-1"); /* still valid */
}

static void destroy__is_allowed_in_an_answer(void **state)
{
    struct plan plan = {.steps = {{.status = 200, .body = TOKEN}}, 1};
    struct scene scene;
    scene_init(&scene, &plan, 60000);
    struct last_wish wish = {.apiclient = &scene.apiclient};
    fmapi_call(scene.apiclient.api, FMCALL_RESERVE,
               &(struct fmcall_about){.name = "c-1", .addresses = 4}, destroy_now, &wish);
    while (wish.times == 0)
        (void)uv_run(&scene.apiclient.loop, UV_RUN_ONCE);
    assert_null(scene.apiclient.api);
    scene_release(&scene);
    assert_int_equal(wish.times, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call__carries_refusals_with_their_words),
        cmocka_unit_test(call__notices_broken_connections),
        cmocka_unit_test(call__gives_up_in_time),
        cmocka_unit_test(call__follows_no_redirect),
        cmocka_unit_test(call__bounds_bodies),
        cmocka_unit_test(call__uses_a_new_connection_after_a_fault),
        cmocka_unit_test(call__is_not_sent_twice_on_a_kept_connection),
        cmocka_unit_test(check__may_be_sent_twice),
        cmocka_unit_test(call__is_not_unreached_once_a_copy_has_left),
        cmocka_unit_test(call__notices_a_connection_closed_while_idle),
        cmocka_unit_test(call__knows_that_nobody_was_reached),
        cmocka_unit_test(call__reads_a_part_in_a_turn),
        cmocka_unit_test(answers__wait_for_turns_with_time),
        cmocka_unit_test(destroy__ends_what_is_under_way),
        cmocka_unit_test(destroy__comes_before_anything_was_sent),
        cmocka_unit_test(destroy__is_allowed_in_an_answer),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    /* The environment's proxies must not see the fabric manager's login: all tests here would fail.
     */
    (void)setenv("http_proxy", "http://127.0.0.1:1", 1);
    (void)setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    (void)unsetenv("no_proxy");
    (void)unsetenv("NO_PROXY");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
