/* SPDX-License-Identifier: Apache-2.0 */
/* Services that are in use when their job is over: by a process that lives on, or by another job of
 * the same user (F9, I3). */

#include "cxi/abi.h"
#include "tests/system/node/fixture.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_SIZE = 512, JOBS_MAX = 16, OTHERS_UID = 4711, LEFTOVERS = 6 };

/* Of a job on two nodes. */
static void give_vnis(struct fixture *fixture, const char *job, uint64_t number, unsigned int uid,
                      const char *vnis)
{
    static char texts[JOBS_MAX][TEXT_SIZE];
    char *text = texts[number % JOBS_MAX];
    snprintf(text, TEXT_SIZE,
             "{\"cluster\":\"elcap\",\"job\":\"%s\",\"number\":%llu,\"state\":\"active\","
             "\"uid\":%u,\"nodes\":\"n[1-2]\",\"node_count\":2,\"cores_per_node\":8,\"vnis\":%s,"
             "\"traffic_classes\":[\"best_effort\"]}",
             job, (unsigned long long)number, uid, vnis);
    fakebroker_set_job(fixture->broker, job, text);
}

/* With one VNI. */
static void give(struct fixture *fixture, const char *job, uint64_t number, unsigned int uid,
                 unsigned int vni)
{
    char vnis[16];
    snprintf(vnis, sizeof vnis, "[%u]", vni);
    give_vnis(fixture, job, number, uid, vnis);
}

static void begin(struct fixture *fixture, const char *job, uint64_t number, unsigned int uid,
                  unsigned int vni)
{
    give(fixture, job, number, uid, vni);
    EXPECT_RUN(0, "prolog --job %s", job);
}

/* What libfabric does in a task: a process that uses the service. */
static void use(unsigned int service, int told)
{
    char path[TEXT_SIZE];
    int (*open_device)(uint32_t, struct cxil_dev **);
    int (*alloc_lni)(struct cxil_dev *, struct cxil_lni **, unsigned int);
    struct cxil_dev *device;
    struct cxil_lni *lni;
    snprintf(path, sizeof path, "%s/libcxi.so.1", getenv("LD_LIBRARY_PATH"));
    void *library = dlopen(path, RTLD_NOW);
    void *opens = library ? dlsym(library, "cxil_open_device") : NULL;
    void *allocates = library ? dlsym(library, "cxil_alloc_lni") : NULL;
    memcpy(&open_device, &opens, sizeof open_device);
    memcpy(&alloc_lni, &allocates, sizeof alloc_lni);
    if (!opens || !allocates || open_device(0, &device) < 0 || alloc_lni(device, &lni, service) < 0)
        _exit(1);
    (void)!write(told, "", 1);
    for (;;)
        pause();
}

static pid_t start_user(unsigned int service)
{
    int told[2];
    char byte;
    assert_int_equal(pipe(told), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        use(service, told[1]);
    close(told[1]);
    assert_int_equal(read(told[0], &byte, 1), 1);
    close(told[0]);
    return pid;
}

static void end_user(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static bool was_last_reported(struct fixture *fixture, const char *line)
{
    const char *reports = fakebroker_reports(fixture->broker);
    const char *at = strstr(reports, line);
    while (at && strstr(at + 1, line))
        at = strstr(at + 1, line);
    return at && strlen(at) == strlen(line);
}

/* Who has another job here could otherwise drain a node that others share, at will. The end of that
 * job ends what the first one left. */
static void in_use__by_another_job_of_the_owner_drains_no_node(void **state)
{
    struct fixture *fixture = *state;
    unsigned int me = (unsigned int)geteuid();
    begin(fixture, "f17", 1, me, 1024);
    begin(fixture, "f18", 2, me, 1025);
    pid_t user = start_user(2);
    EXPECT_RUN(7, "epilog --job f17 --retry-busy 0s");
    fixture_expect_err(fixture,
                       "cxi0: service 2 of job elcap/f17 is still in use: by a process of uid ");
    fixture_expect_err(fixture, "what job elcap/f17 left may be used by job elcap/f18 of uid ");
    EXPECT_SERVICES(5);
    /* The broker knows that its VNI is not free. */
    assert_true(was_last_reported(fixture, "f17/n1 lingering 1 cxi0:2\n"));
    EXPECT_RUN(7, "tend");
    end_user(user);
    EXPECT_RUN(0, "epilog --job f18");
    assert_true(was_last_reported(fixture, "f17/n1 destroyed 1\n"));
    EXPECT_SERVICES(0);
    assert_false(fixture_remembers(fixture));
}

/* When that job is over, too, whoever still uses it has escaped the resource manager. */
static void in_use__without_another_job_drains_the_node(void **state)
{
    struct fixture *fixture = *state;
    unsigned int me = (unsigned int)geteuid();
    begin(fixture, "f17", 1, me, 1024);
    begin(fixture, "f18", 2, me, 1025);
    begin(fixture, "f19", 3, OTHERS_UID, 1026);
    pid_t user = start_user(2);
    EXPECT_RUN(7, "epilog --job f17 --retry-busy 0s");
    EXPECT_RUN(5, "epilog --job f18 --retry-busy 0s");
    fixture_expect_err(fixture, "cxi0: service 2 of job elcap/f17 is still in use");
    /* One without VNIs is known to the resource manager only. */
    EXPECT_RUN(7, "tend --users 1,%u,2", me);
    fixture_expect_err(fixture, "what job elcap/f17 left may be used by another job of uid ");
    EXPECT_RUN(5, "tend --users %u1,2", me);
    EXPECT_RUN(2, "tend --users root");
    EXPECT_RUN(5, "tend");
    /* It is no business of the next job's, whose end does not wait for it. */
    unsigned int asked = fakebroker_requests(fixture->broker);
    EXPECT_RUN(0, "epilog --job f19");
    assert_string_equal(fixture->err, "");
    assert_int_equal(fakebroker_requests(fixture->broker) - asked, 1);
    EXPECT_SERVICES(1);
    end_user(user);
    EXPECT_RUN(0, "tend");
    assert_true(was_last_reported(fixture, "f17/n1 destroyed 1\n"));
    assert_false(fixture_remembers(fixture));
}

static void in_use__is_not_excused_by_a_job_of_somebody_else(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, "f17", 1, (unsigned int)geteuid(), 1024);
    begin(fixture, "f18", 2, OTHERS_UID, 1025);
    pid_t user = start_user(2);
    EXPECT_RUN(5, "epilog --job f17 --retry-busy 0s");
    end_user(user);
    EXPECT_RUN_LEAVES(0, 4, "housekeeping --job f17");
}

/* A NIC that fails is the node's fault, whoever has jobs there. */
static void broken_nic__is_not_excused_by_another_job(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, "f17", 1, 5588, 1024);
    begin(fixture, "f18", 2, 5588, 1025);
    fixture_set_cxi(fixture,
                    "nics = 4\n[fault stuck]\ncall = destroy_svc\nnic = cxi2\nservice = 2\n"
                    "errno = EIO\n");
    EXPECT_RUN(5, "epilog --job f17 --retry-busy 0s");
    assert_null(strstr(fixture->err, "may be used by"));
}

/* I3: who holds the service could take part in a job that was given its VNI. The broker gives it to
 * none while it knows, and it may have lost its ledger. */
static void vni__that_is_in_use_is_no_other_job_s(void **state)
{
    struct fixture *fixture = *state;
    unsigned int me = (unsigned int)geteuid();
    begin(fixture, "f17", 1, me, 1024);
    begin(fixture, "f18", 2, me, 1025);
    pid_t user = start_user(2);
    EXPECT_RUN(7, "epilog --job f17 --retry-busy 0s");
    give(fixture, "f19", 3, OTHERS_UID, 1024);
    EXPECT_RUN(6, "prolog --job f19");
    fixture_expect_err(fixture, "a VNI of the job is still in use here, by what is left of job "
                                "elcap/f17");
    EXPECT_SERVICES(5);
    end_user(user);
    EXPECT_RUN(0, "tend");
    EXPECT_RUN_LEAVES(0, 8, "prolog --job f19");
}

/* B1: a VNI that jobs share is in use by others at any rate, so what one of them left there keeps
 * no other from it. What one of them has alone does. */
static void vni__that_is_shared_is_no_hindrance(void **state)
{
    struct fixture *fixture = *state;
    unsigned int me = (unsigned int)geteuid();
    static const struct {
        const char *job, *vnis;
        int status;
    } others[] = {{"f18", "[1025,2000],\"vnis_shared\":1", 0},
                  {"f19", "[1026,2001,2000],\"vnis_shared\":2", 0},
                  {"f20", "[2000]", 6},
                  {"f21", "[1024,2000],\"vnis_shared\":1", 6},
                  {"f22", "[1027,2000]", 6}};
    give_vnis(fixture, "f17", 1, me, "[1024,2000],\"vnis_shared\":1");
    EXPECT_RUN(0, "prolog --job f17");
    pid_t user = start_user(2);
    EXPECT_RUN(5, "epilog --job f17 --retry-busy 0s");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        give_vnis(fixture, others[i].job, 2 + i, OTHERS_UID, others[i].vnis);
        EXPECT_RUN(others[i].status, "prolog --job %s", others[i].job);
    }
    fixture_expect_err(fixture, "still in use here, by what is left of job elcap/f17");
    end_user(user);
    EXPECT_RUN(0, "tend");
}

/* Its own housekeeping, which is to come, retries; another job's does not end that. */
static void in_use__is_its_own_housekeeping_s_first(void **state)
{
    struct fixture *fixture = *state;
    unsigned int me = (unsigned int)geteuid();
    fixture_set_config(fixture, "housekeeping = yes\n");
    begin(fixture, "f17", 1, me, 1024);
    begin(fixture, "f18", 2, me, 1025);
    pid_t user = start_user(2);
    EXPECT_RUN(7, "epilog --job f17 --retry-busy 0s");
    EXPECT_RUN(0, "epilog --job f18 --retry-busy 0s");
    EXPECT_RUN(0, "housekeeping --job f18 --retry-busy 0s");
    assert_null(strstr(fakebroker_reports(fixture->broker), "lingering"));
    EXPECT_RUN(5, "housekeeping --job f17 --retry-busy 0s");
    assert_true(was_last_reported(fixture, "f17/n1 lingering 1 cxi0:2\n"));
    end_user(user);
    EXPECT_RUN(0, "tend");
    assert_false(fixture_remembers(fixture));
}

static unsigned int lines_of(const char *text)
{
    unsigned int lines = 0;
    for (; (text = strchr(text, '\n')); text++)
        lines++;
    return lines;
}

/* Jobs f1 to f6 of this user have ended, and each of their services on cxi0 is in use. */
static void leave_six(struct fixture *fixture, pid_t users[LEFTOVERS])
{
    unsigned int me = (unsigned int)geteuid();
    char job[8];
    fixture_set_cxi(fixture, "nics = 1\n");
    for (unsigned int i = 0; i < LEFTOVERS; i++) {
        snprintf(job, sizeof job, "f%u", i + 1);
        begin(fixture, job, i + 1, me, 1024 + i);
        users[i] = start_user(2 + i);
    }
    begin(fixture, "f7", 7, me, 1040);
    begin(fixture, "f8", 8, OTHERS_UID, 1041);
    for (unsigned int i = 0; i < LEFTOVERS; i++)
        EXPECT_RUN(7, "epilog --job f%u --retry-busy 0s", i + 1);
}

static void end_six(struct fixture *fixture, const pid_t users[LEFTOVERS])
{
    for (unsigned int i = 0; i < LEFTOVERS; i++)
        end_user(users[i]);
    EXPECT_RUN_LEAVES(0, 0, "tend");
    assert_false(fixture_remembers(fixture));
}

/* What one user leaves costs others nothing: neither time nor commits of the broker, nor lines in
 * the log, however much it is. */
static void leftovers__cost_little(void **state)
{
    struct fixture *fixture = *state;
    pid_t users[LEFTOVERS];
    leave_six(fixture, users);
    /* Each was told once, and is not told again while nothing has changed. */
    assert_int_equal(lines_of(fakebroker_reports(fixture->broker)), 8 + LEFTOVERS);
    unsigned int asked = fakebroker_requests(fixture->broker);
    EXPECT_RUN(7, "tend");
    assert_int_equal(lines_of(fixture->err), 2);
    fixture_expect_err(fixture, "; in all 6 services of 6 earlier jobs could not be destroyed\n");
    EXPECT_RUN(7, "tend");
    assert_int_equal(fakebroker_requests(fixture->broker), asked);
    /* But once an hour: a broker can lose its ledger. */
    assert_true(fixture_edit_spool(fixture, "3", "\"told\": ", "\"told\": -3600000, \"before\": "));
    EXPECT_RUN(7, "tend");
    assert_int_equal(fakebroker_requests(fixture->broker) - asked, 1);
    assert_true(was_last_reported(fixture, "f3/n1 lingering 3 cxi0:4\n"));
    /* Another's job has nothing to do with them, nor has his housekeeping until they are due. */
    EXPECT_RUN(0, "epilog --job f8");
    assert_string_equal(fixture->err, "");
    EXPECT_RUN(0, "housekeeping --job f8");
    assert_string_equal(fixture->err, "");
    for (unsigned int i = 0; i < LEFTOVERS; i++) {
        char number[8];
        snprintf(number, sizeof number, "%u", i + 1);
        assert_true(fixture_edit_spool(fixture, number, "\"tried\": ", "\"tried\": 0, \"was\": "));
        assert_true(fixture_edit_spool(fixture, number, "\"tries\": ", "\"tries\": 0, \"had\": "));
    }
    /* Then a few at a time. */
    EXPECT_RUN(0, "housekeeping --job f8");
    fixture_expect_err(fixture, "; in all 4 services of 4 earlier jobs could not be destroyed\n");
    EXPECT_RUN(0, "housekeeping --job f8");
    fixture_expect_err(fixture, "; in all 2 services of 2 earlier jobs could not be destroyed\n");
    /* So does the next job of their owner, whose last it is. */
    EXPECT_RUN(5, "epilog --job f7");
    fixture_expect_err(fixture, "; in all 4 services of 4 earlier jobs could not be destroyed\n");
    end_six(fixture, users);
    /* Five were of what hooks of f7 and f8 ended. */
    assert_int_equal(lines_of(fakebroker_reports(fixture->broker)),
                     8 + LEFTOVERS + 1 + 5 + LEFTOVERS);
}

/* F10: who has left too much here gets no more, and the node is well. */
static void leftovers__of_too_many_jobs_refuse_their_owner(void **state)
{
    struct fixture *fixture = *state;
    pid_t users[LEFTOVERS];
    leave_six(fixture, users);
    give(fixture, "f9", 9, (unsigned int)geteuid(), 1050);
    EXPECT_RUN(6, "prolog --job f9");
    fixture_expect_err(fixture, "services of 6 earlier jobs of uid ");
    fixture_expect_err(fixture, "end the processes that use them");
    EXPECT_RUN(6, "prolog --job f9 --dry-run");
    EXPECT_SERVICES(LEFTOVERS + 2);
    /* One that is there already stays, as it may run. */
    EXPECT_RUN(0, "prolog --job f7");
    /* Others are not refused. */
    begin(fixture, "f10", 10, OTHERS_UID, 1051);
    end_user(users[0]);
    end_user(users[1]);
    EXPECT_RUN(7, "tend");
    EXPECT_RUN(0, "prolog --job f9");
    for (unsigned int i = 2; i < LEFTOVERS; i++)
        end_user(users[i]);
}

/* One is enough, when it holds much of a NIC. */
static void leftovers__of_much_of_a_nic_refuse_their_owner(void **state)
{
    struct fixture *fixture = *state;
    unsigned int me = (unsigned int)geteuid();
    fixture_set_cxi(fixture, "nics = 1\n");
    give(fixture, "f17", 1, me, 1024);
    EXPECT_RUN(0, "prolog --job f17 --cores 96");
    begin(fixture, "f18", 2, me, 1025);
    pid_t user = start_user(2);
    EXPECT_RUN(7, "epilog --job f17 --retry-busy 0s");
    give(fixture, "f19", 3, me, 1026);
    EXPECT_RUN(6, "prolog --job f19");
    fixture_expect_err(fixture, "cxi0: services of earlier jobs of uid ");
    fixture_expect_err(fixture, "more than an eighth: end the processes that use them");
    begin(fixture, "f20", 4, OTHERS_UID, 1027);
    end_user(user);
    EXPECT_RUN(0, "tend");
    EXPECT_RUN(0, "prolog --job f19");
}

/* Reports that no hook could deliver need not wait for the next job. */
static void tend__tells_what_could_not_be_told(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, "f17", 1, 5588, 1024);
    fakebroker_go(fixture->broker);
    EXPECT_RUN(0, "epilog --job f17");
    EXPECT_RUN(4, "tend");
    assert_true(fixture_remembers(fixture));
    fakebroker_come(fixture->broker);
    EXPECT_RUN(0, "tend");
    assert_true(was_last_reported(fixture, "f17/n1 destroyed 1\n"));
    assert_false(fixture_remembers(fixture));
}

/* On thousands of nodes, every few minutes: nothing to do costs the broker nothing. */
static void tend__of_nothing_asks_nobody(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, "f17", 1, 5588, 1024);
    unsigned int asked = fakebroker_requests(fixture->broker);
    fixture_set_cxi(fixture, "nics = 4\n[fault any]\ncall = any\nerrno = EIO\n");
    EXPECT_RUN(0, "tend");
    assert_string_equal(fixture->err, "");
    assert_int_equal(fakebroker_requests(fixture->broker), asked);
    EXPECT_RUN(2, "tend --bogus");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)

UNIT_MAIN(TEST(in_use__by_another_job_of_the_owner_drains_no_node),
          TEST(in_use__without_another_job_drains_the_node),
          TEST(in_use__is_not_excused_by_a_job_of_somebody_else),
          TEST(broken_nic__is_not_excused_by_another_job),
          TEST(vni__that_is_in_use_is_no_other_job_s), TEST(vni__that_is_shared_is_no_hindrance),
          TEST(in_use__is_its_own_housekeeping_s_first), TEST(leftovers__cost_little),
          TEST(leftovers__of_too_many_jobs_refuse_their_owner),
          TEST(leftovers__of_much_of_a_nic_refuse_their_owner),
          TEST(tend__tells_what_could_not_be_told), TEST(tend__of_nothing_asks_nobody))
