/* SPDX-License-Identifier: Apache-2.0 */
/* The mock fabric manager's paths, as its real clients use them; without HTTP. */
#include <unistd.h>

#include "mock-fm/faults/control.h"
#include "mock-fm/objects/fabric.h"
#include "tests/unit/unit.h"

#define LOGIN "Basic Y3hpOmZtLXBhc3N3MHJk" /* cxi:fm-passw0rd */
#define JOBS "/fabric/collectives/jobs"
#define TREES "/fabric/collectives/multicasts"

struct bench {
    struct fabric fabric;
    struct auth *auth;
    struct answer answer; /* the last one */
};

static struct bench *bench_create(enum auth_mode mode, unsigned addresses)
{
    struct bench *bench = calloc(1, sizeof *bench);
    char folder[] = "/tmp/mockfm-XXXXXX", path[64];
    struct problem problem;
    FILE *file;

    assert_non_null(bench);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/passwd", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("fm-passw0rd\n", file);
    fclose(file);
    bench->auth = auth_open(mode, folder, NULL, &problem);
    assert_non_null(bench->auth);
    unlink(path);
    rmdir(folder);
    bench->fabric.auth = bench->auth;
    bench->fabric.mint = (struct session_mint){.seeded = true, .seed = 1};
    bench->fabric.objects = objects_create(addresses, false);
    assert_non_null(bench->fabric.objects);
    return bench;
}

static void bench_destroy(struct bench *bench)
{
    answer_release(&bench->answer);
    objects_destroy(bench->fabric.objects);
    auth_close(bench->auth);
    free(bench);
}

/* The status of the answer, which stays in the bench. */
static int ask(struct bench *bench, const char *method, const char *path, const char *authorization,
               const char *body)
{
    struct request request = {.method = method,
                              .path = path,
                              .authorization = authorization,
                              .body = body,
                              .body_length = body ? strlen(body) : 0,
                              .now_us = 1700000000000000};

    answer_release(&bench->answer);
    fabric_answer(&bench->fabric, &request, &bench->answer);
    return bench->answer.status;
}

static const char *text(const struct bench *bench, const char *field)
{
    const char *value = json_string_value(json_object_get(bench->answer.document, field));

    return value ? value : "";
}

static void reserve(struct bench *bench, const char *id, int limit, char bearer[64])
{
    char body[128];

    snprintf(body, sizeof body, "{ \"jobID\": \"%s\", \"mcastLimit\": %d }", id, limit);
    assert_int_equal(ask(bench, "POST", JOBS, LOGIN, body), 201);
    snprintf(bearer, 64, "Bearer %s", text(bench, "sessionToken"));
}

static int grow(struct bench *bench, const char *job, const char *step, const char *bearer)
{
    char body[256];

    snprintf(body, sizeof body,
             "{\"macs\":[\"1:12:00\",\"1:12:01\",\"F:AB:CD\"],\"vni\": 1024,\"timeout\":20000000,"
             "\"jobID\":\"%s\",\"jobStepID\":\"%s\"}",
             job, step);
    return ask(bench, "POST", TREES, bearer, body);
}

static void jobs__live_and_go(void **state)
{
    struct bench *bench = bench_create(AUTH_BASIC, 100);
    char bearer[64];

    assert_int_equal(ask(bench, "GET", JOBS "/c-1", LOGIN, NULL), 404);
    reserve(bench, "c-1", 23, bearer);
    assert_string_equal(text(bench, "jobID"), "c-1");
    assert_string_equal(text(bench, "documentSelfLink"), JOBS "/c-1");
    assert_int_equal(ask(bench, "POST", JOBS "/", LOGIN, "{\"jobID\":\"c-1\",\"mcastLimit\":1}"),
                     409);
    assert_int_equal(ask(bench, "GET", JOBS "/c-1", LOGIN, NULL), 200);
    assert_string_equal(text(bench, "sessionToken"), bearer + strlen("Bearer "));
    assert_true(json_is_object(json_object_get(bench->answer.document, "jobSteps")));
    assert_int_equal(ask(bench, "DELETE", JOBS "/c-1", LOGIN, NULL), 200);
    assert_int_equal(ask(bench, "DELETE", JOBS "/c-1", LOGIN, NULL), 404);
    bench_destroy(bench);
}

static void jobs__need_the_login(void **state)
{
    static const char *const wrong[] = {"Basic Y3hpOndyb25n", "Basic", "Digest x", "Basic ", ""};
    struct bench *bench = bench_create(AUTH_BASIC, 100);
    char bearer[64];

    reserve(bench, "c-1", 23, bearer);
    assert_int_equal(ask(bench, "GET", JOBS, NULL, NULL), 401);
    assert_true(bench->answer.challenge);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(ask(bench, "DELETE", JOBS "/c-1", wrong[i], NULL), 401);
    assert_int_equal(ask(bench, "GET", JOBS, "basic  Y3hpOmZtLXBhc3N3MHJk", NULL), 200);
    /* A job's token is no login. */
    assert_int_equal(ask(bench, "DELETE", JOBS "/c-1", bearer, NULL), 403);
    assert_int_equal(ask(bench, "GET", JOBS, bearer, NULL), 403);
    bench_destroy(bench);
}

static void jobs__need_no_login_without_authentication(void **state)
{
    struct bench *bench = bench_create(AUTH_NONE, 100);

    assert_int_equal(ask(bench, "POST", JOBS, NULL, "{\"jobID\":\"c-1\",\"mcastLimit\":4}"), 201);
    assert_int_equal(ask(bench, "GET", JOBS, LOGIN, NULL), 200);
    assert_int_equal(ask(bench, "GET", JOBS "/c-1", "Bearer anything", NULL), 403);
    bench_destroy(bench);
}

/* F19: with the job's token one gets at the job's own trees, and no others. */
static void token__opens_only_its_own_job(void **state)
{
    struct bench *bench = bench_create(AUTH_BASIC, 100);
    char one[64], two[64], path[64];

    reserve(bench, "c-1", 2, one);
    reserve(bench, "c-2", 2, two);
    assert_int_equal(grow(bench, "c-1", "0", NULL), 401);
    assert_int_equal(grow(bench, "c-1", "0", LOGIN), 401);
    assert_int_equal(grow(bench, "c-1", "0", two), 403);
    assert_int_equal(grow(bench, "c-9", "0", two), 403);
    assert_int_equal(grow(bench, "c-1", "0", one), 201);
    snprintf(path, sizeof path, "%s", text(bench, "documentSelfLink"));
    assert_int_equal(ask(bench, "DELETE", path, two, NULL), 403);
    assert_int_equal(ask(bench, "DELETE", path, NULL, NULL), 401);
    assert_int_equal(ask(bench, "GET", path, two, NULL), 403);
    assert_int_equal(ask(bench, "GET", path, one, NULL), 200);
    assert_int_equal(ask(bench, "GET", JOBS "/c-1", two, NULL), 403);
    assert_int_equal(ask(bench, "GET", JOBS "/c-9", two, NULL), 403);
    assert_int_equal(ask(bench, "GET", JOBS "/c-1", one, NULL), 200);
    assert_int_equal(ask(bench, "PATCH", JOBS "/c-1", two, "{\"jobSteps\":{\"0\":null}}"), 403);
    assert_int_equal(bench->fabric.objects->totals.trees, 1);
    assert_int_equal(ask(bench, "PATCH", JOBS "/c-1", one, "{\"jobSteps\":{\"0\":null}}"), 200);
    assert_non_null(bench->answer.document);
    assert_int_equal(bench->fabric.objects->totals.trees, 0);
    bench_destroy(bench);
}

#define STEP_0 "{\"jobSteps\":{\"0\":null}}"

/* F19: managers may differ in how far a job's own token reaches; another job's reaches nowhere, and
 * the login reaches the job at all of them. */
static void token__reaches_as_far_as_it_is_told(void **state)
{
    static const struct {
        enum session_reach reach;
        int get, patch;
    } kinds[] = {
        {SESSION_OWN_JOB, 200, 200},
        {SESSION_GET, 200, 403},
        {SESSION_PATCH, 403, 200},
        {SESSION_TREES_ONLY, 403, 403},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct bench *bench = bench_create(AUTH_BASIC, 100);
        char one[64], two[64], path[64];

        bench->fabric.reach = kinds[i].reach;
        reserve(bench, "c-1", 2, one);
        reserve(bench, "c-2", 2, two);
        assert_int_equal(grow(bench, "c-1", "0", one), 201);
        snprintf(path, sizeof path, "%s", text(bench, "documentSelfLink"));
        assert_int_equal(ask(bench, "GET", JOBS "/c-1", one, NULL), kinds[i].get);
        assert_int_equal(ask(bench, "GET", JOBS "/c-1", two, NULL), 403);
        assert_int_equal(ask(bench, "PATCH", JOBS "/c-1", two, STEP_0), 403);
        assert_int_equal(ask(bench, "DELETE", path, two, NULL), 403);
        assert_int_equal(bench->fabric.objects->totals.trees, 1);
        assert_int_equal(ask(bench, "PATCH", JOBS "/c-1", one, STEP_0), kinds[i].patch);
        assert_int_equal(bench->fabric.objects->totals.trees, kinds[i].patch != 200);
        if (kinds[i].patch != 200)
            assert_int_equal(ask(bench, "DELETE", path, one, NULL), 200);
        assert_int_equal(grow(bench, "c-1", "0", one), 201);
        assert_int_equal(ask(bench, "GET", JOBS "/c-1", LOGIN, NULL), 200);
        assert_int_equal(ask(bench, "PATCH", JOBS "/c-1", LOGIN, STEP_0), 200);
        assert_int_equal(bench->fabric.objects->totals.trees, 0);
        bench_destroy(bench);
    }
}

/* Cleaning up is asked for more than once, and after steps that never had a tree. */
static void step__ends_alone_and_as_often_as_one_likes(void **state)
{
    struct bench *bench = bench_create(AUTH_BASIC, 100);
    const json_t *steps;
    char one[64];

    reserve(bench, "c-1", 3, one);
    assert_int_equal(grow(bench, "c-1", "0", one), 201);
    assert_int_equal(grow(bench, "c-1", "0", one), 201);
    assert_int_equal(grow(bench, "c-1", "00", one), 201);
    assert_int_equal(ask(bench, "PATCH", JOBS "/c-1", one, "{\"jobSteps\":{\"7\":null}}"), 200);
    assert_int_equal(bench->fabric.objects->totals.trees, 3);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(ask(bench, "PATCH", JOBS "/c-1", one, STEP_0), 200);
        steps = json_object_get(bench->answer.document, "jobSteps");
        assert_int_equal(json_object_size(steps), 1);
        assert_int_equal(json_array_size(json_object_get(steps, "00")), 1);
    }
    assert_int_equal(bench->fabric.objects->totals.trees, 1);
    assert_int_equal(ask(bench, "DELETE", JOBS "/c-1", LOGIN, NULL), 200);
    assert_int_equal(ask(bench, "PATCH", JOBS "/c-1", LOGIN, STEP_0), 404);
    assert_int_equal(ask(bench, "PATCH", JOBS "/c-1", one, STEP_0), 403);
    bench_destroy(bench);
}

/* What libfabric takes for success, and no less: it crashes without hwRoot. */
static void tree__is_as_libfabric_wants_it(void **state)
{
    struct bench *bench = bench_create(AUTH_BASIC, 100);
    char bearer[64], path[64];
    const json_t *id;

    reserve(bench, "c-1", 2, bearer);
    assert_int_equal(grow(bench, "c-1", "/fA/fB", bearer), 201);
    id = json_object_get(bench->answer.document, "mcastID");
    assert_true(json_is_integer(id));
    assert_in_range(json_integer_value(id), 0, 8191);
    assert_string_equal(text(bench, "hwRoot"), "00:00:00:01:12:00");
    assert_string_equal(text(bench, "jobStepID"), "/fA/fB");
    snprintf(path, sizeof path, TREES "/%d", (int)json_integer_value(id));
    assert_string_equal(text(bench, "documentSelfLink"), path);
    assert_int_equal(grow(bench, "c-1", "1", bearer), 201);
    assert_string_equal(text(bench, "hwRoot"), "00:00:00:01:12:01");
    assert_int_equal(grow(bench, "c-1", "1", bearer), 507);
    assert_memory_equal(text(bench, "message"), "01:", 3);
    assert_int_equal(ask(bench, "GET", JOBS "/c-1", LOGIN, NULL), 200);
    assert_int_equal(json_object_size(json_object_get(bench->answer.document, "jobSteps")), 2);
    assert_int_equal(ask(bench, "DELETE", path, bearer, NULL), 200);
    assert_int_equal(ask(bench, "DELETE", path, bearer, NULL), 404);
    assert_int_equal(ask(bench, "DELETE", TREES "/1x", bearer, NULL), 404);
    assert_int_equal(ask(bench, "DELETE", TREES "/99999999999999999999", bearer, NULL), 404);
    bench_destroy(bench);
}

static void error__is_json_for_both_clients(void **state)
{
    struct bench *bench = bench_create(AUTH_BASIC, 100);

    assert_int_equal(ask(bench, "GET", "/fabric/collectives/jobsters", LOGIN, NULL), 404);
    assert_int_equal(ask(bench, "GET", "/", NULL, NULL), 404);
    assert_int_equal(ask(bench, "GET", JOBS "/none", LOGIN, NULL), 404);
    assert_string_not_equal(text(bench, "message"), "");
    assert_string_equal(text(bench, "message"), text(bench, "detail"));
    assert_string_not_equal(text(bench, "documentKind"), "");
    assert_int_equal(json_integer_value(json_object_get(bench->answer.document, "statusCode")),
                     404);
    assert_true(json_is_integer(json_object_get(bench->answer.document, "errorCode")));
    assert_int_equal(ask(bench, "PUT", JOBS, LOGIN, NULL), 405);
    assert_string_equal(bench->answer.allow, "GET, POST");
    assert_int_equal(ask(bench, "DELETE", JOBS "/", LOGIN, NULL), 405);
    bench_destroy(bench);
}

static void body__that_is_wrong_is_400(void **state)
{
    static const char *const jobs[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"jobID\":7,\"mcastLimit\":1}",
        "{\"jobID\":\"c-1\"}",
        "{\"jobID\":\"c-1\",\"mcastLimit\":\"1\"}",
        "{\"jobID\":\"c-1\",\"mcastLimit\":0}",
        "{\"jobID\":\"c-1\",\"mcastLimit\":99999999999}",
        "{\"jobID\":\"c\\u0000x\",\"mcastLimit\":1}",
    };
    static const char *const trees[] = {
        "{\"macs\":[],\"jobID\":\"c-1\",\"jobStepID\":\"0\"}",
        "{\"macs\":\"1:12:00\",\"jobID\":\"c-1\",\"jobStepID\":\"0\"}",
        "{\"macs\":[\"1:12\"],\"jobID\":\"c-1\",\"jobStepID\":\"0\"}",
        "{\"macs\":[\"1:12:00\",\"1:12:00\"],\"jobID\":\"c-1\",\"jobStepID\":\"0\"}",
        "{\"macs\":[\"1:12:00\"],\"jobID\":\"c-1\",\"jobStepID\":0}",
        "{\"macs\":[\"1:12:00\"],\"jobID\":\"c-1\",\"jobStepID\":\"0\",\"vni\":65536}",
        "{\"macs\":[\"1:12:00\"],\"jobID\":\"c-1\",\"jobStepID\":\"0\",\"timeout\":-1}",
    };
    struct bench *bench = bench_create(AUTH_BASIC, 100);
    char bearer[64];

    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        assert_int_equal(ask(bench, "POST", JOBS, LOGIN, jobs[i]), 400);
    reserve(bench, "c-1", 2, bearer);
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++)
        assert_int_equal(ask(bench, "POST", TREES, bearer, trees[i]), 400);
    assert_int_equal(ask(bench, "PATCH", JOBS "/c-1", LOGIN, "{\"jobSteps\":{\"0\":[]}}"), 400);
    assert_int_equal(ask(bench, "PATCH", JOBS "/c-1", LOGIN, "{}"), 400);
    assert_int_equal(bench->fabric.objects->totals.trees, 0);
    bench_destroy(bench);
}

static void list__comes_in_pages(void **state)
{
    struct bench *bench = bench_create(AUTH_NONE, 1000);
    struct request request = {.method = "GET", .path = JOBS, .page_size = 4};
    char body[64];
    size_t seen = 0, pages = 0;
    const char *next;

    for (int i = 0; i < 10; i++) {
        snprintf(body, sizeof body, "{\"jobID\":\"c-%d\",\"mcastLimit\":1}", i);
        assert_int_equal(ask(bench, "POST", JOBS, NULL, body), 201);
    }
    assert_int_equal(ask(bench, "GET", JOBS "/", NULL, NULL), 200);
    assert_int_equal(json_array_size(json_object_get(bench->answer.document, "documentLinks")), 10);
    assert_null(json_object_get(bench->answer.document, "nextPageLink"));
    do {
        const json_t *links;

        answer_release(&bench->answer);
        fabric_answer(&bench->fabric, &request, &bench->answer);
        links = json_object_get(bench->answer.document, "documentLinks");
        for (size_t i = 0; i < json_array_size(links); i++, seen++) {
            snprintf(body, sizeof body, JOBS "/c-%zu", seen);
            assert_string_equal(json_string_value(json_array_get(links, i)), body);
        }
        pages++;
        next = text(bench, "nextPageLink");
        if (*next) {
            assert_memory_equal(next, JOBS "?pageSize=4&after=", strlen(JOBS "?pageSize=4&after="));
            request.after = strtoull(strrchr(next, '=') + 1, NULL, 10);
        }
    } while (*next && pages < 10);
    assert_int_equal(seen, 10);
    assert_int_equal(pages, 3);
    bench_destroy(bench);
}

static void list__empty_still_has_links(void **state)
{
    struct bench *bench = bench_create(AUTH_NONE, 100);

    assert_int_equal(ask(bench, "GET", JOBS, NULL, NULL), 200);
    assert_true(json_is_array(json_object_get(bench->answer.document, "documentLinks")));
    assert_int_equal(json_integer_value(json_object_get(bench->answer.document, "documentCount")),
                     0);
    assert_int_equal(ask(bench, "GET", TREES, NULL, NULL), 200);
    assert_true(json_is_array(json_object_get(bench->answer.document, "documentLinks")));
    bench_destroy(bench);
}

static void path__may_have_the_gateways_prefix(void **state)
{
    struct bench *bench = bench_create(AUTH_NONE, 100);

    assert_int_equal(ask(bench, "GET", "/apis/fabric-manager" JOBS, NULL, NULL), 200);
    assert_int_equal(ask(bench, "GET", "/apis/other" JOBS, NULL, NULL), 404);
    bench_destroy(bench);
}

/* libfabric writes one byte behind its buffer when a body has such a length. */
static void body__is_never_a_multiple_of_4096(void **state)
{
    struct answer answer = {.status = 200, .document = json_object()};
    char *filler = calloc(1, 8193);
    size_t longest = 0;

    assert_non_null(filler);
    for (size_t length = 4080; length < 8192; length++) {
        struct body body;

        memset(filler, 'x', length);
        json_object_set_new(answer.document, "f", json_string(filler));
        answer_render(&answer, &body);
        assert_int_not_equal(body.length % 4096, 0);
        longest = body.length;
        free(body.bytes);
    }
    assert_true(longest > 8192);
    free(filler);
    answer_release(&answer);
}

/* How many jobs it says are gone. */
static int forget(struct bench *bench, const char *body)
{
    struct control control = {.fabric = &bench->fabric};
    const struct request request = {.method = "POST",
                                    .path = "/mock/forget",
                                    .body = body,
                                    .body_length = strlen(body),
                                    .now_us = 1};

    answer_release(&bench->answer);
    control_answer(&control, &request, &bench->answer);
    assert_int_equal(bench->answer.status, 200);
    return (int)json_integer_value(json_object_get(bench->answer.document, "forgotten"));
}

static void fabric__forgets_some_or_all(void **state)
{
    struct bench *bench = bench_create(AUTH_NONE, 100);
    char bearer[64];

    reserve(bench, "c-1", 2, bearer);
    reserve(bench, "c-2", 2, bearer);
    assert_int_equal(grow(bench, "c-2", "0", bearer), 201);
    reserve(bench, "c-3", 2, bearer);
    assert_int_equal(forget(bench, "{\"jobs\":[\"c-1\",\"unknown\"]}"), 1);
    assert_null(objects_job(bench->fabric.objects, "c-1"));
    assert_int_equal(forget(bench, ""), 2);
    assert_int_equal(bench->fabric.objects->totals.jobs, 0);
    assert_int_equal(bench->fabric.objects->totals.trees, 0);
    bench_destroy(bench);
}

/* A job's id is its own memory, and is read once more for reads that lag. */
static void fabric__forgets_all_while_reads_lag(void **state)
{
    struct bench *bench = bench_create(AUTH_BASIC, 100);
    const struct replica_lag none = {0};
    char bearer[64];

    assert_non_null(bench->fabric.replica = replica_create(bench->fabric.objects));
    reserve(bench, "c-1", 2, bearer);
    reserve(bench, "c-2", 2, bearer);
    assert_int_equal(forget(bench, ""), 2);
    struct objects *shown = replica_objects(bench->fabric.replica, &none, 1);
    assert_non_null(shown);
    assert_int_equal(shown->totals.jobs, 0);
    objects_destroy(shown);
    replica_destroy(bench->fabric.replica);
    bench_destroy(bench);
}

/* The control shows what there is, but nothing that opens a door. */
static void control__shows_no_token(void **state)
{
    struct bench *bench = bench_create(AUTH_BASIC, 100);
    struct requestlog *log = requestlog_create();
    struct faults faults;
    struct control control = {.fabric = &bench->fabric, .faults = &faults, .log = log};
    struct request request = {.method = "GET", .path = "/mock/state"};
    struct body body;
    char bearer[64];

    faults_init(&faults, 1);
    reserve(bench, "c-1", 2, bearer);
    assert_int_equal(grow(bench, "c-1", "0", bearer), 201);
    answer_release(&bench->answer);
    control_answer(&control, &request, &bench->answer);
    assert_int_equal(bench->answer.status, 200);
    answer_render(&bench->answer, &body);
    assert_non_null(memmem(body.bytes, body.length, "c-1", 3));
    assert_non_null(memmem(body.bytes, body.length, "00:00:00:01:12:00", 17));
    assert_null(memmem(body.bytes, body.length, "sess-", 5));
    free(body.bytes);
    requestlog_destroy(log);
    faults_clear(&faults);
    bench_destroy(bench);
}

UNIT_MAIN(cmocka_unit_test(jobs__live_and_go), cmocka_unit_test(jobs__need_the_login),
          cmocka_unit_test(jobs__need_no_login_without_authentication),
          cmocka_unit_test(token__opens_only_its_own_job),
          cmocka_unit_test(token__reaches_as_far_as_it_is_told),
          cmocka_unit_test(step__ends_alone_and_as_often_as_one_likes),
          cmocka_unit_test(tree__is_as_libfabric_wants_it),
          cmocka_unit_test(error__is_json_for_both_clients),
          cmocka_unit_test(body__that_is_wrong_is_400), cmocka_unit_test(list__comes_in_pages),
          cmocka_unit_test(list__empty_still_has_links),
          cmocka_unit_test(path__may_have_the_gateways_prefix),
          cmocka_unit_test(body__is_never_a_multiple_of_4096),
          cmocka_unit_test(fabric__forgets_some_or_all),
          cmocka_unit_test(fabric__forgets_all_while_reads_lag),
          cmocka_unit_test(control__shows_no_token))
