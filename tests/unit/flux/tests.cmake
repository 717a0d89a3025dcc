# SPDX-License-Identifier: Apache-2.0
mcast_unit(flux_request flux_request)

if(NOT MCAST_SANITIZE) # Python
    add_test(NAME unit/flux_explain COMMAND python3 -B
        ${CMAKE_CURRENT_SOURCE_DIR}/flux/explain_test.py ${CMAKE_SOURCE_DIR}/deploy/flux/cmd)
endif()
