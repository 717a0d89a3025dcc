/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger that moves, or comes back from a backup, as a file of mcastd --export (B7): what clients
 * were told is compared afterwards; and what may not be imported is refused with nothing done. */

#include "tests/system/outages/moving.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

enum { NUMBERS_LOST = 1000000 };

static void move_away(const struct clients *clients, const char *name, const char *to)
{
    char from[160], there[160];
    assert_int_equal(rename(clients_file(clients, name, from), clients_file(clients, to, there)),
                     0);
}

static sqlite3_int64 number_of(const struct clients *clients, const char *sql)
{
    char path[160];
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(clients_file(clients, "state.db", path), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const sqlite3_int64 number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return number;
}

/* -- moved -- */

static void ledger__moves_with_jobs_that_run(void **state)
{
    struct clients clients;
    struct stat status;
    char path[160];
    open_with_jobs(&clients);
    char *events = events_of(&clients);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    assert_runs(&clients, "export", "moved", "mcastd: exported ");
    assert_null(strstr(said, "backup"));
    assert_int_equal(stat(clients_file(&clients, "moved", path), &status), 0);
    assert_int_equal(status.st_mode, S_IFREG | 0600);
    char *text = file_text(&clients, "moved"), *keys = file_text(&clients, "root.keys");
    for (uint32_t job = 0; job < JOBS; job++)
        if (clients.notes->jobs[job].token[0] != '\0')
            assert_null(strstr(text, clients.notes->jobs[job].token));
    lose_ledger(&clients);
    assert_runs(&clients, "import", "moved", "mcastd: imported ");
    char *keys_now = file_text(&clients, "root.keys");
    assert_string_equal(keys, keys_now);
    clients.notes->floor = clients.notes->highest;
    clients_restart_broker(&clients);
    char *events_now = events_of(&clients);
    assert_int_equal(strncmp(events, events_now, strlen(events)), 0); /* then the link is up */
    assert_int_equal(clients_reserve(&clients, JOBS), 201);
    assert_int_equal(clients.notes->jobs[JOBS].number, JOBS + 1); /* where they ended */
    clients_assert_secrets_kept(&clients);
    clients_conclude(&clients);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    free(text);
    free(keys);
    free(keys_now);
    free(events);
    free(events_now);
    clients_close(&clients);
}

/* -- a backup -- */

/* What was reserved since must not be given out again: numbers begin above, and what the ledger
 * does not know is looked for at the fabric manager. */
static void backup__of_a_running_broker_comes_back_as_one(void **state)
{
    struct clients clients;
    char path[160];
    open_with_jobs(&clients);
    assert_int_equal(run(&clients, "export", "-", "> /dev/null"), 0);
    assert_non_null(strstr(said, "so this is a backup"));
    assert_runs(&clients, "export", "backup", "so this is a backup");
    for (uint32_t job = JOBS; job < JOBS + LATER; job++)
        assert_int_equal(clients_reserve(&clients, job), 201);
    testbed_kill_broker(clients.testbed);
    lose_ledger(&clients);
    char how[200];
    (void)snprintf(how, sizeof how, "< %s", clients_file(&clients, "backup", path));
    assert_int_equal(run(&clients, "import", "-", how), 0);
    assert_non_null(strstr(said, "go on as after restoring a backup"));
    assert_int_equal(number_of(&clients, "SELECT last_number FROM ledger"), NUMBERS_LOST + JOBS);
    assert_int_equal(number_of(&clients, "SELECT founded FROM ledger"), 0);
    for (uint32_t job = JOBS; job < JOBS + LATER; job++)
        clients.notes->jobs[job].life = NOTES_UNBORN; /* the backup has never heard of them */
    assert_int_equal(testbed_start_broker(clients.testbed), 0);
    assert_int_equal(testbed_await_link(clients.testbed), 0);
    clients_compare(&clients);
    for (uint32_t job = JOBS; job < JOBS + LATER; job++) {
        (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/f%u", (unsigned)job);
        assert_int_equal(clients_get(&clients, path), 200); /* found there */
        assert_non_null(strstr(clients.answer, "\"number\":10000"));
    }
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    clients_close(&clients);
}

/* -- what is refused -- */

static void spoil(const struct clients *clients, const char *name, const char *as, char from,
                  char to)
{
    char path[160], *text = file_text(clients, name), *at = strrchr(text, from);
    assert_non_null(at);
    *at = to;
    FILE *out = fopen(clients_file(clients, as, path), "we");
    assert_non_null(out);
    assert_int_equal(chmod(path, 0600), 0);
    (void)fputs(text, out);
    assert_int_equal(fclose(out), 0);
    free(text);
}

static void assert_nothing_there(const struct clients *clients)
{
    char path[160];
    assert_int_equal(access(clients_file(clients, "state.db", path), F_OK), -1);
    assert_int_equal(access(clients_file(clients, "root.keys", path), F_OK), -1);
}

static void file__is_never_written_over(void **state)
{
    struct clients clients;
    char path[160], link[160];
    clients_open(&clients, 1);
    assert_runs(&clients, "export", "there", "exported");
    char *text = file_text(&clients, "there");
    assert_refused(&clients, "export", "there", "there is there already and stays");
    assert_int_equal(
        symlink(clients_file(&clients, "elsewhere", path), clients_file(&clients, "link", link)),
        0);
    assert_refused(&clients, "export", "link", "link is there already and stays");
    assert_int_equal(access(path, F_OK), -1);
    assert_refused(&clients, "export", "no/folder", "--export -");
    char *text_now = file_text(&clients, "there");
    assert_string_equal(text, text_now);
    free(text);
    free(text_now);
    clients_close(&clients);
}

static void import__of_what_is_not_right_leaves_nothing(void **state)
{
    struct clients clients;
    char path[160];
    open_with_jobs(&clients);
    assert_runs(&clients, "export", "sound", "exported");
    assert_refused(&clients, "import", "sound", "is open in another mcastd (pid ");
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    assert_refused(&clients, "import", "sound", "state.db is not empty: import into a new ledger");
    char *keys = file_text(&clients, "root.keys");
    move_away(&clients, "root.keys", "root.keys.old");
    lose_ledger(&clients);
    assert_refused(&clients, "export", "other", "there is no ledger");

    spoil(&clients, "sound", "changed", 'v', 'w');
    assert_refused(&clients, "import", "changed", "changed was changed");
    spoil(&clients, "sound", "cut", 'r', '\0');
    assert_refused(&clients, "import", "cut", "cut is cut");
    assert_refused(&clients, "import", "mcastd.conf", "");
    assert_refused(&clients, "import", "missing", "missing: No such file");
    assert_int_equal(chmod(clients_file(&clients, "sound", path), 0644), 0);
    assert_refused(&clients, "import", "sound", "sound can be read by others: chmod 0600");
    assert_int_equal(chmod(path, 0600), 0);

    move_away(&clients, "state.key", "state.key.old");
    assert_refused(&clients, "import", "sound", "state.key: No such file");

    char command[512];
    (void)snprintf(command, sizeof command, "umask 077; openssl rand -hex 32 > %s",
                   clients_file(&clients, "state.key", path));
    assert_int_equal(system(command), 0);
    assert_refused(&clients, "import", "sound", "state.key is the key ");
    move_away(&clients, "state.key.old", "state.key");
    assert_nothing_there(&clients);

    /* Root keys of another ledger, whose tokens would be believed. */
    assert_int_equal(testbed_start_broker(clients.testbed), 0);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    move_away(&clients, "root.keys", "root.keys.other");
    lose_ledger(&clients);
    move_away(&clients, "root.keys.other", "root.keys");
    assert_refused(&clients, "import", "sound", "root.keys holds other root keys than");
    assert_int_equal(unlink(clients_file(&clients, "root.keys", path)), 0);

    assert_runs(&clients, "import", "sound", "imported");
    char *keys_now = file_text(&clients, "root.keys");
    assert_string_equal(keys, keys_now);
    free(keys);
    free(keys_now);
    clients_close(&clients);
}

UNIT_MAIN(cmocka_unit_test(ledger__moves_with_jobs_that_run),
          cmocka_unit_test(backup__of_a_running_broker_comes_back_as_one),
          cmocka_unit_test(file__is_never_written_over),
          cmocka_unit_test(import__of_what_is_not_right_leaves_nothing))
