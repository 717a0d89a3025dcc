/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "base/secret.h"
#include "tokens/chain.h"
#include "tokens/seal_key.h"

#include <stdbool.h>

/* Identifies a session token of the fabric manager, to find its reservation without comparing the
 * token: the first 16 bytes of its HMAC-SHA256 under a key of this broker. Fingerprints, and the
 * time of looking them up, reveal nothing about tokens: without the key they cannot be calculated.
 *
 * The key is derived from the one that seals the ledger, which stays as long as any session token
 * is sealed with it; the root keys of bearer tokens rotate. A broker without a ledger on disk draws
 * a key at its start. */

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
int fingerprint_compute(const struct fingerprint_key *key, struct secret token,
                        struct fingerprint *out, struct error *err);

/* In constant time. */
bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b);
