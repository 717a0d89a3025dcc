/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes share one machine, and die at any moment: prolog, tasks and epilog are
 * different processes. */

#include "tests/unit/mockcxi/machine.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>

#include "mock-cxi/place.h"

static int wait_for(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* fork(), which works. The child ends by _exit, without cmocka's and the sanitizers' goodbyes, or
 * with its parent. */
static pid_t fork_child(void)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

#define TEST(name) UNIT_WITH(name, machine_start, machine_stop)

TEST(services__outlive_their_maker)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 0);
    struct cxi_svc_desc desc = machine_service(100);
    pid_t prolog = fork_child();
    if (prolog == 0) {
        if (machine->alloc_svc(dev, &desc, NULL) != 2)
            _exit(1);
        _exit(0);
    }
    assert_int_equal(wait_for(prolog), 0);
    assert_int_equal(machine_count(machine, dev), 2);
    assert_int_equal(machine->destroy_svc(dev, 2), 0);
    /* The machine is booted anew. */
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    assert_int_equal(unlink(machine_path(machine, "state")), 0);
    assert_int_equal(machine_count(machine, dev), 1);
    machine->close_device(dev);
}

/* Two prologs at once: no id is given twice, nothing is lost, and never is more reserved than there
 * is. */
TEST(allocation__by_two_processes)
{
    enum { EACH = 40 };
    struct machine *machine = *state;
    machine_configure(machine, MACHINE_FOUR_NICS "[nic]\ntxqs = 50\n");
    struct cxil_dev *dev = machine_open(machine, 0);
    pid_t pids[2];
    for (int i = 0; i < 2; i++) {
        pid_t pid = fork_child();
        if (pid == 0) {
            struct cxi_svc_desc desc = machine_service((uint16_t)(100 + i));
            int granted = 0;
            desc.limits.txqs = (struct cxi_limits){.max = 1, .res = 1};
            for (int n = 0; n < EACH; n++) {
                int r = machine->alloc_svc(dev, &desc, NULL);
                if (r < 0 && r != -ENOSPC)
                    _exit(255);
                granted += r > 0;
            }
            _exit(granted);
        }
        pids[i] = pid;
    }
    int granted[2];
    for (int i = 0; i < 2; i++) {
        int status = wait_for(pids[i]);
        assert_true(WIFEXITED(status));
        granted[i] = WEXITSTATUS(status);
        assert_in_range(granted[i], 50 - EACH, EACH);
    }
    assert_int_equal(granted[0] + granted[1], 50);
    struct cxil_svc_list *list = NULL;
    assert_int_equal(machine->get_svc_list(dev, &list), 0);
    assert_int_equal(list->count, 51);
    int found[2] = {0, 0};
    for (unsigned int i = 1; i < list->count; i++) {
        assert_int_equal(list->descs[i].svc_id, i + 1);
        found[list->descs[i].vnis[0] - 100]++;
    }
    assert_int_equal(found[0], granted[0]);
    assert_int_equal(found[1], granted[1]);
    machine->free_svc_list(list);
    machine->close_device(dev);
}

/* Who looks does not wait for who changes; who dies lets go; what was begun beside the state is not
 * the state. */
TEST(lock__of_a_killed_process)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 0);
    struct cxi_svc_desc desc = machine_service(100);
    int ready[2];
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    assert_int_equal(pipe(ready), 0);
    pid_t holder = fork_child();
    if (holder == 0) {
        struct place place;
        if (place_open(&place, NULL) < 0 || place_lock(&place, NULL) < 0)
            _exit(1);
        int half = openat(place.directory, "state.new", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (half < 0 || write(half, "mockcxi1 and then", 17) != 17 || write(ready[1], "", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(machine_count(machine, dev), 2);
    pid_t waiter = fork_child();
    if (waiter == 0) {
        if (machine->destroy_svc(dev, 2) != 0)
            _exit(1);
        _exit(0);
    }
    /* It waits for the lock: its own try to get one fails as long. */
    int lock = open(machine_path(machine, "lock"), O_RDONLY | O_CLOEXEC);
    assert_true(lock >= 0);
    assert_int_equal(flock(lock, LOCK_SH | LOCK_NB), -1);
    assert_int_equal(waitpid(waiter, NULL, WNOHANG), 0);
    assert_int_equal(kill(holder, SIGKILL), 0);
    assert_int_equal(WTERMSIG(wait_for(holder)), SIGKILL);
    assert_int_equal(wait_for(waiter), 0);
    assert_int_equal(machine_count(machine, dev), 1);
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    close(lock);
    close(ready[0]);
    close(ready[1]);
    machine->close_device(dev);
}

/* Killed at moments that nobody chose, the state is always a whole one, and nobody waits for ever:
 * one service more or less than the dead one knew of. */
TEST(state__survives_kills)
{
    enum { ROUNDS = 60 };
    struct machine *machine = *state;
    machine_configure(machine, "[mock]\nnics = 1\nprivileged = any\n");
    struct cxil_dev *dev = machine_open(machine, 0);
    for (int round = 0; round < ROUNDS; round++) {
        int progress[2];
        assert_int_equal(pipe(progress), 0);
        pid_t pid = fork_child();
        if (pid == 0) {
            struct cxi_svc_desc desc = machine_service(100);
            for (;;) {
                int id = machine->alloc_svc(dev, &desc, NULL);
                if (id < 0 || write(progress[1], "", 1) != 1 ||
                    machine->destroy_svc(dev, (unsigned int)id) < 0)
                    _exit(1);
            }
            _exit(0);
        }
        char bytes[8];
        for (int i = 0; i <= round % 5; i++)
            assert_true(read(progress[0], bytes, 1) == 1);
        nanosleep(&(struct timespec){.tv_nsec = round * 7919L % 200000}, NULL);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(WTERMSIG(wait_for(pid)), SIGKILL);
        close(progress[0]);
        close(progress[1]);
        struct cxil_svc_list *list = NULL;
        assert_int_equal(machine->get_svc_list(dev, &list), 0);
        assert_in_range(list->count, 1, 2);
        if (list->count == 2)
            assert_int_equal(machine->destroy_svc(dev, list->descs[1].svc_id), 0);
        machine->free_svc_list(list);
    }
    machine->close_device(dev);
}

TEST(state__damaged_is_said)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 0);
    struct cxi_svc_desc desc = machine_service(100);
    struct cxil_svc_list *list = NULL;
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    struct stat status;
    assert_int_equal(stat(machine_path(machine, "state"), &status), 0);
    for (off_t length = 0; length < status.st_size; length += 13) {
        assert_int_equal(truncate(machine_path(machine, "state"), length), 0);
        assert_int_equal(machine->get_svc_list(dev, &list), -EIO);
        assert_int_equal(machine->alloc_svc(dev, &desc, NULL), -EIO);
        assert_int_equal(unlink(machine_path(machine, "state")), 0);
        assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    }
    int fd = open(machine_path(machine, "state"), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    for (off_t at = 0; at < status.st_size; at += 7) {
        unsigned char right;
        assert_int_equal(pread(fd, &right, 1, at), 1);
        unsigned char wrong = (unsigned char)(right ^ 0x10);
        assert_int_equal(pwrite(fd, &wrong, 1, at), 1);
        assert_int_equal(machine->get_svc_list(dev, &list), -EIO);
        assert_int_equal(pwrite(fd, &right, 1, at), 1);
    }
    assert_int_equal(machine_count(machine, dev), 2);
    assert_true(machine_logged(machine, "the state is damaged") > 0);
    close(fd);
    machine->close_device(dev);
}

/* A task that uses the service keeps it busy until it ends, however it ends. */
TEST(service__busy_while_used)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 0);
    struct cxil_dev *other = machine_open(machine, 1);
    struct cxi_svc_desc desc = machine_service(100);
    int ready[2];
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    assert_int_equal(machine->alloc_svc(other, &desc, NULL), 2);
    assert_int_equal(pipe(ready), 0);
    pid_t task = fork_child();
    if (task == 0) {
        struct cxil_lni *lni = NULL;
        if (machine->alloc_lni(dev, &lni, 2) != 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(machine->destroy_svc(other, 2), 0);
    desc.svc_id = 2;
    assert_int_equal(machine->destroy_svc(dev, 2), -EBUSY);
    assert_int_equal(machine->set_svc_lpr(dev, 2, 2), -EBUSY);
    assert_int_equal(machine->svc_enable(dev, 2, false), -EBUSY);
    assert_int_equal(machine->update_svc(dev, &desc, NULL), -EBUSY);
    assert_int_equal(kill(task, SIGKILL), 0);
    /* Dead, and not yet waited for, it holds nothing any more. */
    MACHINE_AWAIT(machine->destroy_svc(dev, 2) == 0);
    wait_for(task);
    close(ready[0]);
    close(ready[1]);
    machine->close_device(dev);
    machine->close_device(other);
}

TEST(service__idle_when_given_back)
{
    struct machine *machine = *state;
    struct cxil_dev *dev = machine_open(machine, 0);
    struct cxi_svc_desc desc = machine_service(100);
    struct cxil_lni *first = NULL;
    struct cxil_lni *second = NULL;
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    assert_int_equal(machine->alloc_lni(dev, &first, 3), -EINVAL);
    assert_int_equal(machine->alloc_lni(dev, &first, 1), -EKEYREVOKED); /* disabled */
    assert_int_equal(machine->alloc_lni(dev, &first, 2), 0);
    assert_int_equal(machine->alloc_lni(dev, &second, 2), 0);
    assert_int_not_equal(first->id, second->id);
    assert_int_equal(machine->destroy_lni(first), 0);
    assert_int_equal(machine->destroy_svc(dev, 2), -EBUSY);
    assert_int_equal(machine->destroy_lni(second), 0);
    assert_int_equal(machine->destroy_svc(dev, 2), 0);
    machine->close_device(dev);
}

enum { NOBODY = 65534 };

/* Unless cxi.conf says otherwise, only the administrator makes services. */
TEST(privilege__is_roots)
{
    struct machine *machine = *state;
    machine_configure(machine, "[mock]\nnics = 1\nlog = yes\n");
    struct cxil_dev *dev = machine_open(machine, 0);
    struct cxi_svc_desc desc = machine_service(100);
    pid_t user = fork_child();
    if (user == 0) {
        if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) < 0)
            _exit(1);
        if (machine->alloc_svc(dev, &desc, NULL) != -EPERM ||
            machine->update_svc(dev, &desc, NULL) != -EPERM ||
            machine->svc_enable(dev, 1, true) != -EPERM ||
            machine->svc_set_netns(dev, 1, 1) != -EPERM)
            _exit(2);
        _exit(0);
    }
    assert_int_equal(wait_for(user), 0);
    assert_int_equal(machine_count(machine, dev), 1);
    machine->close_device(dev);
}

/* F7: only the job's owner. */
TEST(others__may_look_only)
{
    struct machine *machine = *state;
    if (geteuid() != 0)
        skip(); /* only root can become somebody else */
    machine_configure(machine, "[mock]\nnics = 1\n");
    struct cxil_dev *dev = machine_open(machine, 0);
    struct cxi_svc_desc desc = machine_service(100);
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    desc.members[0].svc_member.uid = NOBODY;
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 3);
    pid_t task = fork_child();
    if (task == 0) {
        struct cxil_svc_list *list = NULL;
        struct cxil_lni *lni = NULL;
        if (setresuid(NOBODY, NOBODY, NOBODY) < 0)
            _exit(1);
        if (machine->get_svc_list(dev, &list) != 0 || list->count != 3)
            _exit(2);
        if (machine->alloc_svc(dev, &desc, NULL) != -EPERM ||
            machine->destroy_svc(dev, 2) != -EPERM || machine->set_svc_lpr(dev, 2, 2) != -EPERM)
            _exit(3);
        if (machine->alloc_lni(dev, &lni, 2) != -EPERM || machine->alloc_lni(dev, &lni, 3) != 0)
            _exit(4);
        _exit(0);
    }
    assert_int_equal(wait_for(task), 0);
    struct cxil_lni *lni = NULL;
    assert_int_equal(machine->alloc_lni(dev, &lni, 3), -EPERM); /* nor may root */
    machine->close_device(dev);
}

/* In a directory that is root's, users see what there is and change nothing. */
TEST(others__in_a_directory_of_root)
{
    struct machine *machine = *state;
    if (geteuid() != 0)
        skip(); /* only root can become somebody else */
    assert_int_equal(chmod(machine->folder, 0755), 0);
    struct cxil_dev *dev = machine_open(machine, 0);
    struct cxi_svc_desc desc = machine_service(100);
    assert_int_equal(machine->alloc_svc(dev, &desc, NULL), 2);
    pid_t user = fork_child();
    if (user == 0) {
        if (setresuid(NOBODY, NOBODY, NOBODY) < 0)
            _exit(1);
        if (machine_count(machine, dev) != 2)
            _exit(2);
        if (machine->destroy_svc(dev, 2) != -EIO)
            _exit(3);
        _exit(0);
    }
    assert_int_equal(wait_for(user), 0);
    assert_int_equal(machine_count(machine, dev), 2);
    machine->close_device(dev);
}

UNIT_RUN(NULL, NULL)
