/* SPDX-License-Identifier: Apache-2.0 */
#include "core/state.h"
#include "tests/unit/core/driver.h"

#include "core/fabric/reservewait.h"

enum {
    MINUTE = 60 * 1000,
    CALL = 10 * 1000,
    LEAST = RESERVEWAIT_MIN_MS,
    MOST = RESERVEWAIT_MAX_MS
};

static void note(struct reservewait *wait, int64_t *now, int64_t took_ms, int times)
{
    for (; times > 0; times--)
        reservewait_note(wait, ++*now, took_ms);
}

/* F21: slow but well, or hanging: nothing tells before the first answer. */
UNIT(reservewait__of_one_not_known_is_as_of_one_that_takes_all_of_its_time)
{
    const struct reservewait none = {0};
    assert_int_equal(reservewait_longest(&none), -1);
    assert_int_equal(reservewait_time(&none, 4000, 1), 8000);
    assert_int_equal(reservewait_time(&none, 4000, 3), 16000);
    assert_int_equal(reservewait_time(&none, CALL, 1), MOST);
    assert_int_equal(reservewait_time(&none, 500, 1), LEAST);
}

UNIT(reservewait__is_for_the_calls_needed_and_one_more)
{
    struct reservewait wait = {0};
    int64_t now = MINUTE;
    note(&wait, &now, 100, 1);
    assert_int_equal(reservewait_time(&wait, CALL, 1), LEAST);
    assert_int_equal(reservewait_time(&wait, CALL, 19), LEAST);
    assert_int_equal(reservewait_time(&wait, CALL, 20), 2100);
    note(&wait, &now, 2000, 1); /* one answer is enough to learn from */
    assert_int_equal(reservewait_time(&wait, CALL, 1), 4000);
    assert_int_equal(reservewait_time(&wait, CALL, 4), 10000);
    assert_int_equal(reservewait_time(&wait, CALL, 200), MOST);
    note(&wait, &now, 9000, 1);
    note(&wait, &now, 50, 1);
    assert_int_equal(reservewait_longest(&wait), 9000);
    assert_int_equal(reservewait_time(&wait, CALL, 1), 18000);
    assert_int_equal(reservewait_time(&wait, CALL, 2), MOST);
}

/* What cannot be done within the most is not waited for. */
UNIT(reservewait__is_short_when_waiting_is_in_vain)
{
    struct reservewait wait = {0};
    int64_t now = MINUTE;
    note(&wait, &now, 2000, 3);
    assert_int_equal(reservewait_time(&wait, CALL, 10), MOST); /* just in time */
    assert_int_equal(reservewait_time(&wait, CALL, 11), LEAST);
    note(&wait, &now, 500, 1); /* at this speed it could */
    assert_int_equal(reservewait_time(&wait, CALL, 11), MOST);
    wait = (struct reservewait){0};
    note(&wait, &now, 30000, 3);
    assert_int_equal(reservewait_longest(&wait), MOST + 1);
    assert_int_equal(reservewait_time(&wait, MINUTE, 1), LEAST);
    note(&wait, &now, 20000, 1);
    assert_int_equal(reservewait_time(&wait, MINUTE, 1), MOST);
}

/* A slow spell is remembered for five minutes and 32 reserves at least, and twice that at most. */
UNIT(reservewait__forgets_slowly)
{
    struct reservewait wait = {0};
    int64_t now = 60 * MINUTE;
    note(&wait, &now, 5000, 1);
    note(&wait, &now, 100, 1000); /* many, but not for long */
    now = wait.since_ms + 5 * MINUTE - 1;
    note(&wait, &now, 100, 31);
    assert_int_equal(reservewait_time(&wait, CALL, 1), 10000);
    now += 60 * MINUTE; /* long, but not many */
    assert_int_equal(reservewait_time(&wait, CALL, 1), 10000);
    note(&wait, &now, 100, 1);
    assert_int_equal(reservewait_time(&wait, CALL, 1), 10000);
    note(&wait, &now, 100, 1);
    assert_int_equal(reservewait_longest(&wait), 100);

    note(&wait, &now, 7000, 1); /* and in the span before */
    note(&wait, &now, 100, 31);
    now += 5 * MINUTE;
    note(&wait, &now, 100, 1);
    assert_int_equal(reservewait_longest(&wait), 7000);
}

/* In the span before the shortest counts as well. */
UNIT(reservewait__remembers_the_shortest_as_long)
{
    struct reservewait wait = {0};
    int64_t now = MINUTE;
    note(&wait, &now, 100, 32);
    now += 5 * MINUTE;
    note(&wait, &now, 30000, 1);
    assert_int_equal(reservewait_time(&wait, MINUTE, 1), MOST);
}

/* ---- the core ---- */

static int start_auto(void **state)
{
    (void)driver_fresh(state);
    struct driver *d = *state;
    d->config.reserve_timeout_ms = RESERVE_TIMEOUT_AUTO;
    driver_up(d);
    return 0;
}
#define AUTO(test) WITH(start_auto, test)

/* A job whose reserve is answered after so long. What it had then. */
static enum hwcoll_state start_job(struct driver *d, const char *job, int64_t took_ms)
{
    char token[FM_NAME_MAX];
    (void)snprintf(token, sizeof token, "sess-%s", job);
    driver_reserve(d, driver_request(job, 128));
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    const int64_t sent = d->now;
    while (driver_job(d, job)->hwcoll == HWCOLL_WANTED &&
           core_next_deadline(d->core) - sent < took_ms)
        driver_tick(d, core_next_deadline(d->core) - d->now);
    d->now = sent + took_ms;
    driver_done(d, call, FM_OK, token);
    return driver_job(d, job)->hwcoll;
}

static bool warned(const struct driver *d)
{
    size_t count;
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind == EFFECT_TRACE && effects[i].u.trace.level <= 4 &&
            strstr(effects[i].u.trace.text, "to reserve, and jobs wait 20000 ms at most"))
            return true;
    }
    return false;
}

/* A disk that hangs says nothing of the fabric manager. */
AUTO(core__does_not_learn_what_the_disk_took)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    struct core_event event = {.kind = CORE_CALL_DONE};
    event.u.call.id = driver_call(d, FMCALL_RESERVE);
    event.u.call.outcome = FM_OK;
    event.u.call.token = secret_of("sess-a");
    event.u.call.took_ms = 120;
    d->now += 15000;
    driver_step(d, event);
    assert_false(warned(d));
    assert_int_equal(driver_status(d).reserve_took_ms, 120);
}

/* F21: what came late counts as well. */
AUTO(core__learns_from_a_late_answer)
{
    struct driver *d = *state;
    assert_int_equal(start_job(d, "first", 9500), HWCOLL_RESERVED); /* nothing known */
    assert_int_equal(driver_status(d).reserve_took_ms, 9500);
    driver_configure(d); /* a reload forgets nothing */
    assert_int_equal(driver_status(d).reserve_wait_ms, 19000);
    driver_end(d);

    driver_up(d);
    assert_int_equal(start_job(d, "quick", 100), HWCOLL_RESERVED);
    assert_int_equal(driver_status(d).reserve_wait_ms, LEAST);
    assert_int_equal(start_job(d, "late", 5000), HWCOLL_TIMEOUT);
    assert_words(driver_job(d, "late")->reason, "no answer of the fabric manager within 2000 ms");
    assert_int_equal(driver_status(d).reserve_wait_ms, 10000);
    assert_int_equal(start_job(d, "later", 5000), HWCOLL_RESERVED);
    assert_int_equal(start_job(d, "latest", 9999), HWCOLL_RESERVED);
}

/* The bound is told of once, with what to do; and jobs are not held in vain. */
AUTO(core__tells_when_the_bound_is_reached)
{
    struct driver *d = *state;
    d->config.call_timeout_ms = MINUTE;
    driver_configure(d);
    assert_int_equal(start_job(d, "a", 10000), HWCOLL_RESERVED);
    assert_false(warned(d));
    assert_int_equal(start_job(d, "b", 10001), HWCOLL_RESERVED);
    assert_true(warned(d));
    assert_int_equal(start_job(d, "c", 30000), HWCOLL_TIMEOUT);
    assert_false(warned(d));
    assert_words(driver_job(d, "c")->reason, "within 20000 ms");
    driver_end(d);

    driver_up(d);
    assert_int_equal(start_job(d, "a", 30000), HWCOLL_TIMEOUT);
    assert_true(warned(d));
    assert_int_equal(start_job(d, "b", 30000), HWCOLL_TIMEOUT);
    assert_words(driver_job(d, "b")->reason, "within 2000 ms");
    driver_end(d);

    d->config.reserve_timeout_ms = MINUTE; /* a site that has chosen knows */
    driver_up(d);
    assert_int_equal(start_job(d, "a", 30000), HWCOLL_RESERVED);
    assert_false(warned(d));
}

/* F21: who waits already waits longer when answers take longer than was thought; not when none
 * comes. */
AUTO(core__puts_off_by_what_it_learns)
{
    struct driver *d = *state;
    uint64_t calls[3];
    assert_int_equal(start_job(d, "quick", 100), HWCOLL_RESERVED);
    for (int i = 0; i < 3; i++) {
        driver_reserve(d, driver_request((const char *[]){"a", "b", "c"}[i], 128));
        calls[i] = driver_call(d, FMCALL_RESERVE);
    }
    const int64_t sent = d->now;
    d->now = sent + 1900;
    driver_done(d, calls[0], FM_OK, "sess-a");
    d->now = sent + 2000;
    driver_step(d, (struct core_event){.kind = CORE_TICK});
    assert_int_equal(core_next_deadline(d->core), sent + 3800);
    d->now = sent + 3500;
    driver_done(d, calls[1], FM_OK, "sess-b");
    assert_int_equal(driver_job(d, "b")->hwcoll, HWCOLL_RESERVED);
    driver_tick(d, 300);
    assert_int_equal(core_next_deadline(d->core), sent + 7000);
    driver_tick(d, 3200);
    assert_int_equal(driver_job(d, "c")->hwcoll, HWCOLL_TIMEOUT);
    assert_words(driver_job(d, "c")->reason, "within 7000 ms");
}

/* A call that was cut off, or that something else answered, teaches that nothing is known, no more:
 * no later job is held for it. */
static void answer_list(struct driver *d)
{
    driver_tick(d, 0);
    if (d->core->link.list != 0) /* it had answered nothing */
        DRIVER_STEP(d, CORE_LIST_DONE, list_done, .list = d->core->link.list, .outcome = FM_OK);
}

AUTO(core__is_not_slow_that_does_not_answer)
{
    static const enum fmcall_outcome ends[] = {FM_TIMEOUT, FM_BUSY, FM_DENIED, FM_NOT_ROUTED};
    struct driver *d = *state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        driver_end(d);
        driver_up(d);
        assert_int_equal(driver_status(d).reserve_wait_ms, MOST);
        driver_reserve(d, driver_request("a", 128));
        uint64_t call = driver_call(d, FMCALL_RESERVE);
        d->now += 9000;
        driver_done(d, call, ends[i], NULL);
        assert_int_not_equal(driver_job(d, "a")->hwcoll, HWCOLL_WANTED); /* now in vain, too */
        if (ends[i] != FM_DENIED)
            assert_words(driver_job(d, "a")->reason, "within 9000 ms; its last words");
        assert_int_equal(driver_status(d).reserve_wait_ms, LEAST);
        answer_list(d);
        assert_int_equal(start_job(d, "b", 5000), HWCOLL_TIMEOUT);
        answer_list(d);
        driver_reserve(d, driver_request("c", 128));
        call = driver_call(d, FMCALL_RESERVE);
        d->now += 9000;
        driver_done(d, call, ends[i], NULL);
        assert_int_equal(driver_status(d).reserve_wait_ms, 10000);
    }
}

/* The place in the queue counts, and so does what is in its way. */
AUTO(core__waits_longer_behind_others)
{
    struct driver *d = *state;
    char job[16];
    d->config.calls_at_once = 2;
    d->config.clusters[1].budget = 23;
    driver_configure(d);
    assert_int_equal(start_job(d, "slow", 3000), HWCOLL_RESERVED);
    for (int i = 0; i < 6; i++) {
        snprintf(job, sizeof job, "%d", i);
        driver_reserve(d, driver_request(job, 128));
        int64_t due = driver_job(d, job)->op->give_up_ms - d->now;
        assert_int_equal(due, 3000 * (2 + i / 2));
    }
    for (int i = 0; i < 7; i++) { /* the last of them could not be in time */
        snprintf(job, sizeof job, "more%d", i);
        driver_reserve(d, driver_request(job, 128));
    }
    assert_int_equal(driver_job(d, job)->op->give_up_ms - d->now, LEAST);
}

/* B4: it waits for the RELEASE of another one first. */
AUTO(core__waits_longer_for_room)
{
    struct driver *d = *state;
    d->config.clusters[0].budget = 23;
    driver_configure(d);
    assert_int_equal(start_job(d, "a", 3000), HWCOLL_RESERVED);
    driver_release(d, "a");
    driver_reserve(d, driver_request("b", 128));
    assert_int_equal(driver_job(d, "b")->op->give_up_ms - d->now, 9000);
    d->config.clusters[0].budget = 0;
    driver_configure(d);
    driver_reserve(d, driver_request("a", 128)); /* its former life */
    assert_int_equal(driver_job(d, "a")->op->give_up_ms - d->now, 9000);
    driver_reserve(d, driver_request("c", 128));
    assert_int_equal(driver_job(d, "c")->op->give_up_ms - d->now, 6000);
}

/* F5, F21: no answer waits longer than the timeout that was in force when its request came. */
AUTO(core__puts_off_nothing_that_was_asked_for_with_a_number)
{
    struct driver *d = *state;
    for (int repeat = 0; repeat < 2; repeat++) {
        driver_end(d);
        d->config.reserve_timeout_ms = repeat ? RESERVE_TIMEOUT_AUTO : 500;
        driver_up(d);
        driver_reserve(d, driver_request("a", 128));
        if (repeat) {
            d->config.reserve_timeout_ms = 500;
            driver_configure(d);
            driver_reserve(d, driver_request("a", 128));
        }
        d->config.reserve_timeout_ms = RESERVE_TIMEOUT_AUTO;
        driver_configure(d);
        driver_tick(d, 500);
        assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_TIMEOUT);
    }
}

/* Nothing is known of another fabric manager. */
AUTO(core__forgets_at_another_url)
{
    struct driver *d = *state;
    assert_int_equal(start_job(d, "a", 100), HWCOLL_RESERVED);
    strcpy(d->config.fm_urls[0], "http://another");
    driver_configure(d);
    assert_int_equal(driver_status(d).reserve_took_ms, -1);
    assert_int_equal(driver_status(d).reserve_wait_ms, MOST);
}

/* The first that is asked of one that says "busy" waits as long as those behind it. */
AUTO(core__waits_less_when_something_is_known)
{
    struct driver *d = *state;
    driver_reserve(d, driver_request("a", 128));
    assert_int_equal(core_next_deadline(d->core), d->now + MOST);
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    d->now += 100;
    driver_done(d, call, FM_BUSY, NULL);
    assert_int_equal(driver_job(d, "a")->op->give_up_ms, d->now - 100 + LEAST);
    driver_configure(d);
    driver_tick(d, 250);
    call = driver_call(d, FMCALL_RESERVE);
    driver_tick(d, 1600);
    driver_done(d, call, FM_BUSY, NULL); /* nothing new: what it waits for is not put off */
    driver_tick(d, 50);
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_TIMEOUT);
}

UNIT_RUN(NULL, NULL)
