/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/seal_key.h"

#include "base/hex.h"
#include "tokens/guardedfile.h"
#include "tokens/keybytes.h"
#include "trust/keyfile.h"

#include <string.h>

enum { TEXT_SIZE = 2 * SEAL_KEY_SIZE + 1 }; /* the digits and the line's end */

static const struct guardedfile_kind kind = {
    .what = "key file",
    .precious = "it may be what opens a ledger",
    .advice = "make it as root, with mcastd --make-key=USER, or set [state] key_file to a place "
              "that the user of mcastd may write to",
};

static const struct keyfile readable = {.holds = "the key that seals the ledger",
                                        .guard = KEYFILE_SECRET,
                                        .max = 2 * SEAL_KEY_SIZE,
                                        .line = true};

void seal_key_wipe(struct seal_key *key)
{
    explicit_bzero(key, sizeof *key);
}

int seal_key_create(const char *path, uid_t owner, gid_t group, struct error *err)
{
    struct seal_key key;
    char text[TEXT_SIZE];
    int code = keybytes_draw(key.bytes, sizeof key.bytes, err);
    if (code == 0) {
        hex_write(key.bytes, sizeof key.bytes, text);
        text[TEXT_SIZE - 1] = '\n';
        code = guardedfile_create(path, &kind, text, sizeof text, owner, group, err);
    }
    explicit_bzero(text, sizeof text);
    seal_key_wipe(&key);
    return code;
}

int seal_key_read(const char *path, struct seal_key *key, struct error *err)
{
    struct secret line;
    seal_key_wipe(key);
    int code = keyfile_text(path, &readable, &line, err);
    if (code == ERROR_INVALID ||
        (code == 0 && (strlen(secret_expose(line)) != 2 * SEAL_KEY_SIZE ||
                       hex_read(secret_expose(line), key->bytes, SEAL_KEY_SIZE) < 0)))
        code =
            error_set(err, ERROR_CORRUPT,
                      "the key file %s holds no key (%d hexadecimal digits on one line): restore "
                      "it from its backup",
                      path, 2 * SEAL_KEY_SIZE);
    secret_wipe(&line);
    if (code < 0)
        seal_key_wipe(key); /* half of it may have been read */
    return code;
}
