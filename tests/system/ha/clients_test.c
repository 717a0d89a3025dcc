/* SPDX-License-Identifier: Apache-2.0 */
/* libmcast, in both of its forms, with several real brokers: it follows the one that leads, and
 * loses nothing (B7, I7, I9, F24). */

#include "client/mcast.h"
#include "tests/system/ha/brokers.h"
#include "tests/system/rig/await.h"
#include "tests/unit/unit.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

enum { RETRY_MS = 60000, COUNT = 40 };

static struct etcdcluster *cluster;
static struct brokers brokers;

static int open_cluster(void **state)
{
    cluster = etcdcluster_create(&(struct etcdcluster_options){0});
    return cluster ? 0 : -1;
}

static int close_cluster(void **state)
{
    etcdcluster_destroy(cluster);
    return 0;
}

static int open_brokers(void **state)
{
    brokers_open(&brokers, cluster);
    brokers_start_all(&brokers, 2);
    return 0;
}

static int close_brokers(void **state)
{
    brokers_close(&brokers);
    return 0;
}

/* The first of the list is this one. */
static struct mcast *open_handle(unsigned first)
{
    struct mcast *handle = NULL;
    char list[300];
    snprintf(list, sizeof list, "%s, %s", brokers.socket[first], brokers.socket[1 - first]);
    assert_int_equal(mcast_open(&handle, list, NULL), 0);
    assert_int_equal(mcast_set_retry_timeout(handle, RETRY_MS, NULL, NULL, NULL), 0);
    return handle;
}

/* The VNI that the job gets, or has. */
static int reserve(struct mcast *handle, const char *job)
{
    struct mcast_request request = MCAST_REQUEST_INIT;
    struct mcast_reservation *reservation = NULL;
    struct mcast_error error;
    request.cluster = "elcap";
    request.job = job;
    request.uid = 1000;
    request.nodes = "n[1-2]";
    if (mcast_reserve(handle, &request, &reservation, &error) < 0)
        fail_msg("%s: %s", job, error.text);
    assert_true(reservation->vni_count > 0);
    int vni = reservation->vnis[0];
    mcast_reservation_free(reservation);
    return vni;
}

static void handle__follows_the_leader(void **state)
{
    struct mcast *handle = open_handle(1); /* a standby */
    const int vni = reserve(handle, "f1");
    brokers_kill(&brokers, 0);
    assert_int_equal(reserve(handle, "f1"), vni);
    brokers_start(&brokers, 0);
    brokers_await_role(&brokers, 0, "standby");
    brokers_signal(&brokers, 1, SIGTERM);
    assert_int_not_equal(reserve(handle, "f2"), vni);
    assert_int_equal(reserve(handle, "f1"), vni);
    mcast_close(handle);
}

static void step_down__is_of_the_one_that_leads(void **state)
{
    struct mcast *handle = open_handle(1);
    struct mcast_error error;
    const int vni = reserve(handle, "f1");
    brokers_await_log(&brokers, 0, "standbys=1", 1);
    if (mcast_step_down(handle, &error) < 0)
        fail_msg("%s", error.text);
    assert_int_equal(reserve(handle, "f1"), vni);
    assert_int_equal(brokers_await_exit(&brokers, 0), 75);
    brokers_await_role(&brokers, 1, "leader");
    mcast_close(handle);
}

/* It still takes connections, and answers none. */
static void handle__leaves_a_leader_that_hangs(void **state)
{
    struct mcast *handle = open_handle(0);
    assert_int_equal(mcast_set_timeout(handle, 2000, NULL), 0);
    const int vni = reserve(handle, "f1");
    brokers_signal(&brokers, 0, SIGSTOP);
    assert_int_equal(reserve(handle, "f1"), vni);
    brokers_await_role(&brokers, 1, "leader");
    brokers_signal(&brokers, 0, SIGCONT);
    assert_int_equal(brokers_await_exit(&brokers, 0), 75);
    assert_int_equal(reserve(handle, "f1"), vni);
    mcast_close(handle);
}

/* ---- events ---- */

struct follower {
    struct mcast *handle;
    uint64_t last; /* the number of the last event */
    char job[32];  /* the follower ends when this one has reserved */
    int reserved;  /* events */
};

static int note(const struct mcast_event *event, void *data)
{
    struct follower *follower = data;
    assert_int_equal(event->seq, follower->last + 1);
    follower->last = event->seq;
    if (strcmp(event->event, "reserved") != 0)
        return 0;
    follower->reserved++;
    return strcmp(event->job, follower->job) == 0;
}

static void *follow(void *data)
{
    struct follower *follower = data;
    assert_int_equal(mcast_events(follower->handle, 0, MCAST_FOLLOW, note, follower, NULL), 1);
    return NULL;
}

/* None is lost, none comes twice. */
static void stream__goes_on_at_the_next_leader(void **state)
{
    struct follower follower = {.handle = open_handle(1), .job = "f9"};
    struct mcast *handle = open_handle(0);
    pthread_t thread;
    char job[] = "f0";
    assert_int_equal(pthread_create(&thread, NULL, follow, &follower), 0);
    for (; job[1] < '9'; job[1]++) {
        if (job[1] == '3')
            brokers_kill(&brokers, 0);
        if (job[1] == '6') {
            brokers_start(&brokers, 0);
            brokers_await_role(&brokers, 0, "standby");
            brokers_signal(&brokers, 1, SIGTERM);
        }
        reserve(handle, job);
    }
    reserve(handle, job);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(follower.reserved, 10);
    mcast_close(follower.handle);
    mcast_close(handle);
}

/* ---- without waiting ---- */

struct heard {
    size_t times, failures;
};

static void hear(const struct mcast_outcome *outcome, void *arg)
{
    struct heard *heard = arg;
    heard->times++;
    heard->failures += outcome->code != 0;
}

static int count(const struct mcast_reservation *reservation, void *data)
{
    (*(int *)data)++;
    return 0;
}

/* Some are answered, some under way, some not sent yet when the leader is killed. */
static void requests__in_flight_are_answered_by_the_next_leader(void **state)
{
    struct mcast *handle = open_handle(1);
    struct mcast_async *async = NULL;
    struct mcast_request request = MCAST_REQUEST_INIT;
    struct heard heard = {0};
    char job[16];
    assert_int_equal(mcast_set_timeout(handle, RETRY_MS, NULL), 0);
    assert_int_equal(mcast_async_open(&async, handle, MCAST_RETRY_TIMEOUT, NULL), 0);
    struct pollfd fd = {.fd = mcast_async_fd(async), .events = POLLIN};
    request.cluster = "elcap";
    request.uid = 1000;
    request.nodes = "n[1-2]";
    request.job = job;
    for (int i = 0; i < COUNT; i++) {
        snprintf(job, sizeof job, "f%d", i);
        assert_int_equal(mcast_async_reserve(async, &request, hear, &heard, NULL, NULL), 0);
    }
    while (heard.times < COUNT) {
        assert_int_equal(poll(&fd, 1, RETRY_MS), 1);
        mcast_async_dispatch(async);
        if (heard.times > 0 && brokers.processes[0])
            brokers_kill(&brokers, 0);
    }
    assert_int_equal(heard.failures, 0);
    mcast_async_close(async);
    int listed = 0;
    assert_int_equal(mcast_list(handle, NULL, count, &listed, NULL), 0);
    assert_int_equal(listed, COUNT);
    mcast_close(handle);
}

#define BROKERS_TEST(name) cmocka_unit_test_setup_teardown(name, open_brokers, close_brokers)

UNIT_GROUP(open_cluster, close_cluster, BROKERS_TEST(handle__follows_the_leader),
           BROKERS_TEST(step_down__is_of_the_one_that_leads),
           BROKERS_TEST(handle__leaves_a_leader_that_hangs),
           BROKERS_TEST(stream__goes_on_at_the_next_leader),
           BROKERS_TEST(requests__in_flight_are_answered_by_the_next_leader))
