/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Times as people compare them: how long ago, or in how long. */

#include <stdbool.h>
#include <time.h>

enum { AGE_SIZE = 32 };

/* when: as the broker writes it, "2026-11-28T12:16:33.191Z". "12 s", "5 min", "3 h", "2 d" between
 * the two, without saying which is earlier; "" when it is no time. */
void age_between(const char *when, time_t now, char out[AGE_SIZE]);

/* Whether it is yet to come. */
bool age_future(const char *when, time_t now);
