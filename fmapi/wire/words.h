#ifndef MCAST_FMAPI_WIRE_WORDS_H
#define MCAST_FMAPI_WIRE_WORDS_H

#include <stddef.h>

/* Text from outside made fit for one line of a log or a terminal.
 *
 * The result is valid UTF-8 without control characters, line or paragraph separators and without
 * the marks that turn the direction of writing; each offending byte or character becomes '?'. */

enum { WORDS_MAX = 160 }; /* bytes of another's words that we pass on, without the NUL */

/* Writes the text, cut at a character's end when it does not fit and then ending in "...". size is
 * at least 4. Returns the length written. */
size_t words_clean(char *out, size_t size, const char *text, size_t length);

#endif
