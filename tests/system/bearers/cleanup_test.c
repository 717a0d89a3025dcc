/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/bearers/fixture.h"
#include "tests/system/http/line.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

/* F19, I6: whoever has a job's token has the trees of its steps removed, and of no other. */

#define STEPS "/v1/reservation/steps/"

static struct fixture *fixture;

static int open_fixture(void **state)
{
    fixture = fixture_open(&(struct fixture_options){.session_tokens = NULL});
    return 0;
}

/* The last test: what all of the others made the programs write is searched (a teardown that fails
 * would not fail the program). */
static void tokens__stand_nowhere(void **state)
{
    fixture_close(fixture);
}

/* Two trees of /fA/fB, one of /fA/fB/fC and one of /fA/fX. */
static struct fixture_job job_with_trees(const char *name, unsigned nic)
{
    struct fixture_job job = fixture_reserve(fixture, name);
    fixture_plant(fixture, &job, "/fA/fB", nic);
    fixture_plant(fixture, &job, "/fA/fB", nic + 4);
    fixture_plant(fixture, &job, "/fA/fB/fC", nic + 8);
    fixture_plant(fixture, &job, "/fA/fX", nic + 12);
    return job;
}

static void trees_are(const struct fixture_job *job, size_t b, size_t c, size_t x)
{
    assert_int_equal(fixture_trees(fixture, job, "/fA/fB"), b);
    assert_int_equal(fixture_trees(fixture, job, "/fA/fB/fC"), c);
    assert_int_equal(fixture_trees(fixture, job, "/fA/fX"), x);
}

static void step__is_cleaned_with_the_session_token(void **state)
{
    struct answer answer;
    struct fixture_job job = job_with_trees("f1", 0), other = job_with_trees("f2", 0x100);
    trees_are(&job, 2, 1, 1);
    assert_int_equal(
        fixture_ask(fixture, "DELETE", STEPS "%2FfA%2FfB?wait=30s", job.token, NULL, &answer), 200);
    assert_string_equal(json_string_value(json_object_get(answer.json, "state")), "cleaned");
    assert_int_equal(json_integer_value(json_object_get(answer.json, "number")), job.number);
    answer_release(&answer);
    trees_are(&job, 0, 1, 1);
    trees_are(&other, 2, 1, 1);

    /* Again: it is gone already. A step that there never was is no different. */
    assert_int_equal(
        fixture_ask(fixture, "DELETE", STEPS "%2FfA%2FfB?wait=30s", job.token, NULL, NULL), 200);
    assert_int_equal(fixture_ask(fixture, "DELETE", STEPS "1234.0?wait=30s", job.token, NULL, NULL),
                     200);
    trees_are(&job, 0, 1, 1);

    assert_int_equal(fixture_ask(fixture, "DELETE", STEPS "%2FfA%2FfX", other.token, NULL, &answer),
                     202);
    assert_string_equal(json_string_value(json_object_get(answer.json, "state")), "accepted");
    answer_release(&answer);
    fixture_await_bare(fixture, &other, "/fA/fX");
    trees_are(&other, 2, 1, 0);
}

static void steps_below__go_too_when_asked(void **state)
{
    struct fixture_job job = job_with_trees("f3", 0x200);
    assert_int_equal(fixture_ask(fixture, "DELETE", STEPS "%2FfA%2FfB?below=yes&wait=30s",
                                 job.token, NULL, NULL),
                     200);
    trees_are(&job, 0, 0, 1);
}

static void steps__are_listed_for_whoever_may_see_the_job(void **state)
{
    struct answer answer;
    struct fixture_job job = job_with_trees("f4", 0x300);
    assert_int_equal(fixture_ask(fixture, "GET", "/v1/clusters/elcap/jobs/f4/steps?wait=30s", NULL,
                                 NULL, &answer),
                     200);
    assert_int_equal(json_array_size(json_object_get(answer.json, "steps")), 3);
    answer_release(&answer);
    fixture_refused(fixture, "GET", "/v1/clusters/elcap/jobs/none/steps", NULL, NULL, 404,
                    "not-found", NULL);
    fixture_refused(fixture, "GET", "/v1/clusters/elcap/jobs/f4/steps?wait=2", NULL, NULL, 422,
                    "invalid", NULL);
    fixture_refused(fixture, "GET", "/v1/clusters/elcap/jobs/f4/steps", job.token, NULL, 401,
                    "token-elsewhere", NULL);
}

/* Accepted is on disk: a broker that is killed does it when it is back (B3, I6). */
static void accepted__is_done_after_a_kill(void **state)
{
    struct fixture_job job = job_with_trees("f5", 0x400);
    char token[MCAST_TOKEN_SIZE];
    fixture_mint(fixture, job.token, "{\"steps\":\"/fA/fX\"}", token);
    testbed_kill_fm(fixture_stage(fixture));
    assert_int_equal(fixture_ask(fixture, "DELETE", STEPS "%2FfA%2FfB", job.token, NULL, NULL),
                     202);
    assert_int_equal(fixture_ask(fixture, "DELETE", STEPS "%2FfA%2FfX", token, NULL, NULL), 202);
    testbed_kill_broker(fixture_stage(fixture));
    assert_int_equal(testbed_start_fm(fixture_stage(fixture)), 0);
    trees_are(&job, 2, 1, 1);
    assert_int_equal(testbed_start_broker(fixture_stage(fixture)), 0);
    fixture_await_bare(fixture, &job, "/fA/fB");
    fixture_await_bare(fixture, &job, "/fA/fX");
    trees_are(&job, 0, 1, 0);

    /* Both tokens are known to the new one. */
    assert_int_equal(fixture_ask(fixture, "GET", "/v1/reservation", job.token, NULL, NULL), 200);
    assert_int_equal(fixture_ask(fixture, "GET", "/v1/reservation", token, NULL, NULL), 200);
    assert_int_equal(
        fixture_ask(fixture, "DELETE", STEPS "%2FfA%2FfB%2FfC?wait=30s", job.token, NULL, NULL),
        200);
    trees_are(&job, 0, 0, 0);
}

static void slow_fabric_manager__keeps_nobody(void **state)
{
    struct fixture_job job = job_with_trees("f6", 0x500);
    fixture_tell_fm(fixture, "POST", "/mock/faults",
                    "{\"method\":\"PATCH\",\"path\":\"*/jobs/*\",\"count\":1,\"delay_ms\":3000}");
    fixture_refused(fixture, "DELETE", STEPS "%2FfA%2FfB?wait=20ms", job.token, NULL, 504,
                    "pending", NULL);
    assert_int_equal(fixture_ask(fixture, "DELETE", STEPS "%2FfA%2FfB", job.token, NULL, NULL),
                     202);
    assert_int_equal(
        fixture_ask(fixture, "DELETE", STEPS "%2FfA%2FfB?wait=50s", job.token, NULL, NULL), 200);
    trees_are(&job, 0, 1, 1);
    fixture_tell_fm(fixture, "DELETE", "/mock/faults", NULL);
}

enum { BATCH = 32 };

/* One after the other on one connection, so that he is quicker than 50 a second anywhere. */
static void send_batch(struct line *line, const char *token, int first)
{
    static char text[BATCH * (MCAST_TOKEN_SIZE + 128)];
    size_t length = 0;
    for (int i = first; i < first + BATCH; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "DELETE " STEPS "%%2FfA%%2Ff%d HTTP/1.1\r\nHost: x\r\n"
                                   "Authorization: Bearer %s\r\n\r\n",
                                   i, token);
    assert_true(length < sizeof text);
    assert_int_equal(line_send(line, text, length), 0);
}

static void take_batch(struct line *line, unsigned *accepted, unsigned *later)
{
    for (int i = 0; i < BATCH; i++) {
        struct answer answer;
        char seconds[16];
        assert_int_equal(line_answer(line, false, &answer), 0);
        *accepted += answer.status == 202;
        if (answer.status == 429) {
            ++*later;
            assert_true(answer_header(&answer, "Retry-After", seconds, sizeof seconds));
            assert_string_equal(json_string_value(json_object_get(answer.json, "code")),
                                "too-many-cleanups");
        }
        assert_true(answer.status == 202 || answer.status == 429);
        answer_release(&answer);
    }
}

/* A wild user is told to wait, and others are not kept waiting by him. */
static void thousand_at_once__are_limited(void **state)
{
    enum { TRIES = 100000 }; /* those that it may go on for ever with are 50 a second */
    struct fixture_job wild = fixture_reserve(fixture, "f7"), other = job_with_trees("f8", 0x600);
    struct line *line = line_open(testbed_socket(fixture_stage(fixture)), 0);
    unsigned accepted = 0, later = 0;
    for (int i = 0; i < TRIES && later == 0; i += BATCH) {
        send_batch(line, wild.token, i);
        take_batch(line, &accepted, &later);
        if (i == 512)
            assert_int_equal(fixture_ask(fixture, "DELETE", STEPS "%2FfA%2FfB?wait=50s",
                                         other.token, NULL, NULL),
                             200);
    }
    line_close(line);
    trees_are(&other, 0, 1, 1);
    assert_true(later > 0);
    assert_true(accepted >= 1000);
    fixture_await_status(fixture, "cleanups", "pending", 0);
}

UNIT_GROUP(open_fixture, NULL, cmocka_unit_test(step__is_cleaned_with_the_session_token),
           cmocka_unit_test(steps_below__go_too_when_asked),
           cmocka_unit_test(steps__are_listed_for_whoever_may_see_the_job),
           cmocka_unit_test(accepted__is_done_after_a_kill),
           cmocka_unit_test(slow_fabric_manager__keeps_nobody),
           cmocka_unit_test(thousand_at_once__are_limited), cmocka_unit_test(tokens__stand_nowhere))
