# SPDX-License-Identifier: Apache-2.0
# The Python module. A program of Python's cannot open a library that was built with sanitizers.
if(NOT MCAST_SANITIZE)
    foreach(noun broker events layout page)
        add_test(NAME unit/python_${noun}
            COMMAND python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/python/${noun}_test.py
                ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR} ${CMAKE_C_COMPILER})
    endforeach()
endif()
