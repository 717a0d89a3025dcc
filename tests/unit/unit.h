/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* cmocka, with what it wants included before it, and a main: of these tests, and with what is set
 * up and torn down once for all of them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define UNIT_GROUP(setup, teardown, ...)                                                           \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        return cmocka_run_group_tests(tests, setup, teardown);                                     \
    }
#define UNIT_MAIN(...) UNIT_GROUP(NULL, NULL, __VA_ARGS__)
