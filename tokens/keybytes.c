/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/keybytes.h"

#include "base/hex.h"

#include <assert.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>
#include <unistd.h>

int keybytes_draw(unsigned char *bytes, size_t size, struct error *err)
{
    if (getentropy(bytes, size) == 0)
        return 0;
    return error_set(err, ERROR_IO, "the system gives no random numbers (getrandom): %s",
                     strerror(errno));
}

int keybytes_draw_digits(char *text, size_t digits, struct error *err)
{
    unsigned char bytes[KEYBYTES_SIZE];
    assert(digits % 2 == 0 && digits / 2 <= sizeof bytes);
    int code = keybytes_draw(bytes, digits / 2, err);
    text[0] = '\0';
    if (code == 0) {
        hex_write(bytes, digits / 2, text);
        text[digits] = '\0';
    }
    explicit_bzero(bytes, sizeof bytes);
    return code;
}

int keybytes_id(const char *purpose, const unsigned char *key,
                unsigned char id[static KEYBYTES_ID_SIZE], struct error *err)
{
    unsigned char text[64], digest[EVP_MAX_MD_SIZE];
    const size_t size = strlen(purpose) + 1;
    assert(size + KEYBYTES_SIZE <= sizeof text);
    memcpy(text, purpose, size);
    memcpy(text + size, key, KEYBYTES_SIZE);
    int ok = EVP_Q_digest(NULL, "SHA256", NULL, text, size + KEYBYTES_SIZE, digest, NULL);
    OPENSSL_cleanse(text, sizeof text);
    memcpy(id, digest, KEYBYTES_ID_SIZE);
    return ok ? 0 : error_set(err, ERROR_NOMEM, "OpenSSL cannot calculate SHA-256: out of memory");
}
