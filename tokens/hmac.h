#ifndef MCAST_TOKENS_HMAC_H
#define MCAST_TOKENS_HMAC_H

#include "base/error.h"

#include <stddef.h>

/* HMAC-SHA256 by libcrypto, which is opened at the first use: programs that may narrow a token, and
 * nearly never do, start in half the time without it. */

enum { HMAC_SIZE = 32 };

/* ERROR_IO: there is no libcrypto. ERROR_NOMEM: it refuses. */
int hmac_sha256(const unsigned char key[HMAC_SIZE], const unsigned char *bytes, size_t size,
                unsigned char out[HMAC_SIZE], struct error *err);

#endif
