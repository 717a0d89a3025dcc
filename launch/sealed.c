/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/sealed.h"

#include "base/base64url.h"
#include "base/hex.h"
#include "base/memory.h"
#include "trust/keyfile.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char context[] = "mcastd launch document 1"; /* with its NUL */

enum {
    HEAD_SIZE = SEALED_KEY_ID_SIZE + CRYPTO_NONCE_SIZE,
    OVERHEAD = HEAD_SIZE + CRYPTO_SIGNATURE_SIZE + CRYPTO_TAG_SIZE,
    DIGITS = 2 * CRYPTO_KEY_SIZE,
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

void launch_keys_wipe(struct launch_keys *keys)
{
    explicit_bzero(keys, sizeof *keys);
}

/* ---- the file ---- */

static char *write_line(char *at, const char *name, const unsigned char *bytes)
{
    at += sprintf(at, "%s ", name);
    hex_write(bytes, CRYPTO_KEY_SIZE, at);
    at[DIGITS] = '\n';
    return at + DIGITS + 1;
}

size_t launch_keys_format(const struct launch_keys *keys, bool for_nodes,
                          char out[LAUNCH_KEYS_TEXT_SIZE])
{
    static_assert(LAUNCH_KEYS_MAX * 3 * (sizeof "verify" + DIGITS + 1) < LAUNCH_KEYS_TEXT_SIZE,
                  "all lines");
    char *at = out;
    for (const struct launch_key *key = keys->at; key < keys->at + keys->count; key++) {
        assert(for_nodes || key->can_sign);
        at = write_line(at, "seal", key->seal);
        at = write_line(at, "verify", key->verify);
        if (!for_nodes)
            at = write_line(at, "sign", key->sign);
    }
    *at = '\0';
    return (size_t)(at - out);
}

/* False: it is another line, and *text stays. */
static bool read_line(const char **text, const char *name, unsigned char out[CRYPTO_KEY_SIZE])
{
    const size_t length = strlen(name);
    const char *digits = *text + length + 1;
    if (strncmp(*text, name, length) != 0 || (*text)[length] != ' ' ||
        strcspn(digits, "\n") != DIGITS || digits[DIGITS] == '\0' ||
        hex_read(digits, out, CRYPTO_KEY_SIZE) < 0)
        return false;
    *text = digits + DIGITS + 1;
    return true;
}

int launch_keys_parse(struct launch_keys *keys, const char *text, struct error *err)
{
    launch_keys_wipe(keys);
    for (struct launch_key *key = keys->at;
         keys->count < LAUNCH_KEYS_MAX && read_line(&text, "seal", key->seal) &&
         read_line(&text, "verify", key->verify);
         key++) {
        key->can_sign = read_line(&text, "sign", key->sign);
        keys->count++;
    }
    if (keys->count > 0 && *text == '\0')
        return 0;
    launch_keys_wipe(keys);
    return error_set(
        err, ERROR_CORRUPT,
        "it is no launch key file: lines seal, verify and, at a broker, sign, of %d digits each",
        DIGITS);
}

int launch_keys_read(struct launch_keys *keys, const char *path, bool for_nodes, struct error *err)
{
    const struct keyfile kind = {.holds = for_nodes ? "what mcastd --node-launch-key prints"
                                                    : "what mcastd --rotate-launch-key makes",
                                 .guard = KEYFILE_SECRET,
                                 .max = LAUNCH_KEYS_TEXT_SIZE};
    struct secret text;
    launch_keys_wipe(keys);
    int code = keyfile_text(path, &kind, &text, err);
    if (code < 0)
        return code;
    code = launch_keys_parse(keys, secret_expose(text), err);
    secret_wipe(&text);
    if (code < 0)
        return error_prefix(err, "%s", path);
    for (size_t i = 0; i < keys->count; i++)
        if (keys->at[i].can_sign == for_nodes)
            code = ERROR_REFUSED;
    if (code == 0)
        return 0;
    launch_keys_wipe(keys);
    return error_set(err, code,
                     for_nodes ? "%s has the broker's signing key, which nodes must not have: put "
                                 "there what mcastd --node-launch-key prints"
                               : "%s has no signing key, as a node's file: restore the broker's",
                     path);
}

/* ---- the envelope ---- */

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
    memcpy(bytes, key->verify, SEALED_KEY_ID_SIZE);
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

/* By its id; NULL: there is none. */
static const struct launch_key *find_key(const struct launch_keys *keys, const unsigned char *id,
                                         struct error *err)
{
    for (size_t i = 0; i < keys->count; i++)
        if (memcmp(keys->at[i].verify, id, SEALED_KEY_ID_SIZE) == 0)
            return &keys->at[i];
    (void)error_set(err, ERROR_REFUSED,
                    "the launch document was made with a launch key that this node does not have: "
                    "give it what mcastd --node-launch-key prints at the broker");
    return NULL;
}

char *sealed_open(const struct launch_keys *keys, const char *envelope, struct error *err)
{
    unsigned char *bytes = memory_zeroed(SEALED_LAUNCH_MAX);
    unsigned char *nonce = bytes + SEALED_KEY_ID_SIZE, *body = bytes + HEAD_SIZE;
    char *document = NULL;
    int size = decode(envelope, bytes, err);
    size_t length = size < 0 ? 0 : (size_t)size - OVERHEAD;
    const struct launch_key *key = size < 0 ? NULL : find_key(keys, bytes, err);
    if (key && crypto_unseal(key->seal, nonce, body, CRYPTO_SIGNATURE_SIZE + length,
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
