/* SPDX-License-Identifier: Apache-2.0 */
/* What a job's session token opens, on the wire: each kind of fabric manager that one can have. */

#include "tests/system/mockfm/mockfm.h"
#include "tests/unit/unit.h"

#define END_STEP "{\"jobSteps\":{\"/fA\":null}}"

struct tokens {
    char own[128], other[128]; /* header lines */
    char tree[128];            /* the path of a tree of the first's */
};

static void begin(struct mockfm_fm *fm, const char *kind, struct tokens *tokens)
{
    const char *const options[] = {"--session-tokens", kind, NULL};
    struct rawhttp_reply reply;
    char body[256];

    mockfm_start(fm, kind ? options : NULL);
    mockfm_reserve(fm, "c-1", 2, tokens->own);
    mockfm_reserve(fm, "c-2", 2, tokens->other);
    mockfm_tree(body, "c-1", "/fA", 0);
    assert_int_equal(rawhttp_once(fm->port, "POST", DOUBLE_TREES, tokens->own, body, &reply), 201);
    snprintf(tokens->tree, sizeof tokens->tree, "%s",
             json_string_value(json_object_get(reply.json, "documentSelfLink")));
    rawhttp_release(&reply);
}

static int ask(const struct mockfm_fm *fm, const char *method, const char *path, const char *login,
               const char *body)
{
    return rawhttp_once(fm->port, method, path, login, body, NULL);
}

/* How many trees there are. */
static json_int_t trees(const struct mockfm_fm *fm)
{
    struct rawhttp_reply reply;
    json_int_t count;

    assert_int_equal(rawhttp_once(fm->port, "GET", "/mock/state", NULL, NULL, &reply), 200);
    count = json_integer_value(json_object_get(reply.json, "addressesInUse"));
    rawhttp_release(&reply);
    return count;
}

static void session__opens_what_the_kind_says(void **state)
{
    static const struct {
        const char *kind; /* NULL: as it is by itself */
        int get, patch;
    } kinds[] = {
        {NULL, 200, 200},    {"own-job", 200, 200},    {"get", 200, 403},
        {"patch", 403, 200}, {"trees-only", 403, 403},
    };
    struct mockfm_fm *fm = *state;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct tokens tokens;

        begin(fm, kinds[i].kind, &tokens);
        assert_int_equal(ask(fm, "GET", DOUBLE_JOBS "/c-1", tokens.own, NULL), kinds[i].get);
        assert_int_equal(ask(fm, "GET", DOUBLE_JOBS "/c-1", tokens.other, NULL), 403);
        assert_int_equal(ask(fm, "PATCH", DOUBLE_JOBS "/c-1", tokens.other, END_STEP), 403);
        assert_int_equal(ask(fm, "DELETE", tokens.tree, tokens.other, NULL), 403);
        assert_int_equal(ask(fm, "DELETE", DOUBLE_JOBS "/c-1", tokens.own, NULL), 403);
        assert_int_equal(trees(fm), 1);
        assert_int_equal(ask(fm, "PATCH", DOUBLE_JOBS "/c-1", tokens.own, END_STEP),
                         kinds[i].patch);
        if (kinds[i].patch != 200)
            assert_int_equal(ask(fm, "DELETE", tokens.tree, tokens.own, NULL), 200);
        assert_int_equal(trees(fm), 0);
        assert_int_equal(ask(fm, "PATCH", DOUBLE_JOBS "/c-1", DOUBLE_LOGIN, END_STEP), 200);
        assert_int_equal(ask(fm, "DELETE", DOUBLE_JOBS "/c-1", DOUBLE_LOGIN, NULL), 200);
        assert_int_equal(ask(fm, "DELETE", DOUBLE_JOBS "/c-2", DOUBLE_LOGIN, NULL), 200);
        mockfm_stop(fm);
    }
}

/* A server that does not take a session token for a login at all says 401, and says it to nobody
 * else. */
static void session__is_refused_alone(void **state)
{
    struct mockfm_fm *fm = *state;
    struct tokens tokens;

    begin(fm, NULL, &tokens);
    mockfm_fault(fm, "{\"method\":\"PATCH\",\"session\":true,\"status\":401}");
    assert_int_equal(ask(fm, "PATCH", DOUBLE_JOBS "/c-1", tokens.own, END_STEP), 401);
    assert_int_equal(ask(fm, "GET", DOUBLE_JOBS "/c-1", tokens.own, NULL), 200);
    assert_int_equal(trees(fm), 1);
    assert_int_equal(ask(fm, "PATCH", DOUBLE_JOBS "/c-1", DOUBLE_LOGIN, END_STEP), 200);
    assert_int_equal(trees(fm), 0);
}

/* By it others' tests tell whether a call was made with the login. */
static void log__tells_session_tokens_from_logins(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;
    struct tokens tokens;

    begin(fm, NULL, &tokens); /* two reservations and a tree */
    assert_int_equal(ask(fm, "GET", DOUBLE_JOBS "/c-1", DOUBLE_LOGIN, NULL), 200);
    assert_int_equal(rawhttp_once(fm->port, "GET", "/mock/log", NULL, NULL, &reply), 200);
    const json_t *entries = json_object_get(reply.json, "entries");
    assert_int_equal(json_array_size(entries), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *session = json_object_get(json_array_get(entries, i), "session");

        assert_int_equal(json_is_true(session), i == 2);
    }
    assert_null(strstr(reply.body, "sess-"));
    rawhttp_release(&reply);
}

UNIT_MAIN(STOPPED(session__opens_what_the_kind_says), STOPPED(session__is_refused_alone),
          STOPPED(log__tells_session_tokens_from_logins))
