/* SPDX-License-Identifier: Apache-2.0 */
/* Several brokers, of which one leads (B7): whom the library asks, in both of its forms. */

#include "client/mcast.h"
#include "fakebroker.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#define SIZE(array) (sizeof array / sizeof((array)[0]))
#define AGENT "Host: localhost\r\nUser-Agent: libmcast/" MCAST_VERSION "\r\n"
#define BARE(method, path) method " " path " HTTP/1.1\r\n" AGENT "Accept: application/json\r\n\r\n"
#define STATUS BARE("GET", "/v1/status")
#define JOB "{\"cluster\":\"elcap\",\"job\":\"f1\",\"number\":7,\"state\":\"releasing\",\"uid\":5}"

enum { MAX = 3, LIST_SIZE = 512 };

/* Brokers, each a standby that knows no leader until the test says otherwise. */
struct several {
    struct fakebroker *fakes[MAX];
    const char *urls[MAX];
    char list[LIST_SIZE];
    struct mcast *handle;
};

static const struct reply answers[] = {{200, NULL, "{\"version\":\"x\"}", THEN_CLOSE},
                                       {200, NULL, "{\"version\":\"x\"}", THEN_CLOSE}};

static void begin_with(struct several *several, const struct reply *script, size_t count)
{
    *several = (struct several){0};
    for (size_t i = 0; i < MAX; i++) {
        several->fakes[i] = fakebroker_create(script, count);
        several->urls[i] = fakebroker_url(several->fakes[i]);
        fakebroker_stand_by(several->fakes[i], NULL);
    }
    snprintf(several->list, sizeof several->list, "%s,%s, %s", several->urls[0], several->urls[1],
             several->urls[2]);
    assert_int_equal(mcast_open(&several->handle, several->list, NULL), 0);
}

static void begin(struct several *several)
{
    begin_with(several, answers, SIZE(answers));
}

static void end(struct several *several)
{
    mcast_close(several->handle);
    for (size_t i = 0; i < MAX; i++)
        fakebroker_destroy(several->fakes[i]);
}

/* How many requests each had so far; the last of them was this one. */
static void expect_asked(struct several *several, const char *request, size_t first, size_t second,
                         size_t third)
{
    const size_t counts[MAX] = {first, second, third};
    for (size_t i = 0; i < MAX; i++)
        fakebroker_expect(several->fakes[i], counts[i], request);
}

static void expect_status(struct several *several, int expected)
{
    char *json = NULL;
    struct mcast_error error = {0};
    int rc = mcast_status(several->handle, &json, &error);
    if (rc != expected)
        fail_msg("%d instead of %d: %s", rc, expected, error.text);
    free(json);
}

static void expect_failure(struct several *several, const char *word, const char *const *texts)
{
    char *json = NULL;
    struct mcast_error error = {0};
    assert_true(mcast_status(several->handle, &json, &error) < 0);
    assert_string_equal(error.word, word);
    for (; *texts; texts++)
        assert_words(error.text, *texts);
    assert_true(mcast_later(&error, NULL));
    assert_int_equal(mcast_exit_status(&error), MCAST_EXIT_NO_ANSWER);
}

/* ---- hints ---- */

/* The standby's word saves asking the one between; and the next request goes straight there. */
static void several__a_standby_says_who_leads(void **state)
{
    struct several several;
    begin(&several);
    fakebroker_stand_by(several.fakes[0], several.urls[2]);
    fakebroker_lead(several.fakes[2]);
    expect_status(&several, 0);
    expect_asked(&several, STATUS, 1, 0, 1);
    expect_status(&several, 0);
    expect_asked(&several, STATUS, 1, 0, 2);
    end(&several);
}

static void several__without_a_hint_each_is_asked(void **state)
{
    struct several several;
    begin(&several);
    fakebroker_lead(several.fakes[2]);
    expect_status(&several, 0);
    expect_asked(&several, STATUS, 1, 1, 1);
    end(&several);
}

/* B8: a standby that was taken over cannot send tokens and credentials elsewhere. */
static void several__a_hint_outside_the_list_is_not_followed(void **state)
{
    struct several several;
    char named[48];
    struct fakebroker *evil = fakebroker_create(answers, SIZE(answers));
    begin(&several);
    snprintf(named, sizeof named, "not-leader: the leader %s", fakebroker_url(evil));
    fakebroker_stand_by(several.fakes[0], fakebroker_url(evil));
    fakebroker_lead(several.fakes[1]);
    assert_int_equal(mcast_set_token(several.handle, "s3cr3t", NULL), 0);
    expect_status(&several, 0);
    expect_asked(&several, STATUS, 1, 1, 0);
    fakebroker_stand_by(several.fakes[1], NULL);
    expect_failure(&several, "not-leader", (const char *[]){named, NULL});
    assert_int_equal(fakebroker_connections(evil), 0);
    fakebroker_destroy(evil);
    end(&several);
}

/* Each names another one, round and round: each is asked once. */
static void several__hints_do_not_go_round_in_circles(void **state)
{
    struct several several;
    begin(&several);
    for (size_t i = 0; i < MAX; i++)
        fakebroker_stand_by(several.fakes[i], several.urls[(i + 1) % MAX]);
    expect_failure(&several, "not-leader",
                   (const char *[]){"none of the 3 brokers", "mcastd running there", NULL});
    expect_asked(&several, STATUS, 1, 1, 1);
    end(&several);
}

/* ---- changes ---- */

static void several__the_leader_changes_between_requests(void **state)
{
    struct several several;
    begin(&several);
    fakebroker_lead(several.fakes[0]);
    expect_status(&several, 0);
    expect_asked(&several, STATUS, 1, 0, 0);
    fakebroker_stand_by(several.fakes[0], several.urls[1]);
    fakebroker_lead(several.fakes[1]);
    expect_status(&several, 0);
    expect_asked(&several, STATUS, 2, 1, 0);
    fakebroker_hide(several.fakes[1], true); /* its host is restarted */
    fakebroker_lead(several.fakes[2]);
    expect_status(&several, 0);
    expect_asked(&several, STATUS, 2, 1, 1);
    fakebroker_hide(several.fakes[1], false);
    end(&several);
}

struct waited {
    struct several *several;
    size_t times;
    char text[512];
};

static void on_wait(const struct mcast_error *why, void *data)
{
    struct waited *waited = data;
    waited->times++;
    snprintf(waited->text, sizeof waited->text, "%s", why->text);
    fakebroker_lead(waited->several->fakes[1]);
}

/* None leads until the pause has begun. Who waits is told of all of them. */
static void several__the_leader_changes_during_a_wait(void **state)
{
    struct several several;
    struct waited waited = {.several = &several};
    begin(&several);
    fakebroker_hide(several.fakes[0], true);
    assert_int_equal(
        mcast_set_retry_timeout(several.handle, AWAIT_DEADLINE_MS, on_wait, &waited, NULL), 0);
    expect_status(&several, 0);
    assert_int_equal(waited.times, 1);
    for (size_t i = 0; i < MAX; i++)
        assert_non_null(strstr(waited.text, several.urls[i] + strlen("unix:")));
    /* The one that answered last is asked first, then the one that is away, then the leader. */
    expect_asked(&several, STATUS, 0, 2, 2);
    fakebroker_hide(several.fakes[0], false);
    end(&several);
}

/* What a stopping broker, and one that breaks off, could not do another one does. */
static void several__a_broker_that_stops_is_left(void **state)
{
    static const struct reply script[] = {
        {503, "application/problem+json", "{\"code\":\"stopping\"}", THEN_CLOSE},
        {0, NULL, "", THEN_CLOSE},
        {0, NULL, "", THEN_CLOSE}};
    struct several several;
    struct fakebroker *first = fakebroker_create(script, SIZE(script));
    char list[LIST_SIZE];
    begin(&several);
    fakebroker_lead(several.fakes[1]);
    snprintf(list, sizeof list, "%s %s", fakebroker_url(first), several.urls[1]);
    for (size_t requests = 1; requests <= 3; requests += 2) {
        mcast_close(several.handle);
        assert_int_equal(mcast_open(&several.handle, list, NULL), 0);
        expect_status(&several, 0);
        fakebroker_expect(first, requests, STATUS);
    }
    expect_asked(&several, STATUS, 0, 2, 0);
    fakebroker_destroy(first);
    end(&several);
}

/* One leader alone is to step down: not the next one as well, when no answer says that it did. */
static void several__one_steps_down(void **state)
{
    static const struct reply scripts[][1] = {
        {{0, NULL, "", THEN_CLOSE}},
        {{503, "application/problem+json", "{\"code\":\"stopping\"}", THEN_CLOSE}}};
    static const char *const words[] = {"broken", "stopping"};
    for (size_t i = 0; i < SIZE(words); i++) {
        struct several several;
        struct mcast_error error;
        begin_with(&several, scripts[i], 1);
        fakebroker_stand_by(several.fakes[0], several.urls[2]);
        fakebroker_lead(several.fakes[1]);
        fakebroker_lead(several.fakes[2]);
        assert_int_equal(
            mcast_set_retry_timeout(several.handle, AWAIT_DEADLINE_MS, NULL, NULL, NULL), 0);
        assert_true(mcast_step_down(several.handle, &error) < 0);
        assert_string_equal(error.word, words[i]);
        expect_asked(&several, BARE("POST", "/v1/step-down"), 1, 0, 1);
        end(&several);
    }
}

/* It leads, and has too much to do: asking the others would not help. */
static void several__a_busy_leader_is_not_left(void **state)
{
    static const struct reply script[] = {
        {503, "application/problem+json", "{\"code\":\"busy\"}", THEN_CLOSE}};
    struct several several;
    char *json = NULL;
    struct mcast_error error;
    begin_with(&several, script, SIZE(script));
    fakebroker_lead(several.fakes[0]);
    assert_int_equal(mcast_status(several.handle, &json, &error), MCAST_REFUSED);
    assert_string_equal(error.word, "busy");
    expect_asked(&several, STATUS, 1, 0, 0);
    end(&several);
}

/* ---- those that are away ---- */

static void several__all_are_away(void **state)
{
    struct several several;
    char text[MAX][LIST_SIZE];
    begin(&several);
    for (size_t i = 0; i < MAX; i++) {
        fakebroker_hide(several.fakes[i], true);
        snprintf(text[i], sizeof text[i], "%s: No such file or directory",
                 several.urls[i] + strlen("unix:"));
    }
    expect_failure(&several, "no-connection", (const char *[]){text[0], text[1], text[2], NULL});
    for (size_t i = 0; i < MAX; i++)
        fakebroker_hide(several.fakes[i], false);
    expect_asked(&several, "", 0, 0, 0);
    end(&several);
}

/* A port of this machine that answers no connection, as a host that is down. */
struct hole {
    int listener, clients[16];
    size_t count;
    char url[64];
};

static void hole_open(struct hole *hole)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    struct pollfd open = {.events = POLLOUT};
    hole->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(hole->listener, (struct sockaddr *)&address, length), 0);
    assert_int_equal(listen(hole->listener, 0), 0);
    assert_int_equal(getsockname(hole->listener, (struct sockaddr *)&address, &length), 0);
    /* Until its queue is full; then the kernel drops what comes. */
    for (hole->count = 0;; hole->count++) {
        assert_true(hole->count < SIZE(hole->clients));
        open.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        hole->clients[hole->count] = open.fd;
        (void)connect(open.fd, (struct sockaddr *)&address, length);
        if (poll(&open, 1, 100) == 0)
            break;
    }
    snprintf(hole->url, sizeof hole->url, "http://127.0.0.1:%d", ntohs(address.sin_port));
}

static void hole_close(struct hole *hole)
{
    for (size_t i = 0; i <= hole->count; i++)
        close(hole->clients[i]);
    close(hole->listener);
}

/* Less time in all than a connection to a single broker would be waited for. A list may have
 * sockets and hosts. */
static void several__a_host_that_is_down_takes_part_of_the_time(void **state)
{
    struct several several;
    struct hole hole;
    char list[LIST_SIZE];
    begin(&several);
    hole_open(&hole);
    fakebroker_lead(several.fakes[1]);
    mcast_close(several.handle);
    snprintf(list, sizeof list, "%s, %s", hole.url, several.urls[1]);
    assert_int_equal(mcast_open(&several.handle, list, NULL), 0);
    assert_int_equal(mcast_set_munge(several.handle, MCAST_MUNGE_NEVER, NULL, NULL), 0);
    assert_int_equal(mcast_set_timeout(several.handle, 10000, NULL), 0);
    expect_status(&several, 0);
    fakebroker_stand_by(several.fakes[1], hole.url);
    expect_failure(&several, "no-connection", (const char *[]){hole.url, "not-leader", NULL});
    expect_asked(&several, STATUS, 0, 2, 0);
    hole_close(&hole);
    end(&several);
}

/* It took the connection and says nothing: the others are asked before its time is over. */
static void several__a_silent_broker_takes_part_of_the_time(void **state)
{
    static const struct reply script[] = {{0, NULL, "", THEN_HANG}};
    struct several several;
    struct fakebroker *silent = fakebroker_create(script, SIZE(script));
    char list[LIST_SIZE];
    begin(&several);
    fakebroker_lead(several.fakes[1]);
    mcast_close(several.handle);
    snprintf(list, sizeof list, "%s %s", fakebroker_url(silent), several.urls[1]);
    assert_int_equal(mcast_open(&several.handle, list, NULL), 0);
    assert_int_equal(mcast_set_timeout(several.handle, 10000, NULL), 0);
    expect_status(&several, 0);
    fakebroker_expect(silent, 1, STATUS);
    fakebroker_destroy(silent);
    end(&several);
}

/* Of the others one knows that it leads: it is asked again, and waited for. */
static void several__a_slow_leader_is_asked_again(void **state)
{
    static const struct reply script[] = {{0, NULL, "", THEN_HANG},
                                          {200, NULL, "{\"version\":\"x\"}", THEN_CLOSE}};
    struct several several;
    begin_with(&several, script, SIZE(script));
    fakebroker_lead(several.fakes[0]);
    fakebroker_stand_by(several.fakes[1], several.urls[0]);
    assert_int_equal(mcast_set_timeout(several.handle, 9000, NULL), 0);
    expect_status(&several, 0);
    expect_asked(&several, STATUS, 2, 1, 1);
    end(&several);
}

/* ---- without waiting ---- */

struct heard {
    size_t times, failures;
    struct mcast_error error;
};

static void hear(const struct mcast_outcome *outcome, void *arg)
{
    struct heard *heard = arg;
    heard->times++;
    heard->failures += outcome->code != 0;
    heard->error = *outcome->error;
}

static void release(struct several *several, unsigned flags, struct heard *heard, size_t count)
{
    struct mcast_async *async = NULL;
    assert_int_equal(mcast_set_timeout(several->handle, AWAIT_DEADLINE_MS, NULL), 0);
    assert_int_equal(mcast_async_open(&async, several->handle, flags, NULL), 0);
    struct pollfd fd = {.fd = mcast_async_fd(async), .events = POLLIN};
    *heard = (struct heard){0};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(mcast_async_release(async, "elcap", "f1", hear, heard, NULL, NULL), 0);
    while (heard->times < count) {
        assert_int_equal(poll(&fd, 1, AWAIT_DEADLINE_MS), 1);
        mcast_async_dispatch(async);
    }
    mcast_async_close(async);
}

/* Of many in flight each gets its answer, whoever of them finds the leader. */
static void several__requests_in_flight_follow_the_leader(void **state)
{
    static const struct reply script[] = {
        {202, NULL, JOB, THEN_CLOSE}, {202, NULL, JOB, THEN_CLOSE}, {202, NULL, JOB, THEN_CLOSE},
        {202, NULL, JOB, THEN_CLOSE}, {202, NULL, JOB, THEN_CLOSE}, {202, NULL, JOB, THEN_CLOSE}};
    struct several several;
    struct heard heard;
    begin_with(&several, script, SIZE(script));
    fakebroker_stand_by(several.fakes[0], several.urls[2]);
    fakebroker_lead(several.fakes[2]);
    release(&several, 0, &heard, SIZE(script));
    assert_int_equal(heard.failures, 0);
    fakebroker_expect(several.fakes[1], 0, "");
    fakebroker_expect(several.fakes[2], SIZE(script), BARE("DELETE", "/v1/clusters/elcap/jobs/f1"));
    end(&several);
}

static void *lead_when_asked(void *data)
{
    struct several *several = data;
    fakebroker_expect(several->fakes[2], 1, BARE("DELETE", "/v1/clusters/elcap/jobs/f1"));
    fakebroker_lead(several->fakes[1]);
    return NULL;
}

static void several__a_leader_is_awaited(void **state)
{
    static const struct reply script[] = {{202, NULL, JOB, THEN_CLOSE}};
    struct several several;
    struct heard heard;
    pthread_t thread;
    begin_with(&several, script, SIZE(script));
    release(&several, 0, &heard, 1);
    assert_int_equal(heard.failures, 1);
    assert_string_equal(heard.error.word, "not-leader");
    assert_non_null(strstr(heard.error.text, "none of the 3 brokers"));
    end(&several);
    begin_with(&several, script, SIZE(script));
    assert_int_equal(pthread_create(&thread, NULL, lead_when_asked, &several), 0);
    release(&several, MCAST_RETRY_TIMEOUT, &heard, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(heard.failures, 0);
    end(&several);
}

/* ---- events ---- */

#define EVENT(seq)                                                                                 \
    "id: " seq "\nevent: reserved\ndata: {\"seq\":" seq ",\"event\":\"reserved\"}\n\n"
#define STREAM                                                                                     \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"     \
    "FFFF\r\n"

struct log {
    struct several *several;
    char text[128];
};

/* The first broker's stream breaks within event 3; by then the second leads. */
static int note(const struct mcast_event *event, void *data)
{
    struct log *log = data;
    size_t used = strlen(log->text);
    snprintf(log->text + used, sizeof log->text - used, "%llu;", (unsigned long long)event->seq);
    if (event->seq == 2) {
        fakebroker_stand_by(log->several->fakes[0], log->several->urls[2]);
        fakebroker_lead(log->several->fakes[2]);
    }
    return event->seq == 4 ? 9 : 0;
}

/* F24: none is lost, none comes twice. */
static void several__a_stream_goes_on_at_the_next_leader(void **state)
{
    static const struct reply script[] = {
        {0, NULL, STREAM EVENT("1") EVENT("2") "id: 3\nevent: reserved\ndata: {\"se", THEN_CLOSE}};
    static const struct reply next[] = {{0, NULL, STREAM EVENT("3") EVENT("4"), THEN_HANG}};
    struct several several;
    struct log log = {.several = &several};
    begin_with(&several, script, SIZE(script));
    fakebroker_destroy(several.fakes[2]);
    several.fakes[2] = fakebroker_create(next, SIZE(next));
    several.urls[2] = fakebroker_url(several.fakes[2]);
    snprintf(several.list, sizeof several.list, "%s,%s", several.urls[0], several.urls[2]);
    mcast_close(several.handle);
    assert_int_equal(mcast_open(&several.handle, several.list, NULL), 0);
    fakebroker_lead(several.fakes[0]);
    assert_int_equal(mcast_events(several.handle, 0, MCAST_FOLLOW, note, &log, NULL), 9);
    assert_string_equal(log.text, "1;2;3;4;");
    fakebroker_expect(several.fakes[2], 1,
                      "GET /v1/events?after=2 HTTP/1.1\r\n" AGENT
                      "Accept: text/event-stream\r\n\r\n");
    end(&several);
}

UNIT_MAIN(cmocka_unit_test(several__a_standby_says_who_leads),
          cmocka_unit_test(several__without_a_hint_each_is_asked),
          cmocka_unit_test(several__a_hint_outside_the_list_is_not_followed),
          cmocka_unit_test(several__hints_do_not_go_round_in_circles),
          cmocka_unit_test(several__the_leader_changes_between_requests),
          cmocka_unit_test(several__the_leader_changes_during_a_wait),
          cmocka_unit_test(several__a_broker_that_stops_is_left),
          cmocka_unit_test(several__one_steps_down),
          cmocka_unit_test(several__a_busy_leader_is_not_left),
          cmocka_unit_test(several__all_are_away),
          cmocka_unit_test(several__a_host_that_is_down_takes_part_of_the_time),
          cmocka_unit_test(several__a_silent_broker_takes_part_of_the_time),
          cmocka_unit_test(several__a_slow_leader_is_asked_again),
          cmocka_unit_test(several__requests_in_flight_follow_the_leader),
          cmocka_unit_test(several__a_leader_is_awaited),
          cmocka_unit_test(several__a_stream_goes_on_at_the_next_leader))
