/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_STATE_PACKED_H
#define MCAST_STATE_PACKED_H

#include "core/reservation/record.h"

#include <stddef.h>

/* A record and the bytes of its strings in one piece of memory. */

/* Bytes that the record needs with its strings. */
size_t packed_size(const struct record *record);

/* Copies the record and its strings to memory, which is aligned for struct record and holds
 * packed_size bytes; the copy points into nothing else. Returns memory as the record it now is. */
struct record *packed_write(void *memory, const struct record *record);

/* The same in memory of its own, to be destroyed. NULL: out of memory. */
struct record *packed_create(const struct record *record);

/* Overwrites a reservation, for its token, and frees. NULL is allowed. */
void packed_destroy(struct record *record);

#endif
