/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* A ledger that may be older than the jobs that run, and what ends that (B11, F3, I1). */

/* F3: after a restart it is not known for how long it was suspect: [vni] hold begins anew. */
FRESH(suspect__goes_on_after_a_restart)
{
    struct driver *d = *state;
    const struct record facts = {.kind = RECORD_FACTS, .u.facts = {.boot = "", .suspect = 1}};
    d->core = core_create(&d->config);
    assert_int_equal(core_load(d->core, &facts, NULL), 0);
    core_start(d->core, d->now);
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    assert_int_equal(driver_count(d, EFFECT_SAVE), 1); /* the alarm's event */
    driver_tick(d, d->config.vni_hold_ms - 1);
    driver_reserve(d, driver_request("a", 2));
    assert_int_equal(driver_answered(d), ANSWER_NO_VNIS);
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    driver_tick(d, 1);
    assert_false(driver_alarm(d, ALARM_OLD_LEDGER));
    driver_reserve(d, driver_request("a", 2));
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

/* I6: what a lost part of the ledger numbered is not given again; a new one has lost none. */
UNIT(suspect__numbers_go_on_far_behind)
{
    static const char *const names[] = {"elcap-77"};
    static const char *const active[] = {"77"};
    for (int is_new = 0; is_new < 2; is_new++) {
        struct driver d;
        driver_init(&d);
        driver_start(&d);
        driver_login(&d);
        driver_list(&d, names, (size_t)is_new, FM_OK);
        if (!is_new) {
            driver_tick(&d, d.config.relist_ms);
            driver_list(&d, names, 1, FM_OK);
            DRIVER_STEP(&d, CORE_SYNC, sync, .cluster = "elcap", .active = active, .count = 1);
        }
        assert_true(driver_alarm(&d, ALARM_OLD_LEDGER));
        struct reserve_request q = driver_request("a", 2);
        q.vni_count = 0;
        driver_reserve(&d, q);
        assert_int_equal(driver_job(&d, "a")->number, is_new ? 2 : 2 + (1 << 20));
        driver_end(&d);
    }
}

/* Lists that name a job of which nothing is known end nothing, however late; nor does one from
 * before the last such job ended. */
FRESH(suspect__lasts_while_unknown_jobs_are_named)
{
    struct driver *d = *state;
    static const char *const active[] = {"102", "104"};
    struct core_event sync = {.kind = CORE_SYNC,
                              .u.sync = {.cluster = "elcap", .active = active, .count = 2}};
    d->config.vni_hold_ms = HOLD_UNTIL_REPORTED;
    driver_up(d);
    driver_tick(d, d->config.relist_ms);
    driver_list(d, (const char *const[]){"elcap-102"}, 1, FM_OK);
    driver_step(d, sync); /* 102 is taken in */
    sync.u.sync.active = active + 1;
    sync.u.sync.count = 1;
    driver_release(d, "102");
    for (int i = 0; i < 3; i++) {
        driver_tick(d, 1000);
        driver_step(d, sync);
        driver_tick(d, 1000);
        assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    }
    sync.u.sync.count = 0;
    driver_step(d, sync);
    driver_tick(d, 1);
    assert_false(driver_alarm(d, ALARM_OLD_LEDGER));
}

static void report_unknown(struct driver *d, const char *node, uint64_t number, uint16_t vni,
                           enum node_state state)
{
    DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = "x", .number = number,
               .node = node, .state = state, .vnis = &vni, .vni_count = 1);
}

/* Nor does a list that was made no later than what it is to speak of. */
FRESH(suspect__needs_a_list_from_afterwards)
{
    struct driver *d = *state;
    const struct core_event sync = {.kind = CORE_SYNC, .u.sync = {.cluster = "elcap"}};
    d->config.vni_hold_ms = HOLD_UNTIL_REPORTED;
    driver_up(d);
    report_unknown(d, "n1", 70, 2000, NODE_CREATED);
    report_unknown(d, "n2", 71, 2001, NODE_CREATED);
    driver_step(d, sync);
    driver_tick(d, 1);
    report_unknown(d, "n1", 70, 2000, NODE_DESTROYED);
    report_unknown(d, "n2", 71, 2001, NODE_DESTROYED);
    driver_tick(d, 1);
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    driver_step(d, sync);
    driver_tick(d, 1);
    assert_false(driver_alarm(d, ALARM_OLD_LEDGER));
}

/* B11: what was listed and not yet taken in counts as well, and goes. */
UP(claim__takes_what_was_only_listed)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-77", "elcap2-78", "elcap-79"};
    driver_tick(d, d->config.relist_ms);
    driver_list(d, names, 3, FM_OK);
    DRIVER_ASK(d, CORE_CLAIM, claim, .cluster = "elcap");
    assert_int_equal(driver_answered(d), ANSWER_CLAIMED);
    assert_int_equal(driver_answer(d)->count, 2);
    driver_tick(d, d->config.stray_grace_ms);
    driver_list(d, names, 3, FM_OK);
    size_t count, released = 0;
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind != EFFECT_CALL)
            continue;
        assert_int_equal(effects[i].u.call.kind, FMCALL_RELEASE);
        assert_string_not_equal(effects[i].u.call.about.name, "elcap2-78");
        released++;
    }
    assert_int_equal(released, 2);
    DRIVER_ASK(d, CORE_CLAIM, claim, .cluster = "other");
    assert_int_equal(driver_answered(d), ANSWER_NO_CLUSTER);
    assert_int_equal(driver_answer(d)->ticket, d->ticket);
}

/* B11: before the first list nothing shows that the ledger is older than what runs; if it is, the
 * VNIs whose turn it is are in use. */
UNIT(suspect__first_vnis_after_a_start_come_from_far)
{
    for (int listed = 0; listed < 2; listed++) {
        struct driver d;
        const struct record founded = {.kind = RECORD_FOUNDED};
        driver_init(&d);
        d.core = core_create(&d.config);
        assert_int_equal(core_load(d.core, &founded, NULL), 0);
        core_start(d.core, d.now);
        if (listed) {
            driver_link(&d);
        }
        driver_reserve(&d, driver_request("a", 2));
        assert_int_equal(driver_answer(&d)->reservation->vnis[0],
                         listed ? 1024 : d.config.vni_pool.count / 2);
        driver_end(&d);
    }
}

static void start_with_plugin(struct driver *d, bool both)
{
    static const char *const names[] = {"elcap-77", "elcap-78"};
    d->config.vni_hold_ms = HOLD_UNTIL_REPORTED;
    d->config.clusters[0].plugin = true;
    d->config.clusters[1].plugin = both;
    driver_start(d);
    driver_login(d);
    driver_list(d, names, 2, FM_OK); /* by a ledger that is new */
    assert_true(driver_alarm(d, ALARM_NAME_CONFLICT));
}

static void sync_of(struct driver *d, const char *cluster, const char *const *active, size_t count)
{
    const struct core_event event = {
        .kind = CORE_SYNC, .u.sync = {.cluster = cluster, .active = active, .count = count}};
    driver_tick(d, 1000);
    driver_step(d, event);
    driver_tick(d, 1000);
}

/* B9: no cluster gets VNIs from here, so none can be given twice. */
FRESH(suspect__is_nobody_where_slurm_gives_all_vnis)
{
    struct driver *d = *state;
    start_with_plugin(d, true);
    assert_false(driver_alarm(d, ALARM_OLD_LEDGER));
}

/* B9, I1: what a plugin has made has no VNI of the pool, but tells that there was a ledger before:
 * the jobs of the cluster with hooks have to be named once, those of the other need not end. */
FRESH(suspect__ends_by_clusters_with_vnis)
{
    struct driver *d = *state;
    d->config.cluster_count = 3;
    strcpy(d->config.clusters[2].name, "tuo"); /* nothing was heard of it yet */
    start_with_plugin(d, false);
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    struct reserve_request q = driver_request("a", 2);
    q.cluster = "elcap2";
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_NO_VNIS);
    sync_of(d, "elcap", (const char *const[]){"77", "78"}, 2);
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    driver_release(d, "78");
    sync_of(d, "elcap2", NULL, 0);
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    sync_of(d, "tuo", NULL, 0);
    assert_false(driver_alarm(d, ALARM_OLD_LEDGER));
    assert_non_null(driver_job(d, "77"));
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

/* I1: one of them was found, too. */
FRESH(suspect__lasts_while_others_have_vnis)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-77", "elcap2-5"};
    d->config.vni_hold_ms = HOLD_UNTIL_REPORTED;
    d->config.clusters[0].plugin = true;
    driver_start(d);
    driver_login(d);
    driver_list(d, names, 2, FM_OK);
    sync_of(d, "elcap2", (const char *const[]){"5"}, 1);
    sync_of(d, "elcap2", (const char *const[]){"5"}, 1);
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    sync_of(d, "elcap2", NULL, 0); /* it is released by two lists, */
    driver_tick(d, d->config.sync_grace_ms);
    sync_of(d, "elcap2", NULL, 0);
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    sync_of(d, "elcap2", NULL, 0); /* and one from afterwards ends it */
    assert_false(driver_alarm(d, ALARM_OLD_LEDGER));
}

/* I1: after a restart it is not known whose it was: as long as the plugin's jobs are there, all
 * other clusters are asked, also one that has named no job yet. */
FRESH(suspect__of_a_plugin_goes_on_after_a_restart)
{
    struct driver *d = *state;
    struct record records[3] = {{.kind = RECORD_FACTS, .u.facts = {.boot = "", .suspect = 1}},
                                {.kind = RECORD_FOUNDED}};
    d->config.vni_hold_ms = HOLD_UNTIL_REPORTED;
    d->config.cluster_count = 3;
    strcpy(d->config.clusters[2].name, "tuo");
    start_with_plugin(d, false);
    records[2] = (struct record){.kind = RECORD_RESERVATION,
                                 .u.reservation = reservation_record(driver_job(d, "77"))};
    struct driver next = *d;
    next.core = core_create(&next.config);
    for (int i = 0; i < 3; i++)
        assert_int_equal(core_load(next.core, &records[i], NULL), 0);
    core_start(next.core, next.now);
    assert_true(driver_alarm(&next, ALARM_OLD_LEDGER));
    sync_of(&next, "elcap2", NULL, 0);
    assert_true(driver_alarm(&next, ALARM_OLD_LEDGER));
    sync_of(&next, "tuo", NULL, 0);
    assert_false(driver_alarm(&next, ALARM_OLD_LEDGER));
    core_destroy(next.core);
}

UNIT_RUN(NULL, NULL)
