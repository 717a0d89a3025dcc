#ifndef MCAST_FMAPI_WIRE_SECRETS_H
#define MCAST_FMAPI_WIRE_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

/* Secrets that a server may quote back at us, blanked out of its words before anybody reads them.
 *
 * Text is blanked whole and cut afterwards: a cut first would leave a secret's beginning. */

enum {
    SECRETS_MAX = 4,
    SECRETS_TEXT_MAX = 16384, /* bytes of a text that is looked through; longer is nobody's words */
};

struct secrets {
    const char *values[SECRETS_MAX]; /* borrowed */
    size_t count;
};

/* False when there is no room. What is empty or there already needs none. */
bool secrets_add(struct secrets *secrets, const char *value);

/* Writes text to out, "***" in place of each secret, of what follows "Basic " or "Bearer ", and of
 * the value of a "sessionToken", "access_token", "client_secret" or the like that is quoted; cut
 * when longer than size. False, and out empty, when text is longer than SECRETS_TEXT_MAX. */
bool secrets_blank(const struct secrets *secrets, const char *text, char *out, size_t size);

#endif
