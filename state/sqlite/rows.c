/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sqlite/rows.h"

#include "state/batch.h"
#include "state/columns.h"
#include "state/sqlite/error.h"
#include "state/sqlite/sealing.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/* -- statements -- */

enum { BEGIN, COMMIT, RAISE_COUNTERS, FIRST_OF_RECORDS };

/* Those of one kind are carried out in this order. Parameters are the kind's columns; an INSERT has
 * all of them between and after its two parts. */
static const struct {
    enum record_kind kind;
    const char *sql, *values;
} statements[SQLITE_ROWS_STATEMENTS] = {
    [BEGIN] = {0, "BEGIN IMMEDIATE", NULL},
    [COMMIT] = {0, "COMMIT", NULL},
    [RAISE_COUNTERS] = {0,
                        "UPDATE ledger SET last_number=max(last_number,?),"
                        "last_seq=max(last_seq,?),founded=max(founded,?) WHERE id=1",
                        NULL},
    {RECORD_RESERVATION, "INSERT OR REPLACE INTO reservation(", ")VALUES("},
    {RECORD_GONE, "DELETE FROM reservation WHERE number=?", NULL},
    {RECORD_GONE, "DELETE FROM node WHERE number=?", NULL},
    {RECORD_GONE, "DELETE FROM node_sum WHERE number=?", NULL},
    {RECORD_GONE, "DELETE FROM cleanup WHERE number=?", NULL},
    {RECORD_EVENT, "INSERT INTO event(", ")VALUES("},
    {RECORD_PRUNE, "DELETE FROM event WHERE seq<=?", NULL},
    {RECORD_NODE, "INSERT OR REPLACE INTO node(", ")VALUES("},
    {RECORD_SUM, "INSERT OR REPLACE INTO node_sum(", ")VALUES("},
    {RECORD_CLEANUP, "INSERT OR REPLACE INTO cleanup(", ")VALUES("},
    {RECORD_CLEANED, "DELETE FROM cleanup WHERE number=? AND step=? AND below=?", NULL},
    {RECORD_NODE_NICS, "INSERT OR REPLACE INTO node_nics(", ")VALUES("},
    {RECORD_NODE_NICS_GONE, "DELETE FROM node_nics WHERE node=?", NULL},
    {RECORD_TRAFFIC, "INSERT INTO traffic(", ")VALUES("},
    {RECORD_TRAFFIC_GONE, "DELETE FROM traffic WHERE seq=?", NULL},
    {RECORD_FACTS, "INSERT OR REPLACE INTO facts(id,", ")VALUES(1,"},
    {RECORD_SHARED_VNI, "INSERT OR REPLACE INTO shared_vni(", ")VALUES("},
    {RECORD_SHARED_GONE, "DELETE FROM shared_vni WHERE vni=?", NULL},
    {RECORD_PARTITIONS, "INSERT OR REPLACE INTO partitions(id,", ")VALUES(1,"},
};

static void append_names(sqlite3_str *sql, const struct columns *columns)
{
    assert(columns->count == 0 || columns->all);
    for (size_t i = 0; i < columns->count; i++)
        sqlite3_str_appendf(sql, "%s\"%w\"", i > 0 ? "," : "", columns->all[i].name);
}

/* Takes sql. */
static int prepare(struct sqlite_rows *rows, sqlite3_str *sql, sqlite3_stmt **statement,
                   struct error *err)
{
    char *text = sqlite3_str_finish(sql);
    assert(!*statement);
    int rc =
        text ? sqlite3_prepare_v3(rows->db, text, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL)
             : SQLITE_NOMEM;
    sqlite3_free(text);
    if (rc == SQLITE_ERROR) /* the SQL is right, so the tables are not */
        return sqlite_damaged(err, rows->path, "%s", sqlite3_errmsg(rows->db));
    return rc == SQLITE_OK ? 0 : sqlite_error(err, rows->db, rc, rows->path);
}

int sqlite_rows_init(struct sqlite_rows *rows, sqlite3 *db, const char *path,
                     struct sealing *sealing, struct error *err)
{
    assert(db && path && sealing);
    *rows = (struct sqlite_rows){.db = db, .path = path, .sealing = sealing};
    int code = 0;
    for (size_t i = 0; i < SQLITE_ROWS_STATEMENTS && code == 0; i++) {
        const struct columns *columns = &record_columns[statements[i].kind];
        sqlite3_str *sql = sqlite3_str_new(db);
        sqlite3_str_appendall(sql, statements[i].sql);
        if (statements[i].values) {
            append_names(sql, columns);
            sqlite3_str_appendall(sql, statements[i].values);
            for (size_t c = 0; c < columns->count; c++)
                sqlite3_str_appendall(sql, c > 0 ? ",?" : "?");
            sqlite3_str_appendall(sql, ")");
        }
        code = prepare(rows, sql, &rows->statements[i], err);
    }
    return code;
}

void sqlite_rows_release(struct sqlite_rows *rows)
{
    assert(rows);
    for (size_t i = 0; i < SQLITE_ROWS_STATEMENTS; i++)
        sqlite3_finalize(rows->statements[i]);
    *rows = (struct sqlite_rows){0};
}

/* -- writing -- */

static int step_and_reset(sqlite3_stmt *statement)
{
    assert(statement);
    sqlite3_step(statement);
    return sqlite3_reset(statement); /* the code of the step */
}

/* The batch outlives the step, so that SQLite need not copy. A text that is NULL becomes NULL. */
static int bind_column(const struct sqlite_rows *rows, sqlite3_stmt *statement, int at,
                       const struct column *column, const struct record *record)
{
    assert(at >= 1 && at <= sqlite3_bind_parameter_count(statement));
    switch (column->type) {
    case COLUMN_NUMBER:
        return sqlite3_bind_int64(statement, at, column_number(column, record));
    case COLUMN_TEXT:
        return sqlite3_bind_text(statement, at, column_text(column, record), -1, SQLITE_STATIC);
    case COLUMN_TOKEN:
        break;
    }
    return sqlite_sealing_bind(rows->sealing, statement, at, column->sealed,
                               record->u.reservation.number,
                               secret_of(column_text(column, record)));
}

static int write_row(const struct sqlite_rows *rows, sqlite3_stmt *statement,
                     const struct record *record)
{
    const struct columns *columns = &record_columns[record->kind];
    assert((size_t)sqlite3_bind_parameter_count(statement) == columns->count);
    int rc = SQLITE_OK;
    for (size_t i = 0; i < columns->count && rc == SQLITE_OK; i++)
        rc = bind_column(rows, statement, (int)i + 1, &columns->all[i], record);
    return rc == SQLITE_OK ? step_and_reset(statement) : rc;
}

/* Of a kind without statements, the counters know; they are written at most once a batch. */
static int write_record(const struct sqlite_rows *rows, const struct record *record)
{
    int rc = SQLITE_OK;
    assert(record->kind != RECORD_COUNTERS && record->kind != RECORD_ROOT_KEYS);
    for (size_t i = FIRST_OF_RECORDS; i < SQLITE_ROWS_STATEMENTS && rc == SQLITE_OK; i++)
        if (statements[i].kind == record->kind)
            rc = write_row(rows, rows->statements[i], record);
    return rc;
}

/* Only when rows are deleted that may have been the newest: existing rows count themselves, and
 * each page that a commit need not write makes it a quarter shorter (G3). */
static int write_counters(sqlite3_stmt *statement, const struct batch *batch)
{
    assert(batch->count > 0);
    if (!batch->deletes && !batch->founded)
        return SQLITE_OK;
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)batch->last_number);
    sqlite3_bind_int64(statement, 2, (sqlite3_int64)batch->last_seq);
    sqlite3_bind_int(statement, 3, batch->founded);
    return step_and_reset(statement);
}

int sqlite_rows_write(struct sqlite_rows *rows, const struct batch *batch, struct error *err)
{
    assert(batch->count > 0);
    int rc = step_and_reset(rows->statements[BEGIN]);
    for (const struct batch_entry *entry = batch->first; entry && rc == SQLITE_OK;
         entry = entry->next)
        rc = write_record(rows, &entry->record);
    if (rc == SQLITE_OK)
        rc = write_counters(rows->statements[RAISE_COUNTERS], batch);
    if (rc == SQLITE_OK)
        rc = step_and_reset(rows->statements[COMMIT]);
    if (rc == SQLITE_OK)
        return 0;

    assert((rc & 0xff) != SQLITE_CONSTRAINT); /* an event's seq was given out twice */
    int code = sqlite_error(err, rows->db, rc, rows->path);
    if (!sqlite3_get_autocommit(rows->db)) /* SQLite may have rolled back by itself */
        sqlite3_exec(rows->db, "ROLLBACK", NULL, NULL, NULL);
    return code == ERROR_FULL ? ERROR_FULL : ERROR_IO;
}

/* -- reading -- */

/* Rows count themselves, and what is deleted is counted in the ledger's row. */
#define HIGHEST(counter, column, table)                                                            \
    "CASE WHEN " counter "<0 THEN " counter " ELSE max(" counter ",(SELECT ifnull(max(" column     \
    "),0) FROM " table ")) END AS " counter

static const struct table {
    enum record_kind kind;
    const char *name, *source; /* the latter behind the names of the columns */
    bool single;               /* its row is number 1; else the first column is the number */
} tables[] = {
    {RECORD_COUNTERS, "ledger",
     " FROM (SELECT " HIGHEST("last_number", "number", "reservation") "," HIGHEST(
         "last_seq", "seq", "event") " FROM ledger WHERE id=1)",
     true},
    {RECORD_FOUNDED, "ledger", "1 FROM ledger WHERE id=1 AND founded<>0", true},
    {RECORD_FACTS, "facts", " FROM facts WHERE id=1", true},
    {RECORD_PARTITIONS, "partitions", " FROM partitions WHERE id=1", true},
    {RECORD_SHARED_VNI, "shared VNI", " FROM shared_vni ORDER BY vni", false},
    {RECORD_RESERVATION, "reservation", " FROM reservation ORDER BY number", false},
    {RECORD_NODE, "node report of reservation", " FROM node ORDER BY number,node", false},
    {RECORD_SUM, "sum of nodes of reservation", " FROM node_sum ORDER BY number,sum", false},
    {RECORD_CLEANUP, "cleanup of reservation", " FROM cleanup ORDER BY number,step,below", false},
    {RECORD_EVENT, "event", " FROM event ORDER BY seq", false},
    {RECORD_NODE_NICS, "NICs of a node", " FROM node_nics ORDER BY node", true},
    {RECORD_TRAFFIC, "traffic", " FROM traffic ORDER BY seq", false},
};

struct reader {
    struct sqlite_rows *rows;
    store_each_fn *each;
    void *arg;
    struct error *err;
};

/* Fetched once, which SQLITE_OPEN_NOMUTEX permits and which makes a load a sixth faster (G7). */
static bool read_number(sqlite3_stmt *statement, int at, const struct column *column,
                        struct record *record)
{
    sqlite3_value *cell = sqlite3_column_value(statement, at);
    const sqlite3_int64 value = sqlite3_value_int64(cell);
    assert(column->type == COLUMN_NUMBER);
    if (value < column->min || value > column->max || sqlite3_value_type(cell) != SQLITE_INTEGER)
        return false;
    column_set_number(column, record, value);
    return true;
}

/* Without the secrets, which are sealed. Each value is looked at once, for the speed of a load
 * (G7). Returns the fault; NULL: none. */
static const char *read_record(sqlite3_stmt *statement, struct record *record)
{
    const struct columns *columns = &record_columns[record->kind];
    assert(columns->count <= (size_t)sqlite3_column_count(statement));
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->all[i];
        bool possible = true;
        if (column->type == COLUMN_NUMBER) {
            possible = read_number(statement, (int)i, column, record);
        } else if (column->type == COLUMN_TEXT) {
            column_set_text(column, record, (const char *)sqlite3_column_text(statement, (int)i));
            possible = column_possible(column, record);
        }
        if (!possible)
            return column->fault;
    }
    return record_misfit(record);
}

static int open_secrets(const struct reader *reader, sqlite3_stmt *statement, struct record *record)
{
    const struct columns *columns = &record_columns[RECORD_RESERVATION];
    int code = 0;
    assert(record->kind == RECORD_RESERVATION);
    for (size_t at = 0; at < columns->count && code == 0; at++) {
        const struct column *column = &columns->all[at];
        struct secret secret;
        if (column->type != COLUMN_TOKEN)
            continue;
        code = sqlite_sealing_read(reader->rows->sealing, statement, (int)at, column->sealed,
                                   record->u.reservation.number, &secret, reader->err);
        column_set_text(column, record, secret_expose(secret));
        if (code == 0 && !column_possible(column, record))
            code = sqlite_damaged(reader->err, reader->rows->path, "reservation %llu: %s",
                                  (unsigned long long)record->u.reservation.number, column->fault);
    }
    return code;
}

static int report_damage(const struct reader *reader, const struct table *table, sqlite3_int64 row,
                         const char *fault)
{
    assert(fault);
    return sqlite_damaged(reader->err, reader->rows->path, "%s %lld: %s", table->name,
                          (long long)row, fault);
}

static int load_row(const struct reader *reader, const struct table *table, sqlite3_stmt *statement)
{
    assert(sqlite3_data_count(statement) > 0);
    struct record record = {.kind = table->kind};
    int code = 0;
    const char *fault = read_record(statement, &record);
    if (fault)
        return report_damage(reader, table, table->single ? 1 : sqlite3_column_int64(statement, 0),
                             fault);
    if (record.kind == RECORD_RESERVATION)
        code = open_secrets(reader, statement, &record);
    if (code < 0)
        return code;
    code = reader->each(reader->arg, &record);
    /* The receiver knows what the rows of all tables together cannot be. */
    return code == ERROR_CORRUPT && reader->err && reader->err->code == code
               ? sqlite_damaged_as(reader->err, reader->rows->path)
               : code;
}

static int load_table(const struct reader *reader, const struct table *table)
{
    struct sqlite_rows *rows = reader->rows;
    sqlite3_stmt *statement = NULL;
    sqlite3_str *sql = sqlite3_str_new(rows->db);
    assert(table->source);
    sqlite3_str_appendall(sql, "SELECT ");
    append_names(sql, &record_columns[table->kind]);
    sqlite3_str_appendall(sql, table->source);
    int rc = SQLITE_DONE, count = 0, code = prepare(rows, sql, &statement, reader->err);
    for (; code == 0 && (rc = sqlite3_step(statement)) == SQLITE_ROW; count++)
        code = load_row(reader, table, statement);
    if (code == 0 && rc != SQLITE_DONE)
        code = sqlite_error(reader->err, rows->db, rc, rows->path);
    else if (code == 0 && count == 0 && table->kind == RECORD_COUNTERS)
        code = report_damage(reader, table, 1, "missing");
    sqlite3_finalize(statement);
    return code;
}

int sqlite_rows_load(struct sqlite_rows *rows, store_each_fn *each, void *arg, struct error *err)
{
    const struct reader reader = {.rows = rows, .each = each, .arg = arg, .err = err};
    int code = 0;
    assert(each);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && code == 0; i++)
        code = load_table(&reader, &tables[i]);
    sealing_forget(rows->sealing);
    return code;
}
