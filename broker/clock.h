/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_CLOCK_H
#define MCAST_BROKER_CLOCK_H

#include "core/reservation/record.h"

#include <stdint.h>

/* The time of the core: Unix milliseconds that never run back while the process lives.
 * The wall clock is read once, at the start; from then on a steady clock counts, so that setting
 * the date neither frees a VNI early nor holds one for ever. A suspended machine's absence
 * is counted (CLOCK_BOOTTIME). */

struct clock {
    int64_t wall_ns;   /* Unix time at the start */
    int64_t steady_ns; /* of the steady clock then */
};

void clock_init(struct clock *clock);
int64_t clock_now_ms(const struct clock *clock);

/* Which boot of the host this is, as the kernel names it; "": not known. */
void clock_boot(char out[static BOOT_ID_MAX + 1]);
int64_t clock_offset_ms(const struct clock *clock); /* Unix time less the steady clock's */

/* The same with the readings given: wall_ns since 1970, steady_ns since anything. */
void clock_init_at(struct clock *clock, int64_t wall_ns, int64_t steady_ns);
int64_t clock_at(const struct clock *clock, int64_t steady_ns);

#endif
