/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

#include "core/reservation/held.h"

enum { MANY = 1000, POOL = 64, FLOODED = 49, UID = 5588, OTHER_UID = 5589 };

/* Not evenly spread, so that some stand in each other's way. */
static uint32_t uid_of(uint32_t i)
{
    return i * i * 31;
}

/* F4: each user has his own count, whatever others came and went meanwhile. */
UNIT(held__counts_for_each_user)
{
    struct held held = {0};
    assert_int_equal(held_by(&held, 0), 0);
    for (uint32_t round = 1; round <= 2; round++)
        for (uint32_t i = 0; i < MANY; i++)
            held_add(&held, uid_of(i), i + 1);
    assert_int_equal(held_most(&held, NULL), 2 * MANY);
    for (uint32_t i = 0; i < MANY; i += 3)
        held_remove(&held, uid_of(i), 2 * (i + 1));
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(held_by(&held, uid_of(i)), i % 3 == 0 ? 0 : 2 * (i + 1));
    for (uint32_t i = 0; i < MANY; i++)
        if (i % 3 != 0)
            held_remove(&held, uid_of(i), 2 * (i + 1));
    assert_int_equal(held.used, 0);
    assert_int_equal(held_most(&held, NULL), 0);
    assert_true(held.slot_count <= 4 * MANY);
    held_release(&held);
}

UNIT(held__of_no_user_is_not_counted)
{
    struct held held = {0};
    held_add(&held, UID_UNKNOWN, 3);
    assert_int_equal(held.used, 0);
    held_remove(&held, UID_UNKNOWN, 3);
    held_release(&held);
}

UNIT(held__is_too_much_beyond_thrice_what_is_free)
{
    struct held held = {0};
    assert_false(held_too_much(&held, UID, 0, POOL));
    held_add(&held, UID, 12);
    assert_false(held_too_much(&held, UID, 4, POOL));
    assert_true(held_too_much(&held, UID, 3, POOL));
    assert_false(held_too_much(&held, OTHER_UID, 0, POOL));
    assert_true(held_too_much(&held, UID, 0, 16 * 12 - 1));
    assert_false(held_too_much(&held, UID, 0, 16 * 12));
    assert_true(held_too_much(&held, UID, 3, 13));
    assert_false(held_too_much(&held, UID, 3, 12)); /* some is of a former pool */
    held_release(&held);
}

static void begin_small(struct driver *d)
{
    idset_init(&d->config.vni_pool);
    for (unsigned vni = 2000; vni < 2000 + POOL; vni++)
        idset_add(&d->config.vni_pool, (uint16_t)vni);
    d->config.vni_hold_ms = HOLD_UNTIL_REPORTED;
    driver_up(d);
}

static enum answer_kind reserve_as(struct driver *d, uint32_t uid, unsigned number)
{
    char job[16];
    (void)snprintf(job, sizeof job, "%u", number);
    struct reserve_request q = driver_request(job, 2);
    q.uid = uid;
    q.nodes = "n[1-2]";
    driver_reserve(d, q);
    return driver_answered(d);
}

/* Starts jobs and cancels each before its nodes hear of it, until he is refused. */
static unsigned flood(struct driver *d, uint32_t uid, unsigned first)
{
    for (unsigned number = first;; number++) {
        char job[16];
        if (reserve_as(d, uid, number) != ANSWER_CREATED)
            return number - first;
        (void)snprintf(job, sizeof job, "%u", number);
        driver_release(d, job);
    }
}

/* F4: who starts and cancels jobs leaves others a quarter of the pool; from then on a second one
 * who does leaves a quarter of that. He gets VNIs again as his come back. */
FRESH(flood__leaves_others_vnis)
{
    struct driver *d = *state;
    begin_small(d);
    assert_int_equal(flood(d, UID, 1), FLOODED);
    assert_int_equal(driver_answered(d), ANSWER_NO_VNIS);
    assert_string_equal(driver_answer(d)->field, "vni_count");
    assert_string_equal(driver_answer(d)->detail,
                        "failed to reserve 1 VNI (15 available, for others: released jobs of uid "
                        "5588 hold 49; run the job when their nodes have reported, see mcastctl "
                        "list --held)");
    assert_int_equal(driver_status(d).vnis_held_most, FLOODED);
    assert_int_equal(driver_status(d).vnis_refused, 1);
    assert_int_equal(flood(d, OTHER_UID, 100), 12);
    assert_int_equal(driver_status(d).vnis_free, 3);
    assert_int_equal(reserve_as(d, 7, 200), ANSWER_CREATED);

    driver_set_hold(d, 1);
    driver_tick(d, 1);
    assert_int_equal(driver_status(d).vnis_held_most, 0);
    assert_int_equal(reserve_as(d, UID, 201), ANSWER_CREATED);
}

/* F4, B6: by what is on disk, so also after a restart. */
FRESH(flood__is_remembered_over_a_restart)
{
    struct driver *d = *state;
    begin_small(d);
    (void)flood(d, UID, 1);
    struct core *before = d->core;
    d->core = core_create(&d->config);
    for (uint64_t number = 1; number <= FLOODED; number++) {
        char job[16];
        (void)snprintf(job, sizeof job, "%u", (unsigned)number);
        const struct reservation_record r = reservation_record(core_find(before, "elcap", job));
        assert_int_equal(
            core_load(d->core, &(struct record){RECORD_RESERVATION, .u.reservation = r}, NULL), 0);
    }
    core_destroy(before);
    core_start(d->core, d->now);
    assert_int_equal(driver_status(d).vnis_held_most, FLOODED);
    assert_int_equal(reserve_as(d, UID, 100), ANSWER_NO_VNIS);
    assert_int_equal(reserve_as(d, OTHER_UID, 101), ANSWER_CREATED);
}

/* F4: one user may have the whole machine: jobs that run do not count, nor does the little that a
 * few which just ended hold, however little is free. */
FRESH(owner_of_the_machine__gets_all_vnis)
{
    struct driver *d = *state;
    begin_small(d);
    for (unsigned number = 1; number <= POOL - 3; number++)
        assert_int_equal(reserve_as(d, UID, number), ANSWER_CREATED);
    driver_release(d, "1");
    driver_release(d, "2");
    driver_release(d, "3");
    driver_release(d, "4");
    for (unsigned number = 100; number < 103; number++)
        assert_int_equal(reserve_as(d, UID, number), ANSWER_CREATED);
    assert_int_equal(reserve_as(d, UID, 103), ANSWER_NO_VNIS);
    assert_string_equal(
        driver_answer(d)->detail,
        "failed to reserve 1 VNI (0 available): run the job when others have ended");
    assert_int_equal(driver_status(d).vnis_refused, 0);
}

/* A job without VNIs needs none. */
FRESH(flood__refuses_no_job_without_vnis)
{
    struct driver *d = *state;
    begin_small(d);
    (void)flood(d, UID, 1);
    struct reserve_request q = driver_request("none", 2);
    q.vni_count = 0;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
}

UNIT_RUN(NULL, NULL)
