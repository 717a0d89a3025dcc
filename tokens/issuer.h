/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tokens/bearer.h"
#include "tokens/rootkeys.h"

/* Makes and verifies bearer tokens, which needs the root keys (B3). It keeps no list of tokens. The
 * caller looks up whether the reservation still exists, by the number in the scope. */

/* A new token for this reservation, with a random nonce and without caveats; to be wiped. 0,
 * ERROR_IO or ERROR_NOMEM. */
int issuer_mint(const struct rootkeys *keys, uint64_t number, const char *cluster, const char *job,
                struct bearer *bearer, struct error *err);

/* Whether the token was made with one of keys and not expired at now (Unix seconds): then its scope
 * is valid. The MAC is compared first, in constant time. ERROR_NOT_FOUND: its root key is not there
 * any more. ERROR_REFUSED: not genuine, or expired. ERROR_VERSION: it has a restriction that this
 * version does not know. ERROR_NOMEM. */
int issuer_verify(const struct rootkeys *keys, const struct bearer *bearer, int64_t now,
                  struct error *err);
