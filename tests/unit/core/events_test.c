/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* Events are kept for replay up to a number and an age (F24); both prune in lots. */

static void publish(struct driver *d, int from, int to)
{
    for (int i = from; i < to; i++) {
        char job[16];
        (void)snprintf(job, sizeof job, "%d", i);
        driver_reserve(d, driver_request(job, 128)); /* no fabric manager: one event each */
    }
}

static void start(struct driver *d, uint32_t keep, int64_t age_ms)
{
    driver_init(d);
    d->config.fm_present = false;
    d->config.events_keep = keep;
    d->config.events_age_ms = age_ms;
    driver_start(d);
}

UNIT(events__are_pruned_by_number)
{
    struct driver d;
    start(&d, 100, 0);
    publish(&d, 0, 1000);
    struct core_status status = driver_status(&d);
    assert_int_equal(status.last_seq, 1000);
    assert_in_range(status.last_seq - status.first_seq + 1, 100, 100 + 256);
    driver_end(&d);
}

UNIT(events__are_pruned_by_age)
{
    struct driver d;
    start(&d, 10000, 60000);
    publish(&d, 0, 600);
    assert_int_equal(driver_status(&d).first_seq, 1);
    d.now += 60001;
    publish(&d, 600, 700);
    struct core_status status = driver_status(&d);
    assert_int_equal(status.last_seq, 700);
    assert_in_range(status.first_seq, 600 - 256, 601); /* one lot may stay */
    assert_non_null(core_event_at(d.core, status.first_seq));
    assert_null(core_event_at(d.core, status.first_seq - 1));
    driver_end(&d);
}

/* Before the first event the next one is number 1: who follows from there misses none. */
UNIT(events__begin_with_the_first)
{
    struct driver d;
    start(&d, 100, 0);
    assert_int_equal(driver_status(&d).last_seq, 0);
    assert_int_equal(driver_status(&d).first_seq, 1);
    publish(&d, 0, 1);
    assert_int_equal(driver_status(&d).last_seq, 1);
    assert_int_equal(driver_status(&d).first_seq, 1);
    driver_end(&d);
}

/* A step that publishes more than is kept drops none of its own: they are still to be told. */
UNIT(events__of_one_step_outlive_it)
{
    enum { JOBS = 600 };
    struct driver d;
    size_t count, released = 0;
    start(&d, 1, 0);
    d.config.sync_lot = 100 * JOBS; /* all in one step */
    driver_configure(&d);
    publish(&d, 0, JOBS);
    for (int pass = 0; pass < 2; pass++) {
        d.now += d.config.sync_grace_ms;
        DRIVER_ASK(&d, CORE_SYNC, sync, .cluster = "elcap", .count = 0);
    }
    const struct effect *effects = core_effects(d.core, &count);
    uint64_t seq = driver_status(&d).last_seq;
    for (size_t i = count; i-- > 0;) {
        if (effects[i].kind != EFFECT_EVENT)
            continue;
        assert_int_equal(effects[i].u.event->kind, EVENT_RELEASED);
        assert_int_equal(effects[i].u.event->seq, seq--);
        assert_string_equal(effects[i].u.event->cluster, "elcap");
        released++;
    }
    assert_int_equal(released, JOBS);
    driver_end(&d);
}

/* What log lines have as fields (B8): the job, and its first VNI, if it has one. */
UNIT(trace__names_the_job_and_its_vni)
{
    for (int vnis = 0; vnis < 2; vnis++) {
        struct driver d;
        start(&d, 100, 0);
        struct reserve_request q = driver_request("a", 128);
        q.vni_count = vnis;
        driver_reserve(&d, q);
        assert_int_equal(driver_answered(&d), ANSWER_CREATED);
        size_t count, found = 0;
        const struct effect *effects = core_effects(d.core, &count);
        for (size_t i = 0; i < count; i++) {
            if (effects[i].kind != EFFECT_TRACE || !effects[i].u.trace.job)
                continue;
            assert_string_equal(effects[i].u.trace.cluster, "elcap");
            assert_string_equal(effects[i].u.trace.job, "a");
            assert_int_equal(effects[i].u.trace.vni, vnis > 0 ? driver_job(&d, "a")->vnis[0] : 0);
            found++;
        }
        assert_true(found > 0);
        driver_end(&d);
    }
}

/* And which event it tells of, so that no second line needs to (B8). */
UNIT(trace__names_the_event)
{
    struct driver d;
    size_t count;
    enum event_kind told = EVENT_NONE;
    start(&d, 100, 0);
    driver_reserve(&d, driver_request("a", 128));
    const struct effect *effects = core_effects(d.core, &count);
    for (size_t i = 0; i < count; i++) {
        if (effects[i].kind == EFFECT_TRACE && effects[i].u.trace.level == 6)
            told = effects[i].u.trace.event;
    }
    assert_int_equal(told, EVENT_UNAVAILABLE);
    driver_reserve(&d, driver_request("b", 2)); /* too small, as most are: no news */
    effects = core_effects(d.core, &count);
    for (size_t i = 0; i < count; i++)
        assert_true(effects[i].kind != EFFECT_TRACE || effects[i].u.trace.level == 7);
    assert_int_equal(core_last_seq(d.core), 2);
    assert_int_equal(core_first_seq(d.core), 1);
    driver_end(&d);
}

/* What metrics count (B8): by cluster and kind. */
UNIT(events__are_counted_by_cluster_and_kind)
{
    struct driver d;
    struct core_cluster_status first, second;
    start(&d, 100, 0);
    publish(&d, 0, 3);
    driver_release(&d, "0");
    assert_true(core_cluster_status(d.core, 0, &first));
    assert_true(core_cluster_status(d.core, 1, &second));
    assert_false(core_cluster_status(d.core, 2, &second));
    assert_string_equal(first.name, "elcap");
    assert_string_equal(second.name, "elcap2");
    for (int kind = 1; kind < EVENT_KIND_COUNT; kind++) {
        uint64_t told = kind == EVENT_UNAVAILABLE ? 3 : kind == EVENT_RELEASED ? 1 : 0;
        assert_int_equal(first.published[kind], told);
        assert_int_equal(second.published[kind], 0);
    }
    driver_end(&d);
}

UNIT(events__of_any_age_stay_when_told_so)
{
    struct driver d;
    start(&d, 10000, 0);
    publish(&d, 0, 600);
    d.now += INT64_C(400) * 24 * 3600 * 1000;
    publish(&d, 600, 700);
    assert_int_equal(driver_status(&d).first_seq, 1);
    driver_end(&d);
}

UNIT_RUN(NULL, NULL)
