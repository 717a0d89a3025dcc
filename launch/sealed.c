/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/sealed.h"

#include "base/base64url.h"
#include "base/hex.h"
#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char context[] = "mcastd launch document 1"; /* with its NUL */

enum {
    HEAD_SIZE = SEALED_KEY_ID_SIZE + CRYPTO_NONCE_SIZE,
    OVERHEAD = HEAD_SIZE + CRYPTO_SIGNATURE_SIZE + CRYPTO_TAG_SIZE,
};

int launch_key_create(struct launch_key *key, struct error *err)
{
    *key = (struct launch_key){.can_sign = true};
    int code = crypto_random(key->seal, sizeof key->seal, err);
    if (code == 0)
        code = crypto_random(key->sign, sizeof key->sign, err);
    return code == 0 ? crypto_public_key(key->sign, key->verify, err) : code;
}

void launch_key_wipe(struct launch_key *key)
{
    explicit_bzero(key, sizeof *key);
}

static const struct {
    const char *name;
    size_t offset;
    bool broker_only;
} lines[] = {
    {"seal", offsetof(struct launch_key, seal), false},
    {"verify", offsetof(struct launch_key, verify), false},
    {"sign", offsetof(struct launch_key, sign), true},
};
enum { LINE_COUNT = sizeof lines / sizeof *lines };

void launch_key_format(const struct launch_key *key, bool for_nodes, char out[LAUNCH_KEY_TEXT_SIZE])
{
    char digits[2 * CRYPTO_KEY_SIZE + 1] = "";
    size_t length = 0;
    assert(for_nodes || key->can_sign);
    for (size_t i = 0; i < LINE_COUNT; i++) {
        if (for_nodes && lines[i].broker_only)
            continue;
        hex_write((const unsigned char *)key + lines[i].offset, CRYPTO_KEY_SIZE, digits);
        length += (size_t)snprintf(out + length, LAUNCH_KEY_TEXT_SIZE - length, "%s %s\n",
                                   lines[i].name, digits);
    }
    explicit_bzero(digits, sizeof digits);
}

int launch_key_parse(struct launch_key *key, const char *text, struct error *err)
{
    unsigned found = 0;
    *key = (struct launch_key){.can_sign = false};
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        for (size_t i = 0; i < LINE_COUNT; i++) {
            size_t name = strlen(lines[i].name);
            if (length == name + 1 + 2 * CRYPTO_KEY_SIZE && text[name] == ' ' &&
                strncmp(text, lines[i].name, name) == 0 &&
                hex_read(text + name + 1, (unsigned char *)key + lines[i].offset,
                         CRYPTO_KEY_SIZE) == 0)
                found |= 1u << i;
        }
    }
    key->can_sign = found & 4u;
    if ((found & 3u) == 3u)
        return 0;
    launch_key_wipe(key);
    return error_set(err, ERROR_CORRUPT,
                     "it is no launch key file: it must have the lines seal and verify, each with "
                     "64 hexadecimal digits");
}

/* Identifies the pair of keys, and reveals nothing of the secret one. */
static void write_id(const struct launch_key *key, unsigned char out[SEALED_KEY_ID_SIZE])
{
    memcpy(out, key->verify, SEALED_KEY_ID_SIZE);
}

/* What is signed, for free(). */
static unsigned char *signed_text(const char *document, size_t length)
{
    unsigned char *text = memory_zeroed(sizeof context + length);
    memcpy(text, context, sizeof context);
    memcpy(text + sizeof context, document, length);
    return text;
}

static void free_wiped(void *bytes, size_t size)
{
    explicit_bzero(bytes, size);
    free(bytes);
}

char *sealed_close(const struct launch_key *key, const char *document, struct error *err)
{
    size_t length = strlen(document), size = OVERHEAD + length;
    assert(key->can_sign);
    unsigned char *text = signed_text(document, length), *bytes = memory_zeroed(size + 1);
    unsigned char *nonce = bytes + SEALED_KEY_ID_SIZE, *body = bytes + HEAD_SIZE;
    char *envelope = NULL;
    write_id(key, bytes);
    memcpy(body + CRYPTO_SIGNATURE_SIZE, document, length);
    if (crypto_sign(key->sign, text, sizeof context + length, body, err) == 0 &&
        crypto_random(nonce, CRYPTO_NONCE_SIZE, err) == 0 &&
        crypto_seal(key->seal, nonce, body, CRYPTO_SIGNATURE_SIZE + length,
                    bytes + size - CRYPTO_TAG_SIZE, err) == 0) {
        envelope = memory_zeroed(sizeof SEALED_PREFIX + BASE64URL_LENGTH(size));
        memcpy(envelope, SEALED_PREFIX, sizeof SEALED_PREFIX);
        base64url_encode(bytes, size, envelope + strlen(SEALED_PREFIX));
    }
    free_wiped(text, sizeof context + length);
    free_wiped(bytes, size + 1);
    return envelope;
}

/* The size, or ERROR_INVALID. */
static int decode(const char *envelope, unsigned char bytes[SEALED_LAUNCH_MAX], struct error *err)
{
    size_t prefix = strlen(SEALED_PREFIX);
    int size = -1;
    if (strncmp(envelope, SEALED_PREFIX, prefix) == 0)
        size = base64url_decode(envelope + prefix, strlen(envelope + prefix), bytes,
                                SEALED_LAUNCH_MAX);
    if (size >= OVERHEAD)
        return size;
    return error_set(err, ERROR_INVALID, "it is no launch document: it is cut short, or changed");
}

char *sealed_open(const struct launch_key *key, const char *envelope, struct error *err)
{
    unsigned char *bytes = memory_zeroed(SEALED_LAUNCH_MAX), id[SEALED_KEY_ID_SIZE];
    unsigned char *nonce = bytes + SEALED_KEY_ID_SIZE, *body = bytes + HEAD_SIZE;
    char *document = NULL;
    int size = decode(envelope, bytes, err);
    size_t length = size < 0 ? 0 : (size_t)size - OVERHEAD;
    write_id(key, id);
    if (size >= 0 && memcmp(bytes, id, sizeof id) != 0) {
        (void)error_set(err, ERROR_REFUSED, "it was made with another broker's launch key");
    } else if (size >= 0 && crypto_unseal(key->seal, nonce, body, CRYPTO_SIGNATURE_SIZE + length,
                                          bytes + size - CRYPTO_TAG_SIZE, err) == 0) {
        const char *text = (const char *)body + CRYPTO_SIGNATURE_SIZE;
        unsigned char *is_signed = signed_text(text, length);
        if (crypto_verify(key->verify, is_signed, sizeof context + length, body, err) == 0) {
            document = memory_zeroed(length + 1);
            memcpy(document, text, length);
        }
        free_wiped(is_signed, sizeof context + length);
    }
    free_wiped(bytes, SEALED_LAUNCH_MAX);
    return document;
}
