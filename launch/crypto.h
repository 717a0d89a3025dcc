/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stddef.h>

/* What launch documents need of libcrypto (OpenSSL 3), which is opened at the first use: most nodes
 * get MUNGE credentials and start faster without it. */

enum {
    CRYPTO_KEY_SIZE = 32,       /* of AES-256-GCM, and of either half of an Ed25519 key */
    CRYPTO_SIGNATURE_SIZE = 64, /* Ed25519 (RFC 8032) */
    CRYPTO_NONCE_SIZE = 12,
    CRYPTO_TAG_SIZE = 16,
};

/* SHA-256 of the text in base64url, 43 characters and a NUL. 0, or -1 without libcrypto. */
int launch_digest(const char *text, char out[44]);

/* The functions below return 0, or ERROR_IO: no libcrypto; ERROR_NOMEM: OpenSSL cannot, for lack of
 * memory or because its configuration forbids it. */

int crypto_random(unsigned char *bytes, size_t size, struct error *err);

int crypto_public_key(const unsigned char secret[CRYPTO_KEY_SIZE],
                      unsigned char out[CRYPTO_KEY_SIZE], struct error *err);

int crypto_sign(const unsigned char secret[CRYPTO_KEY_SIZE], const unsigned char *bytes,
                size_t size, unsigned char out[CRYPTO_SIGNATURE_SIZE], struct error *err);

/* ERROR_REFUSED: it is not the key's signature of these bytes. */
int crypto_verify(const unsigned char key[CRYPTO_KEY_SIZE], const unsigned char *bytes, size_t size,
                  const unsigned char signature[CRYPTO_SIGNATURE_SIZE], struct error *err);

/* Encrypts in place, and writes the tag. A nonce is used once with a key. */
int crypto_seal(const unsigned char key[CRYPTO_KEY_SIZE],
                const unsigned char nonce[CRYPTO_NONCE_SIZE], unsigned char *bytes, size_t size,
                unsigned char tag[CRYPTO_TAG_SIZE], struct error *err);

/* Decrypts in place. ERROR_REFUSED: another key, or damaged; bytes then hold nothing. */
int crypto_unseal(const unsigned char key[CRYPTO_KEY_SIZE],
                  const unsigned char nonce[CRYPTO_NONCE_SIZE], unsigned char *bytes, size_t size,
                  const unsigned char tag[CRYPTO_TAG_SIZE], struct error *err);
