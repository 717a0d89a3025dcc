/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Texts: the sentences of errors, and those that grow; and structs of programs that were compiled
 * for another version. */

#include "client/mcast.h"

/* Forgets what was there, sets code, text (control characters become spaces, so that a broker's
 * words cannot drive a terminal), and the stable word that tells a program which case it was, and
 * returns the code. error may be NULL. */
__attribute__((format(printf, 4, 5))) int fault_set_word(struct mcast_error *error, int code,
                                                         const char *word, const char *format, ...);
#define fault_set(error, code, ...) fault_set_word(error, code, "", __VA_ARGS__)

int fault_nomem(struct mcast_error *error);

/* A struct that the caller filled, as this version of the library knows it, in *mine, which has the
 * defaults (the macro named init): one from a program compiled earlier lacks members, which keep
 * them; one compiled later may set members unknown here, which must not be dropped in silence. Both
 * begin with their size. MCAST_USAGE. */
int struct_adopt(void *mine, const void *given, const char *init, struct mcast_error *error);

/* A growing text: the body of an answer, a line of a stream. */
struct text {
    char *bytes;   /* NUL-terminated once something was added; NULL before */
    size_t length; /* without the NUL */
    size_t capacity;
};

/* False when memory is exhausted; the text is then as it was. */
bool text_add(struct text *text, const char *bytes, size_t length);

/* Adds it as one segment of a URL's path, or one value of its query (RFC 3986, 2.1): all but
 * letters, digits and - . _ ~ as %XX. False: memory is exhausted, and some of it may have been
 * added. */
bool text_add_escaped(struct text *text, const char *plain);

/* Empties it and keeps the memory for the next use. */
void text_clear(struct text *text);

void text_release(struct text *text);

/* What is in it; "" when nothing is. */
const char *text_string(const struct text *text);
