/* SPDX-License-Identifier: Apache-2.0 */
#include "core/state.h"
#include "core/reservation/tokenset.h"
#include "tests/unit/core/driver.h"

/* What the fabric manager lists, compared with the ledger (F20, B11). */

static uint32_t strays(const struct driver *d)
{
    return driver_status(d).strays;
}

/* A job that is over here, all of it, but for its VNIs, which wait for its nodes. */
static void over_but_for_its_vnis(struct driver *d, const char *job, bool jobpoll)
{
    driver_init(d);
    d->config.clusters[0].jobpoll = jobpoll;
    d->config.vni_hold_ms = HOLD_UNTIL_REPORTED;
    driver_up(d);
    driver_reserved_job(d, job);
    driver_release(d, job);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    assert_int_equal(driver_job(d, job)->fm_side, FM_SIDE_NOTHING);
}

/* F20: what is left of such a job is deleted with the second list, and once. */
UNIT(listing__deletes_what_is_left_of_one_that_holds_vnis)
{
    struct driver d;
    static const char *const names[] = {"elcap-a"};
    over_but_for_its_vnis(&d, "a", false);
    driver_tick(&d, d.config.relist_ms);
    driver_list(&d, names, 1, FM_OK);
    assert_null(driver_find(&d, EFFECT_CALL));
    driver_tick(&d, d.config.stray_grace_ms);
    assert_int_equal(strays(&d), 1);
    driver_list(&d, names, 1, FM_OK);
    assert_int_equal(strays(&d), 0);
    driver_done(&d, driver_call(&d, FMCALL_CHECK), FM_OK, "sess-a");
    driver_done(&d, driver_call(&d, FMCALL_RELEASE), FM_OK, NULL);
    assert_int_equal(driver_job(&d, "a")->fm_side, FM_SIDE_NOTHING);
    assert_null(driver_find(&d, EFFECT_CALL));
    assert_int_equal(driver_job(&d, "a")->vni_count, 1); /* which are quarantined as before */
    driver_end(&d);
}

/* B11: not before its resource manager was asked, which may name the job. */
UNIT(listing__deletes_nothing_before_a_jobpoll)
{
    struct driver d;
    static const char *const names[] = {"elcap-a"};
    over_but_for_its_vnis(&d, "a", true);
    for (int i = 0; i < 3; i++) {
        driver_tick(&d, d.config.relist_ms);
        driver_list(&d, names, 1, FM_OK);
        assert_null(driver_find(&d, EFFECT_CALL));
        assert_int_equal(strays(&d), 1);
    }
    driver_end(&d);
}

/* F21: a list may name what was released while it was under way. That is no stray: who names its
 * job then, of before the release, makes nothing of it that the ledger does not know. */
UNIT(listing__of_before_a_release_makes_no_stray)
{
    struct driver d;
    static const char *const names[] = {"elcap-a"}, *const active[] = {"a"};
    driver_init(&d);
    d.config.vni_hold_ms = 0;
    driver_up(&d);
    driver_reserved_job(&d, "a");
    driver_tick(&d, d.config.relist_ms);
    const uint64_t list = d.core->link.list;
    assert_int_not_equal(list, 0);
    driver_release(&d, "a");
    driver_done(&d, driver_call(&d, FMCALL_RELEASE), FM_OK, NULL);
    DRIVER_STEP(&d, CORE_LIST_NAMES, names, .list = list, .names = names, .count = 1);
    DRIVER_STEP(&d, CORE_LIST_DONE, list_done, .list = list, .outcome = FM_OK);
    assert_null(driver_job(&d, "a"));
    DRIVER_ASK(&d, CORE_SYNC, sync, .cluster = "elcap", .active = active, .count = 1);
    assert_null(driver_job(&d, "a"));
    assert_int_equal(driver_events(&d, EVENT_ADOPTED), 0);
    assert_int_equal(driver_events(&d, EVENT_ALARM), 0);
    driver_end(&d);
}

/* B11: one list that lacks a leftover, before its token proves that it is ours, counts as no loss:
 * neither then nor when the reservation ends. */
UNIT(listing__a_leftover_that_one_list_lacks_is_no_loss)
{
    struct driver d;
    static const char *const names[] = {"elcap-a"};
    over_but_for_its_vnis(&d, "a", false);
    driver_tick(&d, d.config.relist_ms);
    driver_list(&d, names, 1, FM_OK);
    driver_tick(&d, d.config.stray_grace_ms);
    driver_list(&d, names, 1, FM_OK);
    uint64_t check = driver_call(&d, FMCALL_CHECK);
    driver_tick(&d, d.config.relist_ms);
    driver_list(&d, NULL, 0, FM_OK);
    driver_done(&d, check, FM_OK, "sess-a");
    driver_done(&d, driver_call(&d, FMCALL_RELEASE), FM_OK, NULL);
    d.config.vni_hold_ms = 0;
    driver_configure(&d);
    driver_tick(&d, d.config.call_timeout_ms);
    assert_null(driver_job(&d, "a"));
    driver_tick(&d, d.config.relist_ms);
    driver_list(&d, NULL, 0, FM_OK);
    assert_true(core_next_deadline(d.core) > d.now + d.config.stray_grace_ms);
    driver_end(&d);
}

/* A RESERVE that was given up, and settled: nothing is there, as far as anybody can know. */
static void given_up(struct driver *d, const char *job)
{
    driver_init(d);
    driver_up(d);
    driver_reserve(d, driver_request(job, 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_TIMEOUT, NULL);
    driver_tick(d, d->config.reserve_timeout_ms);
    for (int i = 0; i < 4 && driver_job(d, job)->fm_side != FM_SIDE_NOTHING; i++) {
        const struct effect *effect = driver_find(d, EFFECT_CALL);
        if (effect)
            driver_done(d, effect->u.call.id,
                        effect->u.call.kind == FMCALL_RELEASE ? FM_GONE : FM_TIMEOUT, NULL);
        else
            driver_tick(d, d->config.call_timeout_ms);
    }
    assert_int_equal(driver_job(d, job)->fm_side, FM_SIDE_NOTHING);
    assert_int_not_equal(d->core->link.list, 0); /* of one that answered nothing in time */
    DRIVER_STEP(d, CORE_LIST_DONE, list_done, .list = d->core->link.list, .outcome = FM_OK);
}

/* F21: what comes of it after that is found by a list and deleted, while the job runs or when it is
 * over, and nobody is alarmed; not by the first list (B11). */
UNIT(listing__deletes_what_was_reserved_late)
{
    static const char *const names[] = {"elcap-a"};
    for (int over = 0; over < 2; over++) {
        struct driver d;
        given_up(&d, "a");
        if (over)
            driver_release(&d, "a");
        driver_tick(&d, d.config.relist_ms);
        driver_list(&d, names, 1, FM_OK);
        assert_null(driver_find(&d, EFFECT_CALL));
        driver_tick(&d, d.config.stray_grace_ms);
        driver_list(&d, names, 1, FM_OK);
        driver_done(&d, driver_call(&d, FMCALL_RELEASE), FM_OK, NULL);
        assert_int_equal(strays(&d), 0);
        assert_int_equal(driver_events(&d, EVENT_ALARM), 0);
        driver_end(&d);
    }
}

/* The same job, as the ledger tells after a start: that it gave its reserve up. */
static void given_up_before_the_start(struct driver *d)
{
    const struct record records[] = {
        {.kind = RECORD_RESERVATION,
         .u.reservation = {.number = 1,
                           .cluster = "elcap",
                           .job = "a",
                           .node_count = 128,
                           .addresses = 23,
                           .wish = WISH_AUTO,
                           .state = JOB_ACTIVE,
                           .hwcoll = HWCOLL_TIMEOUT,
                           .fm_side = FM_SIDE_NOTHING,
                           .created_ms = 1}},
        {.kind = RECORD_EVENT,
         .u.event = {.seq = 1,
                     .number = 1,
                     .cluster = "elcap",
                     .job = "a",
                     .state = JOB_ACTIVE,
                     .kind = EVENT_TIMEOUT,
                     .proof = PROOF_UNANSWERED}},
        {.kind = RECORD_COUNTERS, .u.counters = {.last_number = 1, .last_seq = 1}},
        {.kind = RECORD_FOUNDED},
    };
    d->core = core_create(&d->config);
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        assert_int_equal(core_load(d->core, &records[i], NULL), 0);
    core_start(d->core, d->now);
    driver_link(d);
}

/* I11: by its events alone a ledger does not know it: it may be an older copy, and the job may have
 * been released and have started again since, with what is listed. When it is over it goes (F21).
 */
UNIT(listing__what_an_older_ledger_may_lack_stays_while_the_job_runs)
{
    static const char *const names[] = {"elcap-a"};
    struct driver d;
    driver_init(&d);
    given_up_before_the_start(&d);
    for (int i = 0; i < 4; i++) {
        driver_tick(&d, d.config.relist_ms);
        driver_list(&d, names, 1, FM_OK);
        assert_null(driver_find(&d, EFFECT_CALL));
        assert_int_equal(strays(&d), 1);
    }
    driver_release(&d, "a");
    driver_tick(&d, d.config.relist_ms);
    driver_list(&d, names, 1, FM_OK);
    driver_done(&d, driver_call(&d, FMCALL_RELEASE), FM_OK, NULL);
    assert_int_equal(strays(&d), 0);
    driver_end(&d);
}

/* F21: what comes of it is looked for after the start, too, also where lists are made at need only.
 */
UNIT(listing__looks_for_what_was_given_up_before_the_start)
{
    struct driver d;
    driver_init(&d);
    d.config.relist_ms = 0;
    given_up_before_the_start(&d);
    driver_tick(&d, 8 * d.config.call_timeout_ms);
    assert_non_null(driver_find(&d, EFFECT_LIST));
    driver_list(&d, NULL, 0, FM_OK);
    driver_tick(&d, 3600 * 1000);
    assert_null(driver_find(&d, EFFECT_LIST)); /* once */
    driver_end(&d);
}

/* B11: not while jobs may run that this ledger does not know, be they another cluster's. */
UNIT(listing__deletes_nothing_late_while_vnis_are_suspect)
{
    static const char *const names[] = {"elcap-a", "elcap2-b"}, *const active[] = {"b"};
    struct driver d;
    given_up(&d, "a");
    driver_tick(&d, d.config.relist_ms);
    driver_list(&d, names, 2, FM_OK);
    DRIVER_ASK(&d, CORE_SYNC, sync, .cluster = "elcap2", .active = active, .count = 1);
    assert_true(driver_alarm(&d, ALARM_OLD_LEDGER));
    driver_tick(&d, d.config.stray_grace_ms);
    driver_list(&d, names, 2, FM_OK);
    assert_true(driver_alarm(&d, ALARM_OLD_LEDGER));
    assert_int_equal(strays(&d), 1);
    driver_end(&d);
}

/* I3: what was not ours, and is there no more, says nothing of what is found under the name next:
 * that is asked for its token until an answer comes. */
UNIT(listing__what_is_found_again_is_asked_for_again)
{
    for (int ours = 0; ours < 2; ours++) {
        struct driver d;
        static const char *const names[] = {"elcap-a"};
        over_but_for_its_vnis(&d, "a", false);
        for (int i = 0; i < 2; i++) {
            driver_tick(&d, d.config.relist_ms);
            driver_list(&d, names, 1, FM_OK);
        }
        driver_done(&d, driver_call(&d, FMCALL_CHECK), FM_OK, "sess-of-another");
        assert_true(driver_alarm(&d, ALARM_NAME_CONFLICT));
        for (int i = 0; i < 3; i++) {
            driver_tick(&d, d.config.relist_ms);
            driver_list(&d, NULL, 0, FM_OK);
        }
        assert_false(driver_alarm(&d, ALARM_NAME_CONFLICT));
        for (int i = 0; i < 2; i++) {
            driver_tick(&d, d.config.relist_ms);
            driver_list(&d, names, 1, FM_OK);
        }
        driver_done(&d, driver_call(&d, FMCALL_CHECK), FM_TIMEOUT, NULL);
        driver_tick(&d, d.config.relist_ms);
        driver_list(&d, names, 1, FM_OK);
        driver_done(&d, driver_call(&d, FMCALL_CHECK), FM_OK, ours ? "sess-a" : "sess-of-another");
        assert_int_equal(driver_alarm(&d, ALARM_NAME_CONFLICT), !ours);
        assert_int_equal(driver_count(&d, EFFECT_CALL), ours);
        driver_end(&d);
    }
}

UNIT_RUN(NULL, NULL)
