#include "state/sqlite/sealing.h"

#include "state/sqlite/schema.h"
#include "state/sqlite/error.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct seal_place place_of(uint64_t number)
{
    return (struct seal_place){.column = "reservation.token", .row = number};
}

/* -- the key -- */

static int count_tokens(sqlite3 *db, sqlite3_int64 *count)
{
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(db, "SELECT count(*) FROM reservation WHERE token IS NOT NULL", -1,
                                &statement, NULL);
    if (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        *count = sqlite3_column_int64(statement, 0);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    return rc;
}

/* A new key beside secrets that only the old one opens would hide that they are lost. */
static int make_key(const struct sealing *sealing, sqlite3 *db, int version, struct error *err)
{
    sqlite3_int64 count = 0;
    int rc = version < SCHEMA_SEALED ? SQLITE_OK : count_tokens(db, &count);
    if (rc != SQLITE_OK)
        return sqlite_error(err, db, rc, sealing->path);
    if (count > 0)
        return error_set(err, ERROR_NOT_FOUND,
                         "the key file %s is missing, and %lld tokens in %s are sealed with it: "
                         "restore it from its backup, else see \"A lost key\" in "
                         "share/doc/mcastd/state.md",
                         sealing->key_file, (long long)count, sealing->path);
    int code = seal_key_create(sealing->key_file, (uid_t)-1, (gid_t)-1, err);
    return code == ERROR_REFUSED ? 0 : code; /* somebody else has just made it */
}

int sealing_open(struct sealing *sealing, sqlite3 *db, int version, const char *path,
                 const char *key_file, struct error *err)
{
    struct seal_key key;
    sealing->path = path;
    if (!(sealing->key_file = strdup(key_file)))
        return error_set(err, ERROR_NOMEM, "out of memory while opening %s", path);
    int code = seal_key_read(key_file, &key, err);
    if (code == ERROR_NOT_FOUND && (code = make_key(sealing, db, version, err)) == 0)
        code = seal_key_read(key_file, &key, err);
    if (code < 0)
        return code;
    sealing->seal = seal_create(&key, err);
    seal_key_wipe(&key);
    if (!sealing->seal)
        return ERROR_NOMEM;
    int rc = sealing_define(sealing, db);
    return rc == SQLITE_OK ? 0 : sqlite_error(err, db, rc, path);
}

void sealing_release(struct sealing *sealing)
{
    sealing_forget(sealing);
    seal_destroy(sealing->seal);
    free(sealing->key_file);
    sealing->seal = NULL;
    sealing->key_file = NULL;
}

/* -- going in -- */

int sealing_bind(struct sealing *sealing, sqlite3_stmt *statement, int column, uint64_t number,
                 struct secret token)
{
    if (secret_none(token))
        return sqlite3_bind_null(statement, column);
    assert(strlen(secret_expose(token)) <= TOKEN_MAX); /* record_fault saw to it */
    const struct seal_place place = place_of(number);
    int size = seal_wrap(sealing->seal, &place, token, sealing->sealed);
    return size < 0 ? SQLITE_NOMEM
                    : sqlite3_bind_blob(statement, column, sealing->sealed, size, SQLITE_STATIC);
}

static void seal_token(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    struct sealing *sealing = sqlite3_user_data(context);
    const uint64_t number = (uint64_t)sqlite3_value_int64(arguments[0]);
    const char *token = (const char *)sqlite3_value_text(arguments[1]);
    const struct seal_place place = place_of(number);
    assert(count == 2 && sealing);
    if (!token || strlen(token) > TOKEN_MAX) {
        sqlite3_result_error_code(context, token ? SQLITE_CORRUPT : SQLITE_NOMEM);
        return;
    }
    int size = seal_wrap(sealing->seal, &place, secret_of(token), sealing->sealed);
    if (size < 0)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_blob(context, sealing->sealed, size, SQLITE_TRANSIENT);
}

int sealing_define(struct sealing *sealing, sqlite3 *db)
{
    return sqlite3_create_function_v2(db, "seal_token", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, sealing,
                                      seal_token, NULL, NULL, NULL);
}

/* -- coming out -- */

static int refuse(const struct sealing *sealing, int code, uint64_t number, struct error *err)
{
    if (code == ERROR_REFUSED)
        return error_set(
            err, code,
            "the tokens in %s are sealed with another key than that of %s: restore the "
            "key file that belongs to this ledger, else see \"A lost key\" in "
            "share/doc/mcastd/state.md",
            sealing->path, sealing->key_file);
    if (code == ERROR_VERSION)
        return error_set(err, code,
                         "reservation %" PRIu64 " in %s was sealed by a newer mcastd: install that "
                         "version",
                         number, sealing->path);
    return sqlite_damaged(err, sealing->path, "reservation %" PRIu64 ": its token does not open",
                          number);
}

int sealing_take(struct sealing *sealing, sqlite3_stmt *statement, int column, uint64_t number,
                 struct secret *token, struct error *err)
{
    *token = (struct secret){0};
    int type = sqlite3_column_type(statement, column);
    if (type == SQLITE_NULL)
        return 0;
    const unsigned char *sealed = sqlite3_column_blob(statement, column);
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    if (type != SQLITE_BLOB || !sealed || size > sizeof sealing->sealed)
        return refuse(sealing, ERROR_CORRUPT, number, err);
    const struct seal_place place = place_of(number);
    int length = seal_unwrap(sealing->seal, &place, sealed, size, sealing->plain);
    if (length < 0)
        return refuse(sealing, length, number, err);
    *token = secret_of(sealing->plain);
    return 0;
}

void sealing_forget(struct sealing *sealing)
{
    explicit_bzero(sealing->plain, sizeof sealing->plain);
}
