/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/nodeset.h"

#include "base/nodelist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Whatever the list, the set says what the list says. */
static void nodeset__agrees_with_the_list(void **state)
{
    (void)state;
    static const char *const lists[] = {"n1",          "n[1-20]",        "n[01-10,15],m[3-9]x,o",
                                        "n[1-2][3-4]", "n[1-20][1-4]",   "n[1-2]5",
                                        "[7-12]",      "n1,n1,n[1,1,1]", "n[1-700]"};
    static const char *const formats[] = {"n%d", "n%02d", "n%03d", "m%dx", "%d", "o", "n%dx", ""};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct nodeset *set = nodeset_create(lists[i]);
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
            for (int number = 0; number < 300; number++) {
                char node[32];
                snprintf(node, sizeof node, formats[f], number);
                if (nodeset_contains(set, node) != nodelist_contains(lists[i], node))
                    fail_msg("%s in %s", node, lists[i]);
            }
        }
        nodeset_destroy(set);
    }
    nodeset_destroy(NULL);
}

/* A whole machine, and a name as long as there is. */
static void nodeset__finds_each_of_many(void **state)
{
    (void)state;
    enum { MANY = 11136 };
    char list[NODELIST_NAME_MAX + 32], node[NODELIST_NAME_MAX + 2];
    memset(list, 'l', NODELIST_NAME_MAX);
    snprintf(list + NODELIST_NAME_MAX, sizeof list - NODELIST_NAME_MAX, ",elcap[1-%d]", MANY);
    struct nodeset *set = nodeset_create(list);
    for (int i = 1; i <= MANY; i++) {
        snprintf(node, sizeof node, "elcap%d", i);
        assert_true(nodeset_contains(set, node));
    }
    assert_false(nodeset_contains(set, "elcap0"));
    assert_false(nodeset_contains(set, "elcap11137"));
    memset(node, 'l', sizeof node);
    node[NODELIST_NAME_MAX + 1] = '\0';
    assert_false(nodeset_contains(set, node));
    node[NODELIST_NAME_MAX] = '\0';
    assert_true(nodeset_contains(set, node));
    nodeset_destroy(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodeset__agrees_with_the_list),
        cmocka_unit_test(nodeset__finds_each_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
