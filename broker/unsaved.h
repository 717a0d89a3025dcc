/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_UNSAVED_H
#define MCAST_BROKER_UNSAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The reservations that records of one batch are about: those whose state in memory is not yet what
 * is on disk. As many as a batch has; adding and asking cost O(1). All zero: empty. */

struct unsaved {
    uint64_t *slots; /* a power of two of them, at most half used; 0: free */
    size_t room, count;
};

/* Numbers are above 0. Memory is there or ends the process (base/memory.h). */
void unsaved_add(struct unsaved *unsaved, uint64_t number);
bool unsaved_has(const struct unsaved *unsaved, uint64_t number);

/* Empties it; what it had for a large batch goes back. */
void unsaved_clear(struct unsaved *unsaved);
void unsaved_release(struct unsaved *unsaved);

#endif
