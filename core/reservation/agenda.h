/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/reservation/reservation.h"

/* Which reservation is to be acted on next, and when: a heap with one place a reservation. All
 * zero is empty. */

struct agenda_entry {
    int64_t due_ms;
    struct reservation *reservation;
};

struct agenda {
    struct agenda_entry *heap; /* heap[0] is not used: slot 0 means "not on the agenda" */
    uint32_t count;
    size_t capacity;
};

void agenda_release(struct agenda *agenda);

/* Due at due_ms; INT64_MAX takes it off. Logarithmic. */
void agenda_set(struct agenda *agenda, struct reservation *reservation, int64_t due_ms);

/* The one due first, or NULL; until the next agenda_set. */
const struct agenda_entry *agenda_first(const struct agenda *agenda);
