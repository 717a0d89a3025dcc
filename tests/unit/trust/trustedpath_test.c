/* SPDX-License-Identifier: Apache-2.0 */
/* Who else could change what the service runs, reads, writes or listens at (B8). */

#include "tests/unit/unit.h"
#include "trust/trustedpath.h"

#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[PATH_MAX]; /* without links in it */

static enum trustedpath_kind kind = TRUSTEDPATH_FILE; /* of what is looked at next */
static uid_t user;
static bool written;

static const char *in(const char *name)
{
    static char paths[4][PATH_MAX * 2];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", top, name);
    return path;
}

static void make_file(const char *name, mode_t mode)
{
    FILE *file = fopen(in(name), "we");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(chmod(in(name), mode), 0);
}

static int open_folder(void **state)
{
    /* Not below TMPDIR: that may be below a folder of another user's. */
    char path[] = "/tmp/mcast-trusted.XXXXXX";
    kind = TRUSTEDPATH_FILE;
    user = geteuid();
    written = false;
    assert_non_null(mkdtemp(path));
    assert_non_null(realpath(path, top));
    assert_int_equal(mkdir(in("bin"), 0755), 0);
    make_file("bin/list", 0755);
    return 0;
}

static int delete (const char *path, const struct stat *found, int type, struct FTW *at)
{
    return remove(path);
}

static int close_folder(void **state)
{
    (void)nftw(top, delete, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}

static int look(const char *path, struct error *err)
{
    const struct trustedpath wanted = {
        .path = path, .kind = kind, .user = user, .written = written, .subject = "what is run"};
    return trustedpath_check(&wanted, err);
}

static void expect(int code, const char *name, const char *words)
{
    struct error err = {0};
    int rc = look(name[0] == '/' ? name : in(name), &err);
    if (rc != code || !strstr(err.text, words))
        fail_msg("%s: %d \"%s\", expected %d \"%s\"", name, rc, err.text, code, words);
}

#define FOLDER_TEST(name) UNIT_WITH(name, open_folder, close_folder)

FOLDER_TEST(own_file__is_fine)
{
    expect(0, "bin/list", "");
    expect(0, "bin/../bin/./list", "");
    expect(0, "//usr/bin/env", "");
    assert_int_equal(chmod(in("bin/list"), 0500), 0);
    expect(0, "bin/list", "");
}

FOLDER_TEST(file__that_others_can_write)
{
    assert_int_equal(chmod(in("bin/list"), 0775), 0);
    expect(ERROR_REFUSED, "bin/list", "bin/list, and so change what is run: chmod go-w ");
    assert_int_equal(chmod(in("bin/list"), 0757), 0);
    expect(ERROR_REFUSED, "bin/list", "others than its owner can write to ");
}

FOLDER_TEST(folder__that_others_can_write)
{
    assert_int_equal(chmod(in("bin"), 0775), 0);
    expect(ERROR_REFUSED, "bin/list", "/bin, and so change what is run: chmod go-w ");
    assert_int_equal(chmod(in("bin"), 0755), 0);
    assert_int_equal(chmod(top, 0757), 0);
    expect(ERROR_REFUSED, "bin/list", top);
    /* As /tmp: others cannot move files that they do not own. */
    assert_int_equal(chmod(top, 01777), 0);
    expect(0, "bin/list", "");
}

FOLDER_TEST(links__are_followed_one_at_a_time)
{
    assert_int_equal(mkdir(in("open"), 0755), 0);
    assert_int_equal(symlink("../bin/list", in("open/second")), 0);
    assert_int_equal(symlink(in("open/second"), in("first")), 0);
    assert_int_equal(symlink("bin", in("folder")), 0);
    expect(0, "first", "");
    expect(0, "folder/list", "");
    /* Neither the way as it is written nor where it ends shows this one. */
    assert_int_equal(chmod(in("open"), 0777), 0);
    expect(ERROR_REFUSED, "first", "/open, and so change what is run");
    expect(0, "bin/list", "");
    assert_int_equal(symlink("loop", in("loop")), 0);
    expect(ERROR_NOT_FOUND, "loop", "Too many levels of symbolic links");
}

FOLDER_TEST(owner__that_is_neither_root_nor_the_service)
{
    struct error err = {0};
    if (geteuid() != 0)
        skip();
    assert_int_equal(chown(in("bin/list"), 1234, (gid_t)-1), 0);
    expect(ERROR_REFUSED, "bin/list", "belongs to user 1234, who can change what is run");
    user = 1234;
    assert_int_equal(look(in("bin/list"), &err), 0);
    assert_int_equal(chown(in("bin/list"), 0, (gid_t)-1), 0);
    assert_int_equal(look(in("bin/list"), &err), 0);
    user = 0;
    assert_int_equal(chown(in("bin"), 1234, (gid_t)-1), 0);
    expect(ERROR_REFUSED, "bin/list", "/bin belongs to user 1234");
    assert_int_equal(chown(in("bin"), 0, (gid_t)-1), 0);
    /* In a folder as /tmp, another user can change the link that he owns. */
    assert_int_equal(symlink("bin/list", in("link")), 0);
    assert_int_equal(lchown(in("link"), 1234, (gid_t)-1), 0);
    expect(ERROR_REFUSED, "link", "/link belongs to user 1234");
    expect(ERROR_REFUSED, "link", ": chown -h root ");
}

/* What the service writes, it has to own: that is what is said of the last name, and only of it. */
FOLDER_TEST(owner__of_what_is_written)
{
    if (geteuid() != 0)
        skip();
    kind = TRUSTEDPATH_FOLDER;
    user = 4321;
    written = true;
    assert_int_equal(chown(in("bin"), 1234, (gid_t)-1), 0);
    expect(ERROR_REFUSED, "bin",
           "/bin belongs to user 1234, who can change what is run: chown 4321 ");
    kind = TRUSTEDPATH_ENTRY;
    expect(ERROR_REFUSED, "bin/list", ": chown root ");
}

/* Files are made there: the first to make one of its name must be the service. */
FOLDER_TEST(folder__in_which_others_can_make_files)
{
    kind = TRUSTEDPATH_FOLDER;
    expect(0, "bin", "");
    expect(0, "bin/..", "");
    assert_int_equal(chmod(in("bin"), 01777), 0);
    expect(ERROR_REFUSED, "bin", "others can make files in ");
    expect(ERROR_REFUSED, "bin/.", "as install -d makes it");
    assert_int_equal(chmod(in("bin"), 01755), 0);
    expect(0, "bin", "");
    expect(ERROR_NOT_FOUND, "bin/list", " is no folder");
    expect(ERROR_NOT_FOUND, "none", "No such file");
    expect(0, "/", "");
}

/* A socket need not be there, and its mode says who may connect. */
FOLDER_TEST(entry__that_will_be_made)
{
    kind = TRUSTEDPATH_ENTRY;
    expect(0, "bin/socket", "");
    expect(ERROR_NOT_FOUND, "none/socket", "/none: No such file");
    assert_int_equal(mknod(in("bin/socket"), S_IFSOCK | 0777, 0), 0);
    assert_int_equal(chmod(in("bin/socket"), 0777), 0);
    expect(0, "bin/socket", "");
    assert_int_equal(chmod(in("bin"), 01777), 0); /* as /tmp */
    expect(0, "bin/socket", "");
    if (geteuid() == 0) {
        assert_int_equal(chown(in("bin/socket"), 1234, (gid_t)-1), 0);
        expect(ERROR_REFUSED, "bin/socket", "/bin/socket belongs to user 1234");
    }
    assert_int_equal(chmod(in("bin"), 0777), 0);
    expect(ERROR_REFUSED, "bin/socket", "others than its owner can write to ");
}

/* The process's folder comes before it. */
FOLDER_TEST(path__that_is_relative)
{
    struct error err = {0};
    char before[PATH_MAX];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(in("bin")), 0);
    assert_int_equal(look("list", &err), 0);
    assert_int_equal(look("../bin/./list", &err), 0);
    assert_int_equal(chmod(in("bin"), 0777), 0);
    assert_int_equal(look("list", &err), ERROR_REFUSED);
    assert_non_null(strstr(err.text, "/bin, and so change"));
    assert_int_equal(chdir(before), 0);
}

/* B8: who may serve a socket is who alone can put one there. */
FOLDER_TEST(socket__is_its_folders_owners)
{
    struct error err = {0};
    uid_t owner = 0;
    assert_int_equal(trustedpath_socket_owner(in("bin/socket"), &owner, &err), 0);
    assert_int_equal(owner, geteuid());
    if (geteuid() == 0) {
        assert_int_equal(chown(in("bin"), 1234, (gid_t)-1), 0);
        assert_int_equal(trustedpath_socket_owner(in("bin/socket"), &owner, &err), 0);
        assert_int_equal(owner, 1234);
        assert_int_equal(chown(top, 4321, (gid_t)-1), 0); /* who can replace the folder */
        assert_int_equal(trustedpath_socket_owner(in("bin/socket"), &owner, &err), ERROR_REFUSED);
        assert_non_null(strstr(err.text, " belongs to user 4321, who can change who answers"));
        assert_int_equal(chown(top, 0, (gid_t)-1), 0);
    }
    assert_int_equal(chmod(in("bin"), 01777), 0);
    assert_int_equal(trustedpath_socket_owner(in("bin/socket"), &owner, &err), ERROR_REFUSED);
    assert_int_equal(chmod(in("bin"), 0775), 0);
    assert_int_equal(trustedpath_socket_owner(in("bin/socket"), &owner, &err), ERROR_REFUSED);
    assert_int_equal(trustedpath_socket_owner(in("none/socket"), &owner, &err), ERROR_NOT_FOUND);
    assert_int_equal(trustedpath_socket_owner("socket", &owner, &err), ERROR_NOT_FOUND);
}

FOLDER_TEST(what_is_not_there__is_said)
{
    char name[NAME_MAX + 16];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    expect(ERROR_NOT_FOUND, "bin/none", "/bin/none: No such file or directory");
    expect(ERROR_NOT_FOUND, "bin/list/more", "/bin/list: Not a directory");
    expect(ERROR_NOT_FOUND, "bin", " is no file");
    expect(ERROR_NOT_FOUND, "/", "/ is no file");
    expect(ERROR_NOT_FOUND, name, "File name too long");
}

UNIT_RUN(NULL, NULL)
