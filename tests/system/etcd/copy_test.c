/* SPDX-License-Identifier: Apache-2.0 */
/* B7: the ledger on etcd read by who does not lead, as mcastd --export does. */

#include "tests/system/etcd/scene.h"

enum { MANY = 4500 }; /* pages of 2000 */

static int set_up(void **state)
{
    (void)scene_setup(state);
    struct scene *scene = *state;
    scene->broker.etcd = etcd_of(&scene->options);
    return 0;
}

static struct store *open_copy(const struct scene *scene, bool live)
{
    struct error err = {0};
    bool is_live = !live;
    struct store *copy = store_etcd_open_copy(scene->broker.etcd, &is_live, &err);
    if (!copy)
        fail_msg("%s", err.text);
    assert_int_equal(is_live, live);
    return copy;
}

static void commit_many(struct store *store, uint64_t first)
{
    struct batch *batch = batch_create();
    for (uint64_t number = first; number < first + MANY; number++) {
        struct record record = reservation(number, "f1");
        record.u.reservation.token = secret_of("sess-1");
        batch_add(batch, &record);
    }
    assert_int_equal(commit_batch(store, batch).result.code, 0);
}

static int count_tokens(void *arg, const struct record *record)
{
    if (record->kind == RECORD_RESERVATION)
        *(int *)arg += secret_equal(record->u.reservation.token, secret_of("sess-1"));
    return 0;
}

/* What the leader commits later is not in it, on whichever page it would be. */
static void copy__is_of_one_moment_whoever_leads(void **state)
{
    struct scene *scene = *state;
    struct error err = {0};
    int tokens = 0;
    struct broker broker = broker_loaded(&scene->options);
    commit_many(broker.store, 1);
    struct store *copy = open_copy(scene, true);
    COMMIT(broker.store, gone(MANY), gone(1));
    commit_many(broker.store, MANY + 1);
    if (load_all(copy, count_tokens, &tokens, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(tokens, MANY);
    store_close(copy);
    broker_resign(&broker);

    const long keys = etcdcluster_count(cluster, PREFIX "/");
    tokens = 0;
    copy = open_copy(scene, false);
    assert_int_equal(load_all(copy, count_tokens, &tokens, &err), 0);
    assert_int_equal(tokens, 2 * MANY - 2);
    store_close(copy);
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/"), keys);
}

static void copy__of_no_ledger_is_refused(void **state)
{
    struct scene *scene = *state;
    struct error err = {0};
    bool live;
    assert_null(store_etcd_open_copy(scene->broker.etcd, &live, &err));
    assert_int_equal(err.code, ERROR_NOT_FOUND);
    assert_non_null(strstr(err.text, "the ledger " PREFIX " in etcd is not there yet"));
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/"), 0);
}

UNIT_GROUP(cluster_setup, cluster_teardown, TEST(copy__is_of_one_moment_whoever_leads),
           TEST(copy__of_no_ledger_is_refused))
