/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/crypto.h"

#include "base/base64url.h"
#include "base/library.h"

#include <assert.h>
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdbool.h>
#include <string.h>

#define FUNCTIONS(X)                                                                               \
    X(EVP_Q_digest)                                                                                \
    X(RAND_bytes)                                                                                  \
    X(EVP_PKEY_new_raw_private_key)                                                                \
    X(EVP_PKEY_new_raw_public_key)                                                                 \
    X(EVP_PKEY_get_raw_public_key)                                                                 \
    X(EVP_PKEY_free)                                                                               \
    X(EVP_MD_CTX_new)                                                                              \
    X(EVP_MD_CTX_free)                                                                             \
    X(EVP_DigestSignInit)                                                                          \
    X(EVP_DigestSign)                                                                              \
    X(EVP_DigestVerifyInit)                                                                        \
    X(EVP_DigestVerify)                                                                            \
    X(EVP_aes_256_gcm)                                                                             \
    X(EVP_CIPHER_CTX_new)                                                                          \
    X(EVP_CIPHER_CTX_free)                                                                         \
    X(EVP_CipherInit_ex2)                                                                          \
    X(EVP_CipherUpdate)                                                                            \
    X(EVP_CipherFinal_ex)                                                                          \
    X(EVP_CIPHER_CTX_ctrl)

static struct {
#define MEMBER(name) __typeof__(&name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
} crypto;

static const struct library_function functions[] = {
#define FUNCTION(name) {#name, &crypto.name},
    FUNCTIONS(FUNCTION)
#undef FUNCTION
        {0}};
static struct library library = {
    .name = "libcrypto.so.3", .functions = functions, .lock = PTHREAD_MUTEX_INITIALIZER};

static int need_library(struct error *err)
{
    if (!library_fault(&library))
        return 0;
    return error_set(err, ERROR_IO,
                     "sealed launch documents need %s (OpenSSL 3), which cannot be opened: install "
                     "it (Debian: libssl3)",
                     library.name);
}

static int cannot(const char *what, struct error *err)
{
    return error_set(err, ERROR_NOMEM,
                     "OpenSSL cannot %s: out of memory, or its configuration forbids it", what);
}

int launch_digest(const char *text, char out[44])
{
    unsigned char digest[CRYPTO_KEY_SIZE];
    size_t length = sizeof digest;
    if (need_library(NULL) < 0 ||
        !crypto.EVP_Q_digest(NULL, "SHA256", NULL, text, strlen(text), digest, &length))
        return -1;
    base64url_encode(digest, length, out);
    return 0;
}

int crypto_random(unsigned char *bytes, size_t size, struct error *err)
{
    if (need_library(err) < 0)
        return ERROR_IO;
    return crypto.RAND_bytes(bytes, (int)size) == 1 ? 0 : cannot("make random numbers", err);
}

int crypto_public_key(const unsigned char secret[CRYPTO_KEY_SIZE],
                      unsigned char out[CRYPTO_KEY_SIZE], struct error *err)
{
    size_t length = CRYPTO_KEY_SIZE;
    if (need_library(err) < 0)
        return ERROR_IO;
    EVP_PKEY *key =
        crypto.EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, CRYPTO_KEY_SIZE);
    bool done = key && crypto.EVP_PKEY_get_raw_public_key(key, out, &length) == 1;
    crypto.EVP_PKEY_free(key);
    return done ? 0 : cannot("use an Ed25519 key", err);
}

int crypto_sign(const unsigned char secret[CRYPTO_KEY_SIZE], const unsigned char *bytes,
                size_t size, unsigned char out[CRYPTO_SIGNATURE_SIZE], struct error *err)
{
    size_t length = CRYPTO_SIGNATURE_SIZE;
    if (need_library(err) < 0)
        return ERROR_IO;
    EVP_PKEY *key =
        crypto.EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, CRYPTO_KEY_SIZE);
    EVP_MD_CTX *context = crypto.EVP_MD_CTX_new();
    bool done = key && context && crypto.EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
                crypto.EVP_DigestSign(context, out, &length, bytes, size) == 1;
    crypto.EVP_MD_CTX_free(context);
    crypto.EVP_PKEY_free(key);
    return done ? 0 : cannot("sign with Ed25519", err);
}

int crypto_verify(const unsigned char key[CRYPTO_KEY_SIZE], const unsigned char *bytes, size_t size,
                  const unsigned char signature[CRYPTO_SIGNATURE_SIZE], struct error *err)
{
    if (need_library(err) < 0)
        return ERROR_IO;
    EVP_PKEY *pkey =
        crypto.EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, CRYPTO_KEY_SIZE);
    EVP_MD_CTX *context = crypto.EVP_MD_CTX_new();
    bool ready =
        pkey && context && crypto.EVP_DigestVerifyInit(context, NULL, NULL, NULL, pkey) == 1;
    bool good = ready && crypto.EVP_DigestVerify(context, signature, CRYPTO_SIGNATURE_SIZE, bytes,
                                                 size) == 1;
    crypto.EVP_MD_CTX_free(context);
    crypto.EVP_PKEY_free(pkey);
    if (!ready)
        return cannot("verify with Ed25519", err);
    return good ? 0
                : error_set(err, ERROR_REFUSED,
                            "the launch document is not signed by the broker's key, but made with "
                            "what a node's launch key file holds: see who can read those");
}

/* Ready for either direction; NULL without memory. */
static EVP_CIPHER_CTX *open_cipher(const unsigned char key[CRYPTO_KEY_SIZE],
                                   const unsigned char nonce[CRYPTO_NONCE_SIZE], bool seals)
{
    EVP_CIPHER_CTX *context = crypto.EVP_CIPHER_CTX_new();
    if (context &&
        crypto.EVP_CipherInit_ex2(context, crypto.EVP_aes_256_gcm(), key, nonce, seals, NULL) == 1)
        return context;
    crypto.EVP_CIPHER_CTX_free(context);
    return NULL;
}

int crypto_seal(const unsigned char key[CRYPTO_KEY_SIZE],
                const unsigned char nonce[CRYPTO_NONCE_SIZE], unsigned char *bytes, size_t size,
                unsigned char tag[CRYPTO_TAG_SIZE], struct error *err)
{
    int written, rest;
    assert(size <= INT_MAX);
    if (need_library(err) < 0)
        return ERROR_IO;
    EVP_CIPHER_CTX *context = open_cipher(key, nonce, true);
    bool done = context &&
                crypto.EVP_CipherUpdate(context, bytes, &written, bytes, (int)size) == 1 &&
                crypto.EVP_CipherFinal_ex(context, bytes + size, &rest) == 1 &&
                crypto.EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, CRYPTO_TAG_SIZE, tag);
    crypto.EVP_CIPHER_CTX_free(context);
    return done ? 0 : cannot("encrypt with AES-256-GCM", err);
}

int crypto_unseal(const unsigned char key[CRYPTO_KEY_SIZE],
                  const unsigned char nonce[CRYPTO_NONCE_SIZE], unsigned char *bytes, size_t size,
                  const unsigned char tag[CRYPTO_TAG_SIZE], struct error *err)
{
    unsigned char copy[CRYPTO_TAG_SIZE]; /* OpenSSL takes no const */
    int written, rest;
    assert(size <= INT_MAX);
    if (need_library(err) < 0)
        return ERROR_IO;
    memcpy(copy, tag, sizeof copy);
    EVP_CIPHER_CTX *context = open_cipher(key, nonce, false);
    if (!context)
        return cannot("decrypt with AES-256-GCM", err);
    bool good = crypto.EVP_CipherUpdate(context, bytes, &written, bytes, (int)size) == 1 &&
                crypto.EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, CRYPTO_TAG_SIZE, copy) &&
                crypto.EVP_CipherFinal_ex(context, bytes + size, &rest) == 1;
    crypto.EVP_CIPHER_CTX_free(context);
    if (good)
        return 0;
    explicit_bzero(bytes, size);
    return error_set(
        err, ERROR_REFUSED,
        "the launch document is damaged, or sealed with another key: compare with what "
        "mcastd --node-launch-key prints");
}
