/* SPDX-License-Identifier: Apache-2.0 */
/* Launch documents, from the real broker to a node (S1, S5, P4, B10): the node asks no broker. And
 * each way to use one where it is not good. */

#include "base/memory.h"
#include "launch/credential.h"
#include "launch/document.h"
#include "tests/system/node/scene.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/boottime.h"

#include <grp.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define JOB "/v1/clusters/elcap/jobs/f17"
#define REQUEST "{\"uid\":5588,\"nodes\":\"n[1-2]\",\"cores_per_node\":8,\"hwcoll\":\"on\""
#define LONG_LIST "alpha[1-9],beta[1-9],gamma[1-9],delta[1-9],epsilon[1-9],zeta[1-9],n[1-2]"
#define ON_N1 " --node n1"

enum { MINUTE = 60, HOUR = 60 * MINUTE, OWNER = 5588, OTHER_USER = 4444 };

static int open_scene(void **state, bool sealed)
{
    return scene_open(state, sealed,
                      (struct testbed_options){.mcastd = MCASTD,
                                               .mock_fm = MOCK_FM,
                                               .hwcoll = "min_nodes = 2\ntotal_addresses = 100\n"
                                                         "system_nodes = 100\njob_ca = yes\n"});
}

/* Files that the broker finds in a folder of the test's own: the fabric manager's CA, genders. */
static char own_folder[FOLDER_PATH_SIZE], ca_path[FOLDER_PATH_SIZE + 16];

static int open_with_ca(void **state)
{
    static char hwcoll[256];
    assert_int_equal(folder_create(own_folder), 0);
    assert_int_equal(chmod(own_folder, 0755), 0); /* the owners of jobs read it */
    assert_int_equal(folder_write(own_folder, "ca.pem", 0644, ""), 0);
    folder_path(ca_path, sizeof ca_path, own_folder, "ca.pem");
    snprintf(hwcoll, sizeof hwcoll, "min_nodes = 2\naddresses_per_job = 1\njob_ca = %s\n", ca_path);
    return scene_open(
        state, false,
        (struct testbed_options){.mcastd = MCASTD, .mock_fm = MOCK_FM, .hwcoll = hwcoll});
}

static int open_with_addresses(void **state)
{
    static char inventory[FOLDER_PATH_SIZE + 64];
    assert_int_equal(folder_create(own_folder), 0);
    assert_int_equal(folder_write(own_folder, "genders", 0644,
                                  "n1 nic0=0x1200,nic1=0x1240\nn2 nic0=0x1201,nic1=0x1241\n"
                                  "n3 nic0=0x1202\n"),
                     0);
    snprintf(inventory, sizeof inventory, "source = file\nfile = %s/genders\n", own_folder);
    return scene_open(
        state, false,
        (struct testbed_options){.mcastd = MCASTD, .mock_fm = MOCK_FM, .inventory = inventory});
}

static int close_with_folder(void **state)
{
    folder_destroy(own_folder);
    return scene_close(state);
}

static int open_with_munge(void **state)
{
    return open_scene(state, false);
}

static int open_sealed(void **state)
{
    return open_scene(state, true);
}

/* As the resource manager does: the answer's document into the file. */
static void ask(struct scene *scene, const char *method, const char *path, const char *body,
                int status)
{
    json_t *answer = scene_ask(scene, method, path, body, status);
    const char *launch = json_string_value(json_object_get(answer, "launch"));
    assert_non_null(launch);
    assert_null(strpbrk(launch, " \n"));
    assert_null(json_object_get(answer, "env"));
    scene_write_file(scene, "", launch);
    json_decref(answer);
}

/* ---- what it is for ---- */

static void job__starts_without_a_broker(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, REQUEST ",\"launch\":{\"restart\":0}}", 201);
    scene_hide_broker();
    EXPECT_RUN(0, "prolog --job f17 --launch %s --restart 0 --user 5588" ON_N1, scene->file);
    assert_string_equal(fixture->err, "");
    EXPECT_SERVICES(4);
    fixture->prints_secrets = true;
    EXPECT_RUN(0, "env --job f17 --launch %s --restart 0" ON_N1, scene->file);
    fixture_expect_out(fixture, "export SLINGSHOT_VNIS='1024'\n");
    fixture_expect_out(fixture, "export FI_CXI_COLL_JOB_ID='elcap-f17'\n");
    fixture_expect_out(fixture, "export FI_CXI_COLL_MCAST_TOKEN='");
    fixture_expect_out(fixture, "export FI_CXI_HWCOLL_MIN_NODES='2'\n");
    EXPECT_RUN(0, "env --job f17 --launch %s --format null" ON_N1, scene->file);
    EXPECT_RUN(0, "env --job f17 --launch %s --format json" ON_N1, scene->file);
    json_t *json = json_loads(fixture->out, JSON_REJECT_DUPLICATES, NULL);
    assert_string_equal(json_string_value(json_object_get(json, "FI_CXI_COLL_JOB_STEP_ID")), "0");
    json_decref(json);
    fixture->prints_secrets = false;
    /* It can be run again, and its epilog needs no document; its word reaches the broker later. */
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17" ON_N1);
}

/* B1: a node knows by the document which VNIs are shared, so that what is left of one job there is
 * no hindrance to the other. */
static void shared_vni__of_two_jobs_is_known_as_such(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    scene_needs_root(scene);
    json_decref(scene_ask(scene, "PUT", "/v1/vnis/daos", "{\"uid\":1,\"any_user\":true}", 201));
    ask(scene, "PUT", JOB, REQUEST ",\"shared_vnis\":[\"daos\"],\"launch\":{}}", 201);
    EXPECT_RUN(0, "prolog --job f17 --launch %s" ON_N1, scene->file);
    fixture_set_cxi(fixture,
                    "nics = 4\n[fault stuck]\ncall = destroy_svc\nnic = cxi2\nerrno = EBUSY\n");
    EXPECT_RUN(5, "epilog --job f17 --retry-busy 0s" ON_N1);
    ask(scene, "PUT", "/v1/clusters/elcap/jobs/f18",
        "{\"uid\":4444,\"nodes\":\"n1\",\"shared_vnis\":[\"daos\"],\"launch\":{}}", 201);
    EXPECT_RUN_LEAVES(0, 5, "prolog --job f18 --launch %s" ON_N1, scene->file);
    fixture_set_cxi(fixture, "nics = 4\n");
    EXPECT_RUN_LEAVES(0, 1, "epilog --job f18" ON_N1);
    EXPECT_RUN_LEAVES(0, 0, "tend" ON_N1);
}

/* libfabric would look for it without end (F16, F23): where it is not, tasks have the node's own
 * store.
 */
static void ca__that_is_not_on_the_node_is_not_told(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    char line[128];
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, REQUEST ",\"launch\":{}}", 201);
    EXPECT_RUN(0, "prolog --job f17 --launch %s" ON_N1, scene->file);
    fixture->prints_secrets = true;
    EXPECT_RUN(0, "env --job f17 --launch %s" ON_N1, scene->file);
    snprintf(line, sizeof line, "export FI_CXI_COLL_FABRIC_MGR_CACERT='%s'\n", ca_path);
    fixture_expect_out(fixture, line);
    assert_string_equal(fixture->err, "");
    static const mode_t closed[] = {0600, 0640}; /* root's alone; its group's, which daemons have */
    const gid_t group = getegid();
    assert_int_equal(setgroups(1, &group), 0);
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
        assert_int_equal(chmod(ca_path, closed[i]), 0);
        EXPECT_RUN(0, "env --job f17 --launch %s" ON_N1, scene->file);
        fixture_expect_out(fixture, "export FI_CXI_COLL_FABRIC_MGR_CACERT='yes'\n");
        fixture_expect_err(fixture, "that uid 5588 can read");
    }
    assert_int_equal(unlink(ca_path), 0);
    EXPECT_RUN(0, "env --job f17 --launch %s" ON_N1, scene->file);
    fixture_expect_out(fixture, "export FI_CXI_COLL_FABRIC_MGR_CACERT='yes'\n");
    fixture_expect_err(fixture, "put the fabric manager's CA there");
    fixture->prints_secrets = false;
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17" ON_N1);
}

/* The node's list, not its "created", says who may have services: its VNI waits for both nodes
 * (F3, I1). */
static void vni__waits_for_the_nodes_of_the_document(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, REQUEST ",\"launch\":{}}", 201);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
    scene_call(scene, "DELETE", JOB, NULL, 202);
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(testbed_http(scene->testbed), "GET", JOB, NULL, &reply), 200);
    const json_t *waiting = json_object_get(reply.json, "waiting_for");
    assert_int_equal(json_integer_value(json_object_get(waiting, "count")), 2);
    assert_int_equal(json_integer_value(json_object_get(waiting, "unheard")), 2);
    plainhttp_reply_release(&reply);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17" ON_N1);
    EXPECT_RUN(0, "epilog --job f17 --node n2");
    scene_call(scene, "GET", JOB, NULL, 404); /* nothing is left to wait for */
}

/* Small for any number of nodes; the resource manager's list is compared. */
static void list__of_any_length_has_a_short_document(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    scene_needs_root(scene);
    scene_call(scene, "PUT", JOB, "{\"uid\":5588,\"nodes\":\"" LONG_LIST "\",\"hwcoll\":\"on\"}",
               201);
    ask(scene, "POST", JOB "/launch", "{\"restart\":3,\"expires\":\"1h\"}", 200);
    struct stat status;
    assert_int_equal(stat(scene->file, &status), 0);
    /* A Slurm job's comment has 1,024, with its user's words, and its Extra; what is sealed is not
     * compressed. */
    assert_true(status.st_size < (scene->sealed ? 1024 : 900));
    scene_hide_broker();
    EXPECT_RUN(4, "prolog --job f17 --patience 0s --launch %s" ON_N1, scene->file);
    fixture_expect_err(fixture, "--nodes");
    EXPECT_RUN(4, "prolog --job f17 --patience 0s --launch %s --nodes n[1-2]" ON_N1, scene->file);
    fixture_expect_err(fixture, "another node list");
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s --nodes " LONG_LIST ON_N1, scene->file);
}

/* As a hook finds it: in a variable, beside its user's own words. */
static void document__is_found_among_other_words(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    char text[4096];
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, REQUEST ",\"launch\":{}}", 201);
    FILE *file = fopen(scene->file, "re");
    assert_non_null(file);
    assert_non_null(fgets(text + 8, sizeof text - 8, file));
    fclose(file);
    memcpy(text, "my job! ", 8);
    setenv("SLURM_JOB_COMMENT", text, 1);
    scene_hide_broker();
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch env:SLURM_JOB_COMMENT" ON_N1);
    setenv("SLURM_JOB_COMMENT", "my job!", 1);
    EXPECT_RUN(4, "prolog --job f17 --patience 0s --launch env:SLURM_JOB_COMMENT" ON_N1);
    fixture_expect_err(fixture, "env:SLURM_JOB_COMMENT has no launch document");
    unsetenv("SLURM_JOB_COMMENT");
}

/* The addresses of the job's own nodes travel beside the document, which stays small (P1); its
 * digest says whether they are what the broker wrote. */
static void addresses__of_the_jobs_nodes_come_beside_it(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    scene_needs_root(scene);
    json_t *answer = scene_ask(scene, "PUT", JOB, REQUEST ",\"launch\":{\"addresses\":true}}", 201);
    const char *launch = json_string_value(json_object_get(answer, "launch"));
    const char *addresses = json_string_value(json_object_get(answer, "node_addresses"));
    assert_non_null(launch);
    assert_string_equal(addresses, "MCASTN.n[1-2]=0x01200+1,0x01240+1");
    char *line = memory_format("%s %s", launch, addresses);
    char *bare = memory_text(launch);
    json_decref(answer);
    scene_write_file(scene, "", line);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
    assert_string_equal(fixture->err, "");
    fixture->prints_secrets = true;
    EXPECT_RUN(0, "env --job f17 --launch %s" ON_N1, scene->file);
    fixture_expect_out(fixture, "export MCAST_NODE_ADDRESSES='n[1-2]=0x01200+1,0x01240+1'\n");
    /* Changed on the way, or lost: the job starts without them. */
    line[strlen(line) - 1] = '2';
    scene_write_file(scene, "", line);
    EXPECT_RUN(0, "env --job f17 --launch %s" ON_N1, scene->file);
    assert_null(strstr(fixture->out, "MCAST_NODE_ADDRESSES"));
    fixture_expect_err(fixture, "are not those that were made with its launch document");
    scene_write_file(scene, "", bare);
    EXPECT_RUN(0, "env --job f17 --launch %s" ON_N1, scene->file);
    assert_null(strstr(fixture->out, "MCAST_NODE_ADDRESSES"));
    fixture_expect_err(fixture, "did not come with its launch document");
    fixture->prints_secrets = false;
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17" ON_N1);
    /* Nodes of which none is known. */
    answer = scene_ask(scene, "PUT", "/v1/clusters/elcap/jobs/f18",
                       "{\"uid\":5588,\"nodes\":\"x[1-2]\",\"launch\":{\"addresses\":true}}", 201);
    assert_null(json_object_get(answer, "node_addresses"));
    assert_non_null(strstr(json_string_value(json_object_get(answer, "warning")), "is known"));
    json_decref(answer);
    free(line);
    free(bare);
}

/* ---- where it is not good ---- */

static struct launch ordinary(void)
{
    const int64_t now_s = (int64_t)time(NULL);
    return (struct launch){.interconnect = "slingshot",
                           .cluster = "elcap",
                           .job = "f17",
                           .number = 7,
                           .restart = 1,
                           .uid = OWNER,
                           .node_count = 2,
                           .nodes = "n[1-2]",
                           .issued_s = now_s,
                           .expires_s = now_s + HOUR};
}

/* A document as the broker would make it, by its user, into the file. */
static void forge(struct scene *scene, struct launch launch)
{
    struct error err;
    launch.driver = json_pack("{s:[i]}", "vnis", 1024);
    launch.tasks = json_object();
    char *document = launch_format(&launch);
    assert_non_null(document);
    char *envelope = scene->sealed
                         ? sealed_close(&scene->keys.at[0], document, &err)
                         : credential_close(testmunged_socket(scene->munged), document, &err);
    assert_non_null(envelope);
    scene_write_file(scene, "", envelope);
    free(envelope);
    free(document);
    json_decref(launch.driver);
    json_decref(launch.tasks);
}

/* No service is made by it: the broker decides, which is not there. */
static void expect_refusal(struct scene *scene, const char *options, const char *why)
{
    struct fixture *fixture = scene->fixture;
    scene_hide_broker();
    EXPECT_RUN(4, "prolog --job f17 --patience 0s --launch %s --restart 1 --user 5588%s",
               scene->file, options);
    fixture_expect_err(fixture, why);
    fixture_expect_err(fixture, "the broker is asked instead");
    EXPECT_SERVICES(0);
}

static void document__of_something_else_is_refused(void **state)
{
    struct scene *scene = *state;
    struct launch launch;
    scene_needs_root(scene);
    scene_hide_broker();
    launch = ordinary(), launch.job = "f18", forge(scene, launch);
    expect_refusal(scene, ON_N1, "is of job f18, not of job f17");
    launch = ordinary(), launch.cluster = "tuo", forge(scene, launch);
    expect_refusal(scene, ON_N1 " --cluster elcap", "is of cluster tuo");
    launch = ordinary(), launch.restart = 0, forge(scene, launch);
    expect_refusal(scene, ON_N1, "is of start 0 of job f17, this is start 1");
    launch = ordinary(), launch.uid = OTHER_USER, forge(scene, launch);
    expect_refusal(scene, ON_N1, "is for uid 4444, but job f17 is of uid 5588");
    launch = ordinary(), forge(scene, launch);
    expect_refusal(scene, " --node n3", "(n3) is not in the node list");
    /* And this one is good. */
    struct fixture *fixture = scene->fixture;
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s --restart 1 --user 5588" ON_N1,
                      scene->file);
}

static bool is_forgotten(void *arg)
{
    const struct scene *scene = arg;
    return plainhttp_probe(testbed_http(scene->testbed), JOB) == 404;
}

/* P4: made while the job is pending, on the nodes where it is planned. When it starts there the
 * document is good; a confirmation asks whether the reservation is, and makes a fresh one. That is
 * no second start: at the end the nodes' word is enough. */
static void document__is_prepared_ahead(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, REQUEST ",\"launch\":{\"restart\":0}}", 201);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s --restart 0 --nodes n[1-2]" ON_N1,
                      scene->file);
    ask(scene, "POST", JOB "/launch", "{\"restart\":0,\"expires\":\"1h\"}", 200);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s --restart 0 --nodes n[1-2]" ON_N1,
                      scene->file);
    scene_call(scene, "DELETE", JOB, NULL, 202);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17" ON_N1);
    EXPECT_RUN(0, "epilog --job f17 --node n2");
    assert_true(await(is_forgotten, scene, AWAIT_DEADLINE_MS));
    scene_call(scene, "POST", JOB "/launch", NULL, 404); /* it must be reserved anew */
}

/* P4: it starts on other nodes than planned. That nothing ran on those only the resource manager
 * knows, and says; else their silence would keep the VNI. */
static void document__prepared_for_other_nodes_is_replaced(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    scene_needs_root(scene);
    ask(scene, "PUT", JOB,
        "{\"uid\":5588,\"nodes\":\"n[2-3]\",\"cores_per_node\":8,\"hwcoll\":\"on\","
        "\"launch\":{\"restart\":1}}",
        201);
    scene_call(scene, "PUT", JOB, REQUEST ",\"launch\":{\"restart\":1}}", 409);
    scene_call(scene, "PUT", JOB "/nodes",
               "{\"number\":1,\"state\":\"destroyed\",\"nodes\":\"n[2-3]\"}", 200);
    scene_call(scene, "DELETE", JOB, NULL, 202);
    assert_true(await(is_forgotten, scene, AWAIT_DEADLINE_MS)); /* its VNI is free */
    expect_refusal(scene, ON_N1, "(n1) is not in the node list");
    ask(scene, "PUT", JOB, REQUEST ",\"launch\":{\"restart\":1}}", 201);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s --restart 1 --nodes n[1-2]" ON_N1,
                      scene->file);
}

/* The clocks of broker and node may differ by five minutes. */
static void document__out_of_its_time_is_refused(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    struct launch launch = ordinary();
    scene_needs_root(scene);
    scene_hide_broker();
    launch.issued_s -= 2 * HOUR, launch.expires_s = launch.issued_s + HOUR;
    forge(scene, launch);
    expect_refusal(scene, ON_N1, "expired");
    launch = ordinary(), launch.issued_s += 10 * MINUTE, forge(scene, launch);
    expect_refusal(scene, ON_N1, "in the future of this node: compare its clock");
    launch = ordinary(), launch.issued_s += 4 * MINUTE, forge(scene, launch);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
}

static void document__changed_is_refused(void **state)
{
    struct scene *scene = *state;
    char text[4096];
    scene_needs_root(scene);
    scene_hide_broker();
    forge(scene, ordinary());
    FILE *file = fopen(scene->file, "re");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    char *middle = text + strlen(text) / 2;
    *middle = *middle == 'A' ? 'B' : 'A';
    scene_write_file(scene, "", text);
    expect_refusal(scene, ON_N1, "");
    *middle = '\0';
    scene_write_file(scene, "", text);
    expect_refusal(scene, ON_N1, scene->sealed ? "launch document" : "cut short, or changed");
}

/* A user can make a MUNGE credential with any text in it. */
static void document__of_a_user_is_refused(void **state)
{
    struct scene *scene = *state;
    char config[320];
    scene_needs_root(scene);
    scene_hide_broker();
    forge(scene, ordinary());
    snprintf(config, sizeof config, "launch_user = %d\n%s", OTHER_USER, scene->lines);
    fixture_set_config(scene->fixture, config);
    expect_refusal(scene, ON_N1, "was made by uid 0, and the broker is uid 4444: see launch_user");
}

/* A resource manager can restart a job under its id, and a user can keep an old document. */
static void document__of_a_start_that_is_over_is_refused(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    struct launch launch = ordinary();
    scene_needs_root(scene);
    scene_hide_broker();
    forge(scene, launch);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17" ON_N1);
    expect_refusal(scene, ON_N1, "is of this start of job elcap/f17, which has ended on this node");
    /* The next start has a number of its own; the first one's is still refused beside it. */
    launch.number = 9, forge(scene, launch);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
    launch.number = 8, forge(scene, launch);
    EXPECT_RUN_LEAVES(4, 4, "prolog --job f17 --patience 0s --launch %s" ON_N1, scene->file);
    fixture_expect_err(fixture, "has been started again on this node");
}

/* B11: two brokers, as from one copied configuration, or an older copy of the ledger give one
 * number to two jobs: what is remembered of the one is not lost, nor ended with the other. */
static void number__of_another_job_is_refused(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    struct launch launch = ordinary();
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, REQUEST ",\"launch\":{}}", 201);
    launch.job = "f18", launch.number = 1, forge(scene, launch);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f18 --launch %s" ON_N1, scene->file);
    EXPECT_RUN_LEAVES(0, 4, "epilog --job f17" ON_N1); /* is told number 1 */
    EXPECT_RUN_LEAVES(6, 4, "prolog --job f17" ON_N1);
    fixture_expect_err(fixture, "job elcap/f17: reservation 1 is job elcap/f18's on this node");
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f18" ON_N1);
}

/* The same when the broker has the epilog's word, and nothing of the job is remembered but that. */
static void end__is_remembered_after_its_report(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, REQUEST ",\"launch\":{\"restart\":1}}", 201);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
    scene_call(scene, "DELETE", JOB, NULL, 202);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17" ON_N1);
    assert_false(fixture_remembers(fixture));
    expect_refusal(scene, ON_N1, "which has ended on this node");
}

/* I1: an epilog may come before its prolog, on a node that remembers nothing; when the VNIs are
 * another job's already, a late prolog must not make services for them. */
static void epilog__goes_before_a_late_prolog(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, REQUEST ",\"launch\":{}}", 201);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17" ON_N1);
    expect_refusal(scene, ON_N1, "which has ended on this node");
    /* Nor when the broker knows the job no more, or is away itself. */
    struct launch launch = ordinary();
    launch.job = "f18", launch.number = 8, forge(scene, launch);
    EXPECT_RUN_LEAVES(4, 0, "epilog --job f18" ON_N1);
    EXPECT_RUN_LEAVES(4, 0, "prolog --job f18 --patience 0s --launch %s" ON_N1, scene->file);
    fixture_expect_err(fixture, "which has ended on this node");
}

/* I1: nor after the node's word on a job that was cancelled before its prologs: it never heard of
 * it, and its VNIs are free then. */
static void document__of_a_missed_job_is_refused(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    char path[FOLDER_PATH_SIZE + 64];
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, REQUEST ",\"launch\":{}}", 201);
    scene_call(scene, "DELETE", JOB, NULL, 202);
    fixture_set_config(fixture, "missed_every = 1s\n");
    EXPECT_RUN(0, "tend" ON_N1);
    for (int node = 1; node <= 2; node++) {
        scene_call(scene, "GET", JOB, NULL, 200); /* its VNI waits */
        folder_path(path, sizeof path, fixture->folder, "spool");
        assert_int_equal(folder_write(path, "missed", 0600, "0\n"), 0);
        EXPECT_RUN(0, "tend --node n%d", node);
        assert_string_equal(fixture->err, "");
    }
    scene_call(scene, "GET", JOB, NULL, 404);
    fixture_set_config(fixture, scene->config);
    EXPECT_RUN_LEAVES(3, 0, "prolog --job f17 --launch %s" ON_N1, scene->file);
    fixture_expect_err(fixture, "is of this start of job elcap/f17, which has ended on this node");
    /* Its next start has another number. */
    ask(scene, "PUT", JOB, REQUEST ",\"launch\":{}}", 201);
    scene_hide_broker();
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
}

/* I1: nor may it after an epilog of what the broker was asked for, as a node does that was booted
 * just before, or could not open the document then: its "destroyed" counts, and VNIs are another's.
 */
static void epilog__of_what_the_broker_gave_goes_before_a_late_prolog(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, REQUEST ",\"launch\":{}}", 201);
    fixture_set_config(fixture, "launch_user = 0\nmunge_socket = /nonexistent/munge\n");
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
    scene_call(scene, "DELETE", JOB, NULL, 202);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17" ON_N1);
    EXPECT_RUN(0, "epilog --job f17 --node n2");
    scene_call(scene, "GET", JOB, NULL, 404); /* its VNI is free */
    fixture_set_config(fixture, scene->config);
    expect_refusal(scene, ON_N1, "which has ended on this node");
}

/* I1: what nodes said of an earlier start must not count for this one, whose nodes are silent. */
static void reservation__of_which_nodes_spoke_has_no_document(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, REQUEST ",\"launch\":{}}", 201);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17" ON_N1);
    scene_call(scene, "PUT", JOB, REQUEST ",\"launch\":{}}", 409);
    scene_call(scene, "POST", JOB "/launch", NULL, 409);
}

/* I1: the machine is started anew, and nothing of the job is left on it; the broker, which was told
 * nothing of it, is told that. */
static void boot__ends_what_a_document_made(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    struct plainhttp_reply reply;
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, "{\"uid\":5588,\"nodes\":\"n1\",\"launch\":{}}", 201);
    fixture_set_config(fixture, scene->config);
    EXPECT_RUN(0, "prolog --job f17 --launch %s" ON_N1, scene->file);
    EXPECT_SERVICES(4);
    assert_true(fixture_edit_spool(fixture, "1", "\"boot\": \"", "\"boot\": \"x"));
    scene_call(scene, "DELETE", JOB, NULL, 202);
    EXPECT_RUN(0, "boot" ON_N1);
    assert_int_equal(plainhttp_call(testbed_http(scene->testbed), "GET", JOB, NULL, &reply), 404);
    plainhttp_reply_release(&reply);
}

/* What was made before the boot, which may be forgotten here, or at about its time. */
static void document__of_before_the_boot_is_refused(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    struct launch launch = ordinary();
    scene_needs_root(scene);
    launch.issued_s = boottime_usual() - 1000, forge(scene, launch);
    expect_refusal(scene, ON_N1, "of before this node booted, or of the 300 s after that");
    launch.issued_s = boottime_usual() + 299, forge(scene, launch);
    expect_refusal(scene, ON_N1, "of before this node booted, or of the 300 s after that");
    launch.issued_s = boottime_usual() + 301, forge(scene, launch);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
}

/* S1: it has what it needs all the same. And so much later it believes what is new. */
static void node__asks_the_broker_in_the_minutes_after_its_boot(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, "{\"uid\":5588,\"nodes\":\"n1\",\"launch\":{}}", 201);
    boottime_set((int64_t)time(NULL) - MINUTE);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
    fixture_expect_err(fixture, "of the 300 s after that");
    fixture_expect_err(fixture, "the broker is asked instead");
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17" ON_N1);
    struct launch launch = ordinary();
    launch.number = 9, forge(scene, launch);
    expect_refusal(scene, ON_N1, "of the 300 s after that");
    boottime_set((int64_t)time(NULL) - 6 * MINUTE);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
}

/* The node forgets all that it has done, and what it has made is gone. */
static void lose_spool(struct fixture *fixture)
{
    char command[256];
    snprintf(command, sizeof command, "rm -r %s/spool %s/cxi/state", fixture->folder,
             fixture->folder);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): names of our own */
}

/* The reservations of the ledger, and its clock, are from before the node's boot. */
static void age_ledger(struct scene *scene)
{
    char path[FOLDER_PATH_SIZE + 16], sql[256];
    sqlite3 *db;
    const long long released_ms = (long long)(boottime_usual() - 310) * 1000;
    assert_int_equal(testbed_stop_broker(scene->testbed), 0);
    folder_path(path, sizeof path, testbed_folder(scene->testbed), "state.db");
    snprintf(sql, sizeof sql,
             "UPDATE reservation SET created_ms = %lld, released_ms = %lld;"
             "UPDATE facts SET holds_from_ms = 0",
             released_ms - 1000, released_ms);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(testbed_start_broker(scene->testbed), 0);
}

/* How many nodes the released job's VNIs wait for. */
static json_int_t waiting_nodes(struct scene *scene)
{
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(testbed_http(scene->testbed), "GET", JOB, NULL, &reply), 200);
    const json_t *count = json_object_get(json_object_get(reply.json, "waiting_for"), "count");
    const json_int_t nodes = json_integer_value(count);
    plainhttp_reply_release(&reply);
    return nodes;
}

/* F3: the spool of a diskless node is gone with the machine. Of a job that was over by its boot the
 * broker needs no other word; of one that may have begun since, it does (I1). */
static void boot__suffices_for_a_node_that_lost_its_spool(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, "{\"uid\":5588,\"nodes\":\"n1\",\"launch\":{}}", 201);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
    scene_call(scene, "DELETE", JOB, NULL, 202);
    lose_spool(fixture);
    EXPECT_RUN_LEAVES(0, 0, "boot" ON_N1);
    assert_int_equal(waiting_nodes(scene), 1); /* it was booted long before */
    age_ledger(scene);
    EXPECT_RUN(0, "boot --node n2");
    assert_int_equal(waiting_nodes(scene), 1);
    EXPECT_RUN(0, "boot" ON_N1);
    assert_string_equal(fixture->err, "");
    assert_int_equal(waiting_nodes(scene), 0);
    /* After its restart the broker waits ten minutes more, as it may have granted it twice. */
}

/* A node that can open no document asks the broker, as without one. */
static void node__that_cannot_open_it_asks_the_broker(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    scene_needs_root(scene);
    ask(scene, "PUT", JOB, REQUEST ",\"launch\":{}}", 201);
    fixture_set_config(fixture, "launch_user = 0\nmunge_socket = /nonexistent/munge\n");
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
    fixture_expect_err(fixture, "munged at /nonexistent/munge does not answer");
    fixture_expect_err(fixture, "the broker is asked instead");
    EXPECT_RUN(6, "env --job f17 --launch %s" ON_N1, scene->file);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17" ON_N1);
    fixture_set_config(fixture, "launch_user = no_such_user\n");
    scene_hide_broker();
    EXPECT_RUN_LEAVES(4, 0, "prolog --job f17 --patience 0s --launch %s" ON_N1, scene->file);
    fixture_expect_err(fixture, "set launch_user in node.conf");
}

/* ---- without MUNGE (S5) ---- */

static void expect_ask_instead(struct scene *scene, const char *why)
{
    expect_refusal(scene, ON_N1, why);
    struct fixture *fixture = scene->fixture;
    EXPECT_RUN(6, "env --job f17 --launch %s" ON_N1, scene->file);
    fixture_expect_err(fixture, why);
}

/* Each site has one kind, and believes no other. */
static void envelope__of_the_other_kind_is_refused(void **state)
{
    struct scene *scene = *state;
    fixture_set_config(scene->fixture, "");
    forge(scene, ordinary());
    expect_ask_instead(scene,
                       "is sealed with a launch key, and this node has none: set launch_key");
    fixture_set_config(scene->fixture, scene->config);
    scene_write_file(scene, "", CREDENTIAL_PREFIX "AwQFAwB8");
    expect_ask_instead(scene, "is a MUNGE credential, and this node takes sealed ones");
}

/* Who is root on one node makes nothing for another: what is there reads documents only. */
static void document__of_another_key_is_refused(void **state)
{
    struct scene *scene = *state;
    struct error err;
    const struct launch_key broker = scene->keys.at[0];
    struct launch_key other;
    assert_int_equal(launch_key_create(&other, &err), 0);
    scene->keys.at[0] = other;
    forge(scene, ordinary());
    expect_ask_instead(scene, "with a launch key that this node does not have");
    memcpy(scene->keys.at[0].seal, broker.seal, sizeof broker.seal);
    memcpy(scene->keys.at[0].verify, broker.verify, sizeof broker.verify);
    forge(scene, ordinary()); /* with all that a node has, and a signature of its own */
    expect_ask_instead(scene, "is not signed by the broker's key, but made with what a node's");
    scene->keys.at[0] = broker;
    memcpy(scene->keys.at[0].seal, other.seal, sizeof other.seal);
    forge(scene, ordinary());
    expect_ask_instead(scene, "is damaged, or sealed with another key");
}

/* Nodes have the next key before the broker uses it, and the old one for a time after. */
static void key__is_replaced_under_documents(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    struct error err;
    struct launch launch = ordinary();
    const struct launch_key first = scene->keys.at[0];
    scene->keys.count = 2;
    assert_int_equal(launch_key_create(&scene->keys.at[1], &err), 0);
    scene_write_keys(scene, &scene->keys, true);
    scene_hide_broker();
    forge(scene, ordinary());
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17 --launch %s" ON_N1, scene->file);
    scene->keys.at[0] = scene->keys.at[1];
    launch.job = "f18", launch.number = 8, forge(scene, launch);
    EXPECT_RUN_LEAVES(0, 8, "prolog --job f18 --launch %s" ON_N1, scene->file);
    /* The old one is taken away: what was made with it is not good any more. */
    scene->keys.count = 1;
    scene_write_keys(scene, &scene->keys, true);
    scene->keys.at[0] = first;
    launch.job = "f19", launch.number = 9, forge(scene, launch);
    EXPECT_RUN_LEAVES(4, 8, "prolog --job f19 --patience 0s --launch %s" ON_N1, scene->file);
    fixture_expect_err(fixture, "with a launch key that this node does not have");
}

/* By a file that others can read, or that can sign, a node believes nothing. */
static void key_file__is_judged_on_the_node(void **state)
{
    struct scene *scene = *state;
    struct fixture *fixture = scene->fixture;
    char path[FOLDER_PATH_SIZE + 16], config[320];
    forge(scene, ordinary());
    folder_path(path, sizeof path, scene->folder, "node-launch.key");
    snprintf(config, sizeof config, "%s/node.conf", fixture->folder);
    EXPECT_RUN(0, "--check --config %s", config);
    EXPECT_RUN(2, "--check --config"); /* not the usual file instead */
    EXPECT_RUN(2, "--check --config %s more", config);
    assert_int_equal(chmod(path, 0644), 0);
    expect_ask_instead(scene, "can be read by others: chmod 0600");
    EXPECT_RUN(1, "--check --config %s", config);
    fixture_expect_err(fixture, "node-launch.key can be read by others");
    snprintf(config, sizeof config, "launch_key = %s/launch.keys\n", scene->folder);
    fixture_set_config(fixture, config);
    expect_ask_instead(scene, "has the broker's signing key, which nodes must not have");
    assert_int_equal(unlink(path), 0);
    fixture_set_config(fixture, scene->config);
    expect_ask_instead(scene, "it should hold what mcastd --node-launch-key prints");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_with_munge, scene_close)
#define SEALED(test)                                                                               \
    {                                                                                              \
#test " (sealed)", test, open_sealed, scene_close, NULL                                    \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(job__starts_without_a_broker),
        TEST(shared_vni__of_two_jobs_is_known_as_such),
        cmocka_unit_test_setup_teardown(ca__that_is_not_on_the_node_is_not_told, open_with_ca,
                                        close_with_folder),
        TEST(vni__waits_for_the_nodes_of_the_document),
        TEST(document__is_prepared_ahead),
        TEST(document__prepared_for_other_nodes_is_replaced),
        TEST(list__of_any_length_has_a_short_document),
        cmocka_unit_test_setup_teardown(addresses__of_the_jobs_nodes_come_beside_it,
                                        open_with_addresses, close_with_folder),
        TEST(document__is_found_among_other_words),
        TEST(document__of_something_else_is_refused),
        TEST(document__out_of_its_time_is_refused),
        TEST(document__changed_is_refused),
        TEST(document__of_a_user_is_refused),
        TEST(document__of_a_start_that_is_over_is_refused),
        TEST(number__of_another_job_is_refused),
        TEST(end__is_remembered_after_its_report),
        TEST(epilog__goes_before_a_late_prolog),
        TEST(epilog__of_what_the_broker_gave_goes_before_a_late_prolog),
        TEST(document__of_a_missed_job_is_refused),
        TEST(reservation__of_which_nodes_spoke_has_no_document),
        TEST(boot__ends_what_a_document_made),
        TEST(node__that_cannot_open_it_asks_the_broker),
        TEST(document__of_before_the_boot_is_refused),
        TEST(node__asks_the_broker_in_the_minutes_after_its_boot),
        TEST(boot__suffices_for_a_node_that_lost_its_spool),
        SEALED(job__starts_without_a_broker),
        SEALED(document__is_prepared_ahead),
        SEALED(document__prepared_for_other_nodes_is_replaced),
        SEALED(list__of_any_length_has_a_short_document),
        SEALED(document__is_found_among_other_words),
        SEALED(document__of_something_else_is_refused),
        SEALED(document__out_of_its_time_is_refused),
        SEALED(document__changed_is_refused),
        SEALED(document__of_a_start_that_is_over_is_refused),
        SEALED(document__of_a_missed_job_is_refused),
        SEALED(envelope__of_the_other_kind_is_refused),
        SEALED(document__of_another_key_is_refused),
        SEALED(key__is_replaced_under_documents),
        SEALED(key_file__is_judged_on_the_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
