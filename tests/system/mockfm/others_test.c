/* SPDX-License-Identifier: Apache-2.0 */
/* What stands around a fabric manager: a gateway, replicas that lag, other clients. */

#include "tests/system/mockfm/mockfm.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

static int ask(const struct mockfm_fm *fm, const char *method, const char *path, const char *body,
               struct rawhttp_reply *reply)
{
    return rawhttp_once(fm->port, method, path, DOUBLE_LOGIN, body, reply);
}

static int control(const struct mockfm_fm *fm, const char *path, const char *body)
{
    return rawhttp_once(fm->port, "POST", path, NULL, body, NULL);
}

/* The rules of docs/mock-fm.md, "A gateway in front". */
static void gateway__answers_404_in_its_own_words(void **state)
{
    static const struct {
        const char *rule, *type, *body;
    } gateways[] = {
        {"{\"count\":1,\"status\":404,\"body\":\"\"}", NULL, ""},
        {"{\"count\":1,\"status\":404,\"body\":{}}", "application/json", "{}"},
        {"{\"count\":1,\"status\":404,\"body\":{\"message\":\"no Route matched with those "
         "values\"}}",
         "application/json", "{\"message\":\"no Route matched with those values\"}"},
        {"{\"count\":1,\"status\":404,\"body\":\"<html>nginx</html>\","
         "\"headers\":{\"Content-Type\":\"text/html\"}}",
         "text/html", "<html>nginx</html>"},
    };
    static const char *const calls[][3] = {
        {"POST", DOUBLE_JOBS, "{\"jobID\":\"c-2\",\"mcastLimit\":1}"},
        {"GET", DOUBLE_JOBS "/", NULL},
        {"GET", DOUBLE_JOBS "/c-1", NULL},
        {"DELETE", DOUBLE_JOBS "/c-1", NULL}};
    struct mockfm_fm *fm = *state;
    char bearer[128], type[64];

    mockfm_reserve(fm, "c-1", 1, bearer);
    for (size_t i = 0; i < sizeof gateways / sizeof gateways[0]; i++) {
        for (size_t j = 0; j < sizeof calls / sizeof calls[0]; j++) {
            struct rawhttp_reply reply;

            mockfm_fault(fm, gateways[i].rule);
            assert_int_equal(ask(fm, calls[j][0], calls[j][1], calls[j][2], &reply), 404);
            assert_string_equal(reply.body, gateways[i].body);
            snprintf(type, sizeof type, "Content-Type: %s\r\n",
                     gateways[i].type ? gateways[i].type : "");
            if (gateways[i].type)
                assert_non_null(strstr(reply.head, type));
            else
                assert_null(strstr(reply.head, "Content-Type"));
            rawhttp_release(&reply);
        }
    }
    assert_true(mockfm_holds(fm, "c-1"));
    assert_int_equal(mockfm_count_jobs(fm), 1);
}

struct client {
    struct mockfm_fm *fm;
    int refused;
};

static bool is_served(void *arg)
{
    struct client *client = arg;
    int status = ask(client->fm, "GET", DOUBLE_JOBS "/", NULL, NULL);

    client->refused += status == 404;
    return status == 200;
}

/* It begins with the first request that meets it. */
static void for_ms__is_over_some_time(void **state)
{
    struct mockfm_fm *fm = *state;
    struct client client = {.fm = fm};

    mockfm_fault(fm, "{\"status\":404,\"body\":\"\",\"for_ms\":300}");
    assert_true(await(is_served, &client, AWAIT_DEADLINE_MS));
    assert_true(client.refused >= 1);
}

static size_t listed(const struct mockfm_fm *fm)
{
    struct rawhttp_reply reply;
    size_t count;

    assert_int_equal(ask(fm, "GET", DOUBLE_JOBS "/", NULL, &reply), 200);
    count = json_array_size(json_object_get(reply.json, "documentLinks"));
    rawhttp_release(&reply);
    return count;
}

static void replica__lags_in_every_second_read(void **state)
{
    struct mockfm_fm *fm = *state;
    char bearer[128];

    mockfm_reserve(fm, "c-1", 1, bearer);
    mockfm_fault(fm, "{\"method\":\"GET\",\"path\":\"*/jobs*\",\"every\":2,\"stale_writes\":2}");
    mockfm_reserve(fm, "c-2", 1, bearer);
    mockfm_reserve(fm, "c-3", 1, bearer);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(listed(fm), 3);
        assert_int_equal(listed(fm), 1);
        assert_int_equal(ask(fm, "GET", DOUBLE_JOBS "/c-3", NULL, NULL), 200);
        assert_int_equal(ask(fm, "GET", DOUBLE_JOBS "/c-3", NULL, NULL), 404);
    }
    /* What is gone is still shown, too; and what is written is never stale. */
    assert_int_equal(ask(fm, "DELETE", DOUBLE_JOBS "/c-1", NULL, NULL), 200);
    assert_int_equal(ask(fm, "DELETE", DOUBLE_JOBS "/c-1", NULL, NULL), 404);
    assert_int_equal(ask(fm, "GET", DOUBLE_JOBS "/c-1", NULL, NULL), 404);
    assert_int_equal(ask(fm, "GET", DOUBLE_JOBS "/c-1", NULL, NULL), 200);
    mockfm_fault(fm, "{\"method\":\"GET\",\"stale_ms\":3600000}"); /* it begins again */
    assert_int_equal(listed(fm), 2);
    mockfm_reserve(fm, "c-4", 1, bearer);
    assert_int_equal(listed(fm), 2);
    mockfm_fault(fm, "[]");
    assert_int_equal(listed(fm), 3);
}

static void token_of(const struct mockfm_fm *fm, const char *job, char token[128])
{
    struct rawhttp_reply reply;
    char path[128];

    snprintf(path, sizeof path, DOUBLE_JOBS "/%s", job);
    assert_int_equal(ask(fm, "GET", path, NULL, &reply), 200);
    snprintf(token, 128, "%s", json_string_value(json_object_get(reply.json, "sessionToken")));
    rawhttp_release(&reply);
}

static void other_client__makes_replaces_and_deletes(void **state)
{
    struct mockfm_fm *fm = *state;
    char bearer[128], before[128], after[128], other[128];

    mockfm_reserve(fm, "c-1", 1, bearer);
    token_of(fm, "c-1", before);
    assert_int_equal(control(fm, "/mock/put",
                             "{\"jobs\":[{\"jobID\":\"c-1\",\"mcastLimit\":2},"
                             "{\"jobID\":\"c-2\",\"mcastLimit\":2}]}"),
                     200);
    token_of(fm, "c-1", after);
    token_of(fm, "c-2", other);
    assert_string_not_equal(before, after);
    assert_string_not_equal(after, other);
    assert_int_equal(control(fm, "/mock/put",
                             "{\"jobs\":[{\"jobID\":\"c-2\",\"mcastLimit\":2,"
                             "\"sessionToken\":\"sess-1\"}]}"),
                     200);
    token_of(fm, "c-2", other);
    assert_string_equal(other, "sess-1");
    assert_int_equal(control(fm, "/mock/forget", "{\"jobs\":[\"c-1\"]}"), 200);
    assert_false(mockfm_holds(fm, "c-1"));
    assert_int_equal(mockfm_log_total(fm, "requests"), 5); /* its own requests are not logged */
    assert_int_equal(control(fm, "/mock/put", "{\"jobs\":[{\"jobID\":\"c-3\"}]}"), 400);
    assert_int_equal(control(fm, "/mock/put", "{\"jobs\":[{\"mcastLimit\":3}]}"), 400);
    assert_int_equal(
        control(fm, "/mock/put",
                "{\"jobs\":[{\"jobID\":\"c-3\",\"mcastLimit\":1,\"sessionToken\":\"\"}]}"),
        400);
    assert_int_equal(control(fm, "/mock/put", "{\"jobs\":{}}"), 400);
    assert_int_equal(control(fm, "/mock/put", NULL), 400);
    assert_int_equal(mockfm_count_jobs(fm), 1);
}

/* A careless fabric manager: two jobs with one token, which it keeps and shows. */
static void session_token__is_given_twice(void **state)
{
    struct mockfm_fm *fm = *state;
    char first[128], second[128];

    mockfm_fault(fm, "{\"method\":\"POST\",\"count\":2,\"session_token\":\"sess-1\"}");
    mockfm_reserve(fm, "c-1", 1, first);
    mockfm_reserve(fm, "c-2", 1, second);
    assert_string_equal(first, second);
    mockfm_kill(fm);
    mockfm_start(fm, NULL);
    token_of(fm, "c-1", first);
    token_of(fm, "c-2", second);
    assert_string_equal(first, "sess-1");
    assert_string_equal(second, "sess-1");
}

UNIT_MAIN(RUNNING(gateway__answers_404_in_its_own_words), RUNNING(for_ms__is_over_some_time),
          RUNNING(replica__lags_in_every_second_read),
          RUNNING(other_client__makes_replaces_and_deletes), RUNNING(session_token__is_given_twice))
