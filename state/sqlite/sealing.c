/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sqlite/sealing.h"

#include "state/sqlite/error.h"
#include "base/memory.h"
#include "state/sqlite/schema.h"
#include "state/sqlite/statefile.h"
#include "state/store.h"
#include "tokens/keybytes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct seal_place place_of(enum sealed place, uint64_t number)
{
    static const char *const columns[SEALED_COUNT] = {
        [SEALED_TOKEN] = "reservation.token", [SEALED_KEY] = "reservation.job_key"};
    assert(number > 0);
    return (struct seal_place){.column = columns[place], .row = number};
}

/* -- the key -- */

static const char count_tokens[] = "SELECT count(*) FROM reservation WHERE token IS NOT NULL";
static const char count_secrets[] =
    "SELECT count(*) FROM reservation WHERE coalesce(token,job_key) IS NOT NULL";

/* Not while there are secrets that only the old key opens: that would hide their loss. */
static int make_key(const struct sealing *sealing, sqlite3 *db, int version, struct error *err)
{
    assert(sealing->key_file);
    sqlite3_int64 count = 0;
    const char *query = version < SCHEMA_KEYS ? count_tokens : count_secrets;
    int rc = version < SCHEMA_SEALED ? SQLITE_OK : sqlite_query_number(db, query, &count);
    if (rc != SQLITE_OK)
        return sqlite_error(err, db, rc, sealing->path);
    if (count > 0)
        return error_set(err, ERROR_NOT_FOUND,
                         "the key file %s is missing, and %lld tokens in %s are sealed with it: "
                         "restore it from its backup, else see \"A lost key\" in "
                         "share/doc/mcastd/state.md",
                         sealing->key_file, (long long)count, sealing->path);
    int code = seal_key_create(sealing->key_file, (uid_t)-1, (gid_t)-1, err);
    return code == ERROR_REFUSED ? 0 : code; /* another process has just made it */
}

int sealing_open(struct sealing *sealing, sqlite3 *db, int version, const char *path,
                 const char *key_file, struct error *err)
{
    struct seal_key key;
    assert(path && !sealing->seal);
    sealing->path = path;
    sealing->key_file = memory_text(key_file);
    int code = key_file ? seal_key_read(key_file, &key, err)
                        : keybytes_draw(key.bytes, sizeof key.bytes, err);
    if (key_file && code == ERROR_NOT_FOUND && (code = make_key(sealing, db, version, err)) == 0)
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
    assert(sealing);
    sealing_forget(sealing);
    seal_destroy(sealing->seal);
    free(sealing->key_file);
    sealing->seal = NULL;
    sealing->key_file = NULL;
}

/* -- writing -- */

int sealing_bind(struct sealing *sealing, sqlite3_stmt *statement, int column, enum sealed place,
                 uint64_t number, struct secret secret)
{
    assert(sealing->seal && number > 0);
    if (secret_none(secret))
        return sqlite3_bind_null(statement, column);
    assert(strlen(secret_expose(secret)) <= TOKEN_MAX); /* batch_add checked it */
    const struct seal_place at = place_of(place, number);
    unsigned char *sealed = sealing->sealed[place];
    int size = seal_wrap(sealing->seal, &at, secret, sealed);
    return size < 0 ? SQLITE_NOMEM
                    : sqlite3_bind_blob(statement, column, sealed, size, SQLITE_STATIC);
}

static void seal_token(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    struct sealing *sealing = sqlite3_user_data(context);
    const uint64_t number = (uint64_t)sqlite3_value_int64(arguments[0]);
    const char *token = (const char *)sqlite3_value_text(arguments[1]);
    const struct seal_place place = place_of(SEALED_TOKEN, number);
    assert(count == 2 && sealing);
    if (!token || strlen(token) > TOKEN_MAX) {
        sqlite3_result_error_code(context, token ? SQLITE_CORRUPT : SQLITE_NOMEM);
        return;
    }
    unsigned char *sealed = sealing->sealed[SEALED_TOKEN];
    int size = seal_wrap(sealing->seal, &place, secret_of(token), sealed);
    if (size < 0)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_blob(context, sealed, size, SQLITE_TRANSIENT);
}

int sealing_define(struct sealing *sealing, sqlite3 *db)
{
    assert(db);
    return sqlite3_create_function_v2(db, "seal_token", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, sealing,
                                      seal_token, NULL, NULL, NULL);
}

/* -- reading -- */

static int refuse_sealed(const struct sealing *sealing, int code, uint64_t number,
                         struct error *err)
{
    assert(code < 0);
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

int sealing_open_column(struct sealing *sealing, sqlite3_stmt *statement, int column,
                        enum sealed place, uint64_t number, struct secret *secret,
                        struct error *err)
{
    assert(sealing->seal);
    *secret = (struct secret){0};
    int type = sqlite3_column_type(statement, column);
    if (type == SQLITE_NULL)
        return 0;
    const unsigned char *sealed = sqlite3_column_blob(statement, column);
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    if (type != SQLITE_BLOB || !sealed || size > sizeof sealing->sealed[place])
        return refuse_sealed(sealing, ERROR_CORRUPT, number, err);
    const struct seal_place at = place_of(place, number);
    int length = seal_unwrap(sealing->seal, &at, sealed, size, sealing->plain[place]);
    if (length < 0)
        return refuse_sealed(sealing, length, number, err);
    *secret = secret_of(sealing->plain[place]);
    return 0;
}

void sealing_forget(struct sealing *sealing)
{
    explicit_bzero(sealing->plain, sizeof sealing->plain);
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
