/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/fingerprint.h"
#include "tokens/keybytes.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <string.h>

_Static_assert((int)SEAL_KEY_SIZE == (int)CHAIN_SIZE, "a sealing key is a key of HMAC-SHA256");

int fingerprint_key_derive(struct fingerprint_key *key, const struct seal_key *from,
                           struct error *err)
{
    /* The purpose keeps this use of the key apart from sealing. */
    return chain_key(&key->key, from->bytes, "mcastd session fingerprint", NULL, 0, err);
}

int fingerprint_key_draw(struct fingerprint_key *key, struct error *err)
{
    return keybytes_draw(key->key.mac, sizeof key->key.mac, err);
}

void fingerprint_key_wipe(struct fingerprint_key *key)
{
    chain_wipe(&key->key);
}

int fingerprint_compute(const struct fingerprint_key *key, struct secret token,
                        struct fingerprint *out, struct error *err)
{
    struct chain chain = key->key;
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
