/* SPDX-License-Identifier: Apache-2.0 */
/* It cannot be reached, is another service, or does not
 * let us log in (F13, F20). */

#include "tests/system/fmapi/authority.h"
#include "tests/system/misbehaviour/scene.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

/* ---- the connection ---- */

static void refused_connection__costs_nothing_but_the_addresses(void **state)
{
    char told[512], reason[512];
    testbed_kill_fm(scene_stage());
    scene_reserve("a", told, reason);
    assert_string_equal(told, "unavailable");
    scene_await_link("down");
    scene_await_logged("link down, login at");
    scene_await_logged("Couldn't connect to server");
    scene_reserve("b", told, reason); /* at once: nobody is asked */
    assert_string_equal(told, "unavailable");
    assert_int_equal(testbed_start_fm(scene_stage()), 0);
    scene_await_link("up");
    scene_reserve("c", told, reason);
    assert_string_equal(told, "reserved");
    scene_await_held("elcap-c");
}

static struct authority right, wrong;

static int start_tls(void **state)
{
    authority_init(&right, "IP:127.0.0.1");
    authority_init(&wrong, "IP:127.0.0.1");
    struct testbed_options options = scene_quick;
    options.fm_cert = right.cert;
    options.fm_key = right.key;
    return scene_start(&options);
}

static int stop_tls(void **state)
{
    authority_release(&right);
    authority_release(&wrong);
    return scene_stop(state);
}

static void copy(const char *from, const char *to)
{
    char text[16384];
    FILE *in = fopen(from, "re"), *out = fopen(to, "we");
    assert_true(in && out);
    const size_t length = fread(text, 1, sizeof text, in);
    assert_int_equal(fwrite(text, 1, length, out), length);
    assert_int_equal(fclose(in) | fclose(out), 0);
}

/* F13: somebody else answers at the fabric manager's address. */
static void wrong_certificate__is_not_talked_to(void **state)
{
    char told[512], reason[512], kept[128];
    scene_reserve("a", told, reason);
    assert_string_equal(told, "reserved");
    testbed_kill_fm(scene_stage());
    /* The broker trusts what was at this path when it started; it reads it for each connection. */
    folder_path(kept, sizeof kept, testbed_folder(scene_stage()), "right.key");
    copy(right.key, kept);
    struct authority other = wrong;
    copy(other.key, right.key);
    char cert[128];
    folder_path(cert, sizeof cert, testbed_folder(scene_stage()), "right.crt");
    copy(right.cert, cert);
    /* mock-fm starts with the wrong pair, the broker's CA file is put back before it looks. */
    copy(other.cert, right.cert);
    assert_int_equal(testbed_start_fm(scene_stage()), 0);
    copy(cert, right.cert);
    scene_reserve("b", told, reason); /* its call is the first to meet the impostor */
    assert_string_equal(told, "unavailable");
    scene_await_link("down");
    scene_await_logged("certificate");

    testbed_kill_fm(scene_stage());
    copy(kept, right.key);
    assert_int_equal(testbed_start_fm(scene_stage()), 0);
    scene_await_link("up");
    scene_await_held("elcap-a");
    scene_reserve("c", told, reason);
    assert_string_equal(told, "reserved");
}

/* A proxy or another program without TLS at the port. */
static void tls_failure__is_told_as_such(void **state)
{
    char told[512], reason[512];
    testbed_stop_fm(scene_stage());
    scene_reserve("a", told, reason);
    assert_string_equal(told, "unavailable");
    scene_await_link("down");
    assert_int_equal(testbed_start_fm(scene_stage()), 0);
    scene_await_link("up");
}

/* ---- the login ---- */

#define TOKEN "\"path\":\"*/token\""

static int start_oauth(void **state)
{
    struct testbed_options options = scene_quick;
    options.oauth = true;
    return scene_start(&options);
}

static unsigned tokens_issued(void)
{
    struct plainhttp_reply reply;
    plainhttp_call(testbed_fm_http(scene_stage()), "GET", "/mock/state", NULL, &reply);
    const unsigned issued =
        (unsigned)json_integer_value(json_object_get(reply.json, "accessTokensIssued"));
    plainhttp_reply_release(&reply);
    return issued;
}

/* F13: an access token that the fabric manager takes back is renewed once, and the job that meets
 * it notices nothing. */
static void token_revoked__is_renewed_unnoticed(void **state)
{
    char told[512], reason[512];
    scene_reserve("a", told, reason);
    assert_string_equal(told, "reserved");
    for (unsigned i = 1; i <= 3; i++) {
        char job[16];
        const unsigned before = tokens_issued();
        scene_tell_fm("POST", "/mock/revoke", NULL);
        (void)snprintf(job, sizeof job, "b%u", i);
        scene_reserve(job, told, reason);
        assert_string_equal(told, "reserved");
        assert_int_equal(tokens_issued(), before + 1);
    }
    scene_await_held("elcap-a elcap-b1 elcap-b2 elcap-b3");
}

static const struct {
    const char *fault, *log;
} endpoint_troubles[] = {
    {"{" TOKEN ",\"status\":503}", "HTTP 503"},
    {"{" TOKEN ",\"status\":401,\"body\":{\"error\":\"invalid_client\"}}", "invalid_client"},
    {"{" TOKEN ",\"garbage\":true}", "/oauth/token"},
    {"{" TOKEN ",\"truncate\":true}", "/oauth/token"},
    {"{" TOKEN ",\"merge\":{\"access_token\":null}}", "access_token"},
    {"{" TOKEN ",\"merge\":{\"access_token\":\"a b\"}}", "access_token"},
    {"{" TOKEN ",\"fill_to\":2000000}", "/oauth/token"},
    {"{" TOKEN ",\"drop\":\"before\"}", "/oauth/token"},
    {"{" TOKEN ",\"delay_ms\":20000}", "/oauth/token"},
};

/* While no login can be had, jobs start without; the log names the endpoint or its words. */
static void token_endpoint__in_trouble_takes_the_link_down(void **state)
{
    char told[512], reason[512], job[16];
    for (size_t i = 0; i < sizeof endpoint_troubles / sizeof endpoint_troubles[0]; i++) {
        scene_tell_fm("POST", "/mock/faults", endpoint_troubles[i].fault);
        scene_tell_fm("POST", "/mock/revoke", NULL);
        (void)snprintf(job, sizeof job, "%zu", i);
        scene_reserve(job, told, reason);
        if (strcmp(told, "reserved") == 0)
            fail_msg("%s: the job should run without", endpoint_troubles[i].fault);
        scene_await_logged(endpoint_troubles[i].log);
        scene_tell_fm("DELETE", "/mock/faults", NULL);
        scene_await_link("up");
        scene_await_held("");
    }
}

/* The same while the token in hand is still good: nobody notices. */
static void token_endpoint__is_not_missed_while_a_token_lives(void **state)
{
    char told[512], reason[512];
    scene_tell_fm("POST", "/mock/faults", "{" TOKEN ",\"status\":503}");
    scene_reserve("a", told, reason);
    assert_string_equal(told, "reserved");
    assert_true(scene_link_is("up"));
}

/* The secret is changed at both ends, ours without a reload: the file is read at each login. */
static void client_secret__changed_on_disk_is_used(void **state)
{
    char told[512], reason[512];
    scene_reserve("a", told, reason);
    assert_int_equal(
        folder_write(testbed_folder(scene_stage()), "client-secret", 0600, "a-new-one\n"), 0);
    scene_tell_fm("POST", "/mock/reload", NULL);
    scene_tell_fm("POST", "/mock/revoke", NULL);
    scene_reserve("b", told, reason);
    assert_string_equal(told, "reserved");
    assert_false(testbed_broker_logged(scene_stage(), "a-new-one"));
    assert_false(testbed_broker_logged(scene_stage(), "stage-password"));
}

#define QUICK_TEST(name) cmocka_unit_test_setup_teardown(name, scene_start_quick, scene_stop)
#define TLS_TEST(name) cmocka_unit_test_setup_teardown(name, start_tls, stop_tls)
#define OAUTH_TEST(name) cmocka_unit_test_setup_teardown(name, start_oauth, scene_stop)

UNIT_MAIN(QUICK_TEST(refused_connection__costs_nothing_but_the_addresses),
          TLS_TEST(wrong_certificate__is_not_talked_to), TLS_TEST(tls_failure__is_told_as_such),
          OAUTH_TEST(token_revoked__is_renewed_unnoticed),
          OAUTH_TEST(token_endpoint__in_trouble_takes_the_link_down),
          OAUTH_TEST(token_endpoint__is_not_missed_while_a_token_lives),
          OAUTH_TEST(client_secret__changed_on_disk_is_used))
