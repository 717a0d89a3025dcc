/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/secret.h"
#include "tokens/chain.h"

#include <stdbool.h>

/* Identifies a session token of the fabric manager, to find its reservation without comparing the
 * token: the first 16 bytes of its HMAC-SHA256 under a key of this broker. Fingerprints, and the
 * time of looking them up, reveal nothing about tokens: without the key they cannot be calculated.
 *
 * No fingerprint is kept on disk, so each start of a broker draws a key of its own. */

enum { FINGERPRINT_SIZE = 16 };

struct fingerprint {
    unsigned char bytes[FINGERPRINT_SIZE];
};

/* The key, ready for any number of tokens: to make it ready costs several times what a fingerprint
 * does. Copies from; destroy wipes, and takes NULL. */
struct fingerprint_key;
struct fingerprint_key *fingerprint_key_create(const struct chain *from);
void fingerprint_key_destroy(struct fingerprint_key *key);

/* Of a session token, which is not none. */
struct fingerprint fingerprint_compute(struct fingerprint_key *key, struct secret token);

/* In constant time. */
bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b);
