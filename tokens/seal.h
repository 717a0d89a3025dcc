/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"
#include "base/secret.h"
#include "tokens/seal_key.h"

#include <stddef.h>
#include <stdint.h>

/* Secrets sealed at rest: AES-256-GCM, bound to the place where they are kept. docs/state.md has
 * the format with test vectors.
 *
 *   version 1 | key id 8 | nonce 12 | as many bytes as the secret has | tag 16
 *
 * The associated data is what stands before the nonce, the column's name with its NUL, and the
 * row's number (8 bytes, big endian): a sealed secret opens in no other row, column or version.
 *
 * Nonces: a seal draws a random 96-bit start when it is created and counts up, so a run never
 * repeats one. Of k runs of n sealings each, two repeat one with a probability below k²n / 2⁹⁶:
 * 10⁻¹⁴ for a thousand runs of 10⁹. So a seal must not be used in a fork, nor in two machines
 * resumed from one snapshot (docs/state.md). */

enum {
    SEAL_KEY_ID_SIZE = 8,
    SEAL_NONCE_SIZE = 12,
    SEAL_TAG_SIZE = 16,
    SEAL_OVERHEAD = 1 + SEAL_KEY_ID_SIZE + SEAL_NONCE_SIZE + SEAL_TAG_SIZE,
};

/* Where a sealed secret is kept. */
struct seal_place {
    const char *column; /* "table.column" */
    uint64_t row;
};

struct seal;

/* A seal keeps the key only within OpenSSL, keyed once for all sealings; the caller wipes its own.
 * To be used by one thread at a time. NULL with a sentence. */
struct seal *seal_create(const struct seal_key *key, struct error *err);
void seal_destroy(struct seal *seal); /* wipes; NULL is allowed */

/* Identifies the key, SEAL_KEY_ID_SIZE bytes, and reveals nothing of it. */
const unsigned char *seal_key_id(const struct seal *seal);

/* Seals into out, of the secret's length and SEAL_OVERHEAD bytes. Returns the size, or
 * ERROR_NOMEM. Not for none. */
int seal_wrap(struct seal *seal, const struct seal_place *place, struct secret secret,
              unsigned char *out);

/* Opens into out, of size bytes, and ends it with a NUL. Returns the length; or
 * ERROR_VERSION (a format of later versions), ERROR_REFUSED (sealed with another key),
 * ERROR_CORRUPT (damaged, or made for another place): out then holds nothing. */
int seal_unwrap(struct seal *seal, const struct seal_place *place, const unsigned char *sealed,
                size_t size, char *out);
