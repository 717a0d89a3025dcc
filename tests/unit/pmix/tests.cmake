# SPDX-License-Identifier: Apache-2.0
# libmcast_pmix without a PMIx server.
if(TARGET mcast_pmix)
    mcast_unit(pmix_host mcast_pmix)
    mcast_unit(pmix_event mcast_pmix)
else()
    mcast_skipped_test(unit/pmix_host "libpmix-dev is not installed")
    mcast_skipped_test(unit/pmix_event "libpmix-dev is not installed")
endif()
