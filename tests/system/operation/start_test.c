/* SPDX-License-Identifier: Apache-2.0 */
/* A start that goes wrong: one sentence that names the file, the cause and the next step; and
 * --check says it beforehand, with the line where the key stands. Run as a user who is not root, as
 * the service is: root may do everything. */

#include "tests/system/operation/certificate.h"
#include "tests/system/operation/service.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* In a drop-in of its own; the key is the service's. */
static void certificate_for(int days)
{
    char cert[128], text[512];
    (void)snprintf(cert, sizeof cert, "%s", service_path("tls.crt"));
    certificate_write(cert, service_path("tls.key"), days);
    service_give("tls.key");
    (void)snprintf(text, sizeof text,
                   "[broker]\nlisten = localhost:0\ntls_cert = %s\ntls_key = %s\n", cert,
                   service_path("tls.key"));
    service_put("conf.d/20-tls.conf", 0644, text);
}

static void everything_right__starts(void **state)
{
    assert_int_equal(service_run("--check"), 0);
    assert_string_equal(service_said, "");
    assert_int_equal(service_run(NULL), 0);
    assert_non_null(strstr(service_said, " READY "));
}

/* Whoever reloads is root: what it sees is what the service would. */
static void root__checks_with_the_eyes_of_the_service(void **state)
{
    if (geteuid() != 0)
        skip();
    certificate_for(400);
    assert_int_equal(service_run_as(0, "--check"), 0);
    assert_string_equal(service_said, "");
    assert_int_equal(chown(service_path("tls.key"), 0, 0), 0);
    assert_int_equal(service_run_as(0, "--check"), 1);
    assert_non_null(strstr(service_said, "tls.key"));
    service_give("tls.key");
    assert_int_equal(service_run_as(0, "--check=daemon"), 1);
    assert_non_null(strstr(service_said, "state.key"));
    assert_int_equal(service_run_as(0, "--check=nobody_by_this_name"), 1);
    assert_non_null(strstr(service_said, "user nobody_by_this_name is not known on this host"));
    assert_int_equal(service_run_as(SERVICE_UID, "--check=daemon"), 1);
    assert_non_null(strstr(service_said, "only root can check the configuration as user daemon"));
}

/* ... and makes the key for the service. */
static void key__of_root_is_the_services(void **state)
{
    struct stat found;
    if (geteuid() != 0)
        skip();
    assert_int_equal(unlink(service_path("state.key")), 0);
    assert_int_equal(service_run_as(0, "--make-key"), 0);
    assert_int_equal(stat(service_path("state.key"), &found), 0);
    assert_int_equal(found.st_uid, SERVICE_UID);
    assert_int_equal(unlink(service_path("state.key")), 0);
    assert_int_equal(rmdir(service_path("state")), 0);
    assert_int_equal(service_run_as(0, "--make-key"), 1);
    assert_non_null(strstr(service_said, "which user? "));
}

/* ... and moves the ledger as the service: neither what is made nor what is read is root's. */
static void ledger__is_moved_by_root_as_the_service(void **state)
{
    struct stat found;
    char task[128];
    if (geteuid() != 0)
        skip();
    assert_int_equal(service_run(NULL), 0);
    (void)snprintf(task, sizeof task, "--export=%s", service_path("state/moved"));
    assert_int_equal(service_run_as(0, task), 0);
    assert_int_equal(stat(service_path("state/moved"), &found), 0);
    assert_int_equal(found.st_uid, SERVICE_UID);
    assert_int_equal(unlink(service_path("state/state.db")), 0);
    (void)snprintf(task, sizeof task, "--import=%s", service_path("state/moved"));
    assert_int_equal(service_run_as(0, task), 0);
    assert_int_equal(stat(service_path("state/state.db"), &found), 0);
    assert_int_equal(found.st_uid, SERVICE_UID);
    assert_int_equal(service_run(NULL), 0);
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
    assert_int_equal(service_run(NULL), 0);
    assert_int_equal(unlink(service_path("state.key")), 0);
    service_checked(0, "state.key is not there yet");
    assert_int_equal(sqlite3_open(service_path("state/state.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode = DELETE;" SEALED, NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    service_checked(1, "state.key is missing, and secrets in ");
    assert_non_null(strstr(service_said, "restore it from its backup"));
}

static void configuration__that_cannot_be_read(void **state)
{
    service_put("mcastd.conf", 0000, "[vni]\n");
    service_refused("mcastd.conf: cannot be read: Permission denied; uid ",
                    "must be able to: chmod 0644");
    assert_null(strstr(service_said, "no cluster is configured")); /* not what is wrong */
    service_checked(1, "mcastd.conf: cannot be read: Permission denied");
    assert_int_equal(unlink(service_path("mcastd.conf")), 0);
    service_refused("mcastd.conf: cannot be read: No such file",
                    "`mcastd --sample-config` prints one");
}

static void drop_in__that_cannot_be_read(void **state)
{
    service_put("conf.d/10-site.conf", 0000, "[vni]\nper_job = 2\n");
    service_refused("conf.d/10-site.conf: cannot be read: Permission denied", "chmod 0644");
    assert_int_equal(chmod(service_path("conf.d"), 0000), 0);
    service_refused("conf.d cannot be read: Permission denied", "");
}

static void folder_of_the_ledger__that_is_wrong(void **state)
{
    assert_int_equal(chmod(service_path("state"), 0500), 0);
    service_refused("state.db.lock (Permission denied)", "for the user of mcastd");
    service_checked(1, "mcastd.conf:4: [state] path = ");
    assert_non_null(strstr(service_said, "it has to belong to the user of mcastd"));
    assert_int_equal(rmdir(service_path("state")), 0);
    service_refused("state.db.lock (No such file or directory)", "its folder must exist");
    service_checked(1, "make it with install -d -o USER ");
}

static void folder_of_the_socket__that_is_wrong(void **state)
{
    assert_int_equal(chmod(service_path("run"), 0500), 0);
    service_refused("cannot make the socket ", "Permission denied");
    service_checked(1, "mcastd.conf:2: [broker] socket = ");
    service_put("conf.d/10-usual.conf", 0644, "[broker]\nsocket = /run/mcastd/mcastd.sock\n");
    if (access("/run/mcastd", F_OK) < 0) /* it runs nowhere on this host */
        service_checked(
            0, "10-usual.conf:2: [broker] socket = /run/mcastd/mcastd.sock: /run/mcastd is "
               "not there: the unit makes it");
    assert_int_equal(unlink(service_path("conf.d/10-usual.conf")), 0);
    assert_int_equal(rmdir(service_path("run")), 0);
    service_refused("cannot make the socket ", "No such file or directory");
    service_checked(1, "make it with install -d -o USER ");
}

static void key__that_is_open_or_missing_or_no_key(void **state)
{
    assert_int_equal(chmod(service_path("state.key"), 0644), 0);
    service_refused("state.key can be read by others", "chmod 0600");
    service_checked(1, "mcastd.conf:5: [state] key_file: ");
    assert_int_equal(chmod(service_path("state.key"), 0000), 0);
    service_refused("state.key: Permission denied", "for user 65534 to read");
    service_put("state.key", 0600, "no key\n");
    service_refused("state.key holds no key", "restore it from its backup");
    assert_int_equal(unlink(service_path("state.key")), 0);
    assert_int_equal(chmod(service_folder, 0555), 0);
    if (geteuid() == 0)
        service_refused("cannot make the key file ", "mcastd --make-key");
    assert_int_equal(chmod(service_folder, 0755), 0);
    service_checked(0, "state.key is not there yet: mcastd --make-key=USER");
}

/* Who reads them makes any token (B3). */
static void root_keys__that_are_open_or_none(void **state)
{
    assert_int_equal(service_run(NULL), 0); /* which makes them */
    assert_int_equal(service_run("--check"), 0);
    assert_int_equal(chmod(service_path("state/root.keys"), 0640), 0);
    service_refused("root.keys can be read by others", "chmod 0600");
    service_checked(1, "[broker] root_key_file: ");
    assert_int_equal(chmod(service_path("state/root.keys"), 0600), 0);
    assert_int_equal(service_run(NULL), 0);
    service_put("state/root.keys", 0600, "no key\n");
    service_give("state/root.keys");
    service_refused("line 1 of the root key file ", "restore the file from its backup");
    service_put("conf.d/40-keys.conf", 0644,
                "[broker]\nroot_key_file = /nowhere/at/all/root.keys\n");
    service_refused("cannot make the root key file ", "set [broker] root_key_file");
    service_checked(1, "make it with install -d -o USER /nowhere/at/all");
}

static void certificate__is_told_before_it_ends(void **state)
{
    certificate_for(400);
    assert_int_equal(service_run("--check"), 0);
    assert_string_equal(service_said, "");
    certificate_for(20);
    service_checked(0, "conf.d/20-tls.conf:3: [broker] tls_cert = ");
    assert_non_null(strstr(service_said, "tls.crt ends in 20 days, on "));
    assert_non_null(strstr(service_said, "put a new one in its place and reload (warning)"));
    certificate_for(-2);
    service_checked(1, "conf.d/20-tls.conf:3: [broker] tls_cert = ");
    assert_non_null(strstr(service_said, "tls.crt ended on "));
    assert_null(strstr(service_said, "expired")); /* once is enough */
    service_refused("cannot start: ", "tls");
    certificate_for(400);
    assert_int_equal(chmod(service_path("tls.key"), 0644), 0);
    service_checked(1, "tls.key");
    service_refused("cannot start: ", "tls.key");
    service_put("tls.crt", 0644, "no certificate\n");
    service_checked(1, "tls.crt: no certificate can be read from it");
}

/* Whoever can change what the service runs is the service. */
static void list_command__that_others_could_change(void **state)
{
    char text[512];
    service_put("list", 0755, "#!/bin/sh\n");
    (void)snprintf(text, sizeof text, "[cluster \"elcap\"]\nlist_command = /bin/sh %s -x\n",
                   service_path("list"));
    service_put("conf.d/30-list.conf", 0644, text);
    assert_int_equal(service_run("--check"), 0);
    assert_string_equal(service_said, "");
    assert_int_equal(service_run(NULL), 0);
    assert_null(strstr(service_said, "warning list_command"));
    if (geteuid() == 0) { /* whose own files are others than the service's */
        assert_int_equal(service_run_as(0, "--check"), 0);
        assert_int_equal(service_run_as(0, "--make-key"), 0);
    }
    assert_int_equal(chmod(service_path("list"), 0775), 0);
    service_checked(1, "conf.d/30-list.conf:2: list_command: others than its owner can write to ");
    service_refused("conf.d/30-list.conf:2: list_command: others", "chmod go-w ");
    (void)snprintf(text, sizeof text, "[cluster \"elcap\"]\nlist_command = %s\n",
                   service_path("list"));
    service_put("conf.d/30-list.conf", 0644, text);
    service_refused("conf.d/30-list.conf:2: list_command: others", "chmod go-w ");
    assert_int_equal(chmod(service_path("list"), 0755), 0);
    assert_int_equal(chmod(service_folder, 0777), 0);
    service_refused("conf.d/30-list.conf:2: list_command: others", "chmod go-w ");
    assert_int_equal(chmod(service_folder, 0755), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(service_path("list"), 1, 1), 0);
        service_refused("list_command: ",
                        "belongs to user 1, who can change what is run: chown root ");
        assert_int_equal(chown(service_path("list"), 0, 0), 0);
    }
    assert_int_equal(service_run(NULL), 0);
}

/* Jobs start without it; that it is missing is said by the job list polls, too. */
static void list_command__that_is_not_there(void **state)
{
    service_put("conf.d/30-list.conf", 0644,
                "[cluster \"elcap\"]\nlist_command = /nonexistent/squeue -h\n");
    service_checked(
        0, "conf.d/30-list.conf:2: list_command: /nonexistent: No such file or directory; until");
    assert_int_equal(service_run(NULL), 0);
    assert_non_null(strstr(service_said,
                           "warning list_command of cluster elcap: /nonexistent/squeue "
                           "cannot be run: no such file or directory"));
    service_put("list", 0644, "#!/bin/sh\n");
    char text[256];
    (void)snprintf(text, sizeof text, "[cluster \"elcap\"]\nlist_command = %s\n",
                   service_path("list"));
    service_put("conf.d/30-list.conf", 0644, text);
    service_checked(0, " cannot execute ");
    assert_int_equal(service_run(NULL), 0);
}

/* A login that is not there, or is none, is no reason not to start: jobs get their VNIs without it.
 * It is said at the start, and by the link. */
static void login__that_cannot_be_read(void **state)
{
    service_put("login/passwd", 0000, "secret-password\n");
    assert_int_equal(service_run(NULL), 0);
    assert_non_null(strstr(service_said, "mcastd.conf:8: "));
    assert_non_null(strstr(service_said, "login/passwd: Permission denied; it should hold"));
    assert_non_null(strstr(service_said, "link down"));
    service_checked(0, "login/passwd: Permission denied; it should hold");
    assert_int_equal(unlink(service_path("login/passwd")), 0);
    assert_int_equal(service_run(NULL), 0);
    assert_non_null(
        strstr(service_said, "login/passwd: No such file or directory; it should hold"));
}

static void ledger__that_is_of_another_user(void **state)
{
    assert_int_equal(service_run(NULL), 0);
    assert_int_equal(chmod(service_path("state/state.db"), 0000), 0);
    service_refused("cannot open ", "must be writable for the user of mcastd");
    if (geteuid() != 0)
        skip(); /* only root can give files away */
    /* As root's sqlite3 restores a backup. */
    assert_int_equal(chmod(service_path("state/state.db"), 0644), 0);
    assert_int_equal(chown(service_path("state/state.db"), 0, 0), 0);
    service_refused("cannot start: ",
                    "state.db belongs to user 0, not to that of mcastd: chown it to");
}

#define FOLDER_TEST(name) cmocka_unit_test_setup_teardown(name, service_open, service_close)

UNIT_MAIN(
    FOLDER_TEST(everything_right__starts), FOLDER_TEST(root__checks_with_the_eyes_of_the_service),
    FOLDER_TEST(key__of_root_is_the_services), FOLDER_TEST(ledger__is_moved_by_root_as_the_service),
    FOLDER_TEST(key__missing_beside_secrets_is_a_fault),
    FOLDER_TEST(configuration__that_cannot_be_read), FOLDER_TEST(drop_in__that_cannot_be_read),
    FOLDER_TEST(folder_of_the_ledger__that_is_wrong),
    FOLDER_TEST(folder_of_the_socket__that_is_wrong),
    FOLDER_TEST(key__that_is_open_or_missing_or_no_key),
    FOLDER_TEST(root_keys__that_are_open_or_none), FOLDER_TEST(certificate__is_told_before_it_ends),
    FOLDER_TEST(list_command__that_others_could_change),
    FOLDER_TEST(list_command__that_is_not_there), FOLDER_TEST(login__that_cannot_be_read),
    FOLDER_TEST(ledger__that_is_of_another_user))
