/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Durations as people write them: a decimal number and its unit, "500ms", "10s", "5m", "2h". */

#define DURATION_DAY_MS INT64_C(86400000)

/* What else may be written, as bits. */
enum duration_forms {
    DURATION_DAYS = 1,         /* "7d" */
    DURATION_BARE_ZERO = 2,    /* "0", without a unit */
    DURATION_BARE_SECONDS = 4, /* "30", seconds */
};

/* Milliseconds; -1: it is not a duration, or is longer than max_ms. */
int64_t duration_parse(const char *text, unsigned int forms, int64_t max_ms);

/* In the largest unit that leaves no remainder; 32 bytes hold any. */
void duration_format(char *out, size_t size, int64_t ms);
