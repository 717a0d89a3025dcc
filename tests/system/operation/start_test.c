/* A start that goes wrong: one sentence that names the file, the cause and the next step; and
 * --check says it beforehand, with the line where the key stands. Run as a user who is not root, as
 * the service is: root may do everything. */

#include "tests/system/operation/certificate.h"
#include "tests/system/rig/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SERVICE = 65534 /* nobody */, SAID_SIZE = 16384 };

static char folder[FOLDER_PATH_SIZE], path[128], said[SAID_SIZE];

static const char *in(const char *name)
{
    return folder_path(path, sizeof path, folder, name);
}

static void give(const char *name)
{
    if (geteuid() == 0)
        assert_int_equal(chown(in(name), SERVICE, SERVICE), 0);
}

static void put(const char *name, mode_t mode, const char *text)
{
    assert_int_equal(folder_write(folder, name, 0600, text), 0);
    assert_int_equal(chmod(in(name), mode), 0);
    give(name);
}

/* The program where its user can reach it: a checkout may be in a place that is its owner's alone.
 */
static void copy_program(void)
{
    struct stat found;
    int from = open(MCASTD, O_RDONLY | O_CLOEXEC);
    int to = open(in("mcastd"), O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    assert_true(from >= 0 && to >= 0 && fstat(from, &found) == 0);
    for (off_t at = 0; at < found.st_size;)
        assert_true(sendfile(to, from, &at, (size_t)(found.st_size - at)) > 0);
    assert_int_equal(fchmod(to, 0755), 0);
    close(from);
    close(to);
}

/* Everything as it should be. */
static int open_folder(void **state)
{
    (void)state;
    char text[1024];
    assert_int_equal(folder_create(folder), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    static const char *const folders[] = {"run", "state", "login", "conf.d"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        assert_int_equal(mkdir(in(folders[i]), 0755), 0);
        give(folders[i]);
    }
    (void)snprintf(text, sizeof text,
                   "[broker]\nsocket = %s/run/s\n[state]\npath = %s/state/state.db\n"
                   "key_file = %s/state.key\n[fm]\nurl = http://127.0.0.1:9\nauthdir = %s/login\n"
                   "[hwcoll]\naddresses_per_job = 8\n[cluster \"elcap\"]\nusers = 0\n",
                   folder, folder, folder, folder);
    put("mcastd.conf", 0644, text);
    copy_program();
    put("login/passwd", 0600, "secret-password\n");
    put("state.key", 0600, "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n");
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    folder_destroy(folder);
    return 0;
}

/* Runs mcastd until it ends, or says READY, and then stops it. What it said is in `said`. Its exit
 * status. */
static int run_as(uid_t user, const char *option)
{
    int out[2], status;
    size_t length = 0;
    char config[128], program[128];
    (void)snprintf(config, sizeof config, "%s", in("mcastd.conf"));
    (void)snprintf(program, sizeof program, "%s", in("mcastd"));
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out[1], STDERR_FILENO);
        if (geteuid() == 0 && (setgid(user) != 0 || setuid(user) != 0))
            _exit(126);
        execl(program, program, "--config", config, option, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    bool told = false;
    for (ssize_t size; length < SAID_SIZE - 1 &&
                       (size = read(out[0], said + length, SAID_SIZE - 1 - length)) > 0;) {
        length += (size_t)size;
        said[length] = '\0';
        /* The link is tried at once, so its trouble comes right after. */
        if (!told && strstr(said, " READY ") != NULL && strstr(said, "link down") != NULL) {
            told = true;
            assert_int_equal(kill(pid, SIGTERM), 0);
        }
    }
    said[length] = '\0';
    close(out[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_null(strstr(said, "secret-password"));
    assert_null(strstr(said, "00112233"));
    return WEXITSTATUS(status);
}

static int run(const char *option)
{
    return run_as(SERVICE, option);
}

/* Refused, in one line with all of these words. */
static void refused(const char *words, const char *more)
{
    int status = run(NULL);
    const char *line = strstr(said, words);
    if (status != 1 || line == NULL || strstr(line, more) == NULL)
        fail_msg("status %d; \"%s\" and \"%s\" should have been said:\n%s", status, words, more,
                 said);
}

static void checked(int status, const char *words)
{
    int is = run("--check");
    if (is != status || strstr(said, words) == NULL)
        fail_msg("--check ended with %d, \"%s\" should have been said:\n%s", is, words, said);
}

/* In a drop-in of its own; the key is the service's. */
static void certificate_for(int days)
{
    char cert[128], text[512];
    (void)snprintf(cert, sizeof cert, "%s", in("tls.crt"));
    certificate_write(cert, in("tls.key"), days);
    give("tls.key");
    (void)snprintf(text, sizeof text,
                   "[broker]\nlisten = localhost:0\ntls_cert = %s\ntls_key = %s\n", cert,
                   in("tls.key"));
    put("conf.d/20-tls.conf", 0644, text);
}

static void everything_right__starts(void **state)
{
    (void)state;
    assert_int_equal(run("--check"), 0);
    assert_string_equal(said, "");
    assert_int_equal(run(NULL), 0);
    assert_non_null(strstr(said, " READY "));
}

/* Whoever reloads is root: what it sees is what the service would. */
static void root__checks_with_the_eyes_of_the_service(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    certificate_for(400);
    assert_int_equal(run_as(0, "--check"), 0);
    assert_string_equal(said, "");
    assert_int_equal(chown(in("tls.key"), 0, 0), 0);
    assert_int_equal(run_as(0, "--check"), 1);
    assert_non_null(strstr(said, "tls.key"));
    give("tls.key");
    assert_int_equal(run_as(0, "--check=daemon"), 1);
    assert_non_null(strstr(said, "state.key"));
    assert_int_equal(run_as(0, "--check=nobody_by_this_name"), 1);
    assert_non_null(strstr(said, "user nobody_by_this_name is not known on this host"));
    assert_int_equal(run_as(SERVICE, "--check=daemon"), 1);
    assert_non_null(strstr(said, "only root can look with the eyes of user daemon"));
}

/* ... and makes the key for the service. */
static void key__of_root_is_the_services(void **state)
{
    struct stat found;
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(unlink(in("state.key")), 0);
    assert_int_equal(run_as(0, "--make-key"), 0);
    assert_int_equal(stat(in("state.key"), &found), 0);
    assert_int_equal(found.st_uid, SERVICE);
    assert_int_equal(unlink(in("state.key")), 0);
    assert_int_equal(rmdir(in("state")), 0);
    assert_int_equal(run_as(0, "--make-key"), 1);
    assert_non_null(strstr(said, "for which user? "));
}

#define SEALED                                                                                     \
    "INSERT INTO reservation(number, uid, node_count, cores_per_node, addresses, min_nodes, "      \
    "vni0, "                                                                                       \
    "vni1, vni2, vni3, vni_count, vni_asked, traffic_classes, wish, state, hwcoll, fm_side, "      \
    "created_ms, released_ms, hold_until_ms, cluster, job, token) "                                \
    "VALUES(1,0,2,0,8,0,0,0,0,0,0,0,0,1,1,4,3,0,0,0,'elcap','f1',x'01')"

/* A start that failed for want of the key leaves an empty ledger, in which nothing is sealed. */
static void key__missing_beside_secrets_is_a_fault(void **state)
{
    sqlite3 *db;
    (void)state;
    assert_int_equal(run(NULL), 0);
    assert_int_equal(unlink(in("state.key")), 0);
    checked(0, "state.key is not there yet");
    assert_int_equal(sqlite3_open(in("state/state.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode = DELETE;" SEALED, NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    checked(1, "state.key is missing, and secrets in ");
    assert_non_null(strstr(said, "restore it from its backup"));
}

static void configuration__that_cannot_be_read(void **state)
{
    (void)state;
    put("mcastd.conf", 0000, "[vni]\n");
    refused("mcastd.conf: cannot be read: Permission denied; uid ", "must be able to: chmod 0644");
    assert_null(strstr(said, "no cluster is configured")); /* not what is wrong */
    checked(1, "mcastd.conf: cannot be read: Permission denied");
    assert_int_equal(unlink(in("mcastd.conf")), 0);
    refused("mcastd.conf: cannot be read: No such file", "`mcastd --sample-config` prints one");
}

static void drop_in__that_cannot_be_read(void **state)
{
    (void)state;
    put("conf.d/10-site.conf", 0000, "[vni]\nper_job = 2\n");
    refused("conf.d/10-site.conf: cannot be read: Permission denied", "chmod 0644");
    assert_int_equal(chmod(in("conf.d"), 0000), 0);
    refused("conf.d cannot be read: Permission denied", "");
}

static void folder_of_the_ledger__that_is_wrong(void **state)
{
    (void)state;
    assert_int_equal(chmod(in("state"), 0500), 0);
    refused("state.db.lock (Permission denied)", "for the user of mcastd");
    checked(1, "mcastd.conf:4: [state] path = ");
    assert_non_null(strstr(said, "it has to belong to the user of mcastd"));
    assert_int_equal(rmdir(in("state")), 0);
    refused("state.db.lock (No such file or directory)", "its folder must exist");
    checked(1, "make it with install -d -o USER ");
}

static void folder_of_the_socket__that_is_wrong(void **state)
{
    (void)state;
    assert_int_equal(chmod(in("run"), 0500), 0);
    refused("cannot make the socket ", "Permission denied");
    checked(1, "mcastd.conf:2: [broker] socket = ");
    put("conf.d/10-usual.conf", 0644, "[broker]\nsocket = /run/mcastd/mcastd.sock\n");
    if (access("/run/mcastd", F_OK) < 0) /* it runs nowhere on this host */
        checked(0, "10-usual.conf:2: [broker] socket = /run/mcastd/mcastd.sock: /run/mcastd is "
                   "not there: the unit makes it");
    assert_int_equal(unlink(in("conf.d/10-usual.conf")), 0);
    assert_int_equal(rmdir(in("run")), 0);
    refused("cannot make the socket ", "No such file or directory");
    checked(1, "make it with install -d -o USER ");
}

static void key__that_is_open_or_missing_or_no_key(void **state)
{
    (void)state;
    assert_int_equal(chmod(in("state.key"), 0644), 0);
    refused("state.key is open to others", "chmod 0600");
    checked(1, "mcastd.conf:5: [state] key_file: ");
    assert_int_equal(chmod(in("state.key"), 0000), 0);
    refused("cannot read the key file ", "Permission denied");
    put("state.key", 0600, "no key\n");
    refused("state.key holds no key", "restore it from its backup");
    assert_int_equal(unlink(in("state.key")), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    if (geteuid() == 0)
        refused("cannot make the key file ", "mcastd --make-key");
    assert_int_equal(chmod(folder, 0755), 0);
    checked(0, "state.key is not there yet: mcastd --make-key=USER");
}

/* Who reads them makes any token (B3). */
static void root_keys__that_are_open_or_none(void **state)
{
    (void)state;
    assert_int_equal(run(NULL), 0); /* which makes them */
    assert_int_equal(run("--check"), 0);
    assert_int_equal(chmod(in("state/root.keys"), 0640), 0);
    refused("root.keys is open to others", "chmod 0600");
    checked(1, "[broker] root_key_file: ");
    assert_int_equal(chmod(in("state/root.keys"), 0600), 0);
    assert_int_equal(run(NULL), 0);
    put("state/root.keys", 0600, "no key\n");
    give("state/root.keys");
    refused("line 1 of the root key file ", "restore the file from its backup");
    put("conf.d/40-keys.conf", 0644, "[broker]\nroot_key_file = /nowhere/at/all/root.keys\n");
    refused("cannot make the root key file ", "set [broker] root_key_file");
    checked(1, "make it with install -d -o USER /nowhere/at/all");
}

static void certificate__is_told_before_it_ends(void **state)
{
    (void)state;
    certificate_for(400);
    assert_int_equal(run("--check"), 0);
    assert_string_equal(said, "");
    certificate_for(20);
    checked(0, "conf.d/20-tls.conf:3: [broker] tls_cert = ");
    assert_non_null(strstr(said, "tls.crt ends in 20 days, on "));
    assert_non_null(strstr(said, "put a new one in its place and reload (warning)"));
    certificate_for(-2);
    checked(1, "conf.d/20-tls.conf:3: [broker] tls_cert = ");
    assert_non_null(strstr(said, "tls.crt ended on "));
    assert_null(strstr(said, "expired")); /* once is enough */
    refused("cannot start: ", "tls");
    certificate_for(400);
    assert_int_equal(chmod(in("tls.key"), 0644), 0);
    checked(1, "tls.key");
    refused("cannot start: ", "tls.key");
    put("tls.crt", 0644, "no certificate\n");
    checked(1, "tls.crt: no certificate can be read from it");
}

/* Whoever can change what the service runs is the service. */
static void list_command__that_others_could_change(void **state)
{
    (void)state;
    char text[512];
    put("list", 0755, "#!/bin/sh\n");
    (void)snprintf(text, sizeof text, "[cluster \"elcap\"]\nlist_command = /bin/sh %s -x\n",
                   in("list"));
    put("conf.d/30-list.conf", 0644, text);
    assert_int_equal(run("--check"), 0);
    assert_string_equal(said, "");
    assert_int_equal(run(NULL), 0);
    assert_null(strstr(said, "warning list_command"));
    if (geteuid() == 0) { /* whose own files are others than the service's */
        assert_int_equal(run_as(0, "--check"), 0);
        assert_int_equal(run_as(0, "--make-key"), 0);
    }
    assert_int_equal(chmod(in("list"), 0775), 0);
    checked(1, "conf.d/30-list.conf:2: list_command: others than its owner can write to ");
    refused("conf.d/30-list.conf:2: list_command: others", "chmod go-w ");
    (void)snprintf(text, sizeof text, "[cluster \"elcap\"]\nlist_command = %s\n", in("list"));
    put("conf.d/30-list.conf", 0644, text);
    refused("conf.d/30-list.conf:2: list_command: others", "chmod go-w ");
    assert_int_equal(chmod(in("list"), 0755), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    refused("conf.d/30-list.conf:2: list_command: others", "chmod go-w ");
    assert_int_equal(chmod(folder, 0755), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(in("list"), 1, 1), 0);
        refused("list_command: ", "belongs to user 1, who can change what is run: chown root ");
        assert_int_equal(chown(in("list"), 0, 0), 0);
    }
    assert_int_equal(run(NULL), 0);
}

/* Jobs start without it; that it is missing is said by the roll calls, too. */
static void list_command__that_is_not_there(void **state)
{
    (void)state;
    put("conf.d/30-list.conf", 0644,
        "[cluster \"elcap\"]\nlist_command = /nonexistent/squeue -h\n");
    checked(0,
            "conf.d/30-list.conf:2: list_command: /nonexistent: No such file or directory; until");
    assert_int_equal(run(NULL), 0);
    assert_non_null(strstr(said, "warning list_command of cluster elcap: /nonexistent/squeue "
                                 "cannot be run: no such file or directory"));
    put("list", 0644, "#!/bin/sh\n");
    char text[256];
    (void)snprintf(text, sizeof text, "[cluster \"elcap\"]\nlist_command = %s\n", in("list"));
    put("conf.d/30-list.conf", 0644, text);
    checked(0, " cannot execute ");
    assert_int_equal(run(NULL), 0);
}

/* A login that cannot be read is no reason not to start: jobs get their VNIs without it. It is said
 * at the start, and by the link. */
static void login__that_cannot_be_read(void **state)
{
    (void)state;
    put("login/passwd", 0644, "secret-password\n");
    assert_int_equal(run(NULL), 0);
    assert_non_null(strstr(said, "mcastd.conf:8: "));
    assert_non_null(strstr(said, "login/passwd can be read by others: chmod 0600 "));
    assert_non_null(strstr(said, "link down"));
    checked(0, "login/passwd can be read by others: chmod 0600 ");
    assert_int_equal(unlink(in("login/passwd")), 0);
    assert_int_equal(run(NULL), 0);
    assert_non_null(strstr(said, "login/passwd: No such file or directory; it should hold"));
}

static void ledger__that_is_of_another_user(void **state)
{
    (void)state;
    assert_int_equal(run(NULL), 0);
    assert_int_equal(chmod(in("state/state.db"), 0000), 0);
    refused("cannot open ", "must be writable for the user of mcastd");
    if (geteuid() != 0)
        skip(); /* only root can give files away */
    /* As root's sqlite3 restores a backup. */
    assert_int_equal(chmod(in("state/state.db"), 0666), 0);
    assert_int_equal(chown(in("state/state.db"), 0, 0), 0);
    refused("cannot start: ", "state.db belongs to user 0, not to that of mcastd: chown it to");
}

#define FOLDER_TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(everything_right__starts),
        FOLDER_TEST(root__checks_with_the_eyes_of_the_service),
        FOLDER_TEST(key__of_root_is_the_services),
        FOLDER_TEST(key__missing_beside_secrets_is_a_fault),
        FOLDER_TEST(configuration__that_cannot_be_read),
        FOLDER_TEST(drop_in__that_cannot_be_read),
        FOLDER_TEST(folder_of_the_ledger__that_is_wrong),
        FOLDER_TEST(folder_of_the_socket__that_is_wrong),
        FOLDER_TEST(key__that_is_open_or_missing_or_no_key),
        FOLDER_TEST(root_keys__that_are_open_or_none),
        FOLDER_TEST(certificate__is_told_before_it_ends),
        FOLDER_TEST(list_command__that_others_could_change),
        FOLDER_TEST(list_command__that_is_not_there),
        FOLDER_TEST(login__that_cannot_be_read),
        FOLDER_TEST(ledger__that_is_of_another_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
