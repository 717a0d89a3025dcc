/* SPDX-License-Identifier: Apache-2.0 */
/* The stream of events over connections that break (F24). */

#include "client/mcast.h"
#include "fakebroker.h"
#include "tests/unit/unit.h"

#include <pthread.h>

#define SIZE(array) (sizeof array / sizeof((array)[0]))
#define AGENT "Host: localhost\r\nUser-Agent: libmcast/" MCAST_VERSION "\r\n"
#define STREAM(path) "GET " path " HTTP/1.1\r\n" AGENT "Accept: text/event-stream\r\n"
#define EVENT(seq)                                                                                 \
    "id: " seq "\nevent: reserved\ndata: {\"seq\":" seq ",\"event\":\"reserved\"}\n\n"
/* One chunk that never ends, so that each of these streams breaks. */
#define HEAD                                                                                       \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"     \
    "FFFF\r\n"
#define SSE "text/event-stream"

struct watch {
    struct mcast *handle;
    uint64_t until; /* stops with 9 at this number */
    char log[512];
};

static int note(const struct mcast_event *event, void *data)
{
    struct watch *watch = data;
    size_t used = strlen(watch->log);
    snprintf(watch->log + used, sizeof watch->log - used, "%s%llu;", event->event,
             (unsigned long long)(event->seq > 0 ? event->seq : event->gap_to));
    return event->seq == watch->until ? 9 : 0;
}

static void end(struct mcast *handle, struct fakebroker *fake)
{
    mcast_close(handle);
    fakebroker_destroy(fake);
}

static struct mcast *open_fake(struct fakebroker *fake)
{
    struct mcast *handle = NULL;
    assert_int_equal(mcast_open(&handle, fakebroker_url(fake), NULL), 0);
    return handle;
}

static void events__replay_ends_by_itself(void **state)
{
    static const struct reply script[] = {{200, SSE, EVENT("3") ": x\n\n" EVENT("4"), THEN_KEEP},
                                          {200, SSE, "", THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct watch watch = {.log = ""};
    assert_int_equal(mcast_events(handle, 2, 0, note, &watch, NULL), 0);
    assert_string_equal(watch.log, "reserved3;reserved4;");
    fakebroker_expect(fake, 1, STREAM("/v1/events?after=2&follow=0") "\r\n");
    assert_int_equal(mcast_events(handle, 0, 0, note, &watch, NULL), 0);
    fakebroker_expect(fake, 2, STREAM("/v1/events?after=0&follow=0") "\r\n");
    end(handle, fake);
}

/* P5: a wrong name is not sent. */
static void events__of_a_filter(void **state)
{
    static const struct reply script[] = {{200, SSE, EVENT("3"), THEN_KEEP},
                                          {200, SSE, "", THEN_KEEP}};
    static const char *const kinds[] = {"lost", "link-down", NULL}, *const wrong[] = {"a&b", NULL};
    struct mcast_event_filter filter = MCAST_EVENT_FILTER_INIT;
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct watch watch = {.log = ""};
    filter.cluster = "elcap";
    filter.job = "f+1";
    filter.kinds = kinds;
    assert_int_equal(mcast_events_filtered(handle, 2, 0, &filter, note, &watch, NULL), 0);
    fakebroker_expect(fake, 1,
                      STREAM("/v1/events?cluster=elcap&job=f%2B1&kind=lost,link-down&"
                             "after=2&follow=0") "\r\n");
    assert_int_equal(mcast_set_token(handle, "sess-1", NULL), 0);
    assert_int_equal(
        mcast_events_filtered(handle, 0, MCAST_OWN_EVENTS, &filter, note, &watch, NULL),
        MCAST_USAGE);
    filter.cluster = filter.job = NULL;
    assert_int_equal(
        mcast_events_filtered(handle, 0, MCAST_OWN_EVENTS, &filter, note, &watch, NULL), 0);
    fakebroker_expect(
        fake, 2,
        STREAM(
            "/v1/reservation/events?kind=lost,link-down&after=0&follow=0") "Authorization: Bearer "
                                                                           "sess-1\r\n\r\n");
    filter.kinds = wrong;
    assert_int_equal(mcast_events_filtered(handle, 0, 0, &filter, note, &watch, NULL), MCAST_USAGE);
    filter.kinds = NULL;
    filter.job = "..";
    assert_int_equal(mcast_events_filtered(handle, 0, 0, &filter, note, &watch, NULL), MCAST_USAGE);
    end(handle, fake);
}

static void events__replay_goes_on_where_it_broke(void **state)
{
    static const struct reply script[] = {
        {0, NULL,
         "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n"
         "\r\n" EVENT("1") "id: 2\nevent: reserved\ndata: {\"se",
         THEN_CLOSE},
        {200, SSE, EVENT("2"), THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct watch watch = {.log = ""};
    assert_int_equal(mcast_events(handle, 0, 0, note, &watch, NULL), 0);
    assert_string_equal(watch.log, "reserved1;reserved2;");
    fakebroker_expect(fake, 2, STREAM("/v1/events?after=1&follow=0") "\r\n");
    end(handle, fake);
}

/* Restarts, an overloaded moment, an event cut in two, a gap: nothing missed, nothing twice. */
static void events__follow_survives_a_restarted_broker(void **state)
{
    static const struct reply script[] = {
        {0, NULL, HEAD EVENT("1") "id: 2\nevent: reserved\ndata: {\"se", THEN_CLOSE},
        {503, "application/problem+json", "{\"detail\":\"starting\"}", THEN_CLOSE},
        {0, NULL, "", THEN_CLOSE},
        {0, NULL, HEAD "event: gap\ndata: {\"from\":2,\"to\":6}\n\n", THEN_CLOSE},
        {0, NULL, HEAD EVENT("7") EVENT("8"), THEN_HANG},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct watch watch = {.until = 8};
    assert_int_equal(mcast_events(handle, 0, MCAST_FOLLOW, note, &watch, NULL), 9);
    assert_string_equal(watch.log, "reserved1;gap6;reserved7;reserved8;");
    fakebroker_expect(fake, 5, STREAM("/v1/events?after=6") "\r\n");
    end(handle, fake);
}

static void events__follow_ends_when_refused(void **state)
{
    static const struct reply script[] = {
        {200, SSE, EVENT("1"), THEN_CLOSE},
        {403, "application/problem+json", "{\"detail\":\"not yours\"}", THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct watch watch = {.log = ""};
    struct mcast_error error;
    assert_int_equal(mcast_events(handle, 0, MCAST_FOLLOW, note, &watch, &error), MCAST_REFUSED);
    assert_string_equal(error.text, "not yours");
    assert_string_equal(watch.log, "reserved1;");
    end(handle, fake);
}

/* A follower whose broker came back with an older copy of its ledger must not ask for ever. */
static void events__follow_ends_at_an_older_ledger(void **state)
{
    static const struct reply script[] = {
        {0, NULL, HEAD EVENT("7"), THEN_CLOSE},
        {422, "application/problem+json",
         "{\"code\":\"no-such-event\",\"field\":\"Last-Event-ID\",\"detail\":\"the last one is "
         "3\"}",
         THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct watch watch = {.log = ""};
    struct mcast_error error;
    assert_int_equal(mcast_events(handle, 0, MCAST_FOLLOW, note, &watch, &error), MCAST_REFUSED);
    assert_string_equal(error.word, "no-such-event");
    assert_string_equal(error.text, "the last one is 3");
    assert_int_equal(mcast_exit_status(&error), MCAST_EXIT_NOT_FOUND);
    assert_string_equal(watch.log, "reserved7;");
    end(handle, fake);
}

static void events__first_connection_must_succeed(void **state)
{
    struct mcast *handle = NULL;
    struct watch watch = {.log = ""};
    struct mcast_error error;
    assert_int_equal(mcast_open(&handle, "/nonexistent/s", NULL), 0);
    assert_int_equal(mcast_events(handle, 0, MCAST_FOLLOW, note, &watch, &error),
                     MCAST_UNREACHABLE);
    assert_string_equal(error.word, "no-connection");
    mcast_close(handle);
}

static void events__of_another_server_are_unclear(void **state)
{
    static const struct reply script[] = {
        {200, "text/html", "data: {\"seq\":1,\"event\":\"x\"}\n\n", THEN_KEEP},
        {200, SSE, "data: {\"seq\":\"one\"}\n\n", THEN_CLOSE},
        {200, SSE, "data: not json\n\n", THEN_CLOSE},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    for (size_t i = 0; i < SIZE(script); i++) {
        struct watch watch = {.log = ""};
        struct mcast_error error = {0};
        assert_int_equal(mcast_events(handle, 0, MCAST_FOLLOW, note, &watch, &error),
                         MCAST_UNCLEAR);
        assert_int_equal(error.code, MCAST_UNCLEAR);
        assert_string_not_equal(error.text, "");
        assert_string_equal(watch.log, "");
    }
    end(handle, fake);
}

static void *stop_when_asked(void *data)
{
    void **both = data;
    fakebroker_expect(both[0], 2, STREAM("/v1/events?after=1") "\r\n");
    mcast_stop(both[1]);
    return NULL;
}

static void events__stop_ends_a_silent_stream(void **state)
{
    static const struct reply script[] = {{0, NULL, HEAD EVENT("1"), THEN_CLOSE},
                                          {0, NULL, HEAD ": silence\n\n", THEN_HANG}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast *handle = open_fake(fake);
    struct watch watch = {.log = ""};
    void *both[] = {fake, handle};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, stop_when_asked, both), 0);
    assert_int_equal(mcast_events(handle, 0, MCAST_FOLLOW, note, &watch, NULL), MCAST_STOPPED);
    pthread_join(thread, NULL);
    assert_string_equal(watch.log, "reserved1;");
    end(handle, fake);
}

UNIT_MAIN(cmocka_unit_test(events__replay_ends_by_itself), cmocka_unit_test(events__of_a_filter),
          cmocka_unit_test(events__replay_goes_on_where_it_broke),
          cmocka_unit_test(events__follow_survives_a_restarted_broker),
          cmocka_unit_test(events__follow_ends_when_refused),
          cmocka_unit_test(events__follow_ends_at_an_older_ledger),
          cmocka_unit_test(events__first_connection_must_succeed),
          cmocka_unit_test(events__of_another_server_are_unclear),
          cmocka_unit_test(events__stop_ends_a_silent_stream))
