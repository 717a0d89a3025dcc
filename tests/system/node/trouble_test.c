/* SPDX-License-Identifier: Apache-2.0 */
/* NICs that are busy, full, broken or gone, and hooks that are killed (F9, F10, I1). */

#include "tests/system/node/fixture.h"
#include "tests/system/rig/await.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void give_job(struct fixture *fixture)
{
    fakebroker_set_job(fixture->broker, "f17", fixture_job("f17", 4711, "1024", 8));
}

static const char *last_report(struct fixture *fixture)
{
    const char *reports = fakebroker_reports(fixture->broker);
    const char *last = reports;
    for (const char *at = reports; (at = strchr(at, '\n')) && at[1];)
        last = ++at;
    return last;
}

/* ---- EBUSY ---- */

static void busy__for_some_tries(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fixture_set_cxi(fixture,
                    "nics = 4\n[fault slow]\ncall = destroy_svc\nerrno = EBUSY\ncount = 3\n"
                    "each_service = yes\n");
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17 --retry-busy 1h");
    assert_string_equal(last_report(fixture), "f17/n1 destroyed 4711\n");
}

static void busy__on_one_nic_for_ever(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fixture_set_cxi(fixture,
                    "nics = 4\n[fault stuck]\ncall = destroy_svc\nnic = cxi2\nerrno = EBUSY\n");
    EXPECT_RUN(5, "epilog --job f17 --retry-busy 30ms");
    fixture_expect_err(fixture,
                       "cxi2: service 2 of job elcap/f17 is still in use: by a process of uid "
                       "5588, or by operations that the NIC has to end\n");
    assert_null(strstr(fixture->err, "cxi0"));
    EXPECT_SERVICES(1);
    assert_int_equal(fixture_services(fixture, "cxi2"), 1);
    assert_string_equal(last_report(fixture), "f17/n1 lingering 4711 cxi2:2\n");
    EXPECT_RUN(5, "housekeeping --job f17 --retry-busy 30ms");
    assert_true(fixture_remembers(fixture));
    /* It dies at last. */
    fixture_set_cxi(fixture, "nics = 4\n");
    EXPECT_RUN_LEAVES(0, 0, "housekeeping --job f17");
    assert_string_equal(last_report(fixture), "f17/n1 destroyed 4711\n");
    assert_false(fixture_remembers(fixture));
}

/* Under Flux housekeeping follows: nobody is to drain a node that will be clean in a minute (F9).
 */
static void busy__is_housekeeping_s_to_report_where_there_is_one(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_config(fixture, "housekeeping = yes\n");
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fixture_set_cxi(fixture,
                    "nics = 4\n[fault stuck]\ncall = destroy_svc\nnic = cxi2\nerrno = EBUSY\n");
    EXPECT_RUN(5, "epilog --job f17 --retry-busy 0s");
    assert_string_equal(last_report(fixture), "f17/n1 created 4711 cxi0:2 cxi1:2 cxi2:2 cxi3:2\n");
    EXPECT_RUN(5, "housekeeping --job f17 --retry-busy 20ms");
    assert_string_equal(last_report(fixture), "f17/n1 lingering 4711 cxi2:2\n");
    fixture_set_cxi(fixture, "nics = 4\n");
    EXPECT_RUN(0, "housekeeping --job f17");
    assert_string_equal(last_report(fixture), "f17/n1 destroyed 4711\n");
}

static void busy__on_all_nics(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fixture_set_cxi(fixture, "nics = 4\n[fault stuck]\ncall = destroy_svc\nerrno = EBUSY\n");
    EXPECT_RUN(5, "epilog --job f17 --retry-busy 0s");
    assert_string_equal(last_report(fixture),
                        "f17/n1 lingering 4711 cxi0:2 cxi1:2 cxi2:2 cxi3:2\n");
    EXPECT_SERVICES(4);
}

/* The next job is not held up by what lingers, nor is what lingers touched by it. */
static void busy__leaves_the_next_job_alone(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fixture_set_cxi(fixture,
                    "nics = 4\n[fault stuck]\ncall = destroy_svc\nservice = 2\nerrno = EBUSY\n");
    EXPECT_RUN(5, "epilog --job f17 --retry-busy 0s");
    fixture_make_services(fixture, "f18", 4712, "1025", 8);
    EXPECT_SERVICES(8);
    /* What is of its own goes; that the node is to be drained has not changed. */
    EXPECT_RUN_LEAVES(5, 4, "epilog --job f18 --retry-busy 0s");
}

/* ---- ENOSPC ---- */

static void full__each_resource_is_scaled_back(void **state)
{
    struct fixture *fixture = *state;
    /* What is left, and what 8 cores want. */
    static const struct {
        const char *key, *words;
        unsigned int wanted;
    } resources[] = {
        {"txqs", "transmit command queues", 16},
        {"tgqs", "target command queues", 8},
        {"eqs", "event queues", 16},
        {"cts", "counters", 8},
        {"ptes", "portal table entries", 48},
        {"les", "list entries", 128},
        {"acs", "addressing contexts", 16},
    };
    for (size_t i = 0; i < sizeof resources / sizeof resources[0]; i++) {
        char conf[128], words[160];
        snprintf(conf, sizeof conf, "nics = 2\n[cxi1]\n%s = 5\n", resources[i].key);
        fixture_set_cxi(fixture, conf);
        give_job(fixture);
        EXPECT_RUN(0, "prolog --job f17");
        snprintf(words, sizeof words,
                 "mcast-node: warning: cxi1: 5 of %u wanted %s granted, the NIC has 5\n",
                 resources[i].wanted, resources[i].words);
        assert_string_equal(fixture->err, words); /* one warning, of this NIC and resource */
        EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
    }
}

static void full__tles_and_their_pools(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_cxi(fixture, "nics = 2\n[cxi1]\ntles = 515\n");
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    assert_string_equal(fixture->err,
                        "mcast-node: warning: cxi1: 0 of 8 wanted trigger list entries "
                        "granted, the NIC has 515: service 1 (system, VNIs 1,10) "
                        "holds 512\n");
    EXPECT_RUN(0, "epilog --job f17");
    fixture_set_cxi(fixture, "nics = 2\n[cxi0]\ntle_pools = 1\nle_pools = 1\n");
    EXPECT_RUN(0, "prolog --job f17");
    fixture_expect_err(fixture,
                       "cxi0: 0 of 8 wanted trigger list entries granted, the NIC has 2048, "
                       "but no pool of them is left: service 1 (system, VNIs 1,10) holds "
                       "512\n");
    fixture_expect_err(fixture,
                       "cxi0: 0 of 128 wanted list entries granted, the NIC has 16384, but no "
                       "pool of them is left\n");
    assert_null(strstr(fixture->err, "cxi1"));
    EXPECT_SERVICES(2);
}

/* Somebody else is faster between our look and our call. */
static void full__all_of_a_sudden(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_cxi(fixture,
                    "nics = 2\n[fault race]\ncall = alloc_svc\nerrno = ENOSPC\ncount = 1\n");
    give_job(fixture);
    EXPECT_RUN_LEAVES(0, 2, "prolog --job f17");
    EXPECT_RUN(0, "epilog --job f17");
    fixture_set_cxi(fixture,
                    "nics = 2\n[fault full]\ncall = alloc_svc\nnic = cxi1\nerrno = ENOSPC\n");
    EXPECT_RUN(1, "prolog --job f17");
    fixture_expect_err(fixture, "cxi1: no service, not even without any reservation");
    EXPECT_SERVICES(0);
}

static void full__explain_says_who_holds_what(void **state)
{
    struct fixture *fixture = *state;
    fixture_set_cxi(fixture, "nics = 1\n");
    fixture_make_services(fixture, "f17", 4711, "1024", 192);
    EXPECT_RUN(1, "explain --cores 192");
    assert_string_equal(fixture->out,
                        "cxi0: 896 of 1152 wanted portal table entries granted, the NIC has 2048: "
                        "service 2 (job elcap/f17, uid 5588, VNI 1024) holds 1152\n");
    EXPECT_RUN(0, "explain --cores 96");
    assert_string_equal(fixture->out, "a job of 96 cores gets all that it wants on 1 NIC\n");
}

/* ---- What is in the way ---- */

/* A VNI that a leftover still has, by a driver that gives it to one service only. */
static void taken__by_a_leftover(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fixture_set_cxi(fixture, "nics = 4\nshared_vnis = no\n");
    fakebroker_set_job(fixture->broker, "f18", fixture_job("f18", 4712, "1024,1025", 8));
    EXPECT_RUN(1, "prolog --job f18");
    fixture_expect_err(fixture, "cxi0: VNI 1024 is still in use by service 2 (uid 5588, VNI 1024); "
                                "mcast-node clean --dry-run shows whether that is a leftover\n");
    EXPECT_SERVICES(4);
}

/* Not even of the same user and VNI is another reservation's service taken for one's own. */
static void taken__by_another_reservation(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fixture_make_services(fixture, "f18", 4712, "1024", 8);
    EXPECT_SERVICES(8);
    EXPECT_RUN(0, "env --job f18 --format slurm");
    fixture_expect_out(fixture, "SLINGSHOT_SVC_IDS=3,3,3,3\n");
    EXPECT_RUN_LEAVES(0, 4, "epilog --job f17");
    EXPECT_RUN(0, "env --job f18 --format slurm");
    fixture_expect_out(fixture, "SLINGSHOT_SVC_IDS=3,3,3,3\n");
}

/* ---- What fails for good ---- */

static void failure__on_one_nic_undoes_all(void **state)
{
    struct fixture *fixture = *state;
    static const char *const words[] = {"EINVAL", "EIO", "EPERM", "EEXIST", "ENOMEM"};
    give_job(fixture);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char conf[128];
        snprintf(conf, sizeof conf,
                 "nics = 4\n[fault bad]\ncall = alloc_svc\nnic = cxi2\nerrno = %s\n", words[i]);
        fixture_set_cxi(fixture, conf);
        EXPECT_RUN(1, "prolog --job f17");
        fixture_expect_err(fixture, "cxi2: ");
        EXPECT_SERVICES(0);
        assert_string_equal(last_report(fixture), "");
    }
    /* That nothing is left is the epilog's to tell: this prolog may be run again (I1). */
    fixture_set_cxi(fixture, "nics = 4\n");
    EXPECT_RUN(0, "epilog --job f17");
    assert_string_equal(last_report(fixture), "f17/n1 destroyed 4711\n");
    assert_false(fixture_remembers(fixture));
    /* Nor is there any trace of it for the job when it is tried again. */
    fixture_set_cxi(fixture, "nics = 4\n");
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17");
}

static void failure__after_the_effect_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    give_job(fixture);
    fixture_set_cxi(fixture, "nics = 4\n[fault late]\ncall = alloc_svc\nnic = cxi3\nerrno = EIO\n"
                             "when = after\n");
    EXPECT_RUN_LEAVES(1, 0, "prolog --job f17");
    fixture_set_cxi(fixture, "nics = 4\n[fault cut]\ncall = alloc_svc\nnic = cxi3\nerrno = EINTR\n"
                             "when = after\n");
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17");
}

static void failure__undoing_that_fails_is_left_to_the_epilog(void **state)
{
    struct fixture *fixture = *state;
    give_job(fixture);
    fixture_set_cxi(fixture, "nics = 4\n[fault bad]\ncall = alloc_svc\nnic = cxi2\nerrno = EINVAL\n"
                             "[fault stuck]\ncall = destroy_svc\nnic = cxi0\nerrno = EBUSY\n");
    EXPECT_RUN_LEAVES(1, 1, "prolog --job f17");
    assert_string_equal(last_report(fixture), "f17/n1 lingering 4711 cxi0:2\n");
    fixture_set_cxi(fixture, "nics = 4\n");
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
    assert_string_equal(last_report(fixture), "f17/n1 destroyed 4711\n");
}

/* ---- NICs that go ---- */

static void gone__between_list_and_open(void **state)
{
    struct fixture *fixture = *state;
    give_job(fixture);
    /* It is still listed, and cannot be opened: that is a failure of a NIC that is there. */
    fixture_set_cxi(fixture,
                    "nics = 4\n[fault gone]\ncall = open_device\nnic = cxi3\nerrno = ENOENT\n");
    EXPECT_RUN(1, "prolog --job f17");
    fixture_expect_err(fixture, "cxi3 cannot be opened");
    EXPECT_RUN(1, "list");
    fixture_set_cxi(fixture, "nics = 4\n");
    EXPECT_SERVICES(0);
}

/* A NIC that goes with a service on it is not known to be clean: the VNI must not be used again. */
static void gone__with_a_service_on_it(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fixture_set_cxi(fixture, "nics = 4\n[cxi1]\npresent = no\n");
    EXPECT_RUN(5, "epilog --job f17 --retry-busy 0s");
    fixture_expect_err(fixture, "cxi1: service 2 of job elcap/f17 cannot be destroyed");
    assert_string_equal(last_report(fixture), "f17/n1 lingering 4711 cxi1:2\n");
    /* It comes back, service and all. */
    fixture_set_cxi(fixture, "nics = 4\n");
    EXPECT_SERVICES(1);
    EXPECT_RUN_LEAVES(0, 0, "housekeeping --job f17");
    assert_string_equal(last_report(fixture), "f17/n1 destroyed 4711\n");
}

static void gone__with_all_others(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fixture_set_cxi(fixture, "nics = 4\n[fault list]\ncall = get_device_list\nerrno = EIO\n");
    EXPECT_RUN(5, "epilog --job f17 --retry-busy 0s");
    assert_string_equal(last_report(fixture),
                        "f17/n1 lingering 4711 cxi0:2 cxi1:2 cxi2:2 cxi3:2\n");
    fixture_set_cxi(fixture, "nics = 4\n");
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
}

/* ---- Several at once, and killed ---- */

static void prologs__of_different_jobs_at_once(void **state)
{
    struct fixture *fixture = *state;
    enum { JOBS = 4 };
    struct process *running[JOBS];
    char arguments[64], name[8], vni[8];
    /* Together they want more than there is: 4 × 288 of 1024. */
    fixture_set_cxi(fixture,
                    "nics = 2\nlog = yes\n[nic]\ntle_pools = 16\n[fault slow]\ncall = alloc_svc\n"
                    "delay = 100ms\n");
    for (unsigned int i = 0; i < JOBS; i++) {
        snprintf(name, sizeof name, "f%u", i);
        snprintf(vni, sizeof vni, "%u", 1024 + i);
        fakebroker_set_job(fixture->broker, name, fixture_job(name, 100 + i, vni, 144));
    }
    for (unsigned int i = 0; i < JOBS; i++) {
        snprintf(arguments, sizeof arguments, "prolog --job f%u", i);
        running[i] = fixture_start(fixture, arguments);
    }
    for (unsigned int i = 0; i < JOBS; i++)
        assert_int_equal(fixture_join(running[i]), 0);
    assert_int_equal(fixture_services(fixture, "cxi0"), JOBS);
    assert_int_equal(fixture_services(fixture, "cxi1"), JOBS);
    /* The last one got what was left, and no more: nobody counted the same queues twice, to be told
     * so by the driver. */
    assert_false(fixture_cxi_logged(fixture, "-ENOSPC"));
    EXPECT_RUN(1, "explain --cores 1");
    fixture_expect_out(fixture, "cxi0: 0 of 2 wanted transmit command queues granted");
    for (unsigned int i = 0; i < JOBS; i++) {
        snprintf(arguments, sizeof arguments, "epilog --job f%u", i);
        running[i] = fixture_start(fixture, arguments);
    }
    for (unsigned int i = 0; i < JOBS; i++)
        assert_int_equal(fixture_join(running[i]), 0);
    EXPECT_SERVICES(0);
}

static bool has_one(void *arg)
{
    return fixture_services(arg, "cxi0") == 1;
}

/* kill -9 between two NICs. */
static void kill_prolog(struct fixture *fixture)
{
    give_job(fixture);
    fixture_set_cxi(fixture, "nics = 4\n[fault stop]\ncall = alloc_svc\nnic = cxi1\ndelay = 1h\n");
    struct process *prolog = fixture_start(fixture, "prolog --job f17");
    assert_true(await(has_one, fixture, AWAIT_DEADLINE_MS));
    process_kill(prolog);
    fixture_set_cxi(fixture, "nics = 4\n");
}

/* A service is found although its id was not recorded. */
static void prolog__killed_between_two_nics(void **state)
{
    struct fixture *fixture = *state;
    kill_prolog(fixture);
    assert_true(fixture_edit_spool(fixture, "4711", "\"intended\"", NULL));
    assert_string_equal(fakebroker_reports(fixture->broker), "");
    /* Even without the broker. */
    fakebroker_go(fixture->broker);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
    fakebroker_come(fixture->broker);
    EXPECT_RUN(0, "epilog --job f17");
    assert_string_equal(last_report(fixture), "f17/n1 destroyed 4711\n");
    assert_false(fixture_remembers(fixture));
}

static void prolog__killed_and_run_again(void **state)
{
    struct fixture *fixture = *state;
    kill_prolog(fixture);
    EXPECT_RUN_LEAVES(0, 4, "prolog --job f17");
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
}

/* Whether somebody waits for a lock of the spool. */
static bool somebody_waits(void *arg)
{
    const struct fixture *fixture = arg;
    char path[128], line[256], inode[32];
    struct stat status;
    bool waits = false;
    snprintf(path, sizeof path, "%s/spool/lock", fixture->folder);
    assert_int_equal(stat(path, &status), 0);
    snprintf(inode, sizeof inode, ":%llu ", (unsigned long long)status.st_ino);
    FILE *locks = fopen("/proc/locks", "re");
    assert_non_null(locks);
    while (fgets(line, sizeof line, locks))
        waits |= strstr(line, "->") && strstr(line, inode);
    fclose(locks);
    return waits;
}

static bool has_begun_to_wait(void *arg)
{
    return fixture_cxi_logged(arg, "waits");
}

/* A prolog that was slow comes to its turn when the epilog is over, and the job with it: nobody
 * would ever look for what it made. */
static void prolog__overtaken_by_the_epilog(void **state)
{
    struct fixture *fixture = *state;
    give_job(fixture);
    fixture_set_cxi(fixture, "nics = 4\nlog = yes\n[fault stop]\ncall = get_device_list\n"
                             "delay = 1h\n");
    struct process *epilog = fixture_start(fixture, "epilog --job f17");
    assert_true(await(has_begun_to_wait, fixture, AWAIT_DEADLINE_MS));
    fixture_set_cxi(fixture, "nics = 4\n");
    struct process *prolog = fixture_start(fixture, "prolog --job f17");
    assert_true(await(somebody_waits, fixture, AWAIT_DEADLINE_MS));
    fakebroker_set_job(fixture->broker, "f17", fixture_released("f17", 4711, "1024"));
    process_kill(epilog);
    assert_int_equal(fixture_join(prolog), 3);
    EXPECT_SERVICES(0);
}

static bool is_deleting(void *arg)
{
    return fixture_services(arg, "cxi0") == 0;
}

static void epilog__killed_and_run_again(void **state)
{
    struct fixture *fixture = *state;
    fixture_make_services(fixture, "f17", 4711, "1024", 8);
    fixture_set_cxi(fixture,
                    "nics = 4\n[fault stop]\ncall = destroy_svc\nnic = cxi1\ndelay = 1h\n");
    struct process *epilog = fixture_start(fixture, "epilog --job f17");
    assert_true(await(is_deleting, fixture, AWAIT_DEADLINE_MS));
    process_kill(epilog);
    fixture_set_cxi(fixture, "nics = 4\n");
    EXPECT_SERVICES(3);
    EXPECT_RUN_LEAVES(0, 0, "epilog --job f17");
    assert_string_equal(last_report(fixture), "f17/n1 destroyed 4711\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)

UNIT_MAIN(TEST(busy__for_some_tries), TEST(busy__on_one_nic_for_ever),
          TEST(busy__is_housekeeping_s_to_report_where_there_is_one), TEST(busy__on_all_nics),
          TEST(busy__leaves_the_next_job_alone), TEST(full__each_resource_is_scaled_back),
          TEST(full__tles_and_their_pools), TEST(full__all_of_a_sudden),
          TEST(full__explain_says_who_holds_what), TEST(taken__by_a_leftover),
          TEST(taken__by_another_reservation), TEST(failure__on_one_nic_undoes_all),
          TEST(failure__after_the_effect_leaves_nothing),
          TEST(failure__undoing_that_fails_is_left_to_the_epilog),
          TEST(gone__between_list_and_open), TEST(gone__with_a_service_on_it),
          TEST(gone__with_all_others), TEST(prologs__of_different_jobs_at_once),
          TEST(prolog__killed_between_two_nics), TEST(prolog__killed_and_run_again),
          TEST(prolog__overtaken_by_the_epilog), TEST(epilog__killed_and_run_again))
