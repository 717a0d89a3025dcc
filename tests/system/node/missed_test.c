/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that were over before the node heard of them (F3): it says so, and of nothing else (I1,
 * B11).
 */

#include "tests/system/node/realbroker.h"
#include "tests/system/rig/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH "/v1/clusters/elcap/jobs/f17"
#define ON_BOTH "{\"uid\":5588,\"nodes\":\"n[1-2]\",\"cores_per_node\":8}"

/* The next tend asks; else that takes as long as node.conf says. */
static void take_turn(struct fixture *fixture)
{
    char spool[FOLDER_PATH_SIZE + 16];
    folder_path(spool, sizeof spool, fixture->folder, "spool");
    assert_int_equal(folder_write(spool, "missed", 0600, "0\n"), 0);
}

static void begin(struct fixture *fixture)
{
    fixture_set_config(fixture, "missed_every = 1s\n");
    EXPECT_RUN(0, "tend"); /* makes the spool */
    take_turn(fixture);
}

/* What a crash of the node's file system would: services stay, and are not known. */
static void forget(struct fixture *fixture, unsigned int number)
{
    char path[FOLDER_PATH_SIZE + 32];
    snprintf(path, sizeof path, "%s/spool/%u.json", fixture->folder, number);
    assert_int_equal(unlink(path), 0);
}

static bool has_ended(const struct fixture *fixture, const char *line)
{
    char path[FOLDER_PATH_SIZE + 32], text[4096] = "";
    snprintf(path, sizeof path, "%s/spool/ended", fixture->folder);
    FILE *file = fopen(path, "re");
    if (file) {
        (void)!fread(text, 1, sizeof text - 1, file);
        fclose(file);
    }
    return strstr(text, line) != NULL;
}

static void expect_told(struct fixture *fixture, const char *reports)
{
    take_turn(fixture);
    EXPECT_RUN(0, "tend");
    assert_string_equal(fakebroker_reports(fixture->broker), reports);
}

/* ---- with the real broker ---- */

static int call(struct testbed *testbed, const char *method, const char *path)
{
    struct plainhttp_reply reply;
    int status = plainhttp_call(testbed_http(testbed), method, path, NULL, &reply);
    plainhttp_reply_release(&reply);
    return status;
}

/* Cancelled before its prologs: its VNIs are free without a boot or a fence of the nodes; and not
 * before all of them have spoken. */
static void vnis__of_a_job_that_never_came_are_free(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = realbroker_start(&(struct testbed_options){.mcastd = MCASTD});
    realbroker_reserve(testbed, "f17", ON_BOTH, 201);
    begin(fixture);
    EXPECT_RUN(0, "tend");
    assert_false(has_ended(fixture, "number 1 ")); /* it is active */
    assert_int_equal(call(testbed, "DELETE", PATH), 202);
    take_turn(fixture);
    EXPECT_RUN(0, "tend --node n3");
    take_turn(fixture);
    EXPECT_RUN(0, "tend --cluster tuo");           /* where another n1 may be */
    assert_false(has_ended(fixture, "number 1 ")); /* not one of its nodes */
    take_turn(fixture);
    EXPECT_RUN(0, "tend");
    assert_string_equal(fixture->err, "");
    assert_true(has_ended(fixture, "number 1 "));
    assert_false(fixture_remembers(fixture));
    assert_int_equal(call(testbed, "GET", PATH), 200);
    take_turn(fixture);
    EXPECT_RUN(0, "tend --node n2");
    assert_int_equal(call(testbed, "GET", PATH), 404);
    testbed_destroy(testbed);
}

/* A job that runs, and one that the broker takes for over although it runs here. */
static void job__that_runs_is_not_spoken_of(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = realbroker_start(&(struct testbed_options){.mcastd = MCASTD});
    begin(fixture);
    realbroker_reserve(testbed, "f17", "{\"uid\":5588,\"nodes\":\"n1\",\"cores_per_node\":8}", 201);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17");
    take_turn(fixture);
    EXPECT_RUN_LEAVES(0, 4, "tend");
    assert_int_equal(call(testbed, "DELETE", PATH), 202);
    take_turn(fixture);
    EXPECT_RUN_LEAVES(0, 4, "tend");
    assert_int_equal(call(testbed, "GET", PATH), 200);
    assert_false(has_ended(fixture, "number"));
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
    assert_int_equal(call(testbed, "GET", PATH), 404);
    testbed_destroy(testbed);
}

/* What was handed over before the node's word is as late as a launch document. */
static void reservation__handed_over_before_is_refused(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture);
    fakebroker_set_job(fixture->broker, "f17", fixture_released("f17", 4711, "1024"));
    expect_told(fixture, "f17/n1 destroyed 4711\n");
    assert_int_equal(fixture_run_with(fixture, fixture_job("f17", 4711, "1024", 8),
                                      "prolog --job f17 --reservation -"),
                     3);
    fixture_expect_err(fixture, "was handed over has ended on this node");
    EXPECT_SERVICES(0);
    /* Its next start has another number; that an epilog heard of it before is no matter. */
    fakebroker_go(fixture->broker);
    EXPECT_RUN(4, "epilog --job f17");
    assert_true(has_ended(fixture, "job elcap f17 "));
    fakebroker_come(fixture->broker);
    assert_int_equal(fixture_run_with(fixture, fixture_job("f17", 4712, "1025", 8),
                                      "prolog --job f17 --reservation -"),
                     0);
    EXPECT_SERVICES(4);
}

/* A prolog may be between its document and its note. */
static void job__that_a_hook_works_on_is_left_out(void **state)
{
    struct fixture *fixture = *state;
    struct flock jobs = {.l_type = F_WRLCK, .l_start = 1, .l_len = (INT64_C(1) << 33) - 1};
    char path[FOLDER_PATH_SIZE + 32];
    begin(fixture);
    fakebroker_set_job(fixture->broker, "f17", fixture_released("f17", 1, "1024"));
    snprintf(path, sizeof path, "%s/spool/lock", fixture->folder);
    /* All jobs', and nothing else (node/record/statedir.h). */
    int lock = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(fcntl(lock, F_OFD_SETLK, &jobs), 0);
    expect_told(fixture, "");
    assert_string_equal(fixture->err, "");
    assert_false(has_ended(fixture, "number"));
    assert_int_equal(close(lock), 0);
    expect_told(fixture, "f17/n1 destroyed 1\n");
}

/* ---- with a broker that is wrong ---- */

/* It names all it has, for whatever reason: an older ledger, another site's. */
static void broker__that_is_wrong_ends_nothing(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture);
    fixture_make_services(fixture, "f17", 1, "1024", 8);
    fakebroker_set_job(fixture->broker, "f18", fixture_job("f18", 2, "1025", 8)); /* active */
    expect_told(fixture, "f17/n1 created 1 cxi0:2 cxi1:2 cxi2:2 cxi3:2\n");
    /* Released, and of which the node has a note; the same number, given to another job. */
    fakebroker_set_job(fixture->broker, "f17", fixture_released("f17", 1, "1024"));
    fakebroker_set_job(fixture->broker, "f19", fixture_released("f19", 1, "1026"));
    expect_told(fixture, "f17/n1 created 1 cxi0:2 cxi1:2 cxi2:2 cxi3:2\n");
    assert_false(has_ended(fixture, "number"));
    EXPECT_SERVICES(4);
}

/* The spool may be lost: what is on the devices counts, whosever it is. */
static void service__that_is_not_noted_holds_the_vnis(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture);
    fixture_make_services(fixture, "f17", 1, "1024", 8);
    fakebroker_set_job(fixture->broker, "f17", fixture_released("f17", 1, "1024"));
    forget(fixture, 1);
    fakebroker_set_job(fixture->broker, "f18", fixture_released("f18", 2, "1025,1024,1027"));
    fakebroker_set_job(fixture->broker, "f19", fixture_released("f19", 3, "1026"));
    expect_told(fixture, "f17/n1 created 1 cxi0:2 cxi1:2 cxi2:2 cxi3:2\nf19/n1 destroyed 3\n");
    assert_string_equal(fixture->err,
                        "mcast-node: warning: VNIs of 2 released jobs wait on for this node, "
                        "which does not remember them: job elcap/f17: cxi0 has service 2 "
                        "(uid 5588, VNI 1024), which is not noted as made for it; see mcast-node "
                        "list, and clean --all\n");
    EXPECT_SERVICES(4);
    assert_false(has_ended(fixture, "number 1 "));
    assert_false(has_ended(fixture, "number 2 "));
    EXPECT_RUN_LEAVES(0, 0, "clean --all");
    expect_told(fixture, "f17/n1 created 1 cxi0:2 cxi1:2 cxi2:2 cxi3:2\nf19/n1 destroyed 3\n"
                         "f17/n1 destroyed 1\nf18/n1 destroyed 2\nf19/n1 destroyed 3\n");
}

/* Whose services cannot be seen is not said to have none. */
static void nics__that_do_not_answer_hold_the_vnis(void **state)
{
    static const char *const broken[] = {"nics = 4\n[fault no]\ncall = open_device\nerrno = EIO\n",
                                         "nics = 4\n[fault no]\ncall = any\nerrno = EIO\n",
                                         "nics = 0\n"};
    struct fixture *fixture = *state;
    begin(fixture);
    fakebroker_set_job(fixture->broker, "f17", fixture_released("f17", 1, "1024"));
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        fixture_set_cxi(fixture, broken[i]);
        expect_told(fixture, "");
        fixture_expect_err(fixture, "warning: VNIs of 1 released job wait on");
    }
    fixture_set_config(fixture, "missed_every = 1s\nlibcxi = libnone.so.1\n");
    expect_told(fixture, "");
    /* A node that needs no NICs, and has none. */
    fixture_set_config(fixture, "missed_every = 1s\nlibcxi = libnone.so.1\nmin_nics = 0\n");
    expect_told(fixture, "f17/n1 destroyed 1\n");
    fixture_set_config(fixture, "missed_every = 1s\nmin_nics = 0\n");
    expect_told(fixture, "f17/n1 destroyed 1\nf17/n1 destroyed 1\n");
}

/* ---- when ---- */

static void broker__that_is_away_is_asked_at_the_next_turn(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture);
    fakebroker_set_job(fixture->broker, "f17", fixture_released("f17", 1, "1024"));
    fakebroker_set_job(fixture->broker, "f18", fixture_released("f18", 2, "1025"));
    fakebroker_be_busy(fixture->broker, 1);
    expect_told(fixture, "");
    fixture_expect_err(fixture, "asked at the next turn: ");
    fakebroker_answer(fixture->broker, 403, "forbidden");
    expect_told(fixture, "");
    fixture_expect_err(fixture, "told at the next turn: the pretended broker says forbidden");
    assert_true(has_ended(fixture, "number 1 "));  /* before it is told */
    assert_false(has_ended(fixture, "number 2 ")); /* and others would be refused, too */
    fakebroker_set_job(fixture->broker, "f18", NULL);
    fakebroker_answer(fixture->broker, 0, NULL);
    fakebroker_go(fixture->broker);
    expect_told(fixture, "");
    fixture_expect_err(fixture, "asked at the next turn: ");
    assert_ptr_equal(strchr(fixture->err, '\n') + 1, fixture->err + strlen(fixture->err));
    fakebroker_come(fixture->broker);
    expect_told(fixture, "f17/n1 destroyed 1\n");
}

/* What cannot be remembered is not said: a document of it would be taken. */
static void spool__that_cannot_be_written_holds_the_vnis(void **state)
{
    struct fixture *fixture = *state;
    char path[FOLDER_PATH_SIZE + 32];
    begin(fixture);
    fakebroker_set_job(fixture->broker, "f17", fixture_released("f17", 1, "1024"));
    snprintf(path, sizeof path, "%s/spool/ended", fixture->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    expect_told(fixture, "");
    fixture_expect_err(fixture, "told at the next turn: ");
    assert_int_equal(rmdir(path), 0);
    expect_told(fixture, "f17/n1 destroyed 1\n");
}

/* A user can make a node miss many: it says so of some in one turn, and goes on in the next run. */
static void run__tells_of_so_many(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = realbroker_start(&(struct testbed_options){.mcastd = MCASTD});
    enum { MANY = 230 };
    char job[16], path[64];
    begin(fixture);
    for (int i = 0; i < MANY; i++) {
        snprintf(job, sizeof job, "f%d", i);
        snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
        realbroker_reserve(testbed, job, "{\"uid\":5588,\"nodes\":\"n1\"}", 201);
        assert_int_equal(call(testbed, "DELETE", path), 202);
    }
    fixture_set_config(fixture, "missed_every = 24h\n");
    EXPECT_RUN(0, "tend");
    assert_int_equal(call(testbed, "GET", "/v1/clusters/elcap/jobs/f199"), 404);
    assert_int_equal(call(testbed, "GET", "/v1/clusters/elcap/jobs/f200"), 200);
    EXPECT_RUN(0, "tend");
    assert_int_equal(call(testbed, "GET", "/v1/clusters/elcap/jobs/f229"), 404);
    testbed_destroy(testbed);
}

/* An epilog of what the node does not remember, without a broker: no other hook comes back to it.
 */
static void epilog__without_a_broker_is_made_up_for(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture);
    fakebroker_set_job(fixture->broker, "f17", fixture_released("f17", 1, "1024"));
    fakebroker_go(fixture->broker);
    EXPECT_RUN(4, "epilog --job f17");
    fakebroker_come(fixture->broker);
    EXPECT_RUN(0, "epilog --job f18");
    assert_string_equal(fakebroker_reports(fixture->broker), "");
    expect_told(fixture, "f17/n1 destroyed 1\n");
}

/* The broker is asked by thousands of nodes: at times of chance, and not in every run. */
static void turn__comes_once_in_a_while(void **state)
{
    struct fixture *fixture = *state;
    fakebroker_set_job(fixture->broker, "f17", fixture_released("f17", 1, "1024"));
    unsigned int asked = fakebroker_requests(fixture->broker);
    for (int i = 0; i < 3; i++)
        EXPECT_RUN(0, "tend"); /* the first one of a spool draws a time, 30 minutes at most */
    assert_int_equal(fakebroker_requests(fixture->broker), asked);
    static const char *const never[] = {"missed_every = 0s\n", "missed_every = 1s\nreport = no\n"};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        fixture_set_config(fixture, never[i]);
        expect_told(fixture, "");
        assert_int_equal(fakebroker_requests(fixture->broker), asked);
    }
    fixture_set_config(fixture, "missed_every = 24h\n");
    EXPECT_RUN(0, "epilog --job f18"); /* no hook asks */
    assert_string_equal(fakebroker_reports(fixture->broker), "");
    fixture_set_config(fixture, "missed_every = 1s\n");
    expect_told(fixture, "f17/n1 destroyed 1\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)
    const struct CMUnitTest tests[] = {
        TEST(vnis__of_a_job_that_never_came_are_free),
        TEST(job__that_runs_is_not_spoken_of),
        TEST(reservation__handed_over_before_is_refused),
        TEST(job__that_a_hook_works_on_is_left_out),
        TEST(broker__that_is_wrong_ends_nothing),
        TEST(service__that_is_not_noted_holds_the_vnis),
        TEST(nics__that_do_not_answer_hold_the_vnis),
        TEST(broker__that_is_away_is_asked_at_the_next_turn),
        TEST(spool__that_cannot_be_written_holds_the_vnis),
        TEST(run__tells_of_so_many),
        TEST(epilog__without_a_broker_is_made_up_for),
        TEST(turn__comes_once_in_a_while),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
