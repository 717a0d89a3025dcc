#include "core_driver.h"

static const struct sync_found *sync_with(struct driver *d, const char *const *active, size_t count)
{
    driver_step(d, (struct core_event){.kind = CORE_SYNC,
                                       .u.sync = {.ticket = ++d->ticket,
                                                  .cluster = "elcap",
                                                  .active = active,
                                                  .count = count}});
    assert_int_equal(driver_answered(d), ANSWER_SYNCED);
    return driver_answer(d)->sync;
}

/* F20: released only when a second sync, a grace period later, still lacks it. */
static void sync__takes_two_passes(void **state)
{
    (void)state;
    struct driver d;
    static const char *const active[] = {"a", "zzz"};
    driver_init(&d);
    driver_up(&d);
    driver_reserve(&d, driver_request("a", 2));
    driver_reserve(&d, driver_request("b", 2));
    d.now++;
    const struct sync_found *found = sync_with(&d, active, 2);
    assert_int_equal(found->active, 2);
    assert_int_equal(found->confirmed, 1);
    assert_int_equal(found->unknown_count, 1);
    assert_string_equal(found->unknown[0], "zzz");
    assert_int_equal(found->suspect_count, 1);
    assert_string_equal(found->suspects[0], "b");
    assert_int_equal(found->released_count, 0);

    d.now += d.config.sync_grace_ms - 1;
    assert_int_equal(sync_with(&d, active, 2)->released_count, 0);
    d.now += 1;
    found = sync_with(&d, active, 2);
    assert_int_equal(found->released_count, 1);
    assert_string_equal(found->released[0], "b");
    assert_int_equal(driver_job(&d, "a")->state, JOB_ACTIVE);
    assert_int_equal(driver_job(&d, "b")->state, JOB_RELEASING);
    driver_end(&d);
}

static void sync__naming_it_clears_the_suspicion(void **state)
{
    (void)state;
    struct driver d;
    static const char *const both[] = {"a", "b", "b"};
    driver_init(&d);
    driver_up(&d);
    driver_reserve(&d, driver_request("a", 2));
    driver_reserve(&d, driver_request("b", 2));
    sync_with(&d, both, 1);
    assert_int_equal(sync_with(&d, both, 3)->confirmed, 2); /* named twice is once */
    d.now += 2 * d.config.sync_grace_ms;
    assert_int_equal(sync_with(&d, both, 1)->released_count, 0);
    driver_end(&d);
}

/* B4: one cluster's sync says nothing of another's jobs. */
static void sync__is_about_one_cluster(void **state)
{
    (void)state;
    struct driver d;
    driver_init(&d);
    driver_up(&d);
    struct reserve_request other = driver_request("a", 2);
    other.cluster = "elcap2";
    driver_reserve(&d, other);
    sync_with(&d, NULL, 0);
    d.now += 2 * d.config.sync_grace_ms;
    assert_int_equal(sync_with(&d, NULL, 0)->released_count, 0);
    assert_int_equal(core_find(d.core, "elcap2", "a")->state, JOB_ACTIVE);
    driver_end(&d);
}

/* A list in another form of ids, or of another cluster, would end every job here. */
static void sync__of_strangers_is_refused(void **state)
{
    (void)state;
    struct driver d;
    static const char *const other[] = {"0x1234", "0x99"}, *const mixed[] = {"0x1234", "a"};
    driver_init(&d);
    driver_up(&d);
    driver_reserve(&d, driver_request("a", 2));
    for (int i = 0; i < 3; i++) {
        d.now += 2 * d.config.sync_grace_ms;
        driver_step(
            &d,
            (struct core_event){
                .kind = CORE_SYNC,
                .u.sync = {.ticket = ++d.ticket, .cluster = "elcap", .active = other, .count = 2}});
        assert_int_equal(driver_answered(&d), ANSWER_INVALID);
        assert_string_equal(driver_answer(&d)->field, "active");
        assert_non_null(strstr(driver_answer(&d)->detail, "\"0x1234\" for one"));
    }
    assert_int_equal(driver_job(&d, "a")->state, JOB_ACTIVE);
    assert_int_equal(sync_with(&d, mixed, 2)->confirmed, 1);
    assert_int_equal(sync_with(&d, NULL, 0)->suspect_count, 1); /* none at all can be meant */
    driver_end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sync__of_strangers_is_refused),
        cmocka_unit_test(sync__takes_two_passes),
        cmocka_unit_test(sync__naming_it_clears_the_suspicion),
        cmocka_unit_test(sync__is_about_one_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
