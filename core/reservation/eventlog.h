/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reservation/record.h"

#include <stddef.h>

/* The events kept for replay (F24): consecutive sequence numbers, oldest dropped first.
 * All zero is empty. */

struct eventlog {
    struct event_record **all; /* an event is at seq - first */
    size_t capacity;
    uint64_t first, next; /* kept are first … next - 1 */
};

void eventlog_release(struct eventlog *log);

/* Copies it. Its seq must be the next one, or the log empty. */
void eventlog_append(struct eventlog *log, const struct event_record *event);
void eventlog_prune(struct eventlog *log, uint64_t up_to); /* with this seq */

const struct event_record *eventlog_at(const struct eventlog *log, uint64_t seq); /* or NULL */
size_t eventlog_count(const struct eventlog *log);
