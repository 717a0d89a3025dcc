/* SPDX-License-Identifier: Apache-2.0 */

#include "broker/http/route.h"
#include "tests/unit/unit.h"

static const char *const query[] = {"step", "after", NULL};

static const struct route table[] = {
    {.method = METHOD_PUT, .pattern = "/v1/clusters/{}/jobs/{}"},
    {.method = METHOD_GET, .pattern = "/v1/clusters/{}/jobs/{}"},
    {.method = METHOD_GET, .pattern = "/v1/clusters/{}/jobs/{}/env", .query = query},
    {.method = METHOD_GET, .pattern = "/v1/jobs"},
    {.method = METHOD_POST, .pattern = "/fabric/x", .front = true},
};

static int match_at(bool front, const char *method, const char *path, unsigned *methods)
{
    static char copy[256];
    struct target target;
    struct problem problem;
    snprintf(copy, sizeof copy, "%s", path);
    assert_int_equal(target_split(copy, &target, &problem), 0);
    const struct route *found = route_match(table, sizeof table / sizeof table[0], &target, front,
                                            method_from_word(method), methods);
    return found ? (int)(found - table) : -1;
}

static int match(const char *method, const char *path, unsigned *methods)
{
    return match_at(false, method, path, methods);
}

/* B9: what is in front of the fabric manager shows nothing of the broker's own paths. */
UNIT(match__keeps_listeners_apart)
{
    unsigned methods;
    assert_int_equal(match("POST", "/fabric/x", &methods), -1);
    assert_int_equal(methods, 0);
    assert_int_equal(match_at(true, "GET", "/v1/jobs", &methods), -1);
    assert_int_equal(methods, 0);
    assert_int_equal(match_at(true, "POST", "/fabric/x", &methods), 4);
}

UNIT(match__takes_method_and_whole_path)
{
    static const struct {
        const char *method, *path;
        int row;
        unsigned methods;
    } cases[] = {
        {"PUT", "/v1/clusters/c/jobs/j", 0, METHOD_PUT | METHOD_GET},
        {"GET", "/v1/clusters/c/jobs/j", 1, METHOD_PUT | METHOD_GET},
        {"HEAD", "/v1/clusters/c/jobs/j", 1, METHOD_PUT | METHOD_GET},
        {"DELETE", "/v1/clusters/c/jobs/j", -1, METHOD_PUT | METHOD_GET},
        {"PATCH", "/v1/clusters/c/jobs/j", -1, METHOD_PUT | METHOD_GET},
        {"get", "/v1/jobs", -1, METHOD_GET},
        {"GET", "/v1/clusters/c/jobs/j/env", 2, METHOD_GET},
        {"GET", "/%761/jobs", 3, METHOD_GET}, /* decoded before it is compared */
        {"GET", "/v1%2Fjobs", -1, 0},         /* but not split there */
        {"GET", "/v1/clusters/c%2Fjobs%2Fj", -1, 0},
        {"GET", "/v1/clusters/c/jobs/a%2Fb", 1, METHOD_PUT | METHOD_GET},
        {"GET", "/v1/clusters//jobs/j", -1, 0},
        {"GET", "/v1/clusters/c/jobs/", -1, 0},
        {"GET", "/v1/clusters/c/jobs", -1, 0},
        {"GET", "/v1/jobs/", -1, 0},
        {"GET", "/v1/job", -1, 0},
        {"GET", "/v1/jobss", -1, 0},
        {"GET", "/V1/jobs", -1, 0},
        {"GET", "/v1", -1, 0},
        {"GET", "/", -1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned methods;
        assert_int_equal(match(cases[i].method, cases[i].path, &methods), cases[i].row);
        assert_int_equal(methods, cases[i].row < 0 ? cases[i].methods : 0);
    }
}

UNIT(methods__are_listed_with_head)
{
    char text[64], cut[6];
    methods_format(text, sizeof text, METHOD_PUT | METHOD_GET | METHOD_DELETE);
    assert_string_equal(text, "GET, HEAD, PUT, DELETE");
    methods_format(text, sizeof text, 0);
    assert_string_equal(text, "");
    methods_format(cut, sizeof cut, METHOD_GET);
    assert_string_equal(cut, "GET, ");
}

UNIT(query__is_refused_when_unknown)
{
    struct target target;
    struct problem problem;
    char known[] = "/x?after=1&step=2", unknown[] = "/x?after=1&stepp=2";
    assert_int_equal(target_split(known, &target, &problem), 0);
    assert_int_equal(route_check_query(&table[2], &target, &problem), 0);
    assert_int_equal(route_check_query(&table[3], &target, &problem), -1);
    assert_int_equal(target_split(unknown, &target, &problem), 0);
    assert_int_equal(route_check_query(&table[2], &target, &problem), -1);
    assert_int_equal(problem.status, 422);
    assert_string_equal(problem.field, "stepp");
    assert_non_null(strstr(problem.detail, "step, after"));
}

UNIT_RUN(NULL, NULL)
