/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/contract.h"
#include "tests/system/http/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Who may do what. The tester's own uid plays all parts, one after the other: what changes
 * is what the configuration makes of it. State on disk keeps the jobs. */

#define ELCAP "/v1/clusters/elcap/jobs/"
#define TUO "/v1/clusters/tuo/jobs/"
#define OTHER_UID "4000000000"

static char me[16];
static unsigned my_uid;

static struct site_options as_admin(void)
{
    return (struct site_options){.mcastd = MCASTD, .keep = true};
}

static struct site_options as_manager_of(const char *elcap, const char *tuo)
{
    return (struct site_options){
        .mcastd = MCASTD, .keep = true, .admins = OTHER_UID, .users = elcap, .users_tuo = tuo};
}

/* As admin: on each cluster one job of mine and one of somebody else's. */
static int open_site(void **state)
{
    static const char *const paths[] = {ELCAP "mine", ELCAP "other", TUO "mine", TUO "other"};
    struct site_options options = as_admin();
    char body[64];
    my_uid = (unsigned)geteuid();
    snprintf(me, sizeof me, "%u", my_uid);
    struct site *site = site_open(&options);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(body, sizeof body, "{\"uid\":%u,\"node_count\":1}", my_uid + i % 2);
        assert_int_equal(site_call(site, "PUT", paths[i], body, NULL), 201);
    }
    *state = site;
    return 0;
}

static int close_site(void **state)
{
    site_close(*state);
    return 0;
}

static size_t listed(struct site *site, const char *path)
{
    struct answer answer;
    assert_int_equal(site_call(site, "GET", path, NULL, &answer), 200);
    size_t count = json_array_size(json_object_get(answer.json, "jobs"));
    answer_release(&answer);
    return count;
}

/* The refusal names the identity that was seen. */
static void assert_forbidden(struct site *site, const char *method, const char *path,
                             const char *body)
{
    struct answer answer;
    char uid[32];
    site_call(site, method, path, body, &answer);
    snprintf(uid, sizeof uid, "uid %u", my_uid);
    assert_non_null(strstr(answer.body, uid));
    site_expect_problem(&answer, 403, "forbidden", NULL);
}

static char *detail_of(struct site *site, const char *path)
{
    struct answer answer;
    site_call(site, "GET", path, NULL, &answer);
    char *detail = strdup(answer_text(&answer, "detail"));
    site_expect_problem(&answer, 404, "not-found", NULL);
    assert_non_null(detail);
    return detail;
}

/* A job of somebody else's is answered as the one called "there" that is not: same length of name,
 * same sentence. */
static void assert_hidden(struct site *site, const char *path, const char *absent)
{
    char *hidden = detail_of(site, path), *missing = detail_of(site, absent), *at;
    assert_non_null(at = strstr(hidden, "other"));
    memcpy(at, "there", strlen("there"));
    assert_string_equal(hidden, missing);
    free(hidden);
    free(missing);
}

static size_t streamed(struct site *site)
{
    struct answer answer;
    size_t events = 0;
    assert_int_equal(site_call(site, "GET", "/v1/events?follow=0", NULL, &answer), 200);
    for (const char *at = answer.body; (at = strstr(at, "\nevent: ")); at++)
        events++;
    answer_release(&answer);
    return events;
}

static void admin__may_do_everything(void **state)
{
    struct site *site = *state;
    assert_int_equal(listed(site, "/v1/jobs"), 4);
    assert_int_equal(streamed(site), 4);
    assert_int_equal(site_call(site, "GET", TUO "other", NULL, NULL), 200);
    assert_int_equal(site_call(site, "DELETE", TUO "other", NULL, NULL), 202);
    assert_int_equal(site_call(site, "POST", "/v1/clusters/elcap/sync", "{\"active\":[]}", NULL),
                     200);
}

static void manager__rules_its_cluster_only(void **state)
{
    struct site *site = *state;
    struct site_options options = as_manager_of(me, OTHER_UID);
    const char *body = "{\"uid\":7,\"node_count\":1}";
    site_restart(site, &options);
    assert_int_equal(site_call(site, "PUT", ELCAP "new", body, NULL), 201);
    assert_int_equal(site_call(site, "GET", ELCAP "other", NULL, NULL), 200);
    assert_int_equal(site_call(site, "GET", ELCAP "other/env", NULL, NULL), 200);
    assert_int_equal(site_call(site, "DELETE", ELCAP "other", NULL, NULL), 202);
    assert_int_equal(site_call(site, "POST", "/v1/clusters/elcap/sync", "{\"active\":[]}", NULL),
                     200);
    assert_forbidden(site, "PUT", TUO "new", body);
    assert_hidden(site, TUO "other", TUO "there");
    assert_hidden(site, TUO "other/env", TUO "there/env");
    assert_forbidden(site, "DELETE", TUO "other", NULL);
    assert_forbidden(site, "POST", "/v1/clusters/tuo/sync", "{\"active\":[]}");
    assert_forbidden(site, "POST", "/v1/clusters/elcap/claim", NULL);
    assert_forbidden(site, "POST", "/v1/accept-loss", NULL);
    assert_forbidden(site, "POST", "/v1/step-down", NULL);
    assert_int_equal(site_call(site, "GET", TUO "mine", NULL, NULL), 200); /* as its owner */
    assert_int_equal(listed(site, "/v1/jobs"), 3);
    assert_int_equal(listed(site, "/v1/jobs?cluster=elcap"), 3);
    assert_int_equal(listed(site, "/v1/jobs?cluster=tuo"), 1); /* again as owner */
    assert_int_equal(streamed(site), 4); /* three reserves and a release of elcap */
    assert_int_equal(site_call(site, "GET", ELCAP "other/topology", NULL, NULL), 200);
    assert_hidden(site, TUO "other/topology", TUO "there/topology");
}

static size_t nodes_seen(struct site *site, const char *path)
{
    struct answer answer;
    assert_int_equal(site_call(site, "GET", path, NULL, &answer), 200);
    const size_t count = json_array_size(json_object_get(answer.json, "nodes"));
    answer_release(&answer);
    return count;
}

/* A resource manager sees the nodes of its own list, and no name of others (P1). */
static void manager__sees_its_own_nodes_only(void **state)
{
    struct site *site = *state;
    struct site_options options = as_manager_of(me, OTHER_UID);
    options.nodes = "elcap[1-2]";
    options.genders = "elcap1 nic0=1\nelcap3 nic0=3\ntuo1 nic0=2\n";
    site_restart(site, &options);
    assert_int_equal(site_call(site, "GET", "/v1/fabric", NULL, NULL), 200);
    assert_int_equal(nodes_seen(site, "/v1/nodes"), 2);
    assert_int_equal(nodes_seen(site, "/v1/nodes?cluster=elcap&limit=1"), 1);
    assert_forbidden(site, "GET", "/v1/nodes?cluster=tuo", NULL);
    assert_int_equal(site_call(site, "GET", "/v1/nodes/elcap1", NULL, NULL), 200);
    assert_int_equal(site_call(site, "GET", "/v1/nodes/elcap2", NULL, NULL), 200);
    site_refused(site, "GET", "/v1/nodes/tuo1", NULL, 404, "not-found", NULL);
    site_refused(site, "GET", "/v1/nodes/tuo2", NULL, 404, "not-found", NULL);
    site_refused(site, "GET", "/v1/nodes/elcap3", NULL, 404, "not-found", NULL);
    options = as_manager_of(me, me);
    options.nodes = "elcap[1-2]";
    options.genders = "tuo1 nic0=2\n";
    site_restart(site, &options);
    assert_forbidden(site, "GET", "/v1/nodes", NULL);
    options = as_admin();
    options.genders = "tuo1 nic0=2\n";
    site_restart(site, &options);
    assert_int_equal(nodes_seen(site, "/v1/nodes"), 1);
    assert_int_equal(site_call(site, "GET", "/v1/nodes/tuo1", NULL, NULL), 200);
}

static void manager__of_two_clusters_sees_both(void **state)
{
    struct site *site = *state;
    struct site_options options = as_manager_of(me, me);
    site_restart(site, &options);
    assert_int_equal(listed(site, "/v1/jobs"), 4);
    assert_int_equal(listed(site, "/v1/jobs?cluster=tuo"), 2);
    assert_int_equal(streamed(site), 4);
    assert_int_equal(site_call(site, "DELETE", TUO "other", NULL, NULL), 202);
}

static void owner__reads_own_jobs_only(void **state)
{
    struct site *site = *state;
    struct site_options options = as_manager_of(OTHER_UID, OTHER_UID);
    char path[64];
    site_restart(site, &options);
    assert_int_equal(site_call(site, "GET", ELCAP "mine", NULL, NULL), 200);
    assert_int_equal(site_call(site, "GET", ELCAP "mine/env", NULL, NULL), 200);
    assert_int_equal(site_call(site, "GET", "/v1/status", NULL, NULL), 200);
    assert_forbidden(site, "GET", "/metrics", NULL);
    assert_forbidden(site, "GET", "/v1/fabric", NULL);
    assert_forbidden(site, "GET", "/v1/nodes", NULL);
    assert_forbidden(site, "GET", "/v1/nodes/n1", NULL);
    assert_int_equal(site_call(site, "GET", ELCAP "mine/topology", NULL, NULL), 200);
    assert_hidden(site, ELCAP "other/topology", ELCAP "there/topology");
    assert_hidden(site, ELCAP "other", ELCAP "there");
    assert_hidden(site, ELCAP "other/env", ELCAP "there/env");
    assert_forbidden(site, "DELETE", ELCAP "mine", NULL);
    assert_forbidden(site, "PUT", ELCAP "new", ONE_NODE);
    assert_forbidden(site, "POST", "/v1/clusters/elcap/sync", "{\"active\":[]}");
    assert_forbidden(site, "GET", "/v1/events", NULL);
    assert_forbidden(site, "POST", "/v1/clusters/elcap/claim", NULL);
    assert_forbidden(site, "POST", "/v1/accept-loss", NULL);
    assert_forbidden(site, "POST", "/v1/step-down", NULL);
    assert_int_equal(listed(site, "/v1/jobs"), 2);
    assert_int_equal(listed(site, "/v1/jobs?cluster=tuo"), 1);
    snprintf(path, sizeof path, "/v1/jobs?uid=%u", my_uid);
    assert_int_equal(listed(site, path), 2);
    assert_forbidden(site, "GET", "/v1/jobs?node=n1&silent=yes", NULL);
    snprintf(path, sizeof path, "/v1/jobs?uid=%u", my_uid + 1);
    assert_forbidden(site, "GET", path, NULL);
}

/* The site may name who else reads the metrics, and that is all that he may; or let everybody. */
static void metrics__are_for_roles_and_who_is_named(void **state)
{
    struct site *site = *state;
    struct site_options options = as_manager_of(me, OTHER_UID);
    char named[64];
    site_restart(site, &options);
    assert_int_equal(site_call(site, "GET", "/metrics", NULL, NULL), 200);
    options = as_manager_of(OTHER_UID, OTHER_UID);
    assert_true(site_reload(site, &options));
    assert_forbidden(site, "GET", "/metrics", NULL);
    snprintf(named, sizeof named, "metrics_users = %s", me);
    options.broker = named;
    assert_true(site_reload(site, &options));
    assert_int_equal(site_call(site, "GET", "/metrics", NULL, NULL), 200);
    assert_forbidden(site, "GET", "/v1/events", NULL);
    assert_forbidden(site, "DELETE", ELCAP "mine", NULL);
    options.broker = "metrics_anonymous = yes";
    assert_true(site_reload(site, &options));
    assert_int_equal(site_call(site, "GET", "/metrics", NULL, NULL), 200);
}

static void tcp__proves_nobody(void **state)
{
    struct site *site = *state;
    static const char *const closed[] = {
        "/v1/jobs",     "/v1/status", "/v1/events",     "/v1/fabric",          "/v1/nodes",
        "/v1/nodes/n1", ELCAP "mine", ELCAP "mine/env", ELCAP "mine/topology", "/metrics"};
    static const char *const open[] = {"/healthz", "/readyz", "/openapi.json"};
    struct answer answer;
    struct line *line = site_tcp(site);
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        assert_int_equal(site_ask(site, line, "GET", open[i], NULL, NULL, NULL), 200);
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
        site_ask(site, line, "GET", closed[i], NULL, NULL, &answer);
        assert_non_null(strstr(answer.body, "use the Unix socket"));
        site_expect_problem(&answer, 401, "no-identity", NULL);
    }
    site_ask(site, line, "PUT", ELCAP "x", NULL, ONE_NODE, &answer);
    site_expect_problem(&answer, 401, "no-identity", NULL);
    site_ask(site, line, "DELETE", ELCAP "mine", NULL, NULL, &answer);
    site_expect_problem(&answer, 401, "no-identity", NULL);
    line_close(line);

    struct site_options options = as_admin();
    options.broker = "metrics_anonymous = yes";
    site_restart(site, &options);
    line = site_tcp(site);
    assert_int_equal(site_ask(site, line, "GET", "/metrics", NULL, NULL, NULL), 200);
    line_close(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_SITE(admin__may_do_everything),
        ON_SITE(manager__rules_its_cluster_only),
        ON_SITE(manager__sees_its_own_nodes_only),
        ON_SITE(manager__of_two_clusters_sees_both),
        ON_SITE(owner__reads_own_jobs_only),
        ON_SITE(metrics__are_for_roles_and_who_is_named),
        ON_SITE(tcp__proves_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
