/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/bearers/fixture.h"
#include "tests/unit/unit.h"

#include "tests/system/http/contract.h"
#include "tests/system/http/line.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <unistd.h>

#define JOBS "/v1/clusters/elcap/jobs/"
#define FM_JOBS "/fabric/collectives/jobs/elcap-"
#define FM_TREES "/fabric/collectives/multicasts"

enum { SECRETS_MAX = 4096, PATH_SIZE = 256, FILE_MAX = 64 << 20, SECRETSCAN = 32 };

struct fixture {
    struct testbed *testbed; /* borrows these */
    const char *mock_args[8];
    char hwcoll[512], broker[1024];
    json_t *contract;
    struct plainhttp *tasks; /* of the job that planted last */
    char *secrets[SECRETS_MAX];
    size_t secret_count;
    unsigned runs; /* of mcastctl */
};

/* ---- its life ---- */

static void learn_contract(struct fixture *fixture)
{
    struct plainhttp_reply reply;
    assert_int_equal(
        plainhttp_call(testbed_http(fixture->testbed), "GET", "/openapi.json", NULL, &reply), 200);
    fixture->contract = json_incref(reply.json);
    plainhttp_reply_release(&reply);
}

struct fixture *fixture_open(const struct fixture_options *options)
{
    const char *const *more = options->mock_args;
    size_t used = 0;
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    if (options->session_tokens) {
        fixture->mock_args[used++] = "--session-tokens";
        fixture->mock_args[used++] = options->session_tokens;
    }
    while (more && *more)
        fixture->mock_args[used++] = *more++;
    (void)snprintf(fixture->hwcoll, sizeof fixture->hwcoll,
                   "min_nodes = 1\naddresses_per_job = 64\n%s",
                   options->hwcoll ? options->hwcoll : "");
    /* Whoever looks for tokens in the log wants all of it. */
    (void)snprintf(fixture->broker, sizeof fixture->broker, "log_level = debug\n%s",
                   options->broker ? options->broker : "");
    const struct testbed_options testbed = {.mcastd = MCASTD,
                                            .mock_fm = MOCK_FM,
                                            .mock_args = fixture->mock_args,
                                            .broker = fixture->broker,
                                            .fm = "link_retry = 50ms",
                                            .hwcoll = fixture->hwcoll,
                                            .inventory = options->inventory};
    fixture->testbed = testbed_create(&testbed);
    assert_non_null(fixture->testbed);
    assert_int_equal(testbed_start_fm(fixture->testbed), 0);
    assert_int_equal(testbed_start_broker(fixture->testbed), 0);
    assert_int_equal(testbed_await_link(fixture->testbed), 0);
    learn_contract(fixture);
    return fixture;
}

struct testbed *fixture_stage(struct fixture *fixture)
{
    return fixture->testbed;
}

/* What is shorter is found everywhere. */
void fixture_remember(struct fixture *fixture, const char *token)
{
    if (strlen(token) < SECRETSCAN)
        return;
    for (size_t i = 0; i < fixture->secret_count; i++)
        if (!strcmp(fixture->secrets[i], token))
            return;
    assert_true(fixture->secret_count < SECRETS_MAX);
    assert_non_null(fixture->secrets[fixture->secret_count++] = strdup(token));
}

/* ---- nothing of a token is left lying about ---- */

static void search(const struct fixture *fixture, const char *bytes, size_t length,
                   const char *where)
{
    for (size_t i = 0; i < fixture->secret_count; i++)
        if (memmem(bytes, length, fixture->secrets[i], strlen(fixture->secrets[i])))
            fail_msg("%s holds a token", where);
}

static void search_file(const struct fixture *fixture, const char *path)
{
    FILE *file = fopen(path, "re");
    char *bytes = malloc(FILE_MAX);
    assert_non_null(bytes);
    if (file) {
        search(fixture, bytes, fread(bytes, 1, FILE_MAX, file), path);
        fclose(file);
    }
    free(bytes);
}

/* All that the broker and mcastctl wrote; mock-fm's own files are where tokens come from. */
static void search_files(const struct fixture *fixture)
{
    static const char *const names[] = {"mcastd.log",   "state.db",      "state.db-wal",
                                        "state.db-shm", "state.db.lock", "root.keys"};
    char path[PATH_SIZE], name[32];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        search_file(fixture,
                    folder_path(path, sizeof path, testbed_folder(fixture->testbed), names[i]));
    for (unsigned i = 0; i < fixture->runs; i++) {
        (void)snprintf(name, sizeof name, "ctl.%u", i);
        search_file(fixture,
                    folder_path(path, sizeof path, testbed_folder(fixture->testbed), name));
    }
}

static void search_answers(struct fixture *fixture)
{
    static const char *const paths[] = {"/metrics",   "/v1/status", "/v1/events?follow=0",
                                        "/v1/doctor", "/v1/jobs",   "/v1/whoami"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct answer answer;
        assert_int_equal(fixture_ask(fixture, "GET", paths[i], NULL, NULL, &answer), 200);
        search(fixture, answer.body, answer.length, paths[i]);
        answer_release(&answer);
    }
}

static void search_process(struct fixture *fixture)
{
    static const char *const names[] = {"cmdline", "comm", "environ"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[PATH_SIZE];
        (void)snprintf(path, sizeof path, "/proc/%d/%s",
                       (int)process_pid(testbed_broker(fixture->testbed)), names[i]);
        search_file(fixture, path);
    }
}

void fixture_close(struct fixture *fixture)
{
    assert_true(fixture->secret_count > 0);
    if (testbed_broker(fixture->testbed)) {
        search_answers(fixture);
        search_process(fixture);
        assert_int_equal(testbed_stop_broker(fixture->testbed), 0);
    }
    search_files(fixture);
    plainhttp_destroy(fixture->tasks);
    testbed_destroy(fixture->testbed);
    json_decref(fixture->contract);
    for (size_t i = 0; i < fixture->secret_count; i++)
        free(fixture->secrets[i]);
    free(fixture);
}

/* ---- asking ---- */

int fixture_port(struct fixture *fixture)
{
    const int port = testbed_port(fixture->testbed, " listen=127.0.0.1:");
    assert_true(port > 0);
    return port;
}

int fixture_ask_so(struct fixture *fixture, bool tcp, const char *method, const char *path,
                   const char *headers, const char *body, struct answer *answer)
{
    struct line *line = tcp ? line_open(NULL, fixture_port(fixture))
                            : line_open(testbed_socket(fixture->testbed), 0);
    struct answer own;
    char why[256] = "";
    if (!answer)
        answer = &own;
    assert_int_equal(line_request(line, method, path, headers, body), 0);
    assert_int_equal(line_answer(line, !strcmp(method, "HEAD"), answer), 0);
    if (!contract_holds(fixture->contract, method, path, answer, why, sizeof why))
        fail_msg("%s %s: %s: %s\n%s", method, path, why, answer->head, answer->body);
    if (answer->status >= 400)
        search(fixture, answer->body, answer->length, "a refusal");
    search(fixture, answer->head, strlen(answer->head), "an answer's head");
    line_close(line);
    int status = answer->status;
    if (answer == &own)
        answer_release(&own);
    return status;
}

int fixture_ask(struct fixture *fixture, const char *method, const char *path, const char *token,
                const char *body, struct answer *answer)
{
    char *headers = NULL;
    if (token) {
        fixture_remember(fixture, token);
        assert_true(asprintf(&headers, "Authorization: Bearer %s\r\n", token) > 0);
    }
    int status = fixture_ask_so(fixture, false, method, path, headers, body, answer);
    free(headers);
    return status;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

void fixture_refused(struct fixture *fixture, const char *method, const char *path,
                     const char *token, const char *body, int status, const char *code,
                     char *detail)
{
    struct answer answer;
    fixture_ask(fixture, method, path, token, body, &answer);
    if (answer.status != status || strcmp(text_of(answer.json, "code"), code) != 0)
        fail_msg("%s %s: not %d %s but %d %s", method, path, status, code, answer.status,
                 answer.body);
    if (detail)
        (void)snprintf(detail, 256, "%s", text_of(answer.json, "detail"));
    answer_release(&answer);
}

json_int_t fixture_status(struct fixture *fixture, const char *object, const char *name)
{
    struct answer answer;
    assert_int_equal(fixture_ask(fixture, "GET", "/v1/status", NULL, NULL, &answer), 200);
    const json_t *value = json_object_get(json_object_get(answer.json, object), name);
    assert_true(json_is_integer(value));
    json_int_t number = json_integer_value(value);
    answer_release(&answer);
    return number;
}

struct wish {
    struct fixture *fixture;
    const struct fixture_job *job;
    const char *step, *object, *name;
    json_int_t value;
};

static bool status_is(void *arg)
{
    const struct wish *wish = arg;
    return fixture_status(wish->fixture, wish->object, wish->name) == wish->value;
}

void fixture_await_status(struct fixture *fixture, const char *object, const char *name,
                          json_int_t value)
{
    struct wish wish = {.fixture = fixture, .object = object, .name = name, .value = value};
    if (!await(status_is, &wish, AWAIT_DEADLINE_MS))
        fail_msg("%s.%s is %d", object, name, (int)fixture_status(fixture, object, name));
}

/* ---- jobs and trees ---- */

struct fixture_job fixture_reserve(struct fixture *fixture, const char *name)
{
    struct fixture_job job;
    struct answer answer;
    char path[PATH_SIZE];
    (void)snprintf(job.name, sizeof job.name, "%s", name);
    (void)snprintf(path, sizeof path, JOBS "%s", name);
    assert_int_equal(
        fixture_ask(fixture, "PUT", path, NULL, "{\"uid\":0,\"node_count\":8}", &answer), 201);
    const char *token = text_of(json_object_get(answer.json, "env"), "FI_CXI_COLL_MCAST_TOKEN");
    assert_true(token[0] && strlen(token) < sizeof job.token);
    (void)snprintf(job.token, sizeof job.token, "%s", token);
    job.number = json_integer_value(json_object_get(answer.json, "number"));
    answer_release(&answer);
    fixture_remember(fixture, job.token);
    return job;
}

void fixture_release(struct fixture *fixture, const char *name)
{
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, JOBS "%s", name);
    assert_int_equal(fixture_ask(fixture, "DELETE", path, NULL, NULL, NULL), 202);
}

/* Where the job's tasks find the fabric manager. */
static struct plainhttp *task_of(struct fixture *fixture, const struct fixture_job *job)
{
    struct answer answer;
    assert_int_equal(fixture_ask(fixture, "GET", "/v1/reservation", job->token, NULL, &answer),
                     200);
    char *url = strdup(text_of(json_object_get(answer.json, "env"), "FI_CXI_COLL_FABRIC_MGR_URL"));
    char *path = url ? strstr(url, FM_TREES) : NULL;
    assert_non_null(path);
    *path = '\0';
    plainhttp_destroy(fixture->tasks);
    fixture->tasks = plainhttp_create(url, NULL);
    assert_non_null(fixture->tasks);
    plainhttp_use_bearer(fixture->tasks, job->token);
    free(url);
    answer_release(&answer);
    return fixture->tasks;
}

void fixture_plant(struct fixture *fixture, const struct fixture_job *job, const char *step,
                   unsigned nic)
{
    struct plainhttp_reply reply;
    char body[512];
    (void)snprintf(body, sizeof body,
                   "{\"macs\":[\"1:%X:%02X\",\"1:%X:%02X\"],\"vni\":1024,\"timeout\":20000000,"
                   "\"jobID\":\"elcap-%s\",\"jobStepID\":\"%s\"}",
                   nic >> 8, nic & 0xff, (nic >> 8) + 128, nic & 0xff, job->name, step);
    const int status = plainhttp_call(task_of(fixture, job), "POST", FM_TREES, body, &reply);
    if (status != 201)
        fail_msg("%s: %d %s", body, status, reply.text);
    plainhttp_reply_release(&reply);
}

size_t fixture_trees(struct fixture *fixture, const struct fixture_job *job, const char *step)
{
    struct plainhttp_reply reply;
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof path, FM_JOBS "%s", job->name);
    assert_int_equal(plainhttp_call(testbed_fm_http(fixture->testbed), "GET", path, NULL, &reply),
                     200);
    const json_t *steps = json_object_get(reply.json, "jobSteps");
    assert_true(json_is_object(steps));
    size_t count = json_array_size(json_object_get(steps, step));
    plainhttp_reply_release(&reply);
    return count;
}

static bool is_bare(void *arg)
{
    const struct wish *wish = arg;
    return fixture_trees(wish->fixture, wish->job, wish->step) == 0;
}

void fixture_await_bare(struct fixture *fixture, const struct fixture_job *job, const char *step)
{
    struct wish wish = {.fixture = fixture, .job = job, .step = step};
    if (!await(is_bare, &wish, AWAIT_DEADLINE_MS))
        fail_msg("%s still has trees", step);
}

/* ---- tokens ---- */

void fixture_mint(struct fixture *fixture, const char *token, const char *body,
                  char out[MCAST_TOKEN_SIZE])
{
    struct answer answer;
    int status = fixture_ask(fixture, "POST", "/v1/reservation/tokens", token, body, &answer);
    if (status != 201)
        fail_msg("%d %s", status, answer.body);
    (void)snprintf(out, MCAST_TOKEN_SIZE, "%s", text_of(answer.json, "token"));
    answer_release(&answer);
    fixture_remember(fixture, out);
}

void fixture_narrow(struct fixture *fixture, const char *token, const char *steps, int64_t expires,
                    const char *operation, char out[MCAST_TOKEN_SIZE])
{
    const char *const operations[] = {operation, NULL};
    struct mcast_narrowing narrowing = MCAST_NARROWING_INIT;
    struct mcast_error error;
    narrowing.steps = steps;
    narrowing.expires = expires;
    narrowing.operations = operation ? operations : NULL;
    if (mcast_token_narrow(token, &narrowing, out, MCAST_TOKEN_SIZE, &error) < 0)
        fail_msg("%s", error.text);
    fixture_remember(fixture, out);
}

void fixture_tell_fm(struct fixture *fixture, const char *method, const char *path,
                     const char *body)
{
    struct plainhttp_reply reply;
    int status = plainhttp_call(testbed_fm_http(fixture->testbed), method, path, body, &reply);
    if (status != 200)
        fail_msg("%s %s: %d %s", method, path, status, reply.text);
    plainhttp_reply_release(&reply);
}

/* ---- mcastctl ---- */

static bool has_ended(void *arg)
{
    return !process_alive(arg);
}

int fixture_ctl(struct fixture *fixture, const char *token, const char *const *words, char *out,
                size_t size)
{
    enum { WORDS_MAX = 24 };
    const char *argv[WORDS_MAX] = {MCASTCTL, "--url", testbed_socket(fixture->testbed), "--cluster",
                                   "elcap"};
    char path[PATH_SIZE], name[32];
    size_t used = 5, length = 0;
    /* Where a token was asked for it is printed; else nowhere. */
    const bool asked = strcmp(words[0], "token") == 0 &&
                       (strcmp(words[1], "request") == 0 || strcmp(words[1], "narrow") == 0);
    while (*words && used < WORDS_MAX - 1)
        argv[used++] = *words++;
    if (token)
        assert_int_equal(setenv("MCAST_TOKEN", token, 1), 0);
    else
        assert_int_equal(unsetenv("MCAST_TOKEN"), 0);
    (void)snprintf(name, sizeof name, "ctl.%u%s", fixture->runs, asked ? ".token" : "");
    folder_path(path, sizeof path, testbed_folder(fixture->testbed), name);
    struct process *process = process_start(argv, path);
    (void)unsetenv("MCAST_TOKEN");
    assert_non_null(process);
    assert_true(await(has_ended, process, AWAIT_DEADLINE_MS));
    int status = process_exit_status(process);
    process_kill(process);
    FILE *file = fopen(path, "re");
    if (file) {
        length = fread(out, 1, size - 1, file);
        fclose(file);
    }
    out[length] = '\0';
    fixture->runs++;
    return status;
}
