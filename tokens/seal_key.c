/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/seal_key.h"
#include "tokens/guardedfile.h"
#include "base/hex.h"
#include "tokens/keybytes.h"
#include "trust/keyfile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_SIZE = 2 * SEAL_KEY_SIZE + 1 }; /* the digits and the line's end */

static const struct guardedfile_kind kind = {
    .what = "key file",
    .precious = "it may be what opens a ledger",
    .advice = "make it as root, with mcastd --make-key=USER, or set [state] key_file to a place "
              "that the user of mcastd may write to",
};

static const struct keyfile readable = {.holds = "the key that seals the ledger",
                                        .guard = KEYFILE_SECRET};

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

static int parse_key(const char *text, size_t length, struct seal_key *key)
{
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    return length == 2 * sizeof key->bytes ? hex_read(text, key->bytes, sizeof key->bytes) : -1;
}

int seal_key_read(const char *path, struct seal_key *key, struct error *err)
{
    char text[TEXT_SIZE + 2]; /* one more than a line may have: too long shows */
    seal_key_wipe(key);
    int file = keyfile_open(path, &readable, err);
    if (file < 0)
        return file;
    int length = keyfile_bytes(file, path, text, sizeof text, err);
    int code = length < 0 ? length : 0;
    if (code == 0 && ((size_t)length == sizeof text || parse_key(text, (size_t)length, key) < 0))
        code =
            error_set(err, ERROR_CORRUPT,
                      "the key file %s holds no key (%d hexadecimal digits on one line): restore "
                      "it from its backup",
                      path, 2 * SEAL_KEY_SIZE);
    explicit_bzero(text, sizeof text);
    close(file);
    if (code < 0)
        seal_key_wipe(key); /* half of it may have been read */
    return code;
}
