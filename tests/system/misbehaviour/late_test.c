/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric manager, or a gateway in front of it, that acts on a reserve later than the broker holds
 * for possible: later than [fm] timeout after it gave the call up. What comes of it is left to
 * nobody, and is deleted by a later list (F21, I3), unless its job runs (B11). */

#include "tests/system/misbehaviour/scene.h"
#include "tests/unit/unit.h"

/* The broker gives up after 1 s, and waits for 1 s more. */
#define TOO_LATE                                                                                   \
    "{\"method\":\"POST\",\"path\":\"*/collectives/jobs\",\"count\":1,\"act_after_ms\":3500}"

static int start(void **state)
{
    struct testbed_options options = scene_quick;
    options.fm = "timeout = 1s\nreserve_timeout = 200ms\nlink_retry = 50ms\n"
                 "relist = 300ms\nstray_grace = 100ms";
    return scene_start(&options);
}

static void reserve_in_vain(const char *job)
{
    char told[SCENE_TEXT], reason[SCENE_TEXT];
    scene_tell_fm("POST", "/mock/faults", TOO_LATE);
    scene_reserve(job, told, reason);
    assert_string_equal(told, "timeout");
}

static void of_a_job_that_is_over__is_deleted(void **state)
{
    reserve_in_vain("over");
    scene_release("over");
    scene_await_deleted("elcap-over");
    scene_await_held("");
    assert_int_equal(scene_count_events("alarm"), 0);
}

static void of_a_job_that_runs__is_deleted(void **state)
{
    char told[SCENE_TEXT];
    reserve_in_vain("runs");
    scene_await_deleted("elcap-runs");
    scene_await_held("");
    scene_job_state("runs", told);
    assert_string_equal(told, "timeout");
    assert_int_equal(scene_count_events("alarm"), 0);
    scene_release("runs");
}

static void of_a_broker_that_was_killed__is_deleted(void **state)
{
    struct testbed *testbed = scene_stage();
    reserve_in_vain("killed");
    testbed_kill_broker(testbed);
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(testbed_await_link(testbed), 0);
    scene_release("killed");
    scene_await_deleted("elcap-killed");
    scene_await_held("");
    assert_int_equal(scene_count_events("alarm"), 0);
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(of_a_job_that_is_over__is_deleted, start, scene_stop),
          cmocka_unit_test_setup_teardown(of_a_job_that_runs__is_deleted, start, scene_stop),
          cmocka_unit_test_setup_teardown(of_a_broker_that_was_killed__is_deleted, start,
                                          scene_stop))
