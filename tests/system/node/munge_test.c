/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-node on hosts that have MUNGE and no certificate, and the real broker behind TLS: root of a
 * node does what its hooks need, for this node only (F1, F3, S5). Nodes are called by addresses, to
 * which each of these names resolves on any machine. */

#include "tests/system/http/testmunged.h"
#include "tests/system/http/tlssite.h"
#include "tests/system/node/fixture.h"
#include "tests/system/rig/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOB "/v1/clusters/elcap/jobs/f17"
#define BOTH_NODES "{\"uid\":5588,\"nodes\":\"192.0.2.[7-8]\",\"cores_per_node\":8}"
#define AS_NODE7 " --node 192.0.2.7"

struct scene {
    struct fixture *fixture;
    struct tlssite *tls;
    struct testmunged *broker, *node7, *node8;
    char folder[FOLDER_PATH_SIZE], lines[256];
};

static int open_scene(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    char url[64], cacert[128];
    void *fixture = NULL;
    assert_non_null(scene);
    assert_int_equal(fixture_create(&fixture), 0);
    scene->fixture = fixture;
    assert_int_equal(folder_create(scene->folder), 0);
    assert_int_equal(chmod(scene->folder, 0711), 0);
    scene->broker = testmunged_start_at(scene->folder, "broker", 'a', "192.0.2.1");
    scene->node7 = testmunged_start_at(scene->folder, "node7", 'a', "192.0.2.7");
    scene->node8 = testmunged_start_at(scene->folder, "node8", 'a', "192.0.2.8");
    snprintf(scene->lines, sizeof scene->lines, "munge_socket = %s\n",
             testmunged_socket(scene->broker));
    scene->tls = tlssite_open(
        &(struct site_options){.mcastd = MCASTD, .nodes = "192.0.2.[7-8]", .broker = scene->lines});
    snprintf(url, sizeof url, "https://127.0.0.1:%d", site_port(scene->tls->site));
    snprintf(cacert, sizeof cacert, "%s/ca.pem", scene->tls->certificates);
    setenv("MCAST_URL", url, 1);
    setenv("MCAST_CACERT", cacert, 1);
    unsetenv("MCAST_CERT");
    unsetenv("MCAST_KEY");
    setenv("MCAST_MUNGE_SOCKET", testmunged_socket(scene->node7), 1);
    *state = scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;
    void *fixture = scene->fixture;
    tlssite_close(scene->tls);
    testmunged_stop(scene->broker);
    testmunged_stop(scene->node7);
    testmunged_stop(scene->node8);
    folder_destroy(scene->folder);
    free(scene);
    return fixture_destroy(&fixture);
}

static void skip_unless_root(void)
{
    if (geteuid() != 0)
        skip(); /* a user's credential is no node's */
}

/* As the resource manager does, by the broker's socket. */
static void call(struct scene *scene, const char *method, const char *path, const char *body,
                 int status)
{
    assert_int_equal(site_call(scene->tls->site, method, path, body, NULL), status);
}

static json_int_t held(struct scene *scene)
{
    struct answer answer;
    assert_int_equal(site_call(scene->tls->site, "GET", "/v1/status", NULL, &answer), 200);
    json_int_t count =
        json_integer_value(json_object_get(json_object_get(answer.json, "vnis"), "held"));
    answer_release(&answer);
    return count;
}

/* From prolog to epilog with nothing configured but what signed the broker's certificate: the VNIs
 * are free when both nodes have said that they are clean. */
static void job__is_prepared_and_cleaned_up_after(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    skip_unless_root();
    call(scene, "PUT", JOB, BOTH_NODES, 201);
    EXPECT_RUN(0, "prolog --job f17" AS_NODE7);
    assert_string_equal(fixture->err, "");
    EXPECT_SERVICES(4);
    call(scene, "DELETE", JOB, NULL, 202);
    call(scene, "PUT", JOB "/nodes/192.0.2.8", "{\"state\":\"destroyed\",\"number\":1}", 200);
    assert_int_equal(held(scene), 1);
    EXPECT_RUN(0, "epilog --job f17" AS_NODE7);
    assert_string_equal(fixture->err, "");
    EXPECT_SERVICES(0);
    assert_false(fixture_remembers(fixture));
    assert_int_equal(held(scene), 0);
}

/* A job that is over, whose epilog never ran. */
static void clean__asks_about_the_jobs_of_its_node(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    skip_unless_root();
    call(scene, "PUT", JOB, BOTH_NODES, 201);
    EXPECT_RUN(0, "prolog --job f17" AS_NODE7);
    EXPECT_RUN_LEAVES(0, 4, "clean" AS_NODE7);
    call(scene, "DELETE", JOB, NULL, 202);
    EXPECT_RUN_LEAVES(0, 0, "clean" AS_NODE7);
    call(scene, "PUT", JOB "/nodes/192.0.2.8", "{\"state\":\"destroyed\",\"number\":1}", 200);
    assert_int_equal(held(scene), 0);
}

/* What nobody remembers: it may ask what may run on it (F11). */
static void clean_all__asks_what_may_run_on_its_node(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    char note[128];
    skip_unless_root();
    call(scene, "PUT", JOB, BOTH_NODES, 201);
    EXPECT_RUN(0, "prolog --job f17" AS_NODE7);
    snprintf(note, sizeof note, "%s/spool/1.json", fixture->folder);
    assert_int_equal(remove(note), 0);
    EXPECT_RUN_LEAVES(0, 4, "clean --all" AS_NODE7);
    assert_string_equal(fixture->err, "");
    call(scene, "DELETE", JOB, NULL, 202);
    setenv("MCAST_MUNGE_SOCKET", testmunged_socket(scene->node8), 1);
    EXPECT_RUN(1, "clean --all" AS_NODE7);
    fixture_expect_err(fixture, "MUNGE credential of uid 0 from 192.0.2.8 may not do this");
    EXPECT_SERVICES(4);
    setenv("MCAST_MUNGE_SOCKET", testmunged_socket(scene->node7), 1);
    EXPECT_RUN_LEAVES(0, 0, "clean --all" AS_NODE7);
}

/* Whoever speaks for another node is refused, told why, and changes nothing: above all, a job that
 * is active does not seem to be over to it (I1). */
static void other_node__is_refused(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    skip_unless_root();
    call(scene, "PUT", JOB, BOTH_NODES, 201);
    EXPECT_RUN(0, "prolog --job f17" AS_NODE7);
    setenv("MCAST_MUNGE_SOCKET", testmunged_socket(scene->node8), 1);
    EXPECT_RUN(1, "clean" AS_NODE7);
    fixture_expect_err(fixture, "MUNGE credential of uid 0 from 192.0.2.8 may not do this");
    fixture_expect_err(fixture, "\"192.0.2.7\" resolves to 192.0.2.7 on the broker's host");
    fixture_expect_err(fixture, "its services are left alone");
    EXPECT_SERVICES(4);
    setenv("MCAST_MUNGE_SOCKET", testmunged_socket(scene->node7), 1);
    EXPECT_RUN(0, "epilog --job f17" AS_NODE7);
    setenv("MCAST_MUNGE_SOCKET", testmunged_socket(scene->node8), 1);
    EXPECT_RUN(1, "prolog --job f17" AS_NODE7);
    fixture_expect_err(fixture, "--origin");
    EXPECT_SERVICES(0);
}

/* A munged that node.conf names has to be there; else the refusal tells that none was. */
static void munged__that_is_away_is_named(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    call(scene, "PUT", JOB, BOTH_NODES, 201);
    fixture_set_config(fixture, "munge_socket = /nonexistent/munge\n");
    EXPECT_RUN(4, "prolog --job f17" AS_NODE7);
    fixture_expect_err(fixture, "no MUNGE credential from /nonexistent/munge");
    fixture_set_config(fixture, "");
    setenv("MCAST_MUNGE_SOCKET", "/nonexistent/other", 1);
    EXPECT_RUN(1, "prolog --job f17" AS_NODE7);
    fixture_expect_err(fixture, "authentication required");
    fixture_expect_err(fixture, "no MUNGE credential from /nonexistent/other");
    EXPECT_SERVICES(0);
}

/* Its certificate is proof enough, also where munged is named and away. */
static void certificate__goes_before_munge(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    char lines[400];
    tlssite_issue(scene->tls, "192.0.2.7");
    snprintf(lines, sizeof lines,
             "cert = %s/192.0.2.7.pem\nkey = %s/192.0.2.7.key\nmunge_socket = /nonexistent/m\n",
             scene->tls->certificates, scene->tls->certificates);
    fixture_set_config(fixture, lines);
    call(scene, "PUT", JOB, BOTH_NODES, 201);
    EXPECT_RUN(0, "prolog --job f17" AS_NODE7);
    assert_string_equal(fixture->err, "");
    EXPECT_SERVICES(4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)

UNIT_MAIN(TEST(job__is_prepared_and_cleaned_up_after), TEST(clean__asks_about_the_jobs_of_its_node),
          TEST(clean_all__asks_what_may_run_on_its_node), TEST(other_node__is_refused),
          TEST(munged__that_is_away_is_named), TEST(certificate__goes_before_munge))
