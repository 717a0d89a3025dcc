/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/await.h"
#include "tests/system/slurm/site.h"
#include "tests/unit/unit.h"

/* Two brokers with a ledger in etcd under a real Slurm (B7): the one that leads ends while jobs
 * start, run and end. Every job starts, with its addresses, and all is given back. */

#define SECOND "$SITE/bin/mcastctl --url unix:$SITE/second/mcastd.sock"

static unsigned int submit(struct site *site)
{
    return cluster_submit(site->cluster,
                          "$AS_USER -N2 --wrap '$SITE/report b; echo begun; while ! [ -e "
                          "$SITE/out/go ]; do sleep 0.1; done'");
}

static void expect_begun(struct site *site, unsigned int job)
{
    site_await_output(site, job, "begun");
    site_output_value(site, job, "b.FI_CXI_COLL_MCAST_TOKEN", 0);
    site_output_value(site, job, "b.SLINGSHOT_VNIS", 0);
}

/* F18 F20: no broker leads while one job ends, and another one is to start. */
static void leader__is_killed_between_prolog_and_epilog(void **state)
{
    struct site *site = *state;
    const unsigned int ends = submit(site);
    expect_begun(site, ends);
    const unsigned int runs = submit(site);
    expect_begun(site, runs);
    testbed_kill_broker(site->testbed);
    cluster_expect(site->cluster, "scancel %u", ends);
    const unsigned int begins = submit(site);
    expect_begun(site, begins);
    /* The second broker knows what the first one had answered, and has heard of the end. */
    char vnis[64];
    snprintf(vnis, sizeof vnis, "\"vnis\":[%s]",
             site_output_value(site, runs, "b.SLINGSHOT_VNIS", 0));
    cluster_expect(site->cluster, SECOND " show --json --cluster elcap %u | tr -d ' \\n'", runs);
    assert_non_null(strstr(cluster_text(site->cluster), vnis));
    cluster_await(site->cluster,
                  "jobs=$(" SECOND " list) && ! echo \"$jobs\" | grep 'elcap *%u *active'", ends);
    /* The first one is the standby now, and leads as soon as the second one stops. */
    assert_int_equal(testbed_launch_broker(site->testbed), 0);
    cluster_await(site->cluster, "grep -q 'second/mcastd.sock leads' $SITE/mcastd.log");
    assert_int_equal(process_stop(site->second), 0);
    site->second = NULL;
    cluster_expect(site->cluster, "touch $SITE/out/go");
    expect_begun(site, submit(site));
    assert_int_equal(testbed_await_broker(site->testbed), 0);
    assert_int_equal(testbed_await_link(site->testbed), 0);
    site_expect_nothing_left(site);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leader__is_killed_between_prolog_and_epilog),
    };
    return cmocka_run_group_tests(tests, site_create_two_brokers, site_destroy);
}
