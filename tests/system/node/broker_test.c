/* SPDX-License-Identifier: Apache-2.0 */
/* mcast-node and the real broker: what one writes the other understands (F1, F3, F7, F9, I1, S1,
 * S5). */

#include "tests/system/node/realbroker.h"
#include "tests/system/rig/await.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void release(struct testbed *testbed, const char *job)
{
    struct plainhttp_reply reply;
    char path[128];
    snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    assert_int_equal(plainhttp_call(testbed_http(testbed), "DELETE", path, NULL, &reply), 202);
    plainhttp_reply_release(&reply);
}

static struct testbed *start_broker(void)
{
    const struct testbed_options options = {.mcastd = MCASTD};
    return realbroker_start(&options);
}

/* A number of an object of the broker's status. */
static json_int_t counted(struct testbed *testbed, const char *object, const char *name)
{
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(testbed_http(testbed), "GET", "/v1/status", NULL, &reply), 200);
    const json_t *number = json_object_get(json_object_get(reply.json, object), name);
    assert_true(json_is_integer(number));
    json_int_t count = json_integer_value(number);
    plainhttp_reply_release(&reply);
    return count;
}

/* The node that the status says to look at first. */
static void expect_first_lingering(struct testbed *testbed, const char *node)
{
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(testbed_http(testbed), "GET", "/v1/status", NULL, &reply), 200);
    const json_t *nodes = json_object_get(reply.json, "nodes");
    const char *first = json_string_value(json_object_get(nodes, "lingering_first"));
    assert_non_null(first);
    assert_string_equal(first, node);
    plainhttp_reply_release(&reply);
}

/* Of job f17, whose VNIs are quarantined: the whole of waiting_for, in one line. */
static void expect_waiting(struct testbed *testbed, const char *waiting)
{
    struct plainhttp_reply reply;
    assert_int_equal(
        plainhttp_call(testbed_http(testbed), "GET", "/v1/clusters/elcap/jobs/f17", NULL, &reply),
        200);
    char *text =
        json_dumps(json_object_get(reply.json, "waiting_for"), JSON_COMPACT | JSON_SORT_KEYS);
    assert_non_null(text);
    assert_string_equal(text, waiting);
    free(text);
    plainhttp_reply_release(&reply);
}

/* What the job's other node says. */
static void other_node_is_clean(struct testbed *testbed)
{
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(testbed_http(testbed), "PUT",
                                    "/v1/clusters/elcap/jobs/f17/nodes/n2",
                                    "{\"state\":\"destroyed\",\"number\":1}", &reply),
                     200);
    plainhttp_reply_release(&reply);
}

#define TWO_NODES "{\"uid\":5588,\"nodes\":\"n[1-2]\",\"cores_per_node\":8}"

/* B7: node.conf names several, of which one is away. */
static void brokers__one_is_away(void **state)
{
    struct fixture *fixture = *state;
    char config[512];
    struct testbed *testbed = start_broker();
    unsetenv("MCAST_URL");
    snprintf(config, sizeof config, "url = unix:%s/away.sock, unix:%s\n", fixture->folder,
             testbed_socket(testbed));
    fixture_set_config(fixture, config);
    realbroker_reserve(testbed, "f17", "{\"uid\":5588,\"nodes\":\"n1\",\"cores_per_node\":8}", 201);
    EXPECT_RUN(0, "prolog --job f17");
    EXPECT_RUN(0, "epilog --job f17");
    snprintf(config, sizeof config, "url = %s/away.sock %s/gone.sock\n", fixture->folder,
             fixture->folder);
    fixture_set_config(fixture, config);
    EXPECT_RUN(4, "prolog --job f17");
    fixture_expect_err(fixture, "none of the 2 brokers serves this now");
    fixture_expect_err(fixture, "/gone.sock: No such file or directory");
    testbed_destroy(testbed);
}

/* From the prolog to the VNI that is free: every state, as the broker sees it. */
static void vnis__quarantined_while_a_service_is_left(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = start_broker();
    realbroker_reserve(testbed, "f17", TWO_NODES, 201);
    EXPECT_RUN(0, "prolog --job f17");
    release(testbed, "f17");
    expect_waiting(
        testbed,
        "{\"count\":2,\"created\":1,\"lingering\":0,\"nodes\":[\"n1\"],\"reports\":[{\"node\":"
        "\"n1\",\"services\":\"cxi0:2,cxi1:2,cxi2:2,cxi3:2\",\"state\":\"created\"}],"
        "\"silent\":\"n2\",\"unheard\":1}");
    fixture_set_cxi(fixture, "nics = 4\n[fault stuck]\ncall = destroy_svc\nnic = cxi2\n"
                             "errno = EBUSY\n");
    EXPECT_RUN(5, "epilog --job f17 --retry-busy 0s");
    assert_int_equal(counted(testbed, "nodes", "lingering"), 1);
    expect_first_lingering(testbed, "n1");
    other_node_is_clean(testbed);
    expect_waiting(
        testbed,
        "{\"count\":1,\"created\":0,\"lingering\":1,\"nodes\":[\"n1\"],\"reports\":[{\"node\":"
        "\"n1\",\"services\":\"cxi2:2\",\"state\":\"lingering\"}],\"unheard\":0}");
    fixture_set_cxi(fixture, "nics = 4\n");
    assert_int_equal(counted(testbed, "vnis", "held"), 1);
    EXPECT_RUN_LEAVES(0, 0, "housekeeping --job f17");
    assert_int_equal(counted(testbed, "vnis", "held"), 0);
    assert_int_equal(counted(testbed, "nodes", "lingering"), 0);
    testbed_destroy(testbed);
}

/* B1: two jobs of a node share VNIs, one of them with four in all; what the one leaves is not the
 * other's, and theirs is free when both are gone. */
static void shared_vnis__of_two_jobs_on_a_node(void **state)
{
#define ON_N1 "{\"uid\":1000,\"nodes\":\"n1\",\"vni_count\":"
    struct fixture *fixture = *state;
    struct testbed *testbed = start_broker();
    struct plainhttp_reply reply;
    static const char *const names[] = {"a", "b"};
    for (size_t i = 0; i < 2; i++) {
        char path[32];
        snprintf(path, sizeof path, "/v1/vnis/%s", names[i]);
        assert_int_equal(
            plainhttp_call(testbed_http(testbed), "PUT", path, "{\"uid\":1000}", &reply), 201);
        plainhttp_reply_release(&reply);
    }
    realbroker_reserve(testbed, "f17", ON_N1 "2,\"shared_vnis\":[\"a\",\"b\"]}", 201);
    realbroker_reserve(testbed, "f18", ON_N1 "1,\"shared_vnis\":[\"b\"]}", 201);
    EXPECT_RUN(0, "prolog --job f17");
    EXPECT_RUN(0, "prolog --job f18");
    EXPECT_SERVICES(8);
    EXPECT_RUN(0, "env --job f17");
    fixture_expect_out(fixture, "1026,1027,1024,1025");
    release(testbed, "f17");
    EXPECT_RUN(0, "epilog --job f17");
    EXPECT_SERVICES(4); /* those of f18 */
    assert_int_equal(
        plainhttp_call(testbed_http(testbed), "DELETE", "/v1/vnis/b?when=unused", NULL, &reply),
        202);
    plainhttp_reply_release(&reply);
    release(testbed, "f18");
    assert_int_equal(counted(testbed, "vnis", "held"), 2); /* its own, and b */
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f18");
    assert_int_equal(counted(testbed, "vnis", "held"), 0);
    assert_int_equal(counted(testbed, "vnis", "shared"), 1);
    testbed_destroy(testbed);
}

static bool is_asking_on(void *arg)
{
    char path[128], line[512];
    bool found = false;
    snprintf(path, sizeof path, "%s/log", ((struct fixture *)arg)->folder);
    FILE *log = fopen(path, "re");
    while (log && !found && fgets(line, sizeof line, log))
        found = strstr(line, "retrying for");
    if (log)
        fclose(log);
    return found;
}

/* A broker that is restarted while a job begins costs the job a moment (F20). */
static void prolog__waits_for_a_broker_that_is_restarted(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = start_broker();
    fixture_set_config(fixture, "busy_retry = 10m\n");
    realbroker_reserve(testbed, "f17", TWO_NODES, 201);
    assert_int_equal(testbed_stop_broker(testbed), 0);
    struct process *prolog = fixture_start(fixture, "prolog --job f17");
    assert_true(await(is_asking_on, fixture, AWAIT_DEADLINE_MS));
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(fixture_join(prolog), 0);
    EXPECT_SERVICES(4);
    /* A report that can be sent later delays no command. */
    assert_int_equal(testbed_stop_broker(testbed), 0);
    EXPECT_RUN(0, "epilog --job f17");
    assert_null(strstr(fixture->err, "retrying for"));
    assert_int_equal(testbed_start_broker(testbed), 0);
    EXPECT_RUN(0, "tend");
    assert_false(fixture_remembers(fixture));
    testbed_destroy(testbed);
}

/* The node cleans up without the broker, and tells it when it is back. */
static void report__is_delivered_to_the_broker_s_next_life(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = start_broker();
    realbroker_reserve(testbed, "f17", TWO_NODES, 201);
    EXPECT_RUN(0, "prolog --job f17");
    other_node_is_clean(testbed);
    release(testbed, "f17");
    testbed_kill_broker(testbed);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
    assert_true(fixture_remembers(fixture));
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(counted(testbed, "vnis", "held"), 1);
    EXPECT_RUN(0, "clean");
    assert_int_equal(counted(testbed, "vnis", "held"), 0);
    assert_false(fixture_remembers(fixture));
    testbed_destroy(testbed);
}

/* Services for a reservation that the broker does not know are destroyed at once. */
static void services__of_no_reservation_do_not_stay(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = start_broker();
    realbroker_reserve(testbed, "f17", TWO_NODES, 201);
    assert_int_equal(fixture_run_with(fixture, fixture_job("f17", 2, "1024", 8),
                                      "prolog --job f17 --reservation -"),
                     3);
    fixture_expect_err(fixture, "has no reservation");
    EXPECT_SERVICES(0);
    assert_false(fixture_remembers(fixture));
    testbed_destroy(testbed);
}

/* The job's document, and whether it has VNIs. */
static bool show(struct testbed *testbed, char out[4096])
{
    struct plainhttp_reply reply;
    assert_int_equal(
        plainhttp_call(testbed_http(testbed), "GET", "/v1/clusters/elcap/jobs/f17", NULL, &reply),
        200);
    bool has = json_array_size(json_object_get(reply.json, "vnis")) > 0;
    snprintf(out, 4096, "%s", reply.text);
    plainhttp_reply_release(&reply);
    return has;
}

static bool vnis_are_given_back(void *arg)
{
    char text[4096];
    return !show(arg, text);
}

/* A prolog that was held up for so long that its job is over, and the job's VNIs are free for
 * others while the fabric manager still has to give the rest back: what it made goes at once, and
 * the hook is told that the job must fail (F3, F10, I1). */
static void created__after_the_vnis_were_given_back(void **state)
{
    const struct testbed_options options = {
        .mcastd = MCASTD,
        .mock_fm = MOCK_FM,
        .hwcoll = "min_nodes = 2\naddresses_per_job = 20\ntotal_addresses = 4086",
        .vni = "hold = 1ms"};
    struct fixture *fixture = *state;
    struct testbed *testbed = realbroker_start(&options);
    char before[4096];
    realbroker_reserve(testbed, "f17", TWO_NODES, 201);
    assert_true(show(testbed, before));
    assert_non_null(strstr(before, "\"reserved\""));
    testbed_kill_fm(testbed);
    release(testbed, "f17");
    assert_true(await(vnis_are_given_back, testbed, AWAIT_DEADLINE_MS));
    assert_int_equal(counted(testbed, "vnis", "held"), 0);

    assert_int_equal(fixture_run_with(fixture, before, "prolog --job f17 --reservation -"), 3);
    fixture_expect_err(fixture,
                       "the job's services are destroyed again: job f17 is over and its VNIs "
                       "are given back: destroy the services");
    EXPECT_SERVICES(0);
    assert_false(fixture_remembers(fixture)); /* the broker has taken "destroyed" */
    assert_int_equal(counted(testbed, "nodes", "lingering"), 0);
    EXPECT_RUN(0, "epilog --job f17");
    testbed_destroy(testbed);
}

/* The same when the broker was away as the prolog reported: the next command hears of it. */
static void created__told_after_the_vnis_were_given_back(void **state)
{
    const struct testbed_options options = {
        .mcastd = MCASTD,
        .mock_fm = MOCK_FM,
        .hwcoll = "min_nodes = 2\naddresses_per_job = 20\ntotal_addresses = 4086",
        .vni = "hold = 1ms"};
    struct fixture *fixture = *state;
    struct testbed *testbed = realbroker_start(&options);
    char before[4096];
    realbroker_reserve(testbed, "f17", TWO_NODES, 201);
    assert_true(show(testbed, before));
    testbed_kill_broker(testbed);
    assert_int_equal(fixture_run_with(fixture, before, "prolog --job f17 --reservation -"), 0);
    EXPECT_SERVICES(4);
    testbed_kill_fm(testbed);
    assert_int_equal(testbed_start_broker(testbed), 0);
    release(testbed, "f17");
    assert_true(await(vnis_are_given_back, testbed, AWAIT_DEADLINE_MS));
    EXPECT_RUN(0, "epilog --job f99");
    fixture_expect_err(fixture,
                       "job elcap/f17: job f17 is over and its VNIs are given back: destroy "
                       "the services; its services are destroyed");
    EXPECT_SERVICES(0);
    assert_false(fixture_remembers(fixture));
    testbed_destroy(testbed);
}

static void broker__s_reservations_become_services(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = start_broker();
    char words[128];
    unsigned int vni = realbroker_reserve(testbed, "f17",
                                          "{\"uid\":5588,\"nodes\":\"n[1-2]\",\"cores_per_node\":8,"
                                          "\"traffic_classes\":[\"best_effort\"]}",
                                          201);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17");
    EXPECT_RUN(0, "env --job f17 --format slurm");
    snprintf(words, sizeof words, "SLINGSHOT_VNIS=%u\n", vni);
    fixture_expect_out(fixture, words);
    fixture_expect_out(fixture, "SLINGSHOT_TCS=0x08\n");
    /* Live, it is nobody's to clean, though nothing here remembers it. */
    snprintf(words, sizeof words, "%s/spool/1.json", fixture->folder);
    assert_int_equal(remove(words), 0);
    EXPECT_RUN_LEAVES(0, 4, "clean --all");
    release(testbed, "f17");
    EXPECT_RUN(3, "prolog --job f17");
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
    assert_false(fixture_remembers(fixture));
    EXPECT_RUN(3, "prolog --job f99");
    testbed_destroy(testbed);
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(broker__s_reservations_become_services, fixture_create,
                                          fixture_destroy),
          cmocka_unit_test_setup_teardown(brokers__one_is_away, fixture_create, fixture_destroy),
          cmocka_unit_test_setup_teardown(vnis__quarantined_while_a_service_is_left, fixture_create,
                                          fixture_destroy),
          cmocka_unit_test_setup_teardown(shared_vnis__of_two_jobs_on_a_node, fixture_create,
                                          fixture_destroy),
          cmocka_unit_test_setup_teardown(prolog__waits_for_a_broker_that_is_restarted,
                                          fixture_create, fixture_destroy),
          cmocka_unit_test_setup_teardown(report__is_delivered_to_the_broker_s_next_life,
                                          fixture_create, fixture_destroy),
          cmocka_unit_test_setup_teardown(services__of_no_reservation_do_not_stay, fixture_create,
                                          fixture_destroy),
          cmocka_unit_test_setup_teardown(created__after_the_vnis_were_given_back, fixture_create,
                                          fixture_destroy),
          cmocka_unit_test_setup_teardown(created__told_after_the_vnis_were_given_back,
                                          fixture_create, fixture_destroy))
