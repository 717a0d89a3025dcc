/* SPDX-License-Identifier: Apache-2.0 */
/* F24: by replaying events alone a resource manager knows every active reservation, with its VNIs
 * and addresses, as the list shows them; with a real broker and fabric manager. */

#include "client/mcast.h"
#include "tests/system/rig/await.h"
#include "tests/system/rig/testbed.h"
#include "tests/unit/unit.h"

enum { NUMBERS_MAX = 64, TEXT_SIZE = 256 };

/* What a resource manager keeps: a text for each reservation that is active. */
struct view {
    char has[NUMBERS_MAX][TEXT_SIZE]; /* by number; "": not active */
    uint64_t seen;                    /* the last event */
    unsigned lost, adopted;
};

static struct testbed *testbed;

static struct mcast *open_broker(void)
{
    struct mcast *handle = NULL;
    assert_int_equal(mcast_open(&handle, testbed_socket(testbed), NULL), 0);
    return handle;
}

static void describe(char out[TEXT_SIZE], const char *job, uint32_t uid, uint32_t nodes,
                     const uint16_t *vnis, size_t vni_count, uint32_t addresses)
{
    int used = snprintf(out, TEXT_SIZE, "%s uid %u, %u nodes, %u addresses, VNIs", job, uid, nodes,
                        addresses);
    for (size_t i = 0; i < vni_count; i++)
        used += snprintf(out + used, TEXT_SIZE - (size_t)used, " %u", vnis[i]);
}

static int apply(const struct mcast_event *event, void *data)
{
    struct view *view = data;
    assert_string_not_equal(event->event, "gap");
    view->seen = event->seq;
    view->lost += strcmp(event->event, "lost") == 0;
    view->adopted += strcmp(event->event, "adopted") == 0;
    if (!event->state)
        return 0;
    assert_in_range(event->number, 1, NUMBERS_MAX - 1);
    if (strcmp(event->state, "active") == 0)
        describe(view->has[event->number], event->job, event->uid, event->node_count, event->vnis,
                 event->vni_count, event->addresses);
    else
        view->has[event->number][0] = '\0';
    return 0;
}

static void replay(struct view *view)
{
    struct mcast *handle = open_broker();
    assert_int_equal(mcast_events(handle, view->seen, 0, apply, view, NULL), 0);
    mcast_close(handle);
}

static int list_one(const struct mcast_reservation *r, void *data)
{
    struct view *view = data;
    const bool holds = strcmp(r->hwcoll_state, "reserved") == 0;
    assert_in_range(r->number, 1, NUMBERS_MAX - 1);
    describe(view->has[r->number], r->job, r->uid, r->node_count, r->vnis, r->vni_count,
             holds ? r->hwcoll_addresses : 0);
    return 0;
}

/* All of one replay, and what a subscriber knows that was there all the time: both are the list. */
static void assert_same_as_list(struct view *follower)
{
    static struct view anew, listed;
    struct mcast_filter filter = MCAST_FILTER_INIT;
    struct mcast *handle = open_broker();
    memset(&anew, 0, sizeof anew);
    memset(&listed, 0, sizeof listed);
    filter.state = "active";
    assert_int_equal(mcast_list(handle, &filter, list_one, &listed, NULL), 0);
    mcast_close(handle);
    replay(&anew);
    replay(follower);
    for (size_t i = 0; i < NUMBERS_MAX; i++) {
        assert_string_equal(anew.has[i], listed.has[i]);
        assert_string_equal(follower->has[i], listed.has[i]);
    }
}

static const char *shown(const struct view *view, const char *job)
{
    for (size_t i = 0; i < NUMBERS_MAX; i++)
        if (strncmp(view->has[i], job, strlen(job)) == 0 && view->has[i][strlen(job)] == ' ')
            return view->has[i];
    return "";
}

static void reserve(struct mcast *handle, const char *job, const char *nodes, int vnis)
{
    struct mcast_request request = MCAST_REQUEST_INIT;
    struct mcast_error error;
    request.cluster = "elcap";
    request.job = job;
    request.uid = 5588;
    request.nodes = nodes;
    request.vni_count = vnis;
    if (mcast_reserve(handle, &request, NULL, &error) < 0)
        fail_msg("%s: %s", job, error.text);
}

static void post(struct plainhttp *http, const char *path, const char *body)
{
    struct plainhttp_reply reply;
    const int status = plainhttp_call(http, "POST", path, body, &reply);
    assert_in_range(status, 200, 201);
    plainhttp_reply_release(&reply);
}

static void restart_broker(void)
{
    testbed_kill_broker(testbed);
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_int_equal(testbed_await_link(testbed), 0);
}

static bool has_lost(void *arg)
{
    replay(arg);
    return ((struct view *)arg)->lost > 0;
}

static bool has_adopted(void *arg)
{
    replay(arg);
    return ((struct view *)arg)->adopted > 0;
}

/* Those of the former ledger's jobs may be any. */
static bool has_vnis(void *arg)
{
    return testbed_broker_logged(testbed, "can be given out again");
}

static void view__of_replay_alone_is_the_list(void **state)
{
    static struct view view;
    /* A new ledger finds what a former one had, and its jobs. */
    assert_int_equal(testbed_start_fm(testbed), 0);
    post(testbed_fm_http(testbed), "/fabric/collectives/jobs",
         "{\"jobID\":\"elcap-old\",\"mcastLimit\":1}");
    assert_int_equal(testbed_start_broker(testbed), 0);
    assert_true(await(has_adopted, &view, AWAIT_DEADLINE_MS));
    assert_same_as_list(&view);
    assert_string_not_equal(shown(&view, "old"), "");
    assert_true(await(has_vnis, NULL, AWAIT_DEADLINE_MS));

    struct mcast *handle = open_broker();
    reserve(handle, "f1", "elcap[1-128]", 1);
    reserve(handle, "f2", "elcap[129-256]", 4);
    reserve(handle, "f3", "elcap1", 0);       /* too small for addresses */
    reserve(handle, "f4", "elcap[1-100]", 2); /* to be lost */
    assert_same_as_list(&view);
    assert_non_null(strstr(shown(&view, "f1"), "f1 uid 5588, 128 nodes, 4 addresses, VNIs 1024"));
    assert_non_null(strstr(shown(&view, "f3"), "1 nodes, 0 addresses, VNIs"));

    /* A job ends, and begins anew under its id. */
    assert_int_equal(mcast_release(handle, "elcap", "f2", NULL, NULL), 0);
    assert_same_as_list(&view);
    assert_string_equal(shown(&view, "f2"), "");
    reserve(handle, "f2", "elcap[1-2]", 3);
    restart_broker();
    assert_same_as_list(&view);

    post(testbed_fm_http(testbed), "/mock/forget", "{\"jobs\":[\"elcap-f4\"]}");
    restart_broker();
    assert_true(await(has_lost, &view, AWAIT_DEADLINE_MS));
    assert_same_as_list(&view);
    assert_non_null(strstr(shown(&view, "f4"), "100 nodes, 0 addresses, VNIs"));
    assert_int_equal(view.lost, 1);

    /* The fabric manager is away: a job goes without. */
    assert_int_equal(testbed_stop_fm(testbed), 0);
    reserve(handle, "f5", "elcap[1-64]", 1);
    assert_same_as_list(&view);
    assert_non_null(strstr(shown(&view, "f5"), "64 nodes, 0 addresses, VNIs 10"));
    assert_int_equal(mcast_release(handle, "elcap", "f4", NULL, NULL), 0);
    assert_same_as_list(&view);
    mcast_close(handle);
}

static int create(void **state)
{
    const struct testbed_options options = {.mcastd = MCASTD,
                                            .mock_fm = MOCK_FM,
                                            .vni = "hold = 100ms\n",
                                            .fm = "grace = 100ms\nreserve_timeout = 1m\n"
                                                  "link_retry = 100ms\n",
                                            .hwcoll = "addresses_per_job = 4\nmin_nodes = 2\n"};
    testbed = testbed_create(&options);
    return testbed ? 0 : -1;
}

static int destroy(void **state)
{
    testbed_destroy(testbed);
    return 0;
}

UNIT_GROUP(create, destroy, cmocka_unit_test(view__of_replay_alone_is_the_list))
