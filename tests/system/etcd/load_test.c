/* SPDX-License-Identifier: Apache-2.0 */
/* B7: what the next leader reads: all of it, in order, checked; and commits that were too large for
 * one transaction. */

#include "tests/system/etcd/scene.h"

static int set_up(void **state)
{
    (void)scene_setup(state);
    struct scene *scene = *state;
    scene->broker = broker_of(&scene->options, ++last_lease);
    return 0;
}

/* The same process as another one that wins next, after the one with this lease. */
static void take_over_from(struct scene *scene, uint64_t lease)
{
    store_close(scene->broker.store);
    scene->broker.store = NULL;
    (void)ask(scene->broker.etcd, LEADER_RESIGN, lease);
    broker_lead(&scene->broker, ++last_lease);
}

static void take_over(struct scene *scene)
{
    take_over_from(scene, scene->broker.lease);
}

/* ---- all of it ---- */

enum { RECORDS = 20000, BATCH = 3000 };

static struct record record_of(uint64_t i, char *text)
{
    snprintf(text, 64, "f%ju", (uintmax_t)i);
    struct record record = i % 4 == 0   ? event(i / 4 + 1, i)
                           : i % 4 == 1 ? reservation(i, text)
                                        : (struct record){.kind = RECORD_NODE};
    if (record.kind == RECORD_RESERVATION) {
        record.u.reservation.token = secret_of("sess-01234567890123456789");
        record.u.reservation.nodes = "elcap[1-128]";
    }
    if (record.kind == RECORD_NODE)
        record.u.node = (struct node_record){
            .number = i - i % 4 + 1, .node = text, .order = i, .state = NODE_CREATED};
    return record;
}

static void commit_both(struct store *one, struct store *other, uint64_t from, uint64_t to)
{
    struct batch *first = batch_create(), *second = batch_create();
    for (uint64_t i = from; i < to; i++) {
        char text[64];
        const struct record record = record_of(i, text);
        batch_add(first, &record);
        batch_add(second, &record);
    }
    struct outcome outcome = commit_batch(one, first);
    if (outcome.result.code)
        fail_msg("%s", outcome.result.error.text);
    assert_int_equal(commit_batch(other, second).result.code, 0);
}

static void assert_same(struct store *one, struct store *other)
{
    char *text = ledger_text(other);
    assert_ledger(one, text);
    free(text);
}

static void load__gives_what_sqlite_gives(void **state)
{
    struct scene *scene = *state;
    char path[128];
    struct error err = {0};
    struct store *sqlite = store_sqlite_open(
        folder_path(path, sizeof path, scene->folder, "state.db"), scene->key_file, &err);
    assert_non_null(sqlite);
    broker_load(&scene->broker);
    for (uint64_t i = 1; i <= RECORDS; i += BATCH)
        commit_both(scene->broker.store, sqlite, i, i + BATCH < RECORDS ? i + BATCH : RECORDS);
    take_over(scene);
    assert_same(scene->broker.store, sqlite);
    store_close(sqlite);
}

/* Pages end at the latest where a few pages later would, by the numbers of the one before: the next
 * may be empty there, and the one after it far away. */
static void load__goes_on_after_a_gap(void **state)
{
    enum { PAGE = 2000, DENSE = 2 * PAGE + 300, GAP = 100 * PAGE };
    struct scene *scene = *state;
    struct error err = {0};
    struct store *memory = store_memory_open(&err);
    assert_non_null(memory);
    broker_load(&scene->broker);
    for (uint64_t number = 1; number <= 1 + GAP; number += GAP) {
        struct batch *batch = batch_create(), *same = batch_create();
        for (uint64_t i = number; i < number + DENSE; i++) {
            const struct record one = reservation(i, "f1"), other = event(i, i);
            batch_add(batch, &one);
            batch_add(batch, &other);
            batch_add(same, &one);
            batch_add(same, &other);
        }
        assert_int_equal(commit_batch(scene->broker.store, batch).result.code, 0);
        assert_int_equal(commit_batch(memory, same).result.code, 0);
    }
    take_over(scene);
    assert_same(scene->broker.store, memory);
    store_close(memory);
}

/* ---- too large for one transaction ---- */

static void redo__carries_out_all_of_a_large_commit(void **state)
{
    struct scene *scene = *state;
    struct error err = {0};
    struct store *memory = store_memory_open(&err);
    assert_non_null(memory);
    broker_load(&scene->broker);
    commit_both(scene->broker.store, memory, 1, RECORDS);
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/redo/"), 0);
    struct batch *batch = batch_create(), *same = batch_create();
    for (uint64_t i = 1; i < RECORDS; i += 4) { /* as many ranges */
        const struct record record = gone(i);
        batch_add(batch, &record);
        batch_add(same, &record);
    }
    assert_int_equal(commit_batch(scene->broker.store, batch).result.code, 0);
    assert_int_equal(commit_batch(memory, same).result.code, 0);
    COMMIT(scene->broker.store, prune(100), founded());
    COMMIT(memory, prune(100), founded());
    take_over(scene);
    assert_same(scene->broker.store, memory);
    store_close(memory);
}

static struct batch *events_of(uint64_t first, uint64_t last)
{
    struct batch *batch = batch_create();
    for (uint64_t seq = first; seq <= last; seq++) {
        const struct record record = event(seq, 1);
        batch_add(batch, &record);
    }
    return batch;
}

struct sending {
    struct tcpproxy *proxy;
    struct store *store;
    uint64_t bytes;
};

static bool has_sent_or_ended(void *arg)
{
    const struct sending *sending = arg;
    struct pollfd ended = {.fd = store_fd(sending->store), .events = POLLIN};
    return tcpproxy_passed(sending->proxy, TCPPROXY_TO_SERVER) >= sending->bytes ||
           poll(&ended, 1, 0) == 1;
}

/* Commits, and waits until so many bytes of that were sent. */
static void commit_some(struct scene *scene, struct broker *broker, struct batch *batch,
                        uint64_t bytes, struct outcome *outcome)
{
    struct sending sending = {scene->proxy, broker->store, bytes};
    sending.bytes += tcpproxy_passed(scene->proxy, TCPPROXY_TO_SERVER);
    *outcome = (struct outcome){0};
    store_commit(broker->store, batch, note_outcome, outcome);
    assert_true(await(has_sent_or_ended, &sending, AWAIT_DEADLINE_MS));
}

/* The same, and then it loses its members and ends. */
static int commit_and_die(struct scene *scene, struct broker *broker, struct batch *batch,
                          uint64_t bytes)
{
    struct outcome outcome;
    commit_some(scene, broker, batch, bytes, &outcome);
    tcpproxy_reset(scene->proxy, true);
    store_etcd_extend(broker->store, now_ms());
    end(broker, &outcome);
    batch_destroy(outcome.failed);
    broker_close(broker);
    tcpproxy_reset(scene->proxy, false);
    return outcome.result.code;
}

/* A broker behind the proxy leads instead of the scene's. */
static struct broker lead_behind(struct scene *scene)
{
    assert_outcome(ask(scene->broker.etcd, LEADER_RESIGN, scene->broker.lease), LEADER_OK);
    return broker_loaded(&scene->behind);
}

static uint64_t count_events(struct store *store)
{
    char *text = ledger_text(store);
    uint64_t events = 0;
    /* Not strstr: a sanitizer looks each time at all that is left, before it searches. */
    for (const char *at = text; *at; at++)
        events += *at == '\n' && strncmp(at, "\nevent ", 7) == 0;
    free(text);
    return events;
}

/* A leader that ends anywhere on the way: the next one finds all of the commit, or nothing. */
static void redo__is_all_or_nothing(void **state)
{
    enum { ROUNDS = 12, EVENTS = 5000, STEP = 200000 }; /* some 2.5 MB are sent in all */
    struct scene *scene = *state;
    unsigned whole = 0, none = 0, parts = 0;
    broker_load(&scene->broker);
    COMMIT(scene->broker.store, reservation(1, "f1"));
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct broker broker = lead_behind(scene);
        const int code = commit_and_die(scene, &broker, events_of(1, EVENTS), round * STEP);
        parts += etcdcluster_count(cluster, PREFIX "/redo/") > 0;
        take_over_from(scene, last_lease);
        const uint64_t events = count_events(scene->broker.store);
        assert_true(events == EVENTS || (events == 0 && code == ERROR_NOT_LEADER));
        *(events == 0 ? &none : &whole) += 1;
        assert_int_equal(etcdcluster_count(cluster, PREFIX "/redo/"), 0);
        COMMIT(scene->broker.store, prune(EVENTS));
    }
    print_message("whole %u, nothing %u, of these with parts left %u\n", whole, none, parts);
    assert_true(whole > 0 && none > 0 && parts > 0);
}

/* The first transaction of a large commit arrives once more, from a member that was stopped, while
 * the others are under way: it would delete the parts that are there by then. */
static void redo__that_comes_late_again_does_nothing(void **state)
{
    enum { EVENTS = 20000, SOME = 3000000 }; /* bytes, of some 10 MB that are sent in all */
    struct scene *scene = *state;
    struct outcome outcome;
    broker_load(&scene->broker);
    struct broker broker = lead_behind(scene);
    tcpproxy_keep(scene->proxy, "request_delete_range");
    commit_some(scene, &broker, events_of(1, EVENTS), SOME, &outcome);
    tcpproxy_cut(scene->proxy, TCPPROXY_TO_SERVER);
    assert_int_equal(poll(&(struct pollfd){.fd = store_fd(broker.store), .events = POLLIN}, 1, 0),
                     0);
    assert_true(tcpproxy_kept(scene->proxy));
    assert_int_equal(tcpproxy_replay(scene->proxy), 200);
    tcpproxy_cut(scene->proxy, 0);
    end(&broker, &outcome);
    assert_int_equal(outcome.result.code, 0);
    broker_close(&broker);
    take_over_from(scene, last_lease);
    assert_int_equal(count_events(scene->broker.store), EVENTS);
}

static bool is_marked(void *unused)
{
    char *mark = etcdcluster_get(cluster, PREFIX "/redo/0000000000000001");
    const bool there = mark;
    free(mark);
    return there;
}

/* etcd is full when the parts are whole and not all carried out; the broker dies while it goes on
 * with them. What was begun stays marked until it is done. */
static void redo__that_is_marked_is_never_begun_anew(void **state)
{
    enum { EVENTS = 20000, SOME = 500000 };
    struct scene *scene = *state;
    struct outcome outcome = {0};
    struct broker broker = lead_behind(scene);
    tcpproxy_delay(scene->proxy, 20); /* so that parts are left when the alarm is on */
    store_commit(broker.store, events_of(1, EVENTS), note_outcome, &outcome);
    assert_true(await(is_marked, NULL, AWAIT_DEADLINE_MS));
    set_alarm(true);
    end(&broker, &outcome);
    assert_int_equal(outcome.result.code, ERROR_FULL);
    set_alarm(false);
    tcpproxy_delay(scene->proxy, 0);
    (void)commit_and_die(scene, &broker, outcome.failed, SOME);
    take_over_from(scene, last_lease);
    assert_int_equal(count_events(scene->broker.store), EVENTS);
}

#define REDO PREFIX "/redo/0000000000000007"
/* {"request_delete_range":{"key":"…"}} of PREFIX/event/0000000000000001, and of /other */
#define DELETE_EVENT                                                                               \
    "{\"request_delete_range\":{\"key\":"                                                          \
    "\"L21jYXN0ZC9lbGNhcC9ldmVudC8wMDAwMDAwMDAwMDAwMDAx\"}}"
#define DELETE_OTHER "{\"request_delete_range\":{\"key\":\"L290aGVy\"}}"

static void assert_load_fails(struct scene *scene, int code, const char *words)
{
    struct error err = {0};
    take_over(scene);
    assert_int_equal(load_all(scene->broker.store, ignore_record, NULL, &err), code);
    assert_words(err.text, words);
}

static void redo__without_its_mark_is_deleted(void **state)
{
    struct scene *scene = *state;
    broker_load(&scene->broker);
    COMMIT(scene->broker.store, event(1, 1));
    put(REDO "/0000000000000000", "[" DELETE_EVENT "]");
    take_over(scene);
    assert_ledger(scene->broker.store, "counters 0 1\nevent 1 of 1\n");
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/redo/"), 0);
    put(REDO "/0000000000000000", "[" DELETE_EVENT "]");
    put(REDO, "whole");
    take_over(scene);
    assert_ledger(scene->broker.store, "counters 0 1\n");
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/redo/"), 0);
}

static void redo__carries_out_no_other_operations(void **state)
{
    struct scene *scene = *state;
    static const char *const parts[] = {
        "",
        "[]",
        "{}",
        "[7]",
        "[" DELETE_OTHER "]",
        "[" DELETE_EVENT "," DELETE_OTHER "]",
        "[{\"request_txn\":{\"success\":[" DELETE_OTHER "]}}]",
        "[{\"request_txn\":{\"failure\":[" DELETE_EVENT "]}}]",
        "[{\"request_txn\":{\"success\":[{\"request_txn\":{\"success\":[" DELETE_EVENT "]}}]}}]",
        "[{\"request_range\":{\"key\":\"L290aGVy\"}}]",
        "[" DELETE_EVENT "],\"failure\":["};
    broker_load(&scene->broker);
    COMMIT(scene->broker.store, event(1, 1));
    put("/other", "x");
    put(REDO, "whole");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        put(REDO "/0000000000000000", parts[i]);
        assert_load_fails(scene, ERROR_CORRUPT, "is no such part");
    }
    assert_int_equal(etcdcluster_count(cluster, "/other"), 1);
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/event/"), 1);
}

/* One endpoint names a member of another cluster, by mistake, and is asked while the others do not
 * answer: that the ledger is not there must not be taken for one that is empty. */
static void load__reads_no_other_cluster(void **state)
{
    enum { MORE_REVISIONS = 40 };
    struct scene *scene = *state;
    struct error err = {0};
    struct etcdcluster *other = etcdcluster_create(&(struct etcdcluster_options){0});
    assert_non_null(other);
    for (int i = 0; i < MORE_REVISIONS; i++)
        assert_int_equal(etcdcluster_put(other, "/other", "x"), 0);
    scene_move(scene, &(struct etcdcluster_options){0});
    scene->urls[1] = etcdcluster_url(other, 0);
    scene->behind.endpoint_count = 2;
    struct broker broker = broker_loaded(&scene->behind);
    COMMIT(broker.store, reservation(1, "f1"));
    store_close(broker.store);
    assert_outcome(ask(broker.etcd, LEADER_RESIGN, broker.lease), LEADER_OK);
    broker_lead(&broker, ++last_lease);
    assert_int_equal(store_load(broker.store, ignore_record, NULL, &err), 1);
    await_readable(broker.store); /* the first look is made; no page was asked for */
    tcpproxy_reset(scene->proxy, true);
    assert_int_equal(load_all(broker.store, ignore_record, NULL, &err), ERROR_IO);
    assert_words(err.text, "is no member of the cluster that was asked before");
    assert_words(err.text, etcdcluster_url(other, 0));
    broker_close(&broker);
    etcdcluster_destroy(other);
}

/* ---- what no broker wrote ---- */

static void load__refuses_what_is_damaged(void **state)
{
    struct scene *scene = *state;
    static const struct {
        const char *key, *value, *words;
        int code;
    } damages[] = {
        {"/counters", "{\"last_number\":-1}", "counters: last_number is out of range",
         ERROR_CORRUPT},
        {"/counters", "", "counters: not a JSON object", ERROR_CORRUPT},
        {"/counters", "{\"last_seq\":1}", "reservation 1 is beyond the counters", ERROR_CORRUPT},
        {"/founded", "{\"more\":1}", "newer mcastd", ERROR_VERSION},
        {"/facts", "{\"boot\":7}", "facts: boot is missing or too long", ERROR_CORRUPT},
        {"/reservation/0000000000000002", "{\"number\":1}", "reservation 1: ", ERROR_CORRUPT},
        {"/reservation/0000000000000001", "[]", "not a JSON object", ERROR_CORRUPT},
        {"/reservation/0000000000000001", "{\"number\":1,\"number\":1}", "not a JSON object",
         ERROR_CORRUPT},
        {"/event/0000000000000001", "{\"seq\":2,\"kind\":1}", "event with the key of another one",
         ERROR_CORRUPT},
        {"/event/1", "{\"seq\":1,\"kind\":1}", "event with the key of another one", ERROR_CORRUPT},
        {"/event/0000000000000009", "{\"seq\":9,\"kind\":1}", "event 9 is beyond the counters",
         ERROR_CORRUPT},
        {"/node/0000000000000001/n2", "{\"number\":1,\"node\":\"n1\",\"state\":1}",
         "node with the key", ERROR_CORRUPT},
        {"/cleanup/0000000000000001/1/0", "{\"number\":1,\"step\":\"0\"}", "cleanup with the key",
         ERROR_CORRUPT},
        {"/other", "{}", "which is not one of a ledger", ERROR_INVALID},
        {"/ledger", "{\"format\":\"mcastd\",\"version\":9,\"key\":\"0\"}", "version 9",
         ERROR_VERSION},
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char key[128];
        struct error err = {0};
        assert_int_equal(etcdcluster_wipe(cluster), 0);
        take_over(scene);
        broker_load(&scene->broker);
        COMMIT(scene->broker.store, reservation(1, "f1"), event(1, 1));
        snprintf(key, sizeof key, PREFIX "%s", damages[i].key);
        put(key, damages[i].value);
        const int code = load_all(scene->broker.store, ignore_record, NULL, &err);
        if (code != damages[i].code || !strstr(err.text, damages[i].words))
            fail_msg("%s := %s: %d \"%s\"", key, damages[i].value, code, err.text);
        assert_non_null(strstr(err.text, PREFIX));
    }
    assert_int_equal(etcdcluster_wipe(cluster), 0);
    assert_outcome(ask(scene->broker.etcd, LEADER_TEST, 0), LEADER_OK);
}

/* B8: no token leaves the process as it is, and one that was moved does not open. */
static void load__opens_tokens_where_they_were_sealed(void **state)
{
    struct scene *scene = *state;
    struct record record = reservation(1, "f1");
    record.u.reservation.token = secret_of("sess-of-a-job");
    broker_load(&scene->broker);
    COMMIT(scene->broker.store, record);
    char *value = etcdcluster_get(cluster, PREFIX "/reservation/0000000000000001");
    assert_non_null(value);
    assert_null(strstr(value, "sess-of-a-job"));
    char *number = strstr(value, "\"number\":1");
    assert_non_null(number);
    number[strlen("\"number\":")] = '2';
    put(PREFIX "/reservation/0000000000000002", value);
    put(PREFIX "/counters", "{\"last_number\":2}");
    assert_load_fails(scene, ERROR_CORRUPT, "reservation 2: its token does not open");
    free(value);
}

static void load__ends_when_another_broker_leads(void **state)
{
    struct scene *scene = *state;
    struct error err = {0};
    assert_outcome(ask(scene->broker.etcd, LEADER_RESIGN, scene->broker.lease), LEADER_OK);
    assert_int_equal(load_all(scene->broker.store, ignore_record, NULL, &err), ERROR_NOT_LEADER);
}

/* Its revision is gone: another try, by whoever leads next, reads a newer one. */
static void load__ends_when_its_revision_is_compacted(void **state)
{
    struct scene *scene = *state;
    struct error err = {0};
    broker_load(&scene->broker);
    for (uint64_t last = 2000; last <= 6000; last += 2000)
        assert_int_equal(
            commit_batch(scene->broker.store, events_of(last - 1999, last)).result.code, 0);
    take_over(scene);
    for (int i = 0; i < 2; i++) { /* the first look has been taken in */
        assert_int_equal(store_load(scene->broker.store, ignore_record, NULL, &err), 1);
        await_readable(scene->broker.store);
    }
    put("/other", "x");
    compact();
    assert_int_equal(load_all(scene->broker.store, ignore_record, NULL, &err), ERROR_NOT_LEADER);
    assert_words(err.text, "auto-compaction-retention");
    take_over(scene);
    assert_int_equal(count_events(scene->broker.store), 6000);
}

UNIT_GROUP(cluster_setup, cluster_teardown, TEST(load__gives_what_sqlite_gives),
           TEST(load__goes_on_after_a_gap), TEST(redo__carries_out_all_of_a_large_commit),
           TEST(redo__is_all_or_nothing), TEST(redo__that_comes_late_again_does_nothing),
           TEST(redo__that_is_marked_is_never_begun_anew), TEST(load__reads_no_other_cluster),
           TEST(redo__without_its_mark_is_deleted), TEST(redo__carries_out_no_other_operations),
           TEST(load__refuses_what_is_damaged), TEST(load__opens_tokens_where_they_were_sealed),
           TEST(load__ends_when_another_broker_leads),
           TEST(load__ends_when_its_revision_is_compacted))
