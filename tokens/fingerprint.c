/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/fingerprint.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

struct fingerprint fingerprint_compute(const struct chain *key, struct secret token)
{
    struct chain chain = *key;
    struct fingerprint out;
    assert(!secret_none(token));
    const char *text = secret_expose(token);
    if (chain_add(&chain, (const unsigned char *)text, strlen(text), NULL) < 0)
        abort(); /* without memory, as base/memory.h */
    memcpy(out.bytes, chain.mac, FINGERPRINT_SIZE);
    chain_wipe(&chain);
    return out;
}

bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b)
{
    return CRYPTO_memcmp(a->bytes, b->bytes, FINGERPRINT_SIZE) == 0;
}
