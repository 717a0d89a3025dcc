/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/turn.h"

#include "broker/clock.h"
#include "broker/log/log.h"

#include <inttypes.h>

static const char unnamed[] = "connections to the fabric manager";

static void begin_turn(struct turn *turn, uint64_t now_ns, int64_t cpu_ns)
{
    turn->began_ns = turn->since_ns = now_ns;
    turn->idle_ns = uv_metrics_idle_time(turn->loop);
    turn->cpu_ns = cpu_ns;
    turn->what = unnamed;
    turn->parts[0] = (struct turn_part){.what = unnamed};
    turn->part_count = 1;
    turn->interrupted = false;
}

void turn_init(struct turn *turn, uv_loop_t *loop)
{
    *turn = (struct turn){.loop = loop, .now_ns = uv_hrtime, .what = unnamed};
    (void)uv_loop_configure(loop, UV_METRICS_IDLE_TIME);
}

static struct turn_part *part_of(struct turn *turn, const char *what)
{
    for (unsigned i = 0; i < turn->part_count; i++)
        if (turn->parts[i].what == what)
            return &turn->parts[i];
    if (turn->part_count == TURN_NAMES)
        return &turn->parts[0];
    turn->parts[turn->part_count] = (struct turn_part){.what = what};
    return &turn->parts[turn->part_count++];
}

static void switch_part(struct turn *turn, const char *what, uint64_t now_ns)
{
    if (turn->began_ns != 0)
        part_of(turn, turn->what)->took_ns += now_ns - turn->since_ns;
    turn->what = what;
    turn->since_ns = now_ns;
}

const char *turn_enter(struct turn *turn, const char *what)
{
    const char *before = turn->what;
    switch_part(turn, what, turn->now_ns());
    return before;
}

void turn_leave(struct turn *turn, const char *before)
{
    switch_part(turn, before, turn->now_ns());
}

/* waited_ns is part of the unnamed time: libuv runs the callbacks of descriptors while it waits,
 * and there is no turn_enter around a wait. */
static void find_longest_part(struct turn *turn, uint64_t waited_ns, struct turn_stall *out)
{
    struct turn_part *most = &turn->parts[0];
    most->took_ns -= most->took_ns < waited_ns ? most->took_ns : waited_ns;
    for (unsigned i = 1; i < turn->part_count; i++)
        if (turn->parts[i].took_ns > most->took_ns)
            most = &turn->parts[i];
    out->what = most->what;
    out->what_us = (int64_t)(most->took_ns / 1000);
}

bool turn_end(struct turn *turn, struct turn_stall *out)
{
    uint64_t now_ns = turn->now_ns();
    uint64_t took_ns = now_ns - turn->began_ns;
    int64_t cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t waited_ns = uv_metrics_idle_time(turn->loop) - turn->idle_ns;
    bool is_long = false;
    out->took_us = took_ns > waited_ns ? (int64_t)((took_ns - waited_ns) / 1000) : 0;
    out->cpu_us = (cpu_ns - turn->cpu_ns) / 1000;
    if (turn->began_ns != 0)
        peak_add(&turn->cpu_peak, (int64_t)(now_ns / 1000000), out->cpu_us);
    if (turn->began_ns != 0 && !turn->interrupted) {
        histogram_add(&turn->stall, out->took_us);
        peak_add(&turn->peak, (int64_t)(now_ns / 1000000), out->took_us);
        is_long = out->took_us >= TURN_LONG_US;
    }
    if (is_long) {
        switch_part(turn, unnamed, now_ns);
        find_longest_part(turn, waited_ns, out);
    }
    begin_turn(turn, now_ns, cpu_ns);
    return is_long;
}

void turn_next(struct turn *turn)
{
    struct turn_stall stall;
    if (turn_end(turn, &stall))
        log_line(LOG_WARNING,
                 "event loop stalled for %" PRId64 " ms (CPU %" PRId64 " ms), mostly in %s "
                 "(%" PRId64 " ms)",
                 stall.took_us / 1000, stall.cpu_us / 1000, stall.what, stall.what_us / 1000);
}

int64_t turn_peak_us(const struct turn *turn)
{
    return peak_value(&turn->peak, (int64_t)(turn->now_ns() / 1000000));
}

int64_t turn_cpu_peak_us(const struct turn *turn)
{
    return peak_value(&turn->cpu_peak, (int64_t)(turn->now_ns() / 1000000));
}
