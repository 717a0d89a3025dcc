/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/hook/porch.h"

#include "tests/system/mockfm/authority.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TREES "/fabric/collectives/multicasts"

enum { VARIABLES_MAX = 24, LINE_SIZE = 1024, PATH_SIZE = 128, SAID_SIZE = 8192, WORDS_MAX = 16 };

struct porch {
    struct stage *stage;
    struct authority authority;
    char papers[FOLDER_PATH_SIZE], cert[PATH_SIZE], key[PATH_SIZE];
    const char *mock_args[3];
    char *variables[VARIABLES_MAX + 1]; /* NAME=value; NULL after the last */
    char token[128];
    char said[SAID_SIZE];
};

/* ---- the environment ---- */

static size_t find(const struct porch *porch, const char *name)
{
    size_t i = 0, length = strlen(name);
    while (porch->variables[i] &&
           (strncmp(porch->variables[i], name, length) != 0 || porch->variables[i][length] != '='))
        i++;
    return i;
}

void porch_set(struct porch *porch, const char *name, const char *value)
{
    size_t i = find(porch, name);
    free(porch->variables[i]);
    if (value) {
        assert_true(i < VARIABLES_MAX);
        assert_true(asprintf(&porch->variables[i], "%s=%s", name, value) > 0);
        return;
    }
    for (; porch->variables[i]; i++)
        porch->variables[i] = porch->variables[i + 1];
}

const char *porch_get(struct porch *porch, const char *name)
{
    const char *line = porch->variables[find(porch, name)];
    return line ? strchr(line, '=') + 1 : NULL;
}

void porch_clear(struct porch *porch)
{
    for (size_t i = 0; i < VARIABLES_MAX; i++) {
        free(porch->variables[i]);
        porch->variables[i] = NULL;
    }
}

void porch_set_broker(struct porch *porch)
{
    porch_set(porch, "MCAST_URL", stage_socket(porch->stage));
}

/* ---- the stage ---- */

static void reserve(struct porch *porch)
{
    struct plainhttp_reply reply;
    const char *name;
    const json_t *value;
    int status = plainhttp_call(stage_http(porch->stage), "PUT", "/v1/clusters/elcap/jobs/f1",
                                "{\"uid\":0,\"node_count\":8}", &reply);
    if (status != 201)
        fail_msg("%d %s", status, reply.text);
    json_object_foreach(json_object_get(reply.json, "env"), name, value)
    {
        porch_set(porch, name, json_string_value(value));
    }
    plainhttp_reply_release(&reply);
    assert_non_null(porch_get(porch, "FI_CXI_COLL_MCAST_TOKEN"));
    snprintf(porch->token, sizeof porch->token, "%s", porch_get(porch, "FI_CXI_COLL_MCAST_TOKEN"));
    porch_set(porch, "FI_CXI_COLL_JOB_STEP_ID", "/fA");
}

/* As libfabric makes them: with the token, at the URL of the environment. */
static void plant(struct porch *porch)
{
    static const char *const steps[] = {"/fA", "/fA", "/fA/fB", "/fAx", "/fC"};
    char url[LINE_SIZE], body[512];
    snprintf(url, sizeof url, "%s", porch_get(porch, "FI_CXI_COLL_FABRIC_MGR_URL"));
    char *path = strstr(url, TREES);
    assert_non_null(path);
    *path = '\0';
    struct plainhttp *tasks = plainhttp_create(url, NULL);
    plainhttp_trust_anyone(tasks);
    plainhttp_use_bearer(tasks, porch->token);
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

struct porch *porch_open(const char *kind, bool tls)
{
    struct porch *porch = calloc(1, sizeof *porch);
    assert_non_null(porch);
    assert_int_equal(folder_create(porch->papers), 0);
    authority_create(&porch->authority, porch->papers, "ca");
    authority_issue(&porch->authority, porch->papers, "server", time(NULL) + 86400);
    folder_path(porch->cert, sizeof porch->cert, porch->papers, "server.pem");
    folder_path(porch->key, sizeof porch->key, porch->papers, "server.key");
    porch->mock_args[0] = "--session-tokens";
    porch->mock_args[1] = kind;
    const struct stage_options options = {
        .mcastd = MCASTD,
        .mock_fm = MOCK_FM,
        .mock_args = porch->mock_args,
        .fm_cert = tls ? porch->cert : NULL,
        .fm_key = tls ? porch->key : NULL,
        .fm = "link_retry = 50ms",
        .hwcoll = "min_nodes = 1\naddresses_per_job = 16",
    };
    porch->stage = stage_create(&options);
    assert_non_null(porch->stage);
    assert_int_equal(stage_start_fm(porch->stage), 0);
    assert_int_equal(stage_start_broker(porch->stage), 0);
    assert_int_equal(stage_await_link(porch->stage), 0);
    reserve(porch);
    plant(porch);
    porch_trees_are(porch, PORCH_ALL);
    return porch;
}

void porch_close(struct porch *porch)
{
    porch_clear(porch);
    stage_destroy(porch->stage);
    authority_destroy(&porch->authority);
    folder_destroy(porch->papers);
    free(porch);
}

struct stage *porch_stage(struct porch *porch)
{
    return porch->stage;
}

/* ---- the hook ---- */

static pid_t spawn(struct porch *porch, const char *const *words, int output)
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
        execve(argv[0], (char *const *)argv, porch->variables);
        _exit(127);
    }
    return child;
}

pid_t porch_start(struct porch *porch, const char *const *words)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pid_t child = spawn(porch, words, null);
    close(null);
    return child;
}

int porch_run(struct porch *porch, const char *const *words)
{
    int ends[2], status = 0;
    size_t length = 0;
    ssize_t got;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = spawn(porch, words, ends[1]);
    close(ends[1]);
    /* To its end: what goes on in the background must not have it. */
    while (length < SAID_SIZE - 1 &&
           (got = read(ends[0], porch->said + length, SAID_SIZE - 1 - length)) > 0)
        length += (size_t)got;
    porch->said[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_null(strstr(porch->said, porch->token));
    return WEXITSTATUS(status);
}

const char *porch_said(struct porch *porch)
{
    return porch->said;
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

pid_t porch_background(const char *word)
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

void porch_tell_fm(struct porch *porch, const char *method, const char *path, const char *body)
{
    struct plainhttp_reply reply;
    int status = plainhttp_call(stage_fm_http(porch->stage), method, path, body, &reply);
    if (status != 200)
        fail_msg("%s %s: %d %s", method, path, status, reply.text);
    plainhttp_reply_release(&reply);
}

static void read_trees(struct porch *porch, char text[LINE_SIZE])
{
    struct plainhttp_reply reply;
    const char *step;
    const json_t *trees;
    size_t length = 0;
    text[0] = '\0';
    assert_int_equal(
        plainhttp_call(stage_fm_http(porch->stage), "GET", "/mock/state", NULL, &reply), 200);
    const json_t *job = json_array_get(json_object_get(reply.json, "jobs"), 0);
    json_object_foreach(json_object_get(job, "jobSteps"), step, trees) length += (size_t)snprintf(
        text + length, LINE_SIZE - length, "%s=%zu ", step, json_array_size(trees));
    plainhttp_reply_release(&reply);
}

void porch_trees_are(struct porch *porch, const char *trees)
{
    char text[LINE_SIZE];
    read_trees(porch, text);
    assert_string_equal(text, trees);
}

struct wish {
    struct porch *porch;
    const char *trees;
};

static bool trees_are(void *arg)
{
    const struct wish *wish = arg;
    char text[LINE_SIZE];
    read_trees(wish->porch, text);
    return strcmp(text, wish->trees) == 0;
}

void porch_await_trees(struct porch *porch, const char *trees)
{
    struct wish wish = {porch, trees};
    if (!await(trees_are, &wish, AWAIT_DEADLINE_MS))
        porch_trees_are(porch, trees); /* says how they differ */
}

long porch_requests(struct porch *porch)
{
    struct plainhttp_reply reply;
    assert_int_equal(plainhttp_call(stage_fm_http(porch->stage), "GET", "/mock/log", NULL, &reply),
                     200);
    const json_t *total = json_object_get(reply.json, "requests");
    assert_true(json_is_integer(total));
    long requests = (long)json_integer_value(total);
    plainhttp_reply_release(&reply);
    return requests;
}

/* ---- the broker ---- */

void porch_mint(struct porch *porch, const char *steps, char *out, size_t size)
{
    struct plainhttp *bearer = plainhttp_create("http://mcastd", stage_socket(porch->stage));
    struct plainhttp_reply reply;
    char body[LINE_SIZE];
    plainhttp_use_bearer(bearer, porch->token);
    snprintf(body, sizeof body, "{\"steps\":\"%s\"}", steps);
    int status = plainhttp_call(bearer, "POST", "/v1/reservation/tokens", body, &reply);
    if (status != 201)
        fail_msg("%d %s", status, reply.text);
    snprintf(out, size, "%s", json_string_value(json_object_get(reply.json, "token")));
    plainhttp_reply_release(&reply);
    plainhttp_destroy(bearer);
}
