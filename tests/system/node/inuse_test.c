/* Services that are in use when their job is over: by a process that lives on, or by another job of
 * the same user (F9, I3). */

#include "cxi/abi.h"
#include "tests/system/node/stand.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_SIZE = 512, JOBS_MAX = 4, OTHERS_UID = 4711 };

/* Of a job on two nodes, with one VNI. */
static void give(struct stand *stand, const char *job, uint64_t number, unsigned int uid,
                 unsigned int vni)
{
    static char texts[JOBS_MAX][TEXT_SIZE];
    char *text = texts[number % JOBS_MAX];
    snprintf(text, TEXT_SIZE,
             "{\"cluster\":\"elcap\",\"job\":\"%s\",\"number\":%llu,\"state\":\"active\","
             "\"uid\":%u,\"nodes\":\"n[1-2]\",\"node_count\":2,\"cores_per_node\":8,\"vnis\":[%u],"
             "\"traffic_classes\":[\"best_effort\"]}",
             job, (unsigned long long)number, uid, vni);
    pretender_set_job(stand->broker, job, text);
}

static void begin(struct stand *stand, const char *job, uint64_t number, unsigned int uid,
                  unsigned int vni)
{
    give(stand, job, number, uid, vni);
    assert_int_equal(stand_run(stand, "prolog --job %s", job), 0);
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

static bool was_last_reported(struct stand *stand, const char *line)
{
    const char *reports = pretender_reports(stand->broker);
    const char *at = strstr(reports, line);
    while (at && strstr(at + 1, line))
        at = strstr(at + 1, line);
    return at && strlen(at) == strlen(line);
}

/* Who has another job here could otherwise drain a node that others share, at will. The end of that
 * job ends what the first one left. */
static void in_use__by_another_job_of_the_owner_drains_no_node(void **state)
{
    struct stand *stand = *state;
    unsigned int me = (unsigned int)geteuid();
    begin(stand, "f17", 1, me, 1024);
    begin(stand, "f18", 2, me, 1025);
    pid_t user = start_user(2);
    assert_int_equal(stand_run(stand, "epilog --job f17 --retry-busy 0s"), 7);
    stand_expect_err(stand,
                     "cxi0: service 2 of job elcap/f17 is still in use: by a process of uid ");
    stand_expect_err(stand, "what job elcap/f17 left may be used by job elcap/f18, as uid ");
    assert_int_equal(stand_services(stand, NULL), 5);
    /* The broker knows that its VNI is not free. */
    assert_true(was_last_reported(stand, "f17/n1 lingering 1 cxi0:2\n"));
    assert_int_equal(stand_run(stand, "tend"), 7);
    end_user(user);
    assert_int_equal(stand_run(stand, "epilog --job f18"), 0);
    assert_true(was_last_reported(stand, "f17/n1 destroyed 1\n"));
    assert_int_equal(stand_services(stand, NULL), 0);
    assert_false(stand_remembers(stand));
}

/* When that job is over, too, whoever still uses it has escaped the resource manager. */
static void in_use__without_another_job_drains_the_node(void **state)
{
    struct stand *stand = *state;
    unsigned int me = (unsigned int)geteuid();
    begin(stand, "f17", 1, me, 1024);
    begin(stand, "f18", 2, me, 1025);
    begin(stand, "f19", 3, OTHERS_UID, 1026);
    pid_t user = start_user(2);
    assert_int_equal(stand_run(stand, "epilog --job f17 --retry-busy 0s"), 7);
    assert_int_equal(stand_run(stand, "epilog --job f18 --retry-busy 0s"), 5);
    stand_expect_err(stand, "cxi0: service 2 of job elcap/f17 is still in use");
    /* One without VNIs is known to the resource manager only. */
    assert_int_equal(stand_run(stand, "tend --users 1,%u,2", me), 7);
    stand_expect_err(stand, "what job elcap/f17 left may be used by another job of uid ");
    assert_int_equal(stand_run(stand, "tend --users %u1,2", me), 5);
    assert_int_equal(stand_run(stand, "tend --users root"), 2);
    assert_int_equal(stand_run(stand, "tend"), 5);
    /* Whoever's job ends next finds it. */
    assert_int_equal(stand_run(stand, "epilog --job f19"), 5);
    assert_int_equal(stand_services(stand, NULL), 1);
    end_user(user);
    assert_int_equal(stand_run(stand, "tend"), 0);
    assert_true(was_last_reported(stand, "f17/n1 destroyed 1\n"));
    assert_false(stand_remembers(stand));
}

static void in_use__is_not_excused_by_a_job_of_somebody_else(void **state)
{
    struct stand *stand = *state;
    begin(stand, "f17", 1, (unsigned int)geteuid(), 1024);
    begin(stand, "f18", 2, OTHERS_UID, 1025);
    pid_t user = start_user(2);
    assert_int_equal(stand_run(stand, "epilog --job f17 --retry-busy 0s"), 5);
    end_user(user);
    assert_int_equal(stand_run(stand, "housekeeping --job f17"), 0);
    assert_int_equal(stand_services(stand, NULL), 4);
}

/* A NIC that fails is the node's fault, whoever has jobs there. */
static void broken_nic__is_not_excused_by_another_job(void **state)
{
    struct stand *stand = *state;
    begin(stand, "f17", 1, 5588, 1024);
    begin(stand, "f18", 2, 5588, 1025);
    stand_set_cxi(stand, "nics = 4\n[fault stuck]\ncall = destroy_svc\nnic = cxi2\nservice = 2\n"
                         "errno = EIO\n");
    assert_int_equal(stand_run(stand, "epilog --job f17 --retry-busy 0s"), 5);
    assert_null(strstr(stand->err, "may be used by"));
}

/* I3: who holds the service could take part in a job that was given its VNI. The broker gives it to
 * none while it knows, and it may have lost its ledger. */
static void vni__that_is_in_use_is_no_other_job_s(void **state)
{
    struct stand *stand = *state;
    unsigned int me = (unsigned int)geteuid();
    begin(stand, "f17", 1, me, 1024);
    begin(stand, "f18", 2, me, 1025);
    pid_t user = start_user(2);
    assert_int_equal(stand_run(stand, "epilog --job f17 --retry-busy 0s"), 7);
    give(stand, "f19", 3, OTHERS_UID, 1024);
    assert_int_equal(stand_run(stand, "prolog --job f19"), 6);
    stand_expect_err(stand, "a VNI of the job is still in use here, by what is left of job "
                            "elcap/f17");
    assert_int_equal(stand_services(stand, NULL), 5);
    end_user(user);
    assert_int_equal(stand_run(stand, "tend"), 0);
    assert_int_equal(stand_run(stand, "prolog --job f19"), 0);
    assert_int_equal(stand_services(stand, NULL), 8);
}

/* Its own housekeeping, which is to come, has patience; another job's does not end that. */
static void in_use__is_its_own_housekeeping_s_first(void **state)
{
    struct stand *stand = *state;
    unsigned int me = (unsigned int)geteuid();
    stand_set_config(stand, "housekeeping = yes\n");
    begin(stand, "f17", 1, me, 1024);
    begin(stand, "f18", 2, me, 1025);
    pid_t user = start_user(2);
    assert_int_equal(stand_run(stand, "epilog --job f17 --retry-busy 0s"), 7);
    assert_int_equal(stand_run(stand, "epilog --job f18 --retry-busy 0s"), 0);
    assert_int_equal(stand_run(stand, "housekeeping --job f18 --retry-busy 0s"), 0);
    assert_null(strstr(pretender_reports(stand->broker), "lingering"));
    assert_int_equal(stand_run(stand, "housekeeping --job f17 --retry-busy 0s"), 5);
    assert_true(was_last_reported(stand, "f17/n1 lingering 1 cxi0:2\n"));
    end_user(user);
    assert_int_equal(stand_run(stand, "tend"), 0);
    assert_false(stand_remembers(stand));
}

/* Reports that no hook could deliver need not wait for the next job. */
static void tend__tells_what_could_not_be_told(void **state)
{
    struct stand *stand = *state;
    begin(stand, "f17", 1, 5588, 1024);
    pretender_go(stand->broker);
    assert_int_equal(stand_run(stand, "epilog --job f17"), 0);
    assert_int_equal(stand_run(stand, "tend"), 4);
    assert_true(stand_remembers(stand));
    pretender_come(stand->broker);
    assert_int_equal(stand_run(stand, "tend"), 0);
    assert_true(was_last_reported(stand, "f17/n1 destroyed 1\n"));
    assert_false(stand_remembers(stand));
}

/* On thousands of nodes, every few minutes: nothing to do costs the broker nothing. */
static void tend__of_nothing_asks_nobody(void **state)
{
    struct stand *stand = *state;
    begin(stand, "f17", 1, 5588, 1024);
    unsigned int asked = pretender_requests(stand->broker);
    stand_set_cxi(stand, "nics = 4\n[fault any]\ncall = any\nerrno = EIO\n");
    assert_int_equal(stand_run(stand, "tend"), 0);
    assert_string_equal(stand->err, "");
    assert_int_equal(pretender_requests(stand->broker), asked);
    assert_int_equal(stand_run(stand, "tend --bogus"), 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, stand_create, stand_destroy)
    const struct CMUnitTest tests[] = {
        TEST(in_use__by_another_job_of_the_owner_drains_no_node),
        TEST(in_use__without_another_job_drains_the_node),
        TEST(in_use__is_not_excused_by_a_job_of_somebody_else),
        TEST(broken_nic__is_not_excused_by_another_job),
        TEST(vni__that_is_in_use_is_no_other_job_s),
        TEST(in_use__is_its_own_housekeeping_s_first),
        TEST(tend__tells_what_could_not_be_told),
        TEST(tend__of_nothing_asks_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
