/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* What should be at the fabric manager and seems not to be: no verdict from one witness (B11, F22,
 * I4). */

/* B11: what a list names is there, whatever was answered to the question for it. */
UP(missing__list_that_names_it_contradicts)
{
    struct driver *d = *state;
    static const char *const names[] = {"elcap-a"};
    driver_reserved_job(d, "a");
    driver_tick(d, d->config.relist_ms);
    for (int i = 0; i < 5; i++) {
        driver_list(d, names, 1, FM_OK);
        driver_done(d, driver_call(d, FMCALL_CHECK), FM_GONE, NULL);
        assert_int_equal(driver_events(d, EVENT_LOST), 0);
        driver_tick(d, d->config.stray_grace_ms);
    }
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_RESERVED);
}

/* B11: a list that began before the first look is no second witness; nor is one that ends early. */
UP(missing__lost_needs_a_list_that_began_later)
{
    struct driver *d = *state;
    driver_reserved_job(d, "a");
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_OK);
    uint64_t check = driver_call(d, FMCALL_CHECK);
    driver_tick(d, 1000);
    driver_done(d, check, FM_GONE, NULL);
    for (int i = 0; i < 3; i++) {
        driver_tick(d, d->config.stray_grace_ms);
        driver_list(d, NULL, 0, FM_BUSY);
        assert_int_equal(driver_events(d, EVENT_LOST), 0);
        assert_null(driver_find(d, EFFECT_CALL));
    }
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_RESERVED);
}

static void reserve_jobs(struct driver *d, int count)
{
    d->config.calls_at_once = 64;
    d->config.total_addresses = 0;
    d->config.addresses_per_job = 1;
    driver_up(d);
    for (int i = 0; i < count; i++) {
        char job[16];
        (void)snprintf(job, sizeof job, "j%d", i);
        driver_reserved_job(d, job);
    }
}

/* Ends all CHECKs that were handed out: gone, but for the last `there` jobs. Returns what was lost.
 */
static int answer_checks(struct driver *d, int count, int there)
{
    size_t effects;
    uint64_t calls[64] = {0};
    int made = 0, lost = 0;
    const struct effect *all = core_effects(d->core, &effects);
    for (size_t i = 0; i < effects; i++) {
        if (all[i].kind != EFFECT_CALL || strncmp(all[i].u.call.about.name, "elcap-j", 7) != 0)
            continue;
        assert_int_equal(all[i].u.call.kind, FMCALL_CHECK);
        calls[atoi(all[i].u.call.about.name + strlen("elcap-j"))] = all[i].u.call.id;
        made++;
    }
    assert_int_equal(made, count);
    for (int i = 0; i < count; i++) { /* those that are gone first */
        char token[32];
        bool gone = i < count - there;
        (void)snprintf(token, sizeof token, "sess-j%d", i);
        driver_done(d, calls[i], gone ? FM_GONE : FM_OK, gone ? NULL : token);
        lost += driver_events(d, EVENT_LOST);
    }
    return lost;
}

/* A list and what comes of its CHECKs; those that are there are listed, and another one if not
 * NULL.
 */
static int compare_with(struct driver *d, int count, int there, const char *another)
{
    char names[64][32];
    const char *list[64 + 1];
    for (int i = 0; i < there; i++) {
        (void)snprintf(names[i], sizeof names[i], "elcap-j%d", count - there + i);
        list[i] = names[i];
    }
    list[there] = another;
    driver_tick(d, d->config.relist_ms);
    driver_list(d, list, (size_t)there + (another != NULL), FM_OK);
    return answer_checks(d, count, there);
}

static int compare_jobs(struct driver *d, int count, int there)
{
    return compare_with(d, count, there, NULL);
}

/* B11: what was reserved after a list began is not missing because that list lacks it. */
FRESH(missing__list_from_before_is_no_witness)
{
    struct driver *d = *state;
    char names[19][32];
    const char *listed[19];
    reserve_jobs(d, 20);
    assert_int_equal(compare_jobs(d, 20, 19), 0);
    driver_tick(d, d->config.relist_ms);
    const struct effect *effect = driver_find(d, EFFECT_LIST);
    assert_non_null(effect);
    const uint64_t list = effect->u.list.id;
    for (int i = 0; i < 10; i++) {
        (void)snprintf(names[i], sizeof names[i], "n%d", i);
        driver_reserved_job(d, names[i]);
    }
    for (int i = 0; i < 19; i++) {
        (void)snprintf(names[i], sizeof names[i], "elcap-j%d", i + 1);
        listed[i] = names[i];
    }
    DRIVER_STEP(d, CORE_LIST_NAMES, names, .list = list, .names = listed, .count = 19);
    DRIVER_STEP(d, CORE_LIST_DONE, list_done, .list = list, .outcome = FM_OK);
    assert_int_equal(answer_checks(d, 20, 19), 1); /* one of thirty is no mass loss */
}

/* B11: when much is missing at once nothing is lost, until it is there again. */
FRESH(missing__mass_loss_ends_when_the_manager_agrees_again)
{
    struct driver *d = *state;
    reserve_jobs(d, 20);
    for (int i = 0; i < 4; i++)
        assert_int_equal(compare_jobs(d, 20, 0), 0);
    assert_true(driver_alarm(d, ALARM_MASS_LOSS));
    assert_int_equal(compare_jobs(d, 20, 20), 0);
    assert_false(driver_alarm(d, ALARM_MASS_LOSS));
}

/* Two of twenty are no mass loss, three are. */
FRESH(missing__mass_loss_has_a_limit)
{
    struct driver *d = *state;
    reserve_jobs(d, 20);
    assert_int_equal(compare_jobs(d, 20, 17), 0);
    assert_true(driver_alarm(d, ALARM_MASS_LOSS));
    assert_int_equal(compare_jobs(d, 20, 17), 0);
    assert_int_equal(compare_jobs(d, 20, 20), 0);
    assert_int_equal(compare_jobs(d, 20, 18), 0);
    assert_false(driver_alarm(d, ALARM_MASS_LOSS));
    assert_int_equal(compare_jobs(d, 20, 18), 2);
}

/* It is told how many are gone, of how many: what was only found there is none of those. */
FRESH(missing__mass_loss_tells_how_much)
{
    struct driver *d = *state;
    reserve_jobs(d, 20);
    assert_int_equal(compare_with(d, 20, 20, "elcap-77"), 0);
    assert_int_equal(compare_with(d, 20, 20, "elcap-77"), 0);
    assert_int_equal(driver_job(d, "77")->origin, ORIGIN_FOUND);
    assert_int_equal(compare_with(d, 20, 17, "elcap-77"), 0);
    const struct alarm *alarm = core_alarms(d->core)->next; /* after that of the name */
    assert_int_equal(alarm->kind, ALARM_MASS_LOSS);
    assert_non_null(strstr(alarm->detail, " 3 of 20 reservations"));
}

/* Lists and answers that contradict each other: the answers end it too, when it has lasted. */
UNIT(missing__mass_loss_ends_by_answers)
{
    for (int late = 0; late < 2; late++) {
        struct driver d;
        driver_init(&d);
        reserve_jobs(&d, 20);
        assert_int_equal(compare_jobs(&d, 20, 17), 0);
        assert_true(driver_alarm(&d, ALARM_MASS_LOSS));
        driver_tick(&d, d.config.relist_ms);
        driver_list(&d, NULL, 0, FM_OK);
        d.now += 2 * d.config.stray_grace_ms + late;
        assert_int_equal(answer_checks(&d, 20, 20), 0);
        assert_int_equal(driver_alarm(&d, ALARM_MASS_LOSS), !late);
        driver_end(&d);
    }
}

/* B11, I4: an administrator decides, and each job is told once. */
FRESH(missing__mass_loss_can_be_accepted)
{
    struct driver *d = *state;
    reserve_jobs(d, 20);
    driver_step(d, (struct core_event){.kind = CORE_ACCEPT_LOSS, .ticket = ++d->ticket});
    assert_int_equal(driver_answer(d)->count, 0); /* nothing is missing */
    assert_int_equal(compare_jobs(d, 20, 5), 0);
    assert_int_equal(compare_jobs(d, 20, 5), 0);
    driver_step(d, (struct core_event){.kind = CORE_ACCEPT_LOSS, .ticket = ++d->ticket});
    assert_int_equal(driver_answered(d), ANSWER_LOSS_ACCEPTED);
    assert_int_equal(driver_answer(d)->count, 15);
    assert_int_equal(driver_events(d, EVENT_LOST), 15);
    assert_false(driver_alarm(d, ALARM_MASS_LOSS));
    assert_int_equal(driver_job(d, "j19")->hwcoll, HWCOLL_RESERVED);
    assert_int_equal(driver_job(d, "j0")->hwcoll, HWCOLL_LOST);
}

/* B11: what was said of it before the link was lost, or before the last list, may have changed: it
 * is asked for once more. */
UNIT(missing__accepted_loss_needs_a_fresh_answer)
{
    for (int i = 0; i < 4; i++) {
        const bool down = i % 2 == 1, gone = i / 2 == 1;
        uint64_t check = 0;
        struct driver d;
        driver_init(&d);
        d.config.mass_loss_min = 1;
        reserve_jobs(&d, 1);
        assert_int_equal(compare_jobs(&d, 1, 0), 0);
        assert_int_equal(compare_jobs(&d, 1, 0), 0);
        driver_tick(&d, d.config.relist_ms);
        driver_list(&d, NULL, 0, down ? FM_UNREACHED : FM_OK);
        if (!down)
            check = driver_call(&d, FMCALL_CHECK);
        driver_step(&d, (struct core_event){.kind = CORE_ACCEPT_LOSS, .ticket = ++d.ticket});
        assert_int_equal(driver_answer(&d)->count, 1);
        assert_int_equal(driver_events(&d, EVENT_LOST), 0);
        if (down) {
            driver_tick(&d, core_next_deadline(d.core) - d.now);
            driver_link(&d);
            check = driver_call(&d, FMCALL_CHECK);
        }
        driver_done(&d, check, gone ? FM_GONE : FM_OK, gone ? NULL : "sess-j0");
        assert_int_equal(driver_events(&d, EVENT_LOST), gone);
        driver_end(&d);
    }
}

/* B11: the share counts what the list lacks, also what was not asked for by name yet. */
FRESH(missing__mass_loss_is_seen_before_all_are_asked)
{
    struct driver *d = *state;
    reserve_jobs(d, 20);
    assert_int_equal(compare_jobs(d, 20, 18), 0);
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_OK); /* now all are missing; the first two are asked again first */
    assert_int_equal(answer_checks(d, 20, 18), 0);
}

/* B11: what was missing when its job ended is missing no more. */
FRESH(missing__those_of_ended_jobs_counts_no_more)
{
    struct driver *d = *state;
    reserve_jobs(d, 20);
    assert_int_equal(compare_jobs(d, 20, 17), 0);
    assert_true(driver_alarm(d, ALARM_MASS_LOSS));
    for (int i = 0; i < 3; i++) {
        char job[16];
        (void)snprintf(job, sizeof job, "j%d", i);
        driver_release(d, job);
        driver_done(d, driver_call(d, FMCALL_RELEASE), FM_GONE, NULL);
    }
    driver_step(d, (struct core_event){.kind = CORE_ACCEPT_LOSS, .ticket = ++d->ticket});
    assert_int_equal(driver_answer(d)->count, 0);
    assert_int_equal(driver_events(d, EVENT_LOST), 0);
    assert_false(driver_alarm(d, ALARM_MASS_LOSS));
}

/* How many lists without it end a release that only a gateway answered. early_ms: how long before a
 * given-up reserve has settled the first of them begins. */
static int lists_until_released(int64_t early_ms)
{
    struct driver d;
    int lists = 0;
    driver_init(&d);
    d.config.relist_ms = d.config.call_timeout_ms - early_ms;
    d.config.stray_grace_ms = 3 * d.config.relist_ms;
    driver_up(&d);
    driver_reserve(&d, driver_request("a", 128));
    driver_done(&d, driver_call(&d, FMCALL_RESERVE), FM_BUSY, NULL);
    driver_release(&d, "a");
    while (driver_job(&d, "a")->fm_side != FM_SIDE_NOTHING) {
        if (driver_find(&d, EFFECT_LIST)) {
            driver_list(&d, NULL, 0, FM_OK);
            lists++;
        } else if (driver_find(&d, EFFECT_CALL)) {
            driver_done(&d, driver_call(&d, FMCALL_RELEASE), FM_NOT_ROUTED, NULL);
        } else {
            driver_tick(&d, core_next_deadline(d.core) - d.now);
        }
        assert_true(lists < 100);
    }
    driver_end(&d);
    return lists;
}

/* I3: nor does one that began while a reserve of it could still be acted on; from then on it does.
 */
UNIT(missing__list_tells_when_all_has_settled)
{
    int settled = lists_until_released(0);
    assert_true(settled > 1);
    assert_int_equal(lists_until_released(1), settled + 1);
}

static void two_calls(const struct driver *d, uint64_t calls[2])
{
    size_t count, made = 0;
    const struct effect *effects = core_effects(d->core, &count);
    for (size_t i = 0; i < count && made < 2; i++) {
        if (effects[i].kind == EFFECT_CALL)
            calls[made++] = effects[i].u.call.id;
    }
    assert_int_equal(made, 2);
}

/* The next list is not put off by each further one that is missing; and what was missed later is
 * asked for again as soon as its own time is over. */
FRESH(missing__more_does_not_put_off_the_list)
{
    struct driver *d = *state;
    uint64_t calls[2];
    reserve_jobs(d, 2);
    driver_tick(d, d->config.relist_ms);
    driver_list(d, NULL, 0, FM_OK);
    two_calls(d, calls);
    const int64_t due_ms = d->now + d->config.stray_grace_ms;
    for (int i = 0; i < 2; i++) {
        d->now += 10000;
        driver_done(d, calls[i], FM_GONE, NULL);
        assert_int_equal(core_next_deadline(d->core), due_ms);
    }
    driver_tick(d, due_ms - d->now);
    driver_list(d, NULL, 0, FM_OK);
    two_calls(d, calls);
    driver_done(d, calls[0], FM_GONE, NULL);
    assert_int_equal(core_next_deadline(d->core), due_ms + 10000);
    driver_done(d, calls[1], FM_GONE, NULL);
    assert_int_equal(driver_events(d, EVENT_LOST), 0);
    assert_int_equal(core_next_deadline(d->core), due_ms + 10000);
}

/* B11: a 404 of a gateway to a release before the last one proves nothing of this life. */
FRESH(missing__release_that_was_answered_is_over)
{
    struct driver *d = *state;
    d->config.calls_at_once = 1;
    d->config.reserve_timeout_ms = 60000;
    driver_up(d);
    driver_reserve(d, driver_request("a", 128));
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_BUSY, NULL);
    driver_tick(d, 250);
    uint64_t call = driver_call(d, FMCALL_RESERVE);
    d->now += d->config.call_timeout_ms;
    driver_done(d, call, FM_EXISTS, NULL);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_NOT_ROUTED, NULL);
    driver_tick(d, d->config.call_timeout_ms);
    driver_done(d, driver_call(d, FMCALL_RELEASE), FM_OK, NULL);
    driver_done(d, driver_call(d, FMCALL_RESERVE), FM_OK, "sess-a");
    assert_int_equal(driver_job(d, "a")->hwcoll, HWCOLL_RESERVED);
    driver_tick(d, d->config.relist_ms); /* a list begins, and another job's call */
    uint64_t list = driver_find(d, EFFECT_LIST)->u.list.id;
    driver_reserve(d, driver_request("b", 128));
    driver_release(d, "a");
    DRIVER_STEP(d, CORE_LIST_DONE, list_done, .list = list, .outcome = FM_OK);
    assert_int_equal(driver_job(d, "a")->fm_side, FM_SIDE_THERE);
}

UNIT_RUN(NULL, NULL)
