/* SPDX-License-Identifier: Apache-2.0 */
/* What names resolve to is remembered: a yes for minutes, a no for less, and never without bound.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "broker/http/auth/resolver.h"

#include <arpa/inet.h>

static struct in_addr address(const char *text)
{
    struct in_addr in;
    assert_int_equal(inet_pton(AF_INET, text, &in), 1);
    return in;
}

static struct host host_at(const char *text)
{
    return (struct host){.state = HOST_FOUND, .count = 1, .addresses = {address(text)}};
}

static void put(struct hostcache *cache, const char *name, const char *text, int64_t now)
{
    const struct host host = host_at(text);
    hostcache_put(cache, name, &host, now);
}

static const struct host *get(struct hostcache *cache, const char *name, const char *text,
                              int64_t now)
{
    return hostcache_get(cache, name, address(text), now);
}

static void yes__counts_for_minutes(void **state)
{
    (void)state;
    struct hostcache memory, *cache = &memory;
    hostcache_init(cache, 4);
    assert_null(get(cache, "n7", "10.0.0.7", 1000));
    put(cache, "n7", "10.0.0.7", 1000);
    const struct host *host = get(cache, "n7", "10.0.0.7", 1000 + HOSTCACHE_YES_MS - 1);
    assert_non_null(host);
    assert_true(host_has(host, address("10.0.0.7")));
    assert_null(get(cache, "n7", "10.0.0.7", 1000 + HOSTCACHE_YES_MS));
    assert_null(get(cache, "n", "10.0.0.7", 1000));
    assert_null(get(cache, "n70", "10.0.0.7", 1000));
    hostcache_clear(cache);
}

/* Whoever mends a name does not wait for minutes. */
static void no__counts_for_less(void **state)
{
    (void)state;
    static const struct host unknown = {.state = HOST_UNKNOWN, .words = "no such name"};
    struct hostcache memory, *cache = &memory;
    hostcache_init(cache, 4);
    put(cache, "n7", "10.0.0.7", 0);
    assert_non_null(get(cache, "n7", "10.0.0.8", HOSTCACHE_NO_MS - 1));
    assert_null(get(cache, "n7", "10.0.0.8", HOSTCACHE_NO_MS));
    assert_non_null(get(cache, "n7", "10.0.0.7", HOSTCACHE_NO_MS));
    hostcache_put(cache, "n8", &unknown, 0);
    const struct host *host = get(cache, "n8", "10.0.0.8", HOSTCACHE_NO_MS - 1);
    assert_non_null(host);
    assert_int_equal(host->state, HOST_UNKNOWN);
    assert_null(get(cache, "n8", "10.0.0.8", HOSTCACHE_NO_MS));
    hostcache_clear(cache);
}

static void later_answer__takes_the_place_of_the_earlier(void **state)
{
    (void)state;
    struct hostcache memory, *cache = &memory;
    hostcache_init(cache, 4);
    put(cache, "n7", "10.0.0.7", 0);
    put(cache, "n7", "10.0.0.9", HOSTCACHE_NO_MS);
    assert_false(host_has(get(cache, "n7", "10.0.0.7", HOSTCACHE_NO_MS), address("10.0.0.7")));
    assert_non_null(get(cache, "n7", "10.0.0.9", HOSTCACHE_YES_MS));
    hostcache_clear(cache);
    assert_null(get(cache, "n7", "10.0.0.9", HOSTCACHE_NO_MS));
    put(cache, "n7", "10.0.0.7", 0);
    assert_non_null(get(cache, "n7", "10.0.0.7", 0));
    hostcache_clear(cache);
}

/* The oldest answer makes room, and no other does. */
static void names__have_a_bound(void **state)
{
    enum { MAX = 50, PUT = 3 * MAX };
    (void)state;
    struct hostcache memory, *cache = &memory;
    hostcache_init(cache, MAX);
    char name[32];
    put(cache, "n0", "10.0.0.1", 0);
    for (int i = 1; i < PUT; i++) {
        snprintf(name, sizeof name, "n%d", i);
        put(cache, name, "10.0.0.1", 0);
        if (i % 7 == 0) /* refreshed, it is as young as any */
            put(cache, "n0", "10.0.0.1", 0);
    }
    int kept = 0;
    for (int i = 0; i < PUT; i++) {
        snprintf(name, sizeof name, "n%d", i);
        bool there = get(cache, name, "10.0.0.1", 0) != NULL;
        kept += there;
        assert_int_equal(there, i == 0 || i > PUT - MAX);
    }
    assert_int_equal(kept, MAX);
    hostcache_clear(cache);
}

/* The machine's own resolver, as far as it needs no name server. */
static void look__asks_the_system(void **state)
{
    (void)state;
    struct host host;
    host_resolve("192.0.2.7", &host);
    assert_int_equal(host.state, HOST_FOUND);
    assert_int_equal(host.count, 1);
    assert_true(host_has(&host, address("192.0.2.7")));
    assert_false(host_has(&host, address("192.0.2.8")));
    host_resolve("localhost", &host);
    assert_int_equal(host.state, HOST_FOUND);
    assert_true(host_has(&host, address("127.0.0.1")));
    host_resolve("", &host);
    assert_int_not_equal(host.state, HOST_FOUND);
    assert_non_null(host.words);
    assert_false(host_has(&host, address("127.0.0.1")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yes__counts_for_minutes),
        cmocka_unit_test(no__counts_for_less),
        cmocka_unit_test(later_answer__takes_the_place_of_the_earlier),
        cmocka_unit_test(names__have_a_bound),
        cmocka_unit_test(look__asks_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
