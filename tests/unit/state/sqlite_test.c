/* SPDX-License-Identifier: Apache-2.0 */
/* What only the SQLite keeper promises: its file, and what it does when the disk does not. */

#include "tests/unit/state/fixture.h"

#include "state/sqlite/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* -- the file as others see it -- */

static void name_beside(const struct fixture *fixture, const char *suffix, char name[128])
{
    snprintf(name, 128, "%s%s", fixture->path, suffix);
}

static off_t file_size(const struct fixture *fixture, const char *suffix)
{
    char name[128];
    name_beside(fixture, suffix, name);
    struct stat status;
    return stat(name, &status) == 0 ? status.st_size : -1;
}

static void write_file(const struct fixture *fixture, const char *suffix, off_t offset,
                       const void *bytes, size_t size)
{
    char name[128];
    name_beside(fixture, suffix, name);
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, offset), (ssize_t)size);
    close(fd);
}

static void execute(const struct fixture *fixture, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* A closed file with some reservations, so that its tables have several pages. */
static void make_file(struct fixture *fixture, uint64_t count)
{
    fixture_open(fixture);
    struct batch *batch = batch_create();
    for (uint64_t i = 1; i <= count; i++) {
        struct record records[] = {reservation(i, "f1"), event(i, i)};
        batch_add(batch, &records[0]);
        batch_add(batch, &records[1]);
    }
    assert_int_equal(commit_batch(fixture->store, batch).result.code, 0);
    store_close(fixture->store);
    fixture->store = NULL;
}

/* One sentence that begins with the file and has these words. */
static void assert_refused(const struct fixture *fixture, int code, const char *words)
{
    struct error err = {0};
    struct store *store = open_sqlite(fixture->path, &err);
    assert_null(store);
    if (err.code != code || !strstr(err.text, words) || !strstr(err.text, fixture->path))
        fail_msg("expected \"%s\", got %s: %s", words, error_word(err.code), err.text);
}

static int ignore_record(void *arg, const struct record *record)
{
    return 0;
}

/* Refused when it is opened or, at the latest, while it is loaded. */
static void assert_damaged(struct fixture *fixture)
{
    struct error err = {0};
    struct store *store = open_sqlite(fixture->path, &err);
    if (store) {
        assert_int_equal(store_load(store, ignore_record, NULL, &err), ERROR_CORRUPT);
        store_close(store);
    }
    assert_int_equal(err.code, ERROR_CORRUPT);
    assert_non_null(strstr(err.text, fixture->path));
    assert_non_null(strstr(err.text, "restore"));
}

/* -- who may read it, who may open it -- */

#define ON_FILE(test) UNIT_WITH(test, fixture_setup, fixture_teardown)

ON_FILE(file__is_private_whatever_the_umask)
{
    struct fixture *fixture = *state;
    mode_t before = umask(0);
    fixture_open(fixture);
    COMMIT(fixture->store, reservation(1, "f1"));
    umask(before);
    const char *suffixes[] = {"", "-wal", "-shm", ".lock"};
    for (int i = 0; i < 4; i++) {
        char name[128];
        name_beside(fixture, suffixes[i], name);
        struct stat status;
        assert_int_equal(stat(name, &status), 0);
        assert_int_equal(status.st_mode & 07777, 0600);
    }
}

ON_FILE(file__becomes_private_again)
{
    struct fixture *fixture = *state;
    make_file(fixture, 1);
    assert_int_equal(chmod(fixture->path, 0644), 0);
    fixture_open(fixture);
    struct stat status;
    assert_int_equal(stat(fixture->path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
}

ON_FILE(file__has_one_owner_in_a_process)
{
    struct fixture *fixture = *state;
    fixture_open(fixture);
    char words[64];
    snprintf(words, sizeof words, "is open in another mcastd (pid %d)", (int)getpid());
    assert_refused(fixture, ERROR_REFUSED, words);
    COMMIT(fixture->store, reservation(1, "f1"));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 1 0\nreservation 1 elcap-f1\n");
}

ON_FILE(file__has_one_owner_by_any_name)
{
    struct fixture *fixture = *state;
    fixture_open(fixture);
    struct fixture link = *fixture;
    snprintf(link.path, sizeof link.path, "%s/link.db", fixture->folder);
    assert_int_equal(symlink(fixture->path, link.path), 0);
    struct error err = {0};
    assert_null(open_sqlite(link.path, &err));
    assert_int_equal(err.code, ERROR_REFUSED);
}

ON_FILE(file__has_one_owner_among_processes)
{
    struct fixture *fixture = *state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        if (open_sqlite(fixture->path, NULL) && write(ready[1], "x", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    char byte;
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    char words[64];
    snprintf(words, sizeof words, "is open in another mcastd (pid %d)", (int)child);
    assert_refused(fixture, ERROR_REFUSED, words);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    fixture_open(fixture);
    assert_ledger(fixture->store, "counters 0 0\n");
}

ON_FILE(folder__must_exist)
{
    struct fixture *fixture = *state;
    struct error err = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/missing/state.db", fixture->folder);
    assert_null(open_sqlite(path, &err));
    assert_int_equal(err.code, ERROR_IO);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "No such file or directory"));
}

/* -- files that are refused -- */

ON_FILE(schema__newer_is_refused_and_left_alone)
{
    struct fixture *fixture = *state;
    make_file(fixture, 1);
    execute(fixture, "PRAGMA user_version=12");
    assert_refused(fixture, ERROR_VERSION,
                   "was written by a newer mcastd (schema 12, this one knows 11): install that");
    execute(fixture, "PRAGMA user_version=11");
    fixture_open(fixture);
    assert_ledger(fixture->store, "counters 1 1\nreservation 1 elcap-f1\nevent 1 of 1\n");
}

ON_FILE(schema__of_another_program_is_refused)
{
    struct fixture *fixture = *state;
    execute(fixture, "CREATE TABLE addressbook(name TEXT)");
    assert_refused(fixture, ERROR_CORRUPT, "is a database, but not one of mcastd");
}

ON_FILE(schema__without_a_table_is_refused)
{
    struct fixture *fixture = *state;
    make_file(fixture, 1);
    execute(fixture, "DROP TABLE event");
    assert_refused(fixture, ERROR_CORRUPT, "no such table: event");
}

ON_FILE(file__that_is_no_database_is_refused)
{
    struct fixture *fixture = *state;
    char text[8192];
    memset(text, 'a', sizeof text);
    write_file(fixture, "", 0, text, sizeof text);
    assert_int_equal(chmod(fixture->path, 0644), 0);
    assert_refused(fixture, ERROR_CORRUPT, "is not a state file");
    struct stat status;
    assert_int_equal(stat(fixture->path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0644); /* not ours to change */
    assert_int_equal(truncate(fixture->path, 20), 0);
    assert_refused(fixture, ERROR_CORRUPT, "is not a state file");
}

ON_FILE(file__that_is_a_folder_is_refused)
{
    struct fixture *fixture = *state;
    assert_int_equal(mkdir(fixture->path, 0700), 0);
    assert_refused(fixture, ERROR_INVALID, "is not a regular file");
    assert_int_equal(rmdir(fixture->path), 0);
}

/* I2: an empty state file has lost its contents. */
ON_FILE(file__that_is_empty_is_refused)
{
    struct fixture *fixture = *state;
    make_file(fixture, 1);
    assert_int_equal(truncate(fixture->path, 0), 0);
    assert_refused(fixture, ERROR_CORRUPT, "is empty");
}

ON_FILE(file__that_is_missing_beside_its_log_is_refused)
{
    struct fixture *fixture = *state;
    write_file(fixture, "-wal", 0, "x", 1);
    assert_refused(fixture, ERROR_CORRUPT, "is missing, but its log");
}

ON_FILE(file__cut_short_is_refused)
{
    struct fixture *fixture = *state;
    make_file(fixture, 500);
    for (off_t size = file_size(fixture, "") - 1; size > 0; size -= 5000) {
        assert_int_equal(truncate(fixture->path, size), 0);
        assert_damaged(fixture);
    }
}

ON_FILE(file__damaged_in_any_page_is_refused)
{
    struct fixture *fixture = *state;
    make_file(fixture, 200);
    char noise[512];
    memset(noise, 0xa5, sizeof noise);
    int fd = open(fixture->path, O_RDWR);
    for (off_t page = 0; page < file_size(fixture, ""); page += 4096) {
        char saved[sizeof noise];
        assert_int_equal(pread(fd, saved, sizeof saved, page), (ssize_t)sizeof saved);
        assert_int_equal(pwrite(fd, noise, sizeof noise, page), (ssize_t)sizeof noise);
        assert_damaged(fixture);
        assert_int_equal(pwrite(fd, saved, sizeof saved, page), (ssize_t)sizeof saved);
    }
    close(fd);
    fixture_open(fixture);
}

/* Pages that no row is in: a load would not see it, the first commits would. */
ON_FILE(file__damaged_in_its_free_pages_is_refused)
{
    struct fixture *fixture = *state;
    make_file(fixture, 2000);
    execute(fixture, "DELETE FROM event");
    unsigned char at[4];
    int fd = open(fixture->path, O_RDONLY);
    assert_int_equal(pread(fd, at, sizeof at, 32), (ssize_t)sizeof at); /* first free page */
    close(fd);
    off_t page = (off_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
    assert_true(page > 1);
    char noise[512];
    memset(noise, 0xa5, sizeof noise);
    write_file(fixture, "", (page - 1) * 4096, noise, sizeof noise);
    assert_refused(fixture, ERROR_CORRUPT, "is damaged");
}

/* A file too large for a check of the whole at each start (G7) still says so while it is loaded. */
ON_FILE(file__damaged_and_large_is_refused_by_load)
{
    struct fixture *fixture = *state;
    make_file(fixture, 150000);
    off_t size = file_size(fixture, "");
    assert_true(size > 8L * 1024 * 1024);
    char noise[4096];
    memset(noise, 0xa5, sizeof noise);
    write_file(fixture, "", size / 4096 / 2 * 4096, noise, sizeof noise);
    fixture_open(fixture);
    struct error err = {0};
    assert_int_equal(store_load(fixture->store, ignore_record, NULL, &err), ERROR_CORRUPT);
    assert_non_null(strstr(err.text, "is damaged"));
}

/* Rows that SQLite finds sound and no broker ever wrote. */
ON_FILE(row__that_no_broker_wrote_is_refused)
{
    static const struct {
        const char *change, *words;
    } cases[] = {
        {"UPDATE reservation SET vni_count=5", "reservation 3: vni_count is out of range"},
        {"UPDATE reservation SET vni_count=-1", "reservation 3: vni_count is out of range"},
        {"UPDATE reservation SET vni_asked=5", "vni_asked is out of range"},
        {"UPDATE reservation SET vni2=65536", "vni2 is out of range"},
        {"UPDATE reservation SET uid='root'", "uid is out of range"},
        {"UPDATE reservation SET node_count=4294967296", "node_count is out of range"},
        {"UPDATE reservation SET traffic_classes=16", "traffic_classes is out of range"},
        {"UPDATE reservation SET wish=0", "wish is out of range"},
        {"UPDATE reservation SET wish=5", "wish is out of range"},
        {"UPDATE reservation SET state=3", "state is out of range"},
        {"UPDATE reservation SET hwcoll=10", "hwcoll is out of range"},
        {"UPDATE reservation SET fm_side=3", "fm_side is out of range"},
        {"UPDATE reservation SET origin=4", "origin is out of range"},
        {"UPDATE reservation SET interconnect=3", "interconnect is out of range"},
        {"UPDATE reservation SET pkey=32767", "pkey is out of range"},
        {"UPDATE reservation SET job_key='0123456789abcdef0123456789abcdef'",
         "its token does not open"},
        {"UPDATE reservation SET node_number=-1", "node_number is out of range"},
        {"UPDATE facts SET round_number='a'", "facts 1: round_number is out of range"},
        {"UPDATE facts SET next_vni=65537", "facts 1: next_vni is out of range"},
        {"UPDATE facts SET suspect=2", "facts 1: suspect is out of range"},
        {"UPDATE facts SET shared=2", "facts 1: shared is out of range"},
        {"UPDATE facts SET clock_ms=-1", "facts 1: clock_ms is out of range"},
        {"UPDATE facts SET holds_from_ms='a'", "facts 1: holds_from_ms is out of range"},
        {"UPDATE facts SET boot=printf('%.*c', 41, 'x')", "facts 1: boot is missing or too long"},
        {"UPDATE reservation SET cluster='el-cap'", "cluster is not a cluster's name"},
        {"UPDATE reservation SET job='a b'", "job is not a job id"},
        {"UPDATE reservation SET number=4611686018427387904", "ledger 1: last_number is out"},
        {"UPDATE reservation SET number=-4", "reservation -4: number is out of range"},
        {"UPDATE event SET kind=0", "event 3: kind is out of range"},
        {"UPDATE event SET kind=28", "kind is out of range"},
        {"UPDATE event SET number=-1", "event 3: number is"},
        {"UPDATE event SET cluster='-'", "cluster is not a cluster's name"},
        {"UPDATE event SET cluster=NULL", "cluster is missing"},
        {"UPDATE event SET seq=4611686018427387904", "ledger 1: last_seq is out"},
        {"UPDATE ledger SET last_number='a'", "ledger 1: last_number is out of range"},
        {"UPDATE ledger SET last_seq=-1", "ledger 1: last_seq is out of range"},
        {"UPDATE ledger SET last_number=9223372036854775807",
         "ledger 1: last_number is out of range"},
        {"UPDATE ledger SET last_number=4611686018427387904",
         "ledger 1: last_number is out of range"},
        {"UPDATE ledger SET last_seq=9223372036854775807", "ledger 1: last_seq is out of range"},
        {"UPDATE reservation SET created_ms=-1", "reservation 3: created_ms is out of range"},
        {"UPDATE reservation SET released_ms=9223372036854775807", "released_ms is out of range"},
        {"UPDATE reservation SET hold_until_ms=253402300800000", "hold_until_ms is out of range"},
        {"UPDATE event SET time_ms=9223372036854775807", "event 3: time_ms is out of range"},
        {"DELETE FROM ledger", "ledger 1: missing"},
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_open(fixture);
        COMMIT(fixture->store, reservation(3, "f3"), event(3, 3),
               (struct record){.kind = RECORD_FACTS, .u.facts = {.boot = "b1"}});
        store_close(fixture->store);
        execute(fixture, cases[i].change);
        fixture_open(fixture);
        struct error err = {0};
        int code = store_load(fixture->store, ignore_record, NULL, &err);
        if (code != ERROR_CORRUPT || !strstr(err.text, cases[i].words))
            fail_msg("%s: %d %s", cases[i].change, code, err.text);
        store_close(fixture->store);
        fixture->store = NULL;
        /* What was refused was left as it is, the log as well. */
        char log[128];
        name_beside(fixture, "-wal", log);
        assert_int_equal(unlink(fixture->path), 0);
        assert_int_equal(unlink(log), 0);
    }
}

ON_FILE(counters__are_good_up_to_half_of_what_fits)
{
    struct fixture *fixture = *state;
    const uint64_t highest = INT64_MAX / 2;
    make_file(fixture, 1);
    execute(fixture, "UPDATE ledger SET last_number=4611686018427387902,"
                     "last_seq=4611686018427387902");
    fixture_open(fixture);
    COMMIT(fixture->store, reservation(highest, "f2"), event(highest, highest));
    fixture_reopen(fixture);
    char *text = ledger_text(fixture->store);
    assert_non_null(strstr(text, "counters 4611686018427387903 4611686018427387903"));
    free(text);
}

/* G3: a page that is not written is a commit that is shorter. Here no page of a table is full yet.
 */
static off_t pages_of_last_commit(const struct fixture *fixture, off_t *log_size)
{
    enum { FRAME = 24 + 4096 };
    off_t before = *log_size;
    *log_size = file_size(fixture, "-wal");
    assert_int_equal((*log_size - before) % FRAME, 0);
    return (*log_size - before) / FRAME;
}

ON_FILE(commit__writes_the_counters_only_with_deletions)
{
    struct fixture *fixture = *state;
    off_t log_size = 32; /* its header */
    fixture_open(fixture);
    COMMIT(fixture->store, reservation(1, "f1"), event(1, 1));
    (void)pages_of_last_commit(fixture, &log_size);
    COMMIT(fixture->store, reservation(2, "f2"));
    assert_int_equal(pages_of_last_commit(fixture, &log_size), 1);
    COMMIT(fixture->store, reservation(3, "f3"), event(2, 3));
    assert_int_equal(pages_of_last_commit(fixture, &log_size), 2);
    COMMIT(fixture->store, gone(3));
    assert_int_equal(pages_of_last_commit(fixture, &log_size), 2);
    COMMIT(fixture->store, prune(2));
    assert_int_equal(pages_of_last_commit(fixture, &log_size), 2);
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 3 2\n"
                                  "reservation 1 elcap-f1\n"
                                  "reservation 2 elcap-f2\n");
}

ON_FILE(creation__interrupted_is_begun_again)
{
    struct fixture *fixture = *state;
    write_file(fixture, ".new", 0, "half", 4);
    fixture_open(fixture);
    assert_ledger(fixture->store, "counters 0 0\n");
    assert_int_equal(file_size(fixture, ".new"), -1);
}

/* -- a disk that fails -- */

static struct batch *long_batch(void)
{
    static char nodes[60000];
    memset(nodes, 'n', sizeof nodes - 1);
    struct record records[] = {reservation(2, "f2"), reservation(3, "f3"), gone(1), event(1, 2)};
    records[0].u.reservation.nodes = nodes;
    return batch_of(records, 4);
}

static const char before[] = "counters 1 0\nreservation 1 elcap-f1\n";
static const char after[] = "counters 3 1\n"
                            "reservation 2 elcap-f2\n"
                            "reservation 3 elcap-f3\n"
                            "event 1 of 2\n";

/* SQLite's, because the program comes before the library: every sync is counted, and can be made to
 * fail as that of a broken disk. */
static atomic_int syncs;
static atomic_bool disk_broken;

__attribute__((visibility("default"))) int
fdatasync(int fd) /* NOLINT(*-parameter-name): glibc's is reserved */
{
    syncs++;
    if (disk_broken) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

/* Group commit, and synchronous=FULL: as many syncs as batches, however large they are. */
ON_FILE(commit__is_one_sync_before_it_is_reported)
{
    struct fixture *fixture = *state;
    fixture_open(fixture);
    COMMIT(fixture->store, reservation(1, "f1"));
    for (uint64_t i = 0; i < 10; i++) {
        struct batch *batch = batch_create();
        for (uint64_t k = 0; k < 64; k++) {
            struct record record = reservation(2 + i * 64 + k, "f1");
            batch_add(batch, &record);
        }
        syncs = 0;
        assert_int_equal(commit_batch(fixture->store, batch).result.code, 0);
        assert_int_equal(syncs, 1);
    }
}

ON_FILE(disk__broken_gives_the_batch_back_and_it_works_later)
{
    struct fixture *fixture = *state;
    fixture_open(fixture);
    COMMIT(fixture->store, reservation(1, "f1"));
    disk_broken = true;
    struct outcome outcome = commit_batch(fixture->store, long_batch());
    disk_broken = false;
    assert_int_equal(outcome.result.code, ERROR_IO);
    assert_non_null(strstr(outcome.result.error.text, fixture->path));
    assert_non_null(strstr(outcome.result.error.text, "Input/output error"));
    assert_ledger(fixture->store, before);
    assert_int_equal(commit_batch(fixture->store, outcome.failed).result.code, 0);
    fixture_reopen(fixture);
    assert_ledger(fixture->store, after);
}

/* A limit on the size of files is a disk that is full, for anybody and at any place. */
static void limit_files(rlim_t size)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

ON_FILE(disk__full_gives_the_batch_back_and_it_works_later)
{
    struct fixture *fixture = *state;
    fixture_open(fixture);
    COMMIT(fixture->store, reservation(1, "f1"));
    struct batch *batch = long_batch();
    struct outcome outcomes[3];
    signal(SIGXFSZ, SIG_IGN);
    limit_files((rlim_t)file_size(fixture, "-wal") + 4096);
    for (int i = 0; i < 3; i++)
        outcomes[i] = commit_batch(fixture->store, batch);
    limit_files(RLIM_INFINITY);
    for (int i = 0; i < 3; i++) {
        if (outcomes[i].result.code != ERROR_FULL)
            fail_msg("%s", outcomes[i].result.error.text);
        assert_ptr_equal(outcomes[i].failed, batch);
        assert_non_null(strstr(outcomes[i].result.error.text, fixture->path));
        assert_non_null(strstr(outcomes[i].result.error.text, "File too large"));
    }
    assert_ledger(fixture->store, before);
    assert_int_equal(commit_batch(fixture->store, batch).result.code, 0);
    fixture_reopen(fixture);
    assert_ledger(fixture->store, after);
}

ON_FILE(disk__full_and_closed_leaves_what_was_there)
{
    struct fixture *fixture = *state;
    fixture_open(fixture);
    COMMIT(fixture->store, reservation(1, "f1"));
    signal(SIGXFSZ, SIG_IGN);
    limit_files((rlim_t)file_size(fixture, "-wal") + 4096);
    struct outcome outcome = commit_batch(fixture->store, long_batch());
    limit_files(RLIM_INFINITY);
    assert_int_equal(outcome.result.code, ERROR_FULL);
    batch_destroy(outcome.failed);
    fixture_reopen(fixture);
    assert_ledger(fixture->store, before);
}

ON_FILE(disk__full_at_creation_leaves_no_file)
{
    struct fixture *fixture = *state;
    struct error err = {0};
    signal(SIGXFSZ, SIG_IGN);
    limit_files(4096);
    struct store *store = open_sqlite(fixture->path, &err);
    limit_files(RLIM_INFINITY);
    assert_null(store);
    if (err.code != ERROR_FULL)
        fail_msg("%s", err.text);
    assert_int_equal(file_size(fixture, ""), -1);
    assert_int_equal(file_size(fixture, ".new"), -1);
    fixture_open(fixture);
    assert_ledger(fixture->store, "counters 0 0\n");
}

/* Another program that writes to the file makes a commit wait, then fail, never hang. */
ON_FILE(file__held_by_another_program_is_an_error)
{
    struct fixture *fixture = *state;
    fixture_open(fixture);
    COMMIT(fixture->store, reservation(1, "f1"));
    sqlite3 *db;
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    struct record record = reservation(2, "f2");
    struct outcome outcome = commit_batch(fixture->store, batch_of(&record, 1));
    assert_int_equal(outcome.result.code, ERROR_IO);
    assert_int_equal(outcome.result.error.code, ERROR_IO);
    assert_non_null(strstr(outcome.result.error.text, "another program has it open"));
    sqlite3_close(db);
    assert_int_equal(commit_batch(fixture->store, outcome.failed).result.code, 0);
    assert_ledger(fixture->store, "counters 2 0\nreservation 1 elcap-f1\nreservation 2 elcap-f2\n");
}

/* SQLite would write on, to a file that has no name: all of it would be gone with the process. */
ON_FILE(file__taken_away_is_an_error_until_it_is_back)
{
    static const char *const suffixes[] = {"", "-wal"};
    struct fixture *fixture = *state;
    fixture_open(fixture);
    COMMIT(fixture->store, reservation(1, "f1"));
    struct record record = reservation(2, "f2");
    struct batch *batch = batch_of(&record, 1);
    for (size_t i = 0; i < 2; i++) {
        char name[128], away[128];
        name_beside(fixture, suffixes[i], name);
        name_beside(fixture, ".away", away);
        assert_int_equal(rename(name, away), 0);
        struct outcome outcome = commit_batch(fixture->store, batch);
        assert_int_equal(outcome.result.code, ERROR_IO);
        assert_non_null(strstr(outcome.result.error.text, "has been taken away (No such file"));
        write_file(fixture, suffixes[i], 0, "x", 1); /* a copy */
        outcome = commit_batch(fixture->store, batch);
        assert_int_equal(outcome.result.code, ERROR_IO);
        assert_non_null(strstr(outcome.result.error.text, "is not the file that mcastd opened"));
        assert_int_equal(rename(away, name), 0);
    }
    assert_int_equal(commit_batch(fixture->store, batch).result.code, 0);
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 2 0\nreservation 1 elcap-f1\nreservation 2 elcap-f2\n");
}

/* SQLite would open it to be read, and each commit would fail until mcastd is started again. */
ON_FILE(file__that_cannot_be_written_is_refused)
{
    enum { OTHER = 65534 };
    struct fixture *fixture = *state;
    struct error err = {0};
    fixture_open(fixture);
    store_close(fixture->store);
    static const char *const suffixes[] = {"", ".key", ".lock"};
    const bool root = geteuid() == 0; /* whom no mode stops */
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0] && root; i++) {
        char name[128];
        name_beside(fixture, suffixes[i], name);
        (void)chown(name, OTHER, OTHER);
    }
    assert_int_equal(chmod(fixture->path, 0400), 0);
    if (root) {
        assert_int_equal(chown(fixture->folder, OTHER, OTHER), 0);
        assert_int_equal(seteuid(OTHER), 0);
    }
    fixture->store = open_sqlite(fixture->path, &err);
    assert_int_equal(seteuid(getuid()), 0);
    assert_null(fixture->store);
    assert_non_null(strstr(err.text, "cannot be written to: give it to the user of mcastd"));
}

/* An error that ends one statement and leaves the transaction open: the records before it must not
 * come in with the next commit. */
ON_FILE(commit__that_fails_half_way_leaves_nothing)
{
    struct fixture *fixture = *state;
    fixture_open(fixture);
    COMMIT(fixture->store, reservation(1, "f1"));
    execute(fixture, "ALTER TABLE event RENAME TO away");
    struct outcome outcome = commit_batch(fixture->store, long_batch());
    assert_int_equal(outcome.result.code, ERROR_IO);
    assert_non_null(strstr(outcome.result.error.text, "no such table: event"));
    batch_destroy(outcome.failed);
    execute(fixture, "ALTER TABLE away RENAME TO event");
    assert_ledger(fixture->store, before);
    COMMIT(fixture->store, event(1, 1));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 1 1\nreservation 1 elcap-f1\nevent 1 of 1\n");
}

/* ENOSPC itself, where the tests may mount a small disk of their own. */
enum { CANNOT_MOUNT = 77 };

static int fill_small_disk(const char *folder)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", folder, "tmpfs", 0, "size=512k") < 0)
        return CANNOT_MOUNT;
    char path[128], ballast[128];
    snprintf(path, sizeof path, "%s/state.db", folder);
    snprintf(ballast, sizeof ballast, "%s/ballast", folder);
    struct store *store = open_sqlite(path, NULL);
    if (!store)
        return 1;
    COMMIT(store, reservation(1, "f1"));
    int fd = open(ballast, O_WRONLY | O_CREAT, 0600);
    char block[4096] = {0};
    while (write(fd, block, sizeof block) == (ssize_t)sizeof block)
        ;
    if (errno != ENOSPC)
        return 2;
    struct outcome outcome = commit_batch(store, long_batch());
    if (outcome.result.code != ERROR_FULL ||
        !strstr(outcome.result.error.text, "No space left on device"))
        return 3;
    assert_ledger(store, before);
    if (ftruncate(fd, 0) < 0 || commit_batch(store, outcome.failed).result.code != 0)
        return 4;
    assert_ledger(store, after);
    store_close(store);
    close(fd);
    return 0;
}

ON_FILE(disk__without_space_gives_the_batch_back)
{
    struct fixture *fixture = *state;
    pid_t child = fork();
    if (child == 0)
        _exit(fill_small_disk(fixture->folder));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT_MOUNT)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

UNIT_RUN(NULL, NULL)
