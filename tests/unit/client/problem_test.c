/* SPDX-License-Identifier: Apache-2.0 */
#include "client/calls/call.h"
#include "tests/unit/unit.h"

static int read_problem(int status, const char *type, const char *body, struct mcast_error *error)
{
    struct answer answer = {.status = status};
    snprintf(answer.type, sizeof answer.type, "%s", type);
    assert_true(text_add(&answer.body, body, strlen(body)));
    int rc = problem_read(&answer, "/s", error);
    text_release(&answer.body);
    return rc;
}

UNIT(problem__carries_the_brokers_words)
{
    struct mcast_error error;
    int rc = read_problem(422, "application/problem+json",
                          "{\"type\":\"about:blank\",\"title\":\"Unprocessable\",\"status\":422,"
                          "\"detail\":\"9 VNIs cannot be had: 0 to "
                          "4\",\"code\":\"bad-value\",\"field\":\"vni_count\"}",
                          &error);
    assert_int_equal(rc, MCAST_REFUSED);
    assert_int_equal(error.code, MCAST_REFUSED);
    assert_int_equal(error.status, 422);
    assert_string_equal(error.text, "9 VNIs cannot be had: 0 to 4");
    assert_string_equal(error.word, "bad-value");
    assert_string_equal(error.field, "vni_count");
}

UNIT(problem__404_is_not_found)
{
    struct mcast_error error;
    assert_int_equal(
        read_problem(404, "application/problem+json", "{\"title\":\"no such job\"}", &error),
        MCAST_NOT_FOUND);
    assert_string_equal(error.text, "no such job");
}

/* A proxy or some other server is not to be taken for a broker that knows no such job. */
UNIT(problem__of_another_server_is_unclear)
{
    struct mcast_error error;
    assert_int_equal(read_problem(404, "text/html", "<h1>404</h1>", &error), MCAST_UNCLEAR);
    assert_int_equal(error.status, 404);
    assert_non_null(strstr(error.text, "/s"));
    assert_int_equal(read_problem(502, "", "", &error), MCAST_UNCLEAR);
    assert_int_equal(read_problem(500, "application/problem+json", "[1]", &error), MCAST_UNCLEAR);
    assert_int_equal(read_problem(500, "application/problem+json", "{\"det", &error),
                     MCAST_UNCLEAR);
}

UNIT(problem__odd_fields_are_left_out)
{
    struct mcast_error error;
    assert_int_equal(read_problem(409, "application/problem+json",
                                  "{\"detail\":7,\"title\":null,\"code\":[],\"field\":{}}", &error),
                     MCAST_REFUSED);
    assert_non_null(strstr(error.text, "409"));
    assert_string_equal(error.word, "");
    assert_string_equal(error.field, "");
}

UNIT(problem__words_cannot_drive_a_terminal)
{
    struct mcast_error error;
    assert_int_equal(
        read_problem(409, "application/problem+json", "{\"detail\":\"a\\u001b[2Jb\\nc\"}", &error),
        MCAST_REFUSED);
    assert_string_equal(error.text, "a [2Jb c");
}

UNIT(problem__needs_no_error)
{
    assert_int_equal(read_problem(404, "application/problem+json", "{}", NULL), MCAST_NOT_FOUND);
}

UNIT_RUN(NULL, NULL)
