/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/tlssite.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

/* F3: nodes say what became of a job's services, and its VNIs are quarantined until all are clean.
 */

#define JOB "/v1/clusters/elcap/jobs/"
#define TWO_NODES "{\"uid\":7,\"nodes\":\"elcap[7-8]\",\"vni_count\":1}"

SITE_FIXTURE(.keep = true)

static json_int_t number_of(struct site *site, const char *job)
{
    char path[96];
    snprintf(path, sizeof path, JOB "%s", job);
    return site_number(site, path, "number");
}

/* Reserves for elcap[7-8]; returns the reservation's number. */
static json_int_t reserve(struct site *site, const char *job)
{
    char path[96];
    snprintf(path, sizeof path, JOB "%s", job);
    assert_int_equal(site_call(site, "PUT", path, TWO_NODES, NULL), 201);
    return number_of(site, job);
}

static const char *body_of(const char *state, json_int_t number)
{
    static char body[160];
    snprintf(
        body, sizeof body, "{\"state\":\"%s\",\"number\":%lld%s}", state, (long long)number,
        strcmp(state, "destroyed") == 0
            ? ""
            : ",\"services\":[{\"device\":\"cxi0\",\"id\":12},{\"device\":\"cxi1\",\"id\":7}]");
    return body;
}

static int report(struct site *site, const char *where, const char *state, json_int_t number,
                  struct answer *answer)
{
    char path[160];
    snprintf(path, sizeof path, JOB "%s", where);
    return site_call(site, "PUT", path, body_of(state, number), answer);
}

static json_int_t vnis(struct site *site, const char *which)
{
    char member[32];
    snprintf(member, sizeof member, "vnis.%s", which);
    return site_number(site, "/v1/status", member);
}

static json_int_t lingering(struct site *site)
{
    return site_number(site, "/v1/status", "nodes.lingering");
}

static void refused_report(struct site *site, const char *where, const char *state,
                           json_int_t number, int status, const char *code, const char *field)
{
    char path[160];
    snprintf(path, sizeof path, JOB "%s", where);
    site_refused(site, "PUT", path, body_of(state, number), status, code, field);
}

/* How many events of this kind there are, and the detail of the last into detail. */
static size_t events(struct site *site, const char *kind, char *detail, size_t size)
{
    struct answer answer;
    char line[64];
    size_t count = 0;
    snprintf(line, sizeof line, "\nevent: %s\ndata: ", kind);
    assert_int_equal(site_call(site, "GET", "/v1/events?follow=0", NULL, &answer), 200);
    for (const char *at = answer.body; (at = strstr(at, line)); count++) {
        at += strlen(line);
        json_t *event = json_loadb(at, strcspn(at, "\n"), 0, NULL);
        const char *text = json_string_value(json_object_get(event, "detail"));
        snprintf(detail, size, "%s", text ? text : "");
        json_decref(event);
    }
    answer_release(&answer);
    return count;
}

static void report__is_answered_with_what_it_said(void **state)
{
    struct site *site = *state;
    struct answer answer, again;
    json_int_t number = reserve(site, "f1");
    assert_int_equal(report(site, "f1/nodes/elcap7", "created", number, &answer), 200);
    assert_string_equal(answer_text(&answer, "cluster"), "elcap");
    assert_string_equal(answer_text(&answer, "job"), "f1");
    assert_string_equal(answer_text(&answer, "node"), "elcap7");
    assert_string_equal(answer_text(&answer, "state"), "created");
    assert_string_equal(answer_text(&answer, "reservation"), "active");
    assert_int_equal(answer_number(&answer, "number"), number);
    assert_int_equal(report(site, "f1/nodes/elcap7", "created", number, &again), 200);
    assert_true(json_equal(answer.json, again.json));
    answer_release(&answer);
    answer_release(&again);
}

/* Of a job that is released. */
static json_t *waiting_of(struct site *site, const char *path)
{
    struct answer answer;
    assert_int_equal(site_call(site, "GET", path, NULL, &answer), 200);
    assert_null(json_object_get(answer.json, "held_until")); /* hold = reports: no time ends it */
    json_t *waiting = json_incref(json_object_get(answer.json, "waiting_for"));
    answer_release(&answer);
    return waiting;
}

/* The document of job f1, which the caller has released; it must wait for `count` nodes. */
static json_t *waiting_for(struct site *site, json_int_t count)
{
    json_t *waiting = waiting_of(site, JOB "f1");
    assert_int_equal(json_integer_value(json_object_get(waiting, "count")), count);
    return waiting;
}

/* Jobs and lists show what waits for whom, as long as it does. */
static void waiting__is_shown(void **state)
{
    struct site *site = *state;
    struct answer answer;
    json_int_t number = reserve(site, "f1");
    report(site, "f1/nodes/elcap7", "created", number, NULL);
    assert_int_equal(site_call(site, "GET", JOB "f1", NULL, &answer), 200);
    assert_null(json_object_get(answer.json, "waiting_for"));
    answer_release(&answer);
    assert_int_equal(site_call(site, "DELETE", JOB "f1", NULL, NULL), 202);
    json_t *waiting = waiting_for(site, 2);
    assert_int_equal(json_integer_value(json_object_get(waiting, "unheard")), 1);
    json_t *nodes = json_object_get(waiting, "nodes");
    assert_int_equal(json_array_size(nodes), 1);
    assert_string_equal(json_string_value(json_array_get(nodes, 0)), "elcap7");
    json_t *said = json_array_get(json_object_get(waiting, "reports"), 0);
    assert_string_equal(json_string_value(json_object_get(said, "node")), "elcap7");
    assert_string_equal(json_string_value(json_object_get(said, "state")), "created");
    assert_string_equal(json_string_value(json_object_get(waiting, "silent")), "elcap8");
    assert_int_equal(site_call(site, "GET", "/v1/jobs?state=releasing", NULL, &answer), 200);
    json_t *job = json_array_get(json_object_get(answer.json, "jobs"), 0);
    assert_true(json_equal(json_object_get(job, "waiting_for"), waiting));
    answer_release(&answer);
    json_decref(waiting);
    report(site, "f1/nodes/elcap8", "destroyed", number, NULL);
    waiting = waiting_for(site, 1);
    assert_int_equal(json_integer_value(json_object_get(waiting, "unheard")), 0);
    json_decref(waiting);
}

/* A list reads only so many names of node lists: whoever asks for more asks for the job alone. */
static void waiting__names_the_silent_within_bounds(void **state)
{
    struct site *site = *state;
    static const char body[] = "{\"uid\":5,\"nodes\":\"elcap[1-40000]\",\"hwcoll\":\"off\"}";
    struct answer answer;
    for (int i = 1; i <= 2; i++) {
        char path[64];
        snprintf(path, sizeof path, JOB "f%d", i);
        assert_int_equal(site_call(site, "PUT", path, body, NULL), 201);
        assert_int_equal(site_call(site, "DELETE", path, NULL, NULL), 202);
    }
    assert_int_equal(site_call(site, "GET", "/v1/jobs?state=releasing", NULL, &answer), 200);
    for (size_t i = 0; i < 2; i++) {
        json_t *job = json_array_get(json_object_get(answer.json, "jobs"), i);
        json_t *waiting = json_object_get(job, "waiting_for");
        const char *silent = json_string_value(json_object_get(waiting, "silent"));
        assert_int_equal(json_integer_value(json_object_get(waiting, "unheard")), 40000);
        if (i == 0)
            assert_string_equal(silent, "elcap[1-40000]");
        else
            assert_null(silent);
    }
    answer_release(&answer);
    assert_int_equal(site_call(site, "GET", JOB "f2", NULL, &answer), 200);
    json_t *waiting = json_object_get(answer.json, "waiting_for");
    assert_string_equal(json_string_value(json_object_get(waiting, "silent")), "elcap[1-40000]");
    answer_release(&answer);
}

static void vni__is_free_when_the_last_node_is_clean(void **state)
{
    struct site *site = *state;
    struct answer answer;
    json_int_t number = reserve(site, "f1");
    report(site, "f1/nodes/elcap7", "created", number, NULL);
    report(site, "f1/nodes/elcap8", "created", number, NULL);
    assert_int_equal(site_call(site, "DELETE", JOB "f1", NULL, NULL), 202);
    assert_int_equal(vnis(site, "held"), 1);
    assert_int_equal(report(site, "f1/nodes/elcap8", "destroyed", number, &answer), 200);
    assert_string_equal(answer_text(&answer, "reservation"), "releasing");
    answer_release(&answer);
    assert_int_equal(vnis(site, "held"), 1);
    assert_int_equal(report(site, "f1/nodes/elcap7", "destroyed", number, &answer), 200);
    assert_string_equal(answer_text(&answer, "state"), "destroyed");
    answer_release(&answer);
    assert_int_equal(vnis(site, "held"), 0); /* at once: not when the time is over */
    assert_int_equal(vnis(site, "free"), vnis(site, "pool"));
    /* Nothing is waited for any more. */
    refused_report(site, "f1/nodes/elcap7", "destroyed", number, 404, "not-found", NULL);
}

/* F9: the resource manager is told to drain the node. */
static void lingering__is_an_event_and_holds_back(void **state)
{
    struct site *site = *state;
    char detail[256] = "";
    json_int_t number = reserve(site, "f1");
    site_call(site, "DELETE", JOB "f1", NULL, NULL);
    report(site, "f1/nodes/elcap8", "destroyed", number, NULL);
    assert_int_equal(report(site, "f1/nodes/elcap7", "lingering", number, NULL), 200);
    assert_int_equal(report(site, "f1/nodes/elcap7", "lingering", number, NULL), 200);
    assert_int_equal(events(site, "lingering", detail, sizeof detail), 1);
    assert_non_null(strstr(detail, "elcap7"));
    assert_non_null(strstr(detail, "cxi0:12,cxi1:7"));
    assert_int_equal(vnis(site, "held"), 1);
    assert_int_equal(lingering(site), 1);
    assert_int_equal(report(site, "f1/nodes/elcap7", "destroyed", number, NULL), 200);
    assert_int_equal(vnis(site, "held"), 0);
    assert_int_equal(lingering(site), 0);
}

static bool nothing_is_held(void *site)
{
    return vnis(site, "held") == 0;
}

/* F3: VNIs that are given back although a node has said nothing are counted: here a duration was
 * chosen, and it is over soon. */
static void hold__that_ends_unconfirmed_is_counted(void **state)
{
    struct site *site = *state;
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .keep = true, .vni = "hold = 1s"});
    json_int_t number = reserve(site, "f1");
    report(site, "f1/nodes/elcap7", "destroyed", number, NULL);
    assert_int_equal(vnis(site, "unconfirmed"), 0);
    site_call(site, "DELETE", JOB "f1", NULL, NULL);
    assert_true(await(nothing_is_held, site, AWAIT_DEADLINE_MS));
    assert_int_equal(vnis(site, "unconfirmed"), 1);
}

/* S1: what nodes have said, and who has not, is known after a restart. */
static void waiting__goes_on_after_a_restart(void **state)
{
    struct site *site = *state;
    json_int_t number = reserve(site, "f1");
    report(site, "f1/nodes/elcap7", "created", number, NULL);
    report(site, "f1/nodes/elcap8", "destroyed", number, NULL);
    site_call(site, "DELETE", JOB "f1", NULL, NULL);
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .keep = true});
    assert_int_equal(vnis(site, "held"), 1);
    assert_int_equal(number_of(site, "f1"), number);
    assert_int_equal(report(site, "f1/nodes/elcap7", "destroyed", number, NULL), 200);
    assert_int_equal(vnis(site, "held"), 0);
}

static void report__that_cannot_be_is_refused(void **state)
{
    struct site *site = *state;
    struct answer answer;
    json_int_t number = reserve(site, "f1");
    report(site, "f1/nodes/elcap9", "created", number, &answer);
    assert_non_null(strstr(answer_text(&answer, "detail"), "elcap9"));
    site_expect_problem(&answer, 422, "invalid", "node");
    refused_report(site, "f1/nodes/elcap%2C", "created", number, 422, "invalid", "node");
    refused_report(site, "f1/nodes/", "created", number, 404, "no-such-path", NULL);
    refused_report(site, "f1/nodes/elcap7", "created", number + 1, 404, "not-found",
                   NULL); /* another life */
    refused_report(site, "f2/nodes/elcap7", "created", number, 404, "not-found", NULL);
    refused_report(site, "f1/nodes/elcap7", "fenced", number, 422, "invalid", "state");
    site_refused(site, "PUT", JOB "f1/nodes/elcap7", "{\"state\":\"created\"}", 422,
                 "missing-field", "number");
    site_refused(site, "PUT", JOB "f1/nodes/elcap7", "{", 400, "bad-json", NULL);
}

/* Services were made after the job was over: as long as its VNIs are its own they are waited for
 * like others; then they must go at once (I1). */
static void created__too_late_is_told_to_destroy(void **state)
{
    struct site *site = *state;
    struct answer answer;
    json_int_t number = reserve(site, "f1");
    site_call(site, "DELETE", JOB "f1", NULL, NULL);
    assert_int_equal(report(site, "f1/nodes/elcap8", "destroyed", number, NULL), 200);
    assert_int_equal(report(site, "f1/nodes/elcap7", "created", number, &answer), 200);
    assert_string_equal(answer_text(&answer, "reservation"), "releasing");
    answer_release(&answer);
    assert_int_equal(vnis(site, "held"), 1);
    assert_int_equal(report(site, "f1/nodes/elcap7", "destroyed", number, NULL), 200);
    assert_int_equal(vnis(site, "held"), 0);
    report(site, "f1/nodes/elcap7", "created", number, &answer);
    assert_string_equal(answer_text(&answer, "detail"),
                        "job f1 of elcap has no reservation 1, or not any more: services that are "
                        "left of that one are in use by no job, destroy them");
    site_expect_problem(&answer, 404, "not-found", NULL);
}

static const char *sum_of(const char *nodes, const char *state, json_int_t number)
{
    static char body[160];
    snprintf(body, sizeof body, "{\"nodes\":\"%s\",\"state\":\"%s\",\"number\":%lld}", nodes, state,
             (long long)number);
    return body;
}

/* F3: one report for all, by who acts for the cluster, before the release as after it. */
static void sum__is_the_word_of_all_its_nodes(void **state)
{
    struct site *site = *state;
    struct answer answer, again;
    json_int_t number = reserve(site, "f1");
    report(site, "f1/nodes/elcap7", "created", number, NULL);
    const char *body = sum_of("elcap[7-8]", "destroyed", number);
    assert_int_equal(site_call(site, "PUT", JOB "f1/nodes", body, &answer), 200);
    assert_string_equal(answer_text(&answer, "cluster"), "elcap");
    assert_string_equal(answer_text(&answer, "job"), "f1");
    assert_string_equal(answer_text(&answer, "state"), "active");
    assert_string_equal(answer_text(&answer, "lingering"), "");
    assert_int_equal(answer_number(&answer, "number"), number);
    assert_int_equal(answer_number(&answer, "node_count"), 2);
    assert_int_equal(answer_number(&answer, "clean"), 2);
    assert_int_equal(site_call(site, "PUT", JOB "f1/nodes", body, &again), 200);
    assert_true(json_equal(answer.json, again.json));
    answer_release(&answer);
    answer_release(&again);
    assert_int_equal(site_call(site, "DELETE", JOB "f1", NULL, NULL), 202);
    assert_int_equal(vnis(site, "free"), vnis(site, "pool"));
    site_refused(site, "PUT", JOB "f1/nodes", body, 404, "not-found", NULL);
}

/* F9, I1: services that a node said linger are not ended by a sum; one says so of many. */
static void sum__leaves_lingering_as_it_is(void **state)
{
    struct site *site = *state;
    struct answer answer;
    char detail[256] = "";
    json_int_t number = reserve(site, "f1");
    site_call(site, "DELETE", JOB "f1", NULL, NULL);
    assert_int_equal(
        site_call(site, "PUT", JOB "f1/nodes", sum_of("elcap[7-8]", "lingering", number), NULL),
        200);
    assert_int_equal(events(site, "lingering", detail, sizeof detail), 1);
    assert_non_null(strstr(detail, "elcap[7-8]"));
    assert_int_equal(lingering(site), 2);
    report(site, "f1/nodes/elcap8", "destroyed", number, NULL);
    assert_int_equal(
        site_call(site, "PUT", JOB "f1/nodes", sum_of("elcap[7-8]", "destroyed", number), &answer),
        200);
    assert_int_equal(answer_number(&answer, "clean"), 1);
    assert_string_equal(answer_text(&answer, "lingering"), "elcap7");
    assert_string_equal(answer_text(&answer, "state"), "releasing");
    answer_release(&answer);
    assert_int_equal(vnis(site, "held"), 1);
    report(site, "f1/nodes/elcap7", "destroyed", number, NULL);
    assert_int_equal(vnis(site, "held"), 0);
}

/* S1: also when the broker was restarted between what was said; what a node said after the sum is
 * still the later word. */
static void sum__outlives_a_restart(void **state)
{
    struct site *site = *state;
    const struct site_options options = {.mcastd = MCASTD, .keep = true};
    json_int_t number = reserve(site, "f1"), other = reserve(site, "f2");
    report(site, "f1/nodes/elcap7", "created", number, NULL);
    for (int i = 1; i <= 2; i++)
        assert_int_equal(site_call(site, "PUT", i == 1 ? JOB "f1/nodes" : JOB "f2/nodes",
                                   sum_of("elcap[7-8]", "destroyed", i == 1 ? number : other),
                                   NULL),
                         200);
    report(site, "f2/nodes/elcap8", "created", other, NULL);
    site_restart(site, &options);
    site_call(site, "DELETE", JOB "f1", NULL, NULL);
    site_call(site, "DELETE", JOB "f2", NULL, NULL);
    assert_int_equal(vnis(site, "held"), 1);
    site_refused(site, "GET", JOB "f1", NULL, 404, "not-found", NULL);
    site_restart(site, &options);
    json_t *waiting = waiting_of(site, JOB "f2");
    assert_string_equal(json_string_value(json_array_get(json_object_get(waiting, "nodes"), 0)),
                        "elcap8");
    assert_int_equal(json_integer_value(json_object_get(waiting, "count")), 1);
    json_decref(waiting);
    assert_int_equal(
        site_call(site, "PUT", JOB "f2/nodes", sum_of("elcap8", "destroyed", other), NULL), 200);
    assert_int_equal(vnis(site, "held"), 0);
}

/* As a whole, and nothing of it counts (I1); nor does it quarantine anything (B11). */
static void sum__that_cannot_be_is_refused(void **state)
{
    struct site *site = *state;
    struct answer answer;
    json_int_t number = reserve(site, "f1");
    site_call(site, "PUT", JOB "f1/nodes", sum_of("elcap[7-9]", "destroyed", number), &answer);
    assert_non_null(strstr(answer_text(&answer, "detail"), "elcap9"));
    site_expect_problem(&answer, 422, "invalid", "nodes");
    site_refused(site, "PUT", JOB "f1/nodes", sum_of("elcap[7-", "destroyed", number), 422,
                 "invalid", "nodes");
    site_refused(site, "PUT", JOB "f1/nodes", sum_of("elcap7", "created", number), 422, "invalid",
                 "state");
    site_refused(site, "PUT", JOB "f1/nodes", sum_of("elcap7", "lingering", number + 1), 404,
                 "not-found", NULL);
    site_refused(site, "PUT", JOB "f2/nodes", sum_of("elcap7", "lingering", number), 404,
                 "not-found", NULL);
    site_call(site, "DELETE", JOB "f1", NULL, NULL);
    json_decref(waiting_for(site, 2));
    assert_int_equal(vnis(site, "held"), 1);
    assert_int_equal(site_call(site, "PUT", JOB "f3", "{\"uid\":7,\"node_count\":2}", NULL), 201);
    site_refused(site, "PUT", JOB "f3/nodes",
                 sum_of("elcap[7-8]", "destroyed", number_of(site, "f3")), 422, "invalid", "nodes");
}

static void fenced__is_no_longer_waited_for(void **state)
{
    struct site *site = *state;
    struct answer answer;
    char detail[256] = "";
    json_int_t number = reserve(site, "f1");
    report(site, "f1/nodes/elcap7", "lingering", number, NULL);
    report(site, "f1/nodes/elcap8", "destroyed", number, NULL);
    site_call(site, "DELETE", JOB "f1", NULL, NULL);
    assert_int_equal(vnis(site, "held"), 1);
    assert_int_equal(
        site_call(site, "PUT", "/v1/nodes/elcap7/fence", "{\"reason\":\"powered off\"}", &answer),
        200);
    assert_string_equal(answer_text(&answer, "node"), "elcap7");
    assert_int_equal(answer_number(&answer, "reservations"), 1);
    assert_int_equal(answer_number(&answer, "active"), 0);
    assert_true(json_is_true(json_object_get(answer.json, "known")));
    answer_release(&answer);
    assert_int_equal(vnis(site, "held"), 0);
    assert_int_equal(events(site, "fenced", detail, sizeof detail), 1);
    assert_non_null(strstr(detail, "elcap7"));
    assert_non_null(strstr(detail, "uid ")); /* who declared it clean */
    assert_non_null(strstr(detail, "says: powered off"));
    /* Nobody waits for it any more: no error. */
    site_call(site, "PUT", "/v1/nodes/elcap7/fence", "{\"reason\":\"x\"}", &answer);
    assert_int_equal(answer_number(&answer, "reservations"), 0);
    answer_release(&answer);
}

/* Whoever misspells a name is told, and so is who takes active jobs for ended. */
static void fence__tells_what_else_is_there(void **state)
{
    struct site *site = *state;
    static const struct {
        const char *node;
        json_int_t active;
        bool known;
    } cases[] = {{"elcap7", 2, true}, {"elcap8", 2, true}, {"elcpa7", 0, false}};
    struct answer answer;
    reserve(site, "f1");
    reserve(site, "f2");
    site_call(site, "PUT", JOB "f3", "{\"uid\":5,\"node_count\":3}", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, "/v1/nodes/%s/fence", cases[i].node);
        assert_int_equal(site_call(site, "PUT", path, "{\"reason\":\"off\"}", &answer), 200);
        assert_int_equal(answer_number(&answer, "active"), cases[i].active);
        assert_int_equal(json_is_true(json_object_get(answer.json, "known")), cases[i].known);
        answer_release(&answer);
    }
}

static void fence__needs_a_reason(void **state)
{
    static const struct {
        const char *node, *body;
        int status;
        const char *code, *field;
    } cases[] = {
        {"elcap7", "{}", 422, "missing-field", "reason"},
        {"elcap7", "{\"reason\":\"\"}", 422, "invalid", "reason"},
        {"elcap7", "{\"reason\":\"two\\nlines\"}", 422, "invalid", "reason"},
        {"elcap7", "{\"reason\":1}", 422, "invalid", "reason"},
        {"elcap7", "{\"reason\":\"x\",\"until\":1}", 422, "unknown-field", "until"},
        {"elcap7", "[]", 400, "bad-json", NULL},
        {"a,b", "{\"reason\":\"x\"}", 422, "invalid", "node"},
    };
    struct site *site = *state;
    char path[64], detail[16], body[300];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(path, sizeof path, "/v1/nodes/%s/fence", cases[i].node);
        site_refused(site, "PUT", path, cases[i].body, cases[i].status, cases[i].code,
                     cases[i].field);
    }
    for (int length = 200; length <= 201; length++) {
        snprintf(body, sizeof body, "{\"reason\":\"%0*d\"}", length, 0);
        assert_int_equal(site_call(site, "PUT", "/v1/nodes/elcap7/fence", body, NULL),
                         length == 200 ? 200 : 422);
    }
    assert_int_equal(events(site, "fenced", detail, sizeof detail), 1);
}

static int report_in_order(struct site *site, const char *state, json_int_t number, int order)
{
    char body[128];
    snprintf(body, sizeof body, "{\"state\":\"%s\",\"number\":%lld,\"order\":%d,\"vnis\":[1024]}",
             state, (long long)number, order);
    return site_call(site, "PUT", JOB "f1/nodes/elcap7", body, NULL);
}

/* F3: what a node said before it booted is over, and nothing of it is waited for. */
static void boot__ends_what_the_node_said_before(void **state)
{
    struct site *site = *state;
    struct answer answer;
    json_int_t number = reserve(site, "f1");
    assert_int_equal(report_in_order(site, "created", number, 10), 200);
    assert_int_equal(report(site, "f1/nodes/elcap8", "destroyed", number, NULL), 200);
    assert_int_equal(site_call(site, "DELETE", JOB "f1", NULL, NULL), 202);
    /* It booted before it said so. */
    assert_int_equal(site_call(site, "PUT", "/v1/nodes/elcap7/boot", "{\"order\":10}", &answer),
                     200);
    assert_int_equal(answer_number(&answer, "reservations"), 0);
    answer_release(&answer);
    assert_int_equal(vnis(site, "held"), 1);
    assert_int_equal(site_call(site, "PUT", "/v1/nodes/elcap7/boot",
                               "{\"order\":11,\"uptime\":1,\"booted\":4294967295}", &answer),
                     200);
    assert_string_equal(answer_text(&answer, "node"), "elcap7");
    assert_int_equal(answer_number(&answer, "reservations"), 1);
    answer_release(&answer);
    assert_int_equal(vnis(site, "held"), 0);
}

static void boot__that_cannot_be_is_refused(void **state)
{
    struct site *site = *state;
    struct answer answer;
    static const struct {
        const char *node, *body, *code, *field;
        int status;
    } cases[] = {
        {"elcap7", "{}", "missing-field", "order", 422},
        {"elcap7", "{\"order\":0}", "invalid", "order", 422},
        {"elcap7", "{\"order\":\"1\"}", "invalid", "order", 422},
        {"elcap[7]", "{\"order\":1}", "invalid", "node", 422},
        {"elcap7", "{\"order\":1,\"uptime\":0}", "invalid", "uptime", 422},
        {"elcap7", "{\"order\":1,\"uptime\":1,\"booted\":-1}", "invalid", "booted", 422},
        {"elcap7", "{\"order\":1,\"uptime\":1,\"booted\":4294967296}", "invalid", "booted", 422},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[64];
        snprintf(path, sizeof path, "/v1/nodes/%s/boot", cases[i].node);
        assert_int_equal(site_call(site, "PUT", path, cases[i].body, &answer), cases[i].status);
        site_expect_problem(&answer, cases[i].status, cases[i].code, cases[i].field);
    }
}

/* S5: a node can only speak for itself, and for its own cluster; only an admin fences. */
static void each_name__may_report_for_itself(void **state)
{
    static const struct site_options lists = {.mcastd = MCASTD,
                                              .admins = "root cert:boss",
                                              .users = "cert:elcap-rm",
                                              .users_tuo = "cert:tuo-rm",
                                              .nodes = "elcap[1-100]"};
    static const char *const names[] = {"boss", "elcap-rm", "tuo-rm", "elcap7", "visitor", NULL};
    static const struct {
        const char *path;
        int status[6]; /* as names */
    } cases[] = {
        {JOB "f1/nodes/elcap7", {200, 200, 403, 200, 403, 401}},
        {JOB "f1/nodes/elcap8", {200, 200, 403, 403, 403, 401}},
        {JOB "f1/nodes/elcap9", {422, 422, 403, 403, 403, 401}},
        {"/v1/clusters/tuo/jobs/f1/nodes/elcap7", {404, 403, 404, 403, 403, 401}},
        {JOB "f1/nodes", {200, 200, 403, 403, 403, 401}}, /* for others, too: not for a node */
        {"/v1/clusters/tuo/jobs/f1/nodes", {404, 403, 404, 403, 403, 401}},
        {"/v1/nodes/elcap7/fence", {200, 403, 403, 403, 403, 401}},
        {"/v1/nodes/elcap7/boot", {200, 403, 403, 200, 403, 401}},
        {"/v1/nodes/elcap8/boot", {200, 403, 403, 403, 403, 401}},
    };
    struct tlssite *tls = tlssite_open(&lists);
    struct answer answer;
    for (size_t i = 0; names[i]; i++)
        tlssite_issue(tls, names[i]);
    assert_int_equal(tlssite_call(tls, "boss", "PUT", JOB "f1", TWO_NODES, &answer), 201);
    json_int_t number = answer_number(&answer, "number");
    answer_release(&answer);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *body = strstr(cases[i].path, "fence")  ? "{\"reason\":\"x\"}"
                           : strstr(cases[i].path, "boot") ? "{\"order\":1}"
                           : strstr(cases[i].path, "nodes/")
                               ? body_of("created", number)
                               : sum_of("elcap[7-8]", "destroyed", number);
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
            int status = tlssite_call(tls, names[j], "PUT", cases[i].path, body, NULL);
            if (status != cases[i].status[j])
                fail_msg("%s as %s: %d", cases[i].path, names[j] ? names[j] : "nobody", status);
        }
    }
    tlssite_call(tls, "elcap7", "PUT", JOB "f1/nodes/elcap8", body_of("destroyed", number),
                 &answer);
    assert_non_null(strstr(answer.body, "certificate \\\"elcap7\\\" may not"));
    site_expect_problem(&answer, 403, "forbidden", NULL);
    tlssite_close(tls);
}

static json_int_t boots(struct tlssite *tls, const char *name)
{
    struct answer answer;
    assert_int_equal(
        tlssite_call(tls, name, "PUT", "/v1/nodes/elcap7/boot", "{\"order\":1000}", &answer), 200);
    json_int_t count = answer_number(&answer, "reservations");
    answer_release(&answer);
    return count;
}

/* F3: another cluster may call another machine by the same name: it is no node of that one. */
static void boot__ends_nothing_of_a_cluster_that_lacks_the_node(void **state)
{
    static const struct site_options lists = {.mcastd = MCASTD,
                                              .admins = "root cert:boss",
                                              .users = "cert:elcap-rm",
                                              .users_tuo = "cert:tuo-rm",
                                              .nodes = "elcap[1-100]"};
    static const char *const names[] = {"boss", "elcap-rm", "tuo-rm", "elcap7"};
    static const char *const clusters[] = {"elcap", "tuo"};
    char path[96];
    struct tlssite *tls = tlssite_open(&lists);
    struct answer answer;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        tlssite_issue(tls, names[i]);
    for (size_t i = 0; i < sizeof clusters / sizeof clusters[0]; i++) {
        const char *manager = names[1 + i];
        snprintf(path, sizeof path, "/v1/clusters/%s/jobs/f1", clusters[i]);
        assert_int_equal(tlssite_call(tls, manager, "PUT", path, TWO_NODES, &answer), 201);
        json_int_t number = answer_number(&answer, "number");
        answer_release(&answer);
        snprintf(path, sizeof path, "/v1/clusters/%s/jobs/f1/nodes/elcap7", clusters[i]);
        assert_int_equal(tlssite_call(tls, manager, "PUT", path, body_of("created", number), NULL),
                         200);
    }
    assert_int_equal(boots(tls, "elcap7"), 1);
    assert_int_equal(boots(tls, "elcap7"), 0);
    assert_int_equal(boots(tls, "boss"), 1); /* an admin speaks of all */
    tlssite_close(tls);
}

UNIT_MAIN(ON_SITE(report__is_answered_with_what_it_said), ON_SITE(waiting__is_shown),
          ON_SITE(waiting__names_the_silent_within_bounds),
          ON_SITE(vni__is_free_when_the_last_node_is_clean),
          ON_SITE(lingering__is_an_event_and_holds_back),
          ON_SITE(hold__that_ends_unconfirmed_is_counted),
          ON_SITE(waiting__goes_on_after_a_restart), ON_SITE(report__that_cannot_be_is_refused),
          ON_SITE(created__too_late_is_told_to_destroy), ON_SITE(sum__is_the_word_of_all_its_nodes),
          ON_SITE(sum__leaves_lingering_as_it_is), ON_SITE(sum__outlives_a_restart),
          ON_SITE(sum__that_cannot_be_is_refused), ON_SITE(fenced__is_no_longer_waited_for),
          ON_SITE(fence__tells_what_else_is_there), ON_SITE(fence__needs_a_reason),
          ON_SITE(boot__ends_what_the_node_said_before), ON_SITE(boot__that_cannot_be_is_refused),
          cmocka_unit_test(each_name__may_report_for_itself),
          cmocka_unit_test(boot__ends_nothing_of_a_cluster_that_lacks_the_node))
