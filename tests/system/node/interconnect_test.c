/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that are not on Slingshot, from the real broker to a node (S1, S4, S6, P4): what their tasks
 * get, and that nothing is made and nothing reported for them. */

#include "launch/credential.h"
#include "launch/document.h"
#include "tests/system/node/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define JOBS "/v1/clusters/elcap/jobs/"
#define REQUEST(more) "{\"uid\":5588,\"nodes\":\"n[1-2]\"" more "}"
#define OMNIPATH ",\"interconnect\":\"omnipath\",\"tasks_per_node\":24,\"cpus_per_task\":4"
#define NONE ",\"interconnect\":\"none\",\"tasks_per_node\":24"
#define ON_N1 " --node n1"

static int open_scene(void **state)
{
    const int rc = scene_open(
        state, false,
        (struct testbed_options){
            .mcastd = MCASTD,
            .broker = "log_level = debug\n",
            .vni = "[omnipath]\npartition_keys = 1-2\npartition_key_hold = 0\ncontexts = 16\n"
                   "service_level = 3\n"});
    fixture_set_cxi(((struct scene *)*state)->fixture, "log = yes\n");
    return rc;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    assert_non_null(text);
    return text;
}

/* The job's key, as its tasks get it; the job is reserved by this, or was before. */
static void reserve_omnipath(struct scene *scene, const char *path, int status, char key[64])
{
    json_t *job = scene_ask(scene, "PUT", path, REQUEST(OMNIPATH), status);
    snprintf(key, 64, "%s", text_of(json_object_get(job, "env"), "FI_OPX_UUID"));
    json_decref(job);
}

static void assert_nothing_was_asked_of_nics(struct scene *scene)
{
    assert_false(fixture_cxi_logged(scene->fixture, "cxi"));
    assert_false(fixture_remembers(scene->fixture));
}

/* ---- what tasks get ---- */

static void omnipath__tells_tasks_what_libfabric_reads(void **state)
{
    struct scene *scene = *state;
    json_t *job = scene_ask(scene, "PUT", JOBS "a", REQUEST(OMNIPATH), 201);
    const json_t *env = json_object_get(job, "env");
    const char *opx = text_of(env, "FI_OPX_UUID"), *psm3 = text_of(env, "FI_PSM3_UUID");
    assert_int_equal(strlen(opx), 32);
    assert_int_equal(strspn(opx, "0123456789abcdef"), 32);
    assert_int_equal(strlen(psm3), 36);
    assert_memory_equal(opx, psm3, 8);
    assert_memory_equal(opx + 20, psm3 + 24, 12);
    assert_string_equal(text_of(env, "FI_OPX_PKEY"), "0x8001");
    assert_string_equal(text_of(env, "PSM3_PKEY"), "0x8001");
    assert_string_equal(text_of(env, "FI_OPX_SL"), "3");
    assert_string_equal(text_of(env, "FI_OPX_CONTEXT_SHARING"), "1");
    assert_string_equal(text_of(env, "FI_OPX_ENDPOINTS_PER_HFI_CONTEXT"), "2");
    assert_int_equal(json_object_size(env), 7);
    assert_string_equal(text_of(job, "interconnect"), "omnipath");
    assert_string_equal(text_of(job, "partition_key"), "0x8001");
    assert_int_equal(json_integer_value(json_object_get(job, "tasks_per_node")), 24);
    assert_int_equal(json_integer_value(json_object_get(job, "cpus_per_task")), 4);
    assert_int_equal(json_array_size(json_object_get(job, "vnis")), 0);
    json_decref(job);
}

static void slingshot__is_what_a_cluster_is_on(void **state)
{
    struct scene *scene = *state;
    json_t *job = scene_ask(scene, "PUT", JOBS "a", REQUEST(""), 201);
    assert_string_equal(text_of(job, "interconnect"), "slingshot");
    assert_int_equal(json_array_size(json_object_get(job, "vnis")), 1);
    assert_null(json_object_get(job, "partition_key"));
    json_decref(job);
}

/* ---- its key is the job's ---- */

static bool file_has(const struct scene *scene, const char *name, const char *text)
{
    char path[512];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", testbed_folder(scene->testbed), name);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    assert_int_equal(fstat(fileno(file), &status), 0);
    char *bytes = malloc((size_t)status.st_size + 1);
    assert_non_null(bytes);
    const size_t length = fread(bytes, 1, (size_t)status.st_size, file);
    const bool found = memmem(bytes, length, text, strlen(text));
    free(bytes);
    fclose(file);
    return found;
}

/* Sealed on disk, in no list, event or log; and the same after a crash (B6, B8). */
static void key__is_the_jobs_secret(void **state)
{
    struct scene *scene = *state;
    char key[64], other[64], again[64];
    reserve_omnipath(scene, JOBS "a", 201, key);
    reserve_omnipath(scene, JOBS "b", 201, other);
    assert_string_not_equal(key, other);
    static const char *const pages[] = {"/v1/jobs", "/v1/status"};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        json_t *page = scene_ask(scene, "GET", pages[i], NULL, 200);
        char *text = json_dumps(page, 0);
        assert_non_null(text);
        assert_null(strstr(text, key));
        free(text);
        json_decref(page);
    }
    testbed_kill_broker(scene->testbed);
    assert_false(file_has(scene, "state.db", key));
    assert_false(file_has(scene, "state.db-wal", key));
    assert_true(file_has(scene, "state.db", "elcap") || file_has(scene, "state.db-wal", "elcap"));
    assert_int_equal(testbed_start_broker(scene->testbed), 0);
    reserve_omnipath(scene, JOBS "a", 200, again);
    assert_string_equal(again, key);
    scene_call(scene, "DELETE", JOBS "a", NULL, 202);
    reserve_omnipath(scene, JOBS "a", 201, again); /* another start, another key */
    assert_string_not_equal(again, key);
    assert_false(testbed_broker_logged(scene->testbed, key));
    assert_true(testbed_broker_logged(scene->testbed, "elcap-a"));
}

static void pool__that_is_exhausted_is_told(void **state)
{
    struct scene *scene = *state;
    char key[64];
    reserve_omnipath(scene, JOBS "a", 201, key);
    reserve_omnipath(scene, JOBS "b", 201, key);
    json_t *problem = scene_ask(scene, "PUT", JOBS "c", REQUEST(OMNIPATH), 503);
    assert_string_equal(text_of(problem, "code"), "partition-keys-exhausted");
    assert_non_null(strstr(text_of(problem, "detail"), "add to [omnipath] partition_keys"));
    json_decref(problem);
    scene_call(scene, "GET", JOBS "c", NULL, 404);
    scene_call(scene, "DELETE", JOBS "a", NULL, 202);
    reserve_omnipath(scene, JOBS "c", 201, key);
}

/* ---- on a node ---- */

static void node__makes_and_reports_nothing(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    char key[64];
    reserve_omnipath(scene, JOBS "a", 201, key);
    scene_call(scene, "PUT", JOBS "n", REQUEST(NONE), 201);
    for (const char *job = "an"; *job != '\0'; job++) {
        EXPECT_RUN(0, "prolog --job %c" ON_N1, *job);
        assert_string_equal(fixture->err, "");
        EXPECT_RUN(0, "env --job %c" ON_N1, *job);
        fixture_expect_out(fixture, "unset SLINGSHOT_VNIS\n");
        EXPECT_RUN(0, "epilog --job %c" ON_N1, *job);
        assert_string_equal(fixture->err, "");
        assert_nothing_was_asked_of_nics(scene);
    }
    /* It waits for no report of a node. */
    scene_call(scene, "DELETE", JOBS "a", NULL, 202);
    scene_call(scene, "GET", JOBS "a", NULL, 404);
    EXPECT_SERVICES(0);
}

/* ---- by a launch document ---- */

static void write_launch(struct scene *scene, json_t *job)
{
    scene_write_file(scene, "", text_of(job, "launch"));
    json_decref(job);
}

static void document__carries_the_key_to_the_tasks(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    char key[64], expected[128];
    scene_needs_root(scene);
    reserve_omnipath(scene, JOBS "a", 201, key);
    write_launch(scene, scene_ask(scene, "PUT", JOBS "a", REQUEST(OMNIPATH ",\"launch\":{}"), 200));
    scene_hide_broker();
    EXPECT_RUN(0, "prolog --job a --launch %s" ON_N1, scene->file);
    assert_string_equal(fixture->err, "");
    fixture->prints_secrets = true;
    EXPECT_RUN(0, "env --job a --launch %s" ON_N1, scene->file);
    snprintf(expected, sizeof expected, "export FI_OPX_UUID='%s'\n", key);
    fixture_expect_out(fixture, expected);
    fixture_expect_out(fixture, "export FI_PSM3_UUID='");
    fixture_expect_out(fixture, "export PSM3_PKEY='0x8001'\n");
    fixture_expect_out(fixture, "unset SLINGSHOT_VNIS\n");
    fixture->prints_secrets = false;
    assert_nothing_was_asked_of_nics(scene);
}

/* Each value is for the node's driver or for the tasks (P4). */
static void open_document(struct scene *scene, json_t *job, struct launch *launch)
{
    struct error err;
    char *text =
        credential_open(testmunged_socket(scene->munged), text_of(job, "launch"), geteuid(), &err);
    assert_non_null(text);
    assert_int_equal(launch_parse(launch, text, strlen(text), &err), 0);
    free(text);
    json_decref(job);
}

static void document__has_what_its_interconnect_has(void **state)
{
    struct scene *scene = *state;
    struct launch launch;
    scene_needs_root(scene);
    open_document(scene, scene_ask(scene, "PUT", JOBS "a", REQUEST(OMNIPATH ",\"launch\":{}"), 201),
                  &launch);
    assert_string_equal(launch.interconnect, "omnipath");
    assert_int_equal(json_object_size(launch.driver), 2);
    assert_int_equal(json_integer_value(json_object_get(launch.driver, "tasks_per_node")), 24);
    assert_int_equal(json_integer_value(json_object_get(launch.driver, "cpus_per_task")), 4);
    assert_int_equal(json_object_size(launch.tasks), 7);
    launch_release(&launch);
    open_document(scene, scene_ask(scene, "PUT", JOBS "n", REQUEST(NONE ",\"launch\":{}"), 201),
                  &launch);
    assert_string_equal(launch.interconnect, "none");
    assert_int_equal(json_object_size(launch.driver), 0);
    assert_int_equal(json_object_size(launch.tasks), 0);
    launch_release(&launch);
    open_document(
        scene,
        scene_ask(scene, "PUT", JOBS "s", REQUEST(",\"cpus_per_task\":4,\"launch\":{}"), 201),
        &launch);
    assert_string_equal(launch.interconnect, "slingshot");
    assert_int_equal(json_array_size(json_object_get(launch.driver, "vnis")), 1);
    assert_int_equal(json_integer_value(json_object_get(launch.driver, "cpus_per_task")), 4);
    launch_release(&launch);
}

static void document__of_another_layout_is_refused(void **state)
{
    struct scene *scene = *state;
    static const char *const others[] = {"{\"interconnect\":\"slingshot\"}",
                                         "{\"tasks_per_node\":23}", "{\"cpus_per_task\":5}"};
    scene_call(scene, "PUT", JOBS "a", REQUEST(OMNIPATH), 201);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        json_t *problem = scene_ask(scene, "POST", JOBS "a/launch", others[i], 409);
        assert_string_equal(text_of(problem, "code"), "conflict");
        json_decref(problem);
    }
    scene_call(scene, "POST", JOBS "a/launch",
               "{\"interconnect\":\"omnipath\",\"tasks_per_node\":24}", 200);
}

/* An interconnect of a newer broker: nothing is made by guessing. */
static void document__of_an_unknown_interconnect_is_refused(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    struct error err;
    scene_needs_root(scene);
    struct launch launch = {.interconnect = "elan",
                            .cluster = "elcap",
                            .job = "a",
                            .number = 7,
                            .restart = -1,
                            .uid = 5588,
                            .node_count = 2,
                            .nodes = "n[1-2]",
                            .issued_s = (int64_t)time(NULL),
                            .expires_s = (int64_t)time(NULL) + 60,
                            .driver = json_object(),
                            .tasks = json_object()};
    char *document = launch_format(&launch);
    char *envelope = credential_close(testmunged_socket(scene->munged), document, &err);
    assert_non_null(envelope);
    write_launch(scene, json_pack("{s:s}", "launch", envelope));
    free(envelope);
    free(document);
    json_decref(launch.driver);
    json_decref(launch.tasks);
    EXPECT_RUN(3, "prolog --job a --launch %s" ON_N1, scene->file);
    fixture_expect_err(fixture, "interconnect elan, which this mcast-node does not know");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, scene_close)

UNIT_MAIN(TEST(omnipath__tells_tasks_what_libfabric_reads),
          TEST(slingshot__is_what_a_cluster_is_on), TEST(key__is_the_jobs_secret),
          TEST(pool__that_is_exhausted_is_told), TEST(node__makes_and_reports_nothing),
          TEST(document__carries_the_key_to_the_tasks),
          TEST(document__has_what_its_interconnect_has),
          TEST(document__of_another_layout_is_refused),
          TEST(document__of_an_unknown_interconnect_is_refused))
