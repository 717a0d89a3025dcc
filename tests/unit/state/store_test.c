/* SPDX-License-Identifier: Apache-2.0 */
/* The contract of store.h, each test against all keepers: that on etcd in tests/system/etcd. */

#include "tests/unit/state/fixture.h"
#ifdef STORE_TEST_ETCD
#include "tests/system/etcd/ledger.h"
#undef UNIT_MAIN
#define UNIT_MAIN(...) UNIT_GROUP(cluster_setup, cluster_teardown, __VA_ARGS__)
#endif

static void store__starts_empty(void **state)
{
    struct fixture *fixture = *state;
    assert_ledger(fixture->store, "counters 0 0\n");
}

enum { STRINGS = 7 };

struct copy {
    struct record record;
    char *strings[STRINGS];
};

static int copy_reservation(void *arg, const struct record *record)
{
    struct copy *copy = arg;
    if (record->kind != RECORD_RESERVATION)
        return 0;
    copy->record = *record;
    const struct reservation_record *r = &record->u.reservation;
    const char *strings[STRINGS] = {
        r->cluster, r->job, r->nodes, secret_expose(r->token), r->reason, secret_expose(r->key),
        r->profile};
    for (int i = 0; i < STRINGS; i++)
        copy->strings[i] = strings[i] ? strdup(strings[i]) : NULL;
    return 0;
}

static void assert_same_string(const char *a, const char *b)
{
    assert_int_equal(!a, !b);
    if (a)
        assert_string_equal(a, b);
}

static void assert_comes_back(struct fixture *fixture, const struct reservation_record *r)
{
    COMMIT(fixture->store, {.kind = RECORD_RESERVATION, .u.reservation = *r});
    fixture_reopen(fixture);
    struct copy copy = {0};
    assert_int_equal(load_all(fixture->store, copy_reservation, &copy, NULL), 0);
    const struct reservation_record *got = &copy.record.u.reservation;
    assert_int_equal(got->number, r->number);
    assert_int_equal(got->uid, r->uid);
    assert_int_equal(got->node_count, r->node_count);
    assert_int_equal(got->cores_per_node, r->cores_per_node);
    assert_int_equal(got->addresses, r->addresses);
    assert_int_equal(got->min_nodes, r->min_nodes);
    assert_memory_equal(got->vnis, r->vnis, sizeof r->vnis);
    assert_int_equal(got->vni_count, r->vni_count);
    assert_int_equal(got->vni_asked, r->vni_asked);
    assert_int_equal(got->shared_count, r->shared_count);
    assert_int_equal(got->traffic_classes, r->traffic_classes);
    assert_int_equal(got->wish, r->wish);
    assert_int_equal(got->state, r->state);
    assert_int_equal(got->hwcoll, r->hwcoll);
    assert_int_equal(got->fm_side, r->fm_side);
    assert_int_equal(got->regranted, r->regranted);
    assert_int_equal(got->launched, r->launched);
    assert_int_equal(got->created_ms, r->created_ms);
    assert_int_equal(got->released_ms, r->released_ms);
    assert_int_equal(got->hold_until_ms, r->hold_until_ms);
    assert_int_equal(got->interconnect, r->interconnect);
    assert_int_equal(got->tasks_per_node, r->tasks_per_node);
    assert_int_equal(got->cpus_per_task, r->cpus_per_task);
    assert_int_equal(got->pkey, r->pkey);
    const char *strings[STRINGS] = {
        r->cluster, r->job, r->nodes, secret_expose(r->token), r->reason, secret_expose(r->key),
        r->profile};
    for (int i = 0; i < STRINGS; i++) {
        assert_same_string(copy.strings[i], strings[i]);
        free(copy.strings[i]);
    }
}

static void reservation__comes_back_in_every_field(void **state)
{
    assert_comes_back(*state, &(struct reservation_record){
                                  .number = INT64_MAX / 2,
                                  .cluster = "a_cluster_of_32_bytes_0123456789",
                                  .job = "f2Rs8.:@+-",
                                  .nodes = "elcap[1-128]",
                                  .token = secret_of("a.b-c_d"),
                                  .key = secret_of("0123456789abcdef0123456789abcdef"),
                                  .reason = "it's \"quoted\", \xc3\xa4nd \n more",
                                  .profile = "large_jobs",
                                  .uid = UINT32_MAX,
                                  .node_count = 11136,
                                  .cores_per_node = 96,
                                  .tasks_per_node = 48,
                                  .cpus_per_task = 2,
                                  .interconnect = INTERCONNECT_OMNIPATH,
                                  .pkey = 0x7ffe,
                                  .addresses = 23,
                                  .min_nodes = 64,
                                  .vnis = {1024, 65535, 0, 2},
                                  .vni_count = 4,
                                  .vni_asked = 3,
                                  .shared_count = 2,
                                  .traffic_classes = 15,
                                  .wish = WISH_REQUIRED,
                                  .state = JOB_RELEASING,
                                  .hwcoll = HWCOLL_RELEASED,
                                  .fm_side = FM_SIDE_THERE,
                                  .launched = 1,
                                  .created_ms = 1700000000001,
                                  .released_ms = 1700000000002,
                                  .hold_until_ms = 253402300799999,
                              });
}

/* A node can report so many of a job that no ledger knows (B1): the ledger loads with them. */
static void reservation__may_have_shared_vnis_only(void **state)
{
    struct record record = reservation(1, "f1");
    record.u.reservation.vni_count = VNI_PER_JOB_MAX;
    record.u.reservation.shared_count = VNI_PER_JOB_MAX;
    assert_comes_back(*state, &record.u.reservation);
}

static void reservation__keeps_null_apart_from_empty(void **state)
{
    struct record record = reservation(1, "f1");
    record.u.reservation.nodes = "";
    record.u.reservation.token = secret_of("");
    record.u.reservation.reason = NULL;
    assert_comes_back(*state, &record.u.reservation);
    record.u.reservation.nodes = NULL;
    record.u.reservation.token = secret_of(NULL);
    record.u.reservation.reason = "";
    assert_comes_back(*state, &record.u.reservation);
}

static void reservation__keeps_the_longest_node_list(void **state)
{
    static char nodes[65536 + 1];
    memset(nodes, 'n', sizeof nodes - 1);
    struct record record = reservation(1, "f1");
    record.u.reservation.nodes = nodes;
    assert_comes_back(*state, &record.u.reservation);
}

static int copy_event(void *arg, const struct record *record)
{
    struct copy *copy = arg;
    if (record->kind != RECORD_EVENT)
        return 0;
    copy->record = *record;
    const struct event_record *e = &record->u.event;
    const char *strings[5] = {e->cluster, e->job, e->detail, e->node, e->clusters};
    for (int i = 0; i < 5; i++)
        copy->strings[i] = strings[i] ? strdup(strings[i]) : NULL;
    return 0;
}

static void assert_event_comes_back(struct fixture *fixture, const struct event_record *e)
{
    COMMIT(fixture->store, {.kind = RECORD_EVENT, .u.event = *e});
    fixture_reopen(fixture);
    struct copy copy = {0};
    assert_int_equal(load_all(fixture->store, copy_event, &copy, NULL), 0);
    const struct event_record *got = &copy.record.u.event;
    assert_int_equal(got->seq, e->seq);
    assert_int_equal(got->time_ms, e->time_ms);
    assert_int_equal(got->number, e->number);
    assert_int_equal(got->uid, e->uid);
    assert_int_equal(got->kind, e->kind);
    assert_int_equal(got->node_count, e->node_count);
    assert_int_equal(got->addresses, e->addresses);
    assert_memory_equal(got->vnis, e->vnis, sizeof e->vnis);
    assert_int_equal(got->vni_count, e->vni_count);
    assert_int_equal(got->state, e->state);
    const char *strings[5] = {e->cluster, e->job, e->detail, e->node, e->clusters};
    for (int i = 0; i < 5; i++) {
        assert_same_string(copy.strings[i], strings[i]);
        free(copy.strings[i]);
    }
}

static void event__comes_back_in_every_field(void **state)
{
    assert_event_comes_back(
        *state,
        &(struct event_record){.seq = 1, .time_ms = 1700000000003, .kind = EVENT_LINK_DOWN});
    assert_event_comes_back(*state, &(struct event_record){.seq = 2,
                                                           .time_ms = 1700000000004,
                                                           .number = 4711,
                                                           .cluster = "elcap",
                                                           .job = "f1",
                                                           .detail = "the fabric manager said 507",
                                                           .node = "elcap7",
                                                           .clusters = "elcap,tuo",
                                                           .uid = UINT32_MAX,
                                                           .node_count = 11136,
                                                           .addresses = 23,
                                                           .vnis = {1024, 65535, 7, 8},
                                                           .vni_count = 4,
                                                           .state = JOB_RELEASING,
                                                           .kind = EVENT_LOST});
}

static void load__gives_reservations_by_number_then_events_by_seq(void **state)
{
    struct fixture *fixture = *state;
    COMMIT(fixture->store, event(1, 5), reservation(5, "f5"), reservation(2, "f2"));
    COMMIT(fixture->store, reservation(9, "f9"), event(2, 9), founded(), event(3, 0));
    COMMIT(fixture->store, reservation(7, "f7"));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 9 3\n"
                                  "founded\n"
                                  "reservation 2 elcap-f2\n"
                                  "reservation 5 elcap-f5\n"
                                  "reservation 7 elcap-f7\n"
                                  "reservation 9 elcap-f9\n"
                                  "event 1 of 5\n"
                                  "event 2 of 9\n"
                                  "event 3 of 0\n");
}

/* B1, B2: before the reservations, which have some of them. */
static void shared_vnis__come_back_and_go(void **state)
{
    struct fixture *fixture = *state;
    COMMIT(fixture->store, shared_vni(2000, "daos"), shared_vni(0, "mochi"), reservation(1, "f1"),
           partitions("beta 3000-3999\ngamma 7\n"));
    COMMIT(fixture->store, shared_vni(65535, "x.y_z-1"), partitions("beta 3000\n"));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 1 0\n"
                                  "partitions beta 3000\n"
                                  "shared 0 mochi of 5588 for 1000,1001 in elcap, open\n"
                                  "shared 2000 daos of 5588 for 1000,1001 in elcap, open\n"
                                  "shared 65535 x.y_z-1 of 5588 for 1000,1001 in elcap, open\n"
                                  "reservation 1 elcap-f1\n");
    struct record closed = shared_vni(2000, "daos");
    closed.u.shared_vni.state = SHARED_QUARANTINED;
    closed.u.shared_vni.users = closed.u.shared_vni.clusters = "";
    COMMIT(fixture->store, closed, {.kind = RECORD_SHARED_GONE, .u.shared_gone = 0},
           {.kind = RECORD_SHARED_GONE, .u.shared_gone = 65535}, partitions(""));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 1 0\n"
                                  "partitions "
                                  "shared 2000 daos of 5588 for  in , quarantined\n"
                                  "reservation 1 elcap-f1\n");
}

static int end_at_reservation(void *arg, const struct record *record)
{
    int *calls = arg;
    ++*calls;
    return record->kind == RECORD_RESERVATION ? ERROR_REFUSED : 0;
}

static void load__ends_with_what_each_said(void **state)
{
    struct fixture *fixture = *state;
    COMMIT(fixture->store, reservation(1, "f1"), reservation(2, "f2"), event(1, 1));
    int calls = 0;
    assert_int_equal(load_all(fixture->store, end_at_reservation, &calls, NULL), ERROR_REFUSED);
    assert_int_equal(calls, 2);
}

static void reservation__is_replaced_by_number(void **state)
{
    struct fixture *fixture = *state;
    COMMIT(fixture->store, reservation(1, "f1"), reservation(2, "f2"));
    COMMIT(fixture->store, reservation(1, "requeued"));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 2 0\n"
                                  "reservation 1 elcap-requeued\n"
                                  "reservation 2 elcap-f2\n");
}

static void gone__deletes_the_reservation(void **state)
{
    struct fixture *fixture = *state;
    COMMIT(fixture->store, reservation(1, "f1"), reservation(2, "f2"), reservation(3, "f3"));
    COMMIT(fixture->store, gone(2), gone(2));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 3 0\n"
                                  "reservation 1 elcap-f1\n"
                                  "reservation 3 elcap-f3\n");
}

static void batch__is_applied_in_order(void **state)
{
    struct fixture *fixture = *state;
    COMMIT(fixture->store, reservation(1, "a"), gone(1), reservation(1, "b"), reservation(2, "c"),
           gone(2), event(1, 1), event(2, 1), prune(1), event(3, 1));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 2 3\n"
                                  "reservation 1 elcap-b\n"
                                  "event 2 of 1\n"
                                  "event 3 of 1\n");
}

static void prune__deletes_events_up_to_and_with_its_seq(void **state)
{
    struct fixture *fixture = *state;
    COMMIT(fixture->store, event(1, 1), event(2, 1), event(3, 1), event(4, 1));
    COMMIT(fixture->store, prune(2));
    COMMIT(fixture->store, prune(1), prune(0));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 0 4\nevent 3 of 1\nevent 4 of 1\n");
}

/* S3: a number is never given out again, also when nothing else remembers it. */
static void counters__outlive_the_rows(void **state)
{
    struct fixture *fixture = *state;
    COMMIT(fixture->store, reservation(7, "f7"), event(1, 7), event(2, 7));
    COMMIT(fixture->store, gone(7), prune(2));
    COMMIT(fixture->store, reservation(3, "f3"));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 7 2\nreservation 3 elcap-f3\n");
    COMMIT(fixture->store, gone(3));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 7 2\n");
}

static void counters__know_a_number_that_came_and_went_in_one_batch(void **state)
{
    struct fixture *fixture = *state;
    COMMIT(fixture->store, gone(12));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 12 0\n");
}

static void founded__stays(void **state)
{
    struct fixture *fixture = *state;
    COMMIT(fixture->store, founded());
    COMMIT(fixture->store, reservation(1, "f1"));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 1 0\nfounded\nreservation 1 elcap-f1\n");
}

static void batch__copies_what_it_is_given(void **state)
{
    struct fixture *fixture = *state;
    char job[] = "before", nodes[] = "elcap[1-2]";
    struct record record = reservation(1, job);
    record.u.reservation.nodes = nodes;
    struct batch *batch = batch_of(&record, 1);
    memset(job, 'x', sizeof job - 1);
    memset(nodes, 'x', sizeof nodes - 1);
    memset(&record, 0xff, sizeof record);
    assert_int_equal(commit_batch(fixture->store, batch).result.code, 0);
    assert_ledger(fixture->store, "counters 1 0\nreservation 1 elcap-before\n");
}

static void batch__counts_its_records(void **state)
{
    struct fixture *fixture = *state;
    struct batch *batch = batch_create();
    assert_int_equal(batch_size(batch), 0);
    for (uint64_t i = 1; i <= 5000; i++) {
        struct record record = i % 2 ? reservation(i, "f1") : event(i, i);
        batch_add(batch, &record);
    }
    assert_int_equal(batch_size(batch), 5000);
    batch_destroy(batch);
    batch_destroy(NULL);
    assert_ledger(fixture->store, "counters 0 0\n");
}

static void dispatch__without_a_commit_does_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct pollfd readable = {.fd = store_fd(fixture->store), .events = POLLIN};
    assert_int_equal(poll(&readable, 1, 0), 0);
    store_dispatch(fixture->store);
    COMMIT(fixture->store, reservation(1, "f1"));
    assert_int_equal(poll(&readable, 1, 0), 0);
    store_dispatch(fixture->store);
}

static void commit__reports_from_dispatch_only(void **state)
{
    struct fixture *fixture = *state;
    struct outcome outcome = {0};
    struct record record = reservation(1, "f1");
    store_commit(fixture->store, batch_of(&record, 1), note_outcome, &outcome);
    await_readable(fixture->store);
    assert_int_equal(outcome.calls, 0);
    store_dispatch(fixture->store);
    assert_int_equal(outcome.calls, 1);
    assert_int_equal(outcome.result.code, 0);
    assert_true(outcome.result.took_us >= 0);
    store_dispatch(fixture->store);
    assert_int_equal(outcome.calls, 1);
}

struct chain {
    struct store *store;
    uint64_t next, last;
};

static void commit_next(void *arg, const struct commit_result *result, struct batch *failed)
{
    struct chain *chain = arg;
    assert_int_equal(result->code, 0);
    assert_null(failed);
    if (chain->next > chain->last) {
        chain->store = NULL;
        return;
    }
    struct record record = reservation(chain->next++, "f1");
    store_commit(chain->store, batch_of(&record, 1), commit_next, chain);
}

/* G3: the next commit starts before the last one's requests are answered. */
static void done__may_start_the_next_commit(void **state)
{
    struct fixture *fixture = *state;
    struct chain chain = {.store = fixture->store, .next = 2, .last = 5};
    struct record record = reservation(1, "f1");
    store_commit(fixture->store, batch_of(&record, 1), commit_next, &chain);
    while (chain.store) {
        await_readable(fixture->store);
        store_dispatch(fixture->store);
    }
    assert_ledger(fixture->store, "counters 5 0\n"
                                  "reservation 1 elcap-f1\n"
                                  "reservation 2 elcap-f1\n"
                                  "reservation 3 elcap-f1\n"
                                  "reservation 4 elcap-f1\n"
                                  "reservation 5 elcap-f1\n");
}

static void close_store(void *arg, const struct commit_result *result, struct batch *failed)
{
    struct fixture *fixture = arg;
    assert_int_equal(result->code, 0);
    assert_null(failed);
    store_close(fixture->store);
    fixture->store = NULL;
}

static void done__may_close_the_store(void **state)
{
    struct fixture *fixture = *state;
    struct record record = reservation(1, "f1");
    store_commit(fixture->store, batch_of(&record, 1), close_store, fixture);
    await_readable(fixture->store);
    store_dispatch(fixture->store);
    assert_null(fixture->store);
}

static void close__waits_for_the_commit_and_says_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct outcome outcome = {0};
    struct record record = reservation(1, "f1");
    store_commit(fixture->store, batch_of(&record, 1), note_outcome, &outcome);
    store_close(fixture->store);
    assert_int_equal(outcome.calls, 0);
    fixture_open(fixture);
    assert_ledger(fixture->store, fixture->keeper->on_disk
                                      ? "counters 1 0\nreservation 1 elcap-f1\n"
                                      : "counters 0 0\n");
    store_close(NULL);
}

/* -- random batches, compared with arrays -- */

enum { MODEL_MAX = 5000 };

struct model {
    char jobs[MODEL_MAX][16]; /* of the reservation of that number; "": none */
    uint64_t events[MODEL_MAX];
    uint64_t number, seq, pruned; /* the highest of each */
};

static uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (uint32_t)(((uint64_t)*seed * below) >> 32);
}

static struct record random_record(uint32_t *seed, struct model *model, char job[16])
{
    uint64_t some = 1 + draw(seed, (uint32_t)model->number + 1);
    uint32_t what = draw(seed, 8);
    snprintf(job, 16, "j%u", draw(seed, 1000));
    if (what < 3) {
        uint64_t number = what < 2 ? model->number + 1 : some;
        model->number = number > model->number ? number : model->number;
        strcpy(model->jobs[number], job);
        return reservation(number, job);
    }
    if (what < 5) {
        model->number = some > model->number ? some : model->number;
        model->jobs[some][0] = '\0';
        return gone(some);
    }
    if (what == 5) {
        uint64_t upto = model->seq > 30 ? model->seq - 30 : 0;
        model->pruned = upto > model->pruned ? upto : model->pruned;
        return prune(upto);
    }
    model->events[++model->seq] = some;
    return event(model->seq, some);
}

static void assert_as_modelled(struct store *store, const struct model *model)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "counters %ju %ju\n", (uintmax_t)model->number, (uintmax_t)model->seq);
    for (uint64_t i = 1; i <= model->number; i++)
        if (model->jobs[i][0] != '\0')
            fprintf(out, "reservation %ju elcap-%s\n", (uintmax_t)i, model->jobs[i]);
    for (uint64_t i = model->pruned + 1; i <= model->seq; i++)
        fprintf(out, "event %ju of %ju\n", (uintmax_t)i, (uintmax_t)model->events[i]);
    fclose(out);
    assert_ledger(store, text);
    free(text);
}

static void store__keeps_random_batches(void **state)
{
    static struct model model;
    struct fixture *fixture = *state;
    uint32_t seed = 20221107;
    memset(&model, 0, sizeof model);
    for (int round = 0; round < 200; round++) {
        struct batch *batch = batch_create();
        for (uint32_t count = 1 + draw(&seed, 40); count > 0; count--) {
            char job[16];
            struct record record = random_record(&seed, &model, job);
            batch_add(batch, &record);
        }
        assert_in_range(model.number + model.seq, 1, MODEL_MAX - 50);
        assert_int_equal(commit_batch(fixture->store, batch).result.code, 0);
        if (round % 50 == 49)
            fixture_reopen(fixture);
        if (round % 5 == 0)
            assert_as_modelled(fixture->store, &model);
    }
}

#define ON(keeper, test)                                                                           \
    {                                                                                              \
#keeper ": " #test, test, fixture_setup, fixture_teardown, (void *)&keeper_##keeper        \
    }
#ifdef STORE_TEST_ETCD
#define EACH(test) ON(etcd, test)
#else
#define EACH(test) ON(memory, test), ON(sqlite, test)
#endif

static struct record node(uint64_t number, const char *name, enum node_state state,
                          const char *services)
{
    return (struct record){.kind = RECORD_NODE,
                           .u.node = {.number = number,
                                      .node = name,
                                      .services = services,
                                      .order = 1790000000000 + (uint64_t)state,
                                      .state = (uint8_t)state}};
}

/* F3: what nodes reported comes back, replaced by their later words, and goes with its reservation.
 */
static void store__keeps_node_reports(void **state)
{
    struct fixture *fixture = *state;
    COMMIT(fixture->store, reservation(1, "f1"), reservation(2, "f2"),
           node(1, "n1", NODE_CREATED, "cxi0:12,cxi1:7"), node(2, "n1", NODE_DESTROYED, NULL));
    COMMIT(fixture->store, node(1, "n1", NODE_LINGERING, "cxi1:7"),
           node(2, "n2", NODE_FENCED, NULL));
    fixture_reopen(fixture);
    char *text = ledger_text(fixture->store);
    assert_non_null(strstr(text, "reservation 2 elcap-f2\nnode 1 n1 lingering cxi1:7\n"));
    assert_non_null(strstr(text, "node 2 n1 destroyed\n"));
    assert_non_null(strstr(text, "node 2 n2 fenced\n"));
    free(text);

    COMMIT(fixture->store, {.kind = RECORD_GONE, .u.gone = 2});
    fixture_reopen(fixture);
    assert_ledger(fixture->store,
                  "counters 2 0\nreservation 1 elcap-f1\nnode 1 n1 lingering cxi1:7\n");
}

static struct record sum(uint64_t number, uint32_t sum, const char *nodes, enum node_state state)
{
    return (struct record){
        .kind = RECORD_SUM,
        .u.sum = {.number = number, .nodes = nodes, .sum = sum, .state = (uint8_t)state}};
}

/* F3: what was reported of many nodes at once comes back in its order, and what a node said after
 * it is known to be later; both go with their reservation. */
static void store__keeps_sums_of_nodes(void **state)
{
    struct fixture *fixture = *state;
    struct record later = node(1, "n1", NODE_CREATED, NULL);
    later.u.node.sums = 2;
    COMMIT(fixture->store, reservation(1, "f1"), reservation(2, "f2"),
           sum(2, 1, "n1", NODE_DESTROYED), sum(1, 1, "n[1-4000]", NODE_DESTROYED));
    COMMIT(fixture->store, sum(1, 2, "n[7-8]", NODE_LINGERING), later,
           node(2, "n2", NODE_FENCED, NULL));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 2 0\nreservation 1 elcap-f1\nreservation 2 elcap-f2\n"
                                  "node 1 n1 created after sum 2\nnode 2 n2 fenced\n"
                                  "sum 1.1 n[1-4000] destroyed\nsum 1.2 n[7-8] lingering\n"
                                  "sum 2.1 n1 destroyed\n");
    COMMIT(fixture->store, {.kind = RECORD_GONE, .u.gone = 1});
    fixture_reopen(fixture);
    char *text = ledger_text(fixture->store);
    assert_null(strstr(text, "1.1"));
    assert_null(strstr(text, "node 1"));
    assert_non_null(strstr(text, "sum 2.1"));
    free(text);
}

/* P2: what a node has told of its NICs comes back, by name, also that it has none. */
static void store__keeps_nics_of_nodes(void **state)
{
    struct fixture *fixture = *state;
    struct record nics = {.kind = RECORD_NODE_NICS,
                          .u.nics = {.node = "n2",
                                     .nics = "cxi0,4608,200000,1,A1,1.5;cxi1,0,0,0,,",
                                     .order = 1790000000000,
                                     .changed_ms = 1700000000000}},
                  none = {.kind = RECORD_NODE_NICS,
                          .u.nics = {.node = "n1", .nics = "", .order = 1}};
    COMMIT(fixture->store, nics, event(1, 0), none);
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 0 1\nevent 1 of 0\nNICs of n1 \n"
                                  "NICs of n2 cxi0,4608,200000,1,A1,1.5;cxi1,0,0,0,,\n");
    nics.u.nics.nics = "cxi0,4608,200000,0,A1,1.5";
    COMMIT(fixture->store, nics);
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 0 1\nevent 1 of 0\nNICs of n1 \n"
                                  "NICs of n2 cxi0,4608,200000,0,A1,1.5\n");
    COMMIT(fixture->store, {.kind = RECORD_NODE_NICS_GONE, .u.nics.node = "n1"});
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 0 1\nevent 1 of 0\n"
                                  "NICs of n2 cxi0,4608,200000,0,A1,1.5\n");
}

/* P6: what jobs that are over have counted comes back in every field, until it is dropped. */
static int take_traffic(void *arg, const struct record *record)
{
    struct traffic_record *out = arg;
    if (record->kind != RECORD_TRAFFIC)
        return 0;
    assert_string_equal(record->u.traffic.slowest, "n1/cxi0");
    assert_null(record->u.traffic.congested);
    *out = record->u.traffic;
    return 0;
}

static void store__keeps_traffic(void **state)
{
    struct fixture *fixture = *state;
    struct traffic_record out = {0}, in = {.seq = 7,
                                           .number = 3,
                                           .ended_ms = 1790000000000,
                                           .amounts = {1, 2, 3, 4, INT64_MAX},
                                           .slowest_octets = 5,
                                           .congested_paused = 6,
                                           .uid = 5588,
                                           .node_count = 8,
                                           .told = 9,
                                           .shared = 10,
                                           .unclear = 11,
                                           .seconds = 12,
                                           .lacking = 16,
                                           .cluster = "elcap",
                                           .job = "f3",
                                           .slowest = "n1/cxi0"};
    struct traffic_record later = in;
    later.seq = 8;
    COMMIT(fixture->store, {.kind = RECORD_TRAFFIC, .u.traffic = in},
           {.kind = RECORD_TRAFFIC, .u.traffic = later},
           {.kind = RECORD_TRAFFIC_GONE, .u.traffic_gone = 8});
    fixture_reopen(fixture);
    struct error err = {0};
    assert_int_equal(load_all(fixture->store, take_traffic, &out, &err), 0);
    out.cluster = in.cluster;
    out.job = in.job;
    out.slowest = in.slowest;
    assert_memory_equal(&out, &in, sizeof in);
}

static struct record cleanup(enum record_kind kind, uint64_t number, const char *step, bool below)
{
    return (struct record){
        .kind = kind,
        .u.cleanup = {.number = number, .step = step, .give_up_ms = 1790000000000, .below = below}};
}

/* F19: what is to be cleaned up comes back until it is done, and goes with its reservation. */
static void store__keeps_cleanups(void **state)
{
    struct fixture *fixture = *state;
    COMMIT(fixture->store, reservation(1, "f1"), reservation(2, "f2"),
           cleanup(RECORD_CLEANUP, 1, "/fA", false), cleanup(RECORD_CLEANUP, 1, "/fA", true),
           cleanup(RECORD_CLEANUP, 1, "/fA", false), cleanup(RECORD_CLEANUP, 2, "0", false));
    COMMIT(fixture->store, cleanup(RECORD_CLEANED, 1, "/fA", false));
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 2 0\nreservation 1 elcap-f1\nreservation 2 elcap-f2\n"
                                  "cleanup 1 /fA and below\ncleanup 2 0\n");
    COMMIT(fixture->store, {.kind = RECORD_GONE, .u.gone = 1});
    fixture_reopen(fixture);
    assert_ledger(fixture->store, "counters 2 0\nreservation 2 elcap-f2\ncleanup 2 0\n");
}

UNIT_MAIN(EACH(store__starts_empty), EACH(reservation__comes_back_in_every_field),
          EACH(reservation__keeps_null_apart_from_empty),
          EACH(reservation__may_have_shared_vnis_only),
          EACH(reservation__keeps_the_longest_node_list), EACH(event__comes_back_in_every_field),
          EACH(load__gives_reservations_by_number_then_events_by_seq),
          EACH(shared_vnis__come_back_and_go), EACH(load__ends_with_what_each_said),
          EACH(reservation__is_replaced_by_number), EACH(gone__deletes_the_reservation),
          EACH(batch__is_applied_in_order), EACH(store__keeps_node_reports),
          EACH(store__keeps_sums_of_nodes), EACH(store__keeps_cleanups),
          EACH(store__keeps_nics_of_nodes), EACH(store__keeps_traffic),
          EACH(prune__deletes_events_up_to_and_with_its_seq), EACH(counters__outlive_the_rows),
          EACH(counters__know_a_number_that_came_and_went_in_one_batch), EACH(founded__stays),
          EACH(batch__copies_what_it_is_given), EACH(batch__counts_its_records),
          EACH(dispatch__without_a_commit_does_nothing), EACH(commit__reports_from_dispatch_only),
          EACH(done__may_start_the_next_commit), EACH(done__may_close_the_store),
          EACH(close__waits_for_the_commit_and_says_nothing), EACH(store__keeps_random_batches))
