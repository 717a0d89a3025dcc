# SPDX-License-Identifier: Apache-2.0
foreach(noun joblog replay grid)
    mcast_unit(plan_${noun} plan)
endforeach()
