/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

static const struct sync_found *sync_with(struct driver *d, const char *const *active, size_t count)
{
    DRIVER_ASK(d, CORE_SYNC, sync, .cluster = "elcap", .active = active, .count = count);
    assert_int_equal(driver_answered(d), ANSWER_SYNCED);
    return driver_answer(d)->sync;
}

/* F20: released only when a second sync, a grace period later, still lacks it. */
UP(sync__takes_two_passes)
{
    struct driver *d = *state;
    static const char *const active[] = {"a", "zzz"};
    driver_reserve(d, driver_request("a", 2));
    driver_reserve(d, driver_request("b", 2));
    d->now++;
    const struct sync_found *found = sync_with(d, active, 2);
    assert_int_equal(found->active, 2);
    assert_int_equal(found->confirmed, 1);
    assert_int_equal(found->unknown_count, 1);
    assert_string_equal(found->unknown[0], "zzz");
    assert_int_equal(found->suspect_count, 1);
    assert_string_equal(found->suspects[0], "b");
    assert_int_equal(found->released_count, 0);

    d->now += d->config.sync_grace_ms - 1;
    assert_int_equal(sync_with(d, active, 2)->released_count, 0);
    d->now += 1;
    found = sync_with(d, active, 2);
    assert_int_equal(found->released_count, 1);
    assert_string_equal(found->released[0], "b");
    assert_int_equal(driver_job(d, "a")->state, JOB_ACTIVE);
    assert_int_equal(driver_job(d, "b")->state, JOB_RELEASING);
}

UP(sync__naming_it_clears_the_suspicion)
{
    struct driver *d = *state;
    static const char *const both[] = {"a", "b", "b"};
    driver_reserve(d, driver_request("a", 2));
    driver_reserve(d, driver_request("b", 2));
    sync_with(d, both, 1);
    assert_int_equal(sync_with(d, both, 3)->confirmed, 2); /* named twice is once */
    d->now += 2 * d->config.sync_grace_ms;
    assert_int_equal(sync_with(d, both, 1)->released_count, 0);
}

/* B4: one cluster's sync says nothing of another's jobs. */
UP(sync__is_about_one_cluster)
{
    struct driver *d = *state;
    struct reserve_request other = driver_request("a", 2);
    other.cluster = "elcap2";
    driver_reserve(d, other);
    sync_with(d, NULL, 0);
    d->now += 2 * d->config.sync_grace_ms;
    assert_int_equal(sync_with(d, NULL, 0)->released_count, 0);
    assert_int_equal(core_find(d->core, "elcap2", "a")->state, JOB_ACTIVE);
}

/* A list in another form of ids, or of another cluster, would end every job here. */
UP(sync__of_unknown_jobs_is_refused)
{
    struct driver *d = *state;
    static const char *const other[] = {"0x1234", "0x99"}, *const mixed[] = {"0x1234", "a"};
    (void)sync_with(d, NULL, 0); /* which says nothing of how jobs are named */
    driver_reserve(d, driver_request("a", 2));
    for (int i = 0; i < 3; i++) {
        d->now += 2 * d->config.sync_grace_ms;
        DRIVER_ASK(d, CORE_SYNC, sync, .cluster = "elcap", .active = other, .count = 2);
        assert_int_equal(driver_answered(d), ANSWER_INVALID);
        assert_string_equal(driver_answer(d)->field, "active");
        assert_non_null(strstr(driver_answer(d)->detail, "\"0x1234\" for one"));
    }
    assert_int_equal(driver_job(d, "a")->state, JOB_ACTIVE);
    assert_int_equal(sync_with(d, mixed, 2)->confirmed, 1);
    assert_int_equal(sync_with(d, NULL, 0)->suspect_count, 1); /* none at all can be meant */
}

/* ---- in lots and in pieces ---- */

/* Ten jobs, a0 to a9, reserved a while ago, and three of them are compared in a step. */
static void ten_jobs(struct driver *d)
{
    char job[] = "a0";
    driver_init(d);
    d->config.sync_lot = 3;
    driver_up(d);
    for (; job[1] <= '9'; job[1]++)
        driver_reserve(d, driver_request(job, 2));
    d->now += 1000;
}

static void piece(struct driver *d, uint64_t ticket, const char *const *active, size_t count,
                  bool more)
{
    driver_step(
        d, (struct core_event){
               .kind = CORE_SYNC,
               .ticket = ticket,
               .u.sync = {.cluster = "elcap", .active = active, .count = count, .more = more}});
}

/* Ticks at once, as it asks for them, until it answers; how often. */
static int ticks_to_answer(struct driver *d)
{
    int ticks = 0;
    for (; !driver_answer(d); ticks++) {
        assert_in_range(ticks, 0, 100);
        assert_int_equal(core_next_deadline(d->core), d->now);
        driver_tick(d, 0);
    }
    return ticks;
}

static const struct sync_found *found_by(const struct driver *d)
{
    assert_int_equal(driver_answered(d), ANSWER_SYNCED);
    return driver_answer(d)->sync;
}

/* A job that is reserved while the list arrives is no evidence that the list uses other ids. */
UP(sync__is_not_refused_for_what_comes_meanwhile)
{
    struct driver *d = *state;
    static const char *const other[] = {"77"};
    piece(d, 1000, other, 1, true);
    driver_reserve(d, driver_request("a", 2));
    piece(d, 1000, NULL, 0, false);
    assert_int_equal(driver_answered(d), ANSWER_SYNCED);
}

/* G11: no step compares more than a lot, and the answer is that of all. */
UNIT(sync__is_compared_in_lots)
{
    struct driver d;
    static const char *const active[] = {"a0", "a9", "b"};
    ten_jobs(&d);
    piece(&d, 100, active, 3, false);
    assert_null(driver_answer(&d));
    assert_int_equal(ticks_to_answer(&d), 3);
    assert_int_equal(found_by(&d)->confirmed, 2);
    assert_int_equal(found_by(&d)->suspect_count, 8);
    assert_string_equal(found_by(&d)->suspects[0], "a1");
    assert_string_equal(found_by(&d)->suspects[7], "a8");
    assert_string_equal(found_by(&d)->unknown[0], "b");
    assert_true(core_next_deadline(d.core) > d.now);

    d.now += d.config.sync_grace_ms;
    piece(&d, 101, active, 2, false);
    assert_int_equal(driver_count(&d, EFFECT_SAVE), 2); /* one released, and its event */
    assert_int_equal(ticks_to_answer(&d), 8);
    assert_int_equal(found_by(&d)->released_count, 8);
    assert_string_equal(found_by(&d)->released[7], "a8");
    assert_int_equal(driver_job(&d, "a0")->state, JOB_ACTIVE);
    assert_int_equal(driver_job(&d, "a8")->state, JOB_RELEASING);
    driver_end(&d);
}

/* Whom the first piece does not name the last one may. */
UNIT(sync__concludes_nothing_before_its_last_piece)
{
    struct driver d;
    static const char *const all[] = {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"};
    ten_jobs(&d);
    for (uint64_t ticket = 100; ticket < 103; ticket++) {
        piece(&d, ticket, all, 4, true);
        driver_tick(&d, 0);
        assert_null(driver_answer(&d));
        piece(&d, ticket, all + 4, 5, true);
        piece(&d, ticket, all + 9, 1, false);
        ticks_to_answer(&d);
        assert_int_equal(found_by(&d)->active, 10);
        assert_int_equal(found_by(&d)->confirmed, 10);
        assert_int_equal(found_by(&d)->suspect_count, 0);
        d.now += d.config.sync_grace_ms;
    }
    driver_end(&d);
}

/* It says nothing of what came after it began, and of whom was asked for again. */
UNIT(sync__does_not_judge_what_comes_meanwhile)
{
    struct driver d;
    static const char *const active[] = {"a0"};
    ten_jobs(&d);
    piece(&d, 100, active, 1, false);
    ticks_to_answer(&d); /* the first that does not name the others */
    d.now += d.config.sync_grace_ms;
    piece(&d, 101, active, 1, true);
    driver_reserve(&d, driver_request("new", 2));
    driver_reserve(&d, driver_request("a9", 2)); /* again */
    driver_release(&d, "a8");
    driver_reserve(&d, driver_request("a8", 2)); /* another life */
    d.now++;
    piece(&d, 101, NULL, 0, false);
    ticks_to_answer(&d);
    assert_int_equal(found_by(&d)->released_count, 7);
    assert_int_equal(found_by(&d)->suspect_count, 0);
    assert_int_equal(driver_job(&d, "new")->state, JOB_ACTIVE);
    assert_int_equal(driver_job(&d, "a8")->state, JOB_ACTIVE);
    assert_int_equal(driver_job(&d, "a9")->state, JOB_ACTIVE);
    driver_end(&d);
}

/* What the later one names is not held against a job by the earlier one; each is answered. */
UNIT(sync__beside_another_releases_nobody_that_is_named)
{
    struct driver d;
    static const char *const early[] = {"a0"}, *const late[] = {"a0", "a9"};
    ten_jobs(&d);
    piece(&d, 100, early, 1, false);
    ticks_to_answer(&d);
    d.now += d.config.sync_grace_ms;
    piece(&d, 101, early, 1, true);
    piece(&d, 102, late, 2, true);
    piece(&d, 101, NULL, 0, false);
    piece(&d, 102, NULL, 0, false);
    ticks_to_answer(&d);
    assert_int_equal(driver_answer(&d)->ticket, 101);
    assert_int_equal(found_by(&d)->released_count, 8);
    assert_int_equal(found_by(&d)->suspect_count, 0);
    driver_tick(&d, 0);
    ticks_to_answer(&d);
    assert_int_equal(driver_answer(&d)->ticket, 102);
    assert_int_equal(found_by(&d)->released_count, 0);
    assert_int_equal(driver_job(&d, "a9")->state, JOB_ACTIVE);
    driver_end(&d);
}

/* F22: a list that names nothing that is here is strange: a list of other ids. Once one has named
 * something it is believed, until a reload: that may have brought another way to ask. */
UP(sync__of_unknown_jobs_is_refused_again_after_a_reload)
{
    struct driver *d = *state;
    static const char *const ours[] = {"a"}, *const others[] = {"zzz"};
    driver_reserve(d, driver_request("a", 2));
    d->now++;
    assert_int_equal(sync_with(d, ours, 1)->confirmed, 1);
    assert_int_equal(sync_with(d, others, 1)->suspect_count, 1);
    driver_configure(d);
    DRIVER_ASK(d, CORE_SYNC, sync, .cluster = "elcap", .active = others, .count = 1);
    assert_int_equal(driver_count(d, EFFECT_ANSWER), 1);
    assert_int_equal(driver_answered(d), ANSWER_INVALID);
    assert_string_equal(driver_answer(d)->field, "active");
    assert_int_equal(sync_with(d, ours, 1)->confirmed, 1);
    assert_int_equal(sync_with(d, others, 1)->unknown_count, 1);
}

/* A cluster that was taken out of the configuration is none, wherever its name may still lie. */
UP(sync__of_a_cluster_that_was_the_last_is_refused)
{
    struct driver *d = *state;
    d->config.cluster_count = 1;
    driver_configure(d);
    DRIVER_ASK(d, CORE_SYNC, sync, .cluster = "elcap2");
    assert_int_equal(driver_answered(d), ANSWER_NO_CLUSTER);
    struct reserve_request q = driver_request("a", 2);
    q.cluster = "elcap2";
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_NO_CLUSTER);
}

/* A cluster that the configuration has only for the last of its pieces was not named whole. */
UNIT(sync__of_a_cluster_that_comes_or_goes_is_refused)
{
    struct driver d;
    static const char *const active[] = {"a0"};
    ten_jobs(&d);
    struct core_config without = d.config;
    strcpy(without.clusters[0].name, "other");
    piece(&d, 100, active, 1, false); /* is being compared when it goes */
    driver_step(&d, (struct core_event){.kind = CORE_CONFIGURE, .u.config = &without});
    assert_int_equal(driver_answered(&d), ANSWER_NO_CLUSTER);
    driver_tick(&d, 0);
    assert_null(driver_answer(&d)); /* it is over */
    piece(&d, 101, active, 1, true);
    assert_null(driver_answer(&d));
    driver_configure(&d);
    piece(&d, 101, active, 1, false);
    assert_int_equal(driver_answered(&d), ANSWER_NO_CLUSTER);
    piece(&d, 102, active, 1, true); /* and one that is not whole when it goes */
    driver_step(&d, (struct core_event){.kind = CORE_CONFIGURE, .u.config = &without});
    assert_null(driver_answer(&d));
    piece(&d, 102, active, 1, false);
    assert_int_equal(driver_answered(&d), ANSWER_NO_CLUSTER);
    piece(&d, 103, active, 1, true); /* never ended: nothing is left of it (sanitizers) */
    driver_end(&d);
}

UNIT_RUN(NULL, NULL)
