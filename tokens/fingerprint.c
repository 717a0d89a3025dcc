/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/fingerprint.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <string.h>

int fingerprint_compute(const struct chain *key, struct secret token, struct fingerprint *out,
                        struct error *err)
{
    struct chain chain = *key;
    assert(!secret_none(token));
    const char *text = secret_expose(token);
    int code = chain_add(&chain, (const unsigned char *)text, strlen(text), err);
    *out = (struct fingerprint){{0}};
    if (code == 0)
        memcpy(out->bytes, chain.mac, FINGERPRINT_SIZE);
    chain_wipe(&chain);
    return code;
}

bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b)
{
    return CRYPTO_memcmp(a->bytes, b->bytes, FINGERPRINT_SIZE) == 0;
}
