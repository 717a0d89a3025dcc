/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/bearers/fixture.h"
#include "tests/system/http/testcert.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

/* The same as people and hooks do it: mcastctl, and libmcast below it. */

#define CTL(token, out, ...)                                                                       \
    fixture_ctl(fixture, token, (const char *const[]){__VA_ARGS__, NULL}, out, sizeof out)

static struct fixture *fixture;
static struct fixture_job job;

static int open_fixture(void **state)
{
    fixture = fixture_open(&(struct fixture_options){.session_tokens = NULL});
    job = fixture_reserve(fixture, "f1");
    fixture_plant(fixture, &job, "/fA/fB", 0);
    fixture_plant(fixture, &job, "/fA/fB/fC", 4);
    fixture_plant(fixture, &job, "/fX", 8);
    return 0;
}

/* The last test: what all of the others made the programs write is searched (a teardown that fails
 * would not fail the program). */
static void tokens__stand_nowhere(void **state)
{
    fixture_close(fixture);
}

static void show__lists_steps_and_trees(void **state)
{
    char out[4096];
    assert_int_equal(CTL(NULL, out, "show", "--steps", "f1"), 0);
    assert_non_null(strstr(out, "/fA/fB/fC"));
    assert_non_null(strstr(out, "STEP"));
    assert_int_equal(CTL(NULL, out, "show", "--steps", "--json", "ƒ1"), 0);
    json_t *root = json_loads(out, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(root, "steps")), 3);
    json_decref(root);
    assert_int_equal(CTL(NULL, out, "show", "--steps", "none"), 3);

    /* As a job has it whose tasks run without FI_CXI_COLL_JOB_STEP_ID. */
    assert_null(strstr(out, "no cleanup"));
    fixture_plant(fixture, &job, "(null)", 40);
    assert_int_equal(CTL(NULL, out, "show", "--steps", "f1"), 0);
    assert_non_null(strstr(out, "1 of these steps have names that no cleanup can be asked for"));
    assert_true(
        testbed_broker_logged(fixture_stage(fixture), "first \"(null)\" -> no cleanup reaches"));
}

static void cleanup__takes_the_token_from_the_environment(void **state)
{
    char out[4096];
    assert_int_equal(CTL(NULL, out, "cleanup", "--step", "/fA/fB"), 2);
    assert_non_null(strstr(out, "MCAST_TOKEN"));
    assert_int_equal(CTL(job.token, out, "cleanup"), 2);
    assert_int_equal(CTL(job.token, out, "cleanup", "--step", "/fA//fB"), 2);
    assert_int_equal(CTL(job.token, out, "cleanup", "--step", "/fA", "--wait", "2x"), 2);
    assert_int_equal(CTL("two words", out, "cleanup", "--step", "/fA"), 2);
    assert_int_equal(CTL("sess-unknown", out, "cleanup", "--step", "/fA"), 1);
    assert_int_equal(CTL(job.token, out, "cleanup", "--step", "/ƒA/ƒB", "--wait", "50000ms"), 0);
    assert_string_equal(out, "/fA/fB: no trees are left\n");
    assert_int_equal(fixture_trees(fixture, &job, "/fA/fB"), 0);
    assert_int_equal(fixture_trees(fixture, &job, "/fA/fB/fC"), 1);
    assert_int_equal(CTL(job.token, out, "cleanup", "--step", "/fA", "--below", "--json"), 0);
    json_t *root = json_loads(out, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(root, "state")), "accepted");
    assert_string_equal(json_string_value(json_object_get(root, "cluster")), "elcap");
    assert_string_equal(json_string_value(json_object_get(root, "job")), "f1");
    assert_true(json_integer_value(json_object_get(root, "number")) > 0);
    assert_true(json_is_true(json_object_get(root, "below")));
    json_decref(root);
    fixture_await_bare(fixture, &job, "/fA/fB/fC");
    assert_int_equal(fixture_trees(fixture, &job, "/fX"), 1);
}

static void token__is_requested_narrowed_and_used(void **state)
{
    char out[4096], token[4096], slim[4096];
    assert_int_equal(CTL(job.token, token, "token", "request", "--operations", "cleanup"), 0);
    token[strcspn(token, "\n")] = '\0';
    assert_int_equal(
        CTL(job.token, out, "token", "request", "--operations=show", "--json", "--expires=1h"), 0);
    json_t *root = json_loads(out, 0, NULL);
    assert_non_null(json_string_value(json_object_get(root, "token")));
    assert_int_equal(json_string_length(json_object_get(root, "id")), 16);
    assert_true(json_is_string(json_object_get(root, "expires")));
    json_decref(root);
    assert_int_equal(CTL(token, slim, "token", "narrow", "--steps", "/fA"), 0);
    slim[strcspn(slim, "\n")] = '\0';
    assert_int_equal(CTL(slim, out, "cleanup", "--step", "/fX"), 1);
    assert_non_null(strstr(out, "/fA"));
    assert_int_equal(fixture_trees(fixture, &job, "/fX"), 1);
    assert_int_equal(CTL(token, out, "cleanup", "--step", "/fX", "--wait", "50s"), 0);
    assert_int_equal(fixture_trees(fixture, &job, "/fX"), 0);
    assert_int_equal(CTL(slim, out, "token", "request", "--steps", "/fX"), 1);
    /* Where a token was asked for it is printed; else nowhere. */
    assert_string_not_equal(token, slim);
}

static void key__is_rotated_by_admins(void **state)
{
    char out[4096], token[4096];
    assert_int_equal(CTL(job.token, token, "token", "request"), 0);
    token[strcspn(token, "\n")] = '\0';
    assert_int_equal(CTL(NULL, out, "token", "rotate"), 0);
    assert_non_null(strstr(out, "2 are honoured, 0 dropped"));
    assert_int_equal(CTL(NULL, out, "token", "rotate", "--json"), 0);
    json_t *root = json_loads(out, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(root, "keys")), 3);
    json_decref(root);
    assert_int_equal(CTL(token, out, "cleanup", "--step", "0"), 0);
    assert_int_equal(CTL(NULL, out, "token", "rotate", "--steps", "/fA"), 2);
}

static void library__shows_what_a_token_is_for(void **state)
{
    struct mcast *handle = NULL;
    struct mcast_reservation *own = NULL;
    struct mcast_error error;
    char token[MCAST_TOKEN_SIZE];
    bool gone = true;
    assert_int_equal(mcast_open(&handle, testbed_socket(fixture_stage(fixture)), &error), 0);
    assert_int_equal(mcast_own(handle, &own, &error), MCAST_USAGE);
    assert_int_equal(mcast_set_token(handle, "a\r\nHost: b", &error), MCAST_USAGE);
    assert_int_equal(mcast_set_token(handle, "", &error), MCAST_USAGE);
    assert_int_equal(mcast_set_token(handle, job.token, &error), 0);
    assert_int_equal(mcast_own(handle, &own, &error), 0);
    assert_string_equal(own->job, "f1");
    assert_true(own->env_count > 0);
    mcast_reservation_free(own);
    assert_int_equal(mcast_token_request(handle, NULL, token, sizeof token, &error), 0);
    fixture_remember(fixture, token);
    assert_int_equal(mcast_token_request(handle, NULL, token, 10, &error), MCAST_USAGE);
    assert_string_equal(token, "");
    assert_int_equal(mcast_cleanup(handle, "/fN", 0, 0, &gone, &error), 0);
    assert_false(gone);
    assert_int_equal(mcast_cleanup(handle, "/fN", MCAST_BELOW, 50000, &gone, &error), 0);
    assert_true(gone);
    assert_int_equal(mcast_cleanup(handle, "/fN", 0, 60001, &gone, &error), MCAST_USAGE);
    /* Calls of other kinds are its own, not the token's: root may do all here. */
    assert_int_equal(mcast_show(handle, "elcap", "f1", &own, &error), 0);
    mcast_reservation_free(own);
    mcast_close(handle);
}

/* Whoever has nothing but the token: no certificate, no MUNGE, no uid. It goes nowhere else. */
static void library__is_a_bearer_over_tls(void **state)
{
    struct authority authority;
    char certificates[FOLDER_PATH_SIZE], ca[128], broker[512], url[64];
    struct mcast *handle = NULL;
    struct mcast_reservation *own = NULL;
    struct mcast_error error;
    bool gone = false;
    assert_int_equal(folder_create(certificates), 0);
    authority_init(&authority, "site");
    authority_write(&authority, &(struct testcert){.common = "mcastd"}, certificates, "server");
    char *pem = authority_pem(&authority);
    assert_int_equal(folder_write(certificates, "ca.pem", 0644, pem), 0);
    gnutls_free(pem);
    (void)snprintf(broker, sizeof broker,
                   "listen = 127.0.0.1:0\ntls_cert = %s/server.pem\ntls_key = %s/server.key",
                   certificates, certificates);
    struct fixture *far = fixture_open(&(struct fixture_options){.broker = broker});
    struct fixture_job one = fixture_reserve(far, "f9");
    fixture_plant(far, &one, "/fA", 0);

    (void)snprintf(url, sizeof url, "https://127.0.0.1:%d", fixture_port(far));
    assert_int_equal(mcast_open(&handle, url, &error), 0);
    assert_int_equal(
        mcast_set_cacert(handle, folder_path(ca, sizeof ca, certificates, "ca.pem"), &error), 0);
    assert_int_equal(mcast_set_munge(handle, MCAST_MUNGE_NEVER, NULL, &error), 0);
    assert_int_equal(mcast_set_token(handle, one.token, &error), 0);
    if (mcast_own(handle, &own, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(own->number, one.number);
    mcast_reservation_free(own);
    assert_int_equal(mcast_cleanup(handle, "/fA", 0, 50000, &gone, &error), 0);
    assert_true(gone);
    assert_int_equal(fixture_trees(far, &one, "/fA"), 0);
    assert_int_equal(mcast_show(handle, "elcap", "f9", &own, &error), MCAST_REFUSED);
    assert_string_equal(error.word, "no-identity");
    mcast_close(handle);
    fixture_close(far);
    authority_release(&authority);
    folder_destroy(certificates);
}

UNIT_GROUP(open_fixture, NULL, cmocka_unit_test(show__lists_steps_and_trees),
           cmocka_unit_test(cleanup__takes_the_token_from_the_environment),
           cmocka_unit_test(token__is_requested_narrowed_and_used),
           cmocka_unit_test(key__is_rotated_by_admins),
           cmocka_unit_test(library__shows_what_a_token_is_for),
           cmocka_unit_test(library__is_a_bearer_over_tls), cmocka_unit_test(tokens__stand_nowhere))
