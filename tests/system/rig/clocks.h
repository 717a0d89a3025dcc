/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* What the clocks of a program under test say, which a test changes while it runs: by a library
 * that is loaded before the C library, RIG_CLOCKS, and a file. Programs that call the kernel
 * themselves, as those written in Go do, are not deceived. */

struct clocks {
    int64_t realtime_s; /* more than CLOCK_REALTIME; for time() and gettimeofday(), too */
    int64_t boottime_s; /* more than CLOCK_BOOTTIME: never less than before */
};

/* From now on those of the programs that use this file, which is made when there is none. 0, or -1
 * with the cause on stderr. */
int clocks_set(const char *path, const struct clocks *clocks);
/* Programs that are started from now on use it. NULL: the machine's clocks. */
void clocks_use(const char *path);
