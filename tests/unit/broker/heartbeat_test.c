/* SPDX-License-Identifier: Apache-2.0 */
/* What is said once a second, by a loop that turns. */

#include "tests/unit/unit.h"

#include "broker/service/heartbeat.h"
#include "tests/coreconfig.h"
#include "broker/log/log.h"
#include "tests/unit/broker/datagrams.h"
#include "tests/unit/broker/gate.h"

struct stand {
    uv_loop_t loop;
    struct gate gate;
    struct config config;
    struct engine *engine;
    struct notify notify;
    struct heartbeat sign;
    char heard[65536];
    unsigned stopped, closed;
};

static void on_stopped(void *arg)
{
    ((struct stand *)arg)->stopped++;
}

static int open_stand(void **state)
{
    static struct stand stand;
    struct error err = {0};
    memset(&stand, 0, sizeof stand);
    log_set_level(-1);
    datagrams_open(state);
    setenv("NOTIFY_SOCKET", datagrams_path, 1);
    setenv("WATCHDOG_USEC", "60000", 1);
    unsetenv("WATCHDOG_PID");
    assert_int_equal(notify_init(&stand.notify, &err), 0);

    assert_int_equal(uv_loop_init(&stand.loop), 0);
    gate_init(&stand.gate, false);
    coreconfig_init(&stand.config.core);
    strcpy(stand.config.core.clusters[0].name, "elcap");
    stand.config.core.cluster_count = 1;
    struct engine_options options = {
        .loop = &stand.loop, .config = &stand.config, .store = &stand.gate.store};
    stand.engine = engine_create(&options);
    assert_int_equal(engine_start(stand.engine, &err), 0);
    heartbeat_start(&stand.sign, &stand.loop, &stand.notify, stand.engine);
    *state = &stand;
    return 0;
}

static int close_stand(void **state)
{
    struct stand *stand = *state;
    heartbeat_stop(&stand->sign);
    stand->gate.automatic = true;
    if (stand->gate.batch)
        gate_finish(&stand->gate, &stand->loop, 0);
    engine_stop(stand->engine, on_stopped, stand);
    gate_await(&stand->loop, &stand->stopped, 1);
    engine_destroy(stand->engine);
    gate_release(&stand->gate);
    assert_int_equal(uv_loop_close(&stand->loop), 0);
    notify_release(&stand->notify);
    return datagrams_close(state);
}

static void hear(struct stand *stand)
{
    for (const char *words; *(words = datagrams_next()) != '\0';) {
        size_t length = strlen(stand->heard);
        (void)snprintf(stand->heard + length, sizeof stand->heard - length, "<%s>", words);
    }
}

static unsigned count(const struct stand *stand, const char *words)
{
    unsigned n = 0;
    for (const char *at = stand->heard; (at = strstr(at, words)); at++)
        n++;
    return n;
}

/* Turns the loop until so many of these have been heard. */
static void await_heard(struct stand *stand, const char *words, unsigned least)
{
    uint64_t give_up = uv_hrtime() + UINT64_C(20000000000);
    while (count(stand, words) < least) {
        assert_true(uv_hrtime() < give_up);
        (void)uv_run(&stand->loop, UV_RUN_ONCE);
        hear(stand);
    }
}

static void reserve(struct stand *stand, const char *job)
{
    struct core_event event = {
        .kind = CORE_RESERVE,
        .ticket = 1,
        .u.reserve =
            {.cluster = "elcap", .job = job, .node_count = 2, .uid = 1000, .vni_count = -1},
    };
    engine_step(stand->engine, &event);
}

#define STAND_TEST(name) UNIT_WITH(name, open_stand, close_stand)

STAND_TEST(watchdog__is_the_loop)
{
    struct stand *stand = *state;
    await_heard(stand, "<WATCHDOG=1>", 3);
    unsigned before = count(stand, "<WATCHDOG=1>");
    uint64_t end = uv_hrtime() + UINT64_C(200000000);
    while (uv_hrtime() < end) /* a callback that does not return */
        hear(stand);
    assert_int_equal(count(stand, "<WATCHDOG=1>"), before);
}

/* A disk that hangs is not cured by a restart (heartbeat.h). */
STAND_TEST(watchdog__goes_on_while_a_commit_hangs)
{
    struct stand *stand = *state;
    reserve(stand, "f1");
    await_heard(stand, "<WATCHDOG=1>", 1);
    assert_non_null(stand->gate.batch);
    await_heard(stand, "<WATCHDOG=1>", count(stand, "<WATCHDOG=1>") + 5);
    assert_non_null(stand->gate.batch);
}

STAND_TEST(status__is_told_when_it_is_news)
{
    struct stand *stand = *state;
    heartbeat_ready(&stand->sign);
    await_heard(stand, "<READY=1\nSTATUS=No fabric manager is configured. 0 jobs, ", 1);
    await_heard(stand, "<WATCHDOG=1>", 5);
    assert_int_equal(count(stand, "STATUS="), 1); /* nothing has changed */
    reserve(stand, "f1");
    await_heard(stand, "<WATCHDOG=1>", 10);
    assert_int_equal(count(stand, "STATUS="), 1); /* the numbers alone wait a while */
    gate_finish(&stand->gate, &stand->loop, ERROR_FULL);
    await_heard(stand, "<STATUS=Cannot save: the gate says full; requests are refused. ", 1);
    gate_await(&stand->loop, &stand->gate.commits, 2);
    gate_finish(&stand->gate, &stand->loop, 0);
    await_heard(stand, "<STATUS=No fabric manager is configured. 1 jobs, ", 1);
}

STAND_TEST(loading__asks_for_time)
{
    struct stand *stand = *state;
    heartbeat_opening(&stand->notify, "/nonexistent/state.db");
    heartbeat_loading(&stand->notify, 8192);
    hear(stand);
    assert_int_equal(count(stand, "<EXTEND_TIMEOUT_USEC=60000000\nSTATUS=Opening the ledger.>"), 1);
    assert_int_equal(
        count(stand, "<EXTEND_TIMEOUT_USEC=60000000\nSTATUS=Loading the ledger: 8192 "), 1);
}

UNIT_RUN(NULL, NULL)
