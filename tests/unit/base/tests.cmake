# SPDX-License-Identifier: Apache-2.0
# These link base and cmocka, nothing else: what base needs beyond libc would not be found.
foreach(noun base64url duration error idset jobid names nodelist roff secret steppath utf8)
    mcast_unit(base_${noun} base)
endforeach()
target_link_options(base_secret_test PRIVATE -Wl,--wrap=explicit_bzero)

# The compiler refuses to print a secret: this file must not compile, and for that reason.
add_test(NAME base_secret_unprintable
    COMMAND ${CMAKE_C_COMPILER} -fsyntax-only -Wall -Werror -I${CMAKE_SOURCE_DIR}
        -x c ${CMAKE_CURRENT_SOURCE_DIR}/base/secret_unprintable.txt)
set_tests_properties(base_secret_unprintable PROPERTIES
    PASS_REGULAR_EXPRESSION "expects argument of type .*char.*has type .*struct secret")
