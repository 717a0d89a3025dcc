/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "core/reservation/nodes.h"

static void put(struct nodes **nodes, const char *name, enum node_state state, const char *services)
{
    nodes_put(nodes,
              &(struct node_record){.node = name, .services = services, .state = (uint8_t)state});
}

UNIT(nodes__nobody_has_reported)
{
    uint32_t at = 0;
    assert_null(nodes_find(NULL, "n1"));
    assert_null(nodes_next(NULL, &at));
    assert_int_equal(nodes_clean(NULL), 0);
    nodes_destroy(NULL);
}

UNIT(nodes__the_last_word_counts)
{
    struct nodes *nodes = NULL;
    put(&nodes, "n1", NODE_CREATED, "cxi0:12");
    assert_string_equal(node_report_services(nodes_find(nodes, "n1")), "cxi0:12");
    put(&nodes, "n1", NODE_LINGERING, "cxi0:12,cxi1:999999999");
    assert_string_equal(nodes_find(nodes, "n1")->name, "n1");
    assert_string_equal(node_report_services(nodes_find(nodes, "n1")), "cxi0:12,cxi1:999999999");
    assert_int_equal(nodes->lingering, 1);
    put(&nodes, "n1", NODE_DESTROYED, NULL);
    assert_null(node_report_services(nodes_find(nodes, "n1")));
    assert_int_equal(nodes->lingering, 0);
    assert_int_equal(nodes->count, 1);
    assert_int_equal(nodes_clean(nodes), 1);
    put(&nodes, "n1", NODE_DESTROYED, NULL); /* said twice */
    assert_int_equal(nodes_clean(nodes), 1);
    put(&nodes, "n1", NODE_CREATED, "cxi0:13");
    assert_int_equal(nodes_clean(nodes), 0);
    put(&nodes, "n1", NODE_FENCED, NULL);
    assert_int_equal(nodes_clean(nodes), 1);
    nodes_destroy(nodes);
}

/* Both are in one block: neither may end the other. */
UNIT(nodes__longest_name_and_services_are_kept)
{
    struct nodes *nodes = NULL;
    char name[NODELIST_NAME_MAX + 1] = "", services[NODE_SERVICES_MAX + 1] = "cxi0:1";
    memset(name, 'n', sizeof name - 1);
    while (strlen(services) + strlen(",cxi0:1") < sizeof services)
        strcat(services, ",cxi0:1");
    put(&nodes, name, NODE_CREATED, services);
    assert_string_equal(nodes_find(nodes, name)->name, name);
    assert_string_equal(node_report_services(nodes_find(nodes, name)), services);
    nodes_destroy(nodes);
}

enum { MANY = 11136 }; /* El Capitan */

static void name_of(char *out, size_t size, int i)
{
    (void)snprintf(out, size, "elcap%d", i);
}

UNIT(nodes__each_of_many_is_found)
{
    struct nodes *nodes = NULL;
    char name[32];
    for (int i = 0; i < MANY; i++) {
        name_of(name, sizeof name, i);
        put(&nodes, name, i % 3 == 0 ? NODE_DESTROYED : NODE_CREATED, NULL);
    }
    assert_int_equal(nodes->count, MANY);
    assert_int_equal(nodes_clean(nodes), MANY / 3);
    for (int i = 0; i < MANY; i++) {
        name_of(name, sizeof name, i);
        const struct node_report *report = nodes_find(nodes, name);
        assert_non_null(report);
        assert_string_equal(report->name, name);
    }
    uint32_t at = 0, seen = 0;
    while (nodes_next(nodes, &at))
        seen++;
    assert_int_equal(seen, nodes->count);
    nodes_destroy(nodes);
}

/* F3: in any order, also twice, beside those that are there. */
UNIT(nodes__of_a_sum_linger)
{
    static const char *const ordered[] = {"m1", "n1", "n2", "n3", "n4", "n7", "n8", "n9", "n10"};
    const struct sum_record sum = {
        .sum = 1, .nodes = "n[7-9],n10,n[1-3],n2,m1,n1", .state = NODE_LINGERING};
    struct nodes *nodes = NULL;
    uint32_t at = 0;
    put(&nodes, "n8", NODE_DESTROYED, NULL);
    put(&nodes, "n4", NODE_CREATED, NULL);
    nodes_sum(&nodes, &sum);
    for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++) {
        const struct node_report *report = nodes_next(nodes, &at);
        assert_non_null(report);
        assert_string_equal(report->name, ordered[i]);
        assert_ptr_equal(nodes_find(nodes, ordered[i]), report);
        assert_int_equal(report->state, i == 4 ? NODE_CREATED : NODE_LINGERING);
        assert_int_equal(report->summed, i != 4);
    }
    assert_null(nodes_next(nodes, &at));
    assert_int_equal(nodes->count, 9);
    assert_int_equal(nodes->lingering, 8);
    assert_int_equal(nodes->sums, 1);
    nodes_destroy(nodes);
}

UNIT(node_name__valid)
{
    char longest[NODELIST_NAME_MAX + 2];
    memset(longest, 'n', sizeof longest);
    longest[NODELIST_NAME_MAX] = '\0';
    assert_true(node_name_valid("elcap1"));
    assert_true(node_name_valid("n-1.site_a.gov"));
    assert_true(node_name_valid("n"));
    assert_true(node_name_valid(longest));
    longest[NODELIST_NAME_MAX] = 'n';
    longest[NODELIST_NAME_MAX + 1] = '\0';
    assert_false(node_name_valid(longest));
    assert_false(node_name_valid(""));
    assert_false(node_name_valid("a/b"));
    assert_false(node_name_valid("a b"));
    assert_false(node_name_valid("n[1-2]"));
}

/* Of the 256 bytes exactly these may stand in a node's name, and in that of a device. */
UNIT(node_name__has_no_other_bytes)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789._-";
    for (int byte = 1; byte < 256; byte++) {
        const char name[] = {'x', (char)byte, 'x', '\0'};
        const char service[] = {'x', (char)byte, 'x', ':', '1', '\0'};
        const bool expected = strchr(allowed, byte);
        assert_int_equal(node_name_valid(name), expected);
        assert_int_equal(node_services_valid(service), expected);
    }
}

UNIT(node_services__valid)
{
    static const char *const good[] = {"cxi0:1",  "cxi0:12,cxi1:7", "a-b_c.d:999999999",
                                       "cxi0:10", "c:109",          "abcdefghijklmno:1"};
    static const char *const bad[] = {"",        "cxi0",    "cxi0:",       "cxi0:0",
                                      ":1",      "cxi0:1,", ",cxi0:1",     "cxi0:1;cxi1:1",
                                      "cxi0:1 ", "cxi0:x1", "cxi0:1x",     "cxi0:1000000000",
                                      "cxi0::1", "c\n:1",   "cxi0:1,,b:1", "abcdefghijklmnop:1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(node_services_valid(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(node_services_valid(bad[i]));
    char text[NODE_SERVICES_MAX + 8] = "";
    while (strlen(text) <= NODE_SERVICES_MAX)
        strcat(text, strlen(text) == 0 ? "cxi0:1" : ",cxi0:1");
    assert_false(node_services_valid(text));
    /* As long as it may be, to the byte: 56 times 7, and 8. */
    text[0] = '\0';
    for (int i = 0; i < 56; i++)
        strcat(text, "cxi0:1,");
    strcat(text, "cxi0:111");
    assert_int_equal(strlen(text), NODE_SERVICES_MAX);
    assert_true(node_services_valid(text));
    strcat(text, "1");
    assert_false(node_services_valid(text));
}

UNIT(node_state__words)
{
    for (int s = NODE_CREATED; s <= NODE_LINGERING; s++)
        assert_int_equal(node_state_from_word(node_state_word(s)), s);
    assert_int_equal(node_state_from_word("fenced"), 0); /* no node may say so */
    assert_string_equal(node_state_word(NODE_FENCED), "fenced");
    assert_string_equal(node_state_word(0), "unknown");
}

/* Of a short list, of a long one at first and later, and of one with more nodes than are expanded:
 * always the same. */
UNIT(nodes_named__says_what_the_list_says)
{
    static char padded[1024];
    struct nodes *nodes = NULL;
    memset(padded, 'p', 512);
    strcpy(padded + 512, ",elcap[1-100000]");
    const struct {
        const char *list;
        uint32_t count;
    } lists[] = {{"elcap[1-100000]", 100000}, {padded, 100001}, {padded, 1000}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        assert_true(nodes_is_of_job(nodes, lists[i].list, lists[i].count, "elcap100000"));
        assert_false(nodes_is_of_job(nodes, lists[i].list, lists[i].count, "elcap0"));
        put(&nodes, "elcap1", NODE_CREATED, NULL);
        assert_true(nodes_is_of_job(nodes, lists[i].list, lists[i].count, "elcap1"));
        assert_true(nodes_is_of_job(nodes, lists[i].list, lists[i].count, "elcap100000"));
        assert_false(nodes_is_of_job(nodes, lists[i].list, lists[i].count, "elcap0"));
        nodes_destroy(nodes);
        nodes = NULL;
    }
}

/* For any list, the expanded form names the same nodes; and no node counts as having reported. */
UNIT(nodes_named__agrees_with_the_list)
{
    static const char *const lists[] = {"n1",          "n[1-20]",        "n[01-10,15],m[3-9]x,o",
                                        "n[1-2][3-4]", "n[1-20][1-4]",   "n[1-2]5",
                                        "[7-12]",      "n1,n1,n[1,1,1]", "n[1-11136]"};
    static const char *const formats[] = {"n%d", "n%02d", "n%03d", "m%dx", "%d", "o", "n%dx", ""};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char list[512], node[32];
        struct nodes *nodes = NULL;
        uint32_t count;
        (void)snprintf(list, sizeof list, "%s,%0255d", lists[i], 0); /* long, and a longest name */
        assert_int_equal(nodelist_count(list, &count, NULL), 0);
        put(&nodes, "first", NODE_CREATED, NULL);
        assert_true(nodes_is_of_job(nodes, list, count, strrchr(list, ',') + 1));
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
            for (int number = 0; number < 300; number++) {
                (void)snprintf(node, sizeof node, formats[f], number);
                if (nodes_is_of_job(nodes, list, count, node) != nodelist_contains(list, node))
                    fail_msg("%s in %s", node, lists[i]);
                assert_null(nodes_find(nodes, node));
            }
        }
        uint32_t at = 0;
        assert_string_equal(nodes_next(nodes, &at)->name, "first");
        assert_null(nodes_next(nodes, &at));
        assert_int_equal(nodes->count, 1);
        put(&nodes, "n1", NODE_DESTROYED, NULL);
        assert_int_equal(nodes->count, 2);
        assert_int_equal(nodes_clean(nodes), 1);
        nodes_destroy(nodes);
    }
}

UNIT_RUN(NULL, NULL)
