/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/tlssite.h"

#include "tests/system/rig/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* What a client's certificate makes its holder. */

#define ELCAP "/v1/clusters/elcap/jobs/"
#define TUO "/v1/clusters/tuo/jobs/"
#define BODY "{\"uid\":77,\"nodes\":\"elcap[7-8]\"}"
#define ELSEWHERE "{\"uid\":77,\"nodes\":\"elcap[1-6,9]\"}"
#define SYNC "/v1/clusters/elcap/sync"

static const struct site_options lists = {.mcastd = MCASTD,
                                          .admins = "root cert:boss",
                                          .users = "cert:elcap-rm",
                                          .users_tuo = "cert:tuo-rm",
                                          .nodes = "elcap[1-100]"};

static int open_site(void **state)
{
    static const char *const names[] = {"boss", "elcap-rm", "tuo-rm", "elcap7", "visitor"};
    struct tlssite *tls = tlssite_open(&lists);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        tlssite_issue(tls, names[i]);
    *state = tls;
    return 0;
}

static int close_site(void **state)
{
    tlssite_close(*state);
    return 0;
}

static void each_name__may_what_its_list_says(void **state)
{
    struct tlssite *tls = *state;
    static const struct {
        const char *method, *path, *body;
        int boss, elcap_rm, tuo_rm, node, visitor, nobody;
    } cases[] = {
        {"PUT", ELCAP "f1", BODY, 201, 200, 403, 403, 403, 401},
        {"PUT", TUO "f1", BODY, 201, 403, 200, 403, 403, 401},
        {"GET", ELCAP "f1", NULL, 200, 200, 404, 200, 403, 401},
        {"GET", TUO "f1", NULL, 200, 404, 200, 404, 403, 401},
        {"GET", ELCAP "f1/env", NULL, 200, 200, 404, 403, 403, 401},
        {"GET", ELCAP "f1/topology", NULL, 200, 200, 404, 403, 403, 401},
        {"GET", "/v1/fabric", NULL, 200, 200, 200, 403, 403, 401},
        {"GET", "/v1/nodes", NULL, 200, 200, 200, 403, 403, 401},
        {"GET", "/v1/nodes?cluster=elcap", NULL, 200, 200, 403, 403, 403, 401},
        {"GET", "/v1/nodes/elcap7", NULL, 200, 200, 404, 403, 403, 401},
        {"DELETE", "/v1/nodes/elcap7", NULL, 404, 403, 403, 403, 403, 401},
        {"GET", ELCAP "there", NULL, 404, 404, 404, 404, 403, 401},
        {"GET", "/v1/jobs", NULL, 200, 200, 200, 403, 403, 401},
        {"GET", "/v1/jobs?cluster=elcap", NULL, 200, 200, 403, 403, 403, 401},
        {"GET", "/v1/jobs?node=elcap7", NULL, 200, 200, 200, 200, 403, 401},
        {"GET", "/v1/jobs?node=elcap8", NULL, 200, 200, 200, 403, 403, 401},
        {"GET", "/v1/jobs?node=elcap7&cluster=elcap", NULL, 200, 200, 403, 200, 403, 401},
        {"GET", "/v1/jobs?node=elcap7&cluster=tuo", NULL, 200, 403, 200, 403, 403, 401},
        {"GET", "/v1/events?follow=0", NULL, 200, 200, 200, 403, 403, 401},
        {"GET", "/v1/status", NULL, 200, 200, 200, 200, 403, 401},
        {"GET", "/v1/history", NULL, 200, 200, 200, 200, 403, 401},
        {"GET", "/v1/options?cluster=tuo", NULL, 200, 200, 200, 200, 403, 401},
        {"GET", "/metrics", NULL, 200, 200, 200, 200, 403, 401},
        {"GET", "/v1/whoami", NULL, 200, 200, 200, 200, 200, 200},
        {"GET", "/healthz", NULL, 200, 200, 200, 200, 200, 200},
        {"POST", SYNC, "{\"active\":[\"f1\"]}", 200, 200, 403, 403, 403, 401},
        {"DELETE", ELCAP "f1", NULL, 202, 200, 403, 403, 403, 401},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct {
            const char *name;
            int status;
        } asked[] = {{"boss", cases[i].boss},       {"elcap-rm", cases[i].elcap_rm},
                     {"tuo-rm", cases[i].tuo_rm},   {"elcap7", cases[i].node},
                     {"visitor", cases[i].visitor}, {NULL, cases[i].nobody}};
        for (size_t j = 0; j < sizeof asked / sizeof asked[0]; j++) {
            int status = tlssite_call(tls, asked[j].name, cases[i].method, cases[i].path,
                                      cases[i].body, NULL);
            if (status != asked[j].status)
                fail_msg("%s %s as %s: %d", cases[i].method, cases[i].path,
                         asked[j].name ? asked[j].name : "nobody", status);
        }
    }
}

/* The refusal names who was seen and what it lacks. */
static void refusal__names_the_certificate(void **state)
{
    struct tlssite *tls = *state;
    struct answer answer;
    tlssite_call(tls, "elcap7", "DELETE", ELCAP "f1", NULL, &answer);
    assert_non_null(strstr(answer.body, "certificate \\\"elcap7\\\" may not"));
    assert_non_null(strstr(answer.body, "this cluster's resource manager"));
    site_expect_problem(&answer, 403, "forbidden", NULL);
    tlssite_call(tls, "visitor", "GET", "/v1/status", NULL, &answer);
    assert_non_null(strstr(answer.body, "certificate \\\"visitor\\\" may not"));
    site_expect_problem(&answer, 403, "forbidden", NULL);
    tlssite_call(tls, NULL, "GET", "/v1/status", NULL, &answer);
    assert_non_null(strstr(answer.body, "send a client certificate"));
    site_expect_problem(&answer, 401, "no-identity", NULL);
}

/* Whose released jobs hold VNIs is for admins. */
static void status__names_users_to_admins(void **state)
{
    struct tlssite *tls = *state;
    struct answer answer;
    assert_int_equal(
        tlssite_call(tls, "boss", "PUT", ELCAP "held", "{\"uid\":5588,\"nodes\":\"elcap7\"}", NULL),
        201);
    assert_int_equal(tlssite_call(tls, "boss", "DELETE", ELCAP "held", NULL, NULL), 202);
    tlssite_call(tls, "boss", "GET", "/v1/status", NULL, &answer);
    assert_int_equal(answer_number(&answer, "vnis.held_most_uid"), 5588);
    answer_release(&answer);
    tlssite_call(tls, "elcap-rm", "GET", "/v1/status", NULL, &answer);
    assert_non_null(strstr(answer.body, "held_most"));
    assert_null(strstr(answer.body, "5588"));
    answer_release(&answer);
}

/* It sees the jobs that run on it, or may, and neither their tokens nor other jobs. */
static void node__sees_its_jobs_without_their_tokens(void **state)
{
    struct tlssite *tls = *state;
    struct answer answer;
    assert_int_equal(tlssite_call(tls, "boss", "PUT", ELCAP "here", BODY, NULL), 201);
    assert_int_equal(tlssite_call(tls, "boss", "PUT", ELCAP "there", ELSEWHERE, NULL), 201);
    assert_int_equal(tlssite_call(tls, "boss", "PUT", TUO "f2", BODY, NULL), 201);
    assert_int_equal(
        tlssite_call(tls, "boss", "PUT", ELCAP "f3", "{\"uid\":77,\"node_count\":9}", NULL), 201);
    assert_int_equal(tlssite_call(tls, "elcap7", "GET", ELCAP "here", NULL, &answer), 200);
    assert_string_equal(answer_text(&answer, "job"), "here");
    assert_null(json_object_get(answer.json, "env"));
    answer_release(&answer);
    tlssite_call(tls, "elcap7", "GET", ELCAP "here/env", NULL, &answer);
    site_expect_problem(&answer, 403, "forbidden", NULL);
    assert_int_equal(tlssite_call(tls, "elcap7", "GET", ELCAP "there", NULL, NULL), 404);
    assert_int_equal(tlssite_call(tls, "elcap7", "GET", TUO "f2", NULL, NULL), 404);
    assert_int_equal(tlssite_call(tls, "elcap7", "GET", ELCAP "f3", NULL, NULL), 200);
}

/* "job:how" of each in a list for elcap7, as the peer sees it, and the number of those hidden. */
static void expect_on_node(struct tlssite *tls, const char *name, const char *query,
                           const char *expected, json_int_t hidden)
{
    struct answer answer;
    char path[128], seen[256] = "";
    size_t index;
    json_t *job;
    snprintf(path, sizeof path, "/v1/jobs?node=elcap7%s", query);
    assert_int_equal(tlssite_call(tls, name, "GET", path, NULL, &answer), 200);
    json_array_foreach(json_object_get(answer.json, "jobs"), index, job)
    {
        snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s:%s ",
                 json_string_value(json_object_get(job, "job")),
                 json_string_value(json_object_get(job, "on_node")));
    }
    assert_string_equal(seen, expected);
    assert_int_equal(answer_number(&answer, "hidden"), hidden);
    assert_null(strstr(answer.body, "env"));
    assert_null(strstr(answer.body, "TOKEN"));
    answer_release(&answer);
}

/* F11: what may run on it, of the clusters that it is of; of the others, how many there are. */
static void node__lists_what_may_run_on_it(void **state)
{
    struct tlssite *tls = *state;
    struct answer answer;
    tlssite_call(tls, "boss", "PUT", ELCAP "here", BODY, NULL);
    tlssite_call(tls, "boss", "PUT", ELCAP "there", ELSEWHERE, NULL);
    tlssite_call(tls, "boss", "PUT", TUO "f2", BODY, NULL);
    tlssite_call(tls, "boss", "PUT", ELCAP "f3", "{\"uid\":77,\"node_count\":9}", &answer);
    json_int_t number = answer_number(&answer, "number");
    answer_release(&answer);
    expect_on_node(tls, "elcap7", "", "here:named f3:possible ", 1);
    expect_on_node(tls, "elcap7", "&cluster=elcap", "here:named f3:possible ", 0);
    expect_on_node(tls, "elcap-rm", "", "here:named f3:possible ", 1);
    expect_on_node(tls, "tuo-rm", "", "f2:named ", 2);
    expect_on_node(tls, "boss", "", "here:named f2:named f3:possible ", 0);

    char body[96];
    snprintf(body, sizeof body, "{\"state\":\"created\",\"number\":%lld}", (long long)number);
    assert_int_equal(tlssite_call(tls, "elcap7", "PUT", ELCAP "f3/nodes/elcap7", body, NULL), 200);
    tlssite_call(tls, "boss", "DELETE", ELCAP "here", NULL, NULL);
    expect_on_node(tls, "elcap7", "&state=active", "f3:reported ", 1);
    expect_on_node(tls, "elcap7", "", "here:named f3:reported ", 1);
    /* What waits for its word, and that it has not spoken of; without a node list of any length. */
    expect_on_node(tls, "elcap7", "&silent=yes", "here:named ", 0);
    expect_on_node(tls, "tuo-rm", "&silent=yes", "", 1);
    tlssite_call(tls, "elcap7", "GET", "/v1/jobs?node=elcap7&silent=yes", NULL, &answer);
    assert_null(strstr(answer.body, "\"nodes\""));
    assert_null(strstr(answer.body, "waiting_for"));
    answer_release(&answer);

    /* Whose the others are is not to be found out, not even by asking for each user. */
    static const char *const spying[] = {"elcap7", "elcap-rm", "tuo-rm"};
    for (size_t i = 0; i < sizeof spying / sizeof spying[0]; i++) {
        tlssite_call(tls, spying[i], "GET", "/v1/jobs?node=elcap7&uid=77", NULL, &answer);
        site_expect_problem(&answer, 403, "forbidden", NULL);
    }
    expect_on_node(tls, "boss", "&uid=78", "", 0);
    expect_on_node(tls, "boss", "&uid=77", "here:named f2:named f3:reported ", 0);
    expect_on_node(tls, "elcap7", "&uid=77&cluster=elcap", "here:named f3:reported ", 0);
    expect_on_node(tls, "elcap-rm", "&uid=77&cluster=elcap", "here:named f3:reported ", 0);

    /* Page by page, and the link stays with the node. */
    expect_on_node(tls, "elcap7", "&limit=1", "here:named ", 0);
    tlssite_call(tls, "elcap7", "GET", "/v1/jobs?node=elcap7&limit=1", NULL, &answer);
    const char *next = answer_text(&answer, "next");
    assert_non_null(next);
    assert_non_null(strstr(next, "node=elcap7&"));
    assert_int_equal(tlssite_call(tls, "elcap7", "GET", next, NULL, NULL), 200);
    answer_release(&answer);
    tlssite_call(tls, "elcap7", "GET", "/v1/jobs?node=elcap%2F7", NULL, &answer);
    site_expect_problem(&answer, 422, "invalid", "node");
}

static void names__are_the_common_name_and_dns_names(void **state)
{
    struct tlssite *tls = *state;
    const struct testcert testcert = {.common = "elcap7.site", .dns = {"elcap9", "tuo-rm", NULL}};
    struct answer answer;
    authority_write(&tls->authority, &testcert, tls->certificates, "many");
    assert_int_equal(tlssite_call(tls, "many", "GET", "/v1/whoami", NULL, &answer), 200);
    json_t *names = json_object_get(answer.json, "names");
    assert_int_equal(json_array_size(names), 3);
    assert_string_equal(json_string_value(json_array_get(names, 0)), "elcap7.site");
    assert_string_equal(answer_text(&answer, "identity"), "certificate \"elcap7.site\"");
    assert_string_equal(answer_text(&answer, "node"), "elcap9");
    json_t *clusters = json_object_get(answer.json, "clusters");
    assert_int_equal(json_array_size(clusters), 1);
    assert_string_equal(json_string_value(json_array_get(clusters, 0)), "tuo");
    assert_string_equal(answer_text(&answer, "only_cluster"), ""); /* there is elcap, too */
    answer_release(&answer);
}

/* A certificate that is shown and not accepted is told so, whatever else there is. */
static void bad_certificate__is_told_why(void **state)
{
    struct tlssite *tls = *state;
    struct authority foreign, pretender;
    const struct testcert past = {.common = "boss", .begins = -7200, .ends = -60};
    const struct testcert future = {.common = "boss", .begins = 3600, .ends = 7200};
    const struct testcert server = {.common = "boss", .purpose = GNUTLS_KP_TLS_WWW_SERVER};
    const struct testcert boss = {.common = "boss"};
    static const struct {
        const char *name, *why;
    } cases[] = {{"past", "it has expired"},
                 {"future", "it is not valid yet"},
                 {"server-like", "it is not meant for clients"},
                 {"foreign", "no authority in tls_client_ca has signed it"},
                 {"forged", "its signature is wrong"}};
    authority_init(&foreign, "other");
    authority_init(&pretender, "authority"); /* as ours is called */
    authority_write(&tls->authority, &past, tls->certificates, "past");
    authority_write(&tls->authority, &future, tls->certificates, "future");
    authority_write(&tls->authority, &server, tls->certificates, "server-like");
    authority_write(&foreign, &boss, tls->certificates, "foreign");
    authority_write(&pretender, &boss, tls->certificates, "forged");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static const char *const paths[] = {"/v1/jobs", "/v1/whoami", ELCAP "f1"};
        for (size_t j = 0; j < sizeof paths / sizeof paths[0]; j++) {
            struct answer answer;
            tlssite_call(tls, cases[i].name, "GET", paths[j], NULL, &answer);
            assert_non_null(strstr(answer.body, "certificate \\\"boss\\\""));
            assert_non_null(strstr(answer.body, cases[i].why));
            site_expect_problem(&answer, 401, "certificate-refused", NULL);
        }
        assert_int_equal(tlssite_call(tls, cases[i].name, "GET", "/healthz", NULL, NULL), 200);
    }
    authority_release(&foreign);
    authority_release(&pretender);
}

/* Rights are those of the moment of a request, not of the connection (CVE-2022-28620). */
static void reload__changes_the_rights_of_open_connections(void **state)
{
    struct tlssite *tls = *state;
    struct site_options other = lists;
    struct answer answer;
    struct line *boss = tlssite_line(tls, "boss"), *rm = tlssite_line(tls, "elcap-rm");
    struct line *node = tlssite_line(tls, "elcap7"), *stream = tlssite_line(tls, "boss");
    struct line *local = site_line(tls->site);
    assert_int_equal(line_request(stream, "GET", "/v1/events", NULL, NULL), 0);
    assert_true(line_await(stream, "text/event-stream"));
    assert_int_equal(site_ask(tls->site, boss, "PUT", ELCAP "f1", NULL, BODY, NULL), 201);
    assert_int_equal(site_ask(tls->site, rm, "GET", ELCAP "f1/env", NULL, NULL, NULL), 200);
    assert_int_equal(site_ask(tls->site, node, "GET", ELCAP "f1", NULL, NULL, NULL), 200);
    assert_int_equal(site_ask(tls->site, local, "GET", "/v1/jobs", NULL, NULL, NULL), 200);
    assert_true(line_await(stream, "\"job\":\"f1\""));

    other.admins = "4000000000 cert:elcap-rm";
    other.users = "cert:elcap7";
    other.nodes = "elcap[8-9]";
    assert_true(tlssite_reload(tls, &other));
    site_ask(tls->site, boss, "GET", "/v1/jobs", NULL, NULL, &answer);
    site_expect_problem(&answer, 403, "forbidden", NULL);
    assert_int_equal(site_ask(tls->site, rm, "PUT", TUO "f1", NULL, BODY, NULL), 201);
    assert_int_equal(site_ask(tls->site, node, "GET", ELCAP "f1/env", NULL, NULL, NULL), 200);
    site_ask(tls->site, local, "PUT", ELCAP "f2", NULL, BODY, &answer);
    site_expect_problem(&answer, 403, "forbidden", NULL);
    assert_true(line_await(stream, "\r\n0\r\n\r\n")); /* has ended before */
    assert_null(strstr(line_seen(stream), "\"cluster\":\"tuo\""));

    assert_true(tlssite_reload(tls, &lists));
    assert_int_equal(site_ask(tls->site, boss, "GET", ELCAP "f1/env", NULL, NULL, NULL), 200);
    line_close(boss);
    line_close(rm);
    line_close(node);
    line_close(stream);
    line_close(local);
}

/* Whoever keeps the body back does not keep the right with it. */
static void reload__counts_for_a_request_whose_body_is_to_come(void **state)
{
    struct tlssite *tls = *state;
    struct site_options other = lists;
    char head[256];
    struct line *boss = tlssite_line(tls, "boss");
    int length = snprintf(head, sizeof head,
                          "PUT %sheld HTTP/1.1\r\nHost: mcastd\r\nContent-Length: %zu\r\n"
                          "Expect: 100-continue\r\n\r\n",
                          ELCAP, strlen(BODY));
    assert_int_equal(line_send(boss, head, (size_t)length), 0);
    assert_true(line_await(boss, "100 Continue")); /* the head has been judged */
    other.admins = "4000000000";
    assert_true(tlssite_reload(tls, &other));
    assert_int_equal(line_send(boss, BODY, strlen(BODY)), 0);
    assert_true(line_await(boss, "HTTP/1.1 403"));
    assert_true(tlssite_reload(tls, &lists));
    struct line *again = tlssite_line(tls, "boss");
    assert_int_equal(site_ask(tls->site, again, "GET", ELCAP "held", NULL, NULL, NULL), 404);
    line_close(boss);
    line_close(again);
}

/* A certificate that is no longer trusted proves nothing, on an open connection, too. */
static void reload__of_the_authority_counts_for_open_connections(void **state)
{
    struct tlssite *tls = *state;
    struct authority next;
    struct answer answer;
    struct line *boss = tlssite_line(tls, "boss");
    assert_int_equal(site_ask(tls->site, boss, "GET", "/v1/jobs", NULL, NULL, NULL), 200);
    authority_init(&next, "next");
    char *old = authority_pem(&tls->authority), *new = authority_pem(&next), *both;
    assert_true(asprintf(&both, "%s%s", old, new) > 0);
    assert_int_equal(folder_write(tls->certificates, "ca.pem", 0600, both), 0);
    assert_true(tlssite_reload(tls, &lists));
    assert_int_equal(site_ask(tls->site, boss, "GET", "/v1/jobs", NULL, NULL, NULL), 200);

    assert_int_equal(folder_write(tls->certificates, "ca.pem", 0600, new), 0);
    assert_true(tlssite_reload(tls, &lists));
    site_ask(tls->site, boss, "GET", "/v1/jobs", NULL, NULL, &answer);
    site_expect_problem(&answer, 401, "certificate-refused", NULL);

    assert_int_equal(folder_write(tls->certificates, "ca.pem", 0600, both), 0);
    assert_true(tlssite_reload(tls, &lists));
    assert_int_equal(site_ask(tls->site, boss, "GET", "/v1/jobs", NULL, NULL, NULL), 200);
    line_close(boss);
    gnutls_free(old);
    gnutls_free(new);
    free(both);
    authority_release(&next);
}

static void authorization__of_other_kinds_is_refused(void **state)
{
    struct tlssite *tls = *state;
    static const struct {
        const char *header, *code;
    } cases[] = {
        {"Authorization: Bearer abc\r\n", "token-elsewhere"},
        {"Authorization: bearer abc\r\n", "token-elsewhere"},
        {"Authorization: Basic YTpi\r\n", "unknown-scheme"},
        {"Authorization: Mungex abc\r\n", "unknown-scheme"},
        {"Authorization: Munge\r\n", "munge-invalid"},
        {"Authorization: Munge abc\r\n", "munge-not-taken"},
        {"Authorization: \r\n", "unknown-scheme"},
    };
    struct line *boss = tlssite_line(tls, "boss");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct answer answer;
        char challenge[64];
        site_ask(tls->site, boss, "GET", "/v1/status", cases[i].header, NULL, &answer);
        assert_true(answer_header(&answer, "WWW-Authenticate", challenge, sizeof challenge));
        site_expect_problem(&answer, 401, cases[i].code, "Authorization");
        assert_int_equal(site_ask(tls->site, boss, "GET", "/healthz", cases[i].header, NULL, NULL),
                         200);
    }
    assert_int_equal(site_ask(tls->site, boss, "GET", "/v1/status", NULL, NULL, NULL), 200);
    line_close(boss);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_SITE(each_name__may_what_its_list_says),
        ON_SITE(refusal__names_the_certificate),
        ON_SITE(status__names_users_to_admins),
        ON_SITE(node__sees_its_jobs_without_their_tokens),
        ON_SITE(node__lists_what_may_run_on_it),
        ON_SITE(names__are_the_common_name_and_dns_names),
        ON_SITE(bad_certificate__is_told_why),
        ON_SITE(reload__changes_the_rights_of_open_connections),
        ON_SITE(reload__counts_for_a_request_whose_body_is_to_come),
        ON_SITE(reload__of_the_authority_counts_for_open_connections),
        ON_SITE(authorization__of_other_kinds_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
