/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Blanks out secrets that a server may quote, before its text is passed on. Text is blanked whole
 * and cut afterwards: cutting first would leave the beginning of a secret. */

enum {
    SECRETS_MAX = 4,
    SECRETS_TEXT_MAX = 16384, /* bytes of a text that is searched; a longer one is dropped */
};

struct secrets {
    const char *values[SECRETS_MAX]; /* borrowed */
    size_t count;
};

/* False: too many. An empty value, or one that is there already, is not added. */
bool secrets_add(struct secrets *secrets, const char *value);

/* Writes text to out, "***" in place of each secret, of what follows "Basic " or "Bearer ", and of
 * the value of a "sessionToken", "access_token", "client_secret" or the like that is quoted; cut
 * when longer than size. False, and out empty, when text is longer than SECRETS_TEXT_MAX. */
bool secrets_blank(const struct secrets *secrets, const char *text, char *out, size_t size);

enum { WORDS_MAX = 160 }; /* bytes of a server's text that we pass on, without the NUL */

/* Makes text from outside printable in one line of a log or a terminal: valid UTF-8 without control
 * characters, separators and marks of writing direction; each such byte or character becomes '?'.
 * Cut at a character's end when it does not fit and then ending in "...". size is at least 4.
 * Returns the length written. */
size_t printable_copy(char *out, size_t size, const char *text, size_t length);

/* Both; "" for NULL. */
void secrets_clean(const struct secrets *secrets, const char *text, char *out, size_t size);
