#include "tests/system/mockfm/double.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/system/rig/await.h"
#include "tests/system/rig/plainhttp.h"

#define PATH_SIZE 128
#define ARGUMENTS_MAX 32

int double_setup(void **state)
{
    struct double_fm *fm = calloc(1, sizeof *fm);

    if (!fm || folder_create(fm->folder) < 0)
        return -1;
    *state = fm;
    return folder_write(fm->folder, "passwd", 0600, "fm-passw0rd\n");
}

int double_teardown(void **state)
{
    struct double_fm *fm = *state;

    process_kill(fm->process);
    folder_destroy(fm->folder);
    free(fm);
    return 0;
}

/* It serves, or it has ended. */
static bool has_begun(void *arg)
{
    struct double_fm *fm = arg;
    char path[PATH_SIZE];
    FILE *file = fopen(folder_path(path, sizeof path, fm->folder, "port"), "re");

    if (file) {
        if (fscanf(file, "%u", &fm->port) != 1)
            fm->port = 0;
        fclose(file);
    }
    return fm->port > 0 || !process_alive(fm->process);
}

void double_start(struct double_fm *fm, const char *const *options)
{
    char state[PATH_SIZE], port[PATH_SIZE], log[PATH_SIZE];
    const char *argv[ARGUMENTS_MAX] = {MOCK_FM, "--listen",    "127.0.0.1:0", "--auth",
                                       "basic", "--authdir",   fm->folder,    "--state",
                                       state,   "--port-file", port};
    size_t count = 11;

    folder_path(state, sizeof state, fm->folder, "state");
    folder_path(port, sizeof port, fm->folder, "port");
    folder_path(log, sizeof log, fm->folder, "log");
    for (; options && *options && count < ARGUMENTS_MAX - 1; options++)
        argv[count++] = *options;
    unlink(port);
    fm->port = 0;
    fm->process = process_start(argv, log);
    assert_non_null(fm->process);
    if (!await(has_begun, fm, AWAIT_DEADLINE_MS) || fm->port == 0) {
        process_print_log(fm->process);
        fail_msg("mock-fm does not serve");
    }
}

void double_kill(struct double_fm *fm)
{
    process_kill(fm->process);
    fm->process = NULL;
}

void double_stop(struct double_fm *fm)
{
    struct process *process = fm->process;

    fm->process = NULL;
    assert_int_equal(process_stop(process), 0);
}

void double_reserve(const struct double_fm *fm, const char *job, int limit, char bearer[128])
{
    struct rawhttp_reply reply;
    char body[128];
    const char *token;

    snprintf(body, sizeof body, "{ \"jobID\": \"%s\", \"mcastLimit\": %d }", job, limit);
    assert_int_equal(rawhttp_once(fm->port, "POST", DOUBLE_JOBS, DOUBLE_LOGIN, body, &reply), 201);
    token = json_string_value(json_object_get(reply.json, "sessionToken"));
    assert_non_null(token);
    snprintf(bearer, 128, "Authorization: Bearer %s\r\n", token);
    rawhttp_release(&reply);
}

const char *double_tree(char body[256], const char *job, const char *step, unsigned nic)
{
    snprintf(body, 256,
             "{\"macs\":[\"1:12:%02X\",\"1:12:%02X\",\"F:AB:%02X\"],\"vni\": 1024,"
             "\"timeout\":20000000,\"jobID\":\"%s\",\"jobStepID\":\"%s\"}",
             nic, nic + 1, nic, job, step);
    return body;
}

void double_fault(const struct double_fm *fm, const char *rules)
{
    assert_int_equal(rawhttp_once(fm->port, "DELETE", "/mock/faults", NULL, NULL, NULL), 200);
    assert_int_equal(rawhttp_once(fm->port, "POST", "/mock/faults", NULL, rules, NULL), 200);
}

static json_t *jobs_held(const struct double_fm *fm)
{
    struct plainhttp *http;
    struct plainhttp_reply reply;
    char base[64];
    json_t *jobs;

    snprintf(base, sizeof base, "http://127.0.0.1:%u", fm->port);
    assert_non_null(http = plainhttp_create(base, NULL));
    assert_int_equal(plainhttp_call(http, "GET", "/mock/state", NULL, &reply), 200);
    jobs = json_incref(json_object_get(reply.json, "jobs"));
    plainhttp_reply_release(&reply);
    plainhttp_destroy(http);
    assert_true(json_is_array(jobs));
    return jobs;
}

bool double_holds(const struct double_fm *fm, const char *job)
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

size_t double_count_jobs(const struct double_fm *fm)
{
    json_t *jobs = jobs_held(fm);
    size_t count = json_array_size(jobs);

    json_decref(jobs);
    return count;
}

json_int_t double_log_total(const struct double_fm *fm, const char *name)
{
    struct rawhttp_reply reply;
    json_int_t total;

    assert_int_equal(rawhttp_once(fm->port, "GET", "/mock/log?since=1000000", NULL, NULL, &reply),
                     200);
    total = json_integer_value(json_object_get(reply.json, name));
    rawhttp_release(&reply);
    return total;
}
