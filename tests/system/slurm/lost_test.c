/* SPDX-License-Identifier: Apache-2.0 */
/* Reservations that the fabric manager loses while their jobs run under a real Slurm: the service
 * acts on the job as the site says, once, and on no other (F22, F23, F24). */

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/slurm/site.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <unistd.h>

static struct process *service;

static bool has_ended(void *arg)
{
    return !process_alive(arg);
}

static void stop_service(void)
{
    process_signal(service, SIGTERM);
    assert_true(await(has_ended, service, AWAIT_DEADLINE_MS));
    process_kill(service); /* frees it */
    service = NULL;
}

/* lines: of the hooks' settings. Its log goes on over its lives. */
static void start_service(struct site *site, const char *lines)
{
    char program[128], state[128], log[128];
    const char *const argv[] = {
        folder_path(program, sizeof program, site->folder, "slurm/act-on-lost"), "--state",
        folder_path(state, sizeof state, site->folder, "last-event"), NULL};
    if (service) /* of a scene that failed */
        stop_service();
    site_set_settings(site, lines);
    service = process_start(argv, folder_path(log, sizeof log, site->folder, "log/lost.log"));
    assert_non_null(service);
}

/* Until it has seen to all events that there are. */
static void await_caught_up(struct site *site)
{
    cluster_await(site->cluster,
                  "[ \"$(cat $SITE/last-event)\" = \"$($MCASTCTL events | tail -n 1 | awk '{print "
                  "$1}')\" ]");
}

/* Forgets what it has seen to: all is told once more. */
static void restart_service_anew(struct site *site, const char *lines)
{
    stop_service();
    cluster_expect(site->cluster, "rm $SITE/last-event");
    start_service(site, lines);
    await_caught_up(site);
}

/* The broker finds out when it comes up. */
static void lose(struct site *site, unsigned int job)
{
    struct plainhttp_reply reply;
    char body[64];
    snprintf(body, sizeof body, "{\"jobs\":[\"elcap-%u\"]}", job);
    assert_int_equal(
        plainhttp_call(testbed_fm_http(site->testbed), "POST", "/mock/forget", body, &reply), 200);
    plainhttp_reply_release(&reply);
    site_stop_broker(site);
    site_start_broker(site);
    cluster_await(site->cluster, "$MCASTCTL events | grep -q '!lost *elcap/%u '", job);
}

static unsigned int submit(struct site *site, const char *options)
{
    unsigned int job =
        cluster_submit(site->cluster, "$AS_USER -N2 %s --wrap 'sleep 1000'", options);
    site_await_state(site, job, "RUNNING");
    return job;
}

/* So many lines it has said of a job that end with these words. */
static void assert_said(struct site *site, unsigned int job, int times, const char *words)
{
    cluster_run(site->cluster, "grep -c '^job %u: mcastd: .*: %s$' $SITE/log/lost.log", job, words);
    char expected[16];
    snprintf(expected, sizeof expected, "%d", times);
    assert_string_equal(cluster_text(site->cluster), expected);
}

/* What its owner sees. name: as scontrol knows it. */
static const char *comment(struct site *site, const char *name)
{
    cluster_expect(site->cluster, "scontrol show job %s | sed -n 's/^ *AdminComment=//p'", name);
    return cluster_text(site->cluster);
}

static void conclude(struct site *site)
{
    stop_service();
    cluster_expect(
        site->cluster,
        "squeue -h -a -r -o %%i | xargs -r scancel; rm $SITE/last-event $SITE/log/lost.log");
    site_end_holding(site);
    site_expect_nothing_left(site);
}

/* Slurm takes the id of an array's last task for all of them: of these the others run on. As under
 * Flux, the job is ended unless the site says otherwise. */
static void lost__ends_its_task_of_an_array(void **state)
{
    struct site *site = *state;
    char name[24];
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER --array=1-3 -N2 -o $SITE/out/%%A-%%a.out --wrap 'sleep 1000'");
    cluster_await(site->cluster, "[ $(squeue -h -r -t R -j %u | wc -l) = 3 ]", job);
    start_service(site, "");
    lose(site, job);
    cluster_await(site->cluster,
                  "squeue -h -r -t all -j %u -o '%%i %%T' | grep -qx '%u_3 CANCELLED'", job, job);
    await_caught_up(site);
    cluster_expect(site->cluster, "[ $(squeue -h -r -t R -j %u | wc -l) = 2 ]", job);
    assert_said(site, job, 1, "it is ended");
    snprintf(name, sizeof name, "%u_3", job);
    assert_non_null(strstr(comment(site, name),
                           "mcastd: the fabric manager no longer has its reservation (number "));
    snprintf(name, sizeof name, "%u_1", job);
    assert_string_equal(comment(site, name), "");
    restart_service_anew(site, "");
    cluster_expect(site->cluster, "[ $(squeue -h -r -t R -j %u | wc -l) = 2 ]", job);
    assert_said(site, job, 1, "it is ended");
    conclude(site);
}

/* A component that is ended ends the others: Slurm's way. Requeued, it goes with them, too. loser:
 * whose reservation is lost. */
static void lose_of_het_job(struct site *site, unsigned int loser, const char *shares)
{
    char name[24], lines[64];
    static const char words[] = "$AS_USER --requeue -N1 : -N2 --wrap 'srun --het-group=0,1 sleep "
                                "1000'";
    site_set_settings(site, shares);
    unsigned int job = cluster_submit(site->cluster, "%s", words);
    cluster_await(site->cluster, "[ $(squeue -h -r -t R -j %u | wc -l) = 2 ]", job);
    start_service(site, shares);
    lose(site, job + loser);
    cluster_await(site->cluster, "[ -z \"$(squeue -h -r -j %u)\" ]", job);
    snprintf(name, sizeof name, "%u+%u", job, loser);
    assert_non_null(strstr(comment(site, name), ": it is ended"));
    snprintf(name, sizeof name, "%u+%u", job, !loser);
    assert_string_equal(comment(site, name), "");
    stop_service();

    job = cluster_submit(site->cluster, "%s", words);
    cluster_await(site->cluster, "[ $(squeue -h -r -t R -j %u | wc -l) = 2 ]", job);
    snprintf(lines, sizeof lines, "%sMCAST_LOST=requeue\n", shares);
    start_service(site, lines);
    lose(site, job + loser);
    cluster_await(site->cluster, "[ $(squeue -h -r -t PD -j %u | wc -l) = 2 ]", job);
    await_caught_up(site);
    assert_said(site, job + loser, 1, "it is requeued");
    conclude(site);
}

static void lost__by_a_het_job_is_of_all_components(void **state)
{
    lose_of_het_job(*state, 0, "");
}

static void lost__of_a_component_is_of_the_het_job(void **state)
{
    lose_of_het_job(*state, 1, "MCAST_HET=apart\n");
}

/* The next life of the job is none of what its earlier one has lost, however often that is told. */
static void lost__requeues_its_job_once(void **state)
{
    struct site *site = *state;
    unsigned int job = submit(site, "--requeue");
    start_service(site, "MCAST_LOST=requeue\n");
    lose(site, job);
    site_await_state(site, job, "PENDING");
    await_caught_up(site);
    /* On other nodes: slurmd runs no Prolog for a job that it remembers. */
    cluster_expect(site->cluster, "scontrol update jobid=%u reqnodelist=n[3-4]", job);
    cluster_await(site->cluster, "scontrol update jobid=%u starttime=now", job);
    site_await_state(site, job, "RUNNING");
    restart_service_anew(site, "MCAST_LOST=requeue\n");
    restart_service_anew(site, "MCAST_LOST=end\n");
    cluster_expect(site->cluster,
                   "grep -c '^mcast: job %u: it is not the start of it that had "
                   "reservation .*: left alone$' $SITE/log/lost.log",
                   job);
    assert_string_equal(cluster_text(site->cluster), "2");
    cluster_expect(site->cluster,
                   "scontrol show job %u | grep -q ' Restarts=1 ' && scontrol show job %u | grep "
                   "-q JobState=RUNNING",
                   job, job);
    assert_said(site, job, 1, "it is requeued");
    /* What its second life loses is its own. */
    lose(site, job);
    site_await_state(site, job, "CANCELLED");
    conclude(site);
}

static void lost__ends_what_cannot_be_requeued(void **state)
{
    struct site *site = *state;
    unsigned int job = submit(site, "--no-requeue");
    start_service(site, "MCAST_LOST=requeue\n");
    lose(site, job);
    site_await_state(site, job, "CANCELLED");
    await_caught_up(site);
    assert_said(site, job, 1, "it cannot be requeued, and is ended");
    conclude(site);
}

/* It runs on, and is told once: also when the service, the broker or slurmctld begins anew. */
static void lost__is_told_to_its_job(void **state)
{
    struct site *site = *state;
    char name[16], first[512];
    unsigned int job = submit(site, "");
    start_service(site, "MCAST_LOST=notify\n");
    lose(site, job);
    await_caught_up(site);
    snprintf(name, sizeof name, "%u", job);
    snprintf(first, sizeof first, "%s", comment(site, name));
    assert_non_null(strstr(first, "): collectives that use multicast fail from now on"));
    restart_service_anew(site, "MCAST_LOST=notify\n");
    site_stop_broker(site);
    site_start_broker(site);
    assert_string_equal(comment(site, name), first);
    site_await_state(site, job, "RUNNING");
    assert_said(site, job, 1, "collectives that use multicast fail from now on");
    conclude(site);
}

/* slurmctld is waited for, and the broker; that is said once. */
static void lost__while_slurmctld_is_away(void **state)
{
    struct site *site = *state;
    unsigned int job = submit(site, "");
    start_service(site, "");
    await_caught_up(site);
    /* Its state is saved: else it may forget a job that is young. */
    cluster_expect(site->cluster, "scontrol shutdown slurmctld");
    cluster_await(site->cluster, "[ ! -e $SITE/log/ctld.pid ]");
    cluster_kill_controller(site->cluster);
    lose(site, job);
    cluster_await(site->cluster,
                  "grep -q '^mcast: %u has lost its addresses, and Slurm cannot be "
                  "told yet: .*contact slurm controller' $SITE/log/lost.log",
                  job);
    site_stop_broker(site);
    site_start_broker(site);
    cluster_start_controller(site->cluster);
    site_await_state(site, job, "CANCELLED");
    await_caught_up(site);
    assert_said(site, job, 1, "it is ended");
    cluster_run(site->cluster, "grep -c 'cannot be told yet' $SITE/log/lost.log");
    assert_string_equal(cluster_text(site->cluster), "1");
    conclude(site);
}

/* A job that does not compute just now ends as one that does; one that is over is left alone. */
static void lost__by_jobs_that_wait(void **state)
{
    struct site *site = *state;
    unsigned int suspended = submit(site, ""), over = submit(site, "");
    cluster_expect(site->cluster, "scontrol suspend %u", suspended);
    site_await_state(site, suspended, "SUSPENDED");
    lose(site, suspended);
    lose(site, over);
    cluster_expect(site->cluster, "scancel %u", over);
    site_await_state(site, over, "CANCELLED");
    site_hold(site, "prolog", "before");
    unsigned int begins = cluster_submit(site->cluster, "$AS_USER -N2 --wrap 'sleep 1000'");
    site_await_held(site, "prolog", "before", begins, "n1");
    lose(site, begins);
    /* While it was not there, all this happened; now the broker is not there yet. */
    site_stop_broker(site);
    start_service(site, "");
    cluster_await(site->cluster, "grep -q 'cannot reach mcastd' $SITE/log/lost.log");
    site_start_broker(site);
    site_await_state(site, suspended, "CANCELLED");
    await_caught_up(site);
    assert_said(site, begins, 1, "it is ended");
    assert_said(site, over, 0, ".*");
    site_let_go(site, "prolog", "before");
    site_await_state(site, begins, "CANCELLED");
    conclude(site);
}

static void expect_end(struct site *site, const char *lines, int status, const char *words)
{
    site_set_settings(site, lines);
    assert_int_equal(
        cluster_run(site->cluster, "$SITE/slurm/act-on-lost --state $SITE/other-event"), status);
    if (!strstr(cluster_text(site->cluster), words))
        fail_msg("it said: %s", cluster_text(site->cluster));
}

/* What would be refused again and again ends the service, with a sentence. */
static void service__that_may_not_ends(void **state)
{
    struct site *site = *state;
    char path[160];
    unsigned int job = submit(site, "");
    lose(site, job);
    expect_end(site, "MCAST_LOST=never\n", 2,
               "MCAST_LOST=never is none of end, requeue and notify");
    cluster_expect(site->cluster,
                   "mkdir $SITE/deny && printf '#!/bin/sh\\necho Access/permission denied\\nexit "
                   "1\\n' >$SITE/deny/squeue && chmod 755 $SITE/deny/squeue");
    snprintf(path, sizeof path, "PATH=%s/deny:$PATH\n", site->folder);
    expect_end(site, path, 1, "are for SlurmUser and operators to act on, not for ");
    start_service(site, "MCAST_LOST=notify\n");
    await_caught_up(site);
    restart_service_anew(site, ""); /* that it was told does not mean that it was ended */
    site_await_state(site, job, "CANCELLED");
    conclude(site);
}

/* Numbers that were seen to come again for other events; a job without addresses loses none. */
static void ledger__is_an_older_copy(void **state)
{
    struct site *site = *state;
    unsigned int job = submit(site, ""),
                 small = cluster_submit(site->cluster, "$AS_USER -N1 --wrap 'sleep 1000'");
    site_await_state(site, small, "RUNNING");
    lose(site, job);
    cluster_expect(site->cluster, "echo 4000000000 >$SITE/last-event");
    start_service(site, "");
    site_await_state(site, job, "CANCELLED");
    await_caught_up(site);
    cluster_expect(site->cluster, "grep -q 'there is no event 4000000000' $SITE/log/lost.log");
    site_await_state(site, small, "RUNNING");
    conclude(site);
}

/* It would leave its mcastctl behind when it is killed. */
static int destroy(void **state)
{
    if (service)
        stop_service();
    return site_destroy(state);
}

/* By hand, one scene: its name, or *part*. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost__ends_its_task_of_an_array),
        cmocka_unit_test(lost__by_a_het_job_is_of_all_components),
        cmocka_unit_test(lost__of_a_component_is_of_the_het_job),
        cmocka_unit_test(lost__requeues_its_job_once),
        cmocka_unit_test(lost__ends_what_cannot_be_requeued),
        cmocka_unit_test(lost__is_told_to_its_job),
        cmocka_unit_test(lost__while_slurmctld_is_away),
        cmocka_unit_test(lost__by_jobs_that_wait),
        cmocka_unit_test(service__that_may_not_ends),
        cmocka_unit_test(ledger__is_an_older_copy),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, site_create, destroy);
}
