/* SPDX-License-Identifier: Apache-2.0 */
/* libmcast without waiting against the real broker: a thousand requests at once on one loop, while
 * the broker is stopped, killed and started again; that no call of the library can wait is counted
 * (B6, F18). */

#include "client/mcast.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/testbed.h"
#include "tests/unit/unit.h"
#include "watch.h"

#include <poll.h>
#include <signal.h>

enum { JOBS = 1000, VNIS = 65536, KILLED_AFTER = 300 };

/* One job: what was asked for it last, and what it has. */
struct job {
    struct swarm *swarm;
    char name[16];
    unsigned answers; /* of all that were asked for it */
    unsigned vni;
};

struct swarm {
    struct testbed *testbed;
    struct mcast_async *async;
    struct watch watch;
    unsigned calls; /* of the library, all of which were watched */
    unsigned answered;
    unsigned failed;
    char why[sizeof(((struct mcast_error *)NULL)->text)]; /* the first failure's */
    struct job jobs[JOBS];
    bool taken[VNIS];
};

static void fail_once(struct swarm *swarm, const char *why)
{
    if (swarm->failed++ == 0)
        snprintf(swarm->why, sizeof swarm->why, "%s", why);
}

static void on_reserved(const struct mcast_outcome *outcome, void *arg)
{
    struct job *job = arg;
    struct swarm *swarm = job->swarm;
    const struct mcast_reservation *got = outcome->reservation;
    swarm->answered++;
    job->answers++;
    if (outcome->code < 0) {
        fail_once(swarm, outcome->error->text);
        return;
    }
    if (got->vni_count != 1 || strcmp(got->job, job->name) != 0 || swarm->taken[got->vnis[0]])
        fail_once(swarm, "another's answer, or another's VNI");
    job->vni = got->vnis[0];
    swarm->taken[job->vni] = true;
}

static void on_released(const struct mcast_outcome *outcome, void *arg)
{
    struct job *job = arg;
    job->swarm->answered++;
    job->answers++;
    if (outcome->code < 0)
        fail_once(job->swarm, outcome->error->text);
}

static void begin_reserve(struct swarm *swarm, struct job *job)
{
    struct mcast_request request = MCAST_REQUEST_INIT;
    request.cluster = "elcap";
    request.job = job->name;
    request.uid = 5;
    request.node_count = 2;
    watch_begin(&swarm->watch);
    int rc = mcast_async_reserve(swarm->async, &request, on_reserved, job, NULL, NULL);
    watch_end();
    swarm->calls++;
    assert_int_equal(rc, 0);
}

static void begin_release(struct swarm *swarm, struct job *job)
{
    watch_begin(&swarm->watch);
    int rc = mcast_async_release(swarm->async, "elcap", job->name, on_released, job, NULL, NULL);
    watch_end();
    swarm->calls++;
    assert_int_equal(rc, 0);
}

/* One turn of the program's loop, which alone may wait. */
static void turn(struct swarm *swarm, int timeout_ms)
{
    struct pollfd fd = {.fd = mcast_async_fd(swarm->async), .events = POLLIN};
    if (poll(&fd, 1, timeout_ms) <= 0)
        return;
    watch_begin(&swarm->watch);
    mcast_async_dispatch(swarm->async);
    watch_end();
    swarm->calls++;
}

/* Until so many are answered. */
static void run_until(struct swarm *swarm, unsigned answered)
{
    int64_t end = await_now_ns() + AWAIT_DEADLINE_MS * INT64_C(1000000);
    while (swarm->answered < answered && await_now_ns() < end)
        turn(swarm, 1000);
    assert_true(swarm->answered >= answered);
}

/* All that can be done while nobody answers: until nothing is to be done at once. */
static void run_dry(struct swarm *swarm)
{
    struct pollfd fd = {.fd = mcast_async_fd(swarm->async), .events = POLLIN};
    while (poll(&fd, 1, 0) > 0)
        turn(swarm, 0);
}

static void assert_unharmed(struct swarm *swarm)
{
    if (swarm->failed > 0)
        fail_msg("%u failed: %s", swarm->failed, swarm->why);
    if (swarm->watch.waits > 0)
        fail_msg("%u calls could wait, the first was %s", swarm->watch.waits, swarm->watch.first);
    assert_true(swarm->watch.seen > swarm->calls);
    assert_int_equal(mcast_async_under_way(swarm->async), 0);
}

static int open_swarm(void **state)
{
    struct swarm *swarm = calloc(1, sizeof *swarm);
    const struct testbed_options options = {.mcastd = MCASTD};
    struct mcast *handle = NULL;
    assert_non_null(swarm);
    swarm->testbed = testbed_create(&options);
    assert_non_null(swarm->testbed);
    assert_int_equal(testbed_start_broker(swarm->testbed), 0);
    assert_int_equal(mcast_open(&handle, testbed_socket(swarm->testbed), NULL), 0);
    assert_int_equal(mcast_set_timeout(handle, AWAIT_DEADLINE_MS, NULL), 0);
    assert_int_equal(mcast_async_open(&swarm->async, handle, MCAST_PATIENT, NULL), 0);
    mcast_close(handle);
    for (unsigned i = 0; i < JOBS; i++) {
        swarm->jobs[i].swarm = swarm;
        snprintf(swarm->jobs[i].name, sizeof swarm->jobs[i].name, "f%u", i);
    }
    *state = swarm;
    return 0;
}

static int close_swarm(void **state)
{
    struct swarm *swarm = *state;
    mcast_async_close(swarm->async);
    testbed_destroy(swarm->testbed);
    free(swarm);
    return 0;
}

static unsigned count_jobs(const struct swarm *swarm, const char *state)
{
    char path[64];
    struct plainhttp_reply reply;
    snprintf(path, sizeof path, "/v1/jobs?limit=%d&state=%s", JOBS, state);
    assert_int_equal(plainhttp_call(testbed_http(swarm->testbed), "GET", path, NULL, &reply), 200);
    unsigned count = (unsigned)json_array_size(json_object_get(reply.json, "jobs"));
    plainhttp_reply_release(&reply);
    return count;
}

/* The watch must see something to be believed: the form that waits does wait, for a broker that
 * cannot answer. */
static void watch__sees_the_form_that_waits(void **state)
{
    struct swarm *swarm = *state;
    struct watch watch = {0};
    struct mcast *handle = NULL;
    struct mcast_error error;
    char *json = NULL;
    assert_int_equal(mcast_open(&handle, testbed_socket(swarm->testbed), NULL), 0);
    assert_int_equal(mcast_set_timeout(handle, 1000, NULL), 0);
    process_signal(testbed_broker(swarm->testbed), SIGSTOP);
    watch_begin(&watch);
    int rc = mcast_status(handle, &json, &error);
    watch_end();
    process_signal(testbed_broker(swarm->testbed), SIGCONT);
    assert_int_equal(rc, MCAST_UNREACHABLE);
    assert_true(watch.waits > 0);
    assert_string_equal(watch.first, "poll");
    mcast_close(handle);
}

/* Whoever waited for an answer of a stopped broker would not come back. It is killed with all its
 * connections, comes back, is killed while it answers, and comes back again: every job has what it
 * asked for, once. */
static void swarm__outlives_the_broker(void **state)
{
    struct swarm *swarm = *state;
    process_signal(testbed_broker(swarm->testbed), SIGSTOP);
    for (unsigned i = 0; i < JOBS; i++)
        begin_reserve(swarm, &swarm->jobs[i]);
    run_dry(swarm);
    assert_int_equal(mcast_async_under_way(swarm->async), JOBS);
    testbed_kill_broker(swarm->testbed);
    run_dry(swarm);
    assert_int_equal(swarm->answered, 0);
    assert_int_equal(testbed_launch_broker(swarm->testbed), 0);
    run_until(swarm, KILLED_AFTER);
    testbed_kill_broker(swarm->testbed);
    assert_int_equal(testbed_launch_broker(swarm->testbed), 0);
    run_until(swarm, JOBS);
    assert_unharmed(swarm);
    for (unsigned i = 0; i < JOBS; i++)
        assert_int_equal(swarm->jobs[i].answers, 1);
    assert_int_equal(count_jobs(swarm, "active"), JOBS);
}

static void swarm__leaves_nothing(void **state)
{
    struct swarm *swarm = *state;
    swarm->answered = 0;
    for (unsigned i = 0; i < JOBS; i++)
        begin_release(swarm, &swarm->jobs[i]);
    run_until(swarm, KILLED_AFTER);
    testbed_kill_broker(swarm->testbed);
    assert_int_equal(testbed_launch_broker(swarm->testbed), 0);
    run_until(swarm, JOBS);
    assert_unharmed(swarm);
    for (unsigned i = 0; i < JOBS; i++)
        assert_int_equal(swarm->jobs[i].answers, 2);
    assert_int_equal(count_jobs(swarm, "active"), 0);
    print_message("%u calls of the library, %u of the system watched in them, %u could wait\n",
                  swarm->calls, swarm->watch.seen, swarm->watch.waits);
}

UNIT_GROUP(open_swarm, close_swarm, cmocka_unit_test(watch__sees_the_form_that_waits),
           cmocka_unit_test(swarm__outlives_the_broker), cmocka_unit_test(swarm__leaves_nothing))
