# These link core and cmocka, nothing else: what core needs beyond libc would not be found.
foreach(noun names config idset vnipool sizing nodelist nodeset nodefold environment ledger agenda callqueue tombstones
        strays eventlog events record error secret reserve release link sync rollcall nodes
        nodereport look load steppath cleanup witness tokenset missing act listing claim)
    mcast_unit(core_${noun} core)
endforeach()
target_link_options(core_secret_test PRIVATE -Wl,--wrap=explicit_bzero)
target_link_options(core_release_test PRIVATE -Wl,--wrap=explicit_bzero)

# The compiler refuses to print a secret: this file must not compile, and for that reason.
add_test(NAME core_secret_unprintable
    COMMAND ${CMAKE_C_COMPILER} -fsyntax-only -Wall -Werror -I${CMAKE_SOURCE_DIR}
        -x c ${CMAKE_CURRENT_SOURCE_DIR}/core_secret_unprintable.txt)
set_tests_properties(core_secret_unprintable PROPERTIES
    PASS_REGULAR_EXPRESSION "expects argument of type .*char.*has type .*struct secret")
