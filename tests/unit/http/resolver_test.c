/* SPDX-License-Identifier: Apache-2.0 */
/* Names are looked up by worker threads, each once however many wait for it, and nobody waits for a
 * resolver that is stuck. The resolver is the test's own. */

#include "broker/http/auth/resolver.h"
#include "broker/http/auth/workqueue.h"
#include "base/error.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { NODES = 11136 }; /* of the largest machine */

/* In place of libuv's: time passes when the test says so, too; or only then. */
static uint64_t passed_ms;
static bool stands;

uint64_t uv_now(const uv_loop_t *loop)
{
    return (stands ? 0 : uv_hrtime() / 1000000) + passed_ms;
}

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
    while (stand->answers < answers) {
        const bool more = uv_run(&stand->loop, UV_RUN_ONCE); /* false with the last answer, too */
        assert_true(more || stand->answers >= answers);
    }
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
    stands = false;
    return 0;
}

#define TEST(name) UNIT_WITH(name, open_stand, close_stand)

/* F3: all nodes of a machine report at once, in three reports each; they cost a lookup a node. */
TEST(machine__costs_one_lookup_a_node)
{
    struct stand *stand = *state;
    unsigned asked = 0;
    stands = true; /* or what is known is asked for anew on a slow machine */
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
    assert_in_range(names.most, 1, WORKQUEUE_THREADS);
}

TEST(name_under_way__is_joined)
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
TEST(failure__is_not_remembered)
{
    struct stand *stand = *state;
    assert_int_equal(ask(stand, "away", 1), 0);
    run_until(stand, 1);
    assert_int_equal(ask(stand, "away", 1), 0);
    run_until(stand, 2);
    assert_int_equal(stand->unanswered, 2);
    assert_int_equal(names.looks, 2);
}

TEST(forgotten__is_looked_up_again)
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
TEST(stuck__is_not_waited_for)
{
    struct stand *stand = *state;
    for (int i = 0; i < WORKQUEUE_THREADS; i++) {
        char name[32];
        snprintf(name, sizeof name, "stuck%d", i);
        assert_int_equal(ask(stand, name, 1), 0);
        sem_wait(&names.entered);
    }
    assert_int_equal(ask(stand, "n7", 0x0a000007), 0); /* waits behind them */
    run_until(stand, WORKQUEUE_THREADS + 1);
    assert_int_equal(stand->unanswered, WORKQUEUE_THREADS + 1);
    assert_int_equal(names.looks, WORKQUEUE_THREADS);
    assert_int_equal(ask(stand, "stuck0", 1), RESOLVER_KNOWN); /* told at once */
    assert_int_equal(stand->unanswered, WORKQUEUE_THREADS + 2);
    assert_int_equal(ask(stand, "n7", 0x0a000007), 0);
    for (int i = 0; i < WORKQUEUE_THREADS; i++)
        sem_post(&names.may_go);
    run_until(stand, WORKQUEUE_THREADS + 3);
    assert_int_equal(stand->found, 1);
    /* What comes too late is good, too. */
    while (ask(stand, "stuck0", 1) == RESOLVER_KNOWN && stand->unknown == 0)
        assert_true(uv_run(&stand->loop, UV_RUN_ONCE));
    assert_int_equal(stand->unknown, 1);
    assert_int_equal(names.looks, WORKQUEUE_THREADS + 1);
}

TEST(line__has_a_bound)
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

/* Whether the name was known; else it is looked up, and nK is at its address at the time. */
static bool is_known(struct stand *stand, const char *name, uint32_t address)
{
    const unsigned answers = stand->answers + 1;
    const bool known = ask(stand, name, address) == RESOLVER_KNOWN;
    run_until(stand, answers);
    return known;
}

TEST(yes__counts_for_minutes)
{
    struct stand *stand = *state;
    assert_false(is_known(stand, "n7", 0x0a000007));
    passed_ms += RESOLVER_YES_MS - 1000;
    assert_true(is_known(stand, "n7", 0x0a000007));
    assert_int_equal(stand->found, 2);
    passed_ms += 1000;
    assert_false(is_known(stand, "n7", 0x0a000007));
    assert_false(is_known(stand, "n70", 0x0a000046));
    assert_true(is_known(stand, "n7", 0x0a000007));
}

/* Whoever mends a name does not wait for minutes. */
TEST(no__counts_for_less)
{
    struct stand *stand = *state;
    assert_false(is_known(stand, "n7", 0x0a000008));
    assert_false(is_known(stand, "unknown", 1));
    passed_ms += RESOLVER_NO_MS - 1000;
    assert_true(is_known(stand, "n7", 0x0a000008));
    assert_true(is_known(stand, "unknown", 1));
    assert_int_equal(stand->unknown, 2);
    passed_ms += 1000;
    assert_true(is_known(stand, "n7", 0x0a000007));
    assert_false(is_known(stand, "n7", 0x0a000008));
    assert_false(is_known(stand, "unknown", 1));
}

/* The oldest answer makes room, and no other does. */
TEST(names__have_a_bound)
{
    struct stand *stand = *state;
    char name[32];
    for (unsigned i = 0; i <= RESOLVER_NAMES_MAX; i++) {
        snprintf(name, sizeof name, "n%u", i);
        assert_false(is_known(stand, name, 0x0a000000 + i));
        if (i == 1) { /* looked up again, it is as young as any */
            passed_ms += RESOLVER_NO_MS;
            assert_false(is_known(stand, "n0", 1));
        }
    }
    assert_true(is_known(stand, "n0", 0x0a000000));
    assert_true(is_known(stand, "n2", 0x0a000002));
    assert_false(is_known(stand, "n1", 0x0a000001));
    assert_true(is_known(stand, "n2", 0x0a000002));
    assert_false(is_known(stand, "n0", 0x0a000000)); /* made room for n1 */
}

/* The machine's own resolver, as far as it needs no name server. */
UNIT(look__asks_the_system)
{
    const struct in_addr its = {.s_addr = htonl(0xc0000207)}, other = {.s_addr = 1},
                         loopback = {.s_addr = htonl(INADDR_LOOPBACK)};
    struct host host;
    host_resolve("192.0.2.7", &host);
    assert_int_equal(host.state, HOST_FOUND);
    assert_int_equal(host.count, 1);
    assert_true(host_has(&host, its));
    assert_false(host_has(&host, other));
    host_resolve("localhost", &host);
    assert_int_equal(host.state, HOST_FOUND);
    assert_true(host_has(&host, loopback));
    host_resolve("", &host);
    assert_int_not_equal(host.state, HOST_FOUND);
    assert_non_null(host.words);
    assert_false(host_has(&host, loopback));
}

UNIT_RUN(NULL, NULL)
