/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/rootkeys.h"

#include "base/hex.h"
#include "tokens/guardedfile.h"
#include "tokens/keybytes.h"
#include "trust/keyfile.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MADE_DIGITS = 19, /* of INT64_MAX */
    LINE_MAX_SIZE = 2 * ROOTKEY_ID_SIZE + 1 + MADE_DIGITS + 1 + 2 * ROOTKEY_SIZE + 1, /* its end */
};

_Static_assert(ROOTKEYS_MAX *LINE_MAX_SIZE < ROOTKEYS_TEXT_SIZE, "with a NUL");

static const struct guardedfile_kind kind = {
    .what = "root key file",
    .precious = "tokens of jobs that run may have been made with it",
    .advice = "set [broker] root_key_file to a place that the user of mcastd may write to",
};

static const struct keyfile readable = {.holds = "the keys that sign tokens",
                                        .guard = KEYFILE_SECRET};

static const char id_purpose[] = "mcastd root key id";

void rootkeys_wipe(struct rootkeys *keys)
{
    OPENSSL_cleanse(keys, sizeof *keys);
}

const struct rootkey *rootkeys_current(const struct rootkeys *keys)
{
    assert(keys->count > 0 && keys->count <= ROOTKEYS_MAX);
    return &keys->keys[keys->count - 1];
}

const struct rootkey *rootkeys_find(const struct rootkeys *keys, const unsigned char *id)
{
    for (size_t i = 0; i < keys->count; i++)
        if (memcmp(keys->keys[i].id, id, ROOTKEY_ID_SIZE) == 0)
            return &keys->keys[i];
    return NULL;
}

/* -- the file's text -- */

static size_t format_line(const struct rootkey *key, char line[LINE_MAX_SIZE])
{
    char id[2 * ROOTKEY_ID_SIZE], digits[2 * ROOTKEY_SIZE];
    hex_write(key->id, ROOTKEY_ID_SIZE, id);
    hex_write(key->bytes, ROOTKEY_SIZE, digits);
    int length = snprintf(line, LINE_MAX_SIZE, "%.*s %" PRId64 " %.*s", (int)sizeof id, id,
                          key->made, (int)sizeof digits, digits);
    OPENSSL_cleanse(digits, sizeof digits);
    return (size_t)length;
}

size_t rootkeys_format(const struct rootkeys *keys, char text[ROOTKEYS_TEXT_SIZE])
{
    char *at = text;
    for (size_t i = 0; i < keys->count; i++) {
        at += format_line(&keys->keys[i], at);
        *at++ = '\n';
    }
    *at = '\0';
    return (size_t)(at - text);
}

/* One line without its end: exactly what would be written, but for the case of digits. */
static bool parse_line(const char *line, size_t length, struct rootkey *key)
{
    char again[LINE_MAX_SIZE];
    const char *made = memchr(line, ' ', length);
    if (!made || length < 2 * ROOTKEY_SIZE ||
        hex_read(line + length - 2 * ROOTKEY_SIZE, key->bytes, ROOTKEY_SIZE) < 0 ||
        keybytes_id(id_purpose, key->bytes, key->id, NULL) < 0)
        return false;
    key->made = strtoll(made + 1, NULL, 10);
    format_line(key, again);
    const bool same =
        key->made >= 0 && strlen(again) == length && strncasecmp(line, again, length) == 0;
    OPENSSL_cleanse(again, sizeof again);
    return same;
}

size_t rootkeys_parse(const char *text, size_t length, struct rootkeys *keys)
{
    keys->count = 0;
    for (const char *line = text; line < text + length || keys->count == 0;) {
        size_t number = keys->count + 1;
        const char *end = strchr(line, '\n');
        if (!end || number > ROOTKEYS_MAX)
            return number;
        struct rootkey *key = &keys->keys[keys->count];
        if (!parse_line(line, (size_t)(end - line), key) || rootkeys_find(keys, key->id) ||
            (keys->count > 0 && key->made < key[-1].made))
            return number;
        keys->count++;
        line = end + 1;
    }
    return 0;
}

static int read_open_file(int file, const char *path, struct rootkeys *keys, struct error *err)
{
    char text[ROOTKEYS_TEXT_SIZE + 1]; /* one more than there may be: too long shows; and a NUL */
    int code = 0, length = keyfile_bytes(file, path, text, sizeof text - 1, err);
    text[length < 0 ? 0 : length] = '\0';
    size_t wrong = length < 0 ? 0 : rootkeys_parse(text, (size_t)length, keys);
    if (length < 0)
        code = length;
    else if (wrong > 0)
        code = error_set(err, ERROR_CORRUPT,
                         "line %zu of the root key file %s is no key (its id, when it was made, %d "
                         "hexadecimal digits; at most %d lines): restore the file from its backup",
                         wrong, path, 2 * ROOTKEY_SIZE, ROOTKEYS_MAX);
    OPENSSL_cleanse(text, sizeof text);
    if (code < 0)
        rootkeys_wipe(keys);
    return code;
}

int rootkeys_read(const char *path, struct rootkeys *keys, struct error *err)
{
    rootkeys_wipe(keys);
    int file = keyfile_open(path, &readable, err);
    if (file < 0)
        return file;
    int code = read_open_file(file, path, keys, err);
    close(file);
    return code;
}

/* -- creating and rotating -- */

int rootkeys_add(struct rootkeys *keys, int64_t now, struct error *err)
{
    struct rootkey *key = &keys->keys[keys->count];
    int code = keybytes_draw(key->bytes, sizeof key->bytes, err);
    if (code == 0)
        code = keybytes_id(id_purpose, key->bytes, key->id, err);
    if (code < 0)
        return code;
    /* A clock that was set back must not make the new key look older than the one it replaces. */
    key->made = keys->count > 0 && key[-1].made > now ? key[-1].made : now;
    keys->count++;
    return 0;
}

int rootkeys_save(const char *path, const struct rootkeys *keys, uid_t owner, gid_t group,
                  struct error *err)
{
    char text[ROOTKEYS_TEXT_SIZE];
    int code =
        guardedfile_create(path, &kind, text, rootkeys_format(keys, text), owner, group, err);
    OPENSSL_cleanse(text, sizeof text);
    return code;
}

int rootkeys_create(const char *path, int64_t now, uid_t owner, gid_t group, struct error *err)
{
    struct rootkeys keys = {0};
    assert(now >= 0);
    int code = rootkeys_add(&keys, now, err);
    if (code == 0)
        code = rootkeys_save(path, &keys, owner, group, err);
    rootkeys_wipe(&keys);
    return code;
}

/* A rotation locks the file that it replaces. After waiting for that lock the path names another
 * file: open and lock that one. */
static int open_locked(const char *path, struct error *err)
{
    for (;;) {
        struct stat mine, there;
        int file = keyfile_open(path, &readable, err), rc;
        if (file < 0)
            return file;
        while ((rc = flock(file, LOCK_EX)) < 0 && errno == EINTR)
            ;
        if (rc < 0 || fstat(file, &mine) < 0) {
            rc = error_set(err, ERROR_IO, "cannot lock the root key file %s: %s", path,
                           strerror(errno));
            close(file);
            return rc;
        }
        if (stat(path, &there) == 0 && mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
            return file;
        close(file);
    }
}

static void drop_unneeded_keys(struct rootkeys *keys, int64_t now, rootkeys_needed_fn *needed,
                               void *arg)
{
    size_t kept = 0;
    for (size_t i = 0; i < keys->count; i++) {
        const struct rootkey *key = &keys->keys[i];
        int64_t replaced = i + 1 < keys->count ? key[1].made : now;
        if (!needed || needed(arg, key, replaced))
            keys->keys[kept++] = *key;
    }
    keys->count = kept;
}

int rootkeys_renew(struct rootkeys *keys, int64_t now, rootkeys_needed_fn *needed, void *arg,
                   struct error *err)
{
    const int64_t last = rootkeys_current(keys)->made;
    drop_unneeded_keys(keys, now > last ? now : last, needed, arg);
    if (keys->count == ROOTKEYS_MAX)
        return error_set(err, ERROR_FULL,
                         "all %d root keys are still needed: let jobs end before rotating again",
                         ROOTKEYS_MAX);
    return rootkeys_add(keys, now, err);
}

int rootkeys_rotate(const char *path, int64_t now, rootkeys_needed_fn *needed, void *arg,
                    struct error *err)
{
    struct rootkeys keys;
    char text[ROOTKEYS_TEXT_SIZE];
    assert(now >= 0);
    int file = open_locked(path, err);
    if (file < 0)
        return file;
    int code = read_open_file(file, path, &keys, err);
    if (code == 0)
        code = rootkeys_renew(&keys, now, needed, arg, err);
    if (code == 0)
        code = guardedfile_replace(path, &kind, file, text, rootkeys_format(&keys, text), err);
    OPENSSL_cleanse(text, sizeof text);
    rootkeys_wipe(&keys);
    close(file);
    return code;
}
