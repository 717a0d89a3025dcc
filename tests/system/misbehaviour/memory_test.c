/* quality.md, "Fabric-manager misbehaviour": it forgets, comes back with an old state, or lists
 * what it holds only in part (F20, F22, I4). */

#include "tests/system/misbehaviour/scene.h"
#include "tests/system/rig/await.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LIST "\"path\":\"*/collectives/jobs/\""

/* ---- what it remembers ---- */

static bool has_lost_two(void *arg)
{
    (void)arg;
    return scene_count_events("lost") == 2;
}

/* F22, I4: one fatal event for each. */
static void state_lost__is_told_to_its_jobs_once(void **state)
{
    char told[512], reason[512];
    (void)state;
    scene_reserve("a", told, reason);
    scene_reserve("b", told, reason);
    scene_tell_fm("POST", "/mock/forget", NULL);
    stage_kill_broker(scene_stage()); /* the next comparison is after a start */
    assert_int_equal(stage_start_broker(scene_stage()), 0);
    assert_true(await(has_lost_two, NULL, AWAIT_DEADLINE_MS));
    scene_await_logged("the fabric manager no longer has its reservation -> lost");
    scene_job_state("a", told);
    assert_string_equal(told, "lost");
    scene_reserve("c", told, reason);
    assert_string_equal(told, "reserved");
    scene_await_held("elcap-c");
    assert_int_equal(scene_count_events("lost"), 2);
}

/* An active fabric manager died, its standby has an old state: one job that is over, one that runs
 * with another token by now, and one that it never heard of. */
static void old_state_restored__is_put_right(void **state)
{
    char told[512], reason[512];
    (void)state;
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
    stage_kill_broker(scene_stage());
    assert_int_equal(stage_start_broker(scene_stage()), 0);
    assert_true(await(has_lost_two, NULL, AWAIT_DEADLINE_MS));
    scene_await_logged("the fabric manager has another reservation under its name");
    scene_await_held("");
}

/* ---- the list ---- */

static void list_in_pages__is_read_whole(void **state)
{
    char told[512], reason[512], job[16], held[512] = "";
    (void)state;
    scene_tell_fm("POST", "/mock/faults", "{\"method\":\"GET\"," LIST ",\"page_size\":2}");
    for (int i = 0; i < 7; i++) {
        (void)snprintf(job, sizeof job, "%d", i);
        scene_reserve(job, told, reason);
        assert_string_equal(told, "reserved");
        (void)snprintf(held + strlen(held), sizeof held - strlen(held), "%selcap-%d", i ? " " : "",
                       i);
    }
    scene_tell_fm("POST", "/mock/forget", "{\"jobs\":[\"elcap-6\"]}"); /* on the last page */
    stage_kill_broker(scene_stage());
    assert_int_equal(stage_start_broker(scene_stage()), 0);
    scene_await_link("up");
    *strrchr(held, ' ') = '\0';
    scene_await_logged("elcap-6: the fabric manager no longer has its reservation -> lost");
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
    (void)state;
    scene_reserve("a", told, reason);
    scene_reserve("b", told, reason);
    scene_reserve("c", told, reason);
    for (size_t i = 0; i < sizeof half_lists / sizeof half_lists[0]; i++) {
        scene_tell_fm("POST", "/mock/faults", half_lists[i]);
        stage_kill_broker(scene_stage());
        assert_int_equal(stage_start_broker(scene_stage()), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUICK_TEST(state_lost__is_told_to_its_jobs_once),
        QUICK_TEST(old_state_restored__is_put_right),
        QUICK_TEST(list_in_pages__is_read_whole),
        QUICK_TEST(half_a_list__concludes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
