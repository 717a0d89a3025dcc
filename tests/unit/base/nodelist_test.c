/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "base/names.h"
#include "base/nodelist.h"

UNIT(nodelist_count__counts)
{
    static const struct {
        const char *text;
        uint32_t count;
    } good[] = {
        {"n1", 1},
        {"elcap[1-128]", 128},
        {"elcap[1-11136]", 11136},
        {"a[01-10,20]b,c3", 12},
        {"x[1-2]y[3-4]", 4},
        {"n1,n2,n3", 3},
        {"n1,n1", 2},
        {"node-a.site.gov", 1},
        {"[1-3]", 3},
        {"n[1-1000000]", 1000000},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint32_t count = 0;
        struct error err;
        assert_int_equal(nodelist_count(good[i].text, &count, &err), 0);
        assert_int_equal(count, good[i].count);
    }
}

UNIT(nodelist_count__refuses)
{
    static const struct {
        const char *text, *words;
    } bad[] = {{"", "a node name is expected at byte 0"},
               {",", "a node name is expected at byte 0"},
               {"n1,", "a node name is expected at byte 3"},
               {",n1", "a node name is expected at byte 0"},
               {"n[1-", "a number is expected at byte 4"},
               {"n[1", "']' is missing at byte 3"},
               {"n[]", "a number is expected at byte 2"},
               {"n[2-1]", "a range that runs backwards ends at byte 5"},
               {"n[1-2", "']' is missing at byte 5"},
               {"n1 n2", "a character that no node name has at byte 2"},
               {"n[a]", "a number is expected at byte 2"},
               {"n]1", "a character that no node name has at byte 1"},
               {"n[1,]", "a number is expected at byte 4"},
               {"n\xc3\xa9", "a character that no node name has at byte 1"},
               {"n\n", "a character that no node name has at byte 1"},
               {"n[1-1000001]", "more than a million nodes at byte 11"},
               {"n[1-1000][1-1001]", "more than a million nodes at byte 17"},
               {"n[1-9999999999]", "a number of more than 9 digits at byte 13"},
               {"n[1-2]x[", "a number is expected at byte 8"},
               {"n[1-1000000],m", "more than a million nodes at byte 14"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint32_t count;
        struct error err = {0};
        assert_int_equal(nodelist_count(bad[i].text, &count, &err), ERROR_INVALID);
        assert_non_null(strstr(err.text, bad[i].words));
    }
}

UNIT(nodelist_count__many_brackets_do_not_overflow)
{
    char text[20 * 16 + 1] = "";
    for (int i = 0; i < 20; i++)
        strcat(text, "[1-999999999]");
    uint32_t count;
    assert_int_equal(nodelist_count(text, &count, NULL), ERROR_INVALID);
}

static char longest[NODES_TEXT_MAX + 2];

UNIT(nodelist_count__text_is_bounded)
{
    uint32_t count;
    memset(longest, 'a', NODES_TEXT_MAX + 1);
    assert_int_equal(nodelist_count(longest, &count, NULL), ERROR_INVALID);
    longest[NODES_TEXT_MAX] = '\0';
    assert_int_equal(nodelist_count(longest, &count, NULL), 0);
}

/* Of the 256 bytes exactly these may stand in a name, but for what makes the list. */
UNIT(nodelist_count__has_no_other_bytes)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789._-,";
    for (int byte = 1; byte < 256; byte++) {
        const char list[] = {'x', (char)byte, 'x', '\0'};
        uint32_t count;
        int expected = strchr(allowed, byte) ? 0 : ERROR_INVALID;
        assert_int_equal(nodelist_count(list, &count, NULL), expected);
    }
}

UNIT(nodelist_contains__the_longest_name)
{
    char name[NODELIST_NAME_MAX + 2], list[NODELIST_NAME_MAX + 16];
    memset(name, 'n', sizeof name);
    name[NODELIST_NAME_MAX] = '\0';
    assert_true(nodelist_contains(name, name));
    name[NODELIST_NAME_MAX - 1] = '7';
    (void)snprintf(list, sizeof list, "%.*s[1-9]", NODELIST_NAME_MAX - 1, name);
    assert_true(nodelist_contains(list, name));
    name[NODELIST_NAME_MAX] = 'n';
    name[NODELIST_NAME_MAX + 1] = '\0';
    assert_false(nodelist_contains(list, name));
}

UNIT(nodelist_contains__what_it_would_expand_to)
{
    static const struct {
        const char *text, *node;
        bool there;
    } cases[] = {
        {"n1", "n1", true},
        {"n1", "n", false},
        {"n1", "n11", false},
        {"n1", "", false},
        {"n", "n1", false},
        {"elcap[1-128]", "elcap1", true},
        {"elcap[1-128]", "elcap128", true},
        {"elcap[1-128]", "elcap129", false},
        {"elcap[1-128]", "elcap0", false},
        {"elcap[1-128]", "elcap01", false},
        {"elcap[1-128]", "elcap1.site.gov", false},
        {"elcap[1-128]", "elcap", false},
        {"elcap[1-128]", "Elcap1", false},
        {"n[01-10]", "n01", true},
        {"n[01-10]", "n10", true},
        {"n[01-10]", "n1", false},
        {"n[01-10]", "n010", false},
        {"n[8-12]", "n08", false},
        {"n[8-12]", "n8", true},
        {"n[8-12]", "n12", true},
        {"n[099-101]", "n101", true},
        {"a[01-10,20]b,c3", "a20b", true},
        {"a[01-10,20]b,c3", "a20", false},
        {"a[01-10,20]b,c3", "c3", true},
        {"a[01-10,20]b,c3", "b", false},
        {"a[01-10,20]b,c3", "20]b", false},
        {"x[1-2]y[3-4]", "x2y4", true},
        {"x[1-2]y[3-4]", "x2y5", false},
        {"x[1-2][3-4]", "x14", true}, /* where the first number ends is open */
        {"x[1-20][1-4]", "x114", true},
        {"x[1-20][1-4]", "x14", true},
        {"x[1-20][1-4]", "x214", false},
        {"x[1-2]5", "x15", true},
        {"x[1-20]5", "x15", true},
        {"x[1-20]5", "x155", true},
        {"[1-3]", "3", true},
        {"n[1-1000000]", "n1000000", true},
        {"n[1-1000000]", "n10000000000", false}, /* more digits than a number has */
        {"m[1-3],n[2,4,6-9],o", "n8", true},
        {"m[1-3],n[2,4,6-9],o", "n5", false},
        {"m[1-3],n[2,4,6-9],o", "o", true},
        {"m[1-3],n[2,4,6-9],o", "m", false},
        {"n1,n1", "n1", true},
        {"n[1-2", "n1", false}, /* of what is none, nothing is found and nothing breaks */
        {"n[", "n1", false},
        {"n[", "n", false},
        {"n[1", "n1", false},
        {"n[1-", "n1", false},
        {",", "n1", false},
        {"", "n1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (nodelist_contains(cases[i].text, cases[i].node) != cases[i].there)
            fail_msg("%s in %s", cases[i].node, cases[i].text);
}

/* A name of many digits can be cut in more ways than there are atoms; none is tried twice. */
UNIT(nodelist_contains__many_brackets_take_no_time)
{
    char text[5 * 200 + 2] = "", node[NODELIST_NAME_MAX + 2];
    memset(node, '1', sizeof node);
    node[NODELIST_NAME_MAX] = '\0';
    for (int i = 0; i < 200; i++)
        strcat(text, "[1-1]");
    assert_false(nodelist_contains(text, node));
    node[200] = '\0';
    assert_true(nodelist_contains(text, node));
    strcat(text, "x");
    assert_false(nodelist_contains(text, node));
    memset(node, 'n', sizeof node);
    node[NODELIST_NAME_MAX + 1] = '\0';
    assert_false(nodelist_contains(node, node)); /* longer than any name */
    node[NODELIST_NAME_MAX] = '\0';
    assert_true(nodelist_contains(node, node));
}

struct names {
    char text[512];
    size_t count;
};

static void note_name(void *arg, const char *name)
{
    struct names *names = arg;
    if (names->count++ > 0)
        strcat(names->text, " ");
    strcat(names->text, name);
}

UNIT(nodelist_each__names_all_in_order)
{
    static const struct {
        const char *list, *names;
    } cases[] = {
        {"n1", "n1"},
        {"n[1-3]", "n1 n2 n3"},
        {"n[08-11]", "n08 n09 n10 n11"},
        {"n[8-10,2]x", "n8x n9x n10x n2x"},
        {"b,a[1,3]", "b a1 a3"},
        {"x[1-2]y[3-4]z", "x1y3z x1y4z x2y3z x2y4z"},
        {"[1-2][3,5]", "13 15 23 25"},
        {"n1,n1", "n1 n1"},
        {"n[000]", "n000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct names names = {.text = ""};
        nodelist_each(cases[i].list, note_name, &names);
        assert_string_equal(names.text, cases[i].names);
    }
}

static void count_name(void *arg, const char *name)
{
    size_t *count = arg;
    assert_true(strlen(name) <= NODELIST_NAME_MAX);
    ++*count;
}

/* As nodelist_contains: no list contains a name that is longer than any node's. */
UNIT(nodelist_each__leaves_out_what_is_too_long)
{
    char text[5 * 200 + NODELIST_NAME_MAX + 8];
    size_t count = 0;
    memset(text, 'n', NODELIST_NAME_MAX - 1);
    strcpy(text + NODELIST_NAME_MAX - 1, "[9-10]");
    nodelist_each(text, count_name, &count);
    assert_int_equal(count, 1);
    text[0] = '\0';
    for (int i = 0; i < 200; i++)
        strcat(text, "[1-1]");
    nodelist_each(text, count_name, &count);
    assert_int_equal(count, 2);
    memset(text, 'n', NODELIST_NAME_MAX + 1);
    strcpy(text + NODELIST_NAME_MAX + 1, ",m");
    nodelist_each(text, count_name, &count);
    assert_int_equal(count, 3);
}

UNIT_RUN(NULL, NULL)
