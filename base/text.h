/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Words of configuration files, command lines and environments. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Cuts off the blanks at the end, and returns where those at the beginning end. */
char *text_trim(char *text);

/* Text from outside, for a log or a message: what is not printable ASCII becomes '?'. */
void text_make_printable(char *text);

/* A number without sign or blanks, of a base as strtoull's. False: it is none, or above max; then
 * *out is left as it was. */
bool text_number(const char *text, int base, uint64_t max, uint64_t *out);

/* The text of the file <name><ending> in the program's folder text/, which the build makes a part
 * of it (mcast_texts in base/CMakeLists.txt). NULL: there is none. */
const char *text_find(const char *name, const char *ending);

/* What a character of UTF-8 is (RFC 3629), for whatever reads, writes or logs text of others.
 * Bytes of the well-formed sequence that text, of which there are `size` bytes, begins with; 0: it
 * begins with none (overlong forms, surrogates and what is beyond U+10FFFF are none). A NUL is a
 * sequence of one byte, and never within one: size may be SIZE_MAX for a text that ends with NUL.
 */
size_t utf8_length(const char *text, size_t size);
