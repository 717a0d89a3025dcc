/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/chain.h"

#include "base/library.h"

#include <assert.h>
#include <openssl/evp.h>
#include <string.h>

enum { TEXT_MAX = 512 };

static __typeof__(&EVP_Q_mac) q_mac;

static const struct library_function functions[] = {{"EVP_Q_mac", &q_mac}, {0}};
static struct library library = {
    .name = "libcrypto.so.3", .functions = functions, .lock = PTHREAD_MUTEX_INITIALIZER};

static int hmac_sha256(const unsigned char key[CHAIN_SIZE], const unsigned char *bytes, size_t size,
                       unsigned char out[CHAIN_SIZE], struct error *err)
{
    size_t written = 0;
    if (library_fault(&library))
        return error_set(err, ERROR_IO,
                         "tokens need %s (OpenSSL 3), which cannot be opened; install it (Debian: "
                         "libssl3)",
                         library.name);
    if (q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key, CHAIN_SIZE, bytes, size, out, CHAIN_SIZE,
              &written) &&
        written == CHAIN_SIZE)
        return 0;
    return error_set(err, ERROR_NOMEM,
                     "OpenSSL cannot calculate HMAC-SHA256: out of memory, or its configuration "
                     "forbids that");
}

int chain_key(struct chain *out, const unsigned char from[CHAIN_SIZE], const char *purpose,
              const unsigned char *about, size_t size, struct error *err)
{
    unsigned char text[TEXT_MAX];
    size_t length = strlen(purpose) + 1;
    assert(length + size <= sizeof text);
    memcpy(text, purpose, length);
    if (size > 0)
        memcpy(text + length, about, size);
    return hmac_sha256(from, text, length + size, out->mac, err);
}

int chain_add(struct chain *chain, const unsigned char *bytes, size_t size, struct error *err)
{
    struct chain next = {{0}};
    int code = hmac_sha256(chain->mac, bytes, size, next.mac, err);
    if (code == 0)
        *chain = next;
    chain_wipe(&next);
    return code;
}

void chain_wipe(struct chain *chain)
{
    explicit_bzero(chain, sizeof *chain);
}
