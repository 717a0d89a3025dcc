/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/slurm/site.h"
#include "tests/unit/unit.h"

/* Jobs of a real Slurm through all of our hooks (F23). */

/* Slurm lets two minutes pass before it starts a job again that went back into the queue. */
static void start_now(struct site *site, unsigned int job)
{
    cluster_await(site->cluster, "scontrol update jobid=%u starttime=now", job);
}

static unsigned long first_vni(struct site *site, unsigned int job, const char *name, int which)
{
    unsigned long vni = strtoul(site_output_value(site, job, name, which), NULL, 10);
    assert_in_range(vni, 2000, 2011);
    return vni;
}

/* F1 F7 F8 F14 F16: what each task is given, on each node, in the batch script and in a step. */
static void job__goes_through_all_hooks(void **state)
{
    struct site *site = *state;
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER -N2 -n2 --wrap '$SITE/report b; srun $SITE/report s; echo done.'");
    site_await_output(site, job, "done.");
    assert_string_equal(site_output_value(site, job, "b.FI_CXI_COLL_JOB_STEP_ID", 0), "batch");
    assert_string_equal(site_output_value(site, job, "s.FI_CXI_COLL_JOB_STEP_ID", 0), "0");
    assert_string_equal(site_output_value(site, job, "s.SLINGSHOT_DEVICES", 1), "cxi0,cxi1");
    assert_true(strlen(site_output_value(site, job, "s.FI_CXI_COLL_MCAST_TOKEN", 1)) > 8);
    assert_int_equal(first_vni(site, job, "b.SLINGSHOT_VNIS", 0),
                     first_vni(site, job, "s.SLINGSHOT_VNIS", 1));
    site_expect_nothing_left(site);
    assert_true(site->looked > 0); /* else I1 was not tested */
}

/* F2 F12 F14: a job's words in its comment, where there is no plugin; resources by its CPUs here.
 */
static void comment__asks_for_what_the_job_needs(void **state)
{
    struct site *site = *state;
    unsigned int job = cluster_submit(
        site->cluster,
        "$AS_USER -N2 -n2 -c3 --comment='a run mcast:vnis=2,hwcoll=off,tc=low_latency,max_les=99' "
        "--wrap '$SITE/report b; echo done.'");
    site_await_output(site, job, "done.");
    const char *vnis = site_output_value(site, job, "b.SLINGSHOT_VNIS", 0);
    assert_non_null(strchr(vnis, ','));
    assert_string_equal(site_output_value(site, job, "b.SLINGSHOT_TCS", 0), "0x02");
    cluster_run(site->cluster, "cat $SITE/out/%u.out", job);
    assert_null(strstr(cluster_text(site->cluster), "FI_CXI_COLL_MCAST_TOKEN"));
    cluster_run(site->cluster, "grep -h ' alloc_svc ' $SITE/cxi/*/log | tail -n 2");
    assert_non_null(strstr(cluster_text(site->cluster), "txqs=6/"));
    assert_non_null(strstr(cluster_text(site->cluster), "les=48/99"));
    site_expect_nothing_left(site);
}

/* F2: on one node, one word is enough to do without. */
static void comment__asks_for_none_on_one_node(void **state)
{
    struct site *site = *state;
    unsigned int job = cluster_submit(
        site->cluster,
        "$AS_USER -N1 --comment=mcast:single-node=off --wrap '$SITE/report b; echo done.'");
    site_await_output(site, job, "done.");
    cluster_run(site->cluster, "cat $SITE/out/%u.out", job);
    assert_null(strstr(cluster_text(site->cluster), "SLINGSHOT_VNIS"));
    site_expect_nothing_left(site);
}

/* A batch job that cannot be is held, not tried again and again, and says why; corrected, its owner
 * lets it go. */
static void batch_job__is_held_with_words(void **state)
{
    struct site *site = *state;
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER -N1 --comment='mcast:vnis=9,$(reboot)' --wrap 'echo done.'");
    cluster_await(site->cluster,
                  "scontrol show job %u | grep -q 'JobState=PENDING Reason=JobHeldUser'", job);
    cluster_run(site->cluster, "scontrol show job %u", job);
    assert_non_null(strstr(cluster_text(site->cluster),
                           "AdminComment=mcastd: what it asks mcastd for is too long, or has a "
                           "character that is in none of its words"));
    cluster_run(site->cluster, "scontrol update jobid=%u comment=mcast:vnis=9", job);
    cluster_expect(site->cluster, "scontrol release %u", job);
    start_now(site, job);
    cluster_await(site->cluster,
                  "scontrol show job %u | tee /dev/stderr | grep -q 'AdminComment=mcastd: --vnis "
                  "9: not a number from 0 to 4'",
                  job);
    cluster_await(site->cluster,
                  "scontrol show job %u | grep -q 'JobState=PENDING Reason=JobHeldUser'", job);
    cluster_run(site->cluster, "scontrol update jobid=%u comment=", job);
    cluster_expect(site->cluster, "scontrol release %u", job);
    start_now(site, job);
    site_await_output(site, job, "done.");
    site_expect_nothing_left(site);
}

/* F4: who waits at a terminal reads it there. */
static void srun__is_told_why_it_cannot_be(void **state)
{
    struct site *site = *state;
    unsigned int holders[3];
    for (int i = 0; i < 3; i++)
        holders[i] = cluster_submit(site->cluster,
                                    "$AS_USER -N1 --comment=mcast:vnis=4 --wrap 'sleep 1000'");
    for (int i = 0; i < 3; i++)
        site_await_state(site, holders[i], "RUNNING");
    assert_int_not_equal(
        cluster_run(site->cluster, "timeout 180 srun -N1 --comment=mcast:vnis=3 true"), 0);
    assert_non_null(strstr(cluster_text(site->cluster),
                           "srun: mcastd: failed to reserve 3 VNIs (0 available)"));
    for (int i = 0; i < 3; i++)
        cluster_run(site->cluster, "scancel %u", holders[i]);
    site_expect_nothing_left(site);
    cluster_run(site->cluster, "sinfo -h -o %%T");
    assert_string_equal(cluster_text(site->cluster), "idle");
}

/* Each task of an array is a job of its own; one that is refused takes the others not with it. */
static void array__has_a_reservation_for_each(void **state)
{
    struct site *site = *state;
    unsigned int job = cluster_submit(
        site->cluster,
        "$AS_USER --array=1-4 -o $SITE/out/%%A-%%a.out -N2 --wrap '$SITE/report b; echo done.'");
    for (int i = 1; i <= 4; i++)
        cluster_await(site->cluster, "grep -q done. $SITE/out/%u-%d.out", job, i);
    cluster_run(site->cluster, "cat $SITE/out/%u-*.out | grep -c '^b.SLINGSHOT_VNIS='", job);
    assert_string_equal(cluster_text(site->cluster), "4");
    cluster_run(site->cluster,
                "cat $SITE/out/%u-*.out | sed -n s/^b.FI_CXI_COLL_JOB_ID=//p | sort -u | wc -l",
                job);
    assert_string_equal(cluster_text(site->cluster), "4");
    site_expect_nothing_left(site);
}

/* The last task of an array has the array's id: its hold must be its own. */
static void array__is_not_held_for_one_task(void **state)
{
    struct site *site = *state;
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER --array=1-2%%%%1 --comment=mcast:vnis=9 --wrap 'echo done.'");
    cluster_await(
        site->cluster,
        "[ \"$(squeue -h -r -j %u -o '%%i %%r' | sort)\" = '%u_1 JobHeldUser\n%u_2 JobHeldUser' ]",
        job, job, job);
    /* A task that is held while its PrologSlurmctld has not yet ended is requeued after that. */
    cluster_await(site->cluster, "scancel %u; q=$(squeue -h -a) && [ -z \"$q\" ]", job);
    site_expect_nothing_left(site);
}

static unsigned int run_het_job(struct site *site)
{
    unsigned int job = cluster_submit(
        site->cluster,
        "$AS_USER -N1 -n1 --exclusive : -N2 -n2 --exclusive --wrap 'srun --het-group=0 "
        "$SITE/report a; srun --het-group=1 $SITE/report b; echo done.'");
    site_await_output(site, job, "done.");
    return job;
}

/* F23: tasks of all components can meet, as under Slurm's own plugin for Slingshot: the leader's
 * reservation has the nodes of all. */
static void het_job__shares_its_leaders_vnis(void **state)
{
    struct site *site = *state;
    unsigned int job = run_het_job(site);
    unsigned long one = first_vni(site, job, "a.SLINGSHOT_VNIS", 0);
    assert_int_equal(one, first_vni(site, job, "b.SLINGSHOT_VNIS", 0));
    assert_int_equal(one, first_vni(site, job, "b.SLINGSHOT_VNIS", 1));
    /* The leader alone would have too few nodes for hardware collectives here. */
    assert_true(strlen(site_output_value(site, job, "a.FI_CXI_COLL_MCAST_TOKEN", 0)) > 8);
    site_expect_nothing_left(site);
}

/* As sites can want it: components are reserved one by one; their tasks know the leader's id only,
 * and are given what their component has on their node. */
static void het_job__is_served_by_component(void **state)
{
    struct site *site = *state;
    site_set_settings(site, "MCAST_HET=apart\n");
    unsigned int job = run_het_job(site);
    unsigned long one = first_vni(site, job, "a.SLINGSHOT_VNIS", 0),
                  two = first_vni(site, job, "b.SLINGSHOT_VNIS", 0);
    assert_int_not_equal(one, two);
    assert_int_equal(two, first_vni(site, job, "b.SLINGSHOT_VNIS", 1));
    assert_true(strlen(site_output_value(site, job, "b.FI_CXI_COLL_MCAST_TOKEN", 0)) > 8);
    site_expect_nothing_left(site);
    site_set_settings(site, "");
}

/* Components begin in any order: the others wait for the leader's reservation. It ends with the
 * last of them. */
static void het_job__ends_with_its_last_component(void **state)
{
    struct site *site = *state;
    site_hold(site, "prologslurmctld", "before");
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER -N1 -n1 : -N2 -n2 --wrap 'srun --het-group=1 sh -c \"$SITE/report "
                       "b; sleep 100\" & while ! [ -e $SITE/out/go ]; do sleep 0.1; done'");
    site_await_held(site, "prologslurmctld", "before", job, NULL);
    site_await_held(site, "prologslurmctld", "before", job + 1, NULL);
    /* The leader's is kept, and the other component's goes on, which must not reserve alone. */
    cluster_expect(site->cluster, "touch $SITE/hold/prologslurmctld.before.%u", job);
    site_let_go(site, "prologslurmctld", "before");
    cluster_await(site->cluster, "[ -e $SITE/reached/before.prologslurmctld.%u.on ]", job + 1);
    cluster_expect(site->cluster,
                   "[ \"$($MCASTCTL list --json | grep -c '\"job\"')\" = 0 ] && rm "
                   "$SITE/hold/prologslurmctld.before.%u",
                   job);
    site_await_output(site, job, "b.SLINGSHOT_VNIS");
    unsigned long vni = first_vni(site, job, "b.SLINGSHOT_VNIS", 0);
    assert_int_equal(vni, first_vni(site, job, "b.SLINGSHOT_VNIS", 1));
    cluster_expect(site->cluster, "[ \"$($SITE/slurm/jobs | sort -u | xargs)\" = '%u %u' ]", job,
                   job + 1);
    site_hold(site, "epilogslurmctld", "after");
    cluster_expect(site->cluster, "scancel %u+1", job);
    site_await_held(site, "epilogslurmctld", "after", job + 1, NULL);
    cluster_expect(site->cluster, "$MCASTCTL show --json --cluster elcap %u", job);
    assert_non_null(strstr(cluster_text(site->cluster), "\n  \"state\": \"active\""));
    site_let_go(site, "epilogslurmctld", "after");
    cluster_await(site->cluster, "[ \"$($SITE/slurm/jobs | xargs)\" = '%u %u' ]", job, job);
    cluster_expect(site->cluster, "touch $SITE/out/go");
    site_expect_nothing_left(site);
    cluster_expect(site->cluster, "rm $SITE/out/go");
}

/* A component's hook that comes last sees the others run: the nodes of all, and their order, stay.
 */
static void het_job__waits_for_a_late_component(void **state)
{
    struct site *site = *state;
    site_hold(site, "prologslurmctld", "before");
    unsigned int job =
        cluster_submit(site->cluster, "$AS_USER -N1 : -N1 : -N1 --wrap 'sleep 1000'");
    site_await_held(site, "prologslurmctld", "before", job + 1, NULL);
    cluster_expect(site->cluster, "touch $SITE/hold/prologslurmctld.before.%u", job + 1);
    site_let_go(site, "prologslurmctld", "before");
    cluster_await(site->cluster, "[ $(squeue -h -r -t R -j %u | wc -l) = 2 ]", job);
    cluster_expect(site->cluster, "rm $SITE/hold/prologslurmctld.before.%u", job + 1);
    cluster_await(site->cluster, "[ $(squeue -h -r -t R -j %u | wc -l) = 3 ]", job);
    cluster_expect(site->cluster, "scancel %u", job);
    site_expect_nothing_left(site);
}

/* What the leader cannot have, no component begins with. */
static void het_job__is_held_as_a_whole(void **state)
{
    struct site *site = *state;
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER -N1 --comment=mcast:vnis=9 : -N2 --wrap 'echo done.'");
    cluster_await(site->cluster,
                  "[ \"$(squeue -h -j %u -o '%%i %%r' | sort)\" = '%u+0 "
                  "JobHeldUser\n%u+1 JobHeldUser' ]",
                  job, job, job);
    cluster_await(site->cluster, "scancel %u; q=$(squeue -h -a) && [ -z \"$q\" ]", job);
    site_expect_nothing_left(site);
}

/* The id stays, all else is new: a second life gets a reservation of its own. */
static void requeue__reserves_anew(void **state)
{
    struct site *site = *state;
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER -N2 --requeue --open-mode=append --wrap '$SITE/report b; echo "
                       "done.; [ \"$SLURM_RESTART_COUNT\" = 1 ] || sleep 1000'");
    site_await_output(site, job, "done.");
    cluster_expect(site->cluster, "scontrol requeue %u", job);
    site_await_state(site, job, "PENDING");
    /* Not on the same nodes, as long as slurmd remembers the job: it would run no Prolog again.
     * That is what Slurm waits two minutes for. */
    cluster_expect(site->cluster, "scontrol update jobid=%u reqnodelist=n[3-4]", job);
    start_now(site, job);
    cluster_await(site->cluster, "[ \"$(grep -c done. $SITE/out/%u.out)\" = 2 ]", job);
    assert_int_not_equal(first_vni(site, job, "b.SLINGSHOT_VNIS", 0),
                         first_vni(site, job, "b.SLINGSHOT_VNIS", 1));
    site_expect_nothing_left(site);
}

/* A suspended job keeps what it has, also when the broker asks which jobs there are. */
static void suspended_job__keeps_what_it_has(void **state)
{
    struct site *site = *state;
    unsigned int job =
        cluster_submit(site->cluster, "$AS_USER -N2 --wrap 'echo begun; sleep 1000'");
    site_await_output(site, job, "begun");
    cluster_expect(site->cluster, "scontrol suspend %u", job);
    site_await_state(site, job, "SUSPENDED");
    cluster_expect(site->cluster, "$SITE/slurm/jobs");
    char id[16];
    snprintf(id, sizeof id, "%u", job);
    assert_string_equal(cluster_text(site->cluster), id);
    cluster_expect(site->cluster, "scontrol resume %u", job);
    site_await_state(site, job, "RUNNING");
    cluster_run(site->cluster, "scancel %u", job);
    site_expect_nothing_left(site);
}

/* By hand, one scene: its name, or *part*. */
/* P6: Slurm starts one mcast-node on each node of the job, for its owner, who is root here; and its
 * end ends the watching, too. */
static void traffic__is_shown_while_a_job_runs(void **state)
{
    struct site *site = *state;
    unsigned int job = cluster_submit(site->cluster, "-N2 -n2 --wrap 'sleep 600'");
    cluster_await(site->cluster, "squeue -h -j %u -o %%T | grep -q RUNNING", job);
    cluster_expect(site->cluster,
                   "mkdir $SITE/live && cat >$SITE/live/mcast-node <<SH\n#!/bin/sh\n"
                   "export LD_LIBRARY_PATH=%s MOCK_CXI=$SITE/cxi/\\$SLURMD_NODENAME\n"
                   "exec %s/mcast-node \"\\$@\" --node \\$SLURMD_NODENAME\nSH\n"
                   "chmod -R a+rx $SITE/live",
                   MOCK_CXI_FOLDER, PROGRAMS);
    cluster_expect(site->cluster,
                   "PATH=$SITE/live:$PATH; "
                   "$MCASTCTL traffic --cluster elcap --live --every 1s --through slurm %u "
                   ">$SITE/live/out 2>&1 & pid=$!; tries=600; "
                   "until grep -q ' 2 nodes, octets' $SITE/live/out; do "
                   "tries=$((tries - 1)); [ $tries -gt 0 ] || { cat $SITE/live/out; exit 1; }; "
                   "sleep 0.1; done; scancel %u; wait $pid; status=$?; cat $SITE/live/out; "
                   "exit $status",
                   job, job);
    site_expect_nothing_left(site);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(job__goes_through_all_hooks),
        cmocka_unit_test(comment__asks_for_what_the_job_needs),
        cmocka_unit_test(comment__asks_for_none_on_one_node),
        cmocka_unit_test(batch_job__is_held_with_words),
        cmocka_unit_test(srun__is_told_why_it_cannot_be),
        cmocka_unit_test(traffic__is_shown_while_a_job_runs),
        cmocka_unit_test(array__has_a_reservation_for_each),
        cmocka_unit_test(array__is_not_held_for_one_task),
        cmocka_unit_test(het_job__shares_its_leaders_vnis),
        cmocka_unit_test(het_job__is_served_by_component),
        cmocka_unit_test(het_job__ends_with_its_last_component),
        cmocka_unit_test(het_job__waits_for_a_late_component),
        cmocka_unit_test(het_job__is_held_as_a_whole),
        cmocka_unit_test(requeue__reserves_anew),
        cmocka_unit_test(suspended_job__keeps_what_it_has),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, site_create, site_destroy);
}
