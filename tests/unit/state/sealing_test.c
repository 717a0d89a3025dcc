/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens in the ledger's file (B8): they cannot be read there or moved, and the key not lost
 * unnoticed.
 */

#include "tests/unit/state/fixture.h"
#include "tests/unit/state/trace.h"

#include "base/names.h"
#include "tokens/seal_key.h"

#include <sqlite3.h>

static struct record holder(uint64_t number, const char *job, const char *token)
{
    struct record record = reservation(number, job);
    record.u.reservation.token = secret_of(token);
    return record;
}

static void name_key(const struct fixture *fixture, char name[128])
{
    snprintf(name, 128, "%s.key", fixture->path);
}

static void close_store(struct fixture *fixture)
{
    store_close(fixture->store);
    fixture->store = NULL;
}

static void execute(const struct fixture *fixture, const char *sql)
{
    sqlite3 *db;
    char *words = NULL;
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &words) != SQLITE_OK)
        fail_msg("%s: %s", sql, words);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static int write_token(void *arg, const struct record *record)
{
    FILE *out = arg;
    const struct reservation_record *r = &record->u.reservation;
    if (record->kind == RECORD_RESERVATION)
        fprintf(out, "%s:%s ", r->job, secret_none(r->token) ? "-" : secret_expose(r->token));
    return 0;
}

static void assert_tokens(struct fixture *fixture, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    struct error err = {0};
    FILE *out = open_memstream(&text, &size);
    int code = store_load(fixture->store, write_token, out, &err);
    fclose(out);
    if (code)
        fail_msg("%s", err.text);
    assert_string_equal(text, expected);
    free(text);
}

static int ignore_record(void *arg, const struct record *record)
{
    return 0;
}

/* Refused when it is opened, or when it is loaded; in one sentence that has these words. */
static void assert_refused(struct fixture *fixture, int code, const char *words)
{
    struct error err = {0};
    fixture->store = open_sqlite(fixture->path, &err);
    if (fixture->store) {
        (void)store_load(fixture->store, ignore_record, NULL, &err);
        close_store(fixture);
    }
    if (err.code != code || !strstr(err.text, words))
        fail_msg("expected \"%s\", got %s: %s", words, error_word(err.code), err.text);
    assert_true(strlen(err.text) < ERROR_TEXT_SIZE - 1); /* not cut */
}

#define ON_FILE(test) UNIT_WITH(test, fixture_setup, fixture_teardown)

ON_FILE(token__comes_back)
{
    static char longest[TOKEN_MAX + 1];
    struct fixture *fixture = *state;
    memset(longest, 'l', TOKEN_MAX);
    fixture_open(fixture);
    COMMIT(fixture->store, holder(1, "f1", "sess-1"), holder(2, "f2", NULL), holder(3, "f3", ""));
    assert_tokens(fixture, "f1:sess-1 f2:- f3: ");
    COMMIT(fixture->store, holder(1, "f1", longest), holder(2, "f2", "sess-2"), gone(3));
    fixture_reopen(fixture);
    char expected[TOKEN_MAX + 32];
    snprintf(expected, sizeof expected, "f1:%s f2:sess-2 ", longest);
    assert_tokens(fixture, expected);
}

/* While it runs, with a log; after a crash, with what the log had; and closed. */
ON_FILE(token__is_in_no_file)
{
    enum { LIVES = 300 };
    struct fixture *fixture = *state;
    fixture_open(fixture);
    for (uint64_t i = 1; i <= LIVES; i++) {
        char job[16], token[64];
        snprintf(job, sizeof job, "job%ju", (uintmax_t)i);
        snprintf(token, sizeof token, "sess-%032jx", (uintmax_t)i);
        COMMIT(fixture->store, holder(i, job, token));
        if (i % 3 == 0)
            COMMIT(fixture->store, gone(i));
        if (i % 50 == 0) {
            assert_non_null(trace_of(fixture, job)); /* the search finds what is there */
            assert_no_trace(fixture, "sess-");
        }
    }
    fixture_reopen(fixture);
    assert_no_trace(fixture, "sess-");
    close_store(fixture);
    assert_no_trace(fixture, "sess-");
}

ON_FILE(token__moved_to_another_row_is_refused)
{
    struct fixture *fixture = *state;
    fixture_open(fixture);
    COMMIT(fixture->store, holder(1, "f1", "sess-1"), holder(2, "f2", "sess-2"));
    close_store(fixture);
    execute(fixture, "CREATE TABLE kept AS SELECT token FROM reservation WHERE number=2;"
                     "UPDATE reservation SET token=(SELECT token FROM reservation WHERE number=1)"
                     " WHERE number=2");
    assert_refused(fixture, ERROR_CORRUPT, "reservation 2: its token does not open): restore");
    execute(fixture, "UPDATE reservation SET token=(SELECT token FROM kept) WHERE number=2");
    fixture_open(fixture);
    assert_tokens(fixture, "f1:sess-1 f2:sess-2 ");
}

ON_FILE(token__that_was_tampered_with_is_refused)
{
    static const struct {
        const char *token, *words;
        int code;
    } cases[] = {
        {"substr(token, 1, 30)", "reservation 1: its token does not open", ERROR_CORRUPT},
        {"CAST(token || 'x' AS BLOB)", "reservation 1: its token does not open", ERROR_CORRUPT},
        {"x''", "reservation 1: its token does not open", ERROR_CORRUPT},
        {"zeroblob(5000)", "reservation 1: its token does not open", ERROR_CORRUPT},
        {"'sess-1'", "reservation 1: its token does not open", ERROR_CORRUPT},
        {"7", "reservation 1: its token does not open", ERROR_CORRUPT},
        {"x'02aabb'", "sealed by a newer mcastd: install that version", ERROR_VERSION},
        {"x'73657373'", "sealed by a newer mcastd", ERROR_VERSION}, /* not sealed at all */
    };
    struct fixture *fixture = *state;
    fixture_open(fixture);
    COMMIT(fixture->store, holder(1, "f1", "sess-1"));
    close_store(fixture);
    execute(fixture, "CREATE TABLE kept AS SELECT token FROM reservation");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[160];
        snprintf(sql, sizeof sql, "UPDATE reservation SET token=%s", cases[i].token);
        execute(fixture, sql);
        assert_refused(fixture, cases[i].code, cases[i].words);
        execute(fixture, "UPDATE reservation SET token=(SELECT token FROM kept)");
    }
    fixture_open(fixture);
    assert_tokens(fixture, "f1:sess-1 ");
}

/* -- keys of jobs, beside tokens -- */

#define JOB_KEY "0123456789abcdef0123456789abcdef"

static struct record on_omnipath(uint64_t number, const char *job)
{
    struct record record = reservation(number, job);
    record.u.reservation.interconnect = INTERCONNECT_OMNIPATH;
    record.u.reservation.key = secret_of(JOB_KEY);
    return record;
}

static int check_key(void *arg, const struct record *record)
{
    const struct reservation_record *r = &record->u.reservation;
    int *seen = arg;
    if (record->kind != RECORD_RESERVATION)
        return 0;
    assert_true(secret_none(r->token));
    assert_true(secret_equal(r->key, secret_of(JOB_KEY)));
    ++*seen;
    return 0;
}

ON_FILE(job_key__comes_back_and_is_in_no_file)
{
    struct fixture *fixture = *state;
    int seen = 0;
    fixture_open(fixture);
    COMMIT(fixture->store, on_omnipath(1, "f1"), on_omnipath(2, "f2"));
    assert_no_trace(fixture, JOB_KEY);
    fixture_reopen(fixture);
    assert_int_equal(store_load(fixture->store, check_key, &seen, NULL), 0);
    assert_int_equal(seen, 2);
    assert_no_trace(fixture, JOB_KEY);
}

/* Each is sealed for its own column: one in the place of the other opens nothing. */
ON_FILE(job_key__is_no_token)
{
    struct fixture *fixture = *state;
    fixture_open(fixture);
    COMMIT(fixture->store, on_omnipath(1, "f1"));
    close_store(fixture);
    execute(fixture, "UPDATE reservation SET token=job_key");
    assert_refused(fixture, ERROR_CORRUPT, "reservation 1: its token does not open");
    execute(fixture, "UPDATE reservation SET token=NULL,job_key=substr(job_key,1,40)");
    assert_refused(fixture, ERROR_CORRUPT, "reservation 1: its token does not open");
}

ON_FILE(job_key__needs_the_key_file)
{
    struct fixture *fixture = *state;
    char key[128];
    name_key(fixture, key);
    fixture_open(fixture);
    COMMIT(fixture->store, on_omnipath(1, "f1"));
    close_store(fixture);
    assert_int_equal(unlink(key), 0);
    assert_refused(fixture, ERROR_NOT_FOUND, "and 1 tokens in ");
    execute(fixture, "UPDATE reservation SET token=NULL,job_key=NULL"); /* docs/state.md */
    fixture_open(fixture);
    assert_tokens(fixture, "f1:- ");
}

/* -- the key -- */

ON_FILE(key__missing_is_made_while_nothing_is_sealed)
{
    struct fixture *fixture = *state;
    char key[128];
    name_key(fixture, key);
    fixture_open(fixture);
    COMMIT(fixture->store, holder(1, "f1", NULL));
    assert_int_equal(unlink(key), 0);
    fixture_reopen(fixture);
    assert_int_equal(access(key, F_OK), 0);
    COMMIT(fixture->store, holder(2, "f2", "sess-2"));
    fixture_reopen(fixture);
    assert_tokens(fixture, "f1:- f2:sess-2 ");
}

ON_FILE(key__missing_is_refused_while_something_is_sealed)
{
    struct fixture *fixture = *state;
    char key[128], away[140], words[320];
    name_key(fixture, key);
    snprintf(away, sizeof away, "%s.away", key);
    fixture_open(fixture);
    COMMIT(fixture->store, holder(1, "f1", "sess-1"), holder(2, "f2", "sess-2"),
           holder(3, "f3", NULL));
    close_store(fixture);
    assert_int_equal(rename(key, away), 0);
    snprintf(words, sizeof words,
             "the key file %s is missing, and 2 tokens in %s are sealed with it: restore it", key,
             fixture->path);
    assert_refused(fixture, ERROR_NOT_FOUND, words);
    assert_int_equal(access(key, F_OK), -1);
    assert_int_equal(rename(away, key), 0);
    fixture_open(fixture);
    assert_tokens(fixture, "f1:sess-1 f2:sess-2 f3:- ");
}

/* The way out that docs/state.md gives. */
ON_FILE(key__lost_for_good_is_gone_on_without)
{
    struct fixture *fixture = *state;
    char key[128];
    name_key(fixture, key);
    fixture_open(fixture);
    COMMIT(fixture->store, holder(1, "f1", "sess-1"));
    close_store(fixture);
    assert_int_equal(unlink(key), 0);
    execute(fixture, "UPDATE reservation SET token=NULL");
    fixture_open(fixture);
    assert_tokens(fixture, "f1:- ");
    COMMIT(fixture->store, holder(2, "f2", "sess-2"));
    fixture_reopen(fixture);
    assert_tokens(fixture, "f1:- f2:sess-2 ");
}

ON_FILE(key__of_another_ledger_is_refused)
{
    struct fixture *fixture = *state;
    char key[128], away[140], words[320];
    name_key(fixture, key);
    snprintf(away, sizeof away, "%s.away", key);
    fixture_open(fixture);
    COMMIT(fixture->store, holder(1, "f1", "sess-1"));
    close_store(fixture);
    assert_int_equal(rename(key, away), 0);
    assert_int_equal(seal_key_create(key, (uid_t)-1, (gid_t)-1, NULL), 0);
    snprintf(words, sizeof words,
             "the tokens in %s are sealed with another key than that of %s: restore the key file",
             fixture->path, key);
    assert_refused(fixture, ERROR_REFUSED, words);
    assert_int_equal(rename(away, key), 0);
    fixture_open(fixture);
    assert_tokens(fixture, "f1:sess-1 ");
}

ON_FILE(key__open_to_others_is_refused)
{
    struct fixture *fixture = *state;
    char key[128];
    name_key(fixture, key);
    fixture_open(fixture);
    close_store(fixture);
    assert_int_equal(chmod(key, 0640), 0);
    assert_refused(fixture, ERROR_REFUSED, "can be read by others: chmod 0600");
}

UNIT_RUN(NULL, NULL)
