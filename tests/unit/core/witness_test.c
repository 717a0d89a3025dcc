/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* No verdict from one witness: what is at the fabric manager and should not be, and what only a
 * ledger does not know (B11, F3, F20, I1, I4, I11). What is missing there: core_missing_test.c. */

/* The RELEASE of a job's name that the last step handed out, or 0. */
static uint64_t release_of(const struct driver *d, const char *name)
{
    size_t count;
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind == EFFECT_CALL && effects[i].u.call.kind == FMCALL_RELEASE &&
            strcmp(effects[i].u.call.about.name, name) == 0)
            return effects[i].u.call.id;
    }
    return 0;
}

/* Answers all CHECKs of the last step: what is listed is there. Nothing else may be asked for. */
static void confirm_all(struct driver *d)
{
    size_t count, made = 0;
    struct {
        uint64_t id;
        char token[64];
    } calls[8];
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind != EFFECT_CALL)
            continue;
        assert_int_equal(effects[i].u.call.kind, FMCALL_CHECK);
        calls[made].id = effects[i].u.call.id;
        (void)snprintf(calls[made++].token, sizeof calls[0].token, "sess-%s",
                       strchr(effects[i].u.call.about.name, '-') + 1);
    }
    for (size_t i = 0; i < made; i++)
        driver_done(d, calls[i].id, FM_OK, calls[i].token);
}

static void claim(struct driver *d, const char *cluster)
{
    DRIVER_ASK(d, CORE_CLAIM, claim, .cluster = cluster);
}

static void sync_jobs(struct driver *d, const char *const *active, size_t count)
{
    DRIVER_ASK(d, CORE_SYNC, sync, .cluster = "elcap", .active = active, .count = count);
}

/* B11: what this ledger never knew may be another broker's. It is told, and never deleted by
 * itself: neither because no list names its job, nor because a client releases it here. */
UP(witness__unknown_reservation_is_not_deleted)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    for (int i = 0; i < 5; i++) {
        driver_tick(d, d->config.relist_ms);
        driver_list(d, (const char *const[]){"elcap-77", "elcap-78", "elcap-a"}, 3, FM_OK);
        confirm_all(d);
        sync_jobs(d, (const char *const[]){"a"}, 1);
        assert_null(driver_find(d, EFFECT_CALL));
    }
    assert_true(driver_alarm(d, ALARM_NAME_CONFLICT));
    driver_release(d, "78");
    assert_null(driver_find(d, EFFECT_CALL));
    driver_reserve(d, driver_request("77", 128)); /* and its name is not ours to use */
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_DENIED);
    driver_released_job(d, "a"); /* our own is */
    assert_null(driver_find(d, EFFECT_CALL));

    claim(d, "elcap2");
    assert_null(driver_find(d, EFFECT_CALL));
    assert_int_equal(driver_answer(d)->count, 0);
    claim(d, "elcap");
    assert_int_equal(driver_answered(d), ANSWER_CLAIMED);
    assert_int_equal(driver_answer(d)->count, 2);
    assert_int_equal(driver_count(d, EFFECT_CALL), 2);
    assert_false(driver_alarm(d, ALARM_NAME_CONFLICT));
}

/* B11: a leftover by the ledger's own events, and still a list of jobs names its job: it stays. */
UNIT(witness__leftover_that_a_list_names_is_kept)
{
    for (uint32_t vnis = 0; vnis < 2; vnis++) { /* its last life is gone, or quarantined */
        struct driver d;
        static const char *const names[] = {"elcap-77", "elcap-a"};
        static const char *const active[] = {"77", "a"};
        driver_init(&d);
        driver_up(&d);
        driver_reserved_job(&d, "a");
        struct reserve_request q = driver_request("77", 128);
        q.vni_count = (int)vnis;
        driver_reserve(&d, q);
        driver_done(&d, driver_call(&d, FMCALL_RESERVE), FM_OK, "sess-77");
        driver_released_job(&d, "77");
        assert_int_equal(driver_job(&d, "77") != NULL, vnis);
        for (int i = 0; i < 4; i++) {
            driver_tick(&d, d.config.stray_grace_ms + (i == 0 ? d.config.relist_ms : 0));
            driver_list(&d, names, 2, FM_OK);
            confirm_all(&d);
            sync_jobs(&d, active, 2);
            assert_null(driver_find(&d, EFFECT_CALL));
        }
        driver_end(&d);
    }
}

/* What another broker gave back is no loss of ours, and no alarm for ever. */
UP(witness__unknown_reservation_that_vanishes_is_forgotten)
{
    struct driver *d = *state;
    for (int i = 0; i < 2; i++) {
        driver_tick(d, d->config.relist_ms);
        driver_list(d, (const char *const[]){"elcap-77"}, 1, FM_OK);
    }
    assert_non_null(driver_job(d, "77"));
    for (int i = 0; i < 2; i++) {
        driver_tick(d, d->config.relist_ms);
        driver_list(d, NULL, 0, FM_OK);
        driver_done(d, driver_call(d, FMCALL_CHECK), FM_GONE, NULL);
        assert_int_equal(driver_events(d, EVENT_LOST), 0);
    }
    assert_null(driver_job(d, "77"));
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_OK);
    assert_false(driver_alarm(d, ALARM_NAME_CONFLICT));

    /* The same when its end was told here: then lists are all that tells. */
    for (int i = 0; i < 2; i++) {
        driver_tick(d, d->config.relist_ms);
        driver_list(d, (const char *const[]){"elcap-78"}, 1, FM_OK);
    }
    driver_release(d, "78");
    assert_int_equal(driver_job(d, "78")->state, JOB_RELEASING);
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_OK);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_GONE, NULL);
    assert_non_null(driver_job(d, "78")); /* one list is one witness */
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_OK);
    assert_null(driver_job(d, "78"));
    assert_null(driver_find(d, EFFECT_CALL));
}

/* Two lists that lack what was ended here are two witnesses only if none names it in between. */
UP(witness__list_that_names_it_again_begins_anew)
{
    struct driver *d = *state;
    const char *const named[] = {"elcap-78"};
    for (int i = 0; i < 2; i++) {
        driver_tick(d, d->config.relist_ms);
        driver_list(d, named, 1, FM_OK);
    }
    driver_release(d, "78");
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_OK);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_GONE, NULL);
    driver_tick(d, d->config.relist_ms);
    driver_list(d, named, 1, FM_OK);
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_OK);
    assert_non_null(driver_job(d, "78"));
}

/* B11: a ledger that was restored does not know jobs that run: the resource manager and the fabric
 * manager both name one. Its reservation stays, and no VNI is given out that it may use. */
UP(witness__old_ledger_gives_out_no_vni)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-102"};
    static const char *const active[] = {"101", "102"};
    driver_reserve(d, driver_request("101", 2)); /* known, and its VNI is */
    driver_tick(d, d->config.relist_ms);
    driver_list(d, names, 1, FM_OK);
    sync_jobs(d, active, 2);
    assert_int_equal(driver_answer(d)->sync->confirmed, 2);
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    driver_reserve(d, driver_request("103", 2));
    assert_int_equal(driver_answered(d), ANSWER_NO_VNIS);
    driver_tick(d, d->config.relist_ms / 2); /* [vni] hold is as long as relist */
    driver_reserve(d, driver_request("104", 2));
    assert_int_equal(driver_answered(d), ANSWER_NO_VNIS);
    assert_int_equal(driver_status(d).vnis_free, 0);
    driver_tick(d, d->config.vni_hold_ms - d->config.relist_ms / 2);
    assert_false(driver_alarm(d, ALARM_OLD_LEDGER));
    sync_jobs(d, active, 2); /* the same again is nothing new */
    assert_false(driver_alarm(d, ALARM_OLD_LEDGER));
    driver_reserve(d, driver_request("105", 2));
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_job(d, "102")->state, JOB_ACTIVE);
}

/* To claim the name says nothing of VNIs; a [vni] hold that is over does, also by a reload. */
FRESH(witness__claim_ends_no_quarantine)
{
    struct driver *d = *state;
    d->config.vni_hold_ms = HOLD_UNTIL_REPORTED;
    driver_start(d);
    driver_login(d);
    driver_list(d, (const char *const[]){"elcap-77"}, 1, FM_OK);
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    driver_tick(d, 3600 * 1000);
    driver_list(d, (const char *const[]){"elcap-77"}, 1, FM_OK);
    driver_reserve(d, driver_request("a", 2));
    assert_int_equal(driver_answered(d), ANSWER_NO_VNIS);
    claim(d, "elcap");
    assert_false(driver_alarm(d, ALARM_NAME_CONFLICT));
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    driver_reserve(d, driver_request("a", 2));
    assert_int_equal(driver_answered(d), ANSWER_NO_VNIS);
    driver_set_hold(d, 1000);
    assert_false(driver_alarm(d, ALARM_OLD_LEDGER));
    driver_reserve(d, driver_request("a", 2));
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

/* B11: what lies under the name of a job that is over here may be its next start's, which a ledger
 * that was put back does not know. While a list names that job as active, no claim deletes it. */
UP(witness__claim_leaves_what_a_list_names)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-a"};
    driver_set_hold(d, HOLD_UNTIL_REPORTED);
    driver_reserved_job(d, "a");
    driver_release(d, "a");
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    driver_tick(d, d->config.relist_ms);
    driver_list(d, names, 1, FM_OK);
    driver_tick(d, d->config.relist_ms);
    driver_list(d, names, 1, FM_OK);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "sess-other");
    assert_true(driver_alarm(d, ALARM_NAME_CONFLICT));
    sync_jobs(d, (const char *const[]){"a"}, 1);
    claim(d, "elcap");
    assert_int_equal(driver_answered(d), ANSWER_CLAIMED);
    assert_int_equal(driver_answer(d)->count, 0);
    assert_null(driver_find(d, EFFECT_CALL));
    assert_true(driver_alarm(d, ALARM_NAME_CONFLICT));
    sync_jobs(d, NULL, 0);
    claim(d, "elcap");
    assert_int_equal(driver_answer(d)->count, 1);
    assert_int_equal(release_of(d, "elcap-a") > 0, 1);
    assert_false(driver_alarm(d, ALARM_NAME_CONFLICT));
}

/* A list that comes while the release is asked for again and again. */
static void list_between_releases(struct driver *d, int64_t wait_ms, const char *name)
{
    driver_tick(d, wait_ms - 1);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_NOT_ROUTED, NULL);
    driver_tick(d, 1);
    driver_list(d, &name, name != NULL, FM_OK);
}

/* B11: a gateway's 404 to a release proves nothing; two whole lists that began later do: the pages
 * of one can shift while they are read. */
UP(witness__release_behind_a_gateway_is_proved_by_lists)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    driver_release(d, "a");
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_NOT_ROUTED, NULL);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_THERE);
    driver_tick(d, d->config.relist_ms);
    uint64_t release = driver_call(d, FMCALL_RELEASE);
    driver_list(d, (const char *const[]){"elcap-a"}, 1, FM_OK);
    driver_done(d, release, FM_NOT_ROUTED, NULL);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_THERE);
    list_between_releases(d, d->config.relist_ms, NULL);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_THERE);
    list_between_releases(d, d->config.stray_grace_ms, "elcap-a");
    list_between_releases(d, d->config.relist_ms, NULL);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_THERE);
    list_between_releases(d, d->config.stray_grace_ms, NULL);
    const struct reservation *r = driver_job(d, "a");
    assert_true(!r || r->fm_side == FM_SIDE_NOTHING);
}

static uint64_t jobs_adopted(const struct driver *d)
{
    return driver_status(d).use.jobs_adopted;
}

/* A ledger that was lost and made anew must not take reservations from running jobs; nor must one
 * that is new because its configuration is a copy of another broker's (B11). */
FRESH(witness__new_ledger_takes_for_active_until_claimed)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-77", "elcap-78"};
    static const char *const active[] = {"77"};
    d->config.addresses_per_job = 23;
    d->config.clusters[0].budget = 23; /* what 77 has makes room for it when it is reserved again */
    driver_start(d);
    driver_login(d);
    driver_list(d, names, 2, FM_OK);
    assert_null(driver_find(d, EFFECT_CALL));
    assert_int_equal(driver_job(d, "77")->state, JOB_ACTIVE);
    assert_int_equal(jobs_adopted(d), 2); /* their VNIs are not known */
    assert_true(driver_alarm(d, ALARM_NAME_CONFLICT));
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    for (int i = 0; i < 3; i++) {
        sync_jobs(d, active, 1);
        assert_null(driver_find(d, EFFECT_CALL));
        d->now += d->config.sync_grace_ms;
    }
    assert_int_equal(driver_job(d, "78")->state, JOB_RELEASING);
    claim(d, "elcap");
    const struct effect *call = driver_find(d, EFFECT_CALL);
    assert_non_null(call);
    assert_string_equal(call->u.call.about.name, "elcap-78");
    driver_done(d, call->u.call.id, FM_OK, NULL);
    assert_int_equal(driver_job(d, "77")->state, JOB_ACTIVE);
    /* Reserved anew, 77 gets a clean one. */
    struct reserve_request q = driver_request("77", 128);
    q.vni_count = 0; /* those that there are may be in use */
    driver_reserve(d, q);
    driver_done(d, release_of(d, "elcap-77"), FM_OK, NULL);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-77");
    assert_string_equal(secret_expose(driver_job(d, "77")->token), "sess-77");
    assert_int_equal(jobs_adopted(d), 0);
}

/* Reserved while the list was read: what it shows is that, and in no one's way. */
FRESH(witness__what_is_reserved_meanwhile_is_no_stray)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-c"};
    d->config.stray_grace_ms = 0;
    driver_up(d);
    driver_tick(d, d->config.relist_ms);
    uint64_t list = driver_find(d, EFFECT_LIST)->u.list.id;
    DRIVER_STEP(d, CORE_LIST_NAMES, names, .list = list, .names = names, .count = 1);
    driver_reserve(d, driver_request("c", 128));
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    DRIVER_STEP(d, CORE_LIST_DONE, list_done, .list = list, .outcome = FM_OK);
    assert_false(driver_alarm(d, ALARM_NAME_CONFLICT));
    driver_done(d, call, FM_OK, "sess-c");
    assert_int_equal(driver_answer(d)->reservation->hwcoll, HWCOLL_RESERVED);
}

/* B11: a job that is reserved anew has other VNIs than its services on the nodes: only a list that
 * names no unknown job ends the quarantine. And where the reserve is refused nothing is released.
 */
FRESH(witness__reserved_anew_ends_no_quarantine)
{
    struct driver *d = *state;
    d->config.vni_hold_ms = HOLD_UNTIL_REPORTED;
    driver_start(d);
    driver_login(d);
    driver_list(d, (const char *const[]){"elcap-77"}, 1, FM_OK);
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    driver_tick(d, 1000);
    driver_reserve(d, driver_request("77", 2));
    assert_int_equal(driver_answered(d), ANSWER_NO_VNIS);
    assert_int_equal(driver_job(d, "77")->state, JOB_ACTIVE);
    struct reserve_request q = driver_request("77", 128);
    q.vni_count = 0;
    q.wish = WISH_REQUIRED;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_NO_HWCOLL);
    assert_int_equal(driver_job(d, "77")->state, JOB_ACTIVE);
    assert_int_equal(driver_job(d, "77")->origin, ORIGIN_FOUND);
    q.node_count = 2;
    q.wish = WISH_AUTO;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    driver_tick(d, 1000);
    sync_jobs(d, (const char *const[]){"77"}, 1);
    driver_tick(d, 1);
    assert_false(driver_alarm(d, ALARM_OLD_LEDGER));
}

/* Lost, it says as little of its job as before: a job that starts under its id is not told that it
 * differs from it. */
FRESH(witness__adopted_and_lost_is_reserved_anew)
{
    struct driver *d = *state;
    driver_start(d);
    driver_login(d);
    driver_list(d, (const char *const[]){"elcap-77"}, 1, FM_OK);
    claim(d, "elcap");
    for (int i = 0; i < 4; i++) {
        driver_tick(d, d->config.relist_ms);
        if (driver_find(d, EFFECT_LIST))
            driver_list(d, NULL, 0, FM_OK);
        if (driver_find(d, EFFECT_CALL))
            driver_done(d, driver_call(d, FMCALL_CHECK), FM_GONE, NULL);
    }
    assert_int_equal(driver_job(d, "77")->hwcoll, HWCOLL_LOST);
    struct reserve_request q = driver_request("77", 128);
    q.vni_count = 0;
    driver_reserve(d, q);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-77");
    assert_string_equal(secret_expose(driver_job(d, "77")->token), "sess-77");
}

/* I8: the addresses of what is adopted make room for the same job's, which waits for them. */
UNIT(witness__reserved_anew_in_the_room_of_what_was_adopted)
{
    static const struct {
        uint32_t total;
        enum answer_kind refused; /* 0: it waits */
    } cases[] = {{16, 0}, {15, ANSWER_INVALID}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct driver d;
        driver_init(&d);
        d.config.addresses_per_job = 16;
        d.config.total_addresses = 16;
        driver_start(&d);
        driver_login(&d);
        driver_list(&d, (const char *const[]){"elcap-77"}, 1, FM_OK);
        claim(&d, "elcap");
        d.config.total_addresses = cases[i].total;
        driver_configure(&d);
        struct reserve_request q = driver_request("77", 128);
        q.vni_count = 0;
        q.wish = WISH_REQUIRED;
        driver_reserve(&d, q);
        if (cases[i].refused != 0) {
            assert_int_equal(driver_answered(&d), cases[i].refused);
            assert_int_equal(driver_job(&d, "77")->state, JOB_ACTIVE);
        } else {
            driver_done(&d, release_of(&d, "elcap-77"), FM_OK, NULL);
            driver_done(&d, driver_call(&d, FMCALL_RESERVE), FM_OK, "sess-77");
            assert_string_equal(secret_expose(driver_job(&d, "77")->token), "sess-77");
        }
        driver_end(&d);
    }
}

/* B4, F21: what was found counts, and gives nothing back before an administrator claims it: so no
 * job waits for its room, and is told why there is none. */
FRESH(witness__nobody_waits_for_the_room_of_what_was_found)
{
    struct driver *d = *state;
    struct core_status status;
    d->config.addresses_per_job = 16;
    d->config.total_addresses = 32;
    d->config.clusters[0].budget = 32;
    driver_start(d);
    driver_login(d);
    driver_list(d, (const char *const[]){"elcap-77", "elcap-78"}, 2, FM_OK);
    for (int i = 0; i < 2; i++)
        driver_release(d, i == 0 ? "77" : "78");
    assert_int_equal(driver_job(d, "78")->state, JOB_RELEASING);
    core_status(d->core, &status);
    assert_int_equal(status.use.releases, 0);
    struct reserve_request q = driver_request("a", 128);
    q.vni_count = 0;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_DENIED);
    assert_string_equal(driver_job(d, "a")->reason,
                        "cluster elcap has 32 of its 32 multicast addresses in use, 16 more are "
                        "not left; 2 reservations that were found there count among them: see "
                        "mcastctl status");
    claim(d, "elcap");
    core_status(d->core, &status);
    assert_int_equal(status.use.releases, 2);
    q.job = "b";
    driver_reserve(d, q);
    assert_null(driver_answer(d)); /* it waits for what is being released now */
}

/* B11: an empty list alone does not make running jobs unknown again. */
UP(witness__empty_list_forgets_nothing_that_was_found)
{
    struct driver *d = *state;
    for (int i = 0; i < 2; i++) {
        driver_tick(d, d->config.relist_ms);
        driver_list(d, (const char *const[]){"elcap-77"}, 1, FM_OK);
    }
    for (int i = 0; i < 3; i++) {
        driver_tick(d, d->config.relist_ms);
        driver_list(d, NULL, 0, FM_OK);
        driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "sess-x");
    }
    assert_int_equal(driver_job(d, "77")->state, JOB_ACTIVE);
    assert_true(driver_alarm(d, ALARM_NAME_CONFLICT));
}

/* As long as a list names jobs that the ledger does not know, their VNIs may be any. */
FRESH(witness__unknown_jobs_keep_the_quarantine)
{
    struct driver *d = *state;
    static const char *const active[] = {"102", "104"};
    d->config.vni_hold_ms = HOLD_UNTIL_REPORTED;
    driver_up(d);
    driver_tick(d, d->config.relist_ms);
    driver_list(d, (const char *const[]){"elcap-102"}, 1, FM_OK);
    sync_jobs(d, active, 2);
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    driver_release(d, "102");
    driver_tick(d, 1000);
    assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
    driver_reserve(d, driver_request("a", 2));
    assert_int_equal(driver_answered(d), ANSWER_NO_VNIS);
    sync_jobs(d, active, 0); /* 104 is over */
    driver_tick(d, 1000);
    assert_false(driver_alarm(d, ALARM_OLD_LEDGER));
}

/* Two nodes with numbers that were never given are two witnesses, one is one. */
UP(witness__one_node_stops_no_others)
{
    struct driver *d = *state;
    for (uint16_t i = 0; i < 3; i++) {
        const uint16_t vni = (uint16_t)(2000 + i);
        DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = "x", .number = 70u + i,
                   .node = i < 2 ? "n1" : "n2", .state = NODE_CREATED, .services = "cxi0:12",
                   .vnis = &vni, .vni_count = 1);
        assert_true(driver_alarm(d, ALARM_OLD_LEDGER));
        assert_int_equal(driver_held(d), i + 1);
        assert_int_equal(driver_status(d).vnis_free > 0, i < 2);
    }
}

/* What the step before wrote to disk, and what a core is given back of it. */
struct disk {
    struct record reservation, facts;
    char boot[BOOT_ID_MAX + 1];
    bool has_reservation, has_facts;
};

static void keep_saved(const struct driver *d, struct disk *disk)
{
    size_t count;
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++) {
        const struct record *record = &effects[i].u.record;
        if (effects[i].kind != EFFECT_SAVE)
            continue;
        if (record->kind == RECORD_RESERVATION) {
            disk->reservation = *record;
            disk->has_reservation = true;
        } else if (record->kind == RECORD_GONE) {
            disk->has_reservation = false;
        } else if (record->kind == RECORD_FACTS) {
            disk->facts = *record;
            (void)snprintf(disk->boot, sizeof disk->boot, "%s", record->u.facts.boot);
            disk->facts.u.facts.boot = disk->boot;
            disk->has_facts = true;
        }
    }
}

static void start_again(struct driver *d, struct disk *disk, const char *boot, int64_t offset)
{
    struct core *before = d->core;
    d->core = core_create(&d->config);
    const struct record counters = {.kind = RECORD_COUNTERS, .u.counters = {7, 0}};
    assert_int_equal(core_load(d->core, &counters, NULL), 0);
    if (disk->has_facts)
        assert_int_equal(core_load(d->core, &disk->facts, NULL), 0);
    if (disk->has_reservation)
        assert_int_equal(core_load(d->core, &disk->reservation, NULL), 0);
    core_set_clock(d->core, boot, offset);
    core_start(d->core, d->now);
    core_destroy(before);
}

/* F3: within one boot a restart does not begin holds anew; after a boot, or when the clock was set,
 * it does. */
UNIT(witness__hold_goes_on_when_the_clock_can_be_trusted)
{
    static const struct {
        const char *boot;
        int64_t offset;
        bool goes_on;
    } cases[] = {{"b1", 5000, true},  {"b1", 6000, true},  {"b1", 5000 + 3600000, false},
                 {"b1", 3000, true},  {"b1", 7000, true},  {"b1", 2999, false},
                 {"b1", 7001, false}, {"b1", 1000, false}, {"b2", 5000, false},
                 {"", 5000, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct driver d;
        struct disk disk = {0};
        driver_init(&d);
        d.core = core_create(&d.config);
        core_set_clock(d.core, "b1", 5000);
        core_start(d.core, d.now);
        driver_reserve(&d, driver_request("a", 2));
        driver_release(&d, "a");
        keep_saved(&d, &disk);
        assert_true(disk.has_facts && disk.has_reservation);
        d.now += d.config.vni_hold_ms - 1000;
        start_again(&d, &disk, cases[i].boot, cases[i].offset);
        keep_saved(&d, &disk);
        assert_int_equal(driver_held(&d), 1);
        driver_tick(&d, 1000);
        assert_int_equal(driver_held(&d), !cases[i].goes_on);
        driver_tick(&d, d.config.vni_hold_ms - 1001);
        assert_int_equal(driver_held(&d), !cases[i].goes_on);
        driver_tick(&d, 1);
        assert_int_equal(driver_held(&d), 0);
        driver_end(&d);
    }
}

/* I1: a node's boot is compared with a release only when the broker's clock was not set since the
 * reservation was made; launch documents have its times, too. */
UNIT(witness__boot_is_compared_when_the_clock_can_be_trusted)
{
    static const struct {
        const char *boot;
        int64_t offset;
        bool ends;
    } cases[] = {{"b1", 5000, true}, {"b1", 5000 + 3600000, false}, {"b2", 5000, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct driver d;
        struct disk disk = {0};
        driver_init(&d);
        d.config.vni_hold_ms = HOLD_UNTIL_REPORTED;
        d.core = core_create(&d.config);
        core_set_clock(d.core, "b1", 5000);
        core_start(d.core, d.now);
        struct reserve_request request = driver_request("a", 1);
        request.nodes = "n1";
        driver_reserve(&d, request);
        driver_release(&d, "a");
        keep_saved(&d, &disk);
        d.now += 1000;
        start_again(&d, &disk, cases[i].boot, cases[i].offset);
        driver_tick(&d, 3600000);
        assert_int_equal(driver_held(&d), 1);
        DRIVER_ASK(&d, CORE_NODE_BOOT, boot, .node = "n1", .order = 8, .uptime_ms = 60000,
                   .booted_ms = d.now - 60000);
        assert_int_equal(driver_answer(&d)->count, cases[i].ends);
        assert_int_equal(driver_held(&d), !cases[i].ends);
        driver_end(&d);
    }
}

/* F3: the clock is on disk as soon as something is quarantined, and once. */
FRESH(witness__clock_is_saved_once)
{
    struct driver *d = *state;
    d->core = core_create(&d->config);
    core_set_clock(d->core, "b1", 5000);
    core_start(d->core, d->now);
    for (int i = 0; i < 4; i++) {
        struct disk disk = {0};
        const char job[] = {(char)('a' + i), '\0'};
        struct reserve_request q = driver_request(job, 2);
        q.vni_count = i > 0;
        driver_reserve(d, q);
        keep_saved(d, &disk);
        assert_false(disk.has_facts);
        driver_release(d, job);
        keep_saved(d, &disk);
        assert_int_equal(disk.has_facts, i == 1);
    }
}

/* F3: the VNI that has just come back is the last to be given out again, after a restart too. */
UP(witness__round_of_vnis_outlives_a_restart)
{
    struct driver *d = *state;
    struct disk disk = {0};
    for (int i = 0; i < 3; i++) {
        driver_reserve(d, driver_request("a", 1));
        assert_int_equal(driver_answer(d)->reservation->vnis[0], 1024 + i);
        driver_release(d, "a");
        driver_tick(d, d->config.vni_hold_ms);
        keep_saved(d, &disk);
    }
    assert_false(disk.has_reservation);
    start_again(d, &disk, "", 0);
    driver_reserve(d, driver_request("b", 1));
    assert_int_equal(driver_answer(d)->reservation->vnis[0], 1027);
}

UNIT_RUN(NULL, NULL)
