/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_FMAPI_WIRE_SECRETS_H
#define MCAST_FMAPI_WIRE_SECRETS_H

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

/* The same, made printable by printable_copy; "" for NULL. */
void secrets_clean(const struct secrets *secrets, const char *text, char *out, size_t size);

#endif
