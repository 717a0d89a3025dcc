# SPDX-License-Identifier: Apache-2.0
# Python, as mock-fm is: nothing in it is compiled, so it has nothing to run with sanitizers.
if(NOT MCAST_SANITIZE)
    foreach(noun fabric faults inventory login objects)
        add_test(NAME unit/mockfm_${noun}
            COMMAND python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/mockfm/${noun}_test.py)
    endforeach()
endif()
