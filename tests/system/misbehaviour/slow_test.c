/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric manager that becomes slow and stays well: [fm] reserve_timeout = auto, the default,
 * learns how long it takes, also from an answer that no job waits for any more (F21). */

#include "tests/system/misbehaviour/scene.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/await.h"

enum { SLOW_MS = 5000 };

static bool waits_long_enough(void *arg)
{
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(testbed_http(scene_stage()), "GET", "/v1/status", NULL, &reply),
                     200);
    const json_t *fm = json_object_get(reply.json, "fabric_manager");
    const json_int_t wait_ms = json_integer_value(json_object_get(fm, "reserve_wait_ms"));
    plainhttp_reply_release(&reply);
    return wait_ms >= 2 * SLOW_MS;
}

static int start(void **state)
{
    struct testbed_options options = scene_quick;
    options.fm = "timeout = 60s\nlink_retry = 50ms\nstray_grace = 100ms";
    return scene_start(&options);
}

static void slow__costs_jobs_their_addresses_no_longer_than_it_takes_to_learn(void **state)
{
    char told[SCENE_TEXT], reason[SCENE_TEXT], rule[128];
    (void)snprintf(rule, sizeof rule,
                   "{\"method\":\"POST\",\"path\":\"*/collectives/jobs\",\"delay_ms\":%d}",
                   SLOW_MS);
    scene_reserve("quick", told, reason);
    assert_string_equal(told, "reserved");
    scene_tell_fm("POST", "/mock/faults", rule);
    scene_reserve("first", told, reason);
    if (strcmp(told, "reserved") != 0)
        assert_string_equal(told, "timeout");
    if (!await(waits_long_enough, NULL, AWAIT_DEADLINE_MS))
        fail_msg("the answer that came after %d ms was not learned from", SLOW_MS);
    for (int i = 0; i < 2; i++) {
        char job[32];
        (void)snprintf(job, sizeof job, "later%d", i);
        scene_reserve(job, told, reason);
        assert_string_equal(told, "reserved");
        scene_release(job);
    }
    scene_release("quick");
    scene_release("first");
    scene_await_held("");
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(
    slow__costs_jobs_their_addresses_no_longer_than_it_takes_to_learn, start, scene_stop))
