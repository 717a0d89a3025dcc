# SPDX-License-Identifier: Apache-2.0
# mcast_pkgconfig(NAME): makes NAME.pc of NAME.pc.in here, and installs it with component libNAME. The file
# finds its prefix from where it lies, so that `cmake --install --prefix` is right too; absolute
# directories (as some distributions set them) are taken as they are.
function(mcast_pkgconfig name)
    foreach(dir LIBDIR INCLUDEDIR)
        if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
            set(MCAST_PC_${dir} "${CMAKE_INSTALL_${dir}}")
        else()
            set(MCAST_PC_${dir} "\${prefix}/${CMAKE_INSTALL_${dir}}")
        endif()
    endforeach()
    if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
        set(MCAST_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
    else()
        file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
        string(REGEX REPLACE "/$" "" up "${up}")
        set(MCAST_PC_PREFIX "\${pcfiledir}/${up}")
    endif()
    configure_file(${name}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT lib${name})
endfunction()
