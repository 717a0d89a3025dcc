/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The keys that sign bearer tokens, and their file: the newest signs, the older ones still verify.
 *
 * The file: one line a key, the newest last, mode 0600 or less, owned by the user of mcastd or by
 * root:
 *
 *   id, 16 hexadecimal digits | space | made, Unix seconds | space | key, 64 hexadecimal digits
 *
 * The id is the first 8 bytes of SHA-256("mcastd root key id", NUL, the key), which shows a damaged
 * line. */

enum {
    ROOTKEY_SIZE = 32,
    ROOTKEY_ID_SIZE = 8,
    ROOTKEYS_MAX = 16,
    ROOTKEYS_TEXT_SIZE = 2048,
};

struct rootkey {
    unsigned char id[ROOTKEY_ID_SIZE];
    int64_t made; /* Unix seconds; never before that of the key before it */
    unsigned char bytes[ROOTKEY_SIZE];
};

struct rootkeys {
    size_t count; /* from 1 */
    struct rootkey keys[ROOTKEYS_MAX];
};

/* The file's text, which ends with a NUL; its length. To be wiped. */
size_t rootkeys_format(const struct rootkeys *keys, char text[ROOTKEYS_TEXT_SIZE]);

/* Reads it; text ends with a NUL at length. The number of the line that is wrong, from 1; 0: none.
 * The keys are to be wiped in either case. */
size_t rootkeys_parse(const char *text, size_t length, struct rootkeys *keys);

/* Creates a file with these keys, or with a new one; arguments and errors as guardedfile_create. */
int rootkeys_save(const char *path, const struct rootkeys *keys, uid_t owner, gid_t group,
                  struct error *err);
int rootkeys_create(const char *path, int64_t now, uid_t owner, gid_t group, struct error *err);

/* ERROR_NOT_FOUND: there is no such file. ERROR_REFUSED: others may read or change it.
 * ERROR_CORRUPT: it is not as this program writes it. ERROR_IO. To be wiped. */
int rootkeys_read(const char *path, struct rootkeys *keys, struct error *err);

/* A new key, made now (Unix seconds), that signs from here on; behind those that are there, of
 * which there is room for one. 0, or a code with a sentence. */
int rootkeys_add(struct rootkeys *keys, int64_t now, struct error *err);

/* Whether tokens of a key may still be in use. replaced: when the next key was made, in Unix
 * seconds. The old key signs until the issuer has read the new file: the callback adds that time.
 */
typedef bool rootkeys_needed_fn(void *arg, const struct rootkey *key, int64_t replaced);

/* Adds a new key and drops older ones that are not needed (needed NULL: all are), atomically and
 * durably, for the file's user and group. Keys in memory stay: read the file again. A file lock
 * serialises rotations. ERROR_FULL: ROOTKEYS_MAX keys are needed, or the disk is full; and what
 * rootkeys_read returns. */
int rootkeys_renew(struct rootkeys *keys, int64_t now, rootkeys_needed_fn *needed, void *arg,
                   struct error *err); /* in memory */
int rootkeys_rotate(const char *path, int64_t now, rootkeys_needed_fn *needed, void *arg,
                    struct error *err);

/* The key that signs. */
const struct rootkey *rootkeys_current(const struct rootkeys *keys);

/* NULL: there is none with this id. */
const struct rootkey *rootkeys_find(const struct rootkeys *keys, const unsigned char *id);

void rootkeys_wipe(struct rootkeys *keys);
