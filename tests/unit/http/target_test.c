/* SPDX-License-Identifier: Apache-2.0 */

#include "broker/http/request/target.h"
#include "tests/unit/unit.h"

/* Segments joined by '|', then parameters: "a|b ? c=d e=f". */
static const char *split(const char *text, struct problem *problem)
{
    static char shown[1024];
    static char copy[1024]; /* target points into it */
    struct target target;
    size_t used = 0;
    snprintf(copy, sizeof copy, "%s", text);
    shown[0] = '\0';
    if (target_split(copy, &target, problem) < 0)
        return NULL;
    for (size_t i = 0; i < target.segment_count; i++)
        used += (size_t)snprintf(shown + used, sizeof shown - used, "%s%s", i ? "|" : "",
                                 target.segments[i]);
    if (target.query_count)
        used += (size_t)snprintf(shown + used, sizeof shown - used, " ?");
    for (size_t i = 0; i < target.query_count; i++)
        used += (size_t)snprintf(shown + used, sizeof shown - used, " %s=%s", target.query[i].name,
                                 target.query[i].value);
    return shown;
}

UNIT(split__decodes_after_splitting)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"/", ""},
        {"", ""},
        {"/v1/jobs", "v1|jobs"},
        {"/v1//jobs/", "v1||jobs|"},
        {"/v1/a%2Fb/%c3%a4", "v1|a/b|\xc3\xa4"},
        {"/a%3fb", "a?b"},
        {"/a?x=1&y=%2ffA%2ffB&&z", "a ? x=1 y=/fA/fB z="},
        {"/a?x=1=2?3", "a ? x=1=2?3"},
        {"/a?x=1+2", "a ? x=1+2"},
        {"/a?", "a"},
        {"http://host:80/a/b?c=d", "a|b ? c=d"},
        {"HTTPS://host/a", "a"},
        {"http://host", ""},
        {"http://host?a=b", " ? a=b"},
        {"*", "*"},
        {"/1/2/3/4/5/6/7/8", "1|2|3|4|5|6|7|8"},
    };
    struct problem problem;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *shown = split(cases[i].text, &problem);
        assert_non_null(shown);
        assert_string_equal(shown, cases[i].shown);
    }
}

UNIT(split__refuses_what_it_cannot_decode)
{
    static const struct {
        const char *text;
        int status;
        const char *code;
    } cases[] = {
        {"/%", 400, "bad-escape"},
        {"/%4", 400, "bad-escape"},
        {"/%4g", 400, "bad-escape"},
        {"/a%00b", 400, "bad-escape"},
        {"/a?%=1", 400, "bad-escape"},
        {"/a?b=%zz", 400, "bad-escape"},
        {"/a?b=1&b=2", 400, "repeated-parameter"},
        {"/a?b=1&%62=2", 400, "repeated-parameter"},
        {"/a?1&2&3&4&5&6&7&8&9", 400, "too-many-parameters"},
        {"/1/2/3/4/5/6/7/8/9", 404, "no-such-path"},
    };
    struct problem problem;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_null(split(cases[i].text, &problem));
        assert_int_equal(problem.status, cases[i].status);
        assert_string_equal(problem.code, cases[i].code);
        assert_true(problem.detail[0] != '\0');
    }
}

UNIT(number__is_plain_digits_in_range)
{
    uint64_t value;
    assert_true(target_number("0", 0, &value) && value == 0);
    assert_true(target_number("65535", 65535, &value) && value == 65535);
    assert_false(target_number("65536", 65535, &value));
    assert_true(target_number("18446744073709551615", UINT64_MAX, &value) && value == UINT64_MAX);
    assert_false(target_number("18446744073709551616", UINT64_MAX, &value));
    assert_false(target_number("99999999999999999999", UINT64_MAX, &value));
    assert_false(target_number("7", 6, &value));
    static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "0x1", "1.0", "a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(target_number(bad[i], UINT64_MAX, &value));
}

UNIT_RUN(NULL, NULL)
