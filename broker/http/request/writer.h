/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes JSON (and other text) into one buffer that is kept between uses.
 *
 * Keys are literals of ours and written as they are; values are escaped, and bytes that are not
 * UTF-8 become U+FFFD, so that what comes out is always valid JSON. key is NULL inside arrays and
 * at the top. When memory ends, `failed` is set and the rest is dropped: ask once, at the end.
 * Memory that is given back is wiped first: it may have held a token. */

struct writer {
    char *data;
    size_t used, size;
    bool failed;
    bool comma; /* the next member follows another */
};

/* All zero is a valid, empty writer. */
void writer_wipe(struct writer *writer); /* empty, memory kept */
void writer_release(struct writer *writer);

void writer_begin_object(struct writer *writer, const char *key);
void writer_end_object(struct writer *writer);
void writer_begin_array(struct writer *writer, const char *key);
void writer_end_array(struct writer *writer);

void writer_string(struct writer *writer, const char *key, const char *value); /* NULL: null */
void writer_number(struct writer *writer, const char *key, uint64_t value);
void writer_bool(struct writer *writer, const char *key, bool value);
/* RFC 3339 in UTC with milliseconds: "2026-01-31T12:00:00.000Z"; null for a time below 0 or in no
 * year that has four digits. */
void writer_time(struct writer *writer, const char *key, int64_t unix_ms);

/* Text as it is, outside of JSON. */
void writer_text(struct writer *writer, const char *text);
__attribute__((format(printf, 2, 3))) void writer_textf(struct writer *writer, const char *format,
                                                        ...);
