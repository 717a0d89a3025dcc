/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/findings.h"
#include "tests/unit/unit.h"

static const char *text_at(const json_t *all, size_t index, const char *name)
{
    return json_string_value(
        json_object_get(json_array_get(json_object_get(all, "findings"), index), name));
}

UNIT(findings__the_worst_come_first)
{
    struct findings *findings = findings_create();
    findings_add(findings, FINDING_OK, "a", NULL, "fine");
    findings_add(findings, FINDING_PROBLEM, "b", "mend it", "%d broken", 3);
    findings_add(findings, FINDING_WARNING, "c", "look", "odd");
    json_t *all = findings_json(findings);
    assert_int_equal(json_integer_value(json_object_get(all, "problems")), 1);
    assert_int_equal(json_integer_value(json_object_get(all, "warnings")), 1);
    assert_string_equal(text_at(all, 0, "level"), "problem");
    assert_string_equal(text_at(all, 0, "finding"), "3 broken");
    assert_string_equal(text_at(all, 0, "advice"), "mend it");
    assert_string_equal(text_at(all, 1, "check"), "c");
    assert_string_equal(text_at(all, 2, "level"), "ok");
    assert_null(text_at(all, 2, "advice"));
    json_decref(all);
    findings_destroy(findings);
}

/* A broker of another version, or something that is none. */
UNIT(findings__of_a_broker_are_taken_as_they_come)
{
    static const char sent[] =
        "[{\"check\":\"link\",\"level\":\"problem\",\"finding\":\"down\\u001b[2J\",\"advice\":null}"
        ","
        "{\"check\":\"new\",\"level\":\"catastrophe\",\"finding\":\"x\",\"later\":[]},"
        "{\"check\":\"half\"},{\"finding\":\"other half\"},7,null,"
        "{\"check\":\"ok\",\"finding\":\"y\",\"level\":5,\"advice\":{}}]";
    struct findings *findings = findings_create();
    json_t *array = json_loads(sent, 0, NULL);
    findings_add_json(findings, array);
    findings_add_json(findings, NULL);
    assert_int_equal(findings_count(findings, FINDING_PROBLEM), 1);
    assert_int_equal(findings_count(findings, FINDING_WARNING), 2);
    assert_int_equal(findings_count(findings, FINDING_OK), 0);
    json_t *all = findings_json(findings);
    assert_string_equal(text_at(all, 0, "finding"), "down?[2J");
    json_decref(all);
    json_decref(array);
    findings_destroy(findings);
}

UNIT(findings__names_that_are_no_utf8_break_nothing)
{
    struct findings *findings = findings_create();
    char long_text[4096];
    memset(long_text, 'x', sizeof long_text);
    memcpy(long_text + 1022, "\xc3\xa4", 2); /* cut in its middle */
    long_text[sizeof long_text - 1] = '\0';
    findings_add(findings, FINDING_PROBLEM, "a", NULL, "\xff\xfe");
    findings_add(findings, FINDING_PROBLEM, "b", long_text, "%s", long_text);
    assert_int_equal(findings_count(findings, FINDING_PROBLEM), 2);
    json_t *all = findings_json(findings);
    char *text = json_dumps(all, 0);
    assert_non_null(text);
    free(text);
    json_decref(all);
    findings_destroy(findings);
}

UNIT_RUN(NULL, NULL)
