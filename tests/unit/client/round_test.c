/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several brokers is asked, and for how long (client/transport/round.c, B7). */

#include "client/text.h"
#include "client/transport/broker.h"
#include "tests/unit/unit.h"

#include <errno.h>

enum { NOW = 1000000, LIMIT_MS = 30000 };

struct scene {
    struct broker broker;
    struct request request;
};

static void begin(struct scene *scene, const char *urls)
{
    *scene = (struct scene){.request = {.limit_ms = LIMIT_MS, .deadline_ms = NOW + LIMIT_MS}};
    scene->request.give_up_ms = INT64_MAX;
    assert_int_equal(endpoints_parse(&scene->broker.peer.endpoints, urls, NULL), 0);
}

static const char *choose(struct scene *scene, int64_t now)
{
    scene->request.give_up_ms = INT64_MAX;
    round_choose(&scene->broker, &scene->request, now);
    scene->request.connect_by_ms = now + scene->request.connect_ms;
    return endpoint_name(scene->request.endpoint);
}

/* The one that was asked cannot be reached. */
static bool absent(struct scene *scene, int64_t now)
{
    struct request *request = &scene->request;
    request->trouble = (struct trouble){.kind = TROUBLE_ABSENT, .os_error = ECONNREFUSED};
    fault_set_word(&request->error, MCAST_UNREACHABLE, "no-connection", "cannot reach it");
    return round_goes_on(&scene->broker, request, now);
}

/* It does not lead; leader: who does, or NULL. */
static bool standby(struct scene *scene, const char *leader)
{
    struct request *request = &scene->request;
    struct answer *answer = &request->answer;
    char body[256];
    snprintf(body, sizeof body, "{\"code\":\"not-leader\"%s%s%s}", leader ? ",\"leader\":\"" : "",
             leader ? leader : "", leader ? "\"" : "");
    text_clear(&answer->body);
    assert_true(text_add(&answer->body, body, strlen(body)));
    strcpy(answer->type, "application/problem+json");
    fault_set_word(&request->error, MCAST_REFUSED, "not-leader", "a standby");
    request->error.status = answer->status = 503;
    request->error.retry_after = 1;
    return round_goes_on(&scene->broker, request, NOW);
}

static void end(struct scene *scene)
{
    text_release(&scene->request.answer.body);
}

UNIT(round__one_broker_has_all_the_time)
{
    struct scene scene;
    begin(&scene, "/1");
    assert_string_equal(choose(&scene, NOW), "/1");
    assert_int_equal(scene.request.connect_ms, REQUEST_CONNECT_MS);
    assert_true(scene.request.give_up_ms == INT64_MAX);
}

/* A part of the request's time, but for what the broker itself may take. */
UNIT(round__each_of_several_has_a_part_of_it)
{
    struct scene scene;
    begin(&scene, "/1,/2");
    choose(&scene, NOW);
    assert_int_equal(scene.request.connect_ms, SHORT_CONNECT_MS);
    assert_int_equal(scene.request.give_up_ms, NOW + SHORT_ANSWER_MS);
    scene.request.call.wait_ms = 60000;
    scene.request.limit_ms = LIMIT_MS + 60000;
    choose(&scene, NOW);
    assert_int_equal(scene.request.give_up_ms, NOW + 60000 + SHORT_ANSWER_MS);
    scene.request.call.wait_ms = 0;
    scene.request.limit_ms = 200;
    choose(&scene, NOW);
    assert_int_equal(scene.request.connect_ms, 101);
    assert_int_equal(scene.request.give_up_ms, NOW + 101);
    scene.request.limit_ms = 0; /* a stream of events */
    choose(&scene, NOW);
    assert_int_equal(scene.request.give_up_ms, NOW + SHORT_ANSWER_MS);
}

/* Another request has found out meanwhile that one leads which this one has asked already. */
UNIT(round__asks_none_twice)
{
    struct scene scene;
    begin(&scene, "/1,/2,/3");
    assert_string_equal(choose(&scene, NOW), "/1");
    assert_true(standby(&scene, NULL));
    scene.broker.peer.endpoints.current = 0;
    assert_string_equal(choose(&scene, NOW), "/2");
    assert_true(standby(&scene, "/1"));
    assert_string_equal(choose(&scene, NOW), "/3");
    assert_false(standby(&scene, "/2"));
    assert_int_equal(scene.request.round.asked, 0); /* the next round is a new one */
    assert_string_equal(choose(&scene, NOW), "/3"); /* which begins with one that answers */
    end(&scene);
}

UNIT(round__follows_a_hint)
{
    struct scene scene;
    begin(&scene, "/1,/2,/3");
    scene.broker.peer.endpoints.current = 1;
    choose(&scene, NOW);
    assert_true(standby(&scene, "unix:/1"));
    assert_string_equal(scene.broker.causes[1], "not-leader");
    assert_int_equal(scene.broker.peer.endpoints.current, 0); /* so that others do, too */
    assert_string_equal(choose(&scene, NOW), "/1");
    end(&scene);
}

/* What was tried on the one is not counted on the next; a single request tries it. */
UNIT(round__begins_anew_with_each)
{
    struct scene scene;
    begin(&scene, "/1,/2");
    scene.broker.width = 8;
    choose(&scene, NOW);
    scene.request.attempts = 2;
    scene.request.fresh = true;
    assert_true(absent(&scene, NOW));
    assert_int_equal(scene.request.attempts, 0);
    assert_false(scene.request.fresh);
    assert_int_equal(scene.broker.width, 1);
}

/* One that was given up is asked again after the others, for longer; one that refused is not. */
UNIT(round__gives_the_slow_a_second_chance)
{
    struct scene scene;
    begin(&scene, "/1,/2,/3");
    choose(&scene, NOW);
    assert_true(absent(&scene, NOW + SHORT_CONNECT_MS));
    choose(&scene, NOW);
    assert_true(absent(&scene, NOW + SHORT_CONNECT_MS - 1));
    choose(&scene, NOW);
    assert_true(standby(&scene, NULL));
    assert_string_equal(choose(&scene, NOW), "/1");
    assert_int_equal(scene.request.connect_ms, LONG_CONNECT_MS);
    assert_true(scene.request.give_up_ms == INT64_MAX);
    scene.request.call.each = (call_piece_fn *)abort;
    choose(&scene, NOW);
    assert_int_equal(scene.request.give_up_ms, NOW + REQUEST_TIMEOUT_MS);
    assert_false(absent(&scene, NOW + LONG_CONNECT_MS));
    assert_string_equal(choose(&scene, NOW), "/2");
    assert_int_equal(scene.request.connect_ms, SHORT_CONNECT_MS);
    end(&scene);
}

UNIT(round__ends_with_the_time)
{
    struct scene scene;
    begin(&scene, "/1,/2");
    choose(&scene, NOW);
    assert_false(absent(&scene, NOW + LIMIT_MS));
    assert_non_null(strstr(scene.request.error.text, "(/1: Connection refused)"));
}

/* A stream that has begun goes on at the next broker, but by itself. */
UNIT(round__leaves_a_stream_alone)
{
    struct scene scene;
    begin(&scene, "/1,/2");
    choose(&scene, NOW);
    scene.request.streamed = true;
    assert_false(absent(&scene, NOW));
    assert_string_equal(scene.request.error.text, "cannot reach it");
    assert_string_equal(choose(&scene, NOW), "/2");
}

/* "Not now" as long as one of them may serve it soon, with what that one asked for. */
UNIT(round__says_what_each_did)
{
    struct scene scene;
    const struct mcast_error *error = &scene.request.error;
    begin(&scene, "/1,/2");
    choose(&scene, NOW);
    assert_true(absent(&scene, NOW));
    choose(&scene, NOW);
    assert_false(standby(&scene, "/3"));
    assert_string_equal(error->word, "not-leader");
    assert_int_equal(error->status, 503);
    assert_int_equal(error->retry_after, 1);
    assert_string_equal(error->text,
                        "none of the 2 brokers serves this now (/1: Connection refused; /2: "
                        "not-leader: the leader /3 is not listed); asking again does no harm; is "
                        "mcastd running there? (systemctl status mcastd)");
    end(&scene);
    begin(&scene, "/1,/2");
    choose(&scene, NOW);
    assert_true(absent(&scene, NOW));
    choose(&scene, NOW);
    scene.request.answer.status = 404;
    fault_set(&scene.request.error, MCAST_UNCLEAR, "is it mcastd?");
    scene.request.error.status = 404;
    assert_false(round_goes_on(&scene.broker, &scene.request, NOW));
    assert_string_equal(error->word, "no-connection");
    assert_true(mcast_later(error, NULL));
    assert_non_null(strstr(error->text, "; /2: it is not mcastd)"));
    end(&scene);
}

static bool distrusted(struct scene *scene)
{
    scene->request.trouble = (struct trouble){.kind = TROUBLE_DISTRUST, .words = "self-signed"};
    fault_set_word(&scene->request.error, MCAST_UNREACHABLE, "tls", "set cacert");
    return round_goes_on(&scene->broker, &scene->request, NOW);
}

/* Nothing will be otherwise soon: the next step is what counts. */
UNIT(round__keeps_the_next_step)
{
    struct scene scene;
    begin(&scene, "/1,/2");
    choose(&scene, NOW);
    assert_true(distrusted(&scene));
    choose(&scene, NOW);
    assert_false(distrusted(&scene));
    assert_string_equal(scene.request.error.word, "tls");
    assert_string_equal(scene.request.error.text, "set cacert; nor /1: self-signed");
    assert_false(mcast_later(&scene.request.error, NULL));
}

UNIT(round__knows_whom_to_leave)
{
    static const struct {
        struct mcast_error error;
        bool elsewhere;
    } cases[] = {
        {{.code = MCAST_UNREACHABLE, .word = "no-connection"}, true},
        {{.code = MCAST_UNREACHABLE, .word = "tls"}, true},
        {{.code = MCAST_UNREACHABLE, .word = "untrusted"}, true},
        {{.code = MCAST_UNCLEAR, .status = 502}, true},
        {{.code = MCAST_REFUSED, .status = 503, .word = "not-leader"}, true},
        {{.code = MCAST_REFUSED, .status = 503, .word = "stopping"}, true},
        {{.code = MCAST_REFUSED, .status = 503, .word = "busy"}, false},
        {{.code = MCAST_REFUSED, .status = 503, .word = "storage"}, false},
        {{.code = MCAST_REFUSED, .status = 403, .word = "not-leader"}, false},
        {{.code = MCAST_NOT_FOUND, .status = 404, .word = "not-found"}, false},
        {{.code = MCAST_USAGE}, false},
        {{.code = MCAST_NOMEM}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(round_is_elsewhere(&cases[i].error), cases[i].elsewhere);
}

/* The answer of another kind says nothing of who leads. */
UNIT(round__remembers_who_led)
{
    struct scene scene;
    begin(&scene, "/1,/2");
    scene.broker.peer.endpoints.current = 1;
    choose(&scene, NOW);
    scene.broker.peer.endpoints.current = 0;
    fault_set(&scene.request.error, MCAST_UNCLEAR, "is it mcastd?");
    round_found(&scene.broker, &scene.request);
    assert_int_equal(scene.broker.peer.endpoints.current, 0);
    scene.request.error = (struct mcast_error){0};
    round_found(&scene.broker, &scene.request);
    assert_int_equal(scene.broker.peer.endpoints.current, 1);
}

UNIT_RUN(NULL, NULL)
