/* SPDX-License-Identifier: Apache-2.0 */
/* Starting, stopping, being killed: what was acknowledged stays. */

#include "tests/system/mockfm/mockfm.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

static void killed__keeps_what_was_acknowledged(void **state)
{
    enum { ROUNDS = 5, JOBS = 40 };
    struct mockfm_fm *fm = *state;
    char job[32], bearer[128], body[256];

    for (int round = 0; round < ROUNDS; round++) {
        mockfm_start(fm, NULL);
        for (int i = 0; i < JOBS; i++) {
            snprintf(job, sizeof job, "c-%d", round * JOBS + i);
            mockfm_reserve(fm, job, 2, bearer);
        }
        mockfm_tree(body, job, "0", (unsigned)round * 3);
        assert_int_equal(rawhttp_once(fm->port, "POST", DOUBLE_TREES, bearer, body, NULL), 201);
        mockfm_kill(fm);
        mockfm_start(fm, NULL);
        assert_int_equal(mockfm_count_jobs(fm), (round + 1) * JOBS);
        /* The token that was handed out before still opens its job. */
        snprintf(body, sizeof body, DOUBLE_TREES "/%d", round);
        assert_int_equal(rawhttp_once(fm->port, "GET", body, bearer, NULL, NULL), 200);
        mockfm_kill(fm);
    }
}

/* Killed while requests pour in over a connection that does not wait for answers: as many jobs as
 * were answered, at least. */
static void killed__under_load_loses_nothing_answered(void **state)
{
    enum { COUNT = 400, READ = 150 };
    struct mockfm_fm *fm = *state;
    struct rawhttp http;
    size_t answered = 0;

    rawhttp_open(&http, fm->port);
    for (int i = 0; i < COUNT; i++) {
        char body[64];

        snprintf(body, sizeof body, "{\"jobID\":\"c-%d\",\"mcastLimit\":1}", i);
        rawhttp_ask(&http, "POST", DOUBLE_JOBS, DOUBLE_LOGIN, body);
    }
    for (int i = 0; i < READ; i++) {
        struct rawhttp_reply reply;

        rawhttp_receive(&http, &reply);
        assert_int_equal(reply.status, 201);
        rawhttp_release(&reply);
    }
    mockfm_kill(fm);
    for (bool open = true; open; answered += open) {
        struct rawhttp_reply reply;

        rawhttp_receive(&http, &reply);
        open = reply.status != 0;
        rawhttp_release(&reply);
    }
    rawhttp_close(&http);
    answered += READ;
    mockfm_start(fm, NULL);
    assert_true(mockfm_count_jobs(fm) >= answered);
    for (size_t i = 0; i < answered; i++) {
        char path[64];

        snprintf(path, sizeof path, DOUBLE_JOBS "/c-%zu", i);
        assert_int_equal(rawhttp_once(fm->port, "GET", path, DOUBLE_LOGIN, NULL, NULL), 200);
    }
}

static void stopped__exits_with_0_also_with_requests_waiting(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp late, never;
    struct rawhttp_reply reply;

    mockfm_fault(fm, "[{\"method\":\"GET\",\"delay_ms\":3600000},"
                     "{\"method\":\"POST\",\"act_after_ms\":3600000}]");
    rawhttp_open(&late, fm->port);
    rawhttp_open(&never, fm->port);
    rawhttp_ask(&late, "GET", DOUBLE_JOBS, DOUBLE_LOGIN, NULL);
    rawhttp_ask(&never, "POST", DOUBLE_JOBS, DOUBLE_LOGIN, "{\"jobID\":\"c-1\",\"mcastLimit\":1}");
    while (mockfm_log_total(fm, "requests") < 2)
        ;
    mockfm_stop(fm);
    rawhttp_receive(&late, &reply);
    assert_int_equal(reply.status, 0);
    rawhttp_release(&reply);
    rawhttp_close(&late);
    rawhttp_close(&never);
    mockfm_start(fm, NULL);
    assert_int_equal(mockfm_count_jobs(fm), 0);
}

static void state__forgotten_stays_forgotten(void **state)
{
    struct mockfm_fm *fm = *state;
    char bearer[128];

    mockfm_reserve(fm, "c-1", 1, bearer);
    mockfm_reserve(fm, "c-2", 1, bearer);
    mockfm_reserve(fm, "c-3", 1, bearer);
    assert_int_equal(rawhttp_once(fm->port, "POST", "/mock/forget", NULL, "{\"job\":[]}", NULL),
                     400);
    assert_int_equal(
        rawhttp_once(fm->port, "POST", "/mock/forget", NULL, "{\"jobs\":[\"c-2\"]}", NULL), 200);
    mockfm_kill(fm);
    mockfm_start(fm, NULL);
    assert_false(mockfm_holds(fm, "c-2"));
    assert_int_equal(mockfm_count_jobs(fm), 2);
    assert_int_equal(rawhttp_once(fm->port, "POST", "/mock/forget", NULL, NULL, NULL), 200);
    mockfm_kill(fm);
    mockfm_start(fm, NULL);
    assert_int_equal(mockfm_count_jobs(fm), 0);
}

/* The same seed: the same tokens, also when it was restarted on the way. */
static void seed__repeats_the_tokens(void **state)
{
    static const char *const options[] = {"--seed", "7", NULL};
    struct mockfm_fm *fm = *state;
    char first[2][128], second[2][128], path[128];

    mockfm_start(fm, options);
    mockfm_reserve(fm, "c-1", 1, first[0]);
    mockfm_reserve(fm, "c-2", 1, first[1]);
    mockfm_stop(fm);
    assert_int_equal(remove(folder_path(path, sizeof path, fm->folder, "fm.state")), 0);
    mockfm_start(fm, options);
    mockfm_reserve(fm, "c-1", 1, second[0]);
    mockfm_kill(fm);
    mockfm_start(fm, options);
    mockfm_reserve(fm, "c-2", 1, second[1]);
    assert_string_equal(first[0], second[0]);
    assert_string_equal(first[1], second[1]);
    assert_string_not_equal(first[0], first[1]);
}

static bool has_ended(void *arg)
{
    return !process_alive(arg);
}

/* Exit status of a run that ends by itself, its output in out. */
static int run(const struct mockfm_fm *fm, const char *const argv[], char out[4096])
{
    char log[128];
    struct process *process;
    FILE *file;
    size_t length;
    int status;

    folder_path(log, sizeof log, fm->folder, "run.log");
    remove(log);
    process = process_start(argv, log);
    assert_non_null(process);
    assert_true(await(has_ended, process, AWAIT_DEADLINE_MS));
    status = process_stop(process);
    file = fopen(log, "re");
    assert_non_null(file);
    length = fread(out, 1, 4095, file);
    out[length] = '\0';
    fclose(file);
    return status;
}

static void usage__is_explained(void **state)
{
    struct mockfm_fm *fm = *state;
    char out[4096], port[16];

    assert_int_equal(run(fm, (const char *const[]){MOCK_FM, "--help", NULL}, out), 0);
    assert_non_null(strstr(out, "--listen"));
    assert_int_equal(run(fm, (const char *const[]){MOCK_FM, "--version", NULL}, out), 0);
    assert_memory_equal(out, "mock-fm ", 8);
    assert_int_equal(run(fm, (const char *const[]){MOCK_FM, "--auth", "basic", NULL}, out), 2);
    assert_non_null(strstr(out, "--authdir"));
    assert_int_equal(run(fm,
                         (const char *const[]){MOCK_FM, "--listen", "127.0.0.1:0", "--auth",
                                               "basic", "--authdir", "/nonexistent", NULL},
                         out),
                     1);
    assert_non_null(strstr(out, "/nonexistent/passwd"));
    mockfm_start(fm, NULL);
    snprintf(port, sizeof port, "127.0.0.1:%u", fm->port);
    assert_int_equal(run(fm, (const char *const[]){MOCK_FM, "--listen", port, NULL}, out), 1);
    assert_non_null(strstr(out, "in use"));
}

/* F20, F22: the fabric manager comes back with an old state: what it had given since is gone, what
 * was given back is there again, and the tokens are those of then. */
static void restored__is_as_it_was_also_after_a_kill(void **state)
{
    struct mockfm_fm *fm = *state;
    struct rawhttp_reply reply;
    char kept[128], lost[128], body[256];

    assert_int_equal(rawhttp_once(fm->port, "POST", "/mock/restore", NULL, "", NULL), 404);
    mockfm_reserve(fm, "c-1", 1, kept);
    assert_int_equal(rawhttp_once(fm->port, "POST", "/mock/snapshot", NULL, "", &reply), 200);
    assert_int_equal(json_integer_value(json_object_get(reply.json, "jobs")), 1);
    rawhttp_release(&reply);
    assert_int_equal(rawhttp_once(fm->port, "DELETE", DOUBLE_JOBS "/c-1", DOUBLE_LOGIN, NULL, NULL),
                     200);
    mockfm_reserve(fm, "c-2", 1, lost);
    assert_int_equal(rawhttp_once(fm->port, "POST", "/mock/restore", NULL, "", NULL), 200);
    for (int round = 0; round < 2; round++) {
        assert_true(mockfm_holds(fm, "c-1"));
        assert_false(mockfm_holds(fm, "c-2"));
        mockfm_kill(fm);
        mockfm_start(fm, NULL);
    }
    mockfm_tree(body, "c-1", "0", 0);
    assert_int_equal(rawhttp_once(fm->port, "POST", DOUBLE_TREES, kept, body, NULL), 201);
    assert_int_equal(rawhttp_once(fm->port, "POST", DOUBLE_TREES, lost, body, NULL), 403);
}

UNIT_MAIN(STOPPED(killed__keeps_what_was_acknowledged),
          RUNNING(killed__under_load_loses_nothing_answered),
          RUNNING(stopped__exits_with_0_also_with_requests_waiting),
          RUNNING(state__forgotten_stays_forgotten), STOPPED(seed__repeats_the_tokens),
          STOPPED(usage__is_explained), RUNNING(restored__is_as_it_was_also_after_a_kill))
