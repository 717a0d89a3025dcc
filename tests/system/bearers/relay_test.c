/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/bearers/fixture.h"
#include "tests/system/http/line.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

/* B9: jobs make their trees through the broker, as libfabric asks for them. */

#define TREES "/fabric/collectives/multicasts"
#define JOIN "{\"method\":\"POST\",\"path\":\"" TREES "\","

enum { ADDRESSES = 64 }; /* of each job, by the fixture */

/* Where jobs are served: the port is any free one. */
static int front_port(struct fixture *fixture)
{
    const int port = testbed_port(fixture_stage(fixture), " front=127.0.0.1:");
    assert_true(port > 0);
    return port;
}

static int open_fixture(void **state)
{
    *state = fixture_open(
        &(struct fixture_options){.hwcoll = "through = relay\n[front]\nlisten = 127.0.0.1:0\n"
                                            "url = http://127.0.0.1:1\n[fm]\ntimeout = 3s\n"});
    return 0;
}

static int close_fixture(void **state)
{
    fixture_close(*state);
    return 0;
}

/* One request of a task; reply is to be released. */
static int ask(struct fixture *fixture, const char *token, const char *method, const char *path,
               const char *body, struct plainhttp_reply *reply)
{
    char base[64];
    (void)snprintf(base, sizeof base, "http://127.0.0.1:%d", front_port(fixture));
    struct plainhttp *task = plainhttp_create(base, NULL);
    assert_non_null(task);
    plainhttp_use_bearer(task, token);
    const int status = plainhttp_call(task, method, path, body, reply);
    plainhttp_destroy(task);
    return status;
}

static const char *join_body(const char *job, const char *step, unsigned vni, unsigned nic)
{
    static char body[512];
    (void)snprintf(body, sizeof body,
                   "{\"macs\":[\"1:12:%02X\",\"1:13:%02X\"],\"vni\": %u,\"timeout\":20000000,"
                   "\"jobID\":\"elcap-%s\",\"jobStepID\":\"%s\"}",
                   nic, nic, vni, job, step);
    return body;
}

static unsigned vni_of(struct fixture *fixture, const struct fixture_job *job)
{
    struct answer answer;
    assert_int_equal(fixture_ask(fixture, "GET", "/v1/reservation", job->token, NULL, &answer),
                     200);
    const json_t *vnis = json_object_get(answer.json, "vnis");
    const unsigned vni = (unsigned)json_integer_value(json_array_get(vnis, 0));
    answer_release(&answer);
    return vni;
}

/* The status; id, if it is not NULL, of the tree that was made. */
static int join(struct fixture *fixture, const struct fixture_job *job, const char *token,
                const char *step, unsigned nic, int *id)
{
    struct plainhttp_reply reply;
    const char *body = join_body(job->name, step, vni_of(fixture, job), nic);
    const int status = ask(fixture, token, "POST", TREES, body, &reply);
    const json_t *tree = json_object_get(reply.json, "mcastID");
    if (status == 200) {
        assert_true(json_is_integer(tree));
        assert_int_equal(json_string_length(json_object_get(reply.json, "hwRoot")), 17);
    } else {
        assert_true(json_is_string(json_object_get(reply.json, "message")));
        assert_int_equal(json_integer_value(json_object_get(reply.json, "statusCode")), status);
    }
    if (id)
        *id = (int)json_integer_value(tree);
    plainhttp_reply_release(&reply);
    return status;
}

static int leave(struct fixture *fixture, const char *token, int tree)
{
    struct plainhttp_reply reply;
    char path[64];
    (void)snprintf(path, sizeof path, TREES "/%d", tree);
    const int status = ask(fixture, token, "DELETE", path, NULL, &reply);
    plainhttp_reply_release(&reply);
    return status;
}

/* What mcastctl shows of the job's trees. */
static void shows(struct fixture *fixture, const struct fixture_job *job, const char *trees)
{
    char out[4096];
    const char *const words[] = {"show", job->name, NULL};
    assert_int_equal(fixture_ctl(fixture, NULL, words, out, sizeof out), 0);
    if (!strstr(out, trees))
        fail_msg("not \"%s\": %s", trees, out);
}

/* ---- */

static void tree__is_made_and_deleted_through_the_broker(void **state)
{
    struct fixture *fixture = *state;
    const struct fixture_job job = fixture_reserve(fixture, "f1");
    int tree;
    assert_int_equal(join(fixture, &job, job.token, "0", 1, &tree), 200);
    assert_int_equal(fixture_trees(fixture, &job, "0"), 1);
    shows(fixture, &job, " 1 of 64 addresses in use, by steps 0\n");
    assert_int_equal(leave(fixture, job.token, tree), 200);
    shows(fixture, &job, " 0 of 64 addresses in use\n");
    assert_int_equal(fixture_trees(fixture, &job, "0"), 0);
    assert_int_equal(leave(fixture, job.token, tree), 200);
    fixture_release(fixture, "f1");
}

/* The job's token opens nothing at the fabric manager itself. */
static void token__of_the_job_is_none_of_the_fabric_managers(void **state)
{
    struct fixture *fixture = *state;
    const struct fixture_job job = fixture_reserve(fixture, "f2");
    struct plainhttp *direct = plainhttp_create(testbed_fm_url(fixture_stage(fixture)), NULL);
    struct plainhttp_reply reply;
    plainhttp_use_bearer(direct, job.token);
    const char *body = join_body("f2", "0", vni_of(fixture, &job), 2);
    assert_int_equal(plainhttp_call(direct, "POST", TREES, body, &reply), 403);
    plainhttp_reply_release(&reply);
    plainhttp_destroy(direct);
    fixture_release(fixture, "f2");
}

struct wish {
    struct fixture *fixture;
    const struct fixture_job *job;
    int status;
    const char *token; /* of a leave, */
    int tree;          /* … of this one */
};

static bool is_joined(void *arg)
{
    struct wish *wish = arg;
    wish->status = join(wish->fixture, wish->job, wish->job->token, "0", 3, NULL);
    return wish->status != 409;
}

/* It starts, its join waits, and is made when the fabric manager is back. */
static void job__starts_while_the_fabric_manager_is_away(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = fixture_stage(fixture);
    testbed_kill_fm(testbed);
    const struct fixture_job job = fixture_reserve(fixture, "f3");
    struct wish wish = {.fixture = fixture, .job = &job};
    assert_int_equal(testbed_start_fm(testbed), 0);
    assert_true(await(is_joined, &wish, AWAIT_DEADLINE_MS));
    assert_int_equal(wish.status, 200);
    fixture_release(fixture, "f3");
}

static bool is_left(void *arg)
{
    struct wish *wish = arg;
    wish->status = leave(wish->fixture, wish->token, wish->tree);
    return wish->status != 409;
}

/* What is known of its trees is gone; the broker learns it, and the job goes on as before. */
static void job__goes_on_when_the_broker_was_killed(void **state)
{
    struct fixture *fixture = *state;
    struct testbed *testbed = fixture_stage(fixture);
    const struct fixture_job job = fixture_reserve(fixture, "f4");
    char narrow[MCAST_TOKEN_SIZE];
    int tree;
    assert_int_equal(join(fixture, &job, job.token, "/fA", 4, &tree), 200);
    fixture_mint(fixture, job.token, "{\"steps\":\"/fA\"}", narrow);
    testbed_kill_broker(testbed);
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(testbed_await_link(testbed), 0);
    shows(fixture, &job, "at least 0 of 64 addresses in use; for all of them see --steps\n");
    struct wish wish = {.fixture = fixture, .token = narrow, .tree = tree};
    assert_true(await(is_left, &wish, AWAIT_DEADLINE_MS));
    assert_int_equal(wish.status, 200);
    assert_int_equal(fixture_trees(fixture, &job, "/fA"), 0);
    assert_int_equal(join(fixture, &job, job.token, "/fA", 5, NULL), 200);
    assert_int_equal(
        fixture_ask(fixture, "DELETE", "/v1/reservation/steps/%2FfA?wait=5s", narrow, NULL, NULL),
        200);
    assert_int_equal(fixture_trees(fixture, &job, "/fA"), 0);
    fixture_release(fixture, "f4");
}

static void token__that_is_narrowed_makes_trees_of_its_steps_only(void **state)
{
    struct fixture *fixture = *state;
    const struct fixture_job job = fixture_reserve(fixture, "f5");
    char steps[MCAST_TOKEN_SIZE], cleanup[MCAST_TOKEN_SIZE];
    int tree;
    fixture_mint(fixture, job.token, "{\"steps\":\"/fA\",\"operations\":[\"join\"]}", steps);
    fixture_mint(fixture, job.token, "{\"operations\":[\"cleanup\"]}", cleanup);
    assert_int_equal(join(fixture, &job, steps, "/fB", 6, NULL), 403);
    assert_int_equal(join(fixture, &job, cleanup, "/fA", 6, NULL), 403);
    assert_int_equal(join(fixture, &job, steps, "/fA/fC", 6, NULL), 200);
    assert_int_equal(join(fixture, &job, job.token, "/fB", 7, &tree), 200);
    assert_int_equal(leave(fixture, steps, tree), 403);
    assert_int_equal(leave(fixture, cleanup, tree), 403);
    fixture_release(fixture, "f5");
}

static void trees__beyond_the_reservation_are_refused_as_libfabric_reads_it(void **state)
{
    struct fixture *fixture = *state;
    const struct fixture_job job = fixture_reserve(fixture, "f6");
    struct plainhttp_reply reply;
    for (unsigned i = 0; i < ADDRESSES; i++)
        assert_int_equal(join(fixture, &job, job.token, "0", 100 + i, NULL), 200);
    const char *body = join_body("f6", "0", vni_of(fixture, &job), 8);
    assert_int_equal(ask(fixture, job.token, "POST", TREES, body, &reply), 507);
    const char *message = json_string_value(json_object_get(reply.json, "message"));
    assert_int_equal(strncmp(message ? message : "", "01:", 3), 0);
    plainhttp_reply_release(&reply);
    fixture_release(fixture, "f6");
}

static void refusal__of_the_fabric_manager_is_passed_on(void **state)
{
    struct fixture *fixture = *state;
    const struct fixture_job job = fixture_reserve(fixture, "f7");
    struct plainhttp_reply reply;
    fixture_tell_fm(fixture, "POST", "/mock/faults",
                    JOIN "\"status\":507,\"body\":{\"message\":\"02: none left\"}}");
    const char *body = join_body("f7", "0", vni_of(fixture, &job), 11);
    assert_int_equal(ask(fixture, job.token, "POST", TREES, body, &reply), 507);
    assert_string_equal(json_string_value(json_object_get(reply.json, "message")), "02: none left");
    plainhttp_reply_release(&reply);
    fixture_tell_fm(fixture, "DELETE", "/mock/faults", NULL);
    fixture_release(fixture, "f7");
}

/* What crashes libfabric, or makes it ask for ever, stays here. */
static void answers__that_libfabric_does_not_survive_are_kept_from_it(void **state)
{
    static const char *const faults[] = {
        JOIN "\"no_hw_root\":true,\"count\":1}",
        JOIN "\"short_hw_root\":true,\"count\":1}",
        JOIN "\"merge\":{\"hwRoot\":\"00:00:00:0F:AB:CD\"},\"count\":1}",
        JOIN "\"status\":409,\"count\":3}",
        JOIN "\"length_4096\":true,\"count\":1}",
        JOIN "\"garbage\":true,\"count\":1}"};
    const unsigned garbage = sizeof faults / sizeof *faults - 1;
    struct fixture *fixture = *state;
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "g%u", i);
        const struct fixture_job job = fixture_reserve(fixture, name);
        struct plainhttp_reply reply;
        fixture_tell_fm(fixture, "POST", "/mock/faults", faults[i]);
        const char *body = join_body(name, "0", vni_of(fixture, &job), 20 + i);
        assert_int_equal(ask(fixture, job.token, "POST", TREES, body, &reply), 200);
        assert_true(reply.length % 4096 != 0);
        plainhttp_reply_release(&reply);
        fixture_tell_fm(fixture, "DELETE", "/mock/faults", NULL);
        /* A tree whose number was not understood goes with its step. */
        assert_int_equal(fixture_trees(fixture, &job, "0"), i == garbage ? 2 : 1);
        assert_int_equal(fixture_ask(fixture, "DELETE", "/v1/reservation/steps/0?wait=5s",
                                     job.token, NULL, NULL),
                         200);
        assert_int_equal(fixture_trees(fixture, &job, "0"), 0);
        fixture_release(fixture, name);
    }
}

static void request__of_another_job_is_refused(void **state)
{
    struct fixture *fixture = *state;
    const struct fixture_job one = fixture_reserve(fixture, "f8");
    const struct fixture_job other = fixture_reserve(fixture, "f9");
    struct plainhttp_reply reply;
    int tree;
    assert_int_equal(join(fixture, &one, other.token, "0", 12, NULL), 400);
    assert_int_equal(join(fixture, &one, one.token, "0", 12, &tree), 200);
    assert_int_equal(leave(fixture, other.token, tree), 200); /* which has no such tree */
    assert_int_equal(fixture_trees(fixture, &one, "0"), 1);
    const char *body = join_body("f9", "0", vni_of(fixture, &one), 13); /* a VNI of the other's */
    assert_int_equal(ask(fixture, other.token, "POST", TREES, body, &reply), 403);
    plainhttp_reply_release(&reply);
    fixture_release(fixture, "f8");
    assert_int_equal(join(fixture, &other, one.token, "0", 14, NULL), 401);
    assert_int_equal(leave(fixture, one.token, tree), 401);
    fixture_release(fixture, "f9");
}

/* B8: all of its requests, and more than it may have, while each takes the fabric manager a while.
 * A join of another job is not behind them: it would be told to ask again (409). */
static void flood__of_one_job_does_not_delay_anothers_join(void **state)
{
    enum { FLOOD = ADDRESSES + 16, HOSTS = 8 };
    static struct line *lines[FLOOD];
    struct fixture *fixture = *state;
    const struct fixture_job one = fixture_reserve(fixture, "i1");
    const struct fixture_job other = fixture_reserve(fixture, "i2");
    const unsigned vni = vni_of(fixture, &one);
    const int port = front_port(fixture);
    char headers[128];
    int joined = 0;
    (void)snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", one.token);
    fixture_tell_fm(fixture, "POST", "/mock/faults", JOIN "\"delay_ms\":800}");
    for (unsigned i = 0; i < FLOOD; i++) {
        lines[i] = line_open_from(2 + i % HOSTS, port);
        assert_int_equal(
            line_request(lines[i], "POST", TREES, headers, join_body("i1", "0", vni, 30 + i)), 0);
    }
    assert_int_equal(join(fixture, &other, other.token, "0", 29, NULL), 200);
    fixture_tell_fm(fixture, "DELETE", "/mock/faults", NULL);
    for (unsigned i = 0; i < FLOOD; i++) {
        struct answer answer;
        assert_int_equal(line_answer(lines[i], false, &answer), 0);
        joined += answer.status == 200;
        assert_true(answer.status == 200 || answer.status == 409 || answer.status == 503 ||
                    answer.status == 507);
        answer_release(&answer);
        line_close(lines[i]);
    }
    assert_true(joined > 0 && joined <= ADDRESSES);
    fixture_release(fixture, "i1");
    fixture_release(fixture, "i2");
}

static void body__is_checked(void **state)
{
    static const char *const bodies[] = {
        "",
        "[]",
        "{}",
        "{\"macs\":[],\"vni\":1024,\"timeout\":1,\"jobID\":\"elcap-h\",\"jobStepID\":\"0\"}",
        "{\"macs\":[\"x\"],\"vni\":1024,\"timeout\":1,\"jobID\":\"elcap-h\",\"jobStepID\":\"0\"}",
        "{\"macs\":[1],\"vni\":1024,\"timeout\":1,\"jobID\":\"elcap-h\",\"jobStepID\":\"0\"}",
        "{\"macs\":[\"1:1:1\"],\"vni\":0,\"timeout\":1,\"jobID\":\"elcap-h\",\"jobStepID\":\"0\"}",
        "{\"macs\":[\"1:1:1\"],\"vni\":\"1\",\"timeout\":1,\"jobID\":\"elcap-h\","
        "\"jobStepID\":\"0\"}",
        "{\"macs\":[\"1:1:1\"],\"vni\":1024,\"timeout\":-1,\"jobID\":\"elcap-h\","
        "\"jobStepID\":\"0\"}",
        "{\"macs\":[\"1:1:1\"],\"vni\":1024,\"timeout\":1,\"jobID\":\"elcap-h\"}",
        "{\"macs\":[\"1:1:1\"],\"vni\":1024,\"timeout\":1,\"jobID\":\"elcap-h\","
        "\"jobStepID\":\"a\\\"b\"}",
    };
    struct fixture *fixture = *state;
    const struct fixture_job job = fixture_reserve(fixture, "h");
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct plainhttp_reply reply;
        assert_int_equal(ask(fixture, job.token, "POST", TREES, bodies[i], &reply), 400);
        plainhttp_reply_release(&reply);
    }
    fixture_release(fixture, "h");
}

static void listeners__have_paths_of_their_own(void **state)
{
    static const char *const paths[] = {"/v1/jobs", "/v1/status", "/metrics", "/readyz"};
    struct fixture *fixture = *state;
    const struct fixture_job job = fixture_reserve(fixture, "f10");
    struct plainhttp_reply reply;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(ask(fixture, job.token, "GET", paths[i], NULL, &reply), 400);
        plainhttp_reply_release(&reply);
    }
    assert_int_equal(ask(fixture, NULL, "POST", TREES, "{}", &reply), 401);
    plainhttp_reply_release(&reply);
    assert_int_equal(
        plainhttp_call(testbed_http(fixture_stage(fixture)), "POST", TREES, "{}", &reply), 404);
    plainhttp_reply_release(&reply);
    fixture_release(fixture, "f10");
}

UNIT_GROUP(open_fixture, close_fixture,
           cmocka_unit_test(tree__is_made_and_deleted_through_the_broker),
           cmocka_unit_test(token__of_the_job_is_none_of_the_fabric_managers),
           cmocka_unit_test(job__starts_while_the_fabric_manager_is_away),
           cmocka_unit_test(job__goes_on_when_the_broker_was_killed),
           cmocka_unit_test(token__that_is_narrowed_makes_trees_of_its_steps_only),
           cmocka_unit_test(trees__beyond_the_reservation_are_refused_as_libfabric_reads_it),
           cmocka_unit_test(refusal__of_the_fabric_manager_is_passed_on),
           cmocka_unit_test(answers__that_libfabric_does_not_survive_are_kept_from_it),
           cmocka_unit_test(request__of_another_job_is_refused),
           cmocka_unit_test(flood__of_one_job_does_not_delay_anothers_join),
           cmocka_unit_test(body__is_checked), cmocka_unit_test(listeners__have_paths_of_their_own))
