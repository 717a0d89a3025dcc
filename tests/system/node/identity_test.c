/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-node by its node's certificate, and the real broker: a node may ask what may run on it, so
 * that it can clean, and whatever it is not shown it leaves alone (F11, S5). */

#include "tests/system/http/tlssite.h"
#include "tests/system/node/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scene {
    struct fixture *fixture;
    struct tlssite *tls;
};

/* n1 has its certificate; tuo's nodes are not configured. */
static int open_scene(void **state)
{
    static const struct site_options options = {
        .mcastd = MCASTD, .users = "cert:elcap-rm", .nodes = "n[1-4]"};
    struct scene *scene = calloc(1, sizeof *scene);
    char config[512], url[64];
    if (!scene || fixture_create((void **)&scene->fixture) < 0)
        return -1;
    scene->tls = tlssite_open(&options);
    tlssite_issue(scene->tls, "n1");
    const char *testcert = scene->tls->certificates;
    snprintf(config, sizeof config, "cacert = %s/ca.pem\ncert = %s/n1.pem\nkey = %s/n1.key\n",
             testcert, testcert, testcert);
    fixture_set_config(scene->fixture, config);
    snprintf(url, sizeof url, "https://127.0.0.1:%d", site_port(scene->tls->site));
    setenv("MCAST_URL", url, 1);
    *state = scene;
    return 0;
}

static int close_scene(void **state)
{
    struct scene *scene = *state;
    tlssite_close(scene->tls);
    fixture_destroy((void **)&scene->fixture);
    free(scene);
    return 0;
}

static void call(struct scene *scene, const char *method, const char *job, const char *body,
                 int status)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/clusters/%s", job);
    assert_int_equal(site_call(scene->tls->site, method, path, body, NULL), status);
}

/* Makes the job's services by what an admin is shown of it, and lets the node forget that it did.
 */
static void run_unremembered(struct scene *scene, const char *job, const char *node)
{
    struct answer answer;
    char path[96], arguments[128];
    snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    assert_int_equal(site_call(scene->tls->site, "GET", path, NULL, &answer), 200);
    snprintf(arguments, sizeof arguments, "prolog --job %s --node %s --reservation -", job, node);
    assert_int_equal(fixture_run_with(scene->fixture, answer.body, arguments), 0);
    snprintf(path, sizeof path, "%s/spool/%lld.json", scene->fixture->folder,
             (long long)json_integer_value(json_object_get(answer.json, "number")));
    assert_int_equal(remove(path), 0);
    answer_release(&answer);
}

static void clean__leaves_what_may_be_active_here(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    call(scene, "PUT", "elcap/jobs/f1", "{\"uid\":5588,\"nodes\":\"n[1-2]\"}", 201);
    call(scene, "PUT", "elcap/jobs/f2", "{\"uid\":5588,\"node_count\":2}", 201);
    run_unremembered(scene, "f1", "n1");
    run_unremembered(scene, "f2", "n1");
    EXPECT_RUN(0, "clean --all");
    assert_string_equal(fixture->err, "");
    EXPECT_SERVICES(8);
    call(scene, "DELETE", "elcap/jobs/f1", NULL, 202);
    EXPECT_RUN_LEAVES(0, 4, "clean --all");
    call(scene, "DELETE", "elcap/jobs/f2", NULL, 202);
    EXPECT_RUN_LEAVES(0, 0, "clean --all");
}

/* An active job that names none of the cluster's nodes is shown to none of them by its name. */
static void clean__remembers_a_job_that_named_no_nodes(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    struct answer answer;
    call(scene, "PUT", "elcap/jobs/f2", "{\"uid\":5588,\"node_count\":2}", 201);
    site_call(scene->tls->site, "GET", "/v1/clusters/elcap/jobs/f2", NULL, &answer);
    assert_int_equal(fixture_run_with(fixture, answer.body, "prolog --job f2 --reservation -"), 0);
    answer_release(&answer);
    EXPECT_RUN_LEAVES(0, 4, "clean");
    call(scene, "DELETE", "elcap/jobs/f2", NULL, 202);
    EXPECT_RUN_LEAVES(0, 0, "clean");
}

/* Another cluster's job could have made the services; only its cluster's people may see it. */
static void clean__takes_nothing_while_jobs_are_hidden(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    call(scene, "PUT", "elcap/jobs/f1", "{\"uid\":5588,\"nodes\":\"n1\"}", 201);
    run_unremembered(scene, "f1", "n1");
    call(scene, "DELETE", "elcap/jobs/f1", NULL, 202);
    call(scene, "PUT", "tuo/jobs/f3", "{\"uid\":5588,\"nodes\":\"n[1-2]\"}", 201);
    EXPECT_RUN(1, "clean --all");
    fixture_expect_err(fixture, "one of 1 active jobs that may run on n1 and are not shown");
    EXPECT_SERVICES(4);
    call(scene, "DELETE", "tuo/jobs/f3", NULL, 202);
    EXPECT_RUN_LEAVES(0, 0, "clean --all");
}

/* Nor does it suffice to manage one of the clusters. */
static void clean__by_a_resource_manager_heeds_other_clusters(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    char config[512];
    const char *testcert = scene->tls->certificates;
    tlssite_issue(scene->tls, "elcap-rm");
    snprintf(config, sizeof config,
             "cacert = %s/ca.pem\ncert = %s/elcap-rm.pem\nkey = %s/elcap-rm.key\n", testcert,
             testcert, testcert);
    fixture_set_config(fixture, config);
    call(scene, "PUT", "elcap/jobs/f1", "{\"uid\":5588,\"nodes\":\"n1\"}", 201);
    call(scene, "PUT", "elcap/jobs/f2", "{\"uid\":5588,\"nodes\":\"elsewhere\"}", 201);
    run_unremembered(scene, "f1", "n1");
    run_unremembered(scene, "f2", "elsewhere");
    call(scene, "DELETE", "elcap/jobs/f1", NULL, 202);
    call(scene, "PUT", "tuo/jobs/f3", "{\"uid\":5588,\"node_count\":2}", 201);
    EXPECT_RUN(1, "clean --all");
    fixture_expect_err(fixture, "one of 1 active jobs that may run on n1 and are not shown");
    EXPECT_SERVICES(8);
    call(scene, "DELETE", "tuo/jobs/f3", NULL, 202);
    EXPECT_RUN(0, "clean --all");
    /* It sees all of its cluster's, wherever they are said to run. */
    EXPECT_SERVICES(4);
}

static void clean__of_another_node_s_name_is_refused(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    call(scene, "PUT", "elcap/jobs/f1", "{\"uid\":5588,\"nodes\":\"n1\"}", 201);
    run_unremembered(scene, "f1", "n1");
    call(scene, "DELETE", "elcap/jobs/f1", NULL, 202);
    EXPECT_RUN(1, "clean --all --node n2");
    fixture_expect_err(fixture, "certificate \"n1\" may not do this");
    fixture_expect_err(fixture, "which jobs may be active here cannot be known");
    EXPECT_SERVICES(4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)

UNIT_MAIN(TEST(clean__leaves_what_may_be_active_here),
          TEST(clean__remembers_a_job_that_named_no_nodes),
          TEST(clean__takes_nothing_while_jobs_are_hidden),
          TEST(clean__by_a_resource_manager_heeds_other_clusters),
          TEST(clean__of_another_node_s_name_is_refused))
