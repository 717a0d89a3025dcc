/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FMAPI_WIRE_PRINTABLE_H
#define MCAST_FMAPI_WIRE_PRINTABLE_H

#include <stddef.h>

/* Makes text from outside printable in one line of a log or a terminal: valid UTF-8 without control
 * characters, separators and marks of writing direction; each such byte or character becomes '?'.
 */

enum { WORDS_MAX = 160 }; /* bytes of a server's text that we pass on, without the NUL */

/* Writes the text, cut at a character's end when it does not fit and then ending in "...". size is
 * at least 4. Returns the length written. */
size_t printable_copy(char *out, size_t size, const char *text, size_t length);

#endif
