/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/driver.h"

/* VNIs of other partitions of the fabric are never given out (B2). */

static void tell(struct driver *d, const char *name, const char *vnis)
{
    struct idset ours, others;
    assert_int_equal(idset_parse(&ours, "1-65535", NULL), 0);
    assert_int_equal(idset_parse(&others, vnis, NULL), 0);
    const struct partition all[] = {{"default", &ours}, {name, &others}};
    DRIVER_STEP(d, CORE_PARTITIONS, partitions, .all = all, .count = 2);
}

static uint16_t take_vni(struct driver *d, const char *job)
{
    struct reserve_request q = driver_request(job, 2);
    q.vni_count = 1;
    driver_reserve(d, q);
    assert_int_equal(driver_answered(d), ANSWER_CREATED);
    return driver_job(d, job)->vnis[0];
}

static void pool(struct driver *d, const char *vnis)
{
    assert_int_equal(idset_parse(&d->config.vni_pool, vnis, NULL), 0);
    driver_up(d);
}

FRESH(foreign__is_not_given_out)
{
    struct driver *d = *state;
    pool(d, "2000-2009");
    tell(d, "beta", "2000-2003,9000");
    assert_int_equal(driver_events(d, EVENT_PARTITIONS), 1);
    assert_int_equal(driver_status(d).vnis_foreign, 4);
    assert_int_equal(driver_status(d).vnis_free, 6);
    assert_int_equal(take_vni(d, "a"), 2004);
    tell(d, "beta", "2000-2003,9000"); /* nothing new, nothing saved */
    assert_int_equal(driver_count(d, EFFECT_SAVE), 0);
    struct core_partition one;
    assert_true(core_partition(d->core, 0, &one));
    assert_string_equal(one.name, "beta");
    assert_int_equal(one.vnis, 5);
    assert_int_equal(one.pooled, 4);
    assert_false(core_partition(d->core, 1, &one));
}

/* However many partitions have however many ranges, one record of the ledger has them. */
FRESH(foreign__fits_into_a_record)
{
    struct driver *d = *state;
    char names[8][16];
    struct idset odd;
    struct partition all[8];
    struct core_partition one;
    size_t count;
    pool(d, "2000-2009");
    idset_init(&odd);
    for (uint32_t vni = 1; vni <= UINT16_MAX; vni += 2)
        idset_add(&odd, (uint16_t)vni);
    for (int i = 0; i < 8; i++) {
        snprintf(names[i], sizeof names[i], "beta%d", i);
        all[i] = (struct partition){names[i], &odd};
    }
    DRIVER_STEP(d, CORE_PARTITIONS, partitions, .all = all, .count = 8);
    const struct effect *effects = core_effects(d->core, &count);
    assert_int_equal(effects[0].kind, EFFECT_SAVE);
    assert_true(strlen(effects[0].u.record.u.partitions) < 192 * 1024);
    assert_int_equal(driver_status(d).vnis_foreign, 5);
    assert_true(core_partition(d->core, 0, &one));
    assert_string_equal(one.name, "?");
    DRIVER_STEP(d, CORE_PARTITIONS, partitions, .all = all, .count = 8);
    assert_int_equal(driver_count(d, EFFECT_SAVE), 0);
}

/* F5: a job keeps it, is named once, and the VNI does not come back to the free ones. */
FRESH(foreign__takes_none_from_a_job)
{
    struct driver *d = *state;
    pool(d, "2000-2009");
    assert_int_equal(take_vni(d, "a"), 2000);
    assert_null(core_foreign_user(d->core));
    tell(d, "beta", "2000-2001");
    assert_int_equal(driver_events(d, EVENT_VNI_FOREIGN), 1);
    assert_string_equal(core_foreign_user(d->core)->job, "a");
    assert_int_equal(driver_status(d).vnis_foreign_used, 1);
    assert_int_equal(driver_job(d, "a")->vni_count, 1);
    tell(d, "beta", "2000-2002");
    assert_int_equal(driver_events(d, EVENT_VNI_FOREIGN), 0);
    driver_release(d, "a");
    driver_tick(d, d->config.vni_hold_ms);
    assert_int_equal(driver_held(d), 0);
    assert_int_equal(driver_status(d).vnis_free, 7);
}

/* B11: one answer that lacks something frees nothing; a later one that lacks it, too, does. */
FRESH(foreign__is_kept_until_a_second_answer_lacks_it)
{
    struct driver *d = *state;
    pool(d, "2000-2009");
    tell(d, "beta", "2000-2003");
    tell(d, "beta", "2000");
    assert_true(core_partitions_open(d->core));
    assert_int_equal(driver_status(d).vnis_foreign, 4);
    d->now += d->config.stray_grace_ms - 1;
    tell(d, "beta", "2000,2003");
    assert_int_equal(driver_status(d).vnis_foreign, 4);
    d->now += 1;
    tell(d, "beta", "2000"); /* 2003 was named in between */
    assert_int_equal(driver_status(d).vnis_foreign, 2);
    d->now += d->config.stray_grace_ms;
    tell(d, "beta", "2000");
    assert_int_equal(driver_status(d).vnis_foreign, 1);
    assert_false(core_partitions_open(d->core));
}

/* B11: what would take more than half of the pool is believed the second time. */
FRESH(foreign__too_much_at_once_is_doubted)
{
    struct driver *d = *state;
    pool(d, "2000-2009");
    tell(d, "beta", "2000");
    tell(d, "beta", "2000-2006");
    assert_true(driver_alarm(d, ALARM_PARTITIONS));
    assert_true(core_partitions_open(d->core));
    assert_int_equal(driver_status(d).vnis_foreign, 1);
    assert_int_equal(take_vni(d, "a"), 2007); /* they are given out last */
    assert_int_equal(take_vni(d, "b"), 2008);
    assert_int_equal(take_vni(d, "c"), 2009);
    assert_int_equal(take_vni(d, "d"), 2001);
    d->now += d->config.stray_grace_ms;
    tell(d, "beta", "2000-2007"); /* another one */
    assert_true(driver_alarm(d, ALARM_PARTITIONS));
    tell(d, "beta", "2000-2007"); /* not later */
    assert_true(driver_alarm(d, ALARM_PARTITIONS));
    d->now += d->config.stray_grace_ms;
    tell(d, "beta", "2000-2007");
    assert_false(driver_alarm(d, ALARM_PARTITIONS));
    assert_int_equal(driver_status(d).vnis_foreign, 8);
    assert_int_equal(driver_status(d).vnis_free, 0);
    assert_int_equal(driver_events(d, EVENT_VNI_FOREIGN), 2);
}

FRESH(foreign__doubt_ends_with_another_answer)
{
    struct driver *d = *state;
    pool(d, "2000-2009");
    tell(d, "beta", "2000");
    tell(d, "beta", "2000-2009");
    assert_true(driver_alarm(d, ALARM_PARTITIONS));
    tell(d, "beta", "2000-2001");
    assert_false(driver_alarm(d, ALARM_PARTITIONS));
    assert_int_equal(driver_status(d).vnis_foreign, 2);
    assert_int_equal(take_vni(d, "a"), 2002);
}

/* Also right after a start, before the fabric manager has answered. */
FRESH(foreign__is_known_from_the_ledger)
{
    struct driver *d = *state;
    const struct record known = {.kind = RECORD_PARTITIONS, .u.partitions = "b?ta 2000-2003\n"};
    assert_int_equal(idset_parse(&d->config.vni_pool, "2000-2009", NULL), 0);
    d->core = core_create(&d->config);
    assert_int_equal(core_load(d->core, &known, NULL), 0);
    core_start(d->core, d->now);
    assert_int_equal(driver_status(d).vnis_free, 6);
    driver_link(d);
    tell(d, "b ta", "2000-2003,2004-2009"); /* its name has been made printable */
    assert_true(driver_alarm(d, ALARM_PARTITIONS));
    assert_int_equal(driver_count(d, EFFECT_SAVE), 1); /* the alarm's event */
}

/* F5: with another partition for the site's own, what that has comes back, and not at once. */
FRESH(foreign__own_partition_can_be_another)
{
    struct driver *d = *state;
    pool(d, "2000-2009");
    tell(d, "beta", "2000-2003");
    strcpy(d->config.vni_partition, "beta");
    driver_configure(d);
    assert_true(core_partitions_open(d->core));
    for (int i = 0; i < 2; i++) {
        struct idset others;
        assert_int_equal(idset_parse(&others, "2000-2003", NULL), 0);
        const struct partition all[] = {{"beta", &others}};
        DRIVER_STEP(d, CORE_PARTITIONS, partitions, .all = all, .count = 1);
        assert_int_equal(driver_status(d).vnis_foreign, i == 0 ? 4 : 0);
        d->now += d->config.stray_grace_ms;
    }
    assert_false(core_partitions_open(d->core));
}

FRESH(foreign__many_jobs_are_named_in_bounds)
{
    struct driver *d = *state;
    pool(d, "2000-2999");
    for (int i = 0; i < 150; i++) {
        char job[16];
        snprintf(job, sizeof job, "j%d", i);
        (void)take_vni(d, job);
    }
    tell(d, "beta", "2000-2200");
    assert_int_equal(driver_events(d, EVENT_VNI_FOREIGN), 100);
}

UNIT(partitions__text)
{
    struct partitions p = {0};
    struct error err;
    assert_int_equal(partitions_parse(&p, "a 1-3\nb 7\n", &err), 0);
    assert_string_equal(partitions_of(&p, 7), "b");
    assert_null(partitions_of(&p, 4));
    char *text = partitions_text(&p);
    assert_string_equal(text, "a 1-3\nb 7\n");
    free(text);
    partitions_release(&p);
    static const char *const wrong[] = {"a", "a \n", " 1\n", "a x\n", "a\tb 1\n", "\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(partitions_text_valid(wrong[i]));
    assert_true(partitions_text_valid(""));
}

UNIT_RUN(NULL, NULL)
