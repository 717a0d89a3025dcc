/* SPDX-License-Identifier: Apache-2.0 */
/* The mock fabric manager's request log: bounded, and still counting everything. */

#include "mock-fm/http/requestlog.h"
#include "tests/unit/unit.h"

static json_int_t number_of(const json_t *entry)
{
    return json_integer_value(json_object_get(entry, "number"));
}

static void entry__tells_what_became_of_it(void **state)
{
    struct requestlog *log = requestlog_create();
    uint64_t connection = requestlog_connection(log), first, second;
    json_t *document;
    const json_t *entries, *entry;

    first = requestlog_begin(log, connection, "GET", "/a\x01\xff", false, 5);
    second = requestlog_begin(log, connection, "POST", "/b", true, 6);
    requestlog_begin(log, requestlog_connection(log), "PUT", "/c", false, 7);
    requestlog_finish(log, second, REQUESTLOG_DROPPED);
    requestlog_finish(log, first, 200);
    document = requestlog_document(log, 0);
    assert_int_equal(json_integer_value(json_object_get(document, "requests")), 3);
    assert_int_equal(json_integer_value(json_object_get(document, "connections")), 2);
    entries = json_object_get(document, "entries");
    assert_int_equal(json_array_size(entries), 3);
    entry = json_array_get(entries, 0);
    assert_int_equal(json_integer_value(json_object_get(entry, "status")), 200);
    assert_int_equal(json_integer_value(json_object_get(entry, "connection")), 1);
    assert_string_equal(json_string_value(json_object_get(entry, "path")), "/a??");
    assert_null(json_object_get(entry, "session"));
    entry = json_array_get(entries, 1);
    assert_null(json_object_get(entry, "status"));
    assert_true(json_is_true(json_object_get(entry, "session")));
    assert_string_equal(json_string_value(json_object_get(entry, "outcome")), "dropped");
    entry = json_array_get(entries, 2);
    assert_string_equal(json_string_value(json_object_get(entry, "outcome")), "pending");
    json_decref(document);
    requestlog_destroy(log);
}

static void log__keeps_the_last_ones(void **state)
{
    enum { COUNT = REQUESTLOG_ENTRIES + 5 };
    struct requestlog *log = requestlog_create();
    json_t *document;
    const json_t *entries;

    for (int i = 0; i < COUNT; i++)
        requestlog_finish(log, requestlog_begin(log, 1, "GET", "/", false, 0), 200);
    requestlog_finish(log, 1, 500); /* long forgotten: must not hit another's place */
    document = requestlog_document(log, 0);
    assert_int_equal(json_integer_value(json_object_get(document, "requests")), COUNT);
    entries = json_object_get(document, "entries");
    assert_int_equal(json_array_size(entries), REQUESTLOG_ENTRIES);
    assert_int_equal(number_of(json_array_get(entries, 0)), 6);
    for (size_t i = 0; i < REQUESTLOG_ENTRIES; i++)
        assert_int_equal(json_integer_value(json_object_get(json_array_get(entries, i), "status")),
                         200);
    json_decref(document);
    document = requestlog_document(log, COUNT - 2);
    entries = json_object_get(document, "entries");
    assert_int_equal(json_array_size(entries), 2);
    assert_int_equal(number_of(json_array_get(entries, 0)), COUNT - 1);
    json_decref(document);
    document = requestlog_document(log, COUNT + 100);
    assert_int_equal(json_array_size(json_object_get(document, "entries")), 0);
    json_decref(document);
    requestlog_destroy(log);
}

UNIT_MAIN(cmocka_unit_test(entry__tells_what_became_of_it),
          cmocka_unit_test(log__keeps_the_last_ones))
