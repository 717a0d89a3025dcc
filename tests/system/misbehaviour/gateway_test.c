/* SPDX-License-Identifier: Apache-2.0 */
/* A gateway in front of the fabric manager has lost its
 * routes and answers 404 in its own words for a while. No job is told that it lost
 * anything, nothing of an active job is deleted, and what ended meanwhile is released afterwards
 * (F3, F20, F22, I3, I4). */

#include "tests/system/misbehaviour/scene.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

static const char *const bodies[] = {"\"\"", "{\"message\":\"no Route matched with those values\"}",
                                     "\"<html><head><title>404 Not Found</title></head></html>\"",
                                     "{}"};
enum { GATEWAYS = sizeof bodies / sizeof bodies[0] };

static const struct testbed_options busy = {
    .mcastd = MCASTD,
    .mock_fm = MOCK_FM,
    .broker = "log_level = debug",
    .fm = "timeout = 3s\nreserve_timeout = 5s\nlink_retry = 50ms\nstray_grace = 100ms\n"
          "relist = 300ms",
    .hwcoll = "min_nodes = 64\ntotal_addresses = 4086\nsystem_nodes = 11136",
};

static int start(void **state)
{
    return scene_start(&busy);
}

struct met {
    size_t gateway;
    json_int_t times;
};

static bool was_met(void *arg)
{
    const struct met *met = arg;
    struct plainhttp_reply reply;
    plainhttp_call(testbed_fm_http(scene_stage()), "GET", "/mock/faults", NULL, &reply);
    const json_t *rule = json_array_get(json_object_get(reply.json, "faults"), met->gateway);
    const json_int_t fired = json_integer_value(json_object_get(rule, "fired"));
    plainhttp_reply_release(&reply);
    return fired >= met->times;
}

static void await_met(size_t gateway, json_int_t times)
{
    if (!await(was_met, &(struct met){gateway, times}, AWAIT_DEADLINE_MS))
        fail_msg("gateway %zu is not met %d times", gateway, (int)times);
}

static void reserve(const char *job)
{
    char told[512], reason[512];
    scene_reserve(job, told, reason);
    assert_string_equal(told, "reserved");
}

static void assert_kept(const char *job)
{
    char told[512];
    scene_job_state(job, told);
    assert_string_equal(told, "reserved");
}

/* They take turns: the first rule leaves three requests in four to the others, and so on. */
static void put_gateways_before(const char *path)
{
    for (size_t i = 0; i < GATEWAYS; i++) {
        char rule[512];
        (void)snprintf(rule, sizeof rule,
                       "{\"path\":\"%s\",\"every\":%zu,\"status\":404,"
                       "\"body\":%s}",
                       path, GATEWAYS - i, bodies[i]);
        scene_tell_fm("POST", "/mock/faults", rule);
    }
}

/* Two jobs run on, one ends with each gateway. */
static void live_through(const char *path)
{
    static const char *const ending[GATEWAYS] = {"e0", "e1", "e2", "e3"};

    reserve("a");
    reserve("b");
    for (size_t i = 0; i < GATEWAYS; i++)
        reserve(ending[i]);
    put_gateways_before(path);
    for (size_t i = 0; i < GATEWAYS; i++) {
        await_met(i, 1);
        scene_release(ending[i]);
        await_met(i, 2);
        assert_kept("a");
    }
    scene_tell_fm("DELETE", "/mock/faults", NULL);
    scene_await_held("elcap-a elcap-b");
    assert_kept("a");
    assert_kept("b");
    assert_int_equal(scene_count_events("lost"), 0);
    scene_await_link("up");
    scene_await_logged("did not write");
    reserve("next");
    scene_await_held("elcap-a elcap-b elcap-next");
}

static void gateway__that_has_lost_every_route(void **state)
{
    live_through("*");
    scene_await_logged("no Route matched with those values -> nothing concluded");
}

/* The list still reaches the fabric manager, so every comparison goes on to ask for each job. */
static void gateway__that_has_lost_the_route_to_single_jobs(void **state)
{
    live_through("*/collectives/jobs/?*");
}

/* A broker that starts behind the gateway knows nothing until it is gone, and says so. */
static void gateway__that_a_start_meets(void **state)
{
    char told[512], reason[512];

    reserve("a");
    reserve("over");
    testbed_kill_broker(scene_stage());
    scene_tell_fm("POST", "/mock/faults", "{\"status\":404,\"body\":\"\"}");
    assert_int_equal(testbed_start_broker(scene_stage()), 0);
    scene_await_link("down");
    scene_await_logged("did not write (a gateway in front of it? a wrong [fm] url?): the body is "
                       "empty -> link down");
    scene_release("over");
    scene_reserve("without", told, reason);
    assert_string_equal(told, "unavailable");
    scene_tell_fm("DELETE", "/mock/faults", NULL);
    scene_await_link("up");
    scene_await_held("elcap-a");
    assert_kept("a");
    assert_int_equal(scene_count_events("lost"), 0);
}

/* What was asked for may have been made all the same: it does not stay. */
static void reserve__that_a_gateway_answers_leaves_nothing(void **state)
{
    char told[512], reason[512];

    scene_tell_fm("POST", "/mock/faults",
                  "{\"method\":\"POST\",\"path\":\"*/jobs\",\"status\":404,\"act\":true,"
                  "\"body\":\"\"}");
    scene_reserve("a", told, reason);
    assert_string_equal(told, "timeout");
    assert_non_null(strstr(reason, "did not write"));
    scene_tell_fm("DELETE", "/mock/faults", NULL);
    scene_await_held("");
}

/* A page that says yes in the fabric manager's place, a login portal's perhaps: nothing was
 * released (B6). The next life of the job waits for that. */
static void release__that_a_gateway_takes_is_asked_for_again(void **state)
{
    reserve("a");
    scene_tell_fm(
        "POST", "/mock/faults",
        "{\"method\":\"DELETE\",\"status\":200,\"headers\":{\"Content-Type\":\"text/html\"},"
        "\"body\":\"<html><head><title>Log in</title></head></html>\"}");
    scene_release("a");
    scene_await_logged(
        "HTTP 200 that the fabric manager did not write (a gateway in front of it? a "
        "wrong [fm] url?): Log in -> again in");
    scene_await_held("elcap-a");
    scene_tell_fm("DELETE", "/mock/faults", NULL);
    scene_await_held("");
    reserve("a");
    assert_true(scene_link_is("up"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, scene_stop)

UNIT_MAIN(TEST(gateway__that_has_lost_every_route),
          TEST(gateway__that_has_lost_the_route_to_single_jobs), TEST(gateway__that_a_start_meets),
          TEST(reserve__that_a_gateway_answers_leaves_nothing),
          TEST(release__that_a_gateway_takes_is_asked_for_again))
