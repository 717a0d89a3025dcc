/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of the soak test: a leak is found under noise, and noise is no leak. */
#include "tests/system/soak/trend.h"
#include "tests/unit/unit.h"

#include "tests/system/rig/prng.h"

enum { READINGS = 300, JOBS_A_READING = 1000 };

static const struct trend_rule rule = {.slack = 512 * 1024, .relative = 0.02};
static double values[READINGS], jobs[READINGS];

/* 20 MB, swinging by up to so many bytes either way, with so many bytes more for each job. */
static void draw(double swing, double leak)
{
    struct prng prng;

    prng_init(&prng, 1);
    for (size_t i = 0; i < READINGS; i++) {
        jobs[i] = (double)i * JOBS_A_READING;
        values[i] = 20e6 + swing * ((double)prng_below(&prng, 2001) / 1000 - 1) + leak * jobs[i];
    }
}

static void leak__is_found_under_noise(void **state)
{
    struct trend trend;

    draw(500e3, 16);
    assert_true(trend_judge(values, jobs, READINGS, &rule, &trend));
    assert_true(trend.grows);
    assert_true(trend.per_job > 15 && trend.per_job < 17);
    assert_true(trend.jobs > 190e3 && trend.jobs < 210e3);
}

static void noise__is_no_leak(void **state)
{
    struct trend trend;

    draw(5e6, 0);
    assert_true(trend_judge(values, jobs, READINGS, &rule, &trend));
    assert_false(trend.grows);
    draw(0, 0);
    assert_true(trend_judge(values, jobs, READINGS, &rule, &trend));
    assert_false(trend.grows);
    assert_true(trend.per_job == 0);
}

static void odd_readings__decide_nothing(void **state)
{
    struct trend trend;

    draw(1e3, 0);
    for (size_t i = READINGS - 40; i < READINGS; i += 2)
        values[i] *= 10;
    assert_true(trend_judge(values, jobs, READINGS, &rule, &trend));
    assert_false(trend.grows);
}

static void too_few_readings__judge_nothing(void **state)
{
    struct trend trend;

    draw(0, 1e6);
    assert_false(trend_judge(values, jobs, TREND_READINGS_MIN - 1, &rule, &trend));
    assert_false(trend.grows);
    assert_true(trend_judge(values, jobs, TREND_READINGS_MIN, &rule, &trend));
    assert_true(trend.grows);
}

UNIT_MAIN(cmocka_unit_test(leak__is_found_under_noise), cmocka_unit_test(noise__is_no_leak),
          cmocka_unit_test(odd_readings__decide_nothing),
          cmocka_unit_test(too_few_readings__judge_nothing))
