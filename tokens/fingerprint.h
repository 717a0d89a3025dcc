#ifndef MCAST_TOKENS_FINGERPRINT_H
#define MCAST_TOKENS_FINGERPRINT_H

#include "base/error.h"
#include "base/secret.h"
#include "tokens/chain.h"
#include "tokens/seal_key.h"

#include <stdbool.h>

/* By what the broker finds the reservation of a session token of the fabric manager that somebody
 * shows, without comparing the token itself: HMAC-SHA256 of it, the first 16 bytes, under a key of
 * this broker alone. Who sees fingerprints, or can time how they are looked up, learns nothing
 * about tokens: they cannot be calculated without the key, nor aimed at each other.
 *
 * The key comes from the one that seals the ledger, for it must live as long as what it is used on:
 * the sealing key stays while any session token is sealed with it, over restarts, so a fingerprint
 * that is kept with such a token stays true. The root keys of bearer tokens rotate, and each
 * rotation would make every fingerprint void. A broker that keeps nothing on disk has no sealing
 * key; there a key drawn at its start does as well. */

enum { FINGERPRINT_SIZE = 16 };

struct fingerprint {
    unsigned char bytes[FINGERPRINT_SIZE];
};

struct fingerprint_key {
    struct chain key; /* a secret: wipe it */
};

/* ERROR_NOMEM */
int fingerprint_key_derive(struct fingerprint_key *key, const struct seal_key *from,
                           struct error *err);

/* For a broker without a ledger on disk. ERROR_IO */
int fingerprint_key_draw(struct fingerprint_key *key, struct error *err);

void fingerprint_key_wipe(struct fingerprint_key *key);

/* Of a session token, which is not none. ERROR_NOMEM */
int fingerprint_take(const struct fingerprint_key *key, struct secret token,
                     struct fingerprint *out, struct error *err);

/* In constant time. */
bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b);

#endif
