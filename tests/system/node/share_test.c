/* SPDX-License-Identifier: Apache-2.0 */
/* A file of root's that one user can read, and not write (B8). */

#include "tests/system/node/fixture.h"
#include "tests/system/rig/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OWNER_UID = 5588, OTHER_UID = 5589, DENIED = EACCES };

/* errno of opening it as this user, in a process of his; 0: it can be. */
static int open_as(uid_t uid, const char *path, int flags)
{
    int status = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (setgid(uid) < 0 || setuid(uid) < 0)
            _exit(255);
        _exit(open(path, flags) >= 0 ? 0 : errno);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static const char *make_file(struct fixture *fixture, char path[128])
{
    assert_int_equal(chmod(fixture->folder, 0755), 0);
    assert_int_equal(folder_write(fixture->folder, "grant", 0666, "A=1\n"), 0);
    return folder_path(path, 128, fixture->folder, "grant");
}

static void share__lets_one_user_read_and_nobody_write(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    make_file(fixture, path);
    if (geteuid() != 0)
        skip();
    EXPECT_RUN(0, "share --user %d --file %s", OWNER_UID, path);
    assert_string_equal(fixture->err, "");
    assert_int_equal(open_as(OWNER_UID, path, O_RDONLY), 0);
    assert_int_equal(open_as(OWNER_UID, path, O_WRONLY | O_APPEND), DENIED);
    assert_int_equal(open_as(OTHER_UID, path, O_RDONLY), DENIED);
    assert_int_equal(open_as(OTHER_UID, path, O_WRONLY), DENIED);
}

/* Where no hook is root, the job's owner is whoever runs them. */
static void share__with_its_owner_closes_it_to_others(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    struct stat status;
    make_file(fixture, path);
    EXPECT_RUN(0, "share --user %u --file %s", (unsigned)geteuid(), path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
}

static void share__refuses_what_it_should_not_touch(void **state)
{
    struct fixture *fixture = *state;
    char path[128], link[128];
    make_file(fixture, path);
    assert_int_equal(symlink(path, folder_path(link, sizeof link, fixture->folder, "link")), 0);
    EXPECT_RUN(1, "share --user 1 --file %s", link);
    EXPECT_RUN(1, "share --user 1 --file %s", fixture->folder);
    fixture_expect_err(fixture, "is not a regular file");
    EXPECT_RUN(1, "share --user 1 --file %s/none", fixture->folder);
    EXPECT_RUN(2, "share --user 1");
    EXPECT_RUN(2, "share --file %s", path);
    EXPECT_RUN(2, "share --user -1 --file %s", path);
    EXPECT_RUN(2, "share --user 4294967295 --file %s", path);
    if (geteuid() != 0)
        return;
    assert_int_equal(chown(path, OWNER_UID, OWNER_UID), 0);
    EXPECT_RUN(1, "share --user 1 --file %s", path);
    fixture_expect_err(fixture, "is not a regular file of uid 0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_create, fixture_destroy)

UNIT_MAIN(TEST(share__lets_one_user_read_and_nobody_write),
          TEST(share__with_its_owner_closes_it_to_others),
          TEST(share__refuses_what_it_should_not_touch))
