/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/inventory/scene.h"

#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

/* A fabric manager that answers with nonsense, half of it, not at all, or in another way: one line
 * in the log, nothing for jobs, and what was read before stays (P1). */

static struct scene scene;

static int open_scene(void **state)
{
    (void)state;
    scene_open(&scene, NULL);
    return 0;
}

static int close_scene(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

/* What was read stays, and jobs run; and once the fault is over it is read again. */
static void survives(const char *rules, const char *words)
{
    scene_await(&scene, "switches", 6);
    scene_await_error(&scene, NULL);
    scene_tell_fm(&scene, "POST", "/mock/faults", rules);
    scene_set(&scene, "/fabric/switches/g1s0", "OFFLINE"); /* so that each list is read */
    scene_set(&scene, "/fabric/ports/g1s0p2", "OFFLINE");
    scene_set(&scene, "/fabric/links/g0s0p0-g0s1p0", "OFFLINE");
    scene_await_error(&scene, words);
    assert_int_equal(scene_number(&scene, "/v1/fabric", "switches"), 6);
    assert_int_equal(scene_number(&scene, "/v1/fabric", "switches_down"), 0);
    scene_run_job(&scene);
    scene_tell_fm(&scene, "DELETE", "/mock/faults", NULL);
    scene_await(&scene, "switches_down", 1);
    scene_await_error(&scene, NULL);
}

static void nonsense__changes_nothing(void **state)
{
    (void)state;
    survives("{\"path\":\"/fabric/switches*\",\"garbage\":true}", "is not a JSON object");
    assert_true(testbed_broker_logged(scene.testbed, "inventory: /fabric/switches: the body is not "
                                                     "a JSON object (jobs do not depend on it; "
                                                     "what was read before stays)"));
}

static void list__without_links_changes_nothing(void **state)
{
    (void)state;
    survives("{\"path\":\"/fabric/ports\",\"no_document_links\":true}", "documentLinks is missing");
}

static void half_a_topology__changes_nothing(void **state)
{
    (void)state;
    survives("{\"path\":\"/fabric/switches\",\"half_list\":true}",
             "is of no switch that is listed");
}

/* A port is missing, since the list moved on between two pages. */
static void change__while_it_is_read_changes_nothing(void **state)
{
    (void)state;
    survives("{\"path\":\"/fabric/ports\",\"page_size\":3,\"shifting_list\":true}",
             "a link has an end that is none of the");
}

static void page__that_is_cut_changes_nothing(void **state)
{
    (void)state;
    survives("{\"path\":\"/fabric/ports\",\"truncate\":true}", "/fabric/ports cannot be read");
}

/* The login may read jobs, but not this; no try follows soon. */
static void refusal__costs_a_line(void **state)
{
    (void)state;
    scene_await(&scene, "switches", 6);
    scene_tell_fm(&scene, "POST", "/mock/faults",
                  "{\"path\":\"/fabric/switches*\",\"status\":403}");
    scene_await_error(&scene, "/fabric/switches cannot be read: HTTP 403");
    assert_int_equal(scene_number(&scene, "/v1/fabric", "switches"), 6);
    scene_run_job(&scene);
}

/* Most of it is gone at once, and what is left fits together: it counts when it is said twice. */
static void loss__of_most_must_be_said_twice(void **state)
{
    char body[1600] = "{\"set\":{", *at = strchr(body, '\0');
    (void)state;
    scene_await(&scene, "switches", 6);
    for (int s = 2; s < 6; s++) {
        at += sprintf(at, "\"/fabric/switches/g%ds%d\":\"absent\",", s / 2, s % 2);
        for (int p = 0; p < 6; p++)
            at += sprintf(at, "\"/fabric/ports/g%ds%dp%d\":\"absent\",", s / 2, s % 2, p);
    }
    strcpy(at, "\"/fabric/links/g0s0p1-g1s0p1\":\"absent\",\"/fabric/links/g0s1p1-g2s0p1\":"
               "\"absent\",\"/fabric/links/g1s0p0-g1s1p0\":\"absent\",\"/fabric/links/g1s1p1-"
               "g2s1p1\":\"absent\",\"/fabric/links/g2s0p0-g2s1p0\":\"absent\"}}");
    scene_tell_fm(&scene, "POST", "/mock/fabric", body);
    scene_await(&scene, "switches", 2);
    assert_true(
        testbed_broker_logged(scene.testbed, "more than half of the fabric is gone at once"));
    scene_await_event(&scene, "fabric-changed", "4 switches gone");
}

/* The map is as good without them (B2 alone wants them). */
static void partitions__that_make_no_sense_leave_the_map_alone(void **state)
{
    (void)state;
    scene_await(&scene, "switches", 6);
    scene_tell_fm(&scene, "POST", "/mock/faults",
                  "{\"path\":\"/fabric/vni/*\",\"merge\":{\"documentVersion\":9,"
                  "\"documentLinks\":7}}");
    scene_set(&scene, "/fabric/switches/g1s0", "OFFLINE");
    scene_await(&scene, "switches_down", 1);
    scene_await_error(&scene, NULL);
    assert_true(testbed_broker_logged(scene.testbed, "inventory: /fabric/vni/partitions: "
                                                     "documentLinks is missing or no array (VNIs "
                                                     "of partitions are as they were)"));
}

static int open_never(void **state)
{
    (void)state;
    scene_open(&scene, NULL);
    return 0;
}

/* Documents one by one, from a server that knows no lists with documents, and refuses the query. */
static void documents__come_one_by_one(void **state)
{
    (void)state;
    scene_tell_fm(&scene, "POST", "/mock/faults",
                  "{\"path\":\"/fabric/*s\",\"merge\":{\"documents\":null}}");
    scene_await(&scene, "switches", 6);
    scene_await(&scene, "ports", 36);
    scene_set(&scene, "/fabric/switches/g1s0", "OFFLINE");
    scene_await(&scene, "switches_down", 1);
}

/* 64 of them may wait to be decoded. */
static void document__that_is_too_long_changes_nothing(void **state)
{
    (void)state;
    survives("[{\"path\":\"/fabric/switches\",\"merge\":{\"documents\":null}},"
             "{\"path\":\"/fabric/switches/*\",\"fill_to\":1100000}]",
             "/fabric/switches/g0s0 is longer than 1048576 bytes");
}

static int open_large(void **state)
{
    (void)state;
    scene_open(&scene, "30x16x64");
    return 0;
}

static void ports__thirty_thousand_in_pages(void **state)
{
    (void)state;
    scene_await(&scene, "ports", 30 * 16 * 64);
    assert_int_equal(scene_number(&scene, "/v1/fabric", "groups"), 30);
    scene_set(&scene, "/fabric/switches/g29s15", "OFFLINE");
    scene_await_event(&scene, "switch-down", "switch g29s15 is down");
    scene_run_job(&scene);
}

#define ON_SCENE(test) cmocka_unit_test_setup_teardown(test, open_scene, close_scene)

UNIT_MAIN(ON_SCENE(nonsense__changes_nothing), ON_SCENE(list__without_links_changes_nothing),
          ON_SCENE(half_a_topology__changes_nothing),
          ON_SCENE(change__while_it_is_read_changes_nothing),
          ON_SCENE(page__that_is_cut_changes_nothing), ON_SCENE(refusal__costs_a_line),
          ON_SCENE(loss__of_most_must_be_said_twice),
          ON_SCENE(partitions__that_make_no_sense_leave_the_map_alone),
          ON_SCENE(document__that_is_too_long_changes_nothing),
          cmocka_unit_test_setup_teardown(documents__come_one_by_one, open_never, close_scene),
          cmocka_unit_test_setup_teardown(ports__thirty_thousand_in_pages, open_large, close_scene))
