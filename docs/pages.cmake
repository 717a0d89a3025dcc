# SPDX-License-Identifier: Apache-2.0
# install_page(SOURCE FOLDER NAME): installs a page so that its links lead to where the other pages and
# the examples are then. FOLDER is below the prefix. Nothing depends on the prefix, which may be another
# one when it is installed.
function(install_page source folder name)
    file(RELATIVE_PATH docs "/${folder}" "/${CMAKE_INSTALL_DOCDIR}")
    file(RELATIVE_PATH slurm "/${folder}" "/${CMAKE_INSTALL_LIBEXECDIR}/mcastd/slurm")
    foreach(way docs slurm)
        if(${way})
            string(APPEND ${way} /)
        endif()
    endforeach()
    get_filename_component(source ${source} ABSOLUTE)
    set(ready ${CMAKE_CURRENT_BINARY_DIR}/ready)
    install(CODE "
        set(source \"${source}\")
        set(page \"${ready}/${name}\")
        set(docs \"${docs}\")
        set(slurm \"${slurm}\")
        include(\"${CMAKE_SOURCE_DIR}/docs/page.cmake\")")
    install(FILES ${ready}/${name} DESTINATION ${folder})
endfunction()
