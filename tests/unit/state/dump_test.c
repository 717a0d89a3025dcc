/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger as a text (B7): all of it comes back, secrets stay sealed (B8), and a text that is not
 * as it was written is refused. And the copy of a ledger that it is made of, while a broker runs.
 */

#include "tests/unit/state/fixture.h"

#include "base/hex.h"
#include "state/dump.h"
#include "state/sqlite/schema.h"
#include "tokens/seal_key.h"

#include <openssl/sha.h>
#include <sqlite3.h>
#include <sys/stat.h>

#define KEYS "the text of a root key file\n"

struct dump {
    struct sealing sealing;
    struct dump_head head;
    char *text;
    size_t size;
};

static void open_sealing(struct sealing *sealing, unsigned char first)
{
    const struct seal_key key = {.bytes = {first}};
    assert_int_equal(sealing_init(sealing, "the dump", "/etc/state.key", &key, NULL), 0);
}

static struct record holder(uint64_t number, const char *job)
{
    struct record record = reservation(number, job);
    record.u.reservation.token = secret_of("sess-1");
    return record;
}

#define BEFORE_KEYS                                                                                \
    "counters 9 4\n"                                                                               \
    "founded\n"                                                                                    \
    "facts 7 1030 1 4ac0-boot 1700000000000 1699999990000\n"
#define BEHIND_KEYS                                                                                \
    "partitions beta 3000-3999\n"                                                                  \
    "shared 2000 daos of 5588 for 1000,1001 in elcap, open\n"                                      \
    "shared 2001 mochi of 5588 for 1000,1001 in elcap, open\n"                                     \
    "reservation 3 elcap-f3\n"                                                                     \
    "reservation 7 elcap-f7\n"                                                                     \
    "node 3 nid000001 created cxi0:12\n"                                                           \
    "node 3 nid000002 destroyed after sum 1\n"                                                     \
    "sum 3.1 nid[000002-000128] destroyed\n"                                                       \
    "cleanup 7 1 and below\n"                                                                      \
    "event 3 of 7\n"                                                                               \
    "event 4 of 9\n"                                                                               \
    "NICs of nid000001 cxi0,1,200000,1,,\n"                                                        \
    "NICs of nid000002 \n"                                                                         \
    "traffic 4 of elcap-f2, 2 nodes\n"

static const char everything[] = BEFORE_KEYS BEHIND_KEYS;

static void fill(struct store *store)
{
    COMMIT(store, holder(3, "f3"), holder(7, "f7"), reservation(9, "f9"),
           {.kind = RECORD_FACTS,
            .u.facts = {.round_number = 7,
                        .next_vni = 1030,
                        .suspect = 1,
                        .boot = "4ac0-boot",
                        .clock_ms = 1700000000000,
                        .holds_from_ms = 1699999990000}},
           founded(), shared_vni(2000, "daos"), shared_vni(2001, "mochi"),
           partitions("beta 3000-3999\n"),
           {.kind = RECORD_NODE,
            .u.node = {.number = 3, .node = "nid000001", .services = "cxi0:12", .state = 1}},
           {.kind = RECORD_NODE,
            .u.node = {.number = 3, .node = "nid000002", .sums = 1, .state = NODE_DESTROYED}},
           {.kind = RECORD_SUM,
            .u.sum = {.number = 3, .nodes = "nid[000002-000128]", .sum = 1, .state = 2}},
           {.kind = RECORD_CLEANUP, .u.cleanup = {.number = 7, .step = "1", .below = 1}},
           {.kind = RECORD_NODE_NICS, .u.nics = {"nid000002", "", 7, 0}},
           {.kind = RECORD_TRAFFIC,
            .u.traffic = {.seq = 4, .number = 2, .told = 2, .cluster = "elcap", .job = "f2"}},
           {.kind = RECORD_NODE_NICS,
            .u.nics = {"nid000001", "cxi0,1,200000,1,,", 1790000000000, 1700000000000}},
           event(1, 3), event(2, 7), event(3, 7), event(4, 9), prune(2), gone(9));
}

static int setup(void **state)
{
    struct dump *dump = *state = calloc(1, sizeof *dump);
    struct store *store = store_memory_open(NULL);
    struct error err = {0};
    assert_non_null(dump);
    assert_non_null(store);
    fill(store);
    open_sealing(&dump->sealing, 1);
    dump->head = (struct dump_head){.made = "2026-11-23T18:30:00Z",
                                    .mcastd = "0.1.0",
                                    .from = "/var/lib/mcastd/state.db",
                                    .live = true};
    const struct record keys = {.kind = RECORD_ROOT_KEYS, .u.root_keys = secret_of(KEYS)};
    if (!(dump->text = dump_write(store, &dump->sealing, &dump->head, &keys, &dump->size, &err)))
        fail_msg("%s", err.text);
    store_close(store);
    return 0;
}

static int teardown(void **state)
{
    struct dump *dump = *state;
    sealing_release(&dump->sealing);
    free(dump->text);
    free(dump);
    return 0;
}

/* -- there and back -- */

static int count_token(void *arg, const struct record *record)
{
    if (record->kind == RECORD_RESERVATION)
        *(int *)arg += secret_equal(record->u.reservation.token, secret_of("sess-1"));
    return 0;
}

static void dump__comes_back(void **state)
{
    struct dump *dump = *state;
    struct dump_head head;
    struct error err = {0};
    char *text = NULL;
    size_t size = 0;
    int tokens = 0;
    FILE *out = open_memstream(&text, &size);
    if (dump_read(dump->text, dump->size, &dump->sealing, &head, write_line, out, &err) != 0)
        fail_msg("%s", err.text);
    fclose(out);
    assert_string_equal(text, BEFORE_KEYS "root keys " KEYS "\n" BEHIND_KEYS);
    free(text);
    assert_string_equal(head.made, dump->head.made);
    assert_string_equal(head.mcastd, dump->head.mcastd);
    assert_string_equal(head.from, dump->head.from);
    assert_true(head.live);
    assert_int_equal(head.records, 18);
    assert_int_equal(
        dump_read(dump->text, dump->size, &dump->sealing, &head, count_token, &tokens, NULL), 0);
    assert_int_equal(tokens, 2);
}

static void dump__is_lines_without_secrets(void **state)
{
    struct dump *dump = *state;
    static const char head[] = "{\"format\":\"mcastd ledger\",\"version\":1,\"schema\":";
    assert_memory_equal(dump->text, head, strlen(head));
    assert_non_null(strstr(dump->text, "\n{\"root_keys\":{\"keys\":\""));
    assert_non_null(strstr(dump->text, "\n{\"counters\":{\"last_number\":9,\"last_seq\":4}}\n"
                                       "{\"founded\":{}}\n"));
    assert_null(strstr(dump->text, "sess-1"));
    assert_null(strstr(dump->text, KEYS));
}

static int refuse_record(void *arg, const struct record *record)
{
    return record->kind == RECORD_FACTS ? ERROR_FULL : 0;
}

static void dump__ends_with_what_the_receiver_says(void **state)
{
    struct dump *dump = *state;
    struct dump_head head;
    assert_int_equal(
        dump_read(dump->text, dump->size, &dump->sealing, &head, refuse_record, NULL, NULL),
        ERROR_FULL);
}

/* -- what is refused -- */

static int reject_record(void *arg, const struct record *record)
{
    fail_msg("a record of a dump that is not whole");
    return 0;
}

static void dump__that_is_cut_or_changed_is_refused(void **state)
{
    struct dump *dump = *state;
    for (size_t size = 0; size < dump->size; size++) {
        struct error err = {0};
        struct dump_head head;
        int code = dump_read(dump->text, size, &dump->sealing, &head, reject_record, NULL, &err);
        assert_int_equal(code, err.code);
        assert_true(code == ERROR_CORRUPT || code == ERROR_INVALID);
    }
    for (size_t at = 0; at < dump->size; at++) {
        struct error err = {0};
        struct dump_head head;
        dump->text[at] ^= 1;
        int code =
            dump_read(dump->text, dump->size, &dump->sealing, &head, count_token, &(int){0}, &err);
        dump->text[at] ^= 1;
        if (code == 0)
            fail_msg("byte %zu may change: %.20s", at, dump->text + at);
    }
}

static void assert_refused(struct dump *dump, const char *text, size_t size, int code,
                           const char *words)
{
    struct error err = {0};
    struct dump_head head;
    dump_read(text, size, &dump->sealing, &head, count_token, &(int){0}, &err);
    if (err.code != code || !strstr(err.text, words))
        fail_msg("expected \"%s\", got %s: %s", words, error_word(err.code), err.text);
    assert_true(strlen(err.text) < ERROR_TEXT_SIZE - 1); /* not cut */
}

/* Lines, with the end that they would have. */
static void assert_lines_refused(struct dump *dump, const char *lines, int records, int code,
                                 const char *words)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    char digits[2 * sizeof digest + 1] = "", text[4096];
    SHA256((const unsigned char *)lines, strlen(lines), digest);
    hex_write(digest, sizeof digest, digits);
    int size = snprintf(text, sizeof text, "%s{\"records\":%d,\"sha256\":\"%s\"}\n", lines, records,
                        digits);
    assert_in_range(size, 1, sizeof text - 1);
    assert_refused(dump, text, (size_t)size, code, words);
}

static void dump__that_no_broker_wrote_is_refused(void **state)
{
#define COUNTERS "{\"counters\":{\"last_number\":9,\"last_seq\":4}}\n"
#define EVENT(seq) "{\"event\":{\"seq\":" #seq ",\"kind\":1}}\n"
    static const struct {
        const char *lines, *words;
        int records, code;
    } cases[] = {
        {COUNTERS EVENT(3) EVENT(4), "", 3, 0},
        {COUNTERS, "is damaged (line 2: records are missing): export again", 2, ERROR_CORRUPT},
        {"", "records are missing", 0, ERROR_CORRUPT},
        {"{\"founded\":{}}\n", "(line 2: not in its place)", 1, ERROR_CORRUPT},
        {COUNTERS COUNTERS, "(line 3: not in its place)", 2, ERROR_CORRUPT},
        {COUNTERS EVENT(3) "{\"founded\":{}}\n", "(line 4: not in its place)", 3, ERROR_CORRUPT},
        {COUNTERS EVENT(3) EVENT(3), "(line 4: not in its place)", 3, ERROR_CORRUPT},
        {COUNTERS EVENT(4) EVENT(3), "(line 4: not in its place)", 3, ERROR_CORRUPT},
        {COUNTERS "{\"root_keys\":{\"keys\":\"AAAA\"}}\n",
         "root keys in the dump: sealed by a newer mcastd: install that version", 2, ERROR_VERSION},
        {COUNTERS "{\"root_keys\":{\"keys\":\"\"}}\n", "(line 3: root keys: they do not open)", 2,
         ERROR_CORRUPT},
        {COUNTERS "{\"root_keys\":{}}\n", "root_keys: keys are missing or too long", 2,
         ERROR_CORRUPT},
        {COUNTERS "[]\n", "(line 3: not one record)", 1, ERROR_CORRUPT},
        {COUNTERS "{\"founded\":{},\"facts\":{}}\n", "not one record", 1, ERROR_CORRUPT},
        {COUNTERS "{\"gone\":{}}\n", "(line 3: a record of no kind)", 1, ERROR_CORRUPT},
        {COUNTERS "\n", "(line 3: not one record)", 1, ERROR_CORRUPT},
        {COUNTERS "{\"event\":{\"seq\":1}}\n", "(line 3: event 1: kind is out of range)", 1,
         ERROR_CORRUPT},
        {COUNTERS "{\"event\":{\"seq\":1,\"kind\":1,\"x\":1}}\n",
         "the dump: event 1: has \"x\", which this mcastd does not know", 1, ERROR_VERSION},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char lines[2048];
        snprintf(lines, sizeof lines,
                 "{\"format\":\"mcastd ledger\",\"version\":1,\"schema\":1,\"key\":\"%.16s\"}\n%s",
                 strstr(((struct dump *)*state)->text, "\"key\":\"") + strlen("\"key\":\""),
                 cases[i].lines);
        assert_lines_refused(*state, lines, cases[i].records, cases[i].code, cases[i].words);
    }
}

static void dump__of_another_kind_is_refused(void **state)
{
#define HEAD(version, schema, key)                                                                 \
    "{\"format\":\"mcastd ledger\",\"version\":" version ",\"schema\":" schema ",\"key\":" key "}" \
    "\n"
    static const struct {
        const char *head, *words;
        int code;
    } cases[] = {
        {"SQLite format 3\n", "the dump is no exported ledger", ERROR_INVALID},
        {"{\"format\":7}\n", "the dump is no exported ledger", ERROR_INVALID},
        {HEAD("2", "1", "\"\""), "written by a newer mcastd (version 2, schema 1;", ERROR_VERSION},
        {HEAD("1", "1000", "7"), "written by a newer mcastd (version 1, schema 1000;",
         ERROR_VERSION},
        {HEAD("0", "1", "\"0\""), "is sealed with the key 0", ERROR_REFUSED},
        {HEAD("1", "1", "7"), "is damaged (line 1)", ERROR_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_lines_refused(*state, cases[i].head, 1, cases[i].code, cases[i].words);
}

static void dump__of_another_key_is_refused(void **state)
{
    struct dump *dump = *state;
    sealing_release(&dump->sealing);
    open_sealing(&dump->sealing, 2);
    assert_refused(dump, dump->text, dump->size, ERROR_REFUSED, ", and /etc/state.key is the key ");
}

/* -- the copy of a ledger that it is made of -- */

static struct store *open_copy(const struct fixture *fixture, bool *live, struct error *err)
{
    char key_file[160];
    snprintf(key_file, sizeof key_file, "%s.key", fixture->path);
    return store_sqlite_open_copy(fixture->path, key_file, live, err);
}

static void copy__is_of_one_moment_while_a_broker_runs(void **state)
{
    struct fixture *fixture = *state;
    struct error err = {0};
    bool live = false;
    fixture_open(fixture);
    fill(fixture->store);
    struct store *copy = open_copy(fixture, &live, &err);
    if (!copy)
        fail_msg("%s", err.text);
    assert_true(live);
    assert_ledger(copy, everything);
    COMMIT(fixture->store, reservation(10, "f10"), gone(3));
    assert_ledger(copy, everything);
    store_close(copy);
    fixture_reopen(fixture); /* the broker has lost nothing by that */
    char *text = ledger_text(fixture->store);
    assert_non_null(strstr(text, "reservation 10 elcap-f10\n"));
    free(text);
}

static void copy__keeps_brokers_away_and_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct error err = {0};
    struct stat before, after;
    char log[128];
    bool live = true;
    fixture_open(fixture);
    fill(fixture->store);
    store_close(fixture->store);
    fixture->store = NULL;
    assert_int_equal(stat(fixture->path, &before), 0);
    struct store *copy = open_copy(fixture, &live, &err);
    if (!copy)
        fail_msg("%s", err.text);
    assert_false(live);
    assert_null(open_sqlite(fixture->path, &err));
    assert_non_null(strstr(err.text, "is open in another mcastd"));
    assert_ledger(copy, everything);
    store_close(copy);
    assert_int_equal(stat(fixture->path, &after), 0);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    snprintf(log, sizeof log, "%s-wal", fixture->path);
    assert_int_equal(access(log, F_OK), -1);
    fixture_open(fixture);
    assert_ledger(fixture->store, everything);
}

static void copy__of_what_is_no_ledger_of_now_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct error err = {0};
    bool live;
    sqlite3 *db;
    assert_null(open_copy(fixture, &live, &err));
    assert_int_equal(err.code, ERROR_NOT_FOUND);
    assert_int_equal(access(fixture->path, F_OK), -1);
    fixture_open(fixture);
    store_close(fixture->store);
    fixture->store = NULL;
    assert_int_equal(sqlite3_open(fixture->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version=9", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_null(open_copy(fixture, &live, &err));
    assert_int_equal(err.code, ERROR_VERSION);
    assert_non_null(strstr(err.text, "was written by an older mcastd (schema 9, "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(dump__comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(dump__is_lines_without_secrets, setup, teardown),
        cmocka_unit_test_setup_teardown(dump__ends_with_what_the_receiver_says, setup, teardown),
        cmocka_unit_test_setup_teardown(dump__that_is_cut_or_changed_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(dump__that_no_broker_wrote_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(dump__of_another_kind_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(dump__of_another_key_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(copy__is_of_one_moment_while_a_broker_runs, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(copy__keeps_brokers_away_and_changes_nothing, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(copy__of_what_is_no_ledger_of_now_is_refused, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
