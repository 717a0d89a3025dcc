/* quality.md, "Fabric-manager misbehaviour": each row says what the fabric manager does, and what
 * the job sees of it, what becomes of the link, and what the log says. Afterwards the fabric
 * manager is well again, and must hold exactly what the active jobs should have (I3). */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/system/fmapi/authority.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/folder.h"
#include "tests/system/rig/stage.h"

#define JOBS "\"path\":\"*/collectives/jobs\""
#define JOB "\"path\":\"*/collectives/jobs/?*\""
#define LIST "\"path\":\"*/collectives/jobs/\""
#define BODY "{\"uid\":5588,\"node_count\":128}"

static struct stage *stage;

static const struct stage_options quick = {
    .mcastd = MCASTD,
    .mock_fm = MOCK_FM,
    .broker = "log_level = debug",
    .fm = "timeout = 1s\nreserve_timeout = 1500ms\nlink_retry = 50ms\nstray_grace = 100ms",
    .hwcoll = "min_nodes = 64\ntotal_addresses = 4086\nsystem_nodes = 11136",
};

/* ---- asking ---- */

static int call(struct plainhttp *http, const char *method, const char *path, const char *body,
                struct plainhttp_reply *reply)
{
    const int status = plainhttp_call(http, method, path, body, reply);
    assert_int_not_equal(status, 0);
    return status;
}

static void tell_fm(const char *method, const char *path, const char *body)
{
    struct plainhttp_reply reply;
    const int status = call(stage_fm_http(stage), method, path, body, &reply);
    if (status != 200)
        fail_msg("%s %s %s: %d %s", method, path, body ? body : "", status, reply.text);
    plainhttp_reply_release(&reply);
}

/* The member of the member, as text; "" when it is not there. */
static void read_text(char out[512], const json_t *object, const char *member, const char *name)
{
    const char *text = json_string_value(json_object_get(json_object_get(object, member), name));
    (void)snprintf(out, 512, "%s", text ? text : "");
}

/* Reserves; "" or the hwcoll.state that the job is told, with its reason. */
static void reserve(const char *job, char state[512], char reason[512])
{
    char path[128];
    struct plainhttp_reply reply;
    (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    const int status = call(stage_http(stage), "PUT", path, BODY, &reply);
    if (status != 201)
        fail_msg("%s: no job fails because of the fabric manager, this one got %d: %s", job, status,
                 reply.text);
    read_text(state, reply.json, "hwcoll", "state");
    read_text(reason, reply.json, "hwcoll", "reason");
    plainhttp_reply_release(&reply);
}

static void job_state(const char *job, char state[512])
{
    char path[128];
    struct plainhttp_reply reply;
    (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    call(stage_http(stage), "GET", path, NULL, &reply);
    read_text(state, reply.json, "hwcoll", "state");
    plainhttp_reply_release(&reply);
}

static void release(const char *job)
{
    char path[128];
    struct plainhttp_reply reply;
    (void)snprintf(path, sizeof path, "/v1/clusters/elcap/jobs/%s", job);
    assert_int_equal(call(stage_http(stage), "DELETE", path, NULL, &reply), 202);
    plainhttp_reply_release(&reply);
}

/* ---- waiting ---- */

static bool link_is(void *arg)
{
    char link[512];
    struct plainhttp_reply reply;
    call(stage_http(stage), "GET", "/v1/status", NULL, &reply);
    read_text(link, reply.json, "fabric_manager", "link");
    plainhttp_reply_release(&reply);
    return strcmp(link, arg) == 0;
}

static void await_link(const char *state)
{
    char wanted[16];
    (void)snprintf(wanted, sizeof wanted, "%s", state);
    if (!await(link_is, wanted, AWAIT_DEADLINE_MS))
        fail_msg("the link does not become %s", state);
}

/* What the fabric manager holds, names in its order, separated by blanks. */
static void fm_holds(char out[512])
{
    struct plainhttp_reply reply;
    size_t index, used = 0;
    json_t *job;
    out[0] = '\0';
    call(stage_fm_http(stage), "GET", "/mock/state", NULL, &reply);
    json_array_foreach(json_object_get(reply.json, "jobs"), index, job)
    {
        const char *name = json_string_value(json_object_get(job, "jobID"));
        used += (size_t)snprintf(out + used, 512 - used, "%s%s", index ? " " : "", name);
    }
    plainhttp_reply_release(&reply);
}

static bool holds_exactly(void *arg)
{
    char held[512];
    fm_holds(held);
    return strcmp(held, arg) == 0;
}

static void await_held(const char *names)
{
    char wanted[512], held[512];
    (void)snprintf(wanted, sizeof wanted, "%s", names);
    if (await(holds_exactly, wanted, AWAIT_DEADLINE_MS))
        return;
    fm_holds(held);
    fail_msg("the fabric manager should hold \"%s\", it holds \"%s\"", names, held);
}

static bool is_logged(void *arg)
{
    return stage_broker_logged(stage, arg);
}

static void await_logged(const char *text)
{
    char wanted[256];
    (void)snprintf(wanted, sizeof wanted, "%s", text);
    if (!await(is_logged, wanted, AWAIT_DEADLINE_MS))
        fail_msg("the log does not say \"%s\"", text);
}

/* ---- life of a test ---- */

static int start(const struct stage_options *options)
{
    stage = stage_create(options);
    return stage && stage_start_fm(stage) == 0 && stage_start_broker(stage) == 0 &&
                   stage_await_link(stage) == 0
               ? 0
               : -1;
}

static int start_quick(void **state)
{
    (void)state;
    return start(&quick);
}

static int stop(void **state)
{
    (void)state;
    stage_destroy(stage);
    stage = NULL;
    return 0;
}

/* ---- one reserve meets trouble ---- */

static const struct trouble {
    const char *name;
    const char *fault;  /* a rule of mock-fm */
    const char *sees;   /* hwcoll.state of the job */
    const char *reason; /* part of what it is told; NULL: nothing */
    const char *log;    /* part of a line; NULL: nothing in particular */
    bool link_lost;
} troubles[] = {
    /* Once: the second try helps, and the job notices nothing. */
    {"500 once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"status\":500}", "reserved", NULL,
     "HTTP 500", false},
    {"503 once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"status\":503}", "reserved", NULL,
     "HTTP 503", false},
    {"429 once",
     "{\"method\":\"POST\"," JOBS
     ",\"count\":1,\"status\":429,\"headers\":{\"Retry-After\":\"1\"}}",
     "reserved", NULL, "HTTP 429", false},
    /* It acted, and its answer is of no use: it is asked again, meets its own object (409), has it
     * released, and asks a third time. */
    {"truncated body once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"truncate\":true}",
     "reserved", NULL, "has one under this name already", false},
    {"body that is not JSON once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"garbage\":true}",
     "reserved", NULL, "has one under this name already", false},
    {"no token once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"no_session_token\":true}",
     "reserved", NULL, "has no sessionToken", false},
    {"token of a wrong type once",
     "{\"method\":\"POST\"," JOBS ",\"count\":1,\"merge\":{\"sessionToken\":12}}", "reserved", NULL,
     "sessionToken is not usable", false},
    {"token that breaks headers once",
     "{\"method\":\"POST\"," JOBS ",\"count\":1,\"merge\":{\"sessionToken\":\"a\\r\\nb\"}}",
     "reserved", NULL, "sessionToken is not usable", false},
    {"oversized body once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"fill_to\":2000000}",
     "reserved", NULL, "has one under this name already", false},
    {"connection dropped before acting once",
     "{\"method\":\"POST\"," JOBS ",\"count\":1,\"drop\":\"before\"}", "reserved", NULL, NULL,
     false},
    {"connection dropped after acting once",
     "{\"method\":\"POST\"," JOBS ",\"count\":1,\"drop\":\"after\"}", "reserved", NULL, NULL,
     false},
    {"409 of something else", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"status\":409}",
     "reserved", NULL, "has one under this name already", false},
    /* For good: the job runs without. */
    {"403", "{\"method\":\"POST\"," JOBS ",\"status\":403}", "denied", "HTTP 403",
     "the job runs without", false},
    {"404", "{\"method\":\"POST\"," JOBS ",\"status\":404}", "denied", "HTTP 404",
     "the job runs without", false},
    {"400", "{\"method\":\"POST\"," JOBS ",\"status\":400}", "denied", "HTTP 400",
     "the job runs without", false},
    {"507",
     "{\"method\":\"POST\"," JOBS ",\"status\":507,\"body\":{\"message\":\"02: none left\"}}",
     "denied", "HTTP 507: 02: none left", "the job runs without", false},
    {"500", "{\"method\":\"POST\"," JOBS ",\"status\":500}", "timeout", "HTTP 500",
     "a late success will be released", false},
    {"503", "{\"method\":\"POST\"," JOBS ",\"status\":503}", "timeout", "HTTP 503",
     "a late success will be released", false},
    {"429", "{\"method\":\"POST\"," JOBS ",\"status\":429}", "timeout", "HTTP 429",
     "a late success will be released", false},
    {"409 for ever", "{\"method\":\"POST\"," JOBS ",\"status\":409}", "timeout", NULL,
     "has one under this name already", false},
    {"no token for ever", "{\"method\":\"POST\"," JOBS ",\"no_session_token\":true}", "timeout",
     NULL, "a late success will be released", false},
    {"not JSON for ever", "{\"method\":\"POST\"," JOBS ",\"garbage\":true}", "timeout", NULL,
     "a late success will be released", false},
    {"slow answer once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"delay_ms\":5000}", "reserved",
     NULL, "has one under this name already", false},
    {"slow answer", "{\"method\":\"POST\"," JOBS ",\"delay_ms\":5000}", "timeout", NULL,
     "a late success will be released", false},
    {"slow to act", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"act_after_ms\":900}", "reserved",
     NULL, NULL, false},
    {"slow body", "{\"method\":\"POST\"," JOBS ",\"byte_every_ms\":100}", "timeout", NULL,
     "a late success will be released", false},
    /* The password, read again, is the same: asking again would lock the account. */
    {"401 once", "{\"method\":\"POST\"," JOBS ",\"count\":1,\"status\":401}", "unavailable",
     "HTTP 401", "link down, login at", true},
    {"401 for ever", "{\"path\":\"*/collectives/*\",\"status\":401}", "unavailable", "HTTP 401",
     "link down, login at", true},
    {"a gateway's page",
     "{\"method\":\"POST\"," JOBS ",\"status\":502,\"body\":\"<html>Bad "
     "Gateway</html>\"}",
     "timeout", "HTTP 502: the body is not a JSON object; is this the fabric manager?",
     "a late success will be released", false},
};

static void check_trouble(const struct trouble *trouble, size_t row)
{
    char job[32], other[32], state[512], reason[512], held[128];
    (void)snprintf(job, sizeof job, "%zu", row);
    (void)snprintf(other, sizeof other, "next%zu", row);
    tell_fm("POST", "/mock/faults", trouble->fault);
    reserve(job, state, reason);
    if (strcmp(state, trouble->sees) != 0)
        fail_msg("%s: the job should see %s, it sees %s (%s)", trouble->name, trouble->sees, state,
                 reason);
    if (trouble->reason && !strstr(reason, trouble->reason))
        fail_msg("%s: the reason should hold \"%s\", it is \"%s\"", trouble->name, trouble->reason,
                 reason);
    if (trouble->log)
        await_logged(trouble->log);
    if (trouble->link_lost)
        assert_false(link_is((char[]){"up"}));

    tell_fm("DELETE", "/mock/faults", NULL);
    await_link("up");
    /* The job that lost keeps what it was told; the next one has what it asks for. */
    reserve(other, state, reason);
    assert_string_equal(state, "reserved");
    job_state(job, state);
    assert_string_equal(state, trouble->sees);
    if (strcmp(trouble->sees, "reserved") == 0)
        (void)snprintf(held, sizeof held, "elcap-%s elcap-%s", job, other);
    else
        (void)snprintf(held, sizeof held, "elcap-%s", other);
    await_held(held);
    release(job);
    release(other);
    await_held("");
}

static void reserve__survives_each_trouble(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++)
        check_trouble(&troubles[i], i);
}

/* ---- the connection ---- */

static void refused_connection__costs_nothing_but_the_addresses(void **state)
{
    char told[512], reason[512];
    (void)state;
    stage_kill_fm(stage);
    reserve("a", told, reason);
    assert_string_equal(told, "unavailable");
    await_link("down");
    await_logged("link down, login at");
    await_logged("Couldn't connect to server");
    reserve("b", told, reason); /* at once: nobody is asked */
    assert_string_equal(told, "unavailable");
    assert_int_equal(stage_start_fm(stage), 0);
    await_link("up");
    reserve("c", told, reason);
    assert_string_equal(told, "reserved");
    await_held("elcap-c");
}

static struct authority right, wrong;

static int start_tls(void **state)
{
    (void)state;
    authority_init(&right, "IP:127.0.0.1");
    authority_init(&wrong, "IP:127.0.0.1");
    struct stage_options options = quick;
    options.fm_cert = right.cert;
    options.fm_key = right.key;
    return start(&options);
}

static int stop_tls(void **state)
{
    authority_release(&right);
    authority_release(&wrong);
    return stop(state);
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
    (void)state;
    reserve("a", told, reason);
    assert_string_equal(told, "reserved");
    stage_kill_fm(stage);
    /* The broker trusts what was at this path when it started; it reads it for each connection. */
    folder_path(kept, sizeof kept, stage_folder(stage), "right.key");
    copy(right.key, kept);
    struct authority other = wrong;
    copy(other.key, right.key);
    char cert[128];
    folder_path(cert, sizeof cert, stage_folder(stage), "right.crt");
    copy(right.cert, cert);
    /* mock-fm starts with the wrong pair, the broker's CA file is put back before it looks. */
    copy(other.cert, right.cert);
    assert_int_equal(stage_start_fm(stage), 0);
    copy(cert, right.cert);
    reserve("b", told, reason); /* its call is the first to meet the impostor */
    assert_string_equal(told, "unavailable");
    await_link("down");
    await_logged("certificate");

    stage_kill_fm(stage);
    copy(kept, right.key);
    assert_int_equal(stage_start_fm(stage), 0);
    await_link("up");
    await_held("elcap-a");
    reserve("c", told, reason);
    assert_string_equal(told, "reserved");
}

/* A proxy or another program without TLS at the port. */
static void tls_failure__is_told_as_such(void **state)
{
    char told[512], reason[512];
    (void)state;
    stage_stop_fm(stage);
    reserve("a", told, reason);
    assert_string_equal(told, "unavailable");
    await_link("down");
    assert_int_equal(stage_start_fm(stage), 0);
    await_link("up");
}

/* ---- what it remembers ---- */

static size_t count_events(const char *kind)
{
    struct plainhttp_reply reply;
    char mark[64];
    size_t count = 0;
    call(stage_http(stage), "GET", "/v1/events?after=0&follow=0", NULL, &reply);
    (void)snprintf(mark, sizeof mark, "\nevent: %s\n", kind);
    for (const char *at = reply.text; (at = strstr(at, mark)) != NULL; at += strlen(mark) - 1)
        count++;
    plainhttp_reply_release(&reply);
    return count;
}

static bool has_lost_two(void *arg)
{
    (void)arg;
    return count_events("lost") == 2;
}

/* F22, I4: one fatal event for each. */
static void state_lost__is_told_to_its_jobs_once(void **state)
{
    char told[512], reason[512];
    (void)state;
    reserve("a", told, reason);
    reserve("b", told, reason);
    tell_fm("POST", "/mock/forget", NULL);
    stage_kill_broker(stage); /* the next comparison is after a start */
    assert_int_equal(stage_start_broker(stage), 0);
    assert_true(await(has_lost_two, NULL, AWAIT_DEADLINE_MS));
    await_logged("the fabric manager no longer has its reservation -> lost");
    job_state("a", told);
    assert_string_equal(told, "lost");
    reserve("c", told, reason);
    assert_string_equal(told, "reserved");
    await_held("elcap-c");
    assert_int_equal(count_events("lost"), 2);
}

/* An active fabric manager died, its standby has an old state: one job that is over, one that runs
 * with another token by now, and one that it never heard of. */
static void old_state_restored__is_put_right(void **state)
{
    char told[512], reason[512];
    (void)state;
    reserve("over", told, reason);
    reserve("again", told, reason);
    tell_fm("POST", "/mock/snapshot", NULL);
    release("over");
    release("again");
    await_held("");
    reserve("again", told, reason);
    reserve("new", told, reason);
    assert_string_equal(told, "reserved");
    tell_fm("POST", "/mock/restore", NULL);
    stage_kill_broker(stage);
    assert_int_equal(stage_start_broker(stage), 0);
    assert_true(await(has_lost_two, NULL, AWAIT_DEADLINE_MS));
    await_logged("the fabric manager has another reservation under its name");
    await_held("");
}

/* ---- the list ---- */

static void list_in_pages__is_read_whole(void **state)
{
    char told[512], reason[512], job[16], held[512] = "";
    (void)state;
    tell_fm("POST", "/mock/faults", "{\"method\":\"GET\"," LIST ",\"page_size\":2}");
    for (int i = 0; i < 7; i++) {
        (void)snprintf(job, sizeof job, "%d", i);
        reserve(job, told, reason);
        assert_string_equal(told, "reserved");
        (void)snprintf(held + strlen(held), sizeof held - strlen(held), "%selcap-%d", i ? " " : "",
                       i);
    }
    tell_fm("POST", "/mock/forget", "{\"jobs\":[\"elcap-6\"]}"); /* on the last page */
    stage_kill_broker(stage);
    assert_int_equal(stage_start_broker(stage), 0);
    await_link("up");
    *strrchr(held, ' ') = '\0';
    await_logged("elcap-6: the fabric manager no longer has its reservation -> lost");
    await_held(held);
    assert_int_equal(count_events("lost"), 1);
}

static const char *const half_lists[] = {
    "[{\"method\":\"GET\",\"path\":\"*/collectives/jobs*\",\"skip\":1,\"status\":500},"
    "{\"method\":\"GET\"," LIST ",\"page_size\":2}]",
    "{\"method\":\"GET\"," LIST ",\"truncate\":true}",
    "{\"method\":\"GET\"," LIST ",\"no_document_links\":true}",
    "{\"method\":\"GET\"," LIST ",\"merge\":{\"documentLinks\":{}}}",
    "{\"method\":\"GET\"," LIST
    ",\"merge\":{\"documentLinks\":[\"/fabric/collectives/jobs/x\",7]}}",
    "{\"method\":\"GET\"," LIST ",\"merge\":{\"documentCount\":900}}",
    "{\"method\":\"GET\"," LIST ",\"garbage\":true}",
    "{\"method\":\"GET\"," LIST ",\"fill_to\":20000000}",
    "{\"method\":\"GET\"," LIST ",\"status\":403}",
    "{\"method\":\"GET\"," LIST ",\"status\":404}",
};

/* A list that is not whole concludes nothing: nobody is lost, nothing is deleted, the link stays
 * down until one is. */
static void half_a_list__concludes_nothing(void **state)
{
    char told[512], reason[512];
    (void)state;
    reserve("a", told, reason);
    reserve("b", told, reason);
    reserve("c", told, reason);
    for (size_t i = 0; i < sizeof half_lists / sizeof half_lists[0]; i++) {
        tell_fm("POST", "/mock/faults", half_lists[i]);
        stage_kill_broker(stage);
        assert_int_equal(stage_start_broker(stage), 0);
        await_link("down");
        tell_fm("DELETE", "/mock/faults", NULL);
        await_link("up");
        await_held("elcap-a elcap-b elcap-c");
        job_state("b", told);
        assert_string_equal(told, "reserved");
        assert_int_equal(count_events("lost"), 0);
    }
}

/* ---- the login ---- */

#define TOKEN "\"path\":\"*/token\""

static int start_oauth(void **state)
{
    (void)state;
    struct stage_options options = quick;
    options.oauth = true;
    return start(&options);
}

static unsigned tokens_issued(void)
{
    struct plainhttp_reply reply;
    call(stage_fm_http(stage), "GET", "/mock/state", NULL, &reply);
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
    (void)state;
    reserve("a", told, reason);
    assert_string_equal(told, "reserved");
    for (unsigned i = 1; i <= 3; i++) {
        char job[16];
        const unsigned before = tokens_issued();
        tell_fm("POST", "/mock/revoke", NULL);
        (void)snprintf(job, sizeof job, "b%u", i);
        reserve(job, told, reason);
        assert_string_equal(told, "reserved");
        assert_int_equal(tokens_issued(), before + 1);
    }
    await_held("elcap-a elcap-b1 elcap-b2 elcap-b3");
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
    {"{" TOKEN ",\"delay_ms\":5000}", "/oauth/token"},
};

/* While no login can be had, jobs start without; the log names the endpoint or its words. */
static void token_endpoint__in_trouble_takes_the_link_down(void **state)
{
    char told[512], reason[512], job[16];
    (void)state;
    for (size_t i = 0; i < sizeof endpoint_troubles / sizeof endpoint_troubles[0]; i++) {
        tell_fm("POST", "/mock/faults", endpoint_troubles[i].fault);
        tell_fm("POST", "/mock/revoke", NULL);
        (void)snprintf(job, sizeof job, "%zu", i);
        reserve(job, told, reason);
        if (strcmp(told, "reserved") == 0)
            fail_msg("%s: the job should run without", endpoint_troubles[i].fault);
        await_logged(endpoint_troubles[i].log);
        tell_fm("DELETE", "/mock/faults", NULL);
        await_link("up");
        await_held("");
    }
}

/* The same while the token in hand is still good: nobody notices. */
static void token_endpoint__is_not_missed_while_a_token_lives(void **state)
{
    char told[512], reason[512];
    (void)state;
    tell_fm("POST", "/mock/faults", "{" TOKEN ",\"status\":503}");
    reserve("a", told, reason);
    assert_string_equal(told, "reserved");
    assert_true(link_is((char[]){"up"}));
}

/* The secret is changed at both ends, ours without a reload: the file is read at each login. */
static void client_secret__changed_on_disk_is_used(void **state)
{
    char told[512], reason[512];
    (void)state;
    reserve("a", told, reason);
    assert_int_equal(folder_write(stage_folder(stage), "client-secret", 0600, "a-new-one\n"), 0);
    tell_fm("POST", "/mock/reload", NULL);
    tell_fm("POST", "/mock/revoke", NULL);
    reserve("b", told, reason);
    assert_string_equal(told, "reserved");
    assert_false(stage_broker_logged(stage, "a-new-one"));
    assert_false(stage_broker_logged(stage, "stage-password"));
}

#define OAUTH_TEST(name) cmocka_unit_test_setup_teardown(name, start_oauth, stop)
#define QUICK_TEST(name) cmocka_unit_test_setup_teardown(name, start_quick, stop)
#define TLS_TEST(name) cmocka_unit_test_setup_teardown(name, start_tls, stop_tls)

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUICK_TEST(reserve__survives_each_trouble),
        QUICK_TEST(refused_connection__costs_nothing_but_the_addresses),
        TLS_TEST(wrong_certificate__is_not_talked_to),
        TLS_TEST(tls_failure__is_told_as_such),
        OAUTH_TEST(token_revoked__is_renewed_unnoticed),
        OAUTH_TEST(token_endpoint__in_trouble_takes_the_link_down),
        OAUTH_TEST(token_endpoint__is_not_missed_while_a_token_lives),
        OAUTH_TEST(client_secret__changed_on_disk_is_used),
        QUICK_TEST(state_lost__is_told_to_its_jobs_once),
        QUICK_TEST(old_state_restored__is_put_right),
        QUICK_TEST(list_in_pages__is_read_whole),
        QUICK_TEST(half_a_list__concludes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
