/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/testmunged.h"
#include "tests/system/http/site.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

#include <munge.h>
#include <sys/stat.h>
#include <unistd.h>

/* MUNGE credentials, made and decoded by real munged with keys of their own. */

#define ELCAP "/v1/clusters/elcap/jobs/"
#define BODY "{\"uid\":4444,\"node_count\":1}"

enum { ADMIN = 4001, MANAGER = 4002, OWNER = 4444, HEADER_SIZE = 2048, CROWD = 200 };

struct realm {
    struct site *site;
    struct testmunged *ours, *foreign; /* two keys */
    char folder[FOLDER_PATH_SIZE], lines[256];
    struct site_options options;
};

static int open_realm(void **state)
{
    struct realm *realm = calloc(1, sizeof *realm);
    assert_non_null(realm);
    assert_int_equal(folder_create(realm->folder), 0);
    assert_int_equal(chmod(realm->folder, 0711), 0); /* others reach the sockets */
    realm->ours = testmunged_start(realm->folder, "ours", 'a');
    realm->foreign = testmunged_start(realm->folder, "foreign", 'b');
    snprintf(realm->lines, sizeof realm->lines, "munge_socket = %s\n",
             testmunged_socket(realm->ours));
    realm->options = (struct site_options){.mcastd = MCASTD,
                                           .admins = "root 4001",
                                           .users = "root 4002",
                                           .nodes = "elcap[1-100]",
                                           .broker = realm->lines};
    realm->site = site_open(&realm->options);
    *state = realm;
    return 0;
}

static int close_realm(void **state)
{
    struct realm *realm = *state;
    site_close(realm->site);
    testmunged_stop(realm->ours);
    testmunged_stop(realm->foreign);
    folder_destroy(realm->folder);
    free(realm);
    return 0;
}

/* Asks over TCP, where nothing else proves anything, with a fresh credential of this uid. */
static int ask(struct realm *realm, uid_t uid, const char *method, const char *path,
               const char *body, struct answer *answer)
{
    char header[HEADER_SIZE];
    testmunged_header(realm->ours, uid, 0, method, path, header, sizeof header);
    struct line *line = site_tcp(realm->site);
    int status = site_ask(realm->site, line, method, path, header, body, answer);
    line_close(line);
    return status;
}

static void show(struct realm *realm, const char *header, const char *path, struct answer *answer)
{
    struct line *line = site_tcp(realm->site);
    site_ask(realm->site, line, "GET", path, header, NULL, answer);
    line_close(line);
}

static void expect_refused(struct realm *realm, const char *header, const char *path,
                           const char *code, const char *word)
{
    struct answer answer;
    char challenge[64];
    show(realm, header, path, &answer);
    assert_words(answer.body, word);
    assert_true(answer_header(&answer, "WWW-Authenticate", challenge, sizeof challenge));
    assert_string_equal(challenge, "Munge realm=\"mcastd\"");
    site_expect_problem(&answer, 401, code, NULL);
}

/* Other uids' credentials can be had by root only. */
static void skip_unless_root(void)
{
    if (geteuid() != 0)
        skip();
}

static void uid__has_the_rights_of_its_lists(void **state)
{
    struct realm *realm = *state;
    skip_unless_root();
    assert_int_equal(ask(realm, MANAGER, "PUT", ELCAP "f1", BODY, NULL), 201);
    assert_int_equal(ask(realm, ADMIN, "PUT", "/v1/clusters/tuo/jobs/f1", BODY, NULL), 201);
    assert_int_equal(ask(realm, MANAGER, "PUT", "/v1/clusters/tuo/jobs/f1", BODY, NULL), 403);
    assert_int_equal(ask(realm, OWNER, "GET", ELCAP "f1", NULL, NULL), 200);
    assert_int_equal(ask(realm, OWNER, "GET", ELCAP "f1/env?step=0", NULL, NULL), 200);
    assert_int_equal(ask(realm, OWNER, "GET", "/v1/jobs", NULL, NULL), 200);
    assert_int_equal(ask(realm, OWNER + 1, "GET", ELCAP "f1", NULL, NULL), 404);
    assert_int_equal(ask(realm, OWNER, "DELETE", ELCAP "f1", NULL, NULL), 403);
    assert_int_equal(
        ask(realm, MANAGER, "POST", "/v1/clusters/elcap/sync", "{\"active\":[]}", NULL), 200);
    assert_int_equal(ask(realm, MANAGER, "DELETE", ELCAP "f1", NULL, NULL), 202);
    struct answer answer;
    assert_int_equal(ask(realm, OWNER, "GET", "/v1/events?follow=0&job=f1", NULL, &answer), 200);
    assert_non_null(strstr(answer.body, "\"uid\":4444"));
    answer_release(&answer);
    assert_int_equal(ask(realm, OWNER + 1, "GET", "/v1/events?follow=0&job=f1", NULL, &answer),
                     200);
    assert_null(strstr(answer.body, "\"uid\""));
    answer_release(&answer);
    ask(realm, OWNER, "GET", "/v1/events", NULL, &answer);
    assert_non_null(strstr(answer.body, "MUNGE credential of uid 4444 from "));
    site_expect_problem(&answer, 403, "forbidden", NULL);
}

/* Root of any host with the key can make one: it is nobody's manager, whatever the lists say. */
static void root__is_nobodys_manager(void **state)
{
    struct realm *realm = *state;
    skip_unless_root();
    struct answer answer;
    assert_int_equal(ask(realm, ADMIN, "PUT", ELCAP "roots", "{\"uid\":0,\"node_count\":1}", NULL),
                     201);
    assert_int_equal(ask(realm, 0, "GET", "/v1/status", NULL, NULL), 200);
    assert_int_equal(ask(realm, 0, "GET", "/v1/jobs", NULL, NULL), 403);
    ask(realm, 0, "PUT", ELCAP "f1", BODY, &answer);
    assert_non_null(strstr(answer.body, "root by MUNGE is the root of any host"));
    site_expect_problem(&answer, 403, "forbidden", NULL);
    assert_int_equal(ask(realm, 0, "GET", ELCAP "roots", NULL, NULL), 404);
    assert_int_equal(ask(realm, 0, "GET", ELCAP "roots/env", NULL, NULL), 404);
    assert_int_equal(ask(realm, 0, "GET", "/v1/whoami", NULL, &answer), 200);
    assert_true(json_is_false(json_object_get(answer.json, "admin")));
    assert_int_equal(json_array_size(json_object_get(answer.json, "clusters")), 0);
    assert_int_equal(answer_number(&answer, "uid"), 0);
    answer_release(&answer);
    assert_int_equal(site_call(realm->site, "GET", ELCAP "roots/env", NULL, NULL), 200);
}

/* What is shown counts, and nothing else does: not the uid of the socket either. */
static void credential__counts_on_the_unix_socket_too(void **state)
{
    struct realm *realm = *state;
    char header[HEADER_SIZE];
    struct answer answer;
    skip_unless_root();
    struct line *line = site_line(realm->site);
    testmunged_header(realm->ours, OWNER, 0, "GET", "/v1/whoami", header, sizeof header);
    assert_int_equal(site_ask(realm->site, line, "GET", "/v1/whoami", header, NULL, &answer), 200);
    assert_int_equal(answer_number(&answer, "uid"), OWNER);
    answer_release(&answer);
    site_ask(realm->site, line, "GET", "/v1/whoami", header, NULL, &answer);
    site_expect_problem(&answer, 401, "munge-replayed", NULL);
    assert_int_equal(site_ask(realm->site, line, "GET", "/v1/whoami", NULL, NULL, &answer), 200);
    assert_true(json_is_true(json_object_get(answer.json, "admin")));
    answer_release(&answer);
    line_close(line);
}

static void replayed__is_refused(void **state)
{
    struct realm *realm = *state;
    char header[HEADER_SIZE], word[64];
    struct answer answer;
    testmunged_header(realm->ours, geteuid(), 0, "GET", "/v1/status", header, sizeof header);
    show(realm, header, "/v1/status", &answer);
    assert_int_equal(answer.status, 200);
    answer_release(&answer);
    snprintf(word, sizeof word, "MUNGE credential of uid %u from ", (unsigned)geteuid());
    expect_refused(realm, header, "/v1/status", "munge-replayed", "has been shown before");
    expect_refused(realm, header, "/v1/status", "munge-replayed", word);
}

static void foreign__is_refused(void **state)
{
    struct realm *realm = *state;
    char header[HEADER_SIZE];
    testmunged_header(realm->foreign, geteuid(), 0, "GET", "/v1/status", header, sizeof header);
    expect_refused(realm, header, "/v1/status", "munge-invalid", "another key");
    testmunged_header(realm->ours, geteuid(), 0, "GET", "/v1/status", header, sizeof header);
    char *middle = strchr(header, ':') + strlen(": Munge MUNGE:") + 40;
    *middle = *middle == 'A' ? 'B' : 'A';
    expect_refused(realm, header, "/v1/status", "munge-invalid", "damaged");
    expect_refused(realm, "Authorization: Munge MUNGE:AwQFAAD:\r\n", "/v1/status", "munge-invalid",
                   "damaged");
    expect_refused(realm, "Authorization: Munge \x7e\x7e\r\n", "/v1/status", "munge-invalid",
                   "damaged");
}

/* Good for the request that it was made for: method, path and query, as they were sent. */
static void other_request__is_refused(void **state)
{
    struct realm *realm = *state;
    static const struct {
        const char *method, *target;
    } made_for[] = {
        {"PUT", "/v1/jobs?limit=1"},  {"GET", "/v1/jobs"},           {"GET", "/v1/jobs?limit=2"},
        {"GET", "/v1/jobs?limit=1 "}, {"get", "/v1/jobs?limit=1"},   {"HEAD", "/v1/jobs?limit=1"},
        {"GET", "/v1/jobs?limit=10"}, {"GET", "/v1/%6aobs?limit=1"}, {"GET", ""},
    };
    char header[HEADER_SIZE];
    struct answer answer;
    for (size_t i = 0; i < sizeof made_for / sizeof made_for[0]; i++) {
        testmunged_header(realm->ours, geteuid(), 0, made_for[i].method, made_for[i].target, header,
                          sizeof header);
        expect_refused(realm, header, "/v1/jobs?limit=1", "munge-other-request",
                       "mcastd1 METHOD TARGET");
    }
    /* Escapes are compared as they are written. */
    testmunged_header(realm->ours, geteuid(), 0, "GET", ELCAP "%66", header, sizeof header);
    show(realm, header, ELCAP "%66", &answer);
    site_expect_problem(&answer, 404, "not-found", NULL);
}

/* A second later it is too old; which second that is, munged says. */
static bool has_expired(void *arg)
{
    const char *const *given = arg; /* credential, socket of munged */
    munge_ctx_t context = munge_ctx_create();
    time_t encoded = 0, decoded = 0;
    int ttl = 0;
    munge_ctx_set(context, MUNGE_OPT_SOCKET, given[1]);
    (void)munge_decode(given[0], context, NULL, NULL, NULL, NULL);
    munge_ctx_get(context, MUNGE_OPT_ENCODE_TIME, &encoded);
    munge_ctx_get(context, MUNGE_OPT_DECODE_TIME, &decoded);
    munge_ctx_get(context, MUNGE_OPT_TTL, &ttl);
    munge_ctx_destroy(context);
    return decoded > encoded + ttl;
}

static void expired__is_refused(void **state)
{
    struct realm *realm = *state;
    char header[HEADER_SIZE], clock[HEADER_SIZE];
    testmunged_header(realm->ours, geteuid(), 1, "GET", "/v1/status", header, sizeof header);
    testmunged_header(realm->ours, geteuid(), 1, "GET", "/v1/status", clock, sizeof clock);
    clock[strcspn(clock, "\r")] = '\0';
    const char *given[] = {strstr(clock, "MUNGE:"), testmunged_socket(realm->ours)};
    assert_true(await(has_expired, (void *)given, AWAIT_DEADLINE_MS));
    expect_refused(realm, header, "/v1/status", "munge-expired", "older than its lifetime");
}

/* munged that takes the question and never answers: 503 after a while, others are served meanwhile,
 * and all is well when it is back. */
static void munged_that_hangs__delays_nobody_else(void **state)
{
    struct realm *realm = *state;
    static struct line *lines[CROWD];
    char header[HEADER_SIZE], retry[16];
    testmunged_header(realm->ours, geteuid(), 0, "GET", "/v1/status", header, sizeof header);
    testmunged_hold(realm->ours);
    for (int i = 0; i < CROWD; i++) {
        lines[i] = site_line(realm->site);
        assert_int_equal(line_request(lines[i], "GET", "/v1/status", header, NULL), 0);
    }
    assert_int_equal(site_call(realm->site, "PUT", ELCAP "f1", BODY, NULL), 201);
    for (int i = 0; i < CROWD; i++) {
        struct answer answer;
        assert_int_equal(line_answer(lines[i], false, &answer), 0);
        assert_true(answer_header(&answer, "Retry-After", retry, sizeof retry));
        site_expect_problem(&answer, 503, "munge-unavailable", NULL);
        line_close(lines[i]);
    }
    testmunged_go_on(realm->ours);
    assert_int_equal(ask(realm, geteuid(), "GET", "/v1/status", NULL, NULL), 200);
}

/* The broker stops although a thread of it waits for munged. */
static void munged_that_hangs__does_not_keep_the_broker(void **state)
{
    struct realm *realm = *state;
    char header[HEADER_SIZE];
    struct answer answer;
    testmunged_header(realm->ours, geteuid(), 0, "GET", "/v1/status", header, sizeof header);
    testmunged_hold(realm->ours);
    struct line *line = site_line(realm->site);
    assert_int_equal(line_request(line, "GET", "/v1/status", header, NULL), 0);
    assert_int_equal(site_call(realm->site, "GET", "/v1/status", NULL, NULL), 200);
    site_stop(realm->site);
    assert_int_equal(line_answer(line, false, &answer), 0);
    assert_int_equal(answer.status, 503);
    answer_release(&answer);
    line_close(line);
    testmunged_go_on(realm->ours);
}

static void munged_that_is_gone__is_said_so(void **state)
{
    struct realm *realm = *state;
    char header[HEADER_SIZE];
    struct answer answer;
    testmunged_header(realm->ours, geteuid(), 0, "GET", "/v1/status", header, sizeof header);
    testmunged_stop(realm->ours);
    show(realm, header, "/v1/status", &answer);
    assert_non_null(strstr(answer.body, "munged"));
    site_expect_problem(&answer, 503, "munge-unavailable", NULL);
    realm->ours = testmunged_start(realm->folder, "ours", 'a');
    assert_int_equal(ask(realm, geteuid(), "GET", "/v1/status", NULL, NULL), 200);
}

static void reload__takes_and_leaves_munge(void **state)
{
    struct realm *realm = *state;
    struct site_options without = realm->options, other = realm->options;
    char lines[256], header[HEADER_SIZE];
    struct answer answer;
    without.broker = NULL;
    assert_true(site_reload(realm->site, &without));
    testmunged_header(realm->ours, geteuid(), 0, "GET", "/v1/status", header, sizeof header);
    show(realm, header, "/v1/status", &answer);
    site_expect_problem(&answer, 401, "munge-not-taken", "Authorization");
    snprintf(lines, sizeof lines, "munge_socket = %s\n", testmunged_socket(realm->foreign));
    other.broker = lines;
    assert_true(site_reload(realm->site, &other));
    expect_refused(realm, header, "/v1/status", "munge-invalid", "another key");
    testmunged_header(realm->foreign, geteuid(), 0, "GET", "/v1/status", header, sizeof header);
    show(realm, header, "/v1/status", &answer);
    assert_int_equal(answer.status, 200);
    answer_release(&answer);
}

/* Bodies wait behind the credential, short and long, with and without Expect, and in order. */
static void bodies__come_after_the_credential(void **state)
{
    struct realm *realm = *state;
    skip_unless_root();
    enum { LONG = 900000 };
    char *body = malloc(LONG + 1), header[HEADER_SIZE], expecting[HEADER_SIZE + 32];
    struct line *line = site_tcp(realm->site);
    assert_non_null(body);
    memset(body, ' ', LONG);
    memcpy(body, BODY, strlen(BODY));
    body[LONG] = '\0';
    for (int i = 0; i < 3; i++) {
        char path[64];
        struct answer answer;
        snprintf(path, sizeof path, ELCAP "f%d", i);
        testmunged_header(realm->ours, MANAGER, 0, "PUT", path, header, sizeof header);
        snprintf(expecting, sizeof expecting, "%s%s", header,
                 i == 2 ? "Expect: 100-continue\r\n" : "");
        assert_int_equal(line_request(line, "PUT", path, expecting, i ? body : BODY), 0);
        testmunged_header(realm->ours, MANAGER, 0, "GET", path, header, sizeof header);
        assert_int_equal(line_request(line, "GET", path, header, NULL), 0);
        assert_int_equal(line_answer(line, false, &answer), 0);
        if (answer.status == 100) {
            answer_release(&answer);
            assert_int_equal(line_answer(line, false, &answer), 0);
        }
        assert_int_equal(answer.status, 201);
        answer_release(&answer);
        assert_int_equal(line_answer(line, false, &answer), 0);
        assert_int_equal(answer.status, 200);
        answer_release(&answer);
    }
    line_close(line);
    free(body);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_realm, close_realm)

UNIT_MAIN(TEST(uid__has_the_rights_of_its_lists), TEST(root__is_nobodys_manager),
          TEST(credential__counts_on_the_unix_socket_too), TEST(replayed__is_refused),
          TEST(foreign__is_refused), TEST(other_request__is_refused), TEST(expired__is_refused),
          TEST(munged_that_hangs__delays_nobody_else),
          TEST(munged_that_hangs__does_not_keep_the_broker), TEST(munged_that_is_gone__is_said_so),
          TEST(reload__takes_and_leaves_munge), TEST(bodies__come_after_the_credential))
