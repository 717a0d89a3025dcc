/* SPDX-License-Identifier: Apache-2.0 */
/* What a site and a job choose (F2, F7, F12); docs/mcast-node.md has the list of it. */

#include "tests/system/node/realbroker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void give_job(struct fixture *fixture)
{
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 10));
}

static void limits__of_a_job_go_before_the_site_s(void **state)
{
    struct fixture *fixture = *state;
    give_job(fixture);
    fixture_set_config(fixture, "max_acs = 50\nres_eqs = 77\n");
    EXPECT_RUN(0, "prolog --job f17 --limits def_txqs=3,res_eqs=0,max_cts=7,res_acs=60");
    assert_string_equal(fixture->err, "mcast-node: warning: --limits: res_acs=60 is too much, the "
                                      "job gets 50 (node.conf: max_acs)\n");
    EXPECT_RUN(0, "list");
    fixture_expect_out(fixture, "5588   1024 0x0a   30   10  20   7   10   60 160  50\n");
}

/* Users write them: a slip of theirs must not drain a node. */
static void limits__that_are_none_do_not_stop_a_job(void **state)
{
    struct fixture *fixture = *state;
    give_job(fixture);
    EXPECT_RUN(0, "prolog --job f17 --limits res_txq=64,res_eqs=7");
    fixture_expect_err(fixture, "warning: --limits: 'res_txq=64' is not understood, the job goes "
                                "without");
    EXPECT_RUN(0, "list");
    fixture_expect_out(fixture, "5588   1024 0x0a   20   10   7  10   10   60 160  20\n");
}

static void limits__are_explained(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_cxi(fixture, "nics = 1\n[nic]\ntxqs = 100\n");
    EXPECT_RUN(0, "explain --cores 8");
    EXPECT_RUN(1, "explain --cores 8 --limits res_txqs=101");
    assert_string_equal(fixture->out,
                        "cxi0: 100 of 101 wanted transmit command queues granted, the "
                        "NIC has 100\n");
    EXPECT_RUN(1, "explain --cores 8 --limits res_txqs=101,no_adjust_limits");
    assert_string_equal(fixture->out,
                        "cxi0: 100 of 101 wanted transmit command queues free, the NIC "
                        "has 100\n");
    /* What stops no job, stops no answer about it. */
    EXPECT_RUN(0, "explain --cores 8 --limits foo=3,res_txqs=64");
    fixture_expect_err(fixture,
                       "warning: --limits: 'foo=3' is not understood, the job goes without");
    assert_string_equal(fixture->out, "a job of 8 cores gets all that it wants on 1 NIC\n");
    EXPECT_RUN(1, "explain --cores 8 --limits foo=3,res_txqs=101");
    fixture_expect_out(fixture, "cxi0: 100 of 101 wanted transmit command queues granted");
}

/* All that is wanted or nothing, on every NIC (F10). */
static void adjusting__can_be_forbidden(void **state)
{
    struct fixture *fixture = *state;
    give_job(fixture);
    fixture_set_cxi(fixture, "nics = 2\n[cxi1]\nptes = 5\ntle_pools = 1\n");
    fixture_set_config(fixture, "adjust_limits = no\n");
    EXPECT_RUN(6, "prolog --job f17 --dry-run");
    EXPECT_RUN_LEAVES(6, 0, "prolog --job f17"); /* and no drained node for that */
    assert_string_equal(fixture->err,
                        "mcast-node: cxi1: 5 of 60 wanted portal table entries free, the NIC has "
                        "5\n"
                        "mcast-node: cxi1: no service: less is free than the job wants, and with "
                        "adjust_limits = no it is to have all or nothing\n");
    EXPECT_RUN(0, "epilog --job f17");
    assert_false(fixture_remembers(fixture));
    EXPECT_RUN(0, "prolog --job f17 --limits max_ptes=5,res_tles=0,def_tles=0");
    assert_string_equal(fixture->err, "");
    EXPECT_RUN(0, "epilog --job f17");
    EXPECT_RUN(0, "prolog --job f17 --limits adjust_limits");
    fixture_expect_err(fixture, "warning: cxi1: 5 of 60 wanted portal table entries granted");
    EXPECT_RUN(0, "epilog --job f17");
    fixture_set_config(fixture, "");
    EXPECT_RUN_LEAVES(6, 0, "prolog --job f17 --limits no_adjust_limits");
}

/* ---- At the broker ---- */

static struct testbed *start_broker(const char *vni)
{
    const struct testbed_options options = {.mcastd = MCASTD, .vni = vni};
    return realbroker_start(&options);
}

/* F2: a job of one node has a VNI, or has one when it asks, or has no service here. */
static void single_node__jobs_as_the_site_says(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = start_broker("single_node = no\nper_job = 2");
    realbroker_reserve(testbed, "f1", "{\"uid\":5588,\"nodes\":\"n1\"}", 201);
    realbroker_reserve(testbed, "f2", "{\"uid\":5588,\"nodes\":\"n1\",\"vni_count\":1}", 201);
    realbroker_reserve(testbed, "f3", "{\"uid\":5588,\"nodes\":\"n[1-2]\"}", 201);
    EXPECT_RUN_LEAVES(0, 0, "prolog --job f1 --cores 2");
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f2 --cores 2");
    EXPECT_RUN(0, "prolog --job f3 --cores 2");
    EXPECT_RUN(0, "env --job f3");
    fixture_expect_out(fixture, "SLINGSHOT_VNIS='1025,1026'");
    EXPECT_RUN(0, "epilog --job f2");
    fixture_set_config(fixture, "single_node = no\n");
    realbroker_reserve(testbed, "f4", "{\"uid\":5588,\"nodes\":\"n1\",\"vni_count\":1}", 201);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f4 --cores 2");
    testbed_destroy(testbed);
}

/* F12: the site's choice, and within what it allows the job's. */
static void classes__of_the_site_and_of_the_job(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed =
        start_broker("traffic_classes = bulk_data best_effort\n"
                     "allowed_traffic_classes = bulk_data best_effort low_latency");
    fixture_set_config(fixture, "traffic_classes = bulk_data best_effort low_latency\n");
    realbroker_reserve(testbed, "f1", "{\"uid\":5588,\"nodes\":\"n[1-2]\"}", 201);
    realbroker_reserve(testbed, "f2",
                       "{\"uid\":5588,\"nodes\":\"n1\",\"traffic_classes\":[\"low_latency\"]}",
                       201);
    realbroker_reserve(testbed, "f3",
                       "{\"uid\":5588,\"nodes\":\"n1\",\"traffic_classes\":[\"dedicated_access\"]}",
                       422);
    EXPECT_RUN(0, "prolog --job f1 --cores 2");
    EXPECT_RUN(0, "env --job f1");
    fixture_expect_out(fixture, "SLINGSHOT_TCS='0x0c'");
    EXPECT_RUN(0, "prolog --job f2 --cores 2");
    EXPECT_RUN(0, "env --job f2");
    fixture_expect_out(fixture, "SLINGSHOT_TCS='0x02'");
    testbed_destroy(testbed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)

UNIT_MAIN(TEST(limits__of_a_job_go_before_the_site_s),
          TEST(limits__that_are_none_do_not_stop_a_job), TEST(limits__are_explained),
          TEST(adjusting__can_be_forbidden), TEST(single_node__jobs_as_the_site_says),
          TEST(classes__of_the_site_and_of_the_job))
