#ifndef MCAST_TOKENS_ISSUER_H
#define MCAST_TOKENS_ISSUER_H

#include "tokens/bearer.h"
#include "tokens/rootkeys.h"

/* Makes bearer tokens, and knows its own again: what only the holder of the root keys can do (B3).
 * It keeps no list of them. Whether the reservation still lives is the caller's to look up, by the
 * number in the scope. */

/* A new token for this reservation, with a random nonce, as wide as tokens are; to be wiped. 0,
 * ERROR_IO or ERROR_NOMEM. */
int issuer_mint(const struct rootkeys *keys, uint64_t number, const char *cluster, const char *job,
                struct bearer *bearer, struct error *err);

/* Whether the token was made here, narrowed by whom it may, and not expired at now (Unix seconds):
 * then its scope holds. The MAC is compared in constant time, and before anything else of the token
 * is believed. ERROR_NOT_FOUND: its root key is not honoured any more. ERROR_REFUSED: it is not
 * genuine, or has expired. ERROR_VERSION: it has a restriction that this version does not know.
 * ERROR_NOMEM. */
int issuer_verify(const struct rootkeys *keys, const struct bearer *bearer, int64_t now,
                  struct error *err);

#endif
