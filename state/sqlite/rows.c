/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sqlite/rows.h"

#include "state/batch.h"
#include "state/record_fault.h"
#include "state/sqlite/error.h"

#include <assert.h>
#include <string.h>

/* X(column, field): the numbers of a reservation and of an event, in the order of the statements;
 * strings follow. Writing and reading use the same list. */

#define RESERVATION_NUMBERS(X)                                                                     \
    X(number, number)                                                                              \
    X(uid, uid)                                                                                    \
    X(node_count, node_count)                                                                      \
    X(cores_per_node, cores_per_node)                                                              \
    X(addresses, addresses)                                                                        \
    X(min_nodes, min_nodes)                                                                        \
    X(vni0, vnis[0])                                                                               \
    X(vni1, vnis[1])                                                                               \
    X(vni2, vnis[2])                                                                               \
    X(vni3, vnis[3])                                                                               \
    X(vni_count, vni_count)                                                                        \
    X(vni_asked, vni_asked)                                                                        \
    X(traffic_classes, traffic_classes)                                                            \
    X(wish, wish)                                                                                  \
    X(state, state)                                                                                \
    X(hwcoll, hwcoll)                                                                              \
    X(fm_side, fm_side)                                                                            \
    X(created_ms, created_ms)                                                                      \
    X(released_ms, released_ms)                                                                    \
    X(hold_until_ms, hold_until_ms)                                                                \
    X(regranted, regranted)                                                                        \
    X(node_number, node_number)                                                                    \
    X(origin, origin)

#define EVENT_NUMBERS(X)                                                                           \
    X(seq, seq)                                                                                    \
    X(time_ms, time_ms)                                                                            \
    X(number, number)                                                                              \
    X(uid, uid)                                                                                    \
    X(kind, kind)                                                                                  \
    X(proof, proof)

#define CLEANUP_COLUMNS "number,step,below,give_up_ms"
#define NODE_COLUMNS "number,node,state,services,\"order\""

#define FACTS_COLUMNS "round_number,next_vni,suspect,boot,clock_ms,holds_from_ms"

#define COLUMN_NAME_(column, field) #column ","
#define COLUMN_MARK_(column, field) "?,"

#define RESERVATION_COLUMNS RESERVATION_NUMBERS(COLUMN_NAME_) "cluster,job,reason,token,nodes"
#define RESERVATION_MARKS RESERVATION_NUMBERS(COLUMN_MARK_) "?,?,?,?,?"
#define EVENT_COLUMNS EVENT_NUMBERS(COLUMN_NAME_) "cluster,job,detail"
#define EVENT_MARKS EVENT_NUMBERS(COLUMN_MARK_) "?,?,?"

/* -- writing -- */

enum statement {
    BEGIN,
    COMMIT,
    ROLLBACK,
    PUT_RESERVATION,
    DELETE_RESERVATION,
    DELETE_NODES,
    DELETE_CLEANUPS,
    ADD_EVENT,
    PRUNE_EVENTS,
    PUT_NODE,
    PUT_CLEANUP,
    DELETE_CLEANUP,
    PUT_FACTS,
    RAISE_COUNTERS,
};
_Static_assert((int)RAISE_COUNTERS + 1 == (int)SQLITE_ROWS_STATEMENTS, "one each");

static const char *const sql[SQLITE_ROWS_STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [PUT_RESERVATION] =
        "INSERT OR REPLACE INTO reservation(" RESERVATION_COLUMNS ") VALUES(" RESERVATION_MARKS ")",
    [DELETE_RESERVATION] = "DELETE FROM reservation WHERE number=?",
    [DELETE_NODES] = "DELETE FROM node WHERE number=?",
    [DELETE_CLEANUPS] = "DELETE FROM cleanup WHERE number=?",
    [ADD_EVENT] = "INSERT INTO event(" EVENT_COLUMNS ") VALUES(" EVENT_MARKS ")",
    [PRUNE_EVENTS] = "DELETE FROM event WHERE seq<=?",
    [PUT_NODE] = "INSERT OR REPLACE INTO node(" NODE_COLUMNS ") VALUES(?,?,?,?,?)",
    [PUT_CLEANUP] = "INSERT OR REPLACE INTO cleanup(" CLEANUP_COLUMNS ") VALUES(?,?,?,?)",
    [DELETE_CLEANUP] = "DELETE FROM cleanup WHERE number=? AND step=? AND below=?",
    [PUT_FACTS] = "INSERT OR REPLACE INTO facts(id," FACTS_COLUMNS ") VALUES(1,?,?,?,?,?,?)",
    [RAISE_COUNTERS] = "UPDATE ledger SET last_number=max(last_number,?),"
                       "last_seq=max(last_seq,?),founded=max(founded,?) WHERE id=1",
};

int sqlite_rows_init(struct sqlite_rows *rows, sqlite3 *db, const char *path,
                     struct sealing *sealing, struct error *err)
{
    assert(db && path && sealing);
    *rows = (struct sqlite_rows){.db = db, .path = path, .sealing = sealing};
    for (size_t i = 0; i < SQLITE_ROWS_STATEMENTS; i++) {
        int rc = sqlite3_prepare_v3(db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &rows->statements[i],
                                    NULL);
        if (rc == SQLITE_ERROR) /* the SQL is right, so the tables are not */
            return sqlite_damaged(err, path, "%s", sqlite3_errmsg(db));
        if (rc != SQLITE_OK)
            return sqlite_error(err, db, rc, path);
    }
    return 0;
}

void sqlite_rows_release(struct sqlite_rows *rows)
{
    assert(rows);
    for (size_t i = 0; i < SQLITE_ROWS_STATEMENTS; i++)
        sqlite3_finalize(rows->statements[i]);
    *rows = (struct sqlite_rows){0};
}

static int step_and_reset(sqlite3_stmt *statement)
{
    assert(statement);
    sqlite3_step(statement);
    return sqlite3_reset(statement); /* the code of the step */
}

static int delete_by_number(sqlite3_stmt *statement, uint64_t number)
{
    assert(sqlite3_bind_parameter_count(statement) == 1);
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)number);
    return step_and_reset(statement);
}

/* The batch outlives the step, so that SQLite need not copy. NULL becomes NULL. */
static int bind_text(sqlite3_stmt *statement, int column, const char *text)
{
    assert(column >= 1 && column <= sqlite3_bind_parameter_count(statement));
    return sqlite3_bind_text(statement, column, text, -1, SQLITE_STATIC);
}

#define BIND_(column, field) sqlite3_bind_int64(statement, at++, (sqlite3_int64)record->field);

static int write_reservation(const struct sqlite_rows *rows,
                             const struct reservation_record *record)
{
    sqlite3_stmt *statement = rows->statements[PUT_RESERVATION];
    int at = 1;
    RESERVATION_NUMBERS(BIND_)
    assert(at + 4 == sqlite3_bind_parameter_count(statement));
    if (bind_text(statement, at, record->cluster) || bind_text(statement, at + 1, record->job) ||
        bind_text(statement, at + 2, record->reason) ||
        sealing_bind(rows->sealing, statement, at + 3, record->number, record->token) ||
        bind_text(statement, at + 4, record->nodes))
        return SQLITE_NOMEM;
    return step_and_reset(statement);
}

static int write_event(sqlite3_stmt *statement, const struct event_record *record)
{
    int at = 1;
    EVENT_NUMBERS(BIND_)
    assert(at + 2 == sqlite3_bind_parameter_count(statement));
    if (bind_text(statement, at, record->cluster) || bind_text(statement, at + 1, record->job) ||
        bind_text(statement, at + 2, record->detail))
        return SQLITE_NOMEM;
    return step_and_reset(statement);
}

static int write_node(sqlite3_stmt *statement, const struct node_record *record)
{
    assert(record->number > 0 && record->node);
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)record->number);
    sqlite3_bind_int(statement, 3, record->state);
    sqlite3_bind_int64(statement, 5, (sqlite3_int64)record->order);
    if (bind_text(statement, 2, record->node) || bind_text(statement, 4, record->services))
        return SQLITE_NOMEM;
    return step_and_reset(statement);
}

/* To put or to delete: both statements begin with the key. */
static int write_cleanup(sqlite3_stmt *statement, const struct cleanup_record *record)
{
    assert(record->number > 0 && record->step);
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)record->number);
    sqlite3_bind_int(statement, 3, record->below);
    if (sqlite3_bind_parameter_count(statement) == 4)
        sqlite3_bind_int64(statement, 4, record->give_up_ms);
    return bind_text(statement, 2, record->step) ? SQLITE_NOMEM : step_and_reset(statement);
}

static int write_facts(sqlite3_stmt *statement, const struct facts_record *facts)
{
    assert(facts->boot);
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)facts->round_number);
    sqlite3_bind_int64(statement, 2, facts->next_vni);
    sqlite3_bind_int(statement, 3, facts->suspect);
    if (bind_text(statement, 4, facts->boot))
        return SQLITE_NOMEM;
    sqlite3_bind_int64(statement, 5, facts->clock_ms);
    sqlite3_bind_int64(statement, 6, facts->holds_from_ms);
    return step_and_reset(statement);
}

static int delete_reservation(struct sqlite_rows *rows, uint64_t number)
{
    int rc = SQLITE_OK;
    assert(number > 0);
    for (int i = DELETE_RESERVATION; i <= DELETE_CLEANUPS && rc == SQLITE_OK; i++)
        rc = delete_by_number(rows->statements[i], number);
    return rc;
}

static int write_record(struct sqlite_rows *rows, const struct record *record)
{
    sqlite3_stmt **statements = rows->statements;
    assert(record->kind != RECORD_COUNTERS);
    switch (record->kind) {
    case RECORD_RESERVATION:
        return write_reservation(rows, &record->u.reservation);
    case RECORD_GONE:
        return delete_reservation(rows, record->u.gone);
    case RECORD_EVENT:
        return write_event(statements[ADD_EVENT], &record->u.event);
    case RECORD_PRUNE:
        return delete_by_number(statements[PRUNE_EVENTS], record->u.prune);
    case RECORD_NODE:
        return write_node(statements[PUT_NODE], &record->u.node);
    case RECORD_CLEANUP:
        return write_cleanup(statements[PUT_CLEANUP], &record->u.cleanup);
    case RECORD_CLEANED:
        return write_cleanup(statements[DELETE_CLEANUP], &record->u.cleanup);
    case RECORD_FACTS:
        return write_facts(statements[PUT_FACTS], &record->u.facts);
    case RECORD_COUNTERS:
    case RECORD_FOUNDED:
        break; /* write_counters does it, at most once a batch */
    }
    return SQLITE_OK;
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
        step_and_reset(rows->statements[ROLLBACK]);
    return code == ERROR_FULL ? ERROR_FULL : ERROR_IO;
}

/* -- reading -- */

struct reader {
    struct sqlite_rows *rows;
    store_each_fn *each;
    void *arg;
    struct error *err;
};

static const char *text_at(sqlite3_stmt *statement, int column)
{
    assert(column >= 0 && column < sqlite3_column_count(statement));
    return (const char *)sqlite3_column_text(statement, column);
}

/* Returns a fault that names the column when its value does not fit the field. The value is fetched
 * once, which SQLITE_OPEN_NOMUTEX permits and which makes a load a sixth faster (G7). */
#define READ_(column, field)                                                                       \
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
    assert(sqlite3_column_count(statement) == TOKEN_AT + 2);
    out->kind = RECORD_RESERVATION;
    struct reservation_record *record = &out->u.reservation;
    int at = 0;
    RESERVATION_NUMBERS(READ_)
    record->cluster = text_at(statement, at);
    record->job = text_at(statement, at + 1);
    record->reason = text_at(statement, at + 2);
    record->token = (struct secret){0}; /* read_table opens it */
    record->nodes = text_at(statement, at + 4);
    return record_fault(out);
}

static const char *read_node(sqlite3_stmt *statement, struct record *out)
{
    assert(sqlite3_column_count(statement) == 5);
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
    assert(sqlite3_column_count(statement) == 4);
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
    assert(sqlite3_column_count(statement) > 3);
    out->kind = RECORD_EVENT;
    struct event_record *record = &out->u.event;
    int at = 0;
    EVENT_NUMBERS(READ_)
    record->cluster = text_at(statement, at);
    record->job = text_at(statement, at + 1);
    record->detail = text_at(statement, at + 2);
    return record_fault(out);
}

/* -1, which no number here can be, for what does not fit. */
static sqlite3_int64 number_at(sqlite3_stmt *statement, int column, sqlite3_int64 max)
{
    assert(column < sqlite3_column_count(statement) && max > 0);
    sqlite3_int64 value = sqlite3_column_int64(statement, column);
    return sqlite3_column_type(statement, column) != SQLITE_INTEGER || value > max ? -1 : value;
}

static const char *read_facts(sqlite3_stmt *statement, struct record *out)
{
    assert(sqlite3_column_count(statement) == 6);
    *out = (struct record){.kind = RECORD_FACTS};
    out->u.facts.round_number = (uint64_t)number_at(statement, 0, INT64_MAX);
    out->u.facts.next_vni = (uint32_t)number_at(statement, 1, UINT16_MAX + 1);
    out->u.facts.suspect = (uint8_t)number_at(statement, 2, 1);
    out->u.facts.boot = text_at(statement, 3);
    out->u.facts.clock_ms = number_at(statement, 4, INT64_MAX);
    out->u.facts.holds_from_ms = number_at(statement, 5, INT64_MAX);
    return record_fault(out);
}

/* In the order of read_counters. */
#define LEDGER_COLUMNS                                                                             \
    "last_number,last_seq,(SELECT max(number) FROM reservation),"                                  \
    "(SELECT max(seq) FROM event)"

static const char *read_counters(sqlite3_stmt *statement, struct record *counters)
{
    assert(sqlite3_column_count(statement) == 4);
    const sqlite3_int64 deleted_number = sqlite3_column_int64(statement, 0);
    const sqlite3_int64 deleted_seq = sqlite3_column_int64(statement, 1);
    const sqlite3_int64 number = sqlite3_column_int64(statement, 2); /* 0: no row */
    const sqlite3_int64 seq = sqlite3_column_int64(statement, 3);
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

static const char *read_founded(sqlite3_stmt *statement, struct record *founded)
{
    assert(sqlite3_column_count(statement) == 1);
    *founded = (struct record){.kind = RECORD_FOUNDED};
    return NULL;
}

struct table {
    const char *name, *sql;
    const char *(*read)(sqlite3_stmt *, struct record *); /* the fault; NULL: none */
    bool single; /* its row is number 1; else the first column is the number */
};

static int damaged(const struct reader *reader, const char *table, sqlite3_int64 row,
                   const char *fault)
{
    assert(fault);
    return sqlite_damaged(reader->err, reader->rows->path, "%s %lld: %s", table, (long long)row,
                          fault);
}

static int load_row(const struct reader *reader, const struct table *table, sqlite3_stmt *statement)
{
    assert(sqlite3_data_count(statement) > 0);
    struct record record;
    int code = 0;
    const char *fault = table->read(statement, &record);
    if (fault)
        return damaged(reader, table->name, table->single ? 1 : sqlite3_column_int64(statement, 0),
                       fault);
    if (record.kind == RECORD_RESERVATION)
        code = sealing_open_column(reader->rows->sealing, statement, TOKEN_AT,
                                   record.u.reservation.number, &record.u.reservation.token,
                                   reader->err);
    if (code < 0)
        return code;
    code = reader->each(reader->arg, &record);
    /* The receiver knows what the rows of all tables together cannot be. */
    return code == ERROR_CORRUPT && reader->err != NULL && reader->err->code == code
               ? sqlite_damaged_as(reader->err, reader->rows->path)
               : code;
}

static int load_table(const struct reader *reader, const struct table *table)
{
    assert(table->sql && table->read);
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(reader->rows->db, table->sql, -1, &statement, NULL);
    int code = 0, count = 0;
    while (rc == SQLITE_OK && code == 0 && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        code = load_row(reader, table, statement);
        rc = SQLITE_OK;
        count = 1;
    }
    if (code == 0 && rc != SQLITE_DONE)
        code = sqlite_error(reader->err, reader->rows->db, rc, reader->rows->path);
    else if (code == 0 && count == 0 && table->read == read_counters)
        code = damaged(reader, table->name, 1, "missing");
    sqlite3_finalize(statement);
    return code;
}

int sqlite_rows_load(struct sqlite_rows *rows, store_each_fn *each, void *arg, struct error *err)
{
    static const struct table tables[] = {
        {"ledger", "SELECT " LEDGER_COLUMNS " FROM ledger WHERE id=1", read_counters, true},
        {"ledger", "SELECT 1 FROM ledger WHERE id=1 AND founded<>0", read_founded, true},
        {"facts", "SELECT " FACTS_COLUMNS " FROM facts WHERE id=1", read_facts, true},
        {"reservation", "SELECT " RESERVATION_COLUMNS " FROM reservation ORDER BY number",
         read_reservation, false},
        {"node report of reservation", "SELECT " NODE_COLUMNS " FROM node ORDER BY number,node",
         read_node, false},
        {"cleanup of reservation",
         "SELECT " CLEANUP_COLUMNS " FROM cleanup ORDER BY number,step,below", read_cleanup, false},
        {"event", "SELECT " EVENT_COLUMNS " FROM event ORDER BY seq", read_event, false},
    };
    const struct reader reader = {.rows = rows, .each = each, .arg = arg, .err = err};
    int code = 0;
    assert(each);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && code == 0; i++)
        code = load_table(&reader, &tables[i]);
    sealing_forget(rows->sealing);
    return code;
}
