/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/seal.h"

#include "base/memory.h"
#include "tokens/keybytes.h"

#include <assert.h>
#include <endian.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERSION = 1,
    HEAD_SIZE = 1 + SEAL_KEY_ID_SIZE,
};

struct seal {
    EVP_CIPHER *cipher;
    EVP_CIPHER_CTX *wrapping, *unwrapping;
    unsigned char head[HEAD_SIZE];        /* of all that it seals */
    unsigned char nonce[SEAL_NONCE_SIZE]; /* of the next one */
};

struct seal *seal_create(const struct seal_key *key, struct error *err)
{
    struct seal *seal = memory_zeroed(sizeof *seal);
    seal->head[0] = VERSION;
    if ((seal->cipher = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL)) &&
        (seal->wrapping = EVP_CIPHER_CTX_new()) && (seal->unwrapping = EVP_CIPHER_CTX_new()) &&
        EVP_EncryptInit_ex2(seal->wrapping, seal->cipher, key->bytes, NULL, NULL) &&
        EVP_DecryptInit_ex2(seal->unwrapping, seal->cipher, key->bytes, NULL, NULL) &&
        keybytes_id("mcastd seal key id", key->bytes, seal->head + 1, NULL) == 0 &&
        RAND_bytes(seal->nonce, sizeof seal->nonce) == 1)
        return seal;
    seal_destroy(seal);
    (void)error_set(err, ERROR_NOMEM,
                    "OpenSSL cannot set up AES-256-GCM: out of memory, or its configuration "
                    "forbids that cipher");
    return NULL;
}

void seal_destroy(struct seal *seal)
{
    if (!seal)
        return;
    EVP_CIPHER_CTX_free(seal->wrapping); /* both wipe their keys */
    EVP_CIPHER_CTX_free(seal->unwrapping);
    EVP_CIPHER_free(seal->cipher);
    OPENSSL_cleanse(seal, sizeof *seal);
    free(seal);
}

const unsigned char *seal_key_id(const struct seal *seal)
{
    return seal->head + 1;
}

static void count_up(unsigned char nonce[SEAL_NONCE_SIZE])
{
    for (size_t i = SEAL_NONCE_SIZE; i-- > 0 && ++nonce[i] == 0;)
        ;
}

/* The associated data. CipherUpdate without an output takes it, in either direction. */
static bool bind_to(EVP_CIPHER_CTX *context, const unsigned char head[HEAD_SIZE],
                    const struct seal_place *place)
{
    const uint64_t row = htobe64(place->row);
    const unsigned char *column = (const unsigned char *)place->column;
    int ignored;
    return EVP_CipherUpdate(context, NULL, &ignored, head, HEAD_SIZE) &&
           EVP_CipherUpdate(context, NULL, &ignored, column, (int)strlen(place->column) + 1) &&
           EVP_CipherUpdate(context, NULL, &ignored, (const unsigned char *)&row, sizeof row);
}

int seal_wrap(struct seal *seal, const struct seal_place *place, struct secret secret,
              unsigned char *out)
{
    const char *text = secret_expose(secret);
    size_t length = strlen(text);
    assert(length <= INT_MAX - SEAL_OVERHEAD);
    unsigned char *nonce = out + HEAD_SIZE, *body = nonce + SEAL_NONCE_SIZE, *tag = body + length;
    int written, rest;
    memcpy(out, seal->head, HEAD_SIZE);
    memcpy(nonce, seal->nonce, SEAL_NONCE_SIZE);
    count_up(seal->nonce);
    if (!EVP_EncryptInit_ex2(seal->wrapping, NULL, NULL, nonce, NULL) ||
        !bind_to(seal->wrapping, seal->head, place) ||
        !EVP_EncryptUpdate(seal->wrapping, body, &written, (const unsigned char *)text,
                           (int)length) ||
        !EVP_EncryptFinal_ex(seal->wrapping, tag, &rest) ||
        !EVP_CIPHER_CTX_ctrl(seal->wrapping, EVP_CTRL_AEAD_GET_TAG, SEAL_TAG_SIZE, tag))
        return ERROR_NOMEM;
    return (int)length + SEAL_OVERHEAD;
}

/* The plain text must not be used before the tag is verified. */
static bool authentic(EVP_CIPHER_CTX *context, const unsigned char *tag, unsigned char *end)
{
    unsigned char copy[SEAL_TAG_SIZE]; /* OpenSSL takes no const */
    int rest;
    memcpy(copy, tag, sizeof copy);
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, SEAL_TAG_SIZE, copy) &&
           EVP_DecryptFinal_ex(context, end, &rest) > 0;
}

int seal_unwrap(struct seal *seal, const struct seal_place *place, const unsigned char *sealed,
                size_t size, char *out)
{
    if (size > 0 && sealed[0] != VERSION)
        return ERROR_VERSION;
    if (size < SEAL_OVERHEAD || size > INT_MAX)
        return ERROR_CORRUPT;
    if (memcmp(sealed, seal->head, HEAD_SIZE) != 0)
        return ERROR_REFUSED;
    const unsigned char *nonce = sealed + HEAD_SIZE, *body = nonce + SEAL_NONCE_SIZE;
    size_t length = size - SEAL_OVERHEAD;
    int written;
    if (EVP_DecryptInit_ex2(seal->unwrapping, NULL, NULL, nonce, NULL) &&
        bind_to(seal->unwrapping, seal->head, place) &&
        EVP_DecryptUpdate(seal->unwrapping, (unsigned char *)out, &written, body, (int)length) &&
        authentic(seal->unwrapping, body + length, (unsigned char *)out + length)) {
        out[length] = '\0';
        return (int)length;
    }
    OPENSSL_cleanse(out, length);
    return ERROR_CORRUPT;
}
