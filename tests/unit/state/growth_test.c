/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing on disk grows without bound, however many jobs have come and gone. */

#include "tests/unit/state/fixture.h"

#include <sqlite3.h>
#include <sys/stat.h>

enum {
    LIVES = 20000,
    LIVE_AT_ONCE = 200,
    LIVES_A_BATCH = 50,
    EVENTS_KEPT = 1000, /* as [state] events_keep does */
    LOG_MAX = 16 << 20, /* as sqlite.c has it */
};

static off_t file_size(const struct fixture *fixture, const char *suffix)
{
    char name[128];
    struct stat status;
    snprintf(name, sizeof name, "%s%s", fixture->path, suffix);
    return stat(name, &status) == 0 ? status.st_size : 0;
}

static void add(struct batch *batch, struct record record)
{
    batch_add(batch, &record);
}

/* A job comes, gets its addresses, is released; one that was released before is over. */
static void live(struct batch *batch, uint64_t number)
{
    struct record record = reservation(number, "f2Rs8sydSxmd");
    record.u.reservation.nodes = "elcap[1-128,257-384,1025-1152,2049-2176,4097-4224]";
    record.u.reservation.fm_side = FM_SIDE_MAYBE;
    add(batch, record);
    record.u.reservation.token = secret_of("sess-f4ee648c83408028802abca572f92f7a");
    record.u.reservation.fm_side = FM_SIDE_THERE;
    add(batch, record);
    add(batch, event(2 * number - 1, number));
    if (number <= LIVE_AT_ONCE)
        add(batch, event(2 * number, number));
    else {
        add(batch, gone(number - LIVE_AT_ONCE));
        add(batch, event(2 * number, number - LIVE_AT_ONCE));
    }
    if (2 * number > EVENTS_KEPT)
        add(batch, prune(2 * number - EVENTS_KEPT));
}

#define ON_FILE(test) UNIT_WITH(test, fixture_setup, fixture_teardown)

ON_FILE(disk__holds_what_is_live_however_many_were)
{
    struct fixture *fixture = *state;
    off_t early = 0, log_max = 0;
    fixture_open(fixture);
    for (uint64_t number = 1; number <= LIVES;) {
        struct batch *batch = batch_create();
        for (int i = 0; i < LIVES_A_BATCH; i++)
            live(batch, number++);
        assert_int_equal(commit_batch(fixture->store, batch).result.code, 0);
        off_t log = file_size(fixture, "-wal");
        log_max = log > log_max ? log : log_max;
        if (number == LIVES / 10 + 1) {
            fixture_reopen(fixture); /* all of the log is in the file */
            early = file_size(fixture, "");
        }
    }
    assert_true(log_max > 0 && log_max < LOG_MAX);
    assert_true(early > 0);
    fixture_reopen(fixture);
    /* Ten times as many lives, the same file but for some pages; and by far less than they were. */
    assert_in_range(file_size(fixture, ""), 4096, early + early / 4);
    assert_in_range(file_size(fixture, ""), 4096, LIVES * 50);
    assert_true(file_size(fixture, "-shm") <= 1 << 20);
}

/* A backup that reads for hours keeps the log from being emptied. */
ON_FILE(log__is_cut_when_its_reader_has_ended)
{
    static char nodes[60000];
    struct fixture *fixture = *state;
    sqlite3 *db;
    memset(nodes, 'n', sizeof nodes - 1);
    fixture_open(fixture);
    COMMIT(fixture->store, reservation(1, "f1"));
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM reservation", NULL, NULL, NULL),
                     SQLITE_OK);
    struct record record = reservation(2, "f2");
    record.u.reservation.nodes = nodes;
    for (int i = 0; i < 400 && file_size(fixture, "-wal") < LOG_MAX + (1 << 20); i++)
        COMMIT(fixture->store, record);
    assert_true(file_size(fixture, "-wal") > LOG_MAX);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    for (int i = 0; i < 3; i++) /* empties it, begins it anew, cuts it */
        COMMIT(fixture->store, record);
    assert_in_range(file_size(fixture, "-wal"), 0, LOG_MAX);
}

UNIT_RUN(NULL, NULL)
