/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/broker/fakeetcd.h"

#include "broker/clock.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct fakeetcd fakeetcd = {.fd = -1};

void fakeetcd_open(void)
{
    fakeetcd_close();
    fakeetcd = (struct fakeetcd){.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), .ttl_ms = 60000};
    assert(fakeetcd.fd >= 0);
}

void fakeetcd_close(void)
{
    if (fakeetcd.fd >= 0)
        close(fakeetcd.fd);
    fakeetcd.fd = -1;
}

void fakeetcd_say(enum leader_outcome outcome, uint64_t holder, const char *url)
{
    assert(fakeetcd.asked.question != LEADER_NOTHING);
    fakeetcd.answer = (struct etcd_answer){
        .answer = {.question = fakeetcd.asked.question,
                   .outcome = outcome,
                   .sent_ms = clock_read_ns(CLOCK_BOOTTIME) / 1000000,
                   .ttl_ms = fakeetcd.ttl_ms,
                   .holder = holder,
                   .holder_revision = holder ? 7 : 0},
        .member = "https://m1:2379",
        .took_us = 1000,
    };
    if (fakeetcd.look)
        fakeetcd.answer.standbys = *fakeetcd.look;
    fakeetcd.answer.looked = fakeetcd.look != NULL;
    (void)snprintf(fakeetcd.answer.holder_url, sizeof fakeetcd.answer.holder_url, "%s", url);
    if (outcome == LEADER_UNKNOWN || outcome == LEADER_REFUSED)
        (void)error_set(&fakeetcd.answer.error, ERROR_IO, "the fake says no");
    fakeetcd.asked.question = LEADER_NOTHING;
    fakeetcd.answered = true;
    (void)eventfd_write(fakeetcd.fd, 1);
}

static void on_tick(uv_timer_t *timer)
{
    assert(clock_read_ns(CLOCK_BOOTTIME) < *(const int64_t *)timer->data);
}

static void on_closed(uv_handle_t *handle)
{
    handle->data = NULL;
}

void fakeetcd_await(uv_loop_t *loop, const unsigned *condition, unsigned least)
{
    int64_t end_ns = clock_read_ns(CLOCK_BOOTTIME) + INT64_C(20000000000);
    uv_timer_t tick;
    (void)uv_timer_init(loop, &tick);
    tick.data = &end_ns;
    (void)uv_timer_start(&tick, on_tick, 1, 1);
    while (*condition < least)
        (void)uv_run(loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&tick, on_closed);
    while (tick.data)
        (void)uv_run(loop, UV_RUN_NOWAIT);
}

/* ---- etcd.h ---- */

struct etcd *etcd_open(const struct etcd_options *options, struct error *err)
{
    (void)options;
    (void)err;
    return (struct etcd *)&fakeetcd;
}

int etcd_change(struct etcd *etcd, const struct etcd_options *options, struct error *err)
{
    (void)etcd;
    (void)options;
    (void)err;
    fakeetcd.changes++;
    return 0;
}

void etcd_close(struct etcd *etcd)
{
    (void)etcd;
}

void etcd_ask(struct etcd *etcd, const struct leader_ask *ask, int64_t try_ms)
{
    (void)etcd;
    assert(fakeetcd.asked.question == LEADER_NOTHING && !fakeetcd.answered && try_ms > 0);
    fakeetcd.asked = *ask;
    fakeetcd.questions++;
    if (fakeetcd.automatic)
        fakeetcd_say(LEADER_OK, ask->lease, "");
}

const char *etcd_configuration(const struct etcd *etcd)
{
    (void)etcd;
    return "0011223344556677";
}

int etcd_remember(struct etcd *etcd, struct error *err)
{
    (void)etcd;
    (void)err;
    return 0;
}

int etcd_fd(const struct etcd *etcd)
{
    (void)etcd;
    return fakeetcd.fd;
}

bool etcd_take_answer(struct etcd *etcd, struct etcd_answer *out)
{
    eventfd_t count;
    (void)etcd;
    (void)eventfd_read(fakeetcd.fd, &count);
    if (!fakeetcd.answered)
        return false;
    fakeetcd.answered = false;
    *out = fakeetcd.answer;
    return true;
}

struct store *store_etcd_open(struct etcd *etcd, uint64_t lease, uint64_t revision,
                              int64_t deadline_ms, struct error *err)
{
    (void)etcd;
    assert(lease != 0 && revision == 7 && deadline_ms > 0);
    if (!fakeetcd.store)
        (void)error_set(err, ERROR_IO, "the fake has no store");
    return fakeetcd.store;
}

void store_etcd_extend(struct store *store, int64_t deadline_ms)
{
    assert(store == fakeetcd.store);
    fakeetcd.extended_ms = deadline_ms;
}
