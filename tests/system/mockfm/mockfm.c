/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/mockfm/mockfm.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <unistd.h>

#include "tests/system/mockfm/httpclient.h"
#include "tests/system/rig/await.h"

#define PATH_SIZE 128
#define ARGUMENTS_MAX 32

int mockfm_setup(void **state)
{
    struct mockfm_fm *fm = calloc(1, sizeof *fm);

    if (!fm || folder_create(fm->folder) < 0)
        return -1;
    *state = fm;
    return folder_write(fm->folder, "passwd", 0600, "fm-passw0rd\n");
}

int mockfm_teardown(void **state)
{
    struct mockfm_fm *fm = *state;
    const int status = fm->process ? process_stop(fm->process) : 0;

    folder_destroy(fm->folder);
    free(fm);
    return status;
}

unsigned mockfm_number(const struct mockfm_fm *fm, const char *name)
{
    char path[PATH_SIZE];
    FILE *file = fopen(folder_path(path, sizeof path, fm->folder, name), "re");
    unsigned number = 0;

    if (file) {
        if (fscanf(file, "%u", &number) != 1)
            number = 0;
        fclose(file);
    }
    return number;
}

/* It serves, or it has ended. */
static bool has_begun(void *arg)
{
    struct mockfm_fm *fm = arg;

    fm->port = mockfm_number(fm, "port");
    return fm->port > 0 || !process_alive(fm->process);
}

void mockfm_start(struct mockfm_fm *fm, const char *const *options)
{
    char state[PATH_SIZE], port[PATH_SIZE], log[PATH_SIZE];
    /* The shell becomes the program, after it has said who that is. */
    const char *argv[ARGUMENTS_MAX] = {
        "/bin/sh",     "-c",          "cd \"$0\" && echo $$ > pid && exec \"$@\"",
        fm->folder,    MOCK_FM,       "--listen",
        "127.0.0.1:0", "--auth",      "basic",
        "--authdir",   fm->folder,    "--state",
        state,         "--port-file", port};
    size_t count = 15;

    folder_path(state, sizeof state, fm->folder, "fm.state");
    folder_path(port, sizeof port, fm->folder, "port");
    folder_path(log, sizeof log, fm->folder, "log");
    fm->tls = false;
    for (; options && *options && count < ARGUMENTS_MAX - 1; options++) {
        fm->tls = fm->tls || strcmp(*options, "--tls-cert") == 0;
        argv[count++] = *options;
    }
    unlink(port);
    fm->port = 0;
    fm->process = process_start(argv, log);
    assert_non_null(fm->process);
    if (!await(has_begun, fm, AWAIT_DEADLINE_MS) || fm->port == 0) {
        process_print_log(fm->process);
        fail_msg("mock-fm does not serve");
    }
    fm->pid = (int)mockfm_number(fm, "pid");
    assert_true(fm->pid > 0);
}

int mockfm_run(void **state)
{
    if (mockfm_setup(state) < 0)
        return -1;
    mockfm_start(*state, NULL);
    return 0;
}

void mockfm_hangup(const struct mockfm_fm *fm)
{
    assert_int_equal(kill(fm->pid, SIGHUP), 0);
}

void mockfm_write(const struct mockfm_fm *fm, const char *name, const char *text)
{
    assert_int_equal(folder_write(fm->folder, name, 0600, text), 0);
}

bool mockfm_printed(const struct mockfm_fm *fm, const char *words)
{
    char path[PATH_SIZE], line[1024];
    FILE *file = fopen(folder_path(path, sizeof path, fm->folder, "log"), "re");
    bool found = false;

    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        found = found || strstr(line, words);
    fclose(file);
    return found;
}

void mockfm_kill(struct mockfm_fm *fm)
{
    process_kill(fm->process);
    fm->process = NULL;
}

void mockfm_stop(struct mockfm_fm *fm)
{
    struct process *process = fm->process;

    fm->process = NULL;
    assert_int_equal(process_stop(process), 0);
}

/* A call as the administrator, on a connection of its own. */
static json_t *call(const struct mockfm_fm *fm, const char *method, const char *path,
                    const char *body, long expected)
{
    struct httpclient httpclient;
    struct httpclient_reply reply;
    json_t *json;

    httpclient_create(&httpclient, fm->tls ? "https" : "http", fm->port);
    httpclient.basic = "cxi:fm-passw0rd";
    httpclient_call(&httpclient, method, path, body, &reply);
    assert_int_equal(reply.status, expected);
    json = json_incref(reply.json);
    httpclient_reply_release(&reply);
    httpclient_destroy(&httpclient);
    return json;
}

void mockfm_reserve(const struct mockfm_fm *fm, const char *job, int limit, char bearer[128])
{
    char body[128];
    const char *token;
    json_t *json;

    snprintf(body, sizeof body, "{ \"jobID\": \"%s\", \"mcastLimit\": %d }", job, limit);
    json = call(fm, "POST", DOUBLE_JOBS, body, 201);
    token = json_string_value(json_object_get(json, "sessionToken"));
    assert_non_null(token);
    snprintf(bearer, 128, "Authorization: Bearer %s\r\n", token);
    json_decref(json);
}

const char *mockfm_tree(char body[256], const char *job, const char *step, unsigned nic)
{
    snprintf(body, 256,
             "{\"macs\":[\"1:12:%02X\",\"1:12:%02X\",\"F:AB:%02X\"],\"vni\": 1024,"
             "\"timeout\":20000000,\"jobID\":\"%s\",\"jobStepID\":\"%s\"}",
             nic, nic + 1, nic, job, step);
    return body;
}

void mockfm_fault(const struct mockfm_fm *fm, const char *rules)
{
    json_decref(call(fm, "DELETE", "/mock/faults", NULL, 200));
    json_decref(call(fm, "POST", "/mock/faults", rules, 200));
}

static json_t *jobs_held(const struct mockfm_fm *fm)
{
    json_t *state = call(fm, "GET", "/mock/state", NULL, 200);
    json_t *jobs = json_incref(json_object_get(state, "jobs"));

    json_decref(state);
    assert_true(json_is_array(jobs));
    return jobs;
}

bool mockfm_holds(const struct mockfm_fm *fm, const char *job)
{
    json_t *jobs = jobs_held(fm);
    bool found = false;

    for (size_t i = 0; i < json_array_size(jobs); i++) {
        const json_t *id = json_object_get(json_array_get(jobs, i), "jobID");

        found = found || strcmp(json_string_value(id), job) == 0;
    }
    json_decref(jobs);
    return found;
}

size_t mockfm_count_jobs(const struct mockfm_fm *fm)
{
    json_t *jobs = jobs_held(fm);
    size_t count = json_array_size(jobs);

    json_decref(jobs);
    return count;
}

json_int_t mockfm_log_total(const struct mockfm_fm *fm, const char *name)
{
    json_t *log = call(fm, "GET", "/mock/log?since=1000000", NULL, 200);
    json_int_t total = json_integer_value(json_object_get(log, name));

    json_decref(log);
    return total;
}
