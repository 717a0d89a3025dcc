/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/slurm/site.h"
#include "tests/unit/unit.h"

/* What breaks around jobs: slurmctld, a node, a NIC, the broker, squeue. */

static unsigned int submit(struct site *site)
{
    return cluster_submit(site->cluster, "$AS_USER -N2 --wrap 'echo begun; sleep 1000'");
}

static void cancel(struct site *site, unsigned int job)
{
    cluster_await(site->cluster, "scancel %u", job);
}

/* F20 F22: the hook is killed and run again with the same job id, no epilog between; the broker may
 * have been told meanwhile that there is no such job. */
static void slurmctld__is_killed_during_the_reserve(void **state)
{
    struct site *site = *state;
    site_hold(site, "prologslurmctld", "after");
    unsigned int job =
        cluster_submit(site->cluster, "$AS_USER -N2 --wrap '$SITE/report b; echo done.'");
    site_await_held(site, "prologslurmctld", "after", job, NULL);
    cluster_kill_controller(site->cluster);
    site_let_go(site, "prologslurmctld", "after");
    cluster_start_controller(site->cluster);
    site_await_output(site, job, "done.");
    site_output_value(site, job, "b.SLINGSHOT_VNIS", 0);
    site_end_holding(site);
    site_expect_nothing_left(site);
}

/* A job that is not in slurmctld's saved state yet is forgotten: its first node's slurmd ends it,
 * on the others nobody runs an Epilog. */
static void slurmctld__is_killed_while_tasks_run(void **state)
{
    struct site *site = *state;
    unsigned int job = submit(site);
    site_await_output(site, job, "begun");
    cluster_kill_controller(site->cluster);
    cluster_start_controller(site->cluster);
    cluster_run(site->cluster, "scancel %u", job);
    site_end_holding(site);
    site_expect_nothing_left(site);
    cluster_await_idle(site->cluster);
}

/* Whoever ran EpilogSlurmctld is killed in it: it runs again, or never. */
static void slurmctld__is_killed_during_the_release(void **state)
{
    struct site *site = *state;
    site_hold(site, "epilogslurmctld", "before");
    unsigned int job = cluster_submit(site->cluster, "$AS_USER -N2 --wrap true");
    site_await_held(site, "epilogslurmctld", "before", job, NULL);
    cluster_kill_controller(site->cluster);
    site_let_go(site, "epilogslurmctld", "before");
    cluster_start_controller(site->cluster);
    site_end_holding(site);
    site_expect_nothing_left(site);
    cluster_await_idle(site->cluster);
}

/* F3 F9: services outlive slurmd, and so do VNIs, until its node is back. */
static void node__goes_down_and_comes_back(void **state)
{
    struct site *site = *state;
    unsigned int job =
        cluster_submit(site->cluster, "$AS_USER -N2 --no-requeue --wrap 'echo begun; sleep 1000'");
    site_await_output(site, job, "begun");
    cluster_kill_node(site->cluster, 2);
    cluster_expect(site->cluster, "scontrol update nodename=n2 state=down reason=off");
    site_await_state(site, job, "NODE_FAIL");
    cluster_await(site->cluster,
                  "$MCASTCTL list --held | tee /dev/stderr | grep -q 'elcap *%u .* n2 (created'",
                  job);
    cluster_start_node(site->cluster, 2);
    cluster_run(site->cluster, "scontrol update nodename=n2 state=resume");
    cluster_await_idle(site->cluster);
    site_expect_nothing_left(site);
    assert_true(site->looked > 0); /* else I1 was not tested */
}

/* F9: what will not die drains the node, with a reason that says what; the job is over all the
 * same. */
static void node__that_cannot_clean_up_drains_itself(void **state)
{
    struct site *site = *state;
    site_set_nics(site, 3, "nics = 2\n[fault stuck]\ncall = destroy_svc\nerrno = EBUSY\n");
    unsigned int job = cluster_submit(site->cluster, "$AS_USER -N2 -w n[3-4] --wrap true");
    cluster_await(site->cluster,
                  "sinfo -h -R -o '%%N %%E' | tee /dev/stderr | grep -q '^n3 mcastd: .*elcap/%u is "
                  "still in use'",
                  job);
    cluster_await_empty(site->cluster);
    cluster_run(site->cluster, "sinfo -h -t drain -o %%N");
    assert_string_equal(cluster_text(site->cluster), "n3");
    site_set_nics(site, 3, "nics = 2\n");
    /* healthcheck tries on; to let jobs onto the node again is the site's. */
    site_expect_nothing_left(site);
    cluster_run(site->cluster, "scontrol update nodename=n3 state=resume");
    cluster_await_idle(site->cluster);
}

/* F10: a node without its NIC cannot run jobs, and says so. The job is back in the queue. */
static void node__without_nics_drains_itself(void **state)
{
    struct site *site = *state;
    site_set_nics(site, 4, "nics = 0\n");
    /* Not one that may be over on n3 before n4 has looked. */
    unsigned int job = cluster_submit(site->cluster, "$AS_USER -N2 -w n[3-4] --wrap 'sleep 1000'");
    cluster_await(
        site->cluster,
        "sinfo -h -R -o '%%N %%E' | tee /dev/stderr | grep -q '^n4 mcastd: job %u: .*NIC'", job);
    cluster_await(site->cluster, "squeue -h -j %u -o %%T | tee /dev/stderr | grep -q PENDING", job);
    cluster_run(site->cluster, "sinfo -h -t drain,draining -o %%N");
    assert_string_equal(cluster_text(site->cluster), "n4");
    cancel(site, job);
    site_set_nics(site, 4, "nics = 2\n");
    cluster_run(site->cluster, "scontrol update nodename=n4 state=resume");
    site_expect_nothing_left(site);
    cluster_await_idle(site->cluster);
}

/* F10: what only this job cannot have is told its owner, and drains no node. Here all nodes are to
 * give a job all that it is to have or nothing, and one has less. */
static void node__that_cannot_serve_this_job_is_not_drained(void **state)
{
    struct site *site = *state;
    char settings[256];
    cluster_expect(site->cluster,
                   "cd $SITE && mkdir exact && echo adjust_limits = no >exact/node.conf && printf "
                   "'#!/bin/sh\\nexec %s/bin/mcast-node \"$@\" --config %s/exact/node.conf\\n' "
                   ">exact/mcast-node && chmod 755 exact/mcast-node",
                   site->folder, site->folder);
    snprintf(settings, sizeof settings, "PATH=%s/exact:$PATH\n", site->folder);
    site_set_settings(site, settings);
    site_set_nics(site, 4, "nics = 2\n[nic]\nptes = 5\n");
    unsigned int job = cluster_submit(site->cluster, "$AS_USER -N2 -w n[3-4] --wrap 'sleep 1000'");
    cluster_await(site->cluster,
                  "scontrol show job %u | tee /dev/stderr | grep -q 'AdminComment=mcastd: cxi0: no "
                  "service: less is free .*(on n4)'",
                  job);
    cluster_await(
        site->cluster,
        "scontrol show job %u | tee /dev/stderr | grep -q 'JobState=PENDING Reason=.*[Hh]eld'",
        job);
    cluster_await_idle(site->cluster); /* none is drained */
    cancel(site, job);
    site_set_settings(site, "");
    site_set_nics(site, 4, "nics = 2\n");
    site_end_holding(site);
    site_expect_nothing_left(site);
}

/* One job ends while another of the same user uses its service, and so may drain no node that
 * others share; then that one ends, and the service is as stuck as before. Which id it has follows
 * from whether the other has services. */
static void leave_in_use(struct site *site, const char *wishes, int service)
{
    char nics[160];
    snprintf(nics, sizeof nics,
             "nics = 2\n[fault user]\ncall = destroy_svc\nservice = %d\nerrno = EBUSY\n", service);
    unsigned int other = cluster_submit(
        site->cluster, "$AS_USER -N1 -w n3 %s --wrap 'echo begun; sleep 1000'", wishes);
    site_await_output(site, other, "begun");
    site_set_nics(site, 3, nics);
    unsigned int job = cluster_submit(site->cluster, "$AS_USER -N1 -w n3 --wrap true");
    cluster_await(site->cluster, "squeue -h -t all -j %u -o %%T | grep -q COMPLETED", job);
    /* Else healthcheck would do it all again, with Prologs waiting. */
    cluster_expect(site->cluster, "test ! -e $SITE/run/n3.%u", job);
    cluster_expect(site->cluster, "SLURMD_NODENAME=n3 $SITE/slurm/healthcheck");
    cluster_run(site->cluster, "sinfo -h -n n3 -o %%T");
    assert_null(strstr(cluster_text(site->cluster), "drain"));
    /* Its VNI is nobody's yet (I3). */
    cluster_await(site->cluster,
                  "$MCASTCTL list --held | tee /dev/stderr | grep -q 'elcap *%u .*n3 (lingering'",
                  job);
    cancel(site, other);
    cluster_await(site->cluster,
                  "sinfo -h -R -o '%%N %%E' | tee /dev/stderr | grep -q '^n3 mcastd: .*elcap/%u is "
                  "still in use'",
                  job);
    site_set_nics(site, 3, "nics = 2\n");
    site_expect_nothing_left(site);
    cluster_run(site->cluster, "scontrol update nodename=n3 state=resume");
    cluster_await_idle(site->cluster);
}

/* F9. */
static void service__in_use_by_another_job_of_its_user(void **state)
{
    leave_in_use(*state, "", 3);
}

/* Of a job without VNIs Slurm alone knows. */
static void service__in_use_by_another_job_without_vnis(void **state)
{
    leave_in_use(*state, "--comment=mcast:vnis=0", 2);
}

/* The broker is restarted: jobs that start meanwhile wait for it, and say so. */
static void broker__is_away_while_a_job_starts(void **state)
{
    struct site *site = *state;
    site_stop_broker(site);
    unsigned int job =
        cluster_submit(site->cluster, "$AS_USER -N2 --wrap '$SITE/report b; echo done.'");
    cluster_await(site->cluster,
                  "scontrol show job %u | tee /dev/stderr | grep -q 'AdminComment=mcastd: the job "
                  "waits for up to 60 s: .*mcastd.sock'",
                  job);
    site_start_broker(site);
    site_await_output(site, job, "done.");
    site_output_value(site, job, "b.SLINGSHOT_VNIS", 0);
    cluster_run(site->cluster, "scontrol show job %u", job);
    assert_null(strstr(cluster_text(site->cluster), "AdminComment=mcastd"));
    site_expect_nothing_left(site);
}

/* F18: ... and what a job had is given back when it is there again. Its nodes are free meanwhile.
 */
static void broker__is_away_while_a_job_ends(void **state)
{
    struct site *site = *state;
    site_hold(site, "epilogslurmctld", "before");
    unsigned int job = cluster_submit(site->cluster, "$AS_USER -N2 --wrap true");
    site_await_held(site, "epilogslurmctld", "before", job, NULL);
    cluster_await_idle(site->cluster);
    site_stop_broker(site);
    site_let_go(site, "epilogslurmctld", "before");
    cluster_await(site->cluster, "grep -q 'mcastd.sock: .*retrying for as long as --patience says' "
                                 "$SITE/log/epilogslurmctld.err");
    site_start_broker(site);
    site_expect_nothing_left(site);
}

/* ... but not for ever, and then its owner is told. */
static void broker__is_away_for_long(void **state)
{
    struct site *site = *state;
    site_set_settings(site, "MCAST_PATIENCE=0\n");
    site_stop_broker(site);
    unsigned int job = cluster_submit(site->cluster, "$AS_USER -N2 --wrap true");
    cluster_await(site->cluster, "scontrol show job %u | grep -q 'Reason=JobHeldUser'", job);
    cluster_run(site->cluster, "scontrol show job %u", job);
    assert_non_null(strstr(cluster_text(site->cluster), "no fault of the job"));
    site_start_broker(site);
    site_set_settings(site, "");
    cancel(site, job);
    site_expect_nothing_left(site);
    cluster_await_idle(site->cluster);
}

/* F20: ... and where it has been reserved for, its nodes wait: no job is requeued or held for it.
 */
static void broker__is_restarted_while_nodes_begin(void **state)
{
    struct site *site = *state;
    site_hold(site, "prolog", "before");
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER -N2 --no-requeue --wrap '$SITE/report b; echo done.'");
    site_await_held(site, "prolog", "before", job, "n1");
    site_await_held(site, "prolog", "before", job, "n2");
    site_stop_broker(site);
    site_let_go(site, "prolog", "before");
    /* What the hook does just before it asks. */
    cluster_await(site->cluster, "test -e $SITE/run/n1.%u.new && test -e $SITE/run/n2.%u.new", job,
                  job);
    site_start_broker(site);
    site_await_output(site, job, "done.");
    site_output_value(site, job, "b.SLINGSHOT_VNIS", 0);
    cluster_run(site->cluster, "scontrol show job %u", job);
    assert_non_null(strstr(cluster_text(site->cluster), "Restarts=0"));
    /* No node had reported when the broker ended: whether it was granted twice cannot be told. */
    site_end_holding(site);
    site_expect_nothing_left(site);
}

/* A node that cannot ask the broker is not to blame, as it may be away from all of them: its job is
 * held, with words, and no node is drained. */
static void broker__is_away_while_nodes_begin(void **state)
{
    struct site *site = *state;
    site_set_settings(site, "MCAST_PATIENCE=0\n"); /* else the requeue waits for the release */
    site_hold(site, "prolog", "before");
    unsigned int job = cluster_submit(site->cluster, "$AS_USER -N2 --wrap true");
    site_await_held(site, "prolog", "before", job, "n1");
    site_await_held(site, "prolog", "before", job, "n2");
    site_stop_broker(site);
    site_let_go(site, "prolog", "before");
    cluster_await(site->cluster, "scontrol show job %u | grep -q 'AdminComment=mcastd: .*n[12])'",
                  job);
    cluster_await(
        site->cluster,
        "scontrol show job %u | tee /dev/stderr | grep -q 'JobState=PENDING Reason=.*[Hh]eld'",
        job);
    cluster_await_idle(site->cluster);
    site_start_broker(site);
    site_set_settings(site, "");
    cancel(site, job);
    /* They made nothing, so they tell nothing. */
    site_end_holding(site);
    site_expect_nothing_left(site);
}

/* ... but one that alone cannot, while others' jobs begin, would take job after job: it is drained
 * by the second (F10). */
static void node__that_alone_cannot_reach_the_broker(void **state)
{
    struct site *site = *state;
    site_set_settings(site, "MCAST_PATIENCE=0\n"
                            "[ \"$SLURMD_NODENAME\" != n4 ] || MCAST_URL=unix:/nowhere\n");
    /* It does not end before n4 has said so. */
    unsigned int first = cluster_submit(site->cluster, "$AS_USER -N2 -w n[3-4] --wrap 'sleep 300'");
    cluster_await(site->cluster,
                  "scontrol show job %u | tee /dev/stderr | grep -q 'AdminComment=mcastd: .*(on "
                  "n4)'",
                  first);
    cluster_await(
        site->cluster,
        "scontrol show job %u | tee /dev/stderr | grep -q 'JobState=PENDING Reason=.*[Hh]eld'",
        first);
    cluster_await_idle(site->cluster); /* none is drained */
    /* As if that had been a minute ago. */
    cluster_expect(site->cluster, "cd $SITE/node/n4 && read -r boot ms job <unreached && echo "
                                  "$boot $((ms - 60000)) $job >unreached");
    unsigned int job = cluster_submit(site->cluster, "$AS_USER -N2 -w n[3-4] --wrap 'sleep 300'");
    cluster_await(site->cluster,
                  "sinfo -h -R -o '%%N %%E' | tee /dev/stderr | grep -q '^n4 mcastd: job %u: this "
                  "node, or all nodes, cannot reach the broker, .*/nowhere.*dry-run'",
                  job);
    cluster_run(site->cluster, "sinfo -h -t drain,draining -o %%N");
    assert_string_equal(cluster_text(site->cluster), "n4");
    cluster_await(site->cluster, "squeue -h -j %u -o %%T | tee /dev/stderr | grep -q PENDING", job);
    cancel(site, first);
    cancel(site, job);
    site_set_settings(site, "");
    cluster_run(site->cluster, "scontrol update nodename=n4 state=resume");
    job = cluster_submit(site->cluster, "$AS_USER -N2 -w n[3-4] --wrap 'echo begun'");
    site_await_output(site, job, "begun");
    site_end_holding(site);
    site_expect_nothing_left(site);
    cluster_await_idle(site->cluster);
}

/* A squeue that fails, even after half of its list, must not look like one without jobs. */
static void squeue__that_fails_releases_nothing(void **state)
{
    struct site *site = *state;
    char settings[256];
    unsigned int job = submit(site);
    site_await_output(site, job, "begun");
    cluster_expect(site->cluster, "mkdir $SITE/fake && printf '#!/bin/sh\\necho 999\\nexit 1\\n' "
                                  ">$SITE/fake/squeue && chmod 755 $SITE/fake/squeue");
    snprintf(settings, sizeof settings, "PATH=%s/fake:$PATH\n", site->folder);
    site_set_settings(site, settings);
    assert_int_not_equal(cluster_run(site->cluster, "$SITE/slurm/jobs"), 0);
    /* The broker asks on; as long as it takes for two lists, it is told none. */
    cluster_await(
        site->cluster,
        "grep -q 'list_command of cluster elcap: it exited with status 1' $SITE/mcastd.log");
    site_set_settings(site, "");
    cluster_await(site->cluster, "grep 'list_command of cluster elcap' $SITE/mcastd.log | tail -n "
                                 "1 | grep -q 'answers again'");
    cluster_run(site->cluster, "$MCASTCTL list --state active");
    assert_non_null(strstr(cluster_text(site->cluster), "active"));
    cancel(site, job);
    site_expect_nothing_left(site);
}

/* F20: a job of which Slurm knows nothing any more. */
static void forgotten_job__is_released(void **state)
{
    struct site *site = *state;
    unsigned int job = submit(site);
    site_await_output(site, job, "begun"); /* a list that knows no job of ours concludes nothing */
    cluster_expect(site->cluster,
                   "$MCASTCTL reserve --cluster elcap --uid 1000 --nodes 'n[1-2]' --vnis 0 999999");
    cluster_await(site->cluster, "! $MCASTCTL list | grep -w 999999");
    cancel(site, job);
    site_expect_nothing_left(site);
}

/* Of an earlier life of the job that was never released, on other nodes: it gives way. */
static void reservation__of_an_earlier_life_gives_way(void **state)
{
    struct site *site = *state;
    unsigned int job =
        cluster_submit(site->cluster, "$AS_USER -N1 --hold --wrap '$SITE/report b; echo done.'");
    cluster_expect(site->cluster, "$MCASTCTL reserve --cluster elcap --uid %u --nodes 'n[3-4]' %u",
                   site->uid, job);
    cluster_expect(site->cluster, "scontrol release %u", job);
    site_await_output(site, job, "done.");
    site_output_value(site, job, "b.SLINGSHOT_VNIS", 0);
    site_end_holding(site);
    site_expect_nothing_left(site);
}

/* By hand, one scene: its name, or *part*. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slurmctld__is_killed_during_the_reserve),
        cmocka_unit_test(slurmctld__is_killed_while_tasks_run),
        cmocka_unit_test(slurmctld__is_killed_during_the_release),
        cmocka_unit_test(node__goes_down_and_comes_back),
        cmocka_unit_test(node__that_cannot_clean_up_drains_itself),
        cmocka_unit_test(node__without_nics_drains_itself),
        cmocka_unit_test(node__that_cannot_serve_this_job_is_not_drained),
        cmocka_unit_test(service__in_use_by_another_job_of_its_user),
        cmocka_unit_test(service__in_use_by_another_job_without_vnis),
        cmocka_unit_test(broker__is_away_while_a_job_starts),
        cmocka_unit_test(broker__is_away_while_a_job_ends),
        cmocka_unit_test(broker__is_away_for_long),
        cmocka_unit_test(broker__is_restarted_while_nodes_begin),
        cmocka_unit_test(broker__is_away_while_nodes_begin),
        cmocka_unit_test(node__that_alone_cannot_reach_the_broker),
        cmocka_unit_test(squeue__that_fails_releases_nothing),
        cmocka_unit_test(forgotten_job__is_released),
        cmocka_unit_test(reservation__of_an_earlier_life_gives_way),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, site_create, site_destroy);
}
