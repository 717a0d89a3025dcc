/* SPDX-License-Identifier: Apache-2.0 */
/* B7: who leads, asked of a real cluster. */

#include "tests/system/etcd/scene.h"
#include "tests/system/http/testcert.h"

#include <sys/stat.h>

static int set_up(void **state)
{
    (void)scene_setup(state);
    struct scene *scene = *state;
    scene->broker.etcd = etcd_of(&scene->options);
    return 0;
}

static void assert_refused(struct etcd *etcd, int code, const char *words)
{
    const struct etcd_answer answer = ask(etcd, LEADER_TEST, 0);
    assert_outcome(answer, LEADER_REFUSED);
    assert_int_equal(answer.error.code, code);
    assert_words(answer.error.text, words);
}

/* ---- is it ours? ---- */

static void test__makes_a_ledger_of_an_empty_prefix(void **state)
{
    struct scene *scene = *state;
    put("/mcastd/elcap2/other", "x"); /* another prefix, though it begins so */
    put("/mcastd/elcap", "x");
    assert_outcome(ask(scene->broker.etcd, LEADER_TEST, 0), LEADER_OK);
    char *ledger = etcdcluster_get(cluster, PREFIX "/ledger");
    assert_non_null(ledger);
    assert_non_null(strstr(ledger, "{\"format\":\"mcastd\",\"version\":1,\"key\":\""));
    assert_outcome(ask(scene->broker.etcd, LEADER_TEST, 0), LEADER_OK);
    char *again = etcdcluster_get(cluster, PREFIX "/ledger");
    assert_string_equal(again, ledger);
    free(ledger);
    free(again);
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/"), 1);
}

static void test__refuses_a_prefix_with_other_keys(void **state)
{
    struct scene *scene = *state;
    static const char *const foreign[] = {"/a",        "/zebra",   "/ledger/x", "/nodes",
                                          "/leader\n", "/seq/x",   "/countert", "/reservations/x",
                                          "/",         "/facts0x", "/redp/x"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        char key[64];
        snprintf(key, sizeof key, PREFIX "%s", foreign[i]);
        assert_int_equal(etcdcluster_wipe(cluster), 0);
        put(key, "x");
        assert_refused(scene->broker.etcd, ERROR_INVALID, "which is not one of a ledger");
        assert_int_equal(etcdcluster_wipe(cluster), 0);
        assert_outcome(ask(scene->broker.etcd, LEADER_TEST, 0), LEADER_OK);
        put(key, "x");
        assert_refused(scene->broker.etcd, ERROR_INVALID, "which is not one of a ledger");
        assert_int_equal(etcdcluster_count(cluster, PREFIX "/"), 2);
    }
    assert_int_equal(etcdcluster_wipe(cluster), 0);
    put(PREFIX "/reservation/0000000000000001", "{}");
    assert_refused(scene->broker.etcd, ERROR_INVALID, "lacks its key");
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/"), 1);
}

static void test__refuses_a_ledger_that_is_not_its_own(void **state)
{
    struct scene *scene = *state;
    char other[128];
    static const char *const damaged[] = {"",
                                          "{}",
                                          "no",
                                          "{\"format\":\"other\",\"version\":1,\"key\":\"0\"}",
                                          "{\"format\":\"mcastd\",\"version\":0,\"key\":\"0\"}",
                                          "{\"format\":\"mcastd\",\"version\":1.5,\"key\":\"0\"}",
                                          "{\"format\":\"mcastd\",\"version\":1,\"key\":7}"};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        put(PREFIX "/ledger", damaged[i]);
        assert_refused(scene->broker.etcd, ERROR_INVALID, "of another program");
    }
    put(PREFIX "/ledger", "{\"format\":\"mcastd\",\"version\":2,\"key\":\"0\",\"more\":[]}");
    assert_refused(scene->broker.etcd, ERROR_VERSION, "install a newer one");
    assert_int_equal(etcdcluster_wipe(cluster), 0);
    assert_outcome(ask(scene->broker.etcd, LEADER_TEST, 0), LEADER_OK);
    make_key(folder_path(other, sizeof other, scene->folder, "other.key"));
    scene->options.key_file = other;
    struct etcd *etcd = etcd_of(&scene->options);
    assert_refused(etcd, ERROR_REFUSED, other);
    etcd_close(etcd);
}

/* ---- the lease and the key ---- */

static void campaign__has_one_winner(void **state)
{
    struct scene *scene = *state;
    scene->options.advertise = "https://m2:7470";
    struct etcd *second = etcd_of(&scene->options);
    assert_outcome(ask(scene->broker.etcd, LEADER_TEST, 0), LEADER_OK);
    assert_outcome(ask(second, LEADER_TEST, 0), LEADER_OK);
    const struct etcd_answer lease = ask(scene->broker.etcd, LEADER_GRANT, 101);
    assert_outcome(lease, LEADER_OK);
    assert_int_equal(lease.answer.ttl_ms, LEASE_MS);
    assert_int_equal(ask(scene->broker.etcd, LEADER_GRANT, 101).answer.ttl_ms,
                     LEASE_MS); /* repeated */
    assert_outcome(ask(second, LEADER_GRANT, 102), LEADER_OK);

    const struct etcd_answer won = ask(scene->broker.etcd, LEADER_CAMPAIGN, 101);
    assert_int_equal(won.answer.holder, 101);
    const struct etcd_answer lost = ask(second, LEADER_CAMPAIGN, 102);
    assert_int_equal(lost.answer.holder, 101);
    assert_int_equal(lost.answer.holder_revision, won.answer.holder_revision);
    assert_string_equal(lost.holder_url, "https://m1:7470");
    assert_string_equal(lost.member, etcdcluster_url(cluster, 0));
    /* Asked again, because the answer was lost: it still leads, by the same revision. */
    const struct etcd_answer again = ask(scene->broker.etcd, LEADER_CAMPAIGN, 101);
    assert_int_equal(again.answer.holder, 101);
    assert_int_equal(again.answer.holder_revision, won.answer.holder_revision);
    char *seq = etcdcluster_get(cluster, PREFIX "/seq");
    assert_string_equal(seq, "0000000000000065:0");
    free(seq);

    assert_outcome(ask(scene->broker.etcd, LEADER_KEEPALIVE, 101), LEADER_OK);
    assert_outcome(ask(scene->broker.etcd, LEADER_RESIGN, 101), LEADER_OK);
    assert_outcome(ask(scene->broker.etcd, LEADER_RESIGN, 101), LEADER_GONE);
    assert_outcome(ask(scene->broker.etcd, LEADER_KEEPALIVE, 101), LEADER_GONE);
    assert_outcome(ask(scene->broker.etcd, LEADER_CAMPAIGN, 101),
                   LEADER_GONE); /* without a lease */
    const struct etcd_answer next = ask(second, LEADER_CAMPAIGN, 102);
    assert_int_equal(next.answer.holder, 102);
    assert_true(next.answer.holder_revision > won.answer.holder_revision);
    assert_outcome(ask(second, LEADER_RESIGN, 102), LEADER_OK);
    etcd_close(second);
}

/* ---- how the members are reached ---- */

static void question__that_failed_goes_to_the_next_member(void **state)
{
    struct scene *scene = *state;
    tcpproxy_reset(scene->proxy, true);
    scene->urls[1] = etcdcluster_url(cluster, 0);
    scene->behind.endpoint_count = 2;
    struct etcd *etcd = etcd_of(&scene->behind);
    struct etcd_answer answer = ask(etcd, LEADER_TEST, 0);
    assert_outcome(answer, LEADER_UNKNOWN);
    assert_string_equal(answer.member, scene->url);
    answer = ask(etcd, LEADER_TEST, 0);
    assert_outcome(answer, LEADER_OK);
    assert_string_equal(answer.member, scene->urls[1]);
    assert_outcome(ask(etcd, LEADER_TEST, 0), LEADER_OK); /* and stays there */
    tcpproxy_reset(scene->proxy, false);
    scene->behind.endpoint_count = 1; /* a reload */
    assert_int_equal(etcd_change(etcd, &scene->behind, NULL), 0);
    answer = ask(etcd, LEADER_TEST, 0);
    assert_outcome(answer, LEADER_OK);
    assert_string_equal(answer.member, scene->url);
    etcd_close(etcd);
}

static void close__waits_for_the_question_at_most(void **state)
{
    struct scene *scene = *state;
    tcpproxy_cut(scene->proxy, TCPPROXY_TO_SERVER);
    struct etcd *etcd = etcd_of(&scene->behind);
    etcd_ask(etcd, &(struct leader_ask){.question = LEADER_TEST}, 200);
    assert_true(await(asked, scene->proxy, AWAIT_DEADLINE_MS));
    etcd_close(etcd);
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/"), 0);
}

static void tls__is_mutual(void **state)
{
    struct scene *scene = *state;
    struct etcd_options *options = &scene->options;
    char ca[128], cert[128], key[128];
    authority_equip(scene->folder);
    scene_move(scene, &(struct etcdcluster_options){.certificates = scene->folder});
    struct etcd *etcd = etcd_of(options);
    assert_outcome(ask(etcd, LEADER_TEST, 0), LEADER_UNKNOWN); /* not its authority */
    options->ca = folder_path(ca, sizeof ca, scene->folder, "ca.pem");
    assert_int_equal(etcd_change(etcd, options, NULL), 0);
    assert_outcome(ask(etcd, LEADER_TEST, 0), LEADER_UNKNOWN); /* no certificate of ours */
    options->cert = folder_path(cert, sizeof cert, scene->folder, "client.pem");
    options->key = folder_path(key, sizeof key, scene->folder, "client.key");
    assert_int_equal(etcd_change(etcd, options, NULL), 0);
    assert_outcome(ask(etcd, LEADER_TEST, 0), LEADER_OK);
    etcd_close(etcd);
    struct broker broker = broker_loaded(options);
    COMMIT(broker.store, reservation(1, "f1"));
    broker_close(&broker);
}

static void login__is_made_again_when_a_member_forgot_it(void **state)
{
    struct scene *scene = *state;
    struct etcd_options *options = &scene->options;
    char password[128];
    scene_move(scene, &(struct etcdcluster_options){0});
    call("/v3/auth/user/add", "{\"name\":\"root\",\"password\":\"r\"}");
    call("/v3/auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}");
    call("/v3/auth/user/add", "{\"name\":\"mcastd\",\"password\":\"a \\\"quoted\\\" one\"}");
    call("/v3/auth/role/add", "{\"name\":\"elcap\"}");
    /* /mcastd/elcap/ to /mcastd/elcap0 */
    call("/v3/auth/role/grant",
         "{\"name\":\"elcap\",\"perm\":{\"permType\":\"READWRITE\",\"key\":"
         "\"L21jYXN0ZC9lbGNhcC8=\",\"range_end\":\"L21jYXN0ZC9lbGNhcDA=\"}}");
    call("/v3/auth/user/grant", "{\"user\":\"mcastd\",\"role\":\"elcap\"}");
    call("/v3/auth/enable", "{}");
    assert_int_equal(folder_write(scene->folder, "password", 0600, "wrong\n"), 0);
    struct etcd *etcd = etcd_of(options);
    assert_outcome(ask(etcd, LEADER_TEST, 0), LEADER_UNKNOWN); /* no user */
    options->user = "mcastd";
    options->password_file = folder_path(password, sizeof password, scene->folder, "password");
    assert_int_equal(etcd_change(etcd, options, NULL), 0);
    assert_outcome(ask(etcd, LEADER_TEST, 0), LEADER_UNKNOWN);
    assert_int_equal(folder_write(scene->folder, "password", 0600, "a \"quoted\" one\n"), 0);
    assert_int_equal(etcd_change(etcd, options, NULL), 0);
    struct broker broker = {.etcd = etcd};
    broker_lead(&broker, 301);
    broker_load(&broker);
    COMMIT(broker.store, reservation(1, "f1"));
    etcdcluster_kill(cluster, 0);
    assert_int_equal(etcdcluster_restart(cluster, 0), 0);
    assert_int_equal(etcdcluster_await(cluster), 0);
    COMMIT(broker.store, reservation(2, "f2"));
    assert_outcome(ask(etcd, LEADER_KEEPALIVE, 301), LEADER_OK);
    broker_close(&broker);
}

/* Its lease lives on: without this both it and the next one would lead until its next commit. */
static void keepalive__of_who_lost_the_leader_key_says_so(void **state)
{
    struct scene *scene = *state;
    struct broker broker = broker_of(&scene->options, 401);
    assert_outcome(ask(broker.etcd, LEADER_KEEPALIVE, 401), LEADER_OK);
    /* /mcastd/elcap/leader */
    call("/v3/kv/deleterange", "{\"key\":\"L21jYXN0ZC9lbGNhcC9sZWFkZXI=\"}");
    assert_outcome(ask(broker.etcd, LEADER_KEEPALIVE, 401), LEADER_GONE);
    struct broker next = broker_of(&scene->options, 402);
    assert_outcome(ask(broker.etcd, LEADER_KEEPALIVE, 401), LEADER_GONE);
    assert_outcome(ask(next.etcd, LEADER_KEEPALIVE, 402), LEADER_OK);
    assert_outcome(ask(scene->broker.etcd, LEADER_GRANT, 403),
                   LEADER_OK); /* a standby has no key */
    assert_outcome(ask(scene->broker.etcd, LEADER_CAMPAIGN, 403), LEADER_OK);
    assert_outcome(ask(scene->broker.etcd, LEADER_KEEPALIVE, 403), LEADER_OK);
    broker_close(&broker);
    broker_close(&next);
}

/* Asks for the lease, so that it leads or waits. */
static void join_with(struct etcd *etcd, uint64_t lease)
{
    assert_outcome(ask(etcd, LEADER_TEST, 0), LEADER_OK);
    assert_outcome(ask(etcd, LEADER_GRANT, lease), LEADER_OK);
    assert_outcome(ask(etcd, LEADER_CAMPAIGN, lease), LEADER_OK);
    assert_outcome(ask(etcd, LEADER_CAMPAIGN, lease), LEADER_OK);
}

static void standbys__are_what_they_say_of_themselves(void **state)
{
    struct scene *scene = *state;
    struct error err = {0};
    scene->options.advertise = "https://m2:7470";
    scene->options.version = "9.8";
    scene->options.configuration = "one";
    struct etcd *waiting = etcd_of(&scene->options), *silent = scene->broker.etcd;
    struct etcd *leader = etcd_of(&scene->options);
    join_with(leader, 501);
    join_with(waiting, 502);
    join_with(silent, 503); /* it only looks, as an export does */
    struct etcd_answer answer = ask(leader, LEADER_KEEPALIVE, 501);
    const struct etcd_standby *standby = &answer.standbys.all[0];
    assert_true(answer.looked);
    assert_int_equal(answer.standbys.count, 1);
    assert_int_equal(answer.standbys.malformed, 0);
    assert_string_equal(standby->url, "https://m2:7470");
    assert_string_equal(standby->version, "9.8");
    assert_string_equal(standby->configuration, etcd_configuration(leader));
    assert_int_equal(strlen(standby->configuration), 16);
    /* A reload of it; and the text of the configuration is nowhere. */
    scene->options.configuration = "another";
    assert_int_equal(etcd_change(waiting, &scene->options, &err), 0);
    assert_outcome(ask(waiting, LEADER_CAMPAIGN, 502), LEADER_OK);
    answer = ask(leader, LEADER_KEEPALIVE, 501);
    assert_int_equal(answer.standbys.count, 1);
    assert_string_not_equal(standby->configuration, etcd_configuration(leader));
    assert_string_equal(standby->configuration, etcd_configuration(waiting));
    /* Keys of others, without a lease or with odd contents; and too many. */
    static const char *const odd[] = {"", "{}", "[]", "{\"url\":\"https://m2:7470\\n\"}"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char key[64];
        snprintf(key, sizeof key, PREFIX "/broker/%zu", i);
        put(key, odd[i]);
    }
    answer = ask(leader, LEADER_KEEPALIVE, 501);
    assert_int_equal(answer.standbys.malformed, 4);
    assert_int_equal(answer.standbys.count, 1);
    /* It leaves, and nothing of it is left. */
    assert_outcome(ask(waiting, LEADER_RESIGN, 502), LEADER_OK);
    assert_int_equal(ask(leader, LEADER_KEEPALIVE, 501).standbys.count, 0);
    assert_outcome(ask(silent, LEADER_TEST, 0), LEADER_OK); /* these keys refuse no broker */
    etcd_close(waiting);
    etcd_close(leader);
}

/* ---- is it the right one? ---- */

static void test__refuses_a_prefix_below_another_ledger(void **state)
{
    struct scene *scene = *state;
    assert_outcome(ask(scene->broker.etcd, LEADER_TEST, 0), LEADER_OK);
    scene->options.prefix = PREFIX "/node/x";
    struct etcd *below = etcd_of(&scene->options);
    assert_refused(below, ERROR_INVALID, "among the keys of another ledger");
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/"), 1);
    put(PREFIX "/ledger", "{\"format\":\"other\"}"); /* of another program */
    assert_outcome(ask(below, LEADER_TEST, 0), LEADER_OK);
    etcd_close(below);
    scene->options.prefix = "/top"; /* below nothing */
    struct etcd *top = etcd_of(&scene->options);
    assert_outcome(ask(top, LEADER_TEST, 0), LEADER_OK);
    etcd_close(top);
}

static void assert_ledger_says(const char *words)
{
    char *ledger = etcdcluster_get(cluster, PREFIX "/ledger");
    assert_non_null(ledger);
    assert_words(ledger, words);
    free(ledger);
}

/* B8: a copy of a configuration with another fabric manager. One of several addresses is enough. */
static void test__refuses_another_fabric(void **state)
{
    static const char own[][512] = {"https://fmn:8000"},
                      both[][512] = {"http://a:1", "http://fmn:8000"},
                      moved[][512] = {"http://a:1"};
    struct scene *scene = *state;
    struct error err = {0};
    scene->options.fabric = own;
    scene->options.fabric_count = 1;
    struct broker leader = broker_of(&scene->options, 601);
    assert_ledger_says("\"fabric\":[\"fmn:8000\"]");
    scene->options.fabric = moved;
    struct etcd *other = etcd_of(&scene->options);
    assert_refused(other, ERROR_INVALID, "of the fabric manager fmn:8000");
    scene->options.fabric_count = 0; /* it has none: VNIs only */
    assert_int_equal(etcd_change(other, &scene->options, &err), 0);
    assert_outcome(ask(other, LEADER_TEST, 0), LEADER_OK);
    /* The leader is told of another one, while it runs: so it has moved. */
    scene->options.fabric = both;
    scene->options.fabric_count = 2;
    assert_int_equal(etcd_change(leader.etcd, &scene->options, &err), 0);
    assert_outcome(ask(leader.etcd, LEADER_KEEPALIVE, 601), LEADER_OK);
    assert_ledger_says("\"fabric\":[\"a:1\",\"fmn:8000\"]");
    scene->options.fabric = moved;
    scene->options.fabric_count = 1;
    assert_int_equal(etcd_change(other, &scene->options, &err), 0);
    assert_outcome(ask(other, LEADER_TEST, 0), LEADER_OK);
    etcd_close(other);
    broker_close(&leader);
}

/* A ledger of before, which has neither. */
static void leader__completes_the_ledger_key(void **state)
{
    static const char own[][512] = {"https://fmn:8000"};
    struct scene *scene = *state;
    char first[200], *ledger;
    assert_outcome(ask(scene->broker.etcd, LEADER_TEST, 0), LEADER_OK);
    ledger = etcdcluster_get(cluster, PREFIX "/ledger");
    assert_non_null(ledger);
    char *id = strstr(ledger, ",\"id\"");
    assert_non_null(id);
    snprintf(first, sizeof first, "%.*s,\"more\":[]}", (int)(id - ledger), ledger);
    free(ledger);
    put(PREFIX "/ledger", first);
    scene->options.fabric = own;
    scene->options.fabric_count = 1;
    struct broker leader = broker_of(&scene->options, 602);
    assert_outcome(ask(leader.etcd, LEADER_KEEPALIVE, 602), LEADER_OK);
    assert_ledger_says("\"more\":[],\"id\":\"");
    assert_ledger_says("\"fabric\":[\"fmn:8000\"]");
    broker_close(&leader);
}

/* Leads and resigns, so that it has seen the ledger. */
static void see(const struct etcd_options *options, uint64_t lease)
{
    struct broker broker = broker_of(options, lease);
    assert_outcome(ask(broker.etcd, LEADER_KEEPALIVE, lease), LEADER_OK);
    assert_outcome(ask(broker.etcd, LEADER_RESIGN, lease), LEADER_OK);
    broker_close(&broker);
}

static void assert_start_refused(const struct etcd_options *options, const char *words)
{
    struct etcd *etcd = etcd_of(options);
    assert_refused(etcd, ERROR_REFUSED, words);
    etcd_close(etcd);
}

static void assert_starts(const struct etcd_options *options)
{
    struct etcd *etcd = etcd_of(options);
    assert_outcome(ask(etcd, LEADER_TEST, 0), LEADER_OK);
    etcd_close(etcd);
}

/* Of an etcd that was restored or emptied, by a broker that has seen more (B7). */
static void test__refuses_another_ledger_than_was_seen(void **state)
{
    struct scene *scene = *state;
    char path[128], seen[160];
    struct etcd_options fresh = scene->options;
    scene->options.state_path = folder_path(path, sizeof path, scene->folder, "state.db");
    snprintf(seen, sizeof seen, "%s.seen", path);
    see(&scene->options, 701);
    see(&scene->options, 702);
    struct etcd *waiting = etcd_of(&scene->options);
    assert_outcome(ask(waiting, LEADER_TEST, 0), LEADER_OK);
    assert_outcome(ask(waiting, LEADER_GRANT, 703), LEADER_OK);
    /* /mcastd/elcap/seq, as it was before the second election */
    call("/v3/kv/deleterange", "{\"key\":\"L21jYXN0ZC9lbGNhcC9zZXE=\"}");
    put(PREFIX "/seq", "00000000000002bd:0");
    assert_start_refused(&scene->options, "it has 1 commits, this broker has seen 2");
    /* Not led for a moment: each election would bring it nearer to what was seen. */
    for (int i = 0; i < 2; i++) {
        const struct etcd_answer answer = ask(waiting, LEADER_CAMPAIGN, 703);
        assert_outcome(answer, LEADER_REFUSED);
        assert_non_null(strstr(answer.error.text, "it has 1 commits"));
    }
    assert_null(etcdcluster_get(cluster, PREFIX "/leader"));
    etcd_close(waiting);
    assert_starts(&fresh);
    scene->options.prefix = "/mcastd/second"; /* of which it has seen nothing */
    assert_starts(&scene->options);
    scene->options.prefix = PREFIX;
    /* Nothing is founded where something was. */
    assert_int_equal(etcdcluster_wipe(cluster), 0);
    assert_start_refused(&scene->options, "is gone");
    assert_int_equal(etcdcluster_count(cluster, PREFIX "/"), 0);
    assert_starts(&fresh);
    assert_start_refused(&scene->options, "is another one");
    /* A file that says nothing is as none; one that others could write is no file of ours. */
    assert_int_equal(chmod(seen, 0666), 0);
    struct error err = {0};
    assert_null(etcd_open(&scene->options, &err));
    assert_int_equal(err.code, ERROR_REFUSED);
    assert_int_equal(chmod(seen, 0600), 0);
    assert_int_equal(folder_write(scene->folder, "state.db.seen", 0600, "{\"prefix\":7"), 0);
    assert_starts(&scene->options);
    /* What was seen now is kept at once. */
    assert_int_equal(etcdcluster_wipe(cluster), 0);
    assert_start_refused(&scene->options, "is gone");
}

static void load_and_accept(struct broker *broker, int code)
{
    const struct record none = {.kind = RECORD_PRUNE};
    broker_load(broker);
    const struct error *doubt = store_etcd_doubt(broker->store);
    assert_int_equal(doubt ? doubt->code : 0, code);
    if (!doubt)
        return;
    store_etcd_accept(broker->store, false);
    commit_records(broker->store, &none, 1);
}

/* By one broker for all; those that have seen another one since know nothing of it. */
static void ledger__that_was_accepted_is_taken_by_all(void **state)
{
    struct scene *scene = *state;
    char paths[2][128];
    struct etcd_options options[2];
    for (int i = 0; i < 2; i++) {
        options[i] = scene->options;
        options[i].state_path =
            folder_path(paths[i], sizeof paths[i], scene->folder, i == 0 ? "0.db" : "1.db");
        see(&options[i], 801 + (uint64_t)i);
    }
    assert_int_equal(etcdcluster_wipe(cluster), 0);
    assert_start_refused(&options[1], "is gone");
    struct etcd_options accepting = options[0];
    accepting.accepts = true;
    struct broker broker = broker_of(&accepting, 803);
    assert_outcome(ask(broker.etcd, LEADER_KEEPALIVE, 803), LEADER_OK);
    load_and_accept(&broker, ERROR_REFUSED);
    assert_outcome(ask(broker.etcd, LEADER_RESIGN, 803), LEADER_OK);
    broker_close(&broker);
    assert_starts(&options[0]);
    assert_starts(&options[1]);
    broker = broker_of(&accepting, 804);
    load_and_accept(&broker, 0);
    broker_close(&broker);
}

UNIT_GROUP(cluster_setup, cluster_teardown, TEST(test__makes_a_ledger_of_an_empty_prefix),
           TEST(test__refuses_a_prefix_with_other_keys),
           TEST(test__refuses_a_ledger_that_is_not_its_own), TEST(campaign__has_one_winner),
           TEST(question__that_failed_goes_to_the_next_member),
           TEST(close__waits_for_the_question_at_most),
           TEST(keepalive__of_who_lost_the_leader_key_says_so),
           TEST(standbys__are_what_they_say_of_themselves),
           TEST(test__refuses_a_prefix_below_another_ledger), TEST(test__refuses_another_fabric),
           TEST(leader__completes_the_ledger_key), TEST(test__refuses_another_ledger_than_was_seen),
           TEST(ledger__that_was_accepted_is_taken_by_all), TEST(tls__is_mutual),
           TEST(login__is_made_again_when_a_member_forgot_it))
