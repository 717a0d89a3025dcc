/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger of an earlier version becomes one of this version: nothing lost, no token left behind,
 * and a broker that was killed meanwhile continues from there. */

#include "tests/unit/state/fixture.h"
#include "tests/unit/state/trace.h"

#include "state/sqlite/schema.h"
#include "tokens/seal_key.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Of the fabric manager's double, as they stand in tests/data/ledger-1. */
static const char *const tokens[] = {"sess-f4ee648c83408028802abca572f92f7a",
                                     "sess-c533271274ceb63865748b5172ff2ff2"};

static const char as_it_was[] = "counters 4 6\n"
                                "founded\n"
                                "reservation 1 elcap-f1\n"
                                "reservation 2 elcap-f2\n"
                                "reservation 3 elcap-f3\n"
                                "reservation 4 elcap-f4\n"
                                "event 1 of 0\n"
                                "event 2 of 1\n"
                                "event 3 of 2\n"
                                "event 4 of 3\n"
                                "event 5 of 4\n"
                                "event 6 of 2\n";

/* -- the file of before -- */

static char *dump_text(void)
{
    FILE *file = fopen(LEDGER_1, "re");
    static char text[16384];
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    assert_in_range(length, 1000, sizeof text - 2);
    text[length] = '\0';
    fclose(file);
    return text;
}

static void execute(sqlite3 *db, const char *sql)
{
    char *words = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &words) != SQLITE_OK)
        fail_msg("%s: %s", sql, words);
}

/* As that broker left it when it was killed: with a log, and with tokens of jobs long gone in pages
 * that are free. */
static void make_ledger_1(const struct fixture *fixture)
{
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db;
        assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
        execute(db, dump_text());
        execute(db, "PRAGMA secure_delete=OFF; PRAGMA journal_mode=WAL");
        execute(db, "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i+1 FROM n WHERE i<200)"
                    "INSERT INTO reservation SELECT i,uid,node_count,cores_per_node,addresses,"
                    "min_nodes,vni0,vni1,vni2,vni3,vni_count,vni_asked,traffic_classes,wish,state,"
                    "hwcoll,fm_side,created_ms,released_ms,hold_until_ms,cluster,job,reason,"
                    "CAST('sess-long-gone-'||i AS BLOB),nodes FROM reservation,n WHERE number=1");
        execute(db, "PRAGMA wal_checkpoint(FULL)");
        execute(db, "DELETE FROM reservation WHERE number>=10");
        execute(db, "UPDATE reservation SET node_count=node_count");
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_string_equal(trace_of(fixture, "sess-long-gone-150"), "state.db");
    assert_non_null(trace_of(fixture, tokens[0]));
}

static void remove_files(const struct fixture *fixture)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", ".lock", ".key", ".new"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", fixture->path, suffixes[i]);
        unlink(name);
    }
}

/* -- looking -- */

/* Tokens that are not sealed. */
#define PLAIN "SELECT count(*) FROM reservation WHERE substr(token,1,5)=CAST('sess-' AS BLOB)"

static int number_of(const struct fixture *fixture, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open_v2(fixture->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int number = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
}

static int check_token(void *arg, const struct record *record)
{
    int *seen = arg;
    const struct reservation_record *r = &record->u.reservation;
    if (record->kind != RECORD_RESERVATION)
        return 0;
    const char *expected = r->number == 1 ? tokens[0] : r->number == 3 ? tokens[1] : NULL;
    if (!expected)
        assert_true(secret_none(r->token));
    else
        assert_true(secret_equal(r->token, secret_of(expected)));
    *seen += expected != NULL;
    return 0;
}

static void assert_upgraded(struct fixture *fixture)
{
    int seen = 0;
    fixture_open(fixture);
    assert_ledger(fixture->store, as_it_was);
    assert_int_equal(store_load(fixture->store, check_token, &seen, NULL), 0);
    assert_int_equal(seen, 2);
    assert_no_trace(fixture, "sess-");
    assert_int_equal(number_of(fixture, "PRAGMA user_version"), SCHEMA_VERSION);
    COMMIT(fixture->store, reservation(5, "f5"), event(7, 5));
    store_close(fixture->store);
    fixture->store = NULL;
    assert_no_trace(fixture, "sess-");
}

#define ON_FILE(test) UNIT_WITH(test, fixture_setup, fixture_teardown)

ON_FILE(ledger_1__is_brought_up)
{
    struct fixture *fixture = *state;
    make_ledger_1(fixture);
    assert_upgraded(fixture);
}

/* As it is in the data's file, without anything that a later step could trip over. */
ON_FILE(ledger_1__is_what_that_version_made)
{
    struct fixture *fixture = *state;
    make_ledger_1(fixture);
    assert_int_equal(number_of(fixture, "PRAGMA user_version"), 1);
    assert_int_equal(number_of(fixture, "PRAGMA application_id"), SCHEMA_APPLICATION_ID);
    assert_int_equal(number_of(fixture, PLAIN), 2);
}

/* 11 → 10, but for facts. */
#define WITHOUT_FABRIC                                                                             \
    "ALTER TABLE reservation DROP COLUMN profile;"                                                 \
    "DROP TABLE node_nics; DROP TABLE traffic;"                                                    \
    "DROP TABLE shared_vni; DROP TABLE partitions;"                                                \
    "ALTER TABLE reservation DROP COLUMN shared_count;"                                            \
    "ALTER TABLE event DROP COLUMN node;"                                                          \
    "ALTER TABLE event DROP COLUMN clusters;"

/* 11 → 9. */
#define WITHOUT_HOLDINGS                                                                           \
    WITHOUT_FABRIC                                                                                 \
    "ALTER TABLE event DROP COLUMN node_count;"                                                    \
    "ALTER TABLE event DROP COLUMN addresses;"                                                     \
    "ALTER TABLE event DROP COLUMN vni0;"                                                          \
    "ALTER TABLE event DROP COLUMN vni1;"                                                          \
    "ALTER TABLE event DROP COLUMN vni2;"                                                          \
    "ALTER TABLE event DROP COLUMN vni3;"                                                          \
    "ALTER TABLE event DROP COLUMN vni_count;"                                                     \
    "ALTER TABLE event DROP COLUMN state;"

/* 11 → 8. */
#define WITHOUT_INTERCONNECT                                                                       \
    WITHOUT_HOLDINGS                                                                               \
    "ALTER TABLE reservation DROP COLUMN interconnect;"                                            \
    "ALTER TABLE reservation DROP COLUMN tasks_per_node;"                                          \
    "ALTER TABLE reservation DROP COLUMN cpus_per_task;"                                           \
    "ALTER TABLE reservation DROP COLUMN pkey;"                                                    \
    "ALTER TABLE reservation DROP COLUMN job_key;"

/* The version before kept its counters exact: they hold, whether or not rows show as much (S3). */
ON_FILE(ledger_4__keeps_its_counters)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *counters, *text;
    } cases[] = {
        {"UPDATE ledger SET last_number=2,last_seq=1", "counters 2 1\n"},
        {"UPDATE ledger SET last_number=9,last_seq=7", "counters 9 7\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sqlite3 *db;
        char expected[128];
        fixture_open(fixture);
        COMMIT(fixture->store, reservation(1, "f1"), reservation(2, "f2"), event(1, 2));
        store_close(fixture->store);
        assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
        execute(db, cases[i].counters);
        execute(db, "DROP TABLE facts;"
                    "ALTER TABLE reservation DROP COLUMN node_number;"
                    "ALTER TABLE reservation DROP COLUMN origin;"
                    "ALTER TABLE reservation DROP COLUMN launched;"
                    "ALTER TABLE event DROP COLUMN proof;"
                    "ALTER TABLE node DROP COLUMN sums;"
                    "DROP TABLE node_sum;" WITHOUT_INTERCONNECT "PRAGMA user_version=4");
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        fixture_open(fixture);
        snprintf(expected, sizeof expected,
                 "%sreservation 1 elcap-f1\nreservation 2 elcap-f2\nevent 1 of 2\n", cases[i].text);
        assert_ledger(fixture->store, expected);
        assert_int_equal(number_of(fixture, "PRAGMA user_version"), SCHEMA_VERSION);
        store_close(fixture->store);
        fixture->store = NULL;
        remove_files(fixture);
    }
}

/* What nodes had reported came before any sum (F3). */
ON_FILE(ledger_7__keeps_what_nodes_reported)
{
    struct fixture *fixture = *state;
    const struct record node = {.kind = RECORD_NODE,
                                .u.node = {.number = 1, .node = "n1", .state = NODE_CREATED}},
                        sum = {.kind = RECORD_SUM, .u.sum = {1, "n[1-9]", 1, NODE_DESTROYED}};
    sqlite3 *db;
    fixture_open(fixture);
    COMMIT(fixture->store, reservation(1, "f1"), node);
    store_close(fixture->store);
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    execute(db, WITHOUT_INTERCONNECT "ALTER TABLE node DROP COLUMN sums; DROP TABLE node_sum;"
                                     "ALTER TABLE reservation DROP COLUMN launched;"
                                     "ALTER TABLE facts DROP COLUMN shared;"
                                     "PRAGMA user_version=7");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    fixture_open(fixture);
    assert_ledger(fixture->store, "counters 1 0\nreservation 1 elcap-f1\nnode 1 n1 created\n");
    COMMIT(fixture->store, sum);
    store_close(fixture->store);
    fixture_open(fixture);
    assert_ledger(fixture->store, "counters 1 0\nreservation 1 elcap-f1\nnode 1 n1 created\n"
                                  "sum 1.1 n[1-9] destroyed\n");
}

static int check_slingshot(void *arg, const struct record *record)
{
    const struct reservation_record *r = &record->u.reservation;
    int *seen = arg;
    if (record->kind != RECORD_RESERVATION)
        return 0;
    assert_int_equal(r->interconnect, INTERCONNECT_SLINGSHOT);
    assert_int_equal(r->tasks_per_node, 0);
    assert_int_equal(r->cpus_per_task, 0);
    assert_int_equal(r->pkey, 0);
    assert_true(secret_none(r->key));
    assert_true(secret_equal(r->token, secret_of("sess-7")));
    ++*seen;
    return 0;
}

/* Before there was another interconnect; its tokens open with the same key file. */
ON_FILE(ledger_8__has_jobs_on_slingshot)
{
    struct fixture *fixture = *state;
    struct record job = reservation(1, "f1");
    sqlite3 *db;
    int seen = 0;
    job.u.reservation.token = secret_of("sess-7");
    fixture_open(fixture);
    COMMIT(fixture->store, job);
    store_close(fixture->store);
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    execute(db, WITHOUT_INTERCONNECT "ALTER TABLE facts DROP COLUMN shared;"
                                     "PRAGMA user_version=8");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    fixture_open(fixture);
    assert_int_equal(store_load(fixture->store, check_slingshot, &seen, NULL), 0);
    assert_int_equal(seen, 1);
    assert_int_equal(number_of(fixture, "PRAGMA user_version"), SCHEMA_VERSION);
}

static int check_shared(void *arg, const struct record *record)
{
    int *seen = arg;
    if (record->kind == RECORD_RESERVATION) {
        assert_int_equal(record->u.reservation.shared_count, 0);
        assert_int_equal(record->u.reservation.vni_count, 1);
    } else if (record->kind == RECORD_FACTS) {
        assert_int_equal(record->u.facts.shared, 0);
        assert_int_equal(record->u.facts.next_vni, 1030);
    } else {
        return 0;
    }
    ++*seen;
    return 0;
}

/* B1, B2: of the version before there was nothing shared, and no partition was known. */
ON_FILE(ledger_10__shares_nothing)
{
    struct fixture *fixture = *state;
    const struct record facts = {.kind = RECORD_FACTS,
                                 .u.facts = {.next_vni = 1030, .boot = "boot"}};
    sqlite3 *db;
    int seen = 0;
    fixture_open(fixture);
    COMMIT(fixture->store, facts, reservation(1, "f1"));
    store_close(fixture->store);
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    execute(db, WITHOUT_FABRIC "ALTER TABLE facts DROP COLUMN shared; PRAGMA user_version=10");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    fixture_open(fixture);
    assert_int_equal(store_load(fixture->store, check_shared, &seen, NULL), 0);
    assert_int_equal(seen, 2);
    COMMIT(fixture->store, shared_vni(2000, "daos"), partitions("beta 7\n"));
    assert_int_equal(number_of(fixture, "PRAGMA user_version"), SCHEMA_VERSION);
}

/* -- interrupted -- */

static int writes_left; /* before the end comes */

typedef ssize_t pwrite_fn(int fd, const void *bytes, size_t size, off_t offset);
static pwrite_fn *real_pwrite;

/* kill -9 in the middle of a write: half of it is there. */
static ssize_t last_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    if (--writes_left >= 0)
        return real_pwrite(fd, bytes, size, offset);
    (void)real_pwrite(fd, bytes, size / 2, offset);
    raise(SIGKILL);
    return -1;
}

/* True when it was killed before it was done. */
static bool upgrade_and_die(const struct fixture *fixture, int writes)
{
    pid_t child = fork();
    if (child == 0) {
        sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
        static const char *const calls[] = {"pwrite", "pwrite64"};
        for (size_t i = 0; i < 2; i++) {
            real_pwrite = (pwrite_fn *)vfs->xGetSystemCall(vfs, calls[i]);
            if (real_pwrite)
                vfs->xSetSystemCall(vfs, calls[i], (sqlite3_syscall_ptr)last_pwrite);
        }
        writes_left = writes;
        struct error err = {0};
        if (open_sqlite(fixture->path, &err))
            _exit(0);
        fprintf(stderr, "%s\n", err.text);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return true;
    }
    assert_int_equal(status, 0);
    return false;
}

/* The tokens are all as they were, or all sealed. */
static void assert_one_or_the_other(const struct fixture *fixture)
{
    int version = number_of(fixture, "PRAGMA user_version");
    int plain = number_of(fixture, PLAIN);
    assert_int_equal(number_of(fixture, "SELECT count(*) FROM reservation WHERE token NOT NULL"),
                     2);
    assert_int_equal(plain, version < SCHEMA_SEALED ? 2 : 0);
}

ON_FILE(upgrade__killed_at_any_write_goes_on_from_there)
{
    struct fixture *fixture = *state;
    int writes = 0, versions[SCHEMA_VERSION + 1] = {0};
    bool killed = true;
    for (; killed; writes++) {
        make_ledger_1(fixture);
        killed = upgrade_and_die(fixture, writes);
        assert_one_or_the_other(fixture);
        versions[number_of(fixture, "PRAGMA user_version")]++;
        assert_upgraded(fixture);
        remove_files(fixture);
    }
    assert_true(writes > 10);
    for (int version = 1; version <= SCHEMA_VERSION; version++)
        assert_true(versions[version] > 0); /* it was killed before, between and after the steps */
}

/* The disk fills up on the way: refused with its cause, and done when there is room. */
ON_FILE(upgrade__on_a_full_disk_waits_for_room)
{
    struct fixture *fixture = *state;
    struct error err = {0};
    struct rlimit unlimited, limit;
    make_ledger_1(fixture);
    fixture_open(fixture); /* to make the key, which is not what this is about */
    store_close(fixture->store);
    fixture->store = NULL;
    for (rlim_t room = 4096; room <= 16 * 4096; room += 4096) {
        char key[128];
        snprintf(key, sizeof key, "%s.key", fixture->path);
        remove_files(fixture);
        make_ledger_1(fixture);
        assert_int_equal(seal_key_create(key, (uid_t)-1, (gid_t)-1, NULL), 0);
        signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
        limit = unlimited;
        limit.rlim_cur = room;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        struct store *store = open_sqlite(fixture->path, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
        if (!store && err.code != ERROR_FULL)
            fail_msg("%s", err.text);
        store_close(store);
        assert_one_or_the_other(fixture);
    }
    assert_upgraded(fixture);
}

/* A backup reads the old contents: the log cannot be truncated meanwhile. */
ON_FILE(upgrade__waits_for_no_reader)
{
    struct fixture *fixture = *state;
    struct error err = {0};
    sqlite3 *db;
    make_ledger_1(fixture);
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    execute(db, "BEGIN; SELECT count(*) FROM reservation");
    assert_null(open_sqlite(fixture->path, &err));
    assert_int_equal(err.code, ERROR_IO);
    assert_non_null(strstr(err.text, "another program has it open, end it"));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_upgraded(fixture);
}

UNIT_RUN(NULL, NULL)
