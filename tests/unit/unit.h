/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* cmocka, with what it wants included before it; a text that has words in it; and a main: of these
 * tests, and with what is set up and torn down once for all of them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static inline void unit_words(const char *text, const char *words, const char *file, int line)
{
    if (text && strstr(text, words))
        return;
    print_error("\"%s\" is not in: %s\n", words, text ? text : "no text");
    _fail(file, line);
}
#define assert_words(text, words) unit_words((text), (words), __FILE__, __LINE__)

#define UNIT_GROUP(setup, teardown, ...)                                                           \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        return cmocka_run_group_tests(tests, setup, teardown);                                     \
    }
#define UNIT_MAIN(...) UNIT_GROUP(NULL, NULL, __VA_ARGS__)
