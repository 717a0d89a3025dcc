/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Memory that is there or ends the process. A core that has run out of memory in the middle of a
 * step could be half changed; a broker that stops and starts again finds everything that it ever
 * acknowledged on the disk, so stopping is the safe answer. */

void *memory_zeroed(size_t size);
void *memory_resized(void *old, size_t count, size_t size); /* for arrays: count × size */
/* For an array that grows: has room for one more than count; moves it and *capacity if needed. */
void *memory_room(void *array, size_t count, size_t *capacity, size_t size);
/* The same of a small array, of which there are many: its capacity is 4, 8, 16, …, kept nowhere. */
void *memory_room_doubled(void *array, size_t count, size_t size);
char *memory_text(const char *text); /* a copy; NULL stays NULL */

/* As printf does. No other copy of the text is made. */
__attribute__((format(printf, 1, 2))) char *memory_format(const char *format, ...);
/* What another library has allocated: NULL ends the process. */
void *memory_must(void *memory);

/* Overwrites, then frees; for what may be a secret. NULL is allowed. */
void memory_wipe(void *bytes, size_t size);
void memory_wipe_text(char *text);
/* For bytes that may be a secret and grow: has room for `need`; when they, `size` of them, have to
 * move, they are wiped where they were, which realloc would not do. */
char *memory_room_wiped(char *bytes, size_t size, size_t *capacity, size_t need);
