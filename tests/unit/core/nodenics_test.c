/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "core/inventory/nodenics.h"

#include <stdio.h>

/* P2: the text of a node's NICs, what differs between two of them, and the table of all nodes. */

#define TWO "cxi0,4608,200000,1,A1,1.5;cxi1,4609,200000,1,B2,1.5"

UNIT(text__is_the_same_for_the_same_nics)
{
    (void)state;
    struct nodenic nics[] = {
        {.device = "cxi10", .address = 4610},
        {.device = "cxi1", 4609, 200000, true, "B2", "1.5"},
        {.device = "cxi0", 4608, 200000, true, "A1", "1.5"},
    };
    char text[NODENICS_TEXT_SIZE];
    assert_true(nodenics_write(nics, 3, text));
    assert_string_equal(text, TWO ";cxi10,4610,0,0,,");
    assert_true(nodenics_valid(text));
    struct nodenic read;
    const char *at = text;
    assert_true(nodenics_next(&at, &read));
    assert_string_equal(read.device, "cxi0");
    assert_int_equal(read.address, 4608);
    assert_int_equal(read.speed, 200000);
    assert_true(read.up);
    assert_string_equal(read.serial, "A1");
    assert_string_equal(read.firmware, "1.5");
    assert_true(nodenics_next(&at, &read) && nodenics_next(&at, &read));
    assert_string_equal(read.device, "cxi10");
    assert_false(nodenics_next(&at, &read));
    assert_int_equal(*at, '\0');

    assert_true(nodenics_write(nics, 0, text));
    assert_string_equal(text, "");
    assert_true(nodenics_valid(text));
    strcpy(nics[1].device, "cxi0");
    assert_false(nodenics_write(nics, 3, text));
    strcpy(nics[1].device, "a,b");
    assert_false(nodenics_write(nics, 3, text));
}

UNIT(text__of_the_largest_nics_fits)
{
    (void)state;
    struct nodenic nics[NODENICS_NICS_MAX];
    char text[NODENICS_TEXT_SIZE];
    for (int i = 0; i < NODENICS_NICS_MAX; i++) {
        nics[i] = (struct nodenic){.address = UINT32_MAX, .speed = UINT32_MAX, .up = true};
        snprintf(nics[i].device, sizeof nics[i].device, "cxi%012d", i);
        memset(nics[i].serial, '~', NODENICS_WORD_MAX);
        memset(nics[i].firmware, '!', NODENICS_WORD_MAX);
    }
    assert_true(nodenics_write(nics, NODENICS_NICS_MAX, text));
    assert_true(nodenics_valid(text));
}

/* What no broker wrote is damage. */
UNIT(text__of_another_form_is_refused)
{
    (void)state;
    static const char *const wrong[] = {
        "cxi0",
        "cxi0,1,2,1,,;",
        ";cxi0,1,2,1,,",
        "cxi0,1,2,1,",
        "cxi0,1,2,1,,,",
        "cxi0,1,2,2,,",
        "cxi0,01,2,1,,",
        "cxi0,4294967296,2,1,,",
        "cxi0,,2,1,,",
        "cxi0,-1,2,1,,",
        "cx i0,1,2,1,,",
        ",1,2,1,,",
        "cxi0123456789012,1,2,1,,",
        "cxi0,1,2,1,a b,",
        "cxi0,1,2,1,\"\",",
        "cxi0,1,2,1,,x\\y",
        "cxi1,1,2,1,,;cxi0,1,2,1,,",
        "cxi0,1,2,1,,;cxi0,1,2,1,,",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (nodenics_valid(wrong[i]))
            fail_msg("%s", wrong[i]);
    assert_false(
        nodenics_word_valid("12345678901234567890123456789012345678901234567890123456789012345"));
    assert_true(nodenics_word_valid(""));
}

UNIT(changes__are_told_by_the_gravest)
{
    (void)state;
    static const struct {
        const char *before, *now;
        enum event_kind kind;
        const char *words;
    } cases[] = {
        {TWO, TWO, EVENT_NONE, ""},
        {"", "", EVENT_NONE, ""},
        {TWO, "cxi0,4608,200000,1,C3,1.5;cxi1,4609,0,0,B2,1.5", EVENT_NIC_REPLACED,
         "cxi0 was replaced (serial number C3, before A1), cxi1 has its link down"},
        {TWO, "cxi0,4608,200000,1,A1,1.5;cxi1,4609,0,0,B2,1.5", EVENT_NIC_LINK,
         "cxi1 has its link down"},
        {"cxi0,1,0,0,,", "cxi0,1,0,1,,", EVENT_NIC_LINK, "cxi0 has its link up"},
        {TWO, "cxi0,4608,200000,1,A1,1.5", EVENT_NICS_CHANGED, "cxi1 is gone"},
        {"cxi1,4609,200000,1,B2,1.5", TWO, EVENT_NICS_CHANGED, "cxi0 is new"},
        {"", "cxi0,1,2,1,,", EVENT_NICS_CHANGED, "cxi0 is new"},
        {"cxi0,1,2,1,,", "", EVENT_NICS_CHANGED, "cxi0 is gone"},
        {"cxi0,16,2,1,,", "cxi0,17,2,1,,", EVENT_NICS_CHANGED,
         "cxi0 has address 0x11, before 0x10"},
        {"cxi0,1,2,1,,", "cxi0,1,3,1,,", EVENT_NICS_CHANGED, "cxi0 has 3 Mbit/s, before 2"},
        {"cxi0,1,2,1,,", "cxi0,1,2,1,A,F", EVENT_NICS_CHANGED,
         "cxi0 has serial number A, before unknown, cxi0 has firmware F, before unknown"},
    };
    char words[400];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(nodenics_compare(cases[i].before, cases[i].now, words, sizeof words),
                         cases[i].kind);
        assert_string_equal(words, cases[i].words);
    }
    /* Cut off, not written beyond. */
    memset(words, 'x', sizeof words);
    assert_int_equal(nodenics_compare(TWO, "", words, 8), EVENT_NICS_CHANGED);
    assert_string_equal(words, "cxi0 is");
    assert_int_equal(words[8], 'x');
}

static void put(struct nodenics_table *table, const char *node, const char *nics)
{
    free(nodenics_put(table, &(struct nics_record){.node = node, .nics = nics, .order = 1}));
}

UNIT(table__is_ordered_by_name)
{
    (void)state;
    struct nodenics_table table = {0};
    put(&table, "n2", "");
    put(&table, "n10", TWO);
    put(&table, "n1", "");
    put(&table, "n2", "cxi0,1,2,1,,");
    assert_int_equal(table.count, 3);
    const struct nodenics *row = nodenics_after(&table, "");
    assert_string_equal(row->node, "n1");
    assert_string_equal((row = nodenics_after(&table, row->node))->node, "n10");
    assert_string_equal(row->nics, TWO);
    assert_string_equal((row = nodenics_after(&table, "n100"))->node, "n2");
    assert_string_equal(row->nics, "cxi0,1,2,1,,");
    assert_null(nodenics_after(&table, "n2"));
    assert_null(nodenics_find(&table, "n3"));
    assert_null(nodenics_find(&table, "a"));
    nodenics_release(&table);
    assert_null(nodenics_find(&table, "n1"));
}

/* 11,136 nodes of four NICs with serial numbers and firmware: at most 4 MB. */
UNIT(table__of_a_large_machine_is_small)
{
    (void)state;
    struct nodenics_table table = {0};
    for (unsigned i = 11136; i > 0; i--) {
        char node[16], text[NODENICS_TEXT_SIZE];
        struct nodenic nics[4] = {{.speed = 200000}};
        for (unsigned k = 0; k < 4; k++) {
            nics[k] = (struct nodenic){.address = i * 16 + k, .speed = 200000, .up = true};
            snprintf(nics[k].device, sizeof nics[k].device, "cxi%u", k);
            snprintf(nics[k].serial, sizeof nics[k].serial, "GR%010u", i * 4 + k);
            strcpy(nics[k].firmware, "1.5.41-SHS11.0.2");
        }
        snprintf(node, sizeof node, "elcap%u", i);
        assert_true(nodenics_write(nics, 4, text));
        put(&table, node, text);
    }
    assert_int_equal(table.count, 11136);
    /* With what malloc keeps beside each block. */
    const size_t size = table.bytes + table.count * 16 + table.capacity * sizeof *table.all;
    assert_in_range(size, 1, 4 << 20);
    assert_true(nodenics_has_room(&table));
    nodenics_release(&table);
}

/* Eight times at once, then once in ten minutes. */
UNIT(node__that_changes_too_often_is_limited)
{
    (void)state;
    struct nodenics row = {.limited = true};
    int64_t now = INT64_C(1790000000000);
    for (int i = 0; i < 8; i++)
        assert_true(nodenics_allow(&row, now + i));
    assert_false(row.limited);
    assert_false(nodenics_allow(&row, now + 8));
    assert_false(nodenics_allow(&row, now + 599000));
    assert_true(nodenics_allow(&row, now + 600008));
    assert_false(nodenics_allow(&row, now + 600009));
}

UNIT_RUN(NULL, NULL)
