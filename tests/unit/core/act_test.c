/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* What a reservation wants next, and what its job is told when the time is up (F13, F21). */

/* A call that is wanted still keeps its place, whatever else is heard of the job. */
FRESH(act__what_waits_keeps_its_place)
{
    struct driver *d = *state;
    d->config.calls_at_once = 1;
    driver_up(d);
    driver_reserved_job(d, "a");
    driver_reserved_job(d, "b");
    driver_reserve(d, driver_request("c", 128));
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    driver_release(d, "a");
    driver_release(d, "b");
    DRIVER_ASK(d, CORE_NODE_REPORT, report, .cluster = "elcap", .job = "a", .number = 1,
               .node = "n1", .state = NODE_CREATED);
    driver_done(d, call, FM_OK, "sess-c");
    (void)driver_call(d, FMCALL_RELEASE);
    assert_string_equal(driver_find(d, EFFECT_CALL)->u.call.about.name, "elcap-a");
}

/* To clear a name for a job that starts is urgent; when that is released meanwhile it is not. */
FRESH(act__what_is_urgent_no_more_changes_its_lane)
{
    struct driver *d = *state;
    d->config.calls_at_once = 1;
    driver_up(d);
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_BUSY, NULL);
    driver_tick(d, 250);
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    driver_reserve(d, driver_request("b", 128));
    driver_done(d, call, FM_EXISTS, NULL);
    (void)driver_call(d, FMCALL_RESERVE); /* b's */
    assert_int_equal(driver_status(d).calls_queued_reserve, 1);
    driver_release(d, "a");
    assert_int_equal(driver_status(d).calls_queued_reserve, 0);
    assert_int_equal(driver_status(d).calls_queued_release, 1);
}

static void assert_given_up(const struct driver *d, const char *job, enum hwcoll_state hwcoll,
                            enum fm_side side, const char *words)
{
    const struct reservation *r = driver_job(d, job);
    assert_int_equal(r->hwcoll, hwcoll);
    assert_int_equal(r->fm_side, side);
    assert_words(r->reason, words);
}

/* F21: what was never asked for cannot be there. The one place had another's call. */
UNIT(give_up__tells_the_asked_from_those_that_waited)
{
    struct driver d;
    driver_init(&d);
    d.config.calls_at_once = 1;
    driver_up(&d);
    driver_reserve(&d, driver_request("a", 128));
    driver_reserve(&d, driver_request("b", 128));
    driver_tick(&d, d.config.reserve_timeout_ms);
    assert_given_up(&d, "a", HWCOLL_TIMEOUT, FM_SIDE_MAYBE, "no answer of the fabric manager");
    assert_given_up(&d, "b", HWCOLL_UNAVAILABLE, FM_SIDE_NOTHING, "busy with other calls");
    driver_end(&d);

    driver_start(&d); /* the first login has no answer yet */
    driver_reserve(&d, driver_request("a", 128));
    driver_tick(&d, d.config.reserve_timeout_ms);
    assert_given_up(&d, "a", HWCOLL_UNAVAILABLE, FM_SIDE_NOTHING,
                    "the link to the fabric manager is not up");
    driver_end(&d);
}

/* To where a RELEASE of what was in the way of job a is under way, and no earlier try is open.
 * Returns it. */
static uint64_t clear_the_name(struct driver *d)
{
    driver_init(d);
    d->config.reserve_timeout_ms = 60000;
    d->config.clusters[0].budget = 30;
    driver_up(d);
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_BUSY, NULL);
    driver_tick(d, 250);
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    d->now += d->config.call_timeout_ms;
    driver_done(d, call, FM_EXISTS, NULL);
    return driver_call(d, FMCALL_RELEASE);
}

/* The name is free, and there is room: only the time is over. */
UNIT(give_up__when_the_name_became_free_too_late)
{
    struct driver d;
    uint64_t release = clear_the_name(&d);
    d.now = 1000000 + d.config.reserve_timeout_ms;
    driver_done(&d, release, FM_OK, NULL);
    assert_given_up(&d, "a", HWCOLL_TIMEOUT, FM_SIDE_NOTHING, "the fabric manager's words");
    driver_end(&d);
}

/* B4: the budget was lowered meanwhile, so what the fabric manager said last is not why. */
UNIT(give_up__for_want_of_room_tells_of_the_room)
{
    struct driver d;
    uint64_t release = clear_the_name(&d);
    d.config.clusters[0].budget = 22;
    driver_configure(&d);
    driver_done(&d, release, FM_OK, NULL);
    assert_null(driver_answer(&d));
    assert_null(driver_find(&d, EFFECT_CALL));
    driver_tick(&d, 1000000 + d.config.reserve_timeout_ms - d.now);
    assert_given_up(&d, "a", HWCOLL_DENIED, FM_SIDE_NOTHING, "has 0 of its 22 multicast addresses");
    driver_end(&d);
}

/* B4: a cluster that is taken out of the configuration has no budget of its own any more. */
FRESH(act__waits_for_no_budget_that_is_gone)
{
    struct driver *d = *state;
    d->config.clusters[0].budget = 30;
    driver_up(d);
    driver_reserved_job(d, "a");
    driver_release(d, "a");
    driver_reserve(d, driver_request("b", 128));
    assert_null(driver_find(d, EFFECT_CALL)); /* there is no room for both */
    d->config.cluster_count = 1;
    d->config.clusters[0] = d->config.clusters[1];
    driver_configure(d);
    (void)driver_call(d, FMCALL_RESERVE);
}

/* What is given up between two tries is released at once, not when the next try was due. */
UP(give_up__releases_without_a_pause)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    d->now += d->config.reserve_timeout_ms - 100;
    driver_done(d, call, FM_BUSY, NULL);
    driver_tick(d, 100);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    (void)driver_call(d, FMCALL_RELEASE);
}

/* The pauses between tries grow with the failures of one purpose, not with those before. */
UP(act__tries_are_counted_anew_for_each_purpose)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-a"};
    driver_reserve(d, driver_request("a", 128));
    for (int i = 0; i < 4; i++) {
        driver_done(d, driver_call(d, FMCALL_RESERVE), FM_BUSY, NULL);
        driver_tick(d, 250);
    }
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-a");
    driver_tick(d, d->config.call_timeout_ms); /* the tries before have settled */
    for (int i = 0; i < 2; i++) {
        if (i == 1) {
            driver_tick(d, d->config.relist_ms);
            driver_list(d, names, 1, FM_OK);
        }
        for (int pause = 500; pause <= 2000; pause *= 2) {
            driver_done(d, driver_call(d, FMCALL_CHECK), FM_BUSY, NULL);
            driver_tick(d, pause - 1);
            assert_null(driver_find(d, EFFECT_CALL));
            driver_tick(d, 1);
        }
        driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "sess-a");
    }
}

/* I4: a CHECK before the first try has settled is not the last one: it is asked again then. */
FRESH(act__looks_again_when_the_first_try_has_settled)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-a"};
    d->config.relist_ms = d->config.call_timeout_ms - 1000;
    driver_up(d);
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_BUSY, NULL);
    const int64_t settled_ms = d->now + d->config.call_timeout_ms;
    driver_tick(d, 250);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-a");
    driver_tick(d, d->config.relist_ms - 250);
    driver_list(d, names, 1, FM_OK);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "sess-a");
    assert_int_equal(core_next_deadline(d->core), settled_ms);
    driver_tick(d, settled_ms - d->now);
    (void)driver_call(d, FMCALL_CHECK);
}

/* A job whose first life is over but for a RELEASE that may yet be acted on. Returns until when. */
static int64_t first_life(struct driver *d, const struct reserve_request *q)
{
    driver_reserve(d, *q);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_BUSY, NULL); /* whose words are kept */
    driver_tick(d, 250);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-a");
    driver_tick(d, d->config.call_timeout_ms);
    driver_done(d, driver_call(d, FMCALL_CHECK), FM_OK, "sess-a");
    driver_release(d, q->job);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_BUSY, NULL);
    const int64_t settled_ms = d->now + d->config.call_timeout_ms;
    driver_tick(d, 500);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    return settled_ms;
}

/* Acting on the newer life of a job may end the older one too: nothing is done with that again. The
 * link is lost, or others give addresses back, when the time of both is over. */
UNIT(act__two_lives_may_end_at_once)
{
    for (int room = 0; room < 2; room++) {
        struct driver d;
        struct reserve_request q = driver_request("a", 128);
        driver_init(&d);
        d.config.clusters[0].budget = 46;
        driver_up(&d);
        q.vni_count = 0;
        d.now = first_life(&d, &q);
        d.now -= room ? d.config.reserve_timeout_ms : 1;
        if (room) {
            driver_reserved_job(&d, "c");
            driver_reserved_job(&d, "b");
            driver_release(&d, "b");
        } else {
            driver_reserve(&d, driver_request("b", 128));
        }
        uint64_t call = driver_call(&d, room ? FMCALL_RELEASE : FMCALL_RESERVE);
        q.wish = WISH_REQUIRED;
        driver_reserve(&d, q);
        assert_null(driver_answer(&d));
        assert_null(driver_find(&d, EFFECT_CALL)); /* there is no room, or the name rests */
        d.now += room ? d.config.reserve_timeout_ms : 1;
        driver_done(&d, call, room ? FM_OK : FM_UNREACHED, NULL);
        assert_null(driver_job(&d, "a"));
        driver_end(&d);
    }
}

/* However much is due at once, a step does a thousand of it; the rest is due at once. */
FRESH(act__much_that_is_due_takes_several_steps)
{
    struct driver *d = *state;
    d->config.trace_level = 4;
    driver_up(d);
    for (int i = 0; i < 1500; i++) {
        char job[16];
        (void)snprintf(job, sizeof job, "%d", i);
        driver_reserve(d, driver_request(job, 2));
        driver_release(d, job);
    }
    driver_tick(d, d->config.vni_hold_ms);
    const uint32_t left = driver_held(d);
    assert_true(left > 400 && left <= 500);
    assert_int_equal(core_next_deadline(d->core), d->now);
    driver_tick(d, 0);
    assert_int_equal(driver_held(d), 0);
}

UNIT_RUN(NULL, NULL)
