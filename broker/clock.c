/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t reading(clockid_t id)
{
    struct timespec now;
    /* Cannot fail: both clocks exist on every Linux, and now is ours. */
    (void)clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void clock_init_at(struct clock *clock, int64_t wall_ns, int64_t steady_ns)
{
    clock->wall_ns = wall_ns;
    clock->steady_ns = steady_ns;
}

void clock_init(struct clock *clock)
{
    clock_init_at(clock, reading(CLOCK_REALTIME), reading(CLOCK_BOOTTIME));
}

int64_t clock_at(const struct clock *clock, int64_t steady_ns)
{
    return (clock->wall_ns + (steady_ns - clock->steady_ns)) / 1000000;
}

int64_t clock_now_ms(const struct clock *clock)
{
    return clock_at(clock, reading(CLOCK_BOOTTIME));
}

void clock_boot(char out[static BOOT_ID_MAX + 1])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    out[0] = '\0';
    if (file == NULL)
        return;
    if (fgets(out, BOOT_ID_MAX + 1, file) != NULL)
        out[strcspn(out, "\n")] = '\0';
    fclose(file);
}

int64_t clock_offset_ms(const struct clock *clock)
{
    return (clock->wall_ns - clock->steady_ns) / 1000000;
}
