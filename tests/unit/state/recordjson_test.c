/* SPDX-License-Identifier: Apache-2.0 */
/* Records as JSON (B7, S3): what was written comes back, secrets are sealed (B8), and what no
 * broker wrote is refused. */

#include "tests/unit/unit.h"

#include "state/recordjson.h"
#include "tokens/seal_key.h"

#define JOB_KEY "0123456789abcdef0123456789abcdef"

static const struct seal_key a_key = {.bytes = {1}}, another_key = {.bytes = {2}};

struct fixture {
    struct sealing sealing;
    struct recordjson json;
};

static void open_sealing(struct fixture *fixture, const struct seal_key *key)
{
    sealing_release(&fixture->sealing);
    assert_int_equal(sealing_init(&fixture->sealing, "/ledger", "/etc/state.key", key, NULL), 0);
}

static int setup(void **state)
{
    struct fixture *fixture = *state = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->json.sealing = &fixture->sealing;
    open_sealing(fixture, &a_key);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    recordjson_forget(&fixture->json);
    sealing_release(&fixture->sealing);
    free(fixture);
    return 0;
}

/* -- there and back -- */

/* A text that is possible in the column. */
static const char *sample_of(const struct column *column)
{
    static const char *const samples[] = {"elcap",          "f1",      "nid[1-4]",
                                          "cxi0:12,cxi1:7", "0",       JOB_KEY,
                                          "cxi0,1,2,1,a,b", "n1/cxi0", "beta 1-7,9\n"};
    struct record record = {0};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        column_set_text(column, &record, samples[i]);
        if (column_possible(column, &record))
            return samples[i];
    }
    fail_msg("no sample is possible in %s", column->name);
    return NULL;
}

/* All numbers are at an end of their ranges, all texts there, or only what has to be. */
static struct record filled(enum record_kind kind, bool full)
{
    struct record record = {.kind = kind};
    const struct columns *columns = &record_columns[kind];
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->all[i];
        if (column->type == COLUMN_NUMBER)
            column_set_number(column, &record, full ? column->max : column->min);
        else if (full || column->required)
            column_set_text(column, &record, sample_of(column));
    }
    return record;
}

static void assert_same(const struct record *a, const struct record *b)
{
    const struct columns *columns = &record_columns[a->kind];
    assert_int_equal(a->kind, b->kind);
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->all[i];
        if (column->type == COLUMN_NUMBER) {
            assert_int_equal(column_number(column, a), column_number(column, b));
            continue;
        }
        const char *text_a = column_text(column, a), *text_b = column_text(column, b);
        if (text_a && text_b)
            assert_string_equal(text_a, text_b);
        else
            assert_true(!text_a && !text_b);
    }
}

/* Through text, as a file or etcd keeps it; free it. */
static char *text_of(struct fixture *fixture, const struct record *record)
{
    json_t *object = recordjson_write(&fixture->json, record);
    assert_non_null(object);
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    assert_non_null(text);
    return text;
}

static int read_text(struct fixture *fixture, enum record_kind kind, const char *text,
                     struct record *record, struct error *err)
{
    json_t *object =
        json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_non_null(object);
    int code = recordjson_read(&fixture->json, kind, object, record, err);
    json_decref(object);
    return code;
}

static void assert_comes_back(struct fixture *fixture, const struct record *record)
{
    struct error err = {0};
    struct record back;
    char *text = text_of(fixture, record);
    if (read_text(fixture, record->kind, text, &back, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    assert_same(record, &back);
    free(text);
}

static void record__comes_back(void **state)
{
    int kinds = 0;
    for (enum record_kind kind = 0; kind < RECORD_KINDS; kind++) {
        if (!record_columns[kind].word)
            continue;
        const struct record full = filled(kind, true), least = filled(kind, false);
        assert_comes_back(*state, &full);
        assert_comes_back(*state, &least);
        kinds++;
    }
    assert_int_equal(kinds, 13);
}

static void record__is_as_the_pages_show_it(void **state)
{
    struct record record = {.kind = RECORD_NODE,
                            .u.node = {.number = 7, .node = "nid000003", .state = NODE_CREATED}};
    char *text = text_of(*state, &record);
    assert_string_equal(text, "{\"number\":7,\"node\":\"nid000003\",\"state\":1}");
    free(text);
}

/* A sentence of the fabric manager may be cut within a character. */
static void text__that_is_not_utf8_comes_back(void **state)
{
    static const char *const reasons[] = {"",       "a",        "\xe2\x82",  "\xff\xff\xff",
                                          "fa\xc3", "\x01\"\\", "\xc6\x92ok"};
    struct record record = filled(RECORD_RESERVATION, true);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        record.u.reservation.reason = reasons[i];
        assert_comes_back(*state, &record);
    }
    record.u.reservation.reason = "cut \xe2";
    record.u.reservation.nodes = "two \xc3 of them";
    assert_comes_back(*state, &record);
}

/* -- what no broker wrote -- */

static void record__that_is_wrong_is_refused(void **state)
{
#define EVENT "\"seq\":3,\"kind\":1"
#define NODE "\"number\":7,\"node\":\"n1\",\"state\":1"
    static const struct {
        enum record_kind kind;
        const char *text, *words;
        int code;
    } cases[] = {
        {RECORD_NODE, "{" NODE "}", "", 0},
        {RECORD_NODE, "[1]", "node 0: not a JSON object", ERROR_CORRUPT},
        {RECORD_NODE, "{}", "node 0: number is out of range", ERROR_CORRUPT},
        {RECORD_NODE, "{\"number\":7,\"state\":1}", "node 7: node is not a node's name",
         ERROR_CORRUPT},
        {RECORD_NODE, "{\"number\":7,\"node\":\"n1\"}", "node 7: state is out", ERROR_CORRUPT},
        {RECORD_NODE, "{" NODE ",\"sums\":-1}", "sums is out of range", ERROR_CORRUPT},
        {RECORD_NODE, "{" NODE ",\"sums\":4294967296}", "sums is out of range", ERROR_CORRUPT},
        {RECORD_NODE, "{" NODE ",\"sums\":1.0}", "sums is out of range", ERROR_CORRUPT},
        {RECORD_NODE, "{" NODE ",\"sums\":\"1\"}", "sums is out of range", ERROR_CORRUPT},
        {RECORD_NODE, "{" NODE ",\"sums\":null}", "sums is out of range", ERROR_CORRUPT},
        {RECORD_NODE, "{" NODE ",\"services\":7}", "services is not a list", ERROR_CORRUPT},
        {RECORD_NODE, "{" NODE ",\"services\":null}", "services is not a list", ERROR_CORRUPT},
        {RECORD_NODE, "{" NODE ",\"services\":\"cxi0:1\\u0000\"}", "not a list", ERROR_CORRUPT},
        {RECORD_NODE, "{" NODE ",\"urgent\":1}",
         "node 7: has \"urgent\", which this mcastd does not know", ERROR_VERSION},
        {RECORD_EVENT, "{" EVENT "}", "", 0},
        {RECORD_EVENT, "{" EVENT ",\"detail\":{\"base64\":\"/w==\"}}", "", 0},
        {RECORD_EVENT, "{" EVENT ",\"detail\":{\"base64\":\"/w=\"}}", "event 3: detail is wrong",
         ERROR_CORRUPT},
        {RECORD_EVENT, "{" EVENT ",\"detail\":{\"base64\":\"/w==\\n   \"}}", "detail is wrong",
         ERROR_CORRUPT},
        {RECORD_EVENT, "{" EVENT ",\"detail\":{\"base64\":\"AAAA\"}}", "detail is wrong",
         ERROR_CORRUPT},
        {RECORD_EVENT, "{" EVENT ",\"detail\":{\"base64\":7}}", "detail is wrong", ERROR_CORRUPT},
        {RECORD_EVENT, "{" EVENT ",\"detail\":{}}", "detail is wrong", ERROR_CORRUPT},
        {RECORD_EVENT, "{" EVENT ",\"detail\":{\"base64\":\"\",\"x\":1}}", "detail is wrong",
         ERROR_CORRUPT},
        {RECORD_EVENT, "{" EVENT ",\"job\":\"f1\"}", "event 3: cluster is missing", ERROR_CORRUPT},
        {RECORD_FACTS, "{}", "facts: boot is missing or too long", ERROR_CORRUPT},
        {RECORD_FOUNDED, "{}", "", 0},
        {RECORD_FOUNDED, "{\"at\":1}", "founded: has \"at\"", ERROR_VERSION},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        struct record record;
        int code = read_text(*state, cases[i].kind, cases[i].text, &record, &err);
        if (code != cases[i].code || !strstr(err.text, cases[i].words))
            fail_msg("%s: %s, not \"%s\"", cases[i].text, err.text, cases[i].words);
    }
}

/* -- secrets -- */

static struct record holder(uint64_t number)
{
    struct record record = filled(RECORD_RESERVATION, true);
    record.u.reservation.number = number;
    record.u.reservation.token = secret_of("sess-1");
    return record;
}

static void secret__is_sealed(void **state)
{
    struct record record = holder(1);
    char *text = text_of(*state, &record);
    assert_non_null(strstr(text, "\"token\":\""));
    assert_null(strstr(text, "sess-1"));
    assert_null(strstr(text, JOB_KEY));
    free(text);
    static char longest[TOKEN_MAX + 1];
    memset(longest, 'l', TOKEN_MAX);
    for (size_t length = 0; length <= TOKEN_MAX; length += length < 4 ? 1 : TOKEN_MAX - 4) {
        record.u.reservation.token = secret_of(longest + TOKEN_MAX - length);
        assert_comes_back(*state, &record);
    }
}

static void assert_secret_refused(struct fixture *fixture, const char *text, int code,
                                  const char *words)
{
    struct error err = {0};
    struct record record;
    assert_int_equal(read_text(fixture, RECORD_RESERVATION, text, &record, &err), code);
    assert_words(err.text, words);
}

/* The text with what is at the place replaced. */
static void assert_tampered(struct fixture *fixture, const char *text, const char *place,
                            const char *by, int code, const char *words)
{
    char *copy = strdup(text), *at = strstr(copy, place);
    assert_non_null(at);
    memcpy(at, by, strlen(by));
    assert_secret_refused(fixture, copy, code, words);
    free(copy);
}

static void secret__that_was_changed_or_moved_is_refused(void **state)
{
    struct record record = holder(INT64_MAX);
    char *text = text_of(*state, &record);
    const char *const words = "its token does not open";
    assert_tampered(*state, text, "\"number\":9", "\"number\":8", ERROR_CORRUPT,
                    "reservation 8223372036854775807: its token does not open");
    char *at = strstr(text, "\"token\":\"") + strlen("\"token\":\"");
    assert_tampered(*state, text, at, "Ag", ERROR_VERSION, "sealed by a newer mcastd");
    assert_tampered(*state, text, at + 40, at[40] == 'A' ? "B" : "A", ERROR_CORRUPT, words);
    assert_tampered(*state, text, at + 40, "!", ERROR_CORRUPT, words);
    assert_tampered(*state, text, at - 1, "{},\"t\":\"", ERROR_CORRUPT, "its token does not open");
    open_sealing(*state, &another_key);
    assert_secret_refused(*state, text, ERROR_REFUSED,
                          "the tokens in /ledger are sealed with another key than that of "
                          "/etc/state.key: restore");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(record__comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(record__is_as_the_pages_show_it, setup, teardown),
        cmocka_unit_test_setup_teardown(text__that_is_not_utf8_comes_back, setup, teardown),
        cmocka_unit_test_setup_teardown(record__that_is_wrong_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(secret__is_sealed, setup, teardown),
        cmocka_unit_test_setup_teardown(secret__that_was_changed_or_moved_is_refused, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
