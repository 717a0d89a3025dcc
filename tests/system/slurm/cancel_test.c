/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/slurm/site.h"
#include "tests/unit/unit.h"

/* scancel and requeue at every stage of a job: nothing is left, whichever hook runs. */

static unsigned int submit(struct site *site)
{
    return cluster_submit(site->cluster, "$AS_USER -N2 --wrap 'echo begun; sleep 1000'");
}

static void cancel(struct site *site, unsigned int job)
{
    cluster_expect(site->cluster, "scancel %u", job);
}

static void cancel_while_held(struct site *site, const char *hook, const char *where,
                              const char *node)
{
    site_hold(site, hook, where);
    unsigned int job = submit(site);
    site_await_held(site, hook, where, job, node);
    cancel(site, job);
    /* The controller's script is killed, a node's runs on. */
    if (node)
        site_await_state(site, job, "COMPLETING");
    site_let_go(site, hook, where);
    site_expect_nothing_left(site);
    cluster_await_idle(site->cluster);
}

static void scancel__before_the_reserve(void **state)
{
    cancel_while_held(*state, "prologslurmctld", "before", NULL);
}

/* Slurm kills the EpilogSlurmctld together with the PrologSlurmctld that it was to follow, if it
 * has begun: then the broker finds out by asking ./jobs. The nodes never hear of such a job, so
 * they report nothing of it, and its VNIs are quarantined for all of [vni] hold, or until an admin
 * declares the nodes clean. */
static void scancel__after_the_reserve(void **state)
{
    struct site *site = *state;
    site_hold(site, "prologslurmctld", "after");
    unsigned int job = submit(site);
    site_await_held(site, "prologslurmctld", "after", job, NULL);
    cancel(site, job);
    site_let_go(site, "prologslurmctld", "after");
    site_end_holding(site);
    site_expect_nothing_left(site);
    cluster_await_idle(site->cluster);
}

/* The reservation is released before its services are made: none must be. */
static void scancel__before_the_prolog(void **state)
{
    cancel_while_held(*state, "prolog", "before", "n1");
}

static void scancel__after_the_prolog(void **state)
{
    cancel_while_held(*state, "prolog", "after", "n2");
}

static void scancel__while_tasks_run(void **state)
{
    struct site *site = *state;
    unsigned int job = submit(site);
    site_await_output(site, job, "begun");
    cancel(site, job);
    site_expect_nothing_left(site);
    assert_true(site->looked > 0); /* else I1 was not tested */
}

static void scancel__during_the_epilog(void **state)
{
    struct site *site = *state;
    site_hold(site, "epilog", "before");
    unsigned int job = cluster_submit(site->cluster, "$AS_USER -N2 --wrap true");
    site_await_held(site, "epilog", "before", job, "n1");
    cluster_run(site->cluster, "scancel %u", job);
    site_let_go(site, "epilog", "before");
    site_expect_nothing_left(site);
    cluster_await_idle(site->cluster);
}

/* Slurm lets the PrologSlurmctld of a job that goes back into the queue run on. What it cannot have
 * now holds nothing: the job's next start asks anew. */
static void requeue__is_not_held_by_a_late_refusal(void **state)
{
    struct site *site = *state;
    site_hold(site, "prologslurmctld", "before");
    site_hold(site, "prologslurmctld", "after");
    unsigned int job =
        cluster_submit(site->cluster, "$AS_USER -N2 --comment=mcast:nonsense --wrap true");
    site_await_held(site, "prologslurmctld", "before", job, NULL);
    cluster_expect(site->cluster, "scontrol requeue %u", job);
    site_await_state(site, job, "PENDING");
    site_let_go(site, "prologslurmctld", "before");
    site_await_held(site, "prologslurmctld", "after", job, NULL);
    cluster_expect(site->cluster,
                   "scontrol show job %u >$SITE/out/refused && grep -q 'Restarts=1 ' "
                   "$SITE/out/refused && ! grep -E 'JobHeld|AdminComment' $SITE/out/refused",
                   job);
    cancel(site, job);
    site_let_go(site, "prologslurmctld", "after");
    site_expect_nothing_left(site);
    cluster_await_idle(site->cluster);
}

/* F3: EpilogSlurmctld gives the VNIs back while services of theirs are on the nodes still. */
static void release__keeps_vnis_until_all_nodes_are_done(void **state)
{
    struct site *site = *state;
    site_hold(site, "epilog", "before");
    unsigned int job =
        cluster_submit(site->cluster, "$AS_USER -N2 --comment=mcast:vnis=4 --wrap true");
    site_await_held(site, "epilog", "before", job, "n1");
    cluster_await(site->cluster, "$MCASTCTL list --held | grep -q 'elcap *%u '", job);
    /* All twelve VNIs are asked for by jobs on the other nodes; eight are to be had. */
    unsigned int others[3];
    for (int i = 0; i < 3; i++)
        others[i] = cluster_submit(site->cluster,
                                   "$AS_USER -N1 -w n%d --comment=mcast:vnis=4 --wrap 'sleep 1'",
                                   3 + i % 2);
    cluster_await(site->cluster, "squeue -h -o %%r -j %u,%u,%u | grep -q JobHeldUser", others[0],
                  others[1], others[2]);
    site_let_go(site, "epilog", "before");
    /* One that is held, but not back in the queue yet, survives being cancelled. */
    cluster_await(site->cluster, "scancel %u %u %u; ! squeue -h -j %u,%u,%u | grep -q .", others[0],
                  others[1], others[2], others[0], others[1], others[2]);
    site_expect_nothing_left(site);
}

/* By hand, one scene: its name, or *part*. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scancel__before_the_reserve),
        cmocka_unit_test(scancel__after_the_reserve),
        cmocka_unit_test(scancel__before_the_prolog),
        cmocka_unit_test(scancel__after_the_prolog),
        cmocka_unit_test(scancel__while_tasks_run),
        cmocka_unit_test(scancel__during_the_epilog),
        cmocka_unit_test(requeue__is_not_held_by_a_late_refusal),
        cmocka_unit_test(release__keeps_vnis_until_all_nodes_are_done),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, site_create, site_destroy);
}
