/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger of the previous schema versions under the new broker, with clients that do not wait for
 * the upgrade, and kills in the middle of it (B6). The steps themselves: tests/unit/state_upgrade.
 */

#include "tests/system/outages/clients.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/prng.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/wire.h"
#include "tests/unit/unit.h"

#include <sqlite3.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { JOBS = 120, NEW_JOBS = 40, KILLS = 12, MOMENT_NS = 20000000, PLAIN = 1 };

/* ---- a ledger as an older broker would have left it ---- */

static sqlite3 *open_ledger(const struct clients *clients)
{
    char path[160];
    sqlite3 *db;

    assert_int_equal(sqlite3_open(clients_file(clients, "state.db", path), &db), SQLITE_OK);
    return db;
}

static void execute(sqlite3 *db, const char *sql)
{
    char *words = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &words) != SQLITE_OK)
        fail_msg("%.100s: %s", sql, words);
}

static int number_of(const struct clients *clients, const char *sql)
{
    sqlite3 *db = open_ledger(clients);
    sqlite3_stmt *statement;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int number = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return number;
}

/* Version 1 had the same tables, and tokens as they are (docs/state.md, "Versions"). */
static void bring_down(const struct clients *clients)
{
    sqlite3 *db = open_ledger(clients);
    sqlite3_stmt *update;

    execute(db, "BEGIN");
    assert_int_equal(sqlite3_prepare_v2(db, "UPDATE reservation SET token = ? WHERE number = ?", -1,
                                        &update, NULL),
                     SQLITE_OK);
    for (size_t job = 0; job < JOBS; job++) {
        const struct note *note = &clients->notes->jobs[job];

        if (note->life != NOTES_LIVE || !note->token[0])
            continue;
        sqlite3_bind_blob(update, 1, note->token, (int)strlen(note->token), SQLITE_STATIC);
        sqlite3_bind_int64(update, 2, (sqlite3_int64)note->number);
        assert_int_equal(sqlite3_step(update), SQLITE_DONE);
        sqlite3_reset(update);
    }
    sqlite3_finalize(update);
    execute(db, "DROP TABLE node; DROP TABLE cleanup"); /* 3 → 4 */
    execute(db, "ALTER TABLE reservation DROP COLUMN regranted");
    execute(db, "DROP TABLE facts"); /* 5 → 6 */
    execute(db, "ALTER TABLE reservation DROP COLUMN node_number");
    execute(db, "ALTER TABLE reservation DROP COLUMN origin");
    execute(db, "ALTER TABLE event DROP COLUMN proof");
    execute(db, "DROP TABLE node_sum"); /* 7 → 8 */
    execute(db, "ALTER TABLE reservation DROP COLUMN launched");
    execute(db, "ALTER TABLE reservation DROP COLUMN interconnect");
    execute(db, "ALTER TABLE reservation DROP COLUMN tasks_per_node");
    execute(db, "ALTER TABLE reservation DROP COLUMN cpus_per_task");
    execute(db, "ALTER TABLE reservation DROP COLUMN pkey");
    execute(db, "ALTER TABLE reservation DROP COLUMN job_key");
    execute(db, "ALTER TABLE event DROP COLUMN node_count"); /* 9 → 10 */
    execute(db, "ALTER TABLE event DROP COLUMN addresses");
    execute(db, "ALTER TABLE event DROP COLUMN vni0");
    execute(db, "ALTER TABLE event DROP COLUMN vni1");
    execute(db, "ALTER TABLE event DROP COLUMN vni2");
    execute(db, "ALTER TABLE event DROP COLUMN vni3");
    execute(db, "ALTER TABLE event DROP COLUMN vni_count");
    execute(db, "ALTER TABLE event DROP COLUMN state");
    execute(db, "ALTER TABLE event DROP COLUMN node"); /* 10 → 11 */
    execute(db, "ALTER TABLE event DROP COLUMN clusters");
    execute(db, "ALTER TABLE reservation DROP COLUMN profile;"
                "DROP TABLE node_nics; DROP TABLE traffic"); /* 10 → 11 */
    execute(db, "DROP TABLE shared_vni; DROP TABLE partitions");
    execute(db, "ALTER TABLE reservation DROP COLUMN shared_count");
    execute(db, "PRAGMA user_version=1");
    execute(db, "COMMIT");
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void open_old(struct clients *clients)
{
    clients_open(clients, JOBS + NEW_JOBS);
    for (uint32_t job = 0; job < JOBS; job++)
        assert_int_equal(clients_reserve(clients, job), 201);
    for (uint32_t job = 0; job < JOBS; job += 10)
        assert_int_equal(clients_release(clients, job), 202);
    assert_int_equal(testbed_stop_broker(clients->testbed), 0);
    bring_down(clients);
    assert_int_equal(number_of(clients, "PRAGMA user_version"), 1);
    assert_in_range(number_of(clients, "SELECT count(*) FROM reservation WHERE token NOT NULL"),
                    PLAIN, JOBS);
}

static void assert_new(struct clients *clients)
{
    assert_int_equal(testbed_stop_broker(clients->testbed), 0);
    assert_in_range(number_of(clients, "PRAGMA user_version"), 2, 1000);
    clients_assert_secrets_kept(clients);
}

/* ---- killed while it upgrades ---- */

static void upgrade__killed_again_and_again_loses_nothing(void **state)
{
    struct clients clients;
    struct prng prng;

    open_old(&clients);
    prng_init(&prng, 1);
    for (int i = 0; i < KILLS; i++) {
        /* At any moment of the start, not after a condition. */
        const struct timespec moment = {.tv_nsec = (long)prng_below(&prng, MOMENT_NS)};

        assert_int_equal(testbed_launch_broker(clients.testbed), 0);
        nanosleep(&moment, NULL);
        testbed_kill_broker(clients.testbed);
    }
    clients_restart_broker(&clients);
    assert_new(&clients);
    clients_restart_broker(&clients);
    clients_conclude(&clients);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    clients_close(&clients);
}

/* ---- clients that do not wait ---- */

struct rush {
    struct clients *clients;
    struct wire *wire;
    unsigned answered, lost;
};

static void on_reply(void *arg, uint64_t tag, const struct wire_reply *reply)
{
    struct rush *rush = arg;
    const uint32_t job = (uint32_t)tag;
    json_t *answer = json_loadb(reply->body, reply->length, 0, NULL);

    rush->answered++;
    rush->lost += reply->status == 0;
    if (job < JOBS)
        notes_compare(rush->clients->notes, job, reply->status, answer);
    else if (reply->status == 200 || reply->status == 201)
        notes_reserved(rush->clients->notes, job, answer, true);
    else
        notes_fault(rush->clients->notes, "job %u: %d: %.200s", job, reply->status, reply->body);
    json_decref(answer);
}

static void ask(struct rush *rush, uint32_t job)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/f%u", (unsigned)job);
    assert_int_equal(wire_send(rush->wire, job, job < JOBS ? "GET" : "PUT", path,
                               job < JOBS ? NULL : "{\"uid\":5588,\"node_count\":128}"),
                     0);
}

/* A socket that has its name is not yet one that is listened at. */
static bool is_listened_at(void *arg)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", testbed_socket(arg));
    const bool is = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    assert_int_equal(close(fd), 0);
    return is;
}

/* What is asked as soon as somebody listens is answered when the ledger has been brought up: live
 * jobs as they were, new ones with numbers and VNIs of their own. */
static void upgrade__serves_who_does_not_wait(void **state)
{
    struct clients clients;
    struct rush rush = {.clients = &clients};
    uint32_t expected = 0;

    open_old(&clients);
    clients.notes->floor = clients.notes->highest;
    (void)unlink(testbed_socket(clients.testbed));
    const struct wire_options options = {.socket = testbed_socket(clients.testbed),
                                         .connections = JOBS + NEW_JOBS,
                                         .depth = 1,
                                         .done = on_reply,
                                         .arg = &rush};
    assert_non_null(rush.wire = wire_create(&options));
    assert_int_equal(testbed_launch_broker(clients.testbed), 0);
    assert_true(await(is_listened_at, clients.testbed, AWAIT_DEADLINE_MS));
    for (uint32_t job = 0; job < JOBS + NEW_JOBS; job++) {
        if (job < JOBS && clients.notes->jobs[job].life != NOTES_LIVE)
            continue;
        if (job >= JOBS)
            clients.notes->jobs[job].life = NOTES_ASKED;
        ask(&rush, job);
        expected++;
    }
    while (rush.answered < expected && wire_turn(rush.wire, AWAIT_DEADLINE_MS) > 0)
        ;
    wire_destroy(rush.wire);
    assert_int_equal(rush.answered, expected);
    assert_int_equal(rush.lost, 0);
    assert_int_equal(testbed_await_broker(clients.testbed), 0);
    assert_int_equal(testbed_await_link(clients.testbed), 0);
    clients_compare(&clients);
    assert_new(&clients);
    clients_restart_broker(&clients);
    clients_conclude(&clients);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    clients_close(&clients);
}

/* ---- one that a real older broker has written ---- */

static char *text_of(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re"), *copy = open_memstream(&text, &size);

    assert_non_null(file);
    assert_non_null(copy);
    for (int c; (c = fgetc(file)) != EOF;)
        (void)fputc(c, copy);
    fclose(file);
    assert_int_equal(fclose(copy), 0);
    return text;
}

static unsigned times(const char *text, const char *words)
{
    unsigned count = 0;

    for (; (text = strstr(text, words)); text += strlen(words))
        count++;
    return count;
}

static char *events_of(struct testbed *testbed)
{
    struct plainhttp_reply reply;

    assert_int_equal(
        plainhttp_call(testbed_http(testbed), "GET", "/v1/events?follow=0", NULL, &reply), 200);
    char *text = strdup(reply.text);
    plainhttp_reply_release(&reply);
    assert_non_null(text);
    return text;
}

static bool two_are_lost(void *arg)
{
    char *events = events_of(arg);
    const unsigned lost = times(events, "\"event\":\"lost\"");

    free(events);
    return lost == 2;
}

/* Its events go on where they ended, its numbers and VNIs stay taken, and since this fabric manager
 * has never heard of its two reservations, their jobs are told so, once (F22). */
static void ledger_1__is_served(void **state)
{
    struct clients clients;
    char path[160];
    char *sql = text_of(LEDGER_1);

    clients_open(&clients, 1); /* f0; the old ledger has f1 to f4 */
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    assert_int_equal(unlink(clients_file(&clients, "state.db", path)), 0);
    sqlite3 *db = open_ledger(&clients);
    execute(db, sql);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    free(sql);
    clients.notes->floor = 4; /* the last number of that ledger */
    assert_int_equal(testbed_start_broker(clients.testbed), 0);
    assert_true(await(two_are_lost, clients.testbed, AWAIT_DEADLINE_MS));
    assert_int_equal(clients_get(&clients, "/v1/clusters/elcap/jobs/f1"), 200);
    assert_non_null(strstr(clients.answer, "\"number\":1,"));
    assert_non_null(strstr(clients.answer, "\"vnis\":[1024]"));
    assert_int_equal(clients_get(&clients, "/v1/clusters/elcap/jobs/f4"), 200);
    assert_non_null(strstr(clients.answer, "\"vnis\":[1027]"));
    assert_in_range(clients_reserve(&clients, 0), 201, 201);
    assert_int_equal(clients.notes->jobs[0].number, 5);
    assert_int_equal(clients.notes->jobs[0].vnis[0], 1028);
    testbed_kill_broker(clients.testbed);
    clients_restart_broker(&clients);
    assert_true(two_are_lost(clients.testbed));
    char *events = events_of(clients.testbed);
    for (unsigned seq = 1; seq <= 8; seq++) {
        char line[32];
        (void)snprintf(line, sizeof line, "id: %u\n", seq);
        assert_int_equal(times(events, line), 1);
    }
    free(events);
    clients_conclude(&clients);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    assert_in_range(number_of(&clients, "PRAGMA user_version"), 2, 1000);
    clients_close(&clients);
}

UNIT_MAIN(cmocka_unit_test(upgrade__killed_again_and_again_loses_nothing),
          cmocka_unit_test(upgrade__serves_who_does_not_wait),
          cmocka_unit_test(ledger_1__is_served))
