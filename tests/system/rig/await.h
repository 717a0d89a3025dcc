/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Waiting for a condition, never for a time: asks again until it holds or the deadline has passed.
 */

/* Long enough for a sanitized program on a busy machine; only a failing test ever waits it out. */
enum { AWAIT_DEADLINE_MS = 180000 };

/* True as soon as holds(arg) is; false when it never was within deadline_ms. */
bool await(bool (*holds)(void *arg), void *arg, int64_t deadline_ms);

/* Monotonic clock. */
int64_t await_now_ns(void);
