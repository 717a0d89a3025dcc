/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/bearers/fixture.h"
#include "tests/system/http/line.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/process.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <unistd.h>

/* P7, P5: what a job is told of itself, by its token; and nothing of any other. */

#define OWN "/v1/reservation"
#define MULTICASTS "/fabric/collectives/multicasts"

static struct fixture *fixture;
static struct fixture_job job, other;
static char nodes_file[] = "/tmp/mcast-self-XXXXXX";

/* Where the NICs of some nodes are in the fabric. */
static void write_nodes(void)
{
    static const char nodes[] = "elcap1 nic0=0x002,nic1=0x042\nelcap2 nic0=0x802\n"
                                "elcap3 nic0=0x1002\n";
    const int fd = mkstemp(nodes_file);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, nodes, sizeof nodes - 1), sizeof nodes - 1);
    assert_int_equal(close(fd), 0);
}

/* Its trees are made through the broker. */
static int open_fixture(void **state)
{
    char inventory[64];
    write_nodes();
    (void)snprintf(inventory, sizeof inventory, "source = file\nfile = %s", nodes_file);
    fixture = fixture_open(
        &(struct fixture_options){.hwcoll = "through = relay\n[front]\nlisten = 127.0.0.1:0\n"
                                            "url = http://127.0.0.1:1\n[profile \"wide\"]\n"
                                            "addresses = 96\n",
                                  .inventory = inventory});
    job = fixture_reserve(fixture, "f1");
    other = fixture_reserve(fixture, "fOther");
    return 0;
}

static void tokens__stand_nowhere(void **state)
{
    fixture_close(fixture);
    (void)unlink(nodes_file);
}

static int front_port(void)
{
    return testbed_port(fixture_stage(fixture), " front=127.0.0.1:");
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

/* Through the listener in front of the fabric manager. */
static int ask_front(const char *token, const char *method, const char *path, const char *body,
                     struct plainhttp_reply *reply)
{
    char base[64];
    (void)snprintf(base, sizeof base, "http://127.0.0.1:%d", front_port());
    struct plainhttp *task = plainhttp_create(base, NULL);
    plainhttp_use_bearer(task, token);
    const int status = plainhttp_call(task, method, path, body, reply);
    plainhttp_destroy(task);
    return status;
}

static void make_tree(const char *step, unsigned nic)
{
    struct plainhttp_reply reply;
    struct answer answer;
    char body[512];
    assert_int_equal(fixture_ask(fixture, "GET", OWN, job.token, NULL, &answer), 200);
    const json_t *vni = json_array_get(json_object_get(answer.json, "vnis"), 0);
    (void)snprintf(body, sizeof body,
                   "{\"macs\":[\"1:12:%02X\",\"1:13:%02X\"],\"vni\": %d,\"timeout\":20000000,"
                   "\"jobID\":\"elcap-f1\",\"jobStepID\":\"%s\"}",
                   nic, nic, (int)json_integer_value(vni), step);
    assert_int_equal(ask_front(job.token, "POST", MULTICASTS, body, &reply), 200);
    plainhttp_reply_release(&reply);
    answer_release(&answer);
}

/* What comes of a reservation is told when it is saved, which its answer does not wait for. */
static bool has_events(void *arg)
{
    struct answer answer;
    (void)arg;
    assert_int_equal(fixture_ask(fixture, "GET", OWN "/events?follow=0", job.token, NULL, &answer),
                     200);
    const bool has = count_of(answer.body, "\ndata: ") > 0;
    answer_release(&answer);
    return has;
}

static void events__are_those_of_the_own_reservation(void **state)
{
    struct answer answer;
    char narrow[MCAST_TOKEN_SIZE], wide[MCAST_TOKEN_SIZE];
    assert_true(await(has_events, NULL, AWAIT_DEADLINE_MS));
    assert_int_equal(fixture_ask(fixture, "GET", OWN "/events?follow=0", job.token, NULL, &answer),
                     200);
    assert_int_equal(count_of(answer.body, "\"job\":\"f1\""), count_of(answer.body, "\ndata: "));
    assert_null(strstr(answer.body, "fOther"));
    assert_null(strstr(answer.body, "link-up"));
    answer_release(&answer);
    assert_int_equal(
        fixture_ask(fixture, "GET", OWN "/events?follow=0&kind=lost", job.token, NULL, &answer),
        200);
    assert_int_equal(count_of(answer.body, "\ndata: "), 0);
    answer_release(&answer);
    /* No parameter reaches another's. */
    fixture_refused(fixture, "GET", OWN "/events?follow=0&job=fOther", job.token, NULL, 422,
                    "unknown-parameter", NULL);
    fixture_mint(fixture, job.token, NULL, wide);
    fixture_narrow(fixture, wide, NULL, 0, "cleanup", narrow);
    fixture_refused(fixture, "GET", OWN "/events", narrow, NULL, 403, "outside-scope", NULL);
    fixture_refused(fixture, "GET", OWN "/trees", narrow, NULL, 403, "outside-scope", NULL);
    fixture_refused(fixture, "GET", OWN "/options", narrow, NULL, 403, "outside-scope", NULL);
    fixture_refused(fixture, "GET", OWN "/topology", narrow, NULL, 403, "outside-scope", NULL);
    fixture_refused(fixture, "GET", OWN "/traffic", narrow, NULL, 403, "outside-scope", NULL);
    fixture_refused(fixture, "GET", OWN "/events", NULL, NULL, 401, "no-token", NULL);
}

static struct line *follow(const char *token)
{
    char headers[MCAST_TOKEN_SIZE + 64];
    struct line *line = line_open(testbed_socket(fixture_stage(fixture)), 0);
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", token);
    assert_int_equal(line_request(line, "GET", OWN "/events", headers, NULL), 0);
    assert_true(line_await(line, "event: reserved\n"));
    return line;
}

/* The next life of the job has another token, and its events are not this one's. */
static void stream__ends_with_the_reservation(void **state)
{
    struct fixture_job first = fixture_reserve(fixture, "fTwice");
    struct line *line = follow(first.token), *others = follow(other.token);
    fixture_release(fixture, "fTwice");
    assert_true(line_await(line, "\r\n0\r\n\r\n"));
    struct fixture_job second = fixture_reserve(fixture, "fTwice");
    struct line *next = follow(second.token);
    char number[48];
    snprintf(number, sizeof number, "\"number\":%" JSON_INTEGER_FORMAT ",", first.number);
    assert_null(strstr(line_seen(next), number));
    assert_null(strstr(line_seen(others), "fTwice"));
    line_close(line);
    line_close(others);
    line_close(next);
    fixture_release(fixture, "fTwice");
}

static void trees__are_told_by_step(void **state)
{
    struct answer answer;
    char wide[MCAST_TOKEN_SIZE], narrow[MCAST_TOKEN_SIZE];
    make_tree("/fA", 1);
    make_tree("/fA/fB", 2);
    make_tree("/fA/fB", 3);
    assert_int_equal(fixture_ask(fixture, "GET", OWN "/trees", job.token, NULL, &answer), 200);
    assert_string_equal(answer.body, "{\"known\":\"all\",\"steps\":[{\"step\":\"/fA\",\"trees\":1},"
                                     "{\"step\":\"/fA/fB\",\"trees\":2}]}");
    answer_release(&answer);
    fixture_mint(fixture, job.token, NULL, wide);
    fixture_narrow(fixture, wide, "/fA/fB", 0, NULL, narrow);
    assert_int_equal(fixture_ask(fixture, "GET", OWN "/trees", narrow, NULL, &answer), 200);
    assert_string_equal(answer.body,
                        "{\"known\":\"all\",\"steps\":[{\"step\":\"/fA/fB\",\"trees\":2}]}");
    answer_release(&answer);
    assert_int_equal(fixture_ask(fixture, "GET", OWN "/trees", other.token, NULL, &answer), 200);
    assert_string_equal(answer.body, "{\"known\":\"all\",\"steps\":[]}");
    answer_release(&answer);
}

static void options__are_those_of_its_cluster(void **state)
{
    struct answer own, all;
    assert_int_equal(fixture_ask(fixture, "GET", OWN "/options", job.token, NULL, &own), 200);
    assert_int_equal(fixture_ask(fixture, "GET", "/v1/options?cluster=elcap", NULL, NULL, &all),
                     200);
    assert_true(json_equal(own.json, all.json));
    assert_non_null(strstr(own.body, "\"profiles\":[{\"name\":\"wide\",\"addresses\":96}]"));
    answer_release(&own);
    answer_release(&all);
}

/* A job whose nodes are named; its token. */
static struct fixture_job reserve_on(const char *name, const char *nodes)
{
    struct fixture_job placed = {0};
    struct answer answer;
    char path[64], body[96];
    (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", name);
    (void)snprintf(body, sizeof body, "{\"uid\":0,\"nodes\":\"%s\"}", nodes);
    assert_int_equal(fixture_ask(fixture, "PUT", path, NULL, body, &answer), 201);
    (void)snprintf(placed.token, sizeof placed.token, "%s",
                   json_string_value(json_object_get(json_object_get(answer.json, "env"),
                                                     "FI_CXI_COLL_MCAST_TOKEN")));
    fixture_remember(fixture, placed.token);
    answer_release(&answer);
    return placed;
}

/* Two jobs share a switch; neither is told of the other's nodes (P7). */
static void topology__is_that_of_the_own_nodes(void **state)
{
    struct answer answer, whole;
    char out[8192];
    const char *const words[] = {"self", NULL};
    const struct fixture_job placed = reserve_on("fPlaced", "elcap[1-2]"),
                             others = reserve_on("fThird", "elcap3");
    assert_int_equal(fixture_ask(fixture, "GET", OWN "/topology", placed.token, NULL, &answer),
                     200);
    assert_int_equal(
        fixture_ask(fixture, "GET", "/v1/clusters/elcap/jobs/fPlaced/topology", NULL, NULL, &whole),
        200);
    assert_true(json_equal(answer.json, whole.json));
    assert_int_equal(json_integer_value(json_object_get(answer.json, "groups")), 2);
    assert_int_equal(json_array_size(json_object_get(answer.json, "switches")), 3);
    assert_null(strstr(answer.body, "elcap3"));
    answer_release(&answer);
    answer_release(&whole);
    assert_int_equal(fixture_ctl(fixture, placed.token, words, out, sizeof out), 0);
    assert_non_null(strstr(out, "\nIn the fabric: 2 groups, 3 switches\n"));
    assert_int_equal(fixture_ctl(fixture, others.token, words, out, sizeof out), 0);
    assert_non_null(strstr(out, "\nIn the fabric: 1 group, 1 switch\n"));
    assert_int_equal(fixture_ctl(fixture, job.token, words, out, sizeof out), 0);
    assert_null(strstr(out, "In the fabric"));
    fixture_refused(fixture, "GET", OWN "/topology", NULL, NULL, 401, "no-token", NULL);
    fixture_refused(fixture, "GET", "/v1/clusters/elcap/jobs/fThird/topology", placed.token, NULL,
                    401, "token-elsewhere", NULL);
    fixture_release(fixture, "fPlaced");
    fixture_release(fixture, "fThird");
}

/* A relayed job knows no other address of the broker's: what it asks about itself is answered
 * there, and nothing else. */
static void front__answers_a_job_about_itself(void **state)
{
    static const char *const closed[] = {"/v1/status", "/v1/jobs",    "/v1/options",
                                         "/v1/events", OWN "/tokens", "/v1/clusters/elcap/jobs/f1"};
    static const char *const open[] = {OWN "/trees",   OWN "/options",  OWN "/events?follow=0",
                                       OWN "/traffic", OWN "/topology", OWN};
    struct plainhttp_reply reply;
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++) {
        assert_int_equal(ask_front(job.token, "GET", open[i], NULL, &reply), 200);
        plainhttp_reply_release(&reply);
    }
    assert_int_equal(ask_front(job.token, "GET", OWN, NULL, &reply), 200);
    assert_string_equal(json_string_value(json_object_get(reply.json, "job")), "f1");
    plainhttp_reply_release(&reply);
    assert_int_equal(ask_front("nonsense", "GET", OWN, NULL, &reply), 401);
    assert_string_equal(json_string_value(json_object_get(reply.json, "title")), "Unauthorized");
    plainhttp_reply_release(&reply);
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
        assert_int_equal(ask_front(job.token, "GET", closed[i], NULL, &reply), 400);
        plainhttp_reply_release(&reply);
    }
}

static bool has_ended(void *process)
{
    return !process_alive(process);
}

/* As in a task: by what is in its environment. */
static int run_ctl(const char *command, char *out, size_t size)
{
    char path[512];
    size_t length = 0;
    const char *const argv[] = {MCASTCTL, command, NULL};
    folder_path(path, sizeof path, testbed_folder(fixture_stage(fixture)), "self.out");
    (void)unlink(path);
    struct process *process = process_start(argv, path);
    assert_non_null(process);
    assert_true(await(has_ended, process, AWAIT_DEADLINE_MS));
    const int status = process_exit_status(process);
    process_kill(process);
    FILE *file = fopen(path, "re");
    if (file) {
        length = fread(out, 1, size - 1, file);
        fclose(file);
    }
    out[length] = '\0';
    return status;
}

static void ctl__shows_a_job_what_it_has(void **state)
{
    char out[8192], url[128];
    const char *const words[] = {"self", NULL};
    assert_int_equal(fixture_ctl(fixture, job.token, words, out, sizeof out), 0);
    assert_non_null(strstr(out, "elcap/f1"));
    assert_non_null(strstr(out, "\nMulticast trees:\n  step /fA: 1\n  step /fA/fB: 2\n"));
    assert_non_null(strstr(out, "In the last hour:\n"));
    assert_non_null(strstr(out, "  reserved     "));
    assert_null(strstr(out, job.token));

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d" MULTICASTS, front_port());
    setenv("FI_CXI_COLL_FABRIC_MGR_URL", url, 1);
    setenv("FI_CXI_COLL_MCAST_TOKEN", job.token, 1);
    if (access(MCAST_DEFAULT_SOCKET, F_OK) != 0) { /* else it is asked, and is another's */
        assert_int_equal(run_ctl("self", out, sizeof out), 0);
        assert_non_null(strstr(out, "elcap/f1"));
        assert_int_equal(run_ctl("options", out, sizeof out), 0);
        assert_non_null(strstr(out, "wide: addresses=96"));
    }
    unsetenv("FI_CXI_COLL_FABRIC_MGR_URL");
    unsetenv("FI_CXI_COLL_MCAST_TOKEN");
    assert_int_equal(run_ctl("self", out, sizeof out), 3);
    assert_non_null(strstr(out, "no job is around"));
}

/* A job without addresses has no token: its owner is told, by the job's id. */
static void ctl__shows_an_owner_his_job(void **state)
{
    char out[8192], body[96];
    const char *const words[] = {"self", NULL};
    (void)snprintf(body, sizeof body, "{\"uid\":%u,\"node_count\":1,\"hwcoll\":\"off\"}",
                   (unsigned)geteuid());
    assert_int_equal(
        fixture_ask(fixture, "PUT", "/v1/clusters/elcap/jobs/fPlain", NULL, body, NULL), 201);
    setenv("FLUX_JOB_ID_PATH", "/ƒPlain/ƒInner", 1);
    assert_int_equal(fixture_ctl(fixture, NULL, words, out, sizeof out), 0);
    unsetenv("FLUX_JOB_ID_PATH");
    assert_non_null(strstr(out, "elcap/fPlain"));
    assert_non_null(strstr(out, "off"));
    setenv("SLURM_JOB_ID", "fPlain", 1);
    assert_int_equal(fixture_ctl(fixture, NULL, words, out, sizeof out), 0);
    unsetenv("SLURM_JOB_ID");
    assert_non_null(strstr(out, "elcap/fPlain"));
}

static struct line *follow_over_tcp(struct fixture *small, const struct fixture_job *whose)
{
    char headers[MCAST_TOKEN_SIZE + 64];
    struct line *line = line_open(NULL, fixture_port(small));
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", whose->token);
    assert_int_equal(line_request(line, "GET", OWN "/events", headers, NULL), 0);
    assert_true(line_await(line, "event: reserved\n"));
    return line;
}

/* Who follows has an idle connection: however many there are, another job's bearers are served, and
 * whose place was taken is told by the end of his connection (B8). */
static void followers__keep_nobody_out(void **state)
{
    enum { FOLLOWERS = 100 };
    struct fixture *small = fixture_open(
        &(struct fixture_options){.broker = "listen = 127.0.0.1:0\nconnections_max = 16"});
    const struct fixture_job greedy = fixture_reserve(small, "f1"),
                             quiet = fixture_reserve(small, "f2");
    struct line *lines[FOLLOWERS];
    char headers[MCAST_TOKEN_SIZE + 64];
    for (int i = 0; i < FOLLOWERS; i++)
        lines[i] = follow_over_tcp(small, &greedy);
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", quiet.token);
    assert_int_equal(fixture_ask_so(small, true, "GET", OWN, headers, NULL, NULL), 200);
    for (int i = 0; i < FOLLOWERS - 2; i++)
        assert_true(line_ended(lines[i]));
    for (int i = 0; i < FOLLOWERS; i++)
        line_close(lines[i]);
    fixture_close(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events__are_those_of_the_own_reservation),
        cmocka_unit_test(stream__ends_with_the_reservation),
        cmocka_unit_test(trees__are_told_by_step),
        cmocka_unit_test(options__are_those_of_its_cluster),
        cmocka_unit_test(topology__is_that_of_the_own_nodes),
        cmocka_unit_test(front__answers_a_job_about_itself),
        cmocka_unit_test(followers__keep_nobody_out),
        cmocka_unit_test(ctl__shows_a_job_what_it_has),
        cmocka_unit_test(ctl__shows_an_owner_his_job),
        cmocka_unit_test(tokens__stand_nowhere),
    };
    return cmocka_run_group_tests(tests, open_fixture, NULL);
}
