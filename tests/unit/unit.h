/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* cmocka, with what it wants included before it; a text that has words in it; tests that list
 * themselves, and a main for them. */

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

/* A test: its body follows. With what is set up before it and torn down after it, or NULL. They run
 * in the order in which they stand in the file, of which UNIT_RUN is the end. */
#define UNIT(test) UNIT_WITH(test, NULL, NULL)
#define UNIT_WITH(test, setup, teardown)                                                           \
    static void test(void **state);                                                                \
    __attribute__((constructor)) static void unit_add_##test(void)                                 \
    {                                                                                              \
        unit_add(__LINE__, (struct CMUnitTest){#test, test, setup, teardown, NULL});               \
    }                                                                                              \
    static void test(void **state)

enum { UNIT_TESTS_MAX = 128 };
static struct CMUnitTest unit_tests[UNIT_TESTS_MAX] __attribute__((unused));
static int unit_lines[UNIT_TESTS_MAX] __attribute__((unused));
static size_t unit_count __attribute__((unused));

/* Constructors come in any order. */
__attribute__((unused)) static void unit_add(int line, struct CMUnitTest test)
{
    size_t at = unit_count++;
    if (at == UNIT_TESTS_MAX)
        abort();
    for (; at > 0 && unit_lines[at - 1] > line; at--) {
        unit_lines[at] = unit_lines[at - 1];
        unit_tests[at] = unit_tests[at - 1];
    }
    unit_lines[at] = line;
    unit_tests[at] = test;
}

/* The main of a file's tests, and what is set up and torn down once for all of them. */
#define UNIT_RUN(setup, teardown)                                                                  \
    int main(void)                                                                                 \
    {                                                                                              \
        return _cmocka_run_group_tests("tests", unit_tests, unit_count, setup, teardown);          \
    }

/* The same of tests that are listed: those that run more than once, and those of system/. */
#define UNIT_GROUP(setup, teardown, ...)                                                           \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        return cmocka_run_group_tests(tests, setup, teardown);                                     \
    }
#define UNIT_MAIN(...) UNIT_GROUP(NULL, NULL, __VA_ARGS__)
