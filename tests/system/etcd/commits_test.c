/* SPDX-License-Identifier: Apache-2.0 */
/* B7: commits of a leader, while members, the network and other brokers do what they can do. */

#include "tests/system/etcd/scene.h"

/* A broker that leads behind the proxy. */
static int set_up(void **state)
{
    (void)scene_setup(state);
    struct scene *scene = *state;
    scene->broker = broker_loaded(&scene->behind);
    COMMIT(scene->broker.store, reservation(1, "f1"));
    return 0;
}

/* What another broker, the next leader, finds. */
static void assert_kept(struct scene *scene, const char *expected)
{
    struct broker next = {.etcd = etcd_of(&scene->options)};
    (void)ask(next.etcd, LEADER_RESIGN, scene->broker.lease);
    broker_lead(&next, ++last_lease);
    assert_ledger(next.store, expected);
    broker_resign(&next);
}

static void assert_sequence(struct scene *scene, unsigned commit)
{
    char wanted[40], *seq = etcdcluster_get(cluster, PREFIX "/seq");
    snprintf(wanted, sizeof wanted, "%016jx:%u", (uintmax_t)scene->broker.lease, commit);
    assert_non_null(seq);
    assert_string_equal(seq, wanted);
    free(seq);
}

static void assert_deposed(struct scene *scene, struct outcome *outcome, const char *words)
{
    end(&scene->broker, outcome);
    assert_int_equal(outcome->result.code, ERROR_NOT_LEADER);
    assert_non_null(outcome->failed);
    assert_words(outcome->result.error.text, words);
    batch_destroy(outcome->failed);
    *outcome = (struct outcome){0};
    begin(&scene->broker, outcome, reservation(99, "later"));
    end(&scene->broker, outcome);
    assert_int_equal(outcome->result.code, ERROR_NOT_LEADER);
    batch_destroy(outcome->failed);
}

/* A copy of a commit that sat in a stopped member's socket until the next one was done. */
static void commit__that_comes_late_again_does_nothing(void **state)
{
    struct scene *scene = *state;
    tcpproxy_keep(scene->proxy, "request_put");
    COMMIT(scene->broker.store, reservation(1, "second"), reservation(2, "f2"));
    assert_true(tcpproxy_kept(scene->proxy));
    assert_int_equal(tcpproxy_replay(scene->proxy), 200); /* nor at once */
    COMMIT(scene->broker.store, reservation(1, "third"), gone(2));
    assert_int_equal(tcpproxy_replay(scene->proxy), 200);
    assert_sequence(scene, 3);
    assert_kept(scene, "counters 2 0\nreservation 1 elcap-third\n");
    assert_int_equal(tcpproxy_replay(scene->proxy), 200);
    assert_kept(scene, "counters 2 0\nreservation 1 elcap-third\n");
}

static void commit__whose_answer_is_lost_is_done_once(void **state)
{
    struct scene *scene = *state;
    for (uint64_t i = 2; i < 6; i++) {
        struct outcome outcome = {0};
        tcpproxy_cut(scene->proxy, TCPPROXY_TO_CLIENT);
        begin(&scene->broker, &outcome, event(i - 1, 1));
        assert_true(await(answered, scene->proxy, AWAIT_DEADLINE_MS));
        tcpproxy_reset(scene->proxy, false);
        tcpproxy_cut(scene->proxy, 0);
        end(&scene->broker, &outcome);
        assert_int_equal(outcome.result.code, 0);
        assert_sequence(scene, (unsigned)i);
    }
    assert_kept(scene, "counters 1 4\nreservation 1 elcap-f1\nevent 1 of 1\nevent 2 of 1\n"
                       "event 3 of 1\nevent 4 of 1\n");
}

static void commit__without_its_leader_key_is_not_done(void **state)
{
    struct scene *scene = *state;
    struct outcome outcome = {0};
    assert_outcome(ask(scene->broker.etcd, LEADER_RESIGN, scene->broker.lease), LEADER_OK);
    begin(&scene->broker, &outcome, reservation(2, "f2"));
    assert_deposed(scene, &outcome, "another broker leads");
    assert_kept(scene, "counters 1 0\nreservation 1 elcap-f1\n");
}

static void commit__under_another_leader_is_not_done(void **state)
{
    struct scene *scene = *state;
    struct outcome outcome = {0};
    /* On its way while another broker wins, and loads. */
    tcpproxy_cut(scene->proxy, TCPPROXY_TO_SERVER);
    begin(&scene->broker, &outcome, reservation(2, "f2"));
    assert_true(await(asked, scene->proxy, AWAIT_DEADLINE_MS));
    struct broker next = {.etcd = etcd_of(&scene->options)};
    assert_outcome(ask(next.etcd, LEADER_RESIGN, scene->broker.lease), LEADER_OK);
    broker_lead(&next, ++last_lease);
    assert_ledger(next.store, "counters 1 0\nreservation 1 elcap-f1\n");
    COMMIT(next.store, reservation(2, "others"));
    tcpproxy_cut(scene->proxy, 0);
    assert_deposed(scene, &outcome, "another broker leads");
    broker_resign(&next);
    assert_kept(scene, "counters 2 0\nreservation 1 elcap-f1\nreservation 2 elcap-others\n");
}

/* I10 */
static void commit__ends_at_the_deadline(void **state)
{
    struct scene *scene = *state;
    struct outcome outcome = {0};
    const int64_t deadline = now_ms() + 300;
    etcdcluster_pause(cluster, 0);
    store_etcd_extend(scene->broker.store, deadline);
    begin(&scene->broker, &outcome, reservation(2, "f2"));
    await_readable(scene->broker.store);
    assert_true(now_ms() >= deadline);
    assert_deposed(scene, &outcome, "lease is over");
    etcdcluster_resume(cluster, 0);
    assert_int_equal(etcdcluster_await(cluster), 0);
    /* It may be done or not, but it is one of the two. */
    char *seq = etcdcluster_get(cluster, PREFIX "/seq");
    const bool done = strstr(seq, ":2");
    free(seq);
    assert_kept(scene, done ? "counters 2 0\nreservation 1 elcap-f1\nreservation 2 elcap-f2\n"
                            : "counters 1 0\nreservation 1 elcap-f1\n");
}

static void commit__goes_on_while_the_lease_is_kept(void **state)
{
    struct scene *scene = *state;
    struct outcome outcome = {0};
    tcpproxy_cut(scene->proxy, TCPPROXY_TO_SERVER);
    store_etcd_extend(scene->broker.store, now_ms() + 2 * LEASE_MS);
    begin(&scene->broker, &outcome, reservation(2, "f2"));
    assert_true(await(asked, scene->proxy, AWAIT_DEADLINE_MS));
    etcdcluster_kill(cluster, 0);
    tcpproxy_reset(scene->proxy, false);
    tcpproxy_cut(scene->proxy, 0);
    assert_int_equal(etcdcluster_restart(cluster, 0), 0);
    end(&scene->broker, &outcome);
    assert_int_equal(outcome.result.code, 0);
    assert_int_equal(etcdcluster_await(cluster), 0);
    assert_sequence(scene, 2);
}

static void commit__after_the_deadline_sends_nothing(void **state)
{
    struct scene *scene = *state;
    struct outcome outcome = {0};
    const uint64_t passed = tcpproxy_passed(scene->proxy, TCPPROXY_TO_SERVER);
    store_etcd_extend(scene->broker.store, now_ms());
    begin(&scene->broker, &outcome, reservation(2, "f2"));
    assert_deposed(scene, &outcome, "lease is over");
    assert_int_equal(tcpproxy_passed(scene->proxy, TCPPROXY_TO_SERVER), passed);
}

static void offer__is_begun_by_itself(void **state)
{
    struct scene *scene = *state;
    struct outcome first = {0}, second = {0};
    struct record record = reservation(3, "f3");
    tcpproxy_cut(scene->proxy, TCPPROXY_TO_CLIENT);
    begin(&scene->broker, &first, reservation(2, "f2"));
    assert_true(store_offer(scene->broker.store, batch_of(&record, 1), note_outcome, &second));
    assert_true(await(answered, scene->proxy, AWAIT_DEADLINE_MS));
    tcpproxy_cut(scene->proxy, 0);
    end(&scene->broker, &first);
    assert_null(store_withdraw(scene->broker.store));
    end(&scene->broker, &second);
    assert_sequence(scene, 3);
}

static void commit__into_a_full_etcd_is_made_when_there_is_space(void **state)
{
    enum { VALUE = 1 << 20, PUTS_MAX = 64 };
    struct scene *scene = *state;
    char *value = calloc(1, VALUE + 1), key[32];
    assert_non_null(value);
    scene_move(scene, &(struct etcdcluster_options){.quota_bytes = 4 * VALUE});
    struct broker broker = broker_loaded(&scene->options);
    memset(value, 'v', VALUE);
    int puts = 0;
    do
        snprintf(key, sizeof key, "/filling/%d", puts);
    while (etcdcluster_put(cluster, key, value) == 0 && ++puts < PUTS_MAX);
    assert_in_range(puts, 1, PUTS_MAX - 1);
    struct record record = reservation(1, "f1");
    struct outcome outcome = commit_batch(broker.store, batch_of(&record, 1));
    assert_int_equal(outcome.result.code, ERROR_FULL);
    assert_non_null(strstr(outcome.result.error.text, "no space"));
    /* The lease is kept, others who lead are seen, but none can begin. */
    assert_outcome(ask(broker.etcd, LEADER_KEEPALIVE, broker.lease), LEADER_OK);
    assert_outcome(ask(broker.etcd, LEADER_CAMPAIGN, broker.lease), LEADER_UNKNOWN);
    outcome = commit_batch(broker.store, outcome.failed);
    assert_int_equal(outcome.result.code, ERROR_FULL);

    /* What an administrator does: delete what filled it, and so on. */
    call("/v3/kv/deleterange", "{\"key\":\"L2ZpbGxpbmcv\",\"range_end\":\"L2ZpbGxpbmcw\"}");
    compact();
    call("/v3/maintenance/defragment", "{}");
    set_alarm(false);
    outcome = commit_batch(broker.store, outcome.failed);
    if (outcome.result.code)
        fail_msg("%s", outcome.result.error.text);
    broker_close(&broker);
    free(value);
}

/* ---- three members ---- */

static void commits__outlive_a_member(void **state)
{
    enum { COMMITS = 60, KILL_AT = 20, RESTART_AT = 40 };
    struct scene *scene = *state;
    scene_move(scene, &(struct etcdcluster_options){.members = 3});
    struct broker broker = broker_loaded(&scene->options);
    for (uint64_t i = 1; i <= COMMITS; i++) {
        struct outcome outcome = {0};
        struct record records[] = {event(i, 1), reservation(1, i % 2 ? "odd" : "even")};
        store_commit(broker.store, batch_of(records, 2), note_outcome, &outcome);
        if (i == KILL_AT) /* the one that is asked, which leads the others or not */
            etcdcluster_kill(cluster, 0);
        if (i == RESTART_AT)
            assert_int_equal(etcdcluster_restart(cluster, 0), 0);
        if (i == RESTART_AT + 5)
            etcdcluster_kill(cluster, (unsigned)etcdcluster_leader(cluster));
        end(&broker, &outcome);
        if (outcome.result.code)
            fail_msg("commit %ju: %s", (uintmax_t)i, outcome.result.error.text);
    }
    store_close(broker.store);
    broker.store = NULL;
    assert_outcome(ask(broker.etcd, LEADER_RESIGN, broker.lease), LEADER_OK);
    broker_lead(&broker, ++last_lease);
    char *text = ledger_text(broker.store);
    assert_memory_equal(text, "counters 1 60\nreservation 1 elcap-even\nevent 1 of 1\n", 48);
    assert_non_null(strstr(text, "event 60 of 1\n"));
    free(text);
    broker_close(&broker);
}

UNIT_GROUP(cluster_setup, cluster_teardown, TEST(commit__that_comes_late_again_does_nothing),
           TEST(commit__whose_answer_is_lost_is_done_once),
           TEST(commit__without_its_leader_key_is_not_done),
           TEST(commit__under_another_leader_is_not_done), TEST(commit__ends_at_the_deadline),
           TEST(commit__goes_on_while_the_lease_is_kept),
           TEST(commit__after_the_deadline_sends_nothing), TEST(offer__is_begun_by_itself),
           TEST(commit__into_a_full_etcd_is_made_when_there_is_space),
           TEST(commits__outlive_a_member))
