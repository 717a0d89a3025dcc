/* SPDX-License-Identifier: Apache-2.0 */
/* Launch documents through a real Slurm (S1, S5, B10): the controller's hook asks the broker once,
 * and no node asks it before the job's first process. */

#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/slurm/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many requests about jobs the broker has answered, by its own count, with this method and route
 * ("" is any). The hooks' health checks, which ask for lists, are not among them. */
static double answered(struct site *site, const char *method, const char *route)
{
    struct plainhttp_reply reply;
    char begins[64], about[64];
    double sum = 0;
    snprintf(begins, sizeof begins, "mcastd_http_requests_total{method=\"%s", method);
    snprintf(about, sizeof about, "/v1/clusters/{}/jobs/{}%s", route);
    assert_int_equal(plainhttp_call(testbed_http(site->testbed), "GET", "/metrics", NULL, &reply),
                     200);
    for (const char *line = reply.text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *end = line + strcspn(line, "\n"), *value = end;
        if (strncmp(line, begins, strlen(begins)) != 0 ||
            !memmem(line, (size_t)(end - line), about, strlen(about)))
            continue;
        while (value[-1] != ' ')
            value--;
        sum += strtod(value, NULL);
    }
    plainhttp_reply_release(&reply);
    return sum;
}

static double requests(struct site *site)
{
    return answered(site, "", "");
}

struct expected {
    struct site *site;
    double count;
};

static bool has_answered(void *arg)
{
    const struct expected *expected = arg;
    return requests(expected->site) >= expected->count;
}

/* The metrics are written at most once a second: until the count is what it is to be. */
static void await_requests(struct site *site, double count)
{
    struct expected expected = {site, count};
    assert_true(await(has_answered, &expected, AWAIT_DEADLINE_MS));
    assert_int_equal((int)requests(site), (int)count);
}

/* The field that carries documents: Extra from Slurm 23.02 on, unless the site wants the comment.
 */
static const char *field = "Comment";

static bool in_comment(void)
{
    return strcmp(field, "Comment") == 0;
}

static bool has_extra(void)
{
    return cluster_release() >= 2302;
}

/* What Slurm shows as a job's field. name: as scontrol knows the job. */
static const char *value_of(struct site *site, const char *name, const char *what)
{
    cluster_expect(site->cluster, "scontrol show job %s | sed -n 's/^ *%s=//p'", name, what);
    return cluster_text(site->cluster);
}

static const char *carried(struct site *site, const char *name)
{
    return value_of(site, name, field);
}

static void expect_begins(const char *text, const char *words)
{
    if (strncmp(text, words, strlen(words)) != 0)
        fail_msg("'%s' does not begin with '%s'", text, words);
}

/* The field's setting, with further ones. */
static void use_field(struct site *site, const char *lines)
{
    char text[256];
    snprintf(text, sizeof text, "%s%s", in_comment() && has_extra() ? "MCAST_LAUNCH=comment\n" : "",
             lines);
    site_set_settings(site, text);
}

static unsigned int submit_waiting(struct site *site, const char *options)
{
    unsigned int job = cluster_submit(
        site->cluster,
        "$AS_USER %s --wrap '$SITE/report b; echo ready.; while ! [ -e $SITE/out/go ]; do "
        "sleep 0.1; done'",
        options);
    site_await_output(site, job, "ready.");
    return job;
}

static void let_end(struct site *site)
{
    cluster_expect(site->cluster, "touch $SITE/out/go");
    site_expect_nothing_left(site);
    cluster_expect(site->cluster, "rm $SITE/out/go");
}

/* One request for any number of nodes, and the user's own words stay. */
static void job__asks_the_broker_once(void **state)
{
    struct site *site = *state;
    char name[16];
    const double before = requests(site);
    unsigned int job = submit_waiting(site, "-N4 -n4 --comment='a run mcast:vnis=2'");
    await_requests(site, before + 2); /* one is the test's own (hook.sh) */
    assert_non_null(strchr(site_output_value(site, job, "b.SLINGSHOT_VNIS", 0), ','));
    assert_true(strlen(site_output_value(site, job, "b.FI_CXI_COLL_MCAST_TOKEN", 0)) > 8);
    snprintf(name, sizeof name, "%u", job);
    expect_begins(carried(site, name), in_comment() ? "a run mcast:vnis=2 MCASTM." : "MCASTM.");
    if (!in_comment())
        assert_string_equal(value_of(site, name, "Comment"), "a run mcast:vnis=2");
    /* All can read it there and in Slurm's logs, so its secrets are encrypted. */
    cluster_expect(
        site->cluster,
        "t=$(sed -n 's/^b.FI_CXI_COLL_MCAST_TOKEN=//p' $SITE/out/%u.out) && [ \"$t\" ] && "
        "! { scontrol show job %u; cat $SITE/log/*.log; } | grep -F -e \"$t\"",
        job, job);
    let_end(site);
}

/* What docs/launch.md tabulates. */
struct messages {
    int reserve, read, report,
        release;        /* that the broker has answered; what only looks is a read */
    int fabric_manager; /* that changed something there */
};

static int fabric_manager_changes(struct site *site)
{
    struct plainhttp_reply reply;
    int changes = 0;
    size_t at;
    const json_t *entry;
    assert_int_equal(
        plainhttp_call(testbed_fm_http(site->testbed), "GET", "/mock/log", NULL, &reply), 200);
    json_array_foreach(json_object_get(reply.json, "entries"), at, entry) changes +=
        strcmp(json_string_value(json_object_get(entry, "method")), "GET") != 0;
    plainhttp_reply_release(&reply);
    return changes;
}

static struct messages messages(struct site *site)
{
    struct messages sum = {.read = (int)answered(site, "GET\"", ""),
                           .report = (int)answered(site, "PUT\"", "/nodes/"),
                           .release = (int)answered(site, "DELETE\"", ""),
                           .fabric_manager = fabric_manager_changes(site)};
    sum.reserve = (int)requests(site) - sum.read - sum.report - sum.release;
    return sum;
}

static void expect_messages(struct site *site, const struct messages *before,
                            struct messages expected)
{
    await_requests(site, before->reserve + before->read + before->report + before->release +
                             expected.reserve + expected.read + expected.report + expected.release);
    const struct messages now = messages(site);
    assert_int_equal(now.reserve - before->reserve, expected.reserve);
    assert_int_equal(now.read - before->read, expected.read);
    assert_int_equal(now.report - before->report, expected.report);
    assert_int_equal(now.release - before->release, expected.release);
    assert_int_equal(now.fabric_manager - before->fabric_manager, expected.fabric_manager);
}

/* Of a job on four nodes, until its tasks run, and in all (G20, B10). One read is the test's own
 * (hook.sh). */
static void expect_messages_of_a_job(struct site *site, struct messages start,
                                     struct messages whole)
{
    const struct messages before = messages(site);
    (void)submit_waiting(site, "-N4 -n4");
    expect_messages(site, &before, start);
    let_end(site);
    expect_messages(site, &before, whole);
}

/* With a document no node says anything before the job, and each reports once after it. Else each
 * looks twice, and reports twice. */
static void messages__of_a_job_are_counted(void **state)
{
    struct site *site = *state;
    expect_messages_of_a_job(site, (struct messages){.reserve = 1, .read = 1, .fabric_manager = 1},
                             (struct messages){1, 1, 4, 1, 2});
    use_field(site, "MCAST_LAUNCH=none\n");
    expect_messages_of_a_job(site, (struct messages){1, 1 + 8, 4, 0, 1},
                             (struct messages){1, 1 + 8, 8, 1, 2});
    use_field(site, "");
}

/* Slurm takes the bare id of an array's last task, or of a het job's first component, for all. */
static void each__task_and_component_has_its_own(void **state)
{
    struct site *site = *state;
    char first[1100], name[24];
    unsigned int job = cluster_submit(
        site->cluster,
        "$AS_USER --array=1-3 -o $SITE/out/%%A-%%a.out -N1 --wrap '$SITE/report b; echo ready.; "
        "while ! [ -e $SITE/out/go ]; do sleep 0.1; done'");
    for (int i = 1; i <= 3; i++)
        cluster_await(site->cluster, "grep -q ready. $SITE/out/%u-%d.out", job, i);
    snprintf(name, sizeof name, "%u_1", job);
    snprintf(first, sizeof first, "%s", carried(site, name));
    expect_begins(first, "MCASTM.");
    for (int i = 2; i <= 3; i++) {
        snprintf(name, sizeof name, "%u_%d", job, i);
        expect_begins(carried(site, name), "MCASTM.");
        assert_string_not_equal(cluster_text(site->cluster), first);
    }
    let_end(site);
    job = submit_waiting(site, "-N1 : -N2");
    snprintf(name, sizeof name, "%u+0", job);
    snprintf(first, sizeof first, "%s", carried(site, name));
    snprintf(name, sizeof name, "%u+1", job);
    expect_begins(carried(site, name), "mcast-nodes=n1,n[2-3] MCASTM.");
    assert_string_not_equal(cluster_text(site->cluster), first);
    let_end(site);
}

/* A requeued job has another start's document in its comment, and gets its own. */
static void requeued_job__has_a_new_one(void **state)
{
    struct site *site = *state;
    char first[1100], name[16];
    unsigned int job = submit_waiting(site, "-N2 --requeue --comment=mine");
    snprintf(name, sizeof name, "%u", job);
    snprintf(first, sizeof first, "%s", carried(site, name));
    cluster_expect(site->cluster, "rm $SITE/out/%u.out; scontrol requeue %u", job, job);
    site_await_state(site, job, "PENDING");
    /* On other nodes: slurmd runs no Prolog for a job that it remembers. */
    cluster_expect(site->cluster, "scontrol update jobid=%u reqnodelist=n[3-4]", job);
    cluster_await(site->cluster, "scontrol update jobid=%u starttime=now", job);
    site_await_output(site, job, "ready.");
    const char *words = in_comment() ? "mine MCASTM." : "MCASTM.";
    expect_begins(carried(site, name), words);
    assert_string_not_equal(cluster_text(site->cluster), first);
    assert_null(strstr(cluster_text(site->cluster) + strlen(words), "MCASTM."));
    let_end(site);
}

/* A user's own words of this kind are not believed, and his long comment is not cut: then nodes ask
 * the broker, as they do where the site wants no documents. */
static void words__of_a_user_harm_nothing(void **state)
{
    struct site *site = *state;
    char name[16], options[1100];
    const char *option = in_comment() ? "comment" : "extra";
    snprintf(options, sizeof options, "-N2 --%s='old MCASTM.AwQFAwB8'", option);
    unsigned int job = submit_waiting(site, options);
    snprintf(name, sizeof name, "%u", job);
    expect_begins(carried(site, name), in_comment() ? "old MCASTM." : "MCASTM.");
    assert_null(strstr(cluster_text(site->cluster), "AwQFAwB8 "));
    let_end(site);
    job = submit_waiting(site, "-N2 --comment=$(printf %0900d 7)");
    assert_true(strlen(site_output_value(site, job, "b.SLINGSHOT_VNIS", 0)) >= 4);
    snprintf(name, sizeof name, "%u", job);
    assert_null(strstr(value_of(site, name, "Comment"), "MCASTM."));
    assert_true(strlen(cluster_text(site->cluster)) >= 900);
    let_end(site);
    use_field(site, "MCAST_LAUNCH=none\n");
    job = submit_waiting(site, "-N2");
    assert_true(strlen(site_output_value(site, job, "b.FI_CXI_COLL_MCAST_TOKEN", 0)) > 8);
    snprintf(name, sizeof name, "%u", job);
    assert_string_equal(carried(site, name), "");
    let_end(site);
    use_field(site, "");
}

/* A job's owner can write into the field at any time: what he wrote while the controller's hook ran
 * is not there any more when Prologs begin, and what he writes later is not needed any more. */
static void field__is_overwritten_by_its_owner(void **state)
{
    struct site *site = *state;
    char name[16];
    const double before = requests(site);
    site_hold(site, "prologslurmctld", "before");
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER -N2 -n2 --wrap '$SITE/report b; echo ready.; while ! [ -e "
                       "$SITE/out/go ]; do sleep 0.1; done'");
    site_await_held(site, "prologslurmctld", "before", job, NULL);
    cluster_expect(site->cluster,
                   "$AS scontrol update jobid=%u "
                   "%s='his MCASTM.words'",
                   job, field);
    site_let_go(site, "prologslurmctld", "before");
    site_await_output(site, job, "ready.");
    await_requests(site, before + 2); /* one is the test's own (hook.sh): no node has asked */
    snprintf(name, sizeof name, "%u", job);
    assert_null(strstr(carried(site, name), "words"));
    cluster_expect(site->cluster,
                   "$AS scontrol update jobid=%u "
                   "%s='MCASTM.words'",
                   job, field);
    let_end(site);
}

/* Without PrologFlags=Alloc a node's Prolog runs with its first step, and sees what the field is
 * then. */
static void prolog__comes_with_the_first_step(void **state)
{
    struct site *site = *state;
    cluster_await_idle(site->cluster);
    cluster_expect(site->cluster,
                   "sed -i.alloc /^PrologFlags/d $SLURM_CONF && scontrol reconfigure");
    cluster_await(site->cluster,
                  "scontrol show config | tee /dev/stderr | grep -q '^PrologFlags  *= (null)'");
    const double before = requests(site);
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER -N2 -n2 --wrap 'srun $SITE/report s; echo ready.; while ! [ -e "
                       "$SITE/out/go ]; do sleep 0.1; done; srun $SITE/report t; echo done.'");
    site_await_output(site, job, "ready.");
    await_requests(site, before + 2);
    assert_true(strlen(site_output_value(site, job, "s.FI_CXI_COLL_MCAST_TOKEN", 1)) > 8);
    let_end(site);
    /* The second node is first used after the owner has written there: it asks the broker. */
    job = cluster_submit(
        site->cluster,
        "$AS_USER -N2 -n2 --wrap 'echo ready.; while ! [ -e $SITE/out/go ]; do sleep "
        "0.1; done; srun $SITE/report t; echo done.'");
    site_await_output(site, job, "ready.");
    cluster_expect(site->cluster,
                   "$AS scontrol update jobid=%u "
                   "%s='MCASTM.AwQFAwB8'",
                   job, field);
    cluster_expect(site->cluster, "touch $SITE/out/go");
    site_await_output(site, job, "done.");
    assert_true(strlen(site_output_value(site, job, "t.FI_CXI_COLL_MCAST_TOKEN", 1)) > 8);
    site_expect_nothing_left(site);
    cluster_expect(site->cluster,
                   "rm $SITE/out/go; cat $SLURM_CONF.alloc >$SLURM_CONF && scontrol reconfigure");
    cluster_await(site->cluster, "scontrol show config | grep -q '^PrologFlags  *= Alloc'");
}

/* B10: the document is compared with what Slurm says of the job on that node, for each kind of job.
 */
static void prolog__tells_what_the_document_must_be_for(void **state)
{
    struct site *site = *state;
    char script[512];
    snprintf(script, sizeof script,
             "#!/bin/sh\ncase \"$*\" in *--launch*) echo \"$SLURM_JOB_ID $SLURMD_NODENAME $*\" "
             ">>%s/spied ;; esac\nexec %s/bin/mcast-node \"$@\"\n",
             site->folder, site->folder);
    cluster_expect(site->cluster, "mkdir $SITE/spy");
    assert_int_equal(folder_write(site->folder, "spy/mcast-node", 0755, script), 0);
    use_field(site, "PATH=${settings%/etc/*}/spy:$PATH\n");
    cluster_expect(site->cluster, "$AS srun -N2 true && $AS salloc -Q -N2 true");
    site_expect_nothing_left(site);
    unsigned int job = submit_waiting(site, "-N2 --requeue");
    cluster_expect(site->cluster, "rm $SITE/out/%u.out; scontrol requeue %u", job, job);
    site_await_state(site, job, "PENDING");
    cluster_expect(site->cluster, "scontrol update jobid=%u reqnodelist=n[3-4]", job);
    cluster_await(site->cluster, "scontrol update jobid=%u starttime=now", job);
    site_await_output(site, job, "ready.");
    let_end(site);
    cluster_submit(site->cluster, "$AS_USER --array=1-2 -N1 --wrap true");
    unsigned int het =
        cluster_submit(site->cluster, "$AS_USER -N1 -w n1 : -N2 -w 'n[2-3]' --wrap true");
    site_expect_nothing_left(site);
    /* srun, salloc, sbatch twice, two tasks, two components: prolog and env on each node. */
    cluster_expect(site->cluster, "wc -l <$SITE/spied");
    assert_string_equal(cluster_text(site->cluster), "26");
    cluster_expect(site->cluster,
                   "grep -c -E -e '--restart [01] --user %u --nodes n[^ ]*( |$)' $SITE/spied",
                   site->uid);
    assert_string_equal(cluster_text(site->cluster), "26");
    cluster_expect(site->cluster,
                   "grep '^%u ' $SITE/spied | grep -c -e '--restart 1 --user %u --nodes n.3-4.'",
                   job, site->uid);
    assert_string_equal(cluster_text(site->cluster), "4");
    cluster_expect(site->cluster, "grep -c -e '--job %u --.*--nodes n1,n.2-3.' $SITE/spied", het);
    assert_string_equal(cluster_text(site->cluster), "6");
    use_field(site, "");
}

/* The limit that the hook assumes is Slurm's, and where Slurm refuses, the hook notices it: here by
 * a scontrol that fills each value up to so many characters. */
static void limit__of_a_field_is_slurms(void **state)
{
    struct site *site = *state;
    char script[512], name[16];
    snprintf(script, sizeof script,
             "#!/bin/sh\ncase $1$3 in\nupdate*=*) value=${3#*=}\n"
             "exec %s/bin/scontrol update \"$2\" \"$3 $(printf %%0$(($(cat %s/fill) - 1 - "
             "${#value}))d 0)\" ;;\nesac\nexec %s/bin/scontrol \"$@\"\n",
             cluster_prefix(), site->folder, cluster_prefix());
    cluster_expect(site->cluster, "mkdir $SITE/fill.d && echo 1024 >$SITE/fill");
    assert_int_equal(folder_write(site->folder, "fill.d/scontrol", 0755, script), 0);
    use_field(site, "PATH=${settings%/etc/*}/fill.d:$PATH\n");
    double before = requests(site);
    unsigned int job = submit_waiting(site, "-N2 -n2");
    await_requests(site, before + 2); /* as in job__asks_the_broker_once */
    snprintf(name, sizeof name, "%u", job);
    assert_in_range(strlen(carried(site, name)), 1024, 1025); /* 22.05 shows a blank behind it */
    let_end(site);
    cluster_expect(site->cluster, "echo 1025 >$SITE/fill");
    before = requests(site);
    job = submit_waiting(site, "-N2 -n2");
    struct expected nodes_too = {site, before + 4};
    assert_true(await(has_answered, &nodes_too, AWAIT_DEADLINE_MS));
    assert_true(strlen(site_output_value(site, job, "b.FI_CXI_COLL_MCAST_TOKEN", 0)) > 8);
    snprintf(name, sizeof name, "%u", job);
    assert_string_equal(carried(site, name), "");
    cluster_expect(site->cluster,
                   "grep 'job %u: its launch document is not in .*; its nodes ask mcastd' "
                   "$SITE/log/prologslurmctld.err",
                   job);
    let_end(site);
    use_field(site, "");
}

/* The other components' documents wait for the leader's addresses, and have what its own has. */
static void component__waits_for_the_leaders_addresses(void **state)
{
    struct site *site = *state;
    struct plainhttp_reply reply;
    assert_int_equal(
        plainhttp_call(testbed_fm_http(site->testbed), "POST", "/mock/faults",
                       "{\"method\":\"POST\",\"path\":\"*/jobs\",\"count\":1,\"act_after_ms\":700}",
                       &reply),
        200);
    plainhttp_reply_release(&reply);
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER -N1 -n1 : -N2 -n2 --wrap 'srun --het-group=0 $SITE/report a; srun "
                       "--het-group=1 $SITE/report b; echo done.'");
    site_await_output(site, job, "done.");
    char token[128];
    snprintf(token, sizeof token, "%s",
             site_output_value(site, job, "a.FI_CXI_COLL_MCAST_TOKEN", 0));
    assert_true(strlen(token) > 8);
    for (int i = 0; i < 2; i++)
        assert_string_equal(site_output_value(site, job, "b.FI_CXI_COLL_MCAST_TOKEN", i), token);
    site_expect_nothing_left(site);
}

/* There Extra is no field for words any more; the comment carries the document, then. */
static void extra__of_a_site_with_constraints(void **state)
{
    struct site *site = *state;
    char name[16];
    cluster_expect(site->cluster, "sed -i.plain 's/^SchedulerParameters=.*/&,extra_constraints/' "
                                  "$SLURM_CONF && scontrol reconfigure");
    cluster_await(site->cluster, "scontrol show config | grep -q extra_constraints");
    const double before = requests(site);
    unsigned int job = submit_waiting(site, "-N2 --comment=mine");
    await_requests(site, before + 2);
    snprintf(name, sizeof name, "%u", job);
    expect_begins(value_of(site, name, "Comment"), "mine MCASTM.");
    assert_string_equal(value_of(site, name, "Extra"), "");
    let_end(site);
    cluster_expect(site->cluster, "cat $SLURM_CONF.plain >$SLURM_CONF && scontrol reconfigure");
    cluster_await(site->cluster, "! scontrol show config | grep -q extra_constraints");
}

/* With the document in the job, its nodes need no broker to begin; they are heard when it is back.
 */
static void broker__is_away_while_nodes_begin(void **state)
{
    struct site *site = *state;
    site_hold(site, "prolog", "before");
    unsigned int job = cluster_submit(
        site->cluster, "$AS_USER -N2 -n2 --wrap '$SITE/report b; srun $SITE/report s; echo done.'");
    site_await_held(site, "prolog", "before", job, "n1");
    site_stop_broker(site);
    site_let_go(site, "prolog", "before");
    site_await_output(site, job, "done.");
    assert_true(strlen(site_output_value(site, job, "s.FI_CXI_COLL_MCAST_TOKEN", 1)) > 8);
    assert_string_equal(site_output_value(site, job, "s.SLINGSHOT_DEVICES", 1), "cxi0,cxi1");
    site_start_broker(site);
    site_expect_nothing_left(site);
}

/* Cancelled while PrologSlurmctld runs: Slurm tells its nodes nothing of it, before or after. They
 * ask, and its VNI is free without a boot or a fence (F3). */
static void job__that_no_node_heard_of_is_asked_for(void **state)
{
    struct site *site = *state;
    site_hold(site, "prologslurmctld", "after");
    unsigned int job = cluster_submit(site->cluster, "$AS_USER -N2 --wrap true");
    site_await_held(site, "prologslurmctld", "after", job, NULL);
    cluster_expect(site->cluster, "scancel %u", job);
    site_let_go(site, "prologslurmctld", "after");
    cluster_await(site->cluster, "$MCASTCTL list --held | grep -q 'elcap *%u '", job);
    cluster_await_idle(site->cluster);
    cluster_expect(site->cluster, "$MCASTCTL list --held | grep -q 'elcap *%u '", job);
    cluster_expect(site->cluster, "echo missed_every = 1s >$SITE/missed.conf");
    cluster_await(
        site->cluster,
        ". $SITE/etc/mcastd/slurm-hooks; export MCAST_URL; for n in n1 n2 n3 n4; do export "
        "MOCK_CXI=$SITE/cxi/$n MCAST_NODE_SPOOL=$SITE/node/$n; echo 0 "
        ">$MCAST_NODE_SPOOL/missed; mcast-node tend --config $SITE/missed.conf --node "
        "$n; done; ! $MCASTCTL list --held | grep -q 'elcap *%u '",
        job);
    site_expect_nothing_left(site);
}

static int set_up(void **state)
{
    const int rc = site_create_launching(state);
    use_field(*state, "");
    return rc;
}

/* By hand, one scene: its name, or *part*. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages__of_a_job_are_counted),
        cmocka_unit_test(job__asks_the_broker_once),
        cmocka_unit_test(each__task_and_component_has_its_own),
        cmocka_unit_test(requeued_job__has_a_new_one),
        cmocka_unit_test(words__of_a_user_harm_nothing),
        cmocka_unit_test(field__is_overwritten_by_its_owner),
        cmocka_unit_test(prolog__comes_with_the_first_step),
        cmocka_unit_test(prolog__tells_what_the_document_must_be_for),
        cmocka_unit_test(limit__of_a_field_is_slurms),
        cmocka_unit_test(broker__is_away_while_nodes_begin),
        cmocka_unit_test(job__that_no_node_heard_of_is_asked_for),
        cmocka_unit_test(component__waits_for_the_leaders_addresses),
    };
    const struct CMUnitTest constrained[] = {cmocka_unit_test(extra__of_a_site_with_constraints)};
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    int failed = cmocka_run_group_tests_name("in Comment", tests, set_up, site_destroy);
    if (has_extra()) {
        field = "Extra";
        failed += cmocka_run_group_tests_name("in Extra", tests, set_up, site_destroy);
        failed += cmocka_run_group_tests_name("constraints", constrained, set_up, site_destroy);
    }
    return failed;
}
