/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* The clock of programs that are started from now on, by libfaketime: what date says, not what
 * CLOCK_MONOTONIC and CLOCK_BOOTTIME do. */

/* NULL: it can be set; else why not. */
const char *fakeclock_lacks(void);
/* As "-30d" or "+5"; NULL: right again. */
void fakeclock_set(const char *offset);
