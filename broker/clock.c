/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/clock.h"

#include <stdio.h>
#include <string.h>

int64_t clock_read_ns(clockid_t id)
{
    struct timespec now;
    /* Cannot fail: the clocks exist on every Linux, and now is ours. */
    (void)clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_offset_ns(void)
{
    return clock_read_ns(CLOCK_REALTIME) - clock_read_ns(CLOCK_BOOTTIME);
}

int64_t clock_now_ms(int64_t offset_ns)
{
    return (clock_read_ns(CLOCK_BOOTTIME) + offset_ns) / 1000000;
}

void clock_boot(char out[static BOOT_ID_MAX + 1])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    out[0] = '\0';
    if (!file)
        return;
    if (fgets(out, BOOT_ID_MAX + 1, file))
        out[strcspn(out, "\n")] = '\0';
    fclose(file);
}
