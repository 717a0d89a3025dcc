/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stddef.h>

/* The chain of MACs in a bearer token (docs/tokens.md): each caveat is signed with the MAC of what
 * precedes it. The holder of the last MAC can add a caveat but not remove one: an earlier MAC does
 * not follow from a later one. Every state of a chain is a secret: wipe it. */

enum { CHAIN_SIZE = 32 };

struct chain {
    unsigned char mac[CHAIN_SIZE];
};

/* Derives a key for one purpose: HMAC-SHA256 under from, of the purpose's name with its NUL and the
 * bytes of about. 0, ERROR_NOMEM, or ERROR_IO: no libcrypto. */
int chain_key(struct chain *out, const unsigned char from[CHAIN_SIZE], const char *purpose,
              const unsigned char *about, size_t size, struct error *err);

/* The next state: HMAC-SHA256 under this one, in place; unchanged on failure. Errors as above. */
int chain_add(struct chain *chain, const unsigned char *bytes, size_t size, struct error *err);

void chain_wipe(struct chain *chain);
