/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/fingerprint.h"

#include "base/memory.h"

#include <assert.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

struct fingerprint_key {
    EVP_MAC_CTX *context; /* has the key */
};

struct fingerprint_key *fingerprint_key_create(const struct chain *from)
{
    struct fingerprint_key *key = memory_zeroed(sizeof *key);
    const OSSL_PARAM digest[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char[]){"SHA256"}, 0),
        OSSL_PARAM_construct_end()};
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    if (!hmac || !(key->context = EVP_MAC_CTX_new(hmac)) ||
        !EVP_MAC_init(key->context, from->mac, CHAIN_SIZE, digest))
        (void)memory_must(NULL);
    EVP_MAC_free(hmac);
    return key;
}

void fingerprint_key_destroy(struct fingerprint_key *key)
{
    if (key)
        EVP_MAC_CTX_free(key->context);
    free(key);
}

struct fingerprint fingerprint_compute(struct fingerprint_key *key, struct secret token)
{
    unsigned char mac[CHAIN_SIZE];
    struct fingerprint out;
    size_t written = 0;
    assert(!secret_none(token));
    const char *text = secret_expose(token);
    if (!EVP_MAC_init(key->context, NULL, 0, NULL) || /* with the same key */
        !EVP_MAC_update(key->context, (const unsigned char *)text, strlen(text)) ||
        !EVP_MAC_final(key->context, mac, &written, sizeof mac))
        (void)memory_must(NULL);
    assert(written == sizeof mac);
    memcpy(out.bytes, mac, FINGERPRINT_SIZE);
    OPENSSL_cleanse(mac, sizeof mac);
    return out;
}

bool fingerprint_equal(const struct fingerprint *a, const struct fingerprint *b)
{
    return CRYPTO_memcmp(a->bytes, b->bytes, FINGERPRINT_SIZE) == 0;
}
