/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/inventory/scene.h"

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* The inventory is read at link-up, and then what has changed (P1); changes are events (P5); nodes
 * come from a file (S2). */

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

static const char *text_at(const json_t *list, size_t i, const char *member)
{
    return json_string_value(json_object_get(json_array_get(list, i), member));
}

static void fabric__is_read_and_found(void **state)
{
    (void)state;
    scene_await(&scene, "switches", 6);
    json_t *fabric = scene_get(&scene, "/v1/fabric");
    assert_string_equal(json_string_value(json_object_get(fabric, "source")), "fabric-manager");
    assert_int_equal(json_integer_value(json_object_get(fabric, "groups")), 3);
    assert_int_equal(json_integer_value(json_object_get(fabric, "ports")), 36);
    assert_int_equal(json_integer_value(json_object_get(fabric, "edge_ports")), 24);
    assert_int_equal(json_integer_value(json_object_get(fabric, "cables")), 6);
    json_decref(fabric);

    json_t *node = scene_get(&scene, "/v1/nodes/elcap1");
    const json_t *nics = json_object_get(node, "nics");
    assert_int_equal(json_array_size(nics), 2);
    assert_string_equal(text_at(nics, 0, "port"), "g0s0p2");
    assert_string_equal(text_at(nics, 1, "port"), "g0s1p3");
    assert_string_equal(text_at(nics, 1, "address"), "0x00043");
    assert_string_equal(text_at(nics, 1, "state"), "up");
    assert_string_equal(text_at(nics, 1, "source"), "file");
    json_decref(node);

    node = scene_get(&scene, "/v1/nodes/tuo1");
    const json_t *nic = json_array_get(json_object_get(node, "nics"), 0);
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(nic, "contradictions"), 0)), "no-port");
    json_decref(node);
}

static void nodes__come_in_pages(void **state)
{
    static const char *const paths[] = {"/v1/nodes?limit=3", "/v1/nodes?cluster=elcap&limit=3"};
    static const char *const last[] = {"tuo1", "elcap4"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        json_t *page = scene_get(&scene, paths[i]);
        assert_int_equal(json_array_size(json_object_get(page, "nodes")), 3);
        assert_string_equal(text_at(json_object_get(page, "nodes"), 2, "node"), "elcap3");
        json_t *rest = scene_get(&scene, json_string_value(json_object_get(page, "next")));
        assert_int_equal(json_array_size(json_object_get(rest, "nodes")), 1);
        assert_string_equal(text_at(json_object_get(rest, "nodes"), 0, "node"), last[i]);
        assert_true(json_is_null(json_object_get(rest, "next")));
        json_decref(page);
        json_decref(rest);
    }
}

static void job__spans_groups_and_switches(void **state)
{
    struct plainhttp_reply reply;
    static const char path[] = "/v1/clusters/elcap/jobs/f9";
    (void)state;
    scene_await(&scene, "switches", 6);
    scene_set(&scene, "/fabric/ports/g0s1p3", "OFFLINE");
    scene_await(&scene, "edge_ports_down", 1);
    assert_int_equal(plainhttp_call(testbed_http(scene.testbed), "PUT", path,
                                    "{\"uid\":1,\"nodes\":\"elcap[1-4]\"}", &reply),
                     201);
    plainhttp_reply_release(&reply);
    json_t *topology = scene_get(&scene, "/v1/clusters/elcap/jobs/f9/topology");
    assert_int_equal(json_integer_value(json_object_get(topology, "groups")), 2);
    assert_int_equal(json_integer_value(json_object_get(topology, "placed")), 3);
    assert_int_equal(json_integer_value(json_object_get(topology, "nics_down")), 1);
    assert_string_equal(json_string_value(json_object_get(topology, "nodes_with_nics_down")),
                        "elcap1");
    assert_string_equal(json_string_value(json_object_get(topology, "nodes_without_address")),
                        "elcap4");
    const json_t *switches = json_object_get(topology, "switches");
    assert_int_equal(json_array_size(switches), 3);
    assert_string_equal(text_at(switches, 0, "switch"), "g0s0");
    assert_string_equal(text_at(switches, 0, "nodes"), "elcap[1-2]");
    assert_string_equal(text_at(switches, 2, "nodes"), "elcap3");
    json_decref(topology);
}

static void change__is_an_event_of_its_kind(void **state)
{
    (void)state;
    scene_await(&scene, "switches", 6);
    scene_set(&scene, "/fabric/switches/g1s1", "OFFLINE");
    scene_await_event(&scene, "switch-down", "switch g1s1 is down");
    scene_set(&scene, "/fabric/links/g0s0p0-g0s1p0", "DOWN");
    scene_await_event(&scene, "switch-down,cable-down", "cable g0s0p0-g0s1p0 is down");
    scene_set(&scene, "/fabric/switches/g1s1", "ONLINE");
    scene_set(&scene, "/fabric/ports/g2s0p4", "OFFLINE");
    scene_await_event(&scene, "port-changed", "port g2s0p4, of the NIC with address 0x01004, is");
    scene_await_event(&scene, "switch-up", "switch g1s1 is up");
    char *downs = scene_events(&scene, "switch-down");
    assert_null(strstr(downs, "cable"));
    assert_null(strstr(strstr(downs, "event: ") + 1, "event: ")); /* once */
    free(downs);
    scene_set(&scene, "/fabric/links/g0s0p0-g0s1p0", "absent");
    scene_await_event(&scene, "fabric-changed", "1 cables gone");
}

static bool partitions_are_known(void *arg)
{
    json_t *status = scene_get(arg, "/v1/status");
    const json_t *vnis = json_object_get(status, "vnis");
    const bool known = json_integer_value(json_object_get(vnis, "other_partitions")) == 1000;
    json_decref(status);
    return known;
}

/* VNIs of other partitions reach the pool (B2). */
static void partitions__reach_the_pool(void **state)
{
    (void)state;
    scene_await(&scene, "switches", 6);
    scene_tell_fm(&scene, "POST", "/mock/partitions",
                  "{\"partitions\":{\"beta\":[\"2000-2999\"]}}");
    assert_true(await(partitions_are_known, &scene, AWAIT_DEADLINE_MS));
}

static bool node_has_moved(void *arg)
{
    json_t *node = scene_get(arg, "/v1/nodes/elcap1");
    const char *port = text_at(json_object_get(node, "nics"), 0, "port");
    const bool moved = port && strcmp(port, "g2s1p5") == 0;
    json_decref(node);
    return moved;
}

static bool nodes_have_stayed(void *arg)
{
    const struct scene *the = arg;
    return testbed_broker_logged(the->testbed,
                                 "reload: the addresses of 1 nodes that were in force stay");
}

/* The file is read again, and the fabric manager can be left alone; a file that is gone takes no
 * address away (S2). */
static void reload__reads_the_file_again(void **state)
{
    char conf[FOLDER_PATH_SIZE + 32];
    (void)state;
    scene_await(&scene, "switches", 6);
    assert_int_equal(folder_write(scene.genders, "genders", 0644, "elcap1 nic0=0x01045\n"), 0);
    assert_int_equal(kill(process_pid(testbed_broker(scene.testbed)), SIGHUP), 0);
    assert_true(await(node_has_moved, &scene, AWAIT_DEADLINE_MS));
    assert_int_equal(scene_number(&scene, "/v1/fabric", "nodes_in_file"), 1);
    assert_int_equal(unlink(folder_path(conf, sizeof conf, scene.genders, "genders")), 0);
    assert_int_equal(kill(process_pid(testbed_broker(scene.testbed)), SIGHUP), 0);
    assert_true(await(nodes_have_stayed, &scene, AWAIT_DEADLINE_MS));
    assert_true(node_has_moved(&scene));
    assert_int_equal(
        mkdir(folder_path(conf, sizeof conf, testbed_folder(scene.testbed), "conf.d"), 0700), 0);
    assert_int_equal(folder_write(conf, "file.conf", 0600, "[inventory]\nsource = file\n"), 0);
    assert_int_equal(kill(process_pid(testbed_broker(scene.testbed)), SIGHUP), 0);
    scene_await(&scene, "switches", 0);
    assert_true(node_has_moved(&scene));
}

/* Two fabric managers may count alike: what one has told says nothing of the other (P1). */
static void another_fabric_manager__is_read_whole(void **state)
{
    char conf[FOLDER_PATH_SIZE + 32];
    (void)state;
    scene_await(&scene, "switches", 6);
    scene_tell_fm(&scene, "POST", "/mock/faults",
                  "{\"path\":\"/fabric/*s\",\"merge\":{\"documentVersion\":1,"
                  "\"documentUpdateTimeMicros\":null}}");
    scene_await_check(&scene);
    scene_await_check(&scene);
    scene_set(&scene, "/fabric/switches/g1s0", "OFFLINE");
    scene_await_check(&scene);
    scene_await_check(&scene);
    assert_int_equal(scene_number(&scene, "/v1/fabric", "switches_down"), 0);
    assert_int_equal(
        mkdir(folder_path(conf, sizeof conf, testbed_folder(scene.testbed), "conf.d"), 0700), 0);
    assert_int_equal(folder_write(conf, "file.conf", 0600, "[fm]\ntimeout = 7s\n"), 0);
    assert_int_equal(kill(process_pid(testbed_broker(scene.testbed)), SIGHUP), 0);
    scene_await(&scene, "switches_down", 1);
}

static size_t requests_of(const char *path)
{
    struct plainhttp_reply reply;
    size_t i, count = 0;
    const json_t *entry;
    assert_int_equal(
        plainhttp_call(testbed_fm_http(scene.testbed), "GET", "/mock/log", NULL, &reply), 200);
    json_array_foreach(json_object_get(reply.json, "entries"), i, entry)
    {
        count += strcmp(json_string_value(json_object_get(entry, "path")), path) == 0;
    }
    plainhttp_reply_release(&reply);
    return count;
}

/* Only the list that has changed is read again, and of the others only their version. */
static void poll__reads_what_has_changed(void **state)
{
    (void)state;
    scene_await(&scene, "switches", 6);
    scene_tell_fm(&scene, "POST", "/mock/faults", "{\"path\":\"/fabric/*\",\"page_size\":2}");
    scene_await_check(&scene);
    const size_t ports = requests_of("/fabric/ports"), switches = requests_of("/fabric/switches");
    scene_set(&scene, "/fabric/switches/g0s1", "OFFLINE");
    scene_await(&scene, "switches_down", 1);
    /* Three pages of two switches; of the ports there would be 18. */
    assert_true(requests_of("/fabric/switches") - switches >= 3);
    assert_true(requests_of("/fabric/ports") - ports < 18);
}

UNIT_GROUP(
    NULL, NULL, cmocka_unit_test_setup_teardown(fabric__is_read_and_found, open_scene, close_scene),
    cmocka_unit_test_setup_teardown(nodes__come_in_pages, open_scene, close_scene),
    cmocka_unit_test_setup_teardown(job__spans_groups_and_switches, open_scene, close_scene),
    cmocka_unit_test_setup_teardown(change__is_an_event_of_its_kind, open_scene, close_scene),
    cmocka_unit_test_setup_teardown(partitions__reach_the_pool, open_scene, close_scene),
    cmocka_unit_test_setup_teardown(another_fabric_manager__is_read_whole, open_scene, close_scene),
    cmocka_unit_test_setup_teardown(reload__reads_the_file_again, open_scene, close_scene),
    cmocka_unit_test_setup_teardown(poll__reads_what_has_changed, open_scene, close_scene))
