/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* The envelope of launch documents where MUNGE runs: a credential (munge(7)) whose payload is the
 * document, made by the broker, for root alone to decode. It is encrypted, and tells who made it.
 *
 * munged's own limits of time are not looked at: the document has its own, which bear clocks that
 * differ (document.h). Nor does it matter that a node decodes it twice, as a hook that runs again
 * does. Both functions block while munged answers. libmunge is opened at the first use. */

/* Unlike that of credentials that prove who asks, so that none is taken for the other; without a
 * blank or a colon. */
#define CREDENTIAL_PREFIX "MCASTM."

/* The credential, for free(). socket: of munged; NULL: libmunge's own. NULL with ERROR_IO: munged
 * cannot be asked, or libmunge is missing; ERROR_NOMEM. */
char *credential_close(const char *socket, const char *document, struct error *err);

/* The document, for free() after explicit_bzero. maker: the user that the broker runs as; another
 * one's credential is refused. NULL with ERROR_INVALID: it is no credential; ERROR_REFUSED: made by
 * another user, with another key, or changed; ERROR_IO, ERROR_NOMEM. */
char *credential_open(const char *socket, const char *envelope, uid_t maker, struct error *err);
