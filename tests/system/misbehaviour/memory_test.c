/* SPDX-License-Identifier: Apache-2.0 */
/* It forgets, comes back with an old state, or lists
 * what it holds only in part (F20, F22, I4). */

#include "tests/system/misbehaviour/scene.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

#define LIST "\"path\":\"*/collectives/jobs/\""

/* ---- what it remembers ---- */

static bool has_lost_two(void *arg)
{
    return scene_count_events("lost") == 2;
}

/* F22, I4: one fatal event for each. */
static void state_lost__is_told_to_its_jobs_once(void **state)
{
    char told[512], reason[512];
    scene_reserve("a", told, reason);
    scene_reserve("b", told, reason);
    scene_tell_fm("POST", "/mock/forget", NULL);
    testbed_kill_broker(scene_stage()); /* the next comparison is after a start */
    assert_int_equal(testbed_start_broker(scene_stage()), 0);
    assert_true(await(has_lost_two, NULL, AWAIT_DEADLINE_MS));
    scene_await_logged("the fabric manager no longer has its reservation, asked twice -> lost");
    scene_job_state("a", told);
    assert_string_equal(told, "lost");
    scene_reserve("c", told, reason);
    assert_string_equal(told, "reserved");
    scene_await_held("elcap-c");
    assert_int_equal(scene_count_events("lost"), 2);
}

/* An active fabric manager died, its standby has an old state: one job that is over, one that runs
 * with another token by now, and one that it never heard of. The first is ours by the ledger; the
 * second may as well be another broker's, and stays for an administrator to judge. */
static void old_state_restored__is_put_right(void **state)
{
    char told[512], reason[512];
    scene_reserve("over", told, reason);
    scene_reserve("again", told, reason);
    scene_tell_fm("POST", "/mock/snapshot", NULL);
    scene_release("over");
    scene_release("again");
    scene_await_held("");
    scene_reserve("again", told, reason);
    scene_reserve("new", told, reason);
    assert_string_equal(told, "reserved");
    scene_tell_fm("POST", "/mock/restore", NULL);
    testbed_kill_broker(scene_stage());
    assert_int_equal(testbed_start_broker(scene_stage()), 0);
    assert_true(await(has_lost_two, NULL, AWAIT_DEADLINE_MS));
    scene_await_logged("the fabric manager has another reservation under its name");
    scene_await_logged("ALARM name-conflict of cluster elcap");
    scene_await_held("elcap-again");
}

/* ---- what it does not know yet ---- */

static const struct testbed_options graceful = {
    .mcastd = MCASTD,
    .mock_fm = MOCK_FM,
    .fm = "timeout = 5s\nlink_retry = 50ms\nstray_grace = 1s\nrelist = 100ms",
    .hwcoll = "min_nodes = 64\ntotal_addresses = 4086\nsystem_nodes = 11136",
};

static int start_graceful(void **state)
{
    return scene_start(&graceful);
}

struct stale {
    json_int_t reads;
};

static bool was_stale(void *arg)
{
    const struct stale *stale = arg;
    struct plainhttp_reply reply;
    plainhttp_call(testbed_fm_http(scene_stage()), "GET", "/mock/faults", NULL, &reply);
    const json_t *rule = json_array_get(json_object_get(reply.json, "faults"), 0);
    const json_int_t fired = json_integer_value(json_object_get(rule, "fired"));
    plainhttp_reply_release(&reply);
    return fired >= stale->reads;
}

/* Every second read comes from a replica that is 300 ms behind: it has neither the job that began
 * just now nor forgotten the one that ended. */
static void replica_that_lags__loses_nothing(void **state)
{
    char told[512], reason[512];
    scene_reserve("a", told, reason);
    scene_tell_fm("POST", "/mock/faults",
                  "{\"method\":\"GET\",\"path\":\"*/collectives/jobs/*\",\"every\":2,"
                  "\"stale_ms\":300}");
    for (json_int_t round = 1; round <= 8; round++) {
        char job[16];
        (void)snprintf(job, sizeof job, "b%d", (int)round);
        scene_reserve(job, told, reason);
        assert_string_equal(told, "reserved");
        assert_true(await(was_stale, &(struct stale){round * 3}, AWAIT_DEADLINE_MS));
        if (round % 2 == 0)
            scene_release(job);
    }
    scene_await_held("elcap-a elcap-b1 elcap-b3 elcap-b5 elcap-b7");
    scene_tell_fm("DELETE", "/mock/faults", NULL);
    scene_job_state("b7", told);
    assert_string_equal(told, "reserved");
    assert_int_equal(scene_count_events("lost"), 0);
}

/* Two jobs with one session token could use each other's addresses (I6): the second has none. */
static void token_given_twice__is_refused(void **state)
{
    char told[512], reason[512];
    scene_tell_fm("POST", "/mock/faults",
                  "{\"method\":\"POST\",\"path\":\"*/jobs\",\"session_token\":\"sess-1\"}");
    scene_reserve("a", told, reason);
    assert_string_equal(told, "reserved");
    scene_reserve("b", told, reason);
    assert_string_not_equal(told, "reserved");
    scene_tell_fm("DELETE", "/mock/faults", NULL);
    scene_await_held("elcap-a");
    scene_job_state("a", told);
    assert_string_equal(told, "reserved");
    assert_int_equal(scene_count_events("lost"), 0);
}

/* ---- the list ---- */

static void list_in_pages__is_read_whole(void **state)
{
    char told[512], reason[512], job[16], held[512] = "";
    scene_tell_fm("POST", "/mock/faults", "{\"method\":\"GET\"," LIST ",\"page_size\":2}");
    for (int i = 0; i < 7; i++) {
        (void)snprintf(job, sizeof job, "%d", i);
        scene_reserve(job, told, reason);
        assert_string_equal(told, "reserved");
        (void)snprintf(held + strlen(held), sizeof held - strlen(held), "%selcap-%d", i ? " " : "",
                       i);
    }
    scene_tell_fm("POST", "/mock/forget", "{\"jobs\":[\"elcap-6\"]}"); /* on the last page */
    testbed_kill_broker(scene_stage());
    assert_int_equal(testbed_start_broker(scene_stage()), 0);
    scene_await_link("up");
    *strrchr(held, ' ') = '\0';
    scene_await_logged(
        "elcap-6: the fabric manager no longer has its reservation, asked twice -> lost");
    scene_await_held(held);
    assert_int_equal(scene_count_events("lost"), 1);
}

static const char *const half_lists[] = {
    "[{\"method\":\"GET\",\"path\":\"*/collectives/jobs*\",\"skip\":1,\"status\":500},"
    "{\"method\":\"GET\"," LIST ",\"page_size\":2}]",
    "{\"method\":\"GET\"," LIST ",\"truncate\":true}",
    "{\"method\":\"GET\"," LIST ",\"no_document_links\":true}",
    "{\"method\":\"GET\"," LIST ",\"merge\":{\"documentLinks\":{}}}",
    "{\"method\":\"GET\"," LIST
    ",\"merge\":{\"documentLinks\":[\"/fabric/collectives/jobs/x\",7]}}",
    "{\"method\":\"GET\"," LIST ",\"merge\":{\"documentCount\":900}}",
    "{\"method\":\"GET\"," LIST ",\"garbage\":true}",
    "{\"method\":\"GET\"," LIST ",\"fill_to\":20000000}",
    "{\"method\":\"GET\"," LIST ",\"status\":403}",
    "{\"method\":\"GET\"," LIST ",\"status\":404}",
};

/* A list that is not whole concludes nothing: nobody is lost, nothing is deleted, the link stays
 * down until one is. */
static void half_a_list__concludes_nothing(void **state)
{
    char told[512], reason[512];
    scene_reserve("a", told, reason);
    scene_reserve("b", told, reason);
    scene_reserve("c", told, reason);
    for (size_t i = 0; i < sizeof half_lists / sizeof half_lists[0]; i++) {
        scene_tell_fm("POST", "/mock/faults", half_lists[i]);
        testbed_kill_broker(scene_stage());
        assert_int_equal(testbed_start_broker(scene_stage()), 0);
        scene_await_link("down");
        scene_tell_fm("DELETE", "/mock/faults", NULL);
        scene_await_link("up");
        scene_await_held("elcap-a elcap-b elcap-c");
        scene_job_state("b", told);
        assert_string_equal(told, "reserved");
        assert_int_equal(scene_count_events("lost"), 0);
    }
}

#define QUICK_TEST(name) cmocka_unit_test_setup_teardown(name, scene_start_quick, scene_stop)

UNIT_MAIN(QUICK_TEST(state_lost__is_told_to_its_jobs_once),
          QUICK_TEST(old_state_restored__is_put_right),
          cmocka_unit_test_setup_teardown(replica_that_lags__loses_nothing, start_graceful,
                                          scene_stop),
          QUICK_TEST(token_given_twice__is_refused), QUICK_TEST(list_in_pages__is_read_whole),
          QUICK_TEST(half_a_list__concludes_nothing))
