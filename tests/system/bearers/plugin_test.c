/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/line.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/process.h"
#include "tests/system/rig/testbed.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* B9: Slurm's own plugin takes the broker for the fabric manager. The bytes are those that Slurm
 * 26.11 sends: a new connection for each request, DELETE with an empty body in chunks. Of two
 * clusters one has the beginning of the other's name. */

#define JOBS "/fabric/collectives/jobs"
#define JSON "Content-Type: application/json\r\n"
/* cxi:0123456789abcdef, cxi:fedcba9876543210 */
#define ELCAP "Authorization: Basic Y3hpOjAxMjM0NTY3ODlhYmNkZWY=\r\n" JSON
#define ELCAP2 "Authorization: Basic Y3hpOmZlZGNiYTk4NzY1NDMyMTA=\r\n" JSON
#define JOIN                                                                                       \
    "{\"macs\":[\"1:12:%02X\",\"1:13:%02X\"],\"vni\": 40,\"timeout\":20000000,"                    \
    "\"jobID\":\"elcap-%s\",\"jobStepID\":\"0\"}"

struct site {
    char logins[FOLDER_PATH_SIZE];
    char clusters[512];
    struct testbed *testbed;
};

static int open_site(void **state)
{
    struct site *site = calloc(1, sizeof *site);
    *state = site;
    assert_non_null(site);
    assert_int_equal(folder_create(site->logins), 0);
    char name[FOLDER_PATH_SIZE + 8];
    for (int i = 1; i <= 2; i++) {
        (void)snprintf(name, sizeof name, "%s/%d", site->logins, i);
        assert_int_equal(mkdir(name, 0700), 0);
        assert_int_equal(folder_write(name, "passwd", 0600,
                                      i == 1 ? "0123456789abcdef\n" : "fedcba9876543210\n"),
                         0);
    }
    assert_int_equal(folder_write(name, "client-id", 0600, "slurm-elcap2\n"), 0);
    assert_int_equal(folder_write(name, "client-secret", 0600, "a-secret_of.twenty~5\n"), 0);
    (void)snprintf(site->clusters, sizeof site->clusters,
                   "plugin_login = %s/1\n[cluster \"elcap2\"]\nplugin_login = %s/2\n", site->logins,
                   site->logins);
    const struct testbed_options options = {
        .mcastd = MCASTD,
        .mock_fm = MOCK_FM,
        .fm = "link_retry = 50ms\ntimeout = 3s",
        .hwcoll =
            "addresses_per_job = 8\n[front]\nlisten = 127.0.0.1:0\nurl = http://127.0.0.1:1\n",
        .clusters = site->clusters};
    site->testbed = testbed_create(&options);
    assert_non_null(site->testbed);
    assert_int_equal(testbed_start_fm(site->testbed), 0);
    assert_int_equal(testbed_start_broker(site->testbed), 0);
    assert_int_equal(testbed_await_link(site->testbed), 0);
    return 0;
}

static int close_site(void **state)
{
    struct site *site = *state;
    testbed_destroy(site->testbed);
    folder_destroy(site->logins);
    free(site);
    return 0;
}

static int port_of(const struct site *site)
{
    return testbed_port(site->testbed, " front=127.0.0.1:");
}

/* One request on a new connection; the answer is to be released. */
static int ask(const struct site *site, const char *method, const char *path, const char *headers,
               const char *body, struct answer *answer)
{
    struct line *line = line_open(NULL, port_of(site));
    assert_int_equal(line_request(line, method, path, headers, body), 0);
    assert_int_equal(line_answer(line, false, answer), 0);
    line_close(line);
    return answer->status;
}

static int status_of(const struct site *site, const char *method, const char *path,
                     const char *headers, const char *body)
{
    struct answer answer;
    const int status = ask(site, method, path, headers, body, &answer);
    answer_release(&answer);
    return status;
}

/* As a step of Slurm's begins: GET, and POST when that is 404. Its status; token: 64 bytes. */
static int begin_step(const struct site *site, const char *login, const char *name, char *token)
{
    struct answer answer;
    char path[128], body[128];
    (void)snprintf(path, sizeof path, JOBS "/%s", name);
    (void)snprintf(body, sizeof body, "{ \"jobID\": \"%s\", \"mcastLimit\": 4 }", name);
    int status = ask(site, "GET", path, login, NULL, &answer);
    if (status == 404) {
        answer_release(&answer);
        status = ask(site, "POST", JOBS, login, body, &answer);
    }
    (void)snprintf(token, 64, "%s", answer_text(&answer, "sessionToken"));
    answer_release(&answer);
    return status;
}

/* The bytes of its end of a job: libcurl asks whether it may send a body, which is empty. */
static int delete (const struct site *site, const char *login, const char *name)
{
    char head[512];
    struct answer answer;
    struct line *line = line_open(NULL, port_of(site));
    const int length = snprintf(head, sizeof head,
                                "DELETE " JOBS "/%s HTTP/1.1\r\nHost: broker\r\n%s"
                                "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
                                name, login);
    assert_int_equal(line_send(line, head, (size_t)length), 0);
    assert_true(line_await(line, "HTTP/1.1 100 "));
    assert_int_equal(line_answer(line, true, &answer), 0); /* that one */
    answer_release(&answer);
    assert_int_equal(line_send(line, "0\r\n\r\n", 5), 0);
    assert_int_equal(line_answer(line, false, &answer), 0);
    const int status = answer.status;
    answer_release(&answer);
    line_close(line);
    return status;
}

static int join(const struct site *site, const char *token, const char *job, unsigned nic)
{
    char body[256], login[160];
    (void)snprintf(body, sizeof body, JOIN, nic, nic, job);
    (void)snprintf(login, sizeof login, "Authorization: Bearer %s\r\n" JSON, token);
    return status_of(site, "POST", "/fabric/collectives/multicasts", login, body);
}

static bool is_listed(const struct site *site, const char *login, const char *name)
{
    struct answer answer;
    char link[128];
    bool listed = false;
    (void)snprintf(link, sizeof link, JOBS "/%s", name);
    assert_int_equal(ask(site, "GET", JOBS "/", login, NULL, &answer), 200);
    const json_t *links = json_object_get(answer.json, "documentLinks");
    assert_true(json_is_array(links));
    for (size_t i = 0; i < json_array_size(links); i++)
        listed |= strcmp(json_string_value(json_array_get(links, i)), link) == 0;
    answer_release(&answer);
    return listed;
}

/* ---- */

/* As an administrator sees it. */
static void shows_who_made_it(const struct site *site)
{
    struct answer answer;
    struct line *line = line_open(testbed_socket(site->testbed), 0);
    assert_int_equal(line_request(line, "GET", "/v1/clusters/elcap/jobs/17", NULL, NULL), 0);
    assert_int_equal(line_answer(line, false, &answer), 0);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_text(&answer, "origin"), "plugin");
    assert_null(json_object_get(answer.json, "uid"));
    assert_int_equal(answer_number(&answer, "hwcoll.addresses"), 4);
    answer_release(&answer);
    line_close(line);
}

static void job__lives_as_with_the_fabric_manager(void **state)
{
    const struct site *site = *state;
    char token[64], again[64];
    struct answer answer;
    assert_int_equal(begin_step(site, ELCAP, "elcap-17", token), 201);
    assert_int_equal(strlen(token), 32);
    assert_int_equal(begin_step(site, ELCAP, "elcap-17", again), 200);
    assert_string_equal(again, token);
    assert_true(is_listed(site, ELCAP, "elcap-17"));
    shows_who_made_it(site);
    assert_int_equal(join(site, token, "17", 1), 200);
    assert_int_equal(
        ask(site, "PATCH", JOBS "/elcap-17", ELCAP, "{ \"jobSteps\": { \"0\": null } }", &answer) /
            100,
        2);
    assert_true(json_object_size(answer.json) > 0); /* an empty one counts as a failure */
    answer_release(&answer);
    assert_int_equal(delete (site, ELCAP, "elcap-17") / 100, 2);
    assert_false(is_listed(site, ELCAP, "elcap-17"));
    assert_int_equal(join(site, token, "17", 2), 401);
    /* It comes for every job, and a step may end after its job, which may still be released. */
    assert_int_equal(delete (site, ELCAP, "elcap-17") / 100, 2);
    assert_int_equal(delete (site, ELCAP, "elcap-18"), 200);
    assert_int_equal(
        status_of(site, "PATCH", JOBS "/elcap-17", ELCAP, "{ \"jobSteps\": { \"0\": null } }"),
        404);
    /* A requeued job keeps its id. */
    assert_int_equal(begin_step(site, ELCAP, "elcap-17", again), 201);
    assert_string_not_equal(again, token);
    assert_int_equal(delete (site, ELCAP, "elcap-17") / 100, 2);
}

/* B8: a login is that of one cluster. */
static void login__is_for_its_cluster_only(void **state)
{
    const struct site *site = *state;
    char token[64];
    assert_int_equal(begin_step(site, ELCAP2, "elcap2-7", token), 201);
    assert_true(is_listed(site, ELCAP2, "elcap2-7"));
    assert_false(is_listed(site, ELCAP, "elcap2-7"));
    assert_int_equal(status_of(site, "GET", JOBS "/elcap2-7", ELCAP, NULL), 403);
    assert_int_equal(
        status_of(site, "POST", JOBS, ELCAP, "{\"jobID\":\"elcap2-8\",\"mcastLimit\":1}"), 403);
    assert_int_equal(
        status_of(site, "PATCH", JOBS "/elcap2-7", ELCAP, "{ \"jobSteps\": { \"0\": null } }"),
        403);
    assert_int_equal(delete (site, ELCAP, "elcap2-7"), 403);
    assert_int_equal(begin_step(site, ELCAP2, "elcap2-7", token), 200);
    assert_int_equal(delete (site, ELCAP2, "elcap2-7") / 100, 2);
}

/* Slurm's controller ends when what is no list comes as an answer: 200, or 404 with JSON. */
static void refusal__is_none_that_slurm_takes_for_an_answer(void **state)
{
    static const struct {
        const char *method, *path, *headers;
        int status;
    } cases[] = {
        {"GET", JOBS "/", NULL, 401},
        {"GET", JOBS "/", "Authorization: Basic Y3hpOndyb25n\r\n", 401},
        {"GET", JOBS "/", "Authorization: Basic Y3hpOg==\r\n", 401},
        {"GET", JOBS "/", "Authorization: Basic !\r\n", 401},
        {"GET", JOBS "/", "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n", 401},
        {"GET", JOBS "/", "Authorization: Munge MUNGE:x:\r\n", 401},
        {"GET", "/apis" JOBS "/", ELCAP, 400},
        {"GET", "/", ELCAP, 400},
        {"GET", JOBS "/elcap", ELCAP, 422},
        {"PUT", JOBS "/elcap-1", ELCAP, 405},
        {"GET", "/" JOBS "/", ELCAP, 200}, /* fm_url ends with a slash */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int status =
            status_of(*state, cases[i].method, cases[i].path, cases[i].headers, NULL);
        if (status != cases[i].status)
            fail_msg("%s %s: %d", cases[i].method, cases[i].path, status);
    }
}

static void body__that_is_none_of_slurms_is_refused(void **state)
{
    static const char *const bodies[] = {
        "",
        "[]",
        "{}",
        "{\"jobID\":17}",
        "{\"jobID\":\"elcap\"}",
        "{\"jobID\":\"elcap-\"}",
        "{\"jobID\":\"elcap-17\",\"mcastLimit\":-1}",
        "{\"jobID\":\"elcap-17\",\"mcastLimit\":70000}",
    };
    static const char *const steps[] = {"{}", "{\"jobSteps\":{}}", "{\"jobSteps\":{\"0\":{}}}",
                                        "{\"jobSteps\":{\"0\":null,\"1\":null}}",
                                        "{\"jobSteps\":{\"/../x\":null}}"};
    const struct site *site = *state;
    char token[64];
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        assert_int_equal(status_of(site, "POST", JOBS, ELCAP, bodies[i]) / 100, 4);
    assert_int_equal(begin_step(site, ELCAP, "elcap-17", token), 201);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        assert_int_equal(status_of(site, "PATCH", JOBS "/elcap-17", ELCAP, steps[i]) / 100, 4);
    assert_int_equal(delete (site, ELCAP, "elcap-17") / 100, 2);
}

#define FORM "Content-Type: application/x-www-form-urlencoded\r\n"
#define GRANT "grant_type=client_credentials&client_id="

static int ask_token(const struct site *site, const char *form, char *login, size_t size)
{
    struct answer answer;
    const int status = ask(site, "POST", "/oauth2/token", FORM, form, &answer);
    (void)snprintf(login, size, "Authorization: Bearer %s\r\n" JSON,
                   answer_text(&answer, "access_token"));
    answer_release(&answer);
    return status;
}

static void token__is_given_to_a_client_and_opens_its_cluster(void **state)
{
    static const char form[] = GRANT "slurm-elcap2&client_secret=a-secret_of.twenty~5&scope=openid";
    static const char *const wrong[] = {
        "",
        GRANT "slurm-elcap2&scope=openid",
        GRANT "slurm-elcap2&client_secret=&scope=openid",
        GRANT "slurm-elcap2&client_secret=a-secret_of.twenty~&scope=openid",
        GRANT "slurm-elcap&client_secret=a-secret_of.twenty~5&scope=openid",
        GRANT "slurm-elcap2&client_secret=fedcba9876543210"};
    struct site *site = *state;
    char login[256], next[256], token[64], again[64];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(ask_token(site, wrong[i], login, sizeof login), 401);
    assert_int_equal(ask_token(site, form, login, sizeof login), 200);
    assert_int_equal(begin_step(site, login, "elcap2-9", token), 201);
    assert_int_equal(status_of(site, "GET", JOBS "/elcap-9", login, NULL), 403);
    /* After the broker's end Slurm is refused, asks for another one, and finds what it had. */
    testbed_kill_broker(site->testbed);
    assert_int_equal(testbed_start_broker(site->testbed), 0);
    assert_int_equal(status_of(site, "GET", JOBS "/elcap2-9", login, NULL), 401);
    assert_int_equal(ask_token(site, form, next, sizeof next), 200);
    assert_string_not_equal(next, login);
    assert_int_equal(begin_step(site, next, "elcap2-9", again), 200);
    assert_string_equal(again, token);
    assert_int_equal(delete (site, next, "elcap2-9") / 100, 2);
}

struct wish {
    const struct site *site;
    const char *token;
    int status;
};

static bool is_joined(void *arg)
{
    struct wish *wish = arg;
    wish->status = join(wish->site, wish->token, "21", 21);
    return wish->status != 409;
}

/* F23, G26: no step fails because the fabric manager is in trouble. */
static void step__starts_while_the_fabric_manager_is_away(void **state)
{
    struct site *site = *state;
    char token[64];
    testbed_kill_fm(site->testbed);
    assert_int_equal(begin_step(site, ELCAP, "elcap-21", token), 201);
    assert_int_equal(testbed_start_fm(site->testbed), 0);
    struct wish wish = {.site = site, .token = token};
    assert_true(await(is_joined, &wish, AWAIT_DEADLINE_MS));
    assert_int_equal(wish.status, 200);
    assert_int_equal(delete (site, ELCAP, "elcap-21") / 100, 2);
}

static bool is_refused(void *arg)
{
    return status_of(arg, "GET", JOBS "/", ELCAP, NULL) == 401;
}

static bool is_taken(void *arg)
{
    return status_of(arg, "GET", JOBS "/", ELCAP, NULL) == 200;
}

static int64_t former_requests(const struct site *site);

/* The reload was put into force: the login that is shown is the former one. */
static bool is_former(void *arg)
{
    return is_taken(arg) && former_requests(arg) > 0;
}

static void change_password(const struct site *site, const char *text, bool (*changed)(void *arg))
{
    char folder[FOLDER_PATH_SIZE + 8];
    (void)snprintf(folder, sizeof folder, "%s/1", site->logins);
    assert_int_equal(folder_write(folder, "passwd", 0600, text), 0);
    process_signal(testbed_broker(site->testbed), SIGHUP);
    assert_true(await(changed, (void *)(uintptr_t)site, AWAIT_DEADLINE_MS));
}

/* B8: who keeps the body of a request back keeps no login that has been changed meanwhile. */
static void login__that_is_changed_opens_nothing(void **state)
{
    static const char body[] = "{ \"jobID\": \"elcap-30\", \"mcastLimit\": 4 }";
    const struct site *site = *state;
    char head[512];
    struct answer answer;
    struct line *line = line_open(NULL, port_of(site));
    const int length = snprintf(head, sizeof head,
                                "POST " JOBS " HTTP/1.1\r\nHost: broker\r\n%s"
                                "Content-Length: %zu\r\nExpect: 100-continue\r\n\r\n",
                                ELCAP, sizeof body - 1);
    assert_int_equal(line_send(line, head, (size_t)length), 0);
    assert_true(line_await(line, "HTTP/1.1 100 "));
    assert_int_equal(line_answer(line, true, &answer), 0);
    answer_release(&answer);
    change_password(site, "another-0123456789\n", is_refused);
    assert_int_equal(line_send(line, body, sizeof body - 1), 0);
    assert_int_equal(line_answer(line, false, &answer), 0);
    assert_int_equal(answer.status, 401);
    answer_release(&answer);
    line_close(line);
    change_password(site, "0123456789abcdef\n", is_taken);
}

static int64_t former_requests(const struct site *site)
{
    struct answer answer;
    struct line *line = line_open(testbed_socket(site->testbed), 0);
    assert_int_equal(line_request(line, "GET", "/v1/status", NULL, NULL), 0);
    assert_int_equal(line_answer(line, false, &answer), 0);
    const json_t *cluster = json_array_get(json_object_get(answer.json, "clusters"), 0);
    const json_t *plugin = json_object_get(cluster, "plugin");
    assert_string_equal(json_string_value(json_object_get(plugin, "limit")), "cut");
    assert_string_equal(answer_text(&answer, "vnis.numbers"), "1024-65535");
    assert_string_equal(answer_text(&answer, "front.url"), "http://127.0.0.1:1");
    const int64_t count = json_is_true(json_object_get(plugin, "former_login"))
                              ? json_integer_value(json_object_get(plugin, "former_login_requests"))
                              : -1;
    answer_release(&answer);
    line_close(line);
    return count;
}

/* A step manager keeps the login that it read when its job began. */
static void job__outlives_a_change_of_the_password(void **state)
{
    /* cxi:another-0123456789 */
    static const char changed[] = "Authorization: Basic Y3hpOmFub3RoZXItMDEyMzQ1Njc4OQ==\r\n" JSON;
    const struct site *site = *state;
    char folder[FOLDER_PATH_SIZE + 8], path[FOLDER_PATH_SIZE + 32], token[64];
    (void)snprintf(folder, sizeof folder, "%s/1", site->logins);
    (void)snprintf(path, sizeof path, "%s/passwd.old", folder);
    assert_int_equal(begin_step(site, ELCAP, "elcap-31", token), 201);
    assert_int_equal(former_requests(site), -1);
    assert_int_equal(folder_write(folder, "passwd.old", 0600, "0123456789abcdef\n"), 0);
    change_password(site, "another-0123456789\n", is_former);
    assert_int_equal(begin_step(site, ELCAP, "elcap-31", token), 200);
    assert_int_equal(begin_step(site, changed, "elcap-32", token), 201);
    assert_true(former_requests(site) > 0);
    assert_int_equal(delete (site, changed, "elcap-32") / 100, 2);
    assert_int_equal(delete (site, ELCAP, "elcap-31") / 100, 2);
    assert_int_equal(unlink(path), 0);
    process_signal(testbed_broker(site->testbed), SIGHUP);
    assert_true(await(is_refused, (void *)(uintptr_t)site, AWAIT_DEADLINE_MS));
    change_password(site, "0123456789abcdef\n", is_taken);
}

/* B8: what the others' doors take, this one does not, and the other way round. */
static void login__opens_nothing_else(void **state)
{
    const struct site *site = *state;
    struct answer answer;
    struct line *line = line_open(testbed_socket(site->testbed), 0);
    assert_int_equal(line_request(line, "GET", JOBS "/", ELCAP, NULL), 0);
    assert_int_equal(line_answer(line, false, &answer), 0);
    assert_int_equal(answer.status, 404);
    answer_release(&answer);
    assert_int_equal(line_request(line, "GET", "/v1/jobs", ELCAP, NULL), 0);
    assert_int_equal(line_answer(line, false, &answer), 0);
    assert_int_equal(answer.status, 401);
    answer_release(&answer);
    line_close(line);
    assert_int_equal(status_of(site, "GET", "/v1/jobs", ELCAP, NULL), 400);
    assert_int_equal(status_of(site, "POST", "/fabric/collectives/multicasts", ELCAP, "{}"), 401);
}

UNIT_GROUP(open_site, close_site, cmocka_unit_test(job__lives_as_with_the_fabric_manager),
           cmocka_unit_test(login__is_for_its_cluster_only),
           cmocka_unit_test(refusal__is_none_that_slurm_takes_for_an_answer),
           cmocka_unit_test(body__that_is_none_of_slurms_is_refused),
           cmocka_unit_test(token__is_given_to_a_client_and_opens_its_cluster),
           cmocka_unit_test(step__starts_while_the_fabric_manager_is_away),
           cmocka_unit_test(login__that_is_changed_opens_nothing),
           cmocka_unit_test(job__outlives_a_change_of_the_password),
           cmocka_unit_test(login__opens_nothing_else))
