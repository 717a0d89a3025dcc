/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/bearers/yard.h"
#include "tests/system/http/line.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

/* B3, F19: what a token is good for, and that nothing makes it good for more. */

#define OWN "/v1/reservation"
#define STEPS "/v1/reservation/steps/"
#define TOKENS "/v1/reservation/tokens"

static struct yard *yard;
static struct yard_job job, other;
static char wide[MCAST_TOKEN_SIZE]; /* of job, one of the broker's */

static int open_yard(void **state)
{
    (void)state;
    yard = yard_open(&(struct yard_options){.broker = "listen = 127.0.0.1:0"});
    job = yard_reserve(yard, "fJob");
    other = yard_reserve(yard, "fOther");
    yard_plant(yard, &job, "/fA/fB", 0);
    yard_plant(yard, &job, "/fA/fC", 4);
    yard_plant(yard, &other, "/fA/fB", 8);
    yard_mint(yard, job.token, NULL, wide);
    return 0;
}

/* The last test: what all of the others made the programs write is searched (a teardown that fails
 * would not fail the program). */
static void tokens__stand_nowhere(void **state)
{
    (void)state;
    yard_close(yard);
}

static void narrowed_offline__is_taken_as_far_as_it_reaches(void **state)
{
    (void)state;
    char slim[MCAST_TOKEN_SIZE], slimmer[MCAST_TOKEN_SIZE], detail[256];
    struct answer answer;
    yard_narrow(yard, wide, "/fA/", time(NULL) + 3600, NULL, slim);
    yard_narrow(yard, slim, "/fA/fC", 0, "cleanup", slimmer);
    assert_int_equal(yard_ask(yard, "GET", OWN, slim, NULL, &answer), 200);
    const json_t *token = json_object_get(answer.json, "token");
    assert_string_equal(json_string_value(json_object_get(token, "steps")), "/fA");
    assert_string_equal(json_string_value(json_object_get(token, "kind")), "broker");
    /* The session token can do more than this one, so it must not come with it. */
    assert_null(json_object_get(answer.json, "env"));
    answer_release(&answer);

    yard_refused(yard, "GET", OWN, slimmer, NULL, 403, "outside-scope", detail);
    assert_non_null(strstr(detail, "it allows cleanup"));
    yard_refused(yard, "DELETE", STEPS "%2FfA%2FfB", slimmer, NULL, 403, "outside-scope", detail);
    assert_non_null(strstr(detail, "/fA/fC"));
    yard_refused(yard, "DELETE", STEPS "%2FfA?below=yes", slimmer, NULL, 403, "outside-scope",
                 NULL);
    yard_refused(yard, "DELETE", STEPS "%2FfA%2FfCx", slimmer, NULL, 403, "outside-scope", NULL);
    yard_refused(yard, "DELETE", STEPS "fA", slimmer, NULL, 403, "outside-scope", NULL);
    assert_int_equal(yard_trees(yard, &job, "/fA/fB"), 1);
    assert_int_equal(yard_ask(yard, "DELETE", STEPS "%2FfA%2FfC?wait=30s", slimmer, NULL, NULL),
                     200);
    assert_int_equal(yard_trees(yard, &job, "/fA/fC"), 0);
    assert_int_equal(yard_trees(yard, &job, "/fA/fB"), 1);
}

static void minted__is_no_wider_than_what_was_shown(void **state)
{
    (void)state;
    char slim[MCAST_TOKEN_SIZE], next[MCAST_TOKEN_SIZE], detail[256];
    yard_mint(yard, job.token, "{\"steps\":\"/fA/fB\",\"expires\":\"1h\"}", slim);
    yard_mint(yard, slim, "{\"steps\":\"/fA\",\"operations\":[\"show\",\"cleanup\"]}", next);
    yard_refused(yard, "DELETE", STEPS "%2FfA%2FfC", next, NULL, 403, "outside-scope", NULL);
    yard_mint(yard, slim, NULL, next);
    yard_refused(yard, "DELETE", STEPS "%2FfA%2FfC", next, NULL, 403, "outside-scope", NULL);
    yard_refused(yard, "POST", TOKENS, slim, "{\"steps\":\"/fA/fC\"}", 403, "outside-scope",
                 detail);
    assert_non_null(strstr(detail, "/fA/fB"));
    yard_mint(yard, slim, "{\"operations\":[\"cleanup\"]}", next);
    yard_refused(yard, "GET", OWN, next, NULL, 403, "outside-scope", NULL);
    yard_refused(yard, "POST", TOKENS, next, "{\"operations\":[\"show\"]}", 422, "invalid", NULL);
}

static void wish__that_is_none_is_refused(void **state)
{
    (void)state;
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
        yard_refused(yard, "POST", TOKENS, job.token, cases[i].body, cases[i].status, cases[i].code,
                     NULL);
}

/* The step is percent-decoded once, and is a step then or is none. */
static void step__that_is_none_is_refused_at_the_door(void **state)
{
    (void)state;
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
    yard_narrow(yard, wide, "/fA", 0, NULL, token);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        yard_refused(yard, "DELETE", paths[i], token, NULL, 422, "invalid", detail);
        assert_true(detail[0] != '\0');
        for (const char *c = detail; *c; c++)
            assert_true(*c >= ' ' && *c < 0x7f);
    }
    yard_refused(yard, "DELETE", STEPS "%2FfA%00", token, NULL, 400, "bad-escape", NULL);
    yard_refused(yard, "DELETE", STEPS "%2FfA%2", token, NULL, 400, "bad-escape", NULL);
    yard_refused(yard, "DELETE", STEPS "/fA/fB", token, NULL, 404, "no-such-path", NULL);
    yard_refused(yard, "DELETE", STEPS "%2FfA?wait=2", token, NULL, 422, "invalid", NULL);
    yard_refused(yard, "DELETE", STEPS "%2FfA?wait=61s", token, NULL, 422, "invalid", NULL);
    yard_refused(yard, "DELETE", STEPS "%2FfA?below=1", token, NULL, 422, "invalid", NULL);
    yard_refused(yard, "DELETE", STEPS "%2FfA?force=yes", token, NULL, 422, "unknown-parameter",
                 NULL);
    assert_int_equal(yard_trees(yard, &job, "/fA/fB"), 1);
}

/* A job of another user: his token is good for his job, and for no other. */
static void token_of_another_job__does_not_reach_this_one(void **state)
{
    (void)state;
    struct answer answer;
    char stolen[MCAST_TOKEN_SIZE];
    yard_mint(yard, other.token, NULL, stolen);
    assert_int_equal(yard_ask(yard, "GET", OWN, stolen, NULL, &answer), 200);
    assert_string_equal(json_string_value(json_object_get(answer.json, "job")), "fOther");
    answer_release(&answer);
    assert_int_equal(yard_ask(yard, "DELETE", STEPS "%2FfA%2FfB?wait=30s", stolen, NULL, NULL),
                     200);
    assert_int_equal(yard_trees(yard, &other, "/fA/fB"), 0);
    assert_int_equal(yard_trees(yard, &job, "/fA/fB"), 1);
}

static void expired__is_refused_with_the_time(void **state)
{
    (void)state;
    char late[MCAST_TOKEN_SIZE], detail[256];
    yard_narrow(yard, wide, NULL, 1, NULL, late);
    yard_refused(yard, "GET", OWN, late, NULL, 401, "token-expired", detail);
    assert_non_null(strstr(detail, "1970-01-01T00:00:01Z"));
    yard_narrow(yard, wide, NULL, time(NULL) - 1, "show", late);
    yard_refused(yard, "GET", OWN, late, NULL, 401, "token-expired", NULL);
    yard_refused(yard, "DELETE", STEPS "%2FfA", late, NULL, 401, "token-expired", NULL);
}

/* Whatever is done to it, it is no token any more: also one that a bit was changed of. */
static void damaged__is_refused(void **state)
{
    (void)state;
    char slim[MCAST_TOKEN_SIZE], text[MCAST_TOKEN_SIZE];
    yard_narrow(yard, wide, "/fA", 0, NULL, slim);
    const size_t length = strlen(slim);
    for (size_t i = 0; i < length; i += 3) {
        memcpy(text, slim, length + 1);
        text[i] = text[i] == 'A' ? 'B' : 'A';
        struct answer answer;
        assert_int_equal(yard_ask(yard, "GET", OWN, text, NULL, &answer), 401);
        answer_release(&answer);
        text[i] = '\0';
        if (i > 0)
            assert_int_equal(yard_ask(yard, "GET", OWN, text, NULL, NULL), 401);
    }
    assert_int_equal(yard_ask(yard, "GET", OWN, slim, NULL, NULL), 200);

    /* A session token is not found by a part of it, either. */
    memcpy(text, job.token, sizeof job.token);
    text[strlen(text) - 1] ^= 1;
    yard_refused(yard, "GET", OWN, text, NULL, 401, "token-unknown", NULL);
    text[strlen(text) - 1] = '\0';
    yard_refused(yard, "GET", OWN, text, NULL, 401, "token-unknown", NULL);
    yard_refused(yard, "GET", OWN, "mcast2.AAAA", NULL, 401, "token-invalid", NULL);
    yard_refused(yard, "GET", OWN, "x", NULL, 401, "token-unknown", NULL);
}

static void oversized__is_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = {1025, 4000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *headers = malloc(sizes[i] + 64);
        assert_non_null(headers);
        int start = snprintf(headers, 64, "Authorization: Bearer mcast1.");
        memset(headers + start, 'A', sizes[i]);
        memcpy(headers + start + sizes[i], "\r\n", 3);
        assert_int_equal(yard_ask_so(yard, false, "GET", OWN, headers, NULL, NULL), 401);
        free(headers);
    }
}

/* More than a request's head has room for: it is not even read. */
static void monstrous__is_refused_unread(void **state)
{
    (void)state;
    enum { SIZE = 100000 };
    struct answer answer;
    char *headers = malloc(SIZE + 64);
    assert_non_null(headers);
    int start = snprintf(headers, 64, "Authorization: Bearer ");
    memset(headers + start, 'A', SIZE);
    memcpy(headers + start + SIZE, "\r\n", 3);
    struct line *line = line_open(stage_socket(yard_stage(yard)), 0);
    line_request(line, "GET", OWN, headers, NULL);
    if (line_answer(line, false, &answer) == 0) { /* else it was closed */
        assert_int_equal(answer.status, 431);
        answer_release(&answer);
    }
    line_close(line);
    free(headers);
    assert_int_equal(yard_ask(yard, "GET", OWN, wide, NULL, NULL), 200);
}

static void headers__of_two_minds_are_refused(void **state)
{
    (void)state;
    char headers[512];
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\nAuthorization: Bearer %s\r\n",
             job.token, other.token);
    assert_int_equal(yard_ask_so(yard, false, "GET", OWN, headers, NULL, NULL), 400);
    snprintf(headers, sizeof headers, "Authorization: Bearer %s, Bearer %s\r\n", job.token,
             other.token);
    assert_int_equal(yard_ask_so(yard, false, "GET", OWN, headers, NULL, NULL), 401);
    assert_int_equal(yard_ask_so(yard, false, "GET", OWN, "Authorization: Bearer\r\n", NULL, NULL),
                     401);
}

/* Root is an admin here; with a token it is a bearer there, and nothing elsewhere. */
static void token__is_judged_alone(void **state)
{
    (void)state;
    static const char *const elsewhere[] = {"/v1/status", "/v1/jobs", "/v1/doctor",
                                            "/v1/clusters/elcap/jobs/fJob", "/v1/events?follow=0"};
    struct answer answer;
    yard_refused(yard, "GET", OWN, NULL, NULL, 401, "no-token", NULL);
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        yard_refused(yard, "GET", elsewhere[i], wide, NULL, 401, "token-elsewhere", NULL);
    yard_refused(yard, "DELETE", "/v1/clusters/elcap/jobs/fJob", job.token, NULL, 401,
                 "token-elsewhere", NULL);
    yard_refused(yard, "POST", "/v1/tokens/rotate", job.token, NULL, 401, "token-elsewhere", NULL);
    assert_int_equal(yard_ask(yard, "GET", "/healthz", wide, NULL, NULL), 200);
    assert_int_equal(yard_ask(yard, "GET", "/v1/whoami", wide, NULL, &answer), 200);
    assert_string_equal(json_string_value(json_object_get(answer.json, "proof")), "bearer");
    assert_true(json_is_false(json_object_get(answer.json, "admin")));
    answer_release(&answer);
    yard_refused(yard, "GET", "/v1/whoami", "x", NULL, 401, "token-unknown", NULL);
}

/* Nobody else is proved over plain TCP of this host: the token is enough. */
static void tcp__is_as_good(void **state)
{
    (void)state;
    char headers[MCAST_TOKEN_SIZE + 64];
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", wide);
    assert_int_equal(yard_ask_so(yard, true, "GET", OWN, headers, NULL, NULL), 200);
    assert_int_equal(yard_ask_so(yard, true, "DELETE", STEPS "none", headers, NULL, NULL), 202);
    assert_int_equal(yard_ask_so(yard, true, "GET", OWN, NULL, NULL, NULL), 401);
}

static bool is_let_in(void *headers)
{
    return yard_ask_so(yard, true, "GET", OWN, headers, NULL, NULL) == 200;
}

static struct line *ask_from(unsigned host, const char *token, int status)
{
    char headers[MCAST_TOKEN_SIZE + 64];
    struct line *line = line_open_from(host, yard_port(yard));
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
    (void)state;
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
    assert_int_equal(yard_ask(yard, "GET", "/v1/status", NULL, NULL, NULL), 200);
    assert_int_equal(yard_ask(yard, "GET", OWN, wide, NULL, NULL), 200);
    for (size_t i = 0; i < count; i++)
        line_close(lines[i]);
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", wide);
    assert_true(await(is_let_in, headers, AWAIT_DEADLINE_MS));
}

static struct line *wait_for_cleanup(struct yard *small, const struct yard_job *whose)
{
    char headers[MCAST_TOKEN_SIZE + 64];
    struct line *line = line_open(NULL, yard_port(small));
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
    (void)state;
    enum { JOBS = 4 };
    struct yard *small =
        yard_open(&(struct yard_options){.broker = "listen = 127.0.0.1:0\nconnections_max = 16"});
    struct yard_job jobs[JOBS];
    struct line *lines[2];
    char headers[MCAST_TOKEN_SIZE + 64];
    for (int i = 0; i < JOBS; i++) {
        jobs[i] = yard_reserve(small, ((const char *[]){"f1", "f2", "f3", "f4"})[i]);
        yard_plant(small, &jobs[i], "0", (unsigned)i);
    }
    yard_tell_fm(small, "POST", "/mock/faults", "{\"method\":\"PATCH\",\"status\":503}");
    for (int i = 0; i < 2; i++) {
        lines[i] = wait_for_cleanup(small, &jobs[i]);
        yard_await_status(small, "cleanups", "pending", i + 1);
    }
    expect_status(lines[1], 504);
    for (int i = 2; i < JOBS; i++) {
        snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", jobs[i].token);
        assert_int_equal(yard_ask_so(small, true, "GET", OWN, headers, NULL, NULL), 200);
    }
    yard_tell_fm(small, "DELETE", "/mock/faults", NULL);
    expect_status(lines[0], 200); /* its wait was not over */
    for (int i = 0; i < 2; i++)
        line_close(lines[i]);
    yard_close(small);
}

/* Whichever token is shown, and whatever is asked for; other jobs get theirs, and what was given is
 * good (B8). */
static void minting__has_a_limit(void **state)
{
    (void)state;
    enum { FAR_TOO_MANY = 1000 };
    struct yard_job greedy = yard_reserve(yard, "fGreedy");
    char own[MCAST_TOKEN_SIZE], theirs[MCAST_TOKEN_SIZE], retry[16];
    struct answer answer;
    int status = 201;
    yard_mint(yard, greedy.token, NULL, own);
    for (int i = 0; status == 201; i++) {
        assert_true(i < FAR_TOO_MANY);
        status = yard_ask(yard, "POST", TOKENS, i % 2 ? own : greedy.token, NULL, &answer);
        if (status == 201) {
            yard_remember(yard, json_string_value(json_object_get(answer.json, "token")));
            answer_release(&answer);
        }
    }
    assert_int_equal(status, 429);
    assert_true(answer_header(&answer, "Retry-After", retry, sizeof retry));
    assert_string_equal(retry, "1");
    assert_string_equal(json_string_value(json_object_get(answer.json, "code")), "too-many-tokens");
    assert_non_null(strstr(answer.body, "job fGreedy on cluster elcap"));
    answer_release(&answer);
    yard_mint(yard, other.token, NULL, theirs);
    assert_int_equal(yard_ask(yard, "GET", OWN, own, NULL, NULL), 200);
    yard_release(yard, "fGreedy");
}

static json_int_t rotate(json_int_t *dropped)
{
    struct answer answer;
    assert_int_equal(yard_ask(yard, "POST", "/v1/tokens/rotate", NULL, NULL, &answer), 200);
    json_int_t keys = json_integer_value(json_object_get(answer.json, "keys"));
    *dropped = json_integer_value(json_object_get(answer.json, "dropped"));
    answer_release(&answer);
    return keys;
}

/* Old keys are honoured as long as a reservation lives that is older than the next one. */
static void rotation__leaves_tokens_that_are_out(void **state)
{
    (void)state;
    char fresh[MCAST_TOKEN_SIZE];
    json_int_t dropped;
    assert_int_equal(rotate(&dropped), 2);
    assert_int_equal(dropped, 0);
    assert_int_equal(yard_ask(yard, "GET", OWN, wide, NULL, NULL), 200);
    yard_mint(yard, job.token, NULL, fresh);
    assert_string_not_equal(fresh, wide);
    stage_kill_broker(yard_stage(yard));
    assert_int_equal(stage_start_broker(yard_stage(yard)), 0);
    assert_int_equal(yard_ask(yard, "GET", OWN, wide, NULL, NULL), 200);
    assert_int_equal(yard_ask(yard, "GET", OWN, fresh, NULL, NULL), 200);
    assert_int_equal(yard_ask(yard, "GET", OWN, job.token, NULL, NULL), 200);
}

static void release__ends_all_tokens(void **state)
{
    (void)state;
    struct yard_job brief = yard_reserve(yard, "fBrief");
    char token[MCAST_TOKEN_SIZE], detail[256];
    yard_mint(yard, brief.token, NULL, token);
    assert_int_equal(yard_ask(yard, "GET", OWN, token, NULL, NULL), 200);
    yard_release(yard, "fBrief");
    yard_refused(yard, "GET", OWN, token, NULL, 401, "reservation-over", detail);
    assert_non_null(strstr(detail, "fBrief"));
    yard_refused(yard, "DELETE", STEPS "%2FfA", token, NULL, 401, "reservation-over", NULL);
    yard_refused(yard, "GET", OWN, brief.token, NULL, 401, "reservation-over", NULL);

    /* Submitted again under its id it is another one. */
    struct yard_job again = yard_reserve(yard, "fBrief");
    assert_true(again.number > brief.number);
    yard_refused(yard, "GET", OWN, token, NULL, 401, "reservation-over", NULL);
    yard_refused(yard, "GET", OWN, brief.token, NULL, 401, "reservation-over", NULL);
    assert_int_equal(yard_ask(yard, "GET", OWN, again.token, NULL, NULL), 200);
    stage_kill_broker(yard_stage(yard));
    assert_int_equal(stage_start_broker(yard_stage(yard)), 0);
    yard_refused(yard, "GET", OWN, token, NULL, 401, "reservation-over", NULL);
    yard_refused(yard, "GET", OWN, brief.token, NULL, 401, "token-unknown", NULL);
    assert_int_equal(yard_ask(yard, "GET", OWN, again.token, NULL, NULL), 200);
}

/* The last one: no reservation is left. */
static void rotation__drops_keys_that_nobody_needs(void **state)
{
    (void)state;
    json_int_t dropped;
    yard_release(yard, "fJob");
    yard_release(yard, "fOther");
    yard_release(yard, "fBrief");
    assert_int_equal(rotate(&dropped), 1);
    assert_int_equal(dropped, 2);
    yard_refused(yard, "GET", OWN, wide, NULL, 401, "token-invalid", NULL);
    struct yard_job next = yard_reserve(yard, "fNext");
    char token[MCAST_TOKEN_SIZE];
    yard_mint(yard, next.token, NULL, token);
    assert_int_equal(yard_ask(yard, "GET", OWN, token, NULL, NULL), 200);
}

static void lose_ledger(void)
{
    static const char *const names[] = {"state.db", "state.db-wal", "state.db-shm"};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unlink(folder_path(path, sizeof path, stage_folder(yard_stage(yard)), names[i]));
}

/* Numbers begin anew with the ledger: an old token names the life that now has its number. */
static void token__of_a_ledger_that_was_lost_is_refused(void **state)
{
    (void)state;
    char old[MCAST_TOKEN_SIZE], fresh[MCAST_TOKEN_SIZE];
    struct stage *stage = yard_stage(yard);
    /* What is left at the fabric manager is taken for active, and has a number then. */
    yard_release(yard, "fNext");
    yard_await_status(yard, "queues", "fm_release", 0);
    assert_int_equal(stage_stop_broker(stage), 0);
    lose_ledger();
    assert_int_equal(stage_start_broker(stage), 0);
    assert_int_equal(stage_await_link(stage), 0);
    struct yard_job before = yard_reserve(yard, "fTwin");
    yard_mint(yard, before.token, NULL, old);
    assert_int_equal(yard_ask(yard, "GET", OWN, old, NULL, NULL), 200);
    yard_release(yard, "fTwin");
    yard_await_status(yard, "queues", "fm_release", 0);

    assert_int_equal(stage_stop_broker(stage), 0);
    lose_ledger();
    assert_int_equal(stage_start_broker(stage), 0);
    assert_int_equal(stage_await_link(stage), 0);
    struct yard_job after = yard_reserve(yard, "fTwin");
    assert_int_equal(after.number, before.number);
    yard_refused(yard, "GET", OWN, old, NULL, 401, "token-invalid", NULL);
    yard_refused(yard, "DELETE", STEPS "%2FfA", old, NULL, 401, "token-invalid", NULL);
    yard_mint(yard, after.token, NULL, fresh);
    assert_true(stage_broker_logged(stage, "its root keys were replaced"));

    /* An ordinary restart leaves what is in use. */
    assert_int_equal(stage_stop_broker(stage), 0);
    assert_int_equal(stage_start_broker(stage), 0);
    assert_int_equal(yard_ask(yard, "GET", OWN, fresh, NULL, NULL), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrowed_offline__is_taken_as_far_as_it_reaches),
        cmocka_unit_test(minted__is_no_wider_than_what_was_shown),
        cmocka_unit_test(wish__that_is_none_is_refused),
        cmocka_unit_test(step__that_is_none_is_refused_at_the_door),
        cmocka_unit_test(token_of_another_job__does_not_reach_this_one),
        cmocka_unit_test(expired__is_refused_with_the_time),
        cmocka_unit_test(damaged__is_refused),
        cmocka_unit_test(oversized__is_refused),
        cmocka_unit_test(monstrous__is_refused_unread),
        cmocka_unit_test(headers__of_two_minds_are_refused),
        cmocka_unit_test(token__is_judged_alone),
        cmocka_unit_test(tcp__is_as_good),
        cmocka_unit_test(connections__are_counted),
        cmocka_unit_test(waits__keep_nobody_out),
        cmocka_unit_test(minting__has_a_limit),
        cmocka_unit_test(rotation__leaves_tokens_that_are_out),
        cmocka_unit_test(release__ends_all_tokens),
        cmocka_unit_test(rotation__drops_keys_that_nobody_needs),
        cmocka_unit_test(token__of_a_ledger_that_was_lost_is_refused),
        cmocka_unit_test(tokens__stand_nowhere),
    };
    return cmocka_run_group_tests_name("bearers_misuse", tests, open_yard, NULL);
}
