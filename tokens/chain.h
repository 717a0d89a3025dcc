#ifndef MCAST_TOKENS_CHAIN_H
#define MCAST_TOKENS_CHAIN_H

#include "base/error.h"

#include <stddef.h>

/* The chain of MACs that makes a bearer token (docs/tokens.md): each caveat is signed with the MAC
 * of what stands before it. So whoever has the last MAC can add a caveat, and nobody can take one
 * away: an earlier MAC does not follow from a later one.
 *
 * Every state of a chain is a secret, which makes a token as wide as it is short: wipe it. */

enum { CHAIN_SIZE = 32 };

struct chain {
    unsigned char mac[CHAIN_SIZE];
};

/* A key for one purpose, of a key that has others: HMAC-SHA256 under from, of the purpose's name
 * with its NUL and what it is about. 0, ERROR_NOMEM, or ERROR_IO: libcrypto is not there. */
int chain_key(struct chain *out, const unsigned char from[CHAIN_SIZE], const char *purpose,
              const unsigned char *about, size_t size, struct error *err);

/* The next state: HMAC-SHA256 under this one, in place; as it was when that fails. 0, or
 * ERROR_NOMEM or ERROR_IO, as above. */
int chain_add(struct chain *chain, const unsigned char *bytes, size_t size, struct error *err);

void chain_wipe(struct chain *chain);

#endif
