/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/bearers/fixture.h"
#include "tests/system/http/line.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

#include <time.h>
#include <unistd.h>

/* B3, F19: what a token is good for, and that nothing makes it good for more. */

#define OWN "/v1/reservation"
#define STEPS "/v1/reservation/steps/"
#define TOKENS "/v1/reservation/tokens"

static struct fixture *fixture;
static struct fixture_job job, other;
static char wide[MCAST_TOKEN_SIZE]; /* of job, one of the broker's */

static int open_fixture(void **state)
{
    fixture = fixture_open(&(struct fixture_options){.broker = "listen = 127.0.0.1:0"});
    job = fixture_reserve(fixture, "fJob");
    other = fixture_reserve(fixture, "fOther");
    fixture_plant(fixture, &job, "/fA/fB", 0);
    fixture_plant(fixture, &job, "/fA/fC", 4);
    fixture_plant(fixture, &other, "/fA/fB", 8);
    fixture_mint(fixture, job.token, NULL, wide);
    return 0;
}

/* The last test: what all of the others made the programs write is searched (a teardown that fails
 * would not fail the program). */
static void tokens__stand_nowhere(void **state)
{
    fixture_close(fixture);
}

static void narrowed_offline__is_taken_as_far_as_it_reaches(void **state)
{
    char slim[MCAST_TOKEN_SIZE], slimmer[MCAST_TOKEN_SIZE], detail[256];
    struct answer answer;
    fixture_narrow(fixture, wide, "/fA/", time(NULL) + 3600, NULL, slim);
    fixture_narrow(fixture, slim, "/fA/fC", 0, "cleanup", slimmer);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, slim, NULL, &answer), 200);
    const json_t *token = json_object_get(answer.json, "token");
    assert_string_equal(json_string_value(json_object_get(token, "steps")), "/fA");
    assert_string_equal(json_string_value(json_object_get(token, "kind")), "broker");
    /* The session token can do more than this one, so it must not come with it. */
    assert_null(json_object_get(answer.json, "env"));
    answer_release(&answer);

    fixture_refused(fixture, "GET", OWN, slimmer, NULL, 403, "outside-scope", detail);
    assert_non_null(strstr(detail, "it allows cleanup"));
    fixture_refused(fixture, "DELETE", STEPS "%2FfA%2FfB", slimmer, NULL, 403, "outside-scope",
                    detail);
    assert_non_null(strstr(detail, "/fA/fC"));
    fixture_refused(fixture, "DELETE", STEPS "%2FfA?below=yes", slimmer, NULL, 403, "outside-scope",
                    NULL);
    fixture_refused(fixture, "DELETE", STEPS "%2FfA%2FfCx", slimmer, NULL, 403, "outside-scope",
                    NULL);
    fixture_refused(fixture, "DELETE", STEPS "fA", slimmer, NULL, 403, "outside-scope", NULL);
    assert_int_equal(fixture_trees(fixture, &job, "/fA/fB"), 1);
    assert_int_equal(
        fixture_ask(fixture, "DELETE", STEPS "%2FfA%2FfC?wait=30s", slimmer, NULL, NULL), 200);
    assert_int_equal(fixture_trees(fixture, &job, "/fA/fC"), 0);
    assert_int_equal(fixture_trees(fixture, &job, "/fA/fB"), 1);
}

static void minted__is_no_wider_than_what_was_shown(void **state)
{
    char slim[MCAST_TOKEN_SIZE], next[MCAST_TOKEN_SIZE], detail[256];
    fixture_mint(fixture, job.token, "{\"steps\":\"/fA/fB\",\"expires\":\"1h\"}", slim);
    fixture_mint(fixture, slim, "{\"steps\":\"/fA\",\"operations\":[\"show\",\"cleanup\"]}", next);
    fixture_refused(fixture, "DELETE", STEPS "%2FfA%2FfC", next, NULL, 403, "outside-scope", NULL);
    fixture_mint(fixture, slim, NULL, next);
    fixture_refused(fixture, "DELETE", STEPS "%2FfA%2FfC", next, NULL, 403, "outside-scope", NULL);
    fixture_refused(fixture, "POST", TOKENS, slim, "{\"steps\":\"/fA/fC\"}", 403, "outside-scope",
                    detail);
    assert_non_null(strstr(detail, "/fA/fB"));
    fixture_mint(fixture, slim, "{\"operations\":[\"cleanup\"]}", next);
    fixture_refused(fixture, "GET", OWN, next, NULL, 403, "outside-scope", NULL);
    fixture_refused(fixture, "POST", TOKENS, next, "{\"operations\":[\"show\"]}", 422, "invalid",
                    NULL);
}

static void wish__that_is_none_is_refused(void **state)
{
    static const struct {
        const char *body;
        int status;
        const char *code;
    } cases[] = {
        {"[]", 400, "bad-json"},
        {"{\"steps\":7}", 422, "invalid"},
        {"{\"steps\":\"/fA/\"}", 422, "invalid"},
        {"{\"steps\":\"\"}", 422, "invalid"},
        {"{\"steps\":\"/fA/../fB\"}", 422, "invalid"},
        {"{\"steps\":\"/\\u0192A\"}", 422, "invalid"},
        {"{\"steps\":\"/fA\\u0000\"}", 400, "bad-json"},
        {"{\"expires\":0}", 422, "invalid"},
        {"{\"expires\":-1}", 422, "invalid"},
        {"{\"expires\":1.5}", 422, "invalid"},
        {"{\"expires\":\"500ms\"}", 422, "invalid"},
        {"{\"expires\":\"1\"}", 422, "invalid"},
        {"{\"expires\":9223372036854775807}", 422, "invalid"},
        {"{\"expires\":\"99999999999999999999d\"}", 422, "invalid"},
        {"{\"operations\":[]}", 422, "invalid"},
        {"{\"operations\":\"show\"}", 422, "invalid"},
        {"{\"operations\":[\"show\",\"release\"]}", 422, "invalid"},
        {"{\"scope\":\"/fA\"}", 422, "unknown-field"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        fixture_refused(fixture, "POST", TOKENS, job.token, cases[i].body, cases[i].status,
                        cases[i].code, NULL);
}

/* The step is percent-decoded once, and is a step then or is none. */
static void step__that_is_none_is_refused_at_the_door(void **state)
{
    static const char *const paths[] = {
        STEPS "..",
        STEPS ".",
        STEPS "%2e%2e",
        STEPS "%2FfA%2F..",
        STEPS "%2FfA%2F..%2F..%2Fother",
        STEPS "%2FfA%2F%2FfB",
        STEPS "%2F%2FfA",
        STEPS "%2FfA%2F",
        STEPS "%2F",
        STEPS "%252FfA%252FfB",
        STEPS "%2FfA%252FfB",
        STEPS "%25%32%46fA",
        STEPS "%2F%C6%92A",       /* ƒ */
        STEPS "%2F%D1%84A",       /* Cyrillic ф */
        STEPS "%2F%EF%BD%86A",    /* full-width f */
        STEPS "%2FfA%E2%88%95fB", /* a division slash */
        STEPS "%2FfA%C0%AFfB",    /* a slash in too many bytes */
        STEPS "%2FfA%5CfB",
        STEPS "%2FfA%20",
        STEPS "%2FfA%0A",
        STEPS "%2FfA%3Fbelow",
        STEPS "fA%2FfB",
    };
    char token[MCAST_TOKEN_SIZE], detail[256];
    fixture_narrow(fixture, wide, "/fA", 0, NULL, token);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        fixture_refused(fixture, "DELETE", paths[i], token, NULL, 422, "invalid", detail);
        assert_true(detail[0] != '\0');
        for (const char *c = detail; *c; c++)
            assert_true(*c >= ' ' && *c < 0x7f);
    }
    fixture_refused(fixture, "DELETE", STEPS "%2FfA%00", token, NULL, 400, "bad-escape", NULL);
    fixture_refused(fixture, "DELETE", STEPS "%2FfA%2", token, NULL, 400, "bad-escape", NULL);
    fixture_refused(fixture, "DELETE", STEPS "/fA/fB", token, NULL, 404, "no-such-path", NULL);
    fixture_refused(fixture, "DELETE", STEPS "%2FfA?wait=2", token, NULL, 422, "invalid", NULL);
    fixture_refused(fixture, "DELETE", STEPS "%2FfA?wait=61s", token, NULL, 422, "invalid", NULL);
    fixture_refused(fixture, "DELETE", STEPS "%2FfA?below=1", token, NULL, 422, "invalid", NULL);
    fixture_refused(fixture, "DELETE", STEPS "%2FfA?force=yes", token, NULL, 422,
                    "unknown-parameter", NULL);
    assert_int_equal(fixture_trees(fixture, &job, "/fA/fB"), 1);
}

/* A job of another user: his token is good for his job, and for no other. */
static void token_of_another_job__does_not_reach_this_one(void **state)
{
    struct answer answer;
    char stolen[MCAST_TOKEN_SIZE];
    fixture_mint(fixture, other.token, NULL, stolen);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, stolen, NULL, &answer), 200);
    assert_string_equal(json_string_value(json_object_get(answer.json, "job")), "fOther");
    answer_release(&answer);
    assert_int_equal(
        fixture_ask(fixture, "DELETE", STEPS "%2FfA%2FfB?wait=30s", stolen, NULL, NULL), 200);
    assert_int_equal(fixture_trees(fixture, &other, "/fA/fB"), 0);
    assert_int_equal(fixture_trees(fixture, &job, "/fA/fB"), 1);
}

static void expired__is_refused_with_the_time(void **state)
{
    char late[MCAST_TOKEN_SIZE], detail[256];
    fixture_narrow(fixture, wide, NULL, 1, NULL, late);
    fixture_refused(fixture, "GET", OWN, late, NULL, 401, "token-expired", detail);
    assert_non_null(strstr(detail, "1970-01-01T00:00:01Z"));
    fixture_narrow(fixture, wide, NULL, time(NULL) - 1, "show", late);
    fixture_refused(fixture, "GET", OWN, late, NULL, 401, "token-expired", NULL);
    fixture_refused(fixture, "DELETE", STEPS "%2FfA", late, NULL, 401, "token-expired", NULL);
}

/* Whatever is done to it, it is no token any more: also one that a bit was changed of. */
static void damaged__is_refused(void **state)
{
    char slim[MCAST_TOKEN_SIZE], text[MCAST_TOKEN_SIZE];
    fixture_narrow(fixture, wide, "/fA", 0, NULL, slim);
    const size_t length = strlen(slim);
    for (size_t i = 0; i < length; i += 3) {
        memcpy(text, slim, length + 1);
        text[i] = text[i] == 'A' ? 'B' : 'A';
        struct answer answer;
        assert_int_equal(fixture_ask(fixture, "GET", OWN, text, NULL, &answer), 401);
        answer_release(&answer);
        text[i] = '\0';
        if (i > 0)
            assert_int_equal(fixture_ask(fixture, "GET", OWN, text, NULL, NULL), 401);
    }
    assert_int_equal(fixture_ask(fixture, "GET", OWN, slim, NULL, NULL), 200);

    /* A session token is not found by a part of it, either. */
    memcpy(text, job.token, sizeof job.token);
    text[strlen(text) - 1] ^= 1;
    fixture_refused(fixture, "GET", OWN, text, NULL, 401, "token-unknown", NULL);
    text[strlen(text) - 1] = '\0';
    fixture_refused(fixture, "GET", OWN, text, NULL, 401, "token-unknown", NULL);
    fixture_refused(fixture, "GET", OWN, "mcast2.AAAA", NULL, 401, "token-invalid", NULL);
    fixture_refused(fixture, "GET", OWN, "x", NULL, 401, "token-unknown", NULL);
}

static void oversized__is_refused(void **state)
{
    static const size_t sizes[] = {1025, 4000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *headers = malloc(sizes[i] + 64);
        assert_non_null(headers);
        int start = snprintf(headers, 64, "Authorization: Bearer mcast1.");
        memset(headers + start, 'A', sizes[i]);
        memcpy(headers + start + sizes[i], "\r\n", 3);
        assert_int_equal(fixture_ask_so(fixture, false, "GET", OWN, headers, NULL, NULL), 401);
        free(headers);
    }
}

/* More than a request's head has room for: it is not even read. */
static void monstrous__is_refused_unread(void **state)
{
    enum { SIZE = 100000 };
    struct answer answer;
    char *headers = malloc(SIZE + 64);
    assert_non_null(headers);
    int start = snprintf(headers, 64, "Authorization: Bearer ");
    memset(headers + start, 'A', SIZE);
    memcpy(headers + start + SIZE, "\r\n", 3);
    struct line *line = line_open(testbed_socket(fixture_stage(fixture)), 0);
    line_request(line, "GET", OWN, headers, NULL);
    if (line_answer(line, false, &answer) == 0) { /* else it was closed */
        assert_int_equal(answer.status, 431);
        answer_release(&answer);
    }
    line_close(line);
    free(headers);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, wide, NULL, NULL), 200);
}

static void headers__of_two_minds_are_refused(void **state)
{
    char headers[512];
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\nAuthorization: Bearer %s\r\n",
             job.token, other.token);
    assert_int_equal(fixture_ask_so(fixture, false, "GET", OWN, headers, NULL, NULL), 400);
    snprintf(headers, sizeof headers, "Authorization: Bearer %s, Bearer %s\r\n", job.token,
             other.token);
    assert_int_equal(fixture_ask_so(fixture, false, "GET", OWN, headers, NULL, NULL), 401);
    assert_int_equal(
        fixture_ask_so(fixture, false, "GET", OWN, "Authorization: Bearer\r\n", NULL, NULL), 401);
}

/* Root is an admin here; with a token it is a bearer there, and nothing elsewhere. */
static void token__is_judged_alone(void **state)
{
    static const char *const elsewhere[] = {"/v1/status", "/v1/jobs", "/v1/doctor",
                                            "/v1/clusters/elcap/jobs/fJob", "/v1/events?follow=0"};
    struct answer answer;
    fixture_refused(fixture, "GET", OWN, NULL, NULL, 401, "no-token", NULL);
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        fixture_refused(fixture, "GET", elsewhere[i], wide, NULL, 401, "token-elsewhere", NULL);
    fixture_refused(fixture, "DELETE", "/v1/clusters/elcap/jobs/fJob", job.token, NULL, 401,
                    "token-elsewhere", NULL);
    fixture_refused(fixture, "POST", "/v1/tokens/rotate", job.token, NULL, 401, "token-elsewhere",
                    NULL);
    assert_int_equal(fixture_ask(fixture, "GET", "/healthz", wide, NULL, NULL), 200);
    assert_int_equal(fixture_ask(fixture, "GET", "/v1/whoami", wide, NULL, &answer), 200);
    assert_string_equal(json_string_value(json_object_get(answer.json, "proof")), "bearer");
    assert_true(json_is_false(json_object_get(answer.json, "admin")));
    answer_release(&answer);
    fixture_refused(fixture, "GET", "/v1/whoami", "x", NULL, 401, "token-unknown", NULL);
}

/* Nobody else is proved over plain TCP of this host: the token is enough. */
static void tcp__is_as_good(void **state)
{
    char headers[MCAST_TOKEN_SIZE + 64];
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", wide);
    assert_int_equal(fixture_ask_so(fixture, true, "GET", OWN, headers, NULL, NULL), 200);
    assert_int_equal(fixture_ask_so(fixture, true, "DELETE", STEPS "none", headers, NULL, NULL),
                     202);
    assert_int_equal(fixture_ask_so(fixture, true, "GET", OWN, NULL, NULL, NULL), 401);
}

static bool is_let_in(void *headers)
{
    return fixture_ask_so(fixture, true, "GET", OWN, headers, NULL, NULL) == 200;
}

static struct line *ask_from(unsigned host, const char *token, int status)
{
    char headers[MCAST_TOKEN_SIZE + 64];
    struct line *line = line_open_from(host, fixture_port(fixture));
    struct answer answer;
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", token);
    assert_int_equal(line_request(line, "GET", OWN, headers, NULL), 0);
    assert_int_equal(line_answer(line, false, &answer), 0);
    assert_int_equal(answer.status, status);
    answer_release(&answer);
    return line;
}

/* Bearers of one reservation have one share, from however many hosts of its job they come and
 * whichever of its tokens they show: a newcomer takes the place of one of them that is idle, and
 * nobody else's, other jobs' bearers' neither. */
static void connections__are_counted(void **state)
{
    enum { SHARE = 64, HOSTS = 32 };
    char headers[MCAST_TOKEN_SIZE + 64];
    struct line *lines[SHARE + 3];
    size_t count = 0;
    for (; count < SHARE; count++)
        lines[count] = ask_from(1 + (unsigned)count % HOSTS, count % 2 ? wide : job.token, 200);
    lines[count++] = ask_from(HOSTS + 1, wide, 200);
    lines[count++] = ask_from(1, job.token, 200);
    lines[count++] = ask_from(1, other.token, 200);
    for (size_t i = 0; i < 2; i++) { /* those that were idle for longest */
        struct answer answer;
        assert_int_equal(line_answer(lines[i], false, &answer), 0);
        assert_int_equal(answer.status, 503);
        answer_release(&answer);
        assert_true(line_ended(lines[i]));
    }
    assert_int_equal(fixture_ask(fixture, "GET", "/v1/status", NULL, NULL, NULL), 200);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, wide, NULL, NULL), 200);
    for (size_t i = 0; i < count; i++)
        line_close(lines[i]);
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", wide);
    assert_true(await(is_let_in, headers, AWAIT_DEADLINE_MS));
}

static struct line *wait_for_cleanup(struct fixture *small, const struct fixture_job *whose)
{
    char headers[MCAST_TOKEN_SIZE + 64];
    struct line *line = line_open(NULL, fixture_port(small));
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", whose->token);
    assert_int_equal(line_request(line, "DELETE", STEPS "0?wait=60s", headers, NULL), 0);
    return line;
}

static void expect_status(struct line *line, int status)
{
    struct answer answer;
    assert_int_equal(line_answer(line, false, &answer), 0);
    assert_int_equal(answer.status, status);
    answer_release(&answer);
}

/* Who waits for a cleanup keeps his connection as long as the fabric manager takes: when those who
 * do have half of the bearers' places, the others are told at once that it is pending, so that
 * a new connection is accepted (B8). */
static void waits__keep_nobody_out(void **state)
{
    enum { JOBS = 4 };
    struct fixture *small = fixture_open(
        &(struct fixture_options){.broker = "listen = 127.0.0.1:0\nconnections_max = 16"});
    struct fixture_job jobs[JOBS];
    struct line *lines[2];
    char headers[MCAST_TOKEN_SIZE + 64];
    for (int i = 0; i < JOBS; i++) {
        jobs[i] = fixture_reserve(small, ((const char *[]){"f1", "f2", "f3", "f4"})[i]);
        fixture_plant(small, &jobs[i], "0", (unsigned)i);
    }
    fixture_tell_fm(small, "POST", "/mock/faults", "{\"method\":\"PATCH\",\"status\":503}");
    for (int i = 0; i < 2; i++) {
        lines[i] = wait_for_cleanup(small, &jobs[i]);
        fixture_await_status(small, "cleanups", "pending", i + 1);
    }
    expect_status(lines[1], 504);
    for (int i = 2; i < JOBS; i++) {
        snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", jobs[i].token);
        assert_int_equal(fixture_ask_so(small, true, "GET", OWN, headers, NULL, NULL), 200);
    }
    fixture_tell_fm(small, "DELETE", "/mock/faults", NULL);
    expect_status(lines[0], 200); /* its wait was not over */
    for (int i = 0; i < 2; i++)
        line_close(lines[i]);
    fixture_close(small);
}

/* Whichever token is shown, and whatever is asked for; other jobs get theirs, and what was given is
 * good (B8). */
static void minting__has_a_limit(void **state)
{
    enum { FAR_TOO_MANY = 1000 };
    struct fixture_job greedy = fixture_reserve(fixture, "fGreedy");
    char own[MCAST_TOKEN_SIZE], theirs[MCAST_TOKEN_SIZE], retry[16];
    struct answer answer;
    int status = 201;
    fixture_mint(fixture, greedy.token, NULL, own);
    for (int i = 0; status == 201; i++) {
        assert_true(i < FAR_TOO_MANY);
        status = fixture_ask(fixture, "POST", TOKENS, i % 2 ? own : greedy.token, NULL, &answer);
        if (status == 201) {
            fixture_remember(fixture, json_string_value(json_object_get(answer.json, "token")));
            answer_release(&answer);
        }
    }
    assert_int_equal(status, 429);
    assert_true(answer_header(&answer, "Retry-After", retry, sizeof retry));
    assert_string_equal(retry, "1");
    assert_string_equal(json_string_value(json_object_get(answer.json, "code")), "too-many-tokens");
    assert_non_null(strstr(answer.body, "job fGreedy on cluster elcap"));
    answer_release(&answer);
    fixture_mint(fixture, other.token, NULL, theirs);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, own, NULL, NULL), 200);
    fixture_release(fixture, "fGreedy");
}

static json_int_t rotate(json_int_t *dropped)
{
    struct answer answer;
    assert_int_equal(fixture_ask(fixture, "POST", "/v1/tokens/rotate", NULL, NULL, &answer), 200);
    json_int_t keys = json_integer_value(json_object_get(answer.json, "keys"));
    *dropped = json_integer_value(json_object_get(answer.json, "dropped"));
    answer_release(&answer);
    return keys;
}

/* Old keys are honoured as long as a reservation lives that is older than the next one. */
static void rotation__leaves_tokens_that_are_out(void **state)
{
    char fresh[MCAST_TOKEN_SIZE];
    json_int_t dropped;
    assert_int_equal(rotate(&dropped), 2);
    assert_int_equal(dropped, 0);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, wide, NULL, NULL), 200);
    fixture_mint(fixture, job.token, NULL, fresh);
    assert_string_not_equal(fresh, wide);
    testbed_kill_broker(fixture_stage(fixture));
    assert_int_equal(testbed_start_broker(fixture_stage(fixture)), 0);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, wide, NULL, NULL), 200);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, fresh, NULL, NULL), 200);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, job.token, NULL, NULL), 200);
}

static void release__ends_all_tokens(void **state)
{
    struct fixture_job brief = fixture_reserve(fixture, "fBrief");
    char token[MCAST_TOKEN_SIZE], detail[256];
    fixture_mint(fixture, brief.token, NULL, token);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, token, NULL, NULL), 200);
    fixture_release(fixture, "fBrief");
    fixture_refused(fixture, "GET", OWN, token, NULL, 401, "reservation-over", detail);
    assert_non_null(strstr(detail, "fBrief"));
    fixture_refused(fixture, "DELETE", STEPS "%2FfA", token, NULL, 401, "reservation-over", NULL);
    fixture_refused(fixture, "GET", OWN, brief.token, NULL, 401, "reservation-over", NULL);

    /* Submitted again under its id it is another one. */
    struct fixture_job again = fixture_reserve(fixture, "fBrief");
    assert_true(again.number > brief.number);
    fixture_refused(fixture, "GET", OWN, token, NULL, 401, "reservation-over", NULL);
    fixture_refused(fixture, "GET", OWN, brief.token, NULL, 401, "reservation-over", NULL);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, again.token, NULL, NULL), 200);
    testbed_kill_broker(fixture_stage(fixture));
    assert_int_equal(testbed_start_broker(fixture_stage(fixture)), 0);
    fixture_refused(fixture, "GET", OWN, token, NULL, 401, "reservation-over", NULL);
    fixture_refused(fixture, "GET", OWN, brief.token, NULL, 401, "token-unknown", NULL);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, again.token, NULL, NULL), 200);
}

/* The last one: no reservation is left. */
static void rotation__drops_keys_that_nobody_needs(void **state)
{
    json_int_t dropped;
    fixture_release(fixture, "fJob");
    fixture_release(fixture, "fOther");
    fixture_release(fixture, "fBrief");
    assert_int_equal(rotate(&dropped), 1);
    assert_int_equal(dropped, 2);
    fixture_refused(fixture, "GET", OWN, wide, NULL, 401, "token-invalid", NULL);
    struct fixture_job next = fixture_reserve(fixture, "fNext");
    char token[MCAST_TOKEN_SIZE];
    fixture_mint(fixture, next.token, NULL, token);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, token, NULL, NULL), 200);
}

static void lose_ledger(void)
{
    static const char *const names[] = {"state.db", "state.db-wal", "state.db-shm"};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unlink(
            folder_path(path, sizeof path, testbed_folder(fixture_stage(fixture)), names[i]));
}

/* Numbers begin anew with the ledger: an old token names the life that now has its number. */
static void token__of_a_ledger_that_was_lost_is_refused(void **state)
{
    char old[MCAST_TOKEN_SIZE], fresh[MCAST_TOKEN_SIZE];
    struct testbed *testbed = fixture_stage(fixture);
    /* What is left at the fabric manager is taken for active, and has a number then. */
    fixture_release(fixture, "fNext");
    fixture_await_status(fixture, "queues", "fm_release", 0);
    assert_int_equal(testbed_stop_broker(testbed), 0);
    lose_ledger();
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(testbed_await_link(testbed), 0);
    struct fixture_job before = fixture_reserve(fixture, "fTwin");
    fixture_mint(fixture, before.token, NULL, old);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, old, NULL, NULL), 200);
    fixture_release(fixture, "fTwin");
    fixture_await_status(fixture, "queues", "fm_release", 0);

    assert_int_equal(testbed_stop_broker(testbed), 0);
    lose_ledger();
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(testbed_await_link(testbed), 0);
    struct fixture_job after = fixture_reserve(fixture, "fTwin");
    assert_int_equal(after.number, before.number);
    fixture_refused(fixture, "GET", OWN, old, NULL, 401, "token-invalid", NULL);
    fixture_refused(fixture, "DELETE", STEPS "%2FfA", old, NULL, 401, "token-invalid", NULL);
    fixture_mint(fixture, after.token, NULL, fresh);
    assert_true(testbed_broker_logged(testbed, "its root keys were replaced"));

    /* An ordinary restart leaves what is in use. */
    assert_int_equal(testbed_stop_broker(testbed), 0);
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(fixture_ask(fixture, "GET", OWN, fresh, NULL, NULL), 200);
}

UNIT_GROUP(open_fixture, NULL, cmocka_unit_test(narrowed_offline__is_taken_as_far_as_it_reaches),
           cmocka_unit_test(minted__is_no_wider_than_what_was_shown),
           cmocka_unit_test(wish__that_is_none_is_refused),
           cmocka_unit_test(step__that_is_none_is_refused_at_the_door),
           cmocka_unit_test(token_of_another_job__does_not_reach_this_one),
           cmocka_unit_test(expired__is_refused_with_the_time),
           cmocka_unit_test(damaged__is_refused), cmocka_unit_test(oversized__is_refused),
           cmocka_unit_test(monstrous__is_refused_unread),
           cmocka_unit_test(headers__of_two_minds_are_refused),
           cmocka_unit_test(token__is_judged_alone), cmocka_unit_test(tcp__is_as_good),
           cmocka_unit_test(connections__are_counted), cmocka_unit_test(waits__keep_nobody_out),
           cmocka_unit_test(minting__has_a_limit),
           cmocka_unit_test(rotation__leaves_tokens_that_are_out),
           cmocka_unit_test(release__ends_all_tokens),
           cmocka_unit_test(rotation__drops_keys_that_nobody_needs),
           cmocka_unit_test(token__of_a_ledger_that_was_lost_is_refused),
           cmocka_unit_test(tokens__stand_nowhere))
