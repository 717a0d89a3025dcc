/* SPDX-License-Identifier: Apache-2.0 */
/* Bad days while the broker runs (B6): nothing acknowledged is lost, what is durable is shown all
 * the while, every refusal says why, and service goes on by itself when the day is over. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/system/outages/clients.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

enum { JOBS = 24, EARLY = 12, RELEASED = 3 };

/* -- before and after -- */

/* Nothing more happens by itself: what comes back from the fabric manager is saved, too. */
static bool is_settled(void *arg)
{
    struct clients *clients = arg;
    return clients_get(clients, "/v1/status") == 200 &&
           strstr(clients->answer, "\"fm_release\":0") &&
           strstr(clients->answer, "\"fm_under_way\":0") &&
           strstr(clients->answer, "\"unsaved\":0");
}

static void open_with_jobs(struct clients *clients)
{
    clients_open(clients, JOBS);
    for (uint32_t job = 0; job < EARLY; job++)
        assert_int_equal(clients_reserve(clients, job), 201);
    for (uint32_t job = 0; job < RELEASED; job++)
        assert_int_equal(clients_release(clients, job), 202);
    assert_true(await(is_settled, clients, AWAIT_DEADLINE_MS));
    clients_compare(clients);
}

static bool is_ready(void *arg)
{
    return clients_get(arg, "/readyz") == 200;
}

static void assert_answer(const struct clients *clients, const char *words)
{
    assert_words(clients->answer, words);
}

/* The first to notice is told that it may be saved later, the next that nothing can be; all that is
 * durable is shown. */
static void assert_bad_day(struct clients *clients, const char *cause)
{
    assert_int_equal(clients_reserve(clients, EARLY), 503);
    assert_answer(clients, "it could not be saved: ");
    assert_answer(clients, cause);
    assert_answer(clients, "repeat the request");
    assert_int_equal(clients_reserve(clients, EARLY + 1), 503);
    assert_answer(clients, "changes are refused: ");
    assert_int_equal(clients_release(clients, RELEASED), 503);
    assert_answer(clients, cause);
    assert_int_equal(clients_get(clients, "/readyz"), 503);
    assert_int_equal(clients_get(clients, "/healthz"), 200);
    assert_int_equal(clients_get(clients, "/v1/status"), 200);
    assert_answer(clients, cause);
    assert_int_equal(clients_get(clients, "/v1/events?follow=0"), 200);
    assert_int_equal(clients_get(clients, "/v1/clusters/elcap/jobs/f5/env"), 200);
    assert_int_equal(clients_get(clients, "/v1/jobs?state=releasing"), 200);
    clients_compare(clients);
    assert_true(testbed_broker_logged(clients->testbed, "cannot save: "));
    assert_true(testbed_broker_logged(clients->testbed, cause));
}

static void assert_day_is_over(struct clients *clients)
{
    assert_true(await(is_ready, clients, AWAIT_DEADLINE_MS));
    assert_true(testbed_broker_logged(clients->testbed, "saving works again"));
    clients_compare(clients);
    assert_in_range(clients_reserve(clients, EARLY), 200, 201); /* repeated, as it was told to */
    assert_in_range(clients_reserve(clients, EARLY + 1), 200, 201);
    assert_in_range(clients_release(clients, RELEASED), 200, 202);
    clients_compare(clients);
}

static void conclude(struct clients *clients)
{
    clients_assert_secrets_kept(clients);
    testbed_kill_broker(clients->testbed);
    clients_restart_broker(clients);
    clients_conclude(clients);
    assert_int_equal(testbed_stop_broker(clients->testbed), 0);
    clients_assert_secrets_kept(clients);
    clients_close(clients);
}

/* -- a disk that is full: no file of the broker's may become longer than its log is -- */

static pid_t broker_pid(const struct clients *clients)
{
    char name[160];
    long pid = 0;
    FILE *lock = fopen(clients_file(clients, "state.db.lock", name), "re");
    assert_non_null(lock);
    assert_int_equal(fscanf(lock, "%ld", &pid), 1);
    fclose(lock);
    return (pid_t)pid;
}

static void fill_disk(const struct clients *clients)
{
    char name[160];
    struct stat status;
    assert_int_equal(stat(clients_file(clients, "state.db-wal", name), &status), 0);
    struct rlimit limit = {(rlim_t)status.st_size, RLIM_INFINITY};
    assert_int_equal(prlimit(broker_pid(clients), RLIMIT_FSIZE, &limit, NULL), 0);
}

static void empty_disk(const struct clients *clients)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    assert_int_equal(prlimit(broker_pid(clients), RLIMIT_FSIZE, &limit, NULL), 0);
}

static void disk__full_is_survived(void **state)
{
    struct clients clients;
    open_with_jobs(&clients);
    for (int day = 0; day < 2; day++) {
        fill_disk(&clients);
        if (day == 0)
            assert_bad_day(&clients, "File too large): make room on its disk");
        else
            assert_int_equal(clients_reserve(&clients, EARLY + 2), 503);
        empty_disk(&clients);
        assert_true(await(is_ready, &clients, AWAIT_DEADLINE_MS));
        if (day == 0)
            assert_day_is_over(&clients);
    }
    conclude(&clients);
}

/* Killed with the disk full: what was refused is not there, what was acknowledged is. */
static void disk__full_and_killed_loses_nothing(void **state)
{
    struct clients clients;
    open_with_jobs(&clients);
    fill_disk(&clients);
    assert_bad_day(&clients, "File too large): make room on its disk");
    testbed_kill_broker(clients.testbed);
    clients_restart_broker(&clients);
    assert_int_equal(clients_get(&clients, "/v1/clusters/elcap/jobs/f12"), 404);
    assert_in_range(clients_reserve(&clients, EARLY), 200, 201);
    conclude(&clients);
}

/* Told to stop, it does not wait for room that may never come. */
static void disk__full_and_stopped_loses_nothing(void **state)
{
    struct clients clients;
    open_with_jobs(&clients);
    fill_disk(&clients);
    assert_int_equal(clients_reserve(&clients, EARLY), 503);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    assert_true(testbed_broker_logged(clients.testbed, "all of them refused: cannot write"));
    clients_restart_broker(&clients);
    conclude(&clients);
}

/* ENOSPC itself, where the tests may mount a small disk for the ledger. */
static void disk__without_space_is_survived(void **state)
{
    struct clients clients;
    char disk[160], ballast[160], from[160], to[160];
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        skip();
    open_with_jobs(&clients);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    assert_int_equal(mkdir(clients_file(&clients, "disk", disk), 0700), 0);
    if (mount("none", disk, "tmpfs", 0, "size=1m,mode=755") < 0) {
        clients_close(&clients);
        skip();
    }
    /* The ledger moves, as an operator moves one: copied, and a link left in its place. */
    char command[700];
    clients_file(&clients, "state.db", from);
    clients_file(&clients, "disk/state.db", to);
    snprintf(command, sizeof command, "cp -p %s %s && ln -sf %s %s", from, to, to, from);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): names of our own */
    clients_restart_broker(&clients);

    int file =
        open(clients_file(&clients, "disk/ballast", ballast), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    char block[512] = {0};
    while (write(file, block, sizeof block) > 0)
        ;
    assert_int_equal(errno, ENOSPC);
    /* What room is left in the last page of the log is soon used up. */
    for (uint32_t job = EARLY + 2; job < JOBS; job++)
        if (clients_reserve(&clients, job) == 503)
            break;
    assert_answer(&clients, "No space left on device): make room on its disk");
    clients_compare(&clients);
    assert_int_equal(clients_get(&clients, "/readyz"), 503);
    assert_int_equal(ftruncate(file, 0), 0);
    close(file);
    assert_true(await(is_ready, &clients, AWAIT_DEADLINE_MS));
    clients_compare(&clients);
    clients_conclude(&clients);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    assert_int_equal(umount(disk), 0);
    clients_close(&clients);
}

/* -- a ledger that somebody handles -- */

static void ledger__taken_away_is_survived(void **state)
{
    struct clients clients;
    char name[160], away[160];
    open_with_jobs(&clients);
    clients_file(&clients, "state.db", name);
    clients_file(&clients, "state.db.away", away);
    assert_int_equal(rename(name, away), 0);
    assert_bad_day(&clients, "state.db has been taken away");
    assert_int_equal(rename(away, name), 0);
    assert_day_is_over(&clients);
    conclude(&clients);
}

static void ledger__locked_by_another_program_is_survived(void **state)
{
    struct clients clients;
    char name[160];
    sqlite3 *db;
    open_with_jobs(&clients);
    assert_int_equal(sqlite3_open(clients_file(&clients, "state.db", name), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_bad_day(&clients, "another program has it open, end it");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_day_is_over(&clients);
    conclude(&clients);
}

UNIT_MAIN(cmocka_unit_test(disk__full_is_survived),
          cmocka_unit_test(disk__full_and_killed_loses_nothing),
          cmocka_unit_test(disk__full_and_stopped_loses_nothing),
          cmocka_unit_test(ledger__taken_away_is_survived),
          cmocka_unit_test(ledger__locked_by_another_program_is_survived),
          cmocka_unit_test(disk__without_space_is_survived))
