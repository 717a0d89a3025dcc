/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger that moves to etcd, and back (B7): with jobs that run, and what may not be imported. */

#include "tests/system/outages/moving.h"
#include "tests/system/rig/etcdcluster.h"
#include "tests/system/rig/folder.h"

#include <sys/stat.h>

#define PREFIX "/mcastd/elcap"

static struct etcdcluster *cluster;

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

/* Which ledger the broker and its tasks have from now on, by a drop-in. */
static void set_store(const struct clients *clients, const char *store)
{
    char path[160], text[1024];
    (void)mkdir(clients_file(clients, "conf.d", path), 0700);
    (void)snprintf(text, sizeof text,
                   "[broker]\nadvertise = unix:%s\n"
                   "[state]\nstore = %s\nprefix = " PREFIX "\nlease = 8s\nendpoints = %s\n",
                   testbed_socket(clients->testbed), store, etcdcluster_endpoints(cluster));
    assert_int_equal(
        folder_write(testbed_folder(clients->testbed), "conf.d/store.conf", 0600, text), 0);
}

static void assert_goes_on(struct clients *clients, const char *events, uint32_t job)
{
    clients->notes->floor = clients->notes->highest;
    clients_restart_broker(clients);
    char *events_now = events_of(clients);
    assert_int_equal(strncmp(events, events_now, strlen(events)), 0);
    assert_int_equal(clients_reserve(clients, job), 201);
    assert_int_equal(clients->notes->jobs[job].number, job + 1);
    free(events_now);
}

static void ledger__moves_to_etcd_and_back(void **state)
{
    struct clients clients;
    assert_int_equal(etcdcluster_wipe(cluster), 0);
    open_with_jobs(&clients);
    char *events = events_of(&clients);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    assert_runs(&clients, "export", "from-sqlite", "exported");
    char *keys = file_text(&clients, "root.keys");

    set_store(&clients, "etcd");
    assert_runs(&clients, "import", "from-sqlite", "imported");
    assert_goes_on(&clients, events, JOBS);
    free(events);
    events = events_of(&clients);
    assert_runs(&clients, "export", "beside", "of the ledger " PREFIX " in etcd; a broker runs");
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    assert_runs(&clients, "export", "from-etcd", "of the ledger " PREFIX " in etcd\n");

    set_store(&clients, "sqlite");
    lose_ledger(&clients);
    assert_runs(&clients, "import", "from-etcd", "imported");
    char *keys_now = file_text(&clients, "root.keys");
    assert_string_equal(keys, keys_now); /* tokens that are out stay good */
    assert_goes_on(&clients, events, JOBS + 1);
    clients_assert_secrets_kept(&clients);
    clients_conclude(&clients);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    free(events);
    free(keys);
    free(keys_now);
    clients_close(&clients);
}

static void import__beside_a_broker_or_onto_a_ledger_is_refused(void **state)
{
    struct clients clients;
    char words[200];
    assert_int_equal(etcdcluster_wipe(cluster), 0);
    clients_open(&clients, 2);
    assert_int_equal(clients_reserve(&clients, 0), 201);
    assert_runs(&clients, "export", "file", "exported");
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    set_store(&clients, "etcd");
    assert_refused(&clients, "export", "none", "the ledger " PREFIX " in etcd is not there yet");
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/"), 0);

    assert_int_equal(testbed_start_broker(clients.testbed), 0);
    (void)snprintf(words, sizeof words, "unix:%s leads with the ledger " PREFIX " in etcd",
                   testbed_socket(clients.testbed));
    assert_refused(&clients, "import", "file", words);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    const long keys = etcdcluster_count(cluster, PREFIX "/");
    assert_refused(&clients, "import", "file", PREFIX " in etcd is not empty: import into a new");
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/"), keys);

    assert_int_equal(etcdcluster_wipe(cluster), 0);
    assert_int_equal(etcdcluster_put(cluster, PREFIX "/other", "x"), 0);
    assert_refused(&clients, "import", "file", "which is not one of a ledger");
    assert_int_equal(etcdcluster_wipe(cluster), 0);
    assert_runs(&clients, "import", "file", "go on as after restoring a backup");
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/leader"), 0); /* it has resigned */
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/reservation/"), 1);
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/founded"), 0);
    /* The broker has seen the ledger that was emptied, and takes this one for it. */
    char *ledger = etcdcluster_get(cluster, PREFIX "/ledger");
    assert_non_null(ledger);
    assert_non_null(strstr(ledger, "\"replaces\":[\""));
    free(ledger);
    assert_int_equal(testbed_start_broker(clients.testbed), 0);
    assert_int_equal(testbed_stop_broker(clients.testbed), 0);
    clients_close(&clients);
}

UNIT_GROUP(open_cluster, close_cluster, cmocka_unit_test(ledger__moves_to_etcd_and_back),
           cmocka_unit_test(import__beside_a_broker_or_onto_a_ledger_is_refused))
