/* SPDX-License-Identifier: Apache-2.0 */
/* Node lists of a topology: names that follow each other are a range (P1). */

#include "cli/places.h"
#include "tests/unit/unit.h"

static void expect(const char *const *names, const char *list)
{
    struct places places = {0};
    json_t *node = json_object();
    unsigned count = 0;
    for (; names[count]; count++)
        places_add_node(&places, names[count], node);
    assert_string_equal(places.unplaced.text, list);
    assert_int_equal(places.unplaced_count, count);
    json_decref(node);
    places_release(&places);
}

UNIT(names__become_ranges)
{
    expect((const char *[]){"elcap1", "elcap2", "elcap3", "elcap5", "tuo6", "tuo7", NULL},
           "elcap[1-3],elcap5,tuo[6-7]");
    expect((const char *[]){"n08", "n09", "n10", "n011", "n9", "n10", NULL},
           "n[08-10],n011,n[9-10]");
    expect((const char *[]){"login", "login", "a1", "a1", "a3", "a2", NULL},
           "login,login,a1,a1,a3,a2");
    expect((const char *[]){"x999999999", "x1000000000", "12", "13", NULL},
           "x999999999,x1000000000,[12-13]");
    expect((const char *[]){"a-very-long-name-for-a-node-in-a-list-of-sixty-four-bytes-98",
                            "a-very-long-name-for-a-node-in-a-list-of-sixty-four-bytes-99",
                            "a-very-long-name-for-a-node-in-a-list-of-sixty-four-bytes-100", NULL},
           "a-very-long-name-for-a-node-in-a-list-of-sixty-four-bytes-[98-100]");
}

static void add(struct places *places, const char *node, const char *place)
{
    json_t *json = json_pack("{s:[{s:s}]}", "nics", "switch", place);
    places_add_node(places, node, json);
    json_decref(json);
}

/* What is printed goes to a terminal, and as root's into Slurm's configuration: a name cannot end a
 * line of it, nor drive the terminal. */
UNIT(names__cannot_be_more_than_names)
{
    struct places places = {0};
    add(&places, "n1\nPrologFlags=X", "g0s1");
    add(&places, "n2", "g 1s\n2");
    add(&places, "n3\x1b[2J", "g+1s2");
    add(&places, "n4 Switches=x", "g01s2");
    assert_int_equal(places.count, 1);
    assert_string_equal(places.all[0].name, "g0s1");
    assert_string_equal(places.all[0].nodes.text, "n1?PrologFlags?X");
    assert_string_equal(places.unplaced.text, "n2,n3?[2J,n4?Switches?x");
    places_release(&places);
    json_t *topology = json_pack("{s:s,s:[{s:s,s:s}]}", "nodes_without_address",
                                 "n[5-6],\xc2\x9b"
                                 "7",
                                 "switches", "switch", "g0s1", "nodes", "n[1-2],a-b.c_d\nn3");
    places_read(&places, topology);
    assert_string_equal(places.all[0].nodes.text, "n[1-2],a-b.c_d?n3");
    assert_string_equal(places.unplaced.text, "n[5-6],??7");
    json_decref(topology);
    places_release(&places);
}

UNIT_RUN(NULL, NULL)
