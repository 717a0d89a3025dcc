/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "core/reservation/nodeset.h"

#include <stdio.h>

static struct nodeset set_of(const char *list)
{
    struct nodeset set = {0};
    nodeset_add(&set, list);
    return set;
}

UNIT(nodeset__takes_a_run_for_each_count_of_digits)
{
    static const struct {
        const char *list;
        size_t runs;
        uint32_t size;
    } cases[] = {
        {"elcap[1-11136]", 5, 11136},
        {"elcap[1-999999]", 6, 999999},
        {"n[0001-9999]", 1, 9999},
        {"n[0-9]", 1, 10},
        {"n[08-11]", 1, 4}, /* two digits, all of them */
        {"n[8-11]", 2, 4},
        {"n[5-8,1-4,9]", 1, 9},
        {"n3,n1,n2", 1, 3},
        {"n[1-5],n[2-3],n[4-7]", 1, 7}, /* each once */
        {"n1,n01", 2, 2},
        {"n1[1-4]", 1, 4},
        {"n0[1-4],n[05-07]", 1, 7}, /* a prefix that ends in digits */
        {"n1[8-11]", 2, 4},         /* n18, n19, n110, n111 */
        {"n[1-2][3-4]", 2, 4},
        {"n[1-2][0-9]", 1, 20},
        {"a[1-9]b", 9, 9},
        {"a,b,a", 2, 2},
        {"n999999999,n[0-1]", 2, 3},
        {"n1234567890,n1234567891", 1, 2}, /* more digits than a number has */
        {"[1-9],10", 2, 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nodeset set = set_of(cases[i].list);
        if (set.count != cases[i].runs || nodeset_size(&set) != cases[i].size)
            fail_msg("%s: %u runs of %u nodes", cases[i].list, set.count, nodeset_size(&set));
        nodeset_release(&set);
        assert_int_equal(nodeset_size(&set), 0);
    }
}

/* By the second way to know: the list itself. */
UNIT(nodeset__has_what_the_list_names)
{
    static const char *const lists[] = {"n1",         "n[1-20]",       "n[01-10,15],m[3-9]x,o",
                                        "[7-12]",     "n[1-20][1-4]",  "n[1-2]5,n300,n3",
                                        "n0[1-9]",    "n[1-2][08-12]", "n[098-103],m",
                                        "o,oo,n[2,1]"};
    static const char *const formats[] = {"n%d", "n%02d", "n%03d", "m%dx",
                                          "%d",  "o%.0d", "n%dx",  "m%.0d"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct nodeset set = set_of(lists[i]);
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
            for (int number = 0; number < 400; number++) {
                char node[32];
                (void)snprintf(node, sizeof node, formats[f], number);
                if (nodeset_has(&set, node) != nodelist_contains(lists[i], node))
                    fail_msg("%s in %s", node, lists[i]);
            }
        }
        nodeset_release(&set);
    }
    struct nodeset none = {0};
    assert_false(nodeset_has(&none, "n1"));
}

UNIT(nodeset__names_what_another_has_not)
{
    static const struct {
        const char *list, *within, *missing; /* NULL: none */
    } cases[] = {
        {"n[1-128]", "n[1-128]", NULL}, {"n[5-9]", "n[1-128]", NULL},
        {"n[9-10]", "n[1-128]", NULL},  {"n[1-129]", "n[1-128]", "n129"},
        {"n[0-5]", "n[1-128]", "n0"},   {"n[1-9]", "n[1-4,6-9]", "n5"},
        {"n01", "n[1-9]", "n01"},       {"m[1-2]", "n[1-128]", "m1"},
        {"n", "n[1-128]", "n"},         {"n,x7y", "n,x[1-9]y", NULL},
        {"n[1-2]", "n", "n1"},          {"a1,b1,c1", "a1,c1", "b1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nodeset set = set_of(cases[i].list), within = set_of(cases[i].within);
        char name[NODELIST_NAME_MAX + 1] = "";
        const bool found = nodeset_beyond(&set, &within, name);
        if (found != (cases[i].missing != NULL) || (found && strcmp(name, cases[i].missing) != 0))
            fail_msg("%s within %s: %s", cases[i].list, cases[i].within, found ? name : "all");
        nodeset_release(&set);
        nodeset_release(&within);
    }
}

/* F3: by the second way to know, each name beside each other one, in fuzz/nodelist. */
UNIT(nodeset__tells_what_is_named_twice)
{
    static const struct {
        const char *list, *twice; /* NULL: each once */
    } cases[] = {
        {"n1", NULL},
        {"n1,n1", "n1"},
        {"login,n1,login", "login"},
        {"n[1-3,2]", "n2"},
        {"n[2,1-3]", "n2"},
        {"n[1-3],n4,n[5-6]", NULL},
        {"n[1-3],n[3-6]", "n3"},
        {"n[5-9],n[1-4],n7", "n7"},
        {"n[1-10000],n12,n[20000-30000]", "n12"},
        {"n[1-3],n4,n[5-6],n[2-4]", "n2"}, /* of what was joined to one run */
        {"n[8-11],n[08-09]", NULL},        /* n8 is not n08 */
        {"n[8-11],n[08-11]", "n10"},
        {"n1[1-4],n[11-12]", "n11"}, /* a prefix that ends in digits */
        {"n[1-12][1-12]", "n111"},
        {"n[1-2][1-9]", NULL},
        {"x[1-2]y[3-4],x2y[4-5]", "x2y4"},
        {"n[1-9]-ib", NULL},
        {"n[1-9]-ib,n10-ib,n5-ib", "n5-ib"},
        {"n1234567890,n1234567891", NULL},
        {"n1234567890,n[1-2],n1234567890", "n1234567890"},
        {"n[1-65536]-ib", NULL},
        {"n[1-65537]-ib", ""}, /* too many to be compared */
        {"n[1-1000000]-ib", ""},
        {"r[1-1000]n[1-1000]", NULL},
        {"n[1-1000000]", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char twice[NODELIST_NAME_MAX + 1];
        const bool once = nodeset_once(cases[i].list, twice);
        if (once != !cases[i].twice || strcmp(twice, once ? "" : cases[i].twice) != 0)
            fail_msg("%s: %s", cases[i].list, once ? "each once" : twice);
    }
}

UNIT(nodeset__grows)
{
    struct nodeset set = set_of("n[1-4],m1");
    nodeset_add(&set, "n[6-9]");
    assert_int_equal(set.count, 3);
    nodeset_add(&set, "n5");
    assert_int_equal(set.count, 2);
    nodeset_add(&set, "n[2-7]");
    assert_int_equal(set.count, 2);
    assert_int_equal(nodeset_size(&set), 10);
    nodeset_release(&set);
}

/* Longer than any node's name: no node has it. */
UNIT(nodeset__leaves_out_what_is_too_long)
{
    char list[NODELIST_NAME_MAX + 16];
    for (size_t length = NODELIST_NAME_MAX - 10; length <= NODELIST_NAME_MAX; length++) {
        memset(list, 'a', length);
        strcpy(list + length, "[8-1000]");
        const uint32_t fits[] = {0, 2, 92, 992, 993};
        const size_t left = NODELIST_NAME_MAX - length;
        struct nodeset set = set_of(list);
        assert_int_equal(nodeset_size(&set), fits[left < 4 ? left : 4]);
        nodeset_release(&set);
    }
}

/* ---- as a text ---- */

static void put(void *arg, const char *name)
{
    nodeset_put(arg, name);
}

static void fold(struct nodefold *out, const char *list)
{
    struct nodeset set = {0};
    nodelist_each(list, put, &set);
    nodeset_fold(&set, out);
    assert_int_equal(set.count, 0);
}

UNIT(nodefold__writes_lists_as_people_do)
{
    static const struct {
        const char *list, *folded;
    } cases[] = {
        {"elcap[3-128]", "elcap[3-128]"},
        {"elcap3,elcap4,elcap5,elcap9", "elcap[3-5,9]"},
        {"elcap7", "elcap7"},
        {"login,elcap1,elcap2,login", "elcap[1-2],login"},
        {"n[08-11]", "n[08-11]"},
        {"n08,n9,n010,n11", "n[9,08,11,010]"},
        {"n[9-10],n011", "n[9-10,011]"},
        {"n9,n10,n12,n[99-101]", "n[9-10,12,99-101]"},
        {"n09,n010", "n[09,010]"},
        {"n2,n1,n3,n1", "n[1-3]"},
        {"n1,n,n2", "n,n[1-2]"},
        {"n,n1", "n,n1"},
        {"a[1-2]b,7,8", "[7-8],a1b,a2b"},
        {"a[1-2],b[1-2]", "a[1-2],b[1-2]"},
        {"x[1-2]y[3-4]", "x1y[3-4],x2y[3-4]"},
        {"n999999999,n1000000000,n1000000001", "n999999999,n1[000000000-000000001]"},
        {"n[1-11136]", "n[1-11136]"},
    };
    struct nodefold out;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fold(&out, cases[i].list);
        assert_string_equal(out.text, cases[i].folded);
        assert_int_equal(out.left_out, 0);
    }
    struct nodeset none = {0};
    nodeset_fold(&none, &out);
    assert_string_equal(out.text, "");
}

/* Whatever is folded, the text is a node list that names some of them, each once; the rest is
 * counted. */
UNIT(nodefold__is_bounded_and_loses_nothing)
{
    enum { LENGTHS = 260, NAMES = 150 };
    static char list[NAMES * (LENGTHS + 16)];
    static char prefix[241];
    memset(prefix, 'a', sizeof prefix - 1);
    for (int length = 0; length < LENGTHS; length++) {
        size_t used = 0;
        unsigned seed = (unsigned)length;
        uint32_t number = 0, count;
        for (int i = 0; i < NAMES; i++) {
            seed = seed * 1103515245 + 12345;
            number += (seed >> 16) % 3 + ((seed >> 20) % 7 == 0 ? 99999 : 0);
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s%0*u",
                                     i > 0 ? "," : "", length > 240 ? 240 : length + 1,
                                     (seed >> 24) % 5 == 0 ? "b" : prefix,
                                     (int)(seed >> 28) % 9 + 1, number);
        }
        struct nodefold out;
        struct nodeset set = set_of(list), all = set_of(list), folded;
        char name[NODELIST_NAME_MAX + 1];
        struct error err;
        const uint32_t size = nodeset_size(&set);
        nodeset_fold(&set, &out);
        assert_true(out.count > 0);
        assert_int_equal(out.count + out.left_out, size);
        assert_int_equal(nodelist_count(out.text, &count, &err), 0);
        assert_int_equal(count, out.count);
        folded = set_of(out.text);
        assert_false(nodeset_beyond(&folded, &all, name));
        assert_int_equal(nodeset_size(&folded), out.count);
        nodeset_release(&folded);
        nodeset_release(&all);
    }
}

/* Up to the last byte, whatever the lengths: names of one digit, all with one prefix or each with
 * its own, and runs that are as long as they can be. */
UNIT(nodefold__fills_its_text_to_the_end)
{
    enum { ONE_PREFIX, PREFIXES, LONG_RUNS, KINDS, NAMES = 300 };
    for (int i = 0; i < 64 * KINDS; i++) {
        const int length = i / KINDS + 1, kind = i % KINDS;
        struct nodefold out;
        struct error err;
        char name[80];
        uint32_t count;
        struct nodeset set = {0};
        for (unsigned n = 0; n < NAMES; n++) {
            const unsigned number = kind == LONG_RUNS ? 100000000 + n / 2 * 3 + n % 2 : n * 2;
            (void)snprintf(name, sizeof name, "%c%0*dx%u", kind == PREFIXES ? 'a' + n % 26 : 'a',
                           length, 0, number);
            nodeset_put(&set, name);
        }
        nodeset_fold(&set, &out);
        assert_int_equal(out.count + out.left_out, NAMES);
        assert_true(out.left_out > 0);
        assert_int_equal(nodelist_count(out.text, &count, &err), 0);
        assert_int_equal(count, out.count);
        /* What is left free would not hold two more of them. */
        assert_true(strlen(out.text) + 2 * (strlen(name) + 32) > sizeof out.text);
    }
}

UNIT_RUN(NULL, NULL)
