/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/http/contract.h"
#include "tests/system/http/site.h"
#include "tests/unit/unit.h"

#include <unistd.h>

#include <inttypes.h>

/* F24: events are replayed by number and followed. */

#define JOB "/v1/clusters/elcap/jobs/"

SITE_FIXTURE(.keep = true)

static void reserve(struct site *site, int from, int to)
{
    struct line *line = site_line(site);
    for (int i = from; i <= to; i++) {
        char path[64];
        snprintf(path, sizeof path, JOB "f%d", i);
        assert_int_equal(
            site_ask(site, line, "PUT", path, NULL, "{\"uid\":7,\"node_count\":1}", NULL), 201);
    }
    line_close(line);
}

/* Checks every event of a replay: form, order, contract; returns how many, *last the last seq. */
static size_t check_replay(struct site *site, const char *body, uint64_t *last)
{
    size_t count = 0;
    for (const char *at = strstr(body, "id: "); at; at = strstr(at, "\n\nid: ")) {
        uint64_t id;
        char word[32], why[256];
        at += *at == '\n' ? 2 : 0;
        assert_int_equal(sscanf(at, "id: %" SCNu64 "\nevent: %31s\n", &id, word), 2);
        const char *data = strstr(at, "\ndata: ");
        assert_non_null(data);
        json_t *event = json_loadb(data + 7, strcspn(data + 7, "\n"), 0, NULL);
        assert_non_null(event);
        if (!contract_suits(site_contract(site), "Event", event, why, sizeof why))
            fail_msg("%s", why);
        assert_int_equal(json_integer_value(json_object_get(event, "seq")), id);
        assert_string_equal(json_string_value(json_object_get(event, "event")), word);
        assert_true(id > *last);
        *last = id;
        json_decref(event);
        count++;
    }
    return count;
}

static size_t replay(struct site *site, const char *query, const char *headers, uint64_t *last)
{
    char path[64];
    struct answer answer;
    struct line *line = site_line(site);
    snprintf(path, sizeof path, "/v1/events?follow=0%s", query);
    assert_int_equal(site_ask(site, line, "GET", path, headers, NULL, &answer), 200);
    size_t count = check_replay(site, answer.body, last);
    answer_release(&answer);
    line_close(line);
    return count;
}

static void replay__starts_after_the_number_given(void **state)
{
    struct site *site = *state;
    uint64_t last = 0;
    reserve(site, 1, 300);
    assert_int_equal(replay(site, "", NULL, &last), 300);
    assert_int_equal(last, 300);
    last = 290;
    assert_int_equal(replay(site, "&after=290", NULL, &last), 10);
    last = 0;
    assert_int_equal(replay(site, "&after=300", NULL, &last), 0);
    last = 0; /* what a browser sends when it connects again counts for more */
    assert_int_equal(replay(site, "&after=0", "Last-Event-ID: 299 \t\r\n", &last), 1);
    assert_int_equal(last, 300);

    site_refused(site, "GET", "/v1/events?after=x", NULL, 422, "invalid", "after");
    site_refused(site, "GET", "/v1/events?follow=2", NULL, 422, "invalid", "follow");
}

static void replay__survives_a_restart(void **state)
{
    struct site *site = *state;
    uint64_t last = 0;
    reserve(site, 1, 5);
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .keep = true});
    assert_int_equal(replay(site, "", NULL, &last), 5);
    reserve(site, 6, 6);
    assert_int_equal(replay(site, "&after=5", NULL, &last), 1);
    assert_int_equal(last, 6);
}

/* Also when the reservation is over, and after a restart. */
static void event__says_what_its_reservation_has(void **state)
{
    struct site *site = *state;
    struct answer answer;
    uint64_t last = 0;
    static const char *const bodies[] = {"{\"uid\":7,\"node_count\":3,\"vni_count\":2}",
                                         "{\"uid\":8,\"node_count\":1,\"vni_count\":0}"};
    static const char *const told[] = {
        "\"uid\":7,\"state\":\"active\",\"node_count\":3,\"vnis\":[1024,1025],\"addresses\":0",
        "\"uid\":8,\"state\":\"active\",\"node_count\":1,\"vnis\":[],\"addresses\":0",
        "\"uid\":7,\"state\":\"releasing\",\"node_count\":3,\"vnis\":[1024,1025],\"addresses\":0"};
    assert_int_equal(site_call(site, "PUT", JOB "f1", bodies[0], NULL), 201);
    assert_int_equal(site_call(site, "PUT", JOB "f2", bodies[1], NULL), 201);
    assert_int_equal(site_call(site, "DELETE", JOB "f1", NULL, NULL), 202);
    for (int life = 0; life < 2; life++) {
        assert_int_equal(site_call(site, "GET", "/v1/events?follow=0", NULL, &answer), 200);
        assert_int_equal(check_replay(site, answer.body, &last), 3);
        for (int i = 0; i < 3; i++)
            assert_non_null(strstr(answer.body, told[i]));
        answer_release(&answer);
        last = 0;
        site_restart(site, &(struct site_options){.mcastd = MCASTD, .keep = true});
    }
}

static void gap__is_told_first(void **state)
{
    enum { EVENTS = 1000 };
    struct site *site = *state;
    struct answer answer;
    uint64_t last = 0;
    char why[256];
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .state = "events_keep = 20"});
    reserve(site, 1, EVENTS);
    const json_int_t first = site_number(site, "/v1/status", "events.first");
    assert_true(first > 10 && first <= EVENTS - 20 + 1);
    assert_int_equal(site_call(site, "GET", "/v1/events?follow=0&after=5", NULL, &answer), 200);
    assert_memory_equal(answer.body, "event: gap\ndata: ", 17);
    json_t *gap = json_loadb(answer.body + 17, strcspn(answer.body + 17, "\n"), 0, NULL);
    assert_true(contract_suits(site_contract(site), "Gap", gap, why, sizeof why));
    assert_int_equal(json_integer_value(json_object_get(gap, "from")), 6);
    assert_int_equal(json_integer_value(json_object_get(gap, "to")), first - 1);
    json_decref(gap);
    last = (uint64_t)first - 1;
    assert_int_equal(check_replay(site, answer.body, &last), EVENTS - first + 1);
    answer_release(&answer);
    last = 0; /* nothing was asked for, so nothing is missed */
    assert_int_equal(replay(site, "", NULL, &last), EVENTS - first + 1);
}

/* P5: of the same events, with the same numbers. */
static void filter__leaves_the_others_out(void **state)
{
    struct site *site = *state;
    uint64_t last = 0;
    reserve(site, 1, 12);
    assert_int_equal(site_call(site, "DELETE", JOB "f3", NULL, NULL), 202);
    assert_int_equal(replay(site, "&job=f3", NULL, &last), 2);
    last = 0;
    assert_int_equal(replay(site, "&job=f3&kind=released", NULL, &last), 1);
    assert_int_equal(last, 13);
    last = 0;
    assert_int_equal(replay(site, "&kind=lost,released", NULL, &last), 1);
    last = 0;
    assert_int_equal(replay(site, "&cluster=elcap&after=11", NULL, &last), 2);
    last = 0;
    assert_int_equal(replay(site, "&cluster=tuo", NULL, &last), 0);
    site_refused(site, "GET", "/v1/events?kind=lost,losst", NULL, 422, "invalid", "kind");
    site_refused(site, "GET", "/v1/events?kind=", NULL, 422, "invalid", "kind");
    site_refused(site, "GET", "/v1/events?kind=lost,", NULL, 422, "invalid", "kind");
    site_refused(site, "GET", "/v1/events?cluster=El-Cap", NULL, 422, "invalid", "cluster");
    site_refused(site, "GET", "/v1/events?job=..", NULL, 422, "invalid", "job");
}

/* What it waits for comes, however many others come before: also more than are looked at in one go.
 */
static void filter__follows_one_among_many(void **state)
{
    struct site *site = *state;
    struct line *line = site_line(site);
    assert_int_equal(line_request(line, "GET", "/v1/events?job=f500&kind=released", NULL, NULL), 0);
    assert_true(line_await(line, "\r\n\r\n"));
    reserve(site, 1, 500);
    assert_int_equal(site_call(site, "DELETE", JOB "f499", NULL, NULL), 202);
    assert_int_equal(site_call(site, "DELETE", JOB "f500", NULL, NULL), 202);
    assert_true(line_await(line, "event: released\n"));
    assert_null(strstr(line_seen(line), "f499"));
    line_close(line);
}

static void assert_never_was(struct answer *answer, const char *field)
{
    assert_non_null(strstr(answer->body,
                           "there is no event 5000, the last one is 3; the ledger may "
                           "have been restored from an older copy; start from 3"));
    site_expect_problem(answer, 422, "no-such-event", field);
}

/* Numbers of a future that this ledger does not know: whoever waited for them would miss all that
 * comes before (F24). */
static void number__that_never_was_is_refused(void **state)
{
    struct site *site = *state;
    struct answer answer;
    uint64_t last = 3;
    reserve(site, 1, 3);
    site_call(site, "GET", "/v1/events?follow=0&after=5000", NULL, &answer);
    assert_never_was(&answer, "after");
    struct line *line = site_line(site);
    site_ask(site, line, "GET", "/v1/events?after=0", "Last-Event-ID: 5000\r\n", NULL, &answer);
    assert_never_was(&answer, "Last-Event-ID");
    line_close(line);
    assert_int_equal(replay(site, "&after=3", NULL, &last), 0);
    site_refused(site, "GET", "/v1/events?after=4", NULL, 422, "no-such-event", "after");
}

static void followers__get_what_comes(void **state)
{
    enum { FOLLOWERS = 50 };
    struct site *site = *state;
    struct line *lines[FOLLOWERS];
    reserve(site, 1, 3);
    for (int i = 0; i < FOLLOWERS; i++) {
        lines[i] = site_line(site);
        assert_int_equal(line_request(lines[i], "GET", "/v1/events?after=2", NULL, NULL), 0);
        assert_true(line_await(lines[i], "\r\n\r\n"));
        assert_true(line_await(lines[i], "id: 3\nevent: reserved\n"));
    }
    reserve(site, 4, 4);
    for (int i = 0; i < FOLLOWERS; i++) {
        assert_true(line_await(lines[i], "id: 4\nevent: reserved\n"));
        assert_null(strstr(line_seen(lines[i]), "id: 2\n"));
    }
    site_call(site, "DELETE", JOB "f4", NULL, NULL);
    for (int i = 0; i < FOLLOWERS; i += 2) /* gone without a word, some of them */
        line_close(lines[i]);
    reserve(site, 5, 5);
    for (int i = 1; i < FOLLOWERS; i += 2)
        assert_true(line_await(lines[i], "event: released\n") &&
                    line_await(lines[i], "\"job\":\"f5\""));
    /* SIGTERM ends the streams properly, with the last chunk, and the broker with 0. */
    site_stop(site);
    for (int i = 1; i < FOLLOWERS; i += 2) {
        assert_true(line_await(lines[i], "\r\n0\r\n\r\n"));
        line_close(lines[i]);
    }
}

/* A subscriber that does not read holds nothing up, and is told what it missed. */
static void slow_reader__gets_a_gap(void **state)
{
    struct site *site = *state;
    struct line *slow = site_line(site);
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .state = "events_keep = 50"});
    line_close(slow);
    slow = site_line(site);
    assert_int_equal(line_request(slow, "GET", "/v1/events?after=0", NULL, NULL), 0);
    reserve(site, 1, 1500); /* far more than the socket takes */
    assert_true(line_await(slow, "id: 1500\n"));
    assert_non_null(strstr(line_seen(slow), "event: gap\n"));
    line_close(slow);
}

/* It has two seconds to take what is on its way; then the broker leaves, with 0. */
static void stalled_reader__does_not_keep_the_broker(void **state)
{
    struct site *site = *state;
    site_restart(site, &(struct site_options){.mcastd = MCASTD, .state = "events_keep = 10000"});
    struct line *stalled = site_line(site);
    assert_int_equal(line_request(stalled, "GET", "/v1/events?after=0", NULL, NULL), 0);
    reserve(site, 1, 1500); /* far more than the socket takes */
    site_stop(site);
    line_close(stalled);
}

UNIT_MAIN(ON_SITE(replay__starts_after_the_number_given), ON_SITE(replay__survives_a_restart),
          ON_SITE(event__says_what_its_reservation_has), ON_SITE(gap__is_told_first),
          ON_SITE(filter__leaves_the_others_out), ON_SITE(filter__follows_one_among_many),
          ON_SITE(number__that_never_was_is_refused), ON_SITE(followers__get_what_comes),
          ON_SITE(slow_reader__gets_a_gap), ON_SITE(stalled_reader__does_not_keep_the_broker))
