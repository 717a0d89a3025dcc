#include "state/sqlite/rows.h"

#include "state/batch.h"
#include "state/record_fault.h"
#include "state/sqlite/columns.h"
#include "state/sqlite/error.h"

#include <assert.h>
#include <string.h>

/* -- going in -- */

int sqlite_rows_init(struct sqlite_rows *rows, sqlite3 *db, const char *path,
                     struct sealing *sealing, struct error *err)
{
    *rows = (struct sqlite_rows){.db = db, .path = path, .sealing = sealing};
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } table[] = {
        {&rows->begin, "BEGIN IMMEDIATE"},
        {&rows->commit, "COMMIT"},
        {&rows->rollback, "ROLLBACK"},
        {&rows->reservation, "INSERT OR REPLACE INTO reservation(" RESERVATION_COLUMNS
                             ") VALUES(" RESERVATION_MARKS ")"},
        {&rows->gone, "DELETE FROM reservation WHERE number=?"},
        {&rows->event, "INSERT INTO event(" EVENT_COLUMNS ") VALUES(" EVENT_MARKS ")"},
        {&rows->prune, "DELETE FROM event WHERE seq<=?"},
        {&rows->node, "INSERT OR REPLACE INTO node(" NODE_COLUMNS ") VALUES(?,?,?,?,?)"},
        {&rows->nodes_gone, "DELETE FROM node WHERE number=?"},
        {&rows->cleanup, "INSERT OR REPLACE INTO cleanup(" CLEANUP_COLUMNS ") VALUES(?,?,?,?)"},
        {&rows->cleaned, "DELETE FROM cleanup WHERE number=? AND step=? AND below=?"},
        {&rows->cleanups_gone, "DELETE FROM cleanup WHERE number=?"},
        {&rows->facts, "INSERT OR REPLACE INTO facts(id," FACTS_COLUMNS ") VALUES(1,?,?,?,?,?,?)"},
        {&rows->ledger, "UPDATE ledger SET last_number=max(last_number,?),"
                        "last_seq=max(last_seq,?),founded=max(founded,?) WHERE id=1"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int rc = sqlite3_prepare_v3(db, table[i].sql, -1, SQLITE_PREPARE_PERSISTENT,
                                    table[i].statement, NULL);
        if (rc == SQLITE_ERROR) /* the SQL is right, so the tables are not */
            return sqlite_damaged(err, path, "%s", sqlite3_errmsg(db));
        if (rc != SQLITE_OK)
            return sqlite_error(err, db, rc, path);
    }
    return 0;
}

void sqlite_rows_release(struct sqlite_rows *rows)
{
    sqlite3_stmt *statements[] = {
        rows->begin,   rows->commit,  rows->rollback,      rows->reservation, rows->gone,
        rows->event,   rows->prune,   rows->ledger,        rows->node,        rows->nodes_gone,
        rows->cleanup, rows->cleaned, rows->cleanups_gone, rows->facts};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        sqlite3_finalize(statements[i]);
    *rows = (struct sqlite_rows){0};
}

static int run(sqlite3_stmt *statement)
{
    sqlite3_step(statement);
    return sqlite3_reset(statement); /* the code of the step */
}

static int run_number(sqlite3_stmt *statement, uint64_t number)
{
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)number);
    return run(statement);
}

/* The batch outlives the step, so that SQLite need not copy. NULL becomes NULL. */
static int text_bind(sqlite3_stmt *statement, int column, const char *text)
{
    return sqlite3_bind_text(statement, column, text, -1, SQLITE_STATIC);
}

#define BIND_(column, field) sqlite3_bind_int64(statement, at++, (sqlite3_int64)record->field);

static int write_reservation(const struct sqlite_rows *rows,
                             const struct reservation_record *record)
{
    sqlite3_stmt *statement = rows->reservation;
    int at = 1;
    RESERVATION_NUMBERS(BIND_)
    if (text_bind(statement, at, record->cluster) || text_bind(statement, at + 1, record->job) ||
        text_bind(statement, at + 2, record->reason) ||
        sealing_bind(rows->sealing, statement, at + 3, record->number, record->token) ||
        text_bind(statement, at + 4, record->nodes))
        return SQLITE_NOMEM;
    return run(statement);
}

static int write_event(sqlite3_stmt *statement, const struct event_record *record)
{
    int at = 1;
    EVENT_NUMBERS(BIND_)
    if (text_bind(statement, at, record->cluster) || text_bind(statement, at + 1, record->job) ||
        text_bind(statement, at + 2, record->detail))
        return SQLITE_NOMEM;
    return run(statement);
}

static int write_node(sqlite3_stmt *statement, const struct node_record *record)
{
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)record->number);
    sqlite3_bind_int(statement, 3, record->state);
    sqlite3_bind_int64(statement, 5, (sqlite3_int64)record->order);
    if (text_bind(statement, 2, record->node) || text_bind(statement, 4, record->services))
        return SQLITE_NOMEM;
    return run(statement);
}

/* Both statements begin with the key. */
static int write_cleanup(sqlite3_stmt *statement, const struct cleanup_record *record)
{
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)record->number);
    sqlite3_bind_int(statement, 3, record->below);
    if (sqlite3_bind_parameter_count(statement) == 4)
        sqlite3_bind_int64(statement, 4, record->give_up_ms);
    return text_bind(statement, 2, record->step) ? SQLITE_NOMEM : run(statement);
}

static int write_facts(sqlite3_stmt *statement, const struct facts_record *facts)
{
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)facts->round_number);
    sqlite3_bind_int64(statement, 2, facts->next_vni);
    sqlite3_bind_int(statement, 3, facts->suspect);
    if (text_bind(statement, 4, facts->boot))
        return SQLITE_NOMEM;
    sqlite3_bind_int64(statement, 5, facts->clock_ms);
    sqlite3_bind_int64(statement, 6, facts->holds_from_ms);
    return run(statement);
}

static int write_gone(struct sqlite_rows *rows, uint64_t number)
{
    int rc = run_number(rows->gone, number);
    if (rc == SQLITE_OK)
        rc = run_number(rows->nodes_gone, number);
    return rc == SQLITE_OK ? run_number(rows->cleanups_gone, number) : rc;
}

static int write_record(struct sqlite_rows *rows, const struct record *record)
{
    switch (record->kind) {
    case RECORD_RESERVATION:
        return write_reservation(rows, &record->u.reservation);
    case RECORD_GONE:
        return write_gone(rows, record->u.gone);
    case RECORD_EVENT:
        return write_event(rows->event, &record->u.event);
    case RECORD_PRUNE:
        return run_number(rows->prune, record->u.prune);
    case RECORD_NODE:
        return write_node(rows->node, &record->u.node);
    case RECORD_CLEANUP:
        return write_cleanup(rows->cleanup, &record->u.cleanup);
    case RECORD_CLEANED:
        return write_cleanup(rows->cleaned, &record->u.cleanup);
    case RECORD_FACTS:
        return write_facts(rows->facts, &record->u.facts);
    case RECORD_COUNTERS:
    case RECORD_FOUNDED:
        break; /* both go with the ledger's row, at most once a batch */
    }
    return SQLITE_OK;
}

/* Only when rows go that may have been the newest: as long as they stay they count themselves, and
 * each page that a commit need not write makes it a quarter shorter (G3). */
static int write_ledger(sqlite3_stmt *statement, const struct batch *batch)
{
    if (!batch_forgets(batch) && !batch_founded(batch))
        return SQLITE_OK;
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)batch_last_number(batch));
    sqlite3_bind_int64(statement, 2, (sqlite3_int64)batch_last_seq(batch));
    sqlite3_bind_int(statement, 3, batch_founded(batch));
    return run(statement);
}

int sqlite_rows_write(struct sqlite_rows *rows, const struct batch *batch, struct error *err)
{
    int rc = run(rows->begin);
    for (const struct batch_entry *entry = batch_first(batch); entry && rc == SQLITE_OK;
         entry = entry->next)
        rc = write_record(rows, &entry->record);
    if (rc == SQLITE_OK)
        rc = write_ledger(rows->ledger, batch);
    if (rc == SQLITE_OK)
        rc = run(rows->commit);
    if (rc == SQLITE_OK)
        return 0;

    assert((rc & 0xff) != SQLITE_CONSTRAINT); /* an event's seq was given out twice */
    int code = sqlite_error(err, rows->db, rc, rows->path);
    if (!sqlite3_get_autocommit(rows->db)) /* SQLite may have rolled back by itself */
        run(rows->rollback);
    return code == ERROR_FULL ? ERROR_FULL : ERROR_IO;
}

/* -- coming out -- */

struct reader {
    struct sqlite_rows *rows;
    int (*each)(void *, const struct record *);
    void *arg;
    struct error *err;
};

static const char *text_at(sqlite3_stmt *statement, int column)
{
    return (const char *)sqlite3_column_text(statement, column);
}

/* Leaves with the column's name when the row has something there that the field cannot hold. The
 * value is fetched once and asked twice, which the multi-thread mode that we open with permits,
 * and which makes a load a sixth faster (G7). */
#define TAKE_(column, field)                                                                       \
    {                                                                                              \
        sqlite3_value *cell = sqlite3_column_value(statement, at++);                               \
        sqlite3_int64 value = sqlite3_value_int64(cell);                                           \
        record->field = (__typeof__(record->field))value;                                          \
        if ((sqlite3_int64)record->field != value || sqlite3_value_type(cell) != SQLITE_INTEGER)   \
            return #column " is not a number that fits";                                           \
    }

#define COUNT_(column, field) +1
enum { TOKEN_AT = 0 RESERVATION_NUMBERS(COUNT_) + 3 }; /* after cluster, job and reason */
#undef COUNT_

static const char *read_reservation(sqlite3_stmt *statement, struct record *out)
{
    out->kind = RECORD_RESERVATION;
    struct reservation_record *record = &out->u.reservation;
    int at = 0;
    RESERVATION_NUMBERS(TAKE_)
    record->cluster = text_at(statement, at);
    record->job = text_at(statement, at + 1);
    record->reason = text_at(statement, at + 2);
    record->token = (struct secret){0}; /* visit_reservation opens it */
    record->nodes = text_at(statement, at + 4);
    return record_fault(out);
}

static const char *read_node(sqlite3_stmt *statement, struct record *out)
{
    sqlite3_int64 state = sqlite3_column_int64(statement, 2);
    *out = (struct record){.kind = RECORD_NODE};
    out->u.node.number = (uint64_t)sqlite3_column_int64(statement, 0);
    out->u.node.node = text_at(statement, 1);
    out->u.node.state = state < 0 || state > UINT8_MAX ? 0 : (uint8_t)state;
    out->u.node.services = text_at(statement, 3);
    out->u.node.order = (uint64_t)sqlite3_column_int64(statement, 4);
    return record_fault(out);
}

static const char *read_cleanup(sqlite3_stmt *statement, struct record *out)
{
    sqlite3_int64 below = sqlite3_column_int64(statement, 2);
    *out = (struct record){.kind = RECORD_CLEANUP};
    out->u.cleanup.number = (uint64_t)sqlite3_column_int64(statement, 0);
    out->u.cleanup.step = text_at(statement, 1);
    out->u.cleanup.below = below < 0 || below > UINT8_MAX ? UINT8_MAX : (uint8_t)below;
    out->u.cleanup.give_up_ms = sqlite3_column_int64(statement, 3);
    return record_fault(out);
}

static const char *read_event(sqlite3_stmt *statement, struct record *out)
{
    out->kind = RECORD_EVENT;
    struct event_record *record = &out->u.event;
    int at = 0;
    EVENT_NUMBERS(TAKE_)
    record->cluster = text_at(statement, at);
    record->job = text_at(statement, at + 1);
    record->detail = text_at(statement, at + 2);
    return record_fault(out);
}

/* -1, which no number here can be, for what does not fit. */
static sqlite3_int64 number_at(sqlite3_stmt *statement, int column, sqlite3_int64 max)
{
    sqlite3_int64 value = sqlite3_column_int64(statement, column);
    return sqlite3_column_type(statement, column) != SQLITE_INTEGER || value > max ? -1 : value;
}

static const char *read_facts(sqlite3_stmt *statement, struct record *out)
{
    *out = (struct record){.kind = RECORD_FACTS};
    out->u.facts.round_number = (uint64_t)number_at(statement, 0, INT64_MAX);
    out->u.facts.next_vni = (uint32_t)number_at(statement, 1, UINT16_MAX + 1);
    out->u.facts.suspect = (uint8_t)number_at(statement, 2, 1);
    out->u.facts.boot = text_at(statement, 3);
    out->u.facts.clock_ms = number_at(statement, 4, INT64_MAX);
    out->u.facts.holds_from_ms = number_at(statement, 5, INT64_MAX);
    return record_fault(out);
}

static int damaged(const struct reader *reader, const char *table, sqlite3_int64 row,
                   const char *fault)
{
    return sqlite_damaged(reader->err, reader->rows->path, "%s %lld: %s", table, (long long)row,
                          fault);
}

/* What the rows of all tables together cannot be, whoever reads them knows. */
static int give(const struct reader *reader, const struct record *record)
{
    int code = reader->each(reader->arg, record);
    return code == ERROR_CORRUPT && reader->err != NULL && reader->err->code == code
               ? sqlite_damaged_as(reader->err, reader->rows->path)
               : code;
}

static int visit_reservation(struct reader *reader, sqlite3_stmt *statement)
{
    struct record record;
    const char *fault = read_reservation(statement, &record);
    if (fault)
        return damaged(reader, "reservation", sqlite3_column_int64(statement, 0), fault);
    int code = sealing_take(reader->rows->sealing, statement, TOKEN_AT, record.u.reservation.number,
                            &record.u.reservation.token, reader->err);
    return code < 0 ? code : give(reader, &record);
}

static int visit_node(struct reader *reader, sqlite3_stmt *statement)
{
    struct record record;
    const char *fault = read_node(statement, &record);
    if (fault)
        return damaged(reader, "node report of reservation", sqlite3_column_int64(statement, 0),
                       fault);
    return give(reader, &record);
}

static int visit_facts(struct reader *reader, sqlite3_stmt *statement)
{
    struct record record;
    const char *fault = read_facts(statement, &record);
    if (fault)
        return damaged(reader, "facts", 1, fault);
    return give(reader, &record);
}

static int visit_cleanup(struct reader *reader, sqlite3_stmt *statement)
{
    struct record record;
    const char *fault = read_cleanup(statement, &record);
    if (fault)
        return damaged(reader, "cleanup of reservation", sqlite3_column_int64(statement, 0), fault);
    return give(reader, &record);
}

static int visit_event(struct reader *reader, sqlite3_stmt *statement)
{
    struct record record;
    const char *fault = read_event(statement, &record);
    if (fault)
        return damaged(reader, "event", sqlite3_column_int64(statement, 0), fault);
    return give(reader, &record);
}

/* In the order of read_ledger. */
#define LEDGER_COLUMNS                                                                             \
    "last_number,last_seq,founded,(SELECT max(number) FROM reservation),"                          \
    "(SELECT max(seq) FROM event)"

static const char *read_ledger(sqlite3_stmt *statement, struct record *counters)
{
    const sqlite3_int64 deleted_number = sqlite3_column_int64(statement, 0);
    const sqlite3_int64 deleted_seq = sqlite3_column_int64(statement, 1);
    const sqlite3_int64 number = sqlite3_column_int64(statement, 3); /* 0: no row */
    const sqlite3_int64 seq = sqlite3_column_int64(statement, 4);
    if (sqlite3_column_type(statement, 0) != SQLITE_INTEGER ||
        sqlite3_column_type(statement, 1) != SQLITE_INTEGER || deleted_number < 0 ||
        deleted_seq < 0)
        return "a counter is out of range";
    *counters = (struct record){
        .kind = RECORD_COUNTERS,
        .u.counters = {(uint64_t)(number > deleted_number ? number : deleted_number),
                       (uint64_t)(seq > deleted_seq ? seq : deleted_seq)}};
    return record_fault(counters);
}

static int visit_ledger(struct reader *reader, sqlite3_stmt *statement)
{
    struct record counters, founded = {.kind = RECORD_FOUNDED};
    const char *fault = read_ledger(statement, &counters);
    if (fault)
        return damaged(reader, "ledger", 1, fault);
    int code = give(reader, &counters);
    if (code == 0 && sqlite3_column_int(statement, 2) != 0)
        code = give(reader, &founded);
    return code;
}

/* Returns the number of rows, or what visit said when that was negative. */
static int64_t read_table(struct reader *reader, const char *sql,
                          int (*visit)(struct reader *, sqlite3_stmt *))
{
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(reader->rows->db, sql, -1, &statement, NULL);
    int64_t count = 0;
    int code = 0;
    while (rc == SQLITE_OK && code == 0 && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        code = visit(reader, statement);
        rc = SQLITE_OK;
        count++;
    }
    if (code == 0 && rc != SQLITE_DONE)
        code = sqlite_error(reader->err, reader->rows->db, rc, reader->rows->path);
    sqlite3_finalize(statement);
    return code ? code : count;
}

int sqlite_rows_load(struct sqlite_rows *rows, int (*each)(void *, const struct record *),
                     void *arg, struct error *err)
{
    struct reader reader = {.rows = rows, .each = each, .arg = arg, .err = err};
    int64_t count =
        read_table(&reader, "SELECT " LEDGER_COLUMNS " FROM ledger WHERE id=1", visit_ledger);
    if (count == 0)
        return damaged(&reader, "ledger", 1, "missing");
    if (count > 0)
        count = read_table(&reader, "SELECT " FACTS_COLUMNS " FROM facts WHERE id=1", visit_facts);
    if (count >= 0)
        count =
            read_table(&reader, "SELECT " RESERVATION_COLUMNS " FROM reservation ORDER BY number",
                       visit_reservation);
    if (count >= 0)
        count = read_table(&reader, "SELECT " NODE_COLUMNS " FROM node ORDER BY number,node",
                           visit_node);
    if (count >= 0)
        count = read_table(&reader,
                           "SELECT " CLEANUP_COLUMNS " FROM cleanup ORDER BY number,step,below",
                           visit_cleanup);
    if (count >= 0)
        count =
            read_table(&reader, "SELECT " EVENT_COLUMNS " FROM event ORDER BY seq", visit_event);
    sealing_forget(rows->sealing);
    return count < 0 ? (int)count : 0;
}
