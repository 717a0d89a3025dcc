/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/kills/ledger.h"

#include "core/reservation/record.h"
#include "tests/system/rig/folder.h"
#include "tokens/seal.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 128, VNIS = 65536, SEALED_MAX = 1024 };

struct ledger {
    struct scene *scene;
    sqlite3 *db;
    struct seal *seal;
    size_t active;
    uint64_t last_number, last_seq;
    uint64_t owners[VNIS]; /* of a VNI: a number */
};

#define LEDGER_FAULT(ledger, ...) verdict_fault(&(ledger)->scene->verdict, "on disk: " __VA_ARGS__)

/* The columns, in the order of look_at_reservation's. */
static const char reservations[] =
    "SELECT number,cluster,job,state,uid,node_count,hwcoll,fm_side,token,vni_count,vni0,vni1,vni2,"
    "vni3 FROM reservation ORDER BY number";

/* What was given out shows in the rows, and when these are deleted, in the counters. */
static const char counters[] =
    "SELECT max(last_number,(SELECT coalesce(max(number),0) FROM reservation)),"
    "max(last_seq,(SELECT coalesce(max(seq),0) FROM event)) FROM ledger";

enum column { NUMBER, CLUSTER, JOB, STATE, UID, NODES, HWCOLL, FM_SIDE, TOKEN, VNI_COUNT, VNI0 };

static const char *text_at(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);

    return text ? text : "";
}

static const struct job *job_of(const struct ledger *ledger, sqlite3_stmt *row)
{
    for (size_t i = 0; i < CROWD_JOBS; i++) {
        const struct job *job = crowd_job(ledger->scene->crowd, i);

        if (job->life == JOB_LIVE && strcmp(job->cluster, text_at(row, CLUSTER)) == 0 &&
            strcmp(job->id, text_at(row, JOB)) == 0)
            return job;
    }
    return NULL;
}

static void look_at_vnis(struct ledger *ledger, sqlite3_stmt *row)
{
    const uint64_t number = (uint64_t)sqlite3_column_int64(row, NUMBER);

    for (int i = 0; i < sqlite3_column_int(row, VNI_COUNT); i++) {
        const int vni = sqlite3_column_int(row, VNI0 + i);
        uint64_t *owner = &ledger->owners[vni & (VNIS - 1)];

        if (*owner)
            LEDGER_FAULT(ledger, "I1: VNI %d is in two reservations, %" PRIu64 " and %" PRIu64, vni,
                         *owner, number);
        *owner = number;
    }
}

static bool has_vnis(sqlite3_stmt *row, const json_t *told)
{
    const json_t *vni;
    size_t i;

    if (json_array_size(told) != (size_t)sqlite3_column_int(row, VNI_COUNT))
        return false;
    json_array_foreach(told, i, vni)
    {
        if (json_integer_value(vni) != sqlite3_column_int64(row, VNI0 + (int)i))
            return false;
    }
    return true;
}

/* What was told is what the key opens: or there is none, and none was told. */
static bool has_token(const struct ledger *ledger, sqlite3_stmt *row, const char *told)
{
    const struct seal_place place = {"reservation.token",
                                     (uint64_t)sqlite3_column_int64(row, NUMBER)};
    const unsigned char *sealed = sqlite3_column_blob(row, TOKEN);
    const size_t size = (size_t)sqlite3_column_bytes(row, TOKEN);
    char token[SEALED_MAX];

    if (!told || !sealed)
        return !told && !sealed;
    return size < sizeof token && seal_unwrap(ledger->seal, &place, sealed, size, token) >= 0 &&
           strcmp(token, told) == 0;
}

static void compare_with_notes(struct ledger *ledger, sqlite3_stmt *row, const struct job *job)
{
    const json_t *told = job->told;
    const int hwcoll = sqlite3_column_int(row, HWCOLL);
    const char *differs = NULL;

    if (sqlite3_column_int64(row, NUMBER) != (sqlite3_int64)job_number(told))
        differs = "number";
    else if (sqlite3_column_int64(row, UID) != json_integer_value(json_object_get(told, "uid")))
        differs = "uid";
    else if (sqlite3_column_int64(row, NODES) !=
             json_integer_value(json_object_get(told, "node_count")))
        differs = "node_count";
    else if (!has_vnis(row, json_object_get(told, "vnis")))
        differs = "vnis";
    else if (strcmp(hwcoll_state_word(hwcoll), job_hwcoll(told)) != 0)
        differs = "hwcoll";
    else if (hwcoll == HWCOLL_RESERVED && sqlite3_column_int(row, FM_SIDE) == FM_SIDE_NOTHING)
        differs = "fm_side";
    else if (!has_token(ledger, row, job_token(told)))
        differs = "token";
    if (differs)
        LEDGER_FAULT(ledger, "I2: %s of %s-%s is not what was acknowledged", differs, job->cluster,
                     job->id);
}

static void look_at_reservation(struct ledger *ledger, sqlite3_stmt *row)
{
    const sqlite3_int64 number = sqlite3_column_int64(row, NUMBER);

    look_at_vnis(ledger, row);
    if (sqlite3_column_int(row, STATE) != JOB_ACTIVE) {
        if (sqlite3_column_type(row, TOKEN) != SQLITE_NULL)
            LEDGER_FAULT(ledger, "B8: %lld is released, and its token is kept", (long long)number);
        return;
    }
    const struct job *job = job_of(ledger, row);
    ledger->active++;
    if (job)
        compare_with_notes(ledger, row, job);
    else
        LEDGER_FAULT(ledger, "I2: %s-%s is active, and nobody was told so or has it still",
                     text_at(row, CLUSTER), text_at(row, JOB));
}

static void look_at_counters(struct ledger *ledger, sqlite3_stmt *row)
{
    ledger->last_number = (uint64_t)sqlite3_column_int64(row, 0);
    ledger->last_seq = (uint64_t)sqlite3_column_int64(row, 1);
    if (ledger->last_number < ledger->scene->history.highest)
        LEDGER_FAULT(ledger, "S3: the highest number is %" PRIu64 ", and %" PRIu64 " was told",
                     ledger->last_number, ledger->scene->history.highest);
    if (ledger->last_seq != ledger->scene->history.count)
        LEDGER_FAULT(ledger, "F24: the last event is %" PRIu64 ", and %zu were heard",
                     ledger->last_seq, ledger->scene->history.count);
}

static void look_at_events(struct ledger *ledger, sqlite3_stmt *row)
{
    const struct history *history = &ledger->scene->history;
    uint64_t released = 0;

    for (uint64_t number = 1; number <= history->highest; number++)
        released += history->stories[number].released;
    if ((uint64_t)sqlite3_column_int64(row, 0) != history->count ||
        (history->count > 0 && (uint64_t)sqlite3_column_int64(row, 1) != history->count))
        LEDGER_FAULT(ledger, "F24: there are %lld events up to %lld, and %zu were heard",
                     (long long)sqlite3_column_int64(row, 0),
                     (long long)sqlite3_column_int64(row, 1), history->count);
    if ((uint64_t)sqlite3_column_int64(row, 2) != released)
        LEDGER_FAULT(ledger, "F24: there are %lld releases, and %" PRIu64 " were heard",
                     (long long)sqlite3_column_int64(row, 2), released);
    if ((uint64_t)sqlite3_column_int64(row, 3) != history->lost)
        LEDGER_FAULT(ledger, "I4: there are %lld losses, and %" PRIu64 " were heard",
                     (long long)sqlite3_column_int64(row, 3), history->lost);
}

static void each_row(struct ledger *ledger, const char *sql,
                     void (*look)(struct ledger *, sqlite3_stmt *))
{
    sqlite3_stmt *row;
    int rc = sqlite3_prepare_v2(ledger->db, sql, -1, &row, NULL);

    while (rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        look(ledger, row);
        rc = SQLITE_OK;
    }
    if (rc != SQLITE_DONE)
        LEDGER_FAULT(ledger, "it cannot be read: %s", sqlite3_errmsg(ledger->db));
    sqlite3_finalize(row);
}

static int unlock(struct ledger *ledger, struct error *err)
{
    struct seal_key key;
    char path[PATH_SIZE];

    if (seal_key_read(
            folder_path(path, sizeof path, testbed_folder(ledger->scene->testbed), "state.key"),
            &key, err) < 0)
        return -1;
    ledger->seal = seal_create(&key, err);
    seal_key_wipe(&key);
    return ledger->seal ? 0 : -1;
}

void ledger_compare(struct scene *scene)
{
    struct ledger *ledger = calloc(1, sizeof *ledger);
    struct error err = {0};
    char path[PATH_SIZE], sql[256];
    size_t live = 0;

    if (!ledger)
        return;
    ledger->scene = scene;
    snprintf(sql, sizeof sql, "SELECT count(*),max(seq),total(kind=%d),total(kind=%d) FROM event",
             EVENT_RELEASED, EVENT_LOST);
    if (unlock(ledger, &err) < 0) {
        LEDGER_FAULT(ledger, "%s", err.text);
    } else if (sqlite3_open_v2(
                   folder_path(path, sizeof path, testbed_folder(scene->testbed), "state.db"),
                   &ledger->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
               sqlite3_busy_timeout(ledger->db, 2000) != SQLITE_OK ||
               sqlite3_exec(ledger->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK) {
        LEDGER_FAULT(ledger, "it cannot be opened: %s", sqlite3_errmsg(ledger->db));
    } else {
        each_row(ledger, counters, look_at_counters);
        each_row(ledger, reservations, look_at_reservation);
        each_row(ledger, sql, look_at_events);
        for (size_t i = 0; i < CROWD_JOBS; i++)
            live += crowd_job(scene->crowd, i)->life == JOB_LIVE;
        if (ledger->active != live)
            LEDGER_FAULT(ledger, "I2: %zu jobs are active, %zu were acknowledged", ledger->active,
                         live);
    }
    sqlite3_close(ledger->db);
    seal_destroy(ledger->seal);
    free(ledger);
}
