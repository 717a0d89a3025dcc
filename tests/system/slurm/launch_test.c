/* SPDX-License-Identifier: Apache-2.0 */
/* Launch documents through a real Slurm (S1, S5, B10): the controller's hook asks the broker once,
 * and no node asks it before the job's first process. */

#include "tests/system/rig/await.h"
#include "tests/system/slurm/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many requests about jobs the broker has answered, by its own count. The hooks' health checks,
 * which ask for lists, are not among them. */
static double requests(struct site *site)
{
    struct plainhttp_reply reply;
    double sum = 0;
    assert_int_equal(plainhttp_call(testbed_http(site->testbed), "GET", "/metrics", NULL, &reply),
                     200);
    for (const char *line = reply.text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *end = line + strcspn(line, "\n"), *value = end;
        if (strncmp(line, "mcastd_http_requests_total{", 27) != 0 ||
            !memmem(line, (size_t)(end - line), "/v1/clusters/{}/jobs/{}", 23))
            continue;
        while (value[-1] != ' ')
            value--;
        sum += strtod(value, NULL);
    }
    plainhttp_reply_release(&reply);
    return sum;
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

/* What Slurm shows as the job's comment. name: as scontrol knows it. */
static const char *comment(struct site *site, const char *name)
{
    cluster_expect(site->cluster, "scontrol show job %s | sed -n 's/^ *Comment=//p'", name);
    return cluster_text(site->cluster);
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
    assert_int_equal(strncmp(comment(site, name), "a run mcast:vnis=2 MCASTM.", 26), 0);
    let_end(site);
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
    snprintf(first, sizeof first, "%s", comment(site, name));
    assert_int_equal(strncmp(first, "MCASTM.", 7), 0);
    for (int i = 2; i <= 3; i++) {
        snprintf(name, sizeof name, "%u_%d", job, i);
        assert_int_equal(strncmp(comment(site, name), "MCASTM.", 7), 0);
        assert_string_not_equal(cluster_text(site->cluster), first);
    }
    let_end(site);
    job = submit_waiting(site, "-N1 : -N2");
    snprintf(name, sizeof name, "%u+0", job);
    snprintf(first, sizeof first, "%s", comment(site, name));
    snprintf(name, sizeof name, "%u+1", job);
    assert_int_equal(strncmp(comment(site, name), "MCASTM.", 7), 0);
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
    snprintf(first, sizeof first, "%s", comment(site, name));
    cluster_expect(site->cluster, "rm $SITE/out/%u.out; scontrol requeue %u", job, job);
    site_await_state(site, job, "PENDING");
    /* On other nodes: slurmd runs no Prolog for a job that it remembers. */
    cluster_expect(site->cluster, "scontrol update jobid=%u reqnodelist=n[3-4]", job);
    cluster_await(site->cluster, "scontrol update jobid=%u starttime=now", job);
    site_await_output(site, job, "ready.");
    assert_int_equal(strncmp(comment(site, name), "mine MCASTM.", 12), 0);
    assert_string_not_equal(cluster_text(site->cluster), first);
    assert_null(strstr(cluster_text(site->cluster) + 12, "MCASTM."));
    let_end(site);
}

/* A user's own words of this kind are not believed, and his long comment is not cut: then nodes ask
 * the broker, as they do where the site wants no documents. */
static void comment__of_a_user_harms_nothing(void **state)
{
    struct site *site = *state;
    char name[16];
    unsigned int job = submit_waiting(site, "-N2 --comment='old MCASTM.AwQFAwB8'");
    snprintf(name, sizeof name, "%u", job);
    assert_int_equal(strncmp(comment(site, name), "old MCASTM.", 11), 0);
    assert_null(strstr(cluster_text(site->cluster), "AwQFAwB8 "));
    let_end(site);
    job = submit_waiting(site, "-N2 --comment=$(printf %0900d 7)");
    assert_true(strlen(site_output_value(site, job, "b.SLINGSHOT_VNIS", 0)) >= 4);
    snprintf(name, sizeof name, "%u", job);
    assert_null(strstr(comment(site, name), "MCASTM."));
    assert_true(strlen(cluster_text(site->cluster)) >= 900);
    let_end(site);
    site_set_settings(site, "MCAST_LAUNCH=none\n");
    job = submit_waiting(site, "-N2");
    assert_true(strlen(site_output_value(site, job, "b.FI_CXI_COLL_MCAST_TOKEN", 0)) > 8);
    snprintf(name, sizeof name, "%u", job);
    assert_string_equal(comment(site, name), "");
    let_end(site);
    site_set_settings(site, "");
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
    site_end_holding(site); /* after a restart the broker cannot tell that it granted only once */
    site_expect_nothing_left(site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(job__asks_the_broker_once),
        cmocka_unit_test(each__task_and_component_has_its_own),
        cmocka_unit_test(requeued_job__has_a_new_one),
        cmocka_unit_test(comment__of_a_user_harms_nothing),
        cmocka_unit_test(broker__is_away_while_nodes_begin),
    };
    return cmocka_run_group_tests(tests, site_create_launching, site_destroy);
}
