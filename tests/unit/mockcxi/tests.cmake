# SPDX-License-Identifier: Apache-2.0
mcast_unit(mockcxi_conf mockcxi)
mcast_unit(mockcxi_layout)
# These load the library, as any program does.
foreach(noun library service fault process)
    mcast_unit(mockcxi_${noun} mockcxi)
    target_compile_definitions(mockcxi_${noun}_test PRIVATE
        MOCKCXI_LIBRARY="$<TARGET_FILE:mock-cxi>")
    add_dependencies(mockcxi_${noun}_test mock-cxi)
endforeach()

# Where HPE's headers are, of Slingshot Host Software 12 or later, their layout is held against ours:
# -DCXI_INCLUDE_DIR=… if not in the compiler's path. What 14 added is told by a function of it.
find_path(CXI_INCLUDE_DIR libcxi.h PATH_SUFFIXES libcxi)
if(CXI_INCLUDE_DIR)
    find_file(cxi_header libcxi.h PATHS ${CXI_INCLUDE_DIR} NO_CACHE NO_DEFAULT_PATH REQUIRED)
    file(STRINGS ${cxi_header} since_14 REGEX cxil_svc_set_netns)
    set(release 12)
    if(since_14)
        set(release 14)
    endif()
    add_executable(mockcxi_realheaders_test mockcxi/layout_test.c)
    target_compile_definitions(mockcxi_realheaders_test PRIVATE MOCKCXI_REAL_HEADERS=${release})
    target_include_directories(mockcxi_realheaders_test SYSTEM PRIVATE ${CXI_INCLUDE_DIR})
    target_link_libraries(mockcxi_realheaders_test PRIVATE PkgConfig::CMOCKA)
    set_target_properties(mockcxi_realheaders_test PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME unit/mockcxi_realheaders COMMAND mockcxi_realheaders_test)
endif()
