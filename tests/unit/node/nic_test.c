/* SPDX-License-Identifier: Apache-2.0 */
/* Listing and opening NICs, of which one may go away meanwhile (S7). */

#include "node/services/nic.h"
#include "tests/unit/node/driver.h"
#include "tests/unit/unit.h"

UNIT_WITH(nics__are_by_device_number, driver_reset, NULL)
{
    struct nics nics;
    struct error err;
    assert_int_equal(nics_open(&nics, &driver_calls, &err), 0);
    assert_int_equal(nics.count, 2);
    assert_string_equal(nics.at[0].name, "cxi0");
    assert_string_equal(nics.at[1].name, "cxi1");
    assert_int_equal(nics.at[1].services->count, 1);
    assert_null(nics_failed(&nics));
    assert_ptr_equal(nics_find(&nics, "cxi1"), &nics.at[1]);
    assert_null(nics_find(&nics, "cxi2"));
    nics_close(&nics);
    assert_int_equal(driver.opens, driver.closes);
}

UNIT_WITH(nics__none_is_no_error, driver_reset, NULL)
{
    struct nics nics;
    struct error err;
    driver.listed = 0;
    assert_int_equal(nics_open(&nics, &driver_calls, &err), 0);
    assert_int_equal(nics.count, 0);
    nics_close(&nics);
}

UNIT_WITH(nics__one_that_vanishes_is_left_out, driver_reset, NULL)
{
    struct nics nics;
    struct error err;
    driver.vanish = true;
    assert_int_equal(nics_open(&nics, &driver_calls, &err), 0);
    assert_int_equal(nics.count, 1);
    assert_string_equal(nics.at[0].name, "cxi0");
    assert_string_equal(nics.gone, "cxi1");
    assert_null(nics_failed(&nics));
    nics_close(&nics);
}

UNIT_WITH(nics__one_that_cannot_be_opened_has_failed, driver_reset, NULL)
{
    struct nics nics;
    struct error err;
    driver.open_failure = -EIO;
    assert_int_equal(nics_open(&nics, &driver_calls, &err), 0);
    assert_int_equal(nics.count, 2);
    assert_string_equal(nics_failed(&nics)->name, "cxi1");
    assert_int_equal(nics_failed(&nics)->failure, -EIO);
    nics_close(&nics);
}

UNIT_WITH(nics__one_that_does_not_tell_its_services_has_failed, driver_reset, NULL)
{
    struct nics nics;
    struct error err;
    driver.list_failure[0] = -EIO;
    assert_int_equal(nics_open(&nics, &driver_calls, &err), 0);
    assert_string_equal(nics_failed(&nics)->name, "cxi0");
    assert_null(nics.at[0].services);
    driver.list_failure[0] = 0;
    assert_int_equal(nic_refresh(&nics, &nics.at[0]), 0);
    assert_null(nics_failed(&nics));
    nics_close(&nics);
    assert_int_equal(driver.opens, driver.closes);
}

UNIT_RUN(NULL, NULL)
