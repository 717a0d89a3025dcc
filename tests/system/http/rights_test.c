/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/contract.h"
#include "tests/system/http/site.h"
#include "tests/system/rig/await.h"

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
    assert_int_equal(streamed(site),
                     5); /* three reserves and a release of elcap, and one as owner */
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

/* P5: an owner's stream has the events of his own jobs, whatever he asks for and whatever becomes
 * of others' meanwhile. */
static void owner__follows_own_jobs_only(void **state)
{
    struct site *site = *state;
    struct site_options options = as_manager_of(OTHER_UID, OTHER_UID);
    static const char *const asked[] = {"/v1/events?follow=0&job=mine",
                                        "/v1/events?follow=0&cluster=elcap&job=mine",
                                        "/v1/events?follow=0&cluster=elcap&job=other",
                                        "/v1/events?follow=0&job=mine&kind=lost,link-down,alarm"};
    static const size_t events[] = {2, 1, 0, 0};
    struct answer answer;
    site_restart(site, &options);
    assert_forbidden(site, "GET", "/v1/events", NULL);
    assert_forbidden(site, "GET", "/v1/events?cluster=elcap", NULL);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        size_t count = 0;
        assert_int_equal(site_call(site, "GET", asked[i], NULL, &answer), 200);
        for (const char *at = answer.body; (at = strstr(at, "\nevent: ")); at++)
            count++;
        assert_int_equal(count, events[i]);
        assert_null(strstr(answer.body, "other"));
        answer_release(&answer);
    }
}

/* When the right is taken away, what follows ends: it does not go on as an owner's. */
static void stream__of_a_role_ends_with_it(void **state)
{
    struct site *site = *state;
    struct site_options options = as_manager_of(OTHER_UID, OTHER_UID);
    struct line *line = site_line(site);
    assert_int_equal(line_request(line, "GET", "/v1/events", NULL, NULL), 0);
    assert_true(line_await(line, "\"job\":\"other\""));
    assert_true(site_reload(site, &options));
    assert_true(line_await(line, "\r\n0\r\n\r\n"));
    line_close(line);
}

/* P3: for all who have proved who they are; they are the site's configuration. */
static void options__are_for_every_user(void **state)
{
    struct site *site = *state;
    struct site_options options = as_manager_of(OTHER_UID, OTHER_UID);
    struct answer answer;
    site_restart(site, &options);
    assert_int_equal(site_call(site, "GET", "/v1/options?cluster=tuo", NULL, &answer), 200);
    assert_string_equal(answer_text(&answer, "cluster"), "tuo");
    assert_null(strstr(answer.body, "other"));
    answer_release(&answer);
    site_refused(site, "GET", "/v1/options", NULL, 422, "missing-field", "cluster");
    site_refused(site, "GET", "/v1/options?cluster=typo", NULL, 404, "no-such-cluster", "cluster");
    options = as_manager_of(me, OTHER_UID);
    site_restart(site, &options);
    assert_int_equal(site_call(site, "GET", "/v1/options", NULL, &answer), 200);
    assert_string_equal(answer_text(&answer, "cluster"), "elcap");
    answer_release(&answer);
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
    assert_int_equal(site_call(site, "GET", "/v1/history", NULL, NULL), 200);
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
    assert_forbidden(site, "GET", "/v1/doctor", NULL);
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

/* Why the list of tuo failed; "" when it did not. */
static const char *list_error(const struct answer *answer)
{
    const json_t *cluster, *clusters = json_object_get(answer->json, "clusters");
    const char *error = NULL;
    size_t i;
    json_array_foreach(clusters, i, cluster)
    {
        if (strcmp(json_string_value(json_object_get(cluster, "name")), "tuo") == 0)
            error = json_string_value(json_object_get(cluster, "list_error"));
    }
    assert_non_null(error);
    return error;
}

static bool have_failed(void *arg)
{
    struct answer answer;
    assert_int_equal(site_call(arg, "GET", "/v1/status", NULL, &answer), 200);
    const bool failed =
        answer_text(&answer, "fabric_manager.last_error")[0] && list_error(&answer)[0];
    answer_release(&answer);
    return failed;
}

static void assert_errors(struct site *site, const struct site_options *options, const char *link,
                          const char *list)
{
    struct answer answer;
    site_restart(site, options);
    assert_true(await(have_failed, site, 60000));
    assert_int_equal(site_call(site, "GET", "/v1/status", NULL, &answer), 200);
    assert_non_null(strstr(answer_text(&answer, "fabric_manager.last_error"), link));
    assert_non_null(strstr(list_error(&answer), list));
    answer_release(&answer);
}

/* B8: what programs and the fabric manager say may name any user's job: it is for who may see all
 * of these. Others are told the cause in words of ours. */
static void status__has_words_of_others_for_who_may_see_all_jobs(void **state)
{
    struct site *site = *state;
    struct site_options admin = as_admin(), elcap = as_manager_of(me, OTHER_UID),
                        tuo = as_manager_of(OTHER_UID, me),
                        owner = as_manager_of(OTHER_UID, OTHER_UID);
    admin.vni = elcap.vni = tuo.vni = owner.vni =
        "pool = 1024-65535\n[fm]\nurl = http://127.0.0.1:1\nauthdir = /nonexistent/login-of-alice\n"
        "[cluster \"tuo\"]\nlist_command = /bin/ls /nonexistent/job-of-alice\nlist_every = 1s\n";
    assert_errors(site, &admin, "alice", "alice");
    assert_errors(site, &tuo, "the login failed", "alice");
    assert_errors(site, &elcap, "the login failed", "list_command failed");
    assert_errors(site, &owner, "the login failed", "list_command failed");
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

/* ---- shared VNIs (B1) ---- */

static size_t shares(struct site *site)
{
    struct answer answer;
    assert_int_equal(site_call(site, "GET", "/v1/vnis", NULL, &answer), 200);
    size_t count = json_array_size(json_object_get(answer.json, "vnis"));
    answer_release(&answer);
    return count;
}

/* How many members one is shown with: who may only use it learns less. 0: he does not see it. */
static size_t members_of(struct site *site, const char *path)
{
    struct answer answer;
    size_t count = 0;
    if (site_call(site, "GET", path, NULL, &answer) == 200)
        count = json_object_size(answer.json);
    else
        assert_int_equal(answer.status, 404);
    answer_release(&answer);
    return count;
}

enum { FOR_USERS = 6, FOR_OWNERS = 11 };

/* As admin, who makes them for others: one of mine; one for my jobs, one for those of everybody,
 * and one for its owner only, on the list of elcap. */
static void make_shares(struct site *site)
{
    static const struct {
        const char *path, *body;
    } all[] = {
        {"/v1/vnis/mine", "{}"},
        {"/v1/vnis/listed", "{\"uid\":77,\"users\":[78,%u]}"},
        {"/v1/vnis/any", "{\"uid\":77,\"any_user\":true,\"clusters\":[\"tuo\"]}"},
        {"/v1/vnis/other", "{\"uid\":77,\"users\":[78],\"clusters\":[\"elcap\"]}"},
    };
    char body[96];
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const char *at = strstr(all[i].body, "%u");
        snprintf(body, sizeof body, "%s", all[i].body);
        if (at)
            snprintf(body, sizeof body, "{\"uid\":77,\"users\":[78,%u]}", my_uid);
        assert_int_equal(site_call(site, "PUT", all[i].path, body, NULL), 201);
    }
}

static void share__shows_itself_to_whom_it_concerns(void **state)
{
    struct site *site = *state;
    struct site_options options = as_manager_of(OTHER_UID, OTHER_UID);
    make_shares(site);
    assert_int_equal(shares(site), 4);
    assert_int_equal(members_of(site, "/v1/vnis/other"), FOR_OWNERS);
    site_restart(site, &options); /* a user */
    assert_int_equal(shares(site), 3);
    assert_int_equal(members_of(site, "/v1/vnis/mine"), FOR_OWNERS);
    assert_int_equal(members_of(site, "/v1/vnis/listed"), FOR_USERS);
    assert_int_equal(members_of(site, "/v1/vnis/any"), FOR_USERS);
    assert_int_equal(members_of(site, "/v1/vnis/other"), 0);
    assert_hidden(site, "/v1/vnis/other", "/v1/vnis/there");
    options = as_manager_of(me, OTHER_UID); /* of elcap */
    site_restart(site, &options);
    assert_int_equal(shares(site), 4);
    assert_int_equal(members_of(site, "/v1/vnis/other"), FOR_OWNERS);
    assert_int_equal(members_of(site, "/v1/vnis/any"), FOR_USERS);
    assert_forbidden(site, "DELETE", "/v1/vnis/other", NULL);
    options = as_manager_of(OTHER_UID, me); /* of tuo */
    site_restart(site, &options);
    assert_int_equal(members_of(site, "/v1/vnis/any"), FOR_OWNERS);
    assert_hidden(site, "/v1/vnis/other", "/v1/vnis/there");
}

static void share__is_made_and_removed_by_whom_it_is_up_to(void **state)
{
    struct site *site = *state;
    struct site_options options = as_manager_of(me, me);
    char named[64], body[64];
    make_shares(site);
    site_restart(site, &options); /* no role lets a resource manager make one */
    assert_forbidden(site, "PUT", "/v1/vnis/new", "{}");
    assert_forbidden(site, "PUT", "/v1/vnis/mine", "{}");
    assert_forbidden(site, "DELETE", "/v1/vnis/listed", NULL);
    assert_int_equal(site_call(site, "DELETE", "/v1/vnis/mine", NULL, NULL), 200);
    options = as_manager_of(OTHER_UID, OTHER_UID);
    snprintf(named, sizeof named, "shared_users = %s", me);
    options.vni = named;
    site_restart(site, &options);
    assert_int_equal(site_call(site, "PUT", "/v1/vnis/new", "{}", NULL), 201);
    snprintf(body, sizeof body, "{\"uid\":%u}", my_uid);
    assert_int_equal(site_call(site, "PUT", "/v1/vnis/new", body, NULL), 200);
    assert_forbidden(site, "PUT", "/v1/vnis/newer", "{\"uid\":77}");
    site_refused(site, "PUT", "/v1/vnis/listed", "{}", 409, "conflict", "name");
    assert_forbidden(site, "DELETE", "/v1/vnis/any", NULL);
    assert_hidden(site, "/v1/vnis/other", "/v1/vnis/there");
    site_refused(site, "DELETE", "/v1/vnis/other", NULL, 404, "not-found", NULL);
    assert_forbidden(site, "GET", "/v1/events", NULL);
    assert_int_equal(site_call(site, "DELETE", "/v1/vnis/new", NULL, NULL), 200);
}

/* Two of elcap, of its making and its removal; those of others not at all. */
static void share__events_are_for_whom_it_concerns(void **state)
{
    struct site *site = *state;
    struct site_options options = as_manager_of(me, OTHER_UID);
    make_shares(site);
    assert_int_equal(site_call(site, "DELETE", "/v1/vnis/any", NULL, NULL), 200);
    assert_int_equal(site_call(site, "DELETE", "/v1/vnis/other", NULL, NULL), 200);
    assert_int_equal(streamed(site), 4 + 4 + 2);
    site_restart(site, &options);
    assert_int_equal(streamed(site), 3 + 2 + 1); /* jobs, one of them mine; of elcap; and mine */
}

/* Of the events that are kept, how many have these words. */
static size_t with_words(struct site *site, const char *path, const char *words)
{
    struct answer answer;
    size_t count = 0;
    assert_int_equal(site_call(site, "GET", path, NULL, &answer), 200);
    for (const char *at = answer.body; (at = strstr(at, words)); at++)
        count++;
    answer_release(&answer);
    return count;
}

static bool job_was_told(void *site)
{
    return with_words(site, "/v1/events?follow=0", "event: job-fabric") == 1;
}

#define REPORT(order, link)                                                                        \
    "{\"order\":" order ",\"nics\":[{\"device\":\"cxi0\",\"address\":1,\"link\":\"" link "\"}]}"

/* P5: what a node's NICs do is told to whom /v1/nodes shows the node, and to the owner of a job
 * there as an event of his job. */
static void node__events_are_for_whom_it_concerns(void **state)
{
    static const char all[] = "/v1/events?follow=0", of_node[] = "\"node\":\"elcap7\"";
    struct site *site = *state;
    struct site_options options = as_admin();
    char body[96];
    options.nodes = "elcap[1-9]";
    site_restart(site, &options);
    for (unsigned i = 0; i < 2; i++) {
        snprintf(body, sizeof body, "{\"uid\":%u,\"nodes\":\"elcap%u\"}", my_uid + i, 7 + i);
        assert_int_equal(
            site_call(site, "PUT", i == 0 ? ELCAP "mine7" : ELCAP "other8", body, NULL), 201);
    }
    assert_int_equal(site_call(site, "PUT", "/v1/nodes/elcap7/inventory", REPORT("1", "up"), NULL),
                     200);
    assert_int_equal(
        site_call(site, "PUT", "/v1/nodes/elcap7/inventory", REPORT("2", "down"), NULL), 200);
    assert_int_equal(site_call(site, "PUT", "/v1/nodes/elcap7/fence", "{\"reason\":\"x\"}", NULL),
                     200);
    assert_true(await(job_was_told, site, 10000));
    assert_int_equal(with_words(site, all, of_node), 2);
    options = as_manager_of(me, OTHER_UID);
    options.nodes = "elcap[1-9]";
    site_restart(site, &options);
    assert_int_equal(with_words(site, all, of_node), 2);
    options.nodes = "elcap[8-9]";
    site_restart(site, &options);
    assert_int_equal(with_words(site, all, of_node), 0);
    assert_int_equal(with_words(site, all, "event: job-fabric"), 1); /* of its cluster's job */
    options = as_manager_of(OTHER_UID, me);
    options.nodes = "elcap[1-9]";
    site_restart(site, &options);
    assert_int_equal(with_words(site, all, of_node), 0);
    options = as_manager_of(OTHER_UID, OTHER_UID);
    site_restart(site, &options);
    assert_int_equal(with_words(site, "/v1/events?follow=0&job=mine7&kind=job-fabric",
                                "job mine7 of elcap, on elcap7: node elcap7: cxi0 has its link "
                                "down"),
                     1);
    assert_int_equal(with_words(site, "/v1/events?follow=0&job=other8", "event: "), 0);
    assert_int_equal(with_words(site, "/v1/events?follow=0&job=mine7", of_node), 0);
}

/* G11: a loop in a job's script does not keep the others waiting; the cluster's own may ask. */
static void topology__of_many_nodes_is_not_had_again_and_again(void **state)
{
    struct site *site = *state;
    struct site_options options = as_manager_of(OTHER_UID, OTHER_UID);
    char body[64];
    snprintf(body, sizeof body, "{\"uid\":%u,\"nodes\":\"n[1-65536]\"}", my_uid);
    assert_int_equal(site_call(site, "PUT", ELCAP "large", body, NULL), 201);
    for (int i = 0; i < 3; i++)
        assert_int_equal(site_call(site, "GET", ELCAP "large/topology", NULL, NULL), 200);
    site_restart(site, &options);
    assert_int_equal(site_call(site, "GET", ELCAP "large/topology", NULL, NULL), 200);
    site_refused(site, "GET", ELCAP "large/topology", NULL, 429, "asked-too-often", NULL);
}

static void tcp__proves_nobody(void **state)
{
    struct site *site = *state;
    static const char *const closed[] = {
        "/v1/jobs",           "/v1/status",     "/v1/events", "/v1/options?cluster=elcap",
        ELCAP "mine",         ELCAP "mine/env", "/metrics",   "/v1/vnis",
        "/v1/vnis/mine",      "/v1/fabric",     "/v1/nodes",  "/v1/nodes/n1",
        ELCAP "mine/topology"};
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
        ON_SITE(status__has_words_of_others_for_who_may_see_all_jobs),
        ON_SITE(owner__follows_own_jobs_only),
        ON_SITE(stream__of_a_role_ends_with_it),
        ON_SITE(options__are_for_every_user),
        ON_SITE(metrics__are_for_roles_and_who_is_named),
        ON_SITE(share__shows_itself_to_whom_it_concerns),
        ON_SITE(share__is_made_and_removed_by_whom_it_is_up_to),
        ON_SITE(share__events_are_for_whom_it_concerns),
        ON_SITE(node__events_are_for_whom_it_concerns),
        ON_SITE(topology__of_many_nodes_is_not_had_again_and_again),
        ON_SITE(tcp__proves_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
