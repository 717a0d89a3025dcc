/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/hook/fixture.h"
#include "tests/unit/unit.h"

#include "tests/system/mockfm/authority.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TREES "/fabric/collectives/multicasts"

enum { VARIABLES_MAX = 24, LINE_SIZE = 1024, PATH_SIZE = 128, SAID_SIZE = 8192, WORDS_MAX = 16 };

struct fixture {
    struct testbed *testbed;
    struct authority authority;
    char certificates[FOLDER_PATH_SIZE], cert[PATH_SIZE], key[PATH_SIZE];
    const char *mock_args[3];
    char *variables[VARIABLES_MAX + 1]; /* NAME=value; NULL after the last */
    char token[128];
    char said[SAID_SIZE];
};

/* ---- the environment ---- */

static size_t find(const struct fixture *fixture, const char *name)
{
    size_t i = 0, length = strlen(name);
    while (fixture->variables[i] && (strncmp(fixture->variables[i], name, length) != 0 ||
                                     fixture->variables[i][length] != '='))
        i++;
    return i;
}

void fixture_set(struct fixture *fixture, const char *name, const char *value)
{
    size_t i = find(fixture, name);
    free(fixture->variables[i]);
    if (value) {
        assert_true(i < VARIABLES_MAX);
        assert_true(asprintf(&fixture->variables[i], "%s=%s", name, value) > 0);
        return;
    }
    for (; fixture->variables[i]; i++)
        fixture->variables[i] = fixture->variables[i + 1];
}

const char *fixture_get(struct fixture *fixture, const char *name)
{
    const char *line = fixture->variables[find(fixture, name)];
    return line ? strchr(line, '=') + 1 : NULL;
}

void fixture_clear(struct fixture *fixture)
{
    for (size_t i = 0; i < VARIABLES_MAX; i++) {
        free(fixture->variables[i]);
        fixture->variables[i] = NULL;
    }
}

void fixture_set_broker(struct fixture *fixture)
{
    fixture_set(fixture, "MCAST_URL", testbed_socket(fixture->testbed));
}

/* ---- the stage ---- */

static void reserve(struct fixture *fixture)
{
    struct plainhttp_reply reply;
    const char *name;
    const json_t *value;
    int status = plainhttp_call(testbed_http(fixture->testbed), "PUT", "/v1/clusters/elcap/jobs/f1",
                                "{\"uid\":0,\"node_count\":8}", &reply);
    if (status != 201)
        fail_msg("%d %s", status, reply.text);
    json_object_foreach(json_object_get(reply.json, "env"), name, value)
    {
        fixture_set(fixture, name, json_string_value(value));
    }
    plainhttp_reply_release(&reply);
    assert_non_null(fixture_get(fixture, "FI_CXI_COLL_MCAST_TOKEN"));
    snprintf(fixture->token, sizeof fixture->token, "%s",
             fixture_get(fixture, "FI_CXI_COLL_MCAST_TOKEN"));
    fixture_set(fixture, "FI_CXI_COLL_JOB_STEP_ID", "/fA");
}

/* As libfabric makes them: with the token, at the URL of the environment. */
static void plant(struct fixture *fixture)
{
    static const char *const steps[] = {"/fA", "/fA", "/fA/fB", "/fAx", "/fC"};
    char url[LINE_SIZE], body[512];
    snprintf(url, sizeof url, "%s", fixture_get(fixture, "FI_CXI_COLL_FABRIC_MGR_URL"));
    char *path = strstr(url, TREES);
    assert_non_null(path);
    *path = '\0';
    struct plainhttp *tasks = plainhttp_create(url, NULL);
    plainhttp_trust_anyone(tasks);
    plainhttp_use_bearer(tasks, fixture->token);
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct plainhttp_reply reply;
        snprintf(body, sizeof body,
                 "{\"macs\":[\"1:12:%02X\",\"1:13:%02X\"],\"vni\":1024,\"timeout\":20000000,"
                 "\"jobID\":\"elcap-f1\",\"jobStepID\":\"%s\"}",
                 i, i, steps[i]);
        int status = plainhttp_call(tasks, "POST", TREES, body, &reply);
        if (status != 201)
            fail_msg("%d %s", status, reply.text);
        plainhttp_reply_release(&reply);
    }
    plainhttp_destroy(tasks);
}

struct fixture *fixture_open(const char *kind, bool tls)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    assert_int_equal(folder_create(fixture->certificates), 0);
    authority_create(&fixture->authority, fixture->certificates, "ca");
    authority_issue(&fixture->authority, fixture->certificates, "server", time(NULL) + 86400);
    folder_path(fixture->cert, sizeof fixture->cert, fixture->certificates, "server.pem");
    folder_path(fixture->key, sizeof fixture->key, fixture->certificates, "server.key");
    fixture->mock_args[0] = "--session-tokens";
    fixture->mock_args[1] = kind;
    const struct testbed_options options = {
        .mcastd = MCASTD,
        .mock_fm = MOCK_FM,
        .mock_args = fixture->mock_args,
        .fm_cert = tls ? fixture->cert : NULL,
        .fm_key = tls ? fixture->key : NULL,
        .fm = "link_retry = 50ms",
        .hwcoll = "min_nodes = 1\naddresses_per_job = 16",
    };
    fixture->testbed = testbed_create(&options);
    assert_non_null(fixture->testbed);
    assert_int_equal(testbed_start_fm(fixture->testbed), 0);
    assert_int_equal(testbed_start_broker(fixture->testbed), 0);
    assert_int_equal(testbed_await_link(fixture->testbed), 0);
    reserve(fixture);
    plant(fixture);
    fixture_trees_are(fixture, FIXTURE_ALL);
    return fixture;
}

void fixture_close(struct fixture *fixture)
{
    fixture_clear(fixture);
    testbed_destroy(fixture->testbed);
    authority_destroy(&fixture->authority);
    folder_destroy(fixture->certificates);
    free(fixture);
}

struct testbed *fixture_stage(struct fixture *fixture)
{
    return fixture->testbed;
}

/* ---- the hook ---- */

static pid_t spawn(struct fixture *fixture, const char *const *words, int output)
{
    const char *argv[WORDS_MAX] = {MCAST_CLEANUP};
    for (size_t i = 0; words[i]; i++) {
        assert_true(i + 2 < WORDS_MAX);
        argv[i + 1] = words[i];
    }
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(output, STDOUT_FILENO);
        dup2(output, STDERR_FILENO);
        dup2(output, 17); /* one that a careless caller left open */
        execve(argv[0], (char *const *)argv, fixture->variables);
        _exit(127);
    }
    return child;
}

pid_t fixture_start(struct fixture *fixture, const char *const *words)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pid_t child = spawn(fixture, words, null);
    close(null);
    return child;
}

int fixture_run(struct fixture *fixture, const char *const *words)
{
    int ends[2], status = 0;
    size_t length = 0;
    ssize_t got;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = spawn(fixture, words, ends[1]);
    close(ends[1]);
    /* To its end: what goes on in the background must not have it. */
    while (length < SAID_SIZE - 1 &&
           (got = read(ends[0], fixture->said + length, SAID_SIZE - 1 - length)) > 0)
        length += (size_t)got;
    fixture->said[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_null(strstr(fixture->said, fixture->token));
    return WEXITSTATUS(status);
}

const char *fixture_said(struct fixture *fixture)
{
    return fixture->said;
}

/* The words of a process's command line, with blanks between; "" when it is gone. */
static void read_words(const char *pid, char text[LINE_SIZE])
{
    char path[320];
    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, LINE_SIZE - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = '\0';
    for (ssize_t i = 0; i + 1 < got; i++)
        text[i] = text[i] ? text[i] : ' ';
}

pid_t fixture_background(const char *word)
{
    DIR *folder = opendir("/proc");
    char text[LINE_SIZE];
    pid_t found = 0;
    assert_non_null(folder);
    for (struct dirent *entry; found == 0 && (entry = readdir(folder));) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        read_words(entry->d_name, text);
        if (strncmp(text, MCAST_CLEANUP " ", strlen(MCAST_CLEANUP) + 1) == 0 && strstr(text, word))
            found = (pid_t)atoi(entry->d_name);
    }
    closedir(folder);
    return found;
}

/* ---- the fabric manager ---- */

void fixture_tell_fm(struct fixture *fixture, const char *method, const char *path,
                     const char *body)
{
    struct plainhttp_reply reply;
    int status = plainhttp_call(testbed_fm_http(fixture->testbed), method, path, body, &reply);
    if (status != 200)
        fail_msg("%s %s: %d %s", method, path, status, reply.text);
    plainhttp_reply_release(&reply);
}

static void read_trees(struct fixture *fixture, char text[LINE_SIZE])
{
    struct plainhttp_reply reply;
    const char *step;
    const json_t *trees;
    size_t length = 0;
    text[0] = '\0';
    assert_int_equal(
        plainhttp_call(testbed_fm_http(fixture->testbed), "GET", "/mock/state", NULL, &reply), 200);
    const json_t *job = json_array_get(json_object_get(reply.json, "jobs"), 0);
    json_object_foreach(json_object_get(job, "jobSteps"), step, trees) length += (size_t)snprintf(
        text + length, LINE_SIZE - length, "%s=%zu ", step, json_array_size(trees));
    plainhttp_reply_release(&reply);
}

void fixture_trees_are(struct fixture *fixture, const char *trees)
{
    char text[LINE_SIZE];
    read_trees(fixture, text);
    assert_string_equal(text, trees);
}

struct wish {
    struct fixture *fixture;
    const char *trees;
};

static bool trees_are(void *arg)
{
    const struct wish *wish = arg;
    char text[LINE_SIZE];
    read_trees(wish->fixture, text);
    return strcmp(text, wish->trees) == 0;
}

void fixture_await_trees(struct fixture *fixture, const char *trees)
{
    struct wish wish = {fixture, trees};
    if (!await(trees_are, &wish, AWAIT_DEADLINE_MS))
        fixture_trees_are(fixture, trees); /* says how they differ */
}

long fixture_requests(struct fixture *fixture)
{
    struct plainhttp_reply reply;
    assert_int_equal(
        plainhttp_call(testbed_fm_http(fixture->testbed), "GET", "/mock/log", NULL, &reply), 200);
    const json_t *total = json_object_get(reply.json, "requests");
    assert_true(json_is_integer(total));
    long requests = (long)json_integer_value(total);
    plainhttp_reply_release(&reply);
    return requests;
}

/* ---- the broker ---- */

void fixture_mint(struct fixture *fixture, const char *steps, char *out, size_t size)
{
    struct plainhttp *bearer = plainhttp_create("http://mcastd", testbed_socket(fixture->testbed));
    struct plainhttp_reply reply;
    char body[LINE_SIZE];
    plainhttp_use_bearer(bearer, fixture->token);
    snprintf(body, sizeof body, "{\"steps\":\"%s\"}", steps);
    int status = plainhttp_call(bearer, "POST", "/v1/reservation/tokens", body, &reply);
    if (status != 201)
        fail_msg("%d %s", status, reply.text);
    snprintf(out, size, "%s", json_string_value(json_object_get(reply.json, "token")));
    plainhttp_reply_release(&reply);
    plainhttp_destroy(bearer);
}
