/* SPDX-License-Identifier: Apache-2.0 */
/* What the broker may find when it starts: each is refused with one sentence that names the cause
 * and the next step, and changes nothing; when it is mended, everything that clients were told is
 * there (B6, B8). */

#include <fcntl.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/system/outages/clients.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

enum { JOBS = 12, TODAY = JOBS - 1, SAID_SIZE = 8192, NOBODY = 65534 };

static struct clients clients;

/* -- the files -- */

static const char *file(const char *name)
{
    static char paths[4][160]; /* for as many in one expression */
    static unsigned turn;
    return clients_file(&clients, name, paths[turn++ % 4]);
}

static void move(const char *from, const char *to)
{
    assert_int_equal(rename(file(from), file(to)), 0);
}

static void copy(const char *from, const char *to)
{
    char bytes[65536];
    int in = open(file(from), O_RDONLY | O_CLOEXEC);
    int out = open(file(to), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(in >= 0 && out >= 0);
    for (ssize_t length; (length = read(in, bytes, sizeof bytes)) > 0;)
        assert_int_equal(write(out, bytes, (size_t)length), length);
    close(in);
    close(out);
}

static void write_at(const char *name, off_t offset, const char *text)
{
    int out = open(file(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(out >= 0);
    assert_int_equal(pwrite(out, text, strlen(text), offset), (ssize_t)strlen(text));
    close(out);
}

static void execute_and(const char *sql, int leave_log)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(file("state.db"), &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leave_log, NULL);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void execute(const char *sql)
{
    execute_and(sql, 0);
}

static off_t size_of(const char *name)
{
    struct stat status;
    return stat(file(name), &status) == 0 ? status.st_size : -1;
}

/* -- starting -- */

/* Runs the broker, which is to end by itself. form: the command, with the broker's own for %s. */
static int attempt(const char *form, char said[SAID_SIZE])
{
    char broker[512], command[1024];
    snprintf(broker, sizeof broker, "timeout 300 %s --config %s 2>&1", MCASTD, file("mcastd.conf"));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(command, sizeof command, form, broker);
#pragma GCC diagnostic pop
    FILE *pipe = popen(command, "re"); /* NOLINT(cert-env33-c): names of our own */
    assert_non_null(pipe);
    said[fread(said, 1, SAID_SIZE - 1, pipe)] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* One line says why, and it is whole. */
static void assert_refused(const char *form, const char *words)
{
    static const char why[] = "cannot start: ";
    char said[SAID_SIZE];
    int status = attempt(form, said);
    char *line = strstr(said, why), *end = line ? strchr(line, '\n') : NULL;
    if (status != 1 || !end || strstr(end, why))
        fail_msg("exit status %d: %s", status, said);
    *end = '\0';
    if (!strstr(line, words) || !strstr(line, testbed_folder(clients.testbed)))
        fail_msg("expected \"%s\" in: %s", words, line);
    print_message("%s\n", line);
}

/* -- a fixture with one broker's work in it -- */

static int setup(void **state)
{
    clients_open(&clients, JOBS);
    for (uint32_t job = 0; job < TODAY; job++)
        assert_int_equal(clients_reserve(&clients, job), 201);
    assert_int_equal(clients_release(&clients, 0), 202);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    return 0;
}

static int teardown(void **state)
{
    clients_close(&clients);
    return 0;
}

/* Mended, it starts, and nothing is missing. */
static void assert_mended(void)
{
    clients_restart_broker(&clients);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
}

/* -- the ledger -- */

/* Writes noise into the second page. */
static void damage_ledger(void)
{
    write_at("state.db", 4096, "\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5\xa5");
}

static void halve_ledger(void)
{
    assert_int_equal(truncate(file("state.db"), size_of("state.db") / 2), 0);
}

static void empty_ledger(void)
{
    assert_int_equal(truncate(file("state.db"), 0), 0);
}

static void put_folder(void)
{
    assert_int_equal(unlink(file("state.db")), 0);
    assert_int_equal(mkdir(file("state.db"), 0700), 0);
}

static void put_text(void)
{
    assert_int_equal(unlink(file("state.db")), 0);
    write_at("state.db", 0, "This is no database, whoever put it here.");
}

static void remove_key(void)
{
    assert_int_equal(unlink(file("state.key")), 0);
}

static void put_other_key(void)
{
    write_at("state.key", 0, "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n");
}

static void empty_key(void)
{
    assert_int_equal(truncate(file("state.key"), 0), 0);
}

static void open_key(void)
{
    assert_int_equal(chmod(file("state.key"), 0644), 0);
}

/* Each by itself is refused and changes nothing. */
static void file__that_is_wrong_is_refused(void **state)
{
    static const struct {
        const char *name;
        void (*damage)(void);
        const char *sql; /* the damage, where it is in the ledger's rows */
        const char *words;
    } faults[] = {
        {"state.db", damage_ledger, NULL, "is damaged ("},
        {"state.db", halve_ledger, NULL, "is damaged (it was cut short): restore it from a backup"},
        {"state.db", empty_ledger, NULL,
         "is empty, its contents are lost: restore it from a backup"},
        {"state.db", put_folder, NULL, "is not a regular file: check the path"},
        {"state.db", put_text, NULL, "is not a state file"},
        /* The next number would not fit. */
        {"state.db", NULL, "UPDATE ledger SET last_number=9223372036854775807",
         "is damaged (ledger 1: last_number is out of range): restore it"},
        {"state.db", NULL,
         "UPDATE reservation SET vni0=(SELECT vni0 FROM reservation WHERE job='f1') "
         "WHERE job='f2'",
         "(elcap-f2) has a VNI or partition key that another one has too"},
        {"state.db", NULL, "PRAGMA user_version=99",
         "was written by a newer mcastd (schema 99, this one knows "},
        {"state.key", remove_key, NULL, "is missing, and 10 tokens in "},
        {"state.key", put_other_key, NULL, "are sealed with another key than that of "},
        {"state.key", empty_key, NULL,
         "holds no key (64 hexadecimal digits on one line): restore it"},
        {"state.key", open_key, NULL, "can be read by others: chmod 0600 "},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        copy(faults[i].name, "good");
        if (faults[i].sql)
            execute(faults[i].sql);
        else
            faults[i].damage();
        assert_refused("%s", faults[i].words);
        /* A missing key is not replaced by a new one. */
        assert_int_equal(remove(file(faults[i].name)), faults[i].damage == remove_key ? -1 : 0);
        move("good", faults[i].name);
        assert_mended();
    }
}

/* SQLite would end the log there, without a word, and with it what clients were told (I2). */
static void ledger__with_a_damaged_log_is_refused(void **state)
{
    static const char noise[] = "\xa5\xa5\xa5\xa5";
    clients_restart_broker(&clients);
    assert_int_equal(clients_reserve(&clients, TODAY), 201);
    testbed_kill_broker(clients.testbed);
    copy("state.db-wal", "log.good");
    write_at("state.db-wal", 1000, noise);
    assert_refused("%s", "state.db-wal is damaged (frame 1, at byte 32, is not what was "
                         "committed): restore ");
    move("log.good", "state.db-wal");
    assert_mended();
}

/* Each row is valid, but no broker wrote both. The log stays, as evidence.
 */
static void ledger__whose_rows_contradict_each_other_is_refused(void **state)
{
    execute_and("UPDATE reservation SET job='f1' WHERE job='f2'", 1);
    const off_t log = size_of("state.db-wal");
    assert_true(log > 0);
    assert_refused("%s", "cannot both be as they are: both are of job elcap-f1): restore it");
    assert_int_equal(size_of("state.db-wal"), log);
    execute("UPDATE reservation SET job='f2' WHERE number="
            "(SELECT max(number) FROM reservation WHERE job='f1')");
    assert_mended();
}

/* The first one does not notice, and keeps its socket. */
static void ledger__of_another_broker_is_refused(void **state)
{
    clients_restart_broker(&clients);
    assert_refused("%s", "is open in another mcastd (pid ");
    clients_compare(&clients);
    assert_int_equal(clients_release(&clients, 1), 202);
    testbed_kill_broker(clients.testbed);
    assert_mended();
}

/* As a user that it does not belong to, which takes root to play, and a program in a place where
 * that user gets. */
static void ledger__of_another_user_is_refused(void **state)
{
#define NOBODYS "setpriv --reuid 65534 --regid 65534 --clear-groups "
    static const char as_nobody[] = NOBODYS "%s", can_be_run[] = NOBODYS "test -x " MCASTD;
    static const char *const names[] = {".", "mcastd.conf", "passwd", "state.key", "state.db.lock"};
    if (geteuid() != 0 || system(can_be_run) != 0) /* NOLINT(cert-env33-c): names of our own */
        skip();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(chown(file(names[i]), NOBODY, NOBODY), 0);
    assert_refused(as_nobody, "must be writable for the user of mcastd");
    assert_int_equal(chown(file("."), 0, 0), 0);
    assert_int_equal(chmod(file("."), 0755), 0);
    assert_int_equal(unlink(file("state.db.lock")), 0);
    assert_refused(as_nobody, "its folder must exist and be writable for the user of mcastd");
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(chown(file(names[i]), 0, 0), 0);
    assert_mended();
}

static void disk__read_only_is_refused(void **state)
{
    const char *folder = testbed_folder(clients.testbed);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount(folder, folder, NULL, MS_BIND, NULL) < 0)
        skip();
    assert_int_equal(mount(NULL, folder, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL), 0);
    assert_refused("%s", "Read-only file system");
    assert_int_equal(umount(folder), 0);
    assert_mended();
}

/* No room for the lock; none for SQLite's files. */
static void disk__full_is_refused(void **state)
{
    assert_refused("ulimit -f 0; %s", "make room on its disk");
    assert_refused("ulimit -f 8; %s", "make room on its disk");
    assert_mended();
}

/* Restored as docs/state.md tells, it takes what it does not know for a job that runs. */
static void ledger__of_yesterday_takes_nothing_from_todays_job(void **state)
{
    copy("state.db", "yesterday.db");
    clients_restart_broker(&clients);
    assert_int_equal(clients_reserve(&clients, TODAY), 201);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    move("yesterday.db", "state.db");
    execute("UPDATE ledger SET founded = 0, last_number = 1000000 +"
            " max(last_number, (SELECT coalesce(max(number), 0) FROM reservation))");
    assert_int_equal(testbed_start_broker(clients.testbed), 0);
    assert_int_equal(testbed_await_link(clients.testbed), 0);
    assert_int_equal(clients_get(&clients, "/v1/clusters/elcap/jobs/f11"), 200);
    assert_non_null(strstr(clients.answer, "\"state\":\"active\""));
    assert_non_null(strstr(clients.answer, "\"number\":1000"));
    assert_int_equal(clients_get(&clients, "/v1/status"), 200);
    assert_non_null(strstr(clients.answer, "\"kind\":\"old-ledger\""));
    /* Only an administrator knows that no other broker uses the name (B11). */
    assert_int_equal(clients_post(&clients, "/v1/clusters/elcap/claim"), 200);
    clients_conclude(&clients);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
}

/* -- the key -- */

/* The way out of docs/state.md: the tokens are lost, and nothing else is. */
static void key__lost_for_good_is_gone_on_without(void **state)
{
    assert_int_equal(unlink(file("state.key")), 0);
    assert_refused("%s", "is missing, and 10 tokens in ");
    execute("UPDATE reservation SET token = NULL");
    assert_int_equal(testbed_start_broker(clients.testbed), 0);
    assert_int_equal(testbed_await_link(clients.testbed), 0);
    for (uint32_t job = 1; job < TODAY; job++) {
        char path[64], vni[64];
        (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/f%u", (unsigned)job);
        (void)snprintf(vni, sizeof vni, "\"vnis\":[%u]", clients.notes->jobs[job].vnis[0]);
        assert_int_equal(clients_get(&clients, path), 200);
        assert_non_null(strstr(clients.answer, "\"state\":\"active\""));
        assert_non_null(strstr(clients.answer, vni));
        assert_null(strstr(clients.answer, "MCAST_TOKEN"));
    }
    clients_conclude(&clients); /* also: the fabric manager holds nothing in the end */
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
}

#define ON_A_DAY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_MAIN(ON_A_DAY(file__that_is_wrong_is_refused), ON_A_DAY(ledger__with_a_damaged_log_is_refused),
          ON_A_DAY(ledger__whose_rows_contradict_each_other_is_refused),
          ON_A_DAY(ledger__of_another_broker_is_refused),
          ON_A_DAY(ledger__of_another_user_is_refused),
          ON_A_DAY(ledger__of_yesterday_takes_nothing_from_todays_job),
          ON_A_DAY(disk__full_is_refused), ON_A_DAY(key__lost_for_good_is_gone_on_without),
          ON_A_DAY(disk__read_only_is_refused))
