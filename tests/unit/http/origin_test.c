/* SPDX-License-Identifier: Apache-2.0 */
/* Root over MUNGE is the root of the node whose addresses hold its credential's origin, and of no
 * other (S5); whoever is not believed is told why. */

#include "broker/http/auth/origin.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>

static const struct host unknown = {.state = HOST_UNKNOWN, .words = "Name or service not known"},
                         away = {.state = HOST_UNANSWERED, .words = "Temporary failure"};

static struct in_addr address(const char *text)
{
    struct in_addr in;
    assert_int_equal(inet_pton(AF_INET, text, &in), 1);
    return in;
}

/* Of so many addresses 10.0.0.7, 10.0.0.8, … */
static struct host host_of(unsigned count)
{
    struct host host = {.state = HOST_FOUND, .count = count};
    for (unsigned i = 0; i < count; i++)
        host.addresses[i].s_addr = htonl(0x0a000007 + i);
    return host;
}

UNIT(origin__is_an_address_of_the_node)
{
    const struct host one = host_of(1), all = host_of(HOST_ADDRESSES_MAX);
    const struct {
        bool listed;
        const char *origin;
        const struct host *host; /* NULL: must not be looked up */
        bool holds;
        const char *cause, *step;
    } cases[] = {
        {true, "10.0.0.7", &one, true, NULL, NULL},
        {true, "10.0.0.7", &all, true, NULL, NULL},
        {true, "10.0.0.22", &all, true, NULL, NULL},
        {true, "10.0.0.8", &one, false,
         "\"elcap7\" resolves to 10.0.0.7 on the broker's host, not to 10.0.0.8", "--origin"},
        {true, "7.0.0.10", &one, false, "not to 7.0.0.10", "--origin"},
        {true, "10.0.0.23", &all, false, "10.0.0.7, 10.0.0.8, 10.0.0.9, 10.0.0.10 and 12 more on",
         "--origin"},
        {true, "10.0.0.7", &unknown, false,
         "\"elcap7\" does not resolve to an IPv4 address on the broker's host (Name or service "
         "not known)",
         "getent"},
        {true, "10.0.0.7", &away, false, "Temporary failure", "try again"},
        {true, "127.0.0.1", NULL, false, "every host has the address 127.0.0.1", "--origin"},
        {true, "127.0.1.1", NULL, false, "127.0.1.1", "/etc/hosts"},
        {true, "127.255.255.254", NULL, false, "127.255.255.254", "--origin"},
        {true, "0.0.0.0", NULL, false, "did not find the address of \"elcap7\"", "--origin"},
        {false, "10.0.0.7", NULL, false, "\"elcap7\", which is not listed in 'nodes'", "node.conf"},
        {false, "127.0.0.1", NULL, false, "'nodes'", "node.conf"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        struct origin *origin = origin_create("elcap7", cases[i].listed, address(cases[i].origin));
        assert_non_null(origin);
        if (cases[i].host) {
            assert_true(origin_is_open(origin));
            origin_look(origin, cases[i].host);
        }
        if (origin_is_open(origin) || origin_holds(origin) != cases[i].holds)
            fail_msg("row %zu", i);
        origin_explain(origin, text, sizeof text);
        if (cases[i].cause && (!strstr(text, cases[i].cause) || !strstr(text, cases[i].step)))
            fail_msg("row %zu: %s", i, text);
        assert_string_equal(origin->names[0], "elcap7");
        assert_null(origin->names[1]);
        free(origin);
    }
}

/* 128.0.0.1 and 126.255.255.255 are addresses like any other. */
UNIT(loopback__ends_where_it_ends)
{
    static const char *const fine[] = {"128.0.0.1", "126.255.255.255", "1.0.0.127", "0.0.0.1"};
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        struct origin *origin = origin_create("n", true, address(fine[i]));
        assert_true(origin_is_open(origin));
        free(origin);
    }
}

/* A refusal names who was seen before this clause, and all of it fits into a problem's detail. */
UNIT(explanation__fits)
{
    char name[400], text[512];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct host all = host_of(HOST_ADDRESSES_MAX);
    for (unsigned i = 0; i < all.count; i++)
        all.addresses[i].s_addr = htonl(0xc8c8c864 + i); /* 200.200.200.100 */
    static const char *const origins[] = {"200.200.200.200", "127.100.100.100", "0.0.0.0"};
    for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++) {
        struct origin *origin = origin_create(name, true, address(origins[i]));
        assert_int_equal(strlen(origin->name), NODELIST_NAME_MAX);
        if (origin_is_open(origin))
            origin_look(origin, &all);
        origin_explain(origin, text, sizeof text);
        assert_true(strlen(text) + strlen("MUNGE credential of uid 0 from 200.200.200.200 may not "
                                          "do this: ") <
                    sizeof text);
        free(origin);
    }
}

UNIT_RUN(NULL, NULL)
