/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reservation/record.h"

#include <stdint.h>
#include <time.h>

int64_t clock_read_ns(clockid_t id);

/* The time of the core: Unix milliseconds that never run back while the process lives. The wall
 * clock is read once, at the start; from then on a steady clock counts, so that setting the date
 * neither frees a VNI early nor holds one for ever. A suspended machine's absence is counted
 * (CLOCK_BOOTTIME). */

/* Unix time less the steady clock's, in nanoseconds: to be read once. */
int64_t clock_offset_ns(void);
int64_t clock_now_ms(int64_t offset_ns);

/* Which boot of the host this is, as the kernel names it; "": not known. */
void clock_boot(char out[static BOOT_ID_MAX + 1]);
