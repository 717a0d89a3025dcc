/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sqlite/schema.h"

#include "base/memory.h"
#include "state/sqlite/error.h"
#include "state/sqlite/sealing.h"
#include "tokens/guardedfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 0 → 1. Short columns come first, so that SQLite finds them without walking over long node lists.
 */
static const char make_tables[] =
    "CREATE TABLE ledger( id INTEGER PRIMARY KEY, last_number INTEGER NOT NULL,"
    " last_seq INTEGER NOT NULL, founded INTEGER NOT NULL);"
    "INSERT INTO ledger VALUES(1, 0, 0, 0);"
    "CREATE TABLE reservation( number INTEGER PRIMARY KEY, uid INTEGER NOT NULL,"
    " node_count INTEGER NOT NULL, cores_per_node INTEGER NOT NULL,"
    " addresses INTEGER NOT NULL, min_nodes INTEGER NOT NULL, vni0 INTEGER NOT NULL,"
    " vni1 INTEGER NOT NULL, vni2 INTEGER NOT NULL, vni3 INTEGER NOT NULL,"
    " vni_count INTEGER NOT NULL, vni_asked INTEGER NOT NULL,"
    " traffic_classes INTEGER NOT NULL, wish INTEGER NOT NULL, state INTEGER NOT NULL,"
    " hwcoll INTEGER NOT NULL, fm_side INTEGER NOT NULL, created_ms INTEGER NOT NULL,"
    " released_ms INTEGER NOT NULL, hold_until_ms INTEGER NOT NULL, cluster TEXT NOT NULL,"
    " job TEXT NOT NULL, reason TEXT, token BLOB, nodes TEXT);"
    "CREATE TABLE event( seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL,"
    " number INTEGER NOT NULL, uid INTEGER NOT NULL, kind INTEGER NOT NULL, cluster TEXT,"
    " job TEXT, detail TEXT);";

/* 1 → 2. */
static const char seal_tokens[] =
    "UPDATE reservation SET token=seal_token(number,token) WHERE token IS NOT NULL;";

/* 2 → 3. Free pages and the log may still hold unsealed tokens: rewrites the file without them, and
 * the log is truncated after it. */
static const char write_anew[] = "VACUUM;";

/* 3 → 4. */
static const char make_nodes[] =
    "CREATE TABLE cleanup( number INTEGER NOT NULL, step TEXT NOT NULL,"
    " below INTEGER NOT NULL, give_up_ms INTEGER NOT NULL, PRIMARY KEY(number, step,"
    " below)) WITHOUT ROWID;"
    "CREATE TABLE node( number INTEGER NOT NULL, node TEXT NOT NULL, state INTEGER NOT NULL,"
    " services TEXT, \"order\" INTEGER NOT NULL, PRIMARY KEY(number, node)) WITHOUT ROWID;"
    "ALTER TABLE reservation ADD COLUMN regranted INTEGER NOT NULL DEFAULT 0;";

/* 4 → 5. The counters are written only when rows are deleted; the rows count, too. Nothing to
 * change, but an older mcastd would take the rows for damaged. */
static const char counters_lag[] = "";

/* 5 → 6. */
static const char make_facts[] =
    "CREATE TABLE facts( id INTEGER PRIMARY KEY, round_number INTEGER NOT NULL,"
    " next_vni INTEGER NOT NULL, suspect INTEGER NOT NULL, boot TEXT NOT NULL,"
    " clock_ms INTEGER NOT NULL, holds_from_ms INTEGER NOT NULL);"
    "ALTER TABLE reservation ADD COLUMN node_number INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE reservation ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;"
    /* Reservations found at the fabric manager have no token and no owner. */
    "UPDATE reservation SET origin=2 WHERE uid=4294967295;";

/* 6 → 7. */
static const char make_proof[] = "ALTER TABLE event ADD COLUMN proof INTEGER NOT NULL DEFAULT 0;";

/* 7 → 8. */
static const char make_sums[] =
    "CREATE TABLE node_sum( number INTEGER NOT NULL, sum INTEGER NOT NULL, state INTEGER NOT NULL,"
    " nodes TEXT NOT NULL, PRIMARY KEY(number, sum)) WITHOUT ROWID;"
    "ALTER TABLE node ADD COLUMN sums INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE reservation ADD COLUMN launched INTEGER NOT NULL DEFAULT 0;";

/* 8 → 9. */
static const char add_interconnect[] =
    "ALTER TABLE reservation ADD COLUMN interconnect INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE reservation ADD COLUMN tasks_per_node INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE reservation ADD COLUMN cpus_per_task INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE reservation ADD COLUMN pkey INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE reservation ADD COLUMN job_key BLOB;";
/* 9 → 10. Of events that are there already it is not known what their reservations had. */
static const char make_holdings[] =
    "ALTER TABLE event ADD COLUMN node_count INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE event ADD COLUMN addresses INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE event ADD COLUMN vni0 INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE event ADD COLUMN vni1 INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE event ADD COLUMN vni2 INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE event ADD COLUMN vni3 INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE event ADD COLUMN vni_count INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE event ADD COLUMN state INTEGER NOT NULL DEFAULT 0;";

/* 10 → 11. */
static const char add_fabric[] =
    "ALTER TABLE reservation ADD COLUMN profile TEXT;"
    "CREATE TABLE node_nics( node TEXT PRIMARY KEY, \"order\" INTEGER NOT NULL,"
    " changed_ms INTEGER NOT NULL, nics TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE traffic( seq INTEGER PRIMARY KEY, number INTEGER NOT NULL,"
    " ended_ms INTEGER NOT NULL, tx_octets INTEGER NOT NULL, rx_octets INTEGER NOT NULL,"
    " tx_packets INTEGER NOT NULL, rx_packets INTEGER NOT NULL, paused INTEGER NOT NULL,"
    " slowest_octets INTEGER NOT NULL, congested_paused INTEGER NOT NULL,"
    " uid INTEGER NOT NULL, node_count INTEGER NOT NULL, told INTEGER NOT NULL,"
    " shared INTEGER NOT NULL, unclear INTEGER NOT NULL, seconds INTEGER NOT NULL,"
    " lacking INTEGER NOT NULL, cluster TEXT NOT NULL, job TEXT NOT NULL, slowest TEXT,"
    " congested TEXT);"
    "CREATE TABLE shared_vni( vni INTEGER PRIMARY KEY, uid INTEGER NOT NULL,"
    " state INTEGER NOT NULL, created_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL,"
    " name TEXT NOT NULL, users TEXT NOT NULL, clusters TEXT NOT NULL);"
    "CREATE TABLE partitions( id INTEGER PRIMARY KEY, others TEXT NOT NULL);"
    "ALTER TABLE facts ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE reservation ADD COLUMN shared_count INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE event ADD COLUMN node TEXT;"
    "ALTER TABLE event ADD COLUMN clusters TEXT;";

/* steps[v] makes version v + 1 of version v; version 0 is an empty file. A released step never
 * changes: a new version is a new step. */
static const struct {
    const char *sql;
    bool alone; /* not in a transaction, with the log emptied after it; may be done twice */
} steps[SCHEMA_VERSION] = {
    {make_tables, false},      {seal_tokens, false},   {write_anew, true},  {make_nodes, false},
    {counters_lag, false},     {make_facts, false},    {make_proof, false}, {make_sums, false},
    {add_interconnect, false}, {make_holdings, false}, {add_fabric, false},
};

static int execute(sqlite3 *db, char *sql)
{
    assert(db);
    int rc = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return rc;
}

static int upgrade_by_one(sqlite3 *db, int version)
{
    assert(version >= 0 && version < SCHEMA_VERSION);
    if (!steps[version].alone)
        return execute(db, sqlite3_mprintf("BEGIN IMMEDIATE;%s"
                                           "PRAGMA application_id=%d;PRAGMA user_version=%d;COMMIT",
                                           steps[version].sql, SCHEMA_APPLICATION_ID, version + 1));
    int rc = sqlite3_exec(db, steps[version].sql, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return rc == SQLITE_OK ? execute(db, sqlite3_mprintf("PRAGMA user_version=%d", version + 1))
                           : rc;
}

/* Callers close the connection after a failure, which rolls an interrupted step back. */
int schema_upgrade(sqlite3 *db, const char *path, int version, struct error *err)
{
    int rc = SQLITE_OK;
    assert(version >= 0);
    while (version < SCHEMA_VERSION && rc == SQLITE_OK)
        rc = upgrade_by_one(db, version++);
    return rc == SQLITE_OK ? 0 : sqlite_error(err, db, rc, path);
}

int schema_check(sqlite3 *db, const char *path, int *version, struct error *err)
{
    assert(db && path && version);
    sqlite3_int64 application_id = 0, user_version = 0;
    int rc = sqlite_query_number(db, "PRAGMA application_id", &application_id);
    if (rc == SQLITE_OK)
        rc = sqlite_query_number(db, "PRAGMA user_version", &user_version);
    *version = (int)user_version; /* SQLite keeps 32 bits */
    if (rc != SQLITE_OK)
        return sqlite_error(err, db, rc, path);
    if (application_id != SCHEMA_APPLICATION_ID || *version < 1)
        return error_set(err, ERROR_CORRUPT,
                         "%s is a database, but not one of mcastd: check the path", path);
    if (*version > SCHEMA_VERSION)
        return error_set(err, ERROR_VERSION,
                         "%s was written by a newer mcastd (schema %d, this one knows %d): install "
                         "that version, or move the file away to start with nothing",
                         path, *version, SCHEMA_VERSION);
    return 0;
}

static int create_tables(const char *path, struct error *err)
{
    assert(path);
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "PRAGMA synchronous=FULL", NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite_sealing_define(NULL, db); /* a new ledger has no token to seal */
    int code = rc == SQLITE_OK ? schema_upgrade(db, path, 0, err) : sqlite_error(err, db, rc, path);
    sqlite3_close(db);
    return code;
}

int schema_create(const char *path, struct error *err)
{
    assert(path && path[0] != '\0');
    char *name = memory_format("%s.new", path);
    unlink(name); /* left by a killed broker; the lock is ours */
    int code, fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        code = error_set(err, ERROR_IO, "cannot make %s: %s", name, strerror(errno));
    } else {
        close(fd);
        code = create_tables(name, err);
        if (code == 0 && (rename(name, path) < 0 || guardedfile_sync_folder(path) < 0))
            code = error_set(err, ERROR_IO, "cannot make %s: %s", path, strerror(errno));
        if (code)
            unlink(name);
    }
    free(name);
    return code;
}
