/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* A job, and a host that serves it as namespace "job.0". */

#include "pmix/mcast_pmix.h"
#include "tests/unit/unit.h"

static const uint16_t job_vnis[] = {1024, 1025};
static const char *const job_classes[] = {"low_latency", "best_effort", NULL};
static const struct mcast_variable job_env[] = {
    {"FI_CXI_HWCOLL_MIN_NODES", "2", false},
    {"FI_CXI_HWCOLL_ADDRS_PER_JOB", "4", false},
    {"FI_CXI_COLL_JOB_ID", "elcap-f1", false},
    {"FI_CXI_COLL_JOB_STEP_ID", "0", false},
    {"FI_CXI_COLL_MCAST_TOKEN", "t0ken", true},
    {"FI_CXI_COLL_FABRIC_MGR_URL", "https://fm", false},
    {"FI_CXI_COLL_FABRIC_MGR_CACERT", "/nowhere/ca.pem", false},
};

static inline struct mcast_reservation job_reservation(void)
{
    return (struct mcast_reservation){.cluster = "elcap",
                                      .job = "f1",
                                      .number = 7,
                                      .state = "active",
                                      .interconnect = "slingshot",
                                      .node_count = 2,
                                      .nodes = "n[1-2]",
                                      .vnis = job_vnis,
                                      .vni_count = 2,
                                      .traffic_classes = job_classes,
                                      .hwcoll_state = "reserved",
                                      .hwcoll_addresses = 4,
                                      .launch = "D0CUMENT"};
}

/* What PMIx's array for it is, for mcast_pmix_free. */
static inline pmix_info_t *job_array(const struct mcast_reservation *reservation, const char *step,
                                     size_t *count)
{
    struct mcast_pmix_application application = MCAST_PMIX_APPLICATION_INIT;
    pmix_info_t *info;
    application.reservation = reservation;
    application.step = step;
    assert_int_equal(mcast_pmix_setup_application(&application, &info, count, NULL), 0);
    return info;
}

static inline struct mcast_pmix *job_host(const struct mcast_reservation *reservation,
                                          const char *step)
{
    struct mcast_pmix *pmix = mcast_pmix_create();
    size_t count;
    pmix_info_t *info = job_array(reservation, step, &count);
    assert_non_null(pmix);
    assert_int_equal(mcast_pmix_local_support(pmix, "job.0", info, count, NULL), 0);
    mcast_pmix_free(info, count);
    return pmix;
}
