/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "core/reservation/nodefold.h"

static void add(void *arg, const char *name)
{
    nodefold_add(arg, name);
}

static void fold(struct nodefold *out, const char *list)
{
    *out = (struct nodefold){.used = 0};
    nodelist_each(list, add, out);
    nodefold_end(out);
}

static void nodefold__writes_lists_as_people_do(void **state)
{
    (void)state;
    static const struct {
        const char *list, *folded;
    } cases[] = {
        {"elcap[3-128]", "elcap[3-128]"},
        {"elcap3,elcap4,elcap5,elcap9", "elcap[3-5,9]"},
        {"elcap7", "elcap7"},
        {"login,elcap1,elcap2,login", "login,elcap[1-2],login"},
        {"n[08-11]", "n[08-11]"},
        {"n08,n9,n010,n11", "n[08,9,010,11]"},
        {"n[9-10],n011", "n[9-10,011]"},
        {"n2,n1", "n[2,1]"},
        {"n1,n,n2", "n1,n,n2"},
        {"n,n1", "n,n1"},
        {"n1,n1", "n[1,1]"},
        {"a[1-2]b,7,8", "a1b,a2b,[7-8]"},
        {"a[1-2],b[1-2]", "a[1-2],b[1-2]"},
        {"x[1-2]y[3-4]", "x1y[3-4],x2y[3-4]"},
        {"n999999999,n1000000000,n1000000001", "n999999999,n1[000000000-000000001]"},
    };
    struct nodefold out;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fold(&out, cases[i].list);
        assert_string_equal(out.text, cases[i].folded);
        assert_int_equal(out.left_out, 0);
    }
    out = (struct nodefold){.used = 0};
    nodefold_end(&out);
    assert_string_equal(out.text, "");
}

struct comparison {
    const char *list; /* what is left of it, unfolded: a name, a comma, … */
    uint32_t count;
};

static void expect_next(void *arg, const char *name)
{
    struct comparison *c = arg;
    size_t length = strlen(name);
    assert_int_equal(strncmp(c->list, name, length), 0);
    assert_true(c->list[length] == ',' || c->list[length] == '\0');
    c->list += length + (c->list[length] == ',');
    c->count++;
}

/* Whatever is folded, the text is a node list that names the first of them, in their order; the
 * rest is counted. */
static void nodefold__is_bounded_and_loses_nothing(void **state)
{
    (void)state;
    enum { LENGTHS = 260, NAMES = 150 };
    static char list[NAMES * (LENGTHS + 16)];
    for (int length = 0; length < LENGTHS; length++) {
        size_t used = 0;
        unsigned seed = (unsigned)length;
        uint32_t number = 0, count;
        for (int i = 0; i < NAMES; i++) {
            seed = seed * 1103515245 + 12345;
            number += (seed >> 16) % 3 + ((seed >> 20) % 7 == 0 ? 99999 : 0);
            int prefix = length > 240 ? 240 : length;
            used += (size_t)snprintf(
                list + used, sizeof list - used, "%s%.*s%0*u", i > 0 ? "," : "", prefix + 1,
                (seed >> 24) % 5 == 0 ? "b"
                                      : "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                (int)(seed >> 28) % 9 + 1, number);
        }
        struct nodefold out;
        struct comparison rest = {.list = list};
        struct error err;
        fold(&out, list);
        assert_true(out.count > 0);
        assert_int_equal(out.count + out.left_out, NAMES);
        assert_int_equal(nodelist_count(out.text, &count, &err), 0);
        assert_int_equal(count, out.count);
        nodelist_each(out.text, expect_next, &rest);
        assert_int_equal(rest.count, out.count);
    }
}

/* Up to the last byte, whatever the lengths: names of one digit, all with one prefix or each with
 * its own, and runs that are as long as they can be. The rest is counted, the text is a list of the
 * others. */
static void nodefold__fills_its_text_to_the_end(void **state)
{
    (void)state;
    enum { ONE_PREFIX, PREFIXES, LONG_RUNS, KINDS };
    for (int i = 0; i < 64 * KINDS; i++) {
        const int length = i / KINDS + 1, kind = i % KINDS;
        struct nodefold out = {.used = 0};
        struct error err;
        char name[80];
        uint32_t count, added = 0;
        for (; out.left_out == 0; added++) {
            const unsigned number =
                kind == LONG_RUNS ? 100000000 + added / 2 * 3 + added % 2 : added * 2 % 10;
            (void)snprintf(name, sizeof name, "%c%0*dx%u",
                           kind == PREFIXES ? 'a' + added % 26 : 'a', length, 0, number);
            nodefold_add(&out, name);
        }
        nodefold_end(&out);
        assert_int_equal(out.count + out.left_out, added);
        assert_int_equal(nodelist_count(out.text, &count, &err), 0);
        assert_int_equal(count, out.count);
        /* What is left free would not hold two more of them. */
        assert_true(strlen(out.text) + 2 * (strlen(name) + 32) > sizeof out.text);
    }
}

UNIT_MAIN(cmocka_unit_test(nodefold__writes_lists_as_people_do),
          cmocka_unit_test(nodefold__is_bounded_and_loses_nothing),
          cmocka_unit_test(nodefold__fills_its_text_to_the_end))
