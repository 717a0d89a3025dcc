/* SPDX-License-Identifier: Apache-2.0 */
/* The form of the library that does not wait, against a scripted broker: it sends what the other
 * form sends, understands what that understands, and answers every request exactly once. */

#include "client/mcast.h"
#include "fakebroker.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

#include <poll.h>
#include <unistd.h>

#define SIZE(array) (sizeof array / sizeof((array)[0]))
#define AGENT "Host: localhost\r\nUser-Agent: libmcast/" MCAST_VERSION "\r\n"
#define ACCEPT "Accept: application/json\r\n"
#define BARE(method, path) method " " path " HTTP/1.1\r\n" AGENT ACCEPT "\r\n"
#define JOB(name)                                                                                  \
    "{\"cluster\":\"elcap\",\"job\":\"" name "\",\"number\":7,\"state\":\"active\",\"uid\":5,"     \
    "\"node_count\":2,\"vnis\":[1024],\"env\":{\"FI_CXI_COLL_MCAST_TOKEN\":\"s3cr3t\"}}"
#define PROBLEM "application/problem+json"

/* What was heard of one request. */
struct heard {
    unsigned times;
    int code;
    char word[48], text[512], job[32];
    bool repeated;
    struct mcast_async *async; /* to be used in the callback */
    uint64_t other;            /* to be cancelled in it */
};

static void hear(const struct mcast_outcome *outcome, void *arg)
{
    struct heard *heard = arg;
    heard->times++;
    heard->code = outcome->code;
    assert_int_equal(outcome->error->code, outcome->code);
    snprintf(heard->word, sizeof heard->word, "%s", outcome->error->word);
    snprintf(heard->text, sizeof heard->text, "%s", outcome->error->text);
    if (outcome->reservation) {
        snprintf(heard->job, sizeof heard->job, "%s", outcome->reservation->job);
        heard->repeated = outcome->reservation->repeated;
    }
}

static struct mcast_async *open_async(const char *url, unsigned flags)
{
    struct mcast *handle = NULL;
    struct mcast_async *async = NULL;
    assert_int_equal(mcast_open(&handle, url, NULL), 0);
    assert_int_equal(mcast_set_timeout(handle, AWAIT_DEADLINE_MS, NULL), 0);
    assert_int_equal(mcast_async_open(&async, handle, flags, NULL), 0);
    mcast_close(handle);
    return async;
}

static void end(struct mcast_async *async, struct fakebroker *fake)
{
    mcast_async_close(async);
    fakebroker_destroy(fake);
}

static void turn(struct mcast_async *async)
{
    struct pollfd fd = {.fd = mcast_async_fd(async), .events = POLLIN};
    assert_int_equal(poll(&fd, 1, AWAIT_DEADLINE_MS), 1);
    mcast_async_dispatch(async);
}

/* Until it was answered once more. */
static void await_answer(struct mcast_async *async, const struct heard *heard)
{
    for (unsigned times = heard->times; heard->times == times;)
        turn(async);
}

static void begin_release(struct mcast_async *async, const char *job, struct heard *heard,
                          uint64_t *number)
{
    assert_int_equal(mcast_async_release(async, "elcap", job, hear, heard, number, NULL), 0);
}

/* ---- the same requests, the same answers ---- */

static void async__reserves_and_releases(void **state)
{
    static const struct reply script[] = {{201, NULL, JOB("f1"), THEN_KEEP},
                                          {200, NULL, JOB("f1"), THEN_KEEP},
                                          {202, NULL, JOB("f1"), THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast_async *async = open_async(fakebroker_url(fake), 0);
    struct mcast_request request = MCAST_REQUEST_INIT;
    struct heard heard = {0};
    char job[] = "f1";
    request.cluster = "elcap";
    request.job = job;
    request.uid = 5;
    request.nodes = "elcap[1-2]";
    assert_int_equal(mcast_async_reserve(async, &request, hear, &heard, NULL, NULL), 0);
    job[0] = 'x'; /* what the arguments point to is not needed any more */
    assert_int_equal(heard.times, 0);
    await_answer(async, &heard);
    assert_int_equal(heard.code, MCAST_OK);
    assert_string_equal(heard.job, "f1");
    assert_false(heard.repeated);
    fakebroker_expect(fake, 1,
                      "PUT /v1/clusters/elcap/jobs/f1 HTTP/1.1\r\n" AGENT ACCEPT
                      "Content-Type: application/json\r\nContent-Length: 30\r\n\r\n"
                      "{\"uid\":5,\"nodes\":\"elcap[1-2]\"}");
    request.job = "f1";
    assert_int_equal(mcast_async_reserve(async, &request, hear, &heard, NULL, NULL), 0);
    await_answer(async, &heard);
    assert_true(heard.repeated);
    begin_release(async, "f1", &heard, NULL);
    await_answer(async, &heard);
    fakebroker_expect(fake, 3, BARE("DELETE", "/v1/clusters/elcap/jobs/f1"));
    assert_int_equal(fakebroker_connections(fake), 1);
    assert_int_equal(mcast_async_under_way(async), 0);
    end(async, fake);
}

/* F3: what a resource manager's plugin has to say of all nodes of a job at once. */
static void async__reports_many_nodes(void **state)
{
    static const struct reply script[] = {{200, NULL, JOB("f1"), THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast_async *async = open_async(fakebroker_url(fake), 0);
    struct mcast_error error;
    struct heard heard = {0};
    char nodes[] = "elcap[1-4]";
    assert_int_equal(mcast_async_nodes_clean(async, "elcap", "f1", 0, nodes, "destroyed", hear,
                                             &heard, NULL, &error),
                     MCAST_USAGE);
    assert_int_equal(mcast_async_nodes_clean(async, "elcap", "f1", 7, nodes, "destroyed", hear,
                                             &heard, NULL, NULL),
                     0);
    nodes[0] = 'x';
    await_answer(async, &heard);
    assert_int_equal(heard.times, 1);
    assert_int_equal(heard.code, MCAST_OK);
    assert_string_equal(heard.job, "f1");
    fakebroker_expect(fake, 1,
                      "PUT /v1/clusters/elcap/jobs/f1/nodes HTTP/1.1\r\n" AGENT ACCEPT
                      "Content-Type: application/json\r\nContent-Length: 53\r\n\r\n"
                      "{\"number\":7,\"nodes\":\"elcap[1-4]\",\"state\":\"destroyed\"}");
    end(async, fake);
}

/* P6: what these nodes have told, summed. */
static void async__reports_their_traffic(void **state)
{
    static const struct reply script[] = {{200, NULL, JOB("f1"), THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast_async *async = open_async(fakebroker_url(fake), 0);
    struct mcast_traffic_sum *sum = mcast_traffic_sum_create();
    struct mcast_node_traffic traffic = MCAST_NODE_TRAFFIC_INIT;
    struct mcast_error error;
    struct heard heard = {0};
    assert_int_equal(mcast_traffic_sum_add(sum, "n1", "nix", &error), MCAST_USAGE);
    assert_int_equal(mcast_traffic_sum_add(sum, "a/b", "{}", &error), MCAST_USAGE);
    for (int i = 1; i <= 3; i++) {
        static const char *const names[] = {NULL, "n10", "n2", "n3"};
        traffic.tx_octets = i == 3 ? (uint64_t)INT64_MAX : 5;
        traffic.rx_octets = 1;
        traffic.tx_packets = traffic.rx_packets = 2;
        traffic.seconds = 60 + (uint32_t)i;
        traffic.shared = i == 2;
        traffic.slowest = traffic.congested = "cxi1";
        traffic.slowest_octets = i == 3 ? 9 : 6;
        traffic.congested_paused = (uint64_t)i;
        char *text = mcast_node_traffic_json(&traffic);
        assert_int_equal(mcast_traffic_sum_add(sum, names[i], text, &error), 0);
        free(text);
    }
    assert_int_equal(mcast_async_nodes_traffic(async, "elcap", "f1", 7, "n[2-3,10]", "destroyed",
                                               sum, hear, &heard, NULL, NULL),
                     0);
    mcast_traffic_sum_free(sum);
    await_answer(async, &heard);
    assert_int_equal(heard.code, MCAST_OK);
    fakebroker_expect(fake, 1,
                      "PUT /v1/clusters/elcap/jobs/f1/nodes HTTP/1.1\r\n" AGENT ACCEPT
                      "Content-Type: application/json\r\nContent-Length: 322\r\n\r\n"
                      "{\"number\":7,\"nodes\":\"n[2-3,10]\",\"state\":\"destroyed\",\"tr"
                      "affic\":{\"nodes\":3,\"seconds\":63,\"unclear\":0,\"shared\":1,\"t"
                      "x_octets\":9223372036854775807,\"rx_octets\":3,\"tx_packets\":6,\""
                      "rx_packets\":6,\"paused\":0,\"lacking\":[\"paused\"],\"slowest\":{"
                      "\"node\":\"n2\",\"device\":\"cxi1\",\"octets\":6},\"congested\":{"
                      "\"node\":\"n3\",\"device\":\"cxi1\",\"paused\":3}}}");
    end(async, fake);
}

static void hear_status(const struct mcast_outcome *outcome, void *arg)
{
    struct heard *heard = arg;
    heard->times++;
    heard->code = outcome->code;
    assert_null(outcome->reservation);
    if (outcome->code == MCAST_OK)
        assert_string_equal(outcome->json, "{\"role\":\"leader\"}");
    else
        assert_null(outcome->json);
}

/* What a plugin shows of the broker. */
static void async__asks_how_the_broker_is(void **state)
{
    static const struct reply script[] = {{200, NULL, "{\"role\": \"leader\"}", THEN_KEEP},
                                          {200, NULL, "no JSON", THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast_async *async = open_async(fakebroker_url(fake), 0);
    struct heard heard = {0};
    assert_int_equal(mcast_async_status(async, hear_status, &heard, NULL, NULL), 0);
    await_answer(async, &heard);
    assert_int_equal(heard.code, MCAST_OK);
    fakebroker_expect(fake, 1, BARE("GET", "/v1/status"));
    assert_int_equal(mcast_async_status(async, hear_status, &heard, NULL, NULL), 0);
    await_answer(async, &heard);
    assert_int_equal(heard.code, MCAST_UNCLEAR);
    end(async, fake);
}

#define LAUNCHED                                                                                   \
    "{\"cluster\":\"elcap\",\"job\":\"f1\",\"number\":7,\"state\":\"active\",\"launch\":\"a "      \
    "line\"}"
#define LAUNCH_REQUEST(length, body)                                                               \
    "POST /v1/clusters/elcap/jobs/f1/launch HTTP/1.1\r\n" AGENT ACCEPT                             \
    "Content-Type: application/json\r\nContent-Length: " length "\r\n\r\n" body
#define WHOLE_LAUNCH_REQUEST                                                                       \
    LAUNCH_REQUEST("100", "{\"restart\":0,\"interconnect\":\"omnipath\",\"tasks_per_node\":8,"     \
                          "\"cpus_per_task\":4,\"env\":true,\"expires\":60}")

static void hear_launch(const struct mcast_outcome *outcome, void *arg)
{
    if (outcome->code == MCAST_OK)
        assert_string_equal(outcome->reservation->launch, "a line");
    hear(outcome, arg);
}

/* S1: both forms ask for a launch document in the same words, and understand the same answers. */
static void launch__is_asked_for_alike_in_both_forms(void **state)
{
    static const char refusal[] = "{\"status\":409,\"code\":\"no-launch\",\"detail\":\"released\"}";
    static const struct reply script[] = {{200, NULL, LAUNCHED, THEN_CLOSE},
                                          {200, NULL, LAUNCHED, THEN_KEEP},
                                          {200, NULL, LAUNCHED, THEN_KEEP},
                                          {409, PROBLEM, refusal, THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast_async *async = open_async(fakebroker_url(fake), 0);
    struct mcast *handle = NULL;
    struct mcast_reservation *job = NULL;
    struct mcast_error error;
    struct heard heard = {0};
    char interconnect[] = "omnipath";
    struct mcast_launch launch = {.size = sizeof launch,
                                  .lifetime_s = 60,
                                  .env = true,
                                  .interconnect = interconnect,
                                  .tasks_per_node = 8,
                                  .cpus_per_task = 4};
    assert_int_equal(mcast_open(&handle, fakebroker_url(fake), NULL), 0);
    assert_int_equal(mcast_launch(handle, "elcap", "f1", &launch, &job, &error), 0);
    assert_string_equal(job->launch, "a line");
    mcast_reservation_free(job);
    mcast_close(handle);
    fakebroker_expect(fake, 1, WHOLE_LAUNCH_REQUEST);
    assert_int_equal(
        mcast_async_launch(async, "elcap", "a/b", &launch, hear_launch, &heard, NULL, &error),
        MCAST_USAGE);
    assert_int_equal(
        mcast_async_launch(async, "elcap", "f1", &launch, hear_launch, &heard, NULL, NULL), 0);
    interconnect[0] = 'x';
    await_answer(async, &heard);
    assert_int_equal(heard.code, MCAST_OK);
    fakebroker_expect(fake, 2, WHOLE_LAUNCH_REQUEST);
    /* Of a program that was compiled when the struct ended with its third member, and padding. */
    memset(&launch, 0xff, sizeof launch);
    launch.size = offsetof(struct mcast_launch, interconnect);
    launch.lifetime_s = 60;
    assert_int_equal(launch.restart, -1);
    assert_int_equal(
        mcast_async_launch(async, "elcap", "f1", &launch, hear_launch, &heard, NULL, NULL), 0);
    await_answer(async, &heard);
    fakebroker_expect(fake, 3, LAUNCH_REQUEST("14", "{\"expires\":60}"));
    assert_int_equal(
        mcast_async_launch(async, "elcap", "f1", NULL, hear_launch, &heard, NULL, NULL), 0);
    await_answer(async, &heard);
    fakebroker_expect(fake, 4, LAUNCH_REQUEST("2", "{}"));
    assert_int_equal(heard.times, 3);
    assert_int_equal(heard.code, MCAST_REFUSED);
    assert_string_equal(heard.word, "no-launch");
    end(async, fake);
}

static void async__refuses_what_is_not_allowed_without_calling_back(void **state)
{
    struct fakebroker *fake = fakebroker_create(NULL, 0);
    struct mcast_async *async = open_async(fakebroker_url(fake), 0), *none = NULL;
    struct mcast *handle = NULL;
    struct mcast_request request = MCAST_REQUEST_INIT;
    struct mcast_error error;
    struct heard heard = {0};
    uint64_t number = 0;
    assert_int_equal(mcast_async_reserve(async, &request, hear, &heard, &number, &error),
                     MCAST_USAGE);
    assert_int_equal(mcast_async_release(async, "elcap", "a/b", hear, &heard, &number, &error),
                     MCAST_USAGE);
    assert_int_equal(mcast_async_set_timeout(async, 0, &error), MCAST_USAGE);
    assert_int_equal(mcast_async_set_connections(async, 0, &error), MCAST_USAGE);
    assert_int_equal(mcast_async_set_connections(async, 1025, &error), MCAST_USAGE);
    assert_false(mcast_async_cancel(async, 0));
    assert_int_equal(mcast_async_dispatch(async), 0);
    assert_int_equal(mcast_open(&handle, fakebroker_url(fake), NULL), 0);
    assert_int_equal(mcast_async_open(&none, handle, 1024, &error), MCAST_USAGE);
    assert_null(none);
    mcast_close(handle);
    assert_int_equal(heard.times, 0);
    mcast_async_close(async);
    mcast_async_close(NULL);
    fakebroker_expect(fake, 0, NULL);
    fakebroker_destroy(fake);
}

/* ---- what goes wrong ---- */

/* The time limit holds for all: for the one that is not answered, and for the one that waits for
 * its connection. */
static void async__ends_in_time(void **state)
{
    static const struct reply script[] = {{0, NULL, "", THEN_HANG}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast_async *async = open_async(fakebroker_url(fake), 0);
    struct heard first = {0}, second = {0};
    assert_int_equal(mcast_async_set_connections(async, 1, NULL), 0);
    begin_release(async, "a", &first, NULL);
    assert_int_equal(mcast_async_set_timeout(async, 20, NULL), 0);
    begin_release(async, "b", &second, NULL);
    await_answer(async, &second);
    assert_int_equal(second.code, MCAST_UNREACHABLE);
    assert_string_equal(second.word, "timeout");
    assert_int_equal(first.times, 0);
    assert_int_equal(mcast_async_set_connections(async, 2, NULL), 0);
    begin_release(async, "c", &second, NULL);
    await_answer(async, &second);
    assert_string_equal(second.word, "timeout");
    assert_int_equal(mcast_async_under_way(async), 1);
    mcast_async_close(async);
    assert_int_equal(first.times, 1);
    assert_int_equal(first.code, MCAST_STOPPED);
    fakebroker_destroy(fake);
}

/* F20: a broker that is away for a while fails nobody who has time. Those that are begun meanwhile
 * wait with it, and one alone tries. */
static void async__that_retries_waits_for_the_broker(void **state)
{
    static const struct reply script[] = {
        {503, PROBLEM, "{\"code\":\"stopping\",\"detail\":\"going down\"}", THEN_CLOSE},
        {0, NULL, "", THEN_CLOSE},
        {0, NULL, "", THEN_CLOSE},
        {200, NULL, JOB("a"), THEN_KEEP},
    };
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast_async *async = open_async(fakebroker_url(fake), MCAST_RETRY_TIMEOUT);
    struct heard heard = {0};
    begin_release(async, "a", &heard, NULL);
    await_answer(async, &heard);
    assert_int_equal(heard.code, MCAST_OK);
    fakebroker_expect(fake, SIZE(script), BARE("DELETE", "/v1/clusters/elcap/jobs/a"));
    end(async, fake);
}

static void async__that_retries_says_in_the_end_why(void **state)
{
    struct mcast_async *async = open_async("/nonexistent/socket", MCAST_RETRY_TIMEOUT);
    struct heard heard[3] = {{0}, {0}, {0}};
    assert_int_equal(mcast_async_set_timeout(async, 1000, NULL), 0);
    for (size_t i = 0; i < SIZE(heard); i++)
        begin_release(async, "a", &heard[i], NULL);
    while (mcast_async_under_way(async) > 0)
        turn(async);
    for (size_t i = 0; i < SIZE(heard); i++) {
        assert_int_equal(heard[i].times, 1);
        assert_int_equal(heard[i].code, MCAST_UNREACHABLE);
        assert_string_equal(heard[i].word, "no-connection");
    }
    mcast_async_close(async);
}

/* Those that never had their turn are told why, too. */
static void async__that_retries_tells_all_of_a_full_disk(void **state)
{
    static const char full[] =
        "HTTP/1.1 503 Full\r\nContent-Type: application/problem+json\r\nRetry-After: 3600\r\n"
        "Content-Length: 46\r\n\r\n{\"code\":\"storage\",\"detail\":\"the disk is full\"}";
    static const struct reply script[] = {{0, NULL, full, THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast_async *async = open_async(fakebroker_url(fake), MCAST_RETRY_TIMEOUT);
    struct heard heard[3] = {{0}, {0}, {0}};
    assert_int_equal(mcast_async_set_connections(async, 1, NULL), 0);
    assert_int_equal(mcast_async_set_timeout(async, 2000, NULL), 0);
    for (size_t i = 0; i < SIZE(heard); i++)
        begin_release(async, "a", &heard[i], NULL);
    while (mcast_async_under_way(async) > 0)
        turn(async);
    for (size_t i = 0; i < SIZE(heard); i++) {
        assert_int_equal(heard[i].code, MCAST_REFUSED);
        assert_string_equal(heard[i].text, "the disk is full");
    }
    fakebroker_expect(fake, 1, BARE("DELETE", "/v1/clusters/elcap/jobs/a"));
    end(async, fake);
}

/* ---- cancelling, closing, callbacks ---- */

static void async__cancels_what_is_under_way_and_what_waits(void **state)
{
    static const struct reply script[] = {{0, NULL, "", THEN_HANG}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast_async *async = open_async(fakebroker_url(fake), 0);
    struct heard sent = {0}, waiting = {0};
    uint64_t first = 0, second = 0, third = 0;
    assert_int_equal(mcast_async_set_connections(async, 1, NULL), 0);
    begin_release(async, "a", &sent, &first);
    begin_release(async, "b", &waiting, &second);
    struct pollfd fd = {.fd = mcast_async_fd(async), .events = POLLIN};
    while (poll(&fd, 1, 0) > 0)
        mcast_async_dispatch(async);
    fakebroker_expect(fake, 1, BARE("DELETE", "/v1/clusters/elcap/jobs/a"));
    assert_true(mcast_async_cancel(async, second));
    assert_true(mcast_async_cancel(async, first));
    assert_false(mcast_async_cancel(async, first));
    assert_int_equal(sent.times, 1);
    assert_int_equal(sent.code, MCAST_STOPPED);
    assert_int_equal(waiting.times, 1);
    assert_int_equal(waiting.code, MCAST_STOPPED);
    assert_int_equal(mcast_async_under_way(async), 0);
    begin_release(async, "c", &sent, &third);
    assert_true(third != first && third != second); /* a number is not used again */
    assert_false(mcast_async_cancel(async, first));
    mcast_async_close(async);
    assert_int_equal(sent.times, 2);
    fakebroker_destroy(fake);
}

static void on_cancel_other(const struct mcast_outcome *outcome, void *arg)
{
    struct heard *heard = arg;
    hear(outcome, heard);
    assert_true(mcast_async_cancel(heard->async, heard->other));
    assert_int_equal(mcast_async_dispatch(heard->async), 0); /* in a callback it does nothing */
}

/* Two answers lie there when the first callback is called; the second must not be given any more.
 */
static void async__may_be_cancelled_in_a_callback(void **state)
{
    struct mcast_async *async = open_async("/nonexistent/socket", 0);
    struct heard first = {.async = async}, second = {0};
    assert_int_equal(mcast_async_release(async, "elcap", "a", on_cancel_other, &first, NULL, NULL),
                     0);
    begin_release(async, "b", &second, &first.other);
    await_answer(async, &first);
    assert_int_equal(first.times, 1);
    assert_int_equal(second.times, 1);
    assert_int_equal(second.code, MCAST_STOPPED);
    mcast_async_close(async);
}

static void on_ask_again(const struct mcast_outcome *outcome, void *arg)
{
    struct heard *heard = arg;
    hear(outcome, heard);
    int rc = mcast_async_release(heard->async, "elcap", "b", hear, heard, NULL, NULL);
    assert_int_equal(rc, outcome->code == MCAST_STOPPED ? MCAST_STOPPED : 0);
}

static void async__may_be_asked_in_a_callback(void **state)
{
    static const struct reply script[] = {{200, NULL, JOB("a"), THEN_KEEP},
                                          {200, NULL, JOB("b"), THEN_KEEP}};
    struct fakebroker *fake = fakebroker_create(script, SIZE(script));
    struct mcast_async *async = open_async(fakebroker_url(fake), 0);
    struct heard heard = {.async = async};
    assert_int_equal(mcast_async_release(async, "elcap", "a", on_ask_again, &heard, NULL, NULL), 0);
    while (heard.times < 2)
        turn(async);
    assert_string_equal(heard.job, "b");
    /* while it is being closed nothing new is taken */
    assert_int_equal(mcast_async_release(async, "elcap", "a", on_ask_again, &heard, NULL, NULL), 0);
    mcast_async_close(async);
    assert_int_equal(heard.times, 3);
    assert_int_equal(heard.code, MCAST_STOPPED);
    fakebroker_destroy(fake);
}

static void on_close(const struct mcast_outcome *outcome, void *arg)
{
    struct heard *heard = arg;
    hear(outcome, heard);
    mcast_async_close(heard->async);
}

static void async__may_be_closed_in_a_callback(void **state)
{
    struct mcast_async *async = open_async("/nonexistent/socket", 0);
    struct heard first = {.async = async}, second = {0};
    uint64_t number = 0;
    assert_int_equal(mcast_async_release(async, "elcap", "a", on_close, &first, NULL, NULL), 0);
    begin_release(async, "b", &second, NULL);
    await_answer(async, &first);
    assert_int_equal(second.times, 1);
    assert_int_equal(second.code, MCAST_STOPPED);
    async = open_async("/nonexistent/socket", 0);
    first = (struct heard){.async = async};
    assert_int_equal(mcast_async_release(async, "elcap", "a", on_close, &first, &number, NULL), 0);
    begin_release(async, "b", &second, NULL);
    assert_true(mcast_async_cancel(async, number));
    assert_int_equal(first.times, 1);
    assert_int_equal(second.times, 2);
}

UNIT_MAIN(cmocka_unit_test(async__reserves_and_releases),
          cmocka_unit_test(async__reports_many_nodes),
          cmocka_unit_test(async__asks_how_the_broker_is),
          cmocka_unit_test(async__reports_their_traffic),
          cmocka_unit_test(launch__is_asked_for_alike_in_both_forms),
          cmocka_unit_test(async__refuses_what_is_not_allowed_without_calling_back),
          cmocka_unit_test(async__ends_in_time),
          cmocka_unit_test(async__that_retries_waits_for_the_broker),
          cmocka_unit_test(async__that_retries_says_in_the_end_why),
          cmocka_unit_test(async__that_retries_tells_all_of_a_full_disk),
          cmocka_unit_test(async__cancels_what_is_under_way_and_what_waits),
          cmocka_unit_test(async__may_be_cancelled_in_a_callback),
          cmocka_unit_test(async__may_be_asked_in_a_callback),
          cmocka_unit_test(async__may_be_closed_in_a_callback))
