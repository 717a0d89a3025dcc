/* SPDX-License-Identifier: Apache-2.0 */
/* A log through the core: what a job meets, and what all use together, counted by hand. */
#include "tests/unit/unit.h"

#include "plan/replay.h"

static struct plan_machine machine_of(uint32_t addresses)
{
    struct plan_machine machine = {.total_addresses = addresses,
                                   .system_nodes = 100,
                                   .sharing = 1,
                                   .vnis_per_job = 1,
                                   .call_ms = 0};
    for (uint16_t vni = 100; vni < 110; vni++)
        idset_add(&machine.pool, vni);
    return machine;
}

/* "start,run,nodes start,run,nodes …" in seconds. */
static struct joblog log_of(const char *jobs)
{
    struct joblog log;
    char text[8192] = "";
    int start, run, nodes, read, number = 0;
    for (; sscanf(jobs, "%d,%d,%d %n", &start, &run, &nodes, &read) == 3; jobs += read) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used,
                 "%d %d 0 %d %d -1 -1 -1 -1 -1 1 7 -1 -1 -1 -1 -1 -1\n", ++number, start, run,
                 nodes);
    }
    joblog_parse(&log, text, strlen(text), SIZE_MAX);
    assert_int_equal(log.fault_count, 0);
    return log;
}

static struct plan_outcome outcome_of(const char *jobs, const struct plan_machine *machine,
                                      struct plan_setting setting)
{
    struct joblog log = log_of(jobs);
    struct plan_outcome out;
    plan_replay(&log, machine, &setting, &out);
    joblog_release(&log);
    return out;
}

UNIT(replay__jobs_are_served_denied_or_too_small)
{
    const struct plan_machine machine = machine_of(20);
    struct plan_outcome out = outcome_of("0,100,10 10,100,10 20,100,10 30,100,9 110,50,10 ",
                                         &machine, (struct plan_setting){10, 10, 1000});
    static const uint8_t fates[] = {PLAN_SERVED, PLAN_SERVED, PLAN_DENIED, PLAN_INELIGIBLE,
                                    PLAN_SERVED};
    assert_int_equal(out.error.code, 0);
    assert_memory_equal(out.fate, fates, sizeof fates);
    assert_int_equal(plan_eligible(&out), 4);
    assert_int_equal(plan_unserved(&out), 1);
    assert_int_equal(out.most.addresses, 20);
    assert_int_equal(out.most.vnis, 4);
    assert_int_equal(out.waited, 0);
    assert_true(out.node_ms == (1000.0 * 3 + 900 + 500) * 1000);
    assert_true(out.served_node_ms == (1000.0 * 2 + 500) * 1000);
    plan_outcome_release(&out);
}

/* 10 addresses for 10 of 100 s, 20 for 90 … */
UNIT(replay__means_are_those_over_the_time_of_the_log)
{
    const struct plan_machine machine = machine_of(20);
    struct plan_outcome out =
        outcome_of("0,75,10 25,75,10 ", &machine, (struct plan_setting){10, 10, 0});
    assert_float_equal(out.addresses_mean, 15, 0.01);
    assert_float_equal(out.vnis_mean, 1.5, 0.001);
    assert_int_equal(out.curve[0].addresses, 10);
    assert_int_equal(out.curve[PLAN_CURVE_POINTS / 2].addresses, 20);
    assert_int_equal(out.curve[PLAN_CURVE_POINTS - 1].addresses, 10);
    plan_outcome_release(&out);
}

UNIT(replay__a_job_waits_for_what_another_gives_back)
{
    struct plan_machine machine = machine_of(10);
    machine.call_ms = 1000;
    struct plan_outcome out =
        outcome_of("0,100,10 100,100,10 ", &machine, (struct plan_setting){10, 10, 1000});
    assert_int_equal(out.waited, 1);
    assert_int_equal(out.fates[PLAN_SERVED], 2);
    assert_int_equal(out.most.addresses, 10);
    plan_outcome_release(&out);
}

/* 16 calls at once, of 10 s each, and a start waits for 20 s at most. */
UNIT(replay__a_slow_fabric_manager_is_too_late_for_a_crowd)
{
    struct plan_machine machine = machine_of(4000);
    machine.call_ms = 9000;
    for (uint16_t vni = 200; vni < 400; vni++)
        idset_add(&machine.pool, vni);
    char jobs[2048] = "";
    for (int i = 0; i < 100; i++)
        strcat(jobs, "0,500,10 ");
    struct plan_outcome out = outcome_of(jobs, &machine, (struct plan_setting){10, 10, 1000});
    assert_int_not_equal(out.fates[PLAN_LATE], 0);
    assert_int_not_equal(out.fates[PLAN_SERVED], 0);
    assert_int_equal(out.fates[PLAN_LATE] + out.fates[PLAN_SERVED], 100);
    plan_outcome_release(&out);
}

UNIT(replay__a_long_quarantine_uses_the_pool_up)
{
    const struct plan_machine machine = machine_of(100);
    char jobs[512] = "";
    for (int i = 0; i < 12; i++)
        snprintf(jobs + strlen(jobs), sizeof jobs - strlen(jobs), "%d,5,1 ", 10 * i);
    struct plan_outcome out = outcome_of(jobs, &machine, (struct plan_setting){10, 10, 10 * 1000});
    assert_int_equal(out.fates[PLAN_REFUSED], 0);
    assert_int_equal(out.most.quarantined, 1);
    plan_outcome_release(&out);
    out = outcome_of(jobs, &machine, (struct plan_setting){10, 10, 3600 * 1000});
    assert_int_not_equal(out.fates[PLAN_REFUSED], 0);
    assert_true(out.most.quarantined > 5);
    plan_outcome_release(&out);
}

UNIT(replay__an_impossible_setting_says_why)
{
    const struct plan_machine machine = machine_of(20);
    struct plan_outcome out = outcome_of("0,1,1 ", &machine, (struct plan_setting){1, 0, 0});
    assert_int_equal(out.error.code, ERROR_INVALID);
    assert_words(out.error.text, "min_nodes to 5 or more");
    plan_outcome_release(&out);
}

UNIT_RUN(NULL, NULL)
