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

UNIT_RUN(NULL, NULL)
