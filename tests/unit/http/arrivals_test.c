/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that wait for their handshake: addresses take turns (B8, G23). */

#include "broker/http/listen/arrivals.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

enum { MAX = 256 };

static struct arrivals arrivals;
static int ends[2]; /* of a pipe: one is open as long as a copy of it is */

static int open_all(void **state)
{
    arrivals_init(&arrivals, MAX, 4711);
    return pipe(ends);
}

static int close_all(void **state)
{
    arrivals_clear(&arrivals);
    assert_int_equal(arrivals.count, 0);
    close(ends[1]); /* the last one, if all others are closed: */
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    return 0;
}

static bool add(unsigned host)
{
    struct sockaddr_storage address = {0};
    const struct sockaddr_in from = {.sin_family = AF_INET,
                                     .sin_addr.s_addr = htonl(0x7f000000u + host)};
    memcpy(&address, &from, sizeof from);
    return arrivals_add(&arrivals, dup(ends[1]), &address, sizeof from);
}

/* The host of the next one; 0: there is none. */
static unsigned take(void)
{
    struct sockaddr_storage address;
    struct sockaddr_in from;
    socklen_t length = 0;
    const int fd = arrivals_take(&arrivals, &address, &length);
    if (fd < 0)
        return 0;
    close(fd);
    assert_int_equal(length, sizeof from);
    memcpy(&from, &address, sizeof from);
    return ntohl(from.sin_addr.s_addr) & 0xffffff;
}

UNIT_WITH(addresses__take_turns, open_all, close_all)
{
    for (int i = 0; i < 100; i++)
        assert_true(add(1));
    for (unsigned host = 2; host <= 4; host++)
        assert_true(add(host));
    for (unsigned host = 1; host <= 4; host++)
        assert_int_equal(take(), host);
    for (int i = 0; i < 99; i++)
        assert_int_equal(take(), 1);
    assert_int_equal(take(), 0);
}

/* Where there is no room, it is made by an address that has much more than others; where all have
 * the same, who comes waits in the kernel's queue. */
UNIT_WITH(room__is_made_by_who_has_most, open_all, close_all)
{
    for (unsigned i = 0; i < MAX - ARRIVALS_SHARE - 1; i++)
        assert_true(add(100 + i));
    for (unsigned i = 0; i < ARRIVALS_SHARE; i++)
        assert_true(add(1));
    assert_true(arrivals_may_add(&arrivals)); /* one place is left */
    assert_true(add(1));
    assert_true(arrivals_may_add(&arrivals));
    assert_false(add(2));
    assert_int_equal(arrivals.count, MAX);
    assert_false(arrivals_may_add(&arrivals));
    unsigned of_one = 0, of_two = 0;
    for (unsigned host; (host = take()) != 0;) {
        of_one += host == 1;
        of_two += host == 2;
    }
    assert_int_equal(of_one, ARRIVALS_SHARE);
    assert_int_equal(of_two, 1);
}

/* Hosts that have all places, as many each, give them up to others, which take turns with them
 * (B8).
 */
UNIT_WITH(places__are_not_for_hosts_with_many, open_all, close_all)
{
    enum { HOSTS = 16, NEWCOMER = 4711 };
    for (unsigned i = 0; i < MAX; i++)
        assert_true(add(1 + i % HOSTS));
    for (unsigned i = 0; i < MAX - HOSTS * ARRIVALS_SHARE; i++) {
        assert_true(arrivals_may_add(&arrivals));
        assert_false(add(NEWCOMER + i));
    }
    assert_false(arrivals_may_add(&arrivals));
    assert_int_equal(arrivals.count, MAX);
    for (unsigned host = 1; host <= HOSTS; host++)
        assert_int_equal(take(), host);
    assert_int_equal(take(), NEWCOMER);
}

UNIT_WITH(none__is_taken_without_descriptors, open_all, close_all)
{
    arrivals_init(&arrivals, 0, 1);
    assert_false(arrivals_may_add(&arrivals));
    assert_int_equal(take(), 0);
}

/* A host has a whole network of IPv6: it is one address. */
UNIT_WITH(network__of_ipv6_is_one_address, open_all, close_all)
{
    for (unsigned i = 0; i < 50; i++) {
        struct sockaddr_storage address = {0};
        struct sockaddr_in6 from = {.sin6_family = AF_INET6};
        assert_int_equal(inet_pton(AF_INET6, "2001:db8::", &from.sin6_addr), 1);
        from.sin6_addr.s6_addr[15] = (uint8_t)i;
        memcpy(&address, &from, sizeof from);
        assert_true(arrivals_add(&arrivals, dup(ends[1]), &address, sizeof from));
    }
    assert_ptr_equal(TAILQ_NEXT(TAILQ_FIRST(&arrivals.turns), turn), NULL);
}

UNIT_RUN(NULL, NULL)
