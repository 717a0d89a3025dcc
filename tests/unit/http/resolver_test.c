/* SPDX-License-Identifier: Apache-2.0 */
/* Names are looked up by worker threads, each once however many wait for it, and nobody waits for a
 * resolver that is stuck. The resolver is the test's own. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "broker/http/auth/resolver.h"
#include "base/error.h"

#include <arpa/inet.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { NODES = 11136 }; /* of the largest machine */

/* nK is 10.x.y.z of K; "unknown" is not; "away" cannot be asked; "stuck" waits until it may go on.
 */
static struct {
    atomic_uint looks, at_once, most;
    sem_t entered, may_go;
} names;

static void look(const char *name, struct host *out)
{
    unsigned now = atomic_fetch_add(&names.at_once, 1) + 1, number;
    atomic_fetch_add(&names.looks, 1);
    for (unsigned most = names.most; now > most;)
        if (atomic_compare_exchange_weak(&names.most, &most, now))
            break;
    if (!strncmp(name, "stuck", 5)) {
        sem_post(&names.entered);
        while (sem_wait(&names.may_go) < 0)
            continue;
    }
    *out = (struct host){.state = HOST_UNKNOWN, .words = "not known"};
    if (!strcmp(name, "away"))
        *out = (struct host){.state = HOST_UNANSWERED, .words = "away"};
    if (sscanf(name, "n%u", &number) == 1)
        *out = (struct host){
            .state = HOST_FOUND, .count = 1, .addresses = {{.s_addr = htonl(0x0a000000 + number)}}};
    atomic_fetch_sub(&names.at_once, 1);
}

struct stand {
    uv_loop_t loop;
    struct resolver *resolver;
    unsigned answers, found, unknown, unanswered;
    bool closed;
};

static void count(struct stand *stand, const struct host *host)
{
    stand->answers++;
    stand->found += host->state == HOST_FOUND;
    stand->unknown += host->state == HOST_UNKNOWN;
    stand->unanswered += host->state == HOST_UNANSWERED;
}

static void on_host(void *arg, const struct host *host)
{
    count(arg, host);
}

/* What resolver_ask returns; an answer is counted, now or later. */
static int ask(struct stand *stand, const char *name, uint32_t address)
{
    struct host known;
    const struct in_addr in = {.s_addr = htonl(address)};
    int rc = resolver_ask(stand->resolver, name, in, &known, on_host, stand);
    if (rc == RESOLVER_KNOWN)
        count(stand, &known);
    return rc;
}

static void run_until(struct stand *stand, unsigned answers)
{
    while (stand->answers < answers)
        assert_true(uv_run(&stand->loop, UV_RUN_ONCE));
    assert_int_equal(stand->answers, answers);
}

static int open_stand(void **state)
{
    static struct stand stand;
    memset(&stand, 0, sizeof stand);
    atomic_store(&names.looks, 0);
    atomic_store(&names.most, 0);
    assert_int_equal(sem_init(&names.entered, 0, 0), 0);
    assert_int_equal(sem_init(&names.may_go, 0, 0), 0);
    assert_int_equal(uv_loop_init(&stand.loop), 0);
    stand.resolver = resolver_create(&stand.loop, look);
    assert_non_null(stand.resolver);
    *state = &stand;
    return 0;
}

static void on_closed(void *arg)
{
    struct stand *stand = arg;
    stand->closed = true;
}

static int close_stand(void **state)
{
    struct stand *stand = *state;
    resolver_destroy(stand->resolver, on_closed, stand);
    uv_run(&stand->loop, UV_RUN_DEFAULT);
    assert_true(stand->closed);
    assert_int_equal(uv_loop_close(&stand->loop), 0);
    sem_destroy(&names.entered);
    sem_destroy(&names.may_go);
    return 0;
}

/* F3: all nodes of a machine report at once, in three reports each; they cost a lookup a node. */
static void machine__costs_one_lookup_a_node(void **state)
{
    struct stand *stand = *state;
    unsigned asked = 0;
    for (unsigned round = 0; round < 3; round++)
        for (unsigned node = 0; node < NODES; node++) {
            char name[32];
            snprintf(name, sizeof name, "n%u", node);
            int rc = ask(stand, name, 0x0a000000 + node);
            while (rc == ERROR_FULL) { /* the line has a bound */
                assert_true(uv_run(&stand->loop, UV_RUN_ONCE));
                rc = ask(stand, name, 0x0a000000 + node);
            }
            assert_true(rc == 0 || (rc == RESOLVER_KNOWN && round > 0));
            asked++;
        }
    run_until(stand, asked);
    assert_int_equal(stand->found, asked);
    assert_int_equal(names.looks, NODES);
    assert_in_range(names.most, 1, RESOLVER_THREADS);
}

static void name_under_way__is_joined(void **state)
{
    struct stand *stand = *state;
    assert_int_equal(ask(stand, "stuck", 1), 0);
    sem_wait(&names.entered);
    for (int i = 0; i < 9; i++)
        assert_int_equal(ask(stand, "stuck", 1), 0);
    sem_post(&names.may_go);
    run_until(stand, 10);
    assert_int_equal(names.looks, 1);
    assert_int_equal(stand->unknown, 10);
    assert_int_equal(ask(stand, "stuck", 1), RESOLVER_KNOWN); /* a no is remembered, too */
    assert_int_equal(names.looks, 1);
}

/* What could not be asked says nothing of the name. */
static void failure__is_not_remembered(void **state)
{
    struct stand *stand = *state;
    assert_int_equal(ask(stand, "away", 1), 0);
    run_until(stand, 1);
    assert_int_equal(ask(stand, "away", 1), 0);
    run_until(stand, 2);
    assert_int_equal(stand->unanswered, 2);
    assert_int_equal(names.looks, 2);
}

static void forgotten__is_looked_up_again(void **state)
{
    struct stand *stand = *state;
    assert_int_equal(ask(stand, "n7", 0x0a000007), 0);
    run_until(stand, 1);
    assert_int_equal(ask(stand, "n7", 0x0a000007), RESOLVER_KNOWN);
    resolver_forget(stand->resolver);
    assert_int_equal(ask(stand, "n7", 0x0a000007), 0);
    run_until(stand, 3);
    assert_int_equal(names.looks, 2);
}

/* Time passes as far as the loop knows, by deadlines of its own. */
static void stuck__is_not_waited_for(void **state)
{
    struct stand *stand = *state;
    for (int i = 0; i < RESOLVER_THREADS; i++) {
        char name[32];
        snprintf(name, sizeof name, "stuck%d", i);
        assert_int_equal(ask(stand, name, 1), 0);
        sem_wait(&names.entered);
    }
    assert_int_equal(ask(stand, "n7", 0x0a000007), 0); /* waits behind them */
    run_until(stand, RESOLVER_THREADS + 1);
    assert_int_equal(stand->unanswered, RESOLVER_THREADS + 1);
    assert_int_equal(names.looks, RESOLVER_THREADS);
    assert_int_equal(ask(stand, "stuck0", 1), RESOLVER_KNOWN); /* told at once */
    assert_int_equal(stand->unanswered, RESOLVER_THREADS + 2);
    assert_int_equal(ask(stand, "n7", 0x0a000007), 0);
    for (int i = 0; i < RESOLVER_THREADS; i++)
        sem_post(&names.may_go);
    run_until(stand, RESOLVER_THREADS + 3);
    assert_int_equal(stand->found, 1);
    /* What comes too late is good, too. */
    while (ask(stand, "stuck0", 1) == RESOLVER_KNOWN && stand->unknown == 0)
        assert_true(uv_run(&stand->loop, UV_RUN_ONCE));
    assert_int_equal(stand->unknown, 1);
    assert_int_equal(names.looks, RESOLVER_THREADS + 1);
}

static void line__has_a_bound(void **state)
{
    struct stand *stand = *state;
    assert_int_equal(ask(stand, "stuck", 1), 0);
    sem_wait(&names.entered);
    for (int i = 1; i < RESOLVER_QUEUE_MAX; i++)
        assert_int_equal(ask(stand, "stuck", 1), 0);
    assert_int_equal(ask(stand, "stuck", 1), ERROR_FULL);
    assert_int_equal(ask(stand, "n1", 1), ERROR_FULL);
    assert_int_equal(resolver_waiting(stand->resolver), RESOLVER_QUEUE_MAX);
    sem_post(&names.may_go);
    run_until(stand, RESOLVER_QUEUE_MAX);
    assert_int_equal(resolver_waiting(stand->resolver), 0);
    assert_int_equal(ask(stand, "n1", 1), 0);
    run_until(stand, RESOLVER_QUEUE_MAX + 1);
}

/* ---- what is remembered: a yes for minutes, a no for less, and never without bound ---- */

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

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_stand, close_stand)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(machine__costs_one_lookup_a_node),
        TEST(name_under_way__is_joined),
        TEST(failure__is_not_remembered),
        TEST(forgotten__is_looked_up_again),
        TEST(stuck__is_not_waited_for),
        TEST(line__has_a_bound),
        cmocka_unit_test(yes__counts_for_minutes),
        cmocka_unit_test(no__counts_for_less),
        cmocka_unit_test(later_answer__takes_the_place_of_the_earlier),
        cmocka_unit_test(names__have_a_bound),
        cmocka_unit_test(look__asks_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
