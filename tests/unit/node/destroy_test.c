/* SPDX-License-Identifier: Apache-2.0 */
/* Retries for services that are busy (F9), by a clock that only the test moves. */

#include "node/services/service.h"
#include "tests/unit/node/driver.h"
#include "tests/unit/unit.h"

static int64_t time_ms, longest_ms;
static struct nics nics;

static int64_t now_ms(void)
{
    return time_ms;
}

static void wait_ms(int64_t ms)
{
    assert_true(ms > 0);
    time_ms += ms;
    longest_ms = ms > longest_ms ? ms : longest_ms;
}

static const struct retry_clock unhurried = {now_ms, wait_ms};

static int set_up(void **state)
{
    struct error err;
    time_ms = 1000000;
    longest_ms = 0;
    driver_reset(state);
    driver_add(0, chip_service(3, 5588, 1024));
    driver_add(0, chip_service(4, 5588, 1025));
    driver_add(1, chip_service(5, 5588, 1024));
    return nics_open(&nics, &driver_calls, &err);
}

static int tear_down(void **state)
{
    nics_close(&nics);
    return 0;
}

static bool of_1024(void *arg, const struct nic *nic, const struct cxi_svc_desc *service)
{
    const uint16_t vni = 1024;
    return service_is_of(service, 5588, &vni, 1);
}

static bool accepts_any(void *arg, const struct nic *nic, const struct cxi_svc_desc *service)
{
    return true;
}

static struct services_left destroy(nic_service_fn *meant, int64_t budget_ms)
{
    struct retry retry;
    struct services_left result;
    retry_begin(&retry, &unhurried, budget_ms);
    services_destroy(&nics, meant, NULL, &retry, &result);
    return result;
}

#define TEST(name) UNIT_WITH(name, set_up, tear_down)

TEST(destroy__takes_what_is_meant_and_nothing_else)
{
    struct services_left result = destroy(of_1024, 0);
    assert_int_equal(result.left_count, 0);
    assert_int_equal(driver.count[0], 2);
    assert_int_equal(driver.count[1], 1);
    assert_int_equal(driver.services[0][1].svc_id, 4);
}

/* Whoever asks for everything still does not get what is the system's. */
TEST(destroy__never_takes_a_system_service)
{
    struct cxi_svc_desc system = chip_service(9, 0, 77);
    system.is_system_svc = 1;
    driver_add(1, system);
    struct services_left result = destroy(accepts_any, 0);
    assert_int_equal(result.left_count, 0);
    assert_int_equal(driver.count[0], 1);
    assert_int_equal(driver.count[1], 2);
    assert_int_equal(driver.destroys, 3);
}

TEST(destroy__tries_again_while_busy)
{
    driver.busy[1] = 5;
    struct services_left result = destroy(of_1024, 5000);
    assert_int_equal(result.left_count, 0);
    assert_int_equal(driver.destroys, 7);
    /* 20, 40, 80, 160 and 320 ms. */
    assert_int_equal(time_ms, 1000000 + 620);
}

TEST(destroy__gives_up_when_its_time_is_over_and_not_before)
{
    driver.busy[1] = -1;
    struct services_left result = destroy(of_1024, 300000);
    assert_int_equal(time_ms, 1000000 + 300000);
    assert_int_equal(longest_ms, RETRY_LONGEST_MS);
    assert_int_equal(result.left_count, 1);
    assert_string_equal(result.left[0].device, "cxi1");
    assert_int_equal(result.left[0].id, 5);
    assert_int_equal(result.left[0].failure, -EBUSY);
    assert_int_equal(driver.count[0], 2); /* the other NIC's is gone */
}

TEST(destroy__without_time_there_is_one_try)
{
    driver.busy[0] = driver.busy[1] = -1;
    struct services_left result = destroy(of_1024, 0);
    assert_int_equal(driver.destroys, 2);
    assert_int_equal(time_ms, 1000000);
    assert_int_equal(result.left_count, 2);
}

TEST(destroy__waits_for_busy_ones_only)
{
    driver.busy[1] = -1;
    driver.destroy_failure = -EIO;
    struct services_left result = destroy(of_1024, 5000);
    assert_int_equal(time_ms, 1000000);
    assert_int_equal(result.left_count, 1);
    assert_int_equal(result.left[0].failure, -EIO);
}

/* An error after the effect: what counts is whether it is still there. */
TEST(destroy__believes_the_list_rather_than_the_answer)
{
    driver.busy[1] = 1;
    driver.destroys_all_the_same = true;
    struct services_left result = destroy(of_1024, 0);
    assert_int_equal(result.left_count, 0);
}

TEST(destroy__a_nic_that_does_not_answer_is_not_known_to_be_clean)
{
    driver.list_failure[0] = -EIO;
    struct services_left result = destroy(of_1024, 5000);
    assert_int_equal(result.left_count, 1);
    assert_string_equal(result.left[0].device, "cxi0");
    assert_int_equal(result.left[0].id, 0);
    assert_int_equal(result.left[0].failure, -EIO);
    assert_int_equal(driver.count[1], 1);
}

UNIT_RUN(NULL, NULL)
