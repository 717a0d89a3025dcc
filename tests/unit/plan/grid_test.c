/* SPDX-License-Identifier: Apache-2.0 */
/* Which setting to take of those that were tried. */
#include "tests/unit/unit.h"

#include "plan/grid.h"

enum { OUTCOMES_MAX = 4 };

static struct plan_outcome outcomes[OUTCOMES_MAX];
static struct plan_grid grid = {.outcomes = outcomes};
static struct plan_machine machine = {.total_addresses = 4086, .pool.count = 1000};
static char why[1000];

/* hours: of 1000. */
static struct plan_outcome *add(uint32_t min_nodes, uint32_t addresses, int64_t hold_ms,
                                size_t served, size_t denied, double hours)
{
    struct plan_outcome *o = &outcomes[grid.count++];
    *o = (struct plan_outcome){.setting = {min_nodes, addresses, hold_ms},
                               .addresses = addresses,
                               .jobs = 10000,
                               .node_ms = 1000,
                               .served_node_ms = hours};
    o->fates[PLAN_SERVED] = served;
    o->fates[PLAN_DENIED] = denied;
    return o;
}

static int forget(void **state)
{
    (void)state;
    grid.count = 0;
    return 0;
}

#define CHOICE(test) UNIT_WITH(test, forget, NULL)

CHOICE(choice__is_most_addresses_of_which_hardly_a_job_is_denied)
{
    (void)add(128, 16, 0, 5000, 0, 900);
    (void)add(128, 32, 0, 4996, 4, 899);
    (void)add(128, 64, 0, 4900, 100, 895);
    assert_int_equal(plan_choose(&grid, &machine, why, sizeof why), 1);
    assert_words(why, "5000 of 10000 jobs ask for addresses and 4 of them get none");
    assert_words(why, "89.9% of the node-hours");
}

CHOICE(choice__serves_most_node_hours_but_for_one_percent)
{
    (void)add(32, 8, 0, 9000, 0, 990);
    (void)add(64, 16, 0, 6000, 0, 981);
    (void)add(128, 32, 0, 3000, 0, 970);
    assert_int_equal(plan_choose(&grid, &machine, why, sizeof why), 1);
}

CHOICE(choice__no_job_fails_for_want_of_a_vni)
{
    add(64, 16, 3600000, 6000, 0, 990)->fates[PLAN_REFUSED] = 1;
    add(64, 16, 600000, 6000, 0, 990)->most.quarantined = 751;
    add(64, 16, 60000, 6000, 0, 990)->most.quarantined = 750;
    (void)add(64, 16, 1000, 6000, 0, 990);
    assert_int_equal(plan_choose(&grid, &machine, why, sizeof why), 2);
    grid.count = 2;
    assert_int_equal(plan_choose(&grid, &machine, why, sizeof why), 1);
    assert_words(why, "less than a quarter of the 1000 VNIs");
    grid.count = 1;
    assert_int_equal(plan_choose(&grid, &machine, why, sizeof why), -1);
    assert_words(why, "1 of its 10000 jobs at least would have failed for want of VNIs");
}

CHOICE(choice__of_settings_alike_is_the_largest_minimum)
{
    (void)add(32, 16, 0, 6000, 0, 990);
    (void)add(128, 16, 0, 6000, 0, 990);
    (void)add(64, 16, 0, 6000, 0, 990);
    assert_int_equal(plan_choose(&grid, &machine, why, sizeof why), 1);
}

CHOICE(choice__is_never_one_that_is_impossible)
{
    add(1, 0, 0, 0, 0, 0)->error.code = ERROR_INVALID;
    assert_int_equal(plan_choose(&grid, &machine, why, sizeof why), -1);
    (void)add(64, 16, 0, 1, 999, 1);
    assert_int_equal(plan_choose(&grid, &machine, why, sizeof why), 1);
    assert_words(why, "no setting here serves all but one in 1000");
}

/* Threads take settings in any order; each outcome stands where its setting did. */
UNIT(run__fills_in_every_setting)
{
    char text[] = "1 0 0 10 50 -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1\n";
    struct plan_machine small = {
        .total_addresses = 100, .system_nodes = 100, .sharing = 1, .vnis_per_job = 0};
    struct plan_outcome many[50];
    struct plan_grid all = {many, 50};
    struct joblog log;
    joblog_parse(&log, text, sizeof text - 1, SIZE_MAX);
    for (uint32_t i = 0; i < 50; i++)
        many[i] = (struct plan_outcome){.setting = {i + 26, i + 1, 0}};
    plan_run(&log, &small, &all);
    for (uint32_t i = 0; i < 50; i++) {
        assert_int_equal(many[i].addresses, i + 1);
        assert_int_equal(many[i].fates[PLAN_SERVED], i + 26 <= 50);
        plan_outcome_release(&many[i]);
    }
    joblog_release(&log);
}

UNIT_RUN(NULL, NULL)
