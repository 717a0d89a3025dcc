/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A driver of two NICs in memory, which fails as it is told: what mock-cxi cannot be told to do at
 * the very moment between two calls. */

#include "cxi/abi.h"
#include "tests/unit/node/chip.h"

#include <errno.h>

enum { DRIVER_NICS = 2, DRIVER_SERVICES = 8 };

static struct {
    unsigned int listed;           /* NICs that get_device_list tells of */
    int open_failure;              /* of the last NIC */
    bool vanish;                   /* the last NIC is gone once it was listed */
    int list_failure[DRIVER_NICS]; /* of get_svc_list */
    unsigned int count[DRIVER_NICS];
    struct cxi_svc_desc services[DRIVER_NICS][DRIVER_SERVICES];
    unsigned int next_id;
    int busy[DRIVER_NICS];      /* so many tries at destroying fail; -1: all */
    int destroy_failure;        /* instead of -EBUSY */
    bool destroys_all_the_same; /* and yet it is gone */
    int alloc_results[16];      /* in order; 0: an id */
    struct cxi_svc_fail_info fail_infos[16];
    unsigned int allocs, destroys, opens, closes, frees;
    struct cxi_svc_desc asked[16];
} driver;

static inline int driver_get_device_list(struct cxil_device_list **out)
{
    struct cxil_device_list *list =
        calloc(1, sizeof *list + DRIVER_NICS * sizeof(struct cxil_devinfo));
    if (!list)
        return -ENOMEM;
    list->count = driver.listed;
    for (unsigned int i = 0; i < driver.listed; i++)
        list->info[i] = chip_info(driver.listed - 1 - i); /* in no order */
    *out = list;
    return 0;
}

static inline void driver_free_device_list(struct cxil_device_list *list)
{
    free(list);
}

static inline int driver_open_device(uint32_t dev_id, struct cxil_dev **out)
{
    if (driver.vanish && dev_id == driver.listed - 1) {
        driver.vanish = false;
        driver.listed--;
        return -ENODEV;
    }
    if (driver.open_failure && dev_id == driver.listed - 1)
        return driver.open_failure;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return -ENOMEM;
    (*out)->info = chip_info(dev_id);
    driver.opens++;
    return 0;
}

static inline void driver_close_device(struct cxil_dev *device)
{
    driver.closes += device != NULL;
    free(device);
}

static inline int driver_get_svc_list(struct cxil_dev *device, struct cxil_svc_list **out)
{
    unsigned int nic = device->info.dev_id;
    if (driver.list_failure[nic])
        return driver.list_failure[nic];
    *out = chip_list(driver.services[nic], driver.count[nic]);
    return 0;
}

static inline void driver_free_svc_list(struct cxil_svc_list *list)
{
    free(list);
}

static inline int driver_alloc_svc(struct cxil_dev *device, const struct cxi_svc_desc *desc,
                                   struct cxi_svc_fail_info *info)
{
    unsigned int nic = device->info.dev_id;
    unsigned int turn = driver.allocs++;
    int result = turn < 16 ? driver.alloc_results[turn] : 0;
    if (turn < 16) {
        driver.asked[turn] = *desc;
        *info = driver.fail_infos[turn];
    }
    if (result < 0)
        return result;
    struct cxi_svc_desc *made = &driver.services[nic][driver.count[nic]++];
    *made = *desc;
    made->enable = 1;
    made->svc_id = driver.next_id++;
    return (int)made->svc_id;
}

static inline int driver_destroy_svc(struct cxil_dev *device, unsigned int id)
{
    unsigned int nic = device->info.dev_id;
    driver.destroys++;
    bool busy = driver.busy[nic] != 0;
    if (driver.busy[nic] > 0)
        driver.busy[nic]--;
    if (busy && !driver.destroys_all_the_same)
        return driver.destroy_failure ? driver.destroy_failure : -EBUSY;
    for (unsigned int i = 0; i < driver.count[nic]; i++) {
        if (driver.services[nic][i].svc_id == id) {
            driver.services[nic][i] = driver.services[nic][--driver.count[nic]];
            return busy ? -EIO : 0;
        }
    }
    return -EINVAL;
}

static const struct cxi_calls driver_calls = {
    .get_device_list = driver_get_device_list,
    .free_device_list = driver_free_device_list,
    .open_device = driver_open_device,
    .close_device = driver_close_device,
    .get_svc_list = driver_get_svc_list,
    .free_svc_list = driver_free_svc_list,
    .alloc_svc = driver_alloc_svc,
    .destroy_svc = driver_destroy_svc,
};

/* Two NICs with the default service. */
static inline int driver_reset(void **state)
{
    memset(&driver, 0, sizeof driver);
    driver.listed = DRIVER_NICS;
    driver.next_id = 2;
    for (unsigned int i = 0; i < DRIVER_NICS; i++)
        driver.services[i][driver.count[i]++] = chip_default_service();
    return 0;
}

static inline void driver_add(unsigned int nic, struct cxi_svc_desc service)
{
    driver.services[nic][driver.count[nic]++] = service;
}
