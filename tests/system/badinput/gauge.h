/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a running program takes, as the kernel tells it. Each asserts that it can be read. */

size_t gauge_memory(pid_t pid);      /* resident, bytes */
size_t gauge_descriptors(pid_t pid); /* open */
/* Whether no more than so many are open soon. */
bool gauge_await_descriptors(pid_t pid, size_t most);
/* How often the main thread has gone to sleep by itself. */
unsigned long gauge_sleeps(pid_t pid);

/* Nanoseconds for which its threads have had a processor. */
uint64_t gauge_busy_ns(pid_t pid);

/* Raises the limit of open files as far as it may, for this process and those it starts: how many
 * each of them may have. */
size_t gauge_allow_descriptors(void);

/* Sanitizers keep freed memory back and put walls around what is used. */
#ifdef __SANITIZE_ADDRESS__
enum { GAUGE_SANITIZED = 1 };
#else
enum { GAUGE_SANITIZED = 0 };
#endif
