/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* When this machine was booted, as programs under test see it: a node refuses launch documents of
 * the first five minutes (node/record/launched.c), and a machine that tests may be up for less. By
 * a library that is loaded before the C library, RIG_BOOTED, and a variable, TEST_BOOTED. */

/* Two hours before this was first asked for. Seconds since 1970. */
int64_t boottime_usual(void);

/* Programs that are started from now on were booted then. */
void boottime_set(int64_t booted_s);
