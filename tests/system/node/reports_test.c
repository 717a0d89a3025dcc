/* SPDX-License-Identifier: Apache-2.0 */
/* What the broker is told, when it can be told, and never too early (F3, I1). */

#include "tests/system/node/fixture.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void give_job(struct fixture *fixture)
{
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
}

static void broker__down_during_epilog(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fakebroker_go(fixture->broker);
    EXPECT_RUN(0, "epilog --job f17");
    fixture_expect_err(fixture,
                       "warning: the report that the services of job elcap/f17 are destroyed is "
                       "sent later: cannot reach mcastd");
    EXPECT_SERVICES(0);
    assert_true(fixture_remembers(fixture));
    /* Whatever talks to the broker next delivers it. */
    fakebroker_come(fixture->broker);
    fixture_make_services(fixture, "f18", 4712, "1025", 8);
    assert_string_equal(fakebroker_reports(fixture->broker),
                        "f17/n1 created 4711 cxi0:2 cxi1:2 cxi2:2 cxi3:2\n"
                        "f18/n1 created 4712 cxi0:2 cxi1:2 cxi2:2 cxi3:2\n"
                        "f17/n1 destroyed 4711\n");
    assert_false(fixture_edit_spool(fixture, "4712", "\"owed\": true", NULL));
    assert_int_equal(fakebroker_untold(fixture->broker), 0);
}

/* A later state takes the place of an earlier one that never went out. */
static void report__of_the_end_replaces_that_of_the_beginning(void **state)
{
    struct fixture *fixture = *state;
    give_job(fixture);
    fakebroker_go(fixture->broker);
    assert_int_equal(fixture_run_with(fixture, fixture_job("f17", 4711, "1024", 8),
                                      "prolog --job f17 --reservation -"),
                     0);
    fixture_expect_err(fixture,
                       "the report that the services of job elcap/f17 are created is sent later: ");
    EXPECT_RUN(0, "epilog --job f17");
    fakebroker_come(fixture->broker);
    EXPECT_RUN(0, "clean");
    assert_string_equal(fakebroker_reports(fixture->broker), "f17/n1 destroyed 4711\n");
    assert_false(fixture_remembers(fixture));
}

static void report__of_the_beginning_is_delivered_while_the_job_runs(void **state)
{
    struct fixture *fixture = *state;
    give_job(fixture);
    fakebroker_go(fixture->broker);
    assert_int_equal(fixture_run_with(fixture, fixture_job("f17", 4711, "1024", 8),
                                      "prolog --job f17 --reservation -"),
                     0);
    fakebroker_come(fixture->broker);
    EXPECT_RUN(0, "epilog --job f99");
    assert_string_equal(fakebroker_reports(fixture->broker),
                        "f17/n1 created 4711 cxi0:2 cxi1:2 cxi2:2 cxi3:2\n");
    EXPECT_SERVICES(4);
}

static void reports__are_delivered_oldest_first(void **state)
{
    struct fixture *fixture = *state;
    static const char *const jobs[] = {"f3", "f1", "f2"};
    for (unsigned int i = 0; i < 3; i++) {
        char vni[8];
        snprintf(vni, sizeof vni, "%u", 1024 + i);
        fakebroker_set_job(fixture->broker, jobs[i], fixture_job(jobs[i], 10 + i, vni, 8));
        EXPECT_RUN(0, "prolog --job %s", jobs[i]);
    }
    fakebroker_go(fixture->broker);
    for (unsigned int i = 3; i-- > 0;)
        EXPECT_RUN(0, "epilog --job %s", jobs[i]);
    fakebroker_come(fixture->broker);
    EXPECT_RUN(0, "epilog --job f99");
    const char *reports = fakebroker_reports(fixture->broker);
    const char *ends = strstr(reports, "f3/n1 destroyed");
    assert_non_null(ends);
    assert_string_equal(ends, "f3/n1 destroyed 10\nf1/n1 destroyed 11\nf2/n1 destroyed 12\n");
}

/* The prolog came too late: the VNIs are somebody else's, so the services must not stay (F3). */
static void created__refused_is_undone(void **state)
{
    struct fixture *fixture = *state;
    give_job(fixture);
    fakebroker_answer(fixture->broker, 409, "vnis-given-back");
    EXPECT_RUN(3, "prolog --job f17");
    fixture_expect_err(fixture, "the job's services are destroyed again: the pretended broker says "
                                "vnis-given-back");
    EXPECT_SERVICES(0);
    fakebroker_answer(fixture->broker, 404, "not-found");
    EXPECT_RUN_LEAVES(3, 0, "prolog --job f17");
    assert_false(fixture_remembers(fixture));
}

static void created__refused_later_is_undone_too(void **state)
{
    struct fixture *fixture = *state;
    const char *job = fixture_job("f17", 4711, "1024", 8);
    fakebroker_go(fixture->broker);
    assert_int_equal(fixture_run_with(fixture, job, "prolog --job f17 --reservation -"), 0);
    EXPECT_SERVICES(4);
    /* By the time it is back, nobody there knows of the job. */
    fakebroker_come(fixture->broker);
    EXPECT_RUN(0, "epilog --job f99");
    fixture_expect_err(fixture, "its services are destroyed");
    EXPECT_SERVICES(0);
    assert_false(fixture_remembers(fixture));
}

static void report__a_busy_broker_is_asked_again(void **state)
{
    struct fixture *fixture = *state;
    give_job(fixture);
    fakebroker_answer(fixture->broker, 503, "unsaved");
    EXPECT_RUN(0, "prolog --job f17");
    fixture_expect_err(fixture, "is sent later");
    EXPECT_SERVICES(4);
    fakebroker_answer(fixture->broker, 401, "munge");
    EXPECT_RUN(0, "epilog --job f99");
    assert_true(fixture_edit_spool(fixture, "4711", "\"owed\": true", NULL));
    fakebroker_answer(fixture->broker, 0, NULL);
    EXPECT_RUN(0, "epilog --job f99");
    assert_string_equal(fakebroker_reports(fixture->broker),
                        "f17/n1 created 4711 cxi0:2 cxi1:2 cxi2:2 cxi3:2\n");
}

/* All nodes of a large job come to the broker at once: at its start, where who is put off must not
 * fail the job, and at its end. */
static void report__a_crowded_broker_is_asked_until_it_answers(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_config(fixture, "busy_retry = 1h\n");
    give_job(fixture);
    fakebroker_be_busy(fixture->broker, 1);
    EXPECT_RUN(0, "prolog --job f17");
    assert_string_equal(fixture->err, "");
    fakebroker_be_busy(fixture->broker, 2);
    EXPECT_RUN(0, "epilog --job f17");
    assert_string_equal(fixture->err, "");
    assert_string_equal(fakebroker_reports(fixture->broker),
                        "f17/n1 created 4711 cxi0:2 cxi1:2 cxi2:2 cxi3:2\n"
                        "f17/n1 destroyed 4711\n");
    assert_int_equal(fakebroker_requests(fixture->broker), 6);
    assert_false(fixture_remembers(fixture));
}

/* If no broker listens, the report is sent later, so that a broker that is down delays no epilog.
 */
static void report__an_absent_broker_is_not_waited_for(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_config(fixture, "busy_retry = 1h\n");
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fakebroker_go(fixture->broker);
    EXPECT_RUN(0, "epilog --job f17");
    fixture_expect_err(fixture, "is sent later");
    fakebroker_come(fixture->broker);
}

static void report__retries_end(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_config(fixture, "busy_retry = 10ms\n");
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    const unsigned int before = fakebroker_requests(fixture->broker);
    fakebroker_be_busy(fixture->broker, 1000);
    EXPECT_RUN(0, "epilog --job f17");
    fixture_expect_err(fixture, "is sent later");
    /* Asked again once, or on a slow machine not even that; and not anew for the spool. */
    assert_in_range(fakebroker_requests(fixture->broker) - before, 1, 2);
    assert_true(fixture_remembers(fixture));
}

static void report__refused_for_good_is_said_once(void **state)
{
    struct fixture *fixture = *state;
    give_job(fixture);
    fakebroker_answer(fixture->broker, 422, "invalid");
    EXPECT_RUN(0, "prolog --job f17");
    fixture_expect_err(fixture,
                       "the broker refused the report that the services of job "
                       "elcap/f17 are created: the pretended broker says invalid; its VNIs "
                       "stay quarantined until [vni] hold is over, or until mcastctl fence "
                       "n1 confirms that nothing of it is left\n");
    EXPECT_SERVICES(4);
    EXPECT_RUN(0, "epilog --job f99");
    assert_string_equal(fixture->err, "");
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
    assert_false(fixture_remembers(fixture));
}

/* Nothing is lost while the broker does not believe the node: one line a run says so, and one
 * request finds it out. */
static void reports__of_a_node_that_is_not_believed_are_kept(void **state)
{
    struct fixture *fixture = *state;
    fakebroker_answer(fixture->broker, 403, "forbidden");
    for (unsigned int i = 1; i <= 3; i++) {
        char job[8], vni[8];
        snprintf(job, sizeof job, "f%u", i);
        snprintf(vni, sizeof vni, "%u", 1024 + i);
        fakebroker_set_job(fixture->broker, job, fixture_job(job, i, vni, 8));
        EXPECT_RUN(0, "prolog --job %s", job);
    }
    fixture_expect_err(fixture,
                       "warning: 2 reports of earlier jobs are still refused: the pretended "
                       "broker says forbidden\n");
    const unsigned int before = fakebroker_requests(fixture->broker);
    EXPECT_RUN(0, "epilog --job f99");
    assert_string_equal(fixture->err, "mcast-node: warning: 3 reports of earlier jobs are still "
                                      "refused: the pretended broker says forbidden\n");
    assert_int_equal(fakebroker_requests(fixture->broker) - before, 2); /* one asked of f99 */
    /* What is of another cluster may be believed all the same, and is asked for. */
    assert_true(fixture_edit_spool(fixture, "2", "\"cluster\": \"elcap\"", "\"cluster\": \"tuo\""));
    EXPECT_RUN(0, "epilog --job f99");
    fixture_expect_err(fixture,
                       "job tuo/f2: the pretended broker says not-found; its services are");
    EXPECT_SERVICES(8);
    fixture_expect_err(fixture, "2 reports of earlier jobs are still refused");
    fakebroker_answer(fixture->broker, 401, "certificate-refused");
    EXPECT_RUN(0, "epilog --job f1");
    fixture_expect_err(fixture, "1 report of an earlier job is still refused: the pretended broker "
                                "says certificate-refused\n");
    fakebroker_answer(fixture->broker, 0, NULL);
    EXPECT_RUN(0, "epilog --job f99");
    assert_string_equal(fixture->err, "");
    assert_string_equal(fakebroker_reports(fixture->broker),
                        "f1/n1 destroyed 1\nf3/n1 created 3 cxi0:4 cxi1:4 cxi2:4 cxi3:4\n");
}

/* One that knows no node reports yet must not fail every job. */
static void report__an_older_broker_takes_none(void **state)
{
    struct fixture *fixture = *state;
    give_job(fixture);
    fakebroker_answer(fixture->broker, 404, "no-such-path");
    EXPECT_RUN(0, "prolog --job f17");
    fixture_expect_err(fixture, "it is older than node reports: update it, or set report = no");
    EXPECT_SERVICES(4);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
    assert_false(fixture_remembers(fixture));
}

/* The id stays, the reservation is another: Slurm and Flux requeue. */
static void requeue__each_reservation_is_reported_by_its_number(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fixture_set_cxi(fixture,
                    "nics = 4\n[fault stuck]\ncall = destroy_svc\nservice = 2\nnic = cxi0\n"
                    "errno = EBUSY\n");
    EXPECT_RUN(5, "epilog --job f17 --retry-busy 0s");
    fixture_make_services(fixture, "f17", 4800, "1099", 8);
    EXPECT_RUN(0, "env --job f17 --format slurm");
    fixture_expect_out(fixture, "SLINGSHOT_VNIS=1099\n");
    fixture_expect_out(fixture, "SLINGSHOT_SVC_IDS=3,2,2,2\n");
    fixture_set_cxi(fixture, "nics = 4\n");
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
    assert_string_equal(fakebroker_reports(fixture->broker),
                        "f17/n1 created 4711 cxi0:2 cxi1:2 cxi2:2 cxi3:2\n"
                        "f17/n1 lingering 4711 cxi0:2\n"
                        "f17/n1 created 4800 cxi0:3 cxi1:2 cxi2:2 cxi3:2\n"
                        "f17/n1 destroyed 4711\n"
                        "f17/n1 destroyed 4800\n");
}

/* Services do not survive a start of the machine; what is remembered of them does. */
static void reboot__everything_is_reported_destroyed(void **state)
{
    struct fixture *fixture = *state;
    char path[128], boot[64];
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%63s", boot), 1);
    fclose(file);
    assert_true(fixture_edit_spool(fixture, "4711", boot, "11111111-2222-3333-4444-555555555555"));
    snprintf(path, sizeof path, "%s/cxi/state", fixture->folder);
    assert_int_equal(remove(path), 0);
    /* Another job has a service with the same id by now; nothing says that it is f17's. */
    fixture_make_services(fixture, "f18", 4712, "1025", 8);
    const char *reports = fakebroker_reports(fixture->broker);
    assert_non_null(strstr(reports, "f17/n1 destroyed 4711\n"));
    assert_null(strstr(reports, "f18/n1 destroyed"));
    EXPECT_SERVICES(4);
    EXPECT_RUN_LEAVES(0, 4, "epilog --job f17");
}

/* An epilog of a job whose note was lost finds its services by what the broker says. */
static void epilog__of_what_is_not_remembered(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    snprintf(path, sizeof path, "%s/spool/4711.json", fixture->folder);
    assert_int_equal(remove(path), 0);
    fakebroker_go(fixture->broker);
    EXPECT_RUN(4, "epilog --job f17");
    fixture_expect_err(fixture, "this node remembers nothing of job f17");
    EXPECT_SERVICES(4);
    /* With its reservation at hand, the broker is not needed. */
    assert_int_equal(fixture_run_with(fixture, fixture_released("f17", 4711, "1024"),
                                      "epilog --job f17 --reservation -"),
                     0);
    EXPECT_SERVICES(0);
    fakebroker_come(fixture->broker);
    EXPECT_RUN(0, "epilog --job f17");
    const char *reports = fakebroker_reports(fixture->broker);
    assert_non_null(strstr(reports, "f17/n1 destroyed 4711\n"));
    /* Nor is a job a fault that never was here. */
    EXPECT_RUN(0, "epilog --job f99");
    assert_string_equal(fixture->err, "");
}

static bool has_heard_of_the_end(void *arg)
{
    const struct fixture *fixture = arg;
    return strstr(fakebroker_reports(fixture->broker), "f17/n1 destroyed 4711\n") != NULL;
}

static bool forgets(void *arg)
{
    return !fixture_remembers(arg);
}

/* A resource manager keeps the node for as long as its epilog runs. The broker is asked and told
 * after that (F3, S5), also of what this node does not remember. */
static void epilog__ends_before_the_broker_is_told(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_config(fixture, "busy_retry = 1h\n");
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fakebroker_be_busy(fixture->broker, 1000000);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17 --report-within 10ms");
    assert_string_equal(fixture->err, "");
    assert_true(fixture_edit_spool(fixture, "4711", "\"owed\": true", NULL));
    fakebroker_be_busy(fixture->broker, 0);
    assert_true(await(has_heard_of_the_end, fixture, AWAIT_DEADLINE_MS));
    assert_true(await(forgets, fixture, AWAIT_DEADLINE_MS));
    const unsigned int asked = fakebroker_requests(fixture->broker);
    EXPECT_RUN(0, "epilog --job f98 --report-within 10ms --dry-run");
    assert_int_equal(fakebroker_requests(fixture->broker), asked + 1);
}

static void epilog__asks_later_of_what_is_not_remembered(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    fixture_set_config(fixture, "busy_retry = 1h\n");
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    snprintf(path, sizeof path, "%s/spool/4711.json", fixture->folder);
    assert_int_equal(remove(path), 0);
    fakebroker_be_busy(fixture->broker, 1000000);
    EXPECT_RUN_LEAVES(0, 4, "epilog --job f17 --report-within 10ms");
    assert_string_equal(fixture->err, "");
    fakebroker_be_busy(fixture->broker, 0);
    assert_true(await(has_heard_of_the_end, fixture, AWAIT_DEADLINE_MS));
    EXPECT_SERVICES(0);
    assert_true(await(forgets, fixture, AWAIT_DEADLINE_MS));
}

/* The broker is slow, and the job starts again here meanwhile: that start's services are not those
 * that the epilog is asking for. */
static void epilog__asks_later_and_leaves_the_next_start_alone(void **state)
{
    struct fixture *fixture = *state;
    const char *next = fixture_job("f19", 4712, "1025", 8);
    fixture_set_config(fixture, "busy_retry = 0s\n");
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fakebroker_be_busy(fixture->broker, 1000000);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17"); /* what is owed of it is told last */
    fixture_set_config(fixture, "busy_retry = 1h\n");
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f19 --report-within 0s");
    fixture_set_config(fixture, "busy_retry = 0s\n");
    assert_int_equal(fixture_run_with(fixture, next, "prolog --job f19 --reservation -"), 0);
    EXPECT_SERVICES(4);
    fakebroker_set_job(fixture->broker, "f19", next);
    fakebroker_be_busy(fixture->broker, 0);
    assert_true(await(has_heard_of_the_end, fixture, AWAIT_DEADLINE_MS));
    EXPECT_SERVICES(4);
}

/* Of a job that is skipped the broker is not asked, now or later; it is told what it is owed. */
static void epilog__that_is_skipped_tells_later(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fakebroker_go(fixture->broker);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
    fakebroker_come(fixture->broker);
    const unsigned int asked = fakebroker_requests(fixture->broker);
    EXPECT_RUN(3, "epilog --job f99 --remembered --report-within 10ms");
    assert_string_equal(fixture->err, "");
    assert_true(await(has_heard_of_the_end, fixture, AWAIT_DEADLINE_MS));
    assert_int_equal(fakebroker_requests(fixture->broker), asked + 1);
    assert_true(await(forgets, fixture, AWAIT_DEADLINE_MS));
    /* One that is remembered is ended as without the word. */
    fixture_make_services(fixture, "f18", 4712, "1025", 8);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f18 --remembered --report-within 10ms");
    assert_true(await(forgets, fixture, AWAIT_DEADLINE_MS));
    assert_non_null(strstr(fakebroker_reports(fixture->broker), "f18/n1 destroyed 4712\n"));
}

static bool has_heard_of_all(void *arg)
{
    const struct fixture *fixture = arg;
    const char *reports = fakebroker_reports(fixture->broker);
    return strstr(reports, "f1/") && strstr(reports, "f2/") && strstr(reports, "f3/") &&
           strstr(reports, "f4/") && strstr(reports, "f5/");
}

/* As slurmd does with an Epilog: what is left of its group is killed at once. */
static void epilog__is_followed_by_the_end_of_its_group(void **state)
{
    struct fixture *fixture = *state;
    char job[8], command[256];
    for (unsigned i = 1; i <= 5; i++) {
        snprintf(job, sizeof job, "f%u", i);
        fakebroker_set_job(fixture->broker, job, fixture_job(job, i, "1024", 8));
        snprintf(command, sizeof command,
                 "setsid -w sh -c '" MCAST_NODE " epilog --job %s --node n1 --report-within 0s "
                 "--config %s/node.conf; kill -KILL 0'",
                 job, fixture->folder);
        (void)!system(command); /* NOLINT(cert-env33-c): names of our own */
    }
    assert_true(await(has_heard_of_all, fixture, AWAIT_DEADLINE_MS));
}

static void epilog__heals_a_damaged_note(void **state)
{
    struct fixture *fixture = *state;
    char spool[128];
    static const char *const damaged[] = {"{", ""}; /* the latter would be of an earlier boot */
    for (int i = 0; i < 2; i++) {
        fixture_make_services(fixture, "f17", 4711, "1024", 8);
        snprintf(spool, sizeof spool, "%s/spool", fixture->folder);
        assert_int_equal(folder_write(spool, "4711.json", 0644, damaged[i]), 0);
        EXPECT_RUN(0, "epilog --job f17");
        if (damaged[i][0])
            fixture_expect_err(fixture, "spool/4711.json cannot be read as a note of a job");
        EXPECT_SERVICES(0);
        assert_false(fixture_remembers(fixture));
    }
}

/* A broker that is away for good fills no disk. */
static void spool__is_bounded(void **state)
{
    struct fixture *fixture = *state;
    char spool[128], name[32], text[512];
    enum { SPOOLED = 1030, KEPT = 1000 };
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    snprintf(spool, sizeof spool, "%s/spool", fixture->folder);
    for (int i = 1; i <= SPOOLED; i++) {
        snprintf(name, sizeof name, "%d.json", i);
        snprintf(text, sizeof text,
                 "{\"cluster\":\"elcap\",\"job\":\"g%d\",\"number\":%d,\"uid\":1,\"vnis\":[2000],"
                 "\"node\":\"n1\",\"boot\":\"x\",\"state\":\"gone\",\"owed\":true,\"order\":1,"
                 "\"services\":[]}",
                 i, i);
        assert_int_equal(folder_write(spool, name, 0644, text), 0);
    }
    fakebroker_go(fixture->broker);
    EXPECT_RUN(0, "epilog --job f17");
    unsigned int kept = 0;
    DIR *listing = opendir(spool);
    const struct dirent *entry;
    while ((entry = readdir(listing)))
        kept += strstr(entry->d_name, ".json") != NULL;
    closedir(listing);
    assert_int_equal(kept, KEPT);
    assert_true(fixture_edit_spool(fixture, "4711", "\"gone\"", NULL));
    assert_true(fixture_edit_spool(fixture, "1030", "\"g1030\"", NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)

UNIT_MAIN(TEST(broker__down_during_epilog), TEST(report__of_the_end_replaces_that_of_the_beginning),
          TEST(report__of_the_beginning_is_delivered_while_the_job_runs),
          TEST(reports__are_delivered_oldest_first), TEST(created__refused_is_undone),
          TEST(created__refused_later_is_undone_too), TEST(report__a_busy_broker_is_asked_again),
          TEST(report__a_crowded_broker_is_asked_until_it_answers),
          TEST(report__an_absent_broker_is_not_waited_for), TEST(report__retries_end),
          TEST(report__refused_for_good_is_said_once), TEST(report__an_older_broker_takes_none),
          TEST(reports__of_a_node_that_is_not_believed_are_kept),
          TEST(requeue__each_reservation_is_reported_by_its_number),
          TEST(reboot__everything_is_reported_destroyed), TEST(epilog__of_what_is_not_remembered),
          TEST(epilog__ends_before_the_broker_is_told),
          TEST(epilog__asks_later_of_what_is_not_remembered),
          TEST(epilog__asks_later_and_leaves_the_next_start_alone),
          TEST(epilog__is_followed_by_the_end_of_its_group),
          TEST(epilog__that_is_skipped_tells_later), TEST(epilog__heals_a_damaged_note),
          TEST(spool__is_bounded))
