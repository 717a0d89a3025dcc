/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sqlite/sealing.h"

#include "state/sqlite/error.h"
#include "state/sqlite/schema.h"
#include "state/sqlite/statefile.h"
#include "state/store.h"
#include "tokens/keybytes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* -- the key -- */

static const char count_tokens[] = "SELECT count(*) FROM reservation WHERE token IS NOT NULL";
static const char count_secrets[] =
    "SELECT count(*) FROM reservation WHERE coalesce(token,job_key) IS NOT NULL";

/* Not while there are secrets that only the old key opens: that would hide their loss. */
static int make_key(sqlite3 *db, int version, const char *path, const char *key_file,
                    struct error *err)
{
    assert(key_file);
    sqlite3_int64 count = 0;
    const char *query = version < SCHEMA_KEYS ? count_tokens : count_secrets;
    int rc = version < SCHEMA_SEALED ? SQLITE_OK : sqlite_query_number(db, query, &count);
    if (rc != SQLITE_OK)
        return sqlite_error(err, db, rc, path);
    if (count > 0)
        return error_set(err, ERROR_NOT_FOUND,
                         "the key file %s is missing, and %lld tokens in %s are sealed with it: "
                         "restore it from its backup, else see \"A lost key\" in "
                         "share/doc/mcastd/state.md",
                         key_file, (long long)count, path);
    int code = seal_key_create(key_file, (uid_t)-1, (gid_t)-1, err);
    return code == ERROR_REFUSED ? 0 : code; /* another process has just made it */
}

int sqlite_sealing_open(struct sealing *sealing, sqlite3 *db, int version, const char *path,
                        const char *key_file, struct error *err)
{
    assert(db);
    struct seal_key key;
    int code = key_file ? seal_key_read(key_file, &key, err)
                        : keybytes_draw(key.bytes, sizeof key.bytes, err);
    if (key_file && code == ERROR_NOT_FOUND &&
        (code = make_key(db, version, path, key_file, err)) == 0)
        code = seal_key_read(key_file, &key, err);
    if (code < 0)
        return code;
    code = sealing_init(sealing, path, key_file, &key, err);
    seal_key_wipe(&key);
    if (code < 0)
        return code;
    int rc = sqlite_sealing_define(sealing, db);
    return rc == SQLITE_OK ? 0 : sqlite_error(err, db, rc, path);
}

/* -- writing -- */

int sqlite_sealing_bind(struct sealing *sealing, sqlite3_stmt *statement, int column,
                        enum sealed place, uint64_t number, struct secret secret)
{
    assert(number > 0);
    if (secret_none(secret))
        return sqlite3_bind_null(statement, column);
    int size = sealing_wrap(sealing, place, number, secret);
    return size < 0
               ? SQLITE_NOMEM
               : sqlite3_bind_blob(statement, column, sealing->sealed[place], size, SQLITE_STATIC);
}

static void seal_token(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    struct sealing *sealing = sqlite3_user_data(context);
    const uint64_t number = (uint64_t)sqlite3_value_int64(arguments[0]);
    const char *token = (const char *)sqlite3_value_text(arguments[1]);
    (void)count;
    assert(count == 2 && sealing);
    if (!token || strlen(token) > TOKEN_MAX) {
        sqlite3_result_error_code(context, token ? SQLITE_CORRUPT : SQLITE_NOMEM);
        return;
    }
    int size = sealing_wrap(sealing, SEALED_TOKEN, number, secret_of(token));
    if (size < 0)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_blob(context, sealing->sealed[SEALED_TOKEN], size, SQLITE_TRANSIENT);
}

int sqlite_sealing_define(struct sealing *sealing, sqlite3 *db)
{
    assert(db);
    return sqlite3_create_function_v2(db, "seal_token", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, sealing,
                                      seal_token, NULL, NULL, NULL);
}

/* -- reading -- */

int sqlite_sealing_read(struct sealing *sealing, sqlite3_stmt *statement, int column,
                        enum sealed place, uint64_t number, struct secret *secret,
                        struct error *err)
{
    assert(statement);
    *secret = (struct secret){0};
    int type = sqlite3_column_type(statement, column);
    if (type == SQLITE_NULL)
        return 0;
    const unsigned char *sealed =
        type == SQLITE_BLOB ? sqlite3_column_blob(statement, column) : NULL;
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    int code = sealing_unwrap(sealing, place, number, sealed, size, secret, err);
    return code == ERROR_CORRUPT && err ? sqlite_damaged_as(err, sealing->ledger) : code;
}

/* -- whether there is any, as another user -- */

/* An SQLite URI for a file that is read without locks or log; NULL: out of memory, or a name that
 * would have to be encoded. */
static char *immutable_uri(const char *path)
{
    assert(path);
    return strpbrk(path, "%?#") ? NULL : sqlite3_mprintf("file:%s?immutable=1", path);
}

bool store_sqlite_sealed(const char *path)
{
    struct stat status;
    sqlite3 *db = NULL;
    sqlite3_int64 count = 1;
    assert(path);
    if (statefile_stat(path, "", &status) < 0)
        return false;
    if (statefile_stat(path, "-wal", &status) == 0 && status.st_size > 0)
        return true; /* left by a crash, or a broker is writing */
    char *uri = immutable_uri(path);
    if (!uri ||
        sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) != SQLITE_OK ||
        (sqlite_query_number(db, count_secrets, &count) != SQLITE_OK &&
         sqlite_query_number(db, count_tokens, &count) != SQLITE_OK))
        count = 1;
    sqlite3_close(db);
    sqlite3_free(uri);
    return count > 0;
}
